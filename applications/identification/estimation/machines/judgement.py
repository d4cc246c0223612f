"""Tests for effects that a fit may lack, and warnings: delay, other friction, drift, limbs that differ.

Each suspected effect adds a few columns. A test with the covariance of correlated noise decides if they explain
residuals. If motions are small, offsets absorb the additional forces of a heavier limb, and no residual is left
that could reveal it. The offsets of copies then differ. A further test decides if limbs that differ in mass explain
these offsets as well.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

import numpy as np
from scipy.linalg import null_space

from applications.identification.estimation.consistent import SIZE, near_consistent, pseudo_inertia
from applications.identification.estimation.machines.fitting import (
    FIRST,
    MachineFit,
    Standard,
    fit_machine,
    weighted_rows,
)
from applications.identification.estimation.machines.friction_laws import after_reversals
from applications.identification.estimation.machines.machine import RecordedMachine
from applications.identification.estimation.machines.machine_model import OFFSET
from applications.identification.estimation.machines.payload_tests import LOAD, PAYLOAD, payload_extensions
from applications.identification.estimation.machines.preparation import advanced
from applications.identification.estimation.machines.residuals import (
    Extension,
    FactoredRows,
    FitRows,
    LackOfFit,
    independent_columns,
    lack_of_fit,
)
from applications.identification.estimation.machines.run import Run
from tasks.dynamics.inertial_parameters import ARMATURE, BODY, SPIN

DELAY = "delay"
GAIN, LATE_ONE, BACKLASH = "gain", "late", "backlash"
SHARED, MASSES, OFFSETS = "limbs", "masses", "offsets"
CORRELATED = 0.2
"""Correlation from one sample to the next above which noise does not count as white."""
POOR = 0.3
"""Share of the forces for training that is not explained beyond which the model is not the machine's."""
GAP = 2.0
"""Least reported ratio of the unexplained share of forces of other recordings to that of training."""
FEW = 4.0
"""Independent rows for each parameter below which a recording is too short."""
TIMES = 3.0
"""Least reported ratio of a body's mass to that of the robot file, or its inverse."""
TRIFLE = 0.01
"""Mass [kg] below which a body of the robot is a placeholder."""
THINNEST = 1e-4
"""Second moment over that of the robot's body below which a body counts as a needle or a point."""
BIASED = 0.5
"""Least reported bias by noise of positions, over the standard deviation."""
UNLIKE = 2.0
"""Least reported ratio of the residuals of consistent bodies to those of all parameters."""
DELAYS = 6
LATE = 0.05
"""Chance below which a delay is reported: one test of all recordings, while others are several per actuator."""
SETTLED = 1e-3
"""Change of an estimated delay, relative to a sample, at which it is taken."""


def suspicions(machine: RecordedMachine, fit: MachineFit) -> Iterator[Extension]:
    """Yield additional columns for effects that a model may lack: of the whole machine, then of each actuator."""
    runs = machine.of("train")
    names = machine.robot.mechanism.actuators
    yield Extension(DELAY, tuple(_over_noise(_rates(run, fit), fit) for run in runs), LATE)
    if (unshared := _unshared(machine, fit)) is not None:
        yield Extension(SHARED, unshared)
        yield Extension(MASSES, _masses(machine, fit))
    yield from payload_extensions(machine, fit)
    for k, name in enumerate(names):
        shapes = [_friction_shapes(run, k) for run in runs]
        yield Extension(f"friction {name}", tuple(_on(shape, k, len(names), fit) for shape in shapes))
        drift = [np.sign(run.motion[1][:, k : k + 1]) * _centred(run.time)[:, None] for run in runs]
        yield Extension(f"drift {name}", tuple(_on(shape, k, len(names), fit) for shape in drift))
        gain = [fit.predicted(run)[:, k : k + 1] * _centred(run.time)[:, None] for run in runs]
        yield Extension(f"{GAIN} {name}", tuple(_on(shape, k, len(names), fit) for shape in gain))
        late = [_rates(run, fit)[:, k] for run in runs]
        yield Extension(f"{LATE_ONE} {name}", tuple(_on(shape, k, len(names), fit) for shape in late))
        lost = [_lost_motion(run, fit, k) for run in runs]
        yield Extension(f"{BACKLASH} {name}", tuple(_on(shape, k, len(names), fit) for shape in lost))


def judged(machine: RecordedMachine, fit: MachineFit) -> MachineFit:
    """Return the fit with tests for effects that its model may lack."""
    parts = weighted_rows(machine, fit)
    rows = FactoredRows(parts)
    lacks = [lack_of_fit(rows, extension) for extension in suspicions(machine, fit)]
    if not any(lack.is_significant for lack in lacks if lack.text in (SHARED, MASSES)):
        lacks += _offsets(machine, fit, parts)
    return replace(fit, lacks=tuple(lacks))


def _rates(run: Run, fit: MachineFit) -> np.ndarray:
    """Compute the derivative of forces by a delay: minus their rate (samples, actuator, 1)."""
    return -run.predicted_rate(fit.base, fit.all_values)[:, :, None]


def _friction_shapes(run: Run, actuator: int) -> np.ndarray:
    velocity = run.motion[1][:, actuator]
    fastest = float(np.abs(velocity).max()) or 1.0
    relative = velocity / fastest
    slow = [np.sign(relative) * np.exp(-((relative / share) ** 2)) for share in (0.05, 0.2)]
    presliding = [np.sign(relative) * fading for fading in _fadings(run, actuator)]
    return np.stack([np.abs(relative), relative * np.abs(relative), relative**3, *slow, *presliding], axis=1)


def _lost_motion(run: Run, fit: MachineFit, actuator: int) -> np.ndarray:
    """Return shapes of a drive that moves alone after each reversal: the force without that of the bodies."""
    force = fit.predicted(run)[:, actuator]
    return np.stack([force * fading for fading in _fadings(run, actuator)], axis=1)


def _fadings(run: Run, actuator: int) -> list[np.ndarray]:
    position, velocity, _ = run.motion
    return after_reversals(position[:, actuator], velocity[:, actuator])


def _centred(time: np.ndarray) -> np.ndarray:
    return np.asarray((time - time.mean()) / max(float(np.ptp(time)), 1e-12))


def _on(shape: np.ndarray, actuator: int, count: int, fit: MachineFit) -> np.ndarray:
    columns = np.zeros((len(shape), count, shape.shape[1]))
    columns[:, actuator] = shape
    return _over_noise(columns, fit)


def _over_noise(columns: np.ndarray, fit: MachineFit) -> np.ndarray:
    return np.asarray(columns / fit.noise[:, None])


def _unshared(machine: RecordedMachine, fit: MachineFit) -> tuple[np.ndarray, ...] | None:
    """Return the columns of limbs with parameters of their own; None where no limbs are copies."""
    unshared = machine.unshared
    if unshared is None:
        return None
    runs = unshared.of("train")
    whole = np.concatenate([unshared.base.reduced(run.matrix)[run.good] for run in runs])
    kept = independent_columns(whole, 1e-4)
    return tuple(_over_noise(unshared.base.reduced(run.matrix)[:, :, kept], fit) for run in runs)


def _masses(machine: RecordedMachine, fit: MachineFit) -> tuple[np.ndarray, ...]:
    """Compute the forces from each limb's own inertia: a column for each of the limbs that are copies.

    One number describes a limb. A limb that is heavier as a whole is therefore found even where its single
    parameters cannot be identified.
    """
    unshared = machine.unshared
    assert unshared is not None, "asked for where limbs are copies"
    values = unshared.nominal
    instances = machine.robot.mechanism.instances
    limbs = [instance.limb for instance in instances]
    parts = np.zeros((len(values), 0))
    for instance in instances:
        if limbs.count(instance.limb) > 1:
            is_own = [c.owner.startswith(f"{instance.name}.") and _is_inertia(c.parameter) for c in unshared.columns]
            parts = np.column_stack([parts, np.where(is_own, values, 0.0)])
    return tuple(_over_noise(run.matrix @ parts, fit) for run in unshared.of("train"))


def _is_inertia(parameter: str) -> bool:
    return parameter in BODY or parameter == ARMATURE or parameter.startswith(SPIN)


def _offset_contrasts(machine: RecordedMachine, fit: MachineFit) -> np.ndarray:
    """Return offset differences of actuators that are copies (kept parameter, difference), if all are estimated."""
    names, copies = iter(machine.robot.mechanism.actuators), dict[tuple[int, str], list[str]]()
    for instance in machine.robot.mechanism.instances:
        for joint in machine.robot.mechanism.limbs[instance.limb].actuated:
            copies.setdefault((instance.limb, joint), []).append(f"{next(names)}.{OFFSET}")
    kept = [fit.base.names[fit.base.independent[k]] for k in fit.kept]
    result = []
    for offsets in copies.values():
        if set(offsets) <= set(kept):
            places = [kept.index(name) for name in offsets]
            result += [np.eye(len(kept))[place] - np.eye(len(kept))[places[0]] for place in places[1:]]
    return np.array(result).reshape(-1, len(kept)).T


def _offsets(machine: RecordedMachine, fit: MachineFit, parts: list[FitRows]) -> Iterator[LackOfFit]:
    """Yield unequal offsets of copies, if limbs of unequal mass explain them as well; values are their masses'."""
    contrasts = _offset_contrasts(machine, fit)
    if machine.unshared is None or not contrasts.size:
        return
    equal = null_space(contrasts.T)
    equal_parts = [replace(part, matrix=part.matrix @ equal) for part in parts]
    alike = FactoredRows(equal_parts)
    offsets = Extension(OFFSETS, tuple(part.matrix @ contrasts for part in parts))
    differ = lack_of_fit(alike, offsets)
    if not differ.is_significant:
        return
    masses = _masses(machine, fit)
    heavier = [
        replace(part, matrix=np.concatenate([part.matrix, columns], axis=2))
        for part, columns in zip(equal_parts, masses, strict=True)
    ]
    # all copies heavier by the same are the parameters that they share
    independent = independent_columns(np.concatenate([part.matrix[part.good] for part in heavier]))
    heavier = [replace(part, matrix=part.matrix[:, :, independent]) for part in heavier]
    if not lack_of_fit(FactoredRows(heavier), offsets).is_significant:
        instead = lack_of_fit(alike, Extension(OFFSETS, masses))
        yield replace(differ, values=instead.values, deviations=instead.deviations)


def lacking(fit: MachineFit) -> Iterator[str]:
    """Yield a text for each effect that the model lacks according to the tests."""
    significant = [lack for lack in fit.lacks if lack.is_significant]
    shared = any(lack.text == SHARED for lack in significant)
    payload = any(lack.text.startswith(f"{PAYLOAD} ") for lack in significant)
    for lack in significant:
        kind, _, name = lack.text.partition(" ")
        is_told = {MASSES: shared, LOAD: payload, LATE_ONE: kind == LATE_ONE and _is_common(lack, fit)}
        if not is_told.get(kind, False):
            share = f"which is {lack.share:.0%} of the residuals: deviations are too small"
            yield TEXTS.get(kind, _drift)(lack, name, share)


def _by(lack: LackOfFit) -> str:
    return f" by {np.abs(lack.values).max():.0%}" if len(lack.values) else ""


def _is_common(lack: LackOfFit, fit: MachineFit) -> bool:
    """Return whether a delay of one actuator is that of all of them."""
    common = next((each for each in fit.lacks if each.text == DELAY and each.is_significant), None)
    if common is None or not len(common.values):
        return False
    return bool(abs(lack.values[0] - common.values[0]) < max(4.0 * lack.deviations[0], 0.5 * abs(common.values[0])))


def _late(lack: LackOfFit, share: str, owner: str = "") -> str:
    way = "late" if lack.values[0] > 0 else "early"
    time, deviation = abs(lack.values[0]) * 1e3, lack.deviations[0] * 1e3
    remedy = "look at its sensors and filters" if owner else "write delay: estimate under preparation"
    return f"forces {owner}are {time:.2g} +- {deviation:.1g} ms {way}, {share}; {remedy}"


def _copies(lack: LackOfFit, name: str, share: str) -> str:
    effect = f"differ in mass{_by(lack)}" if lack.text == MASSES else "differ"
    return f"limbs that are copies {effect}, {share}; write shared: false under model"


def _offset(lack: LackOfFit, name: str, share: str) -> str:
    return (
        f"offsets of actuators that are copies differ, which limbs that differ in mass{_by(lack)} explain as well: "
        "these recordings do not tell one from the other, and deviations hold for the first only; weigh the limbs, or "
        "record larger motions"
    )


def _payload(lack: LackOfFit, name: str, share: str) -> str:
    way, amount = "heavier" if lack.values[0] > 0 else "lighter", f"{abs(lack.values[0]):.1%}"
    amount = f"{amount} +- {lack.deviations[0]:.1%}"
    return f"payload of {name} looks {amount} {way} than said, {share}; look at its mass, unit and body"


def _load(lack: LackOfFit, name: str, share: str) -> str:
    return (
        f"forces of {name} are as if it carried another load than the recordings before it and as said, {share}; give "
        "it a payload of its own (payload: body, unknown: NAME)"
    )


def _gain(lack: LackOfFit, name: str, share: str) -> str:
    change = f"{abs(lack.values[0]):.1%}" if len(lack.values) else "some share"
    return f"gain of {name} changes by {change} during the recordings, {share}; is its drive warm?"


def _drift(lack: LackOfFit, name: str, share: str) -> str:
    return f"friction of {name} changes during the recordings, {share}; is the machine warm?"


TEXTS: Mapping[str, Callable[[LackOfFit, str, str], str]] = {
    DELAY: lambda lack, name, share: _late(lack, share),
    SHARED: _copies,
    MASSES: _copies,
    OFFSETS: _offset,
    PAYLOAD: _payload,
    LOAD: _load,
    GAIN: _gain,
    LATE_ONE: lambda lack, name, share: _late(lack, share, f"of {name} alone "),
    BACKLASH: lambda lack, name, share: (
        f"{name} moves alone after reversals, as with backlash, {share}; look at its gear"
    ),
    "friction": lambda lack, name, share: (
        f"friction of {name} does not follow its law, {share}; try friction: asymmetric or stribeck"
    ),
    "drift": _drift,
}
"""Text about a missing effect, with the name of an actuator or recording and the share of residuals, by extension."""

QUESTIONS = {
    DELAY: "forces are on time",
    SHARED: "limbs that are copies are alike",
    MASSES: "limbs that are copies weigh the same",
    OFFSETS: "offsets of copies are alike",
    PAYLOAD: "payload of {name} is as heavy as said",
    LOAD: "{name} carries the load that is said",
    "friction": "friction of {name} is as its law",
    "drift": "friction of {name} stays as it is",
    GAIN: "gain of {name} stays as it is",
    LATE_ONE: "forces of {name} are on time",
    BACKLASH: "{name} moves its bodies after reversals",
}
"""Question of each test, by the extension of the model that the test tries."""


def answers(machine: RecordedMachine, fit: MachineFit) -> Iterator[tuple[str, str, float]]:
    """Yield for each test of a fit its question, its answer, and the chance of this result if the answer were yes."""
    for name, white in zip(machine.robot.mechanism.actuators, fit.whiteness, strict=True):
        answer = "yes" if white.is_white else f"no, correlated by {white.lag_one:.2f} from sample to sample"
        yield f"residuals of {name} are white noise", answer, white.chance
    for lack in fit.lacks:
        kind, _, name = lack.text.partition(" ")
        answer = f"no, that is {lack.share:.0%} of the residuals" if lack.is_significant else "yes"
        yield QUESTIONS[kind].format(name=name), answer, lack.chance


def warnings(machine: RecordedMachine, fit: MachineFit, standard: Standard | None = None) -> list[str]:
    """Return the warnings about a fit, and about its physically consistent parameters, as texts."""
    result = [*_poor(machine, fit, standard), *_held_out(machine, fit, standard), *lacking(fit), *biased(fit)]
    if standard is not None and standard.converged:
        result += _unlikely_bodies(machine, standard)
    names = machine.robot.mechanism.actuators
    coloured = [
        (name, white.lag_one)
        for name, white in zip(names, fit.whiteness, strict=True)
        if not white.is_white and abs(white.lag_one) > CORRELATED
    ]
    if coloured:
        listed = ", ".join(f"{name} {lag:.2f}" for name, lag in coloured)
        result.append(
            f"residuals are correlated from sample to sample ({listed}): they tell as much as {fit.independent:.0f} "
            f"independent rows of {fit.rows}; deviations count that"
        )
    if fit.independent < FEW * len(fit.values):
        result.append(
            f"{fit.independent:.0f} independent rows are few for {len(fit.values)} parameters: expected "
            f"{FEW * len(fit.values):.0f} or more; record longer"
        )
    if left_out := fit.base.count - len(fit.kept):
        names_left = [fit.base.grouping(k) for k in range(fit.base.count) if k not in fit.kept]
        result.append(
            f"{left_out} of {fit.base.count} base parameters are not moved by the recordings, or left out: "
            f"{', '.join(names_left[:12])}{', ...' if left_out > 12 else ''}"
        )
    if weak := fit.weak:
        result.append(f"{len(weak)} parameters are known to 30 % at best, such as {', '.join(weak[:3])}")
    return result


def _poor(machine: RecordedMachine, fit: MachineFit, standard: Standard | None) -> Iterator[str]:
    """Yield the recordings that the model does not explain, at all or with physically possible bodies."""
    possible = {} if standard is None or not standard.converged else standard.errors
    for run in machine.of("train"):
        name = run.recording.name
        if fit.errors[name] > POOR:
            yield (
                f"{name}: {fit.errors[name]:.0%} of the forces are not explained: look at columns, units, signs, zeros "
                "and the robot"
            )
        elif possible.get(name, 0.0) > max(UNLIKE * fit.errors[name], fit.errors[name] + 0.02):
            yield (
                f"{name}: bodies that there can be leave {possible[name]:.1%} of the forces, the parameters found "
                f"{fit.errors[name]:.1%}: these are of no machine; look at gravity, units, signs and zeros"
            )


def _held_out(machine: RecordedMachine, fit: MachineFit, standard: Standard | None) -> Iterator[str]:
    """Yield recordings that were not for training and of whose forces far more is not explained."""
    training = max((fit.errors[run.recording.name] for run in machine.of("train")), default=0.0)
    bodies = {} if standard is None or not standard.converged else standard.errors
    for run in machine.runs:
        name, share = run.recording.name, fit.errors[run.recording.name]
        if run.recording.role != "train" and share > max(GAP * training, training + 0.02):
            better = bodies.get(name, share) < share
            remedy = (
                f"bodies near the robot's leave {bodies[name]:.1%}: take estimate.method: consistent, "
                if better
                else ""
            )
            yield (
                f"{name}: {share:.1%} of the forces are not explained, {training:.1%} of those for training: the "
                f"parameters fit these recordings and not the machine; {remedy}give more motion for training, or look "
                "at differences between recordings"
            )


def _unlikely_bodies(machine: RecordedMachine, standard: Standard) -> Iterator[str]:
    """Yield bodies far heavier or lighter than the robot's, and bodies at the boundary of consistent ones."""
    starts = [k for k, c in enumerate(machine.columns) if c.parameter == FIRST and k < machine.payload_columns.start]
    heavy, thin = [], []
    for start in starts:
        name = machine.columns[start].owner
        nominal = near_consistent(machine.nominal[start : start + SIZE])
        body = standard.values[start : start + SIZE]
        if nominal[0] > TRIFLE and not 1.0 / TIMES <= body[0] / nominal[0] <= TIMES:
            heavy.append(f"{name} {body[0]:.4g} kg, {nominal[0]:.4g} kg in the robot's file")
        elif _thinness(body, nominal) < THINNEST:
            thin.append(name)
    if heavy:
        yield (
            f"masses far from those of the robot: {'; '.join(heavy)}: the motions do not tell them, or the model lacks "
            "a force, such as a counterbalance (model.columns); give the total mass (estimate.bodies.mass)"
        )
    if thin:
        yield (
            f"bodies are thin as needles or points ({', '.join(thin)}): at the boundary of possible bodies; give "
            "boxes (estimate.bodies.boxes), or look at gravity, units, signs and zeros"
        )


def _thinness(body: np.ndarray, nominal: np.ndarray) -> float:
    """Return the least second moment of a body, in any direction and place, over that of the nominal one."""
    inverse = np.linalg.inv(np.linalg.cholesky(pseudo_inertia(nominal)))
    return float(np.linalg.eigvalsh(inverse @ pseudo_inertia(body) @ inverse.T)[0])


def biased(fit: MachineFit) -> Iterator[str]:
    """Yield a text where noise of positions biases parameters: errors are in the regressor as well as in the forces."""
    if fit.bias is None:
        return
    share = np.abs(fit.bias) / fit.plain
    if not (share > BIASED).any():
        return
    yield (
        f"noise of positions is in the regressor: it biases {int(np.sum(share > BIASED))} parameters by more than half "
        f"a standard deviation ({fit.largest(share, BIASED)}); deviations count that; lower the cutoff, or "
        "estimate.method: instrumental with the reference of the controller"
    )


def with_delay(machine: RecordedMachine, method: str) -> tuple[RecordedMachine, float]:
    """Return the machine with the forces of all recordings as much earlier as they are late, and that time [s]."""
    delay = 0.0
    raw = machine
    for _ in range(DELAYS):
        fit = fit_machine(machine, method)
        parts = weighted_rows(machine, fit)
        runs = machine.of("train")
        lack: LackOfFit = lack_of_fit(
            FactoredRows(parts), Extension(DELAY, tuple(_over_noise(_rates(r, fit), fit) for r in runs))
        )
        if not len(lack.values):
            break
        change = float(lack.values[0])
        delay += change
        machine = delayed_machine(raw, delay)
        if abs(change) < SETTLED * raw.recordings[0].step:
            break
    return machine, delay


def delayed_machine(machine: RecordedMachine, delay: float) -> RecordedMachine:
    """Return the machine whose recorded forces are earlier by `delay` [s]."""
    shifted = tuple(
        replace(
            recording,
            force=advanced(recording.force, delay, recording.step),
            used=replace(recording.used, delay=(recording.used.delay or 0.0) + delay),
        )
        for recording in machine.recordings
    )
    return machine.with_forces(shifted)
