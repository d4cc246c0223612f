"""Constraint singularities of a robot: constraints of its limbs on the platform, here and at the reference pose."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from robots.types import ROTATION
from tasks.kernels.expression import Array, Mask, Scalar
from tasks.mathematics.algebra import array
from tasks.mechanics import assembly, limb_motion
from tasks.mechanics.kinematics import mount_pose
from tasks.mechanics.limb_motion import Mounted, Solved
from tasks.mechanics.platform_motion import held_directions
from tasks.mechanics.structure import Structure, symbolic


def limb_rows(
    structure: Structure, mounted: Mounted, solved: Solved, parameters: Array
) -> dict[str, Array | list[Any]]:
    """Return limb `constraint_rows` (row, held direction), `home_constraint_rows`; see `limb_motion.constraint_rows`.

    Empty if no limb of the robot may lose its hold on the platform.
    """
    if not structure.may_lose_constraints:
        return {}
    home, none = mount_pose(symbolic(structure, parameters).platform.home), np.zeros((0, structure.held))
    return {
        "constraint_rows": limb_motion.constraint_rows(mounted, solved.tips) or none,
        "home_constraint_rows": limb_motion.home_constraint_rows(mounted, home) or none,
    }


def hold(
    structure: Structure, carrying: Sequence[int], rows: Mapping[int, Array], home: Mapping[int, Array]
) -> tuple[Scalar, Mask]:
    """Return the regularity of the limbs' constraints on the platform, and whether it is lost; rows by limb number.

    Held directions that no limb holds, such as the turns of a point, do not count. `carrying` are positions of the
    directions that limbs hold, see `tasks.mechanics.solving.carried`.
    """
    if not carrying:
        return 1.0, False
    names = held_directions(structure.mechanism.platform.mobility)
    now, first = (array(np.vstack([part[k] for k in sorted(part)])[:, list(carrying)]) for part in (rows, home))
    reference = assembly.Reference(first, [names[k] in ROTATION for k in carrying])
    return assembly.regularity(now, reference), assembly.constraints_lost(now, reference)
