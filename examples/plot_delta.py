"""Plot results of `examples/delta.yaml`: torques of one design over time, and the largest torque of every design.

python examples/plot_delta.py runs/delta.zarr runs/delta.png [dots per inch]
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from xarray import DataArray, Dataset

import limbsweep as ls

CASE = ("friction", "trajectory", "actuator")


def plot(results: Dataset) -> Figure:
    """Left: torques of the best design in the first case. Right: largest torque over all cases, design by design."""
    # A design that fails on one trajectory has NaN there; it must not look good for the others.
    peak = results["peak_force"].max(CASE, skipna=False).compute()
    if peak.isnull().all():
        raise SystemExit("no design carries all trajectories; `limbsweep info` counts the reasons")
    best = int(peak.argmin("design"))
    figure = Figure(figsize=(10.0, 4.2), layout="constrained")
    left, right = figure.subplots(1, 2)
    _torques(left, results["actuator_force"].isel(design=best, friction=0))
    _peaks(right, peak, peak.isel(design=best))
    figure.suptitle(results.attrs["title"])
    return figure


def _torques(axes: Axes, torque: DataArray) -> None:
    shown = torque.isel(trajectory=0)
    for name in shown["actuator"].values:
        axes.plot(shown["time"], shown.sel(actuator=name), label=str(name))
    axes.set(
        xlabel="time [s]", ylabel="torque [N m]", title=f"trajectory {str(shown['trajectory'].values)!r}, best design"
    )
    axes.legend(frameon=False)


def _peaks(axes: Axes, peak: DataArray, best: DataArray) -> None:
    """One line for each base radius. Designs out of reach leave a gap."""
    for radius in np.unique(peak["base_radius"]):
        line = peak.isel(design=np.flatnonzero(peak["base_radius"] == radius))
        axes.plot(line["upper_arm"], line, "o-", markersize=4, label=f"base radius {radius:g} m")
    axes.plot(best["upper_arm"], best, "o", markersize=11, fillstyle="none", color="black")
    axes.set(xlabel="upper arm [m]", ylabel="largest torque [N m]", title="all trajectories and friction sets")
    axes.legend(frameon=False)


def main(store: str, picture: str, dpi: str = "150") -> None:
    """Write the picture of a store as PNG."""
    Path(picture).parent.mkdir(parents=True, exist_ok=True)
    plot(ls.open(store)).savefig(picture, dpi=float(dpi))
    print(f"wrote {picture}")


if __name__ == "__main__":
    main(*sys.argv[1:])
