"""A document against a pydantic model: every failure as a Problem with its place, in words a user of the file knows."""

from __future__ import annotations

import re
import types
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, TypeVar, Union, get_args, get_origin

from pydantic import BaseModel, ConfigDict, Field, Strict, TypeAdapter, ValidationError

from pipeline.documents.yaml import Document, KeyPath, dotted
from pipeline.errors import InputError, Problem, show
from robots.parameters import nearest

Number = Annotated[float, Strict(), Field(allow_inf_nan=False)]
Integer = Annotated[int, Strict()]
Count = Annotated[int, Strict(), Field(ge=1)]
Text = Annotated[str, Strict(), Field(min_length=1, max_length=10_000)]
Vector = Annotated[tuple[Number, ...], Field(min_length=3, max_length=3)]

Model = TypeVar("Model", bound="Section")


@dataclass
class Report:
    """Problems of a document, collected while checks go on."""

    document: Document
    problems: list[Problem] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    """Keys that a model refused: checks go on without them, so what they find lacking there is no news."""

    def __call__(
        self,
        path: KeyPath,
        got: object,
        expected: str,
        hint: str = "",
        *,
        key: bool = False,
        within: tuple[str, int] | None = None,
    ) -> None:
        """Adds a problem at `path`; `got` is the value, or text that describes it (as a Got).

        `within` is the text of the value and a place in it, counted from 0, at which the problem stands.
        """
        text = got.text if isinstance(got, Got) else show(got)
        place = dotted(path)
        if not (place and any(key == place or key.startswith((place + ".", place + "[")) for key in self.missing)):
            problem = self.document.problem(path, text, expected, hint, key=key)
            shift = self.document.column_within(path, *within) if within else 0
            self.problems.append(replace(problem, column=problem.column + shift))

    def take(self, problems: Iterable[Problem]) -> None:
        """Adds what a model refused."""
        for problem in problems:
            self.problems.append(problem)
            self.missing.append(problem.key)

    def unknown(self, path: KeyPath, names: Iterable[str], kind: str = "key") -> None:
        """Adds that the last part of `path` is no name of this `kind`; says which is nearest."""
        self(path, Got(f"an unknown {kind}"), f"a known {kind}", sentence(nearest(str(path[-1]), names)), key=True)

    def raise_if_any(self) -> None:
        """Raises InputError where anything was reported."""
        if self.problems:
            raise InputError(self.problems)


@dataclass(frozen=True)
class Got:
    """What was found, in words: shown without quotes."""

    text: str


class Section(BaseModel):
    """A mapping in a file: unknown keys are refused, values are frozen; keys may be spelt with dashes by an alias."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)


def validate(model: type[Model], document: Document) -> Model:
    """The document as an instance of `model`. Raises InputError with all problems."""
    fields, problems = validate_keys(model, document)
    if problems:
        raise InputError(problems)
    return model.model_construct(set(fields) & set(document.data), **fields)


def validate_keys(model: type[Section], document: Document) -> tuple[dict[str, Any], list[Problem]]:
    """Each top-level key on its own: its value, as far as it is sound, and the problems of the rest.

    So that checks which need more than the model can go on with the sound part and report in the same pass: an entry
    that is wrong is left out, its neighbours stay.
    """
    known = {info.alias or name: name for name, info in model.model_fields.items()}
    problems = [
        document.problem((key,), "an unknown key", "a known key", sentence(nearest(key, known)), key=True)
        for key in document.data
        if key not in known
    ]
    values: dict[str, Any] = {}
    for key, name in known.items():
        info = model.model_fields[name]
        if key in document.data:
            problems += _check(info.rebuild_annotation(), document, key, name, values)
        elif info.is_required():
            problems.append(document.problem((), f"no key {key!r}", f"{key!r}, which is required", "Add it."))
        else:
            values[name] = info.get_default(call_default_factory=True)
    return values, problems


def _check(annotation: Any, document: Document, key: str, name: str, values: dict[str, Any]) -> list[Problem]:
    """Problems of a key; its value without the entries that have them goes to `values`, unless nothing is left."""
    adapter, data, problems = TypeAdapter(annotation), document.data[key], list[Problem]()
    while True:
        try:
            values[name] = adapter.validate_python(data)
            return problems
        except ValidationError as error:
            failures = error.errors(include_url=False)
        # Only the first look counts: what is lacking later was taken away here.
        problems = problems or [_problem(document, annotation, key, details) for details in failures]
        rest = {"": data}
        for details in failures:
            path = _in_document(document, (key, *details["loc"]))
            _remove(rest, ("", *path[1 : len(path) - (details["type"] == "missing")]))
        if "" not in rest:
            return problems
        data = rest[""]


def _remove(data: dict[str, Any], path: KeyPath) -> None:
    """Takes the entry at `path` out of nested mappings, which are copied; of a list, the whole list."""
    first, *rest = path
    child = data.get(first) if isinstance(first, str) else None
    if rest and isinstance(rest[0], str) and isinstance(child, dict) and rest[0] in child:
        data[str(first)] = copy = dict(child)
        _remove(copy, tuple(rest))
    else:
        data.pop(str(first), None)


def _problem(document: Document, annotation: Any, key: str, details: Any) -> Problem:
    path = _in_document(document, (key, *details["loc"]))
    kind = details["type"]
    if kind == "extra_forbidden":
        hint = sentence(nearest(str(path[-1]), _keys(annotation, path[1:-1])))
        return document.problem(path, "an unknown key", "a known key", hint, key=True)
    if kind == "missing":
        return document.problem(path[:-1], f"no key {path[-1]!r}", f"{path[-1]!r}, which is required", "Add it.")
    context = details.get("ctx", {})
    rule = _RULES.get(kind, "a value that the format allows")
    expected = rule(context) if callable(rule) else rule
    return document.problem(path, show(details["input"]), expected, _hint(kind, details, context))


def _in_document(document: Document, location: KeyPath) -> KeyPath:
    """The location of a failure as a path of the file, without steps that only the model has (a shorthand, a key)."""
    path: KeyPath = ()
    for part in location[:-1]:
        path = (*path, part) if (*path, part) in document.values else path
    return path if location[-1] == "[key]" else (*path, location[-1])


_RULES: Mapping[str, str | Callable[[Any], str]] = {
    "float_type": "a number",
    "finite_number": "a finite number",
    "int_type": "an integer",
    "int_from_float": "an integer",
    "bool_type": "true or false",
    "string_type": "text",
    "string_too_short": "text that is not empty",
    "string_too_long": lambda context: f"text of at most {context['max_length']} characters",
    "string_pattern_mismatch": "letters, digits, '_', '-' and '.', starting with a letter, at most 80",
    "dict_type": "a mapping of names to values",
    "model_type": "a mapping of keys to values",
    "model_attributes_type": "a mapping of keys to values",
    "tuple_type": "a list",
    "list_type": "a list",
    "too_short": lambda context: f"at least {context['min_length']} entries",
    "too_long": lambda context: f"at most {context['max_length']} entries",
    "greater_than": lambda context: f"a number above {context['gt']:g}",
    "greater_than_equal": lambda context: f"a number of at least {context['ge']:g}",
    "less_than": lambda context: f"a number below {context['lt']:g}",
    "less_than_equal": lambda context: f"a number of at most {context['le']:g}",
    "literal_error": lambda context: f"one of {context['expected']}",
}


def _hint(kind: str, details: Any, context: Any) -> str:
    """Advice for mistakes that are easy to recognise."""
    value = details["input"]
    if not isinstance(value, str):
        return ""
    if kind == "literal_error":
        return sentence(nearest(value, re.findall(r"'([^']*)'", context["expected"])))
    if kind == "bool_type":
        return "Write true or false."
    if kind in ("float_type", "int_type"):
        return number_hint(value)
    return ""


def number_hint(text: str) -> str:
    """Advice for text that stands where a number is wanted."""
    if re.fullmatch(r"[-+]?[0-9]+,[0-9]+", text):
        return "Use a decimal point, not a comma."
    if re.fullmatch(r"[-+]?[0-9.]+([eE][-+]?[0-9]+)? *[A-Za-z%°µ].*", text):
        return "Write the number alone; units are SI unless a key 'unit' says otherwise."
    if re.fullmatch(r"[-+]?[0-9.]+([eE][-+]?[0-9]+)?", text):
        return "Remove the quotes."
    return ""


def _keys(annotation: Any, path: KeyPath) -> list[str]:
    """Keys of the section at `path` below `annotation`."""
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


def sentence(text: str) -> str:
    """A hint as a sentence."""
    return text[:1].upper() + text[1:] + ("" if text.endswith("?") else ".")
