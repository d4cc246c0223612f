"""Factors of the designs of a dataset, by the text of its sweep."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from applications.studies.factors import Factor, list_factors, table_factor
from pipeline.documents.dataset_names import FRICTION_SET, STORED, TRUTH
from pipeline.documents.yaml import parse_yaml
from pipeline.errors import InputError
from pipeline.sweep.axes.columns import LABEL
from pipeline.sweep.question.reader import stored_question
from pipeline.sweep.several import only_chosen
from robots.data_classes import dataclass
from robots.dims import FRICTION, GAINS, STATE
from robots.parameters import DEVIATION

ALONG = "swept_along"
"""Attribute of a parameter of designs that was swept along another dim: of friction sets, gains or initial states."""

SECTIONS = ("design", FRICTION, GAINS, STATE)
"""Dims along which parameters are swept."""


def stored_factors(ds: xr.Dataset) -> tuple[list[Factor], str]:
    """Return the factors of the designs of a dataset, and the assumption made if its sweep cannot be read, else "".

    Designs may be stacked with friction sets, gains and initial states (`applications.studies.axes.by_design`). Files
    that the sweep names are not read: their columns are the remaining parameters.
    """
    declared, coordinates = _declared(str(ds.attrs.get("sweep", ""))), design_coordinates(ds)
    written = [name for axis in (declared or {}).values() for name in axis.forms]  # opened stores sort by name
    order = {name: place for place, name in enumerate(dict.fromkeys((*written, *coordinates)))}
    coordinates.sort(key=lambda name: order[name])
    differing = [name for name in coordinates if _differs(ds[name])]
    factors = [Factor(name, "fixed", section_of(ds[name]), (name,)) for name in coordinates if name not in differing]
    for section in SECTIONS:
        names = [name for name in differing if section_of(ds[name]) == section]
        factors += _section_factors(ds, section, names, UNKNOWN if declared is None else declared[section])
    factors.sort(key=lambda factor: order[factor.members[0]])
    rule = "its sweep cannot be read: parameters that differ are taken as varied, and derived ones with them"
    return factors, rule if declared is None else ""


def section_of(coordinate: xr.DataArray) -> str:
    """Return the dim along which a parameter of designs was swept."""
    return str(coordinate.attrs.get(ALONG, "design"))


def design_coordinates(ds: xr.Dataset) -> list[str]:
    """Return the names of the values of designs: parameters, and labels that are numbers or texts."""
    coordinates = [
        str(name)
        for name, x in ds.coords.items()
        if x.dims == ("design",) and name not in ("design", STORED, FRICTION_SET) and not str(name).startswith(TRUTH)
    ]
    return [name for name in coordinates if ds[name].dtype.kind in "fiu" or ds[name].attrs.get("long_name") == LABEL]


def varied_numbers(ds: xr.Dataset) -> list[str]:
    """Return the names of the numbers that the varied factors of a dataset set, without labels."""
    labels = {
        name for name in ds.coords if ds[name].dtype.kind not in "fiu" or ds[name].attrs.get("long_name") == LABEL
    }
    factors = stored_factors(ds)[0]
    return [name for factor in factors if factor.is_varied for name in factor.members if name not in labels]


def tabled_numbers(ds: xr.Dataset) -> list[str]:
    """Return those of the varied numbers of a dataset that rows of a list or a file set, by the text of its sweep."""
    declared = _declared(str(ds.attrs.get("sweep", ""))) or {}
    forms = {name: declared.get(section_of(ds[name]), NOTHING).form(name) for name in varied_numbers(ds)}
    return [name for name, form in forms.items() if form in ("list", "file")]


def _differs(coordinate: xr.DataArray) -> bool:
    values = coordinate.values
    return bool(len(values) and (values != values[0]).any())


@dataclass(frozen=True)
class DeclaredAxis:
    """Axis as declared in a section of the text of a sweep: the form of each parameter, and the number of files."""

    forms: Mapping[str, str]
    files: int = 0

    def form(self, name: str) -> str:
        """Return the form of a parameter of designs: parameters without a name here are from files, or derived."""
        return self.forms.get(name, "file" if self.files else "derive")


NOTHING = DeclaredAxis({})
UNKNOWN = DeclaredAxis({}, 1)
"""Axis of a sweep that cannot be read: it takes any names, like a file."""


@lru_cache(maxsize=16)
def _declared(text: str) -> Mapping[str, DeclaredAxis] | None:
    """Return the content of each axis section in the text of a sweep; None where it cannot be read."""
    try:
        data: dict[str, Any] = dict(parse_yaml(text, "the sweep in the store").data)
        only_chosen(data)
        simulation = data.get("simulation") or {}
        axes = {FRICTION: data.get(FRICTION), GAINS: simulation.get(GAINS), STATE: simulation.get(STATE)}
        drawn = (data.get("tolerances") or {}).get("parameters") or {}
        design = _declared_axis(data.get("design") or {}, {f"{name}{DEVIATION}": "tolerance" for name in drawn})
        result = {"design": design, **{section: _declared_axis(axis or {}, {}) for section, axis in axes.items()}}
    except (InputError, AttributeError, TypeError):
        return None
    return result if "robot" in data else None


def _declared_axis(axis: Mapping[str, Any], more: Mapping[str, str]) -> DeclaredAxis:
    parts = {form: axis.get(form) or {} for form in ("grid", "list", "derive")}
    parts["sample"] = (axis.get("sample") or {}).get("parameters") or {}
    files = axis.get("file") or []
    forms = {str(name): form for form, names in parts.items() for name in names}
    return DeclaredAxis({**forms, **more}, 1 if isinstance(files, str) else len(files))


def _section_factors(ds: xr.Dataset, section: str, names: Sequence[str], axis: DeclaredAxis) -> list[Factor]:
    """Return the factors of the differing parameters of a dataset that were swept along one dim."""
    forms = {name: axis.form(name) for name in names}
    of_form = {form: [name for name in names if forms[name] == form] for form in forms.values()}
    factors = [Factor(name, "derived", section, (name,)) for name in of_form.get("derive", [])]
    factors += [Factor(name, "tolerance", section, (name,)) for name in of_form.get("tolerance", [])]
    free = [*of_form.get("grid", []), *of_form.get("sample", [])]
    factors += [Factor(name, "free", section, (name,)) for name in free]
    filed = of_form.get("file", [])
    tables = [of_form.get("list", []), *([filed] if axis.files == 1 else _tables(ds, filed))]
    tables = [table for table in tables if table]
    cases = stored_question(ds.attrs, ds.coords).cases
    labels = {name for name in names if ds[name].attrs.get("long_name") == LABEL}
    if len(tables) == 1 and {*free} <= {*cases}:
        return factors + list_factors({name: ds[name].values for name in tables[0]}, labels, section)
    return factors + [
        table_factor(table, [n for n in table if ds[n].dtype.kind not in "fiu"], section) for table in tables
    ]


def _tables(ds: xr.Dataset, names: Sequence[str]) -> list[list[str]]:
    """Return the names of columns by the table that they are in: columns of different tables have all combinations."""
    places = {name: np.unique(ds[name].values, return_inverse=True)[1].ravel() for name in names}
    tables: list[list[str]] = []
    for name in names:
        near = [table for table in tables if any(_depends(places[name], places[column]) for column in table)]
        tables = [table for table in tables if table not in near] + [[*(n for table in near for n in table), name]]
    return tables


def _depends(one: NDArray[np.intp], second: NDArray[np.intp]) -> bool:
    """Return whether two columns do not occur in all combinations of their values."""
    size = int(one.max() + 1) * int(second.max() + 1)
    return len(np.unique(one * (int(second.max()) + 1) + second)) < size
