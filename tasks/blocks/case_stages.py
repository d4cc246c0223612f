"""The stages of inverse dynamics over simulated cases: each with a motion, forces and friction of its own.

Quantities are the same as for given motions. The difference: actuator forces and friction of joints are given beside
the motion (`stages.GIVEN`) and not solved for. Arrays of samples are (case, component, time).
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from tasks.kernels.kernel import padded
from tasks.kernels.keys import Values
from tasks.kernels.program import Kernels
from tasks.stages import stages
from tasks.stages.request import Request
from tasks.stages.stage import Stage

PASSED_ON = ("simulation", "sensors")
"""Stages of quantities that the simulation itself gives, or that sensors measure."""


class CaseStages:
    """Stages of a request over `count` cases, each with its design and its friction set.

    values (case or 1, size): inputs of the stages that do not change with time; `kernel` runs programs in the
    precision of the block.
    """

    def __init__(self, request: Request, values: Values, count: int, kernel: Kernels):
        self.request, self.values, self.count, self.kernel = request, values, count, kernel
        limbs = range(len(self.request.structure.mechanism.instances))
        self.motion = [stages.limb(self.request, k) for k in limbs]
        if not self.request.structure.mechanism.is_chain:
            self.motion.append(stages.platform(self.request))
        self.assembly = stages.assembly(self.request)
        self.motion.append(self.assembly)
        self.actuation = stages.actuation(self.request) if self.request.actuation else None
        self.reactions: list[Stage] = []
        if self.request.reactions:
            self.reactions = [stages.balance(self.request)]
            self.reactions += [stages.reactions(self.request, k) for k in limbs]

    def of_motion(self, samples: Values, count: int, cases: slice = slice(None)) -> Values:
        """Run limbs, platform and assembly; `samples` (case, component, padded time) are samples of some cases."""
        width = padded(count)
        values: Values = {key: array[cases] if len(array) > 1 else array for key, array in self.values.items()}
        values |= {"weight": np.zeros((1, 1, width)), "held": np.zeros((1, 0, width)), **samples}
        return self._run(self.motion, values, count)

    def of_forces(self, values: Values, count: int) -> Values:
        """Run the actuation and the reactions, from the values of the stages before."""
        own = [] if self.actuation is None else [self.actuation]
        return self._run([*own, *self.reactions], values, count)

    def _run(self, some: Iterable[Stage], values: Values, count: int) -> Values:
        for stage in some:
            values |= stage.run(self.kernel, values, count)
        return values
