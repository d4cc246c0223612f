"""Many robots of one family at many samples each: one case of the kernels for each of them.

Arrays are (design, sample, ...), or (1, sample, ...) where designs share them. Nothing is checked here: motions come
from trajectories of a sweep or from encoders. Every sample has the bits that it has alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from robots.data_classes import dataclass
from robots.model import Family, Mechanism, Robot
from tasks.dynamics.inputs import JOINTS, field_input, gravity_input, parameters
from tasks.dynamics.records import GRAVITY, Environment, Motion
from tasks.features.friction.feature import FrictionGroups
from tasks.features.friction.inputs import FrictionInput
from tasks.features.loads import PlatformWrench
from tasks.features.table import request
from tasks.kernels.kernel import STRIP, kernel, padded
from tasks.kernels.keys import Indexed, Key, Values
from tasks.mechanics.families import even_weights, structure_of
from tasks.mechanics.structure import flat_mount
from tasks.stages.parts import OUTCOME
from tasks.stages.request import Request
from tasks.stages.stage import Stage

Series = dict[Key, np.ndarray]
"""Rows of samples (design, size, sample), by key."""


@dataclass(frozen=True, eq=False)
class RobotDesigns:
    """Robots of one family: parameters (design, parameter), gravity (design or 1, 3) [m/s^2]."""

    family: Family
    parameters: np.ndarray
    gravity: np.ndarray

    @classmethod
    def of(cls, robot: Robot, gravity: ArrayLike = GRAVITY, *, timed: bool = False) -> RobotDesigns:
        """Return a single robot as one design.

        Raises ValueError for loads that change with time, unless the caller is `timed` and loads do not matter to it.
        """
        return cls(robot.family, parameters(robot, timed=timed), gravity_input(gravity))

    def __len__(self) -> int:
        """Return the number of designs."""
        return len(self.parameters)

    @cached_property
    def named(self) -> dict[str, np.ndarray]:
        """Parameters by name, (design,) each."""
        return {parameter.name: self.parameters[:, k] for k, parameter in enumerate(self.family.parameters)}

    @cached_property
    def mechanism(self) -> Mechanism:
        """The mechanism, whose numbers are arrays (design,) where they depend on parameters."""
        return self.family.assemble(self.named)

    @cached_property
    def mounts(self) -> tuple[np.ndarray, ...]:
        """Mounts of the limbs, (design, size) each."""
        differing = structure_of(self.family).differing
        flat = [(flat_mount(instance), differing[instance.limb]) for instance in self.mechanism.instances]
        return tuple(self.numbers([mount[k] for k in places]) for mount, places in flat)

    @cached_property
    def home(self) -> tuple[np.ndarray, np.ndarray]:
        """Position (design, 3) and rotation (design, 3, 3) of the platform in the reference pose."""
        frame = self.mechanism.platform.home
        return self.numbers(frame.position), np.stack([self.numbers(row) for row in frame.rotation], axis=1)

    @cached_property
    def sizes(self) -> np.ndarray:
        """Mean distance of the mounts at the base from the platform at reference (design,) [m]."""
        mounts = [self.numbers(instance.base.position) for instance in self.mechanism.instances]
        return np.asarray(np.mean([np.linalg.norm(self.home[0] - mount, axis=1) for mount in mounts], axis=0))

    @cached_property
    def lengths(self) -> np.ndarray:
        """RMS distance of the platform's joints from its reference point (design,) [m]; 1 if they are all there.

        As `tasks.stages.metrics.poses.characteristic_length` of each.
        """
        squares = []
        for instance in self.mechanism.instances:
            turn = np.stack([self.numbers(row) for row in instance.platform.rotation], axis=1)
            for tip in self.mechanism.limbs[instance.limb].tips:
                place = turn @ self.numbers(tip.frame_b.position)[..., None]
                squares.append(np.square(self.numbers(instance.platform.position) + place[..., 0]).sum(axis=1))
        mean = np.mean(squares, axis=0) if squares else np.zeros(len(self))
        return np.where(mean > 0.0, np.sqrt(mean), 1.0)

    def numbers(self, entries: Sequence[float | np.ndarray]) -> np.ndarray:
        """Return entries of the mechanism as an array (design, entry)."""
        result = np.empty((len(self), len(entries)))
        for k, entry in enumerate(entries):
            result[:, k] = entry
        return result

    def taken(self, places: np.ndarray | slice) -> RobotDesigns:
        """Return some of the designs."""
        some = RobotDesigns(
            self.family, self.parameters[places], self.gravity[places] if len(self.gravity) > 1 else self.gravity
        )
        # a mechanism is assembled once
        for name in ("mounts", "home"):
            some.__dict__[name] = tuple(part[places] for part in getattr(self, name))
        some.__dict__["sizes"] = self.sizes[places]
        return some

    def field(self, base: Motion | None, samples: int) -> np.ndarray:
        """Return the `gravity` input: (design or 1, 3), or (design or 1, 9, padded samples) on a base that moves."""
        if base is None:
            return self.gravity
        fields = (field_input(Environment(gravity=gravity, base=base)) for gravity in self.gravity)
        return np.concatenate([field.columns((samples,)) for field in fields])

    def robot(self, place: int) -> Robot:
        """Return one of the designs as a robot."""
        return Robot(self.family, {name: float(column[place]) for name, column in self.named.items()})

    def inputs(self, motion: np.ndarray, friction: FrictionInput, field: np.ndarray | None = None) -> Values:
        """Return the inputs of stages; motion as `packed`, field as `field` gives it, absent: gravity alone."""
        width = motion.shape[-1]
        return {
            "parameters": self.parameters,
            "gravity": self.gravity if field is None else field,
            "motion": motion,
            "friction": friction.values,
            "signals": np.zeros((1, len(self.family.signals), width)),
            "weight": np.zeros((1, 1, width)),
            "held": np.zeros((1, 0, width)),
            **even_weights(self.family),
            **{Indexed("mount", k): mount for k, mount in enumerate(self.mounts)},
        }

    def packed(self, motion: Mapping[str, np.ndarray]) -> np.ndarray:
        """Return the motion input (design or 1, size, padded samples), from keywords of `Moving`."""
        arrays = {name: np.asarray(value, dtype=float) for name, value in motion.items()}
        first = next(iter(arrays.values()))
        still = np.zeros((1, first.shape[1], 1))
        if self.family.reference.is_chain:
            free = len(self.family.reference.freedoms)
            return _rows([arrays.get(name, np.broadcast_to(still, (1, first.shape[1], free))) for name in JOINTS])
        twist, change = (arrays.get(name, np.broadcast_to(still, (1, first.shape[1], 6))) for name in RATES)
        position = arrays["position"]
        if structure_of(self.family).motion_size == NOT_TURNING:
            return _rows([position, twist[..., 3:], change[..., 3:]])
        turned = arrays["rotation"] if "rotation" in arrays else self.home[1][:, None]
        turned = turned.reshape(*turned.shape[:2], 9)
        return _rows([position, np.broadcast_to(turned, (len(turned), first.shape[1], 9)), twist, change])


RATES = ("twist", "acceleration")
NOT_TURNING = 9
"""Length of the motion of a platform that does not turn: position, velocity, acceleration."""


def _rows(parts: Sequence[np.ndarray]) -> np.ndarray:
    """Return arrays (design or 1, sample, size) together as (design or 1, size, padded samples)."""
    cases, samples = max(len(part) for part in parts), parts[0].shape[1]
    result = np.empty((cases, sum(part.shape[2] for part in parts), padded(samples)))
    start = 0
    for part in parts:
        result[:, start : start + part.shape[2], :samples] = np.swapaxes(part, 1, 2)
        start += part.shape[2]
    result[..., samples:] = result[..., samples - 1 : samples]
    return result


def request_of(
    family: Family, quantities: tuple[str, ...], friction: FrictionInput, *, moving_base: bool = False
) -> Request:
    """Return the request for quantities of a family without loads."""
    features = FrictionGroups(friction.groups), PlatformWrench(False)
    return request(family, quantities, *features, moving_base=moving_base)


NO_FRICTION = FrictionInput((), np.zeros((1, 0)))


def strips(values: Values, run: Sequence[Stage], designs: int, samples: int) -> Iterator[tuple[slice, slice, Values]]:
    """Yield designs, samples and the values of stages there, valid until the next: few enough to stay in the cache."""
    width = padded(samples)
    most, cases = min(width, STRIP), max(1, STRIP // width)
    long = {key for key, array in values.items() if array.ndim == 3}
    buffers = [kernel(stage.program).allocate(min(cases, designs), most) for stage in run]
    for first in range(0, designs, cases):
        part = slice(first, min(first + cases, designs))
        of_part = {key: array[part] if len(array) > 1 else array for key, array in values.items()}
        for start in range(0, width, most):
            count = min(most, width - start)
            here = {key: array[..., start : start + count] if key in long else array for key, array in of_part.items()}
            for stage, buffer in zip(run, buffers, strict=True):
                program = kernel(stage.program).program
                out = {
                    name: array[: part.stop - first]
                    if name in program.reductions
                    else array[: part.stop - first, :, :count]
                    for name, array in buffer.items()
                }
                here |= stage.run(kernel, here, count, out, filled=True)
            yield part, slice(start, min(start + count, samples)), here


def series_of(values: Values, run: Sequence[Stage], keys: Mapping[Key, int], designs: int, samples: int) -> Series:
    """Return rows of stages (design, size, sample) by key, for keys with their sizes."""
    result = {key: np.empty((designs, size, samples)) for key, size in keys.items()}
    for part, span, here in strips(values, run, designs, samples):
        for key, whole in result.items():
            whole[part, :, span] = here[key][:, :, : span.stop - span.start]
    return result


def outcome(run: Sequence[Stage]) -> str:
    """Return the key of the status of samples after stages, with the status of friction where there is one."""
    return OUTCOME if any(OUTCOME in stage.program.outputs for stage in run) else "status"
