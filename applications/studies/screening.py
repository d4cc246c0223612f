"""Screening of parameters: elementary effects after Morris, means of squared derivatives, one-at-a-time curves.

Elementary effects (Morris, Technometrics 33, 1991; the mean of sizes by Campolongo et al., Environ. Modell. Softw. 22,
2007) take one step along each parameter from many places, and cost a tenth of variance-based indices. Means of squared
derivatives (Sobol and Kucherenko, Math. Comput. Simul. 79, 2009) bound the total index of each parameter from above,
and are exact here as derivatives are.

One-at-a-time curves move one parameter after another over its range, the others at a base design. They show no
interactions; `sensitivity` does. They are computed by the kernels of a run in this process, or read from the designs
of a store that differ from a base in one parameter alone, as those of a grid or of `designs` do.

Tolerances act on a metric f through its derivatives by the deviations of a sweep's `tolerances`. With independent
deviations of standard deviation s_i the variance of f is, to first order, the sum of (df/dp_i s_i)^2. Samples of the
deviations show the higher orders: objectives `over tolerances` take them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping

import numpy as np
import xarray as xr
from scipy import stats

from applications.studies.boxes import check_box, values_at
from applications.studies.columns import Array, Objective, objective, refuse, value_of
from applications.studies.optimisation import value_with_rates
from applications.studies.problem import DesignProblem
from applications.studies.space import DesignSpace
from applications.studies.uncertainty import MetricUncertainty
from pipeline.documents.report import sentence
from pipeline.sweep.model import Sweep
from robots.arguments import check_arguments
from robots.data_classes import dataclass
from robots.parameter_errors import nearest
from robots.parameters import DEVIATION

LEVELS = 4
"""Levels of each parameter; a step goes over half of them, so that all are met equally often."""


@dataclass(frozen=True)
class ElementaryEffects:
    """Effects of parameters (parameter,) per whole range: their mean, the mean of their sizes, their deviation.

    A deviation that is large beside the mean size says that the parameter interacts with others, or acts nonlinearly.
    """

    names: tuple[str, ...]
    mean: Array
    mean_size: Array
    deviation: Array


@dataclass(frozen=True)
class DerivativeMeasures:
    """Means of squared derivatives by parameters (parameter,), and `bound`, an upper bound of the total indices.

    Both are in units of whole ranges, so parameters compare; `samples` is how many designs had a derivative.
    """

    names: tuple[str, ...]
    mean_square: Array
    bound: Array
    samples: int


@check_arguments
def morris_designs(bounds: Mapping[str, tuple[float, float]], trajectories: int, seed: int) -> Array:
    """Return designs (trajectories (parameters + 1), parameter): random start, then one step per parameter in turn.

    >>> ls.study.morris_designs({"upper_arm": (0.2, 0.3), "base_radius": (0.12, 0.18)}, 4, seed=1).shape
    (12, 2)
    """
    if trajectories < 2:
        raise refuse("trajectories", str(trajectories), "at least 2", "10 to 50 are common.")
    check_box(bounds, trajectories * (len(bounds) + 1))
    generator, count = np.random.default_rng(seed), len(bounds)
    step = LEVELS / (2.0 * (LEVELS - 1))
    low, high = (np.array([pair[side] for pair in bounds.values()]) for side in (0, 1))
    parts = []
    for _ in range(trajectories):
        start = generator.integers(0, LEVELS // 2, count) / (LEVELS - 1)
        up = generator.random(count) < 0.5
        place = np.where(up, start, start + step)
        rows = [place]
        for k in generator.permutation(count):
            place = place.copy()
            place[k] += step if up[k] else -step
            rows.append(place)
        parts.append(np.array(rows))
    return np.asarray(low + (high - low) * np.concatenate(parts))


@check_arguments
def morris(
    function: Callable[[Array], Array], bounds: Mapping[str, tuple[float, float]], trajectories: int, seed: int
) -> ElementaryEffects:
    """Compute elementary effects of a function of designs (designs, parameters) -> (designs,) over the box of `bounds`.

    Raises InputError where the function is NaN somewhere.

        >>> effects = ls.study.morris(lambda x: x[:, 0] + 2 * x[:, 1], {"a": (0, 1), "b": (0, 1)}, 10, seed=1)
        >>> effects.mean_size.round(9)
        array([1., 2.])
    """
    designs = morris_designs(bounds, trajectories, seed)
    values = values_at(function, designs)
    if bad := int(np.count_nonzero(~np.isfinite(values))):
        raise refuse("values", f"{bad} of {len(values)} designs without a value", "a value for every design",
                     "Make the box smaller.")  # fmt: skip
    span = np.array([high - low for low, high in bounds.values()])
    places = (designs / span).reshape(trajectories, len(span) + 1, len(span))
    steps, rises = np.diff(places, axis=1), np.diff(values.reshape(trajectories, -1), axis=1)
    along = np.abs(steps).argmax(axis=2)
    effects = np.empty((trajectories, len(span)))
    size = np.take_along_axis(steps, along[..., None], axis=2)[..., 0]
    np.put_along_axis(effects, along, rises / size, axis=1)
    return ElementaryEffects(
        tuple(bounds), effects.mean(axis=0), np.abs(effects).mean(axis=0), effects.std(axis=0, ddof=1)
    )


@check_arguments
def derivative_measures(problem: DesignProblem, column: str, n: int, seed: int) -> DerivativeMeasures:
    """Compute means of squared derivatives of an objective over the box of a problem, from n designs, a power of two.

    Of cases the worst counts. Designs with failed samples are left out; InputError where all of them fail.

        >>> problem = ls.study.DesignProblem.of(ls.Sweep.from_yaml("sweep.yaml"), {"upper_arm": (0.2, 0.3)})
        >>> ls.study.derivative_measures(problem, "peak_force", 8, seed=1).names
        ('upper_arm',)
    """
    if n < 2 or n & (n - 1):
        raise refuse("n", str(n), "a power of two", "64 is a beginning.")
    low, high = (np.array([pair[side] for pair in problem.bounds.values()]) for side in (0, 1))
    unit = stats.qmc.Sobol(len(low), rng=np.random.default_rng(seed)).random(n)
    target = objective(column)
    results = [value_with_rates(problem, target, design) for design in low + (high - low) * unit]
    values = np.array([value for value, _ in results])
    rates = np.array([rate for _, rate in results]) * (high - low)
    good = np.isfinite(values) & np.isfinite(rates).all(axis=1)
    if good.sum() < 2:
        raise refuse("designs", f"{int(good.sum())} designs with a value", "at least 2", "Make the box smaller.")
    mean_square, variance = (rates[good] ** 2).mean(axis=0), float(values[good].var(ddof=1))
    bound = mean_square / (np.pi**2 * variance) if variance > 0.0 else np.zeros(len(low))
    return DerivativeMeasures(problem.names, mean_square, bound, int(good.sum()))


PARTS = 11
"""Values of a parameter, both ends of its range among them."""


@dataclass(frozen=True)
class ResponseCurve:
    """A parameter: its values in order (n,), the objective at each (n,), and its value at the base."""

    name: str
    values: Array
    results: Array
    base: float

    @property
    def swing(self) -> float:
        """Largest less least result over the computed values; NaN if none could be computed."""
        good = self.results[np.isfinite(self.results)]
        return float(np.ptp(good)) if len(good) else float("nan")


@dataclass(frozen=True)
class OneAtATime:
    """Curves through a base design, the one with the largest swing first, and the result at the base."""

    curves: tuple[ResponseCurve, ...]
    base: Mapping[str, float]
    result: float

    def rows(self) -> Iterator[tuple[str, ...]]:
        """Yield a table: parameter, range, result at its ends, least and largest, swing relative to the base."""
        yield "parameter", "base", "from", "to", "at low", "at high", "least", "largest", "swing [%]"
        for curve in self.curves:
            good = curve.results[np.isfinite(curve.results)]
            ends = (curve.base, curve.values[0], curve.values[-1], curve.results[0], curve.results[-1])
            least, largest = (good.min(), good.max()) if len(good) else (np.nan, np.nan)
            share = 100.0 * curve.swing / abs(self.result) if self.result else np.nan
            yield curve.name, *(f"{value:.6g}" for value in (*ends, least, largest)), f"{share:.4g}"

    def points(self) -> Iterator[tuple[str, ...]]:
        """Yield the points of all curves as rows of a file, the header first."""
        yield "parameter", "value", "result"
        for curve in self.curves:
            for value, result in zip(curve.values, curve.results, strict=True):
                yield curve.name, repr(float(value)), repr(float(result))


@check_arguments
def effects(
    problem: DesignProblem, target: Objective, base: Mapping[str, float] | None = None, parts: int = PARTS
) -> OneAtATime:
    """Compute the curves of an objective over the parameters of a problem, each over its bounds.

    Parameters that `base` leaves out are those of the sweep's first design. Raises InputError.

        >>> problem = ls.study.DesignProblem.of(ls.Sweep.from_yaml("sweep.yaml"))
        >>> curves = ls.study.effects(problem, ls.study.objective("peak_force"), parts=3).curves
        >>> [curve.name for curve in curves]
        ['upper_arm', 'base_radius']
    """
    centre = _whole_base(problem, base or {})
    results = problem.objective(_rows(problem.bounds, centre, parts), target)
    curves = [
        _curve(name, values, results[1 + k * parts :][:parts], centre[name], float(results[0]))
        for k, (name, values) in enumerate(_ranges(problem.bounds, centre, parts).items())
    ]
    return _ordered(curves, centre, float(results[0]))


def designs(bounds: Mapping[str, tuple[float, float]], base: Mapping[str, float], parts: int = PARTS) -> Array:
    """Return designs (design, parameter): the base, then each parameter over its bounds; each design once.

    With `refinement.with_designs` they make a sweep of their own. Raises InputError.
    """
    rows = _rows(bounds, base, parts)
    return rows[np.sort(np.unique(rows, axis=0, return_index=True)[1])]


def _rows(bounds: Mapping[str, tuple[float, float]], base: Mapping[str, float], parts: int) -> Array:
    """Return the base, then the parts of the range of one parameter after another, equal designs too."""
    if parts < 2:
        raise refuse("parts", str(parts), "2 or more, so that both ends of a range are there")
    for name, (low, high) in bounds.items():
        if name not in base:
            raise refuse(f"base.{name}", "no value", "one for each parameter that varies", "Add it.")
        if not low <= base[name] <= high:
            raise refuse(f"base.{name}", f"{base[name]:g}", f"a number in [{low:g}, {high:g}]", "Widen its bounds.")
    rows = np.tile([float(base[name]) for name in bounds], (1 + parts * len(bounds), 1))
    for k, values in enumerate(_ranges(bounds, base, parts).values()):
        rows[1 + k * parts : 1 + (k + 1) * parts, k] = values
    return rows


def of_store(ds: xr.Dataset, target: Objective, base: int) -> OneAtATime:
    """Return curves from a store's designs that differ from design `base` in one parameter. Raises InputError."""
    if not 0 <= base < ds.sizes["design"]:
        raise refuse("base", str(base), f"a design from 0 to {ds.sizes['design'] - 1}")
    columns, results = DesignSpace.of_dataset(ds).columns_of(ds), value_of(ds, target)
    names, table = list(columns), np.stack([*columns.values()], axis=1)
    differs = table != table[base]
    curves = []
    for k, name in enumerate(names):
        alone = np.flatnonzero(~np.delete(differs, k, axis=1).any(axis=1))
        values, first = np.unique(table[alone, k], return_index=True)
        if len(values) > 1:
            curves.append(_curve(name, values, results[alone[first]], table[base, k], results[base]))
    if not curves:
        hint = "A sample has none: compute them, or take a grid."
        raise refuse("designs", f"no design that differs from design {base} in one parameter", "some of them", hint)
    return _ordered(curves, dict(zip(names, table[base].tolist(), strict=True)), float(results[base]))


def _whole_base(problem: DesignProblem, base: Mapping[str, float]) -> dict[str, float]:
    for name in base:
        if name not in problem.names:
            hint = sentence(nearest(name, problem.names))
            raise refuse(f"base.{name}", "no parameter that varies", "one of them", hint)
    return {**problem.first, **base}


def _ranges(bounds: Mapping[str, tuple[float, float]], base: Mapping[str, float], parts: int) -> dict[str, Array]:
    """Return the values of each parameter; one that is the base but for rounding is the base."""
    ranges = {name: np.linspace(low, high, parts) for name, (low, high) in bounds.items()}
    return {
        name: np.where(np.isclose(values, base[name], 1e-12, 0.0), base[name], values)
        for name, values in ranges.items()
    }


def _curve(name: str, values: Array, results: Array, base: float, result: float) -> ResponseCurve:
    """Return a curve with the base on it, in the order of its values."""
    if base not in values:
        values, results = np.append(values, base), np.append(results, result)
    order = np.argsort(values, kind="stable")
    return ResponseCurve(name, np.asarray(values)[order], np.asarray(results)[order], float(base))


def _ordered(curves: list[ResponseCurve], base: Mapping[str, float], result: float) -> OneAtATime:
    return OneAtATime(tuple(sorted(curves, key=lambda curve: -np.nan_to_num(curve.swing))), base, result)


@check_arguments
def tolerance_effect(sweep: Sweep, column: str, design: Mapping[str, float] | None = None) -> MetricUncertainty:
    """Compute the effect of the section `tolerances` of a sweep on an objective such as `peak_force`.

    design: parameters that differ from the sweep's first design. Over operating cases, trajectories and actuators the
    worst of the design without deviations counts. Raises InputError for a sweep without tolerances, and ValueError for
    metrics without derivatives.

        >>> text = '''
        ... limbsweep: 1
        ... robot: five_bar
        ... tolerances: {parameters: {proximal_length: {deviation: 1.0e-3}}, seed: 1}
        ... trajectories: {c: {kind: circle, radius: 0.05, normal: [0, 1, 0]}}
        ... time: {stop: 1, step: 0.1}
        ... metrics: [peak_force]
        ... '''
        >>> effect = ls.study.tolerance_effect(ls.Sweep.from_text(text), "peak_force", {"proximal_length": 0.53})
        >>> round(effect.deviation, 3), effect.quantile(0.99) > effect.value
        (0.182, True)
    """
    sweep = Sweep.checked(sweep)
    deviations, covariance = sweep.tolerances.deviations, sweep.tolerances.covariance
    if not deviations:
        raise refuse("tolerances", "a sweep without tolerances", "a section tolerances", "Add it to the sweep.")
    names = [name + DEVIATION for name in deviations]
    cases = [name for name in sweep.question.cases if name not in names]
    bounds = {name + DEVIATION: (-size, size) for name, size in deviations.items()}
    problem = DesignProblem.of(sweep, bounds, cases)
    if design:
        problem = problem.at(design)
    value, slopes = value_with_rates(problem, objective(column), np.zeros(len(names)))
    parts = slopes * (covariance @ slopes)  # of parameters that deviate together some may be below zero
    total = float(parts.sum())
    shares = parts / total if total else parts
    rates = dict(zip(deviations, slopes.tolist(), strict=True))
    return MetricUncertainty(value, math.sqrt(total), rates, dict(zip(deviations, shares.tolist(), strict=True)))
