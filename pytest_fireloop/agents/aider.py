"""Aider, which writes text alone and ends with 0 whatever happened."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from pytest_fireloop.agents.agent import Call
from pytest_fireloop.agents.failure import Failure, classify, kind_of_text
from pytest_fireloop.agents.known_agent import KnownAgent, option, prompt_file
from pytest_fireloop.agents.seen import Seen

_SIZES = {"": 1, "k": 1_000, "m": 1_000_000}
_COST = re.compile(
    r"Tokens: (?P<sent>\d{1,9}(?:\.\d{1,3})?)(?P<sent_size>[kM]?) sent\b.{0,80}?, "
    r"(?P<got>\d{1,9}(?:\.\d{1,3})?)(?P<got_size>[kM]?) received\."
    r"(?: Cost: \$(?P<usd>\d{1,6}(?:\.\d{1,9})?) message\b.{0,80})?"
)
#: Its own lines, from their first letter; an answer that quotes one is followed by its tokens, and then it means nothing.
_TROUBLE = re.compile(
    r"litellm\.(?:exceptions\.)?\w{1,60}: .*|The API provider .*|Model \S{1,200} has hit a token limit!|Retrying in [\d.]{1,9} seconds.*"
    r"|\w{0,40}(?:Connection|Timeout)\w{0,40}: .*|Empty response received from LLM.*"
)

#: What it says of its own work after an answer.
_OWN = re.compile(
    r"(?:Applied edit to|Did not apply edit to|Commit|Add(?:ed)?|Scraping|Can't|Skipping) .*|https?://\S+"
)


def _words(call: Call) -> tuple[str, ...]:
    folder = call.folder
    return (
        *("--message-file", str(prompt_file(call)), "--yes-always", "--no-pretty", "--no-stream"),
        # what it would commit, ignore, or make a repository for is the user's
        *("--no-auto-commits", "--no-dirty-commits", *(() if _in_git(call.tree) else ("--no-git",))),
        # it would leave files of its own in the tree, and a loop of its own would run beside this one
        *(
            "--no-gitignore",
            "--chat-history-file",
            str(folder / "chat.md"),
            "--input-history-file",
            str(folder / "input"),
        ),
        *("--no-auto-test", "--no-check-update", "--no-show-release-notes"),
        *option("--model", call.model),
        *call.extra,
    )


def _in_git(tree: Path) -> bool:
    return any((folder / ".git").exists() for folder in (tree, *tree.parents))


def _environment(call: Call) -> Mapping[str, str]:  # noqa: ARG001 - the protocol asks
    return {"PYTHONUNBUFFERED": "1"}


def read_text(seen: Seen, line: str) -> Seen:
    """Return what is known after one line: the tokens of an answer show that it came, whatever was said before."""
    found = _COST.match(line)
    if found is not None:
        tokens = sum(int(float(found[name]) * _SIZES[found[f"{name}_size"].lower()]) for name in ("sent", "got"))
        usd = float(found["usd"]) if found["usd"] else None
        return replace(seen.worked().spent(tokens, usd), turns=(seen.turns or 0) + 1)
    if _TROUBLE.fullmatch(line.rstrip()):
        return _trouble(seen, line.strip())
    if not seen.open_text and _OWN.fullmatch(line.rstrip()):
        return seen
    return seen.said(line + "\n", piece=True) if seen.failure is None else seen


def _trouble(seen: Seen, line: str) -> Seen:
    named = line.partition(":")[0].rpartition(".")[2]
    kind = classify(line, names=(named,))
    before = seen.failure
    if before is not None and (kind == "unknown" or before.kind not in {"unknown", "request"}):
        # the first line says most; those after it repeat it in other words
        return seen if kind != "context" or before.kind == "context" else replace(seen, failure=Failure(kind, line))
    return replace(seen, failure=Failure(kind if kind_of_text(line) or kind != "unknown" else "unknown", line))


AIDER = KnownAgent(
    name="aider",
    program="aider",
    package="aider-chat",
    install="pip install aider-chat, in an environment of its own",
    words=_words,
    read_text=read_text,
    stdin=False,
    environment=_environment,
    has_final_event=False,
    verified="0.86.2",
    continues=False,
)
