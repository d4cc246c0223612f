"""A made-up dataset with as many designs as one likes: metrics that are known functions of the parameters."""

from __future__ import annotations

import numpy as np
import xarray

from robots.status import flags


def large(count: int, failing: int = 7) -> xarray.Dataset:
    """`count` designs with four parameters; every `failing`-th design has failed on the second trajectory."""
    draw = np.random.default_rng(3)
    names = ("upper_arm", "rod_length", "base_radius", "platform_mass")
    x = {name: draw.uniform(0.1, 1.0, count) for name in names}
    force = 5.0 / x["upper_arm"] + 3.0 * x["platform_mass"]
    energy = 40.0 * x["upper_arm"] ** 2 + 0.1 * x["rod_length"]
    bad = np.zeros((count, 2), np.int8)
    bad[::failing, 1] = 1
    # design, friction, trajectory, actuator: largest at the last friction set, trajectory and actuator
    grow = np.array([1.0, 1.5])[:, None, None] * np.array([0.5, 1.0])[:, None] * np.array([0.8, 0.9, 1.0])
    metric = ("design", "friction", "trajectory", "actuator")

    def whole(values: np.ndarray) -> np.ndarray:
        made = values[:, None, None, None] * grow
        made[:, :, 1, :][bad[:, 1] > 0] = np.nan
        return made

    told = {"flag_values": list(flags().values()), "flag_meanings": " ".join(flags())}
    return xarray.Dataset(
        {
            "peak_force": (metric, whole(force), {"units": "N m", "long_name": "largest actuator torque"}),
            "energy": (metric, whole(energy), {"units": "J", "long_name": "energy of an actuator"}),
            "condition": (("design", "trajectory"), np.where(bad, np.nan, 1.0 + x["base_radius"][:, None] ** 2)),
            "worst_status": (("design", "trajectory"), bad, told),
        },
        coords={
            **{name: ("design", values, {"units": "m", "long_name": name}) for name, values in x.items()},
            "trajectory": ["slow", "fast"],
            "actuator": ["a", "b", "c"],
        },
        attrs={"title": "A made-up study <b>&</b> more", "robot": "delta_3rr2rrr", "created": "never"},
    )
