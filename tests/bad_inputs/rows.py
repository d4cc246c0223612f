"""Rows of the table of bad inputs: files, a command, and the expected message."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import pytest

GOOD = """\
limbsweep: 1
title: A test
robot: delta_3rr2rrr
parameters: {density: 2700}
design:
  grid:
    upper_arm: {start: 0.2, stop: 0.3, num: 3}
    base_radius: {values: [150, 200], unit: mm}
friction:
  law: coulomb_viscous
  list: {coulomb: [0, 1, 2]}
  parameters: {viscous: 0.01}
trajectories:
  line: {kind: line_sine, amplitude: [0.1, 0.2, 0], period: 10}
  turn: {kind: circle, phase: 1}
time: {stop: 1.0, step: 0.1}
gravity: [0, 0, -9.81]
outputs: [actuator_force]
metrics: [peak_force]
"""
CHECK = ("check", "sweep.yaml")
SYNCHRONOUS = {"c.yaml": "limbsweep: {cluster: {kind: synchronous}}\n"}
"""A cluster file for runs in this process."""
Prepare = Callable[[pytest.MonkeyPatch], None]


@dataclass(frozen=True)
class Row:
    """One bad input: its place in the list of bad inputs, what standard error has to say, and how it is made.

    `sweep` is what is in `sweep.yaml`, `files` are others beside it; `prepare` does what a file cannot. Status 0 is for
    inputs that look bad and are accepted, with a warning where `said` asks for one; 1 for damage that `verify` finds
    and says on standard output.
    """

    name: str
    said: tuple[str, ...]
    sweep: str | bytes | None = GOOD
    files: Mapping[str, str | bytes] = field(default_factory=dict)
    command: tuple[str, ...] = CHECK
    status: int = 2
    prepare: Prepare | None = None
    made: tuple[str, ...] = ()
    """Files that are written where an input is accepted."""

    @property
    def id(self) -> str:
        """The row of the list: what comes first in the name."""
        return self.name.split()[0]


def edit(*pairs: str) -> str:
    """The good sweep with texts replaced by others."""
    text = GOOD
    for old, new in zip(pairs[::2], pairs[1::2], strict=True):
        assert old in text, old
        text = text.replace(old, new, 1)
    return text


def changed(name: str, old: str, new: str, *said: str, status: int = 2) -> Row:
    """A sweep file that is good but for one text."""
    return Row(name, said, edit(old, new), status=status)


def added(name: str, text: str, *said: str, status: int = 2) -> Row:
    """A good sweep file with something more at its end."""
    return Row(name, said, GOOD + text, status=status)


def points(name: str, text: str | bytes, *said: str) -> Row:
    """A file of points that a good sweep file names."""
    sweep = edit("kind: circle, phase: 1", "kind: waypoints, file: p.csv")
    return Row(name, said, sweep, {"p.csv": text})


def cluster(name: str, text: str, *said: str, prepare: Prepare | None = None) -> Row:
    """A cluster file beside a good sweep file."""
    command = ("run", "sweep.yaml", "--store", "out.zarr", "--cluster", "c.yaml")
    return Row(name, said, files={"c.yaml": text}, command=command, prepare=prepare)


def called(name: str, arguments: str, *said: str, status: int = 2, prepare: Prepare | None = None) -> Row:
    """A command line beside a good sweep file."""
    return Row(name, said, command=tuple(arguments.split()), status=status, prepare=prepare)
