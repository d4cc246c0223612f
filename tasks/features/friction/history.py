"""Friction of laws with a state along given velocities.

Steps in time follow each other; samples of a batch are in the lanes of a kernel. The bits of a sample depend neither on
its neighbours nor on the machine. For forward dynamics see `tasks.features.friction.joints`.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from robots.arguments import check_arguments
from robots.friction import laws as data
from robots.parameter_errors import nearest
from robots.parameters import complete
from tasks.features.friction.laws import LAWS
from tasks.features.friction.sliding import Sliding
from tasks.kernels import strips
from tasks.kernels.expression import Array, Scalar
from tasks.kernels.kernel import Batch, checked, common_batch, kernel, padded, rows
from tasks.kernels.program import Kernels, Program, trace

Numbers = NDArray[np.float64]


class History(NamedTuple):
    """Friction force against positive motion, and the state of the law, both (*batch, time)."""

    force: Numbers
    state: Numbers


@check_arguments
def along(
    law: str,
    *,
    velocity: ArrayLike,
    times: ArrayLike,
    values: Mapping[str, ArrayLike],
    load: ArrayLike = 1.0,
    initial: ArrayLike = 0.0,
) -> History:
    """Compute friction along velocities (*batch, time) [rad/s or m/s] at increasing `times` (time,) [s].

    values: parameters and options of the law by name, each a number or an array (*batch,); load: normal load, a number
    or (*batch, time); initial: the state at the first time (*batch,); absent: relaxed bristles, a joint that moves
    unless it rests. A NaN stays in its sample, and with bristles at all later times.
    Raises ValueError for shapes and times that do not fit and for an unknown law, ParameterError for parameters.
    """
    values = _parameters(law, values)
    instants = np.asarray(times, dtype=float)
    if instants.ndim != 1 or not instants.size or not (np.diff(instants) > 0.0).all():
        raise ValueError(f"times: got an array of shape {instants.shape}; expected (time,), increasing [s]")
    moving = checked("velocity", velocity, instants.shape)
    loads = checked("load", *((np.reshape(load, 1), (1,)) if np.ndim(load) == 0 else (load, instants.shape)))
    scalars = {name: np.asarray(value, dtype=float) for name, value in {**values, "initial": initial}.items()}
    shapes = {"velocity": moving.shape[:-1], "load": loads.shape[:-1]} | {k: v.shape for k, v in scalars.items()}
    batch = common_batch(shapes)
    numbers = np.stack([np.broadcast_to(scalars[name], batch) for name in values], axis=-1)
    if 0 in batch:
        raise ValueError(f"initial, values: got arrays of shape {batch}; expected one entry at least")
    start = np.broadcast_to(scalars["initial"], batch)[..., None]
    inputs = _series(moving, batch), _series(loads, batch), rows(numbers, batch), rows(start, batch)
    force, state = _run(program(law, tuple(values)), instants, *inputs)
    return History(_unpacked(force, batch), _unpacked(state, batch))


def _parameters(law: str, values: Mapping[str, ArrayLike]) -> dict[str, ArrayLike]:
    """Return the inputs of the law's program, defaults included, in its order and checked."""
    if law not in data.LAWS or not data.LAWS[law].state:
        law_names = [name for name, row in data.LAWS.items() if row.state]
        hint = "its force is a curve: see tasks.features.friction.laws" if law in data.LAWS else nearest(law, law_names)
        raise ValueError(f"friction law: got {law!r}; expected a law with a state; {hint}")
    row = data.LAWS[law]
    for extreme in (np.min, np.max):
        ends = {name: float(extreme(value)) for name, value in values.items()}
        full = complete((*row.parameters, *row.options), ends, owner=f"friction law {law}")
    return {parameter.name: values.get(parameter.name, full[parameter.name]) for parameter in row.inputs(values)}


@functools.cache
def program(law: str, names: tuple[str, ...]) -> Program:
    """Build a step. Case input `step` [s]; samples: `velocity`, `load` (before, after), `state`, `values` by `names`.

    Outputs: the state after the step, `following`, and the force there.
    """
    row = LAWS[law]
    assert row.advance is not None, f"{law} has no state"
    advance = row.advance

    def one_sample(step: Array, velocity: Array, load: Array, state: Array, values: Array) -> dict[str, list[Scalar]]:
        named = dict(zip(names, values, strict=True))
        before, after = (Sliding(v, n) for v, n in zip(velocity, load, strict=True))
        following = advance(state[0], before, after, step[0], **named)
        return {"following": [following], "force": [row.force(following, *after, **named)]}

    sample = {"velocity": (2,), "load": (2,), "state": (1,), "values": (len(names),)}
    return trace(f"friction.{law}", one_sample, case={"step": (1,)}, sample=sample)


def _series(values: Numbers, batch: Batch) -> Numbers:
    """Return rows (1 + time, padded samples) of values (*batch, time), the first of which is there twice."""
    result = np.empty((1 + values.shape[-1], padded(math.prod(batch))))
    rows(values, batch, result[1:])
    result[0] = result[1]
    return result


def _run(
    one_step: Program, times: Numbers, velocity: Numbers, load: Numbers, values: Numbers, state: Numbers
) -> tuple[Numbers, Numbers]:
    """Return the forces and states (time, padded samples); the first step has no length and stays where it is.

    velocity, load: rows of all times, the first of which is there twice; two of a load that does not change.
    """
    width, lengths = velocity.shape[1], np.diff(times, prepend=times[0])[:, None, None]
    states, forces = np.empty_like(velocity), np.empty_like(velocity[1:])
    states[0], is_constant = state, len(load) == 2

    def step(kernels: Kernels, k: int) -> None:
        inputs = {"step": lengths[k], "values": values[None], "state": states[None, k : k + 1]}
        inputs |= {"velocity": velocity[None, k : k + 2], "load": load[None] if is_constant else load[None, k : k + 2]}
        kernels(one_step)(inputs, width, {"following": states[None, k + 1 : k + 2], "force": forces[None, k : k + 1]})

    strips.run(step, kernel, len(times))
    return forces, states[1:]


def _unpacked(values: Numbers, batch: Batch) -> Numbers:
    samples = int(np.prod(batch, dtype=int))
    return values[:, :samples].T.reshape(*batch, -1)
