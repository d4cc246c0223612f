"""Kinds of a sweep file that stand for several trajectories: random motions, poses at rest, tests of friction.

A kind is a module with its `KIND`, a function `trajectories` and a row here; all other kinds are rows of
`robots.trajectories.kinds`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from pipeline.documents.document import KeyPath
from pipeline.documents.report import Report
from pipeline.sweep.trajectories import constant_velocity, listed_points, random_fourier, static_poses
from pipeline.sweep.trajectories.reader import TrajectoryReader
from pipeline.sweep.trajectories.swept import variants
from pipeline.sweep.trajectories.times import KEY, own_grid
from pipeline.sweep.trajectories.values import Mover
from robots.trajectories.trajectory import Trajectory


class Expansion(NamedTuple):
    """Function that yields the named trajectories of a section and reports problems; flag of a kind for chains only."""

    trajectories: Callable[[Report, str, Mapping[str, Any], KeyPath, Mover], Iterator[Trajectory]]
    chains_only: bool = False


EXPANSIONS: Mapping[str, Expansion] = {
    random_fourier.KIND: Expansion(random_fourier.trajectories),
    static_poses.KIND: Expansion(static_poses.trajectories),
    listed_points.KIND: Expansion(listed_points.trajectories),
    constant_velocity.KIND: Expansion(constant_velocity.trajectories, chains_only=True),
}


def read(reader: TrajectoryReader, name: str, section: Mapping[str, Any], path: KeyPath) -> Iterator[Trajectory]:
    """Yield the trajectories that a section of a sweep file describes: one, several, or none after an error."""
    before = len(reader.report.problems)
    for variant in variants(reader.report, name, section, path):
        if len(reader.report.problems) > before:
            return  # an error in one of them would be reported for all
        grid = own_grid(reader.report, variant.section, path, reader.mover)
        section = {key: value for key, value in variant.section.items() if key != KEY}
        timed = reader if grid is None else replace(reader, mover=replace(reader.mover, duration=grid.duration))
        for trajectory in _of_variant(timed, variant.name, section, path):
            yield replace(trajectory, swept=variant.swept, grid=grid)


def _of_variant(reader: TrajectoryReader, name: str, section: Mapping[str, Any], path: KeyPath) -> Iterator[Trajectory]:
    kind = section.get("kind")
    expansion = EXPANSIONS.get(kind) if isinstance(kind, str) else None
    if expansion is not None and (reader.mover.joints or not expansion.chains_only):
        yield from expansion.trajectories(reader.report, name, section, path, reader.mover)
    elif (trajectory := reader.one(name, section, path)) is not None:
        yield trajectory
