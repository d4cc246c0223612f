"""Identify a machine from recordings: read, check, prepare, fit, judge."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence

import numpy as np
from threadpoolctl import threadpool_limits

from applications.identification.estimation.machines.checks.findings import RecordingFinding
from applications.identification.estimation.machines.checks.hypotheses import check_machine
from applications.identification.estimation.machines.checks.series import check_repeats, check_signals
from applications.identification.estimation.machines.choices import (
    CLOSED_LOOP,
    CONSISTENT,
    FADING,
    INSTRUMENTAL,
    LARGEST,
    OUTPUT_ERROR,
)
from applications.identification.estimation.machines.closed_loop import (
    fit_instrumental,
    fit_output_error,
)
from applications.identification.estimation.machines.fitting import (
    MachineFit,
    Standard,
    cross_validated,
    fit_machine,
    identified_robot,
    raw_error,
    standard_parameters_of,
    unexplained,
    with_coupled_friction,
)
from applications.identification.estimation.machines.friction_laws import LawTrial, comparison, law_trials
from applications.identification.estimation.machines.gains import Gains, with_gains
from applications.identification.estimation.machines.judgement import answers, judged, warnings, with_delay
from applications.identification.estimation.machines.machine import RecordedMachine
from applications.identification.estimation.machines.preparation import Prepared, Signals, prepare
from applications.identification.estimation.machines.sensitivity import (
    CutoffTrial,
    cutoff_trials,
    unsettled,
    with_bias,
    with_wider_band,
)
from applications.identification.estimation.machines.stribeck import with_stribeck
from applications.identification.estimation.machines.uncertain import UncertainRobot, uncertain_robot
from applications.identification.machines.described import RecordingDescription
from pipeline.errors import InputError, Problem, refused
from robots.data_classes import dataclass, replace
from robots.formats.description import Description as RobotDescription

WEIGHTED = "weighted"
BIASED = ("least_squares", WEIGHTED, "reweighted", CONSISTENT)
"""Methods that take the regressor for exact, so that noise of positions biases them."""
STAGES = ("read", "prepare", "check", "fit", "consistent", "judge")
"""Stages of an identification in their order."""


@dataclass(frozen=True)
class MachineIdentification:
    """A fit of a machine's recordings, parameters that its bodies can have, and notes for the user.

    warnings: in words; findings: of the recordings, those that were accepted among them; seconds: by stage; raw: the
    signals as they were read; trials: fits with other cutoffs; laws: held-out errors of friction laws;
    wider: factor of cutoffs that few rows asked for.
    """

    description: RecordingDescription
    machine: RecordedMachine
    fit: MachineFit
    standard: Standard
    findings: tuple[RecordingFinding, ...]
    warnings: tuple[str, ...]
    delay: float
    seconds: dict[str, float]
    raw: tuple[Signals, ...]
    gains: Gains | None = None
    trials: tuple[CutoffTrial, ...] = ()
    laws: tuple[LawTrial, ...] = ()
    wider: float = 1.0

    def rows(self) -> Iterator[tuple[str, str]]:
        """Summarise the result, as `limbsweep identify` prints it."""
        fit = self.fit
        yield "identified", f"{self.machine.robot.name} from {len(self.machine.recordings)} recordings"
        yield "base parameters", f"{fit.base.count}" + _left_out(fit)
        yield "condition", f"{fit.condition:.4g} of scaled columns, {fit.raw_condition:.4g} raw"
        for recording in self.machine.recordings:
            share = fit.errors[recording.name]
            by_actuator = ", ".join(map(_share, fit.actuator_errors[recording.name]))
            raw = raw_error(self.machine, recording, fit)
            yield f"{recording.role} {recording.name}", f"{share:.2%} of the forces are not explained ({by_actuator})"
            yield "  as recorded", f"{raw:.2%}, without filter, actuators at rest counted"
        if np.isfinite(share := cross_validated(self.machine, fit)):
            yield "cross-validation", f"{share:.2%}, each fifth of the time by parameters from the others"
        if self.laws:
            yield "  friction laws", comparison(self.laws)
        yield "filter", ", ".join(_filter(recording) for recording in self.machine.recordings)
        if self.wider > 1.0:
            yield (
                "  wider",
                f"{self.wider:g} times the cutoff that noise gives: rows are few, and it leaves smaller deviations",
            )
        for trial in self.trials:
            yield "  otherwise", str(trial)
        for recording in self.machine.recordings:
            if recording.clock:
                yield f"time of {recording.name}", recording.clock
            yield f"noise of {recording.name}", _noise(recording)
        if self.delay:
            yield "delay of forces", f"{self.delay * 1e3:.3g} ms, taken out"
        if self.gains is not None:
            names = self.machine.robot.mechanism.actuators
            pairs = zip(names, self.gains.factors, self.gains.deviations, strict=True)
            yield (
                "factors of forces",
                ", ".join(f"{name} {factor:.4g} +- {spread:.1g}" for name, factor, spread in pairs),
            )
        if self.machine.model.friction == FADING:
            speeds = ", ".join(f"{x:.3g}" for x in self.machine.model.stribeck_velocity)
            yield "Stribeck velocities", speeds
        if self.description.deviations != LARGEST:
            yield "deviations", self.description.deviations
        yield "independent rows", f"{fit.independent:.0f} of {fit.rows}"
        yield "consistent bodies", _bodies(self.standard)
        yield "seconds", ", ".join(f"{stage} {spent:.2f}" for stage, spent in self.seconds.items())

    def tests(self) -> Iterator[tuple[str, str, float]]:
        """Yield each test of residuals and model: question, answer, chance of such residuals if it were yes."""
        yield from answers(self.machine, self.fit)

    def parameters(self) -> Iterator[tuple[str, float, float]]:
        """Yield the estimated base parameters: meaning, value, standard deviation."""
        numbers = zip(self.fit.names, self.fit.values.tolist(), self.fit.deviations.tolist(), strict=True)
        yield from numbers

    def standard_parameters(self) -> Iterator[tuple[str, str, float, float]]:
        """Yield parameters of bodies, drives, friction: name, unit, value, deviation; NaN where data do not tell it."""
        values, deviations = self.standard.values.tolist(), self.standard.deviations.tolist()
        for column, value, deviation in zip(self.machine.columns, values, deviations, strict=True):
            yield column.name, column.unit, value, deviation

    @property
    def has_robot(self) -> bool:
        """Return whether a robot file can have the result."""
        mechanism = self.machine.robot.mechanism
        alone = len({instance.limb for instance in mechanism.instances}) == len(mechanism.instances)
        return self.standard.converged and (alone or self.machine.model.shared)

    def uncertain(self) -> UncertainRobot:
        """Return the robot with the parameters that data determine, and their covariance.

        Raises InputError without one.
        """
        self.robot()
        return uncertain_robot(self.machine, self.fit, self.standard)

    def robot(self) -> RobotDescription:
        """Return the robot with the identified inertia. Raises InputError where none was found."""
        if not self.standard.converged:
            got, expected = f"consistent bodies were not found: {self.standard.status}", "a solution"
            raise refused(self.description.title, got, expected)
        try:
            return identified_robot(self.machine, self.standard)
        except ValueError as error:
            raise refused(self.description.title, str(error), "limbs that share", key="model") from None


def _left_out(fit: MachineFit) -> str:
    missing = fit.base.count - len(fit.kept)
    return f", of which {missing} are not estimated" if missing else ""


def _share(error: float) -> str:
    return f"{error:.1%}" if np.isfinite(error) else "at rest"


def _filter(recording: Prepared) -> str:
    replaced = sum(recording.replaced.values())
    text = f"{recording.used.cutoff:.3g} Hz"
    return text + (f" after {replaced} outliers" if replaced else "")


def _bodies(standard: Standard) -> str:
    """Return the unexplained share of the forces for bodies near the robot's, or the reason for no such bodies."""
    if not standard.converged:
        return f"not found: {standard.status}"
    shares = ", ".join(f"{share:.2%}" for share in standard.errors.values())
    return f"found; they leave {shares}; weight of the robot's own inertia {standard.weight:g}"


def _noise(recording: Prepared) -> str:
    """Return standard deviations of the noise of one sample, by signal, and its share of the filtered accelerations."""
    noise = recording.noise
    if noise is None:
        return "not judged"
    signals = {"positions": noise.position, "velocities": noise.velocity, "forces": noise.force}
    listed = [
        f"{name} {', '.join(f'{x:.2g}' for x in values)}" for name, values in signals.items() if values is not None
    ]
    shares = ", ".join(f"{x:.1%}" for x in noise.noise)
    return f"{'; '.join(listed)}; in filtered accelerations {shares}"


@threadpool_limits.wrap(limits=1, user_api="blas")
def identify_recordings(
    description: RecordingDescription, tell: Callable[[str], None] = lambda stage: None
) -> MachineIdentification:
    """Identify the machine of a description from its recordings; `tell` is called with each stage as it begins.

    Matrices are small: on one thread of BLAS they take a tenth of the processor time. Raises InputError for faults of
    the recordings.
    """
    clock = _Clock(tell)
    raw = tuple(description.signals())
    findings = [f for s in raw for f in check_signals(description.robot, s, description.limits, description.rated)]
    findings += check_repeats(raw, [(options.start, options.stop) for options in description.preparations])
    _refuse(findings, description)
    signals = [_filled(recording) for recording in raw]
    clock("read")
    prepared = tuple(map(prepare, signals, description.preparations))
    machine = RecordedMachine(description.robot, description.model, prepared, payloads=description.payloads)
    method = WEIGHTED if description.method in (CONSISTENT, *CLOSED_LOOP) else description.method
    assert machine.runs, "a description has recordings"
    clock("prepare")
    findings += check_machine(machine)
    _refuse(findings, description)
    clock("check")
    is_free = [options.cutoff is None for options in description.preparations]
    machine, wider = with_wider_band(machine, is_free, method)
    machine, delay = with_delay(machine, method) if description.estimates_delay else (machine, 0.0)
    if description.estimates_stribeck:
        machine = with_stribeck(machine, method)
    machine = with_coupled_friction(machine, method)
    gains = None
    if description.estimates_gains:
        gains = with_gains(machine, method, eliminate=description.eliminate, deviations=description.deviations)
        machine, fit = gains.machine, gains.fit
    else:
        machine, fit = _fitted(machine, method, description)
        if description.deviations != LARGEST:
            fit = fit.with_deviations(description.deviations)
    clock("fit")
    if description.method in BIASED and machine.model.coupled(machine.robot) is None:
        fit = with_bias(machine, fit)
    standard = standard_parameters_of(machine, fit, description.prior)
    if description.method == CONSISTENT:
        fit = _consistent(machine, fit, standard, description)
    clock("consistent")
    fit = judged(machine, fit)
    # factors of forces are in the forces that were filtered
    trials = cutoff_trials(machine, fit, method) if description.method == method and gains is None else ()
    laws = law_trials(machine, fit) if gains is None else ()
    clock("judge")
    notes = [str(finding) for finding in findings]
    messages = (*notes, *warnings(machine, fit, standard), *unsettled(fit, trials))
    return MachineIdentification(
        description, machine, fit, standard, tuple(findings), messages, delay, clock.seconds, raw, gains, trials, laws,
        wider,
    )  # fmt: skip


def _fitted(
    machine: RecordedMachine, method: str, description: RecordingDescription
) -> tuple[RecordedMachine, MachineFit]:
    """Return the fit by the description's method, and the machine along the motions that it is of."""
    if description.method == INSTRUMENTAL:
        return machine, fit_instrumental(machine, description.controller, eliminate=description.eliminate)
    if description.method == OUTPUT_ERROR:
        assert description.controller is not None, "checked when the description was read"
        return fit_output_error(machine, description.controller, method, eliminate=description.eliminate)
    return machine, fit_machine(machine, method, eliminate=description.eliminate)


def _consistent(
    machine: RecordedMachine, fit: MachineFit, standard: Standard, description: RecordingDescription
) -> MachineFit:
    """Return the fit with the base parameters of consistent bodies. Raises InputError where these were not found."""
    if not standard.converged:
        got = f"consistent bodies were not found: {standard.status}"
        raise refused(description.title, got, "a solution", "Use weighted.", key="estimate.method")
    whole = fit.base.of(standard.values)
    values = whole[list(fit.kept)]
    errors, by_actuator = unexplained(machine.runs, fit.base, whole)
    return replace(fit, values=values, method=CONSISTENT, errors=errors, actuator_errors=by_actuator)


def _refuse(findings: Sequence[RecordingFinding], description: RecordingDescription) -> None:
    """Raise InputError for findings that are errors and were not accepted."""
    problems = [
        Problem(finding.recording, 0, 0, finding.actuator, *_parts(finding))
        for finding in findings
        if finding.is_error and finding.kind not in description.accept
    ]
    if problems:
        raise InputError(problems)


def _parts(finding: RecordingFinding) -> tuple[str, str, str]:
    """Split a finding into the observed and the expected, with advice for a user who wants to continue."""
    got, _, expectation = finding.text.partition("; expected ")
    return got, expectation or "a sound recording", f"If it is right, write accept: [{finding.kind}]."


def _filled(signals: Signals) -> Signals:
    """Return the numbers that are missing, and were accepted so, on straight lines between their neighbours."""
    series = {}
    for name, values in signals.series.items():
        filled = values.copy()
        for column in filled.T:
            good = np.isfinite(column)
            if not good.all() and good.any():
                column[~good] = np.interp(signals.time[~good], signals.time[good], column[good])
        series[name] = filled
    return signals.with_series(series)


class _Clock:
    """Seconds of each stage; reports each stage as it begins."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        self.seconds: dict[str, float] = {}
        self.last = time.perf_counter()
        self.tell = tell
        tell(STAGES[0])

    def __call__(self, stage: str) -> None:
        now = time.perf_counter()
        self.seconds[stage], self.last = now - self.last, now
        following = STAGES.index(stage) + 1
        if following < len(STAGES):
            self.tell(STAGES[following])
