"""Robots of a batch of cases that move in all joints of their trees: a plant that passes singular points, with stops.

Its samples are quantities of the tree alone: poses, joints of the tree, and coordinates of actuators, which are
integrated from the result of inverse kinematics at the start. Stages of inverse dynamics cannot be used, as they do not
know the branch of the joints beyond a singular point.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from robots.loads.signals import Breaks, Piece
from robots.model import Robot
from robots.stops import Stops
from tasks.dynamics.drive_model import InverseModel
from tasks.dynamics.forces_over_step import Parabola
from tasks.dynamics.inverse import inverse_kinematics
from tasks.dynamics.motion_system import MotionSystem
from tasks.dynamics.tree_coordinates import OfChain, OfPlatform
from tasks.dynamics.tree_equations import TreeMachine
from tasks.dynamics.tree_friction import TreeFriction
from tasks.dynamics.tree_starts import started
from tasks.dynamics.tree_stops import TreeStops
from tasks.dynamics.tree_walk import Walk
from tasks.kernels.keys import Values
from tasks.sources.drives import StepForces

GIVEN = ("actuator_position", "actuator_velocity", "joint_position", "joint_velocity")
"""Series of joints that the tree gives."""


class PlacedRobots(Protocol):
    """The part of `tasks.sources.plants.MovingRobots` that trees need: external inputs, and inputs of kernels."""

    system: MotionSystem
    step: float
    breaks: Breaks

    @property
    def state(self) -> np.ndarray:
        """The state in the layout of `tasks.dynamics.instant.layout.StateLayout`."""
        ...

    def place(self, state: np.ndarray) -> None:
        """Put the robots into a state."""
        ...

    def acting(self, number: int, push: StepForces) -> StepForces:
        """Return forces, loads and terms of a moving base over a step."""
        ...

    def part(self, whole: Parabola, since: float, piece: Piece) -> Parabola:
        """Return the acting forces over a piece of a step, with the load signals there."""
        ...

    def motion(self) -> np.ndarray:
        """Return the state as a motion input of kernels."""
        ...

    def speed(self) -> np.ndarray:
        """Return the rates of the freedoms."""
        ...


class MovingTrees:
    """Cases of one family with designs and friction of their own, in constant steps; see `runner.Plant`."""

    def __init__(self, robots: PlacedRobots, machine: TreeMachine, model: InverseModel):
        self._robots, self.machine = robots, machine
        with np.errstate(all="ignore"):
            now, status = started(machine, robots.state, inverse_kinematics)
        self._walk = Walk(machine, now, status, machine.free(), np.zeros(machine.count))
        self._begin = model.run(robots.motion(), forces=False).position

    @classmethod
    def of(
        cls, robots: PlacedRobots, parameters: np.ndarray, numbers: np.ndarray, stops: Stops, model: InverseModel
    ) -> MovingTrees:
        """Return the trees of robots at their start; parameters (design, parameter), and the design of each sample."""
        family, instant = robots.system.instant.family, robots.system.instant
        names = [parameter.name for parameter in family.parameters]
        designs = tuple(Robot(family, dict(zip(names, row, strict=True))) for row in parameters.tolist())
        kind = OfChain if family.reference.is_chain else OfPlatform
        used, places = np.unique(numbers, return_inverse=True)
        coordinates = kind(tuple(designs[k] for k in used), places)
        friction = TreeFriction.of(family, instant.groups, instant.constants.friction, coordinates.before_limbs)
        ends = TreeStops.of(family.reference, stops, coordinates.before_limbs)
        return cls(robots, TreeMachine(robots.system, coordinates, friction, ends, len(numbers)), model)

    def begin(self, push: StepForces) -> None:
        """Do nothing at the start, as no joint sticks."""

    def advance(self, number: int, push: StepForces) -> None:
        """Take the step of that number, under forces."""
        robots, start = self._robots, number * self._robots.step
        whole = Parabola(*robots.acting(number, push))
        for piece in robots.breaks.pieces(start, robots.step):
            part = robots.part(whole, (piece.start - start) / robots.step, piece)
            self._walk = self._walk.on(part, piece.length)
        robots.place(self.machine.wide(self._walk.now))

    def given(self, asked: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the commanded forces, which actuators give without change."""
        return asked, np.zeros(asked.shape, dtype=bool)

    def motion(self) -> np.ndarray:
        """Return the state as a motion input of kernels, without accelerations."""
        return self._robots.motion()

    def speed(self) -> np.ndarray:
        """Return the rates of the freedoms."""
        return self._robots.speed()

    def sample(self, number: int, push: StepForces, *, rates: bool = True) -> Values:
        """Return the motion, and with `rates` the series of GIVEN (size, samples)."""
        values: Values = {"motion": self.motion()}
        if rates:
            now = self._walk.now
            velocity = np.einsum("saj,sj->as", self.machine.geared(now), now.rates)
            values |= {"actuator_position": self._begin + now.travel.T, "actuator_velocity": velocity}
            values |= {"joint_position": self._of_limbs(now.angles), "joint_velocity": self._of_limbs(now.rates)}
        return values

    def _of_limbs(self, values: np.ndarray) -> np.ndarray:
        """Return values (samples, joint) of the tree as (limb x joint, samples); NaN for joints that close loops."""
        mechanism = self._robots.system.instant.family.reference
        limbs = [mechanism.limbs[instance.limb] for instance in mechanism.instances]
        result = np.full((len(limbs), max(len(limb.joints) for limb in limbs), len(values)), np.nan)
        first = self.machine.coordinates.before_limbs
        for k, limb in enumerate(limbs):
            count = len(limb.links)
            result[k, :count] = values[:, first : first + count].T
            first += count
        return result.reshape(-1, len(values))

    @property
    def status(self) -> np.ndarray:
        """Status of the samples."""
        return self._walk.status

    @property
    def friction(self) -> np.ndarray:
        """Friction of all joints of the groups."""
        return np.ascontiguousarray(self.machine.friction.forces(self._walk.now.rates).T)

    @property
    def loss(self) -> np.ndarray:
        """Work that friction and impacts have taken."""
        now = self._walk.now
        return np.concatenate([now.loss, now.impact_loss], axis=1).T

    @property
    def work(self) -> np.ndarray:
        """Work of the actuators."""
        return self._walk.now.work.T
