"""Equations of a batch of cases in all joints of their tree, steps in these, and loops that are closed again.

Arrays are (samples, ...), except arrays of kernels, (..., padded samples). Each case may have its own design and
friction. Rows that depend on others at an instant have no effect (mobility below `LOST`). Sources: Bayo and Avello
1994, Singularity-free augmented Lagrangian algorithms for constrained multibody dynamics; Garcia de Jalon and Bayo
1994, section 5.3 (projections).
"""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from robots.data_classes import dataclass
from robots.model import Family
from tasks.dynamics.forces_over_step import Push
from tasks.dynamics.instant.layout import StateLayout
from tasks.dynamics.tree_coordinates import TreeCoordinates
from tasks.dynamics.tree_stops import Contacts, TreeStops
from tasks.kernels.kernel import padded
from tasks.kernels.keys import Values
from tasks.kernels.lanes import BoundKernel
from tasks.mechanics.families import structure_of
from tasks.stages.spanning_tree import spanning_tree_program, tree_of

Numbers = NDArray[np.float64]
Mask = NDArray[np.bool_]

LOST, SOFT = 1e-10, 1e-6
"""Eigenvalue of the rows' mobility, relative to the largest, below which rows depend on others, and below which they
nearly depend on others: then rounding errors of their forces exceed the tolerance of adaptive steps."""

REGULAR = 1e-14
"""Mass, relative to the largest, that is added to every joint."""

CLOSINGS, CLOSED, NEARLY_CLOSED = 6, 1e-10, 1e-15
"""Rounds that close loops after a step, largest residual after them, and residual that needs no correction [m]."""

ROUGH, CALM, HALVINGS = 0.1, 1e-6, 8
"""Difference of the two accelerations in the middle of a step, relative to the largest, and in rad/s^2 or m/s^2, above
which the step is too long; and the largest number of halvings of such a step."""

RK4 = ((0.0, 1.0), (0.5, 2.0), (0.5, 2.0), (1.0, 1.0))
"""Share of the step and weight of the stages."""


class TreeState(NamedTuple):
    """Angles and rates of the joints (samples, joint), and work [J].

    work of actuators, loss by friction, load_work of the load on the platform, impact_loss at stops; travel (samples,
    actuator): way of the actuators from the start [rad or m].
    """

    angles: Numbers
    rates: Numbers
    work: Numbers
    loss: Numbers
    load_work: Numbers
    impact_loss: Numbers
    travel: Numbers

    def moved(self, change: TreeState, step: float | Numbers) -> TreeState:
        """Return the state after a change over a step, of each sample or of all."""
        return TreeState(*(x + y * step for x, y in zip(self, change, strict=True)))

    def of(self, samples: NDArray[np.int64]) -> TreeState:
        """Return the state of some samples."""
        return TreeState(*(part[samples] for part in self))

    def where(self, mask: Mask, other: TreeState) -> TreeState:
        """Return another state where a mask (samples,) is true."""
        return TreeState(*(np.where(mask[:, None], y, x) for x, y in zip(self, other, strict=True)))

    @property
    def is_finite(self) -> Mask:
        """Mask of the samples whose motion is finite."""
        return np.asarray(np.isfinite(self.angles).all(axis=1) & np.isfinite(self.rates).all(axis=1))


@dataclass(frozen=True)
class Held:
    """Rows that hold joints: M^-1 G^T (samples, joint, row), pseudo-inverse of their mobility, and its eigenvalues.

    Eigenvalues (samples, row) are relative to the largest, in rising order.

    `mass` is M + s G^T G with s = `weight`: it is regular even if held parts have no mass, and gives the same motion.
    """

    mass: Numbers
    weight: Numbers
    through: Numbers
    inverse: Numbers
    mobility: Numbers

    @classmethod
    def of(cls, equations: dict[str, Numbers]) -> Held:
        """Return held rows from the equations of a chain; NaN where they are not finite."""
        rows, mass = equations["rows"], equations["mass"]
        good = np.asarray(np.isfinite(rows).all(axis=(1, 2)) & np.isfinite(mass).all(axis=(1, 2)))[:, None, None]
        rows, mass = np.where(good, rows, 0.0), np.where(good, mass, np.eye(mass.shape[1]))
        gram = np.swapaxes(rows, 1, 2) @ rows
        sizes = [np.einsum("sjj->sj", matrix).max(axis=1) for matrix in (mass, gram)]
        share = sizes[0] / np.where(sizes[1] > 0.0, sizes[1], 1.0)
        least = (REGULAR * sizes[0])[:, None, None] * np.eye(mass.shape[1])
        mass = mass + share[:, None, None] * gram + least
        through = np.linalg.solve(mass, np.swapaxes(rows, 1, 2))
        mobility, vectors = np.linalg.eigh(rows @ through)
        largest = mobility[:, -1:]
        counted = mobility > LOST * largest
        weights = np.where(counted, 1.0 / np.where(counted, mobility, 1.0), 0.0)
        inverse = (vectors * weights[:, None]) @ np.swapaxes(vectors, 1, 2)
        relative = mobility / np.where(largest > 0.0, largest, 1.0)
        return cls(mass, share, through, np.where(good, inverse, np.nan), relative)

    def multipliers(self, demand: Numbers) -> Numbers:
        """Return the impulses of the rows (samples, row) that compensate for a demand (samples, row)."""
        return (self.inverse @ demand[..., None])[..., 0]

    def back(self, demand: Numbers) -> Numbers:
        """Return the smallest motion of joints (samples, joint) that compensates for a demand (samples, row)."""
        return (self.through @ self.multipliers(demand)[..., None])[..., 0]


class Change(NamedTuple):
    """Rates of a state, and the multipliers of the stops (samples, stop)."""

    rates: TreeState
    bearing: Numbers

    @property
    def acceleration(self) -> Numbers:
        """Accelerations of the joints (samples, joint)."""
        return self.rates.rates


class Braking(Protocol):
    """Friction of some joints: `tasks.dynamics.tree_friction.TreeFriction`."""

    @property
    def joints(self) -> tuple[int, ...]:
        """Numbers of the joints."""
        ...

    def forces(self, rates: Numbers) -> Numbers:
        """Return the friction (samples, joint with friction) against positive rates of all joints."""
        ...


class CaseConstants(Protocol):
    """Inputs of kernels that do not change with time, one row or one for each sample."""

    @property
    def parameters(self) -> Numbers:
        """Parameters in the order of the family."""
        ...

    @property
    def gravity(self) -> Numbers:
        """Gravity [m/s^2]."""
        ...


class RobotInstant(Protocol):
    """The part of `tasks.dynamics.instant.programs.Instant` that equations of a tree need."""

    family: Family
    base: bool

    @property
    def constants(self) -> CaseConstants:
        """Inputs that do not change with time."""
        ...

    def seen(self, state: Numbers) -> tuple[Numbers, ...]:
        """Return the arguments of forces at a state."""
        ...


class TreeSystem(Protocol):
    """The part of `tasks.dynamics.motion_system.MotionSystem` that equations of a tree need."""

    layout: StateLayout
    load_with_platform: bool

    @property
    def instant(self) -> RobotInstant:
        """The robot at one instant."""
        ...

    def turned(self, state: Numbers, acting: Numbers) -> Numbers:
        """Return external inputs with the load turned with the platform."""
        ...


@dataclass(frozen=True)
class TreeMachine:
    """A batch of cases: its system, coordinates, friction and stops, and the number of samples."""

    system: TreeSystem
    coordinates: TreeCoordinates
    friction: Braking
    stops: TreeStops
    count: int

    @cached_property
    def width(self) -> int:
        """Number of padded samples."""
        return padded(self.count)

    @cached_property
    def dependent(self) -> int:
        """Number of joints that rows of loops determine."""
        family = self.system.instant.family
        return len(tree_of(family, family.reference).links) - structure_of(family).freedoms

    @cached_property
    def _kernel(self) -> BoundKernel:
        instant = self.system.instant
        constants = {"parameters": instant.constants.parameters, "gravity": instant.constants.gravity}
        return BoundKernel(spanning_tree_program(instant.family, instant.base), constants)

    def free(self) -> Contacts:
        """Return contacts where no stop bears."""
        return np.zeros((self.count, len(self.stops)), dtype=np.int8)

    def wide(self, now: TreeState) -> Numbers:
        """Return the state as the inputs of forces have it (size, padded samples)."""
        at = self.system.layout.at
        state = np.zeros((self.system.layout.size, self.width))
        q, qd = self.coordinates.state(now.angles, now.rates)
        state[at["q"]], state[at["qd"]] = self._padded(q), self._padded(qd)
        return state

    def _padded(self, values: Numbers) -> Numbers:
        """Return values (samples, size) as (size, padded samples), the last sample once more where it is needed."""
        filled = np.concatenate([values, np.repeat(values[-1:], self.width - len(values), axis=0)])
        return np.ascontiguousarray(filled.T)

    def acting(self, push: Push, share: float | Numbers, now: TreeState) -> Numbers:
        """Return all that acts from outside (rows of `StateLayout.acting`, padded samples)."""
        state = self.wide(now)
        shares = np.full(self.width, share) if np.ndim(share) == 0 else self._padded(np.reshape(share, (-1, 1)))[0]
        acting = push(shares, state)
        return self.system.turned(state, acting) if self.system.load_with_platform else acting

    def equations(self, now: TreeState, acting: Numbers, contacts: Contacts | None = None) -> dict[str, Numbers]:
        """Return the equations of `tasks.stages.spanning_tree` (samples, ...), stops that bear among the rows."""
        rows, layout = self.system.layout.acting, self.system.layout
        inputs: Values = {"angles": self._padded(now.angles)[None], "rates": self._padded(now.rates)[None]}
        inputs |= {"gravity": acting[None, rows["base"]]} if self.system.instant.base else {}
        inputs |= {"signals": acting[None, rows["signals"]]} if layout.signals else {}
        out = self._kernel(inputs, self.width)
        shapes = {key: shape for key, (shape, _) in self._kernel.program.outputs.items()}
        found = {key: values[0, :, : self.count].T.reshape(self.count, *shapes[key]) for key, values in out.items()}
        if contacts is None or not len(self.stops):
            return found
        none = np.zeros((self.count, len(self.stops)))
        found["rows"] = np.concatenate([found["rows"], self.stops.rows(contacts != 0, now.angles.shape[1])], axis=1)
        return found | {key: np.concatenate([found[key], none], axis=1) for key in ("drift", "open")}

    def geared(self, now: TreeState) -> Numbers:
        """Return the rates of actuators over those of joints (samples, actuator, joint)."""
        return self.equations(now, np.zeros((self.system.layout.acting["base"].stop, self.width)))["actuators"]

    def change(self, push: Push, share: float | Numbers, now: TreeState, contacts: Contacts) -> Change:
        """Return the rates of a state."""
        acting, layout, count = self.acting(push, share, now), self.system.layout, self.count
        forces, load = (acting[layout.acting[name], :count].T for name in ("force", "load"))
        equations, joints = self.equations(now, acting, contacts), list(self.friction.joints)
        braking, pushed = self.friction.forces(now.rates), self.coordinates.pushed(load, now.angles)
        load_power = np.einsum("sj,sj->s", pushed, now.rates)[:, None]
        pushed[:, joints] -= braking
        speed = np.einsum("saj,sj->sa", equations["actuators"], now.rates)
        held = Held.of(equations)
        driving = np.einsum("saj,sa->sj", equations["actuators"], forces) + pushed - equations["bias"]
        free = np.linalg.solve(held.mass, np.nan_to_num(driving)[..., None])[..., 0]
        demand = np.einsum("srj,sj->sr", equations["rows"], free) + equations["drift"]
        bearing = held.multipliers(demand)[:, demand.shape[1] - len(self.stops) :]
        none = np.zeros((count, len(self.stops)))
        losses = braking * now.rates[:, joints]
        return Change(
            TreeState(now.rates, free - held.back(demand), forces * speed, losses, load_power, none, speed), bearing
        )

    def step(
        self, push: Push, begin: float | Numbers, part: float | Numbers, seconds: float, now: TreeState,
        contacts: Contacts, halvings: int = HALVINGS,
    ) -> TreeState:  # fmt: skip
        """Take a part of a step of the classical Runge-Kutta method, divided into halves if it is too long.

        begin, part: shares of the step of `seconds` [s], of each sample or of all. NaN if no number of halvings is
        enough.
        """
        end, changes, change = now, [], None
        length = np.reshape(np.broadcast_to(part, (self.count,)), (-1, 1)) * seconds
        for share, weight in RK4:
            there = now if change is None else now.moved(change.rates, share * length)
            change = self.change(push, begin + share * np.asarray(part), there, contacts)
            changes.append(change.acceleration)
            end = end.moved(change.rates, weight * length / 6.0)
        apart = np.abs(changes[2] - changes[1]).max(axis=1, initial=0.0)
        calm = apart <= ROUGH * np.abs(changes[:3]).max(axis=(0, 2), initial=0.0) + CALM  # no number is not
        rough = ~(calm & end.is_finite) & now.is_finite
        if not rough.any():
            return end
        if halvings == 0:
            return end.where(rough, now.moved(now, np.full_like(length, np.nan)))
        half = 0.5 * np.asarray(part)
        middle = self.step(push, begin, half, seconds, now, contacts, halvings - 1)
        return end.where(rough, self.step(push, begin + half, half, seconds, middle, contacts, halvings - 1))

    def closed(self, now: TreeState, push: Push, share: float | Numbers = 1.0) -> tuple[TreeState, Numbers, Numbers]:
        """Return the state with loops closed, and (samples,) the firmness of the rows and the gap that is left.

        Firmness is the least relative eigenvalue that counts: LOST or less where rows depend on others.
        """
        acting = self.acting(push, share, now)
        for _ in range(CLOSINGS):
            equations = self.equations(now, acting)
            late = np.abs(equations["open"]).max(axis=1, initial=0.0) > NEARLY_CLOSED
            if not late.any():
                break
            closer = now.angles - Held.of(equations).back(equations["open"])
            now = now._replace(angles=np.where(late[:, None], closer, now.angles))
        equations = self.equations(now, acting)
        held = Held.of(equations)
        rates = now.rates - held.back(np.einsum("srj,sj->sr", equations["rows"], now.rates))
        firmness = held.mobility[:, -self.dependent] if self.dependent else np.ones(self.count)
        return now._replace(rates=rates), firmness, np.abs(equations["open"]).max(axis=1, initial=0.0)
