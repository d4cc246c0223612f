"""Write plain data as YAML that `pipeline.documents.yaml` reads back: one spelling, floats with all their bits.

Also here: rows of text as a small table of HTML, for objects in notebooks.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from typing import Any

from pipeline.documents.scalars import ScalarError, parse_scalar

WIDTH = 100

_PLAIN = re.compile(r"[A-Za-z_.][A-Za-z0-9_./*+-]*( [A-Za-z0-9_./*+-]+)*")
_OTHERWISE = {"yes", "no", "on", "off", "y", "n"}
"""Words that other readers of YAML take for something else than text."""


def yaml_text(data: Mapping[str, Any]) -> str:
    """Return a mapping of names to numbers, texts, lists and mappings as YAML."""
    return "\n".join(_lines(data, "")) + "\n"


def _lines(data: Mapping[str, Any], indent: str) -> Iterator[str]:
    for key, value in data.items():
        name = f"{indent}{_scalar(str(key))}:"
        is_long = isinstance(value, Mapping | list | tuple) and len(name) + len(_flow(value)) > WIDTH
        if isinstance(value, Mapping) and is_long:
            yield name
            yield from _lines(value, indent + "  ")
        elif isinstance(value, list | tuple) and is_long:
            yield from _wrapped(name, [_flow(entry) for entry in value], indent + "  ")
        else:
            yield f"{name} {_flow(value)}"


def _wrapped(name: str, entries: list[str], indent: str) -> Iterator[str]:
    """Yield a list in brackets over several lines."""
    yield f"{name} ["
    line = indent
    for entry in entries:
        if len(line) + len(entry) + 2 > WIDTH and line.strip():
            yield line.rstrip()
            line = indent
        line += f"{entry}, "
    yield line.rstrip(", ")
    yield f"{indent}]"


def _flow(value: object) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_scalar(str(key))}: {_flow(entry)}" for key, entry in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_flow, value)) + "]"
    return _scalar(value)


def _scalar(value: object) -> str:
    if isinstance(value, str):
        return value if _is_plain(value) else json.dumps(value, ensure_ascii=False)
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    return repr(value)


def _is_plain(text: str) -> bool:
    """Return whether a text may stand without quotes."""
    try:
        return bool(_PLAIN.fullmatch(text)) and parse_scalar(text) == text and text.lower() not in _OTHERWISE
    except ScalarError:
        return False


_CELL = "text-align:left;vertical-align:top;padding:1px 12px 1px 0"


def table(title: str, rows: Iterable[Sequence[str]], heads: Sequence[str] = ()) -> str:
    """Return a table with a title; the first cell of a row names the row."""
    lines = [_row("th", heads)] if heads else []
    lines += [_row("td", row) for row in rows]
    return f'<div><b>{escape(title)}</b><table style="border:none">{"".join(lines)}</table></div>'


def _row(kind: str, cells: Sequence[str]) -> str:
    start, stop = f'<{kind} style="{_CELL}">', f"</{kind}>"
    return f"<tr>{''.join(start + escape(str(cell)) + stop for cell in cells)}</tr>"
