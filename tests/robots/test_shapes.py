"""Masses and inertias of links from their shapes, beside sums over small parts of the same bodies."""

from __future__ import annotations

import math

import numpy as np
import pytest

from robots.catalog import FAMILIES
from robots.criteria.shapes import LinkShape, joint_points, lines_of, shape_inertia
from robots.model import Limb
from tasks.mechanics.arms import Arm
from tasks.mechanics.solving import arms

POINTS = [(0.0, 0.0, 0.0), (0.3, -0.2, 0.5), (-0.1, 0.4, 0.2)]
PARTS = 60


def cells(shape: LinkShape, start: np.ndarray, end: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Points inside a straight body (n, 3), and their masses: squares of its profile times lengths."""
    along = end - start
    length = float(np.linalg.norm(along))
    u = along / length
    across = np.array(shape.across if shape.across is not None else np.cross(u, [1.0, 0.0, 0.0]))
    first = across - (across @ u) * u
    first /= np.linalg.norm(first)
    second = np.cross(u, first)
    width, height = shape.outside if shape.kind == "box" else shape.outside * 2
    a, b = (size * ((np.arange(PARTS) + 0.5) / PARTS - 0.5) for size in (height, width))
    t = (np.arange(PARTS) + 0.5) / PARTS
    h, w, s = (x.ravel() for x in np.meshgrid(a, b, t, indexing="ij"))
    if shape.kind == "tube":
        kept = (np.hypot(h, w) < 0.5 * shape.outside[0]) & (np.hypot(h, w) > 0.5 * shape.inside[0])
    else:
        kept = (np.abs(h) > 0.5 * shape.inside[1]) | (np.abs(w) > 0.5 * shape.inside[0])
    cell = shape.density * (width / PARTS) * (height / PARTS) * (length / PARTS)
    places = start + s[:, None] * along + h[:, None] * first + w[:, None] * second
    return places[kept], np.full(kept.sum(), cell)


@pytest.mark.parametrize(
    "shape",
    [
        LinkShape("tube", (0.2,), (0.12,), None, 2700.0, joint_mass=3.0),
        LinkShape("box", (0.1, 0.3), (0.06, 0.26), (0.2, 1.0, 0.3), 1600.0),
        LinkShape("box", (0.1, 0.3), (0.0, 0.0), (1.0, 0.0, 0.0), 1600.0, joint_mass=1.0),
    ],
)
def test_inertia_is_that_of_small_parts(shape: LinkShape) -> None:
    lines = ((0, 1), (0, 2))
    found = shape_inertia(shape, POINTS, lines)
    parts = [cells(shape, np.array(POINTS[a]), np.array(POINTS[b])) for a, b in lines]
    places = np.concatenate([places for places, _ in parts] + [np.array(POINTS)])
    masses = np.concatenate([masses for _, masses in parts] + [np.full(3, shape.joint_mass)])
    centre = masses @ places / masses.sum()
    gaps = places - centre
    tensor = np.einsum("n,nij->ij", masses, np.einsum("nk,nk->n", gaps, gaps)[:, None, None] * np.eye(3))
    tensor = tensor - np.einsum("n,ni,nj->ij", masses, gaps, gaps)
    assert float(found.mass) == pytest.approx(masses.sum(), rel=5e-3)
    np.testing.assert_allclose(np.array(found.centre, dtype=float), centre, atol=2e-3)
    np.testing.assert_allclose(np.array(found.tensor, dtype=float), tensor, atol=1e-2 * np.abs(tensor).max())


def test_a_tube_has_the_inertia_of_textbooks() -> None:
    length, outer, inner = 0.7, 0.05, 0.04
    tube = LinkShape("tube", (outer,), (inner,), None, 7850.0)
    found = shape_inertia(tube, [(0.0, 0.0, 0.0), (0.0, 0.0, length)], ((0, 1),))
    mass = 7850.0 * math.pi / 4.0 * (outer**2 - inner**2) * length
    across = mass * (3.0 * (outer**2 + inner**2) / 4.0 + length**2) / 12.0
    expected = np.diag([across, across, mass * (outer**2 + inner**2) / 8.0])
    assert float(found.mass) == pytest.approx(mass, rel=1e-14)
    np.testing.assert_allclose(np.array(found.tensor, dtype=float), expected, rtol=1e-13, atol=1e-16)


def length_of(limb: Limb, arm: Arm) -> float:
    """Return the length of an arm [m]; arms of joints at one point have none, and are no body."""
    children = [k for k, each in enumerate(limb.links) if each.parent == arm.link]
    cuts = [len(limb.links) + k for k, cut in enumerate(limb.cuts) if arm.link in (cut.a, cut.b)]
    points = dict(zip([arm.link, *children, *cuts], joint_points(limb, arm.link), strict=True))
    return math.dist(points[arm.hub], points[arm.end])


@pytest.mark.parametrize("name", ["delta_3rr2rrr", "par4", "gough_stewart", "three_loop_leg", "five_bar"])
def test_lines_are_those_of_beams_and_capsules(name: str) -> None:
    family = FAMILIES[name]
    for number, limb in enumerate(family.reference.limbs):
        for link in range(len(limb.links)):
            long = [arm for arm in arms(family, number) if arm.link == link and length_of(limb, arm) > 1e-12]
            assert len(lines_of(limb, link)) == len(long)
