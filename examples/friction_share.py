"""Share of friction in the motor torque of a Delta, by the place of the friction.

python examples/friction_share.py [folder], by default runs/. Makes there the store of `friction_share.yaml`, its report
and figures, and prints by how much friction raises the RMS torque.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from xarray import DataArray, Dataset

import limbsweep as ls

SWEEP = Path(__file__).with_suffix(".yaml")


def share(dataset: Dataset) -> DataArray:
    """Compute the share of the RMS torque of all motors that Coulomb friction adds (design, friction, trajectory)."""
    rms = np.sqrt((dataset["rms_force"] ** 2).sum("actuator"))
    least = (dataset["drives_coulomb"] == 0) & (dataset["bearings_coulomb"] == 0)
    return rms / rms.isel(friction=int(least.values.argmax()), drop=True) - 1.0


def main(folder: Path = Path("runs")) -> None:
    """Run, report, draw, answer."""
    folder.mkdir(parents=True, exist_ok=True)
    store = folder / "friction_share.zarr"
    dataset = ls.run(ls.Sweep.from_yaml(SWEEP), store=store)
    ls.report(store, folder / "friction_share.html")
    for kind in ("friction", "front"):
        ls.figure(store, kind, folder / f"friction_share_{kind}.png")
    design = dataset.limbsweep.design
    raised = share(dataset).isel(design=design).compute()
    print(f"RMS torque of design {design} above that without Coulomb friction [%]")
    print("drives [N m]  bearings [1]  " + "".join(f"{name!s:>8}" for name in raised["trajectory"].values))
    for each in raised.transpose("friction", "trajectory"):
        told = "".join(f"{100 * float(value):8.1f}" for value in each)
        print(f"{float(each['drives_coulomb']):12g}{float(each['bearings_coulomb']):14g}  {told}")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
