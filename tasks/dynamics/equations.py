"""The equations of motion of one robot for a batch: their matrices, single elements, energies, and accelerations.

Functions take a motion with any leading batch dims, like `tasks.dynamics.inverse`. SI units, world axes. A single
element of a chain's matrix comes from a kernel that computes this element alone, for the element-wise parallel scheme
of the paper on the explicit inertia matrix, see `tasks.mechanics.inertia.explicit`. Motion over time is in
`tasks.dynamics.simulate`, the pose that belongs to actuator positions in `tasks.dynamics.forward_kinematics`.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from typing import NamedTuple, Unpack

import numpy as np
from numpy.typing import ArrayLike

from robots.arguments import check_arguments
from robots.model import Robot
from robots.parameter_errors import nearest
from robots.status import Status
from robots.types import TWIST
from tasks.dynamics import inputs
from tasks.dynamics.inertia import (
    acceleration_program,
    bias_program,
    closed_element_program,
    closed_matrix_program,
    element_program,
    is_tree,
    matrix_program,
)
from tasks.dynamics.inputs import FieldInput, field_input
from tasks.dynamics.records import (
    GRAVITY,
    STANDING,
    TIMELESS,
    Environment,
    Forces,
    Motion,
    MotionKeywords,
    Moving,
    State,
    long_form,
)
from tasks.kernels.kernel import Batch, kernel, padded, rows
from tasks.kernels.keys import Arrays, Indexed, Values, indexed
from tasks.kernels.program import Program
from tasks.mechanics.families import structure_of
from tasks.stages import equations
from tasks.stages.terms import PLATFORM


class InertiaElement(NamedTuple):
    """Elements (*batch) [kg m^2, kg m or kg], and status (*batch)."""

    value: np.ndarray
    status: np.ndarray


class BiasVector(NamedTuple):
    """Joint forces (*batch, joint) [N m or N], and status (*batch)."""

    force: np.ndarray
    status: np.ndarray


@check_arguments
def inertia_element(
    robot: Robot, row: int | str, column: int | str, motion: State | None = None, **short: Unpack[MotionKeywords]
) -> InertiaElement:
    """Compute the element (row, column) of the joint-space inertia matrix of a chain, (*batch) [kg m^2, kg m or kg].

    Drives are included. q (*batch, freedom) [rad or m] of the independent joints. Rows and columns are names of these
    joints, or numbers in their order, from 0. The element is NaN where loops do not close. Raises ValueError for a
    robot with a platform, another shape of q, and a row or column that the matrix does not have. Eqs. (30) to (37); for
    closed chains see `tasks.dynamics.inertia`.

        >>> robot = ls.robots.build("planar_3r")
        >>> ls.inertia_element(robot, "joint_1", "joint_3", q=np.zeros((5, 3))).value.shape
        (5,)
    """
    motion, _ = long_form(motion, STANDING, short, TIMELESS)
    row, column = _number(robot, "row", row), _number(robot, "column", column)
    if robot.mechanism.is_chain and not is_tree(robot.family):
        program = closed_element_program(robot.family, row, column)
        return InertiaElement(*closed_inertia(robot, program, "element", motion.moving))
    _check_tree(robot)
    program = element_program(robot.family, row, column)
    batch, columns = inputs.moving_input(robot, motion.moving)
    arrays = {"parameters": inputs.parameters(robot), "q": columns[:, : len(robot.mechanism.freedoms)]}
    element = kernel(program)(arrays, columns.shape[-1])["element"][0].T[: int(np.prod(batch, dtype=int))]
    return InertiaElement(element[:, 0].reshape(batch), _statuses(element, batch))


def _number(robot: Robot, key: str, freedom: int | str) -> int:
    """Return the number of a freedom from its name or number."""
    names = robot.mechanism.freedoms
    if isinstance(freedom, str) and freedom in names:
        return names.index(freedom)
    if isinstance(freedom, bool) or not isinstance(freedom, int | np.integer):
        hint = f"; {nearest(freedom, names)}" if isinstance(freedom, str) else ""
        raise ValueError(f"{key}: got {freedom!r}; expected the number or the name of a freedom of {robot.name}{hint}")
    return int(freedom)


def closed_inertia(robot: Robot, program: Program, name: str, moving: Moving) -> tuple[np.ndarray, np.ndarray]:
    """Return an output (*batch, *shape) of a program of `tasks.dynamics.inertia`; NaN if status (*batch) is not OK."""
    batch, motion = inputs.moving_input(robot, moving)
    arrays = {"parameters": inputs.parameters(robot), "gravity": inputs.gravity_input(GRAVITY), "motion": motion}
    outputs = kernel(program)(arrays | {"mount": inputs.mounts(robot)[0]}, motion.shape[-1])
    values = np.where(outputs["status"][0] == Status.OK, outputs[name][0], np.nan)
    samples, (shape, _) = int(np.prod(batch, dtype=int)), program.outputs[name]
    status = outputs["status"][0, 0, :samples].astype(np.int8).reshape(batch)
    return np.ascontiguousarray(values.T)[:samples].reshape((*batch, *shape)), status


def _statuses(values: np.ndarray, batch: Batch) -> np.ndarray:
    """Return the status (*batch) of values (samples, size), failed where they are not finite."""
    finite = np.isfinite(values).all(axis=1)
    return np.where(finite, Status.OK, Status.NONFINITE).astype(np.int8).reshape(batch)


@check_arguments
def bias_vector(
    robot: Robot,
    motion: State | None = None,
    environment: Environment = STANDING,
    **short: Unpack[MotionKeywords],
) -> BiasVector:
    """Compute joint forces (*batch, joint) [N m or N] that leave a tree without acceleration, drives included.

    q, qd (*batch, joint) [rad or m, and per second] in the order of the links; gravity (3,) [m/s^2] in world axes.
    Raises ValueError for a robot with loops or a platform, and for other shapes. Eqs. (21), (22) of the paper on joint
    friction.

        >>> robot = ls.robots.build("planar_3r")
        >>> ls.bias_vector(robot, q=[0.1, 0.2, 0.3], qd=[1.0, 0.0, 0.0]).force.shape
        (3,)
    """
    motion, environment = long_form(motion, environment, short, TIMELESS)
    _check_tree(robot)
    inputs.refuse_forces(robot, "a call of inverse_dynamics")
    if environment.base is not None:
        raise ValueError("base: got a base that moves; expected one that stands, or a call of inverse_dynamics")
    program, joints = bias_program(robot.family), len(robot.mechanism.freedoms)
    batch, columns = inputs.moving_input(robot, motion.moving)
    arrays = {
        "parameters": inputs.parameters(robot),
        "gravity": inputs.gravity_input(environment.gravity),
        "q": columns[:, :joints],
        "qd": columns[:, joints : 2 * joints],
    }
    outputs = kernel(program)(arrays, columns.shape[-1])["bias"][0]
    bias = np.ascontiguousarray(outputs.T)[: int(np.prod(batch, dtype=int))]
    return BiasVector(bias.reshape(*batch, joints), _statuses(bias, batch))


def _check_tree(robot: Robot) -> None:
    """Refuse a robot with loops or a platform by ValueError."""
    if not is_tree(robot.family):
        kind = "joints that follow others" if robot.mechanism.limbs[0].couplings else "loops or a platform"
        raise ValueError(
            f"robot: got {robot.name}, which has {kind}; expected a tree; for matrices of other robots use "
            "limbsweep.equations_of_motion"
        )


class Equations(NamedTuple):
    """M_t V' + C_t V + gravity = J_IK^T u + load, all (*batch, ...); V has the freedoms of the platform's mobility.

    mass, coriolis (freedom, freedom), gravity (freedom); jacobian J_IK and its rate (actuator, freedom). In actuator
    coordinates, NaN where there are more actuators than freedoms: actuator_mass, actuator_coriolis (actuator,
    actuator), actuator_gravity (actuator), forward J_FK and its rate (freedom, actuator). Energies [J] and status ().
    """

    mass: np.ndarray
    coriolis: np.ndarray
    gravity: np.ndarray
    jacobian: np.ndarray
    jacobian_rate: np.ndarray
    actuator_mass: np.ndarray
    actuator_coriolis: np.ndarray
    actuator_gravity: np.ndarray
    forward: np.ndarray
    forward_rate: np.ndarray
    kinetic_energy: np.ndarray
    potential_energy: np.ndarray
    status: np.ndarray


NEAR, FEWEST = 1 << 21, 1 << 8
"""Bytes that limbs and platform give for the samples of a strip of a long batch, so that they stay in the cache, and
the fewest samples of a strip, whose calls take time as well."""

WHOLE = -2
"""Owner of what is put together of all limbs."""


class Model:
    """The kernels of one robot's equations of motion; arrays (1, size, padded samples).

    gravity: a vector, or a `FieldInput`: gravity and the inertial effects of a moving base for all samples of the
    `batch`. With a moving base, the motion has no acceleration.
    """

    def __init__(self, robot: Robot, gravity: ArrayLike | FieldInput = GRAVITY, batch: Batch = ()):
        self.robot, self.structure = robot, structure_of(robot.family)
        self.buffers: dict[tuple[str, int], Arrays] | None = None
        felt = gravity if isinstance(gravity, FieldInput) else FieldInput(inputs.gravity_input(gravity)[0])
        self.moving_base = felt.moving
        self.constants = {"parameters": inputs.parameters(robot), "gravity": felt.columns(batch)}
        self.mounts = inputs.mounts(robot)
        self.instances = self.structure.mechanism.instances
        self.freedoms = self.structure.positions
        self.actuators = len(self.structure.mechanism.actuators)

    def of(self, place: slice) -> Model:
        """Return the same for some of the samples."""
        part, known = copy.copy(self), self.constants.items()
        part.constants = {key: values[..., place] if values.ndim == 3 else values for key, values in known}
        return part

    def strips(self, motion: np.ndarray) -> Iterator[tuple[slice, Model, np.ndarray]]:
        """Yield strips of samples: their place, the model and the motion there.

        Results of a strip are valid until the next one, since all strips share the arrays of outputs.
        """
        width, shared, step = motion.shape[-1], copy.copy(self), self._strip()
        shared.buffers = {}
        for start in range(0, width, step):
            place = slice(start, min(start + step, width))
            yield place, shared.of(place), motion[..., place]

    def _strip(self) -> int:
        """Return the number of samples of a strip."""
        family, limbs = self.robot.family, [instance.limb for instance in self.instances]
        programs = [equations.limb_share_program(family, limb, self.moving_base) for limb in limbs]
        programs.append(equations.platform_share_program(family, self.moving_base))
        numbers = sum(len(places) for program in programs for _, places in program.outputs.values())
        return padded(max(FEWEST, NEAR // (8 * numbers)))

    def _run(self, owner: int, program: Program, arrays: Values, width: int) -> Arrays:
        """Run the program of a limb, or another owner's, on some samples."""
        run = kernel(program)
        if self.buffers is None:
            return run(arrays, width)
        key = program.name, owner
        if key not in self.buffers:
            self.buffers[key] = run.allocate(1, width)  # no strip is longer than the first
        out = {name: array[..., :width] for name, array in self.buffers[key].items()}
        return run(arrays, width, out, filled=True)

    def shares(self, motion: np.ndarray, angles: Sequence[np.ndarray] | None = None) -> Values:
        """Return the outputs of the share programs of platform and limbs, under each name and its owner's number.

        Positions of joints are computed by inverse kinematics, or are given as `angles` of each limb.
        """
        family, width, arrays = self.robot.family, motion.shape[-1], {**self.constants, "motion": motion}
        program = equations.platform_share_program(family, self.moving_base)
        parts: Values = indexed(PLATFORM, self._run(PLATFORM, program, arrays, width))
        for k, (instance, mount) in enumerate(zip(self.instances, self.mounts, strict=True)):
            mounted = {**arrays, "mount": mount}
            if angles is None:
                program = equations.limb_share_program(family, instance.limb, self.moving_base)
            else:
                program = equations.limb_state_program(family, instance.limb)
                mounted["angles"] = angles[k]
            parts |= indexed(k, self._run(k, program, mounted, width))
        return parts

    def total(self, motion: np.ndarray, parts: Arrays) -> Arrays:
        """Return the summed equations; see `tasks.stages.equations.total_program`."""
        program = equations.total_program(self.robot.family)
        return self._run(WHOLE, program, _known(program, motion, parts), motion.shape[-1])

    def acceleration(
        self, motion: np.ndarray, parts: Arrays, force: np.ndarray, load: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return accelerations (freedom, samples) from actuator forces and load along the freedoms; and the status."""
        program = equations.acceleration_program(self.robot.family)
        arrays = _known(program, motion, parts) | {"force": force, "load": load}
        outputs, status = self._run(WHOLE, program, arrays, motion.shape[-1]), self.status(parts)
        massless = (status == Status.OK) & (outputs["massless"][0, 0] > 0.5)
        return outputs["acceleration"][0], np.where(massless, float(Status.SINGULAR), status)

    def status(self, parts: Arrays, total: Arrays | None = None) -> np.ndarray:
        """Return the status of each sample, (padded samples,); with `total`, singular if J_IK has lost rank."""
        worst = np.max([parts[Indexed("status", k)][0, 0] for k in range(len(self.instances))], axis=0)
        if self.structure.may_lose_constraints:
            program = equations.hold_program(self.robot.family)
            loose = kernel(program)({name: parts[name] for name in program.inputs}, len(worst))["loose"][0, 0] > 0.5
            worst = np.where((worst == Status.OK) & loose, float(Status.CONSTRAINT_SINGULAR), worst)
        if total is None:
            return np.asarray(worst)
        code = Status.PLATFORM_SINGULAR if self.structure.compared else Status.SINGULAR
        return np.where((worst == Status.OK) & (total["singular"][0, 0] > 0.5), float(code), worst)

    def unaccelerated(self, motion: np.ndarray) -> np.ndarray:
        """Return a motion input without its accelerations, which come last."""
        count = len(self.freedoms) if self.structure.mechanism.is_chain else 3 if motion.shape[1] == 9 else len(TWIST)
        return np.concatenate([motion[:, :-count], np.zeros_like(motion[:, -count:])], axis=1)

    def unloaded(self, motion: np.ndarray) -> np.ndarray:
        """Return zero load along all freedoms, (freedom, padded samples)."""
        return np.zeros((len(self.freedoms), motion.shape[-1]))

    def speeds(self, motion: np.ndarray) -> np.ndarray:
        """Return the free components of the twist (freedom, padded samples) in a motion input."""
        if self.structure.mechanism.is_chain:
            return np.asarray(motion[0, len(self.freedoms) : 2 * len(self.freedoms)])
        twist = motion[0, 12:18] if self.structure.motion_size != 9 else np.insert(motion[0, 3:6], [0] * 3, 0.0, axis=0)
        return np.asarray(twist[self.freedoms])


def _tree_accelerations(
    robot: Robot, program: Program, moving: Moving, gravity: ArrayLike, forces: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return accelerations (*batch, joint) and status (*batch) of a tree by the articulated-body method."""
    joints = len(robot.mechanism.freedoms)
    batch, motion = inputs.moving_input(robot, moving, {"actuator": forces.shape[:-1]})
    arrays = {"parameters": inputs.parameters(robot), "gravity": inputs.gravity_input(gravity)}
    states = {"q": motion[:, :joints], "qd": motion[:, joints : 2 * joints]}
    pushed = np.ascontiguousarray(rows(forces, batch)[None])
    outputs = kernel(program)({**arrays, **states, "force": pushed}, motion.shape[-1])
    change = outputs["acceleration"][0].T
    status = _with_nonfinite(np.where(outputs["massless"][0, 0] > 0.5, float(Status.SINGULAR), 0.0), change)
    change = np.where((status == Status.OK)[:, None], change, np.nan)
    samples = int(np.prod(batch, dtype=int))
    return change[:samples].reshape(*batch, joints), status[:samples].astype(np.int8).reshape(batch)


def _known(program: Program, motion: np.ndarray, parts: Arrays) -> Values:
    return {"motion": motion} | {key: parts[key] for key in program.sample if key in parts}


@check_arguments
def equations_of_motion(
    robot: Robot,
    motion: State | None = None,
    environment: Environment = STANDING,
    **short: Unpack[MotionKeywords],
) -> Equations:
    """Compute the matrices of the equations of motion in task space and actuator coordinates, and energies.

    Motion, gravity and errors as in `inverse_dynamics`; accelerations have no effect. The freedoms of a chain are its
    independent joints. The potential energy is zero with all mass at the origin. Samples that cannot be solved hold
    NaN. Source: hybrid-limb paper, Eqs. (107) to (120).

        >>> robot = ls.robots.build("five_bar")
        >>> equations = ls.equations_of_motion(robot, position=[0.05, 0.0, -0.6])
        >>> equations.mass.shape, equations.gravity.shape
        ((2, 2), (2,))
    """
    motion, environment = long_form(motion, environment, short, TIMELESS)
    if environment.base is not None:
        raise ValueError("base: got a base that moves; expected one that stands, or a call of forward_dynamics")
    batch, columns = inputs.moving_input(robot, motion.moving)
    model, samples = Model(robot, environment.gravity), int(np.prod(batch, dtype=int))
    pieces = [_of_strip(part, motion) for _, part, motion in model.strips(columns)]
    fields = {name: np.concatenate([piece[name] for piece in pieces]) for name in pieces[0]}
    status = fields.pop("status")
    for values in fields.values():
        values[status != Status.OK] = np.nan
    fields = {name: values[:samples].reshape((*batch, *values.shape[1:])) for name, values in fields.items()}
    return Equations(**fields, status=status[:samples].astype(np.int8).reshape(batch))


def _of_strip(model: Model, columns: np.ndarray) -> dict[str, np.ndarray]:
    """Return the fields of `Equations` for some samples, numbers also where the status is not OK."""
    parts = model.shares(columns)
    total, speed = model.total(columns, parts), model.speeds(columns)
    fields = {
        name: _core_last(total[source], shape) if source in total else np.full((columns.shape[-1], *shape), np.nan)
        for name, (source, shape) in _sources(len(model.freedoms), model.actuators).items()
    }
    fields["kinetic_energy"] = 0.5 * np.einsum("is,sij,js->s", speed, fields["mass"], speed)
    owners = (PLATFORM, *range(len(model.instances)))
    fields["potential_energy"] = np.sum([parts[Indexed("potential", owner)][0, 0] for owner in owners], axis=0)
    status = _with_nonfinite(model.status(parts, total), fields["coriolis"], fields["potential_energy"])
    return fields | {"status": status}


def _sources(free: int, driven: int) -> dict[str, tuple[str, tuple[int, ...]]]:
    """Return the output of `total_program` and its shape for each matrix of `Equations`."""
    return {
        "mass": ("mass", (free, free)),
        "coriolis": ("coriolis", (free, free)),
        "gravity": ("gravity_force", (free,)),
        "jacobian": ("jacobian", (driven, free)),
        "jacobian_rate": ("jacobian_rate", (driven, free)),
        "actuator_mass": ("actuator_mass", (driven, driven)),
        "actuator_coriolis": ("actuator_coriolis", (driven, driven)),
        "actuator_gravity": ("actuator_gravity", (driven,)),
        "forward": ("forward", (free, driven)),
        "forward_rate": ("forward_rate", (free, driven)),
    }


def _core_last(values: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """Return a kernel's output (1, size, samples) as (samples, *shape)."""
    return np.array(values[0].T, order="C").reshape(-1, *shape)


def _with_nonfinite(status: np.ndarray, *results: np.ndarray) -> np.ndarray:
    """Return NONFINITE for samples (samples,) that are OK but whose results (samples, ...) are not finite."""
    finite = np.all([np.isfinite(values).reshape(len(status), -1).all(axis=1) for values in results], axis=0)
    return np.where((status == Status.OK) & ~finite, float(Status.NONFINITE), status)


class InertiaMatrix(NamedTuple):
    """Matrices (*batch, freedom, freedom) [kg m^2, kg m or kg], and status (*batch)."""

    matrix: np.ndarray
    status: np.ndarray


@check_arguments
def inertia_matrix(
    robot: Robot,
    motion: State | None = None,
    *,
    method: str = "crba",
    **short: Unpack[MotionKeywords],
) -> InertiaMatrix:
    """Compute the mass matrix M_t in task space, or over the joints of a chain, (*batch, freedom, freedom). Eq. (108).

    Drives are included. For a chain, `method` is one of `tasks.mechanics.inertia.METHODS`, which agree to rounding.
    Errors as in `equations_of_motion`, and ValueError for an unknown method, or a method that does not fit the robot.

        >>> robot = ls.robots.build("planar_3r")
        >>> ls.inertia_matrix(robot, q=np.zeros((5, 3))).matrix.shape
        (5, 3, 3)
    """
    motion, _ = long_form(motion, STANDING, short, TIMELESS)
    if is_tree(robot.family):
        return _tree_matrix(robot, method, motion.moving)
    if robot.mechanism.is_chain:  # by the tree: equations of motion would differentiate the rates of all joints
        program = closed_matrix_program(robot.family, method)
        return InertiaMatrix(*closed_inertia(robot, program, "inertia", motion.moving))
    if method != "crba":
        raise ValueError(f"method: got {method!r} for {robot.name}; expected 'crba': others are for chains alone")
    equations = equations_of_motion(robot, motion)
    return InertiaMatrix(equations.mass, equations.status)


def _tree_matrix(robot: Robot, method: str, moving: Moving) -> InertiaMatrix:
    program, freedoms = matrix_program(robot.family, method), len(robot.mechanism.freedoms)
    batch, motion = inputs.moving_input(robot, moving)
    arrays = {"parameters": inputs.parameters(robot), "q": motion[:, :freedoms]}
    matrices = kernel(program)(arrays, motion.shape[-1])["inertia"]
    samples = int(np.prod(batch, dtype=int))
    found = _core_last(matrices, (freedoms, freedoms))[:samples]
    status = _with_nonfinite(np.zeros(samples), found)
    found[status != Status.OK] = np.nan
    return InertiaMatrix(found.reshape(*batch, freedoms, freedoms), status.astype(np.int8).reshape(batch))


def free_acceleration(
    robot: Robot, motion: Motion, forces: Forces, environment: Environment
) -> tuple[np.ndarray, np.ndarray]:
    """Return the accelerations of a robot without friction and their status, see `tasks.dynamics.forward`."""
    field, moving = field_input(environment), inputs.without_change(motion.moving)
    pushed = inputs.actuator_forces(robot, forces)
    if forces.load is None and not field.moving and is_tree(robot.family):
        program = acceleration_program(robot.family)
        if program is not None:
            return _tree_accelerations(robot, program, moving, environment.gravity, pushed)
    load = inputs.load_input(robot, forces, motion.rotation)
    loads = np.zeros(6) if load is None else load
    batches = {"actuator": pushed.shape[:-1], "load": loads.shape[:-1], **field.batch}
    batch, columns = inputs.moving_input(robot, moving, batches)
    model = Model(robot, field, batch)
    if field.moving:
        columns = model.unaccelerated(columns)
    samples, driving = int(np.prod(batch, dtype=int)), rows(pushed, batch)[None]
    loading = rows(loads, batch)[model.freedoms] if load is not None else model.unloaded(columns)
    along = np.ascontiguousarray(loading)[None]
    width = columns.shape[-1]
    change, status = np.empty((len(loading), width)), np.empty(width)
    for place, part, seen in model.strips(columns):
        pushes = driving[..., place], along[..., place]
        change[:, place], status[place] = part.acceleration(seen, part.shares(seen), *pushes)
    status = _with_nonfinite(status, change.T)
    result = np.zeros((width, len(change) if robot.mechanism.is_chain else 6))
    result[:, model.freedoms] = change.T
    result[status != Status.OK] = np.nan
    return result[:samples].reshape(*batch, -1), status[:samples].astype(np.int8).reshape(batch)
