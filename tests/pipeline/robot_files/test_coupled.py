"""Robot files of platforms whose coordinates follow, of several bodies, with a wrist; axes in any direction; limbs that
differ."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from applications.commands.template import sweep_text
from pipeline.errors import InputError
from pipeline.robot_files.reader import parse_robot, read_description
from pipeline.sweep.model import Sweep
from robots import catalog
from robots.catalog.literature.articulated import par4_parts
from robots.formats import writing
from robots.formats.description import Description, Variant, fill
from robots.model import NO_PLATFORM, Mechanism, Robot
from robots.status import Status
from tasks import equations_of_motion, forward_dynamics, inverse_dynamics, inverse_kinematics
from tasks.dynamics.records import Forces
from tests.pipeline.robot_files.arm import ARM
from tests.pipeline.robot_files.test_reader import FIVE_BAR

EXAMPLES = Path(__file__).parents[3] / "examples" / "robots"
TRIPOD = (EXAMPLES / "3rps.yaml").read_text()
HINGE = "{joint: hinge, body: tool, parent: platform, kind: revolute, axis: z, inertia: {mass: 1, centre: [0.1, 0, 0]}}"
WRIST = TRIPOD + f"  links: [{HINGE}]\n  independent: [hinge]\n  actuated: [hinge]\n"

LEGS = """\
limbsweep: 1
name: legs
limbs:
  leg:
    links:
      - {joint: first, body: cross, parent: base, kind: revolute, axis: x, inertia: {mass: 0}}
      - {joint: second, body: tube, parent: cross, kind: revolute, axis: "y", inertia: {mass: 1, centre: [0, 0, 0.2]}}
      - {joint: slide, body: rod, parent: tube, kind: prismatic, axis: z, inertia: {mass: 0.5}}
    tips:
      - {joint: ball, kind: spherical, a: rod}
    actuated: [slide]
    reference: {slide: 0.6}
instances:
ROWS
platform:
  mobility: [wx, wy, wz, vx, vy, vz]
  home: {position: [0, 0, 0.7]}
  inertia: {mass: 5, moments: [0.1, 0.1, 0.2]}
"""


def read_back(description: Description) -> Description:
    return parse_robot(writing.text(description), "written.yaml")


def test_a_tripod_from_a_sketch_moves_as_that_of_the_catalogue() -> None:
    """Its legs are closed from rough positions; the same geometry gives the same pose and the same ways of the legs."""
    description = read_description(EXAMPLES / "3rps.yaml")
    assert read_back(description) == description
    for values in ({}, {"base_radius": 0.34, "platform_radius": 0.16}):
        ours, theirs = Robot.of(description.family, values), catalog.build("coupled_3rps", **values)
        q = np.random.default_rng(1).uniform(-1, 1, (20, 3)) * (0.08, 0.3, 0.3)
        found, expected = inverse_kinematics(ours, q=q), inverse_kinematics(theirs, q=q)
        assert (found.status == Status.OK).all()
        np.testing.assert_allclose(found.position[:, 0, :6], expected.position[:, 0, :6], atol=1e-12)
        slides = ours.mechanism.limbs[0].index("leg2.slide"), theirs.mechanism.limbs[0].index("limb2.2")
        at_home = [
            inverse_kinematics(robot, q=np.zeros(3)).position[0, k]
            for robot, k in zip((ours, theirs), slides, strict=True)
        ]
        ways = [each.position[:, 0, k] - zero for each, k, zero in zip((found, expected), slides, at_home, strict=True)]
        np.testing.assert_allclose(*ways, atol=1e-12)


SPINS = "[{inertia: 2e-5, carrier: tube, axis: [0, 0, 1], SPIN}]"
DRIVES = f"    drives: [{{name: motor, ratios: {{slide: 300}}, spins: {SPINS}}}]\n"
CURVED = "    drives: [{name: motor, position: 300 * slide + 40 * slide ** 2 + 0.5 * tilt ** 2}]\n"


def test_gears_beside_coordinates_are_the_armature_that_they_make() -> None:
    """Motors behind gears in the legs, a wrist without: forces by the ratio, rotors by its square."""
    geared = WRIST.replace("    reference:", DRIVES.replace(", SPIN", "") + "    reference:")
    plain = WRIST.replace("moments: [0.01, 0.01, 0.001]}}", "moments: [0.01, 0.01, 0.001]}, armature: 1.8}")
    description = parse_robot(geared, "g")
    assert read_back(description) == description
    robots = [Robot.of(entry.family, {"height": 0.52}) for entry in (description, parse_robot(plain, "p"))]
    assert robots[0].mechanism.actuators == ("hinge.drive", "leg1.motor", "leg2.motor", "leg3.motor")
    q, qd, qdd = np.random.default_rng(4).uniform(-1, 1, (3, 6, 4)) * np.array([0.05, 0.2, 0.2, 0.5])
    ours, theirs = (inverse_dynamics(robot, q=q, qd=qd, qdd=qdd) for robot in robots)
    ratios = np.array([1.0, 300.0, 300.0, 300.0])
    np.testing.assert_allclose(ours.force * ratios, theirs.force, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(ours.velocity, theirs.velocity * ratios, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(
        forward_dynamics(robots[0], q=q, qd=qd, forces=Forces(actuator=ours.force)).acceleration,
        qdd,
        rtol=1e-8,
        atol=1e-8,
    )


def test_a_spinning_rotor_turns_with_the_leg_that_carries_it() -> None:
    """Power of the motors is the change of energy, the gyroscopic part of the rotors included."""
    text = TRIPOD.replace("    reference:", DRIVES.replace("SPIN", "coupling: 1") + "    reference:")
    text = text.replace("axis: [0, 0, 1]", "axis: [0, 1, 0]").replace("inertia: 2e-5", "inertia: 2e-2")
    robot, step = Robot.of(parse_robot(text, "r").family, {}), 1e-4
    times = np.array([-2.0, -1.0, 0.0, 1.0, 2.0]) * step
    random = np.random.default_rng(5)
    start, rate, change = random.uniform(-1, 1, (3, 3)) * np.array([[0.05, 0.2, 0.2], [0.5, 1.0, 1.0], [1.0, 2.0, 2.0]])
    q = start + times[:, None] * rate + 0.5 * times[:, None] ** 2 * change
    qd = rate + times[:, None] * change
    terms = equations_of_motion(robot, q=q, qd=qd, gravity=(0.0, 0.0, 0.0))
    energy = 0.5 * np.einsum("ni,nij,nj->n", qd, terms.mass, qd)
    found = inverse_dynamics(robot, q=q[2], qd=qd[2], qdd=change, gravity=(0.0, 0.0, 0.0))
    growth = (energy @ np.array([1.0, -8.0, 0.0, 8.0, -1.0])) / (12.0 * step)
    np.testing.assert_allclose(found.force @ found.velocity, growth, rtol=1e-7)
    calm = robot_without(text, "coupling: 1")
    assert (
        abs(inverse_dynamics(calm, q=q[2], qd=qd[2], qdd=change, gravity=(0.0, 0.0, 0.0)).force - found.force).max()
        > 1e-6
    )


def robot_without(text: str, words: str) -> Robot:
    return Robot.of(parse_robot(text.replace(words, "coupling: 0"), "r").family, {})


def test_a_drive_along_a_curve_beside_coordinates() -> None:
    """The speed of each motor is the slope of its expression times the rates of its own leg, and powers agree."""
    text = TRIPOD.replace("    reference:", CURVED + "    reference:")
    robots = [Robot.of(parse_robot(each, "c").family, {}) for each in (text, TRIPOD)]
    q, qd, qdd = np.random.default_rng(6).uniform(-1, 1, (3, 4, 3)) * np.array([0.05, 0.2, 0.2])
    joints = inverse_kinematics(robots[0], q=q, qd=qd, qdd=qdd)
    ours, theirs = (inverse_dynamics(robot, q=q, qd=qd, qdd=qdd) for robot in robots)
    names = [link.joint for link in robots[0].mechanism.limbs[0].links]
    for k, leg in enumerate(("leg1", "leg2", "leg3")):
        slide, tilt = (names.index(f"{leg}.{name}") for name in ("slide", "tilt"))
        (s, sd), (t, td) = ((joints.position[:, 0, i], joints.velocity[:, 0, i]) for i in (slide, tilt))
        np.testing.assert_allclose(ours.velocity[:, k], (300.0 + 80.0 * s) * sd + t * td, rtol=1e-10)
    powers = [np.einsum("nk,nk->n", each.force, each.velocity) for each in (ours, theirs)]
    np.testing.assert_allclose(*powers, rtol=1e-9)


def test_a_platform_of_several_bodies_is_read_back() -> None:
    robot = catalog.build("par4")
    limb, instances, platform, bodies = par4_parts(robot.values)
    template = Mechanism((limb,), instances, NO_PLATFORM)
    description = Description("par4", "", "", (), (), template, platform=platform, joined=bodies)
    again = read_back(description)
    assert again == description
    # of the catalogue but for its payload, which is nothing
    expected = robot.family.assemble.family.assemble(robot.values)  # type: ignore[attr-defined]
    assert repr(again.family.reference) == repr(expected)


def test_a_wrist_on_a_platform() -> None:
    description = parse_robot(WRIST, "wrist.yaml")
    assert read_back(description) == description
    robot = Robot.of(description.family, {})
    assert robot.mechanism.freedoms == ("platform_z", "platform_pitch", "platform_roll", "hinge")
    assert robot.mechanism.actuators == ("hinge", "leg1.slide", "leg2.slide", "leg3.slide")
    level = inverse_dynamics(robot, q=np.zeros(4), qd=[0, 0, 0, 2.0])
    np.testing.assert_allclose(level.velocity, [2.0, 0.0, 0.0, 0.0], atol=1e-12)
    assert abs(level.force[0]) < 1e-12
    spun = inverse_dynamics(robot, q=np.zeros(4), qdd=[0, 0, 0, 1.0])
    np.testing.assert_allclose(spun.force[0], 0.1**2, rtol=1e-12)  # its one kilogram, 0.1 m from its axis


@pytest.mark.parametrize("axis", [(0.3, -0.4, 0.5), (-0.1, -2.0, 0.3), (0.0, 0.6, 0.8)])
def test_an_axis_in_any_direction_agrees_with_pinocchio(axis: tuple[float, float, float]) -> None:
    pin = pytest.importorskip(
        "pinocchio", reason="no second engine to compare with: Pinocchio (package pin) is missing"
    )
    x, y, z = axis
    text = ARM.replace("axis: z", f"axis: [{x}, {y} * 2 * length, {z}]")
    description = parse_robot(text, "oblique.yaml")
    assert read_back(description) == description
    robot = Robot.of(description.family, {"length": 0.6})
    q, qd, qdd = np.random.default_rng(3).normal(size=(3, 2))
    direction = np.array([x, y * 1.2, z])
    model, place = pin.Model(), pin.SE3(np.eye(3), np.array([0.6, 0.0, 0.0]))
    turning = pin.JointModelRevoluteUnaligned(direction / np.linalg.norm(direction))
    first = model.addJoint(0, turning, pin.SE3.Identity(), "shoulder")
    load = pin.Inertia(2.0, np.array([0.3, 0.0, 0.0]), np.diag([0.0, 0.1, 0.1]))
    model.appendBodyToJoint(first, load, pin.SE3.Identity())
    second = model.addJoint(first, pin.JointModelRevoluteUnaligned(np.array([0.0, -1.0, 0.0])), place, "elbow")
    model.appendBodyToJoint(second, pin.Inertia(1.0, np.zeros(3), np.zeros((3, 3))), pin.SE3.Identity())
    expected = pin.rnea(model, model.createData(), q, qd, qdd)
    np.testing.assert_allclose(inverse_dynamics(robot, q=q, qd=qd, qdd=qdd).force, expected, rtol=1e-12, atol=1e-12)


# --- limbs that are not alike -----------------------------------------------------------------------------------------


def test_a_mirrored_limb_is_that_of_the_other_side() -> None:
    """The Schoenflies robot has elbows to the left and to the right: two limbs of the catalogue, one and its mirror."""
    theirs = catalog.build("schoenflies_4ruu")
    whole = fill(theirs.family.assemble.family.assemble(theirs.values), {})  # type: ignore[attr-defined]
    left = tuple(replace(instance, limb=0) for instance in whole.instances)
    variants = tuple(Variant(mirror="y" if instance.limb else None) for instance in whole.instances)
    description = Description("mirrored", "", "", (), (), replace(whole, limbs=whole.limbs[:1], instances=left))
    description = replace(description, variants=variants)
    assert read_back(description) == description
    ours = Robot.of(description.family, {})
    random, home = np.random.default_rng(4), np.array(whole.platform.home.position)
    twist = random.normal(size=(10, 6)) * [0, 0, 1, 1, 1, 1]
    position = home + random.uniform(-0.04, 0.04, (10, 3))
    found, expected = (inverse_dynamics(robot, position=position, twist=twist) for robot in (ours, theirs))
    sign = np.array([1.0, -1.0, -1.0, 1.0])  # a motor in the mirror turns the other way
    np.testing.assert_allclose(sign * found.force, expected.force, rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(sign[:, None] * found.jacobian, expected.jacobian, rtol=1e-11, atol=1e-12)


def test_a_limb_with_lengths_of_its_own_agrees_with_pinocchio() -> None:
    pytest.importorskip("pinocchio", reason="no second engine to compare with: Pinocchio (package pin) is missing")
    from tests.reference.mechanism_pinocchio import ClosedMechanism

    text = FIVE_BAR.replace("limb: RRR, ", "limb: RRR, values: {distal_length: 1.2 * distal_length}, ", 1)
    assert text != FIVE_BAR
    description = parse_robot(text, "uneven.yaml")
    assert read_back(description) == description
    for values in ({}, {"distal_length": 0.45, "proximal_length": 0.5}):
        robot = Robot.of(description.family, values)
        first, second = robot.mechanism.limbs
        assert first.links[1].inertia.centre != second.links[1].inertia.centre
        peer, home = ClosedMechanism(robot.mechanism), np.array(robot.mechanism.platform.home.position)
        for k in range(3):
            twist, acceleration = np.random.default_rng(k).normal(size=(2, 6)) * [0, 0, 0, 1, 0, 1]
            position = home + np.array([0.05, 0.0, -0.03]) * k
            force = inverse_dynamics(robot, position=position, twist=twist, acceleration=acceleration).force
            expected = peer.solve(position, np.eye(3), twist, acceleration).force
            np.testing.assert_allclose(force, expected, rtol=1e-9)


def test_a_value_of_no_parameter_is_told() -> None:
    text = FIVE_BAR.replace("limb: RRR, ", "limb: RRR, values: {distal_lenght: 1}, ", 1)
    with pytest.raises(
        InputError, match=r"got 'distal_lenght'; expected a parameter of the robot\. Did you mean 'distal_"
    ):
        parse_robot(text, "uneven.yaml")


AGILE = """\
limbsweep: 1
name: eye
limbs:
  arm:
    links:
      - {joint: one, body: proximal, parent: base, kind: revolute, axis: x, inertia: {mass: 0.1}}
      - joint: two
        body: distal
        parent: proximal
        kind: revolute
        axis: y
        placement: {position: [-0.1, 0.1, 0]}
        inertia: {mass: 0.1}
    tips: [{joint: three, kind: revolute, a: distal, frame_a: {position: [0, -0.1, 0.08]}, frame_b: {}}]
    actuated: [one]
    reference: {one: 0.2, two: -0.1}
instances:
  a: {limb: arm, base: {position: [0.1, 0, 0]}, platform: {position: [0, 0, 0.08]}}
  b:
    limb: arm
    base: {rotation: [[0, 0, 1], [1, 0, 0], [0, 1, 0]], position: [0, 0.1, 0]}
    platform: {rotation: [[0, 0, 1], [1, 0, 0], [0, 1, 0]], position: [0.08, 0, 0]}
  c:
    limb: arm
    base: {rotation: [[0, 1, 0], [0, 0, 1], [1, 0, 0]], position: [0, 0, 0.1]}
    platform: {rotation: [[0, 1, 0], [0, 0, 1], [1, 0, 0]], position: [0, 0.08, 0]}
platform:
  mobility: [wx, wy, wz]
  inertia: {mass: 0.3, moments: [0.001, 0.001, 0.001]}
  home: {rotation: HOME}
"""


def test_an_agile_eye_from_a_sketch_is_that_of_the_catalogue() -> None:
    """Its home is turned, equally for all limbs, and the angles of their joints there are not known."""
    turn = Rotation.from_rotvec(np.full(3, 0.15)).as_matrix()
    rows = ", ".join(f"[{', '.join(map(repr, map(float, row)))}]" for row in turn)
    description = parse_robot(AGILE.replace("HOME", f"[{rows}]"), "eye.yaml")
    ours, theirs = Robot.of(description.family, {}), catalog.build("agile_eye")
    poses = Rotation.from_rotvec(np.random.default_rng(2).uniform(-0.3, 0.3, (20, 3))).as_matrix()
    found, expected = (inverse_dynamics(robot, position=np.zeros(3), rotation=poses) for robot in (ours, theirs))
    assert (found.status == Status.OK).all()
    np.testing.assert_allclose(found.jacobian, expected.jacobian, atol=1e-11)


def test_ratings_of_a_parallel_robot_are_limits_and_friction_of_its_first_sweep() -> None:
    rating = "{position: [-1.5, 1.5], velocity: 20, force: 40, viscous: 0.1}"
    description = parse_robot(f"{FIVE_BAR}ratings: {{left.1: {rating}, right.1: {rating}}}\n", "rated.yaml")
    sweep = Sweep.from_text(sweep_text(description.family, writing.flow(description)))
    assert (sweep.limits.joints[0, 0].low, sweep.limits.joints[1, 0].high) == (-1.5, 1.5)
    assert sweep.limits.actuators[1].force == 40.0


def test_legs_that_are_mounted_in_different_ways_close_at_positions_of_their_own() -> None:
    """Six telescopic legs between points without symmetry, from one rough position; two share a place of theirs."""
    places = np.random.default_rng(3).normal(size=(6, 2, 3)) * 0.1
    angles = np.array([0.1, 0.9, 2.0, 3.2, 4.1, 5.3])
    circle = np.stack([np.cos(angles), np.sin(angles), np.zeros(6)], axis=-1)
    base, platform = 0.5 * circle + places[:, 0] * [1, 1, 0.2], 0.2 * circle[::-1] + places[:, 1] * [1, 1, 0.2]
    rows = "".join(
        f"  leg{k}: {{limb: leg, base: {{position: {b.tolist()}}}, platform: {{position: {p.tolist()}}}}}\n"
        for k, (b, p) in enumerate(zip(base, platform, strict=True))
    )
    description = parse_robot(LEGS.replace("ROWS\n", rows), "legs")
    assert [variant.closed_as for variant in description.variants] == ["", *(f"leg{k}" for k in range(1, 6))]
    assert read_back(description) == description
    random, home, found = np.random.default_rng(4), np.array([0.0, 0.0, 0.7]), Robot.of(description.family, {})
    position = home + random.uniform(-0.05, 0.05, (20, 3))
    rotation = Rotation.from_rotvec(random.uniform(-0.2, 0.2, (20, 3))).as_matrix()
    solved = inverse_kinematics(found, position=position, rotation=rotation)
    lengths = np.linalg.norm(position[:, None] + np.einsum("nij,kj->nki", rotation, platform) - base, axis=-1)
    assert not solved.status.any()
    expected = lengths - np.linalg.norm(home + platform - base, axis=-1)
    np.testing.assert_allclose(solved.position[:, :, 2], expected, atol=1e-12)


def test_rough_positions_of_an_instance_stand_in_place_of_those_of_its_limb() -> None:
    rows = TRIPOD.replace("leg1: {", "leg1: {reference: {tilt: 0.3, slide: 0.2}, ")
    description = parse_robot(rows, "legs")
    assert [variant.closed_as for variant in description.variants] == ["leg1", "", ""]
    assert read_back(description) == description
    wrong = rows.replace("tilt: 0.3", "tild: 0.3")
    with pytest.raises(InputError, match=r"instances.leg1.reference.tild: got 'tild'; expected a joint of a link"):
        parse_robot(wrong, "legs")
