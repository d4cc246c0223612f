"""Draws the counterparts of the papers' figures from the examples: runs them into a store, reads it, writes pictures.

python docs/make_figures.py

Joint-friction paper, Figs. 13 to 15 (`five_axis_tree`) and 17 to 19 (`three_loop_leg`); inertia-matrix paper, Fig. 6
(`rover_rocker`). The radii of joints, and so the size of friction, are declared in the examples; the papers print none.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from io import BytesIO
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from PIL import Image
from xarray import DataArray, Dataset

from pipeline import Sweep, run
from pipeline.cluster.connection import ClusterConfig
from robots import catalog
from storage import open_results
from tasks import inertia_matrix

HERE = Path(__file__).parent
EXAMPLES = HERE.parent / "examples"
PICTURES = HERE / "pictures"
DPI, COLOURS = 85, 128

SETS = ("no friction", "Coulomb and viscous", "with Stribeck effect")
"""Friction sets of the examples in their order."""
STYLES = ("-", "--", ":")
SHOWN = 4.0
"""Three periods of the fast crank [s]."""


def loads_of_the_tree(results: Dataset) -> Figure:
    """Figs. 13 and 14: constraint torques and forces of the joints 1, 2 and 4."""
    wrench = results["joint_reaction"].isel(design=0, friction=0, trajectory=0, limb=0, missing_dims="ignore")
    figure, (left, right) = _figure("five_axis_tree: what the bearings carry", 2)
    for joint in ("joint_1", "joint_2", "joint_4"):
        own = wrench.sel(joint=joint)
        left.plot(own["time"], _size(own, "angular_x", "angular_y"), label=joint)  # all axes are along z
        right.plot(own["time"], _size(own, "linear_x", "linear_y", "linear_z"), label=joint)
    _name(left, "constraint torque [N m]", "as Fig. 13")
    _name(right, "constraint force [N]", "as Fig. 14")
    return figure


def torques_of_the_tree(results: Dataset) -> Figure:
    """Fig. 15: driving torques of the joints 1, 2 and 4; and what friction adds to them."""
    figure, (left, right) = _figure("five_axis_tree: driving torques, as Fig. 15", 2)
    force = results["actuator_force"].isel(design=0, trajectory=0)
    for number, joint in enumerate(("joint_1", "joint_2", "joint_4")):
        for friction, style in enumerate(STYLES):
            own = force.sel(actuator=joint).isel(friction=friction)
            left.plot(own["time"], own, style, color=f"C{number}", label=joint if not friction else None)
            if friction:
                bare = force.sel(actuator=joint).isel(friction=0)
                told = f"{joint}, {SETS[friction]}"
                right.plot(own["time"], own - bare, style, color=f"C{number}", label=told)
    _name(left, "driving torque [N m]", "solid: no friction; dashed: Coulomb and viscous; dotted: Stribeck")
    _name(right, "friction torque [N m]", "what friction adds")
    return figure


def angles_of_the_leg(results: Dataset) -> Figure:
    """Fig. 17: the passive joints over time, slow and fast crank."""
    figure, panels = _figure("three_loop_leg: passive joints, as Fig. 17", 2)
    passive = [link.joint for link in catalog.build("three_loop_leg").mechanism.limbs[0].links[:-1]]
    for axes, trajectory in zip(panels, results["trajectory"].values, strict=True):
        angle = results["joint_position"].sel(trajectory=trajectory).isel(design=0, limb=0)
        for joint in passive:
            own = angle.sel(joint=joint)
            axes.plot(own["time"], own, label=joint)
        _name(axes, "angle [rad]", f"{trajectory} crank")
    panels[-1].set_xlim(0.0, SHOWN)
    panels[-1].get_legend().remove()
    return figure


def forces_of_the_leg(results: Dataset) -> Figure:
    """Fig. 18: forces of the joints that close the loops, slow and fast crank."""
    figure, panels = _figure("three_loop_leg: closure forces, as Fig. 18", 2)
    for axes, trajectory in zip(panels, results["trajectory"].values, strict=True):
        wrench = results["joint_reaction"].sel(trajectory=trajectory)
        wrench = wrench.isel(design=0, friction=0, limb=0, missing_dims="ignore")
        for joint in ("joint_I", "joint_II", "joint_III"):
            own = wrench.sel(joint=joint)
            axes.plot(own["time"], _size(own, "linear_x", "linear_y", "linear_z"), label=joint)
        _name(axes, "force [N]", f"{trajectory} crank")
    panels[-1].set_xlim(0.0, SHOWN)
    panels[-1].get_legend().remove()
    return figure


def crank_of_the_leg(results: Dataset) -> Figure:
    """Fig. 19: force in the driven joint; and its torque with and without friction."""
    figure, (left, *panels) = _figure("three_loop_leg: the driven joint, as Fig. 19", 3)
    for axes, trajectory in zip(panels, results["trajectory"].values, strict=True):
        one = results.sel(trajectory=trajectory).isel(design=0)
        wrench = one["joint_reaction"].isel(friction=0, limb=0, missing_dims="ignore").sel(joint="joint_1pp")
        left.plot(one["time"], _size(wrench, "linear_x", "linear_y", "linear_z"), label=trajectory)
        for friction, style in enumerate(STYLES):
            axes.plot(
                one["time"], one["actuator_force"].isel(friction=friction, actuator=0), style, label=SETS[friction]
            )
        _name(axes, "driving torque [N m]", f"{trajectory} crank")
    panels[-1].set_xlim(0.0, SHOWN)
    _name(left, "force [N]", "constraint force")
    return figure


def inertia_of_the_rover(results: Dataset) -> Figure:
    """Fig. 6 of the inertia-matrix paper: M[2][1] over time, for 5 sin t in radians and in degrees."""
    figure, panels = _figure("rover_rocker: M[2][1], as Fig. 6", 2)
    robot = catalog.build("rover_rocker")
    for axes, trajectory in zip(panels, results["trajectory"].values, strict=True):
        q = results["joint_position"].sel(trajectory=trajectory).isel(design=0, limb=0)
        axes.plot(q["time"], inertia_matrix(robot, q=q.transpose("time", "joint").values).matrix[:, 1, 0])
        axes.set(xlabel="time [s]", ylabel="M[2][1] [kg m^2]", title=f"5 sin t in {trajectory}")
    return figure


FIGURES: Mapping[str, tuple[tuple[str, Callable[[Dataset], Figure]], ...]] = {
    "five_axis_tree": (("tree_loads", loads_of_the_tree), ("tree_torques", torques_of_the_tree)),
    "three_loop_leg": (
        ("leg_angles", angles_of_the_leg),
        ("leg_closures", forces_of_the_leg),
        ("leg_crank", crank_of_the_leg),
    ),
    "rover_rocker": (("rover_inertia", inertia_of_the_rover),),
}
"""Names of pictures and what draws them, by the example that they come from."""


def _figure(title: str, panels: int) -> tuple[Figure, list[Axes]]:
    figure = Figure(figsize=(5.0 * panels, 3.8), layout="constrained")
    figure.suptitle(title, fontsize=11)
    return figure, list(figure.subplots(1, panels))


def _name(axes: Axes, what: str, title: str) -> None:
    axes.set(xlabel="time [s]", ylabel=what)
    axes.set_title(title, fontsize=9)
    axes.legend(frameon=False, fontsize=8)


def _size(wrench: DataArray, *components: str) -> np.ndarray:
    """Magnitude of some components of a wrench over time."""
    return np.linalg.norm(wrench.sel(wrench=list(components)).transpose("time", "wrench").values, axis=1)


def _save(figure: Figure, path: Path) -> None:
    """Write a figure as a small picture: the colours of a drawing fit into a palette."""
    buffer = BytesIO()
    figure.savefig(buffer, dpi=DPI, format="png")
    Image.open(buffer).convert("RGB").quantize(COLOURS).save(path, optimize=True)


def draw(folder: Path) -> list[Path]:
    """Run the examples into a store that is thrown away, and write their pictures into a folder; what was written."""
    written = []
    with tempfile.TemporaryDirectory(prefix="limbsweep-") as stores:
        for example, figures in FIGURES.items():
            store = Path(stores) / f"{example}.zarr"
            run(Sweep.from_yaml(EXAMPLES / f"{example}.yaml"), store, ClusterConfig.of("synchronous"))
            results = open_results(store).load()
            for name, figure in figures:
                written.append(folder / f"{name}.png")
                _save(figure(results), written[-1])
    return written


def main() -> None:
    """Write all pictures."""
    for path in draw(PICTURES):
        print(f"wrote {path.relative_to(HERE)}")


if __name__ == "__main__":
    main()
