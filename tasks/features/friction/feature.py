"""Friction in joints, of motors and of limbs: rates and loads of joints, and forces of friction on actuators."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from robots.friction.groups import FrictionGroup, settles
from tasks.features.friction import coupled, requests
from tasks.features.friction import joints as joint_friction
from tasks.features.friction.passive import share
from tasks.features.friction.requests import NO_FRICTION, LimbFriction, wanted
from tasks.features.sharing import Sharing, even_weights
from tasks.kernels.expression import Numbers
from tasks.kernels.keys import Indexed, Shape, Shapes
from tasks.mathematics.algebra import where
from tasks.mechanics.reactions import LimbStatics
from tasks.mechanics.structure import Structure
from tasks.stages.parts import ActuatorSample, LimbPart, LimbSample, Part
from tasks.stages.request import Feature, Request

LOAD_PART = "normal_load_part"

PARTS = frozenset((LOAD_PART, "joint_friction_part"))
"""Series of the parts of normal loads and friction of all joints."""


@dataclass(frozen=True)
class FrictionGroups(Feature):
    """Friction of groups of joints; its parameters are inputs."""

    groups: tuple[FrictionGroup, ...] = ()

    @property
    def settles(self) -> bool:
        """Return whether friction and reactions depend on each other, so that a sample may fail by friction."""
        return settles(self.groups)

    def limbs(self, request: Request) -> tuple[LimbFriction, ...]:
        """Return the joints of each limb; none where no requested quantity depends on friction."""
        groups = self.groups if request.of("actuation") or request.reactions else ()
        return wanted(request.family, groups, bool(request.reactions))

    def passive(self, request: Request, k: int) -> tuple[int, ...]:
        """Return the passive joints of limb k with friction."""
        return self.limbs(request)[k].passive

    def statics(self, request: Request) -> bool:
        """Return whether normal loads are reactions."""
        return requests.statics(self.limbs(request))

    def of_limb(self, request: Request, k: int) -> JointShares | None:
        """Return rates and loads of the joints of limb k."""
        joints = self.limbs(request)[k]
        return JointShares(joints) if joints != NO_FRICTION else None

    def of_actuators(self, request: Request) -> FrictionForces:
        """Return friction of one set of parameters."""
        series = {str(name) for name in request.actuation[0]}
        switched = request.feature(Sharing).form.switched
        return FrictionForces(self.groups, switched, not PARTS.isdisjoint(series), request.given)


@dataclass(frozen=True)
class JointShares(LimbPart):
    """Rates and loads of the joints of a limb, see `tasks.features.friction.passive.share`."""

    joints: LimbFriction

    def shapes(self, structure: Structure, limb_index: int) -> Shapes:
        """Return the shapes of its shares."""
        driven, redundant = len(structure.mechanism.limbs[limb_index].actuators), structure.redundant(limb_index)
        return self.joints.shapes(structure.freedoms, driven, redundant, structure.held)

    def terms(self, sample: LimbSample) -> Mapping[str, Numbers]:
        """Return its shares."""
        return share(sample.of_solved(LimbStatics), sample.moving, sample.gravity, self.joints)


@dataclass(frozen=True)
class FrictionForces(Part[ActuatorSample]):
    """Friction of all joints for one set of parameters, a case input `friction`.

    Sample inputs as `coupled.inputs` lists them; where friction of passive joints is shared by more actuators than
    freedoms `weights`, a case input, or where actuators are off for a time (`switched`) a sample input. With `apart`,
    what normal loads and friction are made of. With `given`, forces are those of the actuators, friction included, and
    friction of all joints is the sample input `history`, see `coupled.given_solution`.
    """

    groups: tuple[FrictionGroup, ...] = ()
    switched: bool = False
    apart: bool = False
    given: bool = False

    @property
    def label(self) -> str:
        """Return laws and loads of the groups."""
        return "-".join(f"{group.law}.{group.load}" for group in self.groups) or "none"

    def case(self, structure: Structure) -> Shapes:
        """Return its case inputs."""
        shapes: dict[str, Shape] = {"friction": (sum(len(group.parameters) for group in self.groups),)}
        return shapes | ({} if self.switched else self._weights(structure))

    def sample(self, structure: Structure) -> Shapes:
        """Return its sample inputs."""
        shapes = coupled.inputs(structure.family, self.groups, given=self.given)
        return shapes | (self._weights(structure) if self.switched else {})

    def _weights(self, structure: Structure) -> dict[str, Shape]:
        shares = coupled.inputs(structure.family, self.groups, given=self.given)
        return {name: value.shape[1:] for name, value in even_weights(structure.family).items() if shares}

    def add_to(self, sample: ActuatorSample) -> ActuatorSample:
        """Return the sample with friction in its forces, and with the series of friction."""
        family, status = sample.structure.family, sample.solved
        joints = joint_friction.of_groups(self.groups, coupled.joint_kinds(family), sample.inputs["friction"])
        forces = (sample.inputs["force"], sample.velocity)
        solve = coupled.given_solution if self.given else coupled.solve
        solution = solve(family, self.groups, joints, forces, sample.inputs, self.apart)
        sample = replace(sample, force=solution.forces, net=solution.net, free=solution.free)
        sample = replace(sample, unsettled=solution.unsettled, failure=solution.status)
        bad = sample.bad
        outputs: dict[Any, Numbers] = {
            "joint_friction": [tau + bad for tau in solution.friction],
            "friction_residual": [solution.residual + where(status > 0.5, np.nan, 0.0)],
            "unsettled_samples": [where(status > 0.5, 0.0, solution.unsettled)],
        }
        if self.apart:
            outputs[LOAD_PART] = [x + bad for load in solution.load_parts for x in load]
            outputs["joint_friction_part"] = [x + bad for friction in solution.friction_parts for x in friction]
        outputs |= {Indexed("passive_friction", k): list(tau) for k, tau in enumerate(solution.passive)}
        return replace(sample, outputs={**sample.outputs, **outputs})
