"""Rating life of the bearings of joints, from their loads along the trajectories of a dataset.

ISO 281:2007, basic rating life: L10 = a1 (C / P)^p in millions of revolutions, p = 3 for balls and 10/3 for rollers,
with the equivalent load P = X Fr + Y Fa, or Fr where Fa / Fr is at most e. A load that varies has the mean that does
the same damage by the linear rule of Palmgren and Miner: P_m^p is the mean of P^p over revolutions, not over time.
"""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
import xarray as xr

from applications.studies.columns import refuse
from robots.arguments import check_arguments
from robots.data_classes import dataclass
from storage.times import has_one_length, of_trajectory

EXPONENTS = {"ball": 3.0, "roller": 10.0 / 3.0}

NEEDED = ("bearing_load", "joint_velocity")


@check_arguments
@dataclass(frozen=True)
class RollingBearing:
    """A bearing of a catalogue: basic dynamic load rating C [N], its kind, factors X, Y and e of the equivalent load.

    `span` [m] is the distance of the two bearings of a joint: each carries half of the force across the axis, and the
    moment across the axis over the span; 0 for one bearing, which takes moments by itself. `reliability` is the factor
    a1 of ISO 281: 1 for 90 %, 0.64 for 95 %, 0.25 for 99 %.

        >>> ls.study.RollingBearing(10_000.0, span=0.04).kind
        'ball'
    """

    rating: float
    kind: Literal["ball", "roller"] = "ball"
    x: float = 1.0
    y: float = 0.0
    e: float = math.inf
    span: float = 0.0
    reliability: float = 1.0

    def __post_init__(self) -> None:
        for name in ("rating", "reliability"):
            if not 0.0 < getattr(self, name) < math.inf:
                raise refuse(name, f"{getattr(self, name)!r}", "a number above 0")
        for name in ("x", "y", "e", "span"):
            if not getattr(self, name) >= 0.0:
                raise refuse(name, f"{getattr(self, name)!r}", "a number not below 0")


@check_arguments
def bearing_life(ds: xr.Dataset, bearing: RollingBearing) -> xr.Dataset:
    """Compute the bearing life of all joints of a dataset with `bearing_load` and `joint_velocity`, by trajectory.

    `equivalent_load` [N], `revolutions` of one pass of the trajectory, `life` in revolutions, and `life_hours` of
    passes one after another; infinite for joints that carry nothing or rest, NaN where a sample failed. Of joints that
    turn: select them with `ds.sel(joint=...)`. Raises InputError.

        >>> sweep = ls.sweep("five_bar", time=(1, 0.05), outputs=["bearing_load", "joint_velocity"],
        ...                  trajectories={"c": {"kind": "circle", "radius": 0.05, "normal": [0, 1, 0]}})
        >>> life = ls.study.bearing_life(ls.compute(sweep), ls.study.RollingBearing(2_000.0))
        >>> life["life_hours"].dims
        ('design', 'trajectory', 'limb', 'joint')
    """
    for name in NEEDED:
        if name not in ds:
            raise refuse(name, "a dataset without it", "an output of the sweep", f"Add it: outputs: {list(NEEDED)}.")
    if not has_one_length(ds):
        parts = [bearing_life(of_trajectory(ds, k), bearing) for k in range(ds.sizes["trajectory"])]
        joined = xr.concat(parts, dim=ds["trajectory"], coords="minimal", compat="override")
        return joined.transpose(*ds["bearing_load"].dims, missing_dims="ignore")
    if ds.sizes["time"] < 2:
        raise refuse("time", "one sample", "at least two", "Select all times.")
    exponent, load = EXPONENTS[bearing.kind], ds["bearing_load"]
    moment, across, along = (load.isel(bearing=k, drop=True) for k in range(3))
    pair = bearing.span > 0.0
    radial = across / 2.0 + moment / bearing.span if pair else across
    combined = bearing.x * radial + bearing.y * along
    equivalent = xr.where(along <= bearing.e * radial, radial, combined)
    times = ds["time"].values
    weights = np.zeros(len(times))
    weights[1:] += np.diff(times) / 2.0
    weights[:-1] += np.diff(times) / 2.0
    turned = abs(ds["joint_velocity"]) * xr.DataArray(weights, dims="time") / (2.0 * np.pi)
    revolutions = turned.sum("time", skipna=False)
    damage = (equivalent**exponent * turned).sum("time", skipna=False)
    with np.errstate(all="ignore"):
        mean = (damage / revolutions) ** (1.0 / exponent)
        mean = mean.where(revolutions != 0.0, 0.0)
        life = bearing.reliability * 1e6 * (bearing.rating / mean) ** exponent
        hours = life / revolutions * (times[-1] - times[0]) / 3600.0
    results = {
        "equivalent_load": (mean, "N", "equivalent load of a bearing that does the same damage"),
        "revolutions": (revolutions, "1", "revolutions of one pass of the trajectory"),
        "life": (life, "1", "rating life in revolutions"),
        "life_hours": (hours, "h", "rating life in hours of passes one after another"),
    }
    order = [dim for dim in load.dims if dim not in ("time", "bearing")]
    return xr.Dataset(
        {
            name: values.transpose(*order, missing_dims="ignore").assign_attrs(units=unit, long_name=text)
            for name, (values, unit, text) in results.items()
        }
    )
