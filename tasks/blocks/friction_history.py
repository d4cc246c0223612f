"""Friction of joints whose law has a state, along the trajectories of a strip of designs: an input of `actuation`."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from robots.friction.groups import FrictionGroup
from robots.joint_places import JointPlace
from tasks.blocks.block import Block
from tasks.friction.states import along
from tasks.kernels.kernel import padded
from tasks.kernels.keys import Indexed, Values
from tasks.programs.assembly import VELOCITY


def of_groups(block: Block, friction: np.ndarray, given: Values, count: int) -> np.ndarray:
    """Friction (design, joint, padded time) for one friction set, joints as `coupled_friction.remembering` has them.

    Velocities are those of the strip, (design, joint, padded time) each; before the first time bristles are relaxed.
    """
    samples, result, start = len(block.times), [], 0
    for group in block.groups:
        numbers = friction[start : start + len(group.parameters)]
        start += len(group.parameters)
        if group.remembers:
            rates = [_velocity(block, place, given)[..., :samples] for place in group.places]
            velocity = np.broadcast_to(np.stack(rates, axis=1), (count, len(rates), samples))
            result.append(_force(group, dict(zip(group.parameters, numbers, strict=True)), velocity, block.times))
    whole = np.concatenate(result, axis=1)
    width = padded(samples) - samples
    return np.ascontiguousarray(np.concatenate([whole, np.repeat(whole[..., -1:], width, axis=-1)], axis=-1))


def _velocity(block: Block, place: JointPlace, given: Values) -> np.ndarray:
    if place.actuator >= 0:
        return given[VELOCITY][:, place.actuator]
    joints = block.request.friction[place.limb].passive
    return given[Indexed("passive_rate", place.limb)][:, joints.index(place.joint)]


def _force(group: FrictionGroup, values: Mapping[str, float], velocity: np.ndarray, times: np.ndarray) -> np.ndarray:
    own = {name: float(value) for name, value in group.of_law(values).items()}
    return along(group.law, velocity=velocity, times=times, values=own, load=float(values.get("preload", 1.0))).force
