"""The Dask task of an identification: read the recordings of a design with a friction set, and fit to them."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from applications.identification.estimation.fit import Fit, fit
from applications.identification.estimation.recorded import Filtering
from applications.identification.recordings import PLACE, MotionSource, needed, recordings
from pipeline.sweep.dataset_split import PARTED, part_name
from pipeline.sweep.model import Sweep
from pipeline.sweep.side_files import stored_files
from robots.data_classes import dataclass
from robots.dims import STATE
from robots.model import Robot
from storage.lazy import designs_in_chunk
from storage.store import open_results
from tasks.features.friction.inputs import FrictionInput

if TYPE_CHECKING:
    from xarray import Dataset


@dataclass(frozen=True)
class IdentifyJob:
    """Input of a task: the store and the text of its sweep, the case, the method and the signals.

    `source` is where the motion comes from.
    """

    store: str
    text: str
    design: int
    friction: int
    method: str
    clean: bool
    source: MotionSource
    call: str
    """Identity of the call of `identify`, whose tasks in a process open the store once, not that of an earlier call."""

    @property
    def case(self) -> tuple[int, int]:
        """The design and friction set."""
        return self.design, self.friction

    def run(self) -> Fit:
        """Read the recordings and estimate. Raises ValueError where the recordings do not suffice."""
        opened = (self.store, self.text, needed(self.clean, self.source), self.call)
        sweep, stored = _opened(*opened)
        robot, friction = robot_of(sweep, self.design), friction_of(sweep, self.friction)
        group, place = divmod(self.design, designs_in_chunk(stored))
        data = _chunk(*opened, group, self.friction).isel(design=place)
        if STATE in data.sizes:  # a part of them still knows which they were
            data = data.assign_coords({PLACE: (STATE, np.arange(data.sizes[STATE]))})
        parts = {
            part: recordings(sweep, robot, _of_part(data, part), self.clean, self.source)
            for part in ("train", "validation", "test")
        }
        unused = [*parts["validation"], *parts["test"]]
        filtering = None
        if sweep.measurement is not None and not self.clean:
            filtering = Filtering(sweep.measurement.values, sweep.grid.step)
        return fit(
            robot,
            friction,
            parts["train"],
            unused,
            self.method,
            sweep.gravity_of(self.design),
            filtering=filtering,
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
