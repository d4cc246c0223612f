"""A block whose cases are simulated: all of them side by side, a strip of lanes at a time, in one task.

Limbs are coupled in every step, so that a simulation is not cut by limbs. Cases are designs, friction sets,
trajectories, gains and initial states, the last fastest.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

import numpy as np

from robots.data_classes import dataclass
from robots.dims import GAINS, STATE
from robots.formulas import as_row
from robots.limits import NO_LIMITS, Capacity
from robots.measurement import CLEAN, clean_series
from robots.model import Robot
from robots.quantities import QUANTITIES, Quantity
from robots.requested import QuantityNames
from robots.simulation import TREE, ForceProfile
from robots.status import Status
from robots.trajectories.trajectory import WRENCH, PlatformLoad
from tasks.blocks.block import Block, BlockSimulation, require_one_grid
from tasks.blocks.case_series import CASE_DIMS, case_series
from tasks.blocks.case_stages import PASSED_ON, CaseStages
from tasks.blocks.measured import of_motion
from tasks.blocks.pool import Arrays
from tasks.blocks.step_metrics import StepMetrics
from tasks.dynamics.drive_model import InverseModel, case_rows
from tasks.dynamics.fed_motors import ActuatorRates, FedMotors
from tasks.dynamics.motion_system import MotionSystem
from tasks.dynamics.resolution import resolved_rows
from tasks.dynamics.singular_ends import NAMELESS, LastStates, named
from tasks.dynamics.windings import Windings, loop_numbers
from tasks.dynamics.wound_system import WoundSystem
from tasks.features.redundancy.resolved import Redundancy
from tasks.kernels.advance import span
from tasks.kernels.kernel import LANES, padded
from tasks.sources.accuracy import accepted, integration_error
from tasks.sources.commanded import commanded
from tasks.sources.drives import Controlled, ForceSource, Profiled, Tracks, moved_starts
from tasks.sources.plants import MovingRobots, Supply
from tasks.sources.prescribed import base_field
from tasks.sources.runner import (
    FASTEST,
    SAMPLE,
    Outcome,
    Plant,
    Schedule,
    SimulatedBatch,
)
from tasks.sources.time_loop import TimeLoop, time_loop
from tasks.sources.trees import GIVEN as OF_TREE
from tasks.sources.trees import MovingTrees

STRIP = 2048
"""Cases that are simulated side by side: their states stay in the cache."""

KEPT = 1 << 24
"""Numbers that a strip keeps of its motions."""

ACCURACY = ("integration_error", "integration_error_share")

GIVEN: Mapping[str, str] = {
    "actuator_force": "given_force",
    **dict.fromkeys(("work", "dissipated_energy", "status", "failed_samples", "worst_status"), ""),
}
"""Quantities that a simulation gives without a stage, with the series of its run: actuator forces are given, the status
is the status of the integration, and the work of actuators and friction is integrated as a state, which is more
accurate than sums over samples."""

NO_INPUTS = frozenset(("sensed_force", "target", "tracking_error"))
"""Series of a run that no stage takes."""

TRACKED = ("tracking_error",)
"""Series that are as the run gives them."""

LEISURELY = 1.0
"""Least rate of a reference [rad/s or m/s] in the criterion for a diverged motion."""

LOOKED_AT = 33
"""Instants of a reference at which its range is looked for."""

LOOKED_AT_ONCE = 4096
"""Positions that are computed together for it, if one instant of all cases has no more."""


def simulated(block: Block) -> Arrays:
    """Simulate a block and return its variables in the dims of the dataset."""
    assert block.simulation is not None
    return _Simulated(block, block.simulation).arrays()


class _Simulated:
    def __init__(self, block: Block, simulated: BlockSimulation):
        self.block, self.simulated = block, simulated
        require_one_grid(block)
        self.sizes = {
            "design": len(block.designs),
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
        series = dict.fromkeys((*block.series, *clean_series(block.series)))
        self.of_tree = OF_TREE if chosen.method == TREE else ()
        given = (*GIVEN, *self.of_tree)
        self.of_stages = [name for name in series if QUANTITIES[name].stage not in PASSED_ON and name not in given]
        self.of_steps = [name for name in block.metrics if QUANTITIES[name].stage != "simulation" and name not in GIVEN]
        self.keep = self._kept(wanted)
        self.tracks: dict[int, np.ndarray] = {}

    def _kept(self, wanted: Iterable[str]) -> frozenset[str]:
        """Return the series of a run that variables are made of, see `tasks.sources.runner.SERIES`."""
        keep = {SAMPLE} if self.of_stages or {*self.of_tree} & {*wanted} else {"motion"}
        keep |= {"given_force"} | ({"sensed_force"} if self.block.measurement is not None else set())
        for name in wanted:
            keep |= {"tracking_error": {name}, "position_error": {"motion", "target"}}.get(name, set())
        return frozenset(keep)

    def _references(self, factor: int) -> np.ndarray:
        """Return the references at all steps of a schedule that is `factor` times finer."""
        if factor not in self.tracks:
            self.tracks[factor] = self._motions(factor)
        return self.tracks[factor]

    def _track(self, place: Mapping[str, np.ndarray]) -> np.ndarray:
        """Return the index of the reference motion of each case; a posture makes designs differ."""
        apart = self.sizes["trajectory"] if self.block.family.reference.resolved else 0
        return place["design"] * apart + place["trajectory"]

    def _motions(self, factor: int) -> np.ndarray:
        """Return references at all steps (trajectory, size, steps + 1); if resolved, all trajectories per design."""
        schedule = self.schedule.refined(factor)
        times = np.arange(schedule.steps + 1) * schedule.step
        block = self.block
        rows = [commanded(block.family, trajectory, times, block.origin) for trajectory in block.trajectories]
        tracks = [row[:, : len(times)] for row in rows]
        if block.family.reference.resolved:
            robots = [Robot(block.family, block.numbers_of(design)) for design in range(len(block.designs))]
            tracks = [resolved_rows(robot, row) for robot in robots for row in tracks]
        return np.stack(tracks)

    def arrays(self) -> Arrays:
        """Compute the strips of cases one after the other and join them."""
        length = self._length()
        strips = []
        for start in range(0, self.count, length):
            stop = min(start + length, self.count)
            with span(start / self.count, stop / self.count):
                strips.append(self._strip(start, stop))
        names = (*self.block.series, *self.block.metrics)
        return {name: self._shaped(QUANTITIES[name], [strip[name] for strip in strips]) for name in names}

    def _shaped(self, row: Quantity, parts: list[np.ndarray]) -> np.ndarray:
        """Return a variable (case, ...) in the dims of the dataset."""
        whole = np.concatenate(parts)
        lengths = [size for dim, size in self.sizes.items() if dim not in (GAINS, STATE) or dim in self.simulated.dims]
        return np.ascontiguousarray(whole.reshape(*lengths, *whole.shape[1:]).astype(row.dtype, copy=False))

    def _length(self) -> int:
        """Return the number of cases of a strip, so that it keeps no more than KEPT numbers."""
        motion = self._references(1).shape[1]
        numbers = self.schedule.kept * (motion + 4 * len(self.block.family.reference.actuators))
        return max(LANES, min(STRIP, KEPT // numbers // LANES * LANES))

    def _strip(self, start: int, stop: int) -> Arrays:
        """Return the variables of some cases, each (case, ...)."""
        if self.simulated.simulation.tolerance:
            return self._controlled(np.arange(start, stop))
        lanes = np.minimum(np.arange(start, start + padded(stop - start)), stop - 1)
        place = self._place(lanes)
        simulation, own = self._simulation(place), np.arange(stop - start)
        outcome = self._named(simulation.run(), place).part(own)
        place = {dim: numbers[: len(own)] for dim, numbers in place.items()}
        arrays = self._variables(outcome, place)
        if self.accurate:
            finer = simulation.run(2, measured=False).part(own)
            arrays |= dict(zip(ACCURACY, self._error(outcome, finer), strict=True))
        return arrays | self._measured(outcome, arrays, place)

    def _controlled(self, cases: np.ndarray) -> Arrays:
        """Return the variables of cases by number, with steps as short as the tolerance needs."""
        tolerance, parts = self.simulated.simulation.tolerance, []
        for part in accepted(lambda some: self._simulation(self._place(some)), cases, self._error, tolerance):
            place = self._place(part.cases)
            outcome = self._named(part.outcome, place)
            arrays = self._variables(outcome, place)
            arrays |= self._measured(outcome, arrays, place)
            arrays |= dict(zip(ACCURACY, (part.error, part.share), strict=True))
            parts.append(arrays | {"substeps": np.full(len(part.cases), part.substeps), "case": part.cases})
        order = np.argsort(np.concatenate([arrays.pop("case") for arrays in parts]))
        return {name: np.concatenate([arrays[name] for arrays in parts])[order] for name in parts[0]}

    def _named(self, outcome: Outcome, place: Mapping[str, np.ndarray]) -> Outcome:
        """Return an outcome whose cases that ended at a singularity have its status."""
        lasting = (outcome.status == Status.OK).sum(axis=0)
        ended = np.flatnonzero(np.isin(outcome.status[-1], NAMELESS) & (lasting > 1))
        if not len(ended):
            return outcome
        status, block = outcome.status.copy(), self.block
        for design, last in {*zip(place["design"][ended].tolist(), (lasting[ended] - 1).tolist(), strict=True)}:
            cases = ended[(place["design"][ended] == design) & (lasting[ended] == last + 1)]
            robot = Robot(block.family, block.numbers_of(design))
            two = outcome.series["motion"][last - 1 : last + 1, :, cases]
            states = LastStates.of(robot, two, block.times[last - 1 : last + 1])
            status[last + 1 :, cases] = named(robot, states, status[-1, cases])
        return replace(outcome, status=status)

    def _place(self, cases: np.ndarray) -> dict[str, np.ndarray]:
        """Return the index of numbered cases along each axis."""
        place = dict(zip(self.sizes, np.unravel_index(cases, tuple(self.sizes.values())), strict=True))
        return place | ({GAINS: place["design"], STATE: place["design"]} if self.simulated.paired else {})

    def _error(self, outcome: Outcome, finer: Outcome) -> tuple[np.ndarray, np.ndarray]:
        """Return the error of a run, absolute and as a share, from the run and one with half its step."""
        method, chain = self.simulated.simulation.method, self.block.family.reference.is_chain
        return integration_error(outcome, finer, method, chain)

    def _measured(self, outcome: Outcome, arrays: Arrays, place: Mapping[str, np.ndarray]) -> Arrays:
        """Return the measured series of the cases at these places of the block, each (case, time, actuator)."""
        names = [name for name in self.block.series if name in CLEAN]
        if not names or self.block.measurement is None:
            return {}
        sensors, first = self.block.measurement.sensors, self.block.measurement.place
        step = float(self.block.times[1] - self.block.times[0])
        numbers = np.stack([place[dim] for dim in self.sizes], axis=1) + np.array(first)
        position, force = arrays["actuator_position"], np.moveaxis(outcome.series["sensed_force"], 2, 0)
        cases = []
        for k, number in enumerate(numbers.tolist()):
            clean = {"actuator_position": position[k], "sensed_force": np.ascontiguousarray(force[k])}
            cases.append(of_motion(sensors, names, step, tuple(number), clean))
        return {name: np.stack([case[name] for case in cases]) for name in names}

    def _simulation(self, place: Mapping[str, np.ndarray]) -> SimulatedBatch:
        chosen, cases = self.simulated.simulation, _Cases.at(self.block, place)
        motions, track = self._references(1), self._track(place)
        offsets = self.simulated.state[place[STATE]]
        start = moved_starts(self.block.family, motions[track, :, 0].T, self.simulated.offsets, offsets)
        supply = Supply(self._fed_motors(place), ActuatorRates(cases.model)) if chosen.fed else None
        batch = SimulatedBatch(
            cases.model,
            functools.partial(self._plant, cases, start, supply),
            functools.partial(self._drive, cases),
            self.schedule,
            np.full(len(cases.parameters), np.inf),
            keep=self.keep,
            meter=self._meter(cases),
            loop=functools.partial(_loop, alone=all((numbers == numbers[0]).all() for numbers in place.values())),
        )
        if chosen.controller is None:
            return batch
        reach, last = self._way(cases, motions, np.stack([place["design"], track]))
        return replace(batch, fastest=self._fastest(motions)[track], reach=reach, last=last)

    def _plant(self, cases: _Cases, start: np.ndarray, supply: Supply | None, schedule: Schedule) -> Plant:
        """Return the robots of cases in their states at the start."""
        chosen, block, place = self.simulated.simulation, self.block, cases.place
        load, field = self._load(schedule, place), self._field(schedule, len(cases.parameters))
        system = MotionSystem.of_cases(
            block.family, cases.parameters, block.groups, cases.friction, cases.gravity, base=field is not None,
            load_with_platform=any(load.axes == "platform" for load in self.loads),
            elasticity=block.criteria.elasticity if block.criteria.reactions else None,
        )  # fmt: skip
        method = "rk4" if chosen.method == TREE else chosen.method
        if chosen.windings and supply is not None:
            system = self._wound(system, supply, place)
        fed = None if chosen.windings else supply
        robots = MovingRobots.of(system, start, schedule.step, method, load, field, fed)
        if chosen.method != TREE:
            return robots
        return MovingTrees.of(robots, block.designs.parameters, place["design"], chosen.stops, cases.model)

    def _drive(self, cases: _Cases, schedule: Schedule) -> ForceSource:
        """Return the controllers of cases, or their force profiles."""
        chosen, place = self.simulated.simulation, cases.place
        if chosen.controller is None:
            return self._profiled(schedule, place)
        tracks = Tracks(self._references(schedule.steps // self.schedule.steps), self._track(place))
        gains = np.ascontiguousarray(self.simulated.gains[place[GAINS]].T)
        return Controlled(cases.model, tracks, chosen.controller, gains, schedule.step, chosen.step)

    def _meter(self, cases: _Cases) -> Callable[[Schedule], StepMetrics] | None:
        """Return the factory of the metrics over all steps; None if none is requested."""
        if not self.of_steps:
            return None
        stages = case_stages(self.block, self.of_steps, cases.parameters, cases.friction)
        return lambda schedule: StepMetrics(stages, schedule.step)

    def _fastest(self, motions: np.ndarray) -> np.ndarray:
        """Return the largest rate of a freedom of each reference (trajectory,), at least LEISURELY."""
        mechanism, size = self.block.family.reference, motions.shape[1]
        free = len(mechanism.freedoms)
        rows = slice(free, 2 * free) if mechanism.is_chain else slice(3, 6) if size == 9 else slice(12, 18)
        return np.maximum(np.abs(motions[:, rows]).max(axis=(1, 2)), LEISURELY)

    def _way(self, cases: _Cases, motions: np.ndarray, pairs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the range of references in coordinates of actuators, and where they end, (actuator, case).

        pairs: number of the design and of the reference of each case. Equal ones are looked at once, at as many
        instants together as LOOKED_AT_ONCE allows.
        """
        _, first, back = np.unique(pairs, axis=1, return_index=True, return_inverse=True)
        places = np.unique(np.rint(np.linspace(0, motions.shape[2] - 1, LOOKED_AT)).astype(np.int64))
        at_once = max(1, LOOKED_AT_ONCE // len(first))
        least = most = last = np.zeros((len(self.block.family.reference.actuators), len(first)))
        for start in range(0, len(places), at_once):
            some = places[start : start + at_once]
            which, instants = (x.ravel() for x in np.meshgrid(first, some))
            filled = np.minimum(np.arange(padded(len(which))), len(which) - 1)
            values = case_rows(self.block.family, cases.parameters[which[filled]], cases.gravity)
            model = InverseModel(self.block.family, values)
            motion = np.ascontiguousarray(motions[pairs[1, which], :, instants][filled].T)
            rows = model.run(motion, forces=False).position[:, : len(which)].reshape(-1, len(some), len(first))
            for count, last in enumerate(np.moveaxis(rows, 1, 0), start):
                least, most = (last, last) if count == 0 else (np.fmin(least, last), np.fmax(most, last))
        return (most - least)[:, back], last[:, back]

    def _profiled(self, schedule: Schedule, place: Mapping[str, np.ndarray]) -> Profiled:
        """Return the force profiles of all cases; without profiles all forces are zero."""
        profiles, block = self.simulated.simulation.profiles, self.block
        count, actuators = len(place["design"]), len(block.family.reference.actuators)
        if not profiles:
            return Profiled(np.zeros((1, actuators, 3, 1)), np.zeros(count, dtype=np.int64), np.ones((1, actuators, 1)))
        which = self._profile_of(place)
        forces = np.stack([along(profile, schedule) for profile in profiles])
        scale = np.ones((len(profiles), actuators, count))
        if any(profile.of == "current" for profile in profiles):
            motors = self._of_motors("torque_constant")[place["design"]].T
            scale = np.stack([motors if profile.of == "current" else np.ones_like(motors) for profile in profiles])
        return Profiled(forces, which, scale)

    def _profile_of(self, place: Mapping[str, np.ndarray]) -> np.ndarray:
        """Return the number of the force profile of each case; 0 without any."""
        names = [profile.name for profile in self.simulated.simulation.profiles]
        if not names:
            return np.zeros(len(place["trajectory"]), dtype=np.int64)
        return np.array([names.index(trajectory.name) for trajectory in self.block.trajectories])[place["trajectory"]]

    @property
    def loads(self) -> list[PlatformLoad]:
        """Loads on the platform of the trajectories that have one; all of them are in the same axes."""
        return [trajectory.load for trajectory in self.block.trajectories if trajectory.load is not None]

    def _load(self, schedule: Schedule, place: Mapping[str, np.ndarray]) -> Profiled | None:
        """Return the wrenches on the platforms of all cases, in axes of the world or the platform; None without any."""
        if not self.loads:
            return None
        none = np.zeros((1, 1 + len(WRENCH)))
        points = [none if each.load is None else each.load.points for each in self.block.trajectories]
        wrenches = np.stack([along(ForceProfile(rows), schedule) for rows in points])
        return Profiled(wrenches, place["trajectory"], np.ones((len(points), len(WRENCH), 1)))

    def _field(self, schedule: Schedule, count: int) -> Profiled | None:
        """Return the gravity field on a moving base, the same for all cases; None for a base at rest."""
        if self.block.base is None:
            return None
        starts = np.arange(schedule.steps + 1) * schedule.step
        times = np.concatenate([starts + share * schedule.step for share in (0.0, 0.5, 1.0)])
        values = base_field(self.block.base, self.block.designs.gravity_of(0), times)[:, : len(times)]
        rows = values.reshape(1, len(values), 3, len(starts))
        return Profiled(rows, np.zeros(count, dtype=np.int64), np.ones((1, len(values), 1)))

    def _of_motors(self, name: str) -> np.ndarray:
        """Return a number of the motors (design, actuator), such as their force per current."""
        motors = self.block.family.assemble(self.block.named_parameters()).motors
        numbers = [np.broadcast_to(getattr(motor, name), (len(self.block.designs),)) for motor in motors]
        return np.stack([np.asarray(values, dtype=float) for values in numbers], axis=1)

    def _of_designs(self, row: np.ndarray, place: Mapping[str, np.ndarray]) -> np.ndarray:
        """Return numbers of limits (number, case), or (number, 1) if they are the same for all designs."""
        values = self.block.evaluated(row)
        return values[place["design"]].T if len(values) > 1 else values.T

    def _fed_motors(self, place: Mapping[str, np.ndarray]) -> FedMotors:
        """Return the motors of all cases, and their limits where they saturate."""
        chosen, block = self.simulated.simulation, self.block
        constant, resistance = (self._of_motors(key)[place["design"]].T for key in ("torque_constant", "resistance"))
        saturated = block.limits if chosen.saturation else NO_LIMITS
        limits = [saturated.actuators.get(k, Capacity()) for k in range(len(constant))]
        force, current, voltage = (
            self._of_designs(as_row(getattr(x, key) for x in limits), place) for key in ("force", "current", "voltage")
        )
        if chosen.saturation:  # of the amplifiers too, which differ from design to design
            current, voltage = (
                np.minimum(most, self._of_motors(key)[place["design"]].T)
                for key, most in (("current", current), ("voltage", voltage))
            )
        by_voltage = np.array([profile.of == "voltage" for profile in chosen.profiles] or [False])
        return FedMotors(constant, resistance, force, current, voltage, by_voltage[self._profile_of(place)])

    def _wound(self, system: MotionSystem, supply: Supply, place: Mapping[str, np.ndarray]) -> WoundSystem:
        """Return the equations of motion with the currents of motors."""
        count = len(self.block.designs)
        numbers = [
            [np.broadcast_to(np.asarray(x, dtype=float), (count,))[place["design"]] for x in loop_numbers(motor)]
            for motor in self.block.family.assemble(self.block.named_parameters()).motors
        ]
        by_speed = np.array([profile.of == "speed" for profile in self.simulated.simulation.profiles] or [False])
        windings = Windings.of_motors(supply.motors, numbers, by_speed[self._profile_of(place)])
        parts = system.layout

        def velocity(state: np.ndarray) -> np.ndarray:
            return supply.rates(system.instant.seen(state), state[parts.at["qd"]])

        return WoundSystem(system, windings, velocity, len(place["design"]))

    def _variables(self, outcome: Outcome, place: Mapping[str, np.ndarray]) -> Arrays:
        """Return the variables that the sweep may store, by name, each (case, ...), for cases at these places."""
        block, status = self.block, outcome.status.T
        sources = {name: np.moveaxis(values, 2, 0) for name, values in outcome.series.items()}
        result = {"status": status, "worst_status": status.max(axis=1), "failed_samples": (status != 0).sum(axis=1)}
        result |= {name: sources[key] for name, key in GIVEN.items() if key in sources}
        result |= {name: sources[name] for name in TRACKED if name in sources}
        for name in self.of_tree:
            if name in sources:
                inner = block.shape([dim for dim in QUANTITIES[name].dims if dim not in (*CASE_DIMS, "time")])
                result[name] = sources[name].reshape(*status.shape, *inner)
        if "target" in sources:
            result["position_error"] = sources["target"][..., :3] - sources["motion"][..., :3]
        for name, values in outcome.tallies.items():
            inner = block.shape([dim for dim in QUANTITIES[name].dims if dim not in CASE_DIMS])
            result[name] = values.T.reshape(len(status), *inner)
        if self.of_stages:
            cases = case_stages(
                block, self.of_stages, block.designs.parameters[place["design"]], block.friction[place["friction"]]
            )
            samples = {name: np.swapaxes(values, 1, 2) for name, values in sources.items() if name not in NO_INPUTS}
            samples["given_status"] = np.ascontiguousarray(status[:, None].astype(float))
            result |= case_series(block, self.of_stages, cases, samples, status)
        return result


@dataclass(frozen=True)
class _Cases:
    """Cases at places of a block: parameters and friction (case, ...), and the model of their drives."""

    place: Mapping[str, np.ndarray]
    parameters: np.ndarray
    friction: np.ndarray
    gravity: tuple[float, float, float]
    model: InverseModel

    @classmethod
    def at(cls, block: Block, place: Mapping[str, np.ndarray]) -> _Cases:
        """Return the cases at these places."""
        parameters, gravity = block.designs.parameters[place["design"]], block.designs.gravity_of(0)
        model = InverseModel(block.family, case_rows(block.family, parameters, gravity))
        return cls(place, parameters, np.ascontiguousarray(block.friction[place["friction"]]), gravity, model)


def _loop(plant: Plant, drive: ForceSource, schedule: Schedule, *, alone: bool) -> TimeLoop | None:
    """Return the loop that takes several steps at once; None for robots that it cannot move."""
    if not isinstance(plant, MovingRobots):
        return None
    return time_loop(plant, drive, schedule.step, FASTEST, alone=alone)


def case_stages(block: Block, wanted: Iterable[str], parameters: np.ndarray, friction: np.ndarray) -> CaseStages:
    """Return the stages for some quantities of cases, each with its design and its friction set.

    parameters (case, parameter), friction (case, parameters of all groups).
    """
    chosen = tuple(name for name in dict.fromkeys(wanted) if QUANTITIES[name].stage not in PASSED_ON)
    request = replace(block.request.with_features(Redundancy()), quantities=QuantityNames(chosen), given=True)
    values = replace(block, designs=block.designs.moved(parameters)).case_values() | {"friction": friction}
    return CaseStages(request, values, len(parameters), block.kernel)


def along(profile: ForceProfile, schedule: Schedule) -> np.ndarray:
    """Return a profile's numbers at the start, middle and end of all steps (actuator, 3, steps + 1).

    A profile of steps holds the value of the beginning of a time step over the whole step.
    """
    times, values = profile.points[:, 0], profile.points[:, 1:]
    starts = np.arange(schedule.steps + 1) * schedule.step
    if profile.between == "steps" or len(times) == 1:
        held = values[np.maximum(np.searchsorted(times, starts * (1.0 + 1e-12), side="right") - 1, 0)]
        return np.ascontiguousarray(np.stack([held] * 3, axis=1).transpose(2, 1, 0))
    instants = np.stack([starts, starts + 0.5 * schedule.step, starts + schedule.step])
    return np.stack([np.interp(instants, times, column) for column in values.T])
