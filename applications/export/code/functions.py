"""Functions that can be exported as code: one sample of a robot, as stages of kernels with their constants.

The robot's parameters, gravity and friction are constants of a function. Its arguments are the motion and the other
values that a user has at every step. The modules that write code (`c_source`, `casadi_function`) know neither
robots nor mechanics.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from applications.export.code.c_program import needed_inputs
from robots.data_classes import dataclass, field, replace
from robots.model import Robot
from robots.parameter_errors import nearest
from robots.status import Status
from robots.types import TWIST
from tasks.dynamics import inputs
from tasks.dynamics.inertia import acceleration_program, closed_matrix_program, is_tree, matrix_program
from tasks.dynamics.records import GRAVITY
from tasks.features import table
from tasks.features.friction.feature import FrictionGroups
from tasks.features.friction.inputs import Friction, friction_input
from tasks.kernels.expression import Array
from tasks.kernels.keys import Indexed, Key, Values, indexed
from tasks.kernels.program import Program, trace
from tasks.mechanics.families import even_weights, structure_of
from tasks.stages import equations, stages
from tasks.stages.parts import OUTCOME, VELOCITY
from tasks.stages.stage import Rows, Stage
from tasks.stages.terms import PLATFORM


@dataclass(frozen=True)
class CodeArgument:
    """An argument or a result: name, shape, unit, meaning."""

    name: str
    shape: tuple[int, ...]
    unit: str
    text: str

    @property
    def size(self) -> int:
        """Number of elements."""
        return int(np.prod(self.shape, dtype=int))


@dataclass(frozen=True)
class ProgramCall:
    """A call of a program: sources of its inputs, and names of the outputs that are needed."""

    program: Program
    inputs: Mapping[Key, Key | Rows]
    outputs: Mapping[Key, Key]


@dataclass(frozen=True)
class CodeFunction:
    """A function of one sample.

    `packed`: values that are made of arguments, one after the other, zeros where a number stands for a name.
    `results`: values by the quantity that they are. A sample has the worst of the `statuses`; else the status of a flag
    that is set; else NONFINITE where a result is not finite. Results of a sample that is not OK are NaN.
    """

    name: str
    title: str
    arguments: tuple[CodeArgument, ...]
    results: Mapping[CodeArgument, Key]
    constants: Mapping[Key, NDArray[np.float64]]
    packed: Mapping[Key, tuple[str | int, ...]]
    calls: tuple[ProgramCall, ...]
    statuses: tuple[Key, ...] = ()
    flags: Mapping[Key, Status] = field(default_factory=dict)
    free: tuple[str, ...] = ()
    """Parameters that are an argument."""

    @functools.cached_property
    def needed(self) -> tuple[ProgramCall, ...]:
        """Calls with those outputs alone on which results and statuses rest."""
        sources = {*self.results.values(), *self.statuses, *self.flags}
        calls: list[ProgramCall] = []
        for call in reversed(self.calls):
            outputs = {name: key for name, key in call.outputs.items() if key in sources}
            if outputs:
                taken = {name: call.inputs[name] for name in needed_inputs(call.program, outputs)}
                sources |= {source.of if isinstance(source, Rows) else source for source in taken.values()}
                calls.append(ProgramCall(call.program, taken, outputs))
        return tuple(reversed(calls))


def _unit(kinds: Iterable[str], turning: str, sliding: str) -> str:
    """Return the unit of values along joints or freedoms, both where they are of both kinds."""
    turns = {kind != "prismatic" for kind in kinds}
    return ", ".join(unit for unit, occurs in ((turning, True in turns), (sliding, False in turns)) if occurs)


@dataclass(frozen=True)
class CodeSetting:
    """A robot, the other inputs of its export, and the arguments of its motion."""

    robot: Robot
    gravity: ArrayLike = GRAVITY
    friction: Friction = None

    @property
    def constants(self) -> dict[Key, NDArray[np.float64]]:
        """Case inputs of its kernels (size,)."""
        robot = self.robot
        arrays: Values = {"parameters": inputs.parameters(robot), "gravity": inputs.gravity_input(self.gravity)}
        arrays |= {Indexed("mount", k): mount for k, mount in enumerate(inputs.mounts(robot))}
        return {key: values[0] for key, values in (arrays | even_weights(robot.family)).items()}

    def motion(self, *, acceleration: bool, rates: bool = True) -> tuple[list[CodeArgument], tuple[str | int, ...]]:
        """Return the arguments of its motion, and the sources of the `motion` of kernels."""
        free, names = structure_of(self.robot.family).freedoms, ", ".join(self.robot.mechanism.freedoms)
        turns = structure_of(self.robot.family).motion_size == 24
        if self.robot.mechanism.is_chain:
            parts = [
                CodeArgument("q", (free,), self.along_freedoms("rad", "m"), f"positions of {names}"),
                CodeArgument("qd", (free,), self.along_freedoms("rad/s", "m/s"), "their rates"),
                CodeArgument("qdd", (free,), self.along_freedoms("rad/s^2", "m/s^2"), "their accelerations"),
            ]
        elif turns:
            parts = [
                CodeArgument("position", (3,), "m", "position of the platform's reference point, world axes"),
                CodeArgument("rotation", (3, 3), "1", "rotation from platform to world axes, row by row"),
                CodeArgument("twist", (6,), "rad/s, m/s", "angular, then linear velocity, world axes"),
                CodeArgument("acceleration", (6,), "rad/s^2, m/s^2", "time derivative of the twist"),
            ]
        else:
            parts = [
                CodeArgument("position", (3,), "m", "position of the platform's reference point, world axes"),
                CodeArgument("velocity", (3,), "m/s", "its velocity"),
                CodeArgument("acceleration", (3,), "m/s^2", "its acceleration"),
            ]
        count = len(parts) - (0 if acceleration else 1) - (0 if rates else 1)
        return parts[:count], tuple(part.name if k < count else part.size for k, part in enumerate(parts))

    def forces(self) -> CodeArgument:
        """Return the argument for the actuator forces."""
        actuators = self.robot.mechanism.actuators
        return CodeArgument("force", (len(actuators),), self.along_actuators("N m", "N"), f"of {', '.join(actuators)}")

    def along_actuators(self, turning: str, sliding: str) -> str:
        """Return the unit of values of actuators."""
        return _unit(self.robot.mechanism.actuator_kinds, turning, sliding)

    def along_freedoms(self, turning: str, sliding: str) -> str:
        """Return the unit of values of freedoms."""
        mechanism = self.robot.mechanism
        if not mechanism.is_chain:
            return _unit(
                ["revolute" if name in TWIST[:3] else "prismatic" for name in mechanism.freedoms], turning, sliding
            )
        kinds = {link.joint: link.kind for link in mechanism.limbs[0].links}
        return _unit([kinds.get(name, "revolute") for name in mechanism.freedoms], turning, sliding)

    def square(self, name: str) -> CodeArgument:
        """Return a matrix of the freedoms."""
        free = self.robot.mechanism.freedoms
        return CodeArgument(
            name, (len(free), len(free)), self.along_freedoms("kg m^2", "kg"), f"of {', '.join(free)}, row by row"
        )


def _call(stage: Stage) -> ProgramCall:
    takes = {name: stage.takes.get(name, name) for name in stage.program.inputs}
    return ProgramCall(stage.program, takes, {name: stage.gives(name) for name in stage.program.outputs})


def _shares(robot: Robot) -> list[ProgramCall]:
    """Return the shares of platform and limbs in the equations of motion, by number of the owner."""
    family, instances = robot.family, structure_of(robot.family).mechanism.instances
    calls = [_call(Stage("platform", {}, lambda: equations.platform_share_program(family), {}, PLATFORM))]
    for k, instance in enumerate(instances):
        program = functools.partial(equations.limb_share_program, family, instance.limb)
        calls.append(_call(Stage(instance.name, {}, program, {"mount": Indexed("mount", k)}, k)))
    return calls


def _of_limbs(robot: Robot, name: str) -> tuple[Key, ...]:
    return tuple(Indexed(name, k) for k in range(len(robot.mechanism.instances)))


def plain_call(program: Program) -> ProgramCall:
    """Return a call of a program whose inputs and outputs are values of their names."""
    return ProgramCall(program, {key: key for key in program.inputs}, {key: key for key in program.outputs})


def inverse_dynamics(at: CodeSetting) -> CodeFunction:
    """Return the function of the actuator forces for a motion, as `tasks.inverse_dynamics`."""
    groups = friction_input(at.robot, at.friction)
    quantities = ("actuator_force", "status") if groups.groups else ()
    request = table.request(at.robot.family, quantities, FrictionGroups(groups.groups))
    arguments, motion = at.motion(acceleration=True)
    constants = at.constants | {"friction": groups.values[0], "weight": np.zeros(1), "held": np.zeros(0)}
    return CodeFunction(
        "inverse_dynamics",
        "actuator forces for a motion",
        tuple(arguments),
        {at.forces(): "actuator_force" if groups.groups else "force"},
        constants,
        {"motion": motion},
        tuple(_call(stage) for stage in stages.stages(request)),
        (OUTCOME if OUTCOME in request.actuation.series else "status",),
    )


def forward_dynamics(at: CodeSetting) -> CodeFunction:
    """Return the accelerations of the freedoms from actuator forces, without friction, as `tasks.forward_dynamics`."""
    robot = at.robot
    arguments, motion = at.motion(acceleration=False)
    names = ", ".join(robot.mechanism.freedoms)
    change = CodeArgument(
        "acceleration", (len(robot.mechanism.freedoms),), at.along_freedoms("rad/s^2", "m/s^2"), f"of {names}"
    )
    function = CodeFunction(
        "forward_dynamics",
        "accelerations of the freedoms from actuator forces",
        (*arguments, at.forces()),
        {change: "acceleration"},
        at.constants,
        {},
        (),
        flags={"massless": Status.SINGULAR},
    )
    program = acceleration_program(robot.family) if is_tree(robot.family) else None
    if program is not None:
        return replace(function, packed={name: (name,) for name in ("q", "qd", "force")}, calls=(plain_call(program),))
    last = plain_call(equations.acceleration_program(robot.family))
    return replace(
        function,
        packed={"motion": motion, "force": ("force",), "load": (len(robot.mechanism.freedoms),)},
        calls=(*_shares(robot), last),
        statuses=_of_limbs(robot, "status"),
    )


def inverse_kinematics(at: CodeSetting) -> CodeFunction:
    """Return the positions and velocities of the actuators and J_IK, as `tasks.dynamics.inverse.actuator_positions`."""
    robot, family = at.robot, at.robot.family
    request, structure = table.request(family, ("actuator_position",)), structure_of(family)
    limbs = [_call(stages.limb(request, k)) for k in range(len(robot.mechanism.instances))]

    def one_sample(
        motion: Array, actuator_position: Mapping[int, Array], jacobian: Mapping[int, Array]
    ) -> dict[str, Any]:
        rows = np.vstack([jacobian[k] for k in range(len(limbs))])
        return {
            "positions": [x for k in range(len(limbs)) for x in actuator_position[k]],
            "J_IK": rows,
            VELOCITY: rows @ structure.speed(motion),
        }

    counts = [len(structure.mechanism.limbs[each.limb].actuators) for each in structure.mechanism.instances]
    shapes: dict[Key, tuple[int, ...]] = {"motion": (structure.motion_size,)}
    for k, count in enumerate(counts):
        shapes |= indexed(k, {"actuator_position": (count,), "jacobian": (count, structure.freedoms)})
    joined = trace(f"{family.name}.inverse_kinematics", one_sample, case={}, sample=shapes)
    arguments, motion = at.motion(acceleration=False)
    actuators, free = robot.mechanism.actuators, robot.mechanism.freedoms
    drives, driven = ", ".join(actuators), (len(actuators),)
    return CodeFunction(
        "inverse_kinematics",
        "actuator positions and velocities for a motion",
        tuple(arguments),
        {
            CodeArgument("actuator_position", driven, at.along_actuators("rad", "m"), f"of {drives}"): "positions",
            CodeArgument(VELOCITY, driven, at.along_actuators("rad/s", "m/s"), f"of {drives}"): VELOCITY,
            CodeArgument(
                "jacobian", (*driven, len(free)), "rad/m, 1", f"J_IK over the rates of {', '.join(free)}, row by row"
            ): "J_IK",
        },
        at.constants,
        {"motion": motion},
        (*limbs, plain_call(joined)),
        _of_limbs(robot, "status"),
    )


def inertia_matrix(at: CodeSetting) -> CodeFunction:
    """Return the mass matrix of the freedoms, as `tasks.inertia_matrix`."""
    robot = at.robot
    arguments, motion = at.motion(acceleration=False, rates=False)
    title, result = "mass matrix of the freedoms, drives included", at.square("inertia")
    function = CodeFunction(
        "inertia_matrix", title, tuple(arguments), {result: "inertia"}, at.constants, {"motion": motion}, ()
    )
    if is_tree(robot.family):
        return replace(function, packed={"q": ("q",)}, calls=(plain_call(matrix_program(robot.family)),))
    if robot.mechanism.is_chain:
        program = functools.partial(closed_matrix_program, robot.family, "crba")
        call = _call(Stage("inertia", {}, program, {"mount": Indexed("mount", 0)}, None))
        return replace(function, calls=(call,), statuses=("status",))
    return replace(
        function,
        results={result: "mass"},
        calls=(*_shares(robot), plain_call(equations.total_program(robot.family))),
        statuses=_of_limbs(robot, "status"),
        flags={"singular": Status.PLATFORM_SINGULAR},
    )


FUNCTIONS: Mapping[str, Callable[[CodeSetting], CodeFunction]] = {
    "inverse_dynamics": inverse_dynamics,
    "forward_dynamics": forward_dynamics,
    "inverse_kinematics": inverse_kinematics,
    "inertia_matrix": inertia_matrix,
}
"""Functions that can be exported as code, by name."""


def exported(
    robot: Robot, names: Sequence[str], gravity: ArrayLike = GRAVITY, friction: Friction = None
) -> tuple[CodeFunction, ...]:
    """Return the functions of these names, each once; friction is that of `inverse_dynamics`, the others have none.

    Raises ValueError for unknown names, and for a robot without such code.
    """
    if not names:
        raise ValueError(f"functions: got none; expected some of {', '.join(FUNCTIONS)}")
    for name in names:
        if name not in FUNCTIONS:
            function_names = ", ".join(FUNCTIONS)
            raise ValueError(f"functions: got {name!r}; expected some of {function_names}; {nearest(name, FUNCTIONS)}")
    has_friction = friction is not None and not (isinstance(friction, Sequence) and not friction)
    if has_friction and "inverse_dynamics" not in names:
        raise ValueError(f"friction: got some for {', '.join(names)}; expected it with inverse_dynamics, which has it")
    if not np.isfinite(fall := inputs.gravity_input(gravity)[0]).all():
        raise ValueError(f"gravity: got {fall.tolist()}; expected finite numbers [m/s^2]")
    at = CodeSetting(robot, gravity, friction if has_friction else None)
    return tuple(FUNCTIONS[name](at) for name in dict.fromkeys(names))
