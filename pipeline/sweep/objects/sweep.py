"""`sweep`: a sweep from objects, equal in meaning and fingerprint to that of a file that says the same."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from numpy.typing import ArrayLike

from pipeline.sweep.model import Sweep
from pipeline.sweep.objects.columns import TableLike
from robots.formats.description import Description
from robots.model import Family, Robot

RobotLike = str | os.PathLike[str] | Robot | Family | Description | Mapping[str, object]
"""A robot: its name, its file, itself, or the content of a robot file."""


def sweep(
    robot: RobotLike,
    *,
    time: ArrayLike | Mapping[str, float],
    trajectories: Mapping[str, object] | Sequence[object] | TableLike | None = None,
    design: TableLike | None = None,
    friction: Mapping[str, Any] | None = None,
    outputs: Sequence[str] | str = (),
    metrics: Sequence[str] | str = (),
    parameters: Mapping[str, float] | None = None,
    gravity: Sequence[float] | None = None,
    title: str = "",
    precision: str | None = None,
    limits: Mapping[str, Any] | None = None,
    simulation: Mapping[str, Any] | None = None,
    criteria: Mapping[str, Any] | None = None,
    loads: Mapping[str, Any] | None = None,
    base: Mapping[str, Any] | None = None,
    sharing: Mapping[str, Any] | None = None,
    motors: Mapping[str, float] | None = None,
    tolerances: Mapping[str, Any] | None = None,
    warming: Mapping[str, Any] | None = None,
    study: Mapping[str, Any] | None = None,
    seed: int | None = None,
    measurement: Mapping[str, float] | None = None,
    split: Mapping[str, float] | None = None,
    subsets: Mapping[str, Any] | None = None,
    subset: str | None = None,
    folder: str | os.PathLike[str] = ".",
) -> Sweep:
    """Make a sweep from objects; the keys are those of a sweep file, and what a file may say may be a dict here.

    robot: the name of a robot, a robot, the path of a robot file, or its content.
    design: columns of parameters with a row for each design, as a dict of arrays, a pandas DataFrame, an xarray Dataset
    (all combinations of its dims), a structured array or a list of dicts; or a dict with `grid`, `list`, `sample`,
    `file`, `derive`, `where` as in a file. A name may end with a unit, `upper_arm [mm]`; default SI. Long tables are
    kept as arrays.
    friction: a dict with `law`, `joints` and so on as in a file; `list` may be a table too.
    trajectories: by name, dicts as in a file, or points: (times, positions), a table with t, x, y, z or t and the
    independent joints of a chain, a DataArray (time, axis). Positions count from the reference position [m], as in
    files; (times, positions, rotations) has rotations (point, 3, 3) from the reference orientation too. Splines go
    through positions, and through roll, pitch and yaw (kind `waypoints`). Only a simulation without a controller does
    without.
    simulation: a dict as in a file, with `controller` and `gains`, or `forces`, and `state`, `step`, `method`.
    loads: by name, dicts as in a file, or records such as `limbsweep.robots.SpringLoad`; tables over time are arrays.
    base: how the base moves in the world, a dict as in a file or points as those of a trajectory.
    sharing: how more actuators than freedoms share forces, a dict as in a file: `rule`, `weights`, `preload`, `off`.
    motors: their temperature and supply, a dict as in a file: `temperature`, `voltage`, `current`.
    tolerances: deviations of parameters, a dict as in a file: `parameters`, `count`, `seed`.
    warming: how links grow with `link_temperature`, a dict as in a file: `expansion`.
    study: the question that reports answer, a dict as in a file, with `objectives`, `where` and `cases`.
    time: times (time,) from zero on, evenly spaced [s]; (stop, step); or a dict as in a file.
    folder: where files that are named are.

    Raises InputError with what is wrong, in which argument. `Sweep.to_yaml` writes the file.

        >>> circle = {"kind": "circle", "radius": 0.05, "normal": [0, 1, 0]}
        >>> lengths = {"proximal_length": np.linspace(0.5, 0.56, 7)}
        >>> sweep = ls.sweep(
        ...     "five_bar", design=lengths, trajectories={"c": circle}, time=(1.0, 0.1), metrics="peak_force")
        >>> print(sweep.to_yaml(), end="")
        limbsweep: 1
        robot: five_bar
        design: {list: {proximal_length: [0.5, 0.51, 0.52, 0.53, 0.54, 0.55, 0.56]}}
        trajectories: {c: {kind: circle, radius: 0.05, normal: [0, 1, 0]}}
        time: {stop: 1.0, step: 0.1}
        metrics: [peak_force]
    """
    sections: dict[str, Any] = {"title": title or None, "parameters": parameters, "design": design}
    sections |= {"friction": friction, "trajectories": trajectories, "time": time, "gravity": gravity}
    sections |= {"precision": precision, "outputs": outputs, "metrics": metrics, "limits": limits, "seed": seed}
    sections |= {"simulation": simulation, "motors": motors, "tolerances": tolerances, "warming": warming}
    sections |= {"criteria": criteria, "loads": loads, "base": base, "sharing": sharing, "study": study}
    sections |= {"measurement": measurement, "split": split, "subsets": subsets, "subset": subset}
    given = {key: value for key, value in sections.items() if value is not None}
    return Sweep.from_dict({"robot": robot, **given}, folder=folder)
