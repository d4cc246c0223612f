"""A robot's motion with friction at one state of each sample, on arrays: the programs of `programs`, run.

Arrays are (size, padded samples). What is constant along a motion, design, gravity and parameters of friction, is the
same for all samples, or each sample has its own: then cases lie in the lanes of vectors.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass

import numpy as np

from robots.criteria.elasticity import Elasticity
from robots.friction.groups import FrictionGroup
from robots.model import Family
from tasks.criteria.compliance import of_limb
from tasks.criteria.kinds import LimbElasticity
from tasks.kernels.keys import Arrays, Values, indexed
from tasks.kernels.lanes import BoundKernel
from tasks.kernels.program import Program
from tasks.kernels.rows import padded
from tasks.mathematics import quaternions
from tasks.mechanics.structure import mount_values, structure_of
from tasks.motion.instant.layout import layout
from tasks.motion.instant.programs import limb_motion_program, motion_program, platform_motion_program
from tasks.programs import coupled_friction


@dataclass(frozen=True)
class Constants:
    """What is constant along motions: (1, size) for all samples, or (padded samples, size), a case for each.

    parameters in the order of the family, mounts of each limb of the robot, gravity (1, 3) or (padded samples, 3),
    friction, the parameters of all groups. elastic: of each limb what gives way, the same for all samples, by which
    normal loads are shared where statics leaves them open; empty: they have the least norm.
    """

    parameters: np.ndarray
    mounts: tuple[np.ndarray, ...]
    gravity: np.ndarray
    friction: np.ndarray
    elastic: tuple[tuple[LimbElasticity, np.ndarray], ...] = ()

    @classmethod
    def of(
        cls, family: Family, parameters: np.ndarray, gravity: np.ndarray, friction: np.ndarray,
        elasticity: Elasticity | None = None,
    ) -> Constants:  # fmt: skip
        """From arrays (1, size), or with a row for each case: the last one fills the last group of lanes."""
        count = max(len(values) for values in (parameters, gravity, friction))

        def filled(values: np.ndarray) -> np.ndarray:
            if len(values) == 1:
                return values
            return np.concatenate([values, np.repeat(values[-1:], padded(count) - count, axis=0)])

        wide = filled(parameters)
        mounts = mount_values(family, {p.name: wide[:, i] for i, p in enumerate(family.parameters)})
        limbs = range(len(family.reference.instances))
        elastic = () if elasticity is None else tuple(of_limb(elasticity, family.reference, k) for k in limbs)
        return cls(wide, tuple(mounts), filled(gravity), filled(friction), elastic)

    @property
    def shared(self) -> bool:
        """Whether all samples have the same."""
        return max(len(values) for values in (self.parameters, self.gravity, self.friction)) == 1

    def of_limb(self, limb: int) -> Arrays:
        """Case inputs of the programs of a limb of the robot."""
        elastic = {"elasticity": self.elastic[limb][1]} if self.elastic else {}
        return {"mount": self.mounts[limb], **self.of_robot, **elastic}

    @property
    def of_robot(self) -> Arrays:
        """Those of the programs of the whole robot."""
        return {"parameters": self.parameters, "gravity": self.gravity, "friction": self.friction}


class Instant:
    """What a robot does at a state; with `base`, the field of a moving base is part of what acts on it."""

    def __init__(self, family: Family, groups: tuple[FrictionGroup, ...], constants: Constants, *, base: bool = False):
        self.family, self.groups, self.constants, self.base = family, groups, constants, base
        self.layout, self.structure = layout(family, groups), structure_of(family)
        self._whole: dict[tuple[str, int], BoundKernel] = {}
        self._columns: np.ndarray | None = None
        self._parts: dict[tuple[str, int], BoundKernel] = self._whole

    def of(self, columns: np.ndarray) -> Instant:
        """The same for some of the samples."""
        result = copy.copy(self)
        result._columns = columns if self._columns is None else self._columns[columns]
        result._parts = {}
        return result

    def __call__(
        self, state: np.ndarray, modes: np.ndarray, acting: np.ndarray, stage: np.ndarray | None = None
    ) -> Arrays:
        """Outputs as `tasks.motion.instant.layout.outputs_of_motion` names them, (1, size, padded samples).

        acting: rows of `Layout.acting`; stage: as there.
        """
        width, rows = state.shape[1], self.layout.acting
        inputs: Values = {"state": state[None], "modes": modes[None], "force": acting[None, rows["force"]]}
        inputs |= {"stage": stage[None]} if stage is not None else {}
        field: Values = {"gravity": acting[None, rows["base"]]} if self.base else {}
        field |= {"signals": acting[None, rows["signals"]]} if self.layout.signals else {}
        implicit = stage is not None
        if not self.layout.platform:
            return self.whole_kernel(implicit=implicit)(inputs | field, width)
        moving: Values = {"motion": self._motion(state), **field}
        inputs |= moving | {"load": acting[None, rows["load"]]}
        for k, limb in enumerate(self.limb_kernels()):
            inputs |= indexed(k, dict(limb(moving, width)))
        return self.whole_kernel(implicit=implicit)(inputs, width)

    def limb_kernels(self) -> list[BoundKernel]:
        """The kernel of each limb of a parallel robot."""
        limbs = range(len(self.structure.mechanism.instances))
        return [self._kernel("limb", k, self.constants.of_limb(k)) for k in limbs]

    def whole_kernel(self, *, implicit: bool = False) -> BoundKernel:
        """The kernel of the chain, or of the whole of a parallel robot, which takes what its limbs give."""
        if not self.layout.platform:
            return self._kernel("chain", implicit, self.constants.of_limb(0))
        return self._kernel("robot", implicit, self.constants.of_robot)

    @property
    def in_lanes(self) -> bool:
        """Whether every sample is of a case of its own, so that kernels can be part of a sequence."""
        return not self.constants.shared

    def _kernel(self, part: str, number: int, case: Arrays) -> BoundKernel:
        """The kernel of the chain or the whole robot, implicit or not, or of a limb by its number."""
        key = (part, int(number))
        if key not in self._whole:
            self._whole[key] = BoundKernel(self._program(part, int(number)), case)
        if key not in self._parts:
            assert self._columns is not None
            self._parts[key] = self._whole[key].of(self._columns)
        return self._parts[key]

    def _program(self, part: str, number: int) -> Program:
        elastic = self.constants.elastic
        if part == "limb":
            wanted = coupled_friction.wanted(self.family, self.groups)[number]
            index = self.structure.mechanism.instances[number].limb
            return limb_motion_program(self.family, index, wanted, self.base, elastic[number][0] if elastic else None)
        if part == "chain":
            shared = elastic[0][0] if elastic else None
            return motion_program(self.family, self.groups, bool(number), self.base, shared)
        return platform_motion_program(self.family, self.groups, bool(number), self.base)

    def _motion(self, state: np.ndarray) -> np.ndarray:
        """The motion input of the programs of limbs, without acceleration."""
        position, rotation, twist = self.seen(state)
        none = np.zeros_like(position)
        if self.structure.motion_size == 9:
            return np.concatenate([position, twist[3:], none])[None]
        return np.concatenate([position, rotation.reshape(9, -1), twist, none, none])[None]

    def seen(self, state: np.ndarray) -> tuple[np.ndarray, ...]:
        """Of a chain q and q' (freedom, samples); of a platform position (3,), rotation (3, 3), twist (6, samples)."""
        at = self.layout.at
        if not self.layout.platform:
            return state[at["q"]], state[at["qd"]]
        pose = state[at["q"]]
        twist = np.zeros((6, state.shape[1]))
        twist[self.structure.positions] = state[at["qd"]]
        return pose[:3], quaternions.rotation_matrix(pose[3:]), twist
