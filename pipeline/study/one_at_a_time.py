"""One-at-a-time sensitivity: one parameter after another over its range, the others at a base design.

Interactions do not show; `sensitivity` has those. Computed by the kernels of a run in this process, or read from the
designs of a store that differ from a base in one parameter alone, as those of a grid or of `designs` do.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import xarray as xr

from pipeline.documents.report import sentence
from pipeline.study.columns import Array, Objective, refuse, value_of
from pipeline.study.problem import DesignProblem
from pipeline.study.space import DesignSpace
from robots.parameters import nearest

PARTS = 11
"""Values of a parameter, both ends of its range among them."""


@dataclass(frozen=True)
class ResponseCurve:
    """A parameter: its values in order (n,), what is looked at for each (n,), and its value at the base."""

    name: str
    values: Array
    results: Array
    base: float

    @property
    def swing(self) -> float:
        """Largest less least result; NaN where nothing could be computed, else of what could."""
        good = self.results[np.isfinite(self.results)]
        return float(np.ptp(good)) if len(good) else float("nan")


@dataclass(frozen=True)
class OneAtATime:
    """Curves through a base design, the one with the largest swing first, and the result at the base."""

    curves: tuple[ResponseCurve, ...]
    base: Mapping[str, float]
    result: float

    def rows(self) -> Iterator[tuple[str, ...]]:
        """A table: parameter, range, result at its ends, least and largest, swing as a share of that at the base."""
        yield "parameter", "base", "from", "to", "at low", "at high", "least", "largest", "swing [%]"
        for curve in self.curves:
            good = curve.results[np.isfinite(curve.results)]
            ends = (curve.base, curve.values[0], curve.values[-1], curve.results[0], curve.results[-1])
            least, largest = (good.min(), good.max()) if len(good) else (np.nan, np.nan)
            share = 100.0 * curve.swing / abs(self.result) if self.result else np.nan
            yield curve.name, *(f"{value:.6g}" for value in (*ends, least, largest)), f"{share:.4g}"

    def points(self) -> Iterator[tuple[str, ...]]:
        """All points of all curves, for a file."""
        yield "parameter", "value", "result"
        for curve in self.curves:
            for value, result in zip(curve.values, curve.results, strict=True):
                yield curve.name, repr(float(value)), repr(float(result))


def effects(
    problem: DesignProblem, wanted: Objective, base: Mapping[str, float] | None = None, parts: int = PARTS
) -> OneAtATime:
    """Curves of an objective over the parameters of a problem, each over its bounds.

    What `base` leaves out is as in the sweep's first design. Raises InputError.

        >>> problem = ls.study.DesignProblem.of(ls.Sweep.from_yaml("sweep.yaml"))
        >>> curves = ls.study.effects(problem, ls.study.objective("peak_force"), parts=3).curves
        >>> [curve.name for curve in curves]
        ['upper_arm', 'base_radius']
    """
    centre = _whole_base(problem, base or {})
    results = problem.objective(_rows(problem.bounds, centre, parts), wanted)
    curves = [
        _curve(name, values, results[1 + k * parts :][:parts], centre[name], float(results[0]))
        for k, (name, values) in enumerate(_ranges(problem.bounds, centre, parts).items())
    ]
    return _ordered(curves, centre, float(results[0]))


def designs(bounds: Mapping[str, tuple[float, float]], base: Mapping[str, float], parts: int = PARTS) -> Array:
    """The designs (design, parameter): the base, then one parameter after another over its bounds, each design once.

    With `refinement.with_designs` they make a sweep of their own. Raises InputError.
    """
    rows = _rows(bounds, base, parts)
    return rows[np.sort(np.unique(rows, axis=0, return_index=True)[1])]


def _rows(bounds: Mapping[str, tuple[float, float]], base: Mapping[str, float], parts: int) -> Array:
    """The base, then the parts of the range of one parameter after another, equal designs too."""
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


def of_store(ds: xr.Dataset, wanted: Objective, base: int) -> OneAtATime:
    """Curves from the designs of a store that differ from design number `base` in one parameter. Raises InputError."""
    if not 0 <= base < ds.sizes["design"]:
        raise refuse("base", str(base), f"a design from 0 to {ds.sizes['design'] - 1}")
    columns, results = DesignSpace.of_dataset(ds).columns_of(ds), value_of(ds, wanted)
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
        raise refuse("designs", f"none that differs from design {base} in one parameter", "some of them", hint)
    return _ordered(curves, dict(zip(names, table[base].tolist(), strict=True)), float(results[base]))


def _whole_base(problem: DesignProblem, base: Mapping[str, float]) -> dict[str, float]:
    for name in base:
        if name not in problem.names:
            hint = sentence(nearest(name, problem.names))
            raise refuse(f"base.{name}", "no parameter that varies", "one of them", hint)
    return {**problem.first, **base}


def _ranges(bounds: Mapping[str, tuple[float, float]], base: Mapping[str, float], parts: int) -> dict[str, Array]:
    """Values of each parameter; one that is the base but for rounding is the base."""
    ranges = {name: np.linspace(low, high, parts) for name, (low, high) in bounds.items()}
    return {
        name: np.where(np.isclose(values, base[name], 1e-12, 0.0), base[name], values)
        for name, values in ranges.items()
    }


def _curve(name: str, values: Array, results: Array, base: float, result: float) -> ResponseCurve:
    """A curve with the base on it, in the order of its values."""
    if base not in values:
        values, results = np.append(values, base), np.append(results, result)
    order = np.argsort(values, kind="stable")
    return ResponseCurve(name, np.asarray(values)[order], np.asarray(results)[order], float(base))


def _ordered(curves: list[ResponseCurve], base: Mapping[str, float], result: float) -> OneAtATime:
    return OneAtATime(tuple(sorted(curves, key=lambda curve: -np.nan_to_num(curve.swing))), base, result)
