"""Mueller, hybrid-limb paper, section 9: Fig. 16 of the Delta, its other variant, and the times of Table 1."""

from __future__ import annotations

import numpy as np

from benchmarks import delta
from benchmarks.figures import FULL, best
from benchmarks.papers.results import NOT_PRINTED, Line, Outcome, Result, label, panels
from robots import catalog
from robots.model import Robot
from robots.types import IDENTITY
from tasks import inverse_dynamics, inverse_kinematics
from tasks.dynamics.records import Moving
from tasks.kernels.kernel import kernel
from tasks.kernels.keys import Indexed, Values

PERIOD, STEP = 10.0, 0.01
AMPLITUDE = np.array([0.3, 0.4, 0.1])
SERIAL, PARALLEL, LIMBS = 2.74, 0.97, (0.97, 0.83, 0.83)
"""Times of Table 1 [us]: experiment 1, experiment 3, and its limbs one by one."""
STRIP = 16


def straight_line(robot: Robot) -> tuple[np.ndarray, Moving]:
    """Return the times and the straight-line motion of section 9.4."""
    times = np.arange(0.0, PERIOD + STEP / 2, STEP)
    rate = 2 * np.pi / PERIOD
    home, none = np.array(robot.mechanism.platform.home.position), np.zeros((len(times), 3))
    s, c = np.sin(rate * times)[:, None], np.cos(rate * times)[:, None]
    return times, Moving(
        position=home + AMPLITUDE * s,
        rotation=np.array(IDENTITY),
        twist=np.hstack([none, AMPLITUDE * rate * c]),
        acceleration=np.hstack([none, -AMPLITUDE * rate**2 * s]),
    )


def straight_lines() -> Outcome:
    """Compute torques and joint coordinates of the Delta on its line, and torques of the variant with U, S joints."""
    robot = catalog.build("delta_3rr2rrr")
    times, moving = straight_line(robot)
    torque = inverse_dynamics(robot, **moving).force
    other = inverse_dynamics(catalog.build("delta_3r2us"), **straight_line(catalog.build("delta_3r2us"))[1]).force
    joints = inverse_kinematics(robot, **moving).position
    names = [link.joint for link in robot.mechanism.limbs[0].links]

    figure, (left, middle, right) = panels("The Delta on its straight line, as Fig. 16", 3)
    for k in range(3):
        left.plot(times, torque[:, k], label=f"u {k + 1}")
        right.plot(times, torque[:, k] - other[:, k], label=f"limb {k + 1}")
    for k, name in enumerate(names):
        middle.plot(times, joints[:, 0, k], label=name)
    label(left, "torque [N m]", "3RR[2RR]R")
    label(middle, "joint position [rad]", "limb 1")
    label(right, "difference of torques [N m]", "3RR[2RR]R less 3R[2US]")
    lines = [
        Line("torques and joint coordinates over 10 s", NOT_PRINTED, _range(torque), "drawn below"),
        Line(
            "torque at the centre, at rest",
            "not printed",
            f"{float(inverse_dynamics(robot, position=robot.mechanism.platform.home.position).force[0]):.6f} N m",
            f"statics by hand: {_by_hand(robot):.6f} N m",
        ),
        Line(
            "the variant 3R[2US]",
            "no figure",
            _range(other),
            f"differs by at most {np.abs(torque - other).max():.2g} N m: no links at the ends of its rods",
        ),
    ]
    return Outcome(lines, [("straight_line", figure)])


def _range(torque: np.ndarray) -> str:
    return f"{torque.min():.3f} to {torque.max():.3f} N m"


def _by_hand(robot: Robot) -> float:
    """Return -g a (m_p / 3 + 2 m_link + 2 m_rod + m_arm / 2): arms horizontal, rods carry half of themselves."""
    limb, values = robot.mechanism.limbs[0], robot.values
    masses = [float(link.inertia.mass) for link in limb.links]
    arm, others = masses[0], sum(masses[1:])
    platform = float(robot.mechanism.platform.inertia.mass)
    return -9.81 * float(values["upper_arm"]) * (platform / 3 + others + arm / 2)


def times_of_table_1() -> Outcome:
    """Measure the times of a sample on one core: all of it, and each limb as a separate task."""
    work = delta.work(STRIP, FULL.samples)
    solver = delta.Solver(work, kernel, STRIP)
    delta.check(solver.all(), "compiled kernels")
    whole = best(solver.sweep, FULL.repeats) / work.count * 1e6
    limbs = [_limb_time(solver, work, k) for k in range(3)]
    longest = max(limbs)
    lines = [
        _timed("experiment 1, one node: kinematics and dynamics", SERIAL, whole),
        *(_timed(f"experiment 3.{k + 1}, limb {k + 1}", LIMBS[k], limbs[k]) for k in range(3)),
        _timed("experiment 3, three nodes: the longest limb", PARALLEL, longest),
        Line(
            "what three nodes gain at most",
            f"{SERIAL / PARALLEL:.2f} x",
            f"{whole / longest:.2f} x",
            "both without what it costs to exchange the results",
        ),
    ]
    return Outcome(lines)


def _timed(what: str, printed: float, computed: float) -> Line:
    return Line(what, f"{printed} us", f"{computed:.4f} us", f"{printed / computed:.0f} x")


def _limb_time(solver: delta.Solver, work: delta.Work, index: int) -> float:
    """Measure the time of a sample in the stage of one limb [us]."""
    stage = next(stage for stage in solver.stages if stage.limb == index)
    values: Values = {"parameters": work.parameters, "gravity": delta.GRAVITY, "motion": work.motion}
    values |= {Indexed("mount", k): mount for k, mount in enumerate(work.mounts)}
    out = kernel(stage.program).allocate(STRIP, work.samples)
    return best(lambda: stage.run(kernel, values, work.samples, out), FULL.repeats) / work.count * 1e6


RESULTS = (
    Result("straight-line", "Hybrid-limb paper, Fig. 16, both Deltas", "A Delta on a straight line", straight_lines),
    Result("limb-times", "Hybrid-limb paper, Table 1, Intel i7-8700 at 3.2 GHz", "Limbs in parallel", times_of_table_1),
)
