"""Speed of every robot of the catalogue on one core: inverse kinematics and dynamics, and the reactions of all joints.

The states are random in a region that the robot reaches, each from a cold start. Forces and reactions are held to the
Newton-Euler system of the whole robot, which shares no dynamics with the kernels.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any, cast

import numpy as np

from benchmarks import regions
from benchmarks.counts.counting import PASSES, counted, kinds, together
from benchmarks.counts.peak import arithmetic, share_of_peak
from benchmarks.figures import Figure, Size, best, require
from robots import catalog
from robots.model import Robot
from robots.status import Status
from robots.types import TWIST
from tasks import equations_of_motion, inverse_dynamics
from tasks.checks.newton_euler_system import joint_reactions_reference
from tasks.dynamics.inputs import gravity_input, mounts, moving_input, parameters
from tasks.dynamics.records import GRAVITY, Moving
from tasks.features.table import request
from tasks.kernels import strips
from tasks.kernels.kernel import LANES, Kernel, kernel
from tasks.kernels.keys import Indexed, Values
from tasks.kernels.program import Program
from tasks.mechanics.families import even_weights
from tasks.stages import reactions as reaction_programs
from tasks.stages.limb import LimbRequest, limb_program
from tasks.stages.stage import Stage
from tasks.stages.stages import stages

Arrays = Mapping[str, np.ndarray]

STATES = 4096
"""States that one call of a kernel does, in whole groups of lanes. Calls are a third of a small job and more."""

STRIPS = 16
"""Strips that the same states are cut into where all kernels are called at once, as blocks of metrics do."""

CHECKED = 8
"""States at which results are compared with the Newton-Euler system, which takes milliseconds for one."""

FIRST_STEP = 1
"""Newton steps that a limb's program takes from the reference pose, before its loop."""

LAST_STEPS = 2
"""Newton steps that must be in double precision: from an error of 1e-4 on each leaves its square."""

TOLERANCE = 1e-9
COMPILE_TARGET = 5.0
"""Limit of the time of all programs of a type of limb before the first sample [s]."""

UNIT = "us/sample/core"
HEXAPOD, TARGET = "hexapod_6rrrprr", 1.5
"""The robot with the longest limbs, and the limit of its time with all reactions [us]."""


class Job:
    """Inverse kinematics and dynamics of one robot at some states, with the reactions of all joints or without.

    motion (1, size, states). All arrays are made once; calling the job runs the kernels in their order, on one thread.
    run: other stages; given: their further inputs.
    """

    def __init__(
        self, robot: Robot, motion: np.ndarray, *, statics: bool, single: bool = False,
        run: Iterable[Stage] = (), given: Mapping[Any, np.ndarray] = MappingProxyType({}),
    ):  # fmt: skip
        self.robot, self.motion, self.statics, self.single = robot, motion, statics, single
        self.states, self.mounts = motion.shape[-1], mounts(robot)
        self.limbs = [instance.limb for instance in robot.mechanism.instances]
        self.stages = list(run) or list(stages(request(robot.family, ("joint_reaction",) if statics else ())))
        self.programs = [stage.program for stage in self.stages]
        self._steps: list[Callable[[], object]] = []
        self._alive: list[Arrays] = []
        self.values: Values = {"parameters": parameters(robot), "gravity": gravity_input(GRAVITY), "motion": motion}
        self.values |= {"held": np.zeros((1, 0, self.states)), **even_weights(robot.family)}
        self.values |= {Indexed("mount", k): mount for k, mount in enumerate(self.mounts)}
        self.values |= given
        self.given = dict(self.values)
        for stage in self.stages:
            self._add(stage)
        self.reactions = [self.values[Indexed("joint_reaction", k)] for k in range(len(self.limbs) if statics else 0)]

    def __call__(self) -> None:
        """Compute all states."""
        for step in self._steps:
            step()

    def in_strips(self) -> Callable[[], None]:
        """Return a function that computes all states in strips by one call, with its own arrays between the kernels."""
        width = self.states // STRIPS
        kernels = partial(kernel, single=self.single)
        buffers = [kernels(stage.program).allocate(1, width) for stage in self.stages]

        def strip(way: Callable[[Program], Any], k: int) -> None:
            part = slice(k * width, (k + 1) * width)
            values = self.given | {name: self.given[name][..., part] for name in ("motion", "held")}
            for stage, out in zip(self.stages, buffers, strict=True):
                way(stage.program)(stage.inputs(values), width, out, filled=True)
                values |= {stage.gives(name): array for name, array in out.items()}

        return strips.prepared(strip, kernels, STRIPS)

    def _add(self, stage: Stage) -> None:
        """Add one more kernel to run, and the place of its results; its arrays are looked at only once."""
        run, inputs = kernel(stage.program, single=self.single), stage.inputs(self.values)
        out = run.allocate(1, self.states)
        self._steps.append(run.call(inputs, self.states, out, filled=True).make)
        self._alive.append(inputs)
        self.values |= {stage.gives(name): array for name, array in out.items()}


QUICK = ("five_bar", "irb6", "three_loop_leg", "hexapod_6rrrprr")
"""Robots of quick runs: a loop, a chain, drives, a platform."""


def speed(size: Size) -> Iterator[Figure]:
    """Yield the figures of all robots; robots with drives without reactions, which the check does not compute."""
    for name, family in catalog.FAMILIES.items():
        if size.full or name in QUICK:
            yield from _robot(Robot.of(family, {}), size)


def _robot(robot: Robot, size: Size) -> Iterator[Figure]:
    states = regions.states(robot, STATES if size.full else size.samples)
    _, motion = moving_input(robot, cast(Moving, states))
    driven = any(limb.drives for limb in robot.mechanism.limbs)
    jobs = [Job(robot, motion, statics=statics) for statics in ((False,) if driven else (False, True))]
    for job in jobs:
        job()
        check(job, states)
    passes = _passes(jobs[0])
    for job in jobs:
        yield from _figures(job, passes, max(1, size.repeats // 4))
    if not passes.any():  # a tree
        return
    steps, unit = passes + FIRST_STEP, "Newton steps"
    yield Figure(f"{robot.name}, steps, mean", float(steps.mean()), unit, "from the reference pose until closed")
    yield Figure(f"{robot.name}, steps, most", float(steps.max()), unit)
    whole, late = (sum(_operations(jobs[0], few).values()) for few in (passes, np.minimum(passes, LAST_STEPS)))
    early = 100.0 * (whole - late) / whole
    remark = f"of the operations without reactions, all but the last {LAST_STEPS}: single precision could halve them"
    yield Figure(f"{robot.name}, early steps", early, "%", remark)


def _figures(job: Job, passes: np.ndarray, repeats: int) -> Iterator[Figure]:
    """Measure time, operations and compilation of a job."""
    name = f"{job.robot.name}, with all reactions" if job.statics else job.robot.name
    seconds, counts = best(job, repeats) / job.states, _operations(job, passes)
    share, count = share_of_peak(counts, seconds, 4 * repeats), sum(counts.values())
    yield Figure(name, seconds * 1e6, UNIT, f"{job.states} states a call")
    if job.statics and job.robot.name == HEXAPOD:
        used = 100.0 * seconds * 1e6 / TARGET
        yield Figure(f"{name}, of the target", used, "%", f"the target: at most {TARGET} us with all reactions")
    yield Figure(f"{name}, operations", count, "operations", "loops as often as they ran; a fused one counts once")
    rate, limit = arithmetic(counts) / seconds * 1e-9, share.peak * 1e-9
    remark = f"{rate:.3g} of {limit:.3g} Gop/s, the rate of products and sums just after; no comparisons and choices"
    yield Figure(f"{name}, of the peak", share.percent, "%", remark)
    if job.states % (STRIPS * LANES) == 0:
        alone = best(job.in_strips(), repeats) / job.states
        share = share_of_peak(counts, alone, 4 * repeats)
        yield Figure(
            f"{name}, kernels in one call", alone * 1e6, UNIT, f"in {STRIPS} strips, without Python between them"
        )
        yield Figure(f"{name}, kernels in one call, of the peak", share.percent, "%", "the same operations")
    traced, compiled = _preparation(job)
    remark = f"one type of limb: tracing {traced:.2g} s, LLVM {compiled:.2g} s; the target: below {COMPILE_TARGET:g} s"
    yield Figure(f"{name}, compile", traced + compiled, "s", remark)


def check(job: Job, states: Arrays) -> None:
    """Raise CheckError unless every state is solved and the first ones are as the Newton-Euler system says."""
    name, few = job.robot.name, {key: value[:CHECKED] for key, value in states.items()}
    failed = int((job.values["status"] != Status.OK).sum())
    require(failed == 0, f"{name}: {failed} states of {job.states} are not solved")
    if any(limb.drives for limb in job.robot.mechanism.limbs):
        _check_motors(job, few)
        return
    expected = joint_reactions_reference(job.robot, **few, method="least_norm")
    _agree(f"{name}: forces", job.values["force"][0, :, : len(expected.residual)].T, expected.actuator_force)
    for k, wrenches in enumerate(job.reactions):
        found = wrenches[0, :, : len(expected.residual)].T.reshape(expected.wrench[:, k].shape)
        _agree(f"{name}: reactions of limb {k + 1}", found, expected.wrench[:, k])


def _check_motors(job: Job, few: Any) -> None:
    """Check a robot with motors, which that system does not know, by its equations of motion."""
    chain = job.robot.mechanism.is_chain
    given = {name: values for name, values in few.items() if name not in ("acceleration", "qdd")}
    form, made = equations_of_motion(job.robot, **given), inverse_dynamics(job.robot, **few)
    places = slice(None) if chain else [TWIST.index(name) for name in job.robot.mechanism.platform.mobility]
    speed, change = (few[name][:, places] for name in (("qd", "qdd") if chain else ("twist", "acceleration")))
    demand = np.einsum("sij,sj->si", form.mass, change) + np.einsum("sij,sj->si", form.coriolis, speed) + form.gravity
    force = job.values["force"][0, :, : len(demand)].T
    _agree(f"{job.robot.name}: forces", np.einsum("sdj,sd->sj", made.jacobian, force), demand)


def _agree(what: str, found: np.ndarray, expected: np.ndarray) -> None:
    error = float(np.abs(found - expected).max() / np.abs(expected).max())
    require(
        error < TOLERANCE,  # NaN is not
        f"{what} differ from the Newton-Euler system by {error:.1e}, relative; expected below {TOLERANCE:.0e}",
    )


def _preparation(job: Job) -> tuple[float, float]:
    """Return the seconds to trace and to compile all programs of the first limb type; it is traced anew for this."""
    family, limb = job.robot.family, job.limbs[0]
    makers: list[Any] = [partial(limb_program, family, limb, LimbRequest(reactions=job.statics))]
    if job.statics:
        makers.append(partial(reaction_programs.reaction_program, family, limb))
    traced = sum(best(partial(each.func.__wrapped__, *each.args), 1) for each in makers)
    return traced, sum(Kernel(each(), keep=False).prepare().seconds_to_compile for each in makers)


def _passes(job: Job) -> np.ndarray:
    """Count the passes of the Newton loop (limb, state); none in a tree."""
    inputs = {"parameters": parameters(job.robot), "gravity": gravity_input(GRAVITY), "motion": job.motion}
    family = job.robot.family
    if not limb_program(family, job.limbs[0]).loops:
        return np.zeros((len(job.limbs), job.states), dtype=int)
    kernels = {limb: Kernel(counted(limb_program(family, limb))) for limb in set(job.limbs)}
    made = [
        kernels[limb]({**inputs, "mount": mount}, job.states)[PASSES][0, 0]
        for limb, mount in zip(job.limbs, job.mounts, strict=True)
    ]
    return np.stack(made)


def _operations(job: Job, passes: np.ndarray) -> dict[str, float]:
    """Return one state's operations by kind; a vector of states passes a loop as often as its slowest needs."""
    turns = itertools.cycle(passes.reshape(len(passes), -1, LANES).max(axis=2).mean(axis=1))
    return together(kinds(each, float(next(turns)) if "mount" in each.case else 1.0) for each in job.programs)
