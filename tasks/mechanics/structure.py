"""Structure of a robot family, decided once: the scheme of its limbs, their differences, inputs of programs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from robots.data_classes import dataclass
from robots.model import Family, Instance, Mechanism
from robots.types import ROTATION, TWIST
from tasks.kernels.expression import ABSENT, Array
from tasks.mechanics import platform_motion
from tasks.mechanics.continuation.steps import packed
from tasks.mechanics.cut_joints import dropped_rows
from tasks.mechanics.kinematics import HOME
from tasks.mechanics.limb_choice import LimbChoice
from tasks.mechanics.platform_motion import held_directions
from tasks.mechanics.recursion import MOVING

Shape = tuple[int, ...]
Shapes = dict[str, Shape]

GRAVITY = 3


@dataclass(frozen=True)
class Structure:
    """Fixed decisions for a family: mechanism at its defaults, schemes to solve limbs, differences of mounts."""

    family: Family
    mechanism: Mechanism
    choices: tuple[LimbChoice, ...]
    differing: tuple[tuple[int, ...], ...]  # for each limb: positions in the 24 numbers of its mount frames

    @property
    def freedoms(self) -> int:
        """Number of freedoms; see `Mechanism.freedoms`."""
        return len(self.mechanism.freedoms)

    @property
    def has_choice(self) -> bool:
        """Return whether there are more actuators than freedoms, so that they share forces."""
        return len(self.mechanism.actuators) > self.freedoms

    @property
    def positions(self) -> list[int]:
        """Indices of the freedoms in a twist; of a chain among its own freedoms."""
        if self.mechanism.is_chain:
            return list(range(self.freedoms))
        return [TWIST.index(name) for name in self.mechanism.platform.mobility]

    @property
    def turning(self) -> list[bool]:
        """Flag for each freedom: True where it turns, False where it slides."""
        mechanism = self.mechanism
        if not mechanism.is_chain:
            return [name in ROTATION for name in mechanism.platform.mobility]
        limb_ = mechanism.limbs[0]
        return [limb_.links[limb_.index(name)].joint_kind.turns for name in mechanism.freedoms]

    @property
    def held(self) -> int:
        """Number of components of the platform's twist that are not free."""
        return len(held_directions(self.mechanism.platform.mobility))

    def speed(self, motion: Array) -> Array:
        """Return the freedoms' rates (freedom,) in a motion vector: V_t of Eq. (82), of a chain its joint rates."""
        if self.mechanism.is_chain:
            return motion[self.freedoms : 2 * self.freedoms]
        body = self.mechanism.platform
        return platform_motion.free_twist(body, platform_motion.unpack(motion, body)[1])

    def acceleration(self, motion: Array) -> Array:
        """Return the accelerations of the freedoms (freedom,) in a motion vector: the rate of `speed`."""
        if self.mechanism.is_chain:
            return motion[2 * self.freedoms :]
        body = self.mechanism.platform
        return platform_motion.free_acceleration(body, platform_motion.unpack(motion, body)[1])

    @property
    def compared(self) -> bool:
        """Return whether J_IK is compared with that of the reference pose.

        True with a platform, and for a chain whose coordinates stand for the pose of a platform.
        """
        return not self.mechanism.is_chain or bool(self.mechanism.limbs[0].coordinates)

    def redundant(self, limb_index: int) -> int:
        """Return the number of a limb's free multipliers: of cut-joint rows that its kinematics has dropped.

        A limb that keeps every row at the platform, and more rows than independent joints, has one for each of these
        rows. Each row of an overdetermined cluster of loops has one as well.
        """
        limb_, choice = self.mechanism.limbs[limb_index], self.choices[limb_index]
        kept = [*choice.tip_rows, *(loop.rows for loop in choice.loops)]
        dropped = sum(
            len(dropped_rows(each, rows)) for each, rows in zip((*limb_.tips, *limb_.loops), kept, strict=True)
        )
        rows = sum(map(len, choice.tip_rows))
        counts = [(sum(len(choice.loops[k].rows) for k in each.loops), len(each.dependent)) for each in choice.clusters]
        dropped += sum(loop_rows for loop_rows, solved in counts if loop_rows > solved)
        return dropped + (rows if limb_.every_row and rows > len(choice.independent) else 0)

    def constraint_count(self, limb_index: int) -> int:
        """Return the number of rows of a limb's platform joints that its kinematics has dropped."""
        pairs = zip(self.mechanism.limbs[limb_index].tips, self.choices[limb_index].tip_rows, strict=True)
        return sum(len(dropped_rows(tip, rows)) for tip, rows in pairs)

    @property
    def may_lose_constraints(self) -> bool:
        """Return whether limbs hold the platform by rows that may lose rank. False with limbs that keep every row."""
        limbs = range(len(self.mechanism.limbs))
        whole = any(limb_.every_row for limb_ in self.mechanism.limbs)
        return bool(self.held) and not whole and any(self.constraint_count(k) for k in limbs)

    def constraint_shapes(self, limb_index: int) -> Shapes:
        """Return the shapes of a limb's `constraint_rows`, and at the reference pose, where rank may be lost."""
        if not self.may_lose_constraints:
            return {}
        rows = (self.constraint_count(limb_index), self.held)
        return {"constraint_rows": rows, "home_constraint_rows": rows}

    def joint_state_size(self, limb_index: int) -> int:
        """Return the length of a limb's packed joint states; 0 for a tree.

        Later stages read these states and need not close the limb again.
        """
        limb_, choice = self.mechanism.limbs[limb_index], self.choices[limb_index]
        iterates = bool(choice.loops) or not self.mechanism.is_chain
        return len(packed(limb_, [HOME] * len(limb_.links))) if iterates else 0

    @property
    def driven(self) -> list[slice]:
        """The actuators of each limb of the robot."""
        counts = [len(self.mechanism.limbs[each.limb].actuators) for each in self.mechanism.instances]
        return [slice(sum(counts[:k]), sum(counts[: k + 1])) for k in range(len(counts))]

    @property
    def motion_size(self) -> int:
        """Length of a motion vector: of a chain, positions, rates and accelerations of its independent joints."""
        return (
            3 * self.freedoms
            if self.mechanism.is_chain
            else platform_motion.motion_size(self.mechanism.platform.mobility)
        )

    def instances(self, limb_index: int) -> list[Instance]:
        """Return the limbs of the robot that are copies of one representative limb."""
        return [each for each in self.mechanism.instances if each.limb == limb_index]


def flat_mount(instance: Instance) -> list[Any]:
    """Return the 24 numbers of an instance's mount frames: rotation, position, at base and platform."""
    frames = (instance.base, instance.platform)
    # entries may be arrays over designs, which an array of objects would take apart
    return [x for frame in frames for x in (*(x for row in frame.rotation for x in row), *frame.position)]


def symbolic(structure: Structure, parameters: Array, signals: Array = ABSENT) -> Mechanism:
    """Return the mechanism with these parameters, in family order; and signals, for all that depends on forces."""
    names = [p.name for p in structure.family.parameters]
    changing = zip(structure.family.signals, signals, strict=True) if len(signals) else ()
    return structure.family.assemble(dict(zip(names, parameters, strict=True)) | dict(changing))


def limb_inputs(structure: Structure, limb_index: int) -> dict[str, tuple[int, ...]]:
    """Return the case inputs of the programs of a limb."""
    count = len(structure.differing[limb_index])
    return {"parameters": (len(structure.family.parameters),), "mount": (count,), "gravity": (GRAVITY,)}


def signal_inputs(family: Family) -> Shapes:
    """Return the sample inputs, besides the motion, of programs for forces: loads that change over time."""
    return {"signals": (len(family.signals),)} if family.signals else {}


def field_inputs(case: Mapping[str, Shape], sample: Mapping[str, Shape], moving_base: bool) -> tuple[Shapes, Shapes]:
    """Return the inputs of a program, (per case, per sample): `gravity` is per sample if the base moves."""
    if not moving_base:
        return dict(case), dict(sample)
    return {name: shape for name, shape in case.items() if name != "gravity"}, {**sample, "gravity": (MOVING,)}


def with_parameters(family: Family, values: Mapping[str, float | Array]) -> np.ndarray:
    """Return the `parameters` input, an array (cases, parameters), from values by name; (1, 0) without parameters."""
    columns = [np.atleast_1d(np.asarray(values[p.name], dtype=float)) for p in family.parameters]
    return np.ascontiguousarray(np.stack(columns, axis=1)) if columns else np.zeros((1, 0))
