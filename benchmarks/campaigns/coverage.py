"""Coverage of 95 % intervals of true parameters, before (white noise assumed) and now, and warnings.

    python -m benchmarks.campaigns.coverage [--seeds 100] [--robots planar_3r five_bar] [--only white coarse] [--own]
        [--keep SEEDS.jsonl]

Forces are those of another engine: of Pinocchio for the chain, of MuJoCo around loops that are closed by other code for
the parallel robots; with `--own` those of limbsweep. `--keep` writes every seed into a file as soon as it is done, and
reuses the seeds in the file: a table that was stopped goes on, or gets more seeds. A changed program needs a new file.

Each case is one fault of recordings of a machine. The model is right in the first cases. In the others it is wrong, so
that no deviation can be right and a warning has to report that.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, Generic, TypeVar, cast

import numpy as np
from threadpoolctl import threadpool_limits

from applications.identification.estimation.machines.choices import Preparation
from applications.identification.estimation.machines.fitting import fit_machine
from applications.identification.estimation.machines.judgement import judged, lacking, with_delay
from applications.identification.estimation.machines.machine import RecordedMachine
from applications.identification.estimation.machines.machine_model import MachineModel, nominal
from applications.identification.estimation.machines.preparation import Prepared, Signals, prepare
from applications.identification.estimation.machines.run import Run
from robots import catalog
from robots.model import Robot
from tasks import inverse_dynamics
from tasks.dynamics.inverse import actuator_positions
from tasks.dynamics.records import GRAVITY, Forces, Moving
from tasks.mathematics.signals import coloured, delayed

STEP, DURATION = 0.002, 10.0
FRICTION = {"law": "coulomb_viscous", "coulomb": 0.6, "viscous": 0.4}
NOISE = 0.05
"""Standard deviation of the noise of forces, relative to the forces."""
INTERVAL = 1.96
SPREADS = {"planar_3r": 0.5, "five_bar": 0.05, "delta_3rr2rrr": 0.05}
"""Size of the motions: rad of joints, m of platforms."""
ENCODER = 2e-3
"""Step of coarse encoders [rad]."""

Change = Callable[[np.random.Generator, np.ndarray], np.ndarray]
T = TypeVar("T")
TableRow = tuple[Callable[[Sequence[T]], str], Sequence[str]]
"""Text of a row from the outcomes of its seeds, and their keys."""


@dataclass(frozen=True)
class Truth:
    """A robot's clean signals: time, positions and velocities of the actuators, forces, and a heavier first limb's."""

    robot: Robot
    moving: Moving
    position: np.ndarray
    force: np.ndarray
    velocity: np.ndarray
    heavier: np.ndarray
    is_own: bool = True

    @property
    def size(self) -> float:
        """Standard deviation of the noise."""
        return NOISE * float(np.sqrt(np.mean(self.force**2)))


def truth_of(
    name: str, *, own: bool = True, seed: int = 4, parameters: Mapping[str, float] = MappingProxyType({})
) -> Truth:
    """Clean signals of a robot along random Fourier series; by our dynamics, or by those of another engine."""
    robot = catalog.build(name, **parameters)
    freedoms = len(robot.mechanism.freedoms)
    random, time = np.random.default_rng(seed), np.arange(0.0, DURATION, STEP)
    x, xd, xdd = np.zeros((3, len(time), freedoms))
    for k in range(1, 6):
        omega = 2.0 * np.pi * 0.2 * k
        sine, cosine = random.normal(size=(2, freedoms)) * SPREADS[name] / k
        angle = omega * time[:, None]
        x += sine * np.sin(angle) + cosine * np.cos(angle)
        xd += omega * (sine * np.cos(angle) - cosine * np.sin(angle))
        xdd -= omega**2 * (sine * np.sin(angle) + cosine * np.cos(angle))
    moving = _moving(robot, x, xd, xdd)
    if not own:
        position, velocity, force = foreign(robot, moving)
        return Truth(robot, moving, position, force, velocity, foreign(robot, moving, heavier=1.1)[2], is_own=False)
    solved = inverse_dynamics(robot, forces=Forces(friction=FRICTION), **moving)
    heavy = np.zeros_like(solved.force)
    position = actuator_positions(robot, **moving).position
    heavy[:, 0] = 0.1 * np.abs(solved.force).max() * np.cos(position[:, 0])
    return Truth(robot, moving, position, solved.force, solved.velocity, solved.force + heavy)


def foreign(
    robot: Robot, moving: Moving, heavier: float = 1.0, gravity: tuple[float, float, float] = GRAVITY
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return actuator positions, velocities and forces, friction included, by Pinocchio or MuJoCo.

    heavier: factor of all masses of the first limb. Armatures and friction are added to the engine's forces.
    """
    from benchmarks.peers.bodies import skeleton
    from benchmarks.peers.closure import Closure, Target

    limbs = tuple(
        replace(limb, links=tuple(replace(link, armature=0.0) for link in limb.links)) for limb in robot.mechanism.limbs
    )
    bones = skeleton(replace(robot.mechanism, limbs=limbs))
    bodies = tuple(
        replace(body, mass=body.mass * heavier, tensor=body.tensor * heavier) if body.limb == 0 else body
        for body in bones.bodies
    )
    bones, motors = replace(bones, bodies=bodies), list(bones.motors)
    if robot.mechanism.is_chain:
        from benchmarks.peers.pinocchio import Tree as PinocchioTree

        q, qd, qdd = bones.motion(robot, moving)
        force = PinocchioTree(bones, gravity).inverse_dynamics(q, qd, qdd)[:, motors]
    else:
        from benchmarks.peers.mujoco import Tree as MujocoTree

        home: np.ndarray = np.array(robot.mechanism.platform.home.rotation, dtype=float)
        turned: np.ndarray = np.tile(home, (len(np.asarray(moving["twist"])), 1, 1))
        target = Target.of({"rotation": turned, **{name: np.asarray(value) for name, value in moving.items()}})
        closure = Closure(bones, bones.motion(robot, moving)[0])
        closed = closure.close(target)
        q, (qd, qdd, unit) = closed.T, closure.motion(target, closed)
        torque = MujocoTree(bones, gravity).inverse_dynamics(np.ascontiguousarray(q), qd, qdd)
        force = closure.projected(torque, unit)
    armature = np.array(
        [
            robot.mechanism.limbs[instance.limb].links[robot.mechanism.limbs[instance.limb].index(joint)].armature
            for instance in robot.mechanism.instances
            for joint in robot.mechanism.limbs[instance.limb].actuated
        ]
    )
    dry, viscous = (float(str(FRICTION[key])) for key in ("coulomb", "viscous"))
    position, velocity = q[:, motors], qd[:, motors]
    force = force + armature * qdd[:, motors] + dry * np.sign(velocity) + viscous * velocity
    return position, velocity, force


def _moving(robot: Robot, x: np.ndarray, xd: np.ndarray, xdd: np.ndarray) -> Moving:
    if robot.mechanism.is_chain:
        return {"q": x, "qd": xd, "qdd": xdd}
    axes = [("wx", "wy", "wz", "vx", "vy", "vz").index(name) for name in robot.mechanism.platform.mobility]
    home = np.array(robot.mechanism.platform.home.position)
    position, twist, acceleration = np.tile(home, (len(x), 1)), np.zeros((len(x), 6)), np.zeros((len(x), 6))
    for k, axis in enumerate(axes):
        position[:, axis - 3] += x[:, k]
        twist[:, axis], acceleration[:, axis] = xd[:, k], xdd[:, k]
    return {"position": position, "twist": twist, "acceleration": acceleration}


@dataclass(frozen=True)
class Case:
    """Fault of a recording: name, whether the model is right all the same, changed forces, model of the fit."""

    name: str
    is_right: bool
    change: Change
    model: MachineModel = field(default_factory=MachineModel)


def cases(truth: Truth) -> Iterator[Case]:
    """Return the faults that recordings of a robot can have."""
    size, shape = truth.size, truth.force.shape

    def white(random: np.random.Generator) -> np.ndarray:
        return random.normal(size=shape) * size

    yield Case("white", True, lambda random, force: force + white(random))
    for time in (0.02, 0.2):
        yield Case(f"correlated {1e3 * time:.0f} ms", True, _correlated(time, size))
    yield Case("outliers 0.2 %", True, lambda random, force: _spoilt(random, force + white(random)))
    yield Case("coarse encoders", True, lambda random, force: force + white(random))
    yield Case("delay 4 ms, taken out", True, lambda random, force: delayed(force, 0.004, STEP) + white(random))
    yield Case("delay 4 ms", False, lambda random, force: delayed(force, 0.004, STEP) + white(random))
    fading = 0.6 * np.sign(truth.velocity) * np.exp(-((truth.velocity / 0.1) ** 2))
    yield Case("wrong friction law", False, lambda random, force: force + fading + white(random))
    if len(truth.robot.mechanism.instances) > 1:
        # where motions are small, offsets take up most of the forces for a heavier limb
        for model, text in ((MachineModel(offset=False), ""), (MachineModel(), ", offsets in the model")):
            name = f"first limb 10 % heavier{text}"
            yield Case(name, False, lambda random, force: truth.heavier + white(random), model)


def _correlated(time: float, size: float) -> Change:
    return lambda random, force: force + coloured(random.normal(size=force.shape), time, STEP) * size


def _spoilt(random: np.random.Generator, force: np.ndarray) -> np.ndarray:
    result = force.copy()
    wrong = random.random(force.shape) < 0.002
    result[wrong] += random.choice([-1.0, 1.0], size=int(wrong.sum())) * 3.0 * np.abs(force).max()
    return result


@dataclass(frozen=True)
class Covered:
    """A row of the table: shares of intervals that hold the truth, before and now, and of seeds with a warning."""

    robot: str
    case: Case
    seeds: int
    before: float
    now: float
    warned: float

    @property
    def text(self) -> str:
        """Return the fit as a line of Markdown."""
        kind = "right" if self.case.is_right else "wrong"
        shares = " | ".join(f"{share:.0%}" for share in (self.before, self.now, self.warned))
        return f"| `{self.robot}` | {self.case.name} | {kind} | {self.seeds} | {shares} |"


@dataclass(frozen=True)
class SeedOutcome:
    """One fit: shares of intervals that hold the truth, before and now, and whether a warning names the fault."""

    before: float
    now: float
    warned: bool


@dataclass
class Outcomes(Generic[T]):
    """Outcomes by robot, case, engine and seed; a file has one line for each as soon as it is there.

    kind: record of an outcome, whose fields are those of a line.
    """

    kind: type[T]
    path: Path | None = None
    known: dict[str, T] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Read the file, whose last line may be cut off where the campaign was stopped."""
        lines = self.path.read_text().splitlines(keepends=True) if self.path is not None and self.path.exists() else []
        whole = [line for line in lines if line.endswith("\n")]
        if self.path is not None and len(whole) < len(lines):
            self.path.write_text("".join(whole))
        for line in map(json.loads, whole):
            key = line.pop("key")
            self.known[key] = self.kind(**line)

    def of(self, key: str, outcome: Callable[[], T]) -> T:
        """Return the outcome of a key, taken where it is known."""
        if key not in self.known:
            self.known[key] = outcome()
            if self.path is not None:
                with self.path.open("a") as file:
                    file.write(json.dumps({"key": key, **asdict(cast(Any, self.known[key]))}) + "\n")
        return self.known[key]

    def table(self, rows: Iterable[TableRow[T]]) -> Iterator[str]:
        """Yield the text of each row that outcomes are known of."""
        for text, keys in rows:
            if found := [self.known[key] for key in keys if key in self.known]:
                yield text(found)


def coverage(
    name: str, seeds: int, own: bool = False, only: Sequence[str] = (), outcomes: Outcomes[SeedOutcome] | None = None
) -> Iterator[Covered]:
    """Yield a robot's rows; its regressor is computed once, except for encoders, which change the motion."""
    outcomes = outcomes or Outcomes(SeedOutcome)
    truth = truth_of(name, own=own)
    options = Preparation(rest=0.0)  # the cutoff is that of `identify` where nothing is said
    time = np.arange(len(truth.force)) * STEP
    clean = prepare(Signals(name, "train", time, truth.position, truth.force), options)
    machines: dict[bool, RecordedMachine] = {}
    for case in cases(truth):
        if only and not any(case.name.startswith(part) for part in only):
            continue
        machine = machines.setdefault(case.model.offset, RecordedMachine(truth.robot, case.model, (clean,)))
        fits = [
            outcomes.of(
                f"{name}, {case.name}, {'own' if own else 'other'}, {seed}",
                partial(_outcome, machine, case, truth, seed),
            )
            for seed in range(seeds)
        ]
        shares = (float(np.mean([getattr(fit, key) for fit in fits])) for key in ("before", "now", "warned"))
        yield Covered(name, case, seeds, *shares)


def _outcome(machine: RecordedMachine, case: Case, truth: Truth, seed: int) -> SeedOutcome:
    random = np.random.default_rng([seed, 77])
    options, name = machine.recordings[0].used, machine.recordings[0].name
    force = case.change(random, truth.force)
    signals = Signals(name, "train", np.arange(len(force)) * STEP, truth.position, force)
    if case.name == "coarse encoders":
        phase = random.random(truth.position.shape[1])
        position = (np.round(truth.position / ENCODER + phase) - phase) * ENCODER
        recording = prepare(replace(signals, position=position), replace(options, cutoff=None))
        trial = RecordedMachine(truth.robot, case.model, (recording,))
        trial.__dict__["base"] = machine.base
    else:
        trial = with_forces(machine, prepare(signals, options))
    if case.name.endswith("taken out"):
        trial = with_forces(machine, with_delay(trial, "weighted")[0].recordings[0])
    fit = fit_machine(trial)
    error = np.abs(fit.values - exact_values(machine)[list(fit.kept)])
    return SeedOutcome(
        before=float(np.mean(error < INTERVAL * fit.plain)),
        now=float(np.mean(error < INTERVAL * fit.deviations)),
        warned=bool(list(lacking(judged(trial, fit)))),
    )


def exact_values(machine: RecordedMachine, load: Sequence[float] = ()) -> np.ndarray:
    """Return the true base parameters of a machine with the friction of this campaign, and of an unknown load."""
    columns, unknown = machine.columns[: machine.payload_columns.start], machine.columns[machine.payload_columns]
    values = dict(zip((c.name for c in columns), nominal(machine.robot, machine.model), strict=True))
    for name in machine.robot.mechanism.actuators:
        values |= {f"{name}.{key}": float(str(FRICTION[key])) for key in ("coulomb", "viscous")}
    assert len(values) == len(columns), "friction of actuators is in all models"
    return machine.base.of([*values.values(), *load[: len(unknown)]])


def with_forces(machine: RecordedMachine, *recordings: Prepared) -> RecordedMachine:
    """Return the machine with other forces along the same motions, whose regressors are there already."""
    trial = replace(machine, recordings=recordings)
    runs = tuple(map(_with_forces, machine.runs, recordings))
    trial.__dict__.update(runs=runs, base=machine.base, columns=machine.columns, unshared=machine.unshared)
    return trial


def _with_forces(run: Run, recording: Prepared) -> Run:
    stride = max(1, recording.every // 8)
    forces = recording.filtered(recording.force)[::stride][run.numbers]
    usable = recording.usable[::stride][run.numbers]
    return replace(run, recording=recording, forces=forces, good=run.good & usable[:, None])


@threadpool_limits.wrap(limits=1, user_api="blas")
def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=100)
    parser.add_argument("--robots", nargs="*", default=list(SPREADS))
    parser.add_argument("--only", nargs="*", default=[], help="cases whose names begin so")
    parser.add_argument("--keep", type=Path, help="a file of every seed, to go on with")
    parser.add_argument("--own", action="store_true", help="forces by limbsweep itself")
    arguments = parser.parse_args()
    outcomes = Outcomes(SeedOutcome, arguments.keep)
    print("| robot | case | model | seeds | before | now | warned |")
    print("|---|---|---|---:|---:|---:|---:|")
    for name in arguments.robots:
        for row in coverage(name, arguments.seeds, arguments.own, arguments.only, outcomes):
            print(row.text, flush=True)


if __name__ == "__main__":
    main()
