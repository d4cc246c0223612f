"""Compute friction over speed from the results of a constant-velocity friction test."""

from __future__ import annotations

import numpy as np
from xarray import Dataset

from robots.arguments import check_arguments
from robots.parameter_errors import nearest
from tasks.features.friction.curve import Curve, curve

OUTPUTS = ("actuator_force", "actuator_position", "actuator_velocity")


@check_arguments
def friction_curve(results: Dataset, name: str, joint: str) -> Curve:
    """Compute the friction of an actuator over speed from the test called `name` in the results of a sweep.

    Where the results have several designs or friction sets, select one before. Raises ValueError where results lack
    needed outputs.

        >>> test = {"kind": "friction_test", "joint": "joint_2", "speeds": [0.05, 0.1, 0.3], "at": [0.3, -0.2, 0.1]}
        >>> law = {"law": "coulomb_viscous", "parameters": {"coulomb": 0.15, "viscous": 0.2}}
        >>> outputs = ["actuator_force", "actuator_position", "actuator_velocity"]
        >>> sweep = ls.sweep("planar_3r", friction=law, trajectories={"slow": test}, time=(1, 0.02), outputs=outputs)
        >>> ls.friction_curve(ls.compute(sweep), "slow", "joint_2").friction.round(3)
        array([0.16, 0.17, 0.21])
    """
    if missing := [variable for variable in OUTPUTS if variable not in results]:
        raise ValueError(f"results: got no {', '.join(missing)}; expected {', '.join(OUTPUTS)} among the outputs")
    names = [str(trajectory) for trajectory in results["trajectory"].values]
    pairs = [
        (forward, forward.replace("_forward_", "_reverse_"))
        for forward in names
        if forward.startswith(f"{name}_forward_")
    ]
    if not pairs or any(reverse not in names for _, reverse in pairs):
        raise ValueError(f"name: got {name!r}; expected a friction test of the sweep; {nearest(name, names)}")
    results_of_joint = results[list(OUTPUTS)].sel(actuator=joint).squeeze(["design", "friction"])

    def rows(variable: str, which: int) -> np.ndarray:
        return np.stack([results_of_joint[variable].sel(trajectory=pair[which]).values for pair in pairs])

    speed = np.abs(rows("actuator_velocity", 0)).mean(axis=1)
    force, position = ([rows(variable, k) for k in (0, 1)] for variable in ("actuator_force", "actuator_position"))
    return curve(speed, *force, *position)
