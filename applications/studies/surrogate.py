"""Surrogates of stores: processes of metrics and their gradients over the designs of results, with held-out errors.

A surrogate answers for designs between those of a store, at once and with derivatives. It is fitted to some of the
designs, and to their derivatives where the store has them (entries `derivative` of outputs); the others tell its error.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike

from applications.studies.columns import Array, Objective, base_of, column, feasible, objective, refuse, value_of
from applications.studies.gradient_process import GradientProcess, ProcessScales
from applications.studies.stored_factors import tabled_numbers, varied_numbers
from pipeline.documents.dataset_names import CASE
from pipeline.documents.outputs import output
from pipeline.sweep.question.question import split_trajectory
from robots.arguments import check_arguments
from robots.data_classes import dataclass, replace
from robots.derivatives import PARAMETER, derivative
from robots.expressions.rates import NumberWithRates, with_rates
from robots.quantities import QUANTITIES

OBSERVATIONS = 1200
"""Values and derivatives that a process is fitted to at most, by default."""

SPARSE = 200
"""Observations by which length scales are found."""

HELD_OUT = 5000
"""Largest number of designs for the held-out error."""

LEAST = 8
"""Designs that a surrogate needs at least."""

STEEP = 5.0
"""Ratio of the largest to the least value of a column from which its logarithm is fitted."""

NUMBERS = ("text", "mean", "spread", "points", "slopes", "logarithmic")
"""Fields of a column that are texts and numbers."""

FILE_ENDING = ".npz"
FORMAT = 1
"""Version of the file of a surrogate."""


@dataclass(frozen=True)
class HeldOutError:
    """Errors of a surrogate at designs that it was not fitted to.

    count: of these designs; rms and largest, in the unit of the column; share: rms over the deviation of the column;
    gradient: rms of the errors of derivatives over the rms of these, NaN without derivatives; covered: share of the
    designs within two deviations.
    """

    count: int
    rms: float
    largest: float
    share: float
    gradient: float
    covered: float


UNKNOWN = HeldOutError(0, np.nan, np.nan, np.nan, np.nan, np.nan)


@dataclass(frozen=True)
class SurrogateColumn:
    """Process of one column, the mean and the deviation of its values, the counts of its observations, its error.

    logarithmic: the process is of the logarithm of the column, whose mean and deviation these are.
    """

    text: str
    process: GradientProcess
    mean: float
    spread: float
    points: int
    slopes: int
    error: HeldOutError
    logarithmic: bool = False

    def values(self, inputs: Array) -> Array:
        """Return the column (n,) at inputs (n, input) of range one."""
        values = self.mean + self.spread * self.process.value(inputs)
        return np.exp(values) if self.logarithmic else values

    def gradient(self, inputs: Array) -> Array:
        """Return its derivatives (n, input)."""
        slopes = self.spread * self.process.gradient(inputs)
        return slopes * self.values(inputs)[:, None] if self.logarithmic else slopes

    def deviation(self, inputs: Array) -> Array:
        """Return the deviation (n,) that the process expects, to first order."""
        deviation = self.spread * np.hypot(self.process.deviation(inputs), self.process.scales.noise)
        return deviation * self.values(inputs) if self.logarithmic else deviation


@dataclass(frozen=True)
class Surrogate:
    """Columns as functions of designs within the ranges of a store; `names` (input,), `low` and `high` their ranges.

    tabled: names of numbers that rows of a list or a file set, as of a catalogue: between rows, where there may be no
    part, columns are interpolated by these numbers.

    >>> surrogate = ls.study.surrogate(ls.open("out.zarr"), "peak_force")
    >>> surrogate({"upper_arm": 0.25, "base_radius": 0.15})["peak_force"].shape
    ()
    """

    names: tuple[str, ...]
    low: Array
    high: Array
    columns: tuple[SurrogateColumn, ...]
    source: str = ""
    tabled: tuple[str, ...] = ()

    def __call__(self, designs: Mapping[str, ArrayLike] | ArrayLike) -> dict[str, Array]:
        """Return the columns (*batch,) of designs: numbers by name, or an array (*batch, input). NaN out of ranges."""
        inputs, batch = self._scaled(designs)
        outside = ((inputs < -1e-9) | (inputs > 1.0 + 1e-9)).any(axis=1) | np.isnan(inputs).any(axis=1)
        result = {}
        for metric in self.columns:
            values = metric.values(inputs)
            values[outside] = np.nan
            result[metric.text] = values.reshape(batch)
        return result

    def gradient(self, designs: Mapping[str, ArrayLike] | ArrayLike) -> dict[str, Array]:
        """Return the derivatives (*batch, input) of the columns by `names`."""
        inputs, batch = self._scaled(designs)
        scale = 1.0 / (self.high - self.low)
        return {
            metric.text: (metric.gradient(inputs) * scale).reshape(*batch, len(self.names)) for metric in self.columns
        }

    def deviation(self, designs: Mapping[str, ArrayLike] | ArrayLike) -> dict[str, Array]:
        """Return the deviations (*batch,) of the columns that the processes expect."""
        inputs, batch = self._scaled(designs)
        return {metric.text: metric.deviation(inputs).reshape(batch) for metric in self.columns}

    def _scaled(self, designs: Mapping[str, ArrayLike] | ArrayLike) -> tuple[Array, tuple[int, ...]]:
        """Return designs as inputs (n, input) of range one, and the shape of their batch."""
        if isinstance(designs, Mapping):
            if {*designs} != {*self.names}:
                raise refuse("designs", ", ".join(map(str, designs)) or "none", f"numbers of {', '.join(self.names)}")
            columns = np.broadcast_arrays(*(np.asarray(designs[name], dtype=float) for name in self.names))
            table = np.stack(columns, axis=-1)
        else:
            table = np.asarray(designs, dtype=float)
        if table.shape[-1:] != (len(self.names),):
            expected = f"(*batch, {len(self.names)}): {', '.join(self.names)}"
            got = f"an array of shape {table.shape}"
            raise refuse("designs", got, expected)
        return (table.reshape(-1, len(self.names)) - self.low) / (self.high - self.low), table.shape[:-1]

    def save(self, path: str | os.PathLike[str], *, force: bool = False) -> None:
        """Write the surrogate to a file `.npz`, whole or not at all. Raises InputError.

        force: replace a file that is there.
        """
        about: dict[str, Any] = {name: getattr(self, name) for name in ("names", "source", "tabled")}
        about |= {"format": FORMAT, "columns": []}
        arrays: dict[str, Any] = {"low": self.low, "high": self.high}
        for k, metric in enumerate(self.columns):
            scales, process = metric.process.scales, metric.process
            numbers = {name: getattr(metric, name) for name in NUMBERS}
            noise = {"size": process.size, "noise": [scales.noise, scales.slope_noise]}
            about["columns"].append({**numbers, **noise, "error": vars(metric.error)})
            parts = {name: getattr(process, name) for name in ("points", "weights", "slopes", "factor", "seen")}
            arrays |= {f"{name}_{k}": part for name, part in (parts | {"lengths": scales.lengths}).items()}
        with output(Path(path), force=force) as draft, draft.open("xb") as file:
            np.savez_compressed(file, about=np.frombuffer(json.dumps(about).encode(), dtype=np.uint8), **arrays)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Surrogate:
        """Read a surrogate from its file. Raises InputError for a file of another kind."""
        try:
            with np.load(path, allow_pickle=False) as file:
                about = json.loads(bytes(file["about"]).decode())
                arrays = {name: file[name] for name in file.files if name != "about"}
            if about["format"] != FORMAT:
                raise ValueError(f"format {about['format']}")
            columns = tuple(_column(k, row, arrays) for k, row in enumerate(about["columns"]))
        except (OSError, ValueError, KeyError, TypeError) as error:
            got = f"{os.fspath(path)}: {error}"
            raise refuse("surrogate", got, "a file that `limbsweep study surrogate` wrote") from None
        tabled = tuple(about.get("tabled", ()))
        return cls(tuple(about["names"]), arrays["low"], arrays["high"], columns, about["source"], tabled)


def _column(k: int, row: Mapping[str, Any], arrays: Mapping[str, Any]) -> SurrogateColumn:
    scales = ProcessScales(arrays[f"lengths_{k}"], *row["noise"])
    points, weights, slopes, factor, seen = (
        arrays[f"{name}_{k}"] for name in ("points", "weights", "slopes", "factor", "seen")
    )
    process = GradientProcess(points, scales, weights, slopes, factor, seen, row["size"])
    error = HeldOutError(**row["error"])
    return SurrogateColumn(process=process, error=error, **{name: row[name] for name in NUMBERS})


@check_arguments
def surrogate(
    ds: xr.Dataset,
    columns: str | Sequence[str],
    where: Sequence[str] = (),
    *,
    points: int | None = None,
    held_out: float = 0.2,
    seed: int = 0,
) -> Surrogate:
    """Fit a surrogate of columns, or of expressions over columns, to the designs of results.

    Designs that failed, or do not meet `where`, are left out. points: designs that it is fitted to at most, default:
    values and derivatives give OBSERVATIONS numbers; held_out: least share of the designs that tell its error. Raises
    InputError for columns that there are not, and for results of fewer than LEAST designs that vary.

        >>> surrogate = ls.study.surrogate(ls.open("out.zarr"), "peak_force / upper_arm")
        >>> surrogate.columns[0].error.share < 0.1
        True
    """
    if not 0.0 < held_out < 1.0:
        raise refuse("held_out", repr(held_out), "a share between 0 and 1")
    names = varied_numbers(ds)
    good = feasible(ds, where) if names else np.zeros(0, dtype=bool)
    names = [name for name in names if len(np.unique(ds[name].values[good])) > 1]
    if not names or good.sum() < LEAST:
        got = f"{int(good.sum()) if names else 0} designs without failed samples that vary"
        raise refuse("ds", got, f"{LEAST} or more", "Sample more designs, for instance with kind sobol.")
    texts = (columns,) if isinstance(columns, str) else tuple(columns)
    inputs = np.stack([np.asarray(ds[name].values, dtype=float) for name in names], axis=1)
    low, high = inputs[good].min(axis=0), inputs[good].max(axis=0)
    order = np.random.default_rng(seed).permutation(np.flatnonzero(good))
    held = max(1, int(np.ceil(held_out * len(order))))
    largest = len(order) - held
    scaled, width = (inputs - low) / (high - low), high - low
    parts = []
    for text in texts:
        target = objective(text)
        values, slopes = _observations(ds, target, names)
        most = points or max(LEAST, OBSERVATIONS // (1 + int(np.isfinite(slopes[good]).any(axis=0).sum())))
        count = min(most, largest)
        rows, held_rows = order[:count], order[count : count + HELD_OUT]
        parts.append(_fitted(text, scaled, values, slopes * width, (rows, held_rows)))
    tabled = tuple(name for name in tabled_numbers(ds) if name in names)
    return Surrogate(tuple(names), low, high, tuple(parts), str(ds.attrs.get("fingerprint", "")), tabled)


def _fitted(
    text: str, inputs: Array, values: Array, slopes: Array, parts: tuple[np.ndarray, np.ndarray]
) -> SurrogateColumn:
    """Return the process of a column; parts: numbers of the designs that it is fitted to, and of those held out."""
    rows, held_rows = (part[np.isfinite(values[part])] for part in parts)
    if len(rows) < 2 or not len(held_rows):
        raise refuse(text, f"{len(rows) + len(held_rows)} designs with a value", f"{LEAST} or more")
    finite = values[[*rows, *held_rows]]
    logarithmic = bool(finite.min() > 0.0 and finite.max() > STEEP * finite.min())
    shown, turned = values[rows], slopes[rows]
    if logarithmic:
        shown, turned = np.log(shown), turned / shown[:, None]
    mean, spread = float(shown.mean()), float(shown.std()) or 1.0
    process = GradientProcess.fit(inputs[rows], (shown - mean) / spread, turned / spread, SPARSE)
    fitted = SurrogateColumn(
        text, process, mean, spread, len(rows), int(np.isfinite(slopes[rows]).sum()), UNKNOWN, logarithmic
    )
    return replace(fitted, error=_error(fitted, inputs[held_rows], values[held_rows], slopes[held_rows]))


def _error(fitted: SurrogateColumn, inputs: Array, values: Array, slopes: Array) -> HeldOutError:
    """Return the error of a column at designs that it was not fitted to."""
    missed, turned = fitted.values(inputs) - values, fitted.gradient(inputs) - slopes
    finite = np.isfinite(slopes)
    size = float(np.sqrt((slopes[finite] ** 2).mean())) if finite.any() else 0.0
    gradient = float(np.sqrt((turned[finite] ** 2).mean())) / size if size else np.nan
    rms, within = float(np.sqrt((missed**2).mean())), np.abs(missed) <= 2.0 * fitted.deviation(inputs)
    share = rms / (float(values.std()) or 1.0)
    return HeldOutError(len(values), rms, float(np.abs(missed).max()), share, gradient, float(within.mean()))


def _observations(ds: xr.Dataset, target: Objective, names: Sequence[str]) -> tuple[Array, Array]:
    """Return an objective (design,) and its derivatives (design, input), NaN where the results have none."""
    values = value_of(ds, target)
    columns = {name: column(ds, name) for name in target.expression.names}
    moved = {}
    for name, numbers in columns.items():
        rates = np.stack([np.full(len(numbers), float(name == label)) for label in names])
        moved[name] = NumberWithRates(numbers, rates if name in names else _column_slopes(ds, name, names))
    result = with_rates(target.expression, moved)
    rates = getattr(result, "rates", np.zeros((len(names), len(values))))
    return values, np.broadcast_to(rates, (len(names), len(values))).T.copy()


def _column_slopes(ds: xr.Dataset, name: str, names: Sequence[str]) -> Array:
    """Return stored derivatives of a column (input, design); NaN where they are not stored, and at kinks."""
    base, how = base_of(name, {*QUANTITIES, *ds.data_vars})
    missing = np.full((len(names), ds.sizes["design"]), np.nan)
    stored = ds.get(derivative(base))
    whole = split_trajectory(name)[1] == "" and CASE not in ds.dims
    if stored is None or not whole or "side" in stored.dims or base not in ds or how not in ("min", "max"):
        return missing
    numbers = stored.transpose("design", ..., PARAMETER)
    values = ds[base].transpose(*(dim for dim in numbers.dims if dim != PARAMETER)).values
    flat = values.reshape(len(values), -1)
    finite = np.isfinite(flat).any(axis=1)
    filled = np.where(np.isnan(flat), -np.inf if how == "max" else np.inf, flat)
    worst = filled.argmax(axis=1) if how == "max" else filled.argmin(axis=1)
    slopes = numbers.values.reshape(*flat.shape, -1)[np.arange(len(flat)), worst]
    slopes[~finite] = np.nan
    labels = [str(label) for label in ds[PARAMETER].values]
    for k, label in enumerate(names):
        if label in labels:
            missing[k] = slopes[:, labels.index(label)]
    return missing
