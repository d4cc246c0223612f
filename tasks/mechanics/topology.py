"""Schemes to solve limbs, made once when a model is built: rows that are not redundant, joints that are independent.

Decisions are by rank and conditioning at the reference pose and at generic configurations near it. Rows that never
matter (out of the plane of a planar loop, say) are dropped here; `LoopChoice.rows` are the kept rows. A loop whose
rows depend on each other in a way that changes with its configuration (linkages of Bennett and Bricard) keeps all rows.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeVar

import numpy as np

from robots.model import PLATFORM, Closure, Limb, Link, Mechanism
from robots.types import ROTATION, TRANSLATION, TWIST
from tasks.mathematics.rotations import rotation_matrix
from tasks.mechanics.cut_joints import Joined, row_count
from tasks.mechanics.kinematics import (
    HOME,
    JointState,
    Pose,
    inverse_pose,
    joined_pose,
    mount_pose,
    path,
    poses,
    stepped,
)
from tasks.mechanics.limb_choice import NO_BLOCKS, Block, ClusterBlocks, ClusterChoice, LimbChoice, LoopChoice
from tasks.mechanics.loops import SolvedLoop, Tips, loop_matrix
from tasks.mechanics.tolerances import distance_of

Configuration = TypeVar("Configuration")

SAMPLES = 4
RANK_TOLERANCE = 1e-7
CHANGE_TOLERANCE = 1e-6
NEARER = (1.0, 2.0**-2, 2.0**-4, 2.0**-8, 2.0**-16, 2.0**-24)
"""Shares of the way to a generic configuration, tried in this order."""
NEAREST = 2.0**-8
"""The least of these for a platform, and for loops closed from anywhere: nearer to the reference pose rank says nothing
of other poses."""
_REACH = 0.08  # share of the limb's size by which the platform is moved to reach generic configurations


class TopologyError(ValueError):
    """A limb that cannot be solved as described. The text names the part and the reason."""


def choose(mechanism: Mechanism, limb_index: int) -> LimbChoice:
    """Choose rows and joints for one representative limb of a mechanism in numbers. Raises TopologyError."""
    limb = mechanism.limbs[limb_index]
    if mechanism.is_chain:
        return _chain_choice(mechanism)
    instance = next(each for each in mechanism.instances if each.limb == limb_index)
    base, mount = mount_pose(instance.base), mount_pose(instance.platform)
    home = joined_pose(inverse_pose(base), joined_pose(mount_pose(mechanism.platform.home), mount))
    mobility, arm = mechanism.platform.mobility, np.zeros(3)
    if set(mobility) & set(ROTATION) and not set(mobility) >= set(TRANSLATION):
        # a platform that cannot shift everywhere turns about its own origin, not about the mount frame of a limb
        arm = base.rotation.T @ mount_pose(mechanism.platform.home).rotation @ mount.position
    generic = _generic_configurations(limb, home, base.rotation, mobility, arm)
    before = _loop_choices(limb, [states for states, _ in generic])
    return replace(before, tip_rows=_tip_rows(limb, before, generic))


def _chain_choice(mechanism: Mechanism) -> LimbChoice:
    """Return the choice of a chain, with the independent joints that its mechanism names."""
    (limb,) = mechanism.limbs
    random = np.random.default_rng(20240501)
    starts = [random.uniform(-_REACH, _REACH, len(limb.links)) * (1.0 if sample else 0.0) for sample in range(SAMPLES)]
    if limb.coordinates:
        generic = [_followed_near(limb, mechanism.freedoms, each) for each in starts]
    else:
        generic = [_thrown_near(limb, each) for each in starts]
    made = _loop_choices(limb, generic if limb.loops else [])
    found, freedoms = {limb.links[i].joint for i in made.independent}, set(mechanism.freedoms)
    if found != freedoms:
        missing, spare = sorted(found - freedoms), sorted(freedoms - found)
        remedy = f"name also {', '.join(missing)}" if missing else f"leave out {', '.join(spare)}"
        where = "in the joints under redundancy" if limb.coordinates else "in its independent or its actuated joints"
        raise TopologyError(
            f"chain {limb.name}: got the independent joints {', '.join(mechanism.freedoms) or 'none'}; expected "
            f"{len(found)}, as many as it has freedoms; {remedy} {where}"
        )
    return made


def _loop_choices(limb: Limb, configurations: Sequence[Sequence[JointState]]) -> LimbChoice:
    """Return the rows and dependent joints of all loops; all rows of tips."""
    whole = [_whole_loop(limb, closure) for closure in limb.loops]
    loops, clusters = list(whole), []
    for group in clusters_of([loop.joints for loop in whole]):
        rows, found = _cluster_choices(limb, whole, group, configurations)
        clusters += found
        for k, kept in zip(group, rows, strict=True):
            loops[k] = replace(whole[k], rows=kept)
    dependent = {*limb.followers, *(joint for cluster in clusters for joint in cluster.dependent)}
    independent = tuple(i for i in range(len(limb.links)) if i not in dependent)
    return LimbChoice(tuple(loops), tuple(clusters), independent, tuple(map(_every_row, limb.tips)))


def every_row(limb: Limb) -> LimbChoice:
    """Return all rows of all loops of a limb, without a choice of joints that follow."""
    return LimbChoice(tuple(_whole_loop(limb, closure) for closure in limb.loops), (), (), ())


def _whole_loop(limb: Limb, closure: Closure) -> LoopChoice:
    side_a, side_b = path(limb.links, closure.a), path(limb.links, closure.b)
    shared = [i for i, j in zip(side_a, side_b, strict=False) if i == j]
    root = shared[-1] if shared else -1
    sides = side_a[len(shared) :], side_b[len(shared) :]
    movers = (joint for side in sides for i in side for joint, _ in limb.followers.get(i, [(i, 1.0)]))
    return LoopChoice(root, *sides, _every_row(closure), tuple(dict.fromkeys(movers)))


def clusters_of(loops: Sequence[Sequence[int]]) -> list[tuple[int, ...]]:
    """Return the loops to be solved together, by number: loops that share joints, directly or through others."""
    clusters: list[tuple[int, ...]] = []
    for number, joints in enumerate(loops):
        touched = [each for each in clusters if any(set(joints) & set(loops[k]) for k in each)]
        clusters = [each for each in clusters if each not in touched]
        clusters.append((*sorted(k for each in touched for k in each), number))
    return clusters


def _cluster_choices(
    limb: Limb, whole: Sequence[LoopChoice], group: tuple[int, ...], configurations: Sequence[Sequence[JointState]]
) -> tuple[tuple[tuple[int, ...], ...], list[ClusterChoice]]:
    """Return the kept rows of each loop of a group that shares joints, and the clusters into which the group falls."""
    closures = [limb.loops[k] for k in group]
    by_loop = [
        [
            SolvedLoop(limb, whole[k], limb.loops[k], poses(limb.links, states, whole[k].root)).matrix
            for states in configurations
        ]
        for k in group
    ]
    matrices = [np.vstack(parts) for parts in zip(*by_loop, strict=True)]
    if any(map(_changes, by_loop)):
        return _overdetermined(limb, whole, group, matrices)
    rows = pivots(matrices)
    dependent = _dependent_joints(limb, whole, group, [m[list(rows)] for m in matrices], len(rows))
    pattern = np.any([np.abs(m[np.ix_(rows, dependent)]) > RANK_TOLERANCE for m in matrices], axis=0)
    kept = _by_closure(rows, closures)
    owners = [k for k, kept_rows in zip(group, kept, strict=True) for _ in kept_rows]
    choices = []
    for loops, solved in in_order(pattern, owners):
        solved_joints = tuple(sorted(dependent[i] for i in solved))
        mine = [row for row, k in zip(rows, owners, strict=True) if k in loops]
        parts = [m[mine][:, list(solved_joints)] for m in matrices]
        choices.append(
            ClusterChoice(loops, solved_joints, _blocks(limb, [whole[k].joints for k in loops], solved_joints, parts))
        )
    return kept, choices


def _dependent_joints(
    limb: Limb, whole: Sequence[LoopChoice], group: tuple[int, ...], matrices: Sequence[np.ndarray], rank: int
) -> list[int]:
    """Return the joints that rows (row, joint) of some loops determine, as many as the rank. Raises TopologyError."""
    driving = [limb.index(name) for name in limb.independent or limb.actuated]
    joints = dict.fromkeys(joint for k in group for joint in whole[k].joints)
    candidates = [i for i in joints if i not in driving]
    columns = pivots([m[:, candidates].T for m in matrices])
    if len(columns) < rank:
        names, free = [limb.links[i].joint for i in joints if i in driving], len(joints) - rank
        named = ", ".join(names[:6]) + (f" and {len(names) - 6} others" if len(names) > 6 else "") or "none"
        follows = {*limb.followers} & {i for k in group for i in (*whole[k].side_a, *whole[k].side_b)}
        remedy = "actuate another joint, or fewer"
        if free < 1:
            remedy = f"{'leave a coupling out' if follows else 'give a cut joint more freedoms'}, or drive none of them"
        ties = ", whose joints follow others," if follows else ""
        got = f"the driven joint{'s' if len(names) > 1 else ''} {named} of a loop{ties}"
        raise TopologyError(
            f"limb {limb.name}, joint {', '.join(limb.loops[k].joint for k in group)}: got {got} with {free} "
            f"{'freedom' if free == 1 else 'freedoms'}; expected joints that move on their own; {remedy}"
        )
    return [candidates[i] for i in columns]


def _changes(matrices: Sequence[np.ndarray]) -> bool:
    """Return whether combinations of rows of a loop that vanish at one configuration do not at another.

    If they vanish at all configurations, rows that are independent at one configuration are independent at all others
    of the same rank.
    """
    sizes = np.linalg.svd(np.hstack(matrices), compute_uv=False)
    return int(np.sum(sizes > CHANGE_TOLERANCE * sizes[0])) > len(pivots(matrices))


def _overdetermined(
    limb: Limb, whole: Sequence[LoopChoice], group: tuple[int, ...], matrices: Sequence[np.ndarray]
) -> tuple[tuple[tuple[int, ...], ...], list[ClusterChoice]]:
    """Return every row of a group's loops, and their single cluster: no choice of rows serves everywhere."""
    dependent = _dependent_joints(limb, whole, group, matrices, len(pivots(matrices)))
    return tuple(whole[k].rows for k in group), [ClusterChoice(group, tuple(sorted(dependent)))]


def _blocks(
    limb: Limb, loops: Sequence[tuple[int, ...]], dependent: tuple[int, ...], matrices: Sequence[np.ndarray]
) -> ClusterBlocks:
    """Split a cluster into blocks, beside the dependent joints that several loops share at a platform.

    loops: the joints of each; matrices: square ones of the dependent joints, at several configurations.
    """
    carrying = _beyond(limb, [limb.index(name) for name in limb.coordinates])
    shared = [k for k, i in enumerate(dependent) if i in carrying and sum(i in joints for joints in loops) > 1]
    if not shared:
        return NO_BLOCKS
    inner_joints = [tuple(i for k, i in enumerate(dependent) if k not in shared and i in joints) for joints in loops]
    free_joints, inner = set(range(len(dependent))), list[Block]()
    for group in clusters_of([joints for joints in inner_joints if joints]):
        filled = [joints for joints in inner_joints if joints]
        columns = [k for k, i in enumerate(dependent) if k not in shared and any(i in filled[n] for n in group)]
        candidates = [
            row for row in sorted(free_joints) if max(np.abs(m[row, columns]).max() for m in matrices) > RANK_TOLERANCE
        ]
        chosen_rows = [candidates[row] for row in pivots([m[np.ix_(candidates, columns)] for m in matrices])]
        if len(chosen_rows) < len(columns):
            return NO_BLOCKS
        free_joints -= set(chosen_rows)
        inner.append((tuple(chosen_rows), tuple(columns)))
    return ClusterBlocks(tuple(inner), (tuple(sorted(free_joints)), tuple(shared)))


def _beyond(limb: Limb, joints: Sequence[int]) -> set[int]:
    """Return the joints, and all joints that they carry."""
    return {i for i in range(len(limb.links)) if set(path(limb.links, i)) & set(joints)}


def in_order(pattern: np.ndarray, owners: Sequence[int]) -> list[tuple[tuple[int, ...], list[int]]]:
    """Return the loops to be solved together, and the columns to solve for, in an order that works.

    pattern (n, n) is true where a row depends on a column; owners (n,) are the numbers of the rows' loops. The result
    is the block triangular form of the pattern, which Algorithm 1 of the joint-friction paper finds by hand. Source:
    Duff and Reid, 1978.
    """
    if len(set(owners)) == 1:
        return [((owners[0],), list(range(len(owners))))]
    from scipy.sparse import csr_array  # a fifth of the imports of a small sweep; most robots have no such loops
    from scipy.sparse.csgraph import connected_components, maximum_bipartite_matching

    matched = maximum_bipartite_matching(csr_array(pattern), perm_type="column")
    needs = pattern[:, matched] | np.equal.outer(owners, owners)
    count, label = connected_components(csr_array(needs), connection="strong")
    waiting, result = list(range(count)), []
    while waiting:
        ready = next(k for k in waiting if not needs[label == k][:, [m in waiting and m != k for m in label]].any())
        waiting.remove(ready)
        mine = np.flatnonzero(label == ready)
        result.append((tuple(dict.fromkeys(owners[int(i)] for i in mine)), [int(matched[i]) for i in mine]))
    return result


def _tip_rows(
    limb: Limb, every: LimbChoice, generic: Sequence[tuple[list[JointState], Pose]]
) -> tuple[tuple[int, ...], ...]:
    rows = pivots([Tips.of(limb, every, states, target).compound for states, target in generic])
    if len(rows) < len(every.independent):
        names = ", ".join(limb.links[i].joint for i in every.independent)
        raise TopologyError(
            f"limb {limb.name}: the platform determines {len(rows)} of its {len(every.independent)} "
            f"independent joints ({names}); give it fewer joints, or a tip that holds more; or the platform "
            "coordinates, with the others under redundancy"
        )
    return every.tip_rows if limb.every_row else _by_closure(rows, limb.tips)


def _by_closure(rows: Sequence[int], closures: Sequence[Closure]) -> tuple[tuple[int, ...], ...]:
    """Split rows numbered over several closures into the rows of each closure."""
    counts = [row_count(closure.kind) for closure in closures]
    starts = [sum(counts[:k]) for k in range(len(counts))]
    return tuple(
        tuple(row - start for row in rows if 0 <= row - start < n) for start, n in zip(starts, counts, strict=True)
    )


def _every_row(closure: Closure) -> tuple[int, ...]:
    return tuple(range(row_count(closure.kind)))


def pivots(matrices: Sequence[np.ndarray]) -> tuple[int, ...]:
    """Return rows, ascending, that are independent in all of some matrices; best conditioned in the worst one."""
    reduced = [np.array(m, dtype=float) for m in matrices]
    scale = max(np.abs(m).max(initial=0.0) for m in reduced)
    rows: list[int] = []
    while len(rows) < min(reduced[0].shape):
        lengths = np.min([np.linalg.norm(m, axis=1) for m in reduced], axis=0)
        # near ties go to the first row, so that symmetric choices do not hang on the last bit
        best = int(np.flatnonzero(lengths >= lengths.max() * (1 - 1e-6))[0])
        if lengths[best] <= RANK_TOLERANCE * scale:
            break
        rows.append(best)
        for m in reduced:
            unit = m[best] / np.linalg.norm(m[best])
            m -= np.outer(m @ unit, unit)
    return tuple(sorted(rows))


def _generic_configurations(
    limb: Limb, home: Pose, base_rotation: np.ndarray, mobility: Sequence[str], arm: np.ndarray
) -> list[tuple[list[JointState], Pose]]:
    random = np.random.default_rng(20240501)
    size = distance_of(home.position, limb)
    result = []
    for sample in range(SAMPLES):
        step = np.zeros(6)
        if sample:  # the first is the reference pose itself
            free = [TWIST.index(name) for name in mobility]
            step[free] = random.uniform(-_REACH, _REACH, len(free))
        moves = base_rotation.T @ step[:3], base_rotation.T @ step[3:] * size
        result.append(_placed_near(limb, home, moves, arm))
    return result


def _placed_near(
    limb: Limb, home: Pose, moves: tuple[np.ndarray, np.ndarray], arm: np.ndarray
) -> tuple[list[JointState], Pose]:
    """Return joint states and platform pose after a turn and a shift from home, or after a share of both.

    A share is taken if the limb does not reach the whole way. Raises TopologyError if it reaches no share.
    """

    def placed(share: float) -> tuple[list[JointState], Pose]:
        turn = _small_rotation(share * moves[0])
        target = Pose(turn @ home.rotation, home.position + share * moves[1] + (turn @ arm - arm))
        return _assembled(limb, target), target

    return _nearer(placed, NEAREST)


def _nearer(configuration: Callable[[float], Configuration], least: float = NEARER[-1]) -> Configuration:
    """Return the configuration at a share of the way from the reference pose: the largest that is within reach.

    Raises the TopologyError of the whole way if no share is within reach.
    """
    for share in NEARER:
        if share >= least:
            with contextlib.suppress(TopologyError):
                return configuration(share)
    return configuration(1.0)


def _small_rotation(vector: np.ndarray) -> np.ndarray:
    """Return the rotation (3, 3) about a vector (3,), with its length as the angle [rad]."""
    half = float(np.linalg.norm(vector)) / 2.0
    quaternion = np.array([np.cos(half), *(0.5 * np.sinc(half / np.pi) * vector)])
    return rotation_matrix(quaternion[:, None])[..., 0]


def _followed_near(limb: Limb, freedoms: Sequence[str], values: np.ndarray) -> list[JointState]:
    """Return joint states of a chain at values of its freedoms; nearer to the reference if these are out of reach."""
    return _nearer(lambda share: _followed(limb, freedoms, share * values))


def _thrown_near(limb: Limb, values: np.ndarray) -> list[JointState]:
    """Return joint states of a chain whose loops are closed from values of all joints, or from nearer ones."""
    home = [HOME] * len(limb.links)
    return _nearer(lambda share: _assembled(limb, None, stepped(limb, home, share * values)), NEAREST)


def _followed(limb: Limb, freedoms: Sequence[str], values: np.ndarray) -> list[JointState]:
    """Return a chain's joint states at values of its freedoms, followed from the reference in short steps.

    A platform has too many joints for random joint states: from distant states, the end of Gauss-Newton steps depends
    on rounding. Slides are in units of the size of the chain.
    """
    independent = [limb.index(name) for name in freedoms]
    size = max(np.abs(np.array(cut.frame_a.position, dtype=float)).max(initial=0.0) for cut in limb.loops)
    states = [HOME] * len(limb.links)
    for share in np.linspace(0.25, 1.0, 4):
        for k in independent:
            unit = 1.0 if limb.links[k].joint_kind.turns else min(1.0, size)
            states[k] = HOME.moved(limb.links[k], float(share * values[k] * unit))
        states = _assembled(limb, None, states, held=independent)
    return states


def _assembled(
    limb: Limb, target: Pose | None, start: Sequence[JointState] = (), held: Sequence[int] = ()
) -> list[JointState]:
    """Return joint states of a limb with its tip at the platform: Gauss-Newton on all rows, redundant ones too.

    Joints that are `held` stay where they are.
    """
    states = list(start) or [HOME] * len(limb.links)
    if not (limb.loops or limb.tips):
        return states
    ways = _coupled_ways(limb)
    for _ in range(50):
        residual, matrix = _all_rows(limb, states, target)
        if np.abs(residual).max() < 1e-13:
            break
        if held:
            matrix[:, list(held)] = 0.0
        step = np.linalg.lstsq(matrix if ways is None else matrix @ ways, -residual, rcond=1e-9)[0]
        states = stepped(limb, states, map(float, step if ways is None else ways @ step))
    if np.abs(residual).max() > 1e-9:
        raise TopologyError(
            f"limb {limb.name} does not close near its reference pose: residual {np.abs(residual).max():.2g}; "
            "check lengths, joint axes and mount frames"
        )
    return states


def _coupled_ways(limb: Limb) -> np.ndarray | None:
    """Return the rates of all joints per rate of joints that follow no other (joint, free); None without couplings."""
    if not limb.couplings:
        return None
    ways = np.eye(len(limb.links))
    for joint, leaders in limb.followers.items():
        ways[joint] = np.sum([float(ratio) * ways[leader] for leader, ratio in leaders], axis=0)
    return ways[:, np.abs(ways).max(axis=0) > 0.0]


def _all_rows(limb: Limb, states: Sequence[JointState], target: Pose | None) -> tuple[np.ndarray, np.ndarray]:
    at = poses(limb.links, states)
    residuals, matrices = [], []
    for closure in (*limb.loops, *limb.tips):
        opposite_body = target if closure.b == PLATFORM and target is not None else at[closure.b]
        joined = Joined.of(closure, at[closure.a], opposite_body, _every_row(closure))
        side_a, side_b = _sides(limb.links, closure.a, closure.b)
        residuals += joined.residual()
        matrices.append(loop_matrix(limb, at, joined, side_a, side_b))
    return np.array(residuals, dtype=float), np.vstack(matrices)


def _sides(links: Sequence[Link], a: int, b: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    return path(links, a), path(links, b) if b >= 0 else ()
