"""Read recordings of one robot from the results of a sweep: motions and forces, as `tasks` takes them.

The motion comes from encoders, by forward kinematics where they do not measure it directly; or it is the commanded
motion of the sweep itself. So the motion of the platform need not be stored. Simulated robots do not move as commanded:
for these only the encoders count.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np

from applications.identification.estimation import encoders
from applications.identification.estimation.recorded import RecordedTracks, Recording
from pipeline.documents.dataset_names import STATE_NUMBER
from pipeline.sweep.model import Sweep
from pipeline.sweep.simulated.axes import SimulationAxes
from robots.dims import GAINS, STATE
from robots.limits import EVEN_SHARING
from robots.model import Robot
from robots.trajectories.time_grid import TimeGrid
from storage.errors import StoreError
from tasks.dynamics.inputs import present
from tasks.dynamics.records import Motion
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


def recordings(sweep: Sweep, robot: Robot, data: Dataset, clean: bool, source: MotionSource) -> list[Recording]:
    """Make a recording of each trajectory of `data`, of a design with a friction set, in memory."""
    names, known = needed(clean, source), {trajectory.name: trajectory for trajectory in sweep.trajectories}
    arrays = {name: data[name].values for name in names}
    if sweep.simulation is not None:
        return list(_simulated(sweep, sweep.simulation, robot, data, arrays))
    origin = sweep.family.assemble(sweep.parameters).platform.home.position
    result = []
    for j, name in enumerate(data["trajectory"].values.tolist()):
        grid = sweep.grid_of(known[name])
        moved, samples = resolved_motion(robot, moving(sweep.family, known[name], grid.values, origin)), grid.samples
        base = moving_base(sweep, grid)
        forces = arrays[names[0]][j, :samples]
        if source == "commanded":
            result.append(Recording(moved, forces, base=base))
        else:
            seen = encoders.motion(robot, arrays[POSITION][j, :samples], grid.step, moved)
            result.append(Recording(seen, forces, moved, base))
    return result


def tracks_of(sweep: Sweep, names: Sequence[str], training: Sequence[bool]) -> RecordedTracks:
    """Return the commanded motions along trajectories of a sweep of prescribed motions, the same for all designs."""
    known = {trajectory.name: trajectory for trajectory in sweep.trajectories}
    origin = sweep.family.assemble(sweep.parameters).platform.home.position
    grids = [sweep.grid_of(known[name]) for name in names]
    ends = np.cumsum([0, *(grid.samples for grid in grids)]).tolist()
    moved = [
        present(moving(sweep.family, known[name], grid.values, origin)) for name, grid in zip(names, grids, strict=True)
    ]
    commanded = {key: np.concatenate([np.asarray(part[key]) for part in moved])[None] for key in moved[0]}
    spans = tuple(slice(first, last) for first, last in itertools.pairwise(ends))
    return RecordedTracks(spans, tuple(training), commanded, grids[0].step)


def moving_base(sweep: Sweep, grid: TimeGrid) -> Motion | None:
    """Return the motion of the base of a sweep at the samples of a trajectory; None where it stands."""
    if sweep.base is None:
        return None
    rotation, twist, acceleration = base_motion(sweep.base, grid.values)
    return Motion(rotation=rotation, twist=twist, acceleration=acceleration)


def _simulated(
    sweep: Sweep, axes: SimulationAxes, robot: Robot, data: Dataset, arrays: Mapping[str, np.ndarray]
) -> Iterator[Recording]:
    """Yield a recording for each trajectory, set of gains and initial state that came to its end."""
    known = {trajectory.name: trajectory for trajectory in sweep.trajectories}
    names = tuple(axes.state_parameters)
    origin, family = sweep.family.assemble(sweep.parameters).platform.home.position, sweep.family
    states = data[STATE_NUMBER].values if STATE_NUMBER in data.coords else np.zeros(1, dtype=np.int64)
    dims = [dim for dim in ("trajectory", GAINS, STATE) if dim in data.sizes]
    for place in np.ndindex(*(data.sizes[dim] for dim in dims)):
        at = dict(zip(dims, place, strict=True))
        trajectory, number = known[str(data["trajectory"].values[at["trajectory"]])], states[at.get(STATE, 0)]
        grid = sweep.grid_of(trajectory)
        seen, forces = (arrays[name][place][: grid.samples] for name in (POSITION, "measured_force"))
        base = moving_base(sweep, grid)
        if not np.isfinite(seen).all():
            continue
        if axes.simulation.controller is None:
            first = commanded(family, trajectory, grid.values[:1], origin)[:, :1]
            first = resolved_rows(robot, first) if robot.mechanism.resolved else first
            start = moved_starts(family, first, names, axes.state_table(slice(number, number + 1)))
            near = encoders.guesses(robot, seen, moving_of(family, start.T))
        else:
            near = resolved_motion(robot, moving(family, trajectory, grid.values, origin))
        yield Recording(encoders.motion(robot, seen, grid.step, near), forces, base=base)
