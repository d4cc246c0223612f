"""A block whose cases are simulated: all of them side by side, a strip of lanes at a time, in one task.

Limbs are coupled in every step, so that a simulation is not cut by limbs. Cases are designs, friction sets,
trajectories, gains and initial states, the last fastest.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from robots.limits import MOTOR, Capacity
from robots.measurement import CLEAN
from robots.model import Robot
from robots.quantities import GAINS, SIMULATED, STATE, Quantity
from robots.simulation import ForceProfile
from robots.status import Status
from robots.trajectories.trajectory import WRENCH, PlatformLoad
from tasks.blocks.block import Arrays, Block, BlockSimulation, of_motion
from tasks.blocks.limb_results import commanded
from tasks.dynamics.drive_model import InverseModel, case_rows
from tasks.dynamics.inverse import resolved_rows
from tasks.dynamics.servo import ActuatorRates, FedMotors
from tasks.kernels.kernel import LANES, padded
from tasks.sources.drives import Controlled, ForceSource, Profiled, Tracks, moved_starts
from tasks.sources.plants import MovingRobots, Supply
from tasks.sources.prescribed import base_field
from tasks.sources.runner import JOINT_SERIES, Outcome, Schedule, SimulatedBatch, accepted, integration_error

STRIP = 2048
"""Cases that are simulated side by side: their states stay in the cache."""

KEPT = 1 << 24
"""Numbers that a strip keeps of its motions."""

ACCURACY = ("integration_error", "integration_error_share")

NEEDS: Mapping[str, tuple[str, ...]] = {
    "actuator_force": ("actuator_force",),
    "actuator_position": ("actuator_position",),
    "actuator_velocity": ("actuator_velocity",),
    **dict.fromkeys(
        ("actuator_power", "motor_current", "motor_voltage", "electrical_power"),
        ("actuator_force", "actuator_velocity"),
    ),
    "tracking_error": ("tracking_error",),
    **dict.fromkeys(CLEAN, ("actuator_position", "sensed_force")),
    "joint_friction": ("friction",),
    "platform_position": ("motion",),
    "platform_rotation": ("motion",),
    "platform_twist": ("motion",),
    "position_error": ("motion", "target"),
    **dict.fromkeys(ACCURACY, ("motion",)),
}
"""Series of a run that variables are made of, see `tasks.sources.runner.SERIES`."""

OF_DRIVES = ("actuator_force", "actuator_position", "actuator_velocity", "tracking_error")

OF_ACTUATORS = (
    "peak_force", "rms_force", "work", "peak_tracking_error", "rms_tracking_error", "overshoot", "lost_steps",
    "actuator_margin", "saturated_time",
)  # fmt: skip
MARGINS = ("limit_margin", "velocity_margin", "actuator_margin")
OF_CASES = ("settling_time", "peak_position_error", "rms_position_error", *MARGINS[:2])

LEISURELY = 1.0
"""Rate [rad/s or m/s] that a reference counts as at least, where it is judged whether a motion has run away."""

LOOKED_AT = 33
"""Instants of a reference at which its range is looked for."""


def simulated(block: Block) -> Arrays:
    """All variables of a block, in the dims of the dataset."""
    assert block.simulation is not None
    return _Simulated(block, block.simulation).arrays()


class _Simulated:
    def __init__(self, block: Block, simulated: BlockSimulation):
        self.block, self.simulated = block, simulated
        self.sizes = {
            "design": block.designs,
            "friction": len(block.friction),
            "trajectory": len(block.trajectories),
            GAINS: 1 if simulated.paired else len(simulated.gains),
            STATE: 1 if simulated.paired else len(simulated.state),
        }
        self.count = math.prod(self.sizes.values())
        chosen = simulated.simulation
        step, steps = chosen.step, (len(block.times) - 1) * chosen.every
        self.schedule = Schedule(step, steps, chosen.every)
        self.accurate = any(name in ACCURACY for name in block.metrics)
        wanted = (*block.series, *block.metrics)
        self.keep = frozenset(series for name in wanted for series in NEEDS.get(name, ()))
        self.keep |= {name for name in JOINT_SERIES if name in block.series}
        if chosen.tolerance:
            self.keep |= {"motion"}
        self.tracks: dict[int, np.ndarray] = {}

    def _references(self, factor: int) -> np.ndarray:
        """References at all steps of a schedule that is so many times finer."""
        if factor not in self.tracks:
            self.tracks[factor] = self._motions(factor)
        return self.tracks[factor]

    def _track(self, place: Mapping[str, np.ndarray]) -> np.ndarray:
        """The number of the reference of each case: each design has its own where a posture decides freedoms."""
        apart = self.sizes["trajectory"] if self.block.family.reference.resolved else 0
        return place["design"] * apart + place["trajectory"]

    def _motions(self, factor: int) -> np.ndarray:
        """References at all steps (trajectory, size, steps + 1); of resolved ones all trajectories of each design."""
        schedule = self.schedule.refined(factor)
        times = np.arange(schedule.steps + 1) * schedule.step
        block = self.block
        rows = [commanded(block.family, trajectory, times, block.origin) for trajectory in block.trajectories]
        tracks = [row[:, : len(times)] for row in rows]
        if block.family.reference.resolved:
            robots = [
                Robot(block.family, dict(zip(block.named_parameters(), numbers, strict=True)))
                for numbers in block.parameters.tolist()
            ]
            tracks = [resolved_rows(robot, row) for robot in robots for row in tracks]
        return np.stack(tracks)

    def arrays(self) -> Arrays:
        """All strips, put together."""
        length = self._length()
        strips = [self._strip(start, min(start + length, self.count)) for start in range(0, self.count, length)]
        names = (*self.block.series, *self.block.metrics)
        return {name: self._shaped(SIMULATED[name], [strip[name] for strip in strips]) for name in names}

    def _shaped(self, row: Quantity, parts: list[np.ndarray]) -> np.ndarray:
        """A variable (case, ...) in the dims of the dataset."""
        whole = np.concatenate(parts)
        lengths = [size for dim, size in self.sizes.items() if dim not in (GAINS, STATE) or dim in self.simulated.dims]
        return np.ascontiguousarray(whole.reshape(*lengths, *whole.shape[1:]).astype(row.dtype, copy=False))

    def _length(self) -> int:
        """Cases of a strip: as many as keep no more than KEPT numbers."""
        motion = self._references(1).shape[1]
        numbers = self.schedule.kept * (motion + 4 * len(self.block.family.reference.actuators))
        return max(LANES, min(STRIP, KEPT // numbers // LANES * LANES))

    def _strip(self, start: int, stop: int) -> Arrays:
        """The variables of some cases, each (case, ...)."""
        if self.simulated.simulation.tolerance:
            return self._controlled(np.arange(start, stop))
        lanes = np.minimum(np.arange(start, start + padded(stop - start)), stop - 1)
        place = self._place(lanes)
        simulation = self._simulation(place)
        outcome = simulation.run()
        arrays = self._variables(outcome, place["design"])
        if self.accurate:
            arrays |= dict(zip(ACCURACY, self._error(outcome, simulation.run(2)), strict=True))
        arrays |= self._measured(outcome, {dim: numbers[: stop - start] for dim, numbers in place.items()})
        return {name: array[: stop - start] for name, array in arrays.items()}

    def _controlled(self, cases: np.ndarray) -> Arrays:
        """The same of cases by number, with steps as short as the tolerance asks for."""
        tolerance, parts = self.simulated.simulation.tolerance, []
        for part in accepted(lambda some: self._simulation(self._place(some)), cases, self._error, tolerance):
            place = self._place(part.cases)
            arrays = self._variables(part.outcome, place["design"]) | self._measured(part.outcome, place)
            arrays |= dict(zip(ACCURACY, (part.error, part.share), strict=True))
            parts.append(arrays | {"substeps": np.full(len(part.cases), part.substeps), "case": part.cases})
        order = np.argsort(np.concatenate([arrays.pop("case") for arrays in parts]))
        return {name: np.concatenate([arrays[name] for arrays in parts])[order] for name in parts[0]}

    def _place(self, cases: np.ndarray) -> dict[str, np.ndarray]:
        """Where cases by number are along each axis."""
        place = dict(zip(self.sizes, np.unravel_index(cases, tuple(self.sizes.values())), strict=True))
        return place | ({GAINS: place["design"], STATE: place["design"]} if self.simulated.paired else {})

    def _error(self, outcome: Outcome, finer: Outcome) -> tuple[np.ndarray, np.ndarray]:
        """The error of a run, and the same as a share, from it and one at half its step."""
        method, chain = self.simulated.simulation.method, self.block.family.reference.is_chain
        return integration_error(outcome, finer, method, chain)

    def _measured(self, outcome: Outcome, place: Mapping[str, np.ndarray]) -> Arrays:
        """Measured series of the cases at these places of the block, each (case, time, actuator)."""
        names = [name for name in self.block.series if name in CLEAN]
        if not names or self.block.measurement is None:
            return {}
        sensors, first = self.block.measurement.sensors, self.block.measurement.place
        step = float(self.block.times[1] - self.block.times[0])
        numbers = np.stack([place[dim] for dim in self.sizes], axis=1) + np.array(first)
        series = {name: outcome.series[name] for name in ("actuator_position", "sensed_force")}
        cases = []
        for k, number in enumerate(numbers.tolist()):
            clean = {name: np.ascontiguousarray(values[:, :, k]) for name, values in series.items()}
            cases.append(of_motion(sensors, names, step, tuple(number), clean))
        return {name: np.stack([case[name] for case in cases]) for name in names}

    def _simulation(self, place: Mapping[str, np.ndarray]) -> SimulatedBatch:
        block, chosen, family = self.block, self.simulated.simulation, self.block.family
        parameters = block.parameters[place["design"]]
        constants = case_rows(family, parameters, block.gravity)
        limits = block.limits if any(name in MARGINS for name in block.metrics) else None
        series = tuple(name for name in JOINT_SERIES if limits is not None or name in block.series)
        model = InverseModel(family, constants, series)
        friction = np.ascontiguousarray(block.friction[place["friction"]])
        motions = self._references(1)
        offsets = self.simulated.state[place[STATE]]
        track = self._track(place)
        start = moved_starts(family, motions[track, :, 0].T, self.simulated.offsets, offsets)
        gains = np.ascontiguousarray(self.simulated.gains[place[GAINS]].T)
        supply = Supply(self._fed_motors(place), ActuatorRates(model)) if chosen.fed else None

        def plant(schedule: Schedule) -> MovingRobots:
            return MovingRobots.of(
                family, block.groups, parameters, friction, block.gravity, start, schedule.step, chosen.method,
                self._load(schedule, place), any(load.axes == "platform" for load in self.loads),
                self._field(schedule, len(parameters)), supply,
                block.criteria.elasticity if block.criteria.reactions else None,
            )  # fmt: skip

        def drive(schedule: Schedule) -> ForceSource:
            if chosen.controller is not None:
                factor = schedule.steps // self.schedule.steps
                tracks = Tracks(self._references(factor), track)
                return Controlled(model, tracks, chosen.controller, gains, schedule.step, chosen.step)
            return self._profiled(schedule, place)

        if chosen.controller is None:
            endless = np.full(len(parameters), np.inf)
            return SimulatedBatch(model, plant, drive, self.schedule, endless, keep=self.keep, limits=limits)
        reach, last = self._way(model, motions, track)
        fastest = self._fastest(motions)[track]
        return SimulatedBatch(model, plant, drive, self.schedule, fastest, reach, last, self.keep, limits)

    def _fastest(self, motions: np.ndarray) -> np.ndarray:
        """The largest rate of a freedom of each reference (trajectory,), at least LEISURELY."""
        mechanism, size = self.block.family.reference, motions.shape[1]
        free = len(mechanism.freedoms)
        rows = slice(free, 2 * free) if mechanism.is_chain else slice(3, 6) if size == 9 else slice(12, 18)
        return np.maximum(np.abs(motions[:, rows]).max(axis=(1, 2)), LEISURELY)

    def _way(self, model: InverseModel, motions: np.ndarray, number: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The range of references in coordinates of actuators, and where they end, (actuator, case)."""
        places = np.unique(np.rint(np.linspace(0, motions.shape[2] - 1, LOOKED_AT)).astype(np.int64))
        least = most = last = np.zeros((len(self.block.family.reference.actuators), len(number)))
        for count, k in enumerate(places):
            last = model.run(np.ascontiguousarray(motions[number, :, k].T), forces=False).position
            least, most = (last, last) if count == 0 else (np.fmin(least, last), np.fmax(most, last))
        return most - least, last

    def _profiled(self, schedule: Schedule, place: Mapping[str, np.ndarray]) -> Profiled:
        """The force profiles of all cases; none acts where there is none."""
        profiles, block = self.simulated.simulation.profiles, self.block
        count, actuators = len(place["design"]), len(block.family.reference.actuators)
        if not profiles:
            return Profiled(np.zeros((1, actuators, 3, 1)), np.zeros(count, dtype=np.int64), np.ones((1, actuators, 1)))
        which = self._profile_of(place)
        forces = np.stack([along(profile, schedule) for profile in profiles])
        scale = np.ones((len(profiles), actuators, count))
        if any(profile.current for profile in profiles):
            motors = self._of_motors("torque_constant")[place["design"]].T
            scale = np.stack([motors if profile.current else np.ones_like(motors) for profile in profiles])
        return Profiled(forces, which, scale)

    def _profile_of(self, place: Mapping[str, np.ndarray]) -> np.ndarray:
        """Number of the force profile of each case; 0 without any."""
        names = [profile.name for profile in self.simulated.simulation.profiles]
        if not names:
            return np.zeros(len(place["trajectory"]), dtype=np.int64)
        return np.array([names.index(trajectory.name) for trajectory in self.block.trajectories])[place["trajectory"]]

    @property
    def loads(self) -> list[PlatformLoad]:
        """Loads on the platform of the trajectories that have one; all of them are in the same axes."""
        return [trajectory.load for trajectory in self.block.trajectories if trajectory.load is not None]

    def _load(self, schedule: Schedule, place: Mapping[str, np.ndarray]) -> Profiled | None:
        """Wrenches on the platforms of all cases, in axes of the world or of the platform; None without any."""
        if not self.loads:
            return None
        none = np.zeros((1, 1 + len(WRENCH)))
        points = [none if each.load is None else each.load.points for each in self.block.trajectories]
        wrenches = np.stack([along(ForceProfile(rows), schedule) for rows in points])
        return Profiled(wrenches, place["trajectory"], np.ones((len(points), len(WRENCH), 1)))

    def _field(self, schedule: Schedule, count: int) -> Profiled | None:
        """What a base that moves adds to gravity, the same for all cases; None where it stands."""
        if self.block.base is None:
            return None
        starts = np.arange(schedule.steps + 1) * schedule.step
        times = np.concatenate([starts + share * schedule.step for share in (0.0, 0.5, 1.0)])
        values = base_field(self.block.base, self.block.gravity, times)[:, : len(times)]
        rows = values.reshape(1, len(values), 3, len(starts))
        return Profiled(rows, np.zeros(count, dtype=np.int64), np.ones((1, len(values), 1)))

    def _of_motors(self, name: str) -> np.ndarray:
        """A number of the motors (design, actuator), such as their force per current."""
        motors = self.block.family.assemble(self.block.named_parameters()).motors
        numbers = [np.broadcast_to(getattr(motor, name), (self.block.designs,)) for motor in motors]
        return np.stack([np.asarray(values, dtype=float) for values in numbers], axis=1)

    def _fed_motors(self, place: Mapping[str, np.ndarray]) -> FedMotors:
        """The motors of all cases; what limits them where they saturate."""
        chosen, block = self.simulated.simulation, self.block
        constant, resistance = (self._of_motors(key)[place["design"]].T for key in ("torque_constant", "resistance"))
        known = [block.limits.actuators.get(k, Capacity()) for k in range(len(constant))]
        limits = known if chosen.saturation else [Capacity()] * len(known)
        force, current, voltage = (
            np.array([[getattr(x, key)] for x in limits]) for key in ("force", "current", "voltage")
        )
        if chosen.saturation:  # of the amplifiers too, which differ from design to design
            current, voltage = (
                np.minimum(most, self._of_motors(key)[place["design"]].T)
                for key, most in (("current", current), ("voltage", voltage))
            )
        by_voltage = np.array([profile.voltage for profile in chosen.profiles] or [False])
        return FedMotors(constant, resistance, force, current, voltage, by_voltage[self._profile_of(place)])

    def _variables(self, outcome: Outcome, design: np.ndarray) -> Arrays:
        """What the sweep may store, by name, each (case, ...), for the designs of the cases."""
        series = {name: np.moveaxis(values, 2, 0) for name, values in outcome.series.items()}
        tallies = {name: values.T for name, values in outcome.tallies.items()}
        status = outcome.status.T
        result = {name: series[name] for name in OF_DRIVES if name in series}
        if "actuator_power" in self.block.series:
            result["actuator_power"] = series["actuator_force"] * series["actuator_velocity"]
        result |= self._electrical(series, design)
        result |= {"status": status, "worst_status": status.max(axis=1), "failed_samples": (status != 0).sum(axis=1)}
        result |= {name: tallies[name] for name in OF_ACTUATORS if name in tallies}
        result |= {name: tallies[name][:, 0] for name in OF_CASES if name in tallies}
        result["dissipated_energy"] = tallies["loss"].sum(axis=1)
        result |= self._joints(series, status)
        if not self.block.family.reference.is_chain and "motion" in series:
            result |= self._platform(series)
        return result

    def _electrical(self, series: Arrays, design: np.ndarray) -> Arrays:
        """Series of the motors (case, time, actuator)."""
        if not {"motor_current", "motor_voltage", "electrical_power"} & {*self.block.series}:
            return {}
        constant, resistance = (self._of_motors(key)[design][:, None] for key in ("torque_constant", "resistance"))
        current = series["actuator_force"] / constant
        voltage = current * resistance + constant * series["actuator_velocity"]
        return {"motor_current": current, "motor_voltage": voltage, "electrical_power": voltage * current}

    def _joints(self, series: Arrays, status: np.ndarray) -> Arrays:
        """Series of all joints (case, time, limb, joint), NaN for joints that only other limbs have."""
        mechanism, lead = self.block.family.reference, status.shape
        counts = [len(mechanism.limbs[instance.limb].joints) for instance in mechanism.instances]
        absent = np.where(np.arange(max(counts)) < np.array(counts)[:, None], 0.0, np.nan)
        result = {}
        for name in (name for name in JOINT_SERIES if name in self.block.series):
            result[name] = np.broadcast_to(absent, (*lead, *absent.shape)).copy()
            for k, count in enumerate(counts):
                result[name][..., k, :count] = series[f"{name}.{k}"]
        if "joint_friction" in self.block.series:
            friction = np.broadcast_to(absent, (*lead, *absent.shape)).copy()
            joints = (joint for group in self.block.groups for joint in group.places)
            for k, joint in enumerate(joints):
                if joint.joint != MOTOR:
                    friction[..., joint.limb, joint.joint] = series["friction"][..., k]
            friction[status != Status.OK] = np.nan
            result["joint_friction"] = friction
        return result

    def _platform(self, series: Arrays) -> Arrays:
        motion = series["motion"]
        lead, size = motion.shape[:2], motion.shape[2]
        twist = np.zeros((*lead, 6))
        if size == 9:
            home = np.array(self.block.family.reference.platform.home.rotation, dtype=float)
            rotation = np.where(np.isfinite(motion[..., :1, None]), home, np.nan)
            twist[..., :3], twist[..., 3:] = motion[..., :1] * 0.0, motion[..., 3:6]
        else:
            rotation, twist = motion[..., 3:12].reshape(*lead, 3, 3), motion[..., 12:18]
        result = {"platform_position": motion[..., :3], "platform_rotation": rotation, "platform_twist": twist}
        if "target" in series:
            result["position_error"] = series["target"][..., :3] - motion[..., :3]
        return result


def along(profile: ForceProfile, schedule: Schedule) -> np.ndarray:
    """The numbers of a profile at the beginning, in the middle and at the end of all steps (actuator, 3, steps + 1).

    Of one that goes by steps, what holds at the beginning of a step holds over it.
    """
    times, values = profile.points[:, 0], profile.points[:, 1:]
    starts = np.arange(schedule.steps + 1) * schedule.step
    if profile.between == "steps" or len(times) == 1:
        held = values[np.maximum(np.searchsorted(times, starts * (1.0 + 1e-12), side="right") - 1, 0)]
        return np.ascontiguousarray(np.stack([held] * 3, axis=1).transpose(2, 1, 0))
    instants = np.stack([starts, starts + 0.5 * schedule.step, starts + schedule.step])
    return np.stack([np.interp(instants, times, column) for column in values.T])
