"""Dims of quantities: their names, their lengths, and those that a selection of joints, links or freedoms replaces."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from robots.model import Mechanism

FRICTION = "friction"
"""Dim of the sets of friction parameters."""

GAINS, STATE = "gains", "state"
"""Dims that only simulations have: gains of the controller, and initial state; each only where it varies."""

SPACE: dict[str, int] = {
    "axis": 3, "platform_axis": 3, "link_axis": 3, "wrench": 6, "bearing": 3, "load_part": 4, "friction_part": 5,
}  # fmt: skip
"""Lengths of the dims of space, and of the dims over parts of a joint's load and friction."""


def mechanism_sizes(mechanism: Mechanism) -> dict[str, int]:
    """Return the lengths of the dims that a robot decides."""
    actuators, freedoms = len(mechanism.actuators), len(mechanism.freedoms)
    return {
        "actuator": actuators,
        "limb": len(mechanism.instances),
        "joint": max(len(limb.joints) for limb in mechanism.limbs),
        "link": max(len(limb.links) for limb in mechanism.limbs),
        "freedom": freedoms,
        "freedom_column": freedoms,
        "freedom_layer": freedoms,
        "actuator_column": actuators,
        "deviation": 2 * freedoms,
        "deviation_column": 2 * freedoms,
    }


FREEDOMS = ("freedom", "freedom_column", "freedom_layer")
"""Dims along the freedoms of a robot, of vectors, matrices and coefficients."""

PLACED: Mapping[str, str] = {
    "joint": "selected_joint",
    "link": "selected_link",
    "deviation": "selected_deviation",
    **{dim: f"selected_{dim}" for dim in FREEDOMS},
}
"""Dims that a selection replaces, and their replacements: `selected_joint` stands for `limb` and `joint` where only
some joints are stored, `selected_link` for `limb` and `link`. Deviations and freedoms have no limb, so that only their
own dim is replaced."""


def selected_dims(dims: Sequence[str]) -> tuple[str, ...]:
    """Return the dims of a quantity of which only some joints, links or freedoms are stored."""
    return tuple(PLACED.get(dim, dim) for dim in dims if dim != "limb")
