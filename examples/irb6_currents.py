"""The direct problem of an arm with drives: motor currents in, motion out, up to a static state that currents hold.

python examples/irb6_currents.py [folder], by default runs/. Counterpart of Figs. 3 and 4 of the paper on industrial
manipulators with drives: five currents bring an IRb-6 class arm from its reference pose to rest, where starting
friction and constant currents hold it. Steps of 1 ms, as there. Writes a figure of currents and motor positions.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import limbsweep as ls

END = np.array([-130.0, -66.7, -51.0, -199.0, -199.0])
"""Positions of the motors in the paper's static state [rad]."""
HOLDING = np.array([0.0, 3.18, -0.73, 0.0, 0.0])
"""Currents there [A]."""
FRICTION = {"law": "coulomb_viscous", "coulomb": 0.03, "starting": 0.05, "viscous": 2e-4}
LENGTH, STEP, STEPS, SERVO = 2.0, 1e-3, 3000, 0.5


def main(folder: Path = Path("runs")) -> None:
    """Plan the currents, integrate, draw, and say where the arm stays."""
    robot, times = ls.robots.build("irb6"), np.linspace(0.0, LENGTH, 401)
    turns = ls.inverse_dynamics(robot, q=np.zeros(5)).jacobian
    goal, s = np.linalg.solve(turns, END), (times / LENGTH)[:, None]
    way = {
        "q": goal * (10 * s**3 - 15 * s**4 + 6 * s**5),
        "qd": goal * (30 * s**2 - 60 * s**3 + 30 * s**4) / LENGTH,
        "qdd": goal * (60 * s - 180 * s**2 + 120 * s**3) / LENGTH**2,
    }
    sliding = {name: value for name, value in FRICTION.items() if name != "starting"}
    feed = ls.profile(
        times, ls.inverse_dynamics(robot, forces=ls.Forces(friction=sliding), **way).force / ls.torque_constants(robot)
    )
    places = ls.profile(times, way["q"])

    def current(t: float, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
        """Currents of the way with a servo of 0.5 A per radian of a motor; then those of the static state."""
        if t >= LENGTH:
            return np.broadcast_to(HOLDING, q.shape)
        return np.asarray(feed(t) + SERVO * (places(t) - q) @ turns.T)

    found = ls.simulate(
        robot,
        ls.State(q=np.zeros(5)),
        ls.Forces(actuator=ls.from_currents(robot, current), friction=FRICTION),
        STEP * np.arange(0, STEPS + 1, 10),
        step=STEP,
        integrator="euler",
    )
    motors = ls.actuator_positions(robot, q=found.q).position
    currents = np.stack([current(t, q, q * 0.0) for t, q in zip(found.time, found.q, strict=True)])
    folder.mkdir(parents=True, exist_ok=True)
    draw(found.time, currents, motors).savefig(folder / "irb6_currents.png", dpi=120)
    print(f"motors at rest: {bool(found.stuck[-1].all())}, at {np.round(motors[-1], 1).tolist()} rad")


def draw(time: np.ndarray, currents: np.ndarray, motors: np.ndarray) -> Figure:
    """Currents above, positions of the motors below, both over time."""
    figure = Figure(figsize=(7.0, 6.0), layout="constrained")
    for axes, values, label in zip(
        figure.subplots(2, 1, sharex=True), (currents, motors), ("current [A]", "motor position [rad]"), strict=True
    ):
        for number, column in enumerate(values.T, 1):
            axes.plot(time, column, label=f"motor {number}", linewidth=1.2)
        axes.set_ylabel(label)
        axes.grid(color="#dddddd")
    axes.set_xlabel("time [s]")
    figure.axes[0].legend(ncols=2, fontsize=8, loc="upper left")
    return figure


if __name__ == "__main__":
    main(*(Path(each) for each in sys.argv[1:]))
