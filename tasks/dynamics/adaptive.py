"""One case of a motion with friction in adaptive steps, between the instants at which modes of joints end.

An integrator of scipy, DOP853, or Radau where friction is stiff, goes from one event to the next: a joint comes to
rest, breaks away, or its law forgets that it was at rest. Steps end at corners of the forces of one-sided springs and
backlashes too, see `tasks.dynamics.corners`: a step with one inside is taken again up to it.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator

import numpy as np
from scipy.integrate import DenseOutput, OdeSolver
from scipy.optimize import brentq

from tasks.dynamics.corners import StepPath, Tolerances, Watch, steps_up_to
from tasks.dynamics.forces_over_step import Pushes
from tasks.dynamics.instant.moments import JointModes, Moment, StateRates
from tasks.dynamics.integration import forced
from tasks.dynamics.motion_system import MotionSystem
from tasks.dynamics.records import Effort
from tasks.dynamics.resting_joints import margins, settled
from tasks.kernels.kernel import padded

SHORT = 1e-14
"""Share of the whole time below which an adaptive step is stuck."""


SLOW, PATIENCE = 1e-9, 20
"""Share of the whole time below which steps are hardly any, and how many of these in a row are stuck too."""


EVENTS = 10_000
"""Largest number of events; a case with more ends."""


NONE, MODE, CORNER = "", "mode", "corner"
"""Events at the end of a step: none, the mode of a joint ends, a force has a corner."""


class AdaptiveCase:
    """One case under way; states are (size,), in kernels repeated over the lanes."""

    def __init__(
        self, system: MotionSystem, pushes: Pushes, solver: type[OdeSolver], rtol: float, atol: float,
        watch: Watch | None = None,
    ):  # fmt: skip
        self.system, self.pushes, self.watch = system, pushes, watch
        self.solver = solver
        self.tolerances: Tolerances = {"rtol": rtol, "atol": atol}
        self.inside: float | None = None  # of the stretch of time between jumps that is under way
        self.effort = Effort(np.inf)

    def rates(self, time: float, state: np.ndarray, modes: JointModes) -> StateRates:
        """Return the rates of a state (size,) at a time."""
        self.effort.evaluations += 1
        wide = np.repeat(state[:, None], padded(1), axis=1)
        return self.system.rates(wide, modes, self.force(time, wide))

    def _change(self, modes: JointModes) -> Callable[[float, np.ndarray], np.ndarray]:
        """Return the rates of states over time in some modes."""
        return lambda time, state: self.rates(time, state, modes).rate[:, 0]

    def force(self, time: float, wide: np.ndarray) -> np.ndarray:
        """Return the forces that act at a time in a state (size, lanes)."""
        push = self.pushes.over(time, 0.0, wide, self.inside)
        return push(np.zeros(wide.shape[1]), wide)

    def moments(self, now: Moment, times: np.ndarray) -> Iterator[tuple[float, Moment]]:
        """Yield the case at all times; NaN after its end."""
        yield float(times[0]), now
        waiting, first, last = list(times[1:]), float(times[0]), float(times[-1])
        self.effort = Effort(last - first)
        pieces = self.pushes.breaks.pieces(first, last - first)
        for piece in pieces:
            end = last if piece is pieces[-1] else piece.start + piece.length
            self.inside = piece.start + 0.5 * piece.length
            if piece.start > first:
                now = forced(self.system, now, self.force(piece.start, now.state))
            now, reached = yield from self._through(now, piece.start, end, waiting)
            if reached < end or not waiting:
                break
        lost = now.like(np.full_like(values, np.nan) for values in now.arrays())
        for left in waiting:
            yield float(left), lost

    def _through(
        self, now: Moment, time: float, end: float, waiting: list[float]
    ) -> Generator[tuple[float, Moment], None, tuple[Moment, float]]:
        """Yield the case at the `waiting` times up to an end without a jump before it, and take them off.

        Returns the last moment, and the time up to which the case came.
        """
        for _ in range(EVENTS):
            # an explicit solver would look for its first step for ever
            if self.effort.crawls(time) or not np.isfinite(now.rates.rate).all():
                break
            solver = self.solver(self._change(now.modes), time, now.state[:, 0], end, **self.tolerances)
            event = NONE
            for time, dense, event in self._until_event(solver, now):
                while waiting and waiting[0] <= time:
                    yield float(waiting[0]), self._at(float(waiting.pop(0)), dense, now.modes)
                if event == CORNER:
                    there = self._at(time, dense, now.modes)
                    now = forced(self.system, there, self.force(time, there.state))
                elif event:
                    now = self._after(time, dense, now)
                elif time >= end and waiting:
                    now = self._at(end, dense, now.modes)
            if not (waiting and event) or time >= end:
                break
        return now, time

    def _until_event(self, solver: OdeSolver, start: Moment) -> Iterator[tuple[float, DenseOutput, str]]:
        """Yield each step of the solver, the last one up to an event if there is one; none if the solver gets stuck."""
        whole, slow = self.effort.whole, 0
        while solver.status == "running":
            try:
                if self.watch is not None:
                    self.watch.shorten(solver)
                solver.step()
            except ValueError:  # an implicit solver whose Jacobian has no number
                return
            if solver.status == "failed" or not np.isfinite(solver.y).all():
                return
            dense = solver.dense_output()
            corner = None if self.watch is None else self._corner(self.watch, solver, dense)
            if corner is not None and self._past(corner, dense(corner), start) >= 0.0:
                change = self._change(start.modes)
                for reached, between in steps_up_to(self.solver, change, dense, corner, self.tolerances):
                    yield reached, between, CORNER if reached >= corner else NONE
                return
            if self._past(solver.t, solver.y, start) < 0.0:
                low = self._under_way(dense, float(solver.t_old), float(solver.t), start)
                known = low < solver.t
                yield self._first(dense, low, float(solver.t), start) if known else float(solver.t_old), dense, MODE
                return
            changed = self._forgets(solver.t, solver.y, start)
            yield float(solver.t), dense, MODE if changed else NONE
            slow = slow + 1 if solver.step_size < SLOW * whole else 0
            if changed or solver.step_size < SHORT * whole or slow > PATIENCE:
                return
            if self.effort.crawls(float(solver.t)):
                return

    def _corner(self, watch: Watch, solver: OdeSolver, dense: DenseOutput) -> float | None:
        """Return the first instant of the last step at which a force has a corner."""
        return watch.first(StepPath.of_step(solver, dense), float(solver.t_old), float(solver.t))

    def _under_way(self, dense: DenseOutput, low: float, high: float, start: Moment) -> float:
        """Return the first instant at which no mode has ended; `high` if there is no such instant.

        This is `low`, except where joints break away at `low`: their velocities are zero to rounding there, and may
        have any sign.
        """
        beyond = 0.0
        while low + beyond < high:
            if self._past(low + beyond, dense(low + beyond), start) >= 0.0:
                return low + beyond
            beyond = max(2.0 * beyond, np.finfo(float).eps * max(abs(high), high - low))
        return high

    def _first(self, dense: DenseOutput, low: float, high: float, start: Moment) -> float:
        """Return the instant just after the end of a mode."""
        root = float(brentq(lambda t: self._past(t, dense(t), start), low, high, xtol=1e-15, rtol=8.9e-16))
        beyond = np.finfo(float).eps * abs(high)
        while root + beyond < high:
            if self._past(root + beyond, dense(root + beyond), start) < 0.0:
                return root + beyond
            beyond *= 2.0
        return high

    def _past(self, time: float, state: np.ndarray, start: Moment) -> float:
        rates = self.rates(time, state, start.modes)
        return float(margins(self.system, start.rates, start.modes, rates).min(initial=np.inf))

    def _forgets(self, time: float, state: np.ndarray, start: Moment) -> bool:
        remembered = self.rates(time, state, start.modes).remembered[:, 0]
        return bool((remembered != state[self.system.layout.at["memory"]]).any())

    def _at(self, time: float, dense: DenseOutput, modes: JointModes) -> Moment:
        state = dense(time)
        return Moment(np.repeat(state[:, None], padded(1), axis=1), modes, self.rates(time, state, modes))

    def _after(self, time: float, dense: DenseOutput, start: Moment) -> Moment:
        there = self._at(time, dense, start.modes)
        near = margins(self.system, start.rates, start.modes, there.rates) <= 1e-9
        stopping = near & (start.modes.rest < 0.5) & (there.modes.direction != 0.0)
        fastest = np.abs(start.rates.velocity).max(axis=0, initial=0.0)
        after = settled(self.system, there.state, start.modes, stopping, lambda at: self.force(time, at), fastest)
        return Moment(*after)
