"""The other working mode of a limb: another solution of its joints for one pose of the platform.

It is the nearest whose det L_t, the determinant of the tips over the joints that loops leave free, has another sign,
while that of the loops has the same. Solutions are found from random guesses, always the same ones.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.linalg import qr

from robots.formats.assembly import Setting, close, conditions
from robots.formats.modes.asked import CLOSED, BranchError
from robots.model import Frame

TRIES = 60
"""Guesses from which other solutions are looked for."""
ENOUGH = 3
"""Solutions of which the nearest is taken."""
REGULAR = 1e-6
"""Determinants relative to that of the usual mode, above which they have a sign."""


@dataclass(frozen=True)
class LimbSigns:
    """Determinants of a limb at a configuration: of its loops, and of the tips over what these leave free.

    Rows and columns are those that are best conditioned where the limb is usual.
    """

    setting: Setting
    usual: np.ndarray

    @cached_property
    def _tips(self) -> int:
        at = self.setting.poses(self.usual)
        return sum(len(list(conditions(cut, at))) for cut in self.setting.limb.tips)

    def _parts(self, values: np.ndarray, home: Frame | None = None) -> tuple[np.ndarray, np.ndarray]:
        slopes = replace(self.setting, home=home or self.setting.home).slopes(values)
        return slopes[self._tips :], slopes[: self._tips]

    @cached_property
    def _choice(self) -> tuple[list[int], list[int], list[int], list[int]]:
        """Rows and dependent columns of the loops, free columns, rows of the tips."""
        loops, tips = self._parts(self.usual)
        rows, columns = regular_part(loops)
        free = [k for k in range(len(self.usual)) if k not in columns]
        return rows, columns, free, regular_part(self._free(loops, tips, rows, columns, free))[0]

    @staticmethod
    def _free(loops: np.ndarray, tips: np.ndarray, rows: list[int], columns: list[int], free: list[int]) -> np.ndarray:
        if not rows:
            return tips[:, free]
        answer: np.ndarray = np.linalg.solve(loops[np.ix_(rows, columns)], loops[np.ix_(rows, free)])
        return tips[:, free] - tips[:, columns] @ answer

    def at(self, values: np.ndarray, home: Frame | None = None) -> tuple[float, float]:
        """Both determinants, NaN where the loops have none; `home` is where the platform is instead."""
        rows, columns, free, kept = self._choice
        loops, tips = self._parts(values, home)
        closed = float(np.linalg.det(loops[np.ix_(rows, columns)]))
        if abs(closed) < 1e-15:
            return 0.0, np.nan
        matrix = self._free(loops, tips, rows, columns, free)[kept]
        return closed, float(np.linalg.det(matrix)) if len(kept) == len(free) else np.nan


def regular_part(matrix: np.ndarray) -> tuple[list[int], list[int]]:
    """Rows and columns of a square part of a matrix that has its rank."""
    if not matrix.size:
        return [], []
    _, triangle, order = qr(matrix, pivoting=True, mode="economic")
    sizes = np.abs(np.diag(triangle))
    columns = sorted(int(k) for k in order[: int((sizes > 1e-8 * sizes[0]).sum())])
    _, _, order = qr(matrix[:, columns].T, pivoting=True, mode="economic")
    return sorted(int(k) for k in order[: len(columns)]), columns


def other_solution(setting: Setting, usual: np.ndarray, name: str) -> np.ndarray:
    """The nearest positions of the joints at the same pose whose det L_t has another sign. Raises BranchError."""
    signs, random = LimbSigns(setting, usual), np.random.default_rng(20240501)
    solutions: list[tuple[float, np.ndarray]] = []
    loops, tips = signs.at(usual)
    turning = np.array([link.joint_kind.turns for link in setting.limb.links])
    size = max(float(np.linalg.norm(position)) for _, position in setting.poses(usual).values()) or 1.0
    for _ in range(TRIES):
        spread = np.where(turning, np.pi, size)
        there, left = close(setting, usual + random.uniform(-1.0, 1.0, len(usual)) * spread)
        if left > CLOSED or not setting.facing(there):
            continue
        there = np.where(turning, usual + (there - usual + np.pi) % (2.0 * np.pi) - np.pi, there)
        now = signs.at(there)
        if now[0] * loops >= 0.0 and now[1] * tips < -REGULAR * tips * tips:
            way = float(np.linalg.norm((there - usual) / np.where(turning, 1.0, size)))
            solutions.append((round(way, 6), there))
            if len(solutions) == ENOUGH:
                break
    if not solutions:
        got = f"a limb without another solution at the reference pose of the platform, in {TRIES} tries"
        raise BranchError(
            ("working", name), got, "a limb that has one", "Say roughly where its joints are, under joints."
        )
    return min(solutions, key=lambda entry: (entry[0], tuple(np.round(entry[1], 6))))[1]
