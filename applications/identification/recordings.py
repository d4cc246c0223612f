"""Read recordings of designs from the results of a sweep: motions and forces.

The motion comes from encoders, by forward kinematics where they do not measure it directly; or it is the commanded
motion of the sweep itself. So the motion of the platform need not be stored. Simulated robots do not move as commanded:
for these only the encoders count.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal, cast

import numpy as np
from numpy.typing import ArrayLike

from applications.identification.estimation import encoders
from applications.identification.estimation.recorded import Recordings
from applications.identification.estimation.states import Motions
from pipeline.documents.dataset_names import part_name
from pipeline.sweep.dataset_split import PARTED, PARTS
from pipeline.sweep.model import Sweep
from pipeline.sweep.simulated.axes import SimulationAxes
from robots.dims import GAINS, STATE
from robots.limits import EVEN_SHARING
from robots.model import Robot
from robots.trajectories.time_grid import TimeGrid
from robots.trajectories.trajectory import Trajectory
from storage.errors import StoreError
from tasks.dynamics.designs import RobotDesigns
from tasks.dynamics.inputs import present
from tasks.dynamics.records import Motion, Moving
from tasks.dynamics.resolution import resolved_motion, resolved_rows
from tasks.sources.commanded import commanded, moving, moving_of
from tasks.sources.drives import moved_starts
from tasks.sources.prescribed import base_motion

if TYPE_CHECKING:
    from xarray import Dataset

MotionSource = Literal["measured", "commanded"]
SOURCES: tuple[MotionSource, ...] = ("measured", "commanded")
POSITION = "measured_position"


def needed(clean: bool, source: MotionSource) -> tuple[str, ...]:
    """List the variables that an identification reads."""
    return ("actuator_force" if clean else "measured_force", *([POSITION] if source == "measured" else []))


def require(data: Dataset, robot: Robot, clean: bool, source: MotionSource, store: str) -> None:
    """Check that results have the variables that an identification reads. Raises StoreError."""
    if missing := [name for name in needed(clean, source) if name not in data]:
        raise StoreError(
            f"{store}: has no {', '.join(missing)}; expected them among the outputs of the sweep; run it with them"
        )
    mechanism = robot.mechanism
    actuators, freedoms = len(mechanism.actuators), len(mechanism.freedoms)
    if source == "measured" and (actuators < freedoms or (actuators > freedoms and not mechanism.is_chain)):
        raise StoreError(
            f"{store}: {robot.name} has {actuators} actuators and {freedoms} freedoms, so that encoders do not give "
            "its motion; expected as many of both; use the commanded motion"
        )


def refuse_unmodelled(sweep: Sweep, store: str) -> None:
    """Refuse loads on bodies, a sharing, and loads by elasticity, which regressors lack. Raises StoreError."""
    if sweep.sharing != EVEN_SHARING:
        raise StoreError(
            f"{store}: the section sharing says how actuators share forces, and regressors take least squares of "
            "equal weights; expected a sweep without it; run it without"
        )
    if sweep.criteria.reactions and any(group.load == "reaction" for group in sweep.friction.groups):
        raise StoreError(
            f"{store}: friction depends on reactions that the section criteria shares by elasticity, and regressors "
            "share them by the least norm; expected a sweep without reactions below stiffness; run it without"
        )
    if sweep.family.signals or sweep.family.reference.has_forces:
        raise StoreError(
            f"{store}: loads act on bodies of the robot, which would be taken for parameters of bodies; expected a "
            "sweep without the section loads; run it without"
        )
    if sweep.measurement is not None and not sweep.has_one_step:
        steps = ", ".join(f"{step:g} s" for step in sorted({grid.step for grid in sweep.grids}))
        raise StoreError(
            f"{store}: its trajectories have steps of {steps}, and filters are for one; expected the same step for "
            "all, whatever their ends; take those with the same step by a subset"
        )
    if loaded := [trajectory.name for trajectory in sweep.trajectories if trajectory.load is not None]:
        raise StoreError(
            f"{store}: a load acts on the platform along {', '.join(loaded)}, which would be taken for parameters of "
            "bodies; expected trajectories without load; leave these out by a subset"
        )


def recordings_of(sweep: Sweep, designs: RobotDesigns, data: Dataset, clean: bool, source: MotionSource) -> Recordings:
    """Return the recordings of designs with a friction set: of each trajectory, set of gains and initial state.

    data: results of the same designs, in memory.
    """
    dims = [dim for dim in ("trajectory", GAINS, STATE) if dim in data.sizes]
    places = [dict(zip(dims, place, strict=True)) for place in np.ndindex(*(data.sizes[dim] for dim in dims))]
    known = {trajectory.name: trajectory for trajectory in sweep.trajectories}
    names = data["trajectory"].values.tolist()
    trajectories = [known[names[place["trajectory"]]] for place in places]
    grids = [sweep.grid_of(trajectory) for trajectory in trajectories]
    ends = np.cumsum([0, *(grid.samples for grid in grids)]).tolist()
    spans = tuple(slice(first, last) for first, last in itertools.pairwise(ends))
    parts = [(slice(None), *place.values(), slice(grid.samples)) for place, grid in zip(places, grids, strict=True)]
    forces, *positions = (
        np.concatenate([whole[part] for part in parts], axis=1)
        for whole in (data[name].transpose("design", *dims, ...).values for name in needed(clean, source))
    )
    seen = positions[0] if positions else None
    axes = sweep.simulation
    if axes is not None and seen is not None:
        for span in spans:  # a case that came to an end is no recording
            seen[~np.isfinite(seen[:, span]).all(axis=(1, 2)), span] = np.nan
    if axes is None or seen is None or axes.simulation.controller is not None:
        planned = _commanded(sweep, designs, trajectories)
    else:
        cases = [(trajectory, place.get(STATE, 0)) for trajectory, place in zip(trajectories, places, strict=True)]
        planned = _released(sweep, axes, designs, cases, [seen[:, span] for span in spans])
    training = tuple(_is_for_training(data, place) for place in places)
    base = moving_base(sweep, grids)
    return Recordings(forces, seen, planned, spans, training, grids[0].step, axes is None, base)


def _is_for_training(data: Dataset, place: Mapping[str, int]) -> bool:
    """Return whether a recording is for training, by its trajectory or its initial state; all are without a split."""
    for dim in PARTED[1:]:
        if part_name(dim) in data.coords:
            return bool(data[part_name(dim)].values[place[dim]] == PARTS[0])
    return True


def _commanded(sweep: Sweep, designs: RobotDesigns, trajectories: Sequence[Trajectory]) -> Motions:
    """Return the motions that were commanded (design or 1, sample, ...), of redundant chains those of all freedoms."""
    family = sweep.family
    origin = family.assemble(sweep.parameters).platform.home.position
    along = {
        trajectory.name: present(moving(family, trajectory, sweep.grid_of(trajectory).values, origin))
        for trajectory in trajectories
    }
    whole = _joined([along[trajectory.name] for trajectory in trajectories])
    if not family.reference.resolved:
        return _stacked([whole])
    robots = [designs.robot(k) for k in range(len(designs))]
    return _stacked([present(resolved_motion(robot, cast("Moving", whole))) for robot in robots])


def _released(
    sweep: Sweep,
    axes: SimulationAxes,
    designs: RobotDesigns,
    cases: Sequence[tuple[Trajectory, int]],
    positions: Sequence[np.ndarray],
) -> Motions:
    """Return poses (design, sample, ...) near those of robots that are released from initial states.

    cases: trajectory and number of the initial state of each recording, whose actuators are at `positions` (design,
    sample, actuator).
    """
    family, names, result = sweep.family, tuple(axes.state_parameters), []
    origin = family.assemble(sweep.parameters).platform.home.position
    for k in range(len(designs)):
        design, parts = designs.taken(slice(k, k + 1)), []
        for (trajectory, state), seen in zip(cases, positions, strict=True):
            first = commanded(family, trajectory, sweep.grid_of(trajectory).values[:1], origin)[:, :1]
            first = resolved_rows(designs.robot(k), first) if family.reference.resolved else first
            start = moved_starts(family, first, names, axes.state_table(slice(state, state + 1)))
            parts.append(encoders.guesses(design, seen[k], _joined([present(moving_of(family, start.T))])))
        result.append(_joined(parts))
    return _stacked(result)


def _joined(parts: Sequence[Mapping[str, ArrayLike]]) -> dict[str, np.ndarray]:
    """Return motions (sample, ...) one after another."""
    return {name: np.concatenate([np.asarray(part[name]) for part in parts]) for name in parts[0]}


def _stacked(parts: Sequence[Mapping[str, ArrayLike]]) -> Motions:
    """Return the motions of designs (design, sample, ...)."""
    return {name: np.stack([np.asarray(part[name]) for part in parts]) for name in parts[0]}


def moving_base(sweep: Sweep, grids: Sequence[TimeGrid]) -> Motion | None:
    """Return the motion of the base of a sweep at the samples of trajectories; None where it stands."""
    if sweep.base is None:
        return None
    parts = [base_motion(sweep.base, grid.values) for grid in grids]
    rotation, twist, acceleration = (np.concatenate(part) for part in zip(*parts, strict=True))
    return Motion(rotation=rotation, twist=twist, acceleration=acceleration)
