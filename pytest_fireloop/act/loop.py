"""The loop: baseline, then agent, tests, judgement, checkpoint, until green, a limit, or an open circuit."""

from __future__ import annotations

import itertools
import json
import secrets
import shlex
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

from pytest_fireloop.act import user_repository
from pytest_fireloop.act.agent_call import call_agent
from pytest_fireloop.act.baseline import take_baseline
from pytest_fireloop.act.budget import Budget
from pytest_fireloop.act.checkpoints import Checkpoint, CheckpointError, Checkpoints
from pytest_fireloop.act.left_behind import end_left_behind
from pytest_fireloop.act.measure import Observation, trace_iteration
from pytest_fireloop.act.progress import Progress, summarise
from pytest_fireloop.act.prompt import Attempt, PromptFacts, compose
from pytest_fireloop.act.resumed import Resumed
from pytest_fireloop.act.settings import LoopSettings
from pytest_fireloop.act.test_run import TestCommand, TestRun, run_tests
from pytest_fireloop.act.verify import Verification, Verifier
from pytest_fireloop.agents.agent import Call, Outcome
from pytest_fireloop.judge.facts import Facts
from pytest_fireloop.judge.judge import Admission, Decision, State, admit, begin, decide, notice_clock
from pytest_fireloop.judge.recovery import advice
from pytest_fireloop.judge.settings import Settings
from pytest_fireloop.judge.verdict import Ending, verdict_of_stop
from pytest_fireloop.observe.changes import ChangeSet
from pytest_fireloop.observe.delta import compare
from pytest_fireloop.observe.record import RunRecord
from pytest_fireloop.observe.test_files import is_configuration, predicate_of, with_data
from pytest_fireloop.remember.journal import RUNNER, Journal
from pytest_fireloop.remember.ledger import Ledger
from pytest_fireloop.remember.paths import state_root
from pytest_fireloop.show.display import Display
from pytest_fireloop.show.evidence import reason
from pytest_fireloop.show.iteration import iteration_line
from pytest_fireloop.show.loop_file import LoopFile
from pytest_fireloop.show.summary import counts_line


class Loop:
    """One loop in one tree; the caller holds the tree's lock."""

    def __init__(
        self,
        settings: LoopSettings,
        journal: Journal,
        display: Display,
        *,
        kept: Mapping[str, Any] | None = None,
        resumed: Resumed | None = None,
    ) -> None:
        self.settings, self.journal, self.display = settings, journal, display
        self._kept, self._resumed = dict(kept or {}), resumed
        self.loop_id = resumed.loop_id if resumed else f"{time.strftime('%Y%m%d-%H%M%S')}-{secrets.token_hex(2)}"
        self.folder = settings.state / "loops" / self.loop_id
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=resumed is not None)
        self.checkpoints = Checkpoints.open(settings.state / "checkpoints.git", settings.tree)
        self.command = TestCommand(
            settings.interpreter.path,
            settings.tree,
            settings.pytest_args,
            dict(settings.environment),
            settings.test_timeout_s,
        )
        self.thresholds = Settings.for_profile(
            settings.profile, **{"cooldown_s": settings.cooldown_s, **settings.thresholds}
        )
        self.loop_file = LoopFile(settings.tree, self.loop_id, resumed.loop_rows if resumed else ())
        self.progress = Progress()
        self.attempts: list[Attempt] = []
        self.state: State | None = None
        self.latest: Checkpoint | None = None
        self.verification: Verification | None = None
        self.green_in_place = False
        self.strategy: str | None = None
        self._clock_back_at: float | None = None
        self.budget = Budget(
            Ledger(state_root(settings.environment)),
            self.loop_id,
            settings.max_calls_per_hour,
            settings.max_cost_usd,
            display,
            time_left=lambda: settings.max_time_s - (time.monotonic() - self._started),
            stopped=self._stop_requested,
        )
        self._started = time.monotonic()
        self._threads = ThreadPoolExecutor(1)
        self._stopping = threading.Event()
        self._left_out: set[str] = set()
        self._first = 1
        self._since: str | None = None
        self._calibration: Future[None] | None = None
        self._verifier: Verifier | None = None

    def run(self) -> dict[str, Any]:
        """Run to the end and return the summary; nothing but the agent's own edits stays in the tree."""
        settings = self.settings
        began = {"task": settings.task, "agent": settings.agent.name, "profile": settings.profile, **self._kept}
        self.journal.clear_request("stop")
        ended = end_left_behind(settings.state)
        if ended:
            self.display.always(f"{ended} processes of a loop that was killed here were still running, and are ended")
        self.loop_file.begin()
        if self._resumed is None:
            self.journal.begin_loop(self.loop_id, RUNNER, began)
        else:
            self.journal.resume_loop(self.loop_id)
        try:
            ending = self._work()
        except KeyboardInterrupt:
            ending = self._interrupted()
        except CheckpointError as error:
            ending = Ending("error", f"{error}; the last checkpoint is {self.latest.commit if self.latest else 'none'}")
        finally:
            self._stopping.set()
            self._threads.shutdown(wait=False, cancel_futures=True)
        if ending.verdict != "green" and self.green_in_place and ending.verdict in {"limit", "circuit_open"}:
            ending = Ending(
                "false_green", f"the tests pass only as the agent left them: {self._why_rejected()}{self._hint()}"
            )
        summary = summarise(
            loop_id=self.loop_id,
            ending=ending,
            progress=self.progress,
            verification=self.verification,
            duration_s=time.monotonic() - self._started,
            files_changed=self._files_changed(),
            loop_file=str(self.loop_file.path) if self.loop_file.path else None,
        )
        self.journal.end_loop(self.loop_id, ending.verdict, summary)
        self.loop_file.finish(summary)
        return summary

    def _interrupted(self) -> Ending:
        """Store the tree as it is found; what an agent had begun stays in it."""
        if self.latest is not None:
            self.latest = self._checkpoint("interrupted")
        left = "; the agent's edits are still in the tree" if self._files_changed() else ""
        return Ending("interrupted", f"interrupted from the keyboard or by a signal{left}")

    def preview(self) -> str:
        """Return the first prompt; runs the tests and calls no agent."""
        baseline = take_baseline(self.command, self.folder)
        self.progress.begin(baseline.record, baseline.flaky, "")
        return self._prompt(1)

    def _work(self) -> Ending:
        ended = self._go_on(self._resumed) if self._resumed and self._resumed.rows else self._start()
        if ended is not None:
            return ended
        for number in itertools.count(self._first):
            ended = self._before(number) or self.budget.before_call() or self._iterate(number)
            if ended is not None:
                return ended
        raise AssertionError("unreachable")

    def _start(self) -> Ending | None:
        settings = self.settings
        self.checkpoints.refresh_rules()
        self.latest = self._checkpoint("baseline")
        ended = self._still_cooling(self.latest.tree)
        if ended is not None:
            return ended
        with self.display.working("baseline: the tests run"):
            baseline = take_baseline(self.command, self.folder)
        self.progress.begin(baseline.record, baseline.flaky, self.latest.commit)
        self.display.line(f"baseline: {counts_line(baseline.record.counts)} in {baseline.record.duration_s:.1f} s")
        if baseline.problem is not None:
            return baseline.problem
        facts = self._facts(0, None, record=baseline.record, changes=ChangeSet.of(()), checkpoint=self.latest)
        self.state = begin(Facts.from_json(facts), self.thresholds)
        self._remember(0, {"facts": facts, "record": baseline.record.to_json()})
        if baseline.record.sound and settings.until == "green":
            return Ending("green", "the tests were green already; no agent was called")
        self._prepare_verification(self.latest.commit, baseline.record)
        return None

    def _go_on(self, resumed: Resumed) -> Ending | None:
        """Take up a loop where the journal ends, with the tree as it is found: nothing is rolled back."""
        settings = self.settings
        self.state, self.progress = resumed.fold(self.thresholds)
        self.attempts = resumed.attempts()
        self._first = self.progress.iterations + 1
        self._since = str(resumed.last["checkpoint"])
        self.latest = self._checkpoint("resumed")
        self.display.line(f"going on with loop {self.loop_id} after iteration {self.progress.iterations}")
        self._prepare_verification(str(resumed.rows[0]["checkpoint"]), resumed.baseline)
        with self.display.working("the tests run"):
            run = run_tests(self.command, work=self.folder)
        record, verification = self._believed(run, None)
        self.progress.record = record
        self.display.line(f"the tests as they are: {counts_line(record.counts)}")
        if verification is not None and verification.green and settings.until == "green":
            return Ending("green", verification.reason)
        return None

    def _prepare_verification(self, commit: str, baseline: RunRecord) -> None:
        settings = self.settings
        self._verifier = Verifier(
            checkpoints=self.checkpoints,
            baseline_commit=commit,
            baseline_record=baseline,
            command=self.command,
            work=self.folder / "verify",
            test_edits=settings.test_edits,
            allow_globs=settings.allow_test_edits,
            stop=self._stopping.is_set,
        )

    def _still_cooling(self, tree: str) -> Ending | None:
        """Refuse the very tree content on which the last loop tripped, until its cooldown is over."""
        previous = next((row for row in self.journal.loops(RUNNER) if row.loop_id != self.loop_id), None)
        tripped = previous is not None and previous.verdict == "circuit_open" and "reset_at" not in previous.data
        if previous is None or not tripped or not self.settings.circuit_breaker:
            return None
        summary = previous.data.get("summary", {})
        circuit = summary.get("circuit", {})
        retry_at = circuit.get("retry_at") or 0.0
        if summary.get("tree") != tree or time.time() >= retry_at:
            self.display.line(
                f"the last loop here, {previous.loop_id}, ended with an open circuit: {circuit.get('reason')}"
            )
            return None
        self.progress.circuit = circuit
        return Ending(
            "circuit_open",
            f"nothing changed since the circuit opened ({circuit.get('reason')}); a probe is allowed at "
            f"{time.strftime('%Y-%m-%d %H:%M', time.localtime(retry_at))}: wait, change something, or `fireloop reset`",
        )

    def _before(self, number: int) -> Ending | None:
        """Ask the limits, the circuit and the person before the agent is called again."""
        settings = self.settings
        assert self.state is not None
        if self._stop_requested():
            return Ending("interrupted", "stopped by `fireloop stop`")
        if number >= self._first + settings.max_iterations:
            return Ending(
                "limit", f"the limit of {settings.max_iterations} iterations was reached and the tests are not green"
            )
        if time.monotonic() - self._started > settings.max_time_s:
            return Ending("limit", f"the time limit of {settings.max_time_s:g} s was reached")
        if not settings.circuit_breaker:
            return None
        while (admission := self._admission()).refused:
            why = f"the circuit is open: {admission.reason}"
            if not settings.wait:
                return Ending("circuit_open", why)
            ended = self.budget.wait(admission.retry_at or 0.0, why, verdict="circuit_open")
            if ended is not None:
                return ended
        return None

    def _stop_requested(self) -> bool:
        """Whether somebody asked for the end; the request is met with that."""
        if not self.journal.requested("stop"):
            return False
        self.journal.clear_request("stop")
        return True

    def _admission(self) -> Admission:
        """Ask the circuit, and keep it when the clock went back: each look would else begin the cooldown anew."""
        assert self.state is not None
        now = time.time()
        noticed = notice_clock(self.state, now)
        if noticed is not self.state:
            self.state, self._clock_back_at = noticed, now
        return admit(self.state, now)

    def _iterate(self, number: int) -> Ending | None:
        assert self.state is not None
        assert self.latest is not None
        before = self.latest
        prompt = self._prompt(number)
        moves_before = user_repository.read_state(self.settings.tree)
        if self._calibration is None and self._verifier is not None:
            self._calibration = self._threads.submit(self._verifier.calibrate)
        self.progress.calls += 1
        self.journal.note(self.loop_id, calls=self.progress.calls)
        self.budget.call()
        with self.display.working(f"iteration {number}: {self.settings.agent.name} works"):
            outcome, text = call_agent(self.settings.agent, self._call(number, prompt), self._output(number))
        self.budget.spent(outcome)
        self.progress.spend(outcome)
        moves = user_repository.moves(moves_before, user_repository.read_state(self.settings.tree))
        self.latest = self._checkpoint(f"iteration {number}")
        # of a call that was cut off the edits count with those of the next one
        changes = self._changes(self._since or before.commit, self.latest.commit)
        self._since = None
        for move in moves:
            self.display.always(f"warning: the agent touched the repository: {move}")
        if outcome.status == "unavailable":
            return Ending("agent_unavailable", f"{self.settings.agent.name}: {outcome.detail}")
        with self.display.working(f"iteration {number}: the tests run"):
            run = run_tests(self.command, work=self.folder)
        record, verification = self._believed(run, outcome)
        findings = tuple(f"{f.kind} in {f.path}: {f.detail}" for f in verification.findings) if verification else ()
        promise = any(line.strip() == self.settings.completion_promise for line in text.splitlines())
        facts = self._facts(number, outcome, record=record, changes=changes, checkpoint=self.latest, promise=promise)
        self.state, decision = decide(self.state, Facts.from_json(facts))
        delta = compare(self.progress.record, record, self.progress.flaky)
        self._note(number, outcome, decision, record=record, changes=changes, findings=findings)
        self.loop_file.iteration(self.progress, decision, record, changes, facts)
        self._remember(
            number,
            {
                "facts": facts,
                "decision": decision.to_json(),
                "record": {**record.to_json(), "delta": delta.to_json(), "changes": changes.to_json()},
                "prompt": prompt,
                "agent": {
                    "status": outcome.status,
                    "detail": outcome.detail,
                    "session": outcome.session,
                    "turns": outcome.turns,
                    "reset_at": outcome.reset_at,
                },
                "moves": list(moves),
                "verification": verification.reason if verification else None,
                "attempt": self.attempts[-1].to_json(),
                "loop_row": self.loop_file.last_row,
            },
        )
        return self._ended(outcome, decision, verification, promise=promise)

    def _believed(self, run: TestRun, outcome: Outcome | None) -> tuple[RunRecord, Verification | None]:
        """Verify a green run; what is judged is the room's record when it speaks against the green."""
        self.green_in_place = run.record.sound_but(self.progress.flaky)
        if not self.green_in_place or self._verifier is None or self.latest is None:
            return run.record, None
        if self._calibration is not None:
            self._calibration.result()
        else:
            self._verifier.calibrate()
        self.display.line("tests are green in place; verifying with the tests of the start")
        with self.display.working("the tests of the start run in the room"):
            found = self._verifier.verify(self.latest.commit, self.progress.flaky, run.record)
        self.verification = found
        if found.green:
            return run.record, found
        if outcome is None or outcome.status == "ok":
            self.display.always(f"green rejected: {found.reason}")
        judged = found.record if found.record is not None else self.progress.record
        return replace(judged, complete=False, incomplete_reason=found.reason), found

    def _ended(
        self, outcome: Outcome, decision: Decision, verification: Verification | None, *, promise: bool
    ) -> Ending | None:
        settings = self.settings
        if verification is not None and verification.green and (settings.until == "green" or promise):
            return Ending("green", verification.reason)
        if outcome.status == "blocked":
            return Ending("blocked", f"the agent says that a person is needed: {outcome.detail}")
        if outcome.status == "auth":
            return Ending("blocked", f"the agent cannot authenticate: {outcome.detail}")
        if decision.stop is not None and settings.circuit_breaker:
            self.progress.trips += 1
            ending = Ending(verdict_of_stop(decision.stop), f"{decision.stop}: {reason(decision.evidence)}")
            if not (settings.wait and ending.verdict == "circuit_open"):
                return ending
            self.display.always(f"the circuit opens: {ending.reason}")
        self.strategy = advice(decision.rotate) if decision.rotate else None
        self.progress.rotations += decision.rotate is not None
        return None

    def _note(
        self,
        number: int,
        outcome: Outcome,
        decision: Decision,
        *,
        record: RunRecord,
        changes: ChangeSet,
        findings: tuple[str, ...],
    ) -> None:
        assert self.latest is not None
        line = iteration_line(
            number, outcome, before=self.progress.record, after=record, changes=changes, decision=decision
        )
        self.progress.add(number, record, self.latest.commit, decision)
        self.attempts.append(Attempt(number, tuple(f.path for f in changes.files), line, findings))
        self.display.line(line)

    def _prompt(self, number: int) -> str:
        settings = self.settings
        return compose(
            PromptFacts(
                task=settings.task,
                iteration=number,
                max_iterations=settings.max_iterations,
                record=self.progress.record,
                attempts=self.attempts,
                strategy=self.strategy,
                promise=settings.completion_promise if settings.until == "both" else None,
                few_calls=self.budget.last.warns,
            )
        )

    def _output(self, number: int) -> Path:
        """Return where the agent's output goes; what a call that was cut off said is kept beside it."""
        path = self.folder / f"agent-{number}.txt"
        if path.exists():
            path.replace(self.folder / f"agent-{number}.cut-off-{self.progress.calls}.txt")
        return path

    def _call(self, number: int, prompt: str) -> Call:
        settings = self.settings
        folder = self.folder / f"call-{number}"
        # it is there already where the call was cut off, and is made again
        folder.mkdir(mode=0o700, exist_ok=True)
        (folder / "prompt.md").write_text(prompt, encoding="utf-8")
        record = folder / "record.json"
        record.write_text(json.dumps(self.progress.record.to_json()), encoding="utf-8")
        environment = {
            **settings.environment,
            "FIRELOOP_LOOP": self.loop_id,
            "FIRELOOP_CALL": str(folder),
            "FIRELOOP_RECORD": str(record),
            "FIRELOOP_PYTHON": str(settings.interpreter.path),
            "FIRELOOP_PYTEST_ARGS": json.dumps(settings.pytest_args),
        }
        return Call(
            settings.tree,
            folder,
            prompt,
            environment,
            settings.agent_timeout_s,
            settings.agent_args,
            settings.model,
        )

    def _facts(
        self,
        number: int,
        outcome: Outcome | None,
        *,
        record: RunRecord,
        changes: ChangeSet,
        checkpoint: Checkpoint,
        promise: bool = False,
    ) -> dict[str, Any]:
        seen = Observation(
            number, time.time(), outcome, record, changes, checkpoint.tree, self.progress.flaky, promise=promise
        )
        facts = trace_iteration(seen)
        facts["calls_left"] = self.budget.last.left
        if not self.settings.circuit_breaker:
            facts["forced"] = True
        if self._clock_back_at is not None:
            facts["clock_back_at"], self._clock_back_at = self._clock_back_at, None
        return facts

    def _changes(self, old: str, new: str) -> ChangeSet:
        is_test = with_data(self._is_test_file(), self.progress.baseline.outcomes, self.checkpoints.files(new))
        return ChangeSet.of(self.checkpoints.changes(old, new), is_test)

    def _is_test_file(self) -> Callable[[str], bool]:
        baseline = self.progress.baseline
        return predicate_of(baseline.outcomes, [error.path for error in baseline.collection_errors])

    def _files_changed(self) -> int:
        if self.latest is None or not self.progress.commits:
            return 0
        return len(self.checkpoints.changes(self.progress.commits[0], self.latest.commit))

    def _checkpoint(self, message: str) -> Checkpoint:
        taken = self.checkpoints.take(f"{self.loop_id}: {message}")
        self.progress.tree = taken.tree
        for path in sorted(set(taken.left_out) - self._left_out):
            self.display.always(f"warning: too large or unreadable for a checkpoint, so it cannot be restored: {path}")
        self._left_out |= set(taken.left_out)
        return taken

    def _remember(self, number: int, data: dict[str, Any]) -> None:
        assert self.latest is not None
        self.journal.add_iteration(self.loop_id, number, {**data, "checkpoint": self.latest.commit})

    def _hint(self) -> str:
        """Propose the option by which a person allows a change of tests or configuration that is right."""
        is_test = self._is_test_file()
        changed = self.checkpoints.changes(self.progress.commits[0], self.progress.commits[-1])
        paths = [each.path for each in changed if is_test(each.path) or is_configuration(each.path)]
        options = " ".join(f"--allow-test-edits={shlex.quote(path)}" for path in paths[:3])
        return f"; where the change is right, allow it with {options}" if options else ""

    def _why_rejected(self) -> str:
        return self.verification.reason if self.verification is not None else "the run is incomplete"
