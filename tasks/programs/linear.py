"""The program of a linearisation: how accelerations answer forces that a change of the state asks for."""

from __future__ import annotations

import functools

from tasks.kernels.program import Program, trace
from tasks.kernels.types import Array
from tasks.mathematics.algebra import inverse


@functools.cache
def answer_program(freedoms: int) -> Program:
    """`answer` (freedom,) of the accelerations to `forces` (freedom,) along the freedoms, from the `mass` matrix.

    Not finite where the mass matrix has lost rank.
    """

    def one_sample(mass: Array, forces: Array) -> dict[str, Array]:
        return {"answer": inverse(mass) @ forces}

    return trace(
        f"answer.{freedoms}", one_sample, case={}, sample={"mass": (freedoms, freedoms), "forces": (freedoms,)}
    )
