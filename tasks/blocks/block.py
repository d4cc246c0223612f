"""A block: a range of designs, friction sets and trajectories with all their times, and all that its tasks need.

Tasks hand on arrays in memory, laid out (trajectory, design, component, padded time), so that kernels read and write
contiguous rows.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from robots.formats.description import Description, family_of
from robots.friction_groups import FrictionGroup, settles
from robots.limits import NO_LIMITS, Limits
from robots.measurement import CLEAN
from robots.model import Family
from robots.trajectory import Trajectory
from tasks.blocks.sensors import Measurement
from tasks.blocks.user_metric import BlockMetric
from tasks.friction.joints import LimbFriction
from tasks.kernels.cache import kernel as cached_kernel
from tasks.kernels.kernel import Kernel
from tasks.kernels.program import Program
from tasks.metrics import actuators, margins
from tasks.metrics.margins import LimbLimits
from tasks.metrics.poses import needs_mass, needs_reference
from tasks.programs import coupled_friction
from tasks.programs import reactions as reaction_programs
from tasks.programs.limb import LIMB_SERIES, OWN_SERIES

Arrays = dict[str, np.ndarray]


@dataclass(frozen=True)
class Block:
    """Everything that the tasks of one block need; small to send.

    parameters (design, parameter); friction (set, parameters of all groups); times (samples,) [s]; `origin` (3,) [m]
    is what positions of trajectories count from, in the base frame. `series` and `metrics` are the variables to
    compute, named as in the dataset.
    """

    index: int
    robot: str
    parameters: np.ndarray
    groups: tuple[FrictionGroup, ...]
    friction: np.ndarray
    trajectories: tuple[Trajectory, ...]
    times: np.ndarray
    origin: tuple[float, float, float]
    gravity: tuple[float, float, float]
    series: tuple[str, ...]
    metrics: tuple[str, ...]
    measurement: Measurement | None = None
    """What sensors make of positions and forces of actuators, where `series` has measured ones."""
    description: Description | None = None
    """The robot where it is none of the catalogue; its family is made once in each process."""
    own: tuple[BlockMetric, ...] = ()
    """Metrics of a user's own, see `tasks.blocks.user_metrics`."""
    extra: tuple[str, ...] = ()
    """Those of `series` that are computed for own metrics alone, and not stored."""
    limits: Limits = NO_LIMITS
    """Limits of joints and actuators; a sample beyond a range of a joint has the status JOINT_LIMIT."""
    single: bool = False
    """Whether samples are computed in single precision."""

    @property
    def family(self) -> Family:
        """The robot's family."""
        return family_of(self.robot, self.description)

    @property
    def designs(self) -> int:
        """Number of designs."""
        return len(self.parameters)

    @property
    def samples(self) -> int:
        """Number of samples: designs, trajectories and times; friction sets share them."""
        return self.designs * len(self.trajectories) * len(self.times)

    @property
    def variables(self) -> frozenset[str]:
        """Everything that the block computes."""
        return frozenset((*self.series, *self.metrics))

    @property
    def with_clean(self) -> Block:
        """The block with the series that measured ones are made from, which another block may own."""
        clean = dict.fromkeys(
            name for each in self.series if each in CLEAN for name in ("actuator_position", CLEAN[each])
        )
        return replace(self, series=tuple(dict.fromkeys((*self.series, *clean))))

    @property
    def limb_series(self) -> tuple[str, ...]:
        """Series that limbs have to compute."""
        wanted = self.with_clean.series
        return tuple(name for name in (*LIMB_SERIES, *OWN_SERIES) if name in wanted)

    @functools.cached_property
    def limb_friction(self) -> tuple[LimbFriction, ...]:
        """What friction asks of each limb; nothing where nobody asks for what it changes."""
        groups = self.groups if self.actuation or self.reactions else ()
        return coupled_friction.wanted(self.family, groups, bool(self.reactions))

    @property
    def passive(self) -> tuple[tuple[int, ...], ...]:
        """Passive joints with friction of each limb: these change what joints carry."""
        return tuple(each.passive for each in self.limb_friction)

    @property
    def actuation(self) -> tuple[str, ...]:
        """Series and metrics that depend on friction, apart from reactions."""
        names = {*actuators.NAMES, *(("status", *actuators.TOLD) if settles(self.groups) else ())}
        return tuple(name for name in (*self.series, *self.metrics) if name in names)

    @property
    def reactions(self) -> tuple[str, ...]:
        """What reactions have to be computed for."""
        return tuple(name for name in reaction_programs.OUTPUTS if name in (*self.series, *self.metrics))

    @property
    def shares(self) -> dict[str, bool]:
        """Shares that limbs and platform are asked for beyond wrenches and J_IK: of mass, where a metric needs it."""
        return {"mass": True} if needs_mass(self.metrics) else {}

    @functools.cached_property
    def limb_limits(self) -> tuple[tuple[LimbLimits, np.ndarray], ...]:
        """What limits ask of each limb, and their values."""
        return tuple(margins.of_limb(self.limits, k) for k in range(len(self.family.reference.instances)))

    def limb_shares(self, index: int) -> dict[str, Any]:
        """What a limb is asked for beyond wrenches and J_IK."""
        reference = {"reference": True} if needs_reference(self.metrics) else {}
        limited, _ = self.limb_limits[index]
        return {**self.shares, **reference, **({"limits": limited} if limited != margins.NOTHING else {})}

    @property
    def limited(self) -> tuple[LimbLimits, ...]:
        """What limits ask of all limbs; empty where none has any."""
        asked = tuple(each for each, _ in self.limb_limits)
        return asked if any(each != margins.NOTHING for each in asked) else ()

    @property
    def capacity(self) -> np.ndarray:
        """What actuators can give, as `tasks.metrics.margins.capacities` has it."""
        return margins.capacities(self.limits, len(self.family.reference.actuators))

    def kernel(self, program: Program) -> Kernel:
        """A program in the precision of the block."""
        return cached_kernel(program, single=self.single)

    def case_inputs(self) -> Arrays:
        """Inputs of the kernels that depend on the design."""
        return {"parameters": self.parameters, "gravity": np.array([self.gravity], dtype=float)}

    def values(self) -> Arrays:
        """Parameters by name, (design,) each."""
        return {p.name: self.parameters[:, i] for i, p in enumerate(self.family.parameters)}


def time_first(array: np.ndarray, samples: int) -> np.ndarray:
    """Rows of a kernel, (..., component, padded time), as (..., time, component)."""
    return array[..., :samples].swapaxes(-1, -2)
