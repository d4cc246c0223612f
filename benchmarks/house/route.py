"""The ways of values from a sweep file to stored results: modules that are entered, and modules that meet a value.

A Delta with two arm lengths and a load is read, run in this process and stored, while the calls of all threads are
watched. All modules are imported before, so that only calls count. A module is *entered* when one of its functions is
called. It *meets* a value when one of its functions gets it as an argument or inside one: in an array, a mapping, a
list, the text of the file, or directly in an object. Values deeper in an object do not count.

The mathematics from which kernels are traced is entered with symbols, and meets no number. A shard holds its numbers
compressed, so who writes its bytes does not meet them either.
"""

from __future__ import annotations

import importlib
import sys
import tempfile
import threading
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType, FrameType

import numpy as np

from benchmarks.checkout import use_packages
from benchmarks.house.imports import files, module_name

LENGTHS = (0.2345678901, 0.2654321098)
LOAD = (17.2345678901, -3.456789012)
METRIC = "peak_force"
SWEEP = f"""\
limbsweep: 1
robot: delta_3rr2rrr
design: {{grid: {{upper_arm: {{values: [{LENGTHS[0]}, {LENGTHS[1]}]}}}}}}
trajectories:
  line: {{kind: line_sine, amplitude: [0.1, 0.12, 0.05], period: 1.0, load: {{force: [{LOAD[0]}, 0, {LOAD[1]}]}}}}
time: {{stop: 0.5, samples: 21}}
outputs: [actuator_force]
metrics: [{METRIC}]
"""
CLUSTER = "limbsweep: {cluster: {kind: synchronous}}\n"

DEPTH = 3
"""Containers that may stand around a value."""
LONGEST = 300
"""Items of the longest list or mapping that is searched: programs in the making are longer, and hold symbols."""

Finder = Callable[[object, int], bool]


@dataclass
class Route:
    """Modules that are entered, and by value the modules that meet it."""

    entered: set[str] = field(default_factory=set)
    meeting: dict[str, set[str]] = field(default_factory=dict)


def route(root: Path) -> Route:
    """Return the way through the packages of a checkout. Raises RuntimeError as `use_packages` does."""
    use_packages(root)
    names = {str(file): module_name(file.relative_to(root)) for file in files(root)}
    for name in names.values():
        importlib.import_module(name)
    way = Route()
    with tempfile.TemporaryDirectory() as folder:
        finders = {"a design length": finder(LENGTHS), "a load force": finder(LOAD), "a metric's name": named(METRIC)}
        torques = _run(Path(folder), "first", way, names, finders)
        _run(Path(folder), "second", way, names, {"a torque": finder(torques)})
    return way


def _run(folder: Path, store: str, way: Route, names: dict[str, str], finders: dict[str, Finder]) -> list[float]:
    """Run the sweep under watch; the torques that it stored."""
    from pipeline import Sweep, run

    (folder / "sweep.yaml").write_text(SWEEP, encoding="utf-8")
    (folder / "cluster.yaml").write_text(CLUSTER, encoding="utf-8")
    with _watched(way, names, finders):
        results = run(Sweep.from_yaml(folder / "sweep.yaml"), folder / store, folder / "cluster.yaml")
    return [float(torque) for torque in results["actuator_force"].values.ravel()]


@contextmanager
def _watched(way: Route, names: dict[str, str], finders: dict[str, Finder]) -> Iterator[None]:
    """Record the calls of this thread and of threads that it starts."""
    for value in finders:
        way.meeting[value] = set()

    def note(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and (module := names.get(frame.f_code.co_filename)):
            way.entered.add(module)
            for value, meets in finders.items():
                if module not in way.meeting[value] and any(meets(thing, DEPTH) for thing in _arguments(frame)):
                    way.meeting[value].add(module)

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        yield
    finally:
        sys.setprofile(None)
        threading.setprofile(None)


def _arguments(frame: FrameType) -> list[object]:
    code: CodeType = frame.f_code
    stars = bool(code.co_flags & 0x04) + bool(code.co_flags & 0x08)  # *args, **kwargs
    known = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount + stars]
    return [frame.f_locals[name] for name in known if name in frame.f_locals]


def finder(values: Collection[float]) -> Finder:
    """Return whether something is one of the values, or a container with one, up to a depth."""
    wanted, array = set(values), np.array(sorted(values))
    texts = [repr(value) for value in values]

    def has_value(thing: object, depth: int) -> bool:
        match thing:
            case float():
                return thing in wanted
            case str():
                return any(text in thing for text in texts)
            case np.ndarray():
                return thing.dtype == float and bool(np.isin(thing, array).any())
        return depth > 0 and any(has_value(item, depth - 1) for item in _items(thing, attributes=depth == DEPTH))

    return has_value


def named(name: str) -> Finder:
    """Return whether something is a name, a text with lines that has it, or a container with one, up to a depth."""

    def has_name(thing: object, depth: int) -> bool:
        if isinstance(thing, str):
            return thing == name or ("\n" in thing and name in thing)
        return depth > 0 and any(has_name(item, depth - 1) for item in _items(thing, attributes=depth == DEPTH))

    return has_name


def _items(container: object, *, attributes: bool) -> Sequence[object]:
    """Return the items of a list, a tuple or a mapping that is not too long, or, with `attributes`, of an object."""
    if isinstance(container, dict):
        items: Sequence[object] = list(container.values())
    elif isinstance(container, list | tuple):
        items = container
    else:
        items = list(getattr(container, "__dict__", {}).values()) if attributes else ()
    return items if len(items) <= LONGEST else ()
