"""Checks of motions and forces of a recording together: signs, order, units, scale.

A torque with the wrong sign, exchanged columns and degrees for radians are found by trying them: a hypothesis whose
least squares leave far less of the forces unexplained is taken as the cause. Where nothing else depends on an actuator,
the signs of its inertia and of its friction show a wrong sign. Forces in another unit, or of motors whose gear was
forgotten, fit as well as any: only the robot's own inertia tells them.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator
from typing import cast

import numpy as np

from applications.identification.estimation.encoders import finite
from applications.identification.estimation.machines.checks.findings import RecordingFinding
from applications.identification.estimation.machines.machine import RecordedMachine
from applications.identification.estimation.machines.machine_model import actuator_kinds
from applications.identification.estimation.machines.recorded_motion import is_direct
from applications.identification.estimation.machines.run import Run
from robots.data_classes import dataclass, replace
from robots.joint_kinds import JOINT_KINDS
from robots.model import Robot
from robots.types import TWIST
from tasks.dynamics.inertial_parameters import BODY
from tasks.dynamics.inputs import present
from tasks.dynamics.inverse import inverse_dynamics
from tasks.dynamics.records import Moving

BETTER = 0.6
"""A hypothesis counts where it leaves less than this share of the residuals."""
LIKELY = 0.8
"""Share below which a hypothesis is only a warning: actuators that move little tell little about the forces."""
UNEXPLAINED = 0.01
"""Ratio of residuals to forces below which no hypothesis is tried."""
CERTAIN = 4.0
"""Standard deviations by which an inertia or a friction has to be below zero."""
QUIET = 0.1
"""Noise of accelerations, over those of the motion, up to which it cannot turn the sign of an inertia or a friction."""
TIMES = 10.0
"""Least ratio of forces to those of the robot's own inertia, or its inverse, that is reported."""
MOSTLY = 0.8
"""Share of the forces beside drives and friction that bodies must explain before their scale is judged."""
ALONG = "expected the force of the drive along its motion; turn one of them"
GEARS = (0.5, 2.0 / 3.0, 0.75, 0.8, 5.0 / 6.0, 0.9, 1.1, 1.2, 1.25, 4.0 / 3.0, 1.5, 2.0)
"""Factors of positions that are tried, whose inverses are those of forces: a gear's ratio that is not right."""
RATES = (0.1, 0.2, 0.25, 0.4, 0.5, 0.8, 1.25, 2.0, 2.5, 4.0, 5.0, 10.0)
"""Factors of the samples a second that are tried."""
FEW = 50
"""Samples of a recording below which the signs of an inertia or a friction are no error."""
ALIKE = 1.1
"""Residuals of two hypotheses over each other, up to which they explain as much."""
SLOW = 0.05
"""Speed over the largest one below which dry friction may turn within the filter."""
ROWS = 8
"""Rows for each parameter that all hypotheses are tried with at first."""
WORTH = 16
"""Number of the likeliest hypotheses that are tried with all samples."""
SAMPLES = 400
"""Samples of a recording that hypotheses are tried with."""


def check_machine(machine: RecordedMachine) -> Iterator[RecordingFinding]:
    """Check motions and forces of recordings for training together; see the module."""
    for run in machine.of("train"):
        scales = list(_scales(machine, run))
        yield from scales
        if any(finding.is_error for finding in scales):
            continue
        found = list(_hypotheses(machine, run))
        yield from found
        if not found:
            yield from _own_signs(machine, run)


def _scales(machine: RecordedMachine, run: Run) -> Iterator[RecordingFinding]:
    """Yield the recordings with forces far from those of the nominal inertia, drives and friction aside.

    An error where actuators differ, which no guess of the inertia explains; else a warning.
    """
    if machine.model.coupled(machine.robot) is not None:
        return
    names = machine.robot.mechanism.actuators
    is_body = np.array([column.parameter in BODY for column in machine.columns])
    is_body[machine.payload_columns] = False
    bodies = run.matrix @ np.where(is_body, machine.nominal, 0.0)
    factors: dict[str, float] = {}
    for k, name in enumerate(names):
        good = run.good[:, k]
        drives = np.concatenate([run.motion[2], run.matrix[:, k, ~is_body]], axis=1)[good]
        measured_factor = _factor(bodies[good, k], drives, run.linear_forces[good, k])
        if measured_factor is not None:
            factors[name] = measured_factor
    sizes = {name: max(abs(factor), 1.0 / max(abs(factor), 1e-300)) for name, factor in factors.items()}
    if not sizes or max(sizes.values()) < TIMES:
        return
    listed = ", ".join(f"{name} {factor:.2g}" for name, factor in factors.items())
    magnitudes = np.abs(list(factors.values()))
    differ = len(factors) > 1 and bool(magnitudes.max() > 3.0 * TIMES * magnitudes.min())
    text = f"forces over those for the robot's own inertia: {listed}; expected about 1; look at unit, gain and gear"
    name = max(sizes, key=lambda name: sizes[name]) if differ else ""
    text += "" if differ else ", unless that inertia is a guess"
    yield RecordingFinding("scale", run.recording.name, name, text, is_error=differ)


def _factor(bodies: np.ndarray, beside: np.ndarray, forces: np.ndarray) -> float | None:
    """Estimate the factor between forces and the forces of bodies; coefficients of `beside` are free.

    None where the bodies explain too little of the forces, or where rows are too few.
    """
    sizes = np.linalg.norm(beside, axis=0)
    if len(forces) < 3 * beside.shape[1]:
        return None
    basis = np.linalg.svd(beside[:, sizes > 0] / sizes[sizes > 0], full_matrices=False)[0]
    explained, remainder = (values - basis @ (basis.T @ values) for values in (bodies, forces))
    size, whole = float(np.linalg.norm(explained)), float(np.linalg.norm(remainder))
    if size <= 1e-6 * float(np.linalg.norm(bodies)) or not whole:
        return None
    share = (float(explained @ remainder) / (size * whole)) ** 2
    return float(explained @ remainder) / size**2 if share > MOSTLY else None


@dataclass(frozen=True)
class _Trial:
    """Rows of a recording at some samples, each actuator's over the size of its forces; and forces of known loads."""

    matrix: np.ndarray
    forces: np.ndarray
    remainder: np.ndarray

    @property
    def unexplained(self) -> float:
        """Residuals of least squares over the forces; of the smaller sizes that columns may have."""
        good = finite(self.matrix) & finite(self.forces) & finite(self.remainder)
        rows, forces = self.matrix[good], self.forces[good]
        sizes = np.maximum(np.sqrt(np.mean(forces**2, axis=0)), np.finfo(float).tiny)
        matrix = (rows / sizes[:, None]).reshape(-1, rows.shape[2])
        target = ((forces - self.remainder[good]) / sizes).ravel()
        # of many trials each decomposes the small normal matrix, whose eigenvalues are squares of singular values
        normal = matrix.T @ matrix
        lengths = np.sqrt(np.diag(normal))
        kept = lengths > 1e-9 * lengths.max(initial=0.0)
        sizes_kept = lengths[kept]
        powers, directions = np.linalg.eigh(normal[np.ix_(kept, kept)] / np.outer(sizes_kept, sizes_kept))
        along = directions.T @ (matrix[:, kept].T @ target / sizes_kept)
        is_told = powers > 1e-12 * powers[-1]
        values = directions[:, is_told] @ (along[is_told] / powers[is_told]) / sizes_kept
        return float(np.linalg.norm(target - matrix[:, kept] @ values) / np.linalg.norm(forces / sizes))


def _hypotheses(machine: RecordedMachine, run: Run) -> Iterator[RecordingFinding]:
    """Yield the most likely fault of a recording, if its correction explains far more of the forces."""
    names, count = machine.robot.mechanism.actuators, len(machine.robot.mechanism.actuators)
    samples = _spread(run)
    whole, remainder = machine.base.reduced(run.matrix)[samples], run.remainder[samples]
    forces = np.where(run.good, run.forces, np.nan)[samples]
    # rows of actuators at rest are dropped; their samples go with them, as long as enough are left
    if np.isfinite(forces).all(axis=1).sum() < 3 * whole.shape[2] / count:
        forces = run.forces[samples]
    before = _Trial(whole, forces, remainder).unexplained
    if before < UNEXPLAINED:
        return
    trials: list[tuple[float, str, str, str]] = []
    for k in range(count):
        signs = np.where(np.arange(count) == k, -1.0, 1.0)
        text = f"force and motion have opposite signs; {ALONG}"
        trials.append((_Trial(whole, forces * signs, remainder).unexplained, "sign", names[k], text))
    for i, j in itertools.combinations(range(count), 2):
        order = np.arange(count)
        order[[i, j]] = j, i
        text = f"exchanged with {names[j]}, in forces or in positions; expected the order of the actuators"
        trials.append((_Trial(whole, forces[:, order], remainder).unexplained, "swapped", names[i], text))
    trials += _motions(machine, run, samples, forces, before)
    best = min(trials, default=None)
    if best is not None and best[1] == "sign" and best in trials[:count]:
        best = _likelier_sign(machine, run, trials[:count], best)
    if best is not None and best[0] < LIKELY * before:
        share = f"then {100.0 * best[0]:.2g} % of the forces are not explained, {100.0 * before:.2g} % as it is"
        is_error = best[0] < BETTER * before
        yield RecordingFinding(best[1], run.recording.name, best[2], f"{best[3]} ({share})", is_error)


@dataclass(frozen=True)
class _Change:
    """A fault that may have happened, and how it is undone: its kind, actuator or none, and text.

    position: change of positions (samples, actuator), whose derivatives are changed by `rate`; force: factors of forces
    (actuator,); time: factor of the time between samples; gravity: factor of gravity.
    """

    kind: str
    actuator: str
    text: str
    position: Callable[[np.ndarray], np.ndarray] = np.asarray
    rate: Callable[[np.ndarray], np.ndarray] = np.asarray
    force: np.ndarray | float = 1.0
    time: float = 1.0
    gravity: float = 1.0


def _changes(robot: Robot) -> Iterator[_Change]:
    """Yield the faults that change motions: exchanged columns, units, signs, zeros, gears, the rate, and gravity."""
    names = robot.mechanism.actuators
    count = len(names)
    turning = np.array([JOINT_KINDS[kind].units.position == "rad" for kind in actuator_kinds(robot)])
    for i, j in itertools.combinations(range(count), 2):
        order = np.arange(count)
        order[[i, j]] = j, i
        text = f"exchanged with {names[j]}, in positions or in forces; expected the order of the actuators"
        reorder = functools.partial(_reordered, order)
        yield _Change("swapped", names[i], text, reorder, reorder)
    for factor, text in (
        (np.pi / 180.0, "positions look like degrees; expected radians, or unit: deg"),
        (180.0 / np.pi, "positions look like radians; expected degrees as said by unit: deg"),
    ):
        if turning.any():
            scale = functools.partial(np.multiply, np.where(turning, factor, 1.0))
            yield _Change("units", "", text, scale, scale)
    for k, name in enumerate(names):
        yield from _changes_of_one(name, k, count, bool(turning[k]))
    yield _Change(
        "gravity", "", "gravity points the other way; expected that of the machine; look at gravity", gravity=-1.0
    )
    for factor in RATES:
        text = f"samples look {factor:g} times as far apart as their times say; expected their times; look at time"
        yield _Change("time", "", text, time=factor)


def _changes_of_one(name: str, actuator: int, count: int, is_turning: bool) -> Iterator[_Change]:
    """Yield one actuator's faults: position and force with the other sign, a wrong zero, a wrong gear."""
    unit = np.eye(count)[actuator]
    flipped = functools.partial(np.multiply, 1.0 - 2.0 * unit)
    text = "position and force both have the opposite sign; expected those of the robot; turn both (sign)"
    yield _Change("sign", name, text, flipped, flipped, force=1.0 - 2.0 * unit)
    for angle in (90, -90, 180) if is_turning else ():
        text = f"its zero looks off by {angle} degrees; expected that of the robot; add {angle} degrees (zero)"
        yield _Change("zero", name, text, functools.partial(np.add, unit * np.deg2rad(angle)))
    for factor in GEARS:
        scale = functools.partial(np.multiply, 1.0 + (factor - 1.0) * unit)
        text = f"its gear looks {1.0 / factor:.3g} times what was said; expected its ratio; look at gear, gain and unit"
        yield _Change("gear", name, text, scale, scale, force=1.0 + (1.0 / factor - 1.0) * unit)


def _likelier_sign(
    machine: RecordedMachine, run: Run, trials: list[tuple[float, str, str, str]], best: tuple[float, str, str, str]
) -> tuple[float, str, str, str]:
    """Return the trial with the signs of the robot's own bodies, among equally good turned forces.

    Forces turned in one of two actuators are those turned in the other with parameters of the other sign.
    """
    is_body = np.array([column.parameter in BODY for column in machine.columns])
    bodies = np.where(run.good, run.matrix @ np.where(is_body, machine.nominal, 0.0), 0.0)
    agreement = np.sum(bodies * np.where(run.good, run.linear_forces, 0.0), axis=0)
    equal = [k for k, trial in enumerate(trials) if trial[0] < ALIKE * best[0]]
    return trials[max(equal, key=lambda k: float(agreement.sum() - 2.0 * agreement[k]))]


def _motions(
    machine: RecordedMachine, run: Run, samples: np.ndarray, forces: np.ndarray, before: float
) -> Iterator[tuple[float, str, str, str]]:
    """Yield the trials of motions with faults undone, for chains driven in their joints."""
    if not is_direct(machine.robot):
        return
    position, velocity, acceleration = (values[samples] for values in run.motion)

    def trial(change: _Change, every: int = 1) -> float:
        model = replace(machine.model, gravity=tuple(change.gravity * np.array(machine.model.gravity)))
        rows = replace(machine, model=model).rows_of(run.recording, change.time)
        motion = (
            change.position(position[::every]),
            change.rate(velocity[::every]) / change.time,
            change.rate(acceleration[::every]) / change.time**2,
        )
        matrix, remainder = rows(Moving(q=motion[0], qd=motion[1], qdd=motion[2]), motion)
        return _Trial(machine.base.reduced(matrix), forces[::every] * change.force, remainder).unexplained

    # these motions have no filter on their columns: rows beside reversals, where dry friction changes sign, do not
    # count
    slow = np.abs(velocity) < SLOW * np.abs(velocity).max(axis=0)
    if (~slow).all(axis=1).sum() >= len(samples) // 4:
        forces = np.where(slow, np.nan, forces)
    # nor has the trial for comparison
    plain = trial(_Change("", "", ""))
    grown = before / plain if plain > 0 else 1.0
    changes = list(_changes(machine.robot))
    # few samples tell which are worth all of them
    every = len(samples) * len(machine.robot.mechanism.actuators) // (ROWS * max(machine.base.count, 1))
    if every > 1:
        rough = np.argsort([trial(change, every) for change in changes])
        changes = [changes[k] for k in np.sort(rough[:WORTH])]
    for change in changes:
        yield trial(change) * grown, change.kind, change.actuator, change.text


def _own_signs(machine: RecordedMachine, run: Run) -> Iterator[RecordingFinding]:
    """Yield the actuators whose own rows give a negative inertia or friction."""
    names = machine.robot.mechanism.actuators
    samples = _spread(run, 60)
    own_inertia = _inertia_columns(machine, run, samples)
    for k, name in enumerate(names):
        rows, forces = run.matrix[run.good[:, k], k], run.linear_forces[run.good[:, k], k]
        if len(forces) < 10:
            continue
        power = np.zeros(rows.shape[1])
        friction = rows[:, machine.beside]
        power[machine.beside] = np.mean(run.motion[1][run.good[:, k], k, None] * friction, axis=0)
        power[_offsets(machine)] = 0.0
        for what, functional in (("inertia", own_inertia[k]), ("friction", power)):
            value, deviation = _functional(rows, forces, functional)
            if value < -CERTAIN * deviation:
                yield _own_sign(run, k, name, what)
                break


def _own_sign(run: Run, actuator: int, name: str, quantity: str) -> RecordingFinding:
    """Return the finding of a negative inertia or friction: an error where neither noise nor a payload can be why."""
    noise = run.recording.noise
    if run.remainder.any():
        text = (
            f"its {quantity} would be negative: the payload that was said is too heavy for its forces, or force and "
            "motion have opposite signs; look at the payload's mass, unit and body, and at the sign of the force"
        )
        return RecordingFinding("sign", run.recording.name, name, text, is_error=False)
    share = 0.0 if noise is None else float(noise.noise[actuator])
    if share <= QUIET and len(run.forces) >= FEW:
        text = f"its {quantity} would be negative: force and motion have opposite signs; {ALONG}"
        return RecordingFinding("sign", run.recording.name, name, text)
    text = (
        f"its {quantity} would be negative, which noise can do: that of accelerations is {share:.0%} of the motion, in "
        f"{len(run.forces)} rows; lower the cutoff, record longer, or look at the sign of its force"
    )
    return RecordingFinding("sign", run.recording.name, name, text, is_error=False)


def _offsets(machine: RecordedMachine) -> np.ndarray:
    return np.array([column.parameter == "offset" for column in machine.columns])


def _functional(rows: np.ndarray, forces: np.ndarray, functional: np.ndarray) -> tuple[float, float]:
    """Return a linear function of the parameters by least squares of one actuator's rows, and its standard deviation.

    Infinite where these rows do not tell it.
    """
    sizes = np.linalg.norm(rows, axis=0)
    moved = sizes > 1e-9 * sizes.max(initial=0.0)
    if not moved.any() or not np.any(functional[moved]):
        return 0.0, np.inf
    basis, singular, right = np.linalg.svd(rows[:, moved] / sizes[moved], full_matrices=False)
    is_told = singular > 1e-4 * singular[0]
    weight = right @ (functional[moved] / sizes[moved])
    if np.linalg.norm(weight[~is_told]) > 1e-3 * np.linalg.norm(weight):
        return 0.0, np.inf
    along = basis[:, is_told] / singular[is_told] @ weight[is_told]
    residuals = forces - basis[:, is_told] @ (basis[:, is_told].T @ forces)
    # correlated residuals tell less than as many independent ones
    return float(along @ forces), float(np.linalg.norm(along) * np.sqrt(np.mean(residuals**2)) * 3.0)


def _inertia_columns(machine: RecordedMachine, run: Run, samples: np.ndarray) -> np.ndarray:
    """Compute the regressor columns of each actuator's own inertia, averaged over samples: (actuator, column)."""
    robot, count = machine.robot, len(machine.robot.mechanism.actuators)
    position = run.motion[0][samples]
    names = ("q",) if robot.mechanism.is_chain else ("position", "rotation")
    state = cast(Moving, {name: np.asarray(present(run.moving)[name])[samples] for name in names})
    zero = np.zeros_like(position)
    rows = machine.rows_of(run.recording)
    resting = rows(state, (position, zero, zero))[0]
    jacobian = np.nan_to_num(inverse_dynamics(robot, **state).jacobian)
    result = []
    for k in range(count):
        rates = np.linalg.pinv(jacobian)[..., k]
        unit = zero.copy()
        unit[:, k] = 1.0
        moved = _accelerated(robot, state, rates)
        columns = rows(moved, (position, zero, unit))[0][:, k] - resting[:, k]
        good = finite(columns)
        result.append(columns[good].mean(axis=0) if good.any() else np.zeros(columns.shape[1]))
    return np.stack(result)


def _accelerated(robot: Robot, state: Moving, rates: np.ndarray) -> Moving:
    """Return the state at rest with an acceleration of its freedoms (samples, freedom)."""
    if robot.mechanism.is_chain:
        return {**state, "qd": np.zeros_like(rates), "qdd": rates}
    acceleration = np.zeros((len(rates), 6))
    acceleration[:, [TWIST.index(name) for name in robot.mechanism.platform.mobility]] = rates
    return {**state, "twist": np.zeros_like(acceleration), "acceleration": acceleration}


def _spread(run: Run, most: int = SAMPLES) -> np.ndarray:
    return np.unique(np.linspace(0, len(run.forces) - 1, min(most, len(run.forces))).astype(int))


def _reordered(order: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Return the columns of an array in another order."""
    return values[:, order]
