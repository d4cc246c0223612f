"""The data of a report: a dataset, its table of designs, and the design shown in detail.

Everything is computed at its first use, so that a figure of one kind has only the cost of that kind.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from applications.report.data.case import ACTUATORS, MOST_TIMES, MOST_TRAJECTORIES, DesignCase
from applications.report.data.designs import ROUNDING, DesignColumn, Designs, designs
from applications.report.data.display import quantity
from applications.report.data.selection import DesignSelection, design_parts, selection
from applications.studies.axes import by_design
from applications.studies.cases import INCOMPLETE, by_cases, dims_of
from pipeline.documents.files import FileSource
from pipeline.errors import InputError, refused
from pipeline.execution.conventions import joint_units
from pipeline.sweep.question.question import NO_QUESTION, StudyQuestion
from robots.data_classes import dataclass, replace

if TYPE_CHECKING:
    from xarray import DataArray, Dataset

    from pipeline.sweep.model import Sweep


@dataclass(frozen=True, eq=False)
class Results:
    """The dataset of a store, and choices of a user: a design, a friction set, a folder of files that the sweep names.

    This class shows stored results; `ComputedResults` computes designs again.

    Raises InputError for a design or a friction set that the dataset does not have.
    """

    dataset: Dataset
    chosen_design: int | None = None
    chosen_friction: int | None = None
    files: Path | None = None
    stored: FileSource | None = None
    """The files in the store, where the dataset is that of one."""
    question: StudyQuestion = NO_QUESTION
    thins: bool = True
    """True where a table of very many designs may be held by some of its rows."""

    def __post_init__(self) -> None:
        for option, chosen in (("design", self.chosen_design), ("friction", self.chosen_friction)):
            size = self.dataset.sizes.get(option, 1)
            if chosen is not None and not 0 <= chosen < size:
                rule = f"the number of one of the {size}, from 0 to {size - 1}"
                raise refused(f"--{option}", str(chosen), rule)

    @cached_property
    def designs(self) -> Designs:
        """The table of designs; where the question names operating cases, each design has all of them."""
        table, selected = designs(self.by_case, self.question), self.selection
        if selected is None:
            return table
        numbers = table.numbers if self.question.cases else selected.rows[:, None]
        return replace(table, numbers=numbers, drawn=selected.drawn, larger=selected.totals)

    @cached_property
    def every_case(self) -> Dataset:
        """The dataset by designs and operating cases; as it is where the question names none."""
        return by_cases(self.dataset, self.question.cases)

    @cached_property
    def selection(self) -> DesignSelection | None:
        """The rows of the table that are held; None for all of them."""
        if not self.thins:
            return None
        return selection(self.every_case, lambda part: designs(part, self.question), self.chosen_design)

    @cached_property
    def by_case(self) -> Dataset:
        """The dataset by designs and operating cases, of the designs that the table holds."""
        selected = self.selection
        if selected is None:
            return self.every_case
        held = self.every_case.isel(design=selected.rows)
        return held.assign_coords({name: x.load() for name, x in held.coords.items() if "design" in x.dims})

    def parts(self) -> Iterator[tuple[Dataset, Designs]]:
        """Yield all designs by cases with their table, in parts: one where the table is held whole."""
        if self.selection is None:
            yield self.by_case, self.designs
            return
        for _, part in design_parts(self.every_case):
            yield part, designs(part, self.question)

    @cached_property
    def runs(self) -> Designs:
        """The table with each friction set apart, whose parameters are factors as those of designs are.

        As `designs` where there is one friction set, or where friction sets are operating cases.
        """
        sets = self.dataset.sizes.get("friction", 1)
        if sets == 1 or "friction" in dims_of(self.dataset, self.question.cases):
            return self.designs
        every = self.dataset
        if self.selection is not None:
            rows = np.flatnonzero(self.designs.fair)[:: sets * self.designs.numbers.shape[1]]
            every = every.isel(design=np.sort(self.designs.numbers[rows].ravel()))
        return designs(by_cases(by_design(every, friction=True), self.question.cases), self.question)

    @property
    def incomplete(self) -> int:
        """Number of designs that lack an operating case. They are left out."""
        return int(self.every_case.attrs.get(INCOMPLETE, 0)) if self.question.cases else 0

    @property
    def table(self) -> Dataset:
        """The table of all designs as a dataset: small, and in memory; `good` marks designs without a failed sample."""
        from xarray import Dataset

        table = self.designs
        columns = {column.name: ("design", column.values, column.attributes) for column in table.columns}
        return Dataset({**columns, "good": ("design", table.good)})

    @cached_property
    def shown(self) -> NDArray[np.int64]:
        """Numbers of the designs that plots of all designs show."""
        return self.designs.shown(always=(self.place,))

    @cached_property
    def objectives(self) -> tuple[DesignColumn, ...]:
        """Objectives in which the shown designs differ, and which all of them have that meet the conditions.

        Others may lack one: where the share of usable samples is a metric, designs stay that reach none.
        """
        meets = self.shown[self.designs.meets[self.shown]]
        counted = meets if len(meets) else self.shown
        every = (objective for objective in self.designs.objectives if objective.varies and len(counted))
        return tuple(objective for objective in every if np.isfinite(objective.values[counted]).all())

    @property
    def conflict(self) -> tuple[DesignColumn, DesignColumn] | None:
        """The first two objectives of the question; else the first and the one that conflicts with it most.

        That is the one with the longest front.
        """
        first, *others = self.objectives or (None,)
        if first is None or not others:
            return None
        if len(self.designs.asked) > 1 and others[0].name == self.designs.asked[1]:
            return first, others[0]
        return first, max(others, key=lambda objective: len(self.designs.fronts[first.name, objective.name]))

    @cached_property
    def place(self) -> int:
        """The row in the table of the design that is looked into: the chosen one, or the best. Raises InputError."""
        if self.chosen_design is None:
            return self.designs.best
        place = self.designs.place(self.chosen_design)
        if place is None:
            rule = "the number of a design that has every operating case"
            raise refused("--design", str(self.chosen_design), rule)
        return place

    @property
    def design(self) -> int:
        """The number in the store of the design that is looked into, under its hardest operating case."""
        return self.hardest(self.place) if self.chosen_design is None else self.chosen_design

    def hardest(self, place: int) -> int:
        """Return the store number of a table's design under its worst case for the first objective."""
        numbers = self.designs.numbers[place]
        return int(numbers[self.worst_case(place)])

    def worst_case(self, place: int) -> int:
        """Return the operating case of a design that is the worst for the first objective, or for the largest force."""
        return int(self.worst_cases[place])

    @cached_property
    def _ranks(self) -> dict[int, dict[str, tuple[int, int]]]:
        return {}

    @cached_property
    def worst_cases(self) -> NDArray[np.int64]:
        """Return the worst operating case of each design of the table, (design,)."""
        from applications.studies.columns import objective, values_by_case

        texts = self.question.objectives or tuple(name for name in ("peak_force",) if name in self.by_case)
        if self.designs.numbers.shape[1] == 1 or not texts:
            return np.zeros(self.designs.count, np.int64)
        first = objective(texts[0])
        costs = values_by_case(self.by_case, first) * (1.0 if first.direction == "min" else -1.0)
        return np.argmax(np.where(np.isfinite(costs), costs, -np.inf), axis=1)

    def ranks(self, place: int) -> Mapping[str, tuple[int, int]]:
        """Return by objective how many designs are better than one of the table, and among how many.

        Counted are designs that meet all conditions; where none does, those with a number.
        """
        if place not in self._ranks:
            self._ranks[place] = self._ranked(place)
        return self._ranks[place]

    def _ranked(self, place: int) -> dict[str, tuple[int, int]]:
        table, result = self.designs, {column.name: (0, 0) for column in self.designs.objectives}
        mine = {column.name: column.sign * column.values[place] for column in table.objectives}
        any_meets = bool(table.meets.any())
        for _, part in self.parts():
            for column in (column for column in part.objectives if column.name in result):
                among = part.meets if any_meets else np.isfinite(column.values)
                bound = mine[column.name] - ROUNDING * abs(mine[column.name])
                better = int((column.sign * column.values[among] < bound).sum())
                before = result[column.name]
                result[column.name] = (before[0] + better, before[1] + int(among.sum()))
        return result

    def name_of(self, design: int) -> int:
        """Return the number by which a design is named, that under the first case, from its number under any case."""
        place = self.designs.place(design) if self.question.cases else None
        return design if place is None else int(self.designs.numbers[place, 0])

    def case_words(self, case: int) -> str:
        """Return an operating case in words: `payload mass 3 kg`; empty without cases."""
        coordinates = [self.by_case[name] for name in self.question.cases]
        return ", ".join(f"{str(x.name).replace('_', ' ')} {_value_words(x, case)}" for x in coordinates)

    @cached_property
    def friction(self) -> int:
        """The friction set that is looked into: the chosen one, or that in which actuators need most."""
        peak = self.dataset.get("peak_force")
        if self.chosen_friction is not None or peak is None:
            return self.chosen_friction or 0
        others = [dim for dim in peak.dims if dim not in ("design", "friction")]
        values = peak.isel(design=self.design).max(others).values
        return int(np.nanargmax(values)) if np.isfinite(values).any() else 0

    @cached_property
    def _sweep(self) -> tuple[Sweep | None, str]:
        try:
            sweep = self.read_sweep()
        except InputError as error:
            if self.files is not None:
                raise
            return None, str(error)
        parts = [dim for dim, size in self._whole_sizes(sweep).items() if self._is_selection(dim, size)]
        return (None, f"a selection of {' and '.join(parts)}, not of designs alone") if parts else (sweep, "")

    def _is_selection(self, dim: str, size: int) -> bool:
        """Return whether the dataset has a part of a dim: fewer places, or one of several without its number."""
        lost = dim in ("friction", "trajectory") and dim not in self.dataset.sizes
        return size > 1 if lost else self.dataset.sizes.get(dim, size) != size

    def _whole_sizes(self, sweep: Sweep) -> dict[str, int]:
        """Return the lengths of the dims whose places are numbers of the sweep."""
        sizes = {"friction": sweep.friction.size, "trajectory": len(sweep.trajectories), "time": len(sweep.times)}
        if sweep.simulation is not None:  # gains and states are designs of their own, see `by_design`
            return {**sizes, "design": math.prod([sweep.design.size, *sweep.simulation.sizes.values()])}
        return sizes

    def _number(self, design: int) -> int:
        """Return the number in the sweep of a design of the dataset, which may be a selection of them."""
        if "design" in self.dataset.coords and self.dataset["design"].dtype.kind in "iu":
            numbers = self.dataset["design"]
            return int(numbers[design] if numbers.ndim else numbers)
        return design

    def read_sweep(self) -> Sweep:
        """Read the sweep of the store. Raises InputError where it cannot be read again."""
        raise refused("dataset", "results alone", "results that are computed again")

    def computed(self, sweep: Sweep, designs: Sequence[int]) -> Iterator[DesignCase]:
        """Compute some designs of the sweep again, by number, under the shown friction set."""
        raise NotImplementedError

    @property
    def sweep(self) -> Sweep | None:
        """The sweep of the store; None where it cannot be read again."""
        return self._sweep[0]

    @property
    def why_no_sweep(self) -> str:
        """Why it cannot be read again; empty where it can."""
        return self._sweep[1]

    @cached_property
    def case(self) -> DesignCase:
        """The design that is looked into, under the shown friction set."""
        return next(self.cases((self.design,)))

    def cases(self, designs: Sequence[int]) -> Iterator[DesignCase]:
        """Yield designs by number under the shown friction set: computed again, or if that is impossible, as stored."""
        if self.sweep is None:
            thin = max(1, -(-(self.dataset.sizes.get("time", 1) - 1) // (MOST_TIMES - 1)))
            stored = self._stored(ACTUATORS, designs, thin)
            for design in designs:
                yield DesignCase(design, stored[design], thin)
            return
        places, stored = {self._number(design): design for design in designs}, {}
        for case in self.computed(self.sweep, [*places]):
            # Where the store has a series too, it is that of the store which is shown.
            stored = stored or self._stored(case.results, designs, case.stride)
            series = stored[places[case.design]].variables
            yield replace(case, design=places[case.design], results=case.results.assign(series))

    @cached_property
    def units(self) -> dict[str, str]:
        """Units of friction parameters, which depend on whether joints turn or slide, by name, where joints agree."""
        return dict(joint_units(self.dataset, self.sweep))

    def heading(self, design: int) -> str:
        """Name a design and its friction set by their swept parameters: `Design 3 (upper arm 0.25 m)`."""
        place = self.designs.place(design)
        columns = self.designs.choices if self.designs.labels else self.designs.parameters
        swept = [f"{column.words} {column.text_at(place)}" for column in columns if place is not None]
        if place is not None and self.question.cases:
            case = int(np.flatnonzero(self.designs.numbers[place] == design)[0])
            swept.append(self.case_words(case))
        text = f"Design {self.name_of(design)}" + (f" ({', '.join(swept)})" if swept else "")
        if self.dataset.sizes.get("friction", 1) > 1:
            sets = [
                f"{str(name).replace('_', ' ')} {quantity(float(coordinate[self.friction]), self._unit(coordinate))}"
                for name, coordinate in self.dataset.coords.items()
                if coordinate.dims == ("friction",) and coordinate.dtype.kind in "fiu"
            ]
            text += f", friction set {self.friction}" + (f" ({', '.join(sets)})" if sets else "")
        return f"{text}."

    def _unit(self, coordinate: DataArray) -> str:
        return self.units.get(str(coordinate.name), str(coordinate.attrs.get("units", "")))

    def _stored(self, names: Iterable[Hashable], designs: Iterable[int], stride: int) -> dict[int, Dataset]:
        """Read the stored series of designs, at every `stride`-th time: together, as a chunk holds many designs."""
        numbers = sorted(set(designs))
        stored = [name for name in names if name in self.dataset]
        series = self.dataset[stored] if stored else self.dataset.drop_vars(self.dataset.variables)
        place = {"design": numbers, "friction": self.friction}
        series = series.isel({dim: index for dim, index in place.items() if dim in series.dims}, drop=True)
        series = series.isel(
            trajectory=slice(MOST_TRAJECTORIES), time=slice(None, None, stride), missing_dims="ignore"
        ).compute()
        series = series.transpose("trajectory", ..., missing_dims="ignore")
        return {number: series.isel(design=k, missing_dims="ignore", drop=True) for k, number in enumerate(numbers)}


def _value_words(values: DataArray, case: int) -> str:
    """Return the value of a parameter of cases under one of them: a number with its unit, or a name."""
    value = values.values[case]
    return str(value) if values.dtype.kind not in "fiu" else quantity(float(value), values.attrs.get("units", ""))
