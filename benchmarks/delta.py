"""The job that most cases measure: 3RR[2RR]R Deltas of many designs on the paper's trajectory, from a cold start.

One unit of work is full inverse kinematics of three limbs and inverse dynamics at one sample of one design. The
compiled kernels can do it, or the NumPy interpreter of the same programs; both are held to the same known forces.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from benchmarks.figures import require
from robots import catalog
from robots.model import Family
from robots.trajectories.kinds import Value
from tasks.features.table import request
from tasks.kernels import strips
from tasks.kernels.interpreter import interpret
from tasks.kernels.kernel import LANES, kernel
from tasks.kernels.keys import Arrays, Indexed, Values
from tasks.kernels.program import Program
from tasks.mechanics.families import mount_values
from tasks.mechanics.structure import with_parameters
from tasks.sources import prescribed
from tasks.stages.stages import stages

ROBOT = "delta_3rr2rrr"
GRAVITY = np.array([[0.0, 0.0, -9.81]])
AMPLITUDE = (0.3, 0.4, 0.1)
PERIOD = 1.0

GOLDEN = (
    (-2.3864123242901316, -2.407866085206591, -2.0963356113346165),
    (-10.018448834036118, -7.457062391874004, 7.5715024377958144),
    (-13.768546164376838, -9.98811181407281, 9.517469051800443),
    (-10.018448834036153, -7.45706239187405, 7.571502437795831),
    (-2.386412324290125, -2.4078660852065967, -2.0963356113346236),
    (2.012088144784488, 0.28933215713943294, -16.382496060368343),
    (4.3743727054729185, 2.296097733319713, -21.771654107846803),
    (2.0120881447844, 0.28933215713948535, -16.38249606036836),
)
"""Motor torques [N m] of the default design at eighths of the period, from `tests.reference.delta_newton_euler`, which
solves 96 equations of 16 free bodies by least squares. A test makes them again."""


@dataclass(frozen=True)
class Work:
    """Inputs of the kernels: parameters (design, parameter), mounts (design, number) by limb, motion (1, 9, sample)."""

    family: Family
    parameters: np.ndarray
    mounts: tuple[np.ndarray, ...]
    motion: np.ndarray

    @property
    def designs(self) -> int:
        """Number of designs."""
        return len(self.parameters)

    @property
    def samples(self) -> int:
        """Number of samples of one design, in whole groups of lanes."""
        return int(self.motion.shape[-1])

    @property
    def count(self) -> int:
        """Samples of all designs."""
        return self.designs * self.samples

    def part(self, designs: slice) -> Work:
        """Return the work for some of the designs."""
        return replace(self, parameters=self.parameters[designs], mounts=tuple(m[designs] for m in self.mounts))

    def strips(self, length: int) -> Iterator[slice]:
        """Yield the designs in ranges of some length."""
        for start in range(0, self.designs, length):
            yield slice(start, min(start + length, self.designs))


def work(designs: int, samples: int) -> Work:
    """Return the designs around the default, which comes first, on one period of the paper's line sine.

    Raises ValueError where the samples are not whole eighths and whole groups of lanes.
    """
    if samples % LANES or samples < 1 or designs < 1:
        raise ValueError(f"got {designs} designs of {samples} samples; expected at least 1 of a multiple of {LANES}")
    family = catalog.family(ROBOT)
    values = design_values(family, designs)
    mounts = tuple(mount_values(family, values))
    height = -family.reference.platform.home.position[2]
    line: dict[str, Value] = {"centre": (0.0, 0.0, -height), "amplitude": AMPLITUDE, "period": PERIOD, "phase": 0.0}
    motion = prescribed.motion("line_sine", line, np.arange(samples, dtype=float) * (PERIOD / samples))
    return Work(family, with_parameters(family, values), mounts, np.ascontiguousarray(motion)[None])


def states(samples: int) -> dict[str, np.ndarray]:
    """Return the motion of the platform as keywords for the functions of `tasks`, one sample a row."""
    motion = work(1, samples).motion[0].T
    still = np.zeros((samples, 3))
    return {
        "position": motion[:, :3],
        "rotation": np.broadcast_to(np.eye(3), (samples, 3, 3)),
        "twist": np.hstack([still, motion[:, 3:6]]),
        "acceleration": np.hstack([still, motion[:, 6:]]),
    }


def design_values(family: Family, designs: int) -> dict[str, np.ndarray]:
    """Return the parameters by name, (design,) each: four lengths within 3 % of the defaults, which come first."""
    values = {p.name: np.full(designs, float(p.default)) for p in family.parameters}  # type: ignore[arg-type]
    steps = np.arange(designs)
    # frequencies without a common period, so that the lengths mix, and no seed
    for k, name in enumerate(("upper_arm", "rod_length", "base_radius", "platform_radius")):
        values[name] *= 1.0 + 0.03 * np.sin(steps * np.sqrt(2.0 + k))
    return values


class Runner(Protocol):
    """Something that runs a program on arrays, as a Kernel does."""

    def allocate(self, cases: int, samples: int) -> Values:
        """Allocate the arrays for the outputs."""

    def __call__(self, inputs: Arrays, samples: int, out: Arrays | None = None, *, filled: bool = False) -> Arrays:
        """Run on all cases and samples."""


@dataclass(frozen=True)
class Twin:
    """The interpreter as a Runner. `exact` gives the bits of the kernel; without it, it is plain NumPy and quicker."""

    program: Program
    exact: bool

    def allocate(self, cases: int, samples: int) -> Values:
        """Allocate nothing: NumPy makes its arrays itself."""
        return {}

    def __call__(self, inputs: Arrays, samples: int, out: Arrays | None = None, *, filled: bool = False) -> Arrays:
        """Run on all cases and samples."""
        return interpret(self.program, inputs, samples, exact=self.exact)


class Solver:
    """Solver that works strip by strip, into buffers that it uses again. `way` makes a Runner of a program."""

    def __init__(self, work: Work, way: Callable[[Program], Runner], strip: int):
        self.work, self.strip, self.stages = work, min(strip, work.designs), list(stages(request(work.family)))
        programs = {id(stage.program): stage.program for stage in self.stages}
        self._runners = {key: way(program) for key, program in programs.items()}
        self._buffers = [self._runner(stage.program).allocate(self.strip, work.samples) for stage in self.stages]

    def _runner(self, program: Program) -> Runner:
        return self._runners[id(program)]

    def __call__(self, part: slice) -> Values:
        """Return force, velocity (designs, actuator, sample), status (designs, 1, sample) of a strip, in a buffer."""
        work, count = self.work, part.stop - part.start
        values: Values = {"parameters": work.parameters[part], "gravity": GRAVITY, "motion": work.motion}
        values |= {Indexed("mount", k): mount[part] for k, mount in enumerate(work.mounts)}
        for stage, buffers in zip(self.stages, self._buffers, strict=True):
            out = {name: array[:count] for name, array in buffers.items()}
            values |= stage.run(self._runner, values, work.samples, out, filled=True)
        return values

    def all(self) -> np.ndarray:
        """Return the forces of all designs (design, actuator, sample), NaN where the status is not OK."""
        forces = np.full((self.work.designs, 3, self.work.samples), np.nan)
        for part in self.work.strips(self.strip):
            made = self(part)
            forces[part] = np.where(made["status"] == 0.0, made["force"], np.nan)
        return forces

    def sweep(self) -> None:
        """Compute all designs and keep no result."""
        for part in self.work.strips(self.strip):
            self(part)

    def in_strips(self) -> Callable[[], None]:
        """Return a function that computes all designs, one in each strip, by one call of machine code, as blocks do."""
        work = self.work
        given: Values = {"parameters": work.parameters, "gravity": GRAVITY, "motion": work.motion}
        mounts = {Indexed("mount", k): mount for k, mount in enumerate(work.mounts)}

        def strip(way: Callable[[Program], Any], k: int) -> None:
            part = slice(k, k + 1)
            values = given | {"parameters": work.parameters[part]} | {name: rows[part] for name, rows in mounts.items()}
            for stage, buffers in zip(self.stages, self._buffers, strict=True):
                out = {name: array[:1] for name, array in buffers.items()}
                values |= stage.run(way, values, work.samples, out, filled=True)

        return strips.prepared(strip, kernel, work.designs)


def check(forces: np.ndarray, what: str) -> None:
    """Raise CheckError unless all forces (design, actuator, sample) are present and the first design's are as known."""
    require(bool(np.isfinite(forces).all()), f"{what}: {np.isnan(forces).sum()} forces of {forces.size} are missing")
    instants = forces[0][:, :: forces.shape[-1] // len(GOLDEN)]
    error = np.abs(instants.T - GOLDEN).max() / np.abs(GOLDEN).max()
    require(error < 1e-9, f"{what}: forces differ from the known ones by {error:.1e}, relative; expected below 1e-9")
