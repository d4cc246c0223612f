"""Stiffness of a parallel robot by finite elements: beams of twelve displacements, joints as constraints.

The displacement method with Lagrange multipliers, from the description of the robot as plain numbers: nothing of the
force method that it checks. Source: Przemieniecki, Theory of Matrix Structural Analysis, section 5.6, for the element.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

Array = Any
BASE, PLATFORM = -1, -2


class Section(NamedTuple):
    """EA [N], GJ, and EI for deflection along `across` and at right angles to it [N m^2]; of a round one alike."""

    axial: float
    torsion: float
    bending: tuple[float, float]
    across: tuple[float, float, float] | None = None


def beam_matrix(section: Section, length: float) -> Array:
    """Stiffness (12, 12) of a beam along x over (shift, turn) of both ends; EI_1 is for deflection along y."""
    k = np.zeros((12, 12))
    for i, stiff in ((0, section.axial), (3, section.torsion)):
        k[np.ix_([i, i + 6], [i, i + 6])] = stiff / length * np.array([[1, -1], [-1, 1]])
    for bending, shift, turn, sign in ((section.bending[0], 1, 5, 1), (section.bending[1], 2, 4, -1)):
        places, n = [shift, turn, shift + 6, turn + 6], length
        unit = np.array([[12, 6 * n, -12, 6 * n], [6 * n, 4 * n * n, -6 * n, 2 * n * n]])
        unit = np.vstack([unit, -unit[0], [6 * n, 2 * n * n, -6 * n, 4 * n * n]])
        flip = np.array([1, sign, 1, sign])
        k[np.ix_(places, places)] += bending / n**3 * unit * np.outer(flip, flip)
    return k


class Frame:
    """Nodes with (shift, turn), beams and springs between them, and constraints, which grow as parts are added."""

    def __init__(self) -> None:
        self.points: list[Array] = []
        self.beams: list[tuple[int, int, Section, Array]] = []
        self.springs: list[tuple[int, int, Array, float]] = []
        self.conditions: list[dict[int, Array]] = []

    def node(self, point: Array) -> int:
        self.points.append(np.asarray(point, float))
        return len(self.points) - 1

    def join(self, a: int, b: int, free: Sequence[Array]) -> None:
        """Equal shifts and turns of two nodes, but for screws (shift, turn) in `free`."""
        basis = np.eye(6)
        if free:
            q = np.linalg.svd(np.array(free), full_matrices=True)[2]
            basis = q[len(free) :]
        self.conditions += [{a: row, b: -row} for row in basis]

    def rigid(self, a: int, b: int) -> None:
        """Node b moves as a part of the rigid body of node a."""
        r = self.points[b] - self.points[a]
        swing = np.array([[0, r[2], -r[1]], [-r[2], 0, r[0]], [r[1], -r[0], 0]])  # turn x r
        for i in range(3):
            row = np.concatenate([np.eye(3)[i], swing[i]])
            self.conditions.append({a: row, b: -np.eye(6)[i]})
            self.conditions.append({a: np.eye(6)[3 + i], b: -np.eye(6)[3 + i]})

    def fix(self, a: int) -> None:
        self.conditions += [{a: row} for row in np.eye(6)]

    def compliance(self, loaded: int) -> Array:
        """(shift, turn) by (force, moment) at a node (6, 6)."""
        size = 6 * len(self.points)
        k = np.zeros((size, size))
        for a, b, section, across in self.beams:
            d = self.points[b] - self.points[a]
            length = np.linalg.norm(d)
            x = d / length
            y = across - x * (across @ x)
            y /= np.linalg.norm(y)
            turn = np.kron(np.eye(4), np.array([x, y, np.cross(x, y)]))
            places = [*range(6 * a, 6 * a + 6), *range(6 * b, 6 * b + 6)]
            k[np.ix_(places, places)] += turn.T @ beam_matrix(section, float(length)) @ turn
        for a, b, row, stiff in self.springs:
            full = np.zeros(size)
            full[6 * a : 6 * a + 6], full[6 * b : 6 * b + 6] = -row, row
            k += stiff * np.outer(full, full)
        rows = np.zeros((len(self.conditions), size))
        for i, condition in enumerate(self.conditions):
            for node, row in condition.items():
                rows[i, 6 * node : 6 * node + 6] = row
        # motions that keep all conditions; what is loose and not loaded gets none
        _, values, v = np.linalg.svd(rows)
        free = v[int((values > 1e-10).sum()) :].T
        loads = free[6 * loaded : 6 * loaded + 6].T
        reduced = free.T @ k @ free
        scale = 1.0 / np.sqrt(np.maximum(np.diag(reduced), 1e-12 * np.diag(reduced).max()))
        inverse = np.linalg.pinv(reduced * np.outer(scale, scale), rcond=1e-12, hermitian=True)
        return loads.T @ (inverse * np.outer(scale, scale)) @ loads


def compliance(
    robot: Any,
    bodies: Any,
    arms: Mapping[int, Sequence[Any]],
    sections: Mapping[str, Section],
    springs: float,
) -> Array:
    """Compliance (6, 6) of (turn, shift) by (moment, force) of a robot's platform, world axes.

    bodies: `body_motion` of the pose, for poses of links and platform; arms of each limb; sections by body; the
    stiffness of every actuator, which turn or slide joints of the tree.
    """
    mechanism, frame = robot.mechanism, Frame()
    centre = frame.node(bodies.platform.position)
    for k, instance in enumerate(mechanism.instances):
        limb, links = mechanism.limbs[instance.limb], bodies.limbs[k]
        tree = len(limb.links)
        cuts = (*limb.tips, *limb.loops)

        def point(joint: int, links: Any = links, cuts: Any = cuts, tree: int = tree) -> Array:
            if joint < tree:
                return links[joint].position
            cut = cuts[joint - tree]
            return links[cut.a].point(cut.frame_a.position)

        nodes: dict[tuple[int, int], int] = {}

        def at(body: int, joint: int, nodes: Any = nodes, point: Any = point) -> int:
            if (body, joint) not in nodes:
                nodes[body, joint] = frame.node(point(joint))
            return nodes[body, joint]

        for arm in arms[instance.limb]:
            a, b = at(arm.link, arm.hub), at(arm.link, arm.end)
            body = limb.links[arm.link].body
            length = np.linalg.norm(frame.points[a] - frame.points[b])
            if body in sections and length > 0:
                section = sections[body]
                across = section.across or np.eye(3)[int(np.argmin(np.abs(frame.points[a] - frame.points[b])))]
                turned = links[arm.link].turned(across) if section.across else np.asarray(across)
                frame.beams.append((a, b, section, turned))
            else:
                frame.rigid(a, b)
        for i, link in enumerate(limb.links):
            inner, outer = at(link.parent, i), at(i, i)
            if link.parent == BASE:
                frame.fix(inner)
            axis, zero = links[i].turned(link.axis), np.zeros(3)
            screw = np.concatenate([axis, zero] if link.kind == "prismatic" else [zero, axis])
            frame.join(inner, outer, [screw])
            if link.joint in limb.actuated:
                frame.springs.append((inner, outer, screw, springs))
        for i, cut in enumerate(cuts, start=tree):
            a, b = at(cut.a, i), at(cut.b, i)
            if cut.b == PLATFORM:
                frame.rigid(centre, b)
            axes_a = links[cut.a].rotation @ np.array(cut.frame_a.rotation, float)
            if cut.kind == "revolute":
                turns = [axes_a[:, 2]]
            elif cut.kind == "spherical":
                turns = list(axes_a.T)
            else:
                assert cut.kind == "universal"
                side = bodies.platform.rotation @ np.array(instance.platform.rotation, float)
                other = side if cut.b == PLATFORM else links[cut.b].rotation
                turns = [axes_a[:, 0], (other @ np.array(cut.frame_b.rotation, float))[:, 1]]
            frame.join(a, b, [np.concatenate([np.zeros(3), axis]) for axis in turns])
    swap = [3, 4, 5, 0, 1, 2]
    return frame.compliance(centre)[np.ix_(swap, swap)]
