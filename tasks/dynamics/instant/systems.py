"""Equations of motion with joint friction for one sample of a chain, a tree or a parallel robot, with their layout.

    M V' + b = J^T u - W^T tau,    rates of actuators J V, of joints with friction W V

V are the rates of the robot's freedoms: components of the platform's twist, of a chain rates of its independent joints.
M and b are the forces of inverse dynamics for unit accelerations and for none, so that the two problems are inverse to
each other. A parallel robot adds up the shares of its limbs. A tree in which no joint can be at rest needs no mass
matrix: its accelerations come from articulated bodies. Sources: hybrid-limb paper, Eqs. (97), (140); joint-friction
paper, section 3.

Inputs of the programs per case: `parameters`, `mount`, `gravity`, `friction` (parameters of all groups). Per sample:
`state` and `modes` in the order of `StateLayout`; `force` (actuator,); `signals`, where loads change with time; and of
a linearly implicit stage `stage`: its scale [s], and the amounts subtracted from the rates of speed (freedom,) and of
memory (joint,). Where the base moves, `gravity` is as in `tasks.mechanics.recursion`. Inputs are few because a call
costs time for each array. Cases may lie in the lanes of vectors, each with its own design and friction: see
`tasks.kernels.lanes`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from robots.data_classes import dataclass, field, replace
from robots.friction.groups import FrictionGroup
from robots.limits import JointPlace
from robots.model import Family, Platform
from robots.types import TWIST
from tasks.dynamics.instant.layout import Form, StateLayout, loaded_joints
from tasks.dynamics.instant.pushed import Modes, Pushed, StepStage
from tasks.features.compliance import ElasticSharing
from tasks.features.friction import passive, requests
from tasks.features.friction.joints import ForwardFriction
from tasks.features.friction.requests import LimbFriction
from tasks.kernels.expression import ZERO, Array, Scalar, Scalars
from tasks.kernels.tangent import tangent
from tasks.mathematics.algebra import array, where
from tasks.mechanics import elements, limb_motion, recursion, solving
from tasks.mechanics import reactions as reactions
from tasks.mechanics.equations import Seeds, state_seeds
from tasks.mechanics.inertia.articulated import ArticulatedTree
from tasks.mechanics.kinematics import REST, Pose, SpatialMotion
from tasks.mechanics.limb_motion import Mounted, Solved, unit_motion
from tasks.mechanics.platform_motion import held_directions
from tasks.mechanics.reactions import Causes, LimbStatics
from tasks.mechanics.recursion import Field


def inputs_of_motion(
    parts: StateLayout, groups: tuple[FrictionGroup, ...], form: Form
) -> tuple[dict[Any, tuple[int, ...]], dict[Any, tuple[int, ...]]]:
    """Return the inputs per case and per sample that programs of chains and of platforms share."""
    case: dict[Any, tuple[int, ...]] = {"friction": (sum(len(group.parameters) for group in groups),)}
    sample: dict[Any, tuple[int, ...]] = {"state": (parts.size,), "force": (parts.actuators,)}
    sample |= {"modes": (2 * parts.joints,)}
    sample |= {"stage": (1 + parts.free + parts.joints,)} if form == "implicit" else {}
    return case, sample | ({"loads": (loaded_joints(groups),)} if form == "under loads" else {})


def modes_of(parts: StateLayout, modes: Array, memory: Array) -> Modes:
    """Return modes from `tasks.dynamics.instant.moments.JointModes` and the memory of all joints."""
    levels, direction = modes[: parts.joints], modes[parts.joints :]
    resting, loose = ([where(level > bound, 1.0, 0.0) for level in levels] for bound in (0.5, 1.5))
    return Modes(array(resting), array(loose), direction, memory)


def stage_of(parts: StateLayout, numbers: Array | None) -> StepStage:
    """Return a stage from its numbers; an explicit one without."""
    if numbers is None:
        numbers = np.zeros(1 + parts.free + parts.joints)
    return StepStage(numbers[0], numbers[1 : 1 + parts.free], numbers[1 + parts.free :])


FIRST = ("rate", "joints", "kept_speed", "dependent", "status")
"""Outputs whose bits do not depend on others."""


@dataclass(frozen=True)
class LimbDynamics:
    """A limb at one state: `solved` is its motion without acceleration of the freedoms, `speed` (freedom,) their rates.

    gravity: a vector, or for a moving base the numbers of a `tasks.mechanics.recursion.Field`. pose_seeds: rates of the
    pose of the platform along the motion, see `tasks.mechanics.equations.pose_seeds`; empty for a chain. sharing: the
    elasticity that determines reactions that statics leaves open; None: reactions of least norm.
    """

    mounted: Mounted
    solved: Solved
    speed: Array
    gravity: Array
    pose_seeds: Seeds = field(default_factory=dict)
    sharing: ElasticSharing | None = None

    @cached_property
    def statics(self) -> LimbStatics:
        """Statics at this state."""
        return LimbStatics(self.mounted, self.solved)

    @cached_property
    def unit_rates(self) -> Array:
        """Rates of all joints of the tree for one unit of each freedom (tree joint, freedom)."""
        return self.mounted.unit_rates(self.solved.tips)

    @cached_property
    def _dynamics(self) -> tuple[Array, Array]:
        bias, jacobian = limb_motion.dynamics(self.mounted, self.solved, self.gravity)
        return array(bias), array(np.array(jacobian, dtype=object).reshape(-1, len(self.speed)))

    @property
    def bias(self) -> Array:
        """B (freedom,)."""
        return self._dynamics[0]

    @property
    def jacobian(self) -> Array:
        """J (actuator, freedom)."""
        return self._dynamics[1]

    @property
    def unit_motions(self) -> Iterator[Solved]:
        """The limb without motion but for a unit acceleration of each freedom."""
        still = np.zeros(len(self.solved.rates))
        return (replace(self.solved, rates=still, accelerations=column) for column in self.unit_rates.T)

    @cached_property
    def mass(self) -> Array:
        """M (freedom, freedom)."""
        mounted = self.mounted.unforced
        columns = [array(limb_motion.dynamics(mounted, each, np.zeros(3))[0]) for each in self.unit_motions]
        return array(np.stack(columns, axis=1))

    def shares(self, statics: LimbStatics, gravity: Array, wanted: LimbFriction) -> dict[str, Scalars]:
        """Return the limb's terms of the normal loads, at the motion of `statics`."""
        shares = passive.share(statics, REST, gravity, wanted) | reactions.share(statics, gravity)
        if self.sharing is not None:
            shares |= self.sharing.of(statics, gravity, wanted.passive)
        return shares

    def bearing_loads(
        self, statics: LimbStatics, forces: Array, rubbing: Mapping[int, Scalar], loaded: Sequence[int]
    ) -> list[Array]:
        """Return the bearing loads of joints of a chain by number, at the motion of `statics`: of all causes together.

        forces: of actuators, less their own friction; rubbing: friction in passive joints by number.
        """
        motion = replace(statics.motion(self.gravity), actuators=forces)
        causes = reactions.with_friction(statics, motion, rubbing)
        if statics.redundant_count:
            causes = replace(causes, redundant=self._multipliers(statics, causes, rubbing))
        wrenches = statics.joint_wrenches(causes)
        return [array(reactions.bearing_components(statics, joint, wrenches[joint])) for joint in loaded]

    def _multipliers(self, statics: LimbStatics, causes: Causes, rubbing: Mapping[int, Scalar]) -> Array:
        """Return the free multipliers of a chain: of the least norm, or by elasticity."""
        if self.sharing is None:
            return reactions.least_multipliers(statics, causes)
        share = self.sharing.of(statics, self.gravity, [*rubbing])
        wish = share["wish_passive"] + share["wish_driven"] @ causes.actuators
        if rubbing:
            wish = wish + share["wish_friction"] @ array([*rubbing.values()])
        return array(share["root"] @ wish)

    def passive_row(self, joint: int, statics: LimbStatics) -> Array:
        """Return the rates (freedom,) of a joint, by its number in `Limb.joints`, for unit rates of the freedoms."""
        return array(self.mounted.outward(statics.on_platform(statics.unit("friction", joint))))

    def passive_rows(self, joints: Sequence[int]) -> Array:
        """Return the same of several joints (joint, freedom)."""
        rows = [self.passive_row(joint, self.statics) for joint in joints]
        return array(np.stack(rows)) if rows else np.zeros((0, len(self.speed)))

    def drift(self, rows: Array) -> Array:
        """Return W' V (row,) of rows W (row, freedom): the velocity-dependent part of their accelerations."""
        change = tangent(list(rows.ravel()), {**state_seeds(self.mounted, self.solved), **self.pose_seeds})
        return array(np.array(change, dtype=object).reshape(rows.shape)) @ array(self.speed)


@dataclass(frozen=True)
class PushedChain(Pushed):
    """A chain is one limb; its freedoms are its independent joints."""

    limb: LimbDynamics

    @property
    def bias(self) -> Array:
        """b (freedom,)."""
        return self.limb.bias

    @property
    def jacobian(self) -> Array:
        """J (actuator, freedom)."""
        return self.limb.jacobian

    @property
    def mass(self) -> Array:
        """M (freedom, freedom)."""
        return self.limb.mass

    @cached_property
    def rows(self) -> Array:
        """W (joint, freedom)."""
        if not self.joints:
            return np.zeros((0, len(self.speed)))
        statics = self.limb.statics
        return array(np.stack([self._row(each, statics) for each in self.joints]))

    def _row(self, each: ForwardFriction, statics: LimbStatics) -> Array:
        place = each.joint.place
        if place.actuator >= 0:
            return self.jacobian[place.actuator]
        return self.limb.passive_row(place.joint, statics)

    @cached_property
    def drift(self) -> Array:
        """W' V (joint,)."""
        return self.limb.drift(self.rows)

    def bearing_loads(
        self, family: Family, wanted: Sequence[LimbFriction], acceleration: Array, forces: Array,
        friction: Mapping[JointPlace, Scalar], places: Sequence[JointPlace],
    ) -> list[Array]:  # fmt: skip
        """See `Pushed`."""
        solved = self.limb.solved
        accelerations = solved.accelerations + self.limb.unit_rates @ acceleration
        statics = self.limb.statics.at_motion(replace(solved, accelerations=accelerations))
        rubbing = {place.joint: tau for place, tau in friction.items() if place.actuator < 0}
        return self.limb.bearing_loads(statics, forces, rubbing, [place.joint for place in places])


@dataclass(frozen=True)
class PushedTree(PushedChain):
    """A chain without loops and couplings, none of whose joints can be at rest."""

    tree: ArticulatedTree

    def accelerated(self, driving: Array, braking: Array) -> Array:
        """Return the same without the mass matrix."""
        field = Field.of(self.limb.gravity).seen_from(self.limb.mounted.base)
        return self.tree.accelerations(self.limb.solved.rates, driving - braking, field)

    @property
    def massless(self) -> Any:
        """True where M has lost rank."""
        return self.tree.massless


SLOPES = ("load_own", "held_passive", "wish_passive")
"""Limb terms of the normal loads that change with accelerations; see `slope`."""


def slope(name: str) -> str:
    """Return the name of how a share changes with the accelerations of the freedoms."""
    return f"{name}_slope"


@dataclass(frozen=True)
class LoadedPlatform:
    """The platform at one state: `motion` without acceleration, `load` (6,) on its reference point in world axes."""

    body: Platform
    pose: Pose
    motion: SpatialMotion
    gravity: Array
    load: Array

    @cached_property
    def wrench(self) -> Array:
        """(moment, force) that its motion takes, less its weight and its load (6,)."""
        own_wrench = array(recursion.platform_wrench(self.body, self.pose, self.motion, self.gravity)) - array(
            self.load
        )
        return (
            own_wrench - array(elements.applied_wrench(self.body, self.pose, self.motion))
            if self.body.forces
            else own_wrench
        )

    @cached_property
    def unit_wrenches(self) -> Array:
        """The same of unit accelerations of its freedoms alone (6, freedom)."""
        still = np.zeros(3)
        units = (unit_motion(name) for name in self.body.mobility)
        moves = [SpatialMotion(still, still, array(alpha), array(a)) for alpha, a in units]
        return array(
            np.stack([array(recursion.platform_wrench(self.body, self.pose, x, still)) for x in moves], axis=1)
        )

    @property
    def free(self) -> list[int]:
        """Places of the platform's freedoms in a twist."""
        return [TWIST.index(name) for name in self.body.mobility]

    def held(self, acceleration: Array) -> Array:
        """Return the platform's wrench along the directions in which it cannot move (held,)."""
        rows = [TWIST.index(name) for name in held_directions(self.body.mobility)]
        return self.wrench[rows] + self.unit_wrenches[rows] @ acceleration


@dataclass(frozen=True)
class PushedPlatform(Pushed):
    """A pushed parallel robot, whose freedoms are components of the platform's twist.

    limbs: outputs of `limb_motion_program` by name; friction: the joints of each limb whose values friction needs.
    """

    platform: LoadedPlatform
    limbs: Mapping[str, Mapping[int, Array]]
    friction: Sequence[LimbFriction]

    @cached_property
    def bias(self) -> Array:
        """b (freedom,), less the load."""
        return (
            array(sum((array(x) for x in self.limbs["bias"].values()), start=ZERO))
            + self.platform.wrench[self.platform.free]
        )

    @cached_property
    def jacobian(self) -> Array:
        """J (actuator, freedom)."""
        return array(np.vstack(list(self.limbs["jacobian"].values())))

    @cached_property
    def mass(self) -> Array:
        """M (freedom, freedom)."""
        unit_wrenches = self.platform.unit_wrenches[self.platform.free]
        return array(sum((array(x) for x in self.limbs["mass"].values()), start=ZERO)) + unit_wrenches

    def _of_joints(self, driven: str, passive: str) -> list[Any]:
        """Return the rows of the limb results for each joint with friction, of actuators and of passive joints."""
        of_actuators = [row for rows in self.limbs[driven].values() for row in rows]
        result = []
        for each in self.joints:
            place = each.joint.place
            if place.actuator >= 0:
                result.append(of_actuators[place.actuator])
            else:
                result.append(self.limbs[passive][place.limb][self.friction[place.limb].passive.index(place.joint)])
        return result

    @cached_property
    def rows(self) -> Array:
        """W (joint, freedom)."""
        rows = self._of_joints("jacobian", "through")
        return array(np.stack(rows)) if rows else np.zeros((0, len(self.speed)))

    @cached_property
    def drift(self) -> Array:
        """W' V (joint,)."""
        return array(self._of_joints("driven_drift", "passive_drift"))

    def bearing_loads(
        self, family: Family, wanted: Sequence[LimbFriction], acceleration: Array, forces: Array,
        friction: Mapping[JointPlace, Scalar], places: Sequence[JointPlace],
    ) -> list[Array]:  # fmt: skip
        """See `Pushed`."""
        held = solving.carried(family) if requests.statics(wanted) else ()
        robot = passive.SharedLoads(family, wanted, forces, self.shares(acceleration), held)
        passive_friction = array([friction[place] for place in robot.places])
        return [robot.carried(place, passive_friction) for place in places]

    def shares(self, acceleration: Array) -> Mapping[str, Any]:
        """Return the reactions at this acceleration: affine in it."""
        result: dict[str, Any] = {name: dict(values) for name, values in self.limbs.items()}
        for name in SLOPES:
            for k, value in result.get(name, {}).items():
                result[name][k] = array(value) + array(self.limbs[slope(name)][k]) @ array(acceleration)
        return result | {"held": self.platform.held(acceleration)}
