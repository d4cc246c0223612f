# ruff: noqa: E501 - an element of XML is a line
"""Springs in joints and rotors behind elastic transmissions: closed forms, MuJoCo, energy, and the rigid robot."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import brentq, root

import limbsweep as ls
from pipeline.execution import work
from pipeline.execution.blocks import block_of
from pipeline.plan.plan import plan
from pipeline.sweep.model import Sweep
from robots import catalog
from robots.geometry import diagonal
from robots.loads.declared import ElasticDrive, JointSpringLoad, LoadError, WrenchLoad
from robots.loads.family import with_loads
from robots.model import Family, Frame, Inertia, Link, Mechanism, Robot
from robots.status import Status
from robots.types import BASE
from tasks.dynamics.simulate import simulate, simulate_adaptive

DOWN = (0.0, -9.81, 0.0)


def chain(name: str, links: tuple[Link, ...], actuated: tuple[str, ...], independent: tuple[str, ...] = ()) -> Robot:
    mechanism = Mechanism.chain(name, links, actuated, independent=independent)
    return Robot.of(Family(name, name, "tests", (), lambda values: mechanism), {})


def arm(*lengths: float, armature: float = 0.0) -> tuple[Link, ...]:
    """Rods in a plane, one behind the other, of 4 kg/m."""
    result, reach = [], 0.0
    for k, length in enumerate(lengths):
        mass = 4.0 * length
        inertia = Inertia(mass, (length / 2, 0.0, 0.0), diagonal(1e-3, mass * length**2 / 12, mass * length**2 / 12))
        place = Frame(position=(reach, 0.0, 0.0))
        result.append(
            Link(f"q{k}", f"rod{k}", k - 1 if k else BASE, "revolute", (0.0, 0.0, 1.0), place, inertia, armature)
        )
        reach = length
    return tuple(result)


def test_two_inertias_and_a_spring_swing_as_their_closed_form() -> None:
    rotor, stiffness = 0.02, 300.0
    one = chain("one", arm(0.6), ("q0",))
    robot = with_loads(one, {"gear": ElasticDrive("all", stiffness, inertia=rotor)})
    assert robot.mechanism.freedoms == ("q0", "q0_rotor")
    assert robot.mechanism.actuators == ("q0_rotor",)
    load = 4.0 * 0.6**3 / 3
    omega = np.sqrt(stiffness * (1 / load + 1 / rotor))
    state = ls.linearisation(robot, q=np.zeros(2), gravity=(0.0, 0.0, 0.0), forces=ls.Forces(actuator=[0.0])).state
    assert np.abs(np.linalg.eigvals(state).imag).max() == pytest.approx(omega, rel=1e-9)
    errors = []
    for steps in (40, 80):
        motion: Any = simulate(
            robot, force=[0.0], q=[0.0, 0.05], gravity=(0.0, 0.0, 0.0), step=2 * np.pi / omega / steps, steps=steps
        )
        rest = 0.05 * rotor / (rotor + load)
        errors.append(np.abs(motion.q[:, 0] - rest * (1.0 - np.cos(omega * motion.time))).max())
    assert np.log2(errors[0] / errors[1]) == pytest.approx(4.0, abs=0.2)


XML = """
<mujoco>
  <option gravity="0 -9.81 0"><flag contact="disable"/></option>
  <worldbody>
    <body><joint name="q0" axis="0 0 1"/><inertial pos=".3 0 0" mass="2.4" diaginertia="1e-3 {a} {a}"/>
      <body pos=".6 0 0"><joint name="q1" axis="0 0 1"/><inertial pos=".2 0 0" mass="1.6" diaginertia="1e-3 {b} {b}"/></body>
    </body>
    <body><joint name="r0" axis="0 0 1" armature="0.05"/><inertial pos="0 0 0" mass="1e-9" diaginertia="1e-15 1e-15 1e-15"/></body>
    <body><joint name="r1" axis="0 0 1" armature="0.03"/><inertial pos="0 0 0" mass="1e-9" diaginertia="1e-15 1e-15 1e-15"/></body>
  </worldbody>
  <tendon>
    <fixed stiffness="400" damping="1.5" springlength="-0.02 0.02"><joint joint="r0" coef="1"/><joint joint="q0" coef="-1"/></fixed>
    <fixed stiffness="400" damping="1.5" springlength="-0.02 0.02"><joint joint="r1" coef="1"/><joint joint="q1" coef="-1"/></fixed>
  </tendon>
</mujoco>
""".format(a=2.4 * 0.36 / 12, b=1.6 * 0.16 / 12)


@pytest.mark.parametrize(("q", "beyond"), [((0.3, -0.5, 0.35, -0.6), True), ((0.3, -0.5, 0.31, -0.49), False)])
def test_accelerations_are_those_of_mujoco_with_a_body_for_each_rotor(q: tuple[float, ...], beyond: bool) -> None:
    """Compare beyond the backlash, and within it without relative rates, because MuJoCo damps there too."""
    mujoco = pytest.importorskip("mujoco")
    two = chain("two", arm(0.6, 0.4), ("q0", "q1"))
    drives = {f"gear{k}": ElasticDrive(f"q{k}", 400.0, 1.5, 0.04, inertia) for k, inertia in enumerate((0.05, 0.03))}
    robot = with_loads(two, drives)
    rates = np.array([0.7, -0.4, 0.9, 0.2]) if beyond else np.array([0.7, -0.4, 0.7, -0.4])
    model = mujoco.MjModel.from_xml_string(XML)
    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[:], data.qfrc_applied[2:] = q, rates, (1.3, -0.8)
    mujoco.mj_forward(model, data)
    moved = ls.forward_dynamics(robot, q=q, qd=rates, gravity=DOWN, forces=ls.Forces(actuator=[1.3, -0.8]))
    np.testing.assert_allclose(moved.acceleration, data.qacc, rtol=1e-9)
    assert (np.abs(moved.acceleration[2:] - np.array([1.3, -0.8]) / (0.05, 0.03)) > 1e-6).all() == beyond


def test_energy_is_kept_through_the_backlash() -> None:
    robot = with_loads(
        chain("kept", arm(0.5, 0.4, armature=0.02), ("q0", "q1")), {"gear": ElasticDrive("all", 500.0, backlash=0.02)}
    )
    motion: Any = simulate(
        robot, force=[0.0, 0.0], q=[0.2, -0.3, 0.25, -0.3], qd=[0.0, 1.0, 0.0, -2.0], gravity=DOWN, step=1e-4, steps=1500,
        every=100,
    )  # fmt: skip
    assert motion.status == 0
    start = {"q": motion.q[0], "qd": motion.qd[0], "gravity": DOWN}
    finer: Any = simulate_adaptive(robot, force=[0.0, 0.0], times=[0.0, 0.05, 0.1], **start)
    assert finer.status == 0  # energies of springs are no part of the balance that it keeps
    np.testing.assert_allclose(finer.q[2], motion.q[10], atol=1e-5)
    form = ls.equations_of_motion(robot, q=motion.q, qd=motion.qd, gravity=DOWN)
    stretch = motion.q[:, 2:] - motion.q[:, :2]
    beyond = np.maximum(np.abs(stretch) - 0.01, 0.0)
    assert (beyond == 0.0).any()
    assert (beyond > 0.0).any()
    energy = form.kinetic_energy + form.potential_energy + 250.0 * (beyond**2).sum(axis=1)
    assert np.abs(energy - energy[0]).max() < 1e-5 * np.ptp(form.kinetic_energy)


def test_stiff_transmissions_come_near_the_rigid_robot_as_one_over_the_stiffness() -> None:
    rigid = chain("rigid", arm(0.5, 0.4, armature=0.1), ("q0", "q1"))
    force = lambda time: np.array([3.0, 0.5]) * np.sin(10.0 * time) ** 4  # noqa: E731
    start = {"force": force, "gravity": (0.0, 0.0, 0.0), "steps": 700}
    ends: Any = simulate(rigid, q=[0.0, 0.0], step=2e-4, **start)
    off = []
    for stiffness in (2e3, 4e3):
        robot = with_loads(rigid, {"gear": ElasticDrive("all", stiffness)})
        motion: Any = simulate(robot, q=np.zeros(4), step=2e-4, **start)
        off.append(np.abs(motion.q[:, :2] - ends.q).max())
    assert 0.8 < np.log2(off[0] / off[1]) < 1.2


def test_gears_and_rotors_of_drives_go_to_the_side_of_the_motor() -> None:
    """Links feel the torque of the spring as the robot without rotors feels its motors; the rotors feel what is left."""
    bare = {f"rotor_{k}": 0.0 for k in range(1, 6)} | {"rotor_coupling": 0.0}
    robot = catalog.build("irb6", rotor_coupling=0.0)
    stiffness, rng = 3.0, np.random.default_rng(5)
    elastic = with_loads(robot, {"gear": ElasticDrive("all", stiffness)})
    q, qd, asked = rng.uniform(-0.2, 0.2, 5), rng.normal(size=5), rng.normal(size=5)
    geared: Any = ls.inverse_dynamics(robot, q=q, qd=qd)
    stretch = rng.normal(size=5) * 0.2
    rotors = np.asarray(ls.actuator_positions(robot, q=q).position) + stretch
    q_all, qd_all = np.concatenate([q, rotors]), np.concatenate([qd, geared.velocity])
    moved = ls.forward_dynamics(elastic, q=q_all, qd=qd_all, forces=ls.Forces(actuator=asked)).acceleration
    expected = ls.forward_dynamics(
        catalog.build("irb6", **bare), q=q, qd=qd, forces=ls.Forces(actuator=stiffness * stretch)
    ).acceleration
    np.testing.assert_allclose(moved[:5], expected, rtol=1e-8)
    inertia = np.array([robot.values[f"rotor_{k}"] for k in range(1, 6)])
    np.testing.assert_allclose(moved[5:], (asked - stiffness * stretch) / inertia, rtol=1e-8)


def test_a_motion_of_the_links_says_how_far_drives_are_wound_up() -> None:
    """The links follow it exactly then; at rest the rotors do too. Backlash is closed to the side that carries."""
    robot = catalog.build("irb6", rotor_coupling=0.0)
    elastic = with_loads(robot, {"gear": ElasticDrive("motor_[12]", 3.0, backlash=0.05)})
    state = {"q": np.full(5, 0.2), "qd": [0.3, -0.2, 0.1, 0.4, -0.3], "qdd": [0.5, -0.4, 0.3, 0.2, 0.1]}
    wound = ls.drive_deflection(elastic, **state)
    assert wound.status == 0
    assert not wound.stretch[2:].any()
    rigid: Any = ls.inverse_dynamics(robot, **state)
    np.testing.assert_allclose(wound.force, rigid.force, rtol=1e-9)
    q = np.concatenate([state["q"], wound.rotor[:2]])
    qd = np.concatenate([state["qd"], rigid.velocity[:2]])
    moved = ls.forward_dynamics(elastic, q=q, qd=qd, forces=ls.Forces(actuator=wound.force))
    np.testing.assert_allclose(moved.acceleration[:5], state["qdd"], rtol=1e-7)
    held = ls.drive_deflection(elastic, q=state["q"])
    still = ls.forward_dynamics(
        elastic, q=np.concatenate([state["q"], held.rotor[:2]]), forces=ls.Forces(actuator=held.force)
    )
    assert np.abs(still.acceleration).max() < 1e-8
    with pytest.raises(ValueError, match="without elastic drives"):
        ls.drive_deflection(robot, q=np.zeros(5))


def test_fewer_actuators_than_freedoms_have_forces_for_motions_that_they_can_make() -> None:
    robot = with_loads(catalog.build("planar_3r"), {"gear": ElasticDrive("all", 2e3, 0.5, inertia=0.05)})
    state = {"q": [0.1, 0.2, 0.3, 0.11, 0.19, 0.31], "qd": [0.5, -0.2, 0.1, 0.4, 0.0, 0.2], "gravity": DOWN}
    push = np.array([1.0, -2.0, 0.5])
    moved = ls.forward_dynamics(robot, forces=ls.Forces(actuator=push), **state).acceleration
    answer: Any = ls.inverse_dynamics(robot, qdd=moved, **state)
    np.testing.assert_allclose(answer.force, push, rtol=1e-9)
    assert answer.status == 0
    other: Any = ls.inverse_dynamics(robot, qdd=moved + 0.1 * np.eye(6)[1], **state)
    assert other.status == Status.PLATFORM_SINGULAR
    free = ls.forward_dynamics(
        robot, q=state["q"], gravity=(0.0, 0.0, 0.0), forces=ls.Forces(actuator=np.zeros(3))
    ).acceleration
    swinging: Any = ls.inverse_dynamics(robot, q=state["q"], qdd=free, gravity=(0.0, 0.0, 0.0))
    assert swinging.status == 0  # springs alone: the forces are nothing but rounding
    assert np.abs(swinging.force).max() < 1e-10
    assert np.isnan(other.force).all()


def beam_frequency(segments: int) -> float:
    """First frequency of a clamped beam of rods between springs, over that of Euler and Bernoulli."""
    length, bending, density = 1.0, 50.0, 4.0
    part = length / segments
    hub = Link(
        "hub", "hub", BASE, "revolute", (0.0, 0.0, 1.0), Frame(), Inertia(1.0, (0.0,) * 3, diagonal(1.0, 1.0, 1.0))
    )
    rods = arm(*[part] * segments)
    links = (hub, *(Link(x.joint, x.body, k, x.kind, x.axis, x.placement, x.inertia) for k, x in enumerate(rods)))
    joints = tuple(link.joint for link in links)
    plain = chain(f"beam{segments}", links, ("hub",), joints)
    springs = {"root": JointSpringLoad("q0", 2 * bending / part)}
    springs |= {f"s{k}": JointSpringLoad(f"q{k}", bending / part) for k in range(1, segments)}
    robot, q = with_loads(plain, springs), np.zeros(segments + 1)
    mass = ls.inertia_matrix(robot, q=q).matrix
    state = ls.linearisation(robot, q=q, gravity=(0.0, 0.0, 0.0), forces=ls.Forces(actuator=[0.0])).state
    stiffness = -mass @ state[segments + 1 :, : segments + 1]
    squares = np.linalg.eigvals(np.linalg.solve(mass[1:, 1:], stiffness[1:, 1:])).real
    return float(np.sqrt(squares.min() / (bending / density / length**4)) / 1.8751040687119611**2)


def test_a_beam_in_segments_has_the_frequency_of_euler_and_bernoulli_with_order_two() -> None:
    errors = [abs(beam_frequency(count) - 1.0) for count in (2, 4)]
    assert errors[1] < 0.03
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.25)


def test_springs_in_joints_of_limbs_count_in_inverse_dynamics() -> None:
    """By virtual work: the forces of the actuators change by what moves the joint for a rate of them."""
    robot = ls.robots.build("five_bar")
    spring = JointSpringLoad("left.2", 30.0, 0.4, 0.1)
    sprung = with_loads(robot, {"flexure": spring})
    state = {"position": [0.05, 0.0, -0.6], "twist": [0.0, 0.0, 0.0, 0.3, 0.0, -0.2]}
    motion = ls.inverse_kinematics(robot, **state)
    joint, rate = motion.position[0, 1], motion.velocity[0, 1]
    through = []
    for unit in np.linalg.inv(np.asarray(ls.inverse_dynamics(robot, **state).jacobian)).T:
        twist = [0.0, 0.0, 0.0, unit[0], 0.0, unit[1]]
        through.append(ls.inverse_kinematics(robot, position=state["position"], twist=twist).velocity[0, 1])
    torque = 30.0 * (joint - 0.1) + 0.4 * rate
    gained = ls.inverse_dynamics(sprung, **state).force - ls.inverse_dynamics(robot, **state).force
    np.testing.assert_allclose(gained, torque * np.array(through), rtol=1e-9)


@pytest.mark.parametrize(
    ("robot", "load", "text"),
    [
        (
            "delta_3rr2rrr",
            ElasticDrive("all", 1.0),
            "got drives of a robot with a platform; expected drives of a chain",
        ),
        ("planar_3r", ElasticDrive("all", 1.0), "got joint_1, which spins nothing; expected the inertia of its rotor"),
        ("planar_3r", ElasticDrive("all", 1.0, inertia=0.0), "got joint_1, which spins nothing; expected the inertia"),
        ("planar_3r", ElasticDrive("joint_9", 1.0), "got 'joint_9'; expected actuators of the robot"),
        ("planar_3r", ElasticDrive("all"), "got a transmission without stiffness; expected stiffness"),
        ("planar_3r", JointSpringLoad("elbow", 1.0), "got 'elbow'; expected a joint of a link of the robot"),
        (
            "planar_3r",
            JointSpringLoad("joint_2"),
            "got a spring without force; expected stiffness, damping, force or a table",
        ),
    ],
)
def test_what_gives_way_to_nothing_is_refused(robot: str, load: Any, text: str) -> None:
    with pytest.raises(LoadError, match=text):
        with_loads(catalog.build(robot), {"a": load})


def test_a_drive_has_one_rotor() -> None:
    drives = {"a": ElasticDrive("all", 1.0, inertia=0.1), "b": ElasticDrive("joint_2", 2.0, inertia=0.1)}
    with pytest.raises(LoadError, match="got joint_2, which a selects, too; expected one elastic drive for each"):
        with_loads(catalog.build("planar_3r"), drives)


@pytest.mark.slow
def test_a_sweep_simulates_a_servo_behind_elastic_drives() -> None:
    text: dict[str, Any] = {
        "robot": "planar_3r",
        "loads": {
            "gear": {"kind": "elastic_drive", "actuators": "all", "stiffness": 4000.0, "damping": 2.0, "inertia": 0.1}
        },
        "design": {"grid": {"gear_stiffness": [1000.0, 1e5]}},
        "trajectories": {"move": {"kind": "quintic", "end": 0.2, "duration": 0.2}},
        "simulation": {"controller": {"kind": "pd", "parameters": {"kp": 3000.0, "kd": 60.0}}, "step": 2e-4},
        "time": {"stop": 0.3, "step": 0.01},
        "outputs": ["joint_position", "tracking_error"],
        "metrics": ["integration_error"],
    }
    arrays = work.whole(block_of(plan(Sweep.from_dict(text)), 0))
    assert (arrays["worst_status"] == 0).all()
    q = arrays["joint_position"][:, 0, 0, :, 0]
    bent = np.abs(q[..., 3:6] - q[..., :3]).max(axis=(1, 2))
    assert bent[0] > 20 * bent[1]
    model_based = {"kind": "computed_torque", "space": "joint", "parameters": {"kp": 1.0, "kd": 1.0}}
    rule = "expected pd, pid or p_pi of actuators for a robot with 3 actuators for 6 freedoms"
    with pytest.raises(ls.InputError, match=rule):
        Sweep.from_dict({**text, "simulation": {"controller": model_based}})


@pytest.mark.slow
@pytest.mark.parametrize("name", ["delta_3rr2rrr", "gough_stewart"])
def test_platforms_feel_the_springs_of_their_drives_as_forces(name: str) -> None:
    robot = catalog.build(name)
    chained = ls.robots.as_chain(robot)
    elastic = with_loads(chained, {"gear": ElasticDrive("all", 2e3, inertia=0.2)})
    coordinates = {"vx": "x", "vy": "y", "vz": "z", "wz": "yaw", "wy": "pitch", "wx": "roll"}
    names = [f"platform_{coordinates[axis]}" for axis in robot.mechanism.platform.mobility]
    count, free = len(robot.mechanism.actuators), chained.mechanism.freedoms
    shift = {"platform_x": 0.02, "platform_y": -0.03, "platform_z": 0.04}
    offset = np.array([shift.get(axis, 0.0) for axis in free])
    pose = {"position": np.array(robot.mechanism.platform.home.position) + list(shift.values())}
    at = np.asarray(ls.actuator_positions(chained, q=offset).position)
    np.testing.assert_allclose(at, ls.actuator_positions(robot, **pose).position, atol=1e-10)
    stretch = np.random.default_rng(1).normal(size=count) * 0.01
    moved = ls.forward_dynamics(
        elastic, q=np.concatenate([offset, at + stretch]), forces=ls.Forces(actuator=np.ones(count))
    ).acceleration
    rigid = ls.forward_dynamics(robot, forces=ls.Forces(actuator=2e3 * stretch), **pose).acceleration
    places = [("wx", "wy", "wz", "vx", "vy", "vz").index(axis) for axis in robot.mechanism.platform.mobility]
    expected = dict(zip(names, rigid[places], strict=True))
    np.testing.assert_allclose(moved[: len(free)], [expected[axis] for axis in free], rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(moved[len(free) :], (1.0 - 2e3 * stretch) / 0.2, rtol=1e-9)


def segments(count: int, bending: float, loads: dict[str, Any] | None = None) -> Robot:
    """A clamped beam of 1 m in rods between springs, with a joint at its root that is driven and stiff like the others."""
    part = 1.0 / count
    rods = arm(*[part] * count)
    springs = {f"s{k}": JointSpringLoad(f"q{k}", bending / part * (1 if k else 2)) for k in range(count)}
    joints = tuple(link.joint for link in rods)
    return with_loads(chain(f"elastica{count}", rods, ("q0",), joints), springs | (loads or {}))


def test_a_bent_beam_in_segments_is_the_elastica_with_order_two() -> None:
    """Compare a beam that a force across its end bends far with the equation of the elastica by shooting."""
    bending, push = 2.0, 5.0

    def tip(moment: float) -> tuple[float, np.ndarray]:
        def curve(s: float, y: np.ndarray) -> list[float]:
            return [y[1], -push / bending * np.cos(y[0]), np.cos(y[0]), np.sin(y[0])]

        end = solve_ivp(curve, (0.0, 1.0), [0.0, moment / bending, 0.0, 0.0], rtol=1e-11, atol=1e-13).y[:, -1]
        return end[1], end[2:]

    moment = brentq(lambda x: tip(x)[0], 0.1, push)
    expected, errors = tip(moment)[1], []
    assert expected[1] > 0.4
    for count in (5, 10):
        force = WrenchLoad(f"rod{count - 1}", force=(0.0, push, 0.0), at=(1.0 / count, 0.0, 0.0))
        robot = segments(count, bending, {"push": force})
        bent = root(
            lambda q, robot=robot: ls.equations_of_motion(robot, q=q, gravity=np.zeros(3)).gravity,
            np.full(count, 0.5 / count),
        )
        angle = np.cumsum(bent.x)
        place = np.array([np.cos(angle).sum(), np.sin(angle).sum()]) / count
        errors.append(np.abs(place - expected).max())
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.2)
    assert errors[1] < 3e-3


def test_a_beam_in_segments_accelerates_as_that_of_mujoco() -> None:
    mujoco = pytest.importorskip("mujoco")
    count, bending = 5, 3.0
    robot, part = segments(count, bending), 1.0 / count
    text, end = "", ""
    for k in range(count):
        inertia = 4.0 * part**3 / 12
        text += (
            f'<body pos="{part if k else 0} 0 0"><joint axis="0 0 1" stiffness="{bending / part * (1 if k else 2)!r}"/>'
        )
        text += f'<inertial pos="{part / 2!r} 0 0" mass="{4.0 * part!r}" diaginertia="1e-3 {inertia!r} {inertia!r}"/>'
        end += "</body>"
    flags = '<option gravity="0 -9.81 0"><flag contact="disable"/></option>'
    model = mujoco.MjModel.from_xml_string(f"<mujoco>{flags}<worldbody>{text}{end}</worldbody></mujoco>")
    data, rng = mujoco.MjData(model), np.random.default_rng(6)
    data.qpos[:], data.qvel[:] = rng.normal(size=count) * 0.4, rng.normal(size=count)
    data.qfrc_applied[0] = 0.7
    mujoco.mj_forward(model, data)
    moved = ls.forward_dynamics(robot, q=data.qpos, qd=data.qvel, gravity=DOWN, forces=ls.Forces(actuator=[0.7]))
    np.testing.assert_allclose(moved.acceleration, data.qacc, rtol=1e-9, atol=1e-9 * np.abs(data.qacc).max())


def test_forces_for_a_smooth_motion_make_that_motion() -> None:
    """With jerk and snap the links go where they should, to rounding of the steps; with rigid rotors they do not."""
    robot = with_loads(
        chain("smooth", arm(0.5, 0.4, armature=0.05), ("q0", "q1")), {"gear": ElasticDrive("all", 300.0)}
    )
    rates = np.array([6.0, 8.0])

    def motion(time: Any) -> list[np.ndarray]:
        angle = rates * np.asarray(time)[..., None]
        cycle = (np.sin(angle), np.cos(angle), -np.sin(angle), -np.cos(angle), np.sin(angle))
        return [0.4 * rates**k * part for k, part in enumerate(cycle)]

    times = np.linspace(0.0, 0.4, 801)
    q, qd, qdd, jerk, snap = motion(times)
    off = []
    for further in ({"jerk": jerk, "snap": snap}, {}):
        wound = ls.drive_deflection(robot, q=q, qd=qd, qdd=qdd, gravity=DOWN, **further)
        assert (wound.status == 0).all()
        forces = dict(zip(np.rint(times / 5e-4).astype(int).tolist(), wound.force, strict=True))
        moved: Any = simulate(
            robot, force=lambda t, forces=forces: forces[round(t / 5e-4)], gravity=DOWN, step=1e-3, steps=400,
            q=np.concatenate([q[0], wound.rotor[0]]), qd=np.concatenate([qd[0], wound.rotor_rate[0]]),
        )  # fmt: skip
        off.append(np.abs(moved.q[:, :2] - q[::2]).max())
    assert off[0] < 1e-7
    assert off[1] > 1e-3
    with pytest.raises(ValueError, match="jerk, snap: got one of them"):
        ls.drive_deflection(robot, q=q, jerk=jerk)
