"""Loads on links and platforms against other engines: springs are MuJoCo's tendons, wrenches on trees Pinocchio's."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
import pytest

from robots import catalog
from robots.loads.declared import ObjectLoad, SpringLoad, WrenchLoad
from robots.loads.family import with_loads
from robots.model import PLATFORM, Robot
from tasks import forward_dynamics, inverse_dynamics, inverse_kinematics, joint_reactions
from tasks.dynamics.records import Forces
from tests.tasks.regions import states
from tests.tasks.trees import engine as pinocchio

CLOSE = 1e-10
"""Of the largest value. Seen: 3e-12."""


@pytest.fixture(scope="module")
def mujoco() -> ModuleType:
    pytest.importorskip("mujoco", reason="MuJoCo is missing")
    from tests.reference import mechanism_mujoco

    return mechanism_mujoco


def body_name(robot: Robot, name: str) -> str:
    """Return the name of a body in the reference in MuJoCo."""
    if name == "platform":
        return name
    limb, link = name.split(".", 1)
    number = [instance.name for instance in robot.mechanism.instances].index(limb)
    links = robot.mechanism.limbs[robot.mechanism.instances[number].limb].links
    return f"{number}.{next(entry.joint for entry in links if entry.body == link)}"


def first_links(robot: Robot, limb: int) -> list[str]:
    instance = robot.mechanism.instances[limb]
    return [f"{instance.name}.{link.body}" for link in robot.mechanism.limbs[instance.limb].links]


def loads_on(robot: Robot) -> dict[str, Any]:
    """Springs and wrenches on links of single limbs and on the platform, all of their numbers other than zero."""
    own, other = first_links(robot, 0), first_links(robot, 1)
    return {
        "near": SpringLoad(own[0], 310.0, (0.1, 0.02, -0.03), (0.05, -0.1, 0.4), 0.15, 7.0),
        "far": SpringLoad("platform", 90.0, (0.02, 0.03, 0.01), (0.3, 0.1, 0.2), 0.05, 11.0),
        "push": WrenchLoad(other[-1], (3.0, -2.0, 5.0), (0.3, 0.1, -0.2), (0.1, 0.0, 0.05), "link"),
        "wind": WrenchLoad(own[-1], (-4.0, 1.0, 2.0), (0.1, 0.2, 0.3), (0.0, 0.1, 0.0), "world"),
        "tool": WrenchLoad("platform", (5.0, 4.0, -8.0), (0.5, 0.2, 0.3), (0.05, 0.0, -0.1), "platform"),
    }


@pytest.mark.parametrize("name", ["delta_3rr2rrr", "irsbot2"])
def test_forces_of_parallel_robots_are_those_of_mujoco(name: str, mujoco: ModuleType) -> None:
    robot = catalog.build(name)
    loads, count = loads_on(robot), 3
    springs = [
        mujoco.Spring(body_name(robot, x.body), x.at, x.to, x.stiffness, x.rest_length, x.damping)
        for x in loads.values()
        if isinstance(x, SpringLoad)
    ]
    pushes = [
        mujoco.Push(body_name(robot, x.body), x.at, x.force, x.moment, x.axes != "world")
        for x in loads.values()
        if isinstance(x, WrenchLoad)
    ]
    loaded, motion = with_loads(robot, loads), states(robot, count, seed=5)
    engine = mujoco.ClosedMechanism(robot.mechanism, springs=springs)
    found = inverse_dynamics(loaded, **motion._asdict()).force
    joints = inverse_kinematics(robot, **motion._asdict())
    bare = inverse_dynamics(robot, **motion._asdict()).force
    for k in range(count):
        assert engine.place(joints.position[k, :, : engine.count], motion.position[k], motion.rotation[k]) < 1e-13
        expected = engine.solve(motion.twist[k], motion.acceleration[k], pushes).force
        assert np.abs(found[k] - expected).max() < CLOSE * np.abs(expected).max()
        assert np.abs(bare[k] - expected).max() > 1e-3 * np.abs(expected).max()


def tree_of(robot: Robot, *, afloat: bool = False) -> Any:
    """A chain as a tree; `afloat` on a base that slides along x, y, z and turns about z, y, x."""
    engine = pinocchio()
    (limb,) = robot.mechanism.limbs
    ways = [("prismatic", axis) for axis in range(3)] + [("revolute", axis) for axis in (2, 1, 0)]
    below = [
        engine.TreeBody(k - 1, np.eye(3), np.zeros(3), np.eye(3)[axis], kind, 0.0, np.zeros(3), np.zeros((3, 3)))
        for k, (kind, axis) in enumerate(ways if afloat else ())
    ]
    bodies = [
        engine.TreeBody(
            link.parent + len(below), link.placement.rotation, link.placement.position, link.axis, link.kind,
            link.inertia.mass, link.inertia.centre, link.inertia.tensor,
        )
        for link in limb.links
    ]  # fmt: skip
    return engine.tree_pinocchio([*below, *bodies])


def test_forces_and_reactions_of_an_arm_are_those_of_pinocchio() -> None:
    robot = catalog.build("ur5e")
    tree, rng = tree_of(robot), np.random.default_rng(3)
    import pinocchio as pin

    links = [link.body for link in robot.mechanism.limbs[0].links]
    spring = SpringLoad(links[1], 500.0, (-0.2, 0.03, 0.1), (0.1, 0.2, 0.5), 0.12, 9.0, 4.0)
    world = WrenchLoad(links[-1], (10.0, -20.0, 5.0), (1.0, 2.0, -3.0), (0.02, 0.01, 0.1), "world")
    tool = WrenchLoad(links[3], (1.0, -2.0, 5.0), (0.1, 0.2, -0.3), (0.02, 0.01, 0.1), "link")
    grasped = ObjectLoad(links[-1], 2.5, (0.01, -0.02, 0.1), (0.01, 0.02, 0.03))
    arm = with_loads(robot, {"spring": spring, "world": world, "tool": tool, "grasped": grasped})
    joints = len(links)
    for q, qd, qdd in rng.normal(size=(4, 3, joints)):
        model, data = tree.model.copy(), tree.model.createData()
        inertia = pin.Inertia(2.5, np.array(grasped.at), np.diag(np.array(grasped.inertia, dtype=float)))
        model.inertias[tree.joint[-1]] += inertia
        inner = [tree.inner(x) for x in (q, qd, qdd)]
        pin.forwardKinematics(model, data, *inner)
        outer = pin.StdVec_Force()
        outer.extend([pin.Force.Zero() for _ in range(model.njoints)])
        for body, load in ((1, spring), (joints - 1, world), (3, tool)):
            place, motion = data.oMi[tree.joint[body]], data.v[tree.joint[body]]
            arm_, turn = np.array(load.at), place.rotation
            if isinstance(load, SpringLoad):
                gap = place.act(arm_) - np.array(load.to)
                length = np.linalg.norm(gap)
                speed = turn @ (motion.linear + np.cross(motion.angular, arm_))
                pull = 4.0 + 500.0 * (length - 0.12) + 9.0 * (speed @ gap) / length
                force, moment = turn.T @ (-pull * gap / length), np.zeros(3)
            else:
                back = turn.T if load.axes == "world" else np.eye(3)
                force, moment = back @ np.array(load.force), back @ np.array(load.moment)
            outer[tree.joint[body]] += pin.Force(force, moment + np.cross(arm_, force))
        expected = np.asarray(pin.rnea(model, data, *inner, outer))[list(tree.slot)]
        armature = np.array([link.armature for link in robot.mechanism.limbs[0].links])
        expected = expected + armature * qdd
        found = inverse_dynamics(arm, q=q, qd=qd, qdd=qdd).force
        assert np.abs(found - expected).max() < CLOSE * np.abs(expected).max()
        wrenches = joint_reactions(arm, q=q, qd=qd, qdd=qdd).wrench[0]
        pin.forwardKinematics(model, data, inner[0])
        for body, number in enumerate(tree.joint):
            turn, carried = data.oMi[number].rotation, data.f[number]
            theirs = np.concatenate([turn @ carried.angular, turn @ carried.linear])
            assert np.abs(wrenches[body] - theirs).max() < CLOSE * np.abs(theirs).max()


@pytest.mark.parametrize("name", ["gough_stewart", "ur5e"])
def test_forward_dynamics_gives_back_the_accelerations(name: str) -> None:
    robot = catalog.build(name)
    if robot.mechanism.is_chain:
        links = [link.body for link in robot.mechanism.limbs[0].links]
        loads: dict[str, Any] = {"s": SpringLoad(links[2], 200.0, (0.1, 0.0, 0.0), (0.2, 0.0, 0.5), 0.1, 5.0)}
        loads["w"] = WrenchLoad(links[-1], (1.0, 2.0, 3.0), axes="link")
        rng = np.random.default_rng(4)
        q, qd, expected = rng.normal(size=(3, 2, len(links)))
        loaded = with_loads(robot, loads)
        state = {"q": q, "qd": qd}
        force = inverse_dynamics(loaded, **state, qdd=expected).force
    else:
        loaded, motion = with_loads(robot, loads_on(robot)), states(robot, 2, seed=6)._asdict()
        expected = motion["acceleration"]
        state = {key: value for key, value in motion.items() if key != "acceleration"}
        force = inverse_dynamics(loaded, **motion).force
    for found in (
        forward_dynamics(loaded, forces=Forces(actuator=force), **state).acceleration,
        forward_dynamics(loaded, forces=Forces(actuator=force), **state).acceleration,
    ):
        assert np.abs(found - expected).max() < CLOSE * np.abs(expected).max()


def test_a_load_on_one_of_several_like_limbs_leaves_the_others_as_they_are() -> None:
    robot = catalog.build("delta_3rr2rrr")
    loaded = with_loads(robot, {"push": WrenchLoad("limb2.arm", (0.0, 0.0, -5.0))}).mechanism
    assert [bool(loaded.limbs[instance.limb].forces) for instance in loaded.instances] == [False, True, False]
    assert not with_loads(robot, {"o": ObjectLoad("platform", 1.0)}).mechanism.has_forces
    assert PLATFORM not in {element.body for limb in loaded.limbs for element in limb.forces}
