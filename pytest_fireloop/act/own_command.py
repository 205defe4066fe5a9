"""A test command of the user's own: tox, nox, make, or any other."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from dataclasses import dataclass

from pytest_fireloop.act.settings import SettingsError

#: Stands in the command for what pytest has to be given.
PLACE = "{pytest_args}"


@dataclass(frozen=True, slots=True)
class OwnCommand:
    """Its words, and the patterns of the JUnit files that it writes, below the tree."""

    words: tuple[str, ...]
    reports: tuple[str, ...] = ()

    @classmethod
    def of(cls, text: str, reports: Sequence[str], pytest_args: Sequence[str], tree: str = "") -> OwnCommand:
        """Split a command as a shell would, and take reports below the `tree` from there; raises SettingsError."""
        try:
            words = tuple(shlex.split(text))
        except ValueError as error:
            raise SettingsError(f"--test-command {text!r}: {error}") from error
        made = cls(words, tuple(pattern.removeprefix(f"{tree}{os.sep}") if tree else pattern for pattern in reports))
        if not words:
            raise SettingsError(
                "--test-command is empty; name a command, as in: --test-command 'tox -p -- {pytest_args}'"
            )
        if made.records and reports:
            raise SettingsError(f"--report is for commands without {PLACE}: with it, each run of pytest is recorded")
        if pytest_args and not made.records:
            raise SettingsError(f"--test-command has no place for pytest's arguments; write {PLACE} where they belong")
        for pattern in made.reports:
            if pattern.startswith(("/", "~")) or ".." in pattern.split("/"):
                raise SettingsError(f"--report {pattern!r}: name files below the project's folder")
        return made

    @property
    def records(self) -> bool:
        """Whether its runs of pytest are recorded by our plugin."""
        return any(PLACE in word for word in self.words)

    @property
    def shows_tests(self) -> bool:
        """Whether single tests are seen; else there is an exit code and nothing more."""
        return self.records or bool(self.reports)

    def filled(self, args: Sequence[str]) -> list[str]:
        """Return the words with pytest's arguments in their place."""
        found: list[str] = []
        for word in self.words:
            found += args if word == PLACE else [word.replace(PLACE, shlex.join(args))]
        return found
