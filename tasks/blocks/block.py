"""Block of a sweep as data: a range of designs, friction sets and trajectories at all times, and inputs of its tasks.

Tasks exchange arrays in memory with the layout (trajectory, design, component, padded time), so that kernels read and
write contiguous rows. Beside the block stands a user metric as data (`BlockMetric`; `tasks.blocks.user_metrics` calls
its function).
"""

from __future__ import annotations

import functools
from collections.abc import Sequence

import numpy as np

from robots.criteria.parts import NO_CRITERIA, CriteriaParameters
from robots.criteria.selection import EVERYTHING, SeriesSelection
from robots.data_classes import dataclass, field, replace
from robots.derivatives import is_series
from robots.devices import CPU, Device
from robots.dims import FRICTION, SPACE, mechanism_sizes
from robots.formats.description import Description
from robots.formats.families import family_of
from robots.formulas import evaluated, formulas_of, has_formulas, replaced
from robots.friction.groups import FrictionGroup, varies
from robots.limits import EVEN_SHARING, NO_LIMITS, ActuatorSharing, Limits
from robots.loads.family import signal_values
from robots.loads.wrapped import moved_values
from robots.measurement import clean_series
from robots.metric_function import MetricFunction
from robots.model import Family
from robots.quantities import QUANTITIES
from robots.requested import QuantityNames
from robots.simulation import SimulationSettings
from robots.trajectories.trajectory import Trajectory
from tasks.blocks.designs import BlockDesigns
from tasks.blocks.measured import Measurement
from tasks.blocks.motions import Motions
from tasks.blocks.pool import Arrays, empty
from tasks.features.friction.feature import FrictionGroups
from tasks.features.limits import JointLimits
from tasks.features.loads import PlatformWrench
from tasks.features.redundancy.resolved import Redundancy
from tasks.features.sharing import Sharing
from tasks.features.table import criteria_features, criteria_inputs, request
from tasks.kernels.kernel import Kernel
from tasks.kernels.kernel import kernel as cached_kernel
from tasks.kernels.keys import Values, empty_rows, indexed
from tasks.kernels.program import Program
from tasks.mechanics.families import even_weights, mount_values, structure_of
from tasks.sources import prescribed
from tasks.sources.commanded import commanded
from tasks.sources.prescribed import base_field
from tasks.stages.metrics import margins
from tasks.stages.metrics.margins import LimbLimits
from tasks.stages.request import Feature, Request


@dataclass(frozen=True)
class BlockMetric:
    """A user metric: its name, its function, and the dims of its inputs.

    `depends` tells for each series of the function whether it depends on design, friction and trajectory. Series of
    simulations, which also have the dims `gains` and `state`, depend on all. The result is one number, or with
    `per_actuator` one for each actuator.
    """

    name: str
    function: MetricFunction
    depends: tuple[tuple[bool, ...], ...]
    per_actuator: bool


@dataclass(frozen=True)
class BlockSimulation:
    """A simulation, the parameters of its controller (gain set, parameter), the offsets of initial states by name.

    state (state, offset) in the order of `offsets`, names of `robots.simulation.state_parameters`. `dims` are the dims
    of the dataset along gains and states, without a dim for an axis that the sweep does not have. `paired`: each design
    has its own gains and initial state, the rows with its number, instead of all combinations.
    """

    simulation: SimulationSettings
    gains: np.ndarray
    state: np.ndarray
    offsets: tuple[str, ...] = ()
    dims: tuple[str, ...] = ()
    paired: bool = False


@dataclass(frozen=True)
class BlockDerivatives:
    """Metrics and series of a block to be differentiated, and rates of its numbers with each parameter.

    Rates: parameters (design or 1, of, parameter), friction (set or 1, of, numbers of all groups), gravity (design or
    1, of, 3); for simulations also gains (set or 1, of, number) of the controller, and start (state or 1, of, offset)
    of the offsets by name. `sides`: both one-sided derivatives are stored.
    """

    quantities: tuple[str, ...]
    parameters: np.ndarray
    friction: np.ndarray
    gravity: np.ndarray
    sides: bool = False
    gains: np.ndarray = field(default_factory=lambda: np.zeros((1, 0, 0)))
    start: np.ndarray = field(default_factory=lambda: np.zeros((1, 0, 0)))
    offsets: tuple[str, ...] = ()

    @property
    def series(self) -> tuple[str, ...]:
        """Names of the series among the quantities."""
        return tuple(name for name in self.quantities if is_series(name))

    @property
    def metrics(self) -> tuple[str, ...]:
        """Names of the metrics among the quantities."""
        return tuple(name for name in self.quantities if not is_series(name))

    @property
    def count(self) -> int:
        """Number of parameters that derivatives are taken by."""
        return int(self.parameters.shape[1])

    def cut(
        self, designs: slice, sets: slice, gains: slice = slice(None), start: slice = slice(None)
    ) -> BlockDerivatives:
        """Return the derivatives of some designs and friction sets, and of some gains and starts of simulations."""
        places = {"parameters": designs, "friction": sets, "gravity": designs, "gains": gains, "start": start}
        rows = {name: getattr(self, name) for name in places}
        return replace(self, **{k: x if len(x) == 1 else x[places[k]] for k, x in rows.items()})


@dataclass(frozen=True)
class Block:
    """Everything that the tasks of one block need; small to send.

    friction (set, parameters of all groups); times (samples,) [s]; `origin` (3,) [m] is the origin of the positions of
    trajectories, in the base frame. `quantities` are the variables to compute, named as in the dataset.
    """

    index: int
    robot: str
    designs: BlockDesigns
    groups: tuple[FrictionGroup, ...]
    friction: np.ndarray
    trajectories: tuple[Trajectory, ...]
    times: np.ndarray
    origin: tuple[float, float, float]
    quantities: QuantityNames
    measurement: Measurement | None = None
    """Sensors for positions and forces of actuators, where `series` has measured ones."""
    description: Description | None = None
    """Description of a robot that is not in the catalogue; its family is made once in each process."""
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
    """Selection of joints and links whose series are stored."""
    derivatives: BlockDerivatives | None = None
    """Derivatives of metrics and series, see `tasks.blocks.derived_quantities`."""
    sharing: ActuatorSharing = EVEN_SHARING
    """Distribution of forces among actuators where a robot has more actuators than freedoms."""
    features: tuple[Feature, ...] = ()
    """Features that sections of the sweep make whole, with the numbers of their inputs."""
    single: bool = False
    """Single precision of samples instead of double."""
    length: int = 0
    """Number of samples along time in the dataset; those beyond `times` have the status ENDED."""
    device: Device = CPU
    """Kind of processor that computes the block; no bit depends on it."""

    @property
    def family(self) -> Family:
        """The robot's family."""
        return family_of(self.robot, self.description)

    @property
    def samples(self) -> int:
        """Number of samples: designs, trajectories and times; friction sets share them."""
        return len(self.designs) * len(self.trajectories) * len(self.times)

    @property
    def series(self) -> tuple[str, ...]:
        """Names of the series to compute."""
        return self.quantities.series

    @property
    def metrics(self) -> tuple[str, ...]:
        """Names of the metrics to compute."""
        return self.quantities.metrics

    @property
    def variables(self) -> frozenset[str]:
        """Everything that the block computes."""
        return frozenset(self.quantities.both)

    @functools.cached_property
    def request(self) -> Request:
        """Request of the block to the stages.

        It includes the series from which measured series are made; another block may own these.
        """
        wanted = QuantityNames((*self.series, *clean_series(self.series)), self.metrics)
        limits = tuple(limits for limits, _ in self._limb_limits)
        loaded = any(trajectory.load is not None for trajectory in self.trajectories)
        features = (
            *(FrictionGroups(self.groups), JointLimits(limits), PlatformWrench(loaded), Sharing(self.sharing.form)),
            *(
                Redundancy(bool(self.family.reference.resolved)),
                *criteria_features(self.family.reference, self.criteria),
            ),
            *self.features,
        )
        return request(self.family, wanted, *features, moving_base=self.base is not None)

    def __post_init__(self) -> None:
        """Set the parameters of a design to NaN if a formula of limits, criteria or features gives no number for it.

        All samples of such a design then fail with a status, even if they do not need this formula.
        """
        found = {*formulas_of(self.limits), *formulas_of(self.criteria), *formulas_of(self.features)}
        for formula in found:
            missing = np.isnan(formula(self._moved_parameters))
            object.__setattr__(self, "designs", self.designs.missing(missing))

    @functools.cached_property
    def _limb_limits(self) -> tuple[tuple[LimbLimits, np.ndarray], ...]:
        """Requested limits of each limb, with their values."""
        return tuple(margins.of_limb(self.limits, k) for k in range(len(self.family.reference.instances)))

    def dims(self, name: str) -> tuple[str, ...]:
        """Return the dims of a quantity in this block, without `friction` if friction does not change it."""
        row = QUANTITIES[name]
        return row.dims if varies(row, self.groups) else tuple(dim for dim in row.dims if dim != FRICTION)

    @property
    def sizes(self) -> dict[str, int]:
        """Lengths of the dims of the block's variables."""
        return {
            "design": len(self.designs),
            "friction": len(self.friction),
            "trajectory": len(self.trajectories),
            "time": len(self.times),
            **SPACE,
            **mechanism_sizes(self.family.reference),
        }

    def shape(self, dims: Sequence[str]) -> tuple[int, ...]:
        """Return the lengths of some dims."""
        sizes = self.sizes
        return tuple(sizes[dim] for dim in dims)

    def kernel(self, program: Program) -> Kernel:
        """Return a program as a kernel in the precision and on the device of the block."""
        if self.device == CPU:
            return cached_kernel(program, single=self.single)
        from tasks.kernels.device import card_kernel  # few blocks are for cards, which need the extra `gpu`

        return card_kernel(program, single=self.single)

    def case_values(self) -> Values:
        """Return the inputs of the stages that depend on the design, or on nothing: (design or 1, size)."""
        return {**self._case_values}

    @functools.cached_property
    def _case_values(self) -> Values:
        """Case values, worked out once for all tasks of the block."""
        values = self.designs.inputs | even_weights(self.family)
        values |= {name: np.array([numbers]) for name, numbers in self._shared.items() if numbers}
        for k, mount in enumerate(mount_values(self.family, self.named_parameters())):
            values |= indexed(k, {"mount": mount})
        return values | {key: self.evaluated(row) for key, row in self._section_rows.items()}

    def evaluated(self, row: np.ndarray) -> np.ndarray:
        """Return numbers of limits or criteria (1, number), or with formulas the numbers of each design."""
        return evaluated(row, self._moved_parameters) if has_formulas(row) else row

    @functools.cached_property
    def _section_rows(self) -> Values:
        """Case inputs that follow from sections (1, size): numbers, or formulas among them."""
        actuators = len(self.family.reference.actuators)
        rows: Values = {"capacity": margins.capacities(self.limits, actuators)}
        rows |= {"motor_capacity": margins.motor_capacities(self.limits, actuators)}
        for k, (_, numbers) in enumerate(self._limb_limits):
            rows |= indexed(k, {"limits": numbers})
        for feature in self.features:
            rows |= feature.case_values()
        return rows | (criteria_inputs(self.family, self.criteria) if self.criteria != NO_CRITERIA else {})

    @functools.cached_property
    def formulas(self) -> Values:
        """Case inputs that have formulas, (1, size) each."""
        return {key: row for key, row in self._section_rows.items() if has_formulas(row)}

    @property
    def _moved_parameters(self) -> Arrays:
        """Parameters by name (design,), with their deviations added."""
        return dict(moved_values(self.family, self.named_parameters()))

    def limits_of(self, design: int) -> Limits:
        """Return the limits of a design, without formulas."""
        limits: Limits = replaced(self.limits, {name: x[design] for name, x in self._moved_parameters.items()})
        return limits

    @property
    def _shared(self) -> dict[str, tuple[float, ...]]:
        return {"weights": self.sharing.weights, "preload": self.sharing.preload}

    def switched_values(self, stamps: np.ndarray) -> dict[str, np.ndarray]:
        """Return weights and preload (actuator, sample) of actuators that are off at times: infinite and zero then.

        Empty if no actuator is ever off; the weights are then among `case_values`.
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

    def numbers_of(self, design: int) -> dict[str, float]:
        """Return the parameters of a design by name."""
        return {name: float(numbers[design]) for name, numbers in self.named_parameters().items()}

    def named_parameters(self) -> Arrays:
        """Return the parameters by name, (design,) each."""
        return self.designs.named([parameter.name for parameter in self.family.parameters])


def motions(block: Block) -> Motions:
    """Evaluate the trajectories of a block. Raises ValueError where their times differ."""
    require_one_grid(block)
    rows = [commanded(block.family, trajectory, block.times, block.origin) for trajectory in block.trajectories]
    motion = np.stack(rows, out=empty_rows((len(rows), *rows[0].shape), empty))
    signals = signal_values(block.family, prescribed.padded_times(block.times)) if block.family.signals else None
    felt = base_field(block.base, block.designs.gravity_of(0), block.times) if block.base is not None else None
    shared = block.switched_values(prescribed.padded_times(block.times))
    if not any(trajectory.load is not None for trajectory in block.trajectories):
        return Motions(motion, signals=signals, field=felt, shared=shared)
    acting = [
        prescribed.along(trajectory.load, _rotation(block.family, rows), block.times)
        for trajectory, rows in zip(block.trajectories, motion, strict=True)
    ]
    return Motions(motion, np.ascontiguousarray(np.stack(acting)), signals, felt, shared)


def require_one_grid(block: Block) -> None:
    """Refuse a block whose trajectories have different times; `work.by_grid` cuts it. Raises ValueError."""
    if len({trajectory.grid for trajectory in block.trajectories}) > 1:
        raise ValueError("trajectories: got several time grids; expected one in a block")


def _rotation(family: Family, motion: np.ndarray) -> np.ndarray:
    """Return the rotation of the platform, row by row (9, padded time or 1), from a motion input."""
    if structure_of(family).motion_size == 9:
        return np.array(family.reference.platform.home.rotation, dtype=float).reshape(9, 1)
    return motion[3:12]
