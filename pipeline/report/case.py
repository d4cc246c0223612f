"""The case that a report looks into: one design under one friction set, computed again with everything in it.

A store seldom holds joint motion and reactions, and need not: they are those of a small sweep with one design, made
from the text of the sweep and run in this process by the same tasks. Times are thinned where there are many.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from pipeline.cluster import ClusterConfig
from pipeline.coordinator import run
from pipeline.errors import InputError, Problem
from pipeline.kept_axes import Part
from pipeline.side_files import Source
from pipeline.sweep import Sweep, TimeGrid
from pipeline.sweep_friction import NO_FRICTION

if TYPE_CHECKING:
    from xarray import DataArray, Dataset

    from robots.model import Mechanism

MOST_TRAJECTORIES = 8
MOST_TIMES = 401

ACTUATORS = ("actuator_force", "actuator_position", "actuator_velocity", "actuator_power")
JOINTS = ("joint_position", "joint_reaction", "joint_friction")
PLATFORM = ("platform_position",)


@dataclass(frozen=True, eq=False)
class Case:
    """One design under one friction set: `results` (trajectory, time, ...) as in a dataset, and the mechanism.

    `stride` is how many times of the sweep lie between two of the case.
    """

    mechanism: Mechanism
    results: Dataset
    frictionless: DataArray
    stride: int

    @property
    def friction_part(self) -> DataArray:
        """What each actuator gives for friction (trajectory, time, actuator): with friction, less without it."""
        return self.results["actuator_force"] - self.frictionless

    @property
    def trajectories(self) -> list[str]:
        """Names of the trajectories."""
        return [str(name) for name in self.results["trajectory"].values]


def read_sweep(attributes: Mapping[str, object], files: Path | Source | None) -> Sweep:
    """The sweep of a store with these attributes, from its text; files that it names are in `files`: a folder, a store.

    Raises InputError where it cannot be read, as when a file of points is not there, or is not what it was.
    """
    name = "the sweep in the store"
    if "sweep" not in attributes:
        rule = "a dataset with the attribute 'sweep', as storage.open_results gives it"
        raise InputError([Problem("dataset", 0, 0, "", "no sweep", rule)])
    sweep = Sweep.from_text(str(attributes["sweep"]), name, files or Path())
    if sweep.fingerprint != attributes.get("fingerprint"):
        hint = "Files that it names have changed, or limbsweep has; run the sweep again."
        raise InputError([Problem(name, 0, 0, "", "another sweep", "the sweep that the store was made from", hint)])
    return sweep


def compute(sweep: Sweep, design: int, friction: int) -> Case:
    """The case of one design and friction set of a sweep, by number."""
    stride = _stride(sweep)
    grid = TimeGrid(sweep.grid.step * stride, (sweep.grid.samples - 1) // stride + 1)
    values = {name: float(value[0]) for name, value in sweep.designs(design, design + 1).items()}
    mechanism = sweep.family.assemble(values)
    one = replace(
        sweep,
        design=Part(sweep.design.names, sweep.design, design, design + 1),
        friction=replace(
            sweep.friction, axis=Part(sweep.friction.axis.names, sweep.friction.axis, friction, friction + 1)
        ),
        trajectories=sweep.trajectories[:MOST_TRAJECTORIES],
        grid=grid,
        outputs=(*ACTUATORS, *JOINTS, *(() if mechanism.is_chain else PLATFORM)),
        metrics=(),
    )
    results = _run(one)
    if any(group.law != "none" for group in sweep.friction.groups):
        frictionless = _run(replace(one, friction=NO_FRICTION, outputs=("actuator_force",)))["actuator_force"]
    else:
        frictionless = results["actuator_force"]
    return Case(mechanism, results, frictionless, stride)


def _run(sweep: Sweep) -> Dataset:
    dataset = run(sweep, cluster=ClusterConfig.of("synchronous"))
    return dataset.isel({dim: 0 for dim in ("design", "friction") if dim in dataset.dims})


def _stride(sweep: Sweep) -> int:
    """Between times: 1 where friction remembers, because what it does between two times then matters."""
    if any(group.remembers for group in sweep.friction.groups):
        return 1
    return max(1, -(-(sweep.grid.samples - 1) // (MOST_TIMES - 1)))
