"""Values of Dask's own settings: types and ranges, which Dask looks at when it needs them, if at all.

What a value may be follows from the default: a time, a size, a count, a switch. Shares of memory are a table.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Any

from pipeline.documents.report import Report
from pipeline.documents.yaml import KeyPath, dotted

LONGEST = 1e9
"""Seconds; thirty years."""

MOST = 10**12
"""The largest count."""

MEMORY: KeyPath = ("distributed", "worker", "memory")
THRESHOLDS = ("target", "spill", "pause", "terminate")
"""Shares of the memory limit at which a worker does more and more about it, so in this order."""

SHARES = (*THRESHOLDS, "transfer", "sender-min", "recipient-max", "sender-recipient-gap")
SWITCHABLE = (*THRESHOLDS, "transfer", "offload")
"""Settings that false switches off."""

NAMED = ("compression", "spill-compression", "max-spill")
"""Switches that may also be the name of a way, or a size."""

NOTHING = ("worker-ttl", "log-length", "low-level-log-length")
"""Settings that null switches off, though they have a default."""

TIMES = ("timeout", "ttl", "duration", "interval", "delay")
"""Ends of the names of settings without a default that are times."""


def value_rule(path: KeyPath, value: object, default: object) -> str:
    """What a setting should be and is not; empty where it is, or nobody knows."""
    name = str(path[-1]).replace("_", "-")
    if value is None:
        return "" if default is None or name in NOTHING else "a value, or no such key"
    if value is False and name in SWITCHABLE:
        return ""
    if name in SHARES:
        return "" if is_number(value) and 0.0 < float(value) <= 1.0 else "a share of memory, above 0 and at most 1"  # type: ignore[arg-type]
    if isinstance(default, bool):
        named = name in NAMED and isinstance(value, str)
        return "" if named or isinstance(value, bool) else "true or false"
    if isinstance(default, int | float):
        return _number_rule(value, whole=isinstance(default, int))
    if isinstance(default, list | tuple):
        return "" if isinstance(value, list | tuple | str) else "a list"
    if value is False and name in NAMED:
        return ""
    if isinstance(default, str):
        return next((rule(value) for applies, rule in _TEXTS if applies(default)), _text_rule(value))
    is_time = default is None and name.endswith(TIMES) and isinstance(value, str | int | float)
    return _time_rule(value) if is_time else ""


def check_thresholds(report: Report, settings: Mapping[str, Any], merged: Mapping[str, Any]) -> None:
    """Reports shares of memory in another order than workers take them; `merged` are the settings in force."""
    memory: Any = settings
    for key in MEMORY:
        memory = memory.get(key) if isinstance(memory, Mapping) else None
    if not isinstance(memory, Mapping) or not any(name in memory for name in THRESHOLDS):
        return
    force = merged["distributed"]["worker"]["memory"]
    shares = [(name, float(force[name])) for name in THRESHOLDS if is_number(force[name])]
    for (before, low), (name, high) in pairwise(shares):
        if low > high:
            at = name if name in memory else before
            rule = f"{', '.join(THRESHOLDS)} in this order, and {before} is {low:g}, {name} {high:g}"
            report((*MEMORY, at), memory[at], rule, "Raise the later ones too.")
            return


def seconds(text: object) -> float:
    """A time as Dask writes it, in seconds; 0 where it is none, or endless."""
    from dask.utils import parse_timedelta

    try:
        time = float(parse_timedelta(text))  # type: ignore[call-overload]  # which says what it does not take
    except (AttributeError, IndexError, KeyError, TypeError, ValueError, OverflowError):
        return 0.0
    return time if 0.0 < time <= LONGEST else 0.0


def is_number(value: object) -> bool:
    """Whether a value is a finite number."""
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _number_rule(value: object, *, whole: bool) -> str:
    if whole and isinstance(value, float):
        return "a whole number"
    if is_number(value) and 0 <= float(value) <= MOST:  # type: ignore[arg-type]
        return ""
    return f"a number from 0 to {MOST:g}"


def _time_rule(value: object) -> str:
    is_zero = is_number(value) and value == 0
    is_none = isinstance(value, str) and value.lstrip().startswith("0") and seconds(f"1{value.lstrip()}") > 0
    return "" if is_zero or is_none or seconds(value) else "a time, such as 30s, 5 minutes or 2h"


def _size_rule(value: object) -> str:
    from dask.utils import parse_bytes

    try:
        return "" if 0 <= float(parse_bytes(value)) <= MOST * 1000 else "a size, such as 64MiB"  # type: ignore[arg-type]
    except (AttributeError, IndexError, TypeError, ValueError, OverflowError):
        return "a size, such as 64MiB"


def _text_rule(value: object) -> str:
    return "" if isinstance(value, str) else "text"


def _is_time(default: str) -> bool:
    return default[:1].isdigit() and (seconds(default) > 0 or default == "0 seconds")


def _is_size(default: str) -> bool:
    return default[:1].isdigit() and not _size_rule(default)


_TEXTS: tuple[tuple[Callable[[str], bool], Callable[[object], str]], ...] = (
    (_is_time, _time_rule),
    (_is_size, _size_rule),
)
"""For defaults that are text: what tells their sort, and the rule."""


def rule_at(path: KeyPath, value: object, default: object) -> tuple[str, str]:
    """The rule that a setting breaks, and advice; empty where it breaks none."""
    rule = value_rule(path, value, default)
    return rule, f"Dask's default for {dotted(path)} is {default!r}." if rule else ""
