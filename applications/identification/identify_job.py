"""The Dask task of an identification: read the recordings of designs with a friction set, and fit to them."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, cast

import numpy as np

from applications.identification.estimation.designs.fits import FitOptions, Recorded, fit_designs
from applications.identification.estimation.designs.table import FitTable
from applications.identification.estimation.estimators import ESTIMATORS
from applications.identification.estimation.fit import fit, is_slow
from applications.identification.estimation.fitted import Fit
from applications.identification.estimation.machines.coupled_friction import is_coupled
from applications.identification.estimation.recorded import Filtering
from applications.identification.recordings import MotionSource, needed, recordings, tracks_of
from pipeline.documents.dataset_names import STATE_NUMBER, part_name
from pipeline.errors import TaskError
from pipeline.execution.executor import reason
from pipeline.sweep.dataset_split import PARTED
from pipeline.sweep.model import Sweep
from pipeline.sweep.side_files import stored_files
from robots.data_classes import dataclass, field
from robots.dims import STATE
from robots.model import Robot
from storage.errors import StoreError
from storage.lazy import designs_in_chunk
from storage.store import open_results
from tasks.dynamics.designs import RobotDesigns
from tasks.features.friction.inputs import FrictionInput
from tasks.mechanics.structure import with_parameters

if TYPE_CHECKING:
    from xarray import Dataset

    from tasks.dynamics.records import Moving


@dataclass(frozen=True)
class FoundFits:
    """Fits of the designs of a task: tables of many, single ones, and the reasons of failed ones."""

    tables: list[FitTable] = field(default_factory=list)
    fits: dict[int, Fit] = field(default_factory=dict)
    failed: dict[int, str] = field(default_factory=dict)


@dataclass(frozen=True)
class IdentifyJob:
    """Input of a task: the store and the text of its sweep, the cases, the method and the signals.

    `designs` are of one chunk of the store. `source` is where the motion comes from.
    """

    store: str
    text: str
    designs: tuple[int, ...]
    friction: int
    method: str
    clean: bool
    source: MotionSource
    call: str
    """Identity of the call of `identify`, whose tasks in a process open the store once, not that of an earlier call."""

    def run(self) -> FoundFits:
        """Read the recordings and estimate: all designs together, then one by one those that are left."""
        result = FoundFits()
        opened = (self.store, self.text, needed(self.clean, self.source), self.call)
        sweep, stored = _opened(*opened)
        size = designs_in_chunk(stored)
        data = _chunk(*opened, self.designs[0] // size, self.friction)
        try:
            result.tables.extend(self.together(sweep, data.isel(design=[design % size for design in self.designs])))
        except StoreError:
            raise
        except Exception:  # the design that is its cause is told below, and costs no other one
            result.tables.clear()
        done = {design for table in result.tables for design in table.designs.tolist()}
        for design in self.designs:
            if design not in done:
                try:
                    result.fits[design] = self._alone(sweep, design, data.isel(design=design % size))
                except StoreError:
                    raise
                except Exception as error:
                    result.failed[design] = reason(TaskError.of(error))
        return result

    def _filtering(self, sweep: Sweep) -> Filtering | None:
        """Return the filter of the forces; None for clean ones."""
        if sweep.measurement is None or self.clean:
            return None
        return Filtering(sweep.measurement.values, sweep.grid.step)

    def together(self, sweep: Sweep, data: Dataset) -> list[FitTable]:
        """Fit all designs that are not out of the ordinary; none where their motions or their method are."""
        robot, friction = Robot(sweep.family, sweep.parameters), friction_of(sweep, self.friction)
        special = sweep.simulation is not None or sweep.base is not None or robot.mechanism.resolved
        if special or self.method not in ESTIMATORS or is_coupled(robot, friction):
            return []
        training = [name in _of_part(data, "train")["trajectory"].values for name in data["trajectory"].values]
        tracks = tracks_of(sweep, data["trajectory"].values.tolist(), training)
        if not any(training) or is_slow(cast("Moving", tracks.commanded)):
            return []
        forces, *positions = (
            np.concatenate([array[:, j, : span.stop - span.start] for j, span in enumerate(tracks.spans)], axis=1)
            for array in (
                data[name].transpose("design", "trajectory", ...).values for name in needed(self.clean, self.source)
            )
        )
        options = FitOptions(self.method, friction, self.friction, self._filtering(sweep))
        recorded = Recorded(forces, positions[0] if positions else None)
        numbers = np.array(self.designs)
        return list(fit_designs(robot, designs_of(sweep, numbers), numbers, tracks, recorded, options))

    def _alone(self, sweep: Sweep, design: int, data: Dataset) -> Fit:
        """Fit one design. Raises ValueError where the recordings do not suffice."""
        robot, friction = robot_of(sweep, design), friction_of(sweep, self.friction)
        if STATE in data.sizes:  # a part of them still knows which they were
            data = data.assign_coords({STATE_NUMBER: (STATE, np.arange(data.sizes[STATE]))})
        parts = {
            part: recordings(sweep, robot, _of_part(data, part), self.clean, self.source)
            for part in ("train", "validation", "test")
        }
        return fit(
            robot,
            friction,
            parts["train"],
            [*parts["validation"], *parts["test"]],
            self.method,
            sweep.gravity_of(design),
            filtering=self._filtering(sweep),
            nominal=Robot(sweep.family, sweep.parameters),
        )


@lru_cache(maxsize=1)
def _opened(store: str, text: str, names: tuple[str, ...], call: str) -> tuple[Sweep, Dataset]:
    """Read the sweep of a store, and open some of its variables, without coordinates of designs and friction sets."""
    data = open_results(store)[list(names)]
    of_cases = [name for name, coordinate in data.coords.items() if {"design", "friction"} & {*coordinate.dims}]
    return Sweep.from_text(text, folder=stored_files(store)), data.drop_vars(of_cases)


@lru_cache(maxsize=2)
def _chunk(store: str, text: str, names: tuple[str, ...], call: str, number: int, friction: int) -> Dataset:
    """Read a chunk of designs under a friction set: it is unpacked as a whole, and the next designs are in it."""
    _, data = _opened(store, text, names, call)
    size = designs_in_chunk(data)
    part = slice(number * size, (number + 1) * size)
    return data.isel(design=part, friction=friction).load(scheduler="synchronous")


def robot_of(sweep: Sweep, design: int) -> Robot:
    """Build the robot of a design."""
    values = {name: float(column[0]) for name, column in sweep.designs(design, design + 1).items()}
    return Robot(sweep.family, values)


def designs_of(sweep: Sweep, numbers: np.ndarray) -> RobotDesigns:
    """Return designs by their numbers, which are near one another."""
    first, last = int(numbers.min()), int(numbers.max()) + 1
    gravity = sweep.gravities(first, last)
    parameters = with_parameters(sweep.family, sweep.designs(first, last))
    rows = np.broadcast_to(parameters, (last - first, parameters.shape[1]))
    designs = RobotDesigns(sweep.family, rows, gravity)
    return designs if len(numbers) == len(designs) else designs.taken(numbers - first)


def friction_of(sweep: Sweep, number: int) -> FrictionInput:
    """Return the friction parameters of a set."""
    values = sweep.friction.values(number, number + 1)
    return FrictionInput(sweep.friction.groups, np.array([[column[0] for column in values.values()]], dtype=float))


def _of_part(data: Dataset, part: str) -> Dataset:
    """Select the trajectories, or initial states of releases, of one part; without a split all are for training."""
    for dim in PARTED[1:]:
        if part_name(dim) in data.coords:
            return data.isel({dim: np.flatnonzero(data[part_name(dim)].values == part)})
    return data if part == "train" else data.isel(trajectory=slice(0, 0))
