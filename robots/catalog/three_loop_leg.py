"""Planar leg of three loops, driven by one crank: seven links, ten joints about z, one freedom.

From the crank `joint_1pp` to the foot: loop I closes between crank and coupler 2', loop II between the coupler and
link 4, loop III between link 4 and link 3; II and III share one pin. One and two primes of the paper are `p` and `pp`
in names.

The reference pose is taken from the paper's table, with all frames parallel to the base. The loops have to be closed
there for all lengths. So the pin on link 3 and the base pivots of 1' and 1'' are no parameters, but follow from the
lengths. The defaults give the printed values: (-0.0375, 0.0249), (-0.05, 0) and (-0.10, 0.0001) m.
Joint 1 stands at the base's origin. The paper's gravity is [0, -9.8, 0]; its crank turns at 0.1 rad/s, and can do so
from -2.54 to +1.58 rad.
"""

from __future__ import annotations

from collections.abc import Mapping

from robots.catalog.link_tables import LinkRow, links, parameters, point, vector
from robots.geometry import minus, shifted
from robots.model import Closure, Family, Mechanism
from robots.types import BASE, ZERO, Number, Vector

PAPER = "explicit dynamics of multi-rigid-body mechanisms with joint friction, table 3"
PLANE = "xy"
CRANK = "joint_1pp"

_LARGE, _MIDDLE, _SMALL = (0.005, 0.04, 0.04), (0.003, 0.02, 0.02), (0.002, 0.01, 0.01)
ROWS = (
    LinkRow("1", BASE, 2.0, (0.0369, -0.0338, 0.0), _LARGE),
    LinkRow("2", 0, 2.0, (-0.0451, -0.0217, 0.0), _LARGE, (0.0737, -0.0676, 0.0)),
    LinkRow("3", 1, 1.0, (-0.0187, 0.0124, 0.0), _SMALL, (-0.0451, -0.0217, 0.0)),
    LinkRow("4", 0, 1.2, (-0.0229, -0.0153, 0.0), _MIDDLE, (0.0368, -0.0338, 0.0)),
    LinkRow("1p", BASE, 1.2, (-0.0039, -0.0272, 0.0), _MIDDLE),
    LinkRow("2p", 4, 2.0, (0.0, 0.0, 0.0), _LARGE, (-0.0079, -0.0544, 0.0)),
    LinkRow("1pp", BASE, 1.0, (-0.0034, -0.0222, 0.0), _SMALL),
)
_INDEX = {row.number: k for k, row in enumerate(ROWS)}

PINS = {
    "link_4_pin": (-0.0457, -0.0306, 0.0),
    "link_2p_pin_II": (0.049, -0.01, 0.0),
    "link_2p_pin_I": (-0.049, 0.01, 0.0),
    "link_1pp_pin": (-0.0069, -0.0445, 0.0),
}
"""Closure points in their links [m]; the point of link 3 follows from the point of link 4."""


def _plus(*vectors: Vector) -> Vector:
    x, y, z = (sum(components) for components in zip(*vectors, strict=True))
    return (x, y, z)


def _pivots(p: Mapping[str, Number]) -> tuple[dict[str, Vector], Vector]:
    """Return the base pivots by number, and the pin on link 3, that close the loops at the reference pose."""
    origin = {row.number: vector(p, f"{row.body}_origin") for row in ROWS if row.origin is not None}
    pin = {name: vector(p, name) for name in PINS}
    foot = _plus(origin["4"], pin["link_4_pin"])  # of loops II and III, seen from joint 1
    first = minus(minus(foot, origin["2p"]), pin["link_2p_pin_II"])
    second = minus(_plus(first, origin["2p"], pin["link_2p_pin_I"]), pin["link_1pp_pin"])
    return {"1": ZERO, "1p": first, "1pp": second}, minus(minus(foot, origin["2"]), origin["3"])


def _assemble(p: Mapping[str, Number]) -> Mechanism:
    base, pin_3 = _pivots(p)

    def closure(name: str, a: str, at_a: Vector, b: str, at_b: Vector) -> Closure:
        return Closure(f"joint_{name}", "revolute", _INDEX[a], shifted(at_a), _INDEX[b], shifted(at_b))

    pin = {name: vector(p, name) for name in PINS}
    loops = (
        closure("III", "3", pin_3, "4", pin["link_4_pin"]),
        closure("II", "4", pin["link_4_pin"], "2p", pin["link_2p_pin_II"]),
        closure("I", "2p", pin["link_2p_pin_I"], "1pp", pin["link_1pp_pin"]),
    )
    return Mechanism.chain("leg", links(ROWS, p, lambda row: base[row.number]), (CRANK,), loops)


THREE_LOOP_LEG = Family(
    name="three_loop_leg",
    title="Planar leg of three loops, driven by one crank",
    source=PAPER,
    parameters=(
        *parameters(ROWS, PAPER, PLANE),
        *(
            coordinate
            for name, default in PINS.items()
            for coordinate in point(name, default, "closure point " + name.replace("_", " "), PAPER, PLANE)
        ),
    ),
    assemble=_assemble,
    gravity=(0.0, -9.8, 0.0),
)

FAMILIES = (THREE_LOOP_LEG,)
