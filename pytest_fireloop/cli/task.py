"""The task that a loop is given."""

from __future__ import annotations

import sys
from pathlib import Path

from pytest_fireloop.act.settings import SettingsError
from pytest_fireloop.observe.text import reason_of


def read_task(prompt: str | None, prompt_file: str | None) -> str:
    """Return the task from the command line, a file, or standard input where the file is `-`; raises SettingsError."""
    if prompt is not None and prompt_file is not None:
        raise SettingsError("give the prompt or --prompt-file, not both")
    text = prompt
    if prompt_file is not None:
        try:
            text = sys.stdin.read() if prompt_file == "-" else Path(prompt_file).read_text("utf-8")
        except (OSError, UnicodeError) as error:
            raise SettingsError(f"--prompt-file: cannot read {prompt_file!r}: {reason_of(error)}") from error
    if text is None or not text.strip():
        raise SettingsError(
            'the prompt is empty; say what is to be done, as in: fireloop-test "fix failing auth tests"'
        )
    return _whole(text)


def _whole(text: str) -> str:
    """Read bytes that the locale has no characters for as what a prompt is written in."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode(sys.getfilesystemencoding(), "surrogateescape").decode("utf-8", "replace")
    return text
