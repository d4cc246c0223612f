"""How far elastic transmissions are wound up along a motion of the links, for batches.

The springs carry what the motion of the links takes, so that their stretch follows from it: that is exact. What the
rotors themselves take beside it needs their acceleration, and that the second derivative of the stretch, for which a
motion would have to say its jerk and snap: here rotors accelerate as if transmissions were rigid, which is right to
leading order in one over the stiffness. Source: Spong 1987, the reduced model.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from robots.loads.declared import ElasticDrive
from robots.loads.elastic import rotor_name
from robots.loads.family import LoadedDescription
from robots.model import Robot
from robots.status import Status
from tasks.arrays.equations import equations_of_motion
from tasks.arrays.inputs import GRAVITY
from tasks.arrays.inverse import actuator_positions, inverse_dynamics
from tasks.kernels.batches import checked


class DriveDeflection(NamedTuple):
    """Of each actuator (*batch, actuator), in its coordinates; status (*batch).

    rotor: position of the rotor, of a rigid drive that of the actuator [rad or m]; stretch: how far it is ahead;
    carried: what the transmission carries; force: what the motor gives [N m or N].
    """

    rotor: np.ndarray
    stretch: np.ndarray
    carried: np.ndarray
    force: np.ndarray
    status: np.ndarray


def drive_deflection(
    robot: Robot, *, q: ArrayLike, qd: ArrayLike | None = None, qdd: ArrayLike | None = None,
    gravity: ArrayLike = GRAVITY,
) -> DriveDeflection:  # fmt: skip
    """What elastic drives of a robot do along a motion q, qd, qdd (*batch, freedom) of its links.

    The freedoms are those of the robot without its elastic drives. Stretch and what is carried are exact for
    transmissions without damping; forces take the accelerations of rigid ones for the rotors, see the module. A
    backlash is closed to the side that carries. A stiffness of zero has the status NONFINITE. Raises ValueError for a
    robot without elastic drives, and for shapes.

        >>> gear = ls.robots.ElasticDrive("all", stiffness=2e3, inertia=0.01)
        >>> arm = ls.robots.with_loads(ls.robots.build("planar_3r"), {"gear": gear})
        >>> hung = ls.drive_deflection(arm, q=[0.1, 0.2, 0.3], gravity=(0.0, -9.81, 0.0))
        >>> hung.stretch.round(4)
        array([0.0153, 0.0044, 0.0006])
    """
    description = robot.family.assemble
    if not isinstance(description, LoadedDescription) or description.base is None or not _numbers(description):
        raise ValueError(
            f"robot: got {robot.name} without elastic drives; expected one of with_loads with ElasticDrive"
        )
    base = Robot.of(description.base, {p.name: robot.values[p.name] for p in description.base.parameters})
    free = len(base.mechanism.freedoms)
    moving = {name: checked(name, x, (free,)) for name, x in (("q", q), ("qd", qd), ("qdd", qdd)) if x is not None}
    batch = np.broadcast_shapes(*(values.shape[:-1] for values in moving.values()))
    still = np.zeros((*batch, free))
    at, rate, change = (np.broadcast_to(moving.get(name, still), still.shape) for name in ("q", "qd", "qdd"))
    rigid = inverse_dynamics(base, q=at, qd=rate, qdd=change, full=True)
    form = equations_of_motion(base, q=at, qd=rate)
    driven = np.asarray(actuator_positions(base, q=at))
    second = _times(rigid.jacobian, change) + _times(form.jacobian_rate, rate)
    numbers = _numbers(description)
    rates = zip((at, rate, change), (driven, rigid.velocity, second), strict=True)
    whole = [np.concatenate([links, rotors[..., numbers]], axis=-1) for links, rotors in rates]
    motion = equations_of_motion(robot, q=whole[0], qd=whole[1], gravity=gravity)
    taken = _times(motion.mass, whole[2]) + _times(motion.coriolis, whole[1]) + motion.gravity
    through = np.swapaxes(rigid.jacobian, -1, -2)
    bad = (np.asarray(motion.status) > 0) | (np.asarray(rigid.status) > 0)
    through = np.where(bad[..., None, None], np.eye(free, through.shape[-1]), through)
    carried = np.linalg.solve(through, taken[..., :free, None])[..., 0]
    stretch, force = np.zeros_like(carried), carried.copy()
    (limb,) = robot.mechanism.limbs
    of_rotor = {limb.links[spring.ratios[0][0]].joint: spring for spring in limb.springs}
    for place, number in enumerate(numbers):
        spring = of_rotor[rotor_name(base.mechanism.actuators[number])]
        load = carried[..., number]
        with np.errstate(divide="ignore", invalid="ignore"):
            stretch[..., number] = load / spring.stiffness + 0.5 * spring.backlash * np.sign(load)
        force[..., number] = load + taken[..., free + place]
    rotor = driven + stretch
    status = np.maximum(motion.status, rigid.status)
    lost = ~np.all([np.isfinite(values).all(axis=-1) for values in (rotor, stretch, force)], axis=0)
    status = np.where((status == Status.OK) & lost, np.int8(Status.NONFINITE), status)
    for values in (rotor, stretch, carried, force):
        values[status > 0] = np.nan
    return DriveDeflection(rotor, stretch, carried, force, status)


def _times(matrix: np.ndarray, vector: np.ndarray) -> np.ndarray:
    return np.asarray((np.asarray(matrix) @ vector[..., None])[..., 0])


def _numbers(description: LoadedDescription) -> list[int]:
    """Numbers of the actuators with elastic drives, in the order of their rotors."""
    loads = dict(description.loads)
    return [k for items in description.items for name, k in items if isinstance(loads[name], ElasticDrive)]
