"""One call of the loop's agent: its prompt, its scratch folder, its environment, where its output goes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from pytest_fireloop.act.agent_call import call_agent
from pytest_fireloop.act.denials import clear_denials, read_denials
from pytest_fireloop.act.progress import Progress
from pytest_fireloop.act.prompt import Attempt, PromptFacts, compose
from pytest_fireloop.act.settings import LoopSettings
from pytest_fireloop.act.time_limit import TimeLimit
from pytest_fireloop.agents.agent import Call, Outcome
from pytest_fireloop.observe.matrix_record import plain


class Caller:
    """Calls the agent, iteration by iteration; `strategy` is what the next prompt asks for where the loop is stuck."""

    def __init__(self, settings: LoopSettings, loop_id: str, folder: Path, time: TimeLimit) -> None:
        self.strategy: str | None = None
        self._settings, self._loop_id, self._folder, self._time = settings, loop_id, folder, time

    def prompt(self, number: int, progress: Progress, attempts: Sequence[Attempt], *, few_calls: bool) -> str:
        """Return the prompt of an iteration."""
        settings = self._settings
        return compose(
            PromptFacts(
                task=settings.task,
                iteration=number,
                max_iterations=settings.max_iterations,
                record=progress.record,
                attempts=attempts,
                strategy=self.strategy,
                promise=settings.completion_promise if settings.until == "both" else None,
                few_calls=few_calls,
            )
        )

    def call(self, number: int, prompt: str, progress: Progress) -> tuple[Outcome, str]:
        """Call the agent and return what became of it with the last of its text."""
        call = self._call(number, prompt, progress)
        outcome, text = call_agent(self._settings.agent, call, self._output(number, progress))
        if outcome.status == "timeout" and call.timeout_s < self._settings.agent_timeout_s:
            outcome = replace(outcome, detail=f"the time limit of the loop, {self._time.seconds:g} s, ended it")
        # an agent with hooks may list these among its own, or may not
        denials = max(outcome.permission_denials, len(read_denials(call.folder)))
        return replace(outcome, permission_denials=denials), text

    def _output(self, number: int, progress: Progress) -> Path:
        """Return where the agent's output goes; what a call that was cut off said is kept beside it."""
        path = self._folder / f"agent-{number}.txt"
        if path.exists():
            path.replace(self._folder / f"agent-{number}.cut-off-{progress.calls}.txt")
        return path

    def _call(self, number: int, prompt: str, progress: Progress) -> Call:
        settings = self._settings
        folder = self._folder / f"call-{number}"
        # it is there already where the call was cut off, and is made again
        folder.mkdir(mode=0o700, exist_ok=True)
        clear_denials(folder)
        (folder / "prompt.md").write_text(prompt, encoding="utf-8")
        record = folder / "record.json"
        record.write_text(json.dumps(plain(progress.record).to_json()), encoding="utf-8")
        environment = {
            **settings.environment,
            "FIRELOOP_LOOP": self._loop_id,
            "FIRELOOP_CALL": str(folder),
            "FIRELOOP_PROTECT": json.dumps(settings.protect),
            "FIRELOOP_TREE": str(settings.tree),
            "FIRELOOP_RECORD": str(record),
            "FIRELOOP_PYTHON": str(settings.interpreter.path),
            "FIRELOOP_PYTEST_ARGS": json.dumps(settings.pytest_args),
        }
        return Call(
            settings.tree,
            folder,
            prompt,
            environment,
            self._time.for_call(settings.agent_timeout_s),
            settings.agent_args,
            settings.model,
        )
