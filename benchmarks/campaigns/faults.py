"""Faults of recordings that must get their name: how often each is named in recordings with noise, and what else is.

    python -m benchmarks.campaigns.faults [--robots ur5e five_bar delta_3rr2rrr] [--seeds 5] [--only gravity gear]
        [--foreign]

Forces are those of limbsweep, or with `--foreign` of Pinocchio and MuJoCo. A row is a fault: seeds in which the finding
or warning with its name and its actuator was there, and the others that were told. The first row has no fault: what is
told there is a false alarm. Faults of the motion itself are for chains alone, whose forces follow from any motion.
"""

from __future__ import annotations

import argparse
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

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
from tasks.dynamics.records import Forces, Moving

NOISE = 0.02
"""Standard deviation of the noise of forces, relative to those of each actuator."""
POSITION = 1e-5
"""Standard deviation of the noise of positions [rad or m]."""
coverage.SPREADS |= {"ur5e": 0.5}
ALWAYS = ("residuals are correlated", "parameters are known to")
"""Warnings that are no faults."""

Change = Callable[[coverage.Truth], Signals]


@dataclass(frozen=True)
class Fault:
    """A fault: its name, the pattern of the text that names it, a recording with it, whether it is of chains alone."""

    name: str
    pattern: str
    change: Change
    is_of_chain: bool = False


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


def _forces(
    truth: coverage.Truth, moving: Moving, gravity: tuple[float, float, float] = (0.0, 0.0, -9.81)
) -> np.ndarray:
    """Forces of a chain along a motion, with friction."""
    return inverse_dynamics(truth.robot, forces=Forces(friction=coverage.FRICTION), gravity=gravity, **moving).force


def _slower(factor: float, truth: coverage.Truth) -> Signals:
    """Times are longer by a factor."""
    signals = signals_of(truth)
    return replace(signals, time=signals.time * factor)


def _one_late(time: float, truth: coverage.Truth) -> Signals:
    """The force of the second actuator is late [s]."""
    return signals_of(truth, force=_at(truth.force, 1, lambda force: _late(force, time)))


def _still(truth: coverage.Truth) -> Signals:
    """One joint is held."""
    q, qd, qdd = (np.array(truth.moving[key]) for key in ("q", "qd", "qdd"))
    q[:, 2] = q[0, 2]
    qd[:, 2] = qdd[:, 2] = 0.0
    return signals_of(truth, q, _forces(truth, Moving(q=q, qd=qd, qdd=qdd)))


def _presliding(truth: coverage.Truth) -> Signals:
    """Dry friction of the second actuator comes over 0.02 of its way after each reversal (Dahl's limit)."""
    position, velocity = truth.position[:, 1], truth.velocity[:, 1]
    width, state = 0.02 * float(np.ptp(position)), np.zeros(len(position))
    for k in range(1, len(position)):
        state[k] = np.clip(state[k - 1] + (position[k] - position[k - 1]) / width, -1.0, 1.0)
    dry = float(str(coverage.FRICTION["coulomb"]))
    return signals_of(truth, force=_at(truth.force, 1, lambda force: force + 2.0 * dry * (state - np.sign(velocity))))


def _backlash(truth: coverage.Truth) -> Signals:
    """The drive of the second actuator moves alone over 0.01 of its way after each reversal: friction alone is left."""
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
    yield Fault("gear of the second 20 % wrong", "gear: run {1}: its gear looks 1.2 times",
                lambda t: signals_of(t, _at(t.position, 1, lambda q: 1.2 * q), _at(t.force, 1, lambda f: f / 1.2)),
                True)  # fmt: skip
    for time in (8, 20):
        yield Fault(f"force of the second {time} ms late", "forces of {1} alone are .* late",
                    partial(_one_late, 1e-3 * time))  # fmt: skip
    yield Fault("all forces half a sample late", "forces are .* late",
                lambda t: signals_of(t, force=np.stack([_late(f, 0.5 * coverage.STEP) for f in t.force.T], 1))
                )  # fmt: skip
    yield Fault("gain of the second drifts by 3 %", "gain of {1} changes",
                lambda t: signals_of(t, force=_at(t.force, 1, lambda f: f * np.linspace(1.0, 1.03, len(f))))
                )  # fmt: skip
    yield Fault("presliding of the second", "friction of {1} is not", _presliding)
    yield Fault("backlash of the second", "{1} moves alone", _backlash)
    yield Fault("third joint held", "run {2}: does not move", _still, True)
    yield Fault("40 rows", "independent rows are few", lambda t: _first(signals_of(t), 40), True)


def _first(signals: Signals, count: int) -> Signals:
    series = {name: values[:count] for name, values in signals.series.items()}
    return replace(signals.with_series(series), time=signals.time[:count])


def told(truth: coverage.Truth, signals: Signals, seed: int) -> list[str]:
    """Return all findings and warnings of an identification of a recording with noise."""
    random = np.random.default_rng([seed, 41])
    size = NOISE * np.sqrt(np.mean(truth.force**2, axis=0))
    force = signals.force + random.normal(size=signals.force.shape) * size
    position = signals.position + random.normal(size=signals.position.shape) * POSITION
    noisy = replace(signals, force=force, position=position)
    findings = list(check_signals(truth.robot, noisy))
    machine = RecordedMachine(truth.robot, MachineModel(), (prepare(noisy, Preparation()),))
    findings += check_machine(machine)
    fit = judged(machine, fit_machine(machine))
    texts = [f"{finding.kind}: {finding}" for finding in findings]
    return texts + warnings(machine, fit, standard_parameters_of(machine, fit, BodyPrior(weight=10.0)))


def row(truth: coverage.Truth, fault: Fault, seeds: int) -> str:
    """Return a row of the table: seeds with the right name, and what else was told."""
    names = truth.robot.mechanism.actuators
    places = {str(k): name for k, name in enumerate(names)}
    pattern = re.sub(r"\{(\d)\}", lambda match: re.escape(places[match[1]]), fault.pattern)
    named, further = 0, Counter[str]()
    for seed in range(seeds):
        texts = [text for text in told(truth, fault.change(truth), seed) if not any(x in text for x in ALWAYS)]
        right = [text for text in texts if pattern and re.search(pattern, text)]
        named += bool(right)
        further.update({" ".join(text.split()[:4]) for text in texts if text not in right})
    listed = "; ".join(f"{text} {count}" for text, count in further.most_common(3))
    return f"| `{truth.robot.name}` | {fault.name} | {named if pattern else ''} of {seeds} | {listed} |"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--robots", nargs="*", default=["ur5e", "five_bar", "delta_3rr2rrr"])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--foreign", action="store_true", help="forces by Pinocchio and MuJoCo")
    arguments = parser.parse_args()
    print("| robot | fault | named | told beside it, seeds |\n|---|---|---:|---|")
    for name in arguments.robots:
        truth = coverage.truth_of(name, own=not arguments.foreign)
        for fault in faults():
            skipped = fault.is_of_chain and not truth.robot.mechanism.is_chain
            if not skipped and (not arguments.only or any(part in fault.name for part in arguments.only)):
                print(row(truth, fault, arguments.seeds), flush=True)


if __name__ == "__main__":
    main()
