"""How a platform turns along a trajectory: rotation, angular velocity and acceleration, and their kinds.

Angles over time are those of `tasks.trajectories.closed_forms.FORMS`. A rotation is a smooth function of roll, pitch
and yaw everywhere; only the way back has singularities, and nobody goes it.
"""

from __future__ import annotations

import functools

import numpy as np
from numpy.typing import ArrayLike

from robots.trajectories.kinds import TURNS, Turn
from tasks.kernels.cache import kernel
from tasks.kernels.program import Program, trace
from tasks.kernels.types import Array
from tasks.mathematics.algebra import array
from tasks.mathematics.elementary import sincos
from tasks.mathematics.rotations import from_sines
from tasks.trajectories.closed_forms import FORMS, SAMPLED, Numbers, evaluated, padded_times, unpacked


@functools.cache
def program(kind: str) -> Program:
    """The program of a turn: case inputs its parameters and `rest` (9), the rotation about which it turns.

    Sample input `t`, output `motion` (15): rotation row by row, angular velocity and acceleration in the axes of the
    base.
    """
    shapes = {p.name: p.shape for p in TURNS[kind].parameters}

    def one_sample(t: Array, rest: Array, **values: Array) -> dict[str, Array]:
        angles, rates, accelerations = FORMS[kind](t[0], **unpacked(values, shapes))
        sin, cos = (array(part) for part in zip(*map(sincos, angles), strict=True))
        turned = from_sines(sin, cos, array(rates), array(accelerations))
        rotation = array(turned.rotation) @ array(rest).reshape(3, 3)
        return {"motion": np.concatenate([rotation.ravel(), turned.omega, turned.alpha])}

    case = {name: shape or (1,) for name, shape in shapes.items()}
    return trace(f"trajectory.turn.{kind}", one_sample, case={**case, "rest": (9,)}, sample={"t": (1,)})


@functools.cache
def program_along_angles() -> Program:
    """The program of a turn along given angles: case input `rest` as above, sample input `angles` (9).

    These are roll, pitch and yaw, their rates and their accelerations; the output is that of `program`.
    """

    def one_sample(angles: Array, rest: Array) -> dict[str, Array]:
        sin, cos = (array(part) for part in zip(*map(sincos, angles[:3]), strict=True))
        turned = from_sines(sin, cos, angles[3:6], angles[6:])
        rotation = array(turned.rotation) @ array(rest).reshape(3, 3)
        return {"motion": np.concatenate([rotation.ravel(), turned.omega, turned.alpha])}

    return trace("trajectory.turn.along_angles", one_sample, case={"rest": (9,)}, sample={"angles": (9,)})


def turning(turn: Turn | None, home: ArrayLike, times: Numbers) -> Numbers:
    """Rotation, angular velocity and acceleration (15, padded samples) at `times`; `home` (3, 3) is at reference."""
    turn = turn or Turn("constant", {})
    rest = np.array(turn.orientation, dtype=float) @ np.array(home, dtype=float)
    if turn.kind not in SAMPLED:
        return evaluated(program(turn.kind), {**turn.values, "rest": rest}, padded_times(times))
    angles = SAMPLED[turn.kind](padded_times(times), turn.points, **turn.values)
    inputs = {"rest": rest.reshape(1, 9), "angles": angles[None]}
    return kernel(program_along_angles())(inputs, angles.shape[1])["motion"][0]
