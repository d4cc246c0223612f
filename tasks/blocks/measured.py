"""Measured series: the clean series of each case with effects of sensors, see `tasks.mathematics.signals`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product

import numpy as np

from robots.data_classes import dataclass
from robots.measurement import CLEAN, Sensors
from tasks.blocks.pool import Arrays, empty
from tasks.mathematics import signals

NUMBERS = 1 << 16
"""Numbers of a series that are made at once, at most, unless one case has more: a filter is then made once for many."""


@dataclass(frozen=True)
class Measurement:
    """Sensors, and the place of a block's first case among designs, friction sets and trajectories of the sweep.

    In a sweep of simulations, the places among sets of gains and initial states follow.
    """

    sensors: Sensors
    place: tuple[int, ...] = (0, 0, 0)

    def moved(self, *by: int) -> Measurement:
        """Return the measurement for a part of a block that begins at an offset."""
        return Measurement(self.sensors, tuple(a + b for a, b in zip(self.place, by, strict=True)))


def series(
    measurement: Measurement, names: Sequence[str], times: np.ndarray, arrays: Mapping[str, np.ndarray]
) -> Arrays:
    """Compute the measured series among `names`, in the dims of the clean series among `arrays`.

    Noise of positions belongs to a design on a trajectory, noise of forces also to a friction set. So bits do not
    depend on the cutting of a sweep.
    """
    out = {name: empty(arrays[CLEAN[name]].shape) for name in names if name in CLEAN}
    if not out:
        return out
    clean, sensors, first = arrays["actuator_position"], measurement.sensors, measurement.place
    sets = arrays["actuator_force"].shape[1] if "actuator_force" in arrays else 0
    step, many = float(times[1] - times[0]), max(1, NUMBERS // max(1, clean[0, 0].size))
    for j, start in product(range(clean.shape[1]), range(0, len(clean), many)):
        part = slice(start, start + many)
        places = [(first[0] + d, first[2] + j) for d in range(len(clean))[part]]
        position = clean[part, j].swapaxes(0, 1)
        random = signals.Generators(sensors.seed, places)
        _keep(out, (part, j), signals.positions(sensors.values, step, position, random))
        for f in range(sets):
            random = signals.Generators(sensors.seed, [(*place, first[1] + f) for place in places])
            force = arrays["actuator_force"][part, f, j].swapaxes(0, 1)
            _keep(out, (part, f, j), signals.forces(sensors.values, step, force, position, random))
    return out


def of_motion(sensors: Sensors, names: Sequence[str], step: float, place: tuple[int, ...], clean: Arrays) -> Arrays:
    """Compute the measured series among `names` for one simulated case (time, actuator).

    clean: `actuator_position` and `sensed_force` (time, actuator), every `step` [s]. The place of the case in the
    sweep decides its noise, also the noise of positions: no other case has this motion.
    """
    position, force = clean["actuator_position"], clean["sensed_force"]
    seen = signals.positions(sensors.values, step, position, signals.generator(sensors.seed, place))
    seen |= signals.forces(sensors.values, step, force, position, signals.generator(sensors.seed, (*place, 1)))
    return {name: values for name, values in seen.items() if name in names}


def _keep(out: Arrays, place: tuple[slice | int, ...], made: Arrays) -> None:
    """Keep the series (time, design, actuator) that are asked for at their place."""
    for name, values in made.items():
        if name in out:
            out[name][place] = values.swapaxes(0, 1)
