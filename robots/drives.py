"""Drives as plain data: motors beside the joints, the joints that they turn, rotors and shafts that spin with them.

A motor's coordinate is q_a = f(q), a function of joint positions: the sum of `ratios` times positions, and `position`
for a part that is not proportional. Its rate is (dq_a/dq) q', and its torque u puts u dq_a/dq on the joints. A belt or
a parallelogram that turns a link against one that is not its parent moves all joints between both links: it has a ratio
for each.

The mass of a spinning body (`Spin`) is part of the inertia of its carrier, as for a body at rest in the carrier. Its
spin adds I q_s'' on the drive. With `coupling` it also adds the moment on the carrier, the effect of the carrier's
acceleration, and the gyroscopic moment. Cranks, rods and other bodies that move within the robot are links of the limb,
held by its loops.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence

from robots.data_classes import dataclass, field
from robots.types import BASE, JointKind, Number, Vector

Ratios = tuple[tuple[str, "Number"], ...]
"""Joints of the tree by name, and turns per unit of each; absent: 0."""


class DriveError(ValueError):
    """A drive that does not fit its limb. The text names the limb, the drive and the expected value."""


@dataclass(frozen=True)
class Spin:
    """A rotor, shaft or wheel: `inertia` [kg m^2] about `axis`, a unit vector of the link `carrier` (index, or BASE).

    It turns at `share` of the speed of its drive. `coupling` is 1 for all effects of the spin; it is 0 for the spin's
    energy relative to the carrier alone, as is usual for high ratios. For a linear motor, inertia is a mass [kg],
    and there is no coupling.
    """

    inertia: Number
    carrier: int
    axis: Vector
    share: Number = 1.0
    coupling: Number = 0.0


@dataclass(frozen=True)
class PIController:
    """Gains of a controller in continuous time: output per error (proportional), and per integral of it (integral)."""

    proportional: Number = 0.0
    integral: Number = 0.0


@dataclass(frozen=True)
class Motor:
    """An electric motor: torque (or force) per current [N m/A or N/A], and resistance of the winding [ohm].

    With the `inductance` [H] of its winding, the current is a state of simulations; with None the current follows at
    once. `bandwidth` [rad/s]: rate at which the current loop of the drive reduces an error; 0: no such loop.
    `current_controller` [V/A, V/(A s)]: gains from an error of the current to the voltage, in place of `bandwidth`.
    `speed_controller` [A s/rad or A s/m, A/rad or A/m]: gains from an error of the speed to the current, for drives
    with commanded speeds. `voltage` [V] and `current` [A] are the limits of the amplifier; robot files have no such
    keys.
    """

    torque_constant: Number
    resistance: Number = 0.0
    voltage: Number = field(default=math.inf, repr=False)
    current: Number = field(default=math.inf, repr=False)
    inductance: Number | None = None
    bandwidth: Number = 0.0
    current_controller: PIController | None = None
    speed_controller: PIController | None = None


@dataclass(frozen=True)
class Drive:
    """An actuator: coordinate q_a = sum of ratio times joint position, plus `position` of all joint positions by name.

    `kind` says whether it turns or slides. `position` is plain arithmetic, with NumPy's functions where needed; it is
    differentiated when it is traced, at joint positions within half a turn where the joints of a limb are solved for.
    """

    name: str
    ratios: Ratios
    spins: tuple[Spin, ...] = ()
    motor: Motor | None = None
    kind: JointKind = "revolute"
    position: Callable[[Mapping[str, Number]], Number] | None = None

    @property
    def constant(self) -> bool:
        """Return whether the ratios alone define the coordinate of the drive (no `position` function)."""
        return self.position is None


SLOW = 10.0
"""Ratio of the speeds of rotor and joint up to which the gyroscopic moment is not small."""
COUPLED = "Set coupling: 1 in its spins; the default 0 is for rotors that turn much faster than their joints."
"""Remedy for a gyroscopic moment that is left out."""


def uncoupled(drives: Sequence[Drive]) -> Iterator[str]:
    """Yield the drives with a rotor that turns slowly, on a link, whose effects on that link are left out."""
    for drive in drives:
        for spin in drive.spins:
            numbers = (spin.coupling, spin.inertia, spin.share, *(ratio for _, ratio in drive.ratios))
            if spin.carrier == BASE or not all(isinstance(x, int | float) for x in numbers):
                continue
            speeds = [abs(float(ratio) * float(spin.share)) for _, ratio in drive.ratios]
            if not spin.coupling and spin.inertia and speeds and max(speeds) <= SLOW:
                yield drive.name


def check(limb: str, joints: Sequence[str], drives: Sequence[Drive]) -> None:
    """Refuse drives that do not fit a limb whose tree has these joints, one for each link. Raises DriveError."""
    for problem in _problems(joints, drives):
        raise DriveError(f"limb {limb}: {problem}")


def _problems(joints: Sequence[str], drives: Sequence[Drive]) -> Iterator[str]:
    names = [drive.name for drive in drives]
    for drive in drives:
        if names.count(drive.name) > 1:
            yield f"got {names.count(drive.name)} drives called {drive.name!r}; expected names of their own"
        if drive.name in joints:
            yield f"drive {drive.name!r} is called as a joint is; expected another name, such as 'motor'"
        if not drive.ratios and drive.constant:
            yield f"drive {drive.name!r} moves nothing; expected a ratio for a joint, or a position"
        for joint, _ in drive.ratios:
            if joint not in joints:
                joint_names = ", ".join(joints)
                yield f"drive {drive.name!r} has a ratio for {joint!r}; expected joints of the tree: {joint_names}"
        for spin in drive.spins:
            if not -1 <= spin.carrier < len(joints):
                yield (
                    f"drive {drive.name!r} spins on link {spin.carrier}; expected the index of one of {len(joints)} "
                    "links, or -1, the base"
                )
