"""The loop: baseline, then agent, tests, judgement, checkpoint, until green, a limit, or an open circuit."""

from __future__ import annotations

import contextlib
import itertools
import secrets
import shutil
import time
from collections.abc import Mapping
from typing import Any

from pytest_fireloop.act import user_repository, world_fault
from pytest_fireloop.act.baseline import take_baseline
from pytest_fireloop.act.caller import Caller
from pytest_fireloop.act.checkpoints import CheckpointError
from pytest_fireloop.act.end_signals import finish_undisturbed
from pytest_fireloop.act.gate import Gate
from pytest_fireloop.act.green_check import GreenCheck
from pytest_fireloop.act.iteration import AgentWork, Iteration
from pytest_fireloop.act.last_trip import LastTrip
from pytest_fireloop.act.left_behind import end_left_behind
from pytest_fireloop.act.measure import Observation, trace_iteration
from pytest_fireloop.act.progress import Progress, summarise
from pytest_fireloop.act.prompt import Attempt
from pytest_fireloop.act.resumed import Resumed
from pytest_fireloop.act.retention import keep_small
from pytest_fireloop.act.settings import LoopSettings
from pytest_fireloop.act.test_run import TestCommand, run_tests
from pytest_fireloop.act.user_repository import RepositoryState
from pytest_fireloop.act.watched_tree import WatchedTree
from pytest_fireloop.judge.recovery import advice
from pytest_fireloop.judge.verdict import Ending
from pytest_fireloop.observe.changes import ChangeSet
from pytest_fireloop.observe.record import RunRecord
from pytest_fireloop.remember.journal import RUNNER, Journal
from pytest_fireloop.remember.journal_error import JournalError
from pytest_fireloop.show.display import Display
from pytest_fireloop.show.loop_file import LoopFile
from pytest_fireloop.show.summary import record_line


class Loop:
    """One loop in one tree; the caller holds the tree's lock. `kept` is stored so that it can go on later."""

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
        self.gate = Gate(settings, journal, self.loop_id, display)
        self.command = TestCommand(
            settings.interpreter.path,
            settings.tree,
            settings.pytest_args,
            dict(settings.environment),
            settings.test_timeout_s,
            self.gate.time.for_tests,
            own=settings.test_command,
        )
        self.tree = WatchedTree(
            settings.state / "checkpoints.git", settings.tree, self.loop_id, display, settings.protect
        )
        self.repository = user_repository.RepositoryLook(settings.tree)
        self.check = GreenCheck(settings, self.command, self.tree, self.folder, display)
        self.caller = Caller(settings, self.loop_id, self.folder, self.gate.time)
        self.loop_file = LoopFile(settings.tree, self.loop_id, resumed.loop_rows if resumed else ())
        self.progress = Progress()
        self.attempts: list[Attempt] = []
        #: Where the changes of the next iteration begin, when not at the last checkpoint.
        self._since: str | None = None
        #: Whether it ends before it began: then nothing is kept of it.
        self._refused = False

    def run(self) -> dict[str, Any]:
        """Run to the end and return the summary; nothing but the agent's own edits stays in the tree."""
        settings = self.settings
        self.journal.clear_request("stop")
        ended = end_left_behind(settings.state)
        if ended:
            self.display.always(f"{ended} processes of a loop that was killed here were still running, and are ended")
        try:
            ending = self._work()
        except KeyboardInterrupt:
            finish_undisturbed()
            ending = self._interrupted()
        except CheckpointError as error:
            ending = Ending(
                "error", f"{error}; the last checkpoint is {self.tree.commit if self.tree.latest else 'none'}"
            )
        except OSError as error:
            reason_told = world_fault.told(error, (settings.state, settings.tree))
            if reason_told is None:
                raise
            ending = Ending("error", reason_told)
        finally:
            finish_undisturbed()
            self.check.end()
        if self.check.green_in_place and ending.verdict in {"limit", "circuit_open"}:
            why = f"{self.check.why_rejected()}{self.tree.hint(self.progress.baseline)}"
            ending = Ending("false_green", f"the tests pass only as the agent left them: {why}; {ending.reason}")
        if self.tree.latest is not None:
            self.progress.tree = self.tree.latest.tree
        shown = self.loop_file.path if not self._refused else None
        summary = summarise(
            loop_id=self.loop_id if self._resumed or not self._refused else None,
            ending=ending,
            progress=self.progress,
            verification=self.check.found,
            duration_s=self.gate.time.elapsed,
            files_changed=self._files_changed(),
            at_best=self._at_best(),
            loop_file=str(shown) if shown else None,
        )
        if self._refused:
            self._forget()
            return summary
        try:
            self.journal.end_loop(self.loop_id, ending.verdict, summary)
        except JournalError as error:
            # what was found is true without it; `fireloop resume` finds a loop that was cut off
            self.display.always(f"warning: the end of the loop could not be stored: {error}")
        self.loop_file.finish(summary)
        done = keep_small(settings.state, self.journal, self.tree.checkpoints)
        if done is not None:
            self.display.line(done)
        return summary

    def _begin(self) -> None:
        """Note that the loop begins, or goes on."""
        if self._resumed is None:
            settings = self.settings
            began = {"task": settings.task, "agent": settings.agent.name, "profile": settings.profile, **self._kept}
            self.journal.begin_loop(self.loop_id, RUNNER, began)
        else:
            self.journal.resume_loop(self.loop_id)
            self.journal.note(self.loop_id, options=self._resumed.options(self._kept.get("options") or {}))

    def _refuse(self, ending: Ending) -> Ending:
        self._refused = True
        return ending

    def _forget(self) -> None:
        """Take back what was noted of a loop that was refused; one that was to go on stays as it is."""
        if self._resumed is None:
            with contextlib.suppress(JournalError):
                self.journal.forget(self.loop_id)
            shutil.rmtree(self.folder, ignore_errors=True)

    def _files_changed(self) -> int:
        """Count the files that differ from the start, 0 where checkpoints cannot be read any more."""
        try:
            return self.tree.files_changed()
        except (CheckpointError, OSError):
            return 0

    def _at_best(self) -> bool:
        """Whether the tree is as it was when most tests passed."""
        progress = self.progress
        try:
            return bool(progress.commits) and self.tree.is_at(progress.commits[progress.best])
        except (CheckpointError, OSError):
            return False

    def preview(self) -> str:
        """Return the first prompt; runs the tests and calls no agent."""
        baseline = take_baseline(self.command, self.folder)
        self.progress.begin(baseline.record, baseline.flaky, "")
        return self.caller.prompt(1, self.progress, (), few_calls=False)

    def _interrupted(self) -> Ending:
        """Store the tree as it is found; what an agent had begun stays in it."""
        if self.tree.latest is not None:
            with contextlib.suppress(CheckpointError):
                self.tree.take("interrupted")
        left = "; the agent's edits are still in the tree" if self._files_changed() else ""
        return Ending("interrupted", f"interrupted from the keyboard or by a signal{left}")

    def _work(self) -> Ending:
        ended = self._go_on(self._resumed) if self._resumed and self._resumed.rows else self._start()
        if ended is not None:
            return ended
        for number in itertools.count(self.gate.first):
            ended = self.gate.before(number) or self._iterate(number)
            if ended is not None:
                return ended
        raise AssertionError("unreachable")

    def _start(self) -> Ending | None:
        self._begin()
        settings = self.settings
        outputs = settings.test_command.reports if settings.test_command else ()
        self.tree.checkpoints.refresh_rules(outputs)
        checkpoint = self.tree.take("baseline")
        last = LastTrip.of(self.journal, self.loop_id) if settings.circuit_breaker else None
        barred = last.bars(checkpoint.tree, time.time()) if last is not None else None
        if last is not None and barred is not None:
            self.progress.circuit = last.circuit
            # whether other arguments can be is only told by a run with them
            if last.was_run_with(settings.pytest_args):
                return self._refuse(barred)
        elif last is not None:
            self.display.line(last.line)
        with self.display.working("baseline: the tests run"):
            baseline = take_baseline(self.command, self.folder)
        self.gate.time.run_s = baseline.record.duration_s
        generated: list[str] = []
        if settings.test_command is not None:
            # what such a command builds in the tree is no work of an agent
            self.tree.checkpoints.refresh_rules(outputs)
            before, checkpoint = checkpoint, self.tree.take("baseline, after its tests")
            generated = self.tree.checkpoints.changed(before.commit, checkpoint.commit)
        self.tree.start = checkpoint.commit
        self.progress.begin(baseline.record, baseline.flaky, checkpoint.commit)
        self.display.line(f"baseline: {record_line(baseline.record)} in {baseline.record.duration_s:.1f} s")
        cut = self.gate.out_of_time() if baseline.record.exit_code is None else None
        refused = baseline.problem or barred
        if refused is not None:
            return self._refuse(refused)
        self.loop_file.begin()
        if cut is not None:
            return cut
        facts = self._facts(None, baseline.record)
        self.gate.begin(facts)
        self._remember(0, {"facts": facts, "record": baseline.record.to_json(), "generated": generated})
        if baseline.record.sound and self.settings.until == "green":
            return Ending("green", "the tests were green already; no agent was called")
        self.check.prepare(checkpoint.commit, baseline.record, generated)
        return None

    def _go_on(self, resumed: Resumed) -> Ending | None:
        """Take up a loop where the journal ends, with the tree as it is found: nothing is rolled back."""
        state, self.progress = resumed.fold(self.gate.thresholds)
        self.gate.take_up(state, self.progress.usd, was_reset=resumed.was_reset)
        assert self.gate.state is not None
        self.progress.circuit = self.gate.state.circuit.to_json()
        self.attempts = resumed.attempts()
        self.gate.first = self.progress.iterations + 1
        self.tree.start, self._since = str(resumed.rows[0]["checkpoint"]), str(resumed.last["checkpoint"])
        found = self.tree.take("resumed")
        tripped = self.gate.refusal()
        if tripped is not None and found.tree == resumed.last["facts"]["tree"]:
            return self._refuse(tripped)
        self._begin()
        self.loop_file.begin()
        self.gate.time.run_s = resumed.baseline.duration_s
        if resumed.cut_off:
            self.tree.violations("resumed", cut_off=True)
        goes_on = f"loop {self.loop_id} after iteration {self.progress.iterations}"
        if tripped is None:
            self.display.line(f"going on with {goes_on}")
        else:
            self.display.line(f"the circuit of {goes_on} is open; the tree has changed since, so its tests run")
        self.check.prepare(self.tree.start, resumed.baseline, resumed.generated)
        with self.display.working("the tests run"):
            run = run_tests(self.command, work=self.folder)
        record, verification = self.check.believed(run, self.progress, told=True)
        self.progress.record = record
        self.display.line(f"the tests as they are: {record_line(record)}")
        if verification is not None and verification.green and self.settings.until == "green":
            return Ending("green", verification.reason)
        return None

    def _iterate(self, number: int) -> Ending | None:
        work = self._call(number)
        if isinstance(work, Ending):
            return work
        with self.display.working(f"iteration {number}: the tests run"):
            run = run_tests(self.command, work=self.folder)
        record, verification = self.check.believed(run, self.progress, told=work.outcome.status == "ok")
        facts = self._facts(work, record)
        found = Iteration(work, self.progress.record, record, verification, facts, self.gate.decide(facts))
        kept = found.to_json(self.progress.flaky)
        self.progress.add(number, record, self.tree.commit, found.decision)
        self.attempts.append(found.attempt)
        self.display.line(found.line)
        self.loop_file.iteration(self.progress, found.decision, record, work.changes, facts)
        shown = {"loop_row": self.loop_file.last_row, "green_in_place": self.check.green_in_place}
        self._remember(number, {**kept, **shown})
        return self._ended(found)

    def _call(self, number: int) -> AgentWork | Ending:
        """Call the agent, and see what it did before any test runs."""
        progress, name = self.progress, self.settings.agent.name
        before = self._since or self.tree.commit
        prompt = self.caller.prompt(number, progress, self.attempts, few_calls=self.gate.budget.last.warns)
        moves_before = self.repository.read()
        self.tree.protect()
        self.check.calibrate()
        progress.calls += 1
        self.journal.note(self.loop_id, calls=progress.calls)
        self.gate.budget.call()
        with self.display.working(f"iteration {number}: {name} works"):
            outcome, text = self.caller.call(number, prompt, progress)
        self.gate.budget.spent(outcome)
        progress.spend(outcome)
        self.journal.note(self.loop_id, tokens=progress.tokens, usd=progress.usd)
        moves = self._moves(number, moves_before)
        self.tree.take(f"iteration {number}")
        violations = self.tree.violations(f"iteration {number}")
        progress.protected += [(number, each) for each in violations]
        lost = next((each for each in violations if each.restored is False), None)
        if lost is not None:
            return Ending("blocked", f"{lost.told}: {self.tree.commit} holds what is left; put it right by hand")
        # of a call that was cut off the edits count with those of the next one
        changes = self.tree.changes(before, self.tree.commit, progress.baseline)
        self._since = None
        if outcome.status == "unavailable":
            return Ending("agent_unavailable", f"{name}: {outcome.detail}")
        return AgentWork(number, prompt, outcome, text, changes, moves, violations)

    def _moves(self, number: int, before: RepositoryState | None) -> tuple[str, ...]:
        """Name what the agent moved in the repository, and what it took away; put back what is needed to go on."""
        found = (*self.tree.missing(), *user_repository.moves(before, self.repository.read()))
        for move in found:
            self.display.always(f"warning: the agent touched the repository: {move}")
        self.progress.moves += [(number, move) for move in found]
        return found

    def _ended(self, found: Iteration) -> Ending | None:
        settings, decision = self.settings, found.decision
        ending = found.ending(wants_promise=settings.until == "both")
        if ending is not None:
            return ending
        trip = found.trip if settings.circuit_breaker else None
        if trip is not None:
            self.progress.trips += 1
            if not (settings.wait and trip.verdict == "circuit_open"):
                return trip
            self.display.always(f"the circuit opens: {trip.reason}")
        self.caller.strategy = advice(decision.rotate) if decision.rotate else None
        self.progress.rotations += decision.rotate is not None
        return None

    def _facts(self, work: AgentWork | None, record: RunRecord) -> dict[str, Any]:
        """Return the facts of an iteration, or without an agent's work those of the baseline."""
        assert self.tree.latest is not None
        seen = Observation(
            work.number if work else 0,
            time.time(),
            work.outcome if work else None,
            record,
            work.changes if work else ChangeSet.of(()),
            self.tree.latest.tree,
            self.progress.flaky,
            promise=work is not None and work.promises(self.settings.completion_promise),
        )
        return self.gate.complete(trace_iteration(seen))

    def _remember(self, number: int, data: dict[str, Any]) -> None:
        self.journal.add_iteration(self.loop_id, number, {**data, "checkpoint": self.tree.commit})
