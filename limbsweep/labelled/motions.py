"""`simulate` and `servo`: records and DataArrays in, motions over time out; references with names of their dims.

motion = simulate(robot, State(q=q), Forces(actuator=force), times)  # (design, freedom) -> (design, time, freedom)
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, TypedDict, Unpack, get_args

import numpy as np
from numpy.typing import ArrayLike

from limbsweep.labelled.calls import (
    PlainFunction,
    designs_of,
    in_robot_units,
    is_labelled,
    labelled_results,
    named_numbers,
    ordered,
)
from limbsweep.labelled.results import described, with_dataset
from limbsweep.labelled.table import (
    ARGUMENTS,
    CHAIN_MOTION,
    OF_CASE,
    PLATFORM_MOTION,
    STOPPED,
    TIME,
    WOUND,
    Dims,
    FunctionResult,
)
from limbsweep.labelled.units import in_si
from robots.arguments import check_arguments, real_numbers, shown
from robots.model import Robot
from robots.parameter_errors import nearest
from robots.stops import JointStop, Stops
from tasks.dynamics import servo as controllers
from tasks.dynamics import simulate as direct
from tasks.dynamics import spanning_tree
from tasks.dynamics.differentiate import KINDS, OF_STAGES
from tasks.dynamics.forms import Form
from tasks.dynamics.inputs import in_robot_order
from tasks.dynamics.motion_derivatives import MotionFunctions, SimulationDerivatives
from tasks.dynamics.records import STANDING, Environment, FixedSteps, Forces, State, WoundActing, check_record
from tasks.dynamics.servo import Servo
from tasks.dynamics.step_methods import METHODS
from tasks.kernels.kernel import checked
from tasks.sources.servo_motion import simulate_states

if TYPE_CHECKING:
    import xarray as xr

    from limbsweep.labelled.functions import Parameters

Method = Literal["fixed", "adaptive"]


class SimulationOptions(TypedDict, total=False):
    """Options of a simulation that few need.

    integrator: of method "fixed" `rk4`, `euler`, `semi_implicit` or `rosenbrock` (absent: `rosenbrock` where there are
    bristles, else `rk4`); of "adaptive" scipy's `DOP853` or `Radau` (absent: `Radau` where friction is smooth but may
    be stiff); of both `spanning_tree`, all joints of the tree together. Without a name cases that end at a singular
    point of limbs go on so (`through` is true for them), as far as friction is smooth and nothing gives way.
    parameters: designs, numbers or DataArrays of parameters of the robot by name. stops: of joints, by name, each a
    `limbsweep.JointStop`; all joints of the tree are integrated then.

    Of "fixed", for platforms without friction: form of the equations, `task_space`, `joint` or `actuator`, and close,
    whether loops are closed after each step. Of "adaptive": rtol and atol of the integrator; balance, the share of
    energy or work that may be missing from a case that is OK.
    """

    integrator: str
    parameters: Parameters
    stops: Stops
    form: Form
    close: bool
    rtol: float
    atol: float
    balance: float


OPTIONS: Mapping[str, tuple[str, ...]] = {"fixed": ("form", "close"), "adaptive": ("rtol", "atol", "balance")}
"""Options of one method alone."""

INTEGRATORS: Mapping[str, tuple[str, ...]] = {
    "fixed": (*METHODS, spanning_tree.METHOD),
    "adaptive": (*direct.SOLVERS, spanning_tree.METHOD),
}

MOST_STEPS = 10**8
"""Steps of one call, at most: more take hours, and a step that short is a typing error."""

LONGEST = 1e12
"""Length of a step, at most [s]."""

NEAR = 1e-6
"""Share of a step by which times may be off its multiples: times of files have few digits."""


def simulate(
    robot: Robot,
    state: State,
    drive: Forces | Servo | None,
    times: ArrayLike,
    *,
    environment: Environment = STANDING,
    method: Method = "fixed",
    step: float | None = None,
    **options: Unpack[SimulationOptions],
) -> Any:
    """Integrate the motion of any robot from a state on, under forces or a servo, and keep it at `times` [s].

    state: pose and twist of a platform (absent: reference pose, at rest), or q and qd of a chain, and the memory of
    friction. drive: `limbsweep.Forces`, whose actuator may be an array (*batch, actuator), a function of time, one of
    time and state, or a servo of `limbsweep.servo`; a servo alone; or None, no forces but gravity. Load and motion of
    the base may be functions of time. Joints with friction stick and break away at the instants where they do.

    times (n,): the first is that of the state. By method "fixed" a batch moves in steps of `step` [s] (absent: from one
    time to the next), of which times are evenly spaced multiples from the first on. By "adaptive" one case moves in
    steps that its error allows, at any ascending times; a servo, which acts in steps, is not for it.
    options: see `limbsweep.labelled.motions.SimulationOptions`.

    Returns q, qd (n, *batch, freedom), or position, rotation and twist of the platform, with time and friction, status
    (*batch) of each case: see `tasks.dynamics.motions.ChainMotion` and `tasks.dynamics.motions.Simulation`.
    `to_dataset()` makes a Dataset. With DataArrays in the records, or designs as `parameters`, the result is one, with
    the dim `time`; other dims are batch dims and meet by name. Raises ValueError, TypeError or ParameterError.

        >>> robot = ls.robots.build("planar_3r")
        >>> fall = ls.simulate(robot, ls.State(q=[0.1, 0.0, 0.0]), None, [0.0, 0.05, 0.1], step=0.001)
        >>> fall.q.shape  # (time, joint)
        (3, 3)
        >>> finer = ls.simulate(robot, ls.State(q=[0.1, 0.0, 0.0]), None, fall.time, method="adaptive")
        >>> bool(abs(finer.q - fall.q).max() < 1e-8)
        True
    """
    check_record("robot", robot, Robot)
    check_record("state", state, State)
    check_record("environment", environment, Environment)
    if method not in get_args(Method):
        raise ValueError(f"method: got {shown(method)}; expected 'fixed' or 'adaptive'")
    forces = _forces(robot, drive)
    instants = _instants(robot, times)
    leaves = _leaves(state, forces, environment)
    chosen: dict[str, Any] = {**options}
    designs = designs_of("simulate", chosen.pop("parameters", None), robot)
    rest = _timing(method, instants, step, leaves) | _options(method, chosen)
    leaves = ordered(leaves, ARGUMENTS, designs, robot)
    if not designs and not any(map(is_labelled, leaves.values())):
        return with_dataset(_moved(robot, **leaves, **rest), "simulate", robot, _row(robot, leaves | rest))
    return _labelled(robot, designs, leaves, rest, instants)


@check_arguments
def differentiate_simulation(
    robot: Robot,
    state: State,
    drive: Forces | Servo | None,
    times: ArrayLike,
    *,
    environment: Environment = STANDING,
    step: float | None = None,
    parameters: Mapping[str, float] | None = None,
) -> SimulationDerivatives:
    """Integrate a motion in constant steps so that its states can be differentiated, exactly, in both directions.

    state, drive, times, environment and step as in `simulate`, with forces as arrays or a servo of kind `pd` on
    actuators, whose gains are inputs such as "servo.kp" and whose model of the robot moves with the parameters.
    parameters: values of the robot's parameters by which derivatives are taken. Derivatives are those of the
    integrator, so that differences of `simulate` agree to rounding. They are NaN for a case that failed, or of which a
    step was cut. Raises ValueError for joints that stick, a platform that turns, and a base that moves, and the errors
    of `simulate`.

        >>> robot = ls.robots.build("planar_3r")
        >>> at = ls.differentiate_simulation(robot, ls.State(q=[0.1, 0.0, 0.0]), None, [0.0, 0.1], step=0.001,
        ...     parameters={"length_1": 0.5})
        >>> end = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0]])  # of q at both times the first joint at the end
        >>> sorted(at.vjp({"q": end}))
        ['actuator', 'gravity', 'length_1', 'q', 'qd']
    """
    check_record("robot", robot, Robot)
    check_record("state", state, State)
    check_record("environment", environment, Environment)
    forces, instants = _forces(robot, drive), _instants(robot, times)
    leaves = _leaves(state, forces, environment)
    if labelled := [name for name, part in leaves.items() if is_labelled(part)]:
        raise ValueError(f"{labelled[0]}: got a DataArray; expected an array in SI units, such as its values")
    state, forces = in_robot_order(robot, state), in_robot_order(robot, forces)
    if forces.actuator is None:
        forces = replace(forces, actuator=np.zeros(len(robot.mechanism.actuators)))
    clock = FixedSteps(**_timing("fixed", instants, step, leaves))
    functions = MotionFunctions(_simulate_states, KINDS["forward_dynamics"], OF_STAGES, Servo)
    return SimulationDerivatives(functions, robot, state, forces, environment, clock, parameters or {})


def _simulate_states(robot: Robot, *, force: Any, step: float, steps: int, **parts: Any) -> Any:
    """Simulate a batch in constant steps; a robot that follows a servo in the compiled loop, if it goes through it."""
    moved = simulate_states(robot, force, step, steps, parts)
    return direct.simulate(robot, force=force, step=step, steps=steps, **parts) if moved is None else moved


def _forces(robot: Robot, drive: object) -> Forces:
    """Return the forces of a drive, those of actuators included. Raises ValueError."""
    if drive is None or isinstance(drive, Servo):
        drive = Forces(actuator=drive)
    if not isinstance(drive, Forces):
        got = f"an object of type {type(drive).__name__}"
        raise ValueError(f"drive: got {got}; expected limbsweep.Forces(actuator=...), a limbsweep.servo, or None")
    if drive.weights is not None:
        raise ValueError("weights: got them in the forces of a simulation, whose actuator forces are shared already")
    return drive


def _instants(robot: Robot, times: ArrayLike) -> np.ndarray:
    """Return the times in seconds. Raises ValueError."""
    if is_labelled(times):
        times = in_si("time", times, None, robot.mechanism).values
    try:
        instants = real_numbers(times)
    except (TypeError, ValueError):
        raise ValueError(f"times: got {shown(times)}; expected numbers [s]") from None
    if instants.ndim != 1 or len(instants) < 2 or not np.isfinite(instants).all() or not (np.diff(instants) > 0).all():
        raise ValueError(f"times: got {shown(times)}; expected at least two, ascending")
    return instants


def _leaves(state: State, forces: Forces, environment: Environment) -> dict[str, Any]:
    """Return the fields of the records under separate names. Raises ValueError."""
    leaves = {name: part for name, part in state.present().items() if name not in ("acceleration", "qdd")}
    if "time" in leaves:
        raise ValueError("time: got it in the state; expected the first of times, which is that of the state")
    leaves |= forces.present() | {f"base_{name}": part for name, part in environment.base_parts.items()}
    if forces.load_axes == "world":  # of chains as well, which have no load
        del leaves["load_axes"]
    return leaves | {"gravity": environment.gravity}


def _timing(method: Method, instants: np.ndarray, step: float | None, leaves: Mapping[str, Any]) -> dict[str, Any]:
    """Return the steps, or the times, for one of the methods. Raises ValueError."""
    if method == "adaptive":
        if step is not None:
            raise ValueError(f"step: got {step!r} with method 'adaptive', whose steps follow from rtol and atol; "
                             "expected none, or method 'fixed'")  # fmt: skip
        if isinstance(_behind_windings(leaves.get("actuator")), Servo):
            raise ValueError("drive: got a servo, which acts once in each step, with method 'adaptive'; "
                             "expected method 'fixed'")  # fmt: skip
        return {"times": instants}
    first, apart = float(instants[0]), float(instants[1] - instants[0])
    if step is None:  # of late instants all together tell more digits than two
        step = apart if first == 0.0 else float(instants[-1] - first) / (len(instants) - 1)
    length = float(step) if isinstance(step, float | int | np.number) and abs(step) < LONGEST else 0.0
    if not length > 0.0:
        raise ValueError(f"step: got {shown(step)}; expected a length of time [s] above zero")
    if (instants[-1] - first) / length > MOST_STEPS:
        got = f"{(instants[-1] - first) / length:.4g} steps of {length!r} s"
        raise ValueError(f"step: got {got}; expected at most {MOST_STEPS:g} in one call")
    every = round(apart / length)
    off = np.abs(instants - first - every * length * np.arange(len(instants))) > NEAR * length
    if off.any():
        raise ValueError(f"times: got {float(instants[off.argmax()])!r} s; "
                         f"expected evenly spaced multiples of step, {length!r} s, from the "
                         f"first, {first!r} s, on, or method 'adaptive'")  # fmt: skip
    timing = {"step": length, "steps": every * (len(instants) - 1), "every": every}
    return timing if first == 0.0 else {**timing, "start": first}


def _options(method: Method, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options in the form that the functions of a method take. Raises TypeError and ValueError."""
    for name in options:
        if name not in SimulationOptions.__annotations__:
            raise TypeError(f"{name}: no option of simulate has this name; "
                            f"{nearest(name, SimulationOptions.__annotations__)}")  # fmt: skip
        if name not in (*OPTIONS[method], "integrator", "stops"):
            raise ValueError(f"{name}: got it with method {method!r}; expected {', '.join(OPTIONS[method])} there")
    found = {name: value for name, value in options.items() if value is not None}
    if not isinstance(found.get("stops", {}), Mapping) or not all(
        isinstance(stop, JointStop) for stop in found.get("stops", {}).values()
    ):
        raise ValueError(f"stops: got {shown(found['stops'])}; expected a limbsweep.JointStop by name of a joint")
    integrator = found.pop("integrator", None)
    if integrator is None:
        return found
    if integrator not in INTEGRATORS[method]:
        raise ValueError(f"integrator: got {shown(integrator)} with method {method!r}; "
                         f"{nearest(str(integrator), INTEGRATORS[method])}")  # fmt: skip
    return found | {"method" if method == "fixed" else "solver": integrator}


def _moved(robot: Robot, *, actuator: Any = None, **arguments: Any) -> Any:
    """Return the motion of a robot; without given forces, the actuators have none."""
    names = robot.mechanism.actuators
    force = np.zeros(len(names)) if actuator is None else actuator
    if _is_array(force):
        force = checked("actuator", force, (len(names),), names)
    function: Callable[..., Any] = direct.simulate_adaptive if "times" in arguments else direct.simulate
    return function(robot, force=force, **arguments)


OF_ONE = (Servo, WoundActing)
"""Forces of actuators that hold the model of one robot."""

WITH_WORK = ("friction", "memory", "elasticity", "method", "start", "balance", "solver", "base_rotation", "base_twist",
             "base_acceleration", "stops")  # fmt: skip
"""Arguments with any of which the motion of a platform tells of friction and work."""


def _row(robot: Robot, arguments: Mapping[str, Any]) -> FunctionResult:
    """Return the dims of the results of a motion: without friction and similar options no losses and no work."""
    motion = CHAIN_MOTION
    if not robot.mechanism.is_chain:
        whole = isinstance(arguments.get("actuator"), OF_ONE) or any(name in arguments for name in WITH_WORK)
        always = ("position", "rotation", "twist", "drift", "gap", *OF_CASE)
        motion = PLATFORM_MOTION
        if not whole and not robot.family.signals:
            motion = {name: PLATFORM_MOTION[name] for name in always}
    motion = {**motion, **(STOPPED if arguments.get("stops") else {})}
    motion |= WOUND if isinstance(arguments.get("actuator"), WoundActing) else {}
    dims: dict[str, Dims] = {name: dims if name in OF_CASE else (*TIME, *dims) for name, dims in motion.items()}
    return FunctionResult("limbsweep.labelled.motions", {"time": TIME, **dims}, single="times" in arguments)


def _labelled(
    robot: Robot, designs: Mapping[str, Any], leaves: dict[str, Any], rest: dict[str, Any], instants: np.ndarray
) -> xr.Dataset:
    """Return the motion of DataArrays or of designs as a Dataset. Raises ValueError."""
    if not any(map(is_labelled, {**designs, **leaves}.values())):
        designs, leaves = _named(designs, leaves)
    for name, value in {**designs, **leaves}.items():
        if is_labelled(value) and "time" in value.dims:
            raise ValueError(f"simulate: {name}: got a DataArray with the dim time; expected batch dims, and values "
                             "along with time as a function; make one with profile")  # fmt: skip
    moving = {key: value for key, value in leaves.items() if key in ARGUMENTS and _is_array(value)}
    others = {**{key: value for key, value in leaves.items() if key not in moving}, **rest}
    if wrong := [key for key, value in others.items() if is_labelled(value)]:
        raise ValueError(
            f"simulate: {wrong[0]} is a DataArray; expected numbers or an array, DataArrays for motion and forces"
        )
    if designs and isinstance(leaves.get("actuator"), OF_ONE):
        raise ValueError(
            "simulate: parameters: got designs with a servo or a supply, whose model is of one robot; expected forces, "
            "or a sweep with a section simulation, whose controllers know each design"
        )
    row = _row(robot, leaves | rest)
    results = {name: dims for name, dims in row.dims.items() if name != "time"}
    plain = PlainFunction(functools.partial(_over_time, results), row, robot, name="simulate")
    probing = {"times": instants[:2]} if row.single else {"steps": rest["every"]}
    motion = labelled_results(plain, dict(designs), moving, others, results, probing, {"time": len(instants)})
    motion = motion.assign_coords(time=("time", instants, {"long_name": "time"}))
    return described(motion, "simulate", robot, row)


def _named(designs: Mapping[str, Any], leaves: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return plain arrays of designs (design,), of motion and forces (design, ...), as DataArrays with that dim.

    Raises ValueError for arrays of other shapes.
    """
    import xarray as xr

    arrays = {name: named_numbers(f"simulate: parameters: {name}", value) for name, value in designs.items()}
    sizes = {array.size for array in arrays.values() if array.ndim}
    if len(sizes) > 1 or any(array.ndim > 1 for array in arrays.values()):
        shapes = [array.shape for array in arrays.values()]
        raise ValueError(f"simulate: parameters: got arrays of shapes {shapes}; expected numbers and arrays (design,) "
                         "of one length, or DataArrays")  # fmt: skip
    named = {name: xr.DataArray(array, dims=("design",)[: array.ndim]) for name, array in arrays.items()}
    for name, value in leaves.items():
        dims = ("design", *ARGUMENTS.get(name, ()))
        if name in ARGUMENTS and _is_array(value) and np.ndim(value) == len(dims) and {np.shape(value)[0]} == sizes:
            leaves = {**leaves, name: xr.DataArray(value, dims=dims)}
    return named, leaves


def _is_array(value: object) -> bool:
    return value is not None and not callable(value) and not isinstance(value, OF_ONE)


def _behind_windings(value: object) -> object:
    """Return the command of the motors."""
    return value.command if isinstance(value, WoundActing) else value


def _over_time(results: Mapping[str, Dims], robot: Robot, **arguments: object) -> tuple[np.ndarray, ...]:
    """Simulate cases (*batch) and return the results of `simulate`, (*batch, time, ...) each."""
    motion = _moved(robot, **arguments)
    values = ((np.asarray(getattr(motion, name)), len(dims)) for name, dims in results.items())
    return tuple(np.moveaxis(value, 0, value.ndim - core) if core else value for value, core in values)


@check_arguments
@functools.wraps(controllers.servo)
def servo(  # noqa: D103 - has that of the function
    robot: Robot, kind: str, *, reference: Mapping[str, ArrayLike | xr.DataArray], step: float,
    space: str = "actuator", **parameters: float,
) -> Servo:  # fmt: skip
    plain = {name: _along_time(robot, name, value, step) for name, value in reference.items()}
    return controllers.servo(robot, kind, reference=plain, step=step, space=space, **parameters)


def _along_time(robot: Robot, name: str, value: ArrayLike | xr.DataArray, step: float) -> ArrayLike:
    """Return a part of a reference (instant, ...) from a DataArray, dims put in order by name. Raises ValueError."""
    if not is_labelled(value):
        return value
    wanted = ARGUMENTS.get(name, ())
    value = in_robot_units(name, value, wanted, robot)
    core = wanted if {*wanted} <= {*value.dims} else tuple(map(str, value.dims))[-len(wanted) :] if wanted else ()
    batch = [str(dim) for dim in value.dims if dim not in core]
    if len(batch) != 1:
        raise ValueError(f"reference: {name}: got dims {value.dims}; expected one of instants, and {', '.join(core)}")
    if batch[0] in value.coords:
        instants = np.asarray(in_si("time", value[batch[0]], None, robot.mechanism).values, dtype=float)
        if np.abs(instants - step * np.arange(len(instants))).max() > 1e-6 * step:
            raise ValueError(
                f"reference: {name}: got instants {instants[:3].tolist()} ... along {batch[0]}; expected multiples of "
                f"step, {step!r} s, from 0 on"
            )
    return np.asarray(value.transpose(*batch, *core).values, dtype=float)
