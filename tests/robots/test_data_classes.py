"""Our data classes keep the promises of those of the standard library, and cost one compiled function at most."""

from __future__ import annotations

import ast
import copy
import dataclasses
import inspect
import pickle
import subprocess
import sys
import typing
from collections.abc import Callable
from dataclasses import FrozenInstanceError, InitVar
from pathlib import Path
from typing import Any, ClassVar

import cloudpickle
import pytest

from robots import data_classes
from robots.data_classes import asdict, dataclass, field, fields, replace

ROOT = Path(__file__).parents[2]
OURS = ("robots", "tasks", "storage", "pipeline", "limbsweep", "applications")

Decorator = Callable[..., Any]


def _plain(made: Decorator) -> type[Any]:
    @made(frozen=True)
    class Example:
        """An example."""

        kind: ClassVar[str] = "kind"
        number: int
        other: float
        text: str = "text"
        parts: dict[str, int] = field(default_factory=dict)
        hidden: int = field(default=3, repr=False)
        aside: int = field(default=4, compare=False)
        late: int = field(default=5, kw_only=True)
        own: list[int] = field(init=False, default_factory=list, compare=False)

        def __post_init__(self) -> None:
            object.__setattr__(self, "number", int(self.number))

    return Example


def _named(made: Decorator) -> type[Any]:
    @made(frozen=True, kw_only=True)
    class Example:
        """An example."""

        number: int = 1
        other: float

    return Example


def _changeable(made: Decorator) -> type[Any]:
    @made()
    class Example:
        """An example."""

        number: int
        other: float = 0.0
        parts: list[int] = field(default_factory=list)

    return Example


def _by_identity(made: Decorator) -> type[Any]:
    @made(frozen=True, eq=False)
    class Example:
        """An example."""

        number: int
        other: float

    return Example


def _with_own(made: Decorator) -> type[Any]:
    @made(frozen=True)
    class Example:
        """An example."""

        number: int
        other: float

        def __repr__(self) -> str:
            return "own"

        def __eq__(self, other: object) -> bool:
            return isinstance(other, type(self))

    return Example


def _with_own_hash(made: Decorator) -> type[Any]:
    @made(frozen=True, repr=False)
    class Example:
        """An example."""

        number: int
        other: float

        def __hash__(self) -> int:
            return 7

    return Example


def _derived(made: Decorator) -> type[Any]:
    @made(frozen=True)
    class Base:
        """A base."""

        number: int

    @made(frozen=True)
    class Example(Base):
        """An example."""

        other: float = 2.0

    return Example


def _empty(made: Decorator) -> type[Any]:
    @made(frozen=True)
    class Example:
        """An example."""

    return Example


KINDS = (_plain, _named, _changeable, _by_identity, _with_own, _with_own_hash, _derived, _empty)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__.strip("_"))
def test_a_class_does_what_that_of_the_standard_library_does(kind: Callable[[Decorator], type[Any]]) -> None:
    ours, theirs = kind(dataclass), kind(dataclasses.dataclass)
    assert str(inspect.signature(ours)) == str(inspect.signature(theirs))
    assert typing.get_type_hints(ours.__init__) == typing.get_type_hints(theirs.__init__)
    assert [*ours.__match_args__] == [*theirs.__match_args__]
    assert [repr(f) for f in fields(ours)] == [repr(f) for f in fields(theirs)]
    assert ours.__init__.__qualname__.endswith("Example.__init__")
    assert (ours.__init__.__module__, ours.__doc__) == (theirs.__init__.__module__, theirs.__doc__)
    said = []
    for made in ours, theirs:
        given = {f.name: 1 for f in fields(made) if f.name in ("number", "other")}
        one, same, far = made(**given), made(**given), made(**dict.fromkeys(given, 2))
        clone = copy.deepcopy(one)
        said.append(
            [
                repr(one) if "object at" not in repr(one) else "by address",
                (one == same, one == far, one == 1, one == clone, one != far),
                _refusal(hash, one) == _refusal(hash, same),
                _refusal(lambda key: {key: 0}[key], one),
                asdict(one),
                vars(one),
                vars(clone),
                vars(replace(one, **given)),
                _refusal(setattr, one, "number", 3),
                _refusal(setattr, one, "new", 3),
                _refusal(delattr, one, "other"),
                _refusal(made, 1, 2, 3, 4, 5, 6, 7, 8, 9),
            ]
        )
    assert said[0] == said[1]


def _refusal(call: Callable[..., Any], *arguments: Any) -> str:
    try:
        call(*arguments)
    except (AttributeError, TypeError) as error:
        return f"{type(error).__name__}: {error}"
    return "accepted"


def test_defaults_of_a_factory_are_not_shared() -> None:
    one, other = _changeable(dataclass)(1), _changeable(dataclass)(1)
    one.parts.append(1)
    assert other.parts == []


@dataclass(frozen=True)
class Kept:
    """A class that pickle finds by its name."""

    number: int
    parts: list[int] = field(default_factory=list)


def test_objects_and_classes_are_pickled() -> None:
    assert pickle.loads(pickle.dumps(Kept(1, [2]))) == Kept(1, [2])
    local = _plain(dataclass)  # by value, as workers get it
    there = pickle.loads(cloudpickle.dumps(local))
    assert (there(1, 2.0).parts, repr(there(1, 2.0))) == ({}, repr(local(1, 2.0)))
    again = pickle.loads(cloudpickle.dumps(local))  # with the function that its first object compiled
    assert repr(again(1, 2.0)) == repr(local(1, 2.0))
    with pytest.raises(FrozenInstanceError):
        there(1, 2.0).number = 2


def test_classes_of_the_standard_library_go_on_from_ours_and_check_who_is_frozen() -> None:
    @dataclasses.dataclass(frozen=True)
    class After(Kept):
        """One of theirs that goes on from one of ours."""

        other: int = 3

    assert (After(1), After(1).parts) == (After(1, other=3), [])
    with pytest.raises(FrozenInstanceError):
        After(1).number = 2
    with pytest.raises(TypeError, match="cannot inherit non-frozen"):
        dataclass(type("Changeable", (Kept,), {"__annotations__": {"more": int}}))
    with pytest.raises(TypeError, match="cannot inherit frozen"):
        dataclass(frozen=True)(type("Frozen", (_changeable(dataclass),), {"__annotations__": {"more": int}}))


def test_an_object_that_holds_itself_is_shown() -> None:
    one = _changeable(dataclass)(1)
    one.parts.append(one)
    assert repr(one).endswith("Example(number=1, other=0.0, parts=[...])")


def test_what_is_not_supported_is_refused() -> None:
    with pytest.raises(TypeError, match="order"):
        dataclass(order=True)  # type: ignore[call-overload]
    kind = dataclass(type("Once", (), {"__annotations__": {"given": InitVar[int]}}))
    with pytest.raises(TypeError):
        kind(1)


def test_all_data_classes_are_ours() -> None:
    """A data class of the standard library costs about half a millisecond of each start, one of ours a tenth."""
    files = [file for folder in OURS for file in (ROOT / folder).rglob("*.py")]
    files.remove(ROOT / "robots/data_classes.py")
    wrong = [
        f"{file.relative_to(ROOT)}:{node.lineno}"
        for file in files
        for node in ast.walk(ast.parse(file.read_text("utf-8")))
        if (isinstance(node, ast.ImportFrom) and node.module == "dataclasses" and "dataclass" in _names(node))
        or (isinstance(node, ast.Attribute) and ast.unparse(node) == "dataclasses.dataclass")
    ]
    assert len(files) > 500
    assert wrong == []


def _names(node: ast.ImportFrom) -> set[str]:
    return {alias.name for alias in node.names}


def test_a_start_compiles_one_function_for_each_class_that_has_an_object() -> None:
    """The classes of a first call: `exec` is counted, guards of derived ones aside."""
    code = (
        "import builtins, dataclasses\n"
        "counted, run = [0], builtins.exec\n"
        "def counting(*given):\n"
        "    counted[0] += 1\n"
        "    return run(*given)\n"
        "import robots.data_classes as ours\n"
        "ours.exec = dataclasses.exec = counting\n"
        "made, keep = [], dataclasses._process_class\n"
        "def process(cls, *given):\n"
        "    made.append(hasattr(cls, '__dataclass_fields__'))\n"
        "    return keep(cls, *given)\n"
        "dataclasses._process_class = process\n"
        "import limbsweep as ls\n"
        "ls.inverse_dynamics(ls.robots.build('five_bar'), position=[0.0, 0.0, -0.6])\n"
        "print(len(made), counted[0], sum(made))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True)
    classes, compiled, derived = (int(word) for word in done.stdout.split())
    assert classes > 150
    assert compiled <= 0.75 * classes + 2 * derived
    assert derived < 20


def test_names_beside_the_decorator_are_those_of_the_standard_library() -> None:
    others = [name for name in data_classes.__all__ if name != "dataclass"]
    assert all(getattr(data_classes, name) is getattr(dataclasses, name) for name in others)
