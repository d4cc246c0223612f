"""Stretch of elastic transmissions along a motion of the links, with the motor forces, for batches.

    J^T tau = w(q, q', q''),    s = tau / k,    theta = q_a + s,    u = tau + I theta''

The springs carry the forces tau that the motion of the links needs. The stretch s follows from tau exactly. The
inertia forces of the rotors theta need the second derivative of the stretch, and so jerk and snap of the motion.
Without jerk and snap, rotors accelerate as with rigid transmissions, which is correct to leading order in the inverse
of the stiffness. With jerk and snap, derivatives of tau are central differences of order six along the motion. Source:
Spong 1987, the reduced model.
"""

from __future__ import annotations

from typing import NamedTuple, Unpack

import numpy as np
from numpy.typing import ArrayLike

from robots.arguments import check_arguments
from robots.data_classes import dataclass
from robots.loads.declared import ElasticDrive
from robots.loads.family import LoadedDescription, rotor_name
from robots.model import Robot
from robots.springs import JointSpring
from robots.status import Status
from tasks.dynamics import inputs
from tasks.dynamics.equations import equations_of_motion
from tasks.dynamics.inverse import actuator_positions, inverse_dynamics
from tasks.dynamics.records import STANDING, TIMELESS, Environment, MotionKeywords, State, long_form
from tasks.kernels.kernel import checked

REACH = 0.1
"""Displacement of a joint [rad or m] over which derivatives are taken; six steps of differences."""

AGREED = 1e-5
"""Largest allowed difference of second derivatives by steps of two lengths, relative to the largest."""

FIRST = np.array([-1.0, 9.0, -45.0, 0.0, 45.0, -9.0, 1.0]) / 60.0
SECOND = np.array([2.0, -27.0, 270.0, -490.0, 270.0, -27.0, 2.0]) / 180.0
"""Weights of central differences at -3 to 3 steps."""


class DriveDeflection(NamedTuple):
    """Deflection of the drive of each actuator (*batch, actuator), in its coordinates; status (*batch).

    rotor and rotor_rate: position and rate of the rotor, or of the actuator for a rigid drive [rad or m, and per s];
    stretch: position of the rotor less that of the actuator; carried: force in the transmission; force: force of the
    motor [N m or N].
    """

    rotor: np.ndarray
    rotor_rate: np.ndarray
    stretch: np.ndarray
    carried: np.ndarray
    force: np.ndarray
    status: np.ndarray


@check_arguments
def drive_deflection(
    robot: Robot,
    motion: State | None = None,
    environment: Environment = STANDING,
    *,
    jerk: ArrayLike | None = None,
    snap: ArrayLike | None = None,
    **short: Unpack[MotionKeywords],
) -> DriveDeflection:
    """Compute the deflection of a robot's elastic drives along a motion q, qd, qdd (*batch, freedom) of its links.

    The freedoms are the freedoms of the robot without its elastic drives. Stretch and carried forces are exact for
    transmissions without damping; a backlash is closed on the side that carries the force. Rates of rotors, and forces
    from their accelerations, are computed for rigid transmissions. With `jerk` and `snap` (*batch, freedom), the next
    derivatives of q, they are computed for elastic ones, see the module; this needs transmissions without damping and
    rotors without coupling to their carriers. The status is NOT_CONVERGED where derivatives are not found, such as
    where the carried force changes its sign in a backlash, and NONFINITE for a stiffness of zero. Raises ValueError for
    a robot without elastic drives, and for arguments that do not fit.

        >>> gear = ls.robots.ElasticDrive("all", stiffness=2e3, inertia=0.01)
        >>> arm = ls.robots.with_loads(ls.robots.build("planar_3r"), {"gear": gear})
        >>> hung = ls.drive_deflection(arm, q=[0.1, 0.2, 0.3], gravity=(0.0, -9.81, 0.0))
        >>> hung.stretch.round(4)
        array([0.0153, 0.0044, 0.0006])
    """
    motion, environment = long_form(motion, environment, short, TIMELESS)
    if environment.base is not None:
        raise ValueError("base: got a base that moves; expected one that stands")
    drives = _Drives.of(robot, environment.gravity)
    inputs.check_names(drives.base, motion.moving)
    names = drives.base.mechanism.freedoms
    free = len(names)
    parts: dict[str, ArrayLike] = {**inputs.present(motion.moving)}
    parts |= {name: x for name, x in (("jerk", jerk), ("snap", snap)) if x is not None}
    arrays = {name: checked(name, x, (free,), names) for name, x in parts.items()}
    batch = np.broadcast_shapes(*(values.shape[:-1] for values in arrays.values()))
    way = np.stack(
        [np.broadcast_to(arrays.get(name, 0.0), (*batch, free)) for name in ("q", "qd", "qdd", "jerk", "snap")]
    )
    if (jerk is None) != (snap is None):
        raise ValueError("jerk, snap: got one of them; expected both, or none for rotors of rigid transmissions")
    here = drives.along(*way[:3])
    rate, force, status = here.rate.copy(), here.carried + here.rotors, here.status
    stretch = drives.stretch(here.carried)
    if jerk is not None:
        drives.check_exact()
        first, second, agreed = drives.derivatives(way, here.carried)
        rate, force = rate + first, force + drives.inertia(here) * second
        status = np.where((status == Status.OK) & ~agreed, np.int8(Status.NOT_CONVERGED), status)
    rotor = here.position + stretch
    lost = ~np.all([np.isfinite(values).all(axis=-1) for values in (rotor, rate, force)], axis=0)
    status = np.where((status == Status.OK) & lost, np.int8(Status.NONFINITE), status)
    good = (status == Status.OK)[..., None]
    rotor, rate, stretch, carried, force = (
        np.where(good, values, np.nan) for values in (rotor, rate, stretch, here.carried, force)
    )
    return DriveDeflection(rotor, rate, stretch, carried, force, status)


class _Motion(NamedTuple):
    """Rigid transmissions along a motion: position and rate (*batch, actuator), forces for links and for rotors.

    mass (*batch, all freedoms, all freedoms) of the elastic robot; status (*batch).
    """

    position: np.ndarray
    rate: np.ndarray
    carried: np.ndarray
    rotors: np.ndarray
    mass: np.ndarray
    status: np.ndarray


@dataclass(frozen=True)
class _Drives:
    """A robot with elastic drives, the same without them, and the numbers of the actuators that have one."""

    robot: Robot
    base: Robot
    numbers: tuple[int, ...]
    gravity: ArrayLike

    @classmethod
    def of(cls, robot: Robot, gravity: ArrayLike) -> _Drives:
        """Return the drives of a robot. Raises ValueError."""
        description = robot.family.assemble
        numbers: list[int] = []
        if isinstance(description, LoadedDescription):
            loads = dict(description.loads)
            numbers = [
                k for items in description.limbs.items for name, k in items if isinstance(loads[name], ElasticDrive)
            ]
        if not numbers or not isinstance(description, LoadedDescription):
            got = f"{robot.name} without elastic drives"
            raise ValueError(f"robot: got {got}; expected one of with_loads with ElasticDrive")
        base = Robot.of(description.base, {p.name: robot.values[p.name] for p in description.base.parameters})
        driven, free = len(base.mechanism.actuators), len(base.mechanism.freedoms)
        if driven != free:
            raise ValueError(f"robot: got {driven} actuators for {free} freedoms; expected as many")
        return cls(robot, base, tuple(numbers), gravity)

    @property
    def springs(self) -> dict[int, JointSpring]:
        """Springs of the transmissions, by number of the actuator."""
        (limb,) = self.robot.mechanism.limbs
        of_rotor = {limb.links[spring.ratios[0][0]].joint: spring for spring in limb.springs}
        names = self.base.mechanism.actuators
        return {number: of_rotor[rotor_name(names[number])] for number in self.numbers}

    def along(self, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> _Motion:
        """Return the motion of rigid transmissions along a motion (*batch, freedom) of the links."""
        rigid, numbers = inverse_dynamics(self.base, q=q, qd=qd, qdd=qdd), list(self.numbers)
        form = equations_of_motion(self.base, q=q, qd=qd)
        position = np.asarray(actuator_positions(self.base, q=q).position)
        second = _times(rigid.jacobian, qdd) + _times(form.jacobian_rate, qd)
        pairs = ((q, position), (qd, rigid.velocity), (qdd, second))
        at, rate, change = (np.concatenate([links, rotors[..., numbers]], axis=-1) for links, rotors in pairs)
        motion = equations_of_motion(self.robot, q=at, qd=rate, gravity=self.gravity)
        taken = _times(motion.mass, change) + _times(motion.coriolis, rate) + motion.gravity
        status = np.maximum(motion.status, rigid.status)
        free = q.shape[-1]
        through = np.where((status > 0)[..., None, None], np.eye(free), np.swapaxes(rigid.jacobian, -1, -2))
        carried = np.linalg.solve(through, taken[..., :free, None])[..., 0]
        rotors = np.zeros_like(carried)
        rotors[..., numbers] = taken[..., free:]
        return _Motion(position, rigid.velocity, carried, rotors, motion.mass, status)

    def stretch(self, carried: np.ndarray) -> np.ndarray:
        """Return the stretch of the springs under the forces that they carry (*batch, actuator)."""
        result = np.zeros_like(carried)
        for number, spring in self.springs.items():
            load = carried[..., number]
            with np.errstate(divide="ignore", invalid="ignore"):
                result[..., number] = load / spring.stiffness + 0.5 * spring.backlash * np.sign(load)
        return result

    def inertia(self, motion: _Motion) -> np.ndarray:
        """Return the inertias of the rotors (*batch, actuator), zero for rigid drives."""
        result, free = np.zeros_like(motion.carried), motion.carried.shape[-1]
        for place, number in enumerate(self.numbers, start=free):
            result[..., number] = motion.mass[..., place, place]
        return result

    def check_exact(self) -> None:
        """Raise ValueError for properties that make the deflection depend on its rate."""
        if any(spring.damping for spring in self.springs.values()):
            raise ValueError("jerk, snap: got transmissions with damping; expected none, or leave both out")
        (limb,) = self.robot.mechanism.limbs
        coupled = [
            spin for k in self.numbers for spin in (limb.drives[k].spins if limb.drives else ()) if spin.coupling
        ]
        if coupled:
            raise ValueError("jerk, snap: got rotors with coupling to their carriers; expected none, or leave both out")

    def derivatives(self, way: np.ndarray, carried: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return first and second derivatives of the stretch (*batch, actuator), and whether both step lengths agree.

        way (derivative, *batch, freedom): the motion and its derivatives up to the snap.
        """
        sizes = np.abs(way).max(axis=-1)
        with np.errstate(divide="ignore"):
            parts = zip((1, 2, 3, 4), (1, 2, 6, 24), sizes[1:], strict=True)
            times = [(REACH * part / size) ** (1.0 / order) for order, part, size in parts]
        whole = np.min(times, axis=0)
        step = np.where(np.isfinite(whole), whole, 1.0) / 6.0
        shares = np.arange(-6, 7) * 0.5
        t = shares.reshape(-1, *[1] * step.ndim) * step
        t = t[..., None]
        moved = [
            sum(way[n + k] * t**k / factorial for k, factorial in zip(range(5 - n), (1, 1, 2, 6, 24), strict=False))
            for n in range(3)
        ]
        loads = self.along(*(np.asarray(x) for x in moved)).carried
        fine, coarse = loads[3:10], loads[::2]
        length = step[..., None]
        second = np.tensordot(SECOND, fine, 1) / (0.5 * length) ** 2
        rough = np.tensordot(SECOND, coarse, 1) / length**2
        first = np.tensordot(FIRST, fine, 1) / (0.5 * length)
        size = np.maximum(np.abs(second).max(axis=-1), np.abs(carried).max(axis=-1) / (6.0 * step) ** 2)
        agreed = np.abs(second - rough).max(axis=-1) <= AGREED * size
        rate, change = np.zeros_like(carried), np.zeros_like(carried)
        for number, spring in self.springs.items():
            with np.errstate(divide="ignore", invalid="ignore"):
                rate[..., number] = first[..., number] / spring.stiffness
                change[..., number] = second[..., number] / spring.stiffness
            crossed = np.ptp(np.sign(loads[..., number]), axis=0) > 0.0
            agreed &= ~(crossed & (spring.backlash > 0.0))
        return rate, change, agreed


def _times(matrix: np.ndarray, vector: np.ndarray) -> np.ndarray:
    return np.asarray((np.asarray(matrix) @ vector[..., None])[..., 0])
