"""Draw the pictures of docs/guide/cookbook.md from its own blocks. Run by `make pictures`, for seconds."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

import matplotlib as mpl
import numpy as np

mpl.use("Agg")
import matplotlib.pyplot as plt

import limbsweep as ls

PAGE = Path(__file__).parent / "guide" / "cookbook.md"
PICTURES = Path(__file__).parent / "pictures"
SIZE = {"dpi": 110, "bbox_inches": "tight"}


def blocks() -> dict[str, str]:
    """The files of the page by name."""
    found = re.findall(r"<!-- file: (\S+) -->\n```yaml\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    return dict(found)


def points(robot: ls.robots.Robot, angle: float) -> np.ndarray:
    """Bearings and pins (4, 2) [m] of the linkage, x to the right and z up, the crank turned from its reference."""
    (limb,) = robot.mechanism.limbs
    crank = np.arctan2(*(np.array(limb.links[0].placement.rotation, dtype=float)[[2, 0], 0])) + angle
    a, b, c, d = (robot.values[name] for name in ("crank", "coupler", "rocker", "ground"))
    pin = a * np.array([np.cos(crank), np.sin(crank)])
    along = np.array([d, 0.0]) - pin
    reach = float(np.hypot(*along))
    share = (b**2 - c**2 + reach**2) / (2 * reach)
    across = np.array([-along[1], along[0]]) / reach
    last = pin + along / reach * share + across * np.sqrt(b**2 - share**2)
    return np.array([[0.0, 0.0], pin, last, [d, 0.0]])


def sketch(robot: ls.robots.Robot) -> None:
    """The sketch that the page begins with."""
    at = points(robot, 0.0)
    figure, axes = plt.subplots(figsize=(5.2, 3.6))
    axes.plot(*at.T, color="black", linewidth=2)
    axes.plot(*at[[0, 3]].T, color="grey", linestyle="--", linewidth=1)
    axes.plot(*at.T, "o", color="white", markeredgecolor="black", markersize=9)
    names = ("crank 100", "coupler 300", "rocker 250", "ground 350")
    for (p, q), name in zip(((0, 1), (1, 2), (2, 3), (3, 0)), names, strict=True):
        axes.annotate(name, 0.5 * (at[p] + at[q]), textcoords="offset points", xytext=(6, 6))
    for k, name in enumerate(("motor", "pin", "last_pin: 2 kg", "bearing")):
        axes.annotate(name, at[k], textcoords="offset points", xytext=(-8, -16), color="tab:blue")
    for label, way in (("x", (0.06, 0.0)), ("z", (0.0, 0.06))):
        axes.annotate("", at[0] + way, at[0], arrowprops={"arrowstyle": "->", "color": "tab:red"})
        axes.annotate(label, at[0] + way, color="tab:red")
    axes.set_aspect("equal")
    axes.axis("off")
    axes.margins(0.15)
    figure.savefig(PICTURES / "cookbook_sketch.png", **SIZE)
    plt.close(figure)


def result(folder: Path) -> None:
    """Torque over time of each design."""
    data = ls.run(ls.Sweep.from_yaml(folder / "sweep.yaml"))
    torque = data["actuator_force"].squeeze(["trajectory", "friction", "actuator"], drop=True)
    figure, axes = plt.subplots(figsize=(5.6, 3.2))
    for design in range(torque.sizes["design"]):
        one = torque.isel(design=design)
        axes.plot(one["time"], one, label=f"rocker {float(one['rocker']) * 1000:.0f} mm")
    axes.set(xlabel="time [s]", ylabel="torque of the motor [N m]")
    axes.legend(frameon=False)
    figure.savefig(PICTURES / "cookbook_torque.png", **SIZE)
    plt.close(figure)


def main() -> None:
    """Draw them."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for file, text in blocks().items():
            (folder / file).write_text(text, encoding="utf-8")
        robot = ls.robots.read(folder / "linkage.yaml")
        sketch(robot)
        result(folder)


if __name__ == "__main__":
    main()
