"""Reactions that statics leaves open, by the elasticity of bearings: beside the stiffness method on all bodies."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

import limbsweep as ls
from applications.identification.recordings import refuse_unmodelled
from robots import catalog
from robots.criteria.elasticity import Elasticity
from robots.friction.groups import LOADS
from robots.joint_kinds import JOINT_KINDS
from robots.model import PLATFORM, Robot
from robots.types import BASE
from storage.errors import StoreError
from tasks.dynamics.body_motions import inertial_wrench
from tasks.dynamics.inverse import body_motion
from tasks.dynamics.simulate import simulate
from tasks.features.friction.inputs import friction_input
from tests.arguments import in_records

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


Place = tuple[int, int]
"""A joint: number of the limb, and in `Limb.joints`."""


def network(
    robot: Robot, state: dict[str, Any], soft: Elasticity, *,
    forces: np.ndarray | None = None, friction: Mapping[Place, float] | None = None,
) -> np.ndarray:  # fmt: skip
    """Wrenches in all joints: rigid bodies between springs of six components, loads and drives on them, solved at once.

    Displacements of a body are (turn, shift of the point of the world's origin). forces: of the actuators, without
    those that the motion takes; friction: against the motion of joints.
    """
    motion, mechanism = body_motion(robot, **state), robot.mechanism
    if forces is None:
        forces = np.asarray(ls.inverse_dynamics(robot, gravity=GRAVITY, **state).force)
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
            sign = sum(limb.links[number].axis) if number < len(limb.links) else 1.0
            push[free[0]] -= sign * (friction or {}).get((k, number), 0.0)
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


def uneven(robot: Robot) -> Elasticity:
    rng = np.random.default_rng(4)
    return Elasticity(joints={
        (k, i): tuple(np.concatenate([rng.uniform(0.5, 2.0, 3) * 1e-2, rng.uniform(0.5, 2.0, 3) * 1e-3]))
        for k, x in enumerate(robot.mechanism.instances)
        for i in range(len(robot.mechanism.limbs[x.limb].joints))
    })  # fmt: skip


SLOW = {"three_loop_leg"}


@pytest.mark.parametrize("name", [pytest.param(x, marks=pytest.mark.slow if x in SLOW else ()) for x in MOVING])
def test_reactions_are_those_of_bodies_between_springs(name: str) -> None:
    robot = catalog.build(name)
    soft, state = uneven(robot), moving_of(robot, name)
    reactions = ls.joint_reactions(robot, gravity=GRAVITY, forces=ls.Forces(elasticity=soft), **state).wrench
    expected, size = network(robot, state, soft), np.nanmax(np.abs(reactions))
    np.testing.assert_allclose(reactions, expected, atol=1e-7 * size)
    assert np.nanmax(np.abs(reactions - ls.joint_reactions(robot, gravity=GRAVITY, **state).wrench)) > 1e-3 * size


RUBBING = {
    "law": "coulomb_viscous", "load": "reaction", "joints": "all", "coulomb": 0.1, "viscous": 0.02, "pin_radius": 0.02,
}  # fmt: skip


def without_acceleration(state: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in state.items() if name not in ("acceleration", "qdd")}


BOTH_WAYS = ["five_bar", *(pytest.param(name, marks=pytest.mark.slow) for name in ("tripteron", "palletiser"))]


@pytest.mark.parametrize("name", BOTH_WAYS)
def test_forward_dynamics_goes_back_to_the_motion_whose_loads_elasticity_shares(name: str) -> None:
    robot = catalog.build(name)
    soft, state = uneven(robot), moving_of(robot, name)
    options: Any = {"gravity": GRAVITY, "friction": RUBBING}
    force = ls.inverse_dynamics(robot, **in_records(forces=ls.Forces(elasticity=soft), **options, **state)).force
    at = without_acceleration(state)
    moving = ls.forward_dynamics(
        robot, **in_records(forces=ls.Forces(elasticity=soft, actuator=force), **options, **at)
    )
    asked = np.asarray(state.get("acceleration", state.get("qdd", np.zeros(6))))
    assert moving.status == 0
    np.testing.assert_allclose(moving.acceleration, asked, atol=1e-9)
    even = ls.forward_dynamics(robot, **in_records(forces=ls.Forces(actuator=force), **options, **at))
    assert np.abs(even.acceleration - asked).max() > 1e-3


def test_friction_in_forward_dynamics_is_that_of_its_law_at_the_loads_of_bodies_between_springs() -> None:
    robot = catalog.build("five_bar")
    soft, state, force = uneven(robot), moving_of(robot, "five_bar"), np.array([3.0, -12.0])
    rubbing = {**RUBBING, "joints": ["1", "2"]}  # its point turns freely on both of the others
    at: Any = without_acceleration(state)
    moving = ls.forward_dynamics(
        robot, gravity=GRAVITY, forces=ls.Forces(friction=rubbing, elasticity=soft, actuator=force), **at
    )
    state["acceleration"] = moving.acceleration
    places = friction_input(robot, rubbing).groups[0].places
    friction = {(place.limb, place.joint): float(x) for place, x in zip(places, moving.friction, strict=True)}
    wrenches = network(robot, state, soft, forces=force, friction=friction)
    rates = ls.inverse_kinematics(robot, **state).velocity
    loads = {parameter.name: parameter.scalar for parameter in LOADS["reaction"]} | {"pin_radius": 0.02}
    for (k, i), tau in friction.items():  # all axes are along y
        moment, push = wrenches[k, i, [0, 2]], wrenches[k, i, [3, 5]]
        side = np.linalg.norm(moment) / loads["bending_arm"] + np.linalg.norm(push)
        load = side * loads["pin_radius"] + abs(wrenches[k, i, 4]) * loads["friction_arm"]
        assert tau == pytest.approx(np.sign(rates[k, i]) * 0.1 * load + 0.02 * rates[k, i], abs=1e-9)


def test_a_simulated_sweep_shares_loads_as_motion_on_arrays_does() -> None:
    robot = catalog.build("five_bar")
    left, right = {"moments": [1e2, 2e2, 3e2], "forces": [5e2, 1e3, 2e3]}, {"moments": [3e2] * 3, "forces": [9e2] * 3}
    sweep: dict[str, Any] = {
        "robot": "five_bar",
        "gravity": list(GRAVITY),
        "friction": {"law": "coulomb_viscous", "load": "reaction", "joints": "passive",
                     "parameters": {"coulomb": 0.1, "viscous": 0.02, "pin_radius": 0.02}},
        "time": {"stop": 0.02, "step": 0.01},
        "simulation": {"step": 0.002},
        "criteria": {"stiffness": {"joints": {"left.*": left, "right.*": right}, "reactions": True}},
        "outputs": ["platform_position"],
    }  # fmt: skip
    swept = ls.compute(ls.Sweep.from_dict(sweep)).squeeze()["platform_position"].transpose("time", ...).values
    parts = {"left.*": (*left["moments"], *left["forces"]), "right.*": (*right["moments"], *right["forces"])}
    soft = Elasticity.of(robot.mechanism, joints=parts)
    rubbing = {**RUBBING, "joints": "passive"}
    home: Any = {"position": robot.mechanism.platform.home.position}
    options: Any = {"force": np.zeros(2), "friction": rubbing, "step": 0.002, "steps": 10, "every": 5, **home}
    own, other = (simulate(robot, elasticity=x, gravity=GRAVITY, **options).position for x in (soft, uneven(robot)))
    np.testing.assert_allclose(swept, own, atol=1e-13)
    assert np.abs(own - other).max() > 1e-8


def test_recordings_whose_friction_hangs_on_elasticity_are_not_fitted() -> None:
    sweep: dict[str, Any] = {
        "robot": "five_bar",
        "friction": {"law": "coulomb_viscous", "load": "reaction", "parameters": {"coulomb": 0.1}},
        "trajectories": {"circle": {"kind": "circle", "radius": 0.05, "normal": [0, 1, 0]}},
        "time": {"stop": 0.1, "step": 0.01},
        "criteria": {"stiffness": {"joints": {"all": {"moments": [1e3] * 3, "forces": [1e6] * 3}}, "reactions": True}},
        "outputs": ["actuator_force"],
    }
    with pytest.raises(StoreError, match="depends on reactions that the section criteria shares by elasticity"):
        refuse_unmodelled(ls.Sweep.from_dict(sweep), "s.zarr")


def test_the_stiffness_of_all_alike_decides_by_its_ratios_alone() -> None:
    robot, state = catalog.build("five_bar"), moving_of(catalog.build("five_bar"), "five_bar")
    parts = [
        Elasticity.of(robot.mechanism, joints={"all": (1e4 * f, 1e4 * f, 1e4 * f, 1e6 * f, 1e6 * f, 1e6 * f)})
        for f in (1.0, 50.0)
    ]
    soft, stiff = (
        ls.joint_reactions(robot, gravity=GRAVITY, forces=ls.Forces(elasticity=x), **state).wrench for x in parts
    )
    np.testing.assert_allclose(soft, stiff, atol=1e-9 * np.abs(soft).max())


@pytest.mark.parametrize(
    ("soft", "text"),
    [
        ({"actuators": {"all": 1e4}}, "got elastic actuators alone"),
        (
            {"joints": {"left.1": (1e3,) * 6}},
            "got limb right, which is rigid under a part of the loads that statics leaves open",
        ),
    ],
)
def test_what_leaves_reactions_open_is_refused(soft: Any, text: str) -> None:
    robot = ls.robots.build("five_bar")
    with pytest.raises(ValueError, match=text):
        ls.joint_reactions(
            robot, position=[0.05, 0.0, -0.6], forces=ls.Forces(elasticity=Elasticity.of(robot.mechanism, **soft))
        )


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
    own = ls.joint_reactions(robot, **in_records(q=q, qd=qd, qdd=qdd, **options)).wrench
    np.testing.assert_allclose(shared["joint_reaction"].transpose("time", ...), own[:, 0], rtol=1e-8, atol=1e-8)
    even = ls.compute(ls.Sweep.from_dict({key: x for key, x in sweep.items() if key != "criteria"})).squeeze()
    assert (abs(even["actuator_force"] - shared["actuator_force"]) > 1e-4).all()
    with pytest.raises(ls.InputError, match="expected a metric of a robot with a platform"):
        ls.Sweep.from_dict({**sweep, "metrics": ["least_stiffness"]})
    with pytest.raises(ls.InputError, match="got criteria of a chain; expected a robot with a platform"):
        ls.Sweep.from_dict({**sweep, "criteria": {"stiffness": {"joints": {"all": {"forces": [1e6] * 3}}}}})
