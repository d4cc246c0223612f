"""Collect the problems of a document: each with place, got, expected and advice."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from pipeline.documents.document import Document, KeyPath, dotted
from pipeline.errors import InputError, Problem, show
from robots.data_classes import dataclass, field, replace
from robots.parameter_errors import nearest


@dataclass
class Report:
    """The problems of a document, collected while checks go on."""

    document: Document
    problems: list[Problem] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    """Keys that a model refused: later checks do not report that they are missing."""

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
        """Add a problem at `path`; `got` is the value, or text that describes it (as a Got).

        `within` is the text of the value and a place in it, counted from 0, at which the problem stands.
        """
        text = got.text if isinstance(got, Got) else show(got)
        place = dotted(path)
        if not (place and any(key == place or key.startswith((place + ".", place + "[")) for key in self.missing)):
            problem = self.document.problem(path, text, expected, hint, key=key)
            shift = self.document.column_within(path, *within) if within else 0
            self.problems.append(replace(problem, column=problem.column + shift))

    def take(self, problems: Iterable[Problem]) -> None:
        """Add the problems that a model found; checks that go on without these keys do not report them again."""
        for problem in problems:
            self.problems.append(problem)
            self.missing.append(problem.key)

    def require_known(
        self, path: KeyPath, name: object, names: Iterable[str], expected: str, *, key: bool = False, hint: str = ""
    ) -> bool:
        """Return whether a name is one of `names`; otherwise add a problem, with the nearest name before the hint."""
        names = tuple(names)
        if name in names:
            return True
        self(path, name, expected, f"{sentence(nearest(str(name), names))} {hint}".strip(), key=key)
        return False

    def require_once(self, path: KeyPath, names: Sequence[str], expected: str) -> None:
        """Add a problem for each name of the list at `path` that stands further up as well."""
        for k, name in enumerate(names):
            if name in names[:k]:
                self((*path, k), Got(f"{name} again"), expected, "Remove one.")

    def unknown(self, path: KeyPath, names: Iterable[str], kind: str = "key") -> None:
        """Add that the last part of `path` is no name of this `kind`; the hint is the nearest name."""
        self(path, Got(f"an unknown {kind}"), f"a known {kind}", sentence(nearest(str(path[-1]), names)), key=True)

    def require_known_keys(self, path: KeyPath, section: Iterable[str], keys: Iterable[str]) -> None:
        """Add a problem for each key of the section at `path` that is not one of `keys`."""
        keys = tuple(keys)
        for key in section:
            if key not in keys:
                self.unknown((*path, key), keys)

    def raise_if_any(self) -> None:
        """Raise InputError where anything was reported."""
        if self.problems:
            raise InputError(self.problems)


@dataclass(frozen=True)
class Got:
    """A description of a value, which messages show without quotes."""

    text: str


def number_hint(text: str) -> str:
    """Return a guess of the mistake in a text where a number is expected."""
    if re.fullmatch(r"[-+]?[0-9]+,[0-9]+", text):
        return "Use a decimal point, not a comma."
    if re.fullmatch(r"[-+]?[0-9.]+([eE][-+]?[0-9]+)? *[A-Za-z%°µ].*", text):
        return "Write the number alone; units are SI unless a key 'unit' says otherwise."
    if re.fullmatch(r"[-+]?[0-9.]+([eE][-+]?[0-9]+)?", text):
        return "Remove the quotes."
    return ""


def sentence(text: str) -> str:
    """Make a hint a sentence: a capital first, a full stop or question mark last."""
    return text[:1].upper() + text[1:] + ("" if text.endswith(("?", ".")) else ".")
