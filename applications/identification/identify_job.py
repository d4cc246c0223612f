"""The Dask task of an identification: read the recordings of designs with a friction set, and fit to them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from applications.identification.estimation.fit import fit_designs
from applications.identification.estimation.fit_data import FitOptions
from applications.identification.estimation.recorded import Filtering
from applications.identification.estimation.table import FoundFits
from applications.identification.recordings import MotionSource, needed, recordings_of
from pipeline.errors import TaskError
from pipeline.sweep.model import Sweep
from pipeline.sweep.side_files import stored_files
from robots.data_classes import dataclass
from robots.model import Robot
from storage.errors import StoreError
from storage.lazy import designs_in_chunk
from storage.store import open_results
from tasks.dynamics.designs import RobotDesigns
from tasks.features.friction.inputs import FrictionInput
from tasks.mechanics.structure import with_parameters

if TYPE_CHECKING:
    from xarray import Dataset


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
        """Read the recordings of the designs and fit to them."""
        opened = (self.store, self.text, needed(self.clean, self.source), self.call)
        sweep, stored = _opened(*opened)
        size = designs_in_chunk(stored)
        data = _chunk(*opened, self.designs[0] // size, self.friction)
        nominal, friction = Robot(sweep.family, sweep.parameters), friction_of(sweep, self.friction)
        filtering = None
        if sweep.measurement is not None and not self.clean:
            filtering = Filtering(sweep.measurement.values, sweep.grid.step)
        options = FitOptions(self.method, friction, self.friction, filtering, nominal)
        fits = self._fits(sweep, data, size, options, self.designs)
        return FoundFits(fits.tables, {number: TaskError.of(error) for number, error in fits.failed.items()})

    def _fits(self, sweep: Sweep, data: Dataset, size: int, options: FitOptions, numbers: Sequence[int]) -> FoundFits:
        """Fit to some of the designs. An error that nobody foresaw costs the design that is its cause alone."""
        some = np.array(numbers)
        try:
            designs = designs_of(sweep, some)
            recorded = recordings_of(sweep, designs, data.isel(design=some % size), self.clean, self.source)
            return fit_designs(designs, some, recorded, options)
        except StoreError:
            raise
        except Exception as error:
            if len(some) == 1:
                return FoundFits(failed={numbers[0]: error})
        result = FoundFits()
        for half in np.array_split(some, 2):
            result.add(self._fits(sweep, data, size, options, half.tolist()))
        return result


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
