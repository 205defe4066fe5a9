from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from pytest_fireloop.agents.repair.agent import Job, repair


@dataclass(frozen=True, slots=True)
class Case:
    """One mistake: the kind of edit that mends it, the line as it should be and as it is, the module, its tests."""

    kind: str
    right: str
    wrong: str
    module: str
    tests: str


CASES = (
    Case(
        "boundary",
        "    return age >= 18",
        "    return age > 18",
        "def is_adult(age):\n{line}\n",
        "assert M.is_adult(18)\nassert M.is_adult(40)\nassert not M.is_adult(17)\nassert not M.is_adult(17.5)",
    ),
    Case(
        "boolean",
        "    return 0 <= hour < 24 and 0 <= minute < 60",
        "    return 0 <= hour < 24 or 0 <= minute < 60",
        "def is_time(hour, minute):\n{line}\n",
        "assert M.is_time(23, 59)\nassert not M.is_time(24, 0)\nassert not M.is_time(1, 60)",
    ),
    Case(
        "not_dropped",
        "    return [word for word in words if word.isalpha()]",
        "    return [word for word in words if not word.isalpha()]",
        "def letters_only(words):\n{line}\n",
        "assert M.letters_only(['a', '1', 'b2']) == ['a']\nassert M.letters_only([]) == []",
    ),
    Case(
        "negated",
        "        if not line.startswith('#'):",
        "        if line.startswith('#'):",
        "def without_comments(lines):\n    kept = []\n    for line in lines:\n{line}\n            kept.append(line)\n    return kept\n",
        "assert M.without_comments(['a', '#b', 'c']) == ['a', 'c']\nassert M.without_comments([]) == []",
    ),
    Case(
        "arguments_swapped",
        "    return clamp(value, 0, 100)",
        "    return clamp(0, value, 100)",
        "def clamp(value, low, high):\n    return max(low, min(value, high))\n\n\ndef percent(value):\n{line}\n",
        "assert M.percent(-3) == 0\nassert M.percent(50) == 50\nassert M.percent(130) == 100\nassert M.clamp(5, 1, 3) == 3",
    ),
    Case(
        "raise_added",
        "        raise ValueError('an amount is positive')",
        "        ValueError('an amount is positive')",
        "def checked(amount):\n    if amount <= 0:\n{line}\n    return amount\n",
        "assert M.checked(3) == 3\ntry:\n    M.checked(0)\nexcept ValueError:\n    return\nassert False",
    ),
    Case(
        "sibling_method",
        "        return self._tags.get(name.strip().lower(), 0)",
        "        return self._tags.get(name.strip(), 0)",
        "class Tags:\n    def __init__(self):\n        self._tags = {{}}\n\n    def add(self, name):\n"
        "        name = name.strip().lower()\n        self._tags[name] = self._tags.get(name, 0) + 1\n\n"
        "    def count(self, name):\n{line}\n",
        "tags = M.Tags()\ntags.add(' Red')\nassert tags.count('RED ') == 1\nassert tags.count('red') == 1\nassert tags.count('blue') == 0",
    ),
    Case(
        "truth_flipped",
        "    return sorted(scores, key=scores.get, reverse=True)[:3]",
        "    return sorted(scores, key=scores.get, reverse=False)[:3]",
        "def best_three(scores):\n{line}\n",
        "assert M.best_three({'a': 1, 'b': 4, 'c': 3, 'd': 2}) == ['b', 'c', 'd']",
    ),
    Case(
        "arithmetic",
        "    return price * (1 + rate)",
        "    return price * (1 - rate)",
        "def with_tax(price, rate):\n{line}\n",
        "assert M.with_tax(100, 0.5) == 150\nassert M.with_tax(100, 0) == 100",
    ),
    Case(
        "one_more_or_less",
        "    for number in range(2, top + 1):",
        "    for number in range(1, top + 1):",
        "def primes(top):\n    found = []\n{line}\n        if all(number % prime for prime in found):\n"
        "            found.append(number)\n    return found\n",
        "assert M.primes(11) == [2, 3, 5, 7, 11]\nassert M.primes(1) == []",
    ),
    Case(
        "offset_by_one",
        "    return [values[i : i + size] for i in range(len(values) - size + 1)]",
        "    return [values[i : i + size] for i in range(len(values) - size)]",
        "def windows(values, size):\n{line}\n",
        "assert M.windows([1, 2, 3], 2) == [[1, 2], [2, 3]]\nassert M.windows([1], 1) == [[1]]",
    ),
    Case(
        "near_attribute",
        "        return self.width * self.height",
        "        return self.width * self.heigth",
        "class Box:\n    def __init__(self, width, height):\n        self.width = width\n        self.height = height\n\n"
        "    def area(self):\n{line}\n",
        "assert M.Box(2, 3).area() == 6",
    ),
    Case(
        "other_local",
        "    return first + (second - first) * share",
        "    return first + (second - first) * second",
        "def between(first, second, share):\n{line}\n",
        "assert M.between(10, 20, 0.5) == 15\nassert M.between(0, 8, 0.25) == 2",
    ),
    Case(
        "counterpart",
        "    return any(word in text for word in words)",
        "    return all(word in text for word in words)",
        "def mentions(text, words):\n{line}\n",
        "assert M.mentions('red car', ['blue', 'red'])\nassert not M.mentions('red car', ['blue'])\nassert not M.mentions('x', [])",
    ),
    Case(
        "near_text",
        "    return record['quantity'] * record['price']",
        "    return record['quantitiy'] * record['price']",
        "def entry(quantity, price):\n    return {{'quantity': quantity, 'price': price}}\n\n\ndef total(record):\n{line}\n",
        "assert M.total(M.entry(3, 2)) == 6",
    ),
    Case(
        "accumulated",
        "        total += amount",
        "        total = amount",
        "def balance(amounts):\n    total = 0\n    for amount in amounts:\n{line}\n    return total\n",
        "assert M.balance([1, 2, 3]) == 6\nassert M.balance([]) == 0\nassert M.balance([4]) == 4",
    ),
    Case(
        "operands_swapped",
        "    return end - start",
        "    return start - end",
        "def duration(start, end):\n{line}\n",
        "assert M.duration(2, 5) == 3\nassert M.duration(4, 4) == 0",
    ),
    Case(
        "return_added",
        "    return text.title()",
        "    text.title()",
        "def headline(text):\n{line}\n",
        "assert M.headline('two words') == 'Two Words'",
    ),
    Case(
        "other_exception",
        "        raise KeyError(name)",
        "        raise ValueError(name)",
        "PORTS = {{'http': 80}}\n\n\ndef port(name):\n    if name not in PORTS:\n{line}\n    return PORTS[name]\n",
        "assert M.port('http') == 80\ntry:\n    M.port('gopher')\nexcept KeyError:\n    return\nassert False",
    ),
    Case(
        "other_constant",
        "    return days * DAY",
        "    return days * HOUR",
        "MINUTE = 60\nHOUR = 60 * MINUTE\nDAY = 24 * HOUR\n\n\ndef seconds(days):\n{line}\n",
        "assert M.seconds(2) == 172800\nassert M.HOUR == 3600",
    ),
    Case(
        "jump_swapped",
        "            continue",
        "            break",
        "def evens(numbers):\n    found = []\n    for number in numbers:\n        if number % 2:\n{line}\n"
        "        found.append(number)\n    return found\n",
        "assert M.evens([1, 2, 3, 4]) == [2, 4]\nassert M.evens([2]) == [2]",
    ),
    Case(
        "moved_out",
        "    return True",
        "        return True",
        "def is_sorted(values):\n    for one, two in zip(values, values[1:]):\n        if one > two:\n            return False\n{line}\n",
        "assert M.is_sorted([1, 2, 3])\nassert not M.is_sorted([1, 3, 2])\nassert M.is_sorted([])",
    ),
    Case(
        "self_added",
        "        return self._stock[name] >= count",
        "        return stock[name] >= count",
        "class Store:\n    def __init__(self, stock):\n        self._stock = dict(stock)\n\n    def has(self, name, count):\n{line}\n",
        "assert M.Store({'nut': 2}).has('nut', 2)\nassert not M.Store({'nut': 2}).has('nut', 3)",
    ),
    Case(
        "lookup_softened",
        "    return names.get(code)",
        "    return names[code]",
        "def country(names, code):\n{line}\n",
        "assert M.country({'se': 'Sweden'}, 'se') == 'Sweden'\nassert M.country({}, 'se') is None",
    ),
    Case(
        "method_called",
        "        return self.left() == 0",
        "        return self.left == 0",
        "class Quota:\n    def __init__(self, most):\n        self.most = most\n        self.used = 0\n\n"
        "    def left(self):\n        return self.most - self.used\n\n    def is_used_up(self):\n{line}\n",
        "assert M.Quota(0).is_used_up()\nassert not M.Quota(1).is_used_up()\nassert M.Quota(3).left() == 3",
    ),
    Case(
        "sibling_attribute",
        "        return now >= self.ends",
        "        return now >= self.starts",
        "class Offer:\n    def __init__(self, starts, ends):\n        self.starts = starts\n        self.ends = ends\n\n"
        "    def is_open(self, now):\n        return self.starts <= now < self.ends\n\n    def is_over(self, now):\n{line}\n",
        "assert M.Offer(1, 5).is_over(5)\nassert not M.Offer(1, 5).is_over(4)\nassert M.Offer(1, 5).is_open(1)",
    ),
)


def write_test(case: Case) -> str:
    """One test function for each line of a case's tests, or a single one where they belong together."""
    lines = case.tests.split("\n")
    together = any(not line.startswith("assert") for line in lines)
    bodies = ["\n    ".join(lines)] if together else lines
    tests = "\n\n".join(f"def test_{number}():\n    {body}\n" for number, body in enumerate(bodies))
    return f"from shop import {case.kind} as M\n\n\n{tests}"


@pytest.mark.long
def test_every_mistake_is_mended_as_a_person_would(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    tree, scratch = tmp_path / "tree", tmp_path / "scratch"
    for folder in (tree / "shop", tree / "tests", scratch):
        folder.mkdir(parents=True)
    (tree / "pyproject.toml").write_text("[tool.pytest.ini_options]\npythonpath = ['.']\n")
    (tree / "shop" / "__init__.py").touch()
    for case in CASES:
        (tree / "shop" / f"{case.kind}.py").write_text(case.module.format(line=case.wrong))
        (tree / "tests" / f"test_{case.kind}.py").write_text(write_test(case))
    log: list[str] = []

    kept = repair(Job(tree, Path(sys.executable), scratch, (), 120, None), log.append)

    found = {case.kind: (tree / "shop" / f"{case.kind}.py").read_text() for case in CASES}
    assert found == {case.kind: case.module.format(line=case.right) for case in CASES}
    assert kept == len(CASES)
    assert log[-1].startswith("all ")
    for case in CASES:
        assert (tree / "tests" / f"test_{case.kind}.py").read_text() == write_test(case)
