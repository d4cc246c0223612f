"""Slow path of the numbers: samples one by one through functions on arrays, metrics by sums over stored series.

Motions are those of formulas written here, and of stored series where a formula has no place; a robot is built from the
coordinates of its design. Of a simulation the forces at each sample have to balance the motion that they make.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import xarray as xr

import limbsweep as ls
from benchmarks.composition.case import Case, require_near
from benchmarks.composition.features import BASE, IN_TREES, PLAIN, motion_outputs, rule_of
from benchmarks.figures import require
from robots.quantities import QUANTITIES
from robots.types import TWIST
from tasks.dynamics.inverse import body_motion

Array = np.ndarray

SAMPLES = 6
"""Samples of a case that are computed again."""

CLOSE = {"double": 1e-9, "single": 2e-3}
"""Largest difference as a share of the largest value, by precision."""

STATES = ("lugre",)
"""Friction with a state, which functions at an instant do not have."""


def check(case: Case) -> None:
    """Hold the results of a case to the slow path. Raises CheckError."""
    data = case.results
    require("status" in data or "worst_status" in data, "no status")
    _check_designs(case, data)
    in_tree = case.levels["motion"] in IN_TREES
    if not {"actuator_force", *_motion_series(case)} <= {*data.data_vars}:
        _check_alone(case, data)
        return
    require(bool((data["status"] == 0).any()), "no sample is OK")
    _check_status(data)
    if in_tree:
        _check_tree(case, data)
        return
    if not case.is_simulated:
        _check_motion(case, data)
        if case.levels["friction"] in STATES and case.levels["motion"] != "workspace":
            _check_bristles(case, data)
    for place in _places(case, data):
        _check_sample(case, data.isel(place), f"at {place}")
    _check_metrics(case, data)


def _motion_series(case: Case) -> list[str]:
    """Return the series that say how the robot of a case moves."""
    names = motion_outputs(case.machine)
    return [name for name in names if "branch" not in QUANTITIES[name].needs or case.levels["motion"] not in IN_TREES]


def _check_tree(case: Case, data: xr.Dataset) -> None:
    """Check motions in all joints of a tree: beside the robot's own coordinates, with stops beside one case alone."""
    stopped = case.levels["motion"] == "stops"
    joint, far = case.machine.stop if stopped else ("", 0.0)
    options: dict[str, Any] = {"stops": {joint: ls.JointStop(-far, far)}} if stopped else {"integrator": "rk4"}
    free = all(case.levels[axis] == PLAIN[axis] for axis in ("friction", "loads"))
    dims = [dim for dim in data["status"].dims if dim != "time"]
    good = np.argwhere((data["status"] == 0).all("time").transpose(*dims).values)
    for row in good[:: max(1, len(good) // 3)]:
        sample = data.isel(dict(zip(map(str, dims), map(int, row), strict=True)))
        still = _moving(case, sample.isel(time=0))
        moved = ls.simulate(
            _robot(case, sample), ls.State(**still), ls.Forces(friction=_friction(case, sample)), data["time"].values,
            step=0.001, environment=_over_time(case, sample), **options,
        )  # fmt: skip
        chain = case.machine.is_chain
        if stopped and free and case.levels["field"] == "tilted gravity":
            require(bool((moved.contact != 0).any()), f"{joint} comes to no stop")
        found = _independent(case, sample["joint_position"]) if chain else sample["platform_position"]
        expected = moved.q if chain else moved.position
        require_near(found.transpose("time", ...).values, expected, 1e-7, f"motion of {row}", least=1e-9)


def _check_alone(case: Case, data: xr.Dataset) -> None:
    """Check that results without the series of the motion equal those of the same sweep with them."""
    other = Case(case.machine, {**case.levels, "outputs": "forces"}, case.folder)
    for name in data.data_vars:
        require_near(data[name].values, other.results[name].values, 0.0, f"{name} without series", least=0.0)
    check(other)


def _check_designs(case: Case, data: xr.Dataset) -> None:
    """Check that derived parameters follow the rule, and that SI replaces written units."""
    level, first = case.levels["design"], case.machine.varied[0]
    if level == "derived parameter":
        name, rule = rule_of(case.machine)
        expected = eval(rule, {}, {first: data[first].values})
        require_near(data[name].values, expected, 1e-15, f"{name} by its rule")
    if level == "units":
        require_near(np.unique(data[first].values), np.unique(case.machine.spread(first, 12)), 1e-6, first)
    if level == "condition":
        limit = case.machine.near(first, 1.01)[0]
        require(bool(((data[first] < limit) == (limit > 0)).all()), f"{first} breaks its condition")
    if case.levels["friction"] == "derived friction":
        require_near(data["viscous"].values, 0.2 * data["coulomb"].values, 1e-15, "viscous by its rule")


def _check_status(data: xr.Dataset) -> None:
    """Check that numbers are NaN exactly where the status is not OK."""
    force, status = xr.broadcast(data["actuator_force"], data["status"])
    bad = force.isnull().any("actuator") if "actuator" in force.dims else force.isnull()
    status = status.isel(actuator=0) if "actuator" in status.dims else status
    require(bool((bad == (status != 0)).all()), "NaN and status do not agree")


def _check_motion(case: Case, data: xr.Dataset) -> None:
    """Check that the harmonic motion follows its formula, with the rates of its derivatives."""
    if "sine" not in data["trajectory"].values:
        return
    data = data.sel(trajectory="sine")
    rate, times = 2.0 * np.pi / case.machine.period, data["time"].values
    wave = np.sin(rate * times), rate * np.cos(rate * times), -rate * rate * np.sin(rate * times)
    found = _coordinates(case, data)
    for series, factor in zip(found, wave, strict=True):
        values: Any = series - (series.isel(time=0) if factor is wave[0] else 0.0)
        for k, amplitude in enumerate(case.machine.amplitude):
            own = values.isel(coordinate=k)
            own = own.isel({dim: 0 for dim in own.dims if dim != "time"}).values
            if not np.isnan(own).any():
                require_near(own, amplitude * factor, CLOSE[case.levels["precision"]], "motion", least=1e-9)


def _check_bristles(case: Case, data: xr.Dataset) -> None:
    """Check that forces are those without friction, and beside them bristles along the motion of each actuator."""
    plain = {"friction": "no friction", "outputs": "forces", "metrics": "metrics of forces", "question": "no question"}
    bare = Case(case.machine, {**case.levels, **plain}, case.folder).results
    law, cases = case.content["friction"]["parameters"], data["actuator_force"].isel(friction=0)
    for design in {0, data.sizes["design"] - 1}:
        for trajectory in range(data.sizes["trajectory"]):
            at = {"design": design, "trajectory": trajectory}
            count = int(data["trajectory_samples"][trajectory]) if "trajectory_samples" in data else data.sizes["time"]
            times = data["time"].isel({dim: k for dim, k in at.items() if dim in data["time"].dims}).values[:count]
            series = (
                x.isel(at).squeeze("friction", drop=True) if "friction" in x.dims else x.isel(at)
                for x in (cases, bare["actuator_force"], bare["actuator_velocity"])
            )
            one, still, rate = (x.transpose("time", "actuator").values[:count] for x in series)
            if not np.isfinite(one).all():
                continue
            for k in range(rate.shape[1]):
                force = ls.friction_along("lugre", velocity=rate[:, k], times=times, values=law).force
                close = CLOSE[case.levels["precision"]]
                least = close * float(np.abs(one).max())
                require_near(one[:, k] - still[:, k], force, close, f"bristles of {at}, {k}", least=least)


def _coordinates(case: Case, data: xr.Dataset) -> tuple[xr.DataArray, xr.DataArray, xr.DataArray]:
    """Return independent coordinates, rates and accelerations, with a dim `coordinate`."""
    if case.machine.is_chain:
        return tuple(_independent(case, data[f"joint_{name}"]) for name in ("position", "velocity", "acceleration"))  # type: ignore[return-value]
    position = data["platform_position"].rename(axis="coordinate")
    rates = [
        data[f"platform_{name}"].isel(wrench=slice(3, 6)).rename(wrench="coordinate")
        for name in ("twist", "acceleration")
    ]
    return tuple(x.drop_vars("coordinate", errors="ignore") for x in (position, *rates))  # type: ignore[return-value]


def _independent(case: Case, values: xr.DataArray) -> xr.DataArray:
    """Return the independent joints of a chain, in their order."""
    names = list(case.machine.robot.mechanism.freedoms)
    return values.isel(limb=0).sel(joint=names).rename(joint="coordinate").drop_vars("coordinate")


def _places(case: Case, data: xr.Dataset) -> Iterator[dict[str, int]]:
    """Give places of samples that are OK, by the dims of the status; the same for the same case."""
    status = data["status"].broadcast_like(data["actuator_force"].isel(actuator=0, drop=True))
    good = np.argwhere(status.values == 0)
    rng = np.random.default_rng(len(good))
    for row in good[rng.choice(len(good), min(SAMPLES, len(good)), replace=False)]:
        yield dict(zip(map(str, status.dims), map(int, row), strict=True))


def _robot(case: Case, sample: xr.Dataset) -> ls.Robot:
    """Return the robot of a design, with its loads, from the numbers that its coordinates have."""
    family = case.sweep.family
    values = {name: float(sample[name]) for name in case.sweep.parameters if name in sample.coords}
    return ls.Robot.of(family, {**case.sweep.parameters, **values})


def _moving(case: Case, sample: xr.Dataset) -> dict[str, Any]:
    if case.machine.is_chain:
        parts = {"q": "joint_position", "qd": "joint_velocity", "qdd": "joint_acceleration"}
        return {key: _independent(case, sample[name]).values for key, name in parts.items() if name in sample}
    names = ("position", "twist", "acceleration")
    moving = {name: sample[f"platform_{name}"].values for name in names if f"platform_{name}" in sample}
    if "platform_rotation" in sample:
        moving["rotation"] = sample["platform_rotation"].values
    return moving


def _environment(case: Case, sample: xr.Dataset) -> ls.Environment:
    gravity = list(case.sweep.gravity)
    for k, axis in enumerate("xyz"):
        if f"gravity_{axis}" in sample.coords:
            gravity[k] = float(sample[f"gravity_{axis}"])
    base = base_at(float(sample["time"])) if case.levels["field"] == "moving base" else None
    return ls.Environment(gravity=gravity, base=base)


def _over_time(case: Case, sample: xr.Dataset) -> ls.Environment:
    """Return gravity, and the motion of the base by functions of time."""
    gravity = _environment(case, sample.isel(time=0)).gravity
    if case.levels["field"] != "moving base":
        return ls.Environment(gravity=gravity)
    base: dict[str, Any] = {
        name: lambda time, name=name: getattr(base_at(time), name) for name in ("rotation", "twist", "acceleration")
    }
    return ls.Environment(gravity=gravity, base=ls.Motion(**base))


def base_at(time: float) -> ls.Motion:
    """Return the motion of the base at a time: a straight line and turns about its axes, as `features.BASE` says."""
    along, (yaw, pitch, roll) = (_harmonic(part, time) for part in (BASE, BASE["turn"]))
    rates = zip(yaw, pitch, roll, strict=True)
    (y, p, r), (yd, pd, rd), (ydd, pdd, rdd) = rates
    cy, sy, cp, sp, cr, sr = (f(x) for x in (y, p, r) for f in (np.cos, np.sin))
    turn = (
        np.array([[cy, -sy, 0], [sy, cy, 0], [0, 0, 1]])
        @ np.array([[cp, 0, sp], [0, 1, 0], [-sp, 0, cp]])
        @ np.array([[1, 0, 0], [0, cr, -sr], [0, sr, cr]])
    )
    columns = np.array([[0, -sy, cy * cp], [0, cy, sy * cp], [1, 0, -sp]])
    change = np.array(
        [[0, -cy * yd, -sy * yd * cp - cy * sp * pd], [0, -sy * yd, cy * yd * cp - sy * sp * pd], [0, 0, -cp * pd]]
    )
    spin = columns @ [yd, pd, rd]
    spinning = columns @ [ydd, pdd, rdd] + change @ [yd, pd, rd]
    _, velocity, acceleration = np.array(along).T
    return ls.Motion(
        rotation=turn,
        twist=np.concatenate([spin, velocity]),
        acceleration=np.concatenate([spinning, acceleration]),
    )


def _harmonic(part: Any, time: float) -> list[tuple[float, float, float]]:
    """Return values, rates and accelerations of the components of a harmonic motion."""
    rate = 2.0 * np.pi / part["period"]
    s, c = np.sin(rate * time), np.cos(rate * time)
    amplitudes = part["amplitude"] if part is BASE else part["amplitude"][::-1]
    return [(a * s, a * rate * c, -a * rate * rate * s) for a in amplitudes]


def _friction(case: Case, sample: xr.Dataset) -> list[Mapping[str, Any]] | None:
    """Return the friction of a set, as functions on arrays take it; None without."""
    part = case.content.get("friction")
    if part is None:
        return None
    groups = part.get("groups") or {"": part}
    result: list[Mapping[str, Any]] = []
    for name, group in groups.items():
        head = {key: group[key] for key in ("law", "joints", "load") if key in group}
        prefix = f"{name}_" if name else ""
        swept = {
            str(key).removeprefix(prefix): float(x)
            for key, x in sample.coords.items()
            if str(key) in case.sweep.friction.axis.names and str(key).startswith(prefix)
        }
        result.append({**head, **group.get("parameters", {}), **swept})
    return result


def _check_sample(case: Case, sample: xr.Dataset, where: str) -> None:
    """Check that forces and other series of a sample are those of functions on arrays for it alone."""
    robot, moving, environment = _robot(case, sample), _moving(case, sample), _environment(case, sample)
    close = CLOSE[case.levels["precision"]]
    if case.levels["loads"] in ("wrench over time", "object"):
        moving["time"] = float(sample["time"])
    sharing = case.content.get("sharing", {})
    if case.levels["friction"] in STATES or sharing.get("rule") == "least_maximum":
        return
    if case.is_simulated:
        close = max(close, 1e-6)
        if case.levels["friction"] not in ("no friction", "viscous"):
            return  # at rest the force of friction is any up to a bound
    forces = ls.Forces(friction=_friction(case, sample))
    found = ls.inverse_dynamics(robot, **moving, environment=environment, forces=forces)
    expected = sample["actuator_force"].values
    redundant = len(robot.mechanism.actuators) > len(robot.mechanism.freedoms)
    if case.is_simulated and redundant:  # forces are any that make the motion
        jacobian, off = found.jacobian, found.force - expected
        require_near(
            jacobian.T @ found.force, jacobian.T @ expected, close, f"forces {where}", least=1e-6 * np.abs(off).max()
        )
        return
    require_near(expected, found.force, close, f"forces {where}", least=1e-9 * case.machine.force)
    resolved = bool(robot.mechanism.resolved)  # its posture changes with the design
    if "actuator_force_derivative" in sample and not case.is_simulated and not resolved:
        _check_derivative(case, sample, moving, environment, where)
    if "joint_reaction" in sample and case.levels["motors"] not in ("sharing", "shares"):
        reactions = ls.joint_reactions(robot, **moving, environment=environment, forces=forces).wrench
        require_near(sample["joint_reaction"].values, reactions, 10.0 * close, f"reactions {where}")
    if "link_position" in sample:
        _check_links(case, sample, robot, moving, where)
    if "state_matrix" in sample and not case.is_simulated and case.levels["motors"] not in ("sharing", "shares"):
        _check_linear(case, sample, robot, moving, environment, where)
    if "mass_matrix" in sample:
        _check_equations(case, sample, robot, moving, environment, where)


def _check_links(case: Case, sample: xr.Dataset, robot: ls.Robot, moving: dict[str, Any], where: str) -> None:
    """Check that poses and twists of links are those of the function, and the centre of mass that of all bodies."""
    bodies = body_motion(robot, **{name: values for name, values in moving.items() if name != "time"})
    close, platform = CLOSE[case.levels["precision"]], robot.mechanism.platform
    carried = [(float(platform.inertia.mass), bodies.platform.point(platform.inertia.centre))]
    holder = bodies.platform
    for k, (motions, instance) in enumerate(zip(bodies.limbs, robot.mechanism.instances, strict=True)):
        for i, (motion, link) in enumerate(zip(motions, robot.mechanism.limbs[instance.limb].links, strict=True)):
            own = sample.isel(limb=k, link=i)
            require_near(own["link_position"].values, motion.position, close, f"link {link.body} {where}", least=1e-12)
            twist = np.concatenate([motion.omega, motion.velocity])
            require_near(own["link_twist"].values, twist, 10.0 * close, f"twist of {link.body} {where}", least=1e-9)
            carried.append((float(link.inertia.mass), motion.point(link.inertia.centre)))
            holder = motion if case.machine.is_chain and link.body == case.machine.link else holder
    if piece := case.content.get("loads", {}).get("piece"):
        held = piece["from"] <= float(sample["time"]) < piece["until"]
        carried.append((piece["mass"] * held, holder.point(tuple(piece["at"]))))
    centre = sum(mass * point for mass, point in carried) / sum(mass for mass, _ in carried)
    require_near(sample["centre_of_mass"].values, centre, 10.0 * close, f"centre of mass {where}", least=1e-12)


def _check_linear(
    case: Case, sample: xr.Dataset, robot: ls.Robot, moving: dict[str, Any], environment: ls.Environment, where: str
) -> None:
    """Check that A and B are those of the function, with loads of the instant and the forces without friction."""
    bare = ls.inverse_dynamics(robot, **moving, environment=environment)
    still = {name: values for name, values in moving.items() if name not in ("qdd", "acceleration", "time")}
    now = ls.robots.at_time(robot, float(sample["time"]))
    near = ls.linearisation(now, **still, environment=environment, forces=ls.Forces(actuator=bare.force))
    close = 100.0 * CLOSE[case.levels["precision"]]
    require_near(sample["state_matrix"].values, near.state, close, f"state matrix {where}")
    require_near(sample["input_matrix"].values, near.input, close, f"input matrix {where}")


def _check_derivative(
    case: Case, sample: xr.Dataset, moving: dict[str, Any], environment: ls.Environment, where: str
) -> None:
    """Check that derivatives of forces from both sides are differences of forces of two designs, on the same motion."""
    name, robot = case.machine.varied[0], _robot(case, sample)
    step = 1e-5 * abs(robot.values[name])
    ends = []
    for value in (robot.values[name] - step, robot.values[name] + step):
        moved = {name: value}
        if case.levels["design"] == "derived parameter":
            follower, rule = rule_of(case.machine)
            moved[follower] = eval(rule, {}, moved)
        near = ls.Robot.of(robot.family, {**robot.values, **moved})
        forces = ls.Forces(friction=_friction(case, sample))
        ends.append(ls.inverse_dynamics(near, **moving, environment=environment, forces=forces).force)
    expected = (ends[1] - ends[0]) / (2.0 * step)
    close, least = max(1e-4, 10.0 * CLOSE[case.levels["precision"]]), 1e-6 * np.abs(ends).max() / step * 1e-4
    for side in range(sample.sizes["side"]):
        slope = sample["actuator_force_derivative"].sel(parameter=name).isel(side=side)
        require_near(slope.values, expected, close, f"derivatives of forces {where}", least=least)


def _check_equations(
    case: Case, sample: xr.Dataset, robot: ls.Robot, moving: dict[str, Any], environment: ls.Environment, where: str
) -> None:
    """Check that terms of the equations of motion equal the function's, whose gravity has the instant's loads."""
    close, least = CLOSE[case.levels["precision"]], 1e-9 * case.machine.force
    still = {name: values for name, values in moving.items() if name not in ("qdd", "acceleration", "time")}
    now = ls.robots.at_time(robot, float(sample["time"]))
    equations = ls.equations_of_motion(now, **still, environment=environment)
    require_near(sample["mass_matrix"].values, equations.mass, close, f"mass matrix {where}")
    mechanism = robot.mechanism
    twist = dict(zip(TWIST, moving.get("twist", ()), strict=False))
    rates = moving["qd"] if mechanism.is_chain else np.array([twist[name] for name in mechanism.platform.mobility])
    energy = 0.5 * rates @ sample["mass_matrix"].values @ rates
    require_near(sample["kinetic_energy"].values, energy, close, f"kinetic energy {where}", least=least)
    pull = (sample["gravity_force"] - sample["load_force"]).values
    require_near(pull, equations.gravity, close, f"gravity and loads {where}", least=least)


def _check_metrics(case: Case, data: xr.Dataset) -> None:
    """Check that metrics of given motions are those of the series: peaks, means, integrals by the trapezoidal rule."""
    if case.is_simulated or case.levels["motion"] == "workspace":
        return
    counts: list[int] = data["trajectory_samples"].values.tolist() if "trajectory_samples" in data else []
    for k, count in enumerate(counts):  # of trajectories with times of their own
        _check_metrics_of(case, data.isel(trajectory=k, time=slice(0, count)))
    if not counts:
        _check_metrics_of(case, data)


def _check_metrics_of(case: Case, data: xr.Dataset) -> None:
    force, good = data["actuator_force"], (data["status"] == 0).all("time")
    close = max(1e-12, CLOSE[case.levels["precision"]] * 1e-2)
    times = data["time"].values
    weights = xr.DataArray(np.full(len(times), times[1] - times[0]), dims="time")
    weights[[0, -1]] = 0.5 * weights[0]
    series = {"peak_force": abs(force).max("time")}
    series["rms_force"] = np.sqrt((force**2 * weights).sum("time", skipna=False) / times[-1])
    if "actuator_power" in data:
        power = data["actuator_power"]
        series["peak_power"] = abs(power).max("time")
        series["energy"] = (power.clip(min=0.0) * weights).sum("time", skipna=False)
    if case.own:
        series["mean_force"] = abs(force).mean(("time", "actuator"))
        series["swing"] = force.max("time") - force.min("time")
    for name, expected in series.items():
        if name in data:
            one, two = xr.broadcast(data[name].where(good), expected.where(good))
            require_near(one.values, two.transpose(*one.dims).values, close, name)
