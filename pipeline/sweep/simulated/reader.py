"""Read the section `simulation` of a sweep file: a controller, force profiles or a release, and its axes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np

from pipeline.documents.document import KeyPath
from pipeline.documents.report import Got
from pipeline.sweep.actuators.motors import MotorsContent
from pipeline.sweep.axes.kinds import MAX_SIMULATED, NOTHING, Axis, ExplicitValues, Listed, part_with
from pipeline.sweep.axes.reader import AxisReader, check_fixed
from pipeline.sweep.friction import FrictionContent
from pipeline.sweep.friction_sets import FrictionAxis
from pipeline.sweep.limits import LimitsContent
from pipeline.sweep.reading import SectionContent, SweepReading
from pipeline.sweep.sections import ControllerSection, ForceSection
from pipeline.sweep.simulated.axes import SimulationAxes
from pipeline.sweep.trajectories import loads
from pipeline.sweep.trajectories.reader import TrajectoryReader
from pipeline.sweep.trajectories.values import Mover
from robots.controllers import CONTROLLERS, Controller, Space, check_space, controller_parameters
from robots.friction.laws import LAWS
from robots.friction.smooth import obstacles
from robots.limits import NO_LIMITS, Capacity
from robots.model import Mechanism
from robots.parameter_errors import ParameterError
from robots.parameters import Parameter
from robots.simulation import TREE, ForceProfile, Method, SimulationSettings, state_parameters
from robots.stops import JointStop, Stops, stopped_joints
from robots.trajectories.kinds import is_grid
from robots.trajectories.time_grid import TimeGrid, longest
from robots.trajectories.trajectory import Trajectory

PATH = ("simulation",)
RELEASE = "release"
"""The one trajectory of a sweep whose robots are released."""

WHOLE = 1e-9
"""Share of a step by which a time may miss a whole number of steps."""

MAX_SETS = 10**6
"""Friction sets that are looked at."""

TIMES = ("sample_time", "delay")
"""Parameters of controllers that are whole numbers of steps."""

LOOKED_AT = 10**6
"""Values of them that are looked at together."""

MAX_STEPS = 10**8
"""Steps of one simulation."""


class SimulationContent(SectionContent[SimulationAxes | None, None]):
    """Simulation of the cases, with the axes of gains and initial states; None where forces follow from motions."""

    key = "simulation"
    after = ("limits", "motors", "friction")

    @classmethod
    def read(cls, reading: SweepReading) -> Self | None:
        """Read the simulation, and replace trajectories by its own."""
        if reading.file.simulation is None:
            return cls(None)
        reader = SimulationReader(reading)
        reading.trajectories = reader.trajectories(reading.trajectories)
        axes = reader.axes(reading.value(FrictionContent))
        return None if axes is None else cls(axes)

    def describe(self) -> dict[str, Any]:
        """Describe a simulation that there is."""
        return {self.key: self.value.describe()} if self.value else {}


class SimulationReader:
    """Reader of the simulation of a file; problems go to `report`."""

    def __init__(self, reading: SweepReading) -> None:
        assert reading.file.simulation is not None
        self.report, self.file, self.section = reading.report, reading.file, reading.file.simulation
        self.mechanism, self.files = reading.mechanism, reading.files
        self.grids = reading.grids or (TimeGrid(1.0, 2),)
        self.limits = reading.value(LimitsContent) or NO_LIMITS
        self.motors = reading.said(MotorsContent)

    def trajectories(self, read: Sequence[Trajectory]) -> tuple[Trajectory, ...]:
        """Return the references; for force profiles and a release the reference pose at rest, one per profile."""
        section, report = self.section, self.report
        if section.controller is not None:
            for trajectory in read:
                if is_grid(trajectory.kind):
                    report(
                        ("trajectories", trajectory.name, "kind"), trajectory.kind, "a motion over time",
                        "The points of a grid cannot be followed; take another kind.",
                    )  # fmt: skip
            axes = [each.load.axes for each in read if each.load is not None]
            for trajectory in read:
                if trajectory.load is not None and trajectory.load.axes != axes[0]:
                    got, path = Got("loads in axes of the world and of the platform"), ("trajectories", trajectory.name)
                    report((*path, loads.KEY), got, "one of the two in a simulation", "Take a sweep for each.")
            return tuple(read)
        if read:
            what = "forces" if section.forces else "a simulation without a controller"
            report(("trajectories",), Got(f"trajectories beside {what}"), "a controller that follows them, or none",
                   "Add controller under simulation, or remove trajectories.")  # fmt: skip
        names = tuple(section.forces) if section.forces else (RELEASE,)
        still: dict[str, object] = {"duration": 1.0}
        still |= {"start": 0.0, "end": 0.0} if self._is_chain else {"start": (0.0,) * 3, "end": (0.0,) * 3}
        return tuple(Trajectory("quintic", still, name=name) for name in names)

    @property
    def _is_chain(self) -> bool:
        return self.mechanism is not None and self.mechanism.is_chain

    def axes(self, friction: FrictionAxis | None) -> SimulationAxes | None:
        """Return the simulation with its axes; None where a problem keeps it from being read."""
        self._refuse_others()
        self._refuse_sharp_widths(friction)
        step, every = self._step()
        method = self._method(friction)
        if self.mechanism is None:
            return None
        stops = self._stops(self.mechanism)
        if method == TREE:
            self._refuse_beside_tree(friction)
        elif self.mechanism.has_windings:
            self._check_windings(self.mechanism, method)
        if self.section.controller is not None and self.section.forces:
            self.report((*PATH, "forces"), Got("forces beside a controller"), "one of the two", "Remove one.")
        if self.section.gains is not None and self.section.controller is None:
            self.report((*PATH, "gains"), Got("gains without a controller"), "controller beside them", "Add it.")
        state = state_parameters(self.mechanism)
        start = self._axis(self.section.state, state, {}, "state")
        swept = {name: state[name] for name in start.names if name in state}
        profiles = tuple(self._profiles(self.mechanism))
        simulation = SimulationSettings(
            step, every, method, None, profiles, self.section.tolerance or 0.0, self._saturation(self.mechanism), stops,
            windings=self.mechanism.has_windings,
        )  # fmt: skip
        if self.section.controller is None:
            return SimulationAxes(simulation, state=start, state_parameters=swept)
        controlled = self._controlled(self.section.controller, self.mechanism)
        if controlled is None:
            return None
        kind, space, known, fixed = controlled
        gains = self._axis(self.section.gains, known, fixed, "gains")
        names = tuple(name for name in known if name in fixed or name in gains.names)
        if not self.report.problems:  # a wrong name may be the missing one
            self._require_gains(kind, names, known)
        simulation = replace(simulation, controller=Controller(kind, space, names))
        parameters = {name: known[name] for name in names}
        axes = SimulationAxes(simulation, gains, fixed, parameters, start, swept)
        if not self.report.problems:
            self._check_times(axes)
        return axes

    def _refuse_others(self) -> None:
        """Refuse sections that a simulation has no use for."""
        if self.file.precision == "single":
            self.report(("precision",), "single", "double, in which simulations are", "Remove it.")

    def _refuse_sharp_widths(self, friction: FrictionAxis | None) -> None:
        """Refuse a friction law that is smoothed over nothing: one that sticks is another program."""
        if friction is None or self.report.problems:
            return
        for group in friction.groups:
            name = f"{group.name}_width" if group.name else "width"
            if "width" in group.parameters and not friction.values(0, min(friction.size, MAX_SETS))[name].all():
                hint = "Leave it out where friction is to stick, or take a sweep for each."
                self.report(("friction",), Got(f"{name} of 0"), "a width above 0 in a simulation", hint)

    def _step(self) -> tuple[float, int]:
        grid = longest(self.grids)
        if any(one.step != grid.step for one in self.grids):
            got = Got(f"steps of {', '.join(f'{one.step:g} s' for one in self.grids)}")
            hint = "They may stop at different times."
            self.report(("time",), got, "one step of time for all trajectories of a simulation", hint)
        step = self.section.step or grid.step
        count = grid.step / step
        path = (*PATH, "step")
        if count < 1.0 - WHOLE:
            self.report(path, step, f"at most the step of time, {grid.step!r}", "Results are stored at times of time.")
        elif abs(count - round(count)) > WHOLE * count:
            hint = f"Take {grid.step / max(1, round(count)):.10g}."
            self.report(path, step, f"a whole part of the step of time, {grid.step!r}", hint)
        elif count * (grid.samples - 1) > MAX_STEPS:
            got = Got(f"{count * (grid.samples - 1):.4g} steps")
            self.report(path, got, f"at most {MAX_STEPS:.4g}", "Take a longer step.")
        return step, max(1, round(count))

    def _method(self, friction: FrictionAxis | None) -> Method:
        bristles = friction is not None and any(LAWS[group.law].state and not group.sticks for group in friction.groups)
        if self.section.stops and self.section.method not in (None, TREE):
            self.report(
                (*PATH, "stops"), Got(f"stops with method {self.section.method}"), f"method {TREE}", "Leave it out."
            )
        return self.section.method or (TREE if self.section.stops else "rosenbrock" if bristles else "rk4")

    def _stops(self, mechanism: Mechanism) -> Stops:
        """Return the stops of joints by name."""
        stops: dict[str, JointStop] = {}
        for name, section in (self.section.stops or {}).items():
            low, high = (
                end if end is not None else sign * math.inf for sign, end in ((-1, section.low), (1, section.high))
            )
            try:
                stops[name] = JointStop(low, high, section.restitution, section.latch)
                stopped_joints(mechanism, stops)
            except ParameterError as error:
                got = Got(str(error).removeprefix("stops: "))
                self.report((*PATH, "stops", name), got, "a joint of the tree that has no other stop")
        return stops

    def _refuse_beside_tree(self, friction: FrictionAxis | None) -> None:
        """Refuse entries that the method of all joints of the tree cannot integrate."""
        section, path = self.section, (*PATH, "method")
        voltage = any(profile.of == "voltage" for profile in (section.forces or {}).values())
        present = {
            "a controller": section.controller is not None,
            "saturation": section.saturation,
            "voltages": voltage,
            "motors with an inductance": self.mechanism is not None and self.mechanism.has_windings,
        }
        what = [name for name, is_there in present.items() if is_there]
        if friction is not None and self.mechanism is not None:
            what += obstacles(self.mechanism, friction.groups)
        if what:
            rule = "forces or currents, loads and smooth friction, which all joints of the tree know"
            self.report(path, Got(f"{TREE} with {what[0]}"), rule, "Leave it out, or take another method and no stops.")

    def _axis(self, section: object, known: Mapping[str, Parameter], fixed: Mapping[str, float], name: str) -> Axis:
        if section is None:
            return NOTHING
        reader = AxisReader(self.report, known, fixed, self.file.seed, self.files)
        return reader.axis(getattr(self.section, name), (*PATH, name))

    def _controlled(
        self, section: ControllerSection, mechanism: Mechanism
    ) -> tuple[str, Space, dict[str, Parameter], dict[str, float]] | None:
        path = (*PATH, "controller")
        if not self.report.require_known((*path, "kind"), section.kind, CONTROLLERS, "a kind of controller"):
            return None
        try:
            space = check_space(mechanism, section.kind, section.space)
        except ParameterError as error:
            _, _, rule = str(error).partition("expected ")
            self.report((*path, "space"), section.space, rule or "a space of the robot")
            return None
        known = controller_parameters(mechanism, section.kind, space)
        fixed = check_fixed(self.report, known, section.parameters, (*path, "parameters"))
        return section.kind, space, known, fixed

    def _require_gains(self, kind: str, names: Sequence[str], known: Mapping[str, Parameter]) -> None:
        for gain in CONTROLLERS[kind].gains:
            if not any(name == gain.name or name.startswith(f"{gain.name}_") for name in names):
                self.report(
                    (*PATH, "controller"), Got(f"no {gain.name}"), f"{gain.name} of {kind} [{known[gain.name].unit}]",
                    "Give it under parameters of the controller, or sweep it under gains.",
                )  # fmt: skip

    def _check_times(self, axes: SimulationAxes) -> None:
        """Refuse times of a controller that are no whole number of steps."""
        step = axes.simulation.step
        for name in TIMES:
            swept = name in axes.gains.names
            column = (
                part_with(axes.gains, name)
                if swept
                else Listed((name,), (ExplicitValues((axes.fixed.get(name, 0.0),)),))
            )
            for start in range(0, min(column.size, MAX_SIMULATED), LOOKED_AT):
                values = column.values(start, min(column.size, start + LOOKED_AT))[name]
                wrong = np.abs(values / step - np.rint(values / step)) > 1e-6
                if wrong.any():
                    got = float(values[int(np.argmax(wrong))])
                    path: KeyPath = (*PATH, "gains") if swept else (*PATH, "controller", "parameters", name)
                    what = Got(f"{name} of {got!r}") if swept else got
                    rule = f"a whole number of steps of {step!r} s"
                    self.report(path, what, rule, "Choose another, or another step.")
                    break

    def _profiles(self, mechanism: Mechanism) -> Iterator[ForceProfile]:
        for name, section in (self.section.forces or {}).items():
            path = (*PATH, "forces", name)
            points = self._points(section, mechanism, path)
            if section.of != "force" and not mechanism.motors:
                hint = "Its actuators are not all drives with a motor; give forces."
                self.report((*path, "of"), section.of, "force", hint)
            elif section.of == "speed" and not all(
                motor.speed_controller and motor.inductance is not None for motor in mechanism.motors
            ):
                rule = "motors with an inductance and a speed_controller"
                self.report((*path, "of"), section.of, rule, "Give them in the robot, or give another quantity.")
            elif section.of == "voltage":
                self._require_resistance(mechanism, (*path, "of"), section.of)
            if points is not None:
                yield ForceProfile(points, section.between, section.of, name)

    def _require_resistance(self, mechanism: Mechanism, path: KeyPath, got: object) -> None:
        """Refuse voltages at motors without a resistance: their currents cannot be computed."""
        if not all(float(motor.resistance) > 0.0 for motor in mechanism.motors):
            self.report(
                path, got, "motors with a resistance above zero", "Give it in the robot, or leave voltages out."
            )

    def _check_windings(self, mechanism: Mechanism, method: Method) -> None:
        """Refuse methods, and commands without a current loop, that motors with an inductance do not have."""
        if method != "rk4":
            hint = "Its steps are exponential in currents." if self.section.method else "Say method: rk4."
            self.report((*PATH, "method"), method, "rk4 for motors with an inductance", hint)
        by_voltage = [profile.of == "voltage" for profile in (self.section.forces or {}).values()]
        commanded = not (by_voltage and all(by_voltage))
        limited = any(by_voltage) and self.section.saturation
        loops = [(float(motor.bandwidth) > 0.0, motor.current_controller is not None) for motor in mechanism.motors]
        if (commanded and not all(map(any, loops))) or (limited and not all(quick for quick, _ in loops)):
            got = Got("motors with an inductance and without a bandwidth")
            rule = "the bandwidth [rad/s] of the current loop of each, which makes forces and keeps limits"
            self.report(PATH, got, rule, "Give it in the robot, such as 2000, or give voltages without saturation.")

    def _saturation(self, mechanism: Mechanism) -> bool:
        """Return whether limits bound the forces of motors (saturation)."""
        limits, path = self.limits, (*PATH, "saturation")
        if not self.section.saturation:
            return False
        capacities = [*limits.actuators.values()]
        if self.motors is not None:
            amplifier = {"voltage": self.motors.voltage, "current": self.motors.current}
            capacities.append(Capacity(**{key: most for key, most in amplifier.items() if most is not None}))
        if not mechanism.motors:
            hint = "Its actuators are not all drives with a motor; take force_limit of a controller."
            self.report(path, True, "a robot with motors", hint)
        elif not any(math.isfinite(most) for x in capacities for most in (x.force, x.current, x.voltage)):
            hint = "Add current and voltage under motors, or under limits.actuators."
            self.report(path, True, "limits of force, current or voltage that the file sets", hint)
        elif any(math.isfinite(x.voltage) for x in capacities):
            self._require_resistance(mechanism, path, True)
        return True

    def _points(self, section: ForceSection, mechanism: Mechanism, path: KeyPath) -> np.ndarray | None:
        if (section.values is None) == (section.file is None):
            got = "neither values nor file" if section.file is None else "both values and file"
            self.report(path, Got(got), "one of values and file")
            return None
        actuators = mechanism.actuators
        if section.values is not None:
            levels = section.values if isinstance(section.values, tuple) else (section.values,) * len(actuators)
            if len(levels) != len(actuators):
                rule = f"a number for each actuator: {', '.join(actuators)}"
                self.report((*path, "values"), list(levels), rule)
                return None
            return np.array([[0.0, *levels]])
        reader = TrajectoryReader(self.report, self.files, Mover())
        unit = "N m or N" if section.of == "force" else "1"
        return reader.points({"file": section.file}, path, {"t": "s", **dict.fromkeys(actuators, unit)})
