"""Inertia-matrix paper, section 7: the planar arm, and M[2][1] of the rover's rocker of Fig. 6."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from benchmarks.figures import best
from benchmarks.papers.results import NOT_PRINTED, Line, Outcome, Result
from robots import catalog
from robots.model import Robot
from tasks import inertia_matrix
from tasks.dynamics.equations import inertia_element
from tasks.dynamics.inertia import is_tree
from tasks.mechanics.inertia.methods import METHODS

STATES = 1000
BATCH, REPEATS = 20_000, 5
TASK = 1e-3
"""Seconds that a task costs its scheduler, as Dask's documentation has it."""
ELEMENTWISE = ("planar_3r", "ur5e", "iiwa14", "palletiser", "irb6")


def rocker() -> Outcome:
    """Compute M[2][1] for 5 sin t in both units by all methods, and the rank of M."""
    robot, times = catalog.build("rover_rocker"), np.arange(0.0, 10.0 + 0.005, 0.01)
    lines = []
    for unit, size in (("radians", 5.0), ("degrees", np.deg2rad(5.0))):
        q = np.repeat(size * np.sin(times)[:, None], 5, axis=1)
        methods = {name: inertia_matrix(robot, q=q, method=name).matrix for name in METHODS}
        first = methods[next(iter(METHODS))]
        spread = max(float(np.abs(other - first).max()) for other in methods.values())
        alone = inertia_element(robot, 1, 0, q=q).value
        element = first[:, 1, 0]
        text = f"{element.min():.6f} to {element.max():.6f} kg m^2"
        apart = float(np.abs(alone - element).max())
        told = f"{len(METHODS)} methods within {spread:.0e}, the element alone within {apart:.0e}"
        lines.append(Line(f"M[2][1], 5 sin t in {unit}", NOT_PRINTED, text, told))
    rank = np.linalg.matrix_rank(inertia_matrix(robot, q=np.full(5, 0.3)).matrix, tol=1e-12)
    lines += [
        Line("rank of M with the data of Table 3", "not said", f"{rank} of 5", "rows 3 and 5 are zero"),
        Line("inertias of Table 3", "0.0833, 0.0427, 0.018", "100 times those of rods", "a slip of cm for m, it seems"),
        Line("the whole rover with traction, Figs. 7 to 9", "no parameters", "not possible", "nothing to compute with"),
    ]  # fmt: skip
    return Outcome(lines)


def planar() -> Outcome:
    """Return the printed elements of the planar arm beside the matrix, at random states."""
    robot = catalog.build("planar_3r")
    q = np.random.default_rng(7).uniform(-np.pi, np.pi, (STATES, 3))
    matrix = inertia_matrix(robot, q=q).matrix
    lines = []
    for (row, column), printed in _printed(robot, q).items():
        error = np.abs(printed - matrix[:, row, column]).max() / np.abs(matrix[:, row, column]).max()
        verdict = "agrees" if error < 1e-12 else "misprint: l_kI^2 where l_k^2 is meant, or a factor of 2"
        lines.append(Line(f"M[{row + 1}][{column + 1}]", "as an expression", f"differs by {error:.1e}", verdict))
    return Outcome(lines)


def _printed(robot: Robot, q: np.ndarray) -> dict[tuple[int, int], np.ndarray]:
    """Return the upper triangle as printed in section 7.1, its C^1_3 read as the cosine of both angles between."""
    links = robot.mechanism.limbs[0].links
    mass = [float(link.inertia.mass) for link in links]
    centre = [float(np.linalg.norm(np.array(link.inertia.centre, dtype=float))) for link in links]
    inertia = [float(link.inertia.tensor[2][2]) for link in links]
    length = [float(np.linalg.norm(np.array(links[k].placement.position, dtype=float))) for k in (1, 2)]
    c2, c3, c23 = np.cos(q[:, 1]), np.cos(q[:, 2]), np.cos(q[:, 1] + q[:, 2])
    (m1, m2, m3), (a1, a2, a3), (i1, i2, i3), (l1, l2) = mass, centre, inertia, length
    return {
        (0, 0): i1 + i2 + i3 + m1 * a1**2 + m2 * (a1**2 + l1 * a2 * c2 + a2**2)
        + m3 * (a1**2 + a2**2 + a3**2 + 2 * l1 * a2 * c2 + 2 * l1 * a3 * c23 + 2 * l2 * a3 * c3),
        (0, 1): i2 + i3 + m2 * (a2**2 + l1 * a2 * c2)
        + m3 * (a2**2 + a3**2 + l1 * a2 * c2 + l1 * a3 * c23 + 2 * l2 * a3 * c3),
        (0, 2): i3 + m3 * (a3**2 + l1 * a3 * c23 + l2 * a3 * c3),
        (1, 1): i2 + i3 + m2 * a2**2 + m3 * (a2**2 + a3**2 + 2 * l2 * a3 * c3),
        (1, 2): i3 + m3 * (a3**2 + l2 * a3 * c3),
        (2, 2): i3 + m3 * a3**2,
    }  # fmt: skip


def elements() -> Outcome:
    """Measure whole matrices and their longest element, of trees and closed chains; find where element tasks pay."""
    lines = []
    for name in ELEMENTWISE:
        robot = catalog.build(name)
        n = len(robot.mechanism.freedoms)
        q = np.random.default_rng(5).uniform(-0.1, 0.1, (BATCH, n))
        methods = {method: _seconds(partial(inertia_matrix, robot, q=q, method=method)) for method in METHODS}
        best = min(methods, key=lambda method: methods[method])
        whole = methods[best]
        alone = [_seconds(partial(inertia_element, robot, u, k, q=q)) for u in range(n) for k in range(u + 1)]
        longest = max(alone)
        kind = "tree" if is_tree(robot.family) else "closed chain"
        text = f"{1e9 * longest / BATCH:.0f} ns; matrix: {1e9 * whole / BATCH:.0f} ns ({best})"
        gain = f"{whole / longest:.1f} x at most, with {len(alone)} tasks; all in turn take {sum(alone) / whole:.1f} x"
        if whole > longest:
            gain += f"; pays above {TASK / (whole - longest) * BATCH:,.0f} samples a task"
        lines.append(Line(f"`{name}`, {kind}, n = {n}: longest element", "by order of n", text, gain))
    return Outcome(lines)


def _seconds(function: Callable[[], object]) -> float:
    """Return the shortest time of a call, after one that compiles."""
    function()
    return best(function, REPEATS)


RESULTS = (
    Result("rocker", "Inertia-matrix paper, Fig. 6 and Table 3", "An element of the inertia matrix", rocker),
    Result("planar-arm", "Inertia-matrix paper, section 7.1", "The planar arm in symbols", planar),
    Result(
        "inertia-elements",
        "Inertia-matrix paper, section 6; a task of Dask costs 1 ms",
        "Elements of the inertia matrix at once",
        elements,
    ),
)
