"""The table of rules: every file of this folder that holds one, in the order in which they are asked."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

from pytest_fireloop.judge.evidence import Evidence
from pytest_fireloop.judge.rules.rule import Rule, View

#: Modules of this folder that hold no rule.
OTHERS = frozenset({"rule", "table"})


def _rules() -> tuple[Rule, ...]:
    """Return the rule of each module in this folder, in their order."""
    folder, _, _ = __name__.rpartition(".")
    names = [found.name for found in iter_modules(import_module(folder).__path__) if found.name not in OTHERS]
    rules: list[Rule] = [import_module(f"{folder}.{name}").RULE for name in names]
    return tuple(sorted(rules, key=lambda rule: rule.order))


RULES = _rules()
Measured = tuple[tuple[Rule, Evidence], ...]


def measured(view: View) -> Measured:
    """Return what each rule measures, in the order of the table; rules that have nothing to say are left out."""
    asked = (rule for rule in RULES if not (rule.stagnation and view.now.green))
    found = ((rule, rule.measure(view)) for rule in asked)
    return tuple((rule, evidence) for rule, evidence in found if evidence is not None)


def opening(found: Measured) -> tuple[Evidence, ...]:
    """Return the evidence of every rule that opens the circuit."""
    return tuple(evidence for rule, evidence in found if rule.opens and evidence.value >= evidence.threshold)


def warnings(view: View, found: Measured) -> Measured:
    """Return the rules that are one step from opening, with their evidence."""
    return tuple(
        (rule, evidence)
        for rule, evidence in found
        if rule.warns_at is not None and evidence.value >= rule.warns_at(view)
    )
