"""Trees and closed chains of the papers: their shapes, their masses as published, and loops that are closed at rest."""

from __future__ import annotations

import numpy as np
import pytest

from robots.catalog import five_axis_tree, planar_3r, rover_rocker, three_loop_leg
from robots.catalog.link_tables import LinkRow, links, parameters
from robots.model import Family, Robot
from robots.types import BASE, Vector

PLANAR, ROVER, TREE, LEG = (module.FAMILIES[0] for module in (planar_3r, rover_rocker, five_axis_tree, three_loop_leg))


def origins(robot: Robot) -> list[np.ndarray]:
    """Origins of all links at rest, in the axes of the base, to which all frames are parallel."""
    result: list[np.ndarray] = []
    for link in robot.mechanism.limbs[0].links:
        before = np.zeros(3) if link.parent == BASE else result[link.parent]
        result.append(before + np.array(link.placement.position))
    return result


@pytest.mark.parametrize(
    ("family", "parents", "mass", "driven"),
    [
        (PLANAR, (BASE, 0, 1), 6.0, 3),
        (ROVER, (BASE, 0, 1, 0, 3), 3.8, 5),
        (TREE, (BASE, 0, 1, 0, 3), 11.0, 5),
        (LEG, (BASE, 0, 1, 0, BASE, 4, BASE), 10.4, 1),
    ],
    ids=lambda each: getattr(each, "name", ""),
)
def test_shapes_and_masses(family: Family, parents: tuple[int, ...], mass: float, driven: int) -> None:
    mechanism = Robot.of(family, {}).mechanism
    (limb,) = mechanism.limbs
    assert mechanism.is_chain
    assert tuple(link.parent for link in limb.links) == parents
    assert sum(link.inertia.mass for link in limb.links) == pytest.approx(mass, rel=1e-14)
    assert len(mechanism.actuators) == driven
    assert all(name.isidentifier() for name in (*limb.joints, *mechanism.actuators))
    for link in limb.links:
        moments = np.diag(np.array(link.inertia.tensor, dtype=float))
        assert 2.0 * moments.max() <= moments.sum()


@pytest.mark.parametrize("family", [PLANAR, ROVER, TREE, LEG], ids=lambda each: each.name)
def test_every_parameter_matters_and_is_documented(family: Family) -> None:
    reference = Robot.of(family, {}).mechanism
    names = [each.name for each in family.parameters]
    assert len(set(names)) == len(names)
    for each in family.parameters:
        assert each.unit
        assert each.text
        assert each.source
        assert each.problem(each.default) is None  # type: ignore[arg-type]
        changed = Robot.of(family, {each.name: float(each.default) + 0.5}).mechanism  # type: ignore[arg-type]
        assert changed != reference, each.name


def test_axes_of_the_rover_are_those_of_the_table() -> None:
    axes = [link.axis for link in Robot.of(ROVER, {}).mechanism.limbs[0].links]
    assert [axis.index(1.0) for axis in axes] == [0, 2, 0, 2, 0]


@pytest.mark.parametrize("changed", [{}, {"link_2_origin_x": 0.09, "link_2p_pin_II_y": -0.02, "link_4_pin_x": -0.05}])
def test_the_leg_is_closed_at_rest_whatever_its_lengths(changed: dict[str, float]) -> None:
    robot = Robot.of(LEG, changed)
    at = origins(robot)
    (limb,) = robot.mechanism.limbs
    assert [loop.joint for loop in limb.loops] == ["joint_III", "joint_II", "joint_I"]
    for loop in limb.loops:
        gap = at[loop.a] + loop.frame_a.position - at[loop.b] - loop.frame_b.position
        np.testing.assert_allclose(gap, 0.0, atol=1e-15)


def test_pivots_of_the_leg_are_those_of_the_table() -> None:
    robot = Robot.of(LEG, {})
    at = origins(robot)
    loop = robot.mechanism.limbs[0].loops[0]
    np.testing.assert_allclose(loop.frame_a.position, [-0.0375, 0.0249, 0.0], atol=1e-16)
    np.testing.assert_allclose(at[4], [-0.05, 0.0, 0.0], atol=1e-16)
    np.testing.assert_allclose(at[6], [-0.10, 0.0001, 0.0], atol=1e-16)


def test_a_row_is_a_link_and_its_parameters() -> None:
    row = LinkRow("1", BASE, 2.0, (0.1, 0.2, 0.0), (1.0, 2.0, 3.0))
    names = [each.name for each in parameters([row], "source", "xy")]
    assert names == [
        f"link_1_{name}" for name in ("mass", "centre_x", "centre_y", "inertia_xx", "inertia_yy", "inertia_zz")
    ]
    values = {each.name: each.default for each in parameters([row], "source", "xy")}
    place: Vector = (4.0, 5.0, 6.0)
    (link,) = links([row], values, lambda row: place)
    assert link.placement.position == place
    assert link.inertia.centre == (0.1, 0.2, 0.0)
    assert np.diag(np.array(link.inertia.tensor)).tolist() == [1.0, 2.0, 3.0]
