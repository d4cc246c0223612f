"""Payloads of recordings: coverage of the parameters of machine and load, and rates of detected wrong statements.

    python -m benchmarks.campaigns.payloads [--robots ur5e planar_3r five_bar delta_3rr2rrr] [--engines own other]
        [--seeds 100] [--only unknown] [--minutes 8] [--keep SEEDS.jsonl]

The load is a body on the platform or the last link, each recording a Fourier series of its own, forces are those of
limbsweep (own), or of Pinocchio and MuJoCo (other), with 2 % of noise. Where the statements about loads are right, any
warning is a false alarm, and `coverage` is the share of 95 % intervals that hold the true parameters of machine and
load. Where a statement is wrong, a row counts the seeds in which a warning names it.

Every seed is a line of `benchmarks/records/payloads.jsonl`, see `benchmarks.campaigns.faults`.
"""

from __future__ import annotations

import argparse
import itertools
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

from applications.identification.estimation.machines.choices import Preparation
from applications.identification.estimation.machines.machine import RecordedMachine
from applications.identification.estimation.machines.machine_model import MachineModel
from applications.identification.estimation.machines.payload import Payload, payload_bodies
from applications.identification.estimation.machines.preparation import Signals, prepare
from benchmarks.campaigns import coverage
from benchmarks.campaigns.faults import ENGINES, NOISE, FaultOutcome, judged_outcome, row, signals_of
from robots import catalog
from robots.geometry import diagonal
from robots.model import Inertia
from tasks.dynamics.inertial_parameters import body_parameters

RECORD = Path(__file__).parents[1] / "records" / "payloads.jsonl"
"""Record of the seeds that were run."""
MASSES = {"ur5e": 3.0, "planar_3r": 2.0, "five_bar": 0.5, "delta_3rr2rrr": 1.0}
"""Mass of the load [kg]."""
CENTRE, RADII = (0.03, 0.01, 0.04), (2e-3, 3e-3, 1.5e-3)
"""Centre of the load [m] and its moments about that over its mass [m^2]."""
OTHER = 1.3
"""Mass of another load over that of the first, with the same centre and radii."""
coverage.SPREADS |= {"ur5e": 0.5}
Outcomes = coverage.Outcomes[FaultOutcome]


@dataclass(frozen=True)
class Loading:
    """Loads of recordings, and the statements about them.

    loads: mass on each recording, over the mass of the load, 0 without load. factor: stated mass over that of the load;
    known: whether its other parameters are stated as well; is_said: whether anything is stated. pattern: of the warning
    that names the error, empty for right statements.
    """

    name: str
    loads: tuple[float, ...] = (0.0, 1.0)
    known: bool = False
    factor: float = 0.0
    is_said: bool = True
    pattern: str = ""

    def payload(self, body: str, values: np.ndarray) -> Payload | None:
        """Return the statement about a load with these parameters on a body."""
        if not self.is_said:
            return None
        if self.known:
            return Payload("load", body, tuple((values * self.factor).tolist()))
        return Payload("load", body, mass=float(values[0]) * self.factor if self.factor else None)


LIGHTER, HEAVIER = "payload of recording 2 looks .* lighter than", "payload of recording 2 looks .* heavier than"
ANOTHER = "forces of recording {} are as if it carried another load"
LOADINGS = (
    Loading("known as a whole", known=True, factor=1.0),
    Loading("unknown"),
    Loading("its mass known", factor=1.0),
    Loading("unknown, in two recordings", (0.0, 1.0, 1.0)),
    Loading("no load at all", (0.0, 0.0), is_said=False),
    Loading("said 20 % too heavy", known=True, factor=1.2, pattern=LIGHTER),
    Loading("said 20 % too light", known=True, factor=0.8, pattern=HEAVIER),
    Loading("its mass said 20 % too large", factor=1.2, pattern=LIGHTER),
    Loading("its mass said 20 % too small", factor=0.8, pattern=HEAVIER),
    Loading("two loads said to be one", (0.0, 1.0, OTHER), pattern=ANOTHER.format(3)),
    Loading("not said", is_said=False, pattern=ANOTHER.format(2)),
)


@dataclass(frozen=True)
class LoadedMachine:
    """A robot with the engine of its forces; machines of a loading share the motions of all seeds."""

    robot: str
    engine: str

    @cached_property
    def values(self) -> np.ndarray:
        """Ten parameters of the load about the origin of its body's frame."""
        mass = MASSES[self.robot]
        return np.asarray(body_parameters(Inertia(mass, CENTRE, diagonal(*(mass * radius for radius in RADII)))))

    @cached_property
    def truths(self) -> dict[tuple[int, float], coverage.Truth]:
        """Clean recordings by number and load."""
        return {}

    def truth(self, number: int, load: float) -> coverage.Truth:
        """Return the clean recording of a number with so many times the load."""
        if (number, load) not in self.truths:
            mass = load * MASSES[self.robot]
            parameters = {"payload_mass": mass}
            if load:
                for axis, centre, radius in zip("xyz", CENTRE, RADII, strict=True):
                    parameters |= {f"payload_centre_{axis}": centre, f"payload_inertia_{axis}{axis}": mass * radius}
            own = self.engine == ENGINES[0]
            self.truths[number, load] = coverage.truth_of(self.robot, own=own, seed=4 + number, parameters=parameters)
        return self.truths[number, load]

    @cached_property
    def machines(self) -> dict[str, RecordedMachine]:
        """Machines without noise by loading, whose regressors are those of all seeds."""
        return {}

    def machine(self, loading: Loading) -> RecordedMachine:
        """Return the machine of a loading without noise."""
        if loading.name not in self.machines:
            robot = catalog.build(self.robot)
            said = loading.payload(payload_bodies(robot)[-1], self.values)
            payloads = tuple(said if load else None for load in loading.loads)
            recordings = tuple(prepare(signals, Preparation()) for signals in self.signals(loading))
            machine = RecordedMachine(robot, MachineModel(), recordings, payloads=payloads if loading.is_said else ())
            self.machines[loading.name] = machine
        return self.machines[loading.name]

    def signals(self, loading: Loading, seed: int | None = None) -> Iterator[Signals]:
        """Yield the recordings of a loading, with the noise of a seed."""
        for number, load in enumerate(loading.loads):
            truth = self.truth(number, load)
            force = truth.force
            if seed is not None:
                size = NOISE * np.sqrt(np.mean(force**2, axis=0))
                force = force + np.random.default_rng([seed, number, 43]).normal(size=force.shape) * size
            yield replace(signals_of(truth, force=force), name=f"recording {number + 1}")

    def outcome(self, loading: Loading, seed: int) -> FaultOutcome:
        """Identify machine and load from the recordings of a seed."""
        signals = list(self.signals(loading, seed))
        machine = coverage.with_forces(self.machine(loading), *(prepare(each, Preparation()) for each in signals))
        exact = coverage.exact_values(machine, self.values.tolist())
        return judged_outcome(machine, signals, loading.pattern, exact)

    def key(self, loading: Loading, seed: int) -> str:
        """Return the key of an outcome."""
        return f"{self.robot}, {loading.name}, {self.engine}, {seed}"


def run(
    machines: Sequence[LoadedMachine], loadings: Sequence[Loading], seeds: int, outcomes: Outcomes, until: float
) -> None:
    """Run the seeds that are not known, until a time of `time.monotonic`; machines of a seed come in turns."""
    for seed, machine, loading in itertools.product(range(seeds), machines, loadings):
        if time.monotonic() < until:
            outcomes.of(machine.key(loading, seed), partial(machine.outcome, loading, seed))


def rows(
    machines: Sequence[LoadedMachine], loadings: Sequence[Loading], seeds: int
) -> Iterator[coverage.TableRow[FaultOutcome]]:
    """Yield the row of each loading of machines, and the keys of its seeds."""
    for machine, loading in itertools.product(machines, loadings):
        yield partial(row, machine.robot, machine.engine, loading), [machine.key(loading, k) for k in range(seeds)]


@threadpool_limits.wrap(limits=1, user_api="blas")
def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--robots", nargs="*", default=list(MASSES))
    parser.add_argument("--engines", nargs="*", default=ENGINES, choices=ENGINES)
    parser.add_argument("--seeds", type=int, default=100)
    parser.add_argument("--only", nargs="*", default=[], help="loadings whose names have one of these texts")
    parser.add_argument("--keep", type=Path, default=RECORD, help="a file of every seed, to go on with")
    parser.add_argument("--minutes", type=float, default=np.inf, help="stop after so long")
    arguments = parser.parse_args()
    outcomes = coverage.Outcomes(FaultOutcome, arguments.keep)
    machines = [LoadedMachine(*each) for each in itertools.product(arguments.robots, arguments.engines)]
    loadings = [each for each in LOADINGS if not arguments.only or any(part in each.name for part in arguments.only)]
    run(machines, loadings, arguments.seeds, outcomes, time.monotonic() + 60.0 * arguments.minutes)
    print("| robot | engine | load | seeds | 95 % interval | coverage | told beside it, seeds |")
    print("|---|---|---|---:|---:|---:|---|")
    print(*outcomes.table(rows(machines, loadings, arguments.seeds)), sep="\n")


if __name__ == "__main__":
    main()
