"""Industrial-manipulators paper: currents of the IRb-6 and the static state that they hold, Figs. 3 and 4."""

from __future__ import annotations

import numpy as np

from benchmarks.papers.results import Line, Outcome, Result
from robots import catalog
from tasks import inverse_dynamics
from tasks.dynamics.fed_motors import torque_constants
from tasks.dynamics.inverse import actuator_positions

END = np.array([-130.0, -66.7, -51.0, -199.0, -199.0])
"""Positions of the motors in the static state [rad]."""
HOLDING = np.array([0.0, 3.18, -0.73, 0.0, 0.0])
"""Currents there [A]."""


def static_state() -> Outcome:
    """Compute the currents that hold the arm in the printed state, and the positions that motor friction can keep."""
    robot = catalog.build("irb6")
    turns = inverse_dynamics(robot, q=np.zeros(5)).jacobian
    q = np.linalg.solve(turns, END - actuator_positions(robot, q=np.zeros(5)).position)
    currents = inverse_dynamics(robot, q=q).force / torque_constants(robot)
    lines = [
        Line(f"motor {k}, at {end} rad", f"{printed} A", f"{own:.2f} A", "centres of mass were chosen for it")
        for k, (end, printed, own) in enumerate(zip(END, HOLDING, currents, strict=True), 1)
    ]
    lines.append(
        Line(
            "the way there, Figs. 3 and 4",
            "drawn, no numbers",
            "`python examples/irb6_currents.py`",
            "masses, ratios and motors are declared: the paper prints none",
        )
    )
    return Outcome(lines)


RESULTS = (Result("irb6", "Industrial-manipulators paper, Figs. 3 and 4", "Currents that hold an arm", static_state),)
