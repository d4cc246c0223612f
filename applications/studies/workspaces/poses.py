"""Reachability of poses of a platform at rest, and conditions at these poses, by the kernels of a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

import numpy as np

from applications.studies.columns import Array, Mask, condition, refuse
from pipeline.documents.report import sentence
from pipeline.execution.blocks import block_of
from pipeline.plan.plan import plan
from pipeline.sweep.model import Sweep
from robots.data_classes import dataclass, replace
from robots.expressions.expression import ParsedExpression
from robots.model import Mechanism
from robots.parameter_errors import nearest
from robots.requested import QuantityNames
from robots.status import Status
from robots.types import TWIST
from tasks.blocks.block import Block
from tasks.kernels.kernel import kernel
from tasks.kernels.keys import Indexed, Values, empty_rows, padded
from tasks.mechanics.families import structure_of
from tasks.stages.metrics.poses import METRICS, UNREACHED
from tasks.stages.stage import Stage
from tasks.stages.stages import stages

FORCE = "peak_force"
"""The largest force of an actuator that holds the pose, without friction [N or N m]."""
SHARES = ("usable_share", "reachable_share", "usable_volume", "reachable_volume", "failed_samples", "worst_status")
"""Metrics that count samples; they have no meaning for a single sample."""
NAMES = (FORCE, *(name for name in METRICS if name not in SHARES))
"""Names that conditions may use."""
AT_A_TIME = 4096
"""Poses that are computed together."""


def conditions(texts: Sequence[str]) -> tuple[ParsedExpression, ...]:
    """Parse the conditions on numbers of a pose, such as `condition <= 5 and peak_force < 20`. Raises InputError."""
    results = tuple(condition(text) for text in texts)
    for name in (name for expression in results for name in expression.names):
        if name not in NAMES:
            raise refuse("where", f"{name}, which no pose at rest has", "numbers of it", sentence(nearest(name, NAMES)))
    return results


@dataclass(frozen=True)
class RestPoses:
    """A robot at rest in `rotations` (orientation, 3, 3), all of which count; conditions `where` must hold in all."""

    block: Block
    where: tuple[ParsedExpression, ...]
    rotations: Array

    @classmethod
    def of(cls, sweep: Sweep, where: Sequence[ParsedExpression], parameters: Mapping[str, float] | None) -> RestPoses:
        """Return the robot, limits, criteria and gravity of a sweep, in its first design but for some parameters.

        In the orientation of the reference pose. Raises InputError.
        """
        block = replace(
            block_of(plan(sweep), 0),
            own=(),
            extra=(),
            derivatives=None,
            measurement=None,
            base=None,
            trajectories=(),
        )
        row, names = block.designs.parameters[:1].copy(), [p.name for p in block.family.parameters]
        for name, value in (parameters or {}).items():
            if name not in names:
                raise refuse(
                    f"parameters.{name}", "no such parameter", "one of the robot", sentence(nearest(name, names))
                )
            parameter = block.family.parameters[names.index(name)]
            if parameter.problem(value):
                raise refuse(f"parameters.{name}", f"{value!r}", parameter.bounds)
            row[0, names.index(name)] = value
        column_names = tuple(dict.fromkeys(name for expression in where for name in expression.names if name != FORCE))
        home = np.array(block.family.reference.platform.home.rotation, dtype=float)[None]
        designs = block.designs.take(slice(1)).moved(row)
        return cls(replace(block, designs=designs, quantities=QuantityNames((), column_names)), tuple(where), home)

    @cached_property
    def axes(self) -> list[int]:
        """Axes of the base along which the platform moves freely."""
        return [k for k, name in enumerate(TWIST[3:]) if name in self._mechanism.platform.mobility]

    @cached_property
    def home(self) -> Array:
        """The position of the reference pose (3,) [m] of this design."""
        return np.array(self.block.family.assemble(self.block.numbers_of(0)).platform.home.position, dtype=float)

    @cached_property
    def _stages(self) -> tuple[Stage, ...]:
        return tuple(stages(self.block.request))

    @cached_property
    def _constants(self) -> Values:
        """Inputs of the stages that are the same for all poses."""
        return self.block.case_values()

    @cached_property
    def _motion_size(self) -> int:
        return structure_of(self.block.family).motion_size

    @cached_property
    def _mechanism(self) -> Mechanism:
        return self.block.family.reference

    def states(self, positions: Array) -> tuple[Mask, Mask]:
        """Return masks of positions (n, 3): conditions hold in all orientations; limbs reach at least one."""
        holds, reached = np.ones(len(positions), bool), np.zeros(len(positions), bool)
        for rotation in self.rotations:
            for start in range(0, len(positions), AT_A_TIME):
                part = slice(start, start + AT_A_TIME)
                good, reaches = self._computed(positions[part], rotation)
                holds[part] &= good
                reached[part] |= reaches
        return holds, reached

    def _computed(self, positions: Array, rotation: Array) -> tuple[Mask, Mask]:
        """Return the same in one orientation. Metrics are reduced over samples: each pose is then a case of its own."""
        block, count = self.block, len(positions)
        cases, samples = (count, 1) if block.metrics else (1, count)
        width = padded(samples)
        columns = np.zeros((self._motion_size, count))
        columns[:3] = positions.T
        if len(columns) > len(TWIST) + 3:
            columns[3:12] = rotation.reshape(9, 1)
        motion = empty_rows((cases, len(columns), width))
        if block.metrics:
            motion[...] = columns.T[:, :, None]
        else:
            motion[0, :, :count], motion[0, :, count:] = columns, columns[:, -1:]
        values: Values = self._constants | {"motion": motion, "weight": np.ones((1, 1, width))}
        values["held"] = np.zeros((cases, 0, width))  # a platform gives its own
        for stage in self._stages:
            values |= stage.run(kernel, values, samples)
        status = values["status"][:, 0, :samples].ravel()
        reached = ~np.isin(status, [float(code) for code in UNREACHED])
        for k in range(len(self._mechanism.instances)):
            margin = values.get(Indexed("margin", k))  # of joints with a range
            reached &= True if margin is None else margin[:, 0, :samples].ravel() >= 0.0
        good = status == Status.OK
        freedoms = len(self._mechanism.platform.mobility)
        numbers = {name: METRICS[name].finish(values[name].ravel(), 1, freedoms) for name in block.metrics}
        forces = np.moveaxis(values["force"][..., :samples], 1, 0).reshape(values["force"].shape[1], count)
        numbers[FORCE] = np.abs(forces).max(axis=0)
        for expression in self.where:
            good &= np.broadcast_to(np.asarray(expression(numbers), dtype=bool), good.shape)
        return good, reached
