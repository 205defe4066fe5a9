"""The text of Python's literals: elements of sets in one order, long containers cut as pytest cuts them."""

from __future__ import annotations

import re

#: Elements that pytest shows of a container when it is not asked for more.
SHOWN = {"[": 6, "(": 6, "{": 6, ":": 4}
PIECE = re.compile(r"'(?:[^'\\\n]|\\.){0,400}'|\"(?:[^\"\\\n]|\\.){0,400}\"|[\[\](){},:]|[^\[\](){},:'\"]{1,400}|['\"]")
NUMBER = re.compile(r"-?\d{1,15}(?:\.\d{1,15})?$")
PAIRS = {"[": "]", "(": ")", "{": "}"}
DEPTH = 40


def one_order(text: str, shorten: bool = False) -> str:
    """Sort the elements of sets; with `shorten` leave out the elements beyond those that pytest always shows."""
    if "{" not in text and not (shorten and ("[" in text or "(" in text)):
        return text
    # each open group: its bracket, finished elements, the parts of the current one, whether it has pairs
    stack: list[_Group] = [_Group("")]
    for piece in PIECE.findall(text):
        here = stack[-1]
        if piece in PAIRS and len(stack) < DEPTH:
            stack.append(_Group(piece))
        elif len(stack) > 1 and piece == PAIRS[here.bracket]:
            stack.pop()
            stack[-1].parts.append(here.text(piece, shorten))
        elif piece == "," and len(stack) > 1:
            here.close()
        else:
            here.pairs = here.pairs or (piece == ":" and here.bracket == "{")
            here.parts.append(piece)
    while len(stack) > 1:
        # a bracket that never closes belongs to a sentence, or pytest cut the text
        unfinished = stack.pop()
        stack[-1].parts.append(unfinished.as_it_was())
    return "".join(stack[0].parts)


def _place(element: str) -> tuple[bool, float, str]:
    """Sort numbers by value, as pytest does where it can, and the mark of what is left out last."""
    number = float(element) if NUMBER.match(element) else 0.0
    return element == "...", number, element


class _Group:
    """What stands between two brackets."""

    __slots__ = ("bracket", "elements", "pairs", "parts")

    def __init__(self, bracket: str) -> None:
        self.bracket = bracket
        self.elements: list[str] = []
        self.parts: list[str] = []
        self.pairs = False

    def close(self) -> None:
        self.elements.append("".join(self.parts))
        self.parts = []

    def as_it_was(self) -> str:
        return self.bracket + ",".join([*self.elements, "".join(self.parts)])

    def text(self, end: str, shorten: bool) -> str:
        self.close()
        elements = self.elements
        if self.bracket == "{" and not self.pairs and len(elements) > 1:
            ordered = sorted((each.strip() for each in elements), key=_place)
            elements = [ordered[0], *(f" {each}" for each in ordered[1:])]
        limit = SHOWN[":" if self.pairs else self.bracket]
        if shorten and len(elements) > limit and elements[limit].strip() != "...":
            elements = [*elements[:limit], " ..."]
        return self.bracket + ",".join(elements) + end
