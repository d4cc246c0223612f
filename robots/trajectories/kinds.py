"""Kinds of trajectory as data: name and parameters with units.

Kinds for positions of a platform are in `MOTIONS`, kinds for its rotation in `TURNS`, and kinds for the independent
joints of a chain in `JOINT_MOTIONS`. A kind is a row here, and a row with its mathematics, under the same name, in
`tasks.sources.prescribed` (`FORMS`, or `SAMPLED` for a kind that is no function of time). Positions of a platform are
in the axes of the base and count from the reference position of the robot with its fixed parameters (swept ones at
their defaults). So all designs of a sweep have one origin and do the same work.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

from robots.data_classes import dataclass, field
from robots.parameters import LARGEST, Parameter
from robots.types import IDENTITY, Matrix

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Value = float | tuple[float, ...]
"""Value of a parameter of a motion."""


@dataclass(frozen=True)
class MotionKind:
    """A kind of trajectory: its name, its parameters, and whether it reads a file of points.

    `grid`: samples are the points of a grid with the parameters `size` and `counts`, at rest at each, and not times.
    """

    name: str
    parameters: tuple[Parameter, ...]
    text: str
    source: str = ""
    points_file: bool = False
    grid: bool = False


@dataclass(frozen=True)
class Turn:
    """Rotation of a platform: a kind of `TURNS` with its values, about an orientation relative to the reference pose.

    The angles a(t) of the kind are roll, pitch and yaw about the fixed axes x, y, z, so that the platform's
    rotation is Rz(a_z) Ry(a_y) Rx(a_x) orientation R_home.
    """

    kind: str
    values: Mapping[str, Value]
    orientation: Matrix = IDENTITY
    points: NDArray[np.float64] | None = field(default=None, compare=False)
    """Angles over time (points, 4): t [s], roll, pitch, yaw [rad]; None for a kind that reads no file."""


_ORIGIN = (0.0, 0.0, 0.0)
_TINY = 1e-6
_CENTRE = Parameter("centre", "m", _ORIGIN, text="centre, relative to the reference position")
_PERIOD = Parameter("period", "s", 1.0, _TINY, 1e6, "time of one turn")
HARMONICS = 5
"""Harmonics of a Fourier series; five are customary for excitation, and few enough to keep the bandwidth low."""
_PHASE = Parameter("phase", "rad", 0.0, -2 * math.pi, 2 * math.pi, "phase at time zero")


def _fourier(centre: Parameter, unit: str, zero: float | tuple[float, ...], most: float = LARGEST) -> MotionKind:
    """Return a finite Fourier series, of a platform or of joints."""
    amplitudes = tuple(
        Parameter(f"{kind}_{k}", unit, zero, -most, most, f"amplitude of the {kind} of harmonic {k}")
        for k in range(1, HARMONICS + 1)
        for kind in ("sine", "cosine")
    )
    period = Parameter("period", "s", 10.0, _TINY, 1e6, "period of the first harmonic")
    return MotionKind(
        "fourier",
        (centre, period, *amplitudes),
        "finite Fourier series: centre + sum of sine_k sin(2 pi k t / period) + cosine_k cos(2 pi k t / period)",
        "Swevers et al. 1997, Optimal robot excitation and identification",
    )


MOTIONS: dict[str, MotionKind] = {
    motion.name: motion
    for motion in (
        MotionKind(
            "line_sine",
            (_CENTRE, Parameter("amplitude", "m", (0.3, 0.4, 0.1), text="amplitude along each axis"), _PERIOD, _PHASE),
            "harmonic motion along a straight line",
            "Mueller, hybrid-limb paper, section 9.4",
        ),
        MotionKind(
            "circle",
            (
                _CENTRE,
                Parameter("normal", "1", (0.0, 0.0, 1.0), text="normal of the plane; any length"),
                Parameter("radius", "m", 0.1, _TINY, 1e3, "radius"),
                _PERIOD,
                _PHASE,
            ),
            "circle at constant speed",
        ),
        MotionKind(
            "spiral",
            (
                _CENTRE,
                Parameter("radius", "m", 0.1, 0.0, 1e3, "radius at time zero"),
                Parameter("radial_speed", "m/s", 0.0, text="growth of the radius"),
                Parameter("axial_speed", "m/s", 0.0, text="speed along z"),
                _PERIOD,
                _PHASE,
            ),
            "spiral or helix around the z axis",
        ),
        MotionKind(
            "helix",
            (
                _CENTRE,
                Parameter("normal", "1", (0.0, 0.0, 1.0), text="axis; any length"),
                Parameter("radius", "m", 0.1, _TINY, 1e3, "radius"),
                Parameter("axial_speed", "m/s", 0.01, text="speed along the axis"),
                _PERIOD,
                _PHASE,
            ),
            "circle that moves along its axis at constant speed; right-handed about the axis",
        ),
        MotionKind(
            "quintic",
            (
                Parameter("start", "m", _ORIGIN, text="start, relative to the reference position"),
                Parameter("end", "m", (0.1, 0.0, 0.0), text="end, relative to the reference position"),
                Parameter("duration", "s", 1.0, _TINY, 1e6, "time of the motion; at rest after it"),
            ),
            "point to point on a line, at rest at both ends, quintic in time",
        ),
        MotionKind(
            "pick_and_place",
            (
                Parameter("start", "m", (-0.1525, 0.0, 0.0), text="start, relative to the reference position"),
                Parameter("end", "m", (0.1525, 0.0, 0.0), text="where it turns back"),
                Parameter("lift", "m", 0.025, 1e-6, 1e2, "height that is lifted along z before and after the travel"),
                Parameter("duration", "s", 0.5, _TINY, 1e6, "time of the cycle, there and back; at rest after it"),
                Parameter("blend", "1", 0.5, 0.0, 1.0, "share of a lift during which the platform travels already"),
            ),
            "cycle there and back, by default the 25/305/25 mm of data sheets: lifts and travels are quintic in time, "
            "with equal peaks of acceleration where start and end are level; at rest at both places",
        ),
        MotionKind(
            "iso_9283",
            (
                _CENTRE,
                Parameter("edge", "m", 0.25, _TINY, 1e2, "edge of the cube"),
                Parameter("duration", "s", 2.5, _TINY, 1e6, "time of the cycle of five moves; at rest after it"),
            ),
            "moves between the five poses of the test plane of a cube, P1 P5 P4 P3 P2 P1, quintic in time, at rest at "
            "each pose; the plane has two edges along y and a diagonal of the side in x and z",
            "ISO 9283:1998, 6.8",
        ),
        MotionKind(
            "workspace_cylinder",
            (
                _CENTRE,
                Parameter("normal", "1", (0.0, 0.0, 1.0), text="axis; any length"),
                Parameter("radius", "m", 0.2, _TINY, 1e3, "radius"),
                Parameter("height", "m", 0.2, 0.0, 1e3, "height, half of it on each side of the centre"),
                Parameter("counts", "1", (5.0, 12.0, 5.0), 1.0, 1e6, "points outwards, around and along the axis"),
            ),
            "the points of rings of equal area in a cylinder, those of the outermost ring and of both ends on its "
            "surface, at rest at each; around changes fastest. One point along the axis: a disc",
            grid=True,
        ),
        MotionKind(
            "workspace_points",
            (Parameter("volume", "m^3", 0.0, 0.0, 1e9, "volume of the shape that the points fill; 0: not known"),),
            "the points of a CSV file with the columns t, x, y, z [m], at rest at each; t numbers them",
            points_file=True,
            grid=True,
        ),
        MotionKind(
            "workspace",
            (
                _CENTRE,
                Parameter("size", "m", (0.4, 0.4, 0.2), 0.0, 1e3, "edges of the box"),
                Parameter("counts", "1", (10.0, 10.0, 5.0), 1.0, 1e6, "whole numbers of points along each axis"),
            ),
            "the points of a grid in a box, at rest at each; x changes fastest. Points, not times: time must have as "
            "many samples as the grid has points",
            grid=True,
        ),
        MotionKind(
            "waypoints",
            (),
            "C2 cubic spline through the points of a CSV file with the columns t, x, y, z [s, m], at rest at both ends",
            points_file=True,
        ),
        _fourier(_CENTRE, "m", _ORIGIN),
    )
}


def is_grid(kind: str) -> bool:
    """Return whether the samples of a trajectory are points of a grid instead of times."""
    return kind in MOTIONS and MOTIONS[kind].grid


_MOST = 2 * math.pi


def _angles(name: str, default: tuple[float, float, float], text: str) -> Parameter:
    return Parameter(name, "rad", default, -_MOST, _MOST, text)


_MIDDLE = _angles("centre", _ORIGIN, "middle of each angle")

TURNS: dict[str, MotionKind] = {
    motion.name: motion
    for motion in (
        MotionKind("constant", (), "held in the orientation"),
        MotionKind(
            "harmonic",
            (_MIDDLE, _angles("amplitude", (0.1, 0.1, 0.1), "amplitude of each angle"), _PERIOD, _PHASE),
            "harmonic oscillation of the angles: centre + amplitude sin(2 pi t / period + phase)",
            "offset-joint hexapod paper, Eq. (28)",
        ),
        MotionKind(
            "quintic",
            (
                _angles("start", _ORIGIN, "angles at time zero"),
                _angles("end", (0.0, 0.0, 0.1), "angles at the end"),
                Parameter("duration", "s", 1.0, _TINY, 1e6, "time of the motion; at rest after it"),
            ),
            "from rest to rest, quintic in time",
        ),
        _fourier(_MIDDLE, "rad", _ORIGIN, _MOST),
        MotionKind(
            "waypoints",
            (),
            "C2 cubic splines through the angles of a CSV file with the columns t, roll, pitch, yaw [s, rad], at rest "
            "at both ends",
            points_file=True,
        ),
    )
}
"""Kinds of platform rotation: three angles over time, roll, pitch and yaw about the fixed axes x, y, z."""

_JOINT = "rad or m"
_START = Parameter("start", _JOINT, 0.0, text="position at time zero")

JOINT_MOTIONS: dict[str, MotionKind] = {
    motion.name: motion
    for motion in (
        MotionKind(
            "constant_velocity",
            (_START, Parameter("velocity", f"{_JOINT} per s", 0.1, text="rate")),
            "constant rate",
        ),
        MotionKind(
            "constant_acceleration",
            (
                _START,
                Parameter("velocity", f"{_JOINT} per s", 0.0, text="rate at time zero"),
                Parameter("acceleration", f"{_JOINT} per s^2", 0.2, text="acceleration"),
            ),
            "constant acceleration",
        ),
        MotionKind(
            "harmonic",
            (
                Parameter("centre", _JOINT, 0.0, text="centre of the oscillation"),
                Parameter("amplitude", _JOINT, 0.5, text="amplitude"),
                _PERIOD,
                _PHASE,
            ),
            "harmonic oscillation: centre + amplitude sin(2 pi t / period + phase)",
        ),
        MotionKind(
            "quintic",
            (
                _START,
                Parameter("end", _JOINT, 0.5, text="position at the end"),
                Parameter("duration", "s", 1.0, _TINY, 1e6, "time of the motion; at rest after it"),
            ),
            "from rest to rest, quintic in time",
        ),
        MotionKind(
            "waypoints",
            (),
            "C2 cubic spline through the points of a CSV file with the columns t [s] and each independent joint, "
            "at rest at both ends",
            points_file=True,
        ),
        _fourier(Parameter("centre", _JOINT, 0.0, text="constant part of the position"), _JOINT, 0.0),
    )
}
"""Motions of joints: every parameter is one number for all independent joints, or a list with one for each."""
