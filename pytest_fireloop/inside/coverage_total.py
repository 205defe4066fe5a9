"""The total of a coverage measurement that somebody else takes; the plugin never starts one."""

from __future__ import annotations

import sys
from typing import Any


def read(config: Any) -> dict[str, Any]:
    """Return `{"coverage": {"total": percent}}`, or nothing where nobody measures or the total cannot be told."""
    try:
        total = _from_plugin(config)
        if total is None:
            total = _from_library(config)
    except Exception:  # noqa: BLE001 - somebody else's object, asked for a number that is no duty
        return {}
    return {} if total is None else {"coverage": {"total": round(float(total), 2)}}


def _from_plugin(config: Any) -> float | None:
    """Return what pytest-cov has summed up; it may have been told to print no report."""
    plugin = config.pluginmanager.get_plugin("_cov")
    total = getattr(plugin, "cov_total", None)
    if total:
        return float(total)
    controller = getattr(plugin, "cov_controller", None)
    measured = getattr(controller, "combining_cov", None) or getattr(controller, "cov", None)
    return _total_of(measured)


def _from_library(config: Any) -> float | None:
    """Return the total of `coverage run -m pytest`, whose measurement goes on while we ask; xdist's workers are not in it."""
    library = sys.modules.get("coverage")
    if library is None or getattr(config.option, "dist", "no") != "no":
        return None
    return _total_of(library.Coverage.current())


def _total_of(measured: Any) -> float | None:
    if measured is None or not measured.get_data().measured_files():
        return None
    import warnings
    from io import StringIO

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return float(measured.report(file=StringIO(), show_missing=False, ignore_errors=True))
