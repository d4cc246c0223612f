"""Speed of the compiled kernels: of one core, against the same programs in NumPy, and against what the core can do at all."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from benchmarks import delta
from benchmarks.counting import PASSES, counted, opening, operations
from benchmarks.delta import Runner, Solver, Twin, Work
from benchmarks.figures import Figure, Size, best, require
from robots.model import Robot
from tasks import inverse_kinematics, programs
from tasks.kernels.cache import compiled, kernel
from tasks.kernels.kernel import LANES, Kernel
from tasks.kernels.program import Program, trace

STRIP = 16
"""Designs that one call of a kernel does: enough to hide the call, few enough for the results to stay in the cache."""

NUMPY_STRIPS = (1, 4, 16)
"""NumPy is given its best of these."""

FIRST_STEP = 1
"""Newton steps that a limb's program takes from the reference pose, before its loop."""


def speed(size: Size) -> Iterator[Figure]:
    """The job of `benchmarks.delta` by compiled kernels and by their NumPy twins, in microseconds per sample and core."""
    work = delta.work(min(size.designs, STRIP), size.samples)
    solver = Solver(work, kernel, STRIP)
    forces = solver.all()
    delta.check(forces, "compiled kernels")
    fast = best(solver.sweep, size.repeats) / forces[:, 0].size
    remark = f"one thread, {work.designs} designs x {work.samples} samples a call, best of {size.repeats}"
    yield Figure("kernel", "inverse kinematics and dynamics", fast * 1e6, "us/sample/core", remark)
    for exact, name in ((False, "NumPy, same operations"), (True, "NumPy, same bits")):
        slow, strip = _numpy(work, exact, forces, size)
        yield Figure("kernel", name, slow * 1e6, "us/sample/core", f"strips of {strip} designs, its best")
        yield Figure("kernel", f"{name}, over compiled", slow / fast, "x")
    passes = _passes(work)
    yield from _newton(work, passes)
    yield from _operations(work, passes, fast, size)
    yield _compilation(work)


def _numpy(work: Work, exact: bool, forces: np.ndarray, size: Size) -> tuple[float, int]:
    """Best time of the interpreter [s per sample] and the strip that gave it."""
    times = {}
    for strip in NUMPY_STRIPS:
        part = delta.Work(work.family, work.parameters[:strip], tuple(m[:strip] for m in work.mounts), work.motion)
        solver = Solver(part, partial(Twin, exact=exact), strip)
        result = solver.all()
        _agree(result, forces[: part.designs], exact)
        times[best(solver.sweep, max(1, size.repeats // 20)) / result[:, 0].size] = strip
    return min(times), times[min(times)]


def _agree(result: np.ndarray, forces: np.ndarray, exact: bool) -> None:
    error = np.abs(result - forces).max() / np.abs(forces).max()
    limit = 0.0 if exact else 1e-9
    require(error <= limit, f"NumPy and compiled forces differ by {error:.1e}, relative; expected at most {limit:.0e}")


def _passes(work: Work) -> np.ndarray:
    """Passes of the Newton loop (limb, design, sample)."""
    instances = programs.structure(work.family).mechanism.instances
    inputs = {"parameters": work.parameters, "gravity": np.array([delta.GRAVITY]), "motion": work.motion}
    runs = {each.limb: Kernel(counted(programs.limb_program(work.family, each.limb))) for each in instances}
    made = [
        runs[each.limb]({**inputs, "mount": mount}, work.samples)[PASSES][:, 0].copy()
        for each, mount in zip(instances, work.mounts, strict=True)
    ]
    return np.stack(made)


def _newton(work: Work, passes: np.ndarray) -> Iterator[Figure]:
    """Steps until the loops were closed, and how well they then were."""
    steps = passes + FIRST_STEP
    yield Figure("kernel", "Newton steps, mean", float(steps.mean()), "steps", "position, cold start, until closed")
    yield Figure("kernel", "Newton steps, mean of a vector", float(_lanes(steps).mean()), "steps", "runs until its slowest lane is done")
    yield Figure("kernel", "Newton steps, most", float(steps.max()), "steps")
    gap = _gap(work)
    require(gap < 1e-12, f"loops stay open by {gap:.1e} m; expected below 1e-12 m")
    yield Figure("kernel", "loops open by at most", gap, "m", "all cut joints, by chaining the joints again in NumPy")


def _lanes(values: np.ndarray) -> np.ndarray:
    """Largest of each group of samples that go through a kernel together."""
    return values.reshape(-1, LANES).max(axis=1)


def _gap(work: Work) -> float:
    names = [p.name for p in work.family.parameters]
    robot = Robot.of(work.family, dict(zip(names, work.parameters[0].tolist(), strict=True)))
    positions = work.motion[0, :3, :: work.samples // LANES].T
    angles = inverse_kinematics(robot, position=positions).position
    return max(opening(robot, row, position) for row, position in zip(angles, positions, strict=True))


def _operations(work: Work, passes: np.ndarray, seconds: float, size: Size) -> Iterator[Figure]:
    """What one sample takes, and how near to the limit of the core that is."""
    instances = programs.structure(work.family).mechanism.instances
    limbs = [programs.limb_program(work.family, each.limb) for each in instances]
    others = (programs.platform_program(work.family), programs.assembly_program(work.family))
    total = sum(operations(each, float(_lanes(rows).mean())) for each, rows in zip(limbs, passes, strict=True))
    total += sum(operations(each) for each in others)
    hoisted = sum(sum(each.operations(per_case=True).values()) for each in (*limbs, *others))
    peak = _peak(size)
    yield Figure("kernel", "operations per sample", total, "operations", "loops as often as they ran; a fused one counts once")
    yield Figure("kernel", "operations per design", hoisted, "operations", "done once for all its samples")
    yield Figure("kernel", "achieved", total / seconds * 1e-9, "Gop/s")
    yield Figure("kernel", "peak of the core", peak * 1e-9, "Gop/s", "fused multiply-adds on registers, compiled and run the same way")
    yield Figure("kernel", "achieved of the peak", 100.0 * total / seconds / peak, "%")


CHAINS, DEPTH = 16, 256


def _peak(size: Size) -> float:
    """Fused multiply-adds a second that one core does when nothing waits for memory or for another result."""
    run = kernel(_chains())
    start = np.linspace(0.0, 1.0, CHAINS * 512).reshape(1, CHAINS, 512)
    inputs = {"factor": np.array([[0.5, 1.0]]), "x": start}
    out = run.allocate(1, 512)
    run(inputs, 512, out)
    # x -> x/2 + 1 comes to rest at 2
    require(bool(np.array_equal(out["y"], np.full_like(start, 2.0))), "the peak kernel has not computed its fixed point 2")
    return CHAINS * DEPTH * 512 / best(lambda: run(inputs, 512, out), size.repeats)


_known: list[Program] = []


def _chains() -> Program:
    """Independent chains of fused multiply-adds, as many as a core needs to keep its units busy."""

    def one_sample(factor: Any, x: Any) -> dict[str, Any]:
        values = list(x)
        for _ in range(DEPTH):
            values = [value * factor[0] + factor[1] for value in values]
        return {"y": values}

    if not _known:
        _known.append(trace("peak", one_sample, case={"factor": (2,)}, sample={"x": (CHAINS,)}))
    return _known[0]


def _compilation(work: Work) -> Figure:
    limbs = {each.limb for each in programs.structure(work.family).mechanism.instances}
    traced = [programs.limb_program(work.family, each) for each in sorted(limbs)]
    traced += [programs.platform_program(work.family), programs.assembly_program(work.family)]
    seconds = sum(Kernel(each).prepare().seconds_to_compile for each in traced)
    return Figure("kernel", "compile", seconds, "s", f"{len(traced)} programs, once in a process, whatever the number of designs")


def designs(size: Size) -> Iterator[Figure]:
    """Many designs through kernels that are compiled once."""
    work = delta.work(size.designs, size.samples)
    solver = Solver(work, kernel, STRIP)
    before = len(compiled())
    forces = solver.all()
    delta.check(forces, "designs")
    _alone(work, forces)
    seconds = best(solver.sweep, max(1, size.repeats // 40))
    require(len(compiled()) == before, f"{len(compiled()) - before} programs were compiled again for another design")
    remark = f"{work.designs} designs x {work.samples} samples, kernels compiled once"
    yield Figure("designs", "one design", seconds / work.designs * 1e6, "us/design/core", remark)
    yield Figure("designs", "inverse kinematics and dynamics", seconds / forces[:, 0].size * 1e6, "us/sample/core")


def _alone(work: Work, forces: np.ndarray) -> None:
    """The last design, done by itself, has the same bits."""
    last = slice(work.designs - 1, work.designs)
    alone = Solver(Work(work.family, work.parameters[last], tuple(m[last] for m in work.mounts), work.motion), kernel, 1)
    require(bool(np.array_equal(alone.all(), forces[last])), "a design by itself gives other bits than among others")



