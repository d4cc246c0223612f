"""Terms of the equations of motion for quantities: shares of each limb and of the platform.

    M V' + C V + gravity_force = J_IK^T u, and the potential energy; see `tasks.mechanics.equations`

The assembly adds up the terms of the limbs and of the platform, which has the number PLATFORM among them, and puts the
limbs' rows of the rate of J_IK below each other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np

from robots.model import Inertia, Platform
from robots.quantities import Need, any_needs
from robots.types import TWIST
from tasks.kernels.expression import Array, Scalar, Scalars
from tasks.kernels.keys import Key, Shape, Shapes, indexed
from tasks.mathematics.algebra import array
from tasks.mechanics import equations, limb_motion, platform_motion
from tasks.mechanics.equations import EquationShare
from tasks.mechanics.kinematics import Pose, SpatialMotion
from tasks.mechanics.structure import Structure
from tasks.stages.parts import LimbSample, RobotPart

NEEDS: Mapping[str, Need] = {
    "mass": "mass matrix",
    "coriolis": "coriolis matrix",
    "coriolis_slope": "coriolis coefficients",
    "gravity_force": "gravity force",
    "load_force": "load force",
    "jacobian_rate": "jacobian rate",
    "potential": "potential energy",
    "mass_moment": "mass moment",
    "momentum": "momentum",
}
_SHARES: Mapping[str, Callable[[EquationShare], Array]] = {
    "mass": lambda share: share.mass,
    "coriolis": lambda share: share.coriolis,
    "coriolis_slope": lambda share: share.coriolis,  # differentiated below
    "gravity_force": lambda share: share.gravity,
    "jacobian_rate": lambda share: share.jacobian_rate,
}
_BODIES: Mapping[str, Callable[[Inertia, Pose, SpatialMotion], Array]] = {
    "mass_moment": lambda inertia, pose, moving: equations.mass_moment(inertia, pose),
    "momentum": equations.momentum,
}
"""Sums over bodies, of a body's inertia, pose and motion."""
PLATFORM = -1
"""Number of the platform among those who have terms; limbs count from 0."""
_FIXED: Mapping[str, int] = {"potential": 1, "mass_moment": 4, "momentum": 6}
"""Lengths of the terms that are the same for all robots."""
_PULLED = ("gravity_force", "potential")
"""Terms that gravity changes."""


def needed(wanted: Iterable[str], parts: Iterable[RobotPart]) -> tuple[str, ...]:
    """Return the terms that some quantities and parts of the assembly need, in the order of NEEDS."""
    quantities, of_parts = tuple(wanted), {name for part in parts for name in part.equations}
    return tuple(term for term, need in NEEDS.items() if term in of_parts or any_needs(quantities, need))


def limb_shapes(structure: Structure, limb_index: int, terms: Iterable[str]) -> dict[str, Shape]:
    """Return the shapes of the terms of a limb."""
    driven = len(structure.mechanism.limbs[limb_index].actuators)
    return {term: _shape(structure.freedoms, driven, term) for term in terms}


def limb_outputs(structure: Structure, limb_index: int) -> dict[str, Shape]:
    """Return the shapes of the outputs of every limb: its share of the wrench, its rows of J_IK, its status."""
    driven, free = len(structure.mechanism.limbs[limb_index].actuators), structure.freedoms
    return {"wrench": (free,), "jacobian": (driven, free), "status": (1,)}


def platform_outputs(structure: Structure, terms: Iterable[str], held: bool = False) -> Shapes:
    """Return the shapes of the platform's outputs: its wrench, with `held` its part along held directions, and terms.

    It has no rows of J_IK.
    """
    sizes = {term: _shape(structure.freedoms, 0, term) for term in terms if term != "jacobian_rate"}
    held_shape = {"held": (structure.held,)} if held else {}
    return {"platform_wrench": (structure.freedoms,), **held_shape, **indexed(PLATFORM, sizes)}


def _shape(freedoms: int, driven: int, term: str) -> Shape:
    if term in _FIXED:
        return (_FIXED[term],)
    if term in ("gravity_force", "load_force"):
        return (freedoms,)
    if term == "coriolis_slope":
        return (freedoms * freedoms, freedoms)
    return (driven if term == "jacobian_rate" else freedoms, freedoms)


def _pull(gravity: Array, terms: Iterable[str]) -> Array:
    """Return gravity, zero if no term depends on it."""
    return gravity if any(term in _PULLED for term in terms) else np.zeros(3)


def of_limb(sample: LimbSample, terms: tuple[str, ...]) -> dict[str, Array | Scalars]:
    """Return the terms of a limb in task space, as `limb_shapes` has them."""
    mounted, solved, gravity = sample.mounted, sample.solved, sample.gravity
    speed = sample.structure.speed(sample.motion)
    result: dict[str, Array | Scalars] = {}
    if set(terms) & _SHARES.keys():
        share = equations.limb_share(mounted, solved, (sample.pose, sample.moving), speed, _pull(gravity, terms))
        result |= {term: of(share) for term, of in _SHARES.items() if term in terms}
    if "coriolis_slope" in result:
        fixed = equations.state_seeds(mounted, solved)
        result["coriolis_slope"] = equations.slopes(array(result["coriolis_slope"]), speed, fixed)
    if "load_force" in terms:
        result["load_force"] = equations.applied_force(mounted, solved)
    if "potential" in terms:
        result["potential"] = [equations.potential_energy(mounted, solved, gravity)]
    if summed_up := [term for term in terms if term in _BODIES]:
        bodies = limb_motion.link_motions(mounted, solved)
        for term in summed_up:
            each = [_BODIES[term](link.inertia, *at) for link, at in zip(mounted.limb.links, bodies, strict=True)]
            result[term] = array(sum(each[1:], start=each[0]))
    return result


def of_platform(
    body: Platform, moving: tuple[Pose, SpatialMotion], gravity: Array, acting: Sequence[Scalar], terms: tuple[str, ...]
) -> dict[Key, Array | Scalars]:
    """Return the terms of the platform, as `platform_outputs` has them; `acting`: (moment, force) from outside."""
    pose, motion = moving
    result: dict[str, Array | Scalars] = {}
    if own_terms := set(terms) & _SHARES.keys() - {"jacobian_rate"}:
        share = equations.platform_share(body, pose, motion, _pull(gravity, terms))
        result |= {term: of(share) for term, of in _SHARES.items() if term in own_terms}
    if "coriolis_slope" in result:
        speed = platform_motion.free_twist(body, motion)
        result["coriolis_slope"] = equations.slopes(array(result["coriolis_slope"]), speed)
    if "load_force" in terms:
        whole = acting or np.zeros(len(TWIST))
        result["load_force"] = array([whole[TWIST.index(name)] for name in body.mobility])
    if "potential" in terms:
        result["potential"] = [equations.platform_energy(body, pose, gravity)]
    result |= {term: of(body.inertia, pose, motion) for term, of in _BODIES.items() if term in terms}
    return indexed(PLATFORM, result)
