"""The dataset card: contents, origin and purpose of a dataset, as a Markdown file in its store."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from pipeline.documents.dataset_names import TRUTH, part_name
from pipeline.errors import size
from pipeline.execution.conventions import units_of
from pipeline.sweep.dataset_split import PARTED
from robots.dims import GAINS, STATE
from storage.places.access import locate
from storage.places.location import LocationLike

if TYPE_CHECKING:
    from xarray import DataArray, Dataset

    from pipeline.sweep.model import Sweep

FILE = "CARD.md"


def write(store: LocationLike, sweep: Sweep, data: Dataset) -> str:
    """Write the card of a finished dataset into its store, and return the text."""
    text = "\n".join(lines(sweep, data)) + "\n"
    locate(store).write(FILE, [text.encode()])
    return text


def lines(sweep: Sweep, data: Dataset) -> Iterator[str]:
    """Write the card line by line; nothing in it depends on the machine or the place of the store."""
    sizes = data.sizes
    yield f"# {sweep.title or f'Identification data of {sweep.robot}'}"
    yield ""
    yield f"Simulated motions and forces of `{sweep.robot}` for dynamic parameter identification."
    yield f"The robot: {sweep.family.title}."
    yield ""
    yield f"- robots: {sizes['design']:,}, friction sets: {sizes['friction']:,}"
    yield f"- trajectories: {sizes['trajectory']:,} of {_samples(sweep)}"
    if not sweep.sweeps_gravity:
        yield f"- gravity: {', '.join(f'{x:g}' for x in sweep.gravity)} m/s^2"
    else:
        yield "- gravity: that of each robot"
    yield f"- bytes before compression: {size(data.nbytes)}"
    yield f"- fingerprint of the sweep: `{sweep.fingerprint}`, seed of the measurement: {_seed(sweep)}"
    yield f"- samples that could not be computed: {int(data['failed_samples'].sum())} (they hold NaN)"
    yield from _section("Robots", _swept(data, "design"))
    yield from _section("Friction", _groups(sweep, data))
    yield from _section("Trajectories", _trajectories(sweep))
    yield from _section("Simulation", _simulation(sweep, data))
    yield from _section("Parts", _parts(data))
    yield from _section("Measurement", _measurement(sweep))
    yield from _section("Variables", _variables(data))
    yield from _section("Truth", _true_parameters(data))
    yield from _section("Limits", _limits(sweep))


def _samples(sweep: Sweep) -> str:
    """Return the samples of trajectories and the time between them, in words."""
    grids = [*dict.fromkeys(sweep.grids)]
    several = [f"{grid.samples:,} samples, one every {grid.step:g} s" for grid in grids]
    return "; ".join(several)


def _section(title: str, rows: list[str]) -> Iterator[str]:
    if rows:
        yield ""
        yield f"## {title}"
        yield ""
        yield from (f"- {row}" for row in rows)


def _seed(sweep: Sweep) -> str:
    return "none" if sweep.measurement is None else str(sweep.measurement.seed)


def _swept(data: Dataset, dim: str) -> list[str]:
    """Return the ranges of the numbers along a dim, without the true parameters."""
    coordinates = {str(name): values for name, values in data.coords.items() if not str(name).startswith(TRUTH)}
    return [
        f"`{name}` from {float(values.min()):g} to {float(values.max()):g} {values.attrs.get('units', '')}".rstrip()
        for name, values in coordinates.items()
        if values.dims == (dim,) and values.dtype.kind == "f"
    ]


def _groups(sweep: Sweep, data: Dataset) -> list[str]:
    groups = [f"law `{group.law}` in {len(group.places)} joints, load {group.load}" for group in sweep.friction.groups]
    return groups + _swept(data, "friction")


def _trajectories(sweep: Sweep) -> list[str]:
    kinds = [trajectory.kind for trajectory in sweep.trajectories]
    return [f"{kinds.count(kind)} of kind `{kind}`" for kind in dict.fromkeys(kinds)]


def _simulation(sweep: Sweep, data: Dataset) -> list[str]:
    if sweep.simulation is None:
        return []
    controller = sweep.simulation.simulation.controller
    if controller is None:
        rows = ["released at rest" if sweep.simulation.is_release else "driven by force profiles"]
    else:
        rows = [f"controller `{controller.kind}` in the {controller.space} space"]
    rows += [f"`{name}`: {value:g}" for name, value in sweep.simulation.fixed.items()]
    return rows + _swept(data, GAINS) + _swept(data, STATE)


def _parts(data: Dataset) -> list[str]:
    rows = []
    for dim in PARTED:
        if part_name(dim) in data.coords:
            parts = [str(part) for part in data[part_name(dim)].values]
            rows.append(f"{dim}: " + ", ".join(f"{parts.count(part)} {part}" for part in dict.fromkeys(parts)))
    return rows


def _measurement(sweep: Sweep) -> list[str]:
    if sweep.measurement is None:
        return []
    return [f"`{name}`: {value:g}" for name, value in sweep.measurement.values.items()]


def _variables(data: Dataset) -> list[str]:
    return [_variable(str(name), variable) for name, variable in data.data_vars.items()]


def _variable(name: str, variable: DataArray) -> str:
    units, text = units_of(variable.attrs), variable.attrs.get("long_name", "")
    return f"`{name}` ({', '.join(map(str, variable.dims))}) [{units}]: {text}"


def _true_parameters(data: Dataset) -> list[str]:
    count = sum(str(name).startswith(TRUTH) for name in data.coords)
    return [f"{count} coordinates along `design` that begin with `{TRUTH}`"] if count else []


def _limits(sweep: Sweep) -> list[str]:
    motions = "ideal tracking: motions are the commanded ones"
    if sweep.simulation is not None:
        settings = sweep.simulation.simulation
        motions = f"motions follow from forces, integrated by {settings.method} with steps of {settings.step:g} s"
    rows = [f"rigid bodies, {motions}"]
    return rows + ([] if sweep.measurement is None else ["sensors as in the section on measurement, nothing else"])
