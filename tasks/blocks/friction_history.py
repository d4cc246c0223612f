"""Friction of joints whose law has a state, along the trajectories of a strip of designs: an input of `actuation`.

Where the load of such a joint is its reaction, friction along the whole motion and loads along it depend on each other.
They are computed in turn, as waveforms, until nothing changes. Friction at a time depends on friction before it. So
only the friction of one instant has to converge at each time, as for laws without a state.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np

from robots.data_classes import dataclass, replace
from robots.friction.groups import FrictionGroup
from robots.limits import JointPlace
from robots.status import Status
from tasks.blocks.block import Block
from tasks.features.friction.feature import LOAD_PART, FrictionGroups
from tasks.features.friction.history import along
from tasks.features.friction.joints import LOAD_PARTS
from tasks.features.friction.load_iteration import ACCURATE, SETTLED, TINY
from tasks.kernels.kernel import padded
from tasks.kernels.keys import Indexed, Key, Values
from tasks.stages.assembly import actuation_program
from tasks.stages.parts import VELOCITY
from tasks.stages.request import Request
from tasks.stages.stage import Stage

ROUNDS = 200
"""Times that friction and loads are computed in turn."""

NormalLoads = Callable[[np.ndarray], np.ndarray]
"""Normal loads (design, joint of all groups, time) under friction as `of_groups` gives it."""


def of_groups(block: Block, friction: np.ndarray, given: Values, count: int, loads: NormalLoads) -> np.ndarray:
    """Return friction (design, joint, padded time) for one friction set, in the order of `feature.remembering`.

    Velocities in `given` are (design, joint, padded time) of the strip; before the first time bristles are relaxed. NaN
    where the iteration of friction and the loads that it causes does not converge.
    """
    rows = list(_rows(block, friction, given, count))
    settling = any(row.group.load == "reaction" for row in rows)
    if not settling:
        return _wide([row.force(None) for row in rows])
    tau = np.zeros((count, sum(len(row.group.places) for row in rows), len(block.times)))
    going, lost = np.ones(count, dtype=bool), np.zeros((count, len(block.times)), dtype=bool)
    settled, accurate = ((limit.single if block.single else float(limit)) for limit in (SETTLED, ACCURATE))
    for _ in range(ROUNDS):
        felt = loads(_wide([tau]))
        with np.errstate(all="ignore"):  # iterates may grow without bound
            following = np.concatenate([row.force(felt) for row in rows], axis=1)
            change, size = np.abs(following - tau).sum(axis=1), np.abs(following).sum(axis=1)
        tau[going], lost[going] = following[going], ~(change <= accurate * size + TINY)[going]
        going &= (change > settled * size + TINY).any(axis=1)  # each design by itself, independent of its neighbours
        if not going.any():
            break
    return _wide([np.where(lost[:, None], np.nan, tau)])


def lasting(status: np.ndarray) -> np.ndarray:
    """Return statuses (..., time) where no sample after a failed one is OK: its motion is not known."""
    failed = np.where(status != Status.OK, np.arange(status.shape[-1]), -1)
    last = np.maximum.accumulate(failed, axis=-1)
    return np.where(last < 0, status, np.take_along_axis(status, np.maximum(last, 0), axis=-1))


def _wide(parts: Sequence[np.ndarray]) -> np.ndarray:
    """Return arrays (design, joint, time) as one for all their joints, with padded times."""
    samples, joints = parts[0].shape[-1], sum(part.shape[1] for part in parts)
    result = np.empty((len(parts[0]), joints, padded(samples)))
    np.concatenate(parts, axis=1, out=result[..., :samples])
    result[..., samples:] = result[..., samples - 1 : samples]
    return result


@dataclass(frozen=True)
class _Row:
    """A group whose law has a state, its numbers, the velocities (design, joint, time) of its joints at the times.

    first: the number of its first joint among the joints of all groups.
    """

    group: FrictionGroup
    values: Mapping[str, float]
    velocity: np.ndarray
    times: np.ndarray
    first: int

    def force(self, felt: np.ndarray | None) -> np.ndarray:
        """Return friction (design, joint, time) under the normal loads of all joints."""
        load: np.ndarray | float = float(self.values.get("preload", 1.0))
        if self.group.load == "reaction":
            assert felt is not None
            load = felt[:, self.first : self.first + len(self.group.places)]
        own = {name: float(value) for name, value in self.group.of_law(self.values).items()}
        return along(self.group.law, velocity=self.velocity, times=self.times, values=own, load=load).force


def _rows(block: Block, friction: np.ndarray, given: Values, count: int) -> Iterator[_Row]:
    samples, start, first = len(block.times), 0, 0
    for group in block.groups:
        numbers = friction[start : start + len(group.parameters)]
        start += len(group.parameters)
        if group.remembers:
            rates = [_velocity(block, place, given)[..., :samples] for place in group.places]
            velocity = np.broadcast_to(np.stack(rates, axis=1), (count, len(rates), samples))
            values = dict(zip(group.parameters, numbers, strict=True))
            yield _Row(group, values, velocity, block.times, first)
        first += len(group.places)


def _velocity(block: Block, place: JointPlace, given: Values) -> np.ndarray:
    if place.actuator >= 0:
        return given[VELOCITY][:, place.actuator]
    joints = block.request.passive[place.limb]
    return given[Indexed("passive_rate", place.limb)][:, joints.index(place.joint)]


def normal_loads(request: Request) -> Stage:
    """Return the stage of parts of the normal loads of all joints with friction, of one set of parameters."""
    friction = request.feature(FrictionGroups)
    count = sum(len(group.places) for group in friction.groups)
    part = replace(friction.of_actuators(request), apart=True, given=False)
    takes: dict[Key, Key] = {"velocity": VELOCITY}
    program = functools.partial(actuation_program, request.family, (part,), (LOAD_PART,))
    return Stage("loads", {LOAD_PART: (LOAD_PARTS * count,)}, program, takes)
