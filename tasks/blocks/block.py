"""Block of a sweep as data: a range of designs, friction sets and trajectories at all times, and inputs of its tasks.

Tasks exchange arrays in memory with the layout (trajectory, design, component, padded time), so that kernels read and
write contiguous rows. `empty` is `numpy.empty` on reusable memory, because fresh pages cost as much time as the
computation that fills them: a piece goes back to a pool when the last view of its array is gone. The pool belongs to
the process and may be used by many threads; free and leased memory together stay within what was leased at once.

Beside the block stand a user metric as data (`BlockMetric`; `tasks.blocks.user_metrics` calls its function) and the
measured series, which sensors make of the clean series of each case (`Measurement`, see `tasks.mathematics.signals`).
"""

from __future__ import annotations

import ctypes
import functools
import math
import sys
import threading
import weakref
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from robots.criteria.parts import NO_CRITERIA, CriteriaParameters
from robots.criteria.selection import EVERYTHING, SeriesSelection
from robots.formats.description import Description, family_of
from robots.friction.groups import FrictionGroup, varies
from robots.limits import EVEN_SHARING, NO_LIMITS, ActuatorSharing, Limits
from robots.measurement import CLEAN, Sensors, clean_series
from robots.model import Family
from robots.quantities import FRICTION, QUANTITIES, SPACE, MetricFunction, mechanism_sizes
from robots.simulation import SimulationSettings
from robots.trajectories.trajectory import Trajectory
from tasks.features.friction.feature import FrictionGroups
from tasks.features.limits import JointLimits
from tasks.features.loads import PlatformWrench
from tasks.features.redundancy.feature import Redundancy
from tasks.features.sharing import Sharing, even_weights
from tasks.features.table import criteria_features, criteria_inputs, request
from tasks.kernels.kernel import Kernel
from tasks.kernels.kernel import kernel as cached_kernel
from tasks.kernels.keys import CPU, Device, Values, indexed
from tasks.kernels.program import Program
from tasks.mathematics import signals
from tasks.mechanics.structure import mount_values
from tasks.stages.metrics import margins
from tasks.stages.metrics.margins import LimbLimits
from tasks.stages.request import Request

KEPT_BYTES = 1 << 31
SMALL = 1 << 16
"""Arrays below this size in bytes are not worth keeping."""

SPARE = 1.25
"""Size of a piece of memory relative to the array that it is given to, at most."""


class Pool:
    """Free pieces of memory, newest last."""

    def __init__(self, kept_bytes: int = KEPT_BYTES):
        self.kept_bytes = kept_bytes
        self.leased = self.most_leased = 0
        """Bytes that arrays have now, and the most that they had at once."""
        self.free: list[np.ndarray] = []
        self.returned: deque[np.ndarray] = deque()
        self.lock = threading.Lock()

    def empty(self, shape: tuple[int, ...], dtype: Any = float) -> np.ndarray:
        """An array with arbitrary contents."""
        kind = np.dtype(dtype)
        size = math.prod(shape) * kind.itemsize
        if size < SMALL:
            return np.empty(shape, dtype)
        lease = _Lease(self._take(size), self)
        return np.asarray(lease)[:size].view(kind).reshape(shape)

    def _take(self, size: int) -> np.ndarray:
        size = -(-size // 4096) * 4096
        with self.lock:
            self._settle()
            fitting = [i for i, piece in enumerate(self.free) if size <= piece.nbytes <= SPARE * size]
            piece = self.free.pop(min(fitting, key=lambda i: (self.free[i].nbytes, -i))) if fitting else None
            self.leased += size if piece is None else piece.nbytes
            self.most_leased = max(self.most_leased, self.leased)
            self._settle()
        return np.empty(size, dtype=np.uint8) if piece is None else piece

    def make_room(self, size: int) -> None:
        """Let free pieces go until so many bytes that are allocated elsewhere have room beside the pool."""
        with self.lock:
            self._settle(size)

    def give(self, memory: np.ndarray) -> None:
        """Take memory back. Never waits: the garbage collector may call it while this thread holds the lock."""
        self.returned.append(memory)
        if self.lock.acquire(blocking=False):
            try:
                self._settle()
            finally:
                self.lock.release()

    def _settle(self, elsewhere: int = 0) -> None:
        """Put returned memory among the free pieces; the oldest ones are released when there are too many."""
        while self.returned:
            self.free.append(self.returned.popleft())
            self.leased -= self.free[-1].nbytes
        while sum(piece.nbytes for piece in self.free) > min(
            self.kept_bytes, self.most_leased - self.leased - elsewhere
        ):
            if not self.free:
                return
            self.free.pop(0)


class _Lease:
    """Owner of a piece of memory while arrays on it live.

    Not an array itself: NumPy would let a view refer past it to the memory, and the lease would end too early.
    """

    def __init__(self, memory: np.ndarray, pool: Pool):
        self.__array_interface__ = memory.__array_interface__
        weakref.finalize(self, pool.give, memory).atexit = False


_pool = Pool()
empty, make_room = _pool.empty, _pool.make_room


def trim() -> None:
    """Give all memory that nothing uses back to the system."""
    make_room(sys.maxsize)
    with suppress(OSError, AttributeError):  # an allocator that is not that of glibc
        ctypes.CDLL(None).malloc_trim(0)


def keep(size: int) -> None:
    """Keep at most so many bytes of free memory from now on."""
    _pool.kept_bytes = size
    with _pool.lock:
        _pool._settle()


@dataclass(frozen=True)
class BlockMetric:
    """A user metric: its name, its function, and the dims of its inputs.

    `depends` has for each series of the function whether it depends on design, on friction and on trajectory here; of
    simulations, whose dims `gains` and `state` follow, it depends on all. The result is one number, or with
    `per_actuator` one for each actuator.
    """

    name: str
    function: MetricFunction
    depends: tuple[tuple[bool, ...], ...]
    per_actuator: bool


@dataclass(frozen=True)
class Measurement:
    """Sensors, and the place of a block's first case among designs, friction sets and trajectories of the sweep.

    Of a sweep of simulations sets of gains and initial states follow.
    """

    sensors: Sensors
    place: tuple[int, ...] = (0, 0, 0)

    def moved(self, *by: int) -> Measurement:
        """The same for a part of a block that begins so many cases further."""
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
    sensors, first, step = measurement.sensors, measurement.place, float(times[1] - times[0])
    sets = arrays["actuator_force"].shape[1] if "actuator_force" in arrays else 0
    for d, j in np.ndindex(arrays["actuator_position"].shape[:2]):
        position, place = arrays["actuator_position"][d, j], (first[0] + d, first[2] + j)
        random = signals.generator(sensors.seed, place)
        _keep(out, (d, j), signals.positions(sensors.values, step, position, random))
        for f in range(sets):
            random = signals.generator(sensors.seed, (*place, first[1] + f))
            force = arrays["actuator_force"][d, f, j]
            _keep(out, (d, f, j), signals.forces(sensors.values, step, force, position, random))
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


def _keep(out: Arrays, place: tuple[int, ...], made: Arrays) -> None:
    for name, values in made.items():
        if name in out:
            out[name][place] = values


Arrays = dict[str, np.ndarray]


@dataclass(frozen=True)
class BlockSimulation:
    """A simulation, the parameters of its controller (gain set, parameter), the offsets of initial states by name.

    state (state, offset) in the order of `offsets`, names of `robots.simulation.state_parameters`; `dims` are those of
    the dataset that the two axes have: none for an axis that a sweep does not have. `paired`: each design has gains and
    initial state of its own, the rows of its number, in place of all.
    """

    simulation: SimulationSettings
    gains: np.ndarray
    state: np.ndarray
    offsets: tuple[str, ...] = ()
    dims: tuple[str, ...] = ()
    paired: bool = False


@dataclass(frozen=True)
class Block:
    """Everything that the tasks of one block need; small to send.

    parameters (design, parameter); friction (set, parameters of all groups); times (samples,) [s]; `origin` (3,) [m]
    is what positions of trajectories count from, in the base frame. `series` and `metrics` are the variables to
    compute, named as in the dataset.
    """

    index: int
    robot: str
    parameters: np.ndarray
    groups: tuple[FrictionGroup, ...]
    friction: np.ndarray
    trajectories: tuple[Trajectory, ...]
    times: np.ndarray
    origin: tuple[float, float, float]
    gravity: tuple[float, float, float]
    series: tuple[str, ...]
    metrics: tuple[str, ...]
    measurement: Measurement | None = None
    """Sensors for positions and forces of actuators, where `series` has measured ones."""
    description: Description | None = None
    """The robot where it is none of the catalogue; its family is made once in each process."""
    own: tuple[BlockMetric, ...] = ()
    """Metrics of a user's own, see `tasks.blocks.user_metrics`."""
    extra: tuple[str, ...] = ()
    """Names in `series` that are computed for user metrics alone, and not stored."""
    limits: Limits = NO_LIMITS
    """Limits of joints and actuators; a sample beyond a range of a joint has the status JOINT_LIMIT."""
    simulation: BlockSimulation | None = None
    """Simulation of the cases; None where forces follow from motions."""
    criteria: CriteriaParameters = NO_CRITERIA
    """Parameters of the design criteria: elasticity, errors, clearances, load and capsules of the robot."""
    base: Trajectory | None = None
    """Motion of the base in the world; None for a base at rest."""
    selection: SeriesSelection = EVERYTHING
    """Of which joints and links some series are stored."""
    gravities: np.ndarray | None = None
    """Gravity of each design (design, 3) [m/s^2]; None where it is `gravity` for all."""
    sharing: ActuatorSharing = EVEN_SHARING
    """Distribution of forces among actuators where a robot has more actuators than freedoms."""
    single: bool = False
    """Single precision of samples instead of double."""
    device: Device = CPU
    """Kind of processor that computes the block; no bit depends on it."""

    @property
    def family(self) -> Family:
        """The robot's family."""
        return family_of(self.robot, self.description)

    @property
    def designs(self) -> int:
        """Number of designs."""
        return len(self.parameters)

    @property
    def samples(self) -> int:
        """Number of samples: designs, trajectories and times; friction sets share them."""
        return self.designs * len(self.trajectories) * len(self.times)

    @property
    def variables(self) -> frozenset[str]:
        """Everything that the block computes."""
        return frozenset((*self.series, *self.metrics))

    @functools.cached_property
    def request(self) -> Request:
        """Request of the block to the stages.

        It includes the series from which measured series are made; another block may own these.
        """
        wanted = (*self.series, *clean_series(self.series), *self.metrics)
        limits = tuple(limits for limits, _ in self._limb_limits)
        loaded = any(trajectory.load is not None for trajectory in self.trajectories)
        features = (
            *(FrictionGroups(self.groups), JointLimits(limits), PlatformWrench(loaded), Sharing(self.sharing.form)),
            *(
                Redundancy(bool(self.family.reference.resolved)),
                *criteria_features(self.family.reference, self.criteria),
            ),
        )
        return request(self.family, wanted, *features, moving_base=self.base is not None)

    @functools.cached_property
    def _limb_limits(self) -> tuple[tuple[LimbLimits, np.ndarray], ...]:
        """Requested limits of each limb, with their values."""
        return tuple(margins.of_limb(self.limits, k) for k in range(len(self.family.reference.instances)))

    def dims(self, name: str) -> tuple[str, ...]:
        """The dims of a quantity in this block: without that of friction where friction does not change it."""
        row = QUANTITIES[name]
        return row.dims if varies(row, self.groups) else tuple(dim for dim in row.dims if dim != FRICTION)

    @property
    def sizes(self) -> dict[str, int]:
        """Lengths of the dims of the block's variables."""
        return {
            "design": self.designs,
            "friction": len(self.friction),
            "trajectory": len(self.trajectories),
            "time": len(self.times),
            **SPACE,
            **mechanism_sizes(self.family.reference),
        }

    def shape(self, dims: Sequence[str]) -> tuple[int, ...]:
        """Lengths of some dims."""
        sizes = self.sizes
        return tuple(sizes[dim] for dim in dims)

    def kernel(self, program: Program) -> Kernel:
        """A program in the precision and on the device of the block."""
        if self.device == CPU:
            return cached_kernel(program, single=self.single)
        from tasks.kernels.device import card_kernel  # few blocks are for cards, which need the extra `gpu`

        return card_kernel(program, single=self.single)

    def case_values(self) -> Values:
        """Inputs of the stages that depend on the design, or on nothing: (design or 1, size)."""
        actuators = len(self.family.reference.actuators)
        values: Values = {"parameters": self.parameters, "gravity": np.array([self.gravity], dtype=float)}
        if self.gravities is not None:
            values["gravity"] = self.gravities
        values |= {"capacity": margins.capacities(self.limits, actuators), **even_weights(self.family)}
        values |= {"motor_capacity": margins.motor_capacities(self.limits, actuators)}
        values |= {name: np.array([numbers]) for name, numbers in self._shared.items() if numbers}
        for k, mount in enumerate(mount_values(self.family, self.named_parameters())):
            values |= indexed(k, {"mount": mount, "limits": self._limb_limits[k][1]})
        return values | (criteria_inputs(self.family, self.criteria) if self.criteria != NO_CRITERIA else {})

    @property
    def _shared(self) -> dict[str, tuple[float, ...]]:
        return {"weights": self.sharing.weights, "preload": self.sharing.preload}

    def switched_values(self, stamps: np.ndarray) -> dict[str, np.ndarray]:
        """Weights and preload of actuators (actuator, sample) that are off at times: infinite and none while they are.

        Nothing where no actuator is ever off; then they are among `case_values`.
        """
        if not self.sharing.off:
            return {}
        count = len(self.family.reference.actuators)
        active = np.ones((count, len(stamps)), dtype=bool)
        for k, start, stop in self.sharing.off:
            active[k, (start <= stamps) & (stamps < stop)] = False
        weights = np.array(self.sharing.weights or (1.0,) * count)[:, None]
        values = {"weights": np.where(active, weights, np.inf)}
        return values | ({"preload": active * np.array(preload)[:, None]} if (preload := self.sharing.preload) else {})

    def named_parameters(self) -> Arrays:
        """Parameters by name, (design,) each."""
        return {p.name: self.parameters[:, i] for i, p in enumerate(self.family.parameters)}


def time_first(array: np.ndarray, samples: int) -> np.ndarray:
    """Rows of a kernel, (..., component, padded time), as (..., time, component)."""
    return array[..., :samples].swapaxes(-1, -2)
