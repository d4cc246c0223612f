"""Derivatives of the functions on arrays whose results are values of stages, by all inputs.

The stages of a function run once. Derivatives come from their programs and are exact, by one rule for each operation.
Source: Griewank and Walther, Evaluating Derivatives, 2nd ed., chapter 3.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple, cast

import numpy as np
from numpy.typing import ArrayLike

from robots.data_classes import dataclass, replace
from robots.dims import FREEDOMS
from robots.model import Robot
from robots.quantities import QUANTITIES, names
from robots.status import Status
from robots.types import TWIST
from tasks.dynamics.criteria_inputs import reaction_criteria
from tasks.dynamics.directions import Array, Derivatives, check_names, designs, spread, summed
from tasks.dynamics.inputs import CORES, JOINTS, field_input, load_input
from tasks.dynamics.inverse import Dynamics, Influences, held_status
from tasks.dynamics.records import Environment, Forces, Motion, Moving
from tasks.features.friction.inputs import FrictionInput, friction_input
from tasks.kernels.kernel import common_batch, padded, rows
from tasks.kernels.keys import Indexed, Key, Values
from tasks.stages.mounts import PARAMETERS, mount_stage
from tasks.stages.parts import OUTCOME, VELOCITY
from tasks.stages.stage import Stage
from tasks.stages.stages import limb, stages
from tasks.stages.tape import Tape

MOTION, GRAVITY, LOAD, FRICTION = "motion", "gravity", "load", "friction"


class ResultLayout(NamedTuple):
    """Shape of an output for one sample, and the places in it of the rows of values; NaN elsewhere."""

    shape: tuple[int, ...]
    parts: Sequence[tuple[Key, Array]]

    @classmethod
    def rows_of(cls, shape: tuple[int, ...], sizes: Mapping[Key, int]) -> ResultLayout:
        """Return the layout of the rows of some values, one after the other."""
        ends = np.cumsum([0, *sizes.values()])
        return cls(shape, [(key, np.arange(ends[k], ends[k + 1])) for k, key in enumerate(sizes)])

    def gathered(self, values: Values, samples: int, absent: float = np.nan) -> Array:
        """Return the output (samples, *shape) from values, filled with `absent` elsewhere."""
        result = np.full((math.prod(self.shape), samples), absent)
        for key, places in self.parts:
            if key in values:
                result[places] = np.broadcast_to(values[key], (1, len(places), values[key].shape[-1]))[0, :, :samples]
        return result.T.reshape(samples, *self.shape)

    def scattered(self, cotangents: Array, total: Values) -> None:
        """Add cotangents (samples, *shape) to the cotangents of the values."""
        flat = rows(cotangents.reshape(len(cotangents), -1), (len(cotangents),))
        for key, places in self.parts:
            part = flat[None, places]
            total[key] = total[key] + part if key in total else part


@dataclass(frozen=True)
class Differentiated:
    """A function on arrays whose results are values of stages: quantities, stages, outputs, status."""

    wanted: Callable[[FrictionInput], tuple[str, ...]]
    stages: Callable[[Dynamics], list[Stage]]
    outputs: Callable[[Dynamics], dict[str, ResultLayout]]
    status: Callable[[Tape, dict[str, Array]], Array]
    loaded: bool = True
    """True if load and friction are inputs."""
    weighed: bool = True
    """True if gravity is an input."""


def _limbs(dynamics: Dynamics) -> list[Stage]:
    return [limb(dynamics.request, k) for k in range(len(dynamics.robot.mechanism.instances))]


def _whole(dynamics: Dynamics) -> list[Stage]:
    return list(stages(dynamics.request))


def _of_limbs(dynamics: Dynamics, name: str, shape: Callable[[list[int]], tuple[int, ...]]) -> ResultLayout:
    sizes: dict[Key, int] = {
        key: _size(dynamics, key) for k in range(len(dynamics.robot.mechanism.instances)) if (key := Indexed(name, k))
    }
    return ResultLayout.rows_of(shape(list(sizes.values())), sizes)


def _size(dynamics: Dynamics, key: Indexed) -> int:
    """Return the rows of a value of a limb."""
    program = limb(dynamics.request, key.number).program
    return len(program.outputs[key.name][1])


def _joint_motion(dynamics: Dynamics) -> dict[str, ResultLayout]:
    short = {name.removeprefix("joint_"): name for name in ("joint_position", "joint_velocity", "joint_acceleration")}
    return {key: _of_limbs(dynamics, name, lambda sizes: (len(sizes), sizes[0])) for key, name in short.items()}


def _forces(dynamics: Dynamics) -> dict[str, ResultLayout]:
    mechanism = dynamics.robot.mechanism
    count, free = len(mechanism.actuators), len(mechanism.freedoms)
    force = "actuator_force" if "actuator_force" in dynamics.request.quantities.both else "force"
    return {
        "force": ResultLayout.rows_of((count,), {force: count}),
        "velocity": ResultLayout.rows_of((count,), {VELOCITY: count}),
        "jacobian": _of_limbs(dynamics, "jacobian", lambda sizes: (count, free)),
    }


def _positions(dynamics: Dynamics) -> dict[str, ResultLayout]:
    return {"position": _of_limbs(dynamics, "actuator_position", lambda sizes: (sum(sizes),))}


def _wrenches(dynamics: Dynamics) -> dict[str, ResultLayout]:
    mechanism = dynamics.robot.mechanism
    counts = [len(mechanism.limbs[instance.limb].joints) for instance in mechanism.instances]
    stride = max(counts) * len(TWIST)
    parts = [
        (Indexed("joint_reaction", k), k * stride + np.arange(count * len(TWIST))) for k, count in enumerate(counts)
    ]
    return {"wrench": ResultLayout((len(counts), max(counts), len(TWIST)), parts)}


EQUATIONS = {
    "mass": "mass_matrix",
    "coriolis": "coriolis_matrix",
    "gravity": "gravity_force",
    "jacobian": "inverse_jacobian",
    "jacobian_rate": "inverse_jacobian_rate",
    "kinetic_energy": "kinetic_energy",
    "potential_energy": "potential_energy",
}
"""Results of `equations_of_motion` that are values of the assembly, by the names that these have."""


def _equations(dynamics: Dynamics) -> dict[str, ResultLayout]:
    mechanism = dynamics.robot.mechanism
    lengths = {"actuator": len(mechanism.actuators)} | dict.fromkeys(FREEDOMS, len(mechanism.freedoms))
    shapes = {
        key: tuple(lengths[dim] for dim in QUANTITIES[name].dims if dim in lengths) for key, name in EQUATIONS.items()
    }
    return {key: ResultLayout.rows_of(shape, {EQUATIONS[key]: math.prod(shape)}) for key, shape in shapes.items()}


def _mass(dynamics: Dynamics) -> dict[str, ResultLayout]:
    count = len(dynamics.robot.mechanism.freedoms)
    return {"matrix": ResultLayout.rows_of((count, count), {"mass_matrix": count * count})}


def _row(tape: Tape, key: Key) -> Array:
    return tape.values[key][0, 0, : tape.samples]


def _of_samples(tape: Tape, outputs: dict[str, Array]) -> Array:
    return _row(tape, OUTCOME if OUTCOME in tape.values else "status")


def _of_all_limbs(tape: Tape, outputs: dict[str, Array]) -> Array:
    return np.max(
        [_row(tape, Indexed("status", stage.limb)) for stage in tape.stages if stage.limb is not None], axis=0
    )


def _of_wrenches(tape: Tape, outputs: dict[str, Array]) -> Array:
    status, wrench = _of_samples(tape, outputs), outputs["wrench"]
    size = np.nanmax(np.abs(wrench.reshape(len(wrench), -1)), axis=1, initial=0.0)
    return held_status(status, _row(tape, "missing"), size)


FUNCTIONS: Mapping[str, Differentiated] = {
    "inverse_kinematics": Differentiated(
        lambda friction: names("limb", "series"), _limbs, _joint_motion, _of_all_limbs, loaded=False, weighed=False
    ),
    "actuator_positions": Differentiated(
        lambda friction: ("actuator_position",), _limbs, _positions, _of_all_limbs, loaded=False, weighed=False
    ),
    "inverse_dynamics": Differentiated(
        lambda friction: ("actuator_force", "status") if friction.groups else (), _whole, _forces, _of_samples
    ),
    "equations_of_motion": Differentiated(
        lambda friction: tuple(EQUATIONS.values()), _whole, _equations, _of_samples, loaded=False
    ),
    "inertia_matrix": Differentiated(
        lambda friction: ("mass_matrix",), _whole, _mass, _of_samples, loaded=False, weighed=False
    ),
    "joint_reactions": Differentiated(lambda friction: ("joint_reaction",), _whole, _wrenches, _of_wrenches),
}
"""Functions whose results are values of stages."""


class Root(NamedTuple):
    """An input for derivatives: the places of its numbers among the values, and its original shape.

    `rows` of the value hold the `components` of one sample of the input, which has the shape `core`.
    """

    key: Key
    rows: Array
    components: Array
    core: tuple[int, ...]
    batch: tuple[int, ...] = ()

    @classmethod
    def whole(cls, key: Key, core: tuple[int, ...], batch: tuple[int, ...] = (), start: int = 0) -> Root:
        """Return an input all of whose numbers are in rows one after the other."""
        count = math.prod(core)
        return cls(key, np.arange(start, start + count), np.arange(count), core, batch)

    def taken(self, array: Array) -> Array:
        """Return the components that are among the values (*batch, row) of an array (*batch, *core)."""
        return array.reshape(*array.shape[: array.ndim - len(self.core)], -1)[..., self.components]

    def placed(self, part: Array) -> Array:
        """Return an array (*batch, *core) from its components (*batch, row), zero elsewhere."""
        result = np.zeros((*part.shape[:-1], math.prod(self.core)))
        result[..., self.components] = part
        return result.reshape((*part.shape[:-1], *self.core))


class StageDerivatives(Derivatives):
    """Derivatives of a function whose results are values of stages."""

    def __init__(
        self,
        row: Differentiated,
        robot: Robot,
        motion: Motion,
        forces: Forces,
        environment: Environment,
        parameters: Mapping[str, ArrayLike],
    ):
        if forces.load_axes != "world":
            raise ValueError(f"load_axes: got {forces.load_axes!r}; expected 'world' where derivatives are taken")
        self.row, self.parameters = row, designs(robot, parameters)
        robot = Robot.of(robot.family, {**robot.values, **{k: float(v.flat[0]) for k, v in self.parameters.items()}})
        groups = friction_input(robot, forces.friction)
        load = load_input(robot, forces, motion.rotation) if row.loaded else None
        self.dynamics = _opened(row, robot, motion, replace(forces, load=load), environment, groups, self.parameters)
        self.batch, self.samples = self.dynamics.batch, self.dynamics.samples
        self.per_sample = any(value.ndim for value in self.parameters.values())
        self._inputs = self._inputs_of(robot, motion, groups, load)
        self.layouts = row.outputs(self.dynamics)
        self.tape = self._tape(self._values())
        outputs = {name: layout.gathered(self.tape.values, self.samples) for name, layout in self.layouts.items()}
        self.status = row.status(self.tape, outputs).astype(np.int8)
        self.good = self.status == Status.OK
        self.results = {name: self._shaped(self._masked(array)) for name, array in outputs.items()}
        self.results["status"] = self.status.reshape(self.batch)

    def jvp(self, rates: Mapping[str, ArrayLike]) -> dict[str, Array]:
        """Return the rates of the results; see `Derivatives`."""
        table = self._sound.forward(self._through_mounts(self._root_rates(rates)))
        outputs = {name: layout.gathered(table, self.samples, 0.0) for name, layout in self.layouts.items()}
        return {name: self._shaped(self._masked(array)) for name, array in outputs.items()}

    def vjp(self, cotangents: Mapping[str, ArrayLike]) -> dict[str, Array]:
        """Return the derivatives of a number by all inputs; see `Derivatives`."""
        total, spoiled = self._seeds(cotangents)
        table = self._sound.backward(total)
        if (seeds := self._mount_seeds(table)) is not None:
            table[PARAMETERS] = table[PARAMETERS] + self._mounts.backward(seeds)[PARAMETERS][..., 0]
        return self._of_roots(table, spoiled)

    def hvp(self, cotangents: Mapping[str, ArrayLike], rates: Mapping[str, ArrayLike]) -> dict[str, Array]:
        """Return the product of second derivatives with a vector; see `Derivatives`."""
        (total, spoiled), moving = self._seeds(cotangents), self._root_rates(rates)
        first, second = self._sound.backward_rates(total, {}, self._through_mounts(moving))
        if (seeds := self._mount_seeds(first)) is not None:
            along = {key: _one_sample(moving[key]) for key in (PARAMETERS,) if key in moving}
            changes = self._mount_seeds(second) or {}
            second[PARAMETERS] = (
                second[PARAMETERS] + self._mounts.backward_rates(seeds, changes, along)[1][PARAMETERS][..., 0]
            )
        return self._of_roots(second, spoiled)

    def _root_rates(self, rates: Mapping[str, ArrayLike]) -> Values:
        """Return the rates of the roots, by key, where inputs change."""
        check_names("rates", rates, self.inputs)
        result: Values = {}
        for name, rate in rates.items():
            root = self._inputs[name]
            along = result.setdefault(root.key, np.zeros_like(self._sound.values[root.key]))
            wide = along.ndim == 3
            part = root.taken(spread(name, rate, root.core, self.batch if wide else ()))
            along[0, root.rows] = rows(part, self.batch) if wide else part
        return result

    def _seeds(self, cotangents: Mapping[str, ArrayLike]) -> tuple[Values, Array]:
        """Return the cotangents of values, zero at samples that are not OK, and which of these count."""
        total: Values = {}
        spoiled = np.zeros(self.samples, dtype=bool)
        check_names("cotangents", cotangents, self.layouts)
        for name, array in cotangents.items():
            seed = spread(name, array, self.layouts[name].shape, self.batch).reshape(self.samples, -1)
            spoiled |= ~self.good & (seed != 0.0).any(axis=1)
            self.layouts[name].scattered(np.where(self.good[:, None], seed, 0.0), total)
        return total, spoiled

    def _inputs_of(self, robot: Robot, motion: Motion, groups: FrictionInput, load: Array | None) -> dict[str, Root]:
        """Return the inputs by name."""
        parts, table = cast("dict[str, ArrayLike | None]", motion.moving), dict[str, Root]()
        for name, root in _motion_roots(robot, self.dynamics.values[MOTION].shape[1]).items():
            values = parts.get(name)
            shape = (*self.batch, *root.core) if values is None else np.shape(values)
            table[name] = root._replace(batch=shape[: len(shape) - len(root.core)])
        if self.row.loaded:
            if load is not None:
                table[LOAD] = Root.whole(LOAD, (6,), load.shape[:-1])
            for number, label in enumerate(groups.names):
                table[label] = Root.whole(FRICTION, (), start=number)
        if self.row.weighed and self.dynamics.values[GRAVITY].ndim == 2:
            table[GRAVITY] = Root.whole(GRAVITY, (3,))
        places = {parameter.name: k for k, parameter in enumerate(robot.family.parameters)}
        for name, value in self.parameters.items():
            table[name] = Root.whole(PARAMETERS, (), value.shape, places[name])
        return table

    @property
    def inputs(self) -> Collection[str]:
        """Names of the inputs."""
        return self._inputs.keys()

    @property
    def _roots(self) -> tuple[Key, ...]:
        return tuple(dict.fromkeys(root.key for root in self._inputs.values()))

    def _of_roots(self, table: Values, spoiled: Array) -> dict[str, Array]:
        """Return the derivatives by all inputs from those by their keys; NaN for the spoiled samples."""
        parts = {key: array[0] for key, array in table.items()}
        if spoiled.any():  # inputs that all samples share
            parts |= {key: np.full_like(part, np.nan) for key, part in parts.items() if part.ndim == 1}
        return {name: self._of_root(root, parts[root.key], spoiled) for name, root in self._inputs.items()}

    def _of_root(self, root: Root, table: Array, spoiled: Array) -> Array:
        part = table[root.rows]
        if part.ndim == 1:
            return root.placed(part)
        per_sample = np.where(spoiled, np.nan, part[:, : self.samples]).T
        return summed(root.placed(per_sample).reshape(*self.batch, *root.core), root.batch, len(root.core))

    def _values(self) -> Values:
        """Return the values that stages start from; with designs parameters of each sample, and no mounts."""
        values = dict(self.dynamics.values)
        if not self.per_sample:
            return values
        order = [parameter.name for parameter in self.dynamics.robot.family.parameters]
        table = np.repeat(values[PARAMETERS][0][:, None], self.samples, axis=1)
        for name, value in self.parameters.items():
            table[order.index(name)] = np.broadcast_to(value, self.batch).ravel()
        values[PARAMETERS] = rows(table.T.reshape(*self.batch, -1), self.batch)[None]
        return {key: array for key, array in values.items() if not (isinstance(key, Indexed) and key.name == "mount")}

    def _tape(self, values: Values) -> Tape:
        chain = self.row.stages(self.dynamics)
        if self.per_sample:
            chain = [mount_stage(self.dynamics.robot.family), *chain]
        mounts = [] if self.per_sample else [key for key in values if isinstance(key, Indexed) and key.name == "mount"]
        return Tape(chain, values, self.samples, [*self._roots, *mounts], per_sample=self.per_sample)

    @cached_property
    def _sound(self) -> Tape:
        """The tape with an OK sample in place of failed samples, which then do not spoil derivatives of others."""
        if self.good.all() or not self.good.any():
            return self.tape
        values, instead = self._values(), np.arange(padded(self.samples)).clip(max=self.samples - 1)
        instead = np.where(self.good, np.arange(self.samples), np.flatnonzero(self.good)[0])[instead]
        moved = {key: np.ascontiguousarray(array[..., instead]) for key, array in values.items() if array.ndim == 3}
        return self._tape(values | moved)

    @cached_property
    def _mounts(self) -> Tape:
        """The mount frames from the parameters that all samples share, as of one sample."""
        one = {PARAMETERS: _one_sample(self.dynamics.values[PARAMETERS])}
        return Tape([mount_stage(self.dynamics.robot.family)], one, 1, [PARAMETERS])

    def _through_mounts(self, rates: Values) -> Values:
        """Return the rates, and if parameters change, also the rates of the mount frames."""
        if self.per_sample or PARAMETERS not in rates:
            return rates
        table = self._mounts.forward({PARAMETERS: _one_sample(rates[PARAMETERS])})
        return rates | {key: array[..., 0] for key, array in table.items() if key != PARAMETERS}

    def _mount_seeds(self, table: Values) -> Values | None:
        """Return the derivatives by the mount frames, through which parameters act; None where they do not."""
        if self.per_sample or PARAMETERS not in table:
            return None
        frames = {key: array for key, array in table.items() if isinstance(key, Indexed) and array.shape[1]}
        return {key: _one_sample(array) for key, array in frames.items()} or None

    def _masked(self, array: Array) -> Array:
        array[~self.good] = np.nan
        return array

    def _shaped(self, array: Array) -> Array:
        return array.reshape((*self.batch, *array.shape[1:]))


def _one_sample(array: Array) -> Array:
    """Return values of a case (1, size) as values of one sample."""
    return np.repeat(array[..., None], padded(1), axis=2)


def _opened(
    row: Differentiated,
    robot: Robot,
    motion: Motion,
    forces: Forces,
    environment: Environment,
    groups: FrictionInput,
    parameters: Mapping[str, Array],
) -> Dynamics:
    """Return the dynamics of a call; the batch takes in that of designs."""
    shared = reaction_criteria(robot, forces.elasticity)
    batch = common_batch({name: value.shape for name, value in parameters.items()})
    moving = dict(motion.moving)
    if batch:
        cores = {**CORES, **dict.fromkeys(JOINTS, (len(robot.mechanism.freedoms),))}
        first = next((name for name in ("position", "q", *moving) if name in moving), None)
        if first is None:
            first, moving = "position", {"position": np.asarray(robot.mechanism.platform.home.position, dtype=float)}
        values, core = np.asarray(moving[first], dtype=float), cores[first]
        wide = common_batch({first: values.shape[: values.ndim - len(core)], "parameters": batch})
        moving[first] = np.broadcast_to(values, (*wide, *core))
    load = None if forces.load is None else np.asarray(forces.load, dtype=float)
    acting = Influences(field_input(environment), load, forces.weights, groups, motion.time, forced=row.weighed)
    return Dynamics(robot, cast(Moving, moving), row.wanted(groups), acting, criteria=shared)


def _motion_roots(robot: Robot, size: int) -> dict[str, Root]:
    """Return the places of the parts of a motion in the motion input of kernels, which has `size` rows."""
    if robot.mechanism.is_chain:
        count = len(robot.mechanism.freedoms)
        return {name: Root.whole(MOTION, (count,), start=k * count) for k, name in enumerate(JOINTS)}
    if size == 9:  # a platform that cannot turn has the linear parts alone
        linear = {name: Root(MOTION, k + np.arange(3), np.arange(3, 6), (6,)) for name, k in _LINEAR.items()}
        return {"position": Root.whole(MOTION, (3,)), **linear}
    starts = dict(zip(CORES, (0, 3, 12, 18), strict=True))
    return {name: Root.whole(MOTION, core, start=starts[name]) for name, core in CORES.items()}


_LINEAR = {"twist": 3, "acceleration": 6}
