"""How a platform turns along a trajectory: rotation, angular velocity and acceleration; kinds in `robots.motions`.

Angles over time are closed forms of `tasks.trajectories.closed_forms`. A rotation is a smooth function of roll, pitch
and yaw everywhere; only the way back has singularities, and nobody goes it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from robots.motions import TURNS, Turn
from tasks.kernels.program import Program, trace
from tasks.kernels.types import Array
from tasks.mathematics.algebra import array
from tasks.mathematics.elementary import sincos
from tasks.mathematics.rotations import from_sines
from tasks.trajectories import closed_forms


def constant(t: Any) -> closed_forms.Instant:
    """No turn."""
    return np.zeros(3), np.zeros(3), np.zeros(3)


ANGLES: Mapping[str, Callable[..., closed_forms.Instant]] = {
    "constant": constant,
    "harmonic": closed_forms.line_sine,
    "quintic": closed_forms.quintic,
    "fourier": closed_forms.fourier,
}
"""Angles [rad] over time, with rates and accelerations."""


@functools.cache
def program(kind: str) -> Program:
    """The program of a turn: case inputs its parameters and `rest` (9), the rotation about which it turns.

    Sample input `t`, output `motion` (15): rotation row by row, angular velocity and acceleration in the axes of the
    base.
    """
    shapes = {p.name: p.shape for p in TURNS[kind].parameters}

    def one_sample(t: Array, rest: Array, **values: Any) -> dict[str, Any]:
        given = {name: value if shapes[name] else value[0] for name, value in values.items()}
        angles, rates, accelerations = ANGLES[kind](t[0], **given)
        sines = [sincos(x) for x in angles]
        sin, cos = (array([each[k] for each in sines]) for k in (0, 1))
        turned = from_sines(sin, cos, array(rates), array(accelerations))
        rotation = array(turned.rotation) @ array(rest).reshape(3, 3)
        return {"motion": np.concatenate([rotation.ravel(), turned.omega, turned.alpha])}

    case = {name: shape or (1,) for name, shape in shapes.items()}
    return trace(f"trajectory.turn.{kind}", one_sample, case={**case, "rest": (9,)}, sample={"t": (1,)})


def turning(turn: Turn | None, home: ArrayLike, times: np.ndarray) -> np.ndarray:
    """Rotation, angular velocity and acceleration (15, padded samples) at `times`; `home` (3, 3) is at reference."""
    turn = turn or Turn("constant", {})
    rest = np.array(turn.orientation, dtype=float) @ np.array(home, dtype=float)
    return closed_forms.evaluated(program(turn.kind), {**turn.values, "rest": rest}, closed_forms.padded_times(times))
