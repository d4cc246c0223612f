"""Arm of five axes with all motors on its column: IRb-6 class, the forearm driven through a parallelogram.

Reference pose: upper arm upright, forearm level and forward (x), the crank of the parallelogram level and backward.
Positive angles lean the upper arm forward and turn forearm, crank and wrist downward. The crank turns about the axis of
the shoulder; a coupler parallel to the upper arm transmits its angle to the forearm. So `crank` is the angle of the
forearm against the column, independent of the upper arm, and the elbow follows. Rods and discs along the arm transmit
the wrist motors in the same way: the fourth motor turns the wrist against the column, and the fifth turns the hand
against the wrist through bevel wheels that turn along with it.

The example of the source publishes no parameters of the robot except its static state at the end: positions of the
motors (-130.0, -66.7, -51.0, -199.0, -199.0) rad, held by currents (0, 3.18, -0.73, 0, 0) A. The lengths are commonly
quoted values. All other values are declared here and are consistent: two centres of mass are chosen so that these
currents result in that state, with gravity 9.81 m/s^2; the wrist is balanced about its axis, as its motors draw no
current there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from robots import geometry
from robots.drives import Drive, Motor, Spin
from robots.geometry import AXIS_MINUS_Y, shifted
from robots.model import Closure, Family, Frame, Inertia, Link, Mechanism
from robots.parameters import Parameter
from robots.types import BASE, Number, Vector

PAPER = "Szkodny, Dynamics of industrial robot manipulators, section 3 (IRb-6)"
QUOTED = "often quoted for IRb-6; not verified"
DECLARED = "declared here: "
X: Vector = (1.0, 0.0, 0.0)
Y: Vector = (0.0, 1.0, 0.0)
Z: Vector = (0.0, 0.0, 1.0)
COLUMN = 0
MOTORS = ("motor_1", "motor_2", "motor_3", "motor_4", "motor_5")


def _links(p: Mapping[str, Number]) -> tuple[Link, ...]:
    height, arm, forearm, throw = p["shoulder_height"], p["upper_arm"], p["forearm"], p["crank_length"]
    shoulder, half = shifted((0.0, 0.0, height)), 0.5 * arm
    return (
        Link("waist", "column", BASE, "revolute", Z, Frame(), _round(p, "column", height, "z", 0.5 * height)),
        Link("shoulder", "upper_arm", COLUMN, "revolute", Y, shoulder, _slender(p, "upper_arm", arm, "z")),
        Link("crank", "crank", COLUMN, "revolute", Y, shoulder, _slender(p, "crank", throw, "x")),
        Link(
            "coupler_foot",
            "coupler",
            2,
            "revolute",
            Y,
            shifted((-throw, 0.0, 0.0)),
            geometry.bar(p["coupler_mass"], arm, "z", (0.0, 0.0, half)),
        ),
        Link("elbow", "forearm", 1, "revolute", Y, shifted((0.0, 0.0, arm)), _slender(p, "forearm", forearm, "x")),
        Link("tilt", "wrist", 4, "revolute", Y, shifted((forearm, 0.0, 0.0)), _round(p, "wrist", 0.12, "y", 0.0)),
        Link("turn", "hand", 5, "revolute", X, Frame(), _round(p, "hand", 0.10, "x", 0.0)),
    )


def _slender(p: Mapping[str, Number], body: str, span: Number, axis: str) -> Inertia:
    """Return a bar as long as the body whose centre of mass is where its parameter says."""
    along = p[f"{body}_centre"]
    return geometry.bar(p[f"{body}_mass"], span, axis, (along, 0.0, 0.0) if axis == "x" else (0.0, 0.0, along))


def _round(p: Mapping[str, Number], body: str, span: Number, axis: str, height: Number) -> Inertia:
    return geometry.bar(p[f"{body}_mass"], span, axis, (0.0, 0.0, height), p[f"{body}_diameter"])


def _drives(p: Mapping[str, Number]) -> tuple[Drive, ...]:
    n = [p[f"gear_{k}"] for k in range(1, 6)]
    ratios = (
        (("waist", n[0]),),
        (("shoulder", n[1]),),
        (("crank", n[2]),),
        (("crank", n[3]), ("tilt", n[3])),
        (("crank", n[4]), ("tilt", n[4]), ("turn", n[4])),
    )
    motor = Motor(p["torque_constant"], p["resistance"])
    return tuple(
        Drive(
            name,
            ratio,
            (Spin(p[f"rotor_{k}"], COLUMN if k > 1 else BASE, Y if k > 1 else Z, coupling=p["rotor_coupling"]),),
            motor,
        )
        for k, (name, ratio) in enumerate(zip(MOTORS, ratios, strict=True), start=1)
    )


def _assemble(p: Mapping[str, Number]) -> Mechanism:
    arm, throw = p["upper_arm"], p["crank_length"]
    pin = Closure(
        "coupler_head",
        "revolute",
        3,
        Frame(AXIS_MINUS_Y, (0.0, 0.0, arm)),
        4,
        Frame(AXIS_MINUS_Y, (-throw, 0.0, 0.0)),
    )
    independent = ("waist", "shoulder", "crank", "tilt", "turn")
    return Mechanism.chain("arm", _links(p), independent, (pin,), _drives(p))


def _mass(body: str, default: float, why: str) -> Parameter:
    return Parameter.mass(f"{body}_mass", default, f"mass of the {body.replace('_', ' ')}", DECLARED + why)


def _centre(body: str, default: float, text: str, why: str) -> Parameter:
    return Parameter(f"{body}_centre", "m", default, -1e2, 1e2, text, DECLARED + why)


def _diameter(body: str, default: float) -> Parameter:
    return Parameter.length(
        f"{body}_diameter", default, f"diameter of the {body}, a solid cylinder", DECLARED + "size of a cast"
    )


def _motors() -> Iterator[Parameter]:
    gears, rotors = (128.0, 100.0, 100.0, 120.0, 120.0), (6e-4, 6e-4, 6e-4, 3e-4, 3e-4)
    wide = "from 100 to 160, as usual for its screws and harmonic drives"
    for k, (gear, rotor) in enumerate(zip(gears, rotors, strict=True), start=1):
        yield Parameter(f"gear_{k}", "1", gear, 1.0, 1e4, f"turns of motor {k} per turn that it gives", DECLARED + wide)
        text = f"inertia of rotor {k} and the parts fixed to it"
        yield Parameter(f"rotor_{k}", "kg m^2", rotor, 0.0, 1.0, text, DECLARED + "disc motors of some 100 W")
    text, why = "torque of a motor per current", "rated torque of such motors at 5 to 8 A"
    yield Parameter("torque_constant", "N m/A", 0.12, 1e-6, 1e3, text, DECLARED + why)
    yield Parameter("resistance", "ohm", 0.8, 0.0, 1e6, "of a motor's winding", DECLARED + "typical beside that torque")
    text = "1: all effects of spinning rotors; 0: those of their own energy alone, as usual for high ratios"
    yield Parameter("rotor_coupling", "1", 1.0, 0.0, 1.0, text, DECLARED + "nothing left out")


IRB6 = Family(
    name="irb6",
    title="Arm with five axes of IRb-6 class: motors on the column, parallelogram, coupled wrist",
    source=PAPER,
    parameters=(
        Parameter.length("shoulder_height", 0.70, "shoulder above the base", QUOTED),
        Parameter.length("upper_arm", 0.45, "shoulder to elbow", QUOTED),
        Parameter.length("forearm", 0.67, "elbow to the tilt axis of the wrist", QUOTED),
        Parameter.length(
            "crank_length", 0.12, "length of the crank and of the tail of the forearm", DECLARED + "a quarter arm"
        ),
        _mass("column", 40.0, "cast column with four motors"),
        _diameter("column", 0.30),
        _mass("upper_arm", 10.0, "cast arm of this length"),
        _centre("upper_arm", 0.201292, "centre of mass from the shoulder, upward", "current 2 of the example"),
        _mass("crank", 1.5, "steel bar with its hub"),
        _centre("crank", -0.06, "centre of mass from the shoulder, forward", "middle of the crank"),
        _mass("coupler", 1.0, "steel tube"),
        _mass("forearm", 7.0, "cast arm with its tail"),
        _centre("forearm", -0.015261, "centre of mass from the elbow, forward", "current 3 of the example"),
        _mass("wrist", 1.2, "bevel wheels in a housing"),
        _diameter("wrist", 0.10),
        _mass("hand", 0.8, "flange and gripper"),
        _diameter("hand", 0.08),
        *_motors(),
    ),
    assemble=_assemble,
)

FAMILIES = (IRB6,)
