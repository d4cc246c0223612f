"""The card of a dataset whose motions are simulated."""

from __future__ import annotations

import pytest

import limbsweep as ls
from applications.identification.dataset_card import lines

ARM = {
    "limbsweep": 1,
    "robot": "planar_3r",
    "time": {"stop": 0.02, "step": 0.01},
    "outputs": ["actuator_force"],
}
SIMULATIONS = {
    "released at rest": {"step": 0.002},
    "driven by force profiles": {"step": 0.002, "forces": {"push": {"values": [1.0, 0.0, 0.0]}}},
    "controller `pd` in the actuator space": {
        "step": 0.002,
        "controller": {"kind": "pd", "parameters": {"kp": 50.0, "kd": 2.0}},
    },
}


@pytest.mark.parametrize("what", SIMULATIONS)
def test_the_card_says_what_drives_a_simulation(what: str) -> None:
    motion = {"trajectories": {"turn": {"kind": "quintic", "start": 0.0, "end": 0.1, "duration": 0.02}}}
    given = motion if "controller" in SIMULATIONS[what] else {}
    sweep = ls.Sweep.from_dict(ARM | {"simulation": SIMULATIONS[what]} | given)
    card = list(lines(sweep, ls.compute(sweep)))
    start = card.index("## Simulation")
    assert card[start + 2] == f"- {what}"
