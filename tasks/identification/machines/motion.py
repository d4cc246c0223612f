"""The motion of a robot from its actuators' recorded positions, and of its actuators along a motion."""

from __future__ import annotations

import numpy as np

from robots.model import Robot
from robots.parameters import ParameterError
from tasks.arrays.forward_kinematics import forward_kinematics
from tasks.arrays.inputs import Moving, present
from tasks.arrays.inverse import actuator_positions, inverse_dynamics, inverse_kinematics
from tasks.identification.encoders import angular_velocity, joint_positions
from tasks.identification.machines.model import ActuatorMotion, finite
from tasks.identification.machines.preparation import Prepared
from tasks.identification.signals import rate

HOPELESS = 4
"""Poses that cannot be solved, at least, before a recording is refused where these are most of those tried."""
UNREACHED = 0.2
"""Share of the samples tried that may be no poses: a recording that touches the end of the workspace."""
ALL = "no sample is a pose"
LEGS = 100
"""Poses of a recording that are solved one after the other; the others start from the nearest of them."""


def is_direct(robot: Robot) -> bool:
    """Whether the actuators' positions are the coordinates of the robot's motion: a chain driven in its joints."""
    mechanism = robot.mechanism
    return (
        mechanism.is_chain
        and not any(limb.drives for limb in mechanism.limbs)
        and tuple(mechanism.freedoms) == tuple(mechanism.actuators)
    )


def robot_motion(robot: Robot, recording: Prepared) -> Moving:
    """The motion of a robot whose actuators move as recorded, from the reference pose on.

    Raises ParameterError where they do not give its motion, and where no sample can be solved.
    """
    if is_direct(robot):
        return {"q": recording.position, "qd": recording.velocity, "qdd": recording.acceleration}
    mechanism = robot.mechanism
    if len(mechanism.actuators) != len(mechanism.freedoms):
        raise ParameterError(
            f"{recording.name}: {robot.name} has {len(mechanism.actuators)} actuators and {len(mechanism.freedoms)} "
            "freedoms, so that their positions do not give its motion; expected as many of both"
        )
    moving = _chain(robot, recording) if mechanism.is_chain else _platform(robot, recording)
    solved = [finite(values) for values in present(moving).values()]
    if not np.logical_and.reduce(solved).any():
        raise unreachable(robot, recording)
    return moving


def unreachable(robot: Robot, recording: Prepared, which: str = ALL) -> ParameterError:
    """The error of positions that no pose of the robot has."""
    return ParameterError(
        f"{recording.name}: {which} that {robot.name} can reach from its reference pose; expected "
        "positions of its actuators in their order; look at units, signs and offsets of zero"
    )


def _chain(robot: Robot, recording: Prepared) -> Moving:
    wanted = recording.position
    anchors = _anchors(len(wanted))
    q = np.zeros((len(anchors), len(robot.mechanism.freedoms)))
    near = np.zeros((1, q.shape[1]))
    for row, sample in enumerate(anchors):
        q[row] = joint_positions(robot, wanted[sample : sample + 1], near)[0]
        near = q[row : row + 1] if np.isfinite(q[row]).all() else near
    q = joint_positions(robot, wanted, _filled(q)[_nearest(anchors, len(wanted))])
    qd = rate(q, recording.step)
    return {"q": q, "qd": qd, "qdd": rate(qd, recording.step)}


def _platform(robot: Robot, recording: Prepared) -> Moving:
    wanted, home, step = recording.position, robot.mechanism.platform.home, recording.step
    anchors = _anchors(len(wanted))
    position, rotation = np.zeros((len(anchors), 3)), np.zeros((len(anchors), 3, 3))
    near, failed = (np.array(home.position, dtype=float), np.array(home.rotation, dtype=float)), 0
    for row, sample in enumerate(anchors):
        pose = forward_kinematics(robot, actuator_position=wanted[sample], position=near[0], rotation=near[1])
        if np.isfinite(pose.position).all():
            near = pose.position, pose.rotation
        else:
            failed += 1
            # each of them takes long, and all samples would
            if failed >= HOPELESS and failed > min(0.5 * (row + 1), UNREACHED * len(anchors)):
                which = f"{failed} of the {row + 1} samples tried are no poses" if failed <= row else ALL
                raise unreachable(robot, recording, which)
        position[row], rotation[row] = near
    close = _nearest(anchors, len(wanted))
    pose = forward_kinematics(robot, actuator_position=wanted, position=position[close], rotation=rotation[close])
    velocity, omega = rate(pose.position, step), angular_velocity(pose.rotation, step)
    moving: Moving = {
        "position": pose.position,
        "rotation": pose.rotation,
        "twist": np.concatenate([omega, velocity], axis=1),
        "acceleration": np.concatenate([rate(omega, step), rate(velocity, step)], axis=1),
    }
    return moving


def _anchors(samples: int) -> np.ndarray:
    return np.unique(np.linspace(0, samples - 1, min(LEGS, samples)).astype(int))


def _nearest(anchors: np.ndarray, samples: int) -> np.ndarray:
    """For every sample the number of the anchor that is nearest."""
    middles = 0.5 * (anchors[1:] + anchors[:-1])
    return np.searchsorted(middles, np.arange(samples))


def _filled(values: np.ndarray) -> np.ndarray:
    """Rows that are no numbers become the last one that is."""
    good = np.isfinite(values).all(axis=1)
    last = np.maximum.accumulate(np.where(good, np.arange(len(values)), -1))
    return np.where((last >= 0)[:, None], values[np.maximum(last, 0)], 0.0)


def actuator_motion(robot: Robot, moving: Moving) -> ActuatorMotion:
    """Position, velocity and acceleration of the actuators along a motion; no acceleration of drives: zero."""
    if is_direct(robot):
        q, qd, qdd = (np.asarray(present(moving)[name]) for name in ("q", "qd", "qdd"))
        return q, qd, qdd
    position = actuator_positions(robot, **moving)
    velocity = inverse_dynamics(robot, full=True, **moving).velocity
    mechanism = robot.mechanism
    if any(limb.drives for limb in mechanism.limbs):
        return position, velocity, np.zeros_like(velocity)
    joints = inverse_kinematics(robot, **moving).acceleration
    acceleration = [
        joints[..., k, mechanism.limbs[instance.limb].index(joint)]
        for k, instance in enumerate(mechanism.instances)
        for joint in mechanism.limbs[instance.limb].actuated
    ]
    return position, velocity, np.stack(acceleration, axis=-1)
