"""Speed of the compiled kernels on one core, against the same programs in NumPy and against the peak of the core."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from benchmarks import delta
from benchmarks.counts.counting import PASSES, counted, kinds, opening, together
from benchmarks.counts.peak import arithmetic, most_arithmetic, share_of_peak
from benchmarks.delta import Solver, Twin, Work
from benchmarks.figures import Figure, Size, best, require
from robots.model import Robot
from tasks import inverse_kinematics
from tasks.kernels.kernel import LANES, Kernel, compiled, kernel
from tasks.kernels.program import Program
from tasks.mechanics.families import structure_of
from tasks.stages.assembly import assembly_program
from tasks.stages.limb import constant_jacobian, limb_program
from tasks.stages.platform import platform_program

STRIP = 16
"""Designs that one call of a kernel does: enough to hide the call, few enough for the results to stay in the cache."""

NUMPY_STRIPS = (1, 4, 16)
"""NumPy is given its best of these."""

FIRST_STEP = 1
"""Newton steps that a limb's program takes from the reference pose, before its loop."""

UNIT = "us/sample/core"


def speed(size: Size) -> Iterator[Figure]:
    """Yield the job of `benchmarks.delta` by compiled kernels and by their NumPy twins."""
    work = delta.work(min(size.designs, STRIP), size.samples)
    solver = Solver(work, kernel, STRIP)
    forces = solver.all()
    delta.check(forces, "compiled kernels")
    fast = best(solver.in_strips(), size.repeats) / work.count
    remark = f"one thread, {work.designs} designs x {work.samples} samples in one call, best of {size.repeats}"
    yield Figure("inverse kinematics and dynamics", fast * 1e6, UNIT, remark)
    for exact, name in ((False, "NumPy, same operations"), (True, "NumPy, same bits")):
        slow, strip = _numpy(work, exact, forces, size)
        yield Figure(name, slow * 1e6, UNIT, f"strips of {strip} designs, its best")
        yield Figure(f"{name}, over compiled", slow / fast, "x")
    passes = newton_passes(work)
    yield from _newton(work, passes)
    yield from operation_figures(work, passes, fast, size)
    distinct = {each.name: each for each in _programs(work)}
    seconds = sum(Kernel(each, keep=False).prepare().seconds_to_compile for each in distinct.values())
    yield Figure("compile", seconds, "s", f"{len(distinct)} programs, once in a process, for any number of designs")


def _programs(work: Work) -> list[Program]:
    """Return the programs of all limbs, of the platform and of the assembly."""
    instances = structure_of(work.family).mechanism.instances
    limbs = [limb_program(work.family, each.limb) for each in instances]
    return [
        *limbs,
        platform_program(work.family),
        assembly_program(work.family, jacobian=constant_jacobian(limbs[0]) if len(limbs) == 1 else None),
    ]


def _numpy(work: Work, exact: bool, forces: np.ndarray, size: Size) -> tuple[float, int]:
    """Return the interpreter's best time [s per sample], and its strip. Raises CheckError for other forces."""
    times = {}
    for strip in NUMPY_STRIPS:
        part = work.part(slice(0, strip))
        solver = Solver(part, partial(Twin, exact=exact), strip)
        _agree(solver.all(), forces[: part.designs], exact)
        times[best(solver.sweep, max(1, size.repeats // 20)) / part.count] = strip
    return min(times), times[min(times)]


def _agree(result: np.ndarray, forces: np.ndarray, exact: bool) -> None:
    error = np.abs(result - forces).max() / np.abs(forces).max()
    limit = 0.0 if exact else 1e-9
    require(error <= limit, f"NumPy and compiled forces differ by {error:.1e}, relative; expected at most {limit:.0e}")


def newton_passes(work: Work) -> np.ndarray:
    """Count the passes of the Newton loop (limb, design, sample)."""
    inputs = {"parameters": work.parameters, "gravity": delta.GRAVITY, "motion": work.motion}
    limbs = _programs(work)[: len(work.mounts)]
    kernels = {each.name: Kernel(counted(each)) for each in limbs}
    made = [
        kernels[each.name]({**inputs, "mount": mount}, work.samples)[PASSES][:, 0]
        for each, mount in zip(limbs, work.mounts, strict=True)
    ]
    return np.stack(made)


def _newton(work: Work, passes: np.ndarray) -> Iterator[Figure]:
    """Measure the steps until the loops are closed, and the remaining gap."""
    steps, unit = passes + FIRST_STEP, "Newton steps"
    yield Figure("steps of a sample, mean", float(steps.mean()), unit, "from the reference pose until closed")
    yield Figure("steps of a vector, mean", float(_lanes(steps).mean()), unit, "goes on until its slowest lane is done")
    yield Figure("steps, most", float(steps.max()), unit)
    gap = _gap(work)
    require(gap < 1e-12, f"loops stay open by {gap:.1e} m; expected below 1e-12 m")
    yield Figure("loops open by at most", gap, "m", "all cut joints, by chaining the joints again in NumPy")


def _lanes(values: np.ndarray) -> np.ndarray:
    """Return the largest value in each group of samples that pass a kernel together."""
    return values.reshape(-1, LANES).max(axis=1)


def _gap(work: Work) -> float:
    """Return the widest gap of the default design at eight samples [m]."""
    robot = Robot.of(work.family, {})
    positions = work.motion[0, :3, :: work.samples // LANES].T
    angles = inverse_kinematics(robot, position=positions).position
    return max(opening(robot, row, position) for row, position in zip(angles, positions, strict=True))


def operation_figures(work: Work, passes: np.ndarray, seconds: float, size: Size) -> Iterator[Figure]:
    """Yield the operations of one sample, and their share of the peak of the core."""
    *limbs, platform, assembly = _programs(work)
    of_limbs = (kinds(each, float(_lanes(rows).mean())) for each, rows in zip(limbs, passes, strict=True))
    counts = together((kinds(platform), kinds(assembly), *of_limbs))
    total = sum(counts.values())
    hoisted = sum(sum(each.operations(per_case=True).values()) for each in _programs(work))
    share = share_of_peak(counts, seconds, size.repeats)
    yield Figure("operations per sample", total, "operations", "loops as often as they ran; a fused one counts once")
    yield Figure("operations per design", hoisted, "operations", "once for all its samples")
    yield Figure("achieved", total / seconds * 1e-9, "Gop/s")
    rate = arithmetic(counts) / seconds
    yield Figure("achieved, products and sums", rate * 1e-9, "Gop/s", "without comparisons, choices, divisions, roots")
    yield Figure("peak of the core", share.peak * 1e-9, "Gop/s", "as many sums for each product, in registers")
    most = most_arithmetic(counts)
    yield Figure("achieved of the peak", share.percent, "%", "products and sums")
    yield Figure("at most", most, "%", "comparisons, choices and signs take turns of the same units with AVX-512")
    yield Figure("achieved of that", 100.0 * share.percent / most, "%", "the rest: divisions, rare loops, waiting")


def designs(size: Size) -> Iterator[Figure]:
    """Time many designs in kernels that are compiled once."""
    work = delta.work(size.designs, size.samples)
    solver = Solver(work, kernel, STRIP)
    before = len(compiled())
    forces = solver.all()
    delta.check(forces, "designs")
    last = slice(work.designs - 1, work.designs)
    alone = Solver(work.part(last), kernel, 1).all()
    require(bool(np.array_equal(alone, forces[last])), "a design by itself gives other bits than among others")
    seconds = best(solver.sweep, max(1, size.repeats // 40))
    require(len(compiled()) == before, f"{len(compiled()) - before} programs were compiled again for other designs")
    remark = f"{work.designs} designs x {work.samples} samples, kernels compiled once"
    yield Figure("one design", seconds / work.designs * 1e6, "us/design/core", remark)
    yield Figure("inverse kinematics and dynamics", seconds / work.count * 1e6, UNIT)
