"""Validate a document against a pydantic model; every failure is a Problem in words that a user of the file knows.

Base class and field types of the models of file sections.
"""

from __future__ import annotations

import ast
import functools
import inspect
import re
import types
from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Annotated, Any, ClassVar, TypeVar, Union, get_args, get_origin

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    Strict,
    TypeAdapter,
    ValidationError,
)
from pydantic_core import CoreSchema, ErrorDetails, core_schema

from pipeline.documents.document import Document, KeyPath, YamlValue
from pipeline.documents.report import Got, Report, number_hint, sentence
from pipeline.documents.units import UNITS
from pipeline.errors import Problem, show
from robots.data_classes import dataclass
from robots.parameter_errors import nearest
from robots.parameters import LARGEST, Parameter

HUGE = 1e30
"""Size of any number in a file, in whatever unit: beyond it squares and products leave the range of single precision,
and no machine is. Parameters have bounds of their own."""

MANY = 2**53
"""The largest count that arrays of indices and doubles hold exactly."""

Number = Annotated[float, Strict(), Field(allow_inf_nan=False, ge=-HUGE, le=HUGE)]
Integer = Annotated[int, Strict()]
Count = Annotated[int, Strict(), Field(ge=1, le=MANY)]
Text = Annotated[str, Strict(), Field(min_length=1, max_length=10_000)]
Line = Annotated[str, Strict(), Field(max_length=1000)]
Flag = Annotated[bool, Strict()]
Positive = Annotated[Number, Field(gt=0)]
Seed = Annotated[Integer, Field(ge=0, le=2**128)]

Entry = TypeVar("Entry")
Some = Annotated[tuple[Entry, ...], Field(min_length=1)]
Two = Annotated[tuple[Entry, ...], Field(min_length=2, max_length=2)]
Three = Annotated[tuple[Entry, ...], Field(min_length=3, max_length=3)]
ByPattern = Annotated[dict[Text, Entry], Field(max_length=1000)]
"""Entries by names and patterns of joints, links or actuators."""


class ExpressionText(str):
    """The text of an expression in place of a number, which has to be above zero, or `zero` or more, or neither."""

    __slots__ = ("above", "zero")
    above: bool
    zero: bool

    @classmethod
    def of(cls, text: str, *, above: bool, zero: bool) -> ExpressionText:
        """Return a text with the rule for its number."""
        result = cls(text)
        result.above, result.zero = above, zero
        return result


@dataclass(frozen=True)
class OrExpression:
    """Mark of the annotation of a number: the text of an expression may stand for it, see `ExpressionText`.

    `Annotated[Number, Field(gt=0), OrExpression(above=True)]`
    """

    above: bool = False
    zero: bool = False

    def __get_pydantic_core_schema__(self, source: object, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Return the schema of the number, before which a text is taken."""
        return core_schema.no_info_wrap_validator_function(self._taken, handler(source))

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        """Return the JSON Schema of a number or a text."""
        return {"anyOf": [handler(schema), {"type": "string"}]}

    def _taken(self, value: object, number: Callable[[object], object]) -> object:
        is_text = isinstance(value, str) and value
        return ExpressionText.of(str(value), above=self.above, zero=self.zero) if is_text else number(value)


def _as_list(value: object) -> object:
    return [value] if isinstance(value, str) else value


OneOrMore = BeforeValidator(_as_list, json_schema_input_type=Text | tuple[Text, ...])
"""Mark of a list of texts: one text may stand for it."""


def list_under(key: str) -> Callable[[object], object]:
    """Return a function that takes a list in place of a section as the value of one of its keys."""
    return lambda value: {key: value} if isinstance(value, list) else value


AnyNumber = Annotated[Number, OrExpression()]
AboveZero = Annotated[Number, Field(gt=0), OrExpression(above=True)]
ZeroOrMore = Annotated[Number, Field(ge=0), OrExpression(zero=True)]
"""Numbers, or expressions of parameters that give them for each design."""

Name = Annotated[str, Field(strict=True, pattern=r"^[A-Za-z][A-Za-z0-9_.-]{0,79}$")]


class Section(BaseModel):
    """A mapping in a file: unknown keys are refused, values are frozen; keys may be spelt with dashes by an alias.

    The text below a key is its description.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True, defer_build=True)

    alone: ClassVar[str] = ""
    """Key of a value that is written in place of the whole section."""

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        """Return the JSON Schema with the descriptions of all keys."""
        whole = handler(schema)
        keys = handler.resolve_ref_schema(whole)["properties"]
        for name, text in descriptions(cls).items():
            keys[cls.model_fields[name].alias or name]["description"] = text
        return whole


def descriptions(model: type[BaseModel]) -> dict[str, str]:
    """Read the descriptions of keys, by field, from the source.

    Pydantic would read them as each class is made, for which every command would wait when it starts.
    """
    texts = {name: info.description for name, info in model.model_fields.items() if info.description}
    for base in reversed(model.__mro__[: model.__mro__.index(Section)]):
        try:
            (definition,) = ast.parse(inspect.getsource(base)).body
        except OSError:  # made of fields, which have descriptions
            continue
        assert isinstance(definition, ast.ClassDef)
        for key, text in pairwise(definition.body):
            if isinstance(key, ast.AnnAssign) and isinstance(text, ast.Expr) and isinstance(text.value, ast.Constant):
                texts[ast.unparse(key.target)] = " ".join(str(text.value.value).split())
    return texts


Model = TypeVar("Model", bound=Section)


def validate_keys(model: type[Model], document: Document) -> tuple[Model, list[Problem]]:
    """Validate each top-level key on its own: a model of the sound part, and the problems of the rest.

    So that checks which need more than the model can go on with the sound part and report in the same pass. An entry
    that is wrong is left out, its neighbours stay. A key of which nothing is left is not in `model_fields_set`: it has
    its default, or no value where it is required.
    """
    known = {info.alias or name: name for name, info in model.model_fields.items()}
    problems = [
        document.problem((key,), "an unknown key", "a known key", sentence(nearest(key, known)), key=True)
        for key in document.data
        if key not in known
    ]
    values: dict[str, object] = {}
    for key, name in known.items():
        info = model.model_fields[name]
        if key in document.data:
            sound, wrong = _check(model, name, document, key)
            if key in sound:
                values[name] = sound[key]
            problems += wrong
        elif info.is_required():
            problems.append(document.problem((), f"no key {key!r}", f"{key!r}, which is required", "Add it."))
        else:
            values[name] = info.get_default(call_default_factory=True, validated_data={})
    return model.model_construct(set(values), **values), problems


@functools.cache
def _adapter(model: type[Section], name: str) -> tuple[Any, TypeAdapter[object]]:
    """Return the annotation of a field and its validator, which takes longer to build than to use."""
    annotation = model.model_fields[name].rebuild_annotation()
    return annotation, TypeAdapter(annotation)


def _check(model: type[Section], name: str, document: Document, key: str) -> tuple[dict[str, object], list[Problem]]:
    """Validate a key: its value without the entries that have problems, unless nothing is left; and these problems."""
    (annotation, adapter), problems = _adapter(model, name), list[Problem]()
    rest = {key: document.data[key]}
    while key in rest:
        try:
            return {key: adapter.validate_python(rest[key])}, problems
        except ValidationError as error:
            failures = _failures(error)
        # Only the first pass counts: keys that later passes miss were removed here.
        problems = problems or [_problem(document, annotation, (key,), details) for details in failures]
        for details in failures:
            path = _in_document(document, (key, *details["loc"]))
            rest = _without(rest, path[: len(path) - (details["type"] == "missing")])
    return {}, problems


def _without(data: Mapping[str, YamlValue], path: KeyPath) -> dict[str, YamlValue]:
    """Copy nested mappings without the entry at `path`; of a list, without the whole list."""
    first, *rest = path
    child = data.get(str(first))
    if rest and isinstance(child, dict) and rest[0] in child:
        return {**data, str(first): _without(child, tuple(rest))}
    return {key: value for key, value in data.items() if key != first}


def validate_section(report: Report, model: type[Model], value: object, path: KeyPath) -> Model | None:
    """Return the section at `path` as a model; None where something is wrong, which goes to `report`."""
    try:
        return model.model_validate(value)
    except ValidationError as error:
        failures = _failures(error)
    report.take(_problem(report.document, model, path, details) for details in failures)
    return None


def _problem(document: Document, annotation: object, start: KeyPath, details: ErrorDetails) -> Problem:
    """Return a failure of the part of a document at `start` as a problem."""
    path = (*start, *details["loc"]) if len(start) > 1 else _in_document(document, (*start, *details["loc"]))
    kind = details["type"]
    if kind == "extra_forbidden":
        hint = sentence(nearest(str(path[-1]), _keys(annotation, path[len(start) : -1])))
        return document.problem(path, "an unknown key", "a known key", hint, key=True)
    if kind == "missing":
        return document.problem(path[:-1], f"no key {path[-1]!r}", f"{path[-1]!r}, which is required", "Add it.")
    rule = _RULES.get(kind, "a value that the format allows")
    expected = rule(details.get("ctx", {})) if callable(rule) else rule
    return document.problem(path, show(details["input"]), expected, _hint(details))


def _in_document(document: Document, location: KeyPath) -> KeyPath:
    """Convert the location of a failure to a path of the file, without steps that only the model has."""
    path: KeyPath = ()
    for part in location[:-1]:
        path = (*path, part) if (*path, part) in document.values else path
    return path if location[-1] in MODEL_STEPS else (*path, location[-1])


MODEL_STEPS = ("[key]", "[list]", "[one]")
"""Last steps of a location that are not in the file: a key, and the branches of a value or list of values."""


_RULES: Mapping[str, str | Callable[[Any], str]] = {
    "float_type": "a number",
    "finite_number": "a finite number",
    "int_type": "an integer",
    "int_from_float": "an integer",
    "bool_type": "true or false",
    "string_type": "text",
    "string_too_short": "text that is not empty",
    "string_too_long": lambda context: f"text of at most {context['max_length']} characters",
    "string_pattern_mismatch": "letters from a to z, digits, '_', '-' and '.', starting with a letter, at most 80",
    "dict_type": "a mapping of names to values",
    "model_type": "a mapping of keys to values",
    "model_attributes_type": "a mapping of keys to values",
    "tuple_type": "a list",
    "list_type": "a list",
    "too_short": lambda context: f"at least {_entries(context['min_length'])}",
    "too_long": lambda context: f"at most {_entries(context['max_length'])}",
    "greater_than": lambda context: f"a number above {context['gt']:g}",
    "greater_than_equal": lambda context: f"a number of at least {context['ge']:g}",
    "less_than": lambda context: f"a number below {context['lt']:g}",
    "less_than_equal": lambda context: f"a number of at most {context['le']:g}",
    "output_entry": "a name, or a name with a list of joints or links",
    "derivative_entry": "derivative with a metric, series or list, of with parameters, and sides: true or nothing",
    "several_turns": "one axis in each turn, as their order counts: [{z: 30}, {x: 15}]",
    "quaternion": "three rows of three values, or turn: there is no place for a quaternion",
    "turns_without_axis": "turns by the axis, such as {z: 30}",
    "repeated_column": "a column of its own for each",
    "number_or_expression": "a number, or the text of an expression",
    "literal_error": lambda context: f"one of {context['expected']}",
}


def _entries(count: int) -> str:
    return "1 entry" if count == 1 else f"{count} entries"


def _failures(error: ValidationError) -> list[ErrorDetails]:
    """Return the errors, without lists that are too short because their entries are wrong."""
    failures = error.errors(include_url=False)
    return [entry for entry in failures if not _is_long_enough(entry)] or failures


def _is_long_enough(details: ErrorDetails) -> bool:
    value = details["input"]
    return (
        details["type"] == "too_short"
        and isinstance(value, list | tuple)
        and len(value) >= details["ctx"]["min_length"]
    )


MEANT: Mapping[str, str] = {
    "x": "vx", "y": "vy", "z": "vz", "roll": "wx", "pitch": "wy", "yaw": "wz", "slider": "prismatic",
    "slide": "prismatic", "linear": "prismatic", "translational": "prismatic", "hinge": "revolute", "pin": "revolute",
    "rotary": "revolute", "rotational": "revolute", "continuous": "revolute", "helical": "screw", "ball": "spherical",
    "weld": "fixed", "rigid": "fixed",
}  # fmt: skip
"""Words of other programs, each with the word of limbsweep for the same thing."""

PARTS: Mapping[str, str] = {
    "universal": "two links with revolute joints",
    "spherical": "three links with revolute joints",
    "ball": "three links with revolute joints",
    "cylindrical": "a link with a prismatic joint and one with a revolute joint",
    "planar": "two links with prismatic joints and one with a revolute joint",
}
"""Kinds of joints with several freedoms, and their equivalents in a tree."""


def _hint(details: ErrorDetails) -> str:
    """Return advice for mistakes that are easy to recognise."""
    kind, value = details["type"], details["input"]
    if kind in ("list_type", "tuple_type") and isinstance(value, str) and len(value) < 40:
        return f"Write [{value.strip('()')}]."
    if kind == "model_type" and isinstance(value, list | int | float):
        return _within_key(details["ctx"]["class_name"], value)
    if not isinstance(value, str):
        return ""
    if kind == "literal_error":
        known = re.findall(r"'([^']*)'", details["ctx"]["expected"])
        if (ours := MEANT.get(value.lower())) in known:
            return f"It is called {ours} here."
        if value.lower() in PARTS and "revolute" in known:
            return f"Write {PARTS[value.lower()]}, one after the other."
        hint = nearest(value, known)
        return sentence(hint) if hint.startswith("did") else ""  # the rule has them all
    if kind == "bool_type":
        return "Write true or false."
    if kind in ("float_type", "int_type"):
        return number_hint(value)
    return ""


def _within_key(model: str, value: list[object] | float) -> str:
    """Return advice for a value in place of a whole section: the section with the value under its key `alone`."""
    key = next((section.alone for section in Section.__subclasses__() if section.__name__ == model), "")
    shown = f"[{', '.join(map(str, value))}]" if isinstance(value, list) else f"{value:g}"
    return f"Write {{{key}: {shown}}}." if key and len(shown) < 80 else ""


def _keys(annotation: object, path: KeyPath) -> list[str]:
    """List the keys of the section at `path` below `annotation`."""
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _keys(arguments[0], path)
    if origin in (Union, types.UnionType):
        return [key for argument in arguments for key in _keys(argument, path)]
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        fields = {info.alias or name: info for name, info in annotation.model_fields.items()}
        if not path:
            return list(fields)
        return _keys(fields[str(path[0])].annotation, path[1:]) if path[0] in fields else []
    return _keys(arguments[-1] if origin is dict else arguments[0], path[1:]) if path and arguments else []


def check_bounds(
    report: Report, parameter: Parameter, value: float, path: KeyPath, *, guess: bool = False, written: str = ""
) -> None:
    """Report a value outside the bounds of its parameter; guess which unit was meant where none was given.

    written: the value as it stands in the file, with a unit other than that of the parameter.
    """
    if parameter.problem(value):
        got = Got(f"{written}, which is {value!r} {parameter.unit}") if written else value
        report(path, got, _bounds_text(parameter, value), "" if written else _guess(parameter, value, guess))


def _bounds_text(parameter: Parameter, value: float) -> str:
    """Return the rule that a value breaks; without an upper bound that is as good as none."""
    if parameter.upper >= LARGEST and parameter.lower > -LARGEST:
        size = f"at least {parameter.lower:g}" if value < parameter.lower else f"at most {parameter.upper:g}"
        return f"a number of {size} [{parameter.unit}]"
    return parameter.bounds


def _guess(parameter: Parameter, value: float, axis: bool) -> str:
    """Guess the unit of a value that is too large: millimetres or degrees."""
    for unit, name in (("mm", "millimetres"), ("deg", "degrees")):
        if UNITS[unit].si == parameter.unit and not parameter.problem(converted := UNITS[unit].to_si(value)):
            write = f"add unit: {unit}" if axis else f"write {converted:.6g}"
            return f"If these are {name}, {write}."
    return ""
