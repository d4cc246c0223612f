"""Selection of geometry, gear and motor of a Delta together, for a pick-and-place cycle with the smallest motors.

python examples/pick_and_place.py [folder], by default runs/. Makes there the store of `pick_and_place.yaml`, its
report, which takes the payloads as operating cases, and figures. Prints for each payload alone the smallest motor that
carries it, with the geometry and the gear that need least electrical energy.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np
from xarray import Dataset

import limbsweep as ls

SWEEP = Path(__file__).with_suffix(".yaml")


class Motor(NamedTuple):
    """A motor of the sweep, known by its torque constant [N m/A], with its continuous and its largest torque."""

    name: str
    constant: float
    rated: float
    peak: float
    speed: float


MOTORS = (
    Motor("100 W", 0.32, 0.32, 0.95, 520.0),
    Motor("200 W", 0.36, 0.64, 1.9, 520.0),
    Motor("400 W", 0.45, 1.27, 3.8, 520.0),
)
"""The smallest first; common sizes of servo motors, torques in N m, speed in rad/s."""


def carries(designs: Dataset, motor: Motor) -> np.ndarray:
    """Return a mask of the designs that have that motor and stay within its limits."""
    within = [f"rms_force < {motor.rated}", f"peak_force < {motor.peak}", f"peak_velocity < {motor.speed}"]
    has_it = designs["torque_constant"].values == motor.constant
    return ls.study.feasible(designs, [*within, "condition < 6"]) & has_it


def answer(designs: Dataset) -> str:
    """One line for each payload: the smallest motor, and of its designs the one that needs least energy."""
    lines = ["payload [kg]  motor   gear  arm [m]  rod [m]  RMS/rated [%]  peak/most [%]  energy [J]  designs that do"]
    for payload in np.unique(designs["payload_mass"]):
        carried = [(motor, carries(designs, motor) & (designs["payload_mass"].values == payload)) for motor in MOTORS]
        motor, found = next(((motor, found) for motor, found in carried if found.any()), (None, None))
        if motor is None:
            lines.append(f"{payload:12g}  none")
            continue
        inside = designs.isel(design=np.flatnonzero(found))
        best = inside.isel(design=int(inside["electrical_energy"].argmin("design")))
        lines.append(
            f"{payload:12g}  {motor.name:<6}{float(best['gear_ratio']):6g}{float(best['upper_arm']):9.3f}"
            f"{float(best['rod_length']):9.3f}{100 * float(best['rms_force']) / motor.rated:15.0f}"
            f"{100 * float(best['peak_force']) / motor.peak:15.0f}{float(best['electrical_energy']):12.1f}"
            f"{found.sum():17}"
        )
    return "\n".join(lines)


def main(folder: Path = Path("runs")) -> None:
    """Run, report, draw, answer."""
    folder.mkdir(parents=True, exist_ok=True)
    store = folder / "pick_and_place.zarr"
    results = ls.run(ls.Sweep.from_yaml(SWEEP), store=store)
    ls.report(store, folder / "pick_and_place.html", files=SWEEP.parent)
    for kind in ("front", "sensitivity", "series"):
        ls.figure(store, kind, folder / f"pick_and_place_{kind}.png", files=SWEEP.parent)
    designs = results.limbsweep.designs()
    print(answer(designs.set_coords([name for name in designs if name in results.coords])))


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
