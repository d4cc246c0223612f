"""Reaction wrenches of all joints of a limb, passive, actuated and cut ones, for one sample.

Statics of the separated limb: the generalised forces Q of its tree come from the actuators and the cut joints,
Q = E' u + J' mu + G' lambda. This determines the multipliers of rows that kinematics keeps. Multipliers of rows that
kinematics has dropped as redundant are free for the limb alone. In a limb that keeps every row, the free multipliers
are the null space of L_t^T, which has no effect along its joints; in loops that keep every row, the null space of
G_y^T. The balance of the platform in the directions in which it cannot move determines some free multipliers. The
others are chosen for the least norm of the wrenches of all joints of the robot, N and N m weighed alike, at the joints.
Components that statics determines do not depend on that rule.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import cached_property
from typing import Any, Literal, TypeVar, cast

import numpy as np

from robots.data_classes import dataclass, field, replace
from robots.joint_kinds import JOINT_KINDS
from robots.model import PLATFORM
from robots.types import BASE, TWIST
from tasks.kernels.expression import Array, Scalar
from tasks.mathematics.algebra import array, cross, from_columns
from tasks.mathematics.systems import inverse_root, least_norm
from tasks.mechanics import recursion
from tasks.mechanics.cut_joints import Joined, total_wrench
from tasks.mechanics.drives import Transmission
from tasks.mechanics.kinematics import columns, path
from tasks.mechanics.limb_motion import Mounted, Solved, transmission, tree_dynamics
from tasks.mechanics.platform_motion import held_directions

T = TypeVar("T")

Wrench = tuple[Array, Array]

UnitCause = Literal["actuator", "multiplier", "friction"]
"""Kinds of causes of size one: methods of `LimbStatics`."""

NOTHING: Wrench = (np.zeros(3), np.zeros(3))


@dataclass(frozen=True)
class Causes:
    """Causes of joint wrenches; the wrenches are linear in them.

    own: wrenches for the motions of bodies; tree: forces Q, friction in joints of the tree included;
    actuators: their forces; redundant: free multipliers; cut: friction in cut joints, at the platform and of loops.
    """

    own: Sequence[Wrench]
    tree: Array
    actuators: Array
    redundant: Array
    cut: Array


@dataclass(frozen=True)
class LimbStatics:
    """The statics of one limb at one configuration; wrenches in the axes of its mount frame at the base.

    pose_values: values that do not depend on the motion, by name; see `at_motion`.
    """

    mounted: Mounted
    solved: Solved
    pose_values: dict[Hashable, Any] = field(default_factory=dict, compare=False, repr=False)

    def at_motion(self, solved: Solved, mounted: Mounted | None = None) -> LimbStatics:
        """Return the statics of another motion at the same configuration; effects of unit causes are traced once."""
        return replace(self, solved=solved, mounted=mounted or self.mounted)

    def once(self, name: Hashable, make: Callable[[], T]) -> T:
        """Return a value that does not depend on the motion, which is made when it is first needed."""
        if name not in self.pose_values:
            self.pose_values[name] = make()
        return cast(T, self.pose_values[name])

    @property
    def redundant_count(self) -> int:
        """Number of free multipliers: dropped rows of tips, `spare` ones, dropped rows of loops, `idle` ones."""
        return self._used + self._dropped_of_loops + sum(map(len, self.idle))

    @property
    def _dropped_of_loops(self) -> int:
        return sum(len(loop.redundant.rows) for loop in self.solved.tips.embedding.loops)

    @property
    def idle(self) -> list[Array]:
        """Projections of overdetermined clusters onto multipliers without work; (0, 0) of each other one."""
        return [cluster.idle for cluster in self.solved.tips.embedding.clusters]

    @property
    def projections(self) -> list[tuple[int, Array]]:
        """`spare` and `idle`, where there are any, each with the number of its first multiplier."""
        result = [(len(self.solved.tips.dropped_matrix), self.spare)]
        start = self._used + self._dropped_of_loops
        for idle in self.idle:
            result.append((start, idle))
            start += len(idle)
        return [(first, projection) for first, projection in result if len(projection)]

    @property
    def _used(self) -> int:
        """Number of free multipliers of the tips."""
        return len(self.solved.tips.dropped_matrix) + len(self.spare)

    @cached_property
    def spare(self) -> Array:
        """Projection onto multipliers without work, of a limb with more kept rows than independent joints (row, row).

        As a projection it has more multipliers than their space needs. It is (0, 0) for other limbs.
        """
        tips = self.solved.tips
        if not self.mounted.limb.every_row or len(tips.compound) == tips.compound.shape[1]:
            return np.zeros((0, 0))
        return array(np.eye(len(tips.compound)) - tips.compound @ tips.inverse)

    @cached_property
    def geared(self) -> Transmission:
        """Transmission between the actuators and the joints."""
        return transmission(self.mounted, self.solved)

    def motion(self, gravity: Array) -> Causes:
        """Return the causes: motion and gravity alone."""
        motion_wrenches, tree = tree_dynamics(self.mounted, self.solved, gravity, self.geared)
        return Causes(motion_wrenches, array(tree), *self._silent(), self._smooth())

    def unit(self, kind: UnitCause, index: int) -> Causes:
        """Return one of the causes below, once made."""
        return self.once((kind, index), lambda: getattr(self, kind)(index))

    def unit_wrenches(self, kind: UnitCause, index: int) -> list[Wrench]:
        """Return the joint wrenches of such causes."""
        return self.once(("wrenches", kind, index), lambda: self.joint_wrenches(self.unit(kind, index)))

    def unit_held(self, kind: UnitCause, index: int) -> Array:
        """Return the wrench of a unit cause on the platform, see `held`."""
        return self.once(("held", kind, index), lambda: self.held(self.unit(kind, index)))

    def actuator(self, index: int) -> Causes:
        """Return the causes: a unit force of one actuator alone."""
        actuators, redundant = self._silent()
        actuators[index] = 1.0
        return Causes(*self._still(), actuators, redundant, self._smooth())

    def multiplier(self, index: int) -> Causes:
        """Return the causes: a unit value of one free multiplier alone."""
        actuators, redundant = self._silent()
        redundant[index] = 1.0
        return Causes(*self._still(), actuators, redundant, self._smooth())

    def friction(self, joint: int) -> Causes:
        """Return the causes: unit friction against positive velocity in a joint, by its number in `Limb.joints`."""
        still_wrenches, tree = self._still()
        cut, count = self._smooth(), len(tree)
        if joint < count:
            tree[joint] = 1.0
        else:
            tree, cut[joint - count] = self._cut_row(joint - count), 1.0
        return Causes(still_wrenches, tree, *self._silent(), cut)

    def _cut_row(self, index: int) -> Array:
        """Return the velocity of a cut joint over the rates of the tree, with the platform at rest."""
        tips, links = self.solved.tips, self.mounted.limb.links
        closure, joined = self.mounted.limb.cuts[index], tips.cut_joints[index]
        (freedom,) = closure.joint_kind.freedoms
        axis, turns = joined.a.axes[:, freedom.axis], freedom.turns
        row = np.array(np.zeros(len(links)), dtype=object)
        for body, sign in ((closure.a, -1.0), (closure.b, 1.0)):
            side = path(links, body) if body != PLATFORM else ()
            for i, (omega, v) in columns(links, tips.at, side, joined.point).items():
                row[i] = row[i] + (axis @ (omega if turns else v)) * sign
        return array(row)

    def _smooth(self) -> np.ndarray:
        return np.zeros(len(self.mounted.limb.cuts))

    def _silent(self) -> tuple[np.ndarray, np.ndarray]:
        return np.zeros(len(self.mounted.limb.actuators)), np.zeros(self.redundant_count)

    def _still(self) -> tuple[list[Wrench], np.ndarray]:
        return [NOTHING] * len(self.mounted.limb.links), np.zeros(len(self.mounted.limb.links))

    def kept(self, causes: Causes) -> Array:
        """Return the multipliers of the platform rows that kinematics keeps."""
        tips, embedding = self.solved.tips, self.solved.tips.embedding.matrix
        dropped = causes.redundant[: len(tips.dropped_matrix)]
        driven = self.once("driven", lambda: self.geared.rows(embedding))
        free = embedding.T @ (causes.tree - tips.dropped_matrix.T @ dropped) - driven.T @ causes.actuators
        kept = tips.inverse.T @ free
        return kept + self.spare @ causes.redundant[len(dropped) : self._used] if len(self.spare) else kept

    def on_platform(self, causes: Causes) -> np.ndarray:
        """Return platform (moment, force) on the limb, at the platform's origin; for a chain, its freedoms' forces."""
        tips = self.solved.tips
        dropped = causes.redundant[: len(tips.dropped_matrix)]
        result = tips.covector(self.kept(causes)) + tips.dropped_covector(dropped)
        for joined, offset, size in zip(tips.joined, tips.offsets, causes.cut[: len(tips.joined)], strict=True):
            moment, force = _along(joined, size)
            result = result + array([*(moment + cross(offset, force)), *force])
        return result

    def joint_wrenches(self, causes: Causes) -> list[Wrench]:
        """Return (moment, force) on the child by the parent, at the joint, in the order of `Limb.joints`."""
        tips, limb = self.solved.tips, self.mounted.limb
        cut = self._cut_wrenches(causes)
        wrenches = list(causes.own)
        closures = (*limb.tips, *limb.loops)
        for closure, joined, (moment, force) in zip(closures, tips.cut_joints, cut, strict=True):
            for body, sign in ((closure.a, -1.0), (closure.b, 1.0)):
                if body not in (PLATFORM, BASE):
                    arm, inward = joined.point - tips.at[body].position, tips.at[body].rotation.T
                    m, f = inward @ (moment + cross(arm, force)) * sign, inward @ force * sign
                    wrenches[body] = (wrenches[body][0] + m, wrenches[body][1] + f)
        in_tree = recursion.joint_wrenches(limb.links, self.solved.states, wrenches)
        turned = [(tips.at[i].rotation @ m, tips.at[i].rotation @ f) for i, (m, f) in enumerate(in_tree)]
        return [*turned, *((-moment, -force) for moment, force in cut)]

    def _cut_wrenches(self, causes: Causes) -> list[Wrench]:
        """Return (moment, force) on body a of each joint at the platform and each cut joint of a loop."""
        tips = self.solved.tips
        kept, used = self.kept(causes), self._used
        dropped = causes.redundant[: len(tips.dropped_matrix)]
        demand = causes.tree - tips.matrix.T @ kept - tips.dropped_matrix.T @ dropped
        demand = demand - self.geared.joint_forces(causes.actuators)
        wrenches = [*tips.joint_wrenches(kept, dropped), *self._loop_wrenches(demand, causes.redundant[used:])]
        rubbing = (_along(joined, size) for joined, size in zip(tips.cut_joints, causes.cut, strict=True))
        return [(m + n, f + g) for (m, f), (n, g) in zip(wrenches, rubbing, strict=True)]

    def _loop_wrenches(self, demand: Array, redundant: Array) -> list[Wrench]:
        """Return (moment, force) of the loops' cut joints, for the forces that tree joints demand of them."""
        tips, dropped = self.solved.tips, iter(redundant)
        loops = tips.embedding.loops
        free = [[next(dropped) for _ in loop.redundant.rows] for loop in loops]
        for loop, values in zip(loops, free, strict=True):
            demand = demand - loop.dropped_matrix.T @ array(values)
        wrenches = []
        multipliers = tips.embedding.multipliers(demand, list(dropped))
        for loop, kept, values in zip(loops, multipliers, free, strict=True):
            (m, f), (n, g) = total_wrench(loop.joined, kept), total_wrench(loop.redundant, values)
            root = tips.at[loop.choice.root].rotation
            wrenches.append((root @ (m + n), root @ (f + g)))
        return wrenches

    def held(self, causes: Causes) -> np.ndarray:
        """Return the components along the held directions of the platform's wrench on the limb, world axes."""
        names = held_directions(self.mounted.mobility)
        if not names:
            return np.zeros(0)
        covector, turn = self.on_platform(causes), self.mounted.base.rotation
        world = [*(turn @ covector[:3]), *(turn @ covector[3:])]
        return array([world[TWIST.index(name)] for name in names])


def _along(joined: Joined, size: Scalar) -> Wrench:
    """Return a moment about the axis of a cut joint, or a force along it for one that does not turn, on body a."""
    if not JOINT_KINDS[joined.kind].freedoms:
        return NOTHING
    freedom = JOINT_KINDS[joined.kind].freedoms[0]
    push = joined.a.axes[:, freedom.axis] * size
    return (push, NOTHING[1]) if freedom.turns else (NOTHING[0], push)


SHARES = ("held_passive", "held_driven", "held_redundant", "root", "wish_passive", "wish_driven")
"""Names of a limb's contributions to the balance of the platform; see `share`."""

FRICTION_SHARES = ("held_friction", "wish_friction")
"""Names of the contributions of friction in passive joints to this balance; see `friction_share`."""


def share(statics: LimbStatics, gravity: Array) -> dict[str, Array]:
    """Compute a limb's share in the balance of the platform.

    It contains the wrenches along the held directions, and the norm of joint wrenches as a function of nu. With
    nu = root y, it is least without regard to balance at y = wish_passive + wish_driven u, and its square grows by that
    of the distance from this y.
    """
    motion, free = statics.motion(gravity), statics.redundant_count
    driven, spread = range(len(motion.actuators)), _spread(statics)

    def wish_driven() -> Array:
        return _wish(statics, spread, from_columns(wishes[1:], len(spread)))

    wishes = [_flat(statics.joint_wrenches(motion))] if free else []
    wishes += [_flat(statics.unit_wrenches("actuator", k)) for k in driven] if free else []
    rows = len(held_directions(statics.mounted.mobility))
    return {
        "held_passive": statics.held(motion),
        "held_driven": from_columns([statics.unit_held("actuator", k) for k in driven], rows),
        "held_redundant": from_columns([statics.unit_held("multiplier", k) for k in range(free)], rows),
        "root": _root(statics, spread),
        "wish_passive": _wish(statics, spread, wishes[0]) if free else np.zeros(0),
        "wish_driven": statics.once(
            "wish_driven", lambda: _wish(statics, spread, from_columns(wishes[1:], len(spread)))
        )
        if free
        else np.zeros((0, len(driven))),
    }


def _spread(statics: LimbStatics) -> Array:
    """Return the joint wrenches of unit free multipliers, one column each."""
    size, free = 6 * len(statics.mounted.limb.joints), range(statics.redundant_count)
    return statics.once(
        "spread", lambda: from_columns([_flat(statics.unit_wrenches("multiplier", k)) for k in free], size)
    )


def _root(statics: LimbStatics, spread: Array) -> Array:
    """Return the inverse of the triangle R of spread = Q R; multipliers without effect count as unit wrenches."""
    if not spread.shape[1]:
        return np.zeros((0, 0))
    return statics.once("root", lambda: inverse_root(np.vstack([spread, *_without_effect(statics)])))


def _without_effect(statics: LimbStatics) -> list[Array]:
    """Return the complement of the free multipliers, on which spread is zero, if some are redundant."""
    if not statics.projections:
        return []
    beside = np.zeros((statics.redundant_count,) * 2, dtype=object)
    for first, projection in statics.projections:
        rows = slice(first, first + len(projection))
        beside[rows, rows] = np.eye(len(projection)) - projection
    return [array(beside)]


def _wish(statics: LimbStatics, spread: Array, wrenches: Array) -> Array:
    """Return y for the least norm of joint wrenches (6 joint, ...) with those of nu = root y."""
    return -(_root(statics, spread).T @ (spread.T @ wrenches))


def friction_share(statics: LimbStatics, joints: Sequence[int]) -> dict[str, Array]:
    """Compute the share of friction in passive joints in the balance, one column for each joint: see `share`."""
    spread = _spread(statics)
    caused = from_columns([_flat(statics.unit_wrenches("friction", joint)) for joint in joints], len(spread))
    rows = len(held_directions(statics.mounted.mobility))

    def wish() -> Array:
        return _wish(statics, spread, caused)

    return {
        "held_friction": from_columns([statics.unit_held("friction", joint) for joint in joints], rows),
        "wish_friction": statics.once(("wish", *joints), wish) if spread.shape[1] else np.zeros((0, len(joints))),
    }


def share_shapes(directions: int, driven: int, redundant: int) -> dict[str, tuple[int, ...]]:
    """Return the shapes of the parts of a share, by name."""
    shapes = ((directions,), (directions, driven), (directions, redundant), (redundant, redundant), (redundant,))
    return dict(zip(SHARES, (*shapes, (redundant, driven)), strict=True))


def _flat(wrenches: Sequence[Wrench]) -> np.ndarray:
    return array([x for moment, force in wrenches for x in (*moment, *force)])


def redundant_multipliers(
    shares: Sequence[Mapping[str, Array]],
    forces: Sequence[Array],
    wrench: Array,
    carried: Sequence[int],
    rubbing: Sequence[Array] | None = None,
) -> tuple[list[Array], list[Scalar]]:
    """Return nu of every limb from shares, actuator forces (per limb) and the platform's wrench along held directions.

    `rubbing` is the friction in passive joints (per limb), for shares that have it.

    The result has the least norm of all joint wrenches under the condition: sum of the platform's wrenches on limbs =
    -wrench, along the held directions that are `carried`. The second value is the unbalanced wrench along the other
    held directions, which limbs cannot carry.
    """
    wishes = [s["wish_passive"] + s["wish_driven"] @ u for s, u in zip(shares, forces, strict=True)]
    missing = -array(wrench)
    for s, u in zip(shares, forces, strict=True):
        missing = missing - s["held_passive"] - s["held_driven"] @ u
    for k, friction in enumerate(rubbing or ()):
        if len(friction):
            wishes[k] = wishes[k] + shares[k]["wish_friction"] @ friction
            missing = missing - shares[k]["held_friction"] @ friction
    if carried:
        rows = [s["held_redundant"][list(carried)] @ s["root"] for s in shares]
        short = missing[list(carried)] - sum(each @ wish for each, wish in zip(rows, wishes, strict=True))
        ends = np.cumsum([len(wish) for wish in wishes])
        moves = np.split(least_norm(np.vstack([each.T for each in rows]), short), ends[:-1])
        wishes = [wish + move for wish, move in zip(wishes, moves, strict=True)]
    multipliers = [s["root"] @ wish for s, wish in zip(shares, wishes, strict=True)]
    for s, nu in zip(shares, multipliers, strict=True):
        missing = missing - s["held_redundant"] @ nu
    return multipliers, [missing[row] for row in range(len(missing)) if row not in carried]


def joint_reactions(
    statics: LimbStatics, gravity: Array, actuators: Array, redundant: Array, rubbing: Mapping[int, Scalar]
) -> list[list[Scalar]]:
    """Return (moment, force) on the child by the parent at the joint, world axes, in the order of `Limb.joints`.

    `rubbing` is the friction in passive joints by their number.

    The child of a joint at the platform is the platform; the child of a loop's cut joint is its body b. Drives act
    inside their joint.
    """
    motion, turn = statics.motion(gravity), statics.mounted.base.rotation
    causes = with_friction(statics, replace(motion, actuators=actuators, redundant=redundant), rubbing)
    return [[*(turn @ moment), *(turn @ force)] for moment, force in statics.joint_wrenches(causes)]


def with_friction(statics: LimbStatics, causes: Causes, rubbing: Mapping[int, Scalar]) -> Causes:
    """Return causes with friction in passive joints by their number."""
    for joint, size in rubbing.items():
        unit = statics.unit("friction", joint)
        causes = replace(causes, tree=causes.tree + unit.tree * size, cut=causes.cut + unit.cut * size)
    return causes


def least_multipliers(statics: LimbStatics, causes: Causes) -> Array:
    """Return the free multipliers of a chain for which the norm of all joint wrenches is least.

    `causes` are without multipliers.
    """
    spread = _spread(statics)
    return _root(statics, spread) @ _wish(statics, spread, _flat(statics.joint_wrenches(causes)))


def bearing_components(statics: LimbStatics, joint: int, wrench: Wrench) -> list[Scalar]:
    """Return the load of the bearings of a joint: two components of moment and of force across its axis, one along it.

    Along the axis it is the force in a joint that turns, also in a screw, and the moment in a joint that only slides.
    The other component is not a constraint; in a screw it is the moment of the force plus friction and drive.
    """
    limb_, tips = statics.mounted.limb, statics.solved.tips
    if joint < len(limb_.links):
        link, inward = limb_.links[joint], tips.at[joint].rotation.T
        along, kind = int(np.flatnonzero(link.axis)[0]), link.joint_kind
    else:
        joined = tips.cut_joints[joint - len(limb_.links)]
        inward, kind = joined.a.axes.T, JOINT_KINDS[joined.kind]
        along = kind.freedoms[0].axis
    moment, push = (inward @ array(part) for part in wrench)
    across = [k for k in range(3) if k != along]
    return [*moment[across], *push[across], (push if kind.turns else moment)[along]]
