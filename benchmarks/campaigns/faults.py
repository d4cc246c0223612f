"""Faults of recordings that must be named: the rate of right names in recordings with noise, and other warnings.

    python -m benchmarks.campaigns.faults [--robots ur5e five_bar delta_3rr2rrr] [--engines own other] [--seeds 100]
        [--only gravity gear] [--minutes 8] [--keep SEEDS.jsonl]

Forces are those of limbsweep (own), or of Pinocchio and MuJoCo (other). A row is a fault: seeds in which the finding
or warning with its name and its actuator was there, with the exact 95 % interval of that share, and the other warnings.
The first row has no fault: any warning is a false alarm, and `coverage` is the share of 95 % intervals that hold the
true parameters. Faults of the motion itself are for chains alone, whose forces follow from any motion.

Every seed is a line of `benchmarks/records/faults.jsonl`, or of another file by `--keep`, as soon as it is done, with
its commit, and is never run again. `--minutes 0` prints the table of the finished seeds; with other minutes the
campaign stops after so long, and the same command goes on. Lines of checks that have changed are deleted by hand.
"""

from __future__ import annotations

import argparse
import itertools
import re
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache, partial
from pathlib import Path
from typing import Protocol

import numpy as np
from scipy.stats import binomtest
from threadpoolctl import threadpool_limits

from applications.identification.estimation.machines.checks.hypotheses import check_machine
from applications.identification.estimation.machines.checks.series import check_signals
from applications.identification.estimation.machines.choices import BodyPrior, Preparation
from applications.identification.estimation.machines.fitting import fit_machine, standard_parameters_of
from applications.identification.estimation.machines.judgement import judged, warnings
from applications.identification.estimation.machines.machine import RecordedMachine
from applications.identification.estimation.machines.machine_model import MachineModel
from applications.identification.estimation.machines.preparation import Signals, prepare
from benchmarks.campaigns import coverage
from tasks import inverse_dynamics
from tasks.dynamics.records import GRAVITY, Forces, Moving

ENGINES = ("own", "other")
NOISE = 0.02
"""Standard deviation of the noise of forces, relative to those of each actuator."""
RECORD = Path(__file__).parents[1] / "records" / "faults.jsonl"
"""Record of the seeds that were run."""
POSITION = 1e-5
"""Standard deviation of the noise of positions [rad or m]."""
coverage.SPREADS |= {"ur5e": 0.5}
ALWAYS = ("residuals are correlated", "parameters are known to")
"""Warnings that are no faults."""

Change = Callable[[coverage.Truth], Signals]
Outcomes = coverage.Outcomes["FaultOutcome"]


@dataclass(frozen=True)
class Fault:
    """A fault: its name, the pattern of the text that names it, a recording with it, whether it is of chains alone.

    actuators: so many that a robot has at least. Faults that are not of chains alone change forces, not motions.
    """

    name: str
    pattern: str
    change: Change
    is_of_chain: bool = False
    actuators: int = 2

    def is_of(self, truth: coverage.Truth) -> bool:
        """Return whether a robot can have the fault."""
        mechanism = truth.robot.mechanism
        return len(mechanism.actuators) >= self.actuators and (mechanism.is_chain or not self.is_of_chain)


def signals_of(truth: coverage.Truth, position: np.ndarray | None = None, force: np.ndarray | None = None) -> Signals:
    """Return the recording of a truth with other positions or forces."""
    time = np.arange(len(truth.force)) * coverage.STEP
    return Signals("run", "train", time, truth.position if position is None else position,
                   truth.force if force is None else force)  # fmt: skip


def _at(values: np.ndarray, actuator: int, change: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    changed = values.copy()
    changed[:, actuator] = change(values[:, actuator])
    return changed


def _late(column: np.ndarray, time: float) -> np.ndarray:
    times = np.arange(len(column)) * coverage.STEP
    return np.interp(times - time, times, column)


def _forces(truth: coverage.Truth, moving: Moving, gravity: tuple[float, float, float] = GRAVITY) -> np.ndarray:
    """Return the forces of a chain along a motion, with friction, by the engine of the truth."""
    if not truth.is_own:
        return coverage.foreign(truth.robot, moving, gravity=gravity)[2]
    return inverse_dynamics(truth.robot, forces=Forces(friction=coverage.FRICTION), gravity=gravity, **moving).force


def _slower(factor: float, truth: coverage.Truth) -> Signals:
    """Return signals whose times are longer by a factor."""
    signals = signals_of(truth)
    return replace(signals, time=signals.time * factor)


def _one_late(time: float, truth: coverage.Truth) -> Signals:
    """Return signals with a late force of the second actuator [s]."""
    return signals_of(truth, force=_at(truth.force, 1, lambda force: _late(force, time)))


def _wrong_gear(actuator: int, truth: coverage.Truth) -> Signals:
    """Return signals with the ratio of one gear 20 % larger than stated."""
    return signals_of(
        truth, _at(truth.position, actuator, lambda q: 1.2 * q), _at(truth.force, actuator, lambda f: f / 1.2)
    )


def _still(truth: coverage.Truth) -> Signals:
    """Return signals with one joint held."""
    q, qd, qdd = (np.array(truth.moving[key]) for key in ("q", "qd", "qdd"))
    q[:, 2] = q[0, 2]
    qd[:, 2] = qdd[:, 2] = 0.0
    return signals_of(truth, q, _forces(truth, Moving(q=q, qd=qd, qdd=qdd)))


def _presliding(truth: coverage.Truth) -> Signals:
    """Return signals with the second actuator's dry friction over 0.02 of its way after reversals (Dahl's limit)."""
    position, velocity = truth.position[:, 1], truth.velocity[:, 1]
    width, state = 0.02 * float(np.ptp(position)), np.zeros(len(position))
    for k in range(1, len(position)):
        state[k] = np.clip(state[k - 1] + (position[k] - position[k - 1]) / width, -1.0, 1.0)
    dry = float(str(coverage.FRICTION["coulomb"]))
    return signals_of(truth, force=_at(truth.force, 1, lambda force: force + 2.0 * dry * (state - np.sign(velocity))))


def _backlash(truth: coverage.Truth) -> Signals:
    """Return signals whose second drive moves alone for 0.01 of its way after reversals: only friction is left."""
    position, velocity = truth.position[:, 1], truth.velocity[:, 1]
    gap = 0.01 * float(np.ptp(position))
    link = np.zeros(len(position))
    for k in range(1, len(position)):
        link[k] = np.clip(link[k - 1], position[k] - position[0] - gap, position[k] - position[0] + gap)
    moves = np.concatenate([[True], np.abs(np.diff(link)) > 0.0])
    dry, viscous = (float(str(coverage.FRICTION[key])) for key in ("coulomb", "viscous"))
    alone = dry * np.sign(velocity) + viscous * velocity
    return signals_of(truth, force=_at(truth.force, 1, lambda force: np.where(moves, force, alone)))


def faults() -> Iterator[Fault]:
    """Yield each fault; actuators count from one in their names."""
    yield Fault("none", "", signals_of)
    yield Fault("gravity upside down", "gravity: run: gravity points",
                lambda t: signals_of(t, force=_forces(t, t.moving, (0.0, 0.0, 9.81))), True)  # fmt: skip
    for factor in (2.0, 0.5):
        yield Fault(f"time {factor:g} times as long", f"time: run: samples look {1.0 / factor:g} times",
                    partial(_slower, factor), True)  # fmt: skip
    yield Fault("both signs of the second", "sign: run {1}: position and force both",
                lambda t: signals_of(t, _at(t.position, 1, np.negative), _at(t.force, 1, np.negative)),
                True)  # fmt: skip
    yield Fault("sign of the second force", "sign: run {1}",
                lambda t: signals_of(t, force=_at(t.force, 1, np.negative)))  # fmt: skip
    yield Fault("zero of the second off by 90 degrees", "zero: run {1}: its zero looks off by -90",
                lambda t: signals_of(t, _at(t.position, 1, lambda q: q + 0.5 * np.pi)), True)  # fmt: skip
    for place, name in ((1, "second"), (4, "fifth")):
        yield Fault(f"gear of the {name} 20 % wrong", f"gear: run {{{place}}}: its gear looks 1.2",
                    partial(_wrong_gear, place), True, place + 1)  # fmt: skip
    for late in (8, 20):
        yield Fault(f"force of the second {late} ms late", "forces of {1} alone are .* late",
                    partial(_one_late, 1e-3 * late))  # fmt: skip
    yield Fault("all forces half a sample late", "forces are .* late",
                lambda t: signals_of(t, force=np.stack([_late(f, 0.5 * coverage.STEP) for f in t.force.T], 1))
                )  # fmt: skip
    yield Fault("gain of the second drifts by 3 %", "gain of {1} changes",
                lambda t: signals_of(t, force=_at(t.force, 1, lambda f: f * np.linspace(1.0, 1.03, len(f))))
                )  # fmt: skip
    yield Fault("presliding of the second", "friction of {1} does not follow", _presliding)
    yield Fault("backlash of the second", "{1} moves alone", _backlash)
    yield Fault("third joint held", "run {2}: does not move", _still, True, 3)
    yield Fault("40 rows", "independent rows are few", lambda t: _first(signals_of(t), 40), True)


def _first(signals: Signals, count: int) -> Signals:
    series = {name: values[:count] for name, values in signals.series.items()}
    return replace(signals.with_series(series), time=signals.time[:count])


@dataclass(frozen=True)
class FaultOutcome:
    """One identification: whether the fault was named, beginnings of other texts, intervals that hold the truth.

    commit: of the program.
    """

    named: bool
    others: tuple[str, ...]
    covered: float
    commit: str = ""


class Identification:
    """Recordings of a truth with the noise of one seed; those of the same motion share their regressor.

    parameters: the machine without recordings, which has columns and base parameters.
    """

    def __init__(self, truth: coverage.Truth, seed: int, parameters: RecordedMachine) -> None:
        self.truth, self.parameters = truth, parameters
        random = np.random.default_rng([seed, 41])
        size = NOISE * np.sqrt(np.mean(truth.force**2, axis=0))
        self.force_noise = random.normal(size=truth.force.shape) * size
        self.position_noise = random.normal(size=truth.position.shape) * POSITION

    def noisy(self, signals: Signals) -> Signals:
        """Return a recording with noise on forces and positions."""
        count = len(signals.force)
        force, position = signals.force + self.force_noise[:count], signals.position + self.position_noise[:count]
        return replace(signals, force=force, position=position)

    @cached_property
    def clean(self) -> RecordedMachine:
        """The machine without fault."""
        return self.machine_of(self.noisy(signals_of(self.truth)))

    def machine_of(self, signals: Signals) -> RecordedMachine:
        """Return the machine of a recording, whose base parameters are found once for all recordings."""
        machine = RecordedMachine(self.truth.robot, MachineModel(), (prepare(signals, Preparation()),))
        machine.__dict__.update(columns=self.parameters.columns, base=self.parameters.base)
        return machine

    def outcome(self, fault: Fault) -> FaultOutcome:
        """Identify the machine from a recording with the fault."""
        signals = self.noisy(fault.change(self.truth))
        if fault.is_of_chain:
            machine = self.machine_of(signals)
        else:
            machine = coverage.with_forces(self.clean, prepare(signals, Preparation()))
        return judged_outcome(machine, [signals], _pattern(fault, self.truth), coverage.exact_values(machine))


def judged_outcome(
    machine: RecordedMachine, recordings: Sequence[Signals], pattern: str, exact: np.ndarray
) -> FaultOutcome:
    """Identify a machine from its recordings, of which `exact` are the base parameters; a pattern names a fault."""
    findings = [finding for signals in recordings for finding in check_signals(machine.robot, signals)]
    findings += check_machine(machine)
    fit = judged(machine, fit_machine(machine))
    texts = [f"{finding.kind}: {finding}" for finding in findings]
    texts += warnings(machine, fit, standard_parameters_of(machine, fit, BodyPrior(weight=10.0)))
    texts = [text for text in texts if not any(part in text for part in ALWAYS)]
    right = [text for text in texts if pattern and re.search(pattern, text)]
    others = tuple(" ".join(text.split()[:4]) for text in texts if text not in right)
    covered = float(np.mean(np.abs(fit.values - exact[list(fit.kept)]) < coverage.INTERVAL * fit.deviations))
    return FaultOutcome(bool(right), others, round(covered, 4), commit())


@lru_cache
def commit() -> str:
    """Return the commit of the program, with a plus where its modules differ from it."""
    git = ["git", "-C", str(Path(__file__).parents[2])]
    shown = subprocess.run([*git, "rev-parse", "--short=8", "HEAD"], capture_output=True, text=True, check=True)
    is_changed = subprocess.run([*git, "diff", "--quiet", "HEAD", "--", "*.py"], check=False).returncode
    return shown.stdout.strip() + ("+" if is_changed else "")


def _pattern(fault: Fault, truth: coverage.Truth) -> str:
    """Return the pattern of the text that names a fault, with the names of the robot's actuators."""
    names = truth.robot.mechanism.actuators
    return re.sub(r"\{(\d)\}", lambda match: re.escape(names[int(match[1])]), fault.pattern)


class Named(Protocol):
    """Subject of a row: its name, and the pattern of the text that names it, empty where nothing is wrong."""

    @property
    def name(self) -> str:
        """Name."""

    @property
    def pattern(self) -> str:
        """Pattern."""


def row(robot: str, engine: str, fault: Named, found: Sequence[FaultOutcome]) -> str:
    """Return a row of the table: seeds with the right name, or without any where there is no fault."""
    is_fault = bool(fault.pattern)
    count = sum(outcome.named if is_fault else bool(outcome.others) for outcome in found)
    low, high = binomtest(count, len(found)).proportion_ci(method="exact")
    told = Counter(text for outcome in found for text in set(outcome.others))
    listed = "; ".join(f"{text} {times}" for text, times in told.most_common(3))
    covered = "" if is_fault else f"{np.mean([outcome.covered for outcome in found]):.1%}"
    share = f"{'named' if is_fault else 'false alarms'} {count} of {len(found)} | {low:.0%} to {high:.0%}"
    return f"| `{robot}` | {engine} | {fault.name} | {share} | {covered} | {listed} |"


@dataclass(frozen=True)
class Machine:
    """A robot with the engine of its forces, and its faults."""

    robot: str
    engine: str
    truth: coverage.Truth
    faults: Sequence[Fault]

    @classmethod
    def of(cls, robot: str, engine: str, only: Sequence[str]) -> Machine:
        """Return the machine with the faults whose names have one of the texts, all without texts."""
        truth = coverage.truth_of(robot, own=engine == ENGINES[0])
        listed = [f for f in faults() if f.is_of(truth) and (not only or any(part in f.name for part in only))]
        return cls(robot, engine, truth, listed)

    @cached_property
    def parameters(self) -> RecordedMachine:
        """The machine without recordings."""
        return RecordedMachine(self.truth.robot, MachineModel(), ())

    def key(self, fault: Fault, seed: int) -> str:
        """Return the key of an outcome."""
        return f"{self.robot}, {fault.name}, {self.engine}, {seed}"


def run(machines: Sequence[Machine], seeds: int, outcomes: Outcomes, until: float) -> None:
    """Run the seeds that are not known, until a time of `time.monotonic`; machines of a seed come in turns."""
    for seed, machine in itertools.product(range(seeds), machines):
        identification = Identification(machine.truth, seed, machine.parameters)
        for fault in machine.faults:
            if time.monotonic() < until:
                outcomes.of(machine.key(fault, seed), partial(identification.outcome, fault))


def rows(machines: Sequence[Machine], seeds: int) -> Iterator[coverage.TableRow[FaultOutcome]]:
    """Yield the row of each fault of machines, and the keys of its seeds."""
    for machine in machines:
        for fault in machine.faults:
            yield partial(row, machine.robot, machine.engine, fault), [machine.key(fault, k) for k in range(seeds)]


@threadpool_limits.wrap(limits=1, user_api="blas")
def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--robots", nargs="*", default=["ur5e", "five_bar", "delta_3rr2rrr"])
    parser.add_argument("--engines", nargs="*", default=ENGINES, choices=ENGINES)
    parser.add_argument("--seeds", type=int, default=100)
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--keep", type=Path, default=RECORD, help="a file of every seed, to go on with")
    parser.add_argument("--minutes", type=float, default=np.inf, help="stop after so long")
    arguments = parser.parse_args()
    outcomes = coverage.Outcomes(FaultOutcome, arguments.keep)
    each = itertools.product(arguments.robots, arguments.engines)
    machines = [Machine.of(robot, engine, arguments.only) for robot, engine in each]
    run(machines, arguments.seeds, outcomes, time.monotonic() + 60.0 * arguments.minutes)
    print("| robot | engine | fault | seeds | 95 % interval | coverage | told beside it, seeds |")
    print("|---|---|---|---:|---:|---:|---|")
    print(*outcomes.table(rows(machines, arguments.seeds)), sep="\n")


if __name__ == "__main__":
    main()
