"""Friction laws with a state, along given velocities: inverse dynamics.

Steps in time are one after the other, samples of a batch side by side in a kernel: the bits of a sample depend neither
on its neighbours nor on the machine. For forward dynamics see `tasks.friction.lugre.rate` and
`tasks.friction.stiction.balance`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from robots.friction import LAWS as LAW_DATA
from robots.friction import FrictionLaw
from robots.parameters import complete, nearest
from tasks.friction import lugre, stiction
from tasks.friction.laws import Sliding
from tasks.kernels.batches import Batch, checked, common_batch, rows
from tasks.kernels.cache import kernel
from tasks.kernels.program import Program, trace
from tasks.kernels.types import Array, Scalar


class StateLaw(NamedTuple):
    """`advance(state, before, after, step, **values)` to the next state, `force(state, velocity, load, **values)`."""

    advance: Callable[..., Scalar]
    force: Callable[..., Scalar]


LAWS: Mapping[str, StateLaw] = {
    "stiction": StateLaw(stiction.advance, stiction.force),
    "lugre": StateLaw(lugre.advance, lugre.force),
}


class History(NamedTuple):
    """Friction force against positive motion, and the state of the law, both (*batch, time)."""

    force: np.ndarray
    state: np.ndarray


def along(
    law: str,
    *,
    velocity: ArrayLike,
    times: ArrayLike,
    values: Mapping[str, ArrayLike],
    load: ArrayLike = 1.0,
    initial: ArrayLike = 0.0,
) -> History:
    """Friction along velocities (*batch, time) [rad/s or m/s] at increasing `times` (time,) [s].

    values: parameters and options of the law by name, each a number or an array (*batch,); load: normal load, a number
    or (*batch, time); initial: the state at the first time (*batch,), where a law does not give it: relaxed bristles, a
    joint that moves unless it rests. A NaN stays in its sample, in the deflection of bristles for all later times.
    Raises ValueError for shapes and times that do not fit and for an unknown law, ParameterError for parameters.
    """
    data, taken, values = _parameters(law, values)
    instants = np.asarray(times, dtype=float)
    if instants.ndim != 1 or not instants.size or not (np.diff(instants) > 0.0).all():
        raise ValueError(f"times: got an array of shape {instants.shape}; expected (time,), increasing [s]")
    moving = checked("velocity", velocity, instants.shape)
    loads = checked("load", np.full_like(instants, load) if np.ndim(load) == 0 else load, instants.shape)
    scalars = {name: np.asarray(value, dtype=float) for name, value in {**values, "initial": initial}.items()}
    shapes = {"velocity": moving.shape[:-1], "load": loads.shape[:-1]} | {k: v.shape for k, v in scalars.items()}
    batch = common_batch(shapes)
    given = np.stack([np.broadcast_to(scalars[name], batch) for name in taken], axis=-1)
    start = np.broadcast_to(scalars["initial"], batch)[..., None]
    inputs = (rows(each, batch) for each in (moving, loads, given, start))
    force, state = _run(data.name, taken, instants, *inputs)
    return History(_unpacked(force, batch), _unpacked(state, batch))


def _parameters(law: str, values: Mapping[str, ArrayLike]) -> tuple[FrictionLaw, tuple[str, ...], dict[str, ArrayLike]]:
    """The law, names of the inputs of its program, and their values with defaults, checked."""
    if law not in LAWS:
        told = "its force is a curve: see tasks.friction.laws" if law in LAW_DATA else nearest(law, LAWS)
        raise ValueError(f"friction law: got {law!r}; expected a law with a state; {told}")
    data = LAW_DATA[law]
    for extreme in (np.min, np.max):
        ends = {name: float(extreme(value)) for name, value in values.items()}
        full = complete((*data.parameters, *data.options), ends, owner=f"friction law {law}")
    taken = tuple(parameter.name for parameter in data.inputs(values))
    return data, taken, {name: values.get(name, full[name]) for name in taken}


@functools.cache
def program(law: str, taken: tuple[str, ...]) -> Program:
    """One step. Case input `step` [s]; sample inputs `velocity`, `load` (before, after), `state`, `values` of `taken`.

    Outputs: the state after the step, `following`, and the force there.
    """

    def one_sample(step: Array, velocity: Array, load: Array, state: Array, values: Array) -> dict[str, Any]:
        named = dict(zip(taken, values, strict=True))
        before, after = (Sliding(v, n) for v, n in zip(velocity, load, strict=True))
        following = LAWS[law].advance(state[0], before, after, step[0], **named)
        return {"following": [following], "force": [LAWS[law].force(following, *after, **named)]}

    sample = {"velocity": (2,), "load": (2,), "state": (1,), "values": (len(taken),)}
    return trace(f"friction.{law}", one_sample, case={"step": (1,)}, sample=sample)


def _run(
    law: str,
    taken: tuple[str, ...],
    times: np.ndarray,
    velocity: np.ndarray,
    load: np.ndarray,
    values: np.ndarray,
    state: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Forces and states (time, padded samples); the first step has no length and stays where it is."""
    run, width = kernel(program(law, taken)), velocity.shape[1]
    moving, loads = (np.concatenate([each[:1], each]) for each in (velocity, load))
    states, forces = np.empty_like(velocity), np.empty_like(velocity)
    for k, step in enumerate(np.diff(times, prepend=times[0])):
        inputs = {"step": np.array([[step]]), "values": values[None], "state": state[None]}
        inputs |= {"velocity": moving[None, k : k + 2], "load": loads[None, k : k + 2]}
        run(inputs, width, {"following": states[None, k : k + 1], "force": forces[None, k : k + 1]})
        state = states[k : k + 1]
    return forces, states


def _unpacked(values: np.ndarray, batch: Batch) -> np.ndarray:
    samples = int(np.prod(batch, dtype=int))
    return values[:, :samples].T.reshape(*batch, -1)
