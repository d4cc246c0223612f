"""Reactions that statics leaves open, by the elasticity of bearings: beside the stiffness method on all bodies."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import limbsweep as ls
from robots import catalog
from robots.criteria.elasticity import Elasticity
from robots.joint_kinds import JOINT_KINDS
from robots.model import PLATFORM, Robot
from robots.types import BASE
from tasks.arrays.bodies import body_motion, inertial_wrench

GRAVITY = (1.0, -3.0, -9.81)
MOVING: dict[str, dict[str, Any]] = {
    "tripteron": {
        "position": [0.02, -0.03, 0.01],
        "twist": [0.0, 0.0, 0.0, 0.3, -0.2, 0.1],
        "acceleration": [0.0, 0.0, 0.0, 2.0, 1.0, -1.0],
    },
    "five_bar": {"position": [0.05, 0.0, -0.6], "twist": [0.0, 0.0, 0.0, 0.4, 0.0, -0.3]},
    "three_loop_leg": {"q": [0.3], "qd": [1.0], "qdd": [2.0]},
    "palletiser": {"q": [0.2, 0.1, -0.15, 0.3], "qd": [0.5, -0.3, 0.2, 0.1], "qdd": [1.0, 2.0, -1.0, 0.5]},
}


def moving_of(robot: Robot, name: str) -> dict[str, Any]:
    state = dict(MOVING[name])
    if "position" in state and name == "tripteron":
        state["position"] = np.add(robot.mechanism.platform.home.position, state["position"])
    return state


def cross(v: np.ndarray) -> np.ndarray:
    x, y, z = v
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])


def network(robot: Robot, state: dict[str, Any], soft: Elasticity) -> np.ndarray:
    """Wrenches in all joints: rigid bodies between springs of six components, loads and drives on them, solved at once.

    Displacements of a body are (turn, shift of the point of the world's origin).
    """
    motion, mechanism = body_motion(robot, **state), robot.mechanism
    forces = np.asarray(ls.inverse_dynamics(robot, gravity=GRAVITY, **state))
    names = [(k, i) for k, x in enumerate(mechanism.instances) for i in range(len(mechanism.limbs[x.limb].links))]
    place = {name: 6 * n for n, name in enumerate([*names, "platform"])}
    size = 6 * len(place) if not mechanism.is_chain else 6 * len(names)
    stiffness, load, springs, actuator = np.zeros((size, size)), np.zeros(size), [], 0
    for k, instance in enumerate(mechanism.instances):
        limb, bodies = mechanism.limbs[instance.limb], motion.limbs[k]
        for i, link in enumerate(limb.links):
            at = place[k, i]
            wrench = inertial_wrench(link.inertia, bodies[i], GRAVITY)
            load[at : at + 3] -= wrench[:3] + np.cross(bodies[i].position, wrench[3:])
            load[at + 3 : at + 6] -= wrench[3:]
        joints = []
        for i, link in enumerate(limb.links):
            axis, kind = int(np.flatnonzero(link.axis)[0]), JOINT_KINDS[link.kind]
            free = [axis + (0 if kind.turns else 3)]
            push = np.zeros(6)
            if link.joint in limb.actuated:
                push[free[0]] = link.axis[axis] * forces[actuator]
                actuator += 1
            parent = None if link.parent == BASE else (k, link.parent)
            joints.append((parent, (k, i), bodies[i].position, bodies[i].rotation, free, push))
        for cut in limb.cuts:
            assert cut.kind == "revolute"
            frame, base = np.array(cut.frame_a.rotation, dtype=float), cut.a == BASE
            turn = np.array(instance.base.rotation) @ frame if base else bodies[cut.a].rotation @ frame
            point = bodies[cut.a].point(cut.frame_a.position)
            child: Any = "platform" if cut.b == PLATFORM else (k, cut.b)
            joints.append(((k, cut.a), child, point, turn, [2], np.zeros(6)))
        for number, (parent, child, point, turn, free, push) in enumerate(joints):
            compliance = np.array(soft.joints[k, number])
            keep = np.setdiff1d(np.arange(6), free)
            rows = np.zeros((6, size))
            at_point = np.block([[np.eye(3), np.zeros((3, 3))], [-cross(point), np.eye(3)]])
            local = np.block([[turn.T, np.zeros((3, 3))], [np.zeros((3, 3)), turn.T]]) @ at_point
            rows[:, place[child] : place[child] + 6] += local
            if parent is not None:
                rows[:, place[parent] : place[parent] + 6] -= local
            springs.append((k, number, rows, keep, 1.0 / compliance[keep], turn, push))
            stiffness += rows[keep].T @ np.diag(1.0 / compliance[keep]) @ rows[keep]
            load += rows.T @ push
    if not mechanism.is_chain:
        at, body = place["platform"], motion.platform
        wrench = inertial_wrench(mechanism.platform.inertia, body, GRAVITY)
        load[at : at + 3] -= wrench[:3] + np.cross(body.position, wrench[3:])
        load[at + 3 : at + 6] -= wrench[3:]
    shifts, *_ = np.linalg.lstsq(stiffness, load, rcond=1e-11)
    assert np.abs(stiffness @ shifts - load).max() < 1e-8 * np.abs(load).max()
    most = max(len(mechanism.limbs[x.limb].joints) for x in mechanism.instances)
    result = np.full((len(mechanism.instances), most, 6), np.nan)
    for k, number, rows, keep, springiness, turn, push in springs:
        inside = push.copy()
        inside[keep] -= springiness * (rows[keep] @ shifts)
        result[k, number] = np.concatenate([turn @ inside[:3], turn @ inside[3:]])
    return result


SLOW = {"three_loop_leg"}


@pytest.mark.parametrize("name", [pytest.param(x, marks=pytest.mark.slow if x in SLOW else ()) for x in MOVING])
def test_reactions_are_those_of_bodies_between_springs(name: str) -> None:
    robot, rng = catalog.build(name), np.random.default_rng(4)
    soft = Elasticity(joints={
        (k, i): tuple(np.concatenate([rng.uniform(0.5, 2.0, 3) * 1e-2, rng.uniform(0.5, 2.0, 3) * 1e-3]))
        for k, x in enumerate(robot.mechanism.instances)
        for i in range(len(robot.mechanism.limbs[x.limb].joints))
    })  # fmt: skip
    state = moving_of(robot, name)
    reactions = ls.joint_reactions(robot, gravity=GRAVITY, elasticity=soft, **state)
    expected, size = network(robot, state, soft), np.nanmax(np.abs(reactions))
    np.testing.assert_allclose(reactions, expected, atol=1e-7 * size)
    assert np.nanmax(np.abs(reactions - ls.joint_reactions(robot, gravity=GRAVITY, **state))) > 1e-3 * size


def test_the_stiffness_of_all_alike_decides_by_its_ratios_alone() -> None:
    robot, state = catalog.build("five_bar"), moving_of(catalog.build("five_bar"), "five_bar")
    parts = [
        Elasticity.of(robot.mechanism, joints={"all": (1e4 * f, 1e4 * f, 1e4 * f, 1e6 * f, 1e6 * f, 1e6 * f)})
        for f in (1.0, 50.0)
    ]
    soft, stiff = (ls.joint_reactions(robot, gravity=GRAVITY, elasticity=x, **state) for x in parts)
    np.testing.assert_allclose(soft, stiff, atol=1e-9 * np.abs(soft).max())


@pytest.mark.parametrize(
    ("soft", "text"),
    [
        ({"actuators": {"all": 1e4}}, "got actuators that give way alone"),
        ({"joints": {"left.1": (1e3,) * 6}}, "got limb right, which is rigid under a part of what statics leaves open"),
    ],
)
def test_what_leaves_reactions_open_is_refused(soft: Any, text: str) -> None:
    robot = ls.robots.build("five_bar")
    with pytest.raises(ValueError, match=text):
        ls.joint_reactions(robot, position=[0.05, 0.0, -0.6], elasticity=Elasticity.of(robot.mechanism, **soft))


@pytest.mark.slow
def test_a_sweep_shares_loads_and_friction_follows_them() -> None:
    law = {"law": "coulomb_viscous", "load": "reaction", "joints": "actuated"}
    values = {"coulomb": 0.05, "pin_radius": 0.01, "width": 0.1}
    sweep: dict[str, Any] = {
        "robot": "three_loop_leg",
        "gravity": [0, -9.8, 0.5],
        "friction": {**law, "parameters": values},
        "trajectories": {"fast": {"kind": "harmonic", "centre": 0.3, "amplitude": 0.2, "period": 1.0}},
        "time": {"stop": 0.2, "step": 0.1},
        "criteria": {"stiffness": {"joints": {"all": {"moments": [1e3] * 3, "forces": [1e6] * 3}}, "reactions": True}},
        "outputs": ["joint_reaction", "actuator_force", "joint_position", "joint_velocity", "joint_acceleration"],
    }
    shared = ls.compute(ls.Sweep.from_dict(sweep)).squeeze()
    assert (shared["status"] == 0).all()
    robot = ls.robots.build("three_loop_leg")
    soft = Elasticity.of(robot.mechanism, joints={"all": (1e3, 1e3, 1e3, 1e6, 1e6, 1e6)})
    place = robot.mechanism.limbs[0].joints.index(robot.mechanism.freedoms[0])
    motion = (shared[f"joint_{name}"].transpose("time", "joint") for name in ("position", "velocity", "acceleration"))
    q, qd, qdd = (values.values[:, [place]] for values in motion)
    options: Any = {"gravity": (0, -9.8, 0.5), "friction": {**law, **values}, "elasticity": soft}
    own = ls.joint_reactions(robot, q=q, qd=qd, qdd=qdd, **options)
    np.testing.assert_allclose(shared["joint_reaction"].transpose("time", ...), own[:, 0], rtol=1e-8, atol=1e-8)
    even = ls.compute(ls.Sweep.from_dict({key: x for key, x in sweep.items() if key != "criteria"})).squeeze()
    assert (abs(even["actuator_force"] - shared["actuator_force"]) > 1e-4).all()
    with pytest.raises(ls.InputError, match="expected a metric of a robot with a platform"):
        ls.Sweep.from_dict({**sweep, "metrics": ["least_stiffness"]})
    with pytest.raises(ls.InputError, match="got criteria of a chain; expected a robot with a platform"):
        ls.Sweep.from_dict({**sweep, "criteria": {"stiffness": {"joints": {"all": {"forces": [1e6] * 3}}}}})
