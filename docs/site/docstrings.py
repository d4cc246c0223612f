"""Docstrings as the code has them, plain text with names between backticks, brought to what Sphinx reads.

Signs that would be markup are escaped, and indented lines are shown as they stand. Backticks stay: Sphinx links what is
between them where there is such a name, and sets it as code where there is not.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, cast

from numpy.typing import ArrayLike
from sphinx.application import Sphinx
from sphinx.util.typing import stringify_annotation

import limbsweep
from docs.site import arguments

PUBLIC = ("limbsweep", "limbsweep.robots", "limbsweep.study")
"""Packages whose functions have a table of their arguments."""

_ALIAS = re.compile(r"TypeAliasForwardRef\('([\w.]+)'\)")
_ARRAY = re.compile(r"~numpy\.ndarray\[tuple\[~typing\.Any, \.\.\.\], ~numpy\.dtype\[([~\w.]+)\]\]")
_ARRAY_LIKE = stringify_annotation(ArrayLike, "smart")
_MODULE = re.compile(r"~(?:\w+\.)+(?=\w)")
_MARKUP = re.compile(r"([\\*|]|(?<=\w)_(?!\w))")


def plain(lines: Sequence[str]) -> list[str]:
    """The lines of a docstring with their signs escaped and indented blocks as literal ones."""
    return list(_lines(lines))


def _lines(lines: Sequence[str]) -> Iterator[str]:
    literal, blank, example = False, True, False
    for line in lines:
        example = line.startswith(">>> ") or (example and bool(line))
        if example:  # Sphinx knows these
            yield line
            continue
        indented = line.startswith("    ")
        if indented and blank and not literal:
            literal = True
            yield from ("::", "")
        elif line and not indented:
            literal = False
        yield line if literal else _escaped(line)
        blank = not line


def _escaped(line: str) -> str:
    """Escape what is not between backticks."""
    parts = line.split("`")
    return "`".join(part if k % 2 else _MARKUP.sub(r"\\\1", part) for k, part in enumerate(parts))


def setup(app: Sphinx) -> dict[str, Any]:
    """Change docstrings as autodoc reads them."""
    app.connect("builder-inited", _strip_added)
    app.connect("autodoc-process-docstring", _process)
    app.connect("autodoc-process-signature", _signature)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _process(app: Sphinx, what: str, name: str, obj: object, options: object, lines: list[str]) -> None:
    lines[:] = plain(lines)
    package, _, function = name.rpartition(".")
    if what == "function" and package in PUBLIC:
        lines += arguments.table(function, cast(Callable[..., Any], obj))


def _strip_added(app: Sphinx) -> None:
    """Take from functions what their wrappers add: autodoc reads defaults from the source, argument by argument."""
    for name in limbsweep.__all__:
        function: Any = getattr(limbsweep, name)
        if added := _added(function):
            function.__signature__ = inspect.signature(function.__wrapped__)
            function.__added__ = added


def _added(function: Any) -> str:
    """The arguments that a wrapper adds to a function, as text."""
    if not inspect.isfunction(function) or not hasattr(function, "__wrapped__"):
        return ""
    known, parameters = inspect.signature(function.__wrapped__).parameters, inspect.signature(function).parameters
    rows = (row for name, row in parameters.items() if name not in known)
    return ", ".join(_argument(row) for row in rows)


def _argument(row: inspect.Parameter) -> str:
    if row.annotation is row.empty:
        return f"{row.name}={row.default}"
    return f"{row.name}: {row.annotation} = {row.default}"


def _signature(
    app: Sphinx, what: str, name: str, obj: object, options: object, arguments: str | None, result: str | None
) -> tuple[str | None, str | None]:
    """Arguments and result of a function, names of types as the code has them: Sphinx wraps those beside a `|`."""
    if arguments and hasattr(obj, "__added__"):
        arguments = f"{arguments.removesuffix(')')}, {obj.__added__})"
    return arguments and _spelled(arguments), result and _spelled(result)


def _spelled(text: str) -> str:
    """Names of types as the code has them: those of arrays in place of what they stand for."""
    text = _ALIAS.sub(r"\1", text).replace(_ARRAY_LIKE, "ArrayLike")
    text = _MODULE.sub("", _ARRAY.sub(r"NDArray[\1]", text))
    return text.replace("<factory>", "...")  # a text that Python does not read stays raw
