"""Mobility of the platform of a robot at its reference pose, by the rank of all velocities there."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from pipeline.errors import InputError
from pipeline.robot_files.reader import parse_robot
from robots import catalog
from robots.formats.checks import FormatFinding, check
from robots.formats.mobility import check_home
from robots.model import Mechanism, Robot
from robots.types import TWIST

RODS = """\
limbsweep: 1
name: rods
limbs:
  leg:
    links:
      - {joint: slide, body: carriage, parent: base, kind: prismatic, axis: x, inertia: {mass: 1}}
      - {joint: pin, body: rod, parent: carriage, kind: revolute, axis: z,
         inertia: {mass: 0.5, moments: [0.01, 0.01, 0.01]}}
    tips:
      - {joint: last, kind: revolute, a: rod, frame_a: {position: [0.3, 0, 0]}}
    actuated: [slide]
instances:
  a: {limb: leg, base: {position: [-0.4, 0, 0]}, platform: {position: [-0.1, 0, 0]}}
  b:
    limb: leg
    base: {turn: {z: 120}, position: [0.2, -0.2 * sqrt(3), 0]}
    platform: {turn: {z: 120}, position: [0.05, -0.05 * sqrt(3), 0]}
  c:
    limb: leg
    base: {turn: {z: -120}, position: [0.2, 0.2 * sqrt(3), 0]}
    platform: {turn: {z: -120}, position: [0.05, 0.05 * sqrt(3), 0]}
platform:
  mobility: [wz, vx, vy]
  inertia: {mass: 2, moments: [0.1, 0.1, 0.1]}
"""

PLATFORMS = [name for name in catalog.FAMILIES if not catalog.build(name).mechanism.is_chain]


def found(mechanism: Mechanism) -> list[FormatFinding]:
    return list(check_home(mechanism))


def hexapod(base: float, platform: float, size: float = 1.0) -> Mechanism:
    """A Gough-Stewart platform by the half angles of its pairs of joints [deg] and its size."""
    lengths = {name: size * value for name, value in (("base_radius", 3), ("platform_radius", 1), ("home_height", 2))}
    return catalog.build("gough_stewart", base_half_angle=base, platform_half_angle=platform, **lengths).mechanism


@pytest.mark.parametrize("name", list(catalog.FAMILIES))
def test_robots_of_the_catalogue_are_sound(name: str) -> None:
    mechanism = catalog.build(name).mechanism
    assert found(mechanism) == []
    assert not [each for each in check(mechanism) if each.path[-1] == "mass"]


@pytest.mark.parametrize("size", [0.01, 1.0, 30.0])
@pytest.mark.parametrize(("base", "platform"), [(5, 55), (20, 40), (30, 30), (45, 15)])
def test_similar_hexagons_are_singular_whatever_their_size(base: float, platform: float, size: float) -> None:
    (finding,) = found(hexapod(base, platform, size))
    assert finding.path == ("platform", "home")
    assert finding.got.startswith("a singular pose: with all actuators held the platform moves along w")
    assert found(hexapod(base, platform + 1.0, size)) == []


@pytest.mark.parametrize("name", PLATFORMS)
def test_every_freedom_that_the_limbs_do_not_allow_is_named(name: str) -> None:
    mechanism = catalog.build(name).mechanism
    missing = [each for each in TWIST if each not in mechanism.platform.mobility and (name, each) != ("five_bar", "wy")]
    for each in missing:
        wider = tuple(twist for twist in TWIST if twist in (*mechanism.platform.mobility, each))
        (finding,) = found(replace(mechanism, platform=replace(mechanism.platform, mobility=wider)))
        assert finding.path == ("platform", "mobility")
        assert finding.got.startswith(f"{each}, in which the limbs let nothing move")


@pytest.mark.parametrize("name", PLATFORMS)
def test_a_robot_whose_actuators_are_too_few_is_not_held(name: str) -> None:
    mechanism = catalog.build(name).mechanism
    limbs = tuple(replace(limb, actuated=(), drives=()) for limb in mechanism.limbs)
    (finding,) = found(replace(mechanism, limbs=limbs))
    assert finding.path == ("platform", "home")


def test_a_redundant_robot_keeps_its_pose_without_one_limb_that_drives() -> None:
    mechanism = catalog.build("delta_4rr2rrr").mechanism
    passive = replace(mechanism.limbs[0], name="passive", actuated=())
    instances = (*mechanism.instances[:3], replace(mechanism.instances[3], limb=len(mechanism.limbs)))
    assert found(replace(mechanism, limbs=(*mechanism.limbs, passive), instances=instances)) == []
    instances = (
        *mechanism.instances[:2],
        *(replace(each, limb=len(mechanism.limbs)) for each in mechanism.instances[2:]),
    )
    assert len(found(replace(mechanism, limbs=(*mechanism.limbs, passive), instances=instances))) == 1


def test_a_last_link_without_mass_is_named() -> None:
    arm = Robot.of(catalog.FAMILIES["five_axis_tree"], {}).mechanism
    (limb,) = arm.limbs
    nothing = replace(limb.links[-1].inertia, mass=0.0, tensor=((0.0,) * 3,) * 3)
    last = replace(limb.links[-1], inertia=nothing, armature=0.0)
    bare = replace(arm, limbs=(replace(limb, links=(*limb.links[:-1], last)),))
    assert [each.expected for each in check(bare)] == ["a mass above 0 of the last body"]
    turned = replace(bare.limbs[0].links[-1], armature=1e-4)
    assert not list(check(replace(arm, limbs=(replace(limb, links=(*limb.links[:-1], turned)),))))


def test_a_freedom_that_actuators_move_and_the_mobility_leaves_out_is_named() -> None:
    mechanism = catalog.build("delta_3rr2rrr").mechanism
    (finding,) = found(replace(mechanism, platform=replace(mechanism.platform, mobility=("vx", "vy"))))
    assert finding.path == ("platform", "mobility")
    assert finding.got == "2 freedoms where limbs and actuators move 3: vz too"


def test_a_mobility_that_is_one_at_the_reference_pose_alone_asks_for_coordinates() -> None:
    text = Path("examples/robots/3rps.yaml").read_text("utf-8")
    with pytest.raises(InputError) as caught:
        parse_robot(text.replace("coordinates: [z, pitch, roll]", "mobility: [wx, wy, vz]"), "tripod")
    assert "got wx, wy, vz, along which the limbs let nothing move further than from the reference" in str(caught.value)
    assert "Name coordinates: [z, pitch, roll] in place of mobility" in str(caught.value)


def test_what_the_limbs_allow_is_counted_at_the_reference_pose_and_beside_it() -> None:
    text = Path("examples/robots/3rps.yaml").read_text("utf-8")
    with pytest.raises(InputError, match="nothing move at the reference pose") as caught:
        parse_robot(text.replace("coordinates: [z, pitch, roll]", "mobility: [vx, vy, vz]"), "tripod")
    assert "They allow 3 freedoms (wx, wy, vz) there." in str(caught.value)
    with pytest.raises(InputError, match="with all actuators held the platform moves along wz") as caught:
        parse_robot(RODS, "rods")
    assert "They hold it near this pose: choose another reference pose." in str(caught.value)
