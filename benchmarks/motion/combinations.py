"""Every law in every joint, with all loads on a robot at once: acceptance, and balance of forces.

A robot with a payload, springs and wrenches on links and platform, a load on the platform and a base that moves is
pushed at states in motion. The inverse problem, with the computed accelerations, has to return the applied forces.
Laws with a state, which functions of the inverse problem do not take at an instant, are held to the balance of the
inverse problem without friction and the friction that is reported. A refused combination shows its message.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from benchmarks.figures import require
from benchmarks.motion.curves import memories
from benchmarks.motion.machines import MASSIVE
from benchmarks.motion.rest import plain_numbers
from benchmarks.motion.round_trip import CLOSE, moving, speed_of
from robots import catalog
from robots.friction import laws as data
from robots.friction.groups import select
from robots.loads.declared import SpringLoad, WrenchLoad
from robots.loads.family import with_loads
from robots.model import Robot
from robots.parameter_errors import ParameterError
from robots.status import Status
from tasks import forward_dynamics, inverse_dynamics
from tasks.dynamics.records import NO_FORCES, Environment, Forces, Motion

Array = np.ndarray

LAWS: Mapping[str, Mapping[str, float]] = {
    "viscous": {"viscous": 0.1},
    "coulomb_viscous": {"coulomb": 0.05, "viscous": 0.1},
    "stribeck": {"coulomb": 0.05, "static": 0.08, "viscous": 0.1, "stribeck_velocity": 0.1},
    "brown_mcphee": {"dynamic": 0.05, "static": 0.08, "transition_velocity": 0.1},
    "stiction": {"coulomb": 0.05, "kinetic": 0.06, "static": 0.08, "stribeck_velocity": 0.1},
    "lugre": {"coulomb": 0.05, "static": 0.08, "sigma0": 50.0, "sigma1": 1e-3, "stribeck_velocity": 0.1},
}

LOADS: Mapping[str, Mapping[str, float]] = {"constant": {}, "reaction": {}, "gear": {"efficiency": 0.8}}

JOINTS = ("actuated", "passive")

ROBOTS = ("irb6", "three_loop_leg", "five_axis_tree", "five_bar", "delta_3rr2rrr", "delta_rl5_1450_motors")

PAYLOAD = {"payload_mass": 0.5, "payload_centre_z": 0.05, "payload_inertia_xx": 0.01}

ROCKING = Environment(base=Motion(twist=[0.1, 0.2, 0.3, 0.5, -0.2, 0.1], acceleration=[0.3, -0.2, 0.1, 1.0, 2.0, 3.0]))

STATES = 16


def laden(name: str) -> tuple[Robot, Forces]:
    """Return a robot with payload, springs and wrenches, and the load on its platform."""
    robot = catalog.build(name, **PAYLOAD, **MASSIVE.get(name, {}))
    mechanism = robot.mechanism
    limb, chain = mechanism.limbs[mechanism.instances[0].limb], mechanism.is_chain
    links = [link.body if chain else f"{mechanism.instances[0].name}.{link.body}" for link in limb.links]
    loads: dict[str, Any] = {
        "spring": SpringLoad(links[0], 3.0, (0.1, 0.02, -0.03), (0.05, -0.1, 0.4), 0.15, 0.7),
        "push": WrenchLoad(links[-1], (0.3, -0.2, 0.5), (0.03, 0.01, -0.02), (0.1, 0.0, 0.05), "link"),
    }
    if chain:
        return with_loads(robot, loads), NO_FORCES
    loads["tool"] = WrenchLoad("platform", (0.5, 0.4, -0.8), (0.05, 0.02, 0.03), (0.05, 0.0, -0.1), "platform")
    return with_loads(robot, loads), Forces(load=[0.0, 0.0, 0.0, 1.0, 0.0, -2.0])


def difference(name: str, joints: str, load: str, law: str) -> tuple[float, int]:
    """Return the relative difference of applied and returned forces, and the number of states with a motion.

    Raises ParameterError or ValueError where the friction is refused.
    """
    robot, acting = laden(name)
    mechanism, rng, state = robot.mechanism, np.random.default_rng(10), moving(robot, STATES)
    friction = {"law": law, **LAWS[law], "joints": joints, "load": load, **LOADS[load]}
    given: dict[str, Any] = {**state, "environment": ROCKING}
    wanted = inverse_dynamics(robot, forces=acting, **given).force
    force = wanted + rng.normal(size=wanted.shape) * np.abs(wanted).max()
    count = len(select(mechanism, joints, load))
    memory = memories(law, LAWS[law], np.ones((STATES, count))) if data.LAWS[law].state else None
    rubbed = replace(acting, friction=friction)
    motion = forward_dynamics(robot, memory=memory, forces=replace(rubbed, actuator=force), **given)
    accelerated = given | {"qdd" if mechanism.is_chain else "acceleration": motion.acceleration}
    good = motion.status == Status.OK
    if memory is None and len(mechanism.actuators) == len(mechanism.freedoms):
        back = inverse_dynamics(robot, forces=rubbed, **accelerated).force
    else:
        where = {key: values for key, values in state.items() if key not in ("qd", "twist")}
        numbers = plain_numbers(robot, joints, where, speed_of(robot, state))
        along = np.einsum("sji,sj->si", numbers.rows, motion.friction)
        driven = np.einsum("saf,sf->sa", np.linalg.pinv(np.swapaxes(numbers.jacobian, 1, 2)), along)
        back = inverse_dynamics(robot, forces=acting, **accelerated).force + driven
    return float(np.abs(back - force)[good].max() / np.abs(force[good]).max()), int(good.sum())


HEAD = ("robot", "joints", "load", *LAWS)


def abouts(names: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Yield each robot by joints and origin of their loads; chains without loops have no passive joints."""
    for name in names or ROBOTS:
        for joints in JOINTS:
            if select(catalog.build(name).mechanism, joints):
                yield from ((name, joints, load) for load in LOADS)


def cells(about: tuple[str, ...]) -> tuple[str, ...]:
    """Return each law's difference, or its refusal. Raises CheckError if forces are not recovered."""
    name, joints, load = about
    return tuple(_cell(name, joints, load, law) for law in LAWS)


def _cell(name: str, joints: str, load: str, law: str) -> str:
    try:
        off, count = difference(name, joints, load, law)
    except (ParameterError, ValueError) as error:
        return f"refused: {error}".partition(";")[0].replace("|", "/")
    require(
        off <= CLOSE and count > 0,
        f"{name}, {joints}, {load}, {law}: differ by {off:.1e}, {count} states move",
    )
    return f"{off:.0e}" if count == STATES else f"{off:.0e} of {count} in {STATES}"
