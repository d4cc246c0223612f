"""Refine a sweep: the same file with its designs sampled around the best ones; of simulations gains and states too."""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping, MutableMapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from applications.studies.columns import Array, refuse
from applications.studies.space import DesignSpace
from pipeline.documents.outputs import write_text
from pipeline.sweep.axes.columns import LABEL
from pipeline.sweep.model import Sweep
from pipeline.sweep.rewriting import rewritten
from pipeline.sweep.several import only_chosen
from robots.arguments import check_arguments, shown
from robots.catalog import FAMILIES
from robots.dims import GAINS

MARGIN = 0.1
"""Share of its length by which the box around the best designs grows at each end."""

KEPT = ("derive", "where")
"""Keys of the design section that stay."""

FILED = ("file", "columns", "labels")
"""Keys of a section with files, which stay beside a sample of the free parameters."""


def box(
    ds: xr.Dataset, best: Sequence[int] | NDArray[np.intp], margin: float = MARGIN
) -> dict[str, tuple[float, float]]:
    """Return the bounds of every free factor around some designs, within the bounds of a robot of the catalogue.

    A parameter on which they agree gets a tenth of its swept range to both sides.
    """
    family = FAMILIES.get(str(ds.attrs.get("robot")))
    table = {p.name: p for p in family.parameters} if family else {}
    result = {}
    for factor in DesignSpace.of_dataset(ds).varied():
        if factor.kind != "free":
            continue
        name = factor.name
        values, best_values = ds[name].values, ds[name].values[np.asarray(best, dtype=int)]
        low, high = float(best_values.min()), float(best_values.max())
        wider = margin * (high - low) if high > low else 0.1 * float(np.ptp(values))
        least, most = (table[name].lower, table[name].upper) if name in table else (-np.inf, np.inf)
        if factor.section == GAINS:
            least = 0.0  # of all parameters of controllers
        result[name] = max(low - wider, least), min(high + wider, most)
    return result


@check_arguments
def refine(
    ds: xr.Dataset,
    best: Sequence[int] | NDArray[np.intp],
    path: str | Path,
    *,
    count: int = 1024,
    seed: int = 0,
    margin: float = MARGIN,
    force: bool = False,
) -> Sweep:
    """Write the sweep file of the next round to a new file, and read it: a Sobol sample of the `box` of some designs.

    Of simulations designs, gains and initial states have a sample each where they were swept, together of about `count`
    cases. Rows of a list go together as before, those of the best designs alone; a catalogue in files stays whole. Of
    each of these rows there is a sample. Everything else is as in the sweep of the dataset; derived parameters and
    conditions stay. Files that the sweep names must be beside the new one. Raises InputError, also for a file that
    exists, unless by `force`.

        >>> designs, _ = ls.study.rank(ls.open("out.zarr"), ["peak_force"])
        >>> ls.study.refine(ls.open("out.zarr"), designs[:5], "next.yaml", count=64).sizes["design"]
        64
    """
    if not np.size(best):
        raise refuse("best", "no designs", "at least one", "Loosen the conditions.")
    places, count_of = np.asarray(best), ds.sizes.get("design", 0)
    if places.ndim != 1 or places.dtype.kind not in "iu" or not ((places >= 0) & (places < count_of)).all():
        raise refuse("best", f"{shown(best)}", f"whole numbers of designs, from 0 to {count_of - 1}")
    bounds, sections = box(ds, best, margin), {f.name: f.section for f in DesignSpace.of_dataset(ds).varied()}
    groups: dict[str, dict[str, tuple[float, float]]] = {}
    for name, pair in bounds.items():
        groups.setdefault(sections[name], {})[name] = pair
    if not groups:
        raise refuse("best", "rows of tables alone", "a parameter that is free", "Sample one beside the tables.")
    each_has = 1 << max(1, round(math.log2(count) / len(groups))) if len(groups) > 1 else count
    samples = {dim: {"sample": _sample(part, each_has, seed)} for dim, part in groups.items()}
    together = {dim: _rows_of_tables(ds, np.asarray(best, dtype=int), dim) for dim in groups}
    replace = functools.partial(_replace_axes, samples=samples, together=together)
    text = rewritten(str(ds.attrs["sweep"]), replace, f"Refined around {len(best)} of {ds.sizes['design']} designs.")
    sweep = Sweep.from_text(text, str(path), Path(path).parent)
    write_text(Path(path), text, force=force, option="--refine")
    return sweep


def _rows_of_tables(ds: xr.Dataset, best: NDArray[np.intp], section: str) -> dict[str, Array]:
    """Return the numbers of some designs in columns that go together, without labels."""
    factors = [f for f in DesignSpace.of_dataset(ds).varied() if f.kind == "category" and f.section == section]
    names = [name for factor in factors for name in factor.members if ds[name].attrs.get("long_name") != LABEL]
    return {name: ds[name].values[best] for name in names}


def saltelli_sweep(text: str, designs: Array, names: Sequence[str]) -> str:
    """Return a sweep file's text with the designs (design, parameter) of `sensitivity.saltelli` instead of its own."""
    columns = {name: designs[:, i].tolist() for i, name in enumerate(names)}
    return with_designs(text, {"list": columns}, "Designs of a Saltelli sample, for variance-based sensitivity.")


def with_designs(text: str, section: Mapping[str, Any], comment: str) -> str:
    """Return the text of a sweep file with another design section. Raises InputError where several robots are left."""
    return rewritten(text, functools.partial(_replace_designs, section=section), comment)


def _replace_designs(data: MutableMapping[str, Any], section: Mapping[str, Any]) -> None:
    only_chosen(data)
    data["design"] = _with_rules(section, data.get("design"))
    data.pop("subset", None)
    data.pop("subsets", None)


def _replace_axes(
    data: MutableMapping[str, Any],
    samples: Mapping[str, Mapping[str, Any]],
    together: Mapping[str, Mapping[str, Array]],
) -> None:
    only_chosen(data)
    simulation = data.get("simulation") or {}
    for dim, sample in samples.items():
        section = {**sample, **_tables(data.get("design") if dim == "design" else simulation.get(dim), together[dim])}
        if dim == "design":
            _replace_designs(data, section)
        else:
            data["simulation"] = {**data["simulation"], dim: _with_rules(section, simulation.get(dim))}


def _tables(old: Mapping[str, Any] | None, together: Mapping[str, Array]) -> dict[str, Any]:
    """Return the tables of a refined section: catalogues in files as they are, else a list of rows that go together."""
    section = old or {}
    files = [files] if isinstance(files := section.get("file") or [], str) else files
    is_catalogue = bool(files) and any(section.get(key) for key in ("grid", "sample", "list"))
    kept = {key: section[key] for key in FILED if key in section} if is_catalogue or len(files) > 1 else {}
    names = [name for name in together if not kept or name in (section.get("list") or {})]
    if not names:
        return kept
    rows = np.unique(np.stack([together[name] for name in names], axis=1), axis=0)
    return {**kept, "list": {name: rows[:, k].tolist() for k, name in enumerate(names)}}


def _with_rules(section: Mapping[str, Any], old: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return a section of an axis with the derived parameters and conditions of the previous section."""
    return {**section, **{key: value for key, value in (old or {}).items() if key in KEPT}}


def _sample(bounds: Mapping[str, tuple[float, float]], count: int, seed: int) -> dict[str, Any]:
    parameters = {name: {"low": low, "high": high} for name, (low, high) in bounds.items()}
    return {"method": "sobol", "count": count, "seed": seed, "parameters": parameters}
