"""`fireloop-test`: call the agent and then pytest, again and again, until the tests are green or the circuit trips."""

from __future__ import annotations

import os
import shlex
import sys
from argparse import Action, Namespace, RawDescriptionHelpFormatter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pytest_fireloop.act.end_signals import interrupt_work
from pytest_fireloop.cli.arguments import Parser, amount, count, duration, usage_error, version
from pytest_fireloop.cli.ending import BEFORE_IT_BEGAN, tell_early_ending, tell_ending
from pytest_fireloop.cli.last_resort import guarded, internal_error
from pytest_fireloop.judge.verdict import Ending

if TYPE_CHECKING:
    from pytest_fireloop.act.loop import Loop
    from pytest_fireloop.act.own_command import OwnCommand
    from pytest_fireloop.act.settings import LoopSettings

PROGRAM = "fireloop-test"
EPILOG = """\
example:
  fireloop-test --agent "my-agent --print {prompt}" "fix failing auth tests" -- tests/auth

exit codes:
   0  green, believed
   1  tests fail; a limit was reached
   2  interrupted, or stopped
   3  internal error
   4  usage or configuration error
   5  no tests collected
  10  circuit open: the loop gets nowhere
  11  blocked: only a person can help
  12  rest
  13  false green
  14  agent unavailable"""

#: Arguments of pytest that show something instead of running tests.
NO_RUN = frozenset(
    {"--collect-only", "--collectonly", "--co", "--help", "-h", "--version", "-V", "--fixtures", "--markers"}
    | {"--setup-plan", "--setup-only", "--fixtures-per-test", "--funcargs"}
)


def build_parser() -> Parser:
    """Return the parser; pytest's own arguments come after `--` and are split off before."""
    parser = Parser(
        prog=PROGRAM,
        usage='%(prog)s "PROMPT" [options] [-- PYTEST_ARGS...]',
        description=__doc__,
        epilog=EPILOG,
        formatter_class=RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    add = parser.add_argument
    add("prompt", nargs="?", metavar="PROMPT", help="the task; its words never narrow what must be green")
    add("--prompt-file", metavar="FILE", help="read the task from FILE, or from standard input with -")
    add("--agent", default="auto", metavar="NAME|COMMAND", help="an agent by name, or any command; default: auto")
    add("--agent-arg", action="append", default=[], metavar="ARG", help="one more argument for the agent; repeatable")
    add("--model", metavar="NAME", help="the model that the agent should use, by the agent's own name for it")
    add("--max-iterations", type=count, default=50, metavar="N", help="default: 50")
    add("--max-time", type=duration, default=duration("8h"), metavar="TIME", help="default: 8h")
    add("--max-cost", type=amount, default=None, metavar="USD", help="as far as the agent tells what it costs")
    add("--max-calls-per-hour", type=count, default=100, metavar="N", help="of all your loops; default: 100")
    add("--agent-timeout", type=duration, default=duration("30m"), metavar="TIME", help="default: 30m")
    add("--test-timeout", type=duration, default=duration("30m"), metavar="TIME", help="default: 30m")
    add("--completion-promise", default="DONE", metavar="TEXT", help="only asked for with --until both; default: DONE")
    add("--until", choices=("green", "both"), default="green", help="both: green, and the promise as well")
    add("--no-circuit-breaker", action="store_true", help="never stop for stagnation (not recommended)")
    add("--profile", choices=("balanced", "strict", "aggressive"), default=None, help="default: balanced")
    add("--aggressive", action="store_true", help="the same as --profile aggressive")
    add("--cooldown", type=duration, default=duration("30m"), metavar="TIME", help="default: 30m")
    add("--wait", action="store_true", help="stay and probe after the cooldown instead of exit 10")
    add("--test-edits", choices=("review", "forbid", "allow"), default="review", help="default: review")
    add("--allow-test-edits", action="append", default=[], metavar="GLOB", help="tests that the agent may change")
    add(
        "--protect",
        action="append",
        default=[],
        metavar="GLOB",
        help="files, as in .gitignore, that may not be changed",
    )
    add("--python", metavar="PATH", help="the interpreter that runs the tests")
    add(
        "--test-command",
        metavar="CMD",
        help="run CMD (tox, nox, make...) for the tests; {pytest_args} in it is filled in",
    )
    add("--report", action="append", default=[], metavar="GLOB", help="JUnit files that CMD writes; repeatable")
    add("--fire-loop-dir", metavar="DIR", help="keep the loop's state in DIR")
    add("--example", metavar="NAME", help="copy a bundled example to a temporary folder and run there")
    add("--dry-run", action="store_true", help="show how the agent is called, the settings and the first prompt")
    add("--json", action="store_true", help="one JSON summary on standard output, the rest on standard error")
    add("--quiet", action="store_true", help="the summary alone")
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run one loop and return its exit code; a fault of ours is one line and 3."""
    words = list(sys.argv[1:] if argv is None else argv)
    cut = words.index("--") if "--" in words else len(words)
    interrupt_work()
    return guarded(PROGRAM, lambda: _main(words[:cut], tuple(words[cut + 1 :])), told="--json" in words[:cut])


def _main(words: Sequence[str], pytest_args: tuple[str, ...]) -> int:
    from pytest_fireloop.act.interpreter import InterpreterError
    from pytest_fireloop.act.lock import LockedError
    from pytest_fireloop.act.settings import SettingsError
    from pytest_fireloop.agents.command import CommandError

    if words == ["--version"] and not pytest_args:
        print(PROGRAM, version())
        return 0
    try:
        return run_loop(_options(build_parser(), words), pytest_args)
    except (SettingsError, InterpreterError, CommandError, LockedError) as error:
        return usage_error(PROGRAM, str(error))


def _settable(parser: Parser) -> dict[str, Action]:
    """Return the options that a project may set, by the name of the setting."""
    return {
        option.removeprefix("--").replace("-", "_"): action
        for action in parser._actions  # noqa: SLF001 - argparse offers no other list of its options
        for option in action.option_strings
        if option.startswith("--") and option not in {"--help", "--example", "--json", "--dry-run"}
    }


def setting_names() -> frozenset[str]:
    """Return the names that `[tool.fireloop]` may hold."""
    return frozenset(_settable(build_parser()))


def _options(parser: Parser, words: Sequence[str]) -> Namespace:
    """Parse the command line over the project's own settings."""
    from pytest_fireloop.act.settings import SettingsError, project_settings
    from pytest_fireloop.cli.tree import current_folder

    actions = _settable(parser)
    defaults: dict[str, Any] = {}
    for name, value in project_settings(current_folder(), {name: name for name in actions}).items():
        action = actions[name]
        if action.nargs == 0:
            if not isinstance(value, bool):
                raise SettingsError(f"[tool.fireloop] {name} = {value!r}: must be true or false")
            defaults[action.dest] = value
            continue
        values = value if isinstance(value, list) and isinstance(action.default, list) else [value]
        try:
            read = [action.type(str(each)) if callable(action.type) else str(each) for each in values]
        except Exception as error:
            raise SettingsError(f"[tool.fireloop] {name}: {error}") from error
        if action.choices is not None and read[0] not in action.choices:
            raise SettingsError(f"[tool.fireloop] {name} = {value!r}: choose from {', '.join(action.choices)}")
        defaults[action.dest] = read if isinstance(action.default, list) else read[0]
    parser.set_defaults(**defaults)
    options, more = parser.parse_known_args(words)
    if options.prompt is not None and more and not any(word.startswith("-") for word in more):
        task = " ".join([options.prompt, *more])
        raise SettingsError(f'the task is one argument; quote it, as in: fireloop-test "{task}"')
    if more:
        parser.error(f"unrecognized arguments: {' '.join(more)}")
    if options.test_edits == "forbid" and options.allow_test_edits:
        raise SettingsError("--test-edits forbid allows no edit, and --allow-test-edits some; leave one of them out")
    return options


def run_loop(options: Namespace, pytest_args: tuple[str, ...], resumes: str | None = None) -> int:
    """Run one loop, or go on with an earlier one, and return its exit code; whatever happens is told to scripts as well.

    Raises what is wrong with the usage before it begins: a setting, another loop.
    """
    from pytest_fireloop.act.checkpoints import CheckpointError
    from pytest_fireloop.act.interpreter import InterpreterError
    from pytest_fireloop.act.lock import LockedError
    from pytest_fireloop.act.settings import SettingsError
    from pytest_fireloop.act.world_fault import told
    from pytest_fireloop.agents.command import CommandError
    from pytest_fireloop.remember.journal_error import JournalDamagedError, JournalError

    begun: list[Loop] = []
    try:
        interrupt_work()
        return _run_loop(options, pytest_args, resumes, begun)
    except (SettingsError, InterpreterError, CommandError, LockedError, BrokenPipeError):
        raise
    except JournalDamagedError as error:
        ending = Ending("circuit_open", str(error))
    except (JournalError, CheckpointError) as error:
        ending = Ending("error", str(error))
    except KeyboardInterrupt:
        ending = BEFORE_IT_BEGAN
    except Exception as error:  # the last guard
        if os.environ.get("FIRELOOP_DEBUG"):
            raise
        of_the_world = told(error) if isinstance(error, OSError) else None
        ending = Ending("error", of_the_world or internal_error(error))
    return tell_early_ending(PROGRAM, ending, machine_output=options.json, loop=begun[0] if begun else None)


def _run_loop(options: Namespace, pytest_args: tuple[str, ...], resumes: str | None, begun: list[Loop]) -> int:
    from pytest_fireloop.act.example import copy_example
    from pytest_fireloop.act.interpreter import find_interpreter
    from pytest_fireloop.act.lock import TreeLock
    from pytest_fireloop.act.loop import Loop
    from pytest_fireloop.act.resumed import Resumed
    from pytest_fireloop.act.settings import LoopSettings, SettingsError
    from pytest_fireloop.agents.registry import choose_agent, plugin_manager
    from pytest_fireloop.cli.task import read_task
    from pytest_fireloop.cli.tree import current_folder, outside_note
    from pytest_fireloop.remember.held_journal import HeldJournal
    from pytest_fireloop.remember.paths import claim, state_folder, unfit
    from pytest_fireloop.show.display import Display

    task = read_task(options.prompt, options.prompt_file)
    own = _own_command(options, pytest_args, str(current_folder()))
    for word in pytest_args:
        if word in NO_RUN:
            raise SettingsError(f"{word} runs no test; leave it out of pytest's arguments")
    display = Display(machine_output=options.json, quiet=options.quiet)
    environment = dict(os.environ)
    tree = current_folder()
    python = options.python
    if options.example is not None:
        tree = copy_example(options.example)
        options.agent = "repair" if options.agent == "auto" else options.agent
        display.always(f"example {options.example!r} is copied to {tree}")
    folder = state_folder(tree, environment, options.fire_loop_dir)
    refused = unfit(tree, folder, environment)
    if refused is not None:
        raise SettingsError(refused)
    agent = choose_agent(options.agent, plugin_manager(display.line), environment)
    missing = agent.missing(environment)
    if missing is not None:
        return tell_early_ending(PROGRAM, Ending("agent_unavailable", missing), machine_output=options.json)
    if options.model is not None and not agent.takes_model:
        raise SettingsError(f"--model: the agent {agent.name!r} takes none; a command takes it where {{model}} stands")
    try:
        claim(folder, tree)
    except OSError as error:
        raise SettingsError(f"cannot use the state folder {str(folder)!r}: {error.strerror or error}") from error
    settings = LoopSettings(
        task=task,
        tree=tree,
        state=folder,
        agent=agent,
        interpreter=find_interpreter(tree, python, environment, own=options.example is not None),
        environment=environment,
        pytest_args=pytest_args,
        agent_args=tuple(options.agent_arg),
        model=options.model,
        max_iterations=options.max_iterations,
        max_time_s=options.max_time,
        max_calls_per_hour=options.max_calls_per_hour,
        max_cost_usd=options.max_cost,
        agent_timeout_s=options.agent_timeout,
        test_timeout_s=options.test_timeout,
        cooldown_s=options.cooldown,
        profile=options.profile or ("aggressive" if options.aggressive else "balanced"),
        circuit_breaker=not options.no_circuit_breaker,
        completion_promise=options.completion_promise,
        until=options.until,
        test_edits=options.test_edits,
        allow_test_edits=tuple(options.allow_test_edits),
        protect=tuple(options.protect),
        wait=options.wait,
        test_command=own,
    )
    lock = TreeLock(settings.state)
    journal = HeldJournal(settings.state / "journal.sqlite", display.always)
    try:
        found = settings.interpreter
        display.line(f"fireloop: agent {agent.name}, profile {settings.profile}, state in {settings.state}")
        if own is None:
            display.line(f"python: {found.path} ({found.python}, pytest {found.pytest}; from {found.origin})")
        else:
            display.line(f"test command: {options.test_command}{_seen(own)}")
        above = outside_note(tree, environment)
        if above is not None:
            display.line(above)
        resumed = Resumed.of(journal, resumes) if resumes is not None else None
        kept = {"options": {**vars(options), "prompt": task, "prompt_file": None}, "pytest_args": pytest_args}
        loop = Loop(settings, journal, display, kept=kept, resumed=resumed)
        if options.dry_run:
            shown = "".join(f"{line}\n" for line in _dry(options, settings))
            sys.stdout.write(f"{shown}\n{loop.preview()}")
            return 0
        begun.append(loop)
        summary = loop.run()
    finally:
        journal.close()
        lock.release()
    return tell_ending(PROGRAM, summary, machine_output=options.json, quiet=options.quiet)


def _dry(options: Namespace, settings: LoopSettings) -> list[str]:
    """Say how the agent would be called, and which settings, of the command line or the project, are not the default."""
    from pytest_fireloop.observe.text import one_line
    from pytest_fireloop.show.agent_call import command_line

    given = [
        f"--{name.replace('_', '-')}" + ("" if action.nargs == 0 else f" {_shown(value)}")
        for name, action in _settable(build_parser()).items()
        if name not in {"agent", "prompt_file"} and (value := getattr(options, action.dest, None)) != action.default
    ]
    called = command_line(settings.agent, settings.agent_args, settings.model)
    pytest_args = f"pytest's arguments: {shlex.join(settings.pytest_args)}"
    lines = [f"the agent is called as: {called}", f"settings that are not the default: {', '.join(given) or 'none'}"]
    return [one_line(line, 2_000) for line in (*lines, *([pytest_args] if settings.pytest_args else []))]


def _shown(value: object) -> str:
    if isinstance(value, list):
        return shlex.join(map(str, value))
    return f"{value:g}" if isinstance(value, float) else shlex.quote(str(value))


def _own_command(options: Namespace, pytest_args: tuple[str, ...], tree: str) -> OwnCommand | None:
    from pytest_fireloop.act.own_command import OwnCommand
    from pytest_fireloop.act.settings import SettingsError

    # a loop of an earlier version kept neither
    text, reports = getattr(options, "test_command", None), getattr(options, "report", [])
    if text is not None:
        return OwnCommand.of(text, reports, pytest_args, tree)
    if reports:
        raise SettingsError("--report names the JUnit files of a --test-command, and there is none")
    return None


def _seen(own: OwnCommand) -> str:
    return "" if own.shows_tests else " (its exit code alone is seen: nothing can be verified)"


if __name__ == "__main__":
    sys.exit(main())
