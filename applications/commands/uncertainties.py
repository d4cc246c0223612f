"""Body of `limbsweep study uncertainty`."""

from __future__ import annotations

import io
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from applications.commands.study_tables import TableRows, numbers, show
from applications.studies.columns import refuse
from applications.studies.uncertainty import MetricUncertainty
from applications.studies.uncertainty import uncertainty as of_parameters
from pipeline.documents.files import read_text
from pipeline.sweep.stored import stored_sweep
from pipeline.sweep.tolerances.fitted import EXPECTED, parse_fitted
from storage.encoding.documents import parse_json

if TYPE_CHECKING:
    from pandas import DataFrame

LIMIT = 16 << 20
"""Bytes of the largest file of a covariance."""


def uncertainty(
    store: str, covariance: Path, texts: tuple[str, ...], design: int, samples: int, seed: int, file: Path | None
) -> None:
    """Compute the uncertainty of metrics of a design of STORE from that of parameters."""
    sweep = stored_sweep(store, plain=True)
    effects = of_parameters(sweep, _table(covariance), texts or None, design=design, samples=samples, seed=seed)
    rows: TableRows = [("metric", "value", "deviation", "of samples", "error", "failed", "most by", "share")]
    rows += [(name, *_cells(effect)) for name, effect in effects.items()]
    show(rows, len(rows), file)
    drawn = f", {samples} samples" if samples else ""
    click.echo(f"design {design}: standard deviations to first order by exact derivatives{drawn}")


def _cells(effect: MetricUncertainty) -> tuple[str, ...]:
    """Return the cells of a metric behind its name."""
    most = max(effect.shares, key=lambda name: effect.shares[name])
    sampled = effect.sampled
    drawn = (*numbers([sampled.deviation, sampled.error]), str(sampled.failed)) if sampled else ("", "", "")
    return (*numbers([effect.value, effect.deviation]), *drawn, most, f"{effect.shares[most]:.3f}")


def _table(path: Path) -> Mapping[str, float] | DataFrame:
    """Return the covariance in a file: a matrix with names along both axes, or two columns, name and deviation.

    A JSON file is that of `limbsweep identify --output`.
    """
    import pandas as pd

    text = read_text(str(path), LIMIT)
    if path.suffix == ".json":
        try:
            names, matrix = parse_fitted(parse_json(text.encode()))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise refuse("covariance", f"{path.name}: {error}", EXPECTED) from None
        return pd.DataFrame(matrix, index=list(names), columns=list(names))
    try:
        table = pd.read_csv(io.StringIO(text), index_col=0).astype(float)
    except (ValueError, TypeError) as error:
        expected = "a table of numbers with names in its first column"
        raise refuse("covariance", f"{path.name}: {error}", expected) from None
    table.index = table.index.map(lambda name: str(name).strip())
    table.columns = [str(name).strip() for name in table.columns]
    if list(table.columns) == ["deviation"]:
        return {name: float(size) for name, size in table["deviation"].items()}
    return table
