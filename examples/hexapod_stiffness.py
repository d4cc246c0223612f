"""Stiffness of a hexapod by its radii and height, and its cost in the screws.

python examples/hexapod_stiffness.py [folder], by default runs/. Makes there the store of `hexapod_stiffness.yaml`, its
report and figures, and prints the stiffest designs. The stiffness is that of the screws alone, at the reference pose:
K = J_IK^T k J_IK. The metric is the stiffness in the direction in which a force moves the platform most.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

import limbsweep as ls

SWEEP = Path(__file__).with_suffix(".yaml")
SCREW = 5e7
"""Stiffness of one screw with its nut and bearings [N/m]: a common size."""


def stiffness(robot: ls.Robot) -> float:
    """Least stiffness of the platform against forces, at the reference pose [N/m]."""
    home = robot.mechanism.platform.home.position
    rows = ls.inverse_dynamics(robot, position=home).jacobian
    compliance = np.linalg.inv(rows.T @ (SCREW * rows))[3:, 3:]
    return float(1.0 / np.linalg.eigvalsh(compliance)[-1])


def main(folder: Path = Path("runs")) -> None:
    """Run, report, draw, answer."""
    folder.mkdir(parents=True, exist_ok=True)
    store, sweep = folder / "hexapod_stiffness.zarr", ls.Sweep.from_yaml(SWEEP)
    designs = ls.run(sweep, store=store).limbsweep.designs()
    names = sweep.design.names
    robots = [
        ls.robots.build(sweep.robot, **{n: float(designs[n][k]) for n in names}) for k in range(designs.sizes["design"])
    ]
    found = np.array([stiffness(each) for each in robots])
    best = int(np.where(designs["good"], found, 0.0).argmax())
    ls.report(store, folder / "hexapod_stiffness.html", design=best)
    for kind in ("front", "sensitivity", "mechanism"):
        ls.figure(store, kind, folder / f"hexapod_stiffness_{kind}.png")
    print("design  " + "".join(f"{name:>17}" for name in names) + "  stiffness [N/um]  peak force [N]  condition")
    for design in np.argsort(-found)[:5]:
        row = designs.isel(design=design)
        values = "".join(f"{float(row[name]):17.3f}" for name in names)
        told = f"{found[design] / 1e6:18.1f}{float(row['peak_force']):16.1f}{float(row['condition']):11.1f}"
        print(f"{design:6}  {values}{told}")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
