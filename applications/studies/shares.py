"""Shares of variance from the designs of any sweep, with their errors, by a polynomial that is fitted to these designs.

A metric is fitted by least squares with polynomials of one factor and products of those of two (polynomial chaos, here
orthonormal by the values that each factor has in the sample; of the rows of a table a constant each). The degrees are
those of the least error by generalised cross-validation; the held-out error is that of leaving out one design after the
other. With independent factors the variance of the polynomial is the sum of those of its terms (Sudret, Reliab. Eng.
Syst. Saf. 93, 2008), each reduced by the contribution of noise in its coefficients. Designs may make factors depend on
each other, as a condition does that cuts off a corner. Then a share is a coefficient of determination, adjusted for its
terms: alone by the terms of a factor, total the loss without them, and the Shapley effect the mean over all orders
in which factors become known (Owen, SIAM/ASA J. Uncertain. Quantif. 2, 2014), which adds up for dependent factors too.

Errors are those of a jackknife over groups of designs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import combinations

import numpy as np
from numpy.polynomial import legendre
from scipy.linalg import lapack

from applications.studies.columns import Array, Indices, refuse
from applications.studies.factors import even
from robots.arguments import check_arguments
from robots.data_classes import dataclass
from robots.labels import SAME_ROWS, other_rows

LEAST = 12
"""Designs with a value, at least."""
MOST = 8192
"""Largest number of fitted designs; of more designs, this number is drawn with a fixed seed."""
DEGREES = (1, 2, 3, 4, 6, 8, 10)
PAIR_DEGREES = (0, 2, 3, 4, 5, 6, 8)
"""Degrees of one factor, and sums of the degrees of two, that are tried."""
TERMS, ROOM = 200, 3
"""Largest number of terms, and smallest number of designs per term."""
GROUPS = 20
"""Groups of designs, one of which is left out at a time."""
ERRORS = 3.0
"""Half width of a bar in standard errors: with so few groups, two do not cover 95 % of the noise."""
DEPENDENT, NOISE = 0.15, 4.5
"""Correlation above which two factors are dependent, and the same in units of the noise of random designs."""
MOST_SHAPLEY = 8
"""Factors of which all orders are looked at."""
EXACT = 1e-14
"""Share of the variance that counts as rounding."""
RIDGE = 1e-10
"""Number that is added to the mean square of a column, so that columns that depend on each other have coefficients."""


@dataclass(frozen=True, eq=False)
class Explained:
    """Shares of variance from stored designs, by factor, with errors; NaN where the designs are too few to tell.

    `first` (factor,): alone. `total` (factor,): with all its products. `interaction` (factor, factor), symmetric: the
    share of two together beyond the shares of each alone; NaN for dependent factors. `shapley` (factor,): for dependent
    factors, else NaN. Each error is the half width of a bar; a share that is not above its error may be zero.
    `unexplained` is the held-out error, the share of variance that the polynomial does not foretell: it may belong to
    any factor.
    """

    names: tuple[str, ...]
    first: Array
    first_error: Array
    total: Array
    total_error: Array
    interaction: Array
    interaction_error: Array
    shapley: Array
    shapley_error: Array
    unexplained: float
    dependent: tuple[tuple[str, str], ...]
    samples: int

    @property
    def leading(self) -> tuple[Array, Array]:
        """The share (factor,) by which factors are ordered, and its error: alone, or Shapley effects if they depend."""
        if np.isfinite(self.shapley).any():
            return self.shapley, self.shapley_error
        return self.first, self.first_error

    def bounds(self, share: Array, error: Array) -> tuple[Array, Array]:
        """Return the least and greatest possible value of a share, 0 to 1; the unexplained part may belong to it."""
        low, high = share - error, share + error + self.unexplained
        return np.clip(low, 0.0, 1.0), np.clip(high, 0.0, 1.0)


@check_arguments
def from_samples(designs: Mapping[str, Array], values: Array, categories: Collection[str] = ()) -> Explained:
    """Compute the shares that factors and pairs explain in samples (n,) of each; samples with NaN are left out.

    categories: factors whose numbers are rows of a table, without order. Factors that say the same, such as a column
    and its copy, are one, by both their names. Raises InputError for too few samples.

        >>> x = np.random.default_rng(1).uniform(size=(2, 1000))
        >>> shares = ls.study.from_samples({"a": x[0], "b": x[1]}, x[0] + 0.1 * x[1])
        >>> shares.first.round(2)
        array([0.99, 0.01])
    """
    if differing := other_rows({**designs, "values": values}):
        raise refuse(differing, "several indexes", SAME_ROWS)
    for name, column in {**designs, "values": values}.items():
        if np.shape(column) != (np.size(values),):
            got = f"an array of shape {np.shape(column)}"
            raise refuse(name, got, f"{np.size(values)} numbers, as the values have")
    good = np.flatnonzero(np.isfinite(values))
    if len(good) < LEAST:
        raise refuse("designs", f"{len(good)} designs with a value", f"at least {LEAST}", "Sweep more designs.")
    if len(good) > MOST:
        good = np.sort(np.random.default_rng(0).permutation(good)[:MOST])
    y = np.asarray(values, dtype=float)[good]
    y = y - y.mean()  # sums of squares of a large mean would hide small differences
    columns = {name: np.asarray(column, dtype=float)[good] for name, column in designs.items()}
    merged = _merged(columns, categories)
    bases = [_basis(columns[group[0]], is_category=group[0] in categories) for group in merged]
    names = tuple(", ".join(group) for group in merged)
    usable = [k for k, basis in enumerate(bases) if basis is not None]
    if not np.ptp(y):
        return _spread(names, usable, _nothing(len(usable)), len(y), (), 0.0)
    if not usable:
        return _spread(names, usable, _nothing(0), len(y), (), 1.0)
    fit = _Fit.of([basis for basis in bases if basis is not None], y)
    dependent = tuple((names[usable[i]], names[usable[j]]) for i, j in fit.dependent)
    parts = fit.jackknife(_determined if dependent else _variances)
    return _spread(names, usable, parts, len(y), dependent, fit.unexplained)


Parts = dict[str, tuple[Array, Array]]


def _nothing(count: int) -> Parts:
    """Return the shares of a metric that is the same in all designs."""
    none, pairs = np.zeros(count), np.zeros((count, count))
    return {"first": (none, none), "total": (none, none), "interaction": (pairs, pairs)}


def _spread(
    names: tuple[str, ...],
    usable: Sequence[int],
    parts: Parts,
    samples: int,
    dependent: tuple[tuple[str, str], ...],
    unexplained: float,
) -> Explained:
    """Return the shares of the usable factors at the places of all factors, NaN elsewhere."""

    def placed(part: str, which: int, *, square: bool = False) -> Array:
        result = np.full((len(names),) * (2 if square else 1), np.nan)
        if part in parts:
            result[np.ix_(*[usable] * result.ndim)] = parts[part][which]
        return result

    vectors = {f"{part}{end}": placed(part, k) for part in ("first", "total", "shapley") for k, end in _ENDS}
    pairs = {f"interaction{end}": placed("interaction", k, square=True) for k, end in _ENDS}
    return Explained(names=names, **vectors, **pairs, unexplained=unexplained, dependent=dependent, samples=samples)


_ENDS = ((0, ""), (1, "_error"))


def _merged(columns: Mapping[str, Array], categories: Collection[str]) -> list[list[str]]:
    """Return the names of columns with the same information together: with values in equal or reversed order."""
    groups: dict[bytes, list[str]] = {}
    for name, column in columns.items():
        place = np.unique(column, return_inverse=True)[1].ravel()
        if name in categories:  # numbers of rows of a table have no meaning: they are numbered in order of appearance
            _, first, number = np.unique(place, return_index=True, return_inverse=True)
            place = np.argsort(np.argsort(first))[number.ravel()]
        elif place[0] > place.max() - place[0]:
            place = place.max() - place
        groups.setdefault(place.astype(np.int64).tobytes(), []).append(name)
    return list(groups.values())


@dataclass(frozen=True, eq=False)
class _Basis:
    """Functions of a factor (design, function), orthonormal over the designs, without the constant; their degrees."""

    values: Array
    degrees: Indices


def _basis(x: Array, *, is_category: bool) -> _Basis | None:
    """Return the functions of a factor; None of one with too many rows of a table for so few designs."""
    levels, place = np.unique(x, return_inverse=True)
    count = len(levels) - 1
    if is_category and count > 1:
        if count > len(x) // (ROOM + 1):
            return None
        raw = np.eye(len(levels))[place.ravel()][:, :-1]
        degrees = np.ones(count, dtype=np.intp)
    else:
        most = min(count, DEGREES[-1], max(1, len(x) // ROOM))
        raw = np.asarray(legendre.legvander(even(x), most)[:, 1:], dtype=float)
        degrees = np.arange(1, most + 1)
    whole = np.concatenate([np.ones((len(x), 1)), raw], axis=1)
    q, r = np.linalg.qr(whole)
    sure = np.abs(np.diagonal(r))[1:] > 1e-9 * math.sqrt(len(x))
    return _Basis(q[:, 1:][:, sure] * math.sqrt(len(x)), degrees[sure])


@dataclass(frozen=True)
class _Term:
    """Columns of a polynomial that depend on the same factors, one or two, and their functions of each."""

    factors: tuple[int, ...]
    columns: Indices
    functions: tuple[Indices, ...]


@dataclass(frozen=True, eq=False)
class _Moments:
    """Sums over designs: of products of columns (column, column), with the metric (column,), of its square; designs."""

    gram: Array
    with_metric: Array
    square: float
    count: int

    @classmethod
    def of(cls, columns: Array, y: Array) -> _Moments:
        """Return the sums over the designs of columns (design, column), the first of which is 1."""
        return cls(columns.T @ columns, columns.T @ y, float(y @ y), len(y))

    def less(self, part: _Moments) -> _Moments:
        """Return the sums without those of a part of the designs."""
        gram, with_metric = self.gram - part.gram, self.with_metric - part.with_metric
        return _Moments(gram, with_metric, self.square - part.square, self.count - part.count)

    def regular(self, columns: Indices) -> Array:
        """Return the products of some columns, with so much at the diagonal that they have an inverse."""
        return np.asarray(self.gram[np.ix_(columns, columns)] + RIDGE * self.count * np.eye(len(columns)))

    def solved(self, columns: Indices) -> tuple[Array, float]:
        """Return the coefficients of some columns (column,), and the remaining sum of squares."""
        products, right = self.regular(columns), self.with_metric[columns]
        _, coefficients, failed = lapack.dposv(products, right, lower=1)
        if failed:  # columns that rounding makes dependent
            coefficients = np.linalg.solve(products, right)
        return np.asarray(coefficients, dtype=float), self._left(coefficients, right)

    def inverted(self) -> tuple[Array, Array, float]:
        """Return the inverse of the products of all columns, and the two of `solved`, by one factor."""
        products, right = self.regular(np.arange(len(self.gram))), self.with_metric
        factor, coefficients, failed = lapack.dposv(products, right, lower=1)
        if failed:
            inverse = np.linalg.inv(products)
            coefficients = inverse @ right
        else:
            lower = np.tril(lapack.dpotri(factor, lower=1)[0])
            inverse = lower + np.tril(lower, -1).T
        return np.asarray(inverse, np.float64), np.asarray(coefficients, np.float64), self._left(coefficients, right)

    def _left(self, coefficients: Array, right: Array) -> float:
        return max(self.square - float(coefficients @ right), 0.0)


@dataclass(frozen=True, eq=False)
class _Fit:
    """A polynomial: its terms, the columns of all designs (design, column), the metric."""

    terms: tuple[_Term, ...]
    columns: Array
    y: Array
    count: int
    """Number of factors."""

    @classmethod
    def of(cls, bases: Sequence[_Basis], y: Array) -> _Fit:
        """Return the polynomial of the degrees with the least error, by generalised cross-validation."""
        most = max(1 + sum(int((b.degrees == 1).sum()) for b in bases), min(TERMS, len(y) // ROOM))
        plans = [(d, q) for d in DEGREES for q in PAIR_DEGREES if _size(bases, d, q) <= most] or [(1, 0)]
        if _size(bases, *plans[0]) > len(y) // 2:
            got = f"{len(y)} designs with a value for {len(bases)} factors"
            raise refuse("designs", got, f"at least {2 * _size(bases, *plans[0])}", "Sweep more designs.")
        keys, columns = _columns(bases, max(d for d, _ in plans), max(q for _, q in plans))
        moments, best = _Moments.of(columns, y), plans[0]
        for side in (0, 1, 0):  # the degree of one factor, of two, and of one again
            line = [plan for plan in plans if plan[1 - side] == best[1 - side]]
            best = min(line, key=lambda plan: _spared(moments, _places(bases, keys, *plan)))
        selected = _places(bases, keys, *best)
        return cls(tuple(_terms([keys[k] for k in selected])), columns[:, selected], y, len(bases))

    @cached_property
    def moments(self) -> _Moments:
        """Sums over all designs."""
        return _Moments.of(self.columns, self.y)

    @cached_property
    def unexplained(self) -> float:
        """Share of the variance that the polynomial does not predict at designs that are left out one by one."""
        inverse, coefficients, _ = self.moments.inverted()
        leverage = ((self.columns @ inverse) * self.columns).sum(axis=1)
        missed = (self.y - self.columns @ coefficients) / np.maximum(1.0 - leverage, 1e-9)
        mean = len(self.y) / (len(self.y) - 1.0) * self.y  # of each design by the mean of the others
        return float(np.clip((missed @ missed) / (mean @ mean), 0.0, 1.0))

    @property
    def dependent(self) -> Iterator[tuple[int, int]]:
        """Pairs of factors that depend on each other in the designs, by functions of low degree."""
        alone = {term.factors[0]: term.columns[:2] for term in self.terms if len(term.factors) == 1}
        least = max(DEPENDENT, NOISE / math.sqrt(len(self.y)))
        for i, j in combinations(alone, 2):
            if np.abs(self.moments.gram[np.ix_(alone[i], alone[j])]).max() > least * len(self.y):
                yield i, j

    def jackknife(self, shares: Callable[[_Fit, _Moments], dict[str, Array]]) -> Parts:
        """Return shares of all designs and their errors, from designs without one group after another."""
        group = np.random.default_rng(0).permutation(len(self.y)) % min(GROUPS, len(self.y) // 2)
        whole = shares(self, self.moments)
        parts = [
            shares(self, self.moments.less(_Moments.of(self.columns[group == k], self.y[group == k])))
            for k in range(group.max() + 1)
        ]
        aliased = self.unexplained * self.columns.shape[1] / len(self.y)  # fitted by chance
        result = {}
        for name, share in whole.items():
            replicates = np.stack([part[name] for part in parts])
            spread = (len(parts) - 1.0) / len(parts) * ((replicates - replicates.mean(axis=0)) ** 2).sum(axis=0)
            result[name] = share, ERRORS * np.sqrt(spread) + aliased
        return result


Key = tuple[tuple[int, int], ...]
"""A column: pairs of a factor and the number of its function; none for the constant."""


def _size(bases: Sequence[_Basis], degree: int, pair_degree: int) -> int:
    return 1 + sum(1 for _ in _keys(bases, degree, pair_degree))


def _keys(bases: Sequence[_Basis], degree: int, pair_degree: int) -> Iterator[Key]:
    """Give the columns of a polynomial without the constant."""
    for i, basis in enumerate(bases):
        for a in np.flatnonzero(basis.degrees <= degree):
            yield ((i, int(a)),)
    for (i, first), (j, second) in combinations(enumerate(bases), 2):
        low = np.maximum(first.degrees[:, None], second.degrees) <= degree
        for a, b in np.argwhere(low & (first.degrees[:, None] + second.degrees <= pair_degree)):
            yield (i, int(a)), (j, int(b))


def _columns(bases: Sequence[_Basis], degree: int, pair_degree: int) -> tuple[list[Key], Array]:
    keys: list[Key] = [(), *_keys(bases, degree, pair_degree)]
    columns = np.ones((len(bases[0].values), len(keys)))
    for k, key in enumerate(keys):
        for factor, function in key:
            columns[:, k] *= bases[factor].values[:, function]
    return keys, columns


def _places(bases: Sequence[_Basis], keys: Sequence[Key], degree: int, pair_degree: int) -> Indices:
    """Return the places of the columns of lower degrees."""
    wanted = {(), *_keys(bases, degree, pair_degree)}
    return np.array([k for k, key in enumerate(keys) if key in wanted], dtype=np.intp)


def _spared(moments: _Moments, columns: Indices) -> float:
    """Return the error of some columns by generalised cross-validation."""
    remainder = max(moments.solved(columns)[1], EXACT * moments.square)
    return remainder / (moments.count - len(columns)) ** 2


def _terms(keys: Sequence[Key]) -> Iterator[_Term]:
    by_factors: dict[tuple[int, ...], list[int]] = {}
    for k, key in enumerate(keys):
        if key:
            by_factors.setdefault(tuple(factor for factor, _ in key), []).append(k)
    for factors, places in by_factors.items():
        functions = tuple(np.array([keys[k][side][1] for k in places]) for side in range(len(factors)))
        yield _Term(factors, np.array(places, dtype=np.intp), functions)


def _variances(fit: _Fit, moments: _Moments) -> dict[str, Array]:
    """Return the shares of independent factors: the variance of each term over that of all terms and the remainder."""
    inverse, coefficients, remainder = moments.inverted()
    noise = remainder / max(moments.count - len(coefficients), 1)
    spread = noise * inverse
    covariance = {term.factors[0]: _centred(moments, term.columns) for term in fit.terms if len(term.factors) == 1}
    shares = np.zeros((fit.count, fit.count))
    for term in fit.terms:
        i, j = term.factors[0], term.factors[-1]
        moment = covariance[i][np.ix_(term.functions[0], term.functions[0])]
        if i != j:
            moment = moment * covariance[j][np.ix_(term.functions[1], term.functions[1])]
        of_term = np.ix_(term.columns, term.columns)
        part = coefficients[term.columns] @ moment @ coefficients[term.columns] - float(
            (moment * spread[of_term]).sum()
        )
        shares[i, j] = shares[j, i] = part
    first = np.diagonal(shares).copy()
    total = noise + float(np.tril(shares).sum())
    shares, first = shares / total, first / total
    return {"first": first, "total": shares.sum(axis=1), "interaction": shares - np.diag(first)}


def _centred(moments: _Moments, columns: Indices) -> Array:
    """Return the covariance of the functions of a factor over the designs."""
    mean = moments.gram[0, columns] / moments.count
    return np.asarray(moments.gram[np.ix_(columns, columns)] / moments.count - np.outer(mean, mean))


def _determined(fit: _Fit, moments: _Moments) -> dict[str, Array]:
    """Return the shares of dependent factors, by adjusted coefficients of determination of sets of them."""
    every = frozenset(range(fit.count))

    def determined(factors: frozenset[int]) -> float:
        inside = [term.columns for term in fit.terms if {*term.factors} <= factors]
        columns = np.concatenate([np.zeros(1, dtype=np.intp), *inside])
        remainder = moments.solved(columns)[1] / max(moments.count - len(columns), 1)
        mean = moments.with_metric[0] ** 2 / moments.count
        return 1.0 - remainder * (moments.count - 1) / (moments.square - mean)

    shares_of = {frozenset((i,)): determined(frozenset((i,))) for i in every}
    shares_of |= {every - {i}: determined(every - {i}) for i in every} | {every: determined(every)}
    first = np.array([shares_of[frozenset((i,))] for i in range(fit.count)])
    result = {"first": first, "total": np.array([shares_of[every] - shares_of[every - {i}] for i in range(fit.count)])}
    if fit.count > MOST_SHAPLEY:
        return result
    sets = [frozenset(part) for size in range(fit.count + 1) for part in combinations(range(fit.count), size)]
    values = {part: shares_of[part] if part in shares_of else determined(part) if part else 0.0 for part in sets}
    orders = math.factorial(fit.count)
    weights = [math.factorial(s) * math.factorial(fit.count - s - 1) / orders for s in range(fit.count)]
    shapley = [
        sum(weights[len(part)] * (values[part | {i}] - values[part]) for part in sets if i not in part)
        for i in range(fit.count)
    ]
    return {**result, "shapley": np.array(shapley)}
