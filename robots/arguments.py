"""Checks of arguments and fields against their annotations, for functions and records that users call.

    @check_arguments
    def at_time(robot: Robot, time: float) -> Robot: ...

The annotation is the rule: `float` stands for a number, `Mapping[int, float]` for a mapping with such keys and values,
the name of a class for its objects. An annotation without a rule admits everything. Keywords that a `TypedDict` lists,
as `**parts: Unpack[Parts]`, are checked in the same way. Values, such as bounds, are checked by the function itself.
"""

from __future__ import annotations

import ast
import functools
import inspect
import math
import os
import re
import sys
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import suppress
from numbers import Integral, Real
from typing import Any, TypeGuard, TypeVar

import numpy as np

from robots.data_classes import dataclass
from robots.parameter_errors import ParameterError, nearest

Target = TypeVar("Target", bound=Callable[..., Any])

WIDTH = 60
"""Characters of a value in a message."""

SEED = "seed"
"""Name of arguments that start random numbers and are never negative."""

LONGEST = 4096
"""Largest number of characters of a text: the length of the longest path."""
TEXT_BOUNDS = f"of at most {LONGEST} characters, without NUL"


@dataclass(frozen=True)
class ArgumentRule:
    """ArgumentRule for a value: the words of a message, and a predicate."""

    words: str
    accepts: Callable[[object], bool]


def real_numbers(value: object) -> np.ndarray:
    """Convert numbers, also in nested sequences, to an array of floats.

    Raises TypeError or ValueError for texts, dates, complex numbers, records, None, masked entries, and rows of
    different lengths.
    """
    array = np.asarray(value)
    masked = sys.modules.get("numpy.ma")  # imported by whoever made a masked array, not by us: 6 ms of each start
    if masked is not None and masked.is_masked(value):
        raise ValueError("masked entries")
    if array.dtype.kind == "O":
        if not all(isinstance(entry, Real | np.bool_) for entry in array.flat):
            raise TypeError("objects that are no numbers")
    elif array.dtype.kind not in "biuf":
        raise TypeError(f"values of type {array.dtype}")
    try:
        return array.astype(float, copy=False)
    except OverflowError:
        raise ValueError("a number beyond the range of doubles") from None


def argument_count(function: Callable[..., object]) -> int:
    """Count the arguments of a function that have no default. Raises TypeError where it does not tell them."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except ValueError:
        raise TypeError(f"got {shown(function)} whose arguments are not known; expected one of Python") from None
    return sum(parameter.default is inspect.Parameter.empty for parameter in parameters)


def shown(value: object) -> str:
    """Return a value as a message shows it: numbers, short texts and short lists themselves, else the type or shape."""
    if value is None or isinstance(value, bool | int | float | str | np.generic):
        text = ascii(value[: 2 * WIDTH] if isinstance(value, str) else value)
        return text if len(text) <= WIDTH else text[: WIDTH - 3] + "..."
    if isinstance(value, list | tuple) and len(value) <= WIDTH // 3:
        entries = ", ".join(map(shown, value))
        if len(entries) <= WIDTH:
            return f"[{entries}]" if isinstance(value, list) else f"({entries})"
    if isinstance(value, np.ndarray):
        return f"an array of shape {value.shape} and type {value.dtype}"
    return f"an object of type {type(value).__name__}"


def check_arguments(target: Target) -> Target:
    """Return a function, or a class with its constructor, that checks arguments first and raises ParameterError."""
    if isinstance(target, type):
        constructor = getattr(target, "__init__")  # noqa: B009 - mypy refuses the plain access
        setattr(target, "__init__", check_arguments(constructor))  # noqa: B010
        return target
    signature = inspect.signature(target)
    variable = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    annotations = {
        name: parameter.annotation
        for name, parameter in signature.parameters.items()
        if isinstance(parameter.annotation, str) and parameter.kind not in variable
    }

    keywords = _listed_keywords(target, signature)

    @functools.wraps(target)
    def checked(*places: object, **named: object) -> object:
        arguments: Mapping[str, object] = {}
        with suppress(TypeError):  # the call itself says what is missing or unknown
            arguments = signature.bind(*places, **named).arguments
        for name, value in arguments.items():
            if name in annotations:
                check_argument(name, value, annotations[name])
        for name in named.keys() - signature.parameters.keys() if keywords else ():
            if name not in keywords:
                raise TypeError(f"{name}: no argument has this name; {nearest(name, [*annotations, *keywords])}")
            check_argument(name, named[name], keywords[name])
        return target(*places, **named)

    return checked  # type: ignore[return-value]  # of the same signature


def _listed_keywords(target: Callable[..., Any], signature: inspect.Signature) -> Mapping[str, str]:
    """Return the annotations of the keywords that a TypedDict lists for a function; empty without a TypedDict.

    Short forms of records are left out: records check their fields and tell in which record a field is.
    """
    for parameter in signature.parameters.values():
        listed = re.fullmatch(r"Unpack\[(\w+)\]", str(parameter.annotation))
        if parameter.kind is inspect.Parameter.VAR_KEYWORD and listed and listed[1] not in SHORT_FORMS:
            hints = target.__globals__[listed[1]].__annotations__
            return {name: getattr(hint, "__forward_arg__", "Any") for name, hint in hints.items()}
    return {}


SHORT_FORMS = ("MotionKeywords", "DrivenKeywords")
"""Keywords that stand for fields of records."""


def check_argument(name: str, value: object, annotation: str) -> None:
    """Check one value against an annotation. Raises ParameterError."""
    rule = rule_of(annotation)
    if name == SEED and isinstance(value, Integral) and value < 0:
        raise ParameterError(f"{name}: got {shown(value)}; expected a whole number, zero or more")
    if not rule.accepts(value):
        bounds = "" if not isinstance(value, str) or _is_text(value) else f" {TEXT_BOUNDS}"
        entries = value.items() if isinstance(value, Mapping) and rule.accepts({}) else ()
        wrong = (f"{shown(of)} for {shown(key)}" for key, of in entries if not rule.accepts({key: of}))
        listed = f"; write [{shown(value)}]" if isinstance(value, str) and rule.accepts([value]) else ""
        raise ParameterError(f"{name}: got {next(wrong, shown(value))}; expected {rule.words}{bounds}{listed}")


@functools.cache
def rule_of(annotation: str) -> ArgumentRule:
    """Return the rule of an annotation, given as its source text."""
    return _rule(ast.parse(annotation, mode="eval").body)


def _rule(node: ast.expr) -> ArgumentRule:
    if isinstance(node, ast.Constant):
        return rule_of(node.value) if isinstance(node.value, str) else NOTHING if node.value is None else ANYTHING
    if isinstance(node, ast.BinOp):
        return _either([_rule(node.left), _rule(node.right)])
    name = _name(node.value if isinstance(node, ast.Subscript) else node)
    if name in ALIASES:
        return rule_of(ALIASES[name])
    if isinstance(node, ast.Subscript) and name in GENERIC:
        inner = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        return GENERIC[name](inner)
    return PLAIN.get(name, ANYTHING)


def _name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _either(rules: list[ArgumentRule]) -> ArgumentRule:
    if ANYTHING in rules:
        return ANYTHING
    words = [rule.words for rule in rules if rule is not NOTHING]
    words = [text for text in words if text != PLAIN["str"].words or PLAIN["Path"].words not in words]
    return ArgumentRule(" or ".join(dict.fromkeys(words)), lambda value: any(rule.accepts(value) for rule in rules))


def _literal(nodes: list[ast.expr]) -> ArgumentRule:
    values = [node.value for node in nodes if isinstance(node, ast.Constant)]
    words = f"one of {', '.join(map(str, values))}"
    return ArgumentRule(words, lambda value: isinstance(value, str) and value in values)


def _mapping(nodes: list[ast.expr]) -> ArgumentRule:
    keys, values = map(_rule, nodes)

    def accepts(value: object) -> bool:
        return isinstance(value, Mapping) and all(keys.accepts(key) and values.accepts(of) for key, of in value.items())

    words = [f" from {keys.words}" if keys.words else "", f" to {values.words}" if values.words else ""]
    return ArgumentRule("a mapping" + "".join(words), accepts)


def _sequence(nodes: list[ast.expr]) -> ArgumentRule:
    entry = _rule(nodes[0])
    of = f" of {entry.words}" if entry.words else ""
    return ArgumentRule(f"a sequence{of}", lambda value: _is_sequence(value) and _each(entry, value))


def _tuple(nodes: list[ast.expr]) -> ArgumentRule:
    if len(nodes) == 2 and isinstance(nodes[1], ast.Constant):
        return _sequence(nodes[:1])
    rules = list(map(_rule, nodes))

    def accepts(value: object) -> bool:
        if not _is_sequence(value) or len(value) != len(rules):
            return False
        return all(rule.accepts(entry) for rule, entry in zip(rules, value, strict=True))

    words = {rule.words for rule in rules}
    return ArgumentRule(f"{len(rules)} entries, each {words.pop() if len(words) == 1 else 'of its kind'}", accepts)


def _is_sequence(value: object) -> TypeGuard[Collection[object]]:
    if isinstance(value, str | bytes | Mapping | set | frozenset) or getattr(value, "ndim", 1) == 0:
        return False
    return isinstance(value, Collection)


def _each(entry: ArgumentRule, value: Iterable[object]) -> bool:
    if isinstance(value, np.ndarray) and value.dtype.kind in "iuf" and entry is PLAIN["float"]:
        return value.ndim == 1 and not np.isnan(value).any()
    return all(map(entry.accepts, value))


def _is_number(value: object) -> bool:
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    if isinstance(value, bool) or not isinstance(value, Real):
        return False
    try:
        return not math.isnan(float(value))
    except OverflowError:
        return False


def _is_array(value: object) -> bool:
    if hasattr(value, "chunks") and hasattr(value, "dtype"):
        return bool(np.dtype(value.dtype).kind in "biuf")  # of Dask or xarray, and not computed for a check
    try:
        real_numbers(value)
    except (TypeError, ValueError):
        return False
    return True


def _is_text(value: object) -> bool:
    return isinstance(value, str) and len(value) <= LONGEST and "\0" not in value


def _of_class(name: str, words: str) -> ArgumentRule:
    return ArgumentRule(words, lambda value: any(kind.__name__ == name for kind in type(value).__mro__))


NOTHING = ArgumentRule("nothing", lambda value: value is None)
ANYTHING = ArgumentRule("", lambda value: True)
CLASSES = {
    "Robot": "a robot, such as that of limbsweep.robots.build",
    "Family": "a family, such as that of limbsweep.robots.family",
    **{name: f"limbsweep.robots.{name}" for name in (
        "Beam", "BushingLoad", "Capsule", "ElasticDrive", "JointClearance", "JointSpringLoad", "LinkCompliance",
        "ObjectLoad", "SpringLoad", "WrenchLoad")},
    **{name: f"limbsweep.robots.{name}, such as by its method of" for name in (
        "Capsules", "Clearances", "Elasticity", "Errors")},
    "ExcitationOptions": "limbsweep.ExcitationOptions",
    "Sphere": "a sphere, such as those of limbsweep excite --spheres",
    "Objective": "the objective of limbsweep.study.objective",
    "Dataset": "a dataset of results, such as that of limbsweep.open",
    "DesignProblem": "limbsweep.study.DesignProblem",
    "RollingBearing": "limbsweep.study.RollingBearing",
    "SearchSettings": "limbsweep.study.SearchSettings",
    "Mechanism": "a mechanism, such as robot.mechanism",
    "OffsetBound": "bounds of offsets, such as those of Clearances.of",
}  # fmt: skip
"""Classes by name, which this module need not import, and the words for their objects."""
PLAIN = {
    "float": ArgumentRule("a number", _is_number),
    "int": ArgumentRule("a whole number", lambda value: isinstance(value, Integral) and not isinstance(value, bool)),
    "bool": ArgumentRule("True or False", lambda value: isinstance(value, bool | np.bool_)),
    "str": ArgumentRule("a text", _is_text),
    "ArrayLike": ArgumentRule("numbers", _is_array),
    "Array": ArgumentRule("numbers", _is_array),
    "NDArray": ArgumentRule("numbers", _is_array),
    "ndarray": ArgumentRule("numbers", _is_array),
    "DataArray": ArgumentRule("numbers", _is_array),
    "Mapping": ArgumentRule("a mapping", lambda value: isinstance(value, Mapping)),
    "Callable": ArgumentRule("a function", callable),
    "PathLike": ArgumentRule("a path", lambda value: isinstance(value, os.PathLike)),
    "Path": ArgumentRule("a path", lambda value: isinstance(value, os.PathLike)),
    **{name: _of_class(name, words) for name, words in CLASSES.items()},
}
"""Rules of annotations by name."""
GENERIC: Mapping[str, Callable[[list[ast.expr]], ArgumentRule]] = {
    "Mapping": _mapping,
    "Sequence": _sequence,
    "Collection": _sequence,
    "tuple": _tuple,
    "Literal": _literal,
    "Callable": lambda nodes: PLAIN["Callable"],
    "PathLike": lambda nodes: PLAIN["PathLike"],
    "NDArray": lambda nodes: PLAIN["ArrayLike"],
}
"""Rules of annotations with arguments, by name."""
ALIASES = {
    "Place": "tuple[int, int]",
    "Given": "float | str",
    "Triple": "tuple[Given, Given, Given]",
    "WrenchAxes": "Literal['world', 'link', 'platform']",
    "Listener": "Callable",
    "Commanded": "Literal['force', 'current', 'voltage', 'speed']",
    "Between": "Literal['linear', 'steps']",
    "LoadAxes": "Literal['world', 'platform']",
    "Acts": "Literal['both', 'pull', 'push']",
    "DeclaredLoad": "WrenchLoad | SpringLoad | BushingLoad | ObjectLoad | JointSpringLoad | ElasticDrive",
    "Packages": "Mapping[str, str | PathLike[str]]",
}
"""Names of annotations of other modules that stand for longer ones."""
