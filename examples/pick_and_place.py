"""Which Delta does a pick-and-place cycle with the smallest motors, by payload.

python examples/pick_and_place.py [folder], by default runs/. Makes there the store of `pick_and_place.yaml`, its report
and figures, and prints the best design for each class of payload.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from xarray import Dataset

from pipeline import Sweep, run
from pipeline.report import write_report
from pipeline.report.results import results_of
from pipeline.report.static import save

SWEEP = Path(__file__).with_suffix(".yaml")
OWN_MASS = 2.9
"""Of the platform without payload [kg]."""


def answer(designs: Dataset) -> str:
    """One line for each class of payload: the design with the least RMS torque at the arms, and its motors."""
    payload = designs["platform_mass"] - OWN_MASS
    lines = ["payload [kg]   arm [m]  rod [m]  gear   RMS torque [N m]  peak power [W]  motor speed [rad/s]"]
    for low, high in ((1, 2.5), (2.5, 4), (4, 6)):
        inside = designs.where((payload >= low) & (payload < high) & designs["good"], drop=True)
        best = inside.isel(design=int(inside["rms_force"].argmin("design")))
        speed = float(best["peak_velocity"] * best["gear_ratio"])
        lines.append(
            f"{low:>5} to {high:<6}{float(best['upper_arm']):8.3f}{float(best['rod_length']):9.3f}"
            f"{float(best['gear_ratio']):6.1f}{float(best['rms_force']):15.2f}"
            f"{float(best['peak_power']):18.1f}{speed:18.0f}"
        )
    return "\n".join(lines)


def main(folder: Path = Path("runs")) -> None:
    """Run, report, draw, answer."""
    folder.mkdir(parents=True, exist_ok=True)
    store = folder / "pick_and_place.zarr"
    dataset = run(Sweep.from_yaml(SWEEP), store=store)
    assert np.isfinite(dataset["peak_force"]).all()
    results = results_of(store, files=SWEEP.parent)
    write_report(store, folder / "pick_and_place.html", files=SWEEP.parent)
    for kind in ("front", "sensitivity", "series"):
        save(results, kind, folder / f"pick_and_place_{kind}.png")
    print(answer(results.table))


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
