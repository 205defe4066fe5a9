"""What an iteration of the runner costs beside the agent and the tests, and what a checkpoint of a large tree costs.

A loop runs in a repository of many files, with an agent that changes one of them and one test that stays red. Of each
iteration the time of the processes of agent and tests is taken off; the rest is the runner's own: looking at the
repository, prompt, checkpoint, protected files, comparison, judgement, journal, loop file. Targets: 150 ms an iteration with
10,000 files, a second a checkpoint with 20,000 files of which few changed. Processor time counts, of the runner and of the
git that it starts, for other work on the machine disturbs it less; the clock's time is shown beside it. The look through
the environment, which takes up to a twentieth of a loop's time, falls into few of these short iterations.
"""

from __future__ import annotations

import argparse
import cProfile
import itertools
import os
import pstats
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_fireloop.act import agent_call, test_run
from pytest_fireloop.act.checkpoints import Checkpoints
from pytest_fireloop.act.interpreter import find_interpreter
from pytest_fireloop.act.loop import Loop
from pytest_fireloop.act.process import run_process
from pytest_fireloop.act.settings import LoopSettings
from pytest_fireloop.agents.command import CommandAgent
from pytest_fireloop.remember.journal import Journal
from pytest_fireloop.remember.paths import claim
from pytest_fireloop.show.display import Display

ITERATION_TARGET_MS = 150.0
CHECKPOINT_TARGET_MS = 1_000.0
FILES_A_FOLDER = 50
SOURCE = "".join(f"def f_{number}(a, b):\n    return a + b * {number}\n\n\n" for number in range(20))


@dataclass(frozen=True, slots=True)
class Spent:
    """Seconds by the clock, and of the processor in this process and its children that have ended."""

    clock: float
    processor: float

    @classmethod
    def now(cls) -> Spent:
        """Return what was spent so far."""
        kinds = (resource.getrusage(kind) for kind in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
        return cls(time.perf_counter(), sum(used.ru_utime + used.ru_stime for used in kinds))

    def since(self, before: Spent) -> Spent:
        """Return what was spent since."""
        return Spent(self.clock - before.clock, self.processor - before.processor)


class Meter:
    """Takes the time of agent and tests apart from the rest."""

    def __init__(self) -> None:
        self.apart = [0.0, 0.0]

    def run(self, *words: Any, **named: Any) -> Any:
        """Run a process of the agent or of the tests."""
        before = Spent.now()
        try:
            return run_process(*words, **named)
        finally:
            spent = Spent.now().since(before)
            self.apart[0] += spent.clock
            self.apart[1] += spent.processor


def make_tree(tree: Path, files: int) -> None:
    """Make a repository of so many files, with one test that fails."""
    tree.mkdir(parents=True)
    for number in range(files - 3):
        folder = tree / f"package_{number // FILES_A_FOLDER:04}"
        if number % FILES_A_FOLDER == 0:
            folder.mkdir()
        (folder / f"module_{number:05}.py").write_text(f"# {number}\n{SOURCE}", encoding="utf-8")
    (tree / "test_one.py").write_text("def test_one():\n    assert False\n", encoding="utf-8")
    (tree / "AGENTS.md").write_text("rules\n", encoding="utf-8")
    (tree / "pytest.ini").write_text("[pytest]\ntestpaths = test_one.py\n", encoding="utf-8")
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@example.invalid", "-C", str(tree)]
    for words in (("init", "--quiet", "."), ("add", "."), ("commit", "--quiet", "-m", "one")):
        subprocess.run([*git, *words], check=True)


def measure_loop(folder: Path, files: int, iterations: int, profile: Path | None) -> list[Spent]:
    """Run a loop and return the runner's own share of each iteration after the first, which calibrates as well."""
    tree, state = folder / f"tree-{files}", folder / f"state-{files}"
    make_tree(tree, files)
    claim(state, tree)
    environment = {**os.environ, "XDG_STATE_HOME": str(folder / "home"), "HOME": str(folder / "home")}
    agent = CommandAgent("stub", ("sh", "-c", "echo '# more' >> package_0000/module_00007.py"))
    settings = LoopSettings(
        task="measure",
        tree=tree,
        state=state,
        agent=agent,
        interpreter=find_interpreter(tree, sys.executable, environment),
        environment=environment,
        max_iterations=iterations,
        max_calls_per_hour=10_000,
        circuit_breaker=False,
    )
    meter = Meter()
    marks: list[tuple[Spent, list[float]]] = []
    profiler = cProfile.Profile(time.process_time)

    class Measured(Loop):
        def _iterate(self, number: int) -> Any:
            if number == 2:
                # beside the first iteration the unchanged project is run in the clean room
                self.check._calibration.result()  # type: ignore[union-attr] # noqa: SLF001
                if profile is not None:
                    profiler.enable()
            marks.append((Spent.now(), list(meter.apart)))
            return super()._iterate(number)

    # both look these names up when they call
    agent_call.run_process = test_run.run_process = meter.run  # type: ignore[attr-defined]
    journal = Journal(state / "journal.sqlite")
    try:
        summary = Measured(settings, journal, Display(machine_output=True, quiet=True)).run()
    finally:
        journal.close()
        profiler.disable()
        agent_call.run_process = test_run.run_process = run_process  # type: ignore[attr-defined]
    assert summary["verdict"] == "limit", summary["reason"]
    if profile is not None:
        with profile.open("w", encoding="utf-8") as file:
            pstats.Stats(profiler, stream=file).sort_stats("cumulative").print_stats(60)
    found = []
    for (start, apart), (end, later) in itertools.pairwise(marks[1:]):
        whole = end.since(start)
        found.append(Spent(whole.clock - later[0] + apart[0], whole.processor - later[1] + apart[1]))
    return found


def measure_checkpoint(folder: Path, files: int, times: int) -> tuple[Spent, list[Spent]]:
    """Return what the first checkpoint of a tree costs, and what each further one does after three files changed."""
    tree = folder / f"large-{files}"
    make_tree(tree, files)
    checkpoints = Checkpoints.open(folder / f"large-state-{files}" / "checkpoints.git", tree, with_repository=True)
    first = _spent(lambda: checkpoints.take("first"))
    later = []
    for number in range(times):
        for each in range(3):
            with (tree / f"package_{each:04}" / f"module_{each * FILES_A_FOLDER:05}.py").open("a") as file:
                file.write(f"# {number}\n")
        later.append(_spent(lambda: checkpoints.take("later")))
    return first, later


def _spent(act: Callable[[], object]) -> Spent:
    before = Spent.now()
    act()
    return Spent.now().since(before)


def _shown(spent: Sequence[Spent]) -> str:
    processor = statistics.median(each.processor for each in spent) * 1000
    clock = statistics.median(each.clock for each in spent) * 1000
    return f"{processor:.0f} ms of the processor, {clock:.0f} ms by the clock, least {min(each.clock for each in spent) * 1000:.0f}"


def main(argv: Sequence[str] | None = None) -> int:
    """Print the medians; return 1 when a target is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=10_000)
    parser.add_argument("--large", type=int, default=20_000)
    parser.add_argument("--iterations", type=int, default=8)
    parser.add_argument("--profile", type=Path, help="write where the runner's time goes")
    options = parser.parse_args(argv)
    folder = Path(tempfile.mkdtemp(prefix="iteration-"))
    try:
        spent = measure_loop(folder, options.files, options.iterations, options.profile)
        print(f"one iteration, {options.files} files: {_shown(spent)}; target {ITERATION_TARGET_MS:.0f}", flush=True)
        first, later = measure_checkpoint(folder, options.large, options.iterations)
        print(f"first checkpoint, {options.large} files: {_shown([first])}")
        print(f"next checkpoint, 3 files changed: {_shown(later)}; target {CHECKPOINT_TARGET_MS:.0f}")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    missed = statistics.median(each.processor for each in spent) * 1000 > ITERATION_TARGET_MS
    return 1 if missed or statistics.median(each.processor for each in later) * 1000 > CHECKPOINT_TARGET_MS else 0


if __name__ == "__main__":
    sys.exit(main())
