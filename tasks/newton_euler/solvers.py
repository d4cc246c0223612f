"""Solving the Newton-Euler system of a robot: by sparse factorisation, by GMRES, or for the least norm.

What cannot be solved is NaN. Figures are for the 150 equations of the hexapod, whose condition number is about 150 with
moments about the bodies' own origins.
"""

from __future__ import annotations

from typing import Any, Literal, Protocol, get_args

import numpy as np
import scipy.linalg
import scipy.sparse.linalg

Method = Literal["direct", "gmres", "least_norm"]

TOLERANCE = 1e-13
"""Residual at which GMRES stops, relative to the right-hand side."""

DROP = 1e-4
"""Numbers that the incomplete factorisation leaves out, relative to the largest of their column."""

RANK = 1e-10
"""Pivots up to this share of the largest count as zero."""

BALANCED = 1e-8
"""Imbalance, relative to the right-hand side, up to which a least-norm solution counts as one."""

MOVES = 1e-9
"""Change of an actuator force per unit of inner force above which the drives are redundant."""


class Equations(Protocol):
    """What a solver needs to know; see `tasks.newton_euler.system.System`."""

    @property
    def matrix(self) -> Any:
        """Sparse matrix of the equations."""

    @property
    def right(self) -> np.ndarray:
        """Their right-hand side."""

    @property
    def carried(self) -> Any:
        """Sparse map from the unknowns to the wrenches of all joints."""

    @property
    def carried_fixed(self) -> np.ndarray:
        """The part of those wrenches that is known."""

    @property
    def drives(self) -> Any:
        """Sparse map from the unknowns to the actuator forces."""

    @property
    def drives_fixed(self) -> np.ndarray:
        """The part of those forces that is known."""


def solve(system: Equations, method: Method) -> tuple[np.ndarray, int]:
    """The unknowns and the number of iterations. Raises ValueError for a method that does not fit the system."""
    if method not in get_args(Method):
        raise ValueError(f"method: got {method!r}; expected one of {', '.join(get_args(Method))}")
    if method == "least_norm":
        return least_norm(system), 0
    rows, columns = system.matrix.shape
    if rows != columns:
        raise ValueError(
            f"method: got {method!r} for {rows} equations with {columns} unknowns; expected as many of one as of the "
            "other; take 'least_norm' for a robot that is overconstrained or has more drives than it needs"
        )
    return (direct(system), 0) if method == "direct" else gmres(system)


def direct(system: Equations) -> np.ndarray:
    """The unknowns by sparse LU factorisation with pivoting."""
    try:
        factors = scipy.sparse.linalg.splu(system.matrix.tocsc())
    except RuntimeError:  # exactly singular
        return np.full(len(system.right), np.nan)
    return np.asarray(factors.solve(system.right))


def gmres(system: Equations) -> tuple[np.ndarray, int]:
    """The unknowns by GMRES to a relative residual of 1e-13, preconditioned by an incomplete LU factorisation.

    With it 3 or 4 iterations do. Without, the spectrum gives GMRES no hold: it takes 145 iterations, nearly as many as
    there are unknowns, and some 200 times as long; scaling rows and columns does not help.
    """
    matrix, iterations = system.matrix.tocsc(), 0

    def count(_: float) -> None:
        nonlocal iterations
        iterations += 1

    try:
        factors = scipy.sparse.linalg.spilu(matrix, drop_tol=DROP)
    except RuntimeError:  # exactly singular
        return np.full(len(system.right), np.nan), 0
    x, failed = scipy.sparse.linalg.gmres(
        matrix,
        system.right,
        rtol=TOLERANCE,
        atol=0.0,
        restart=len(system.right),
        maxiter=2,
        M=scipy.sparse.linalg.LinearOperator(matrix.shape, factors.solve),
        callback=count,
        callback_type="pr_norm",
    )
    return (np.full_like(x, np.nan) if failed else x), iterations


def least_norm(system: Equations) -> np.ndarray:
    """The unknowns for which the wrenches of all joints, N and N m weighed alike, have the least sum of squares.

    Where drives are redundant, the least sum of squares of the actuator forces goes first, so that they are those of
    `tasks.inverse_dynamics`. Every joint of the model counts, those of a composite joint one by one.
    """
    q, r = np.linalg.qr(system.carried.toarray())
    known = q.T @ system.carried_fixed
    matrix = scipy.linalg.solve_triangular(r, system.matrix.toarray().T, trans="T").T
    goal = system.right + matrix @ known
    rows, triangle, seen, unseen = _row_space(matrix)
    wrench = seen @ scipy.linalg.solve_triangular(triangle, goal[rows], trans="T")
    if np.abs(matrix @ wrench - goal).max() > BALANCED * np.abs(goal).max():
        return np.full(len(wrench), np.nan)
    x, idle = (scipy.linalg.solve_triangular(r, each) for each in (wrench - known, unseen))
    return np.asarray(x + idle @ _inner(system.drives @ idle, system.drives @ x + system.drives_fixed))


def _inner(moved: np.ndarray, force: np.ndarray) -> np.ndarray:
    """The shortest inner forces that make the actuator forces `force` + moved @ inner as small as they can be."""
    u, s, vt = np.linalg.svd(moved, full_matrices=False)
    few = s > MOVES
    return np.asarray(-vt[few].T @ ((u[:, few].T @ force) / s[few]))


def null_space(matrix: Any) -> np.ndarray:
    """Orthonormal columns that the equations do not see: inner forces of an overconstrained robot."""
    return _row_space(matrix.toarray())[3]


def _row_space(matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Independent rows of a matrix, the triangle R and orthonormal Q with matrix[rows]' = Q R, and what Q leaves."""
    q, r, order = scipy.linalg.qr(matrix.T, pivoting=True)
    pivots = np.abs(np.diag(r))
    rank = int((pivots > RANK * pivots[0]).sum())
    return order[:rank], r[:rank, :rank], q[:, :rank], q[:, rank:]
