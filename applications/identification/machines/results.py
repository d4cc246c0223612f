"""Results of an identification of a machine: tables, an xarray dataset, the robot as robot file or URDF."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from applications.identification.estimation.machines.machine_model import actuator_kinds
from applications.identification.machines.identify import MachineIdentification
from applications.identification.machines.mjcf_text import mjcf_text
from applications.identification.machines.urdf_text import urdf_text
from pipeline.documents.outputs import CellWriter, checked_suffix
from pipeline.errors import refused
from robots.formats import writing
from robots.joint_kinds import JOINT_KINDS

if TYPE_CHECKING:
    from xarray import Dataset

COLUMNS = ("kind", "parameter", "unit", "value", "deviation")


def save_parameters(result: MachineIdentification, path: Path) -> None:
    """Write base and standard parameters to a new CSV or JSON file. Raises StoreError for another ending."""
    writer = FORMATS[checked_suffix(path, FORMATS)]
    with path.open("x", newline="", encoding="utf-8") as file:
        writer(result, file)


def _rows(result: MachineIdentification) -> list[tuple[str, str, str, float, float]]:
    units = {column.name: column.unit for column in result.machine.columns}
    names = [result.fit.base.names[result.fit.base.independent[k]] for k in result.fit.kept]
    base = [
        ("base", name, units[first], value, deviation)
        for (name, value, deviation), first in zip(result.parameters(), names, strict=True)
    ]
    return base + [("standard", *row) for row in result.standard_parameters()]


def _write_csv(result: MachineIdentification, file: IO[str]) -> None:
    table = CellWriter(file)
    table.writerow(COLUMNS)
    table.writerows((*row[:3], *("" if math.isnan(number) else number for number in row[3:])) for row in _rows(result))


def _write_json(result: MachineIdentification, file: IO[str]) -> None:
    def number(value: float) -> float | None:
        return value if math.isfinite(value) else None

    parameters = [
        {"kind": kind, "parameter": name, "unit": unit, "value": number(value), "deviation": number(deviation)}
        for kind, name, unit, value, deviation in _rows(result)
    ]
    content: dict[str, Any] = {
        "robot": result.machine.robot.name,
        "method": result.fit.method,
        "deviations": result.description.deviations,
        "condition": number(result.fit.condition),
        "raw_condition": number(result.fit.raw_condition),
        "unexplained": {name: number(share) for name, share in result.fit.errors.items()},
        "delay": result.delay,
        "consistent": result.standard.converged,
        "warnings": list(result.warnings),
        "tests": [{"question": text, "answer": answer, "chance": number(p)} for text, answer, p in result.tests()],
        "parameters": parameters,
    }
    if result.has_robot:
        spread = result.uncertain()
        content["tolerances"] = {"parameters": list(spread.names), "covariance": spread.covariance.tolist()}
    json.dump(content, file, indent=1, allow_nan=False)


FORMATS: Mapping[str, Callable[[MachineIdentification, IO[str]], None]] = {".csv": _write_csv, ".json": _write_json}
"""Writer of the parameters, by the ending of the file name."""


def robot_text(result: MachineIdentification) -> str:
    """Return the text of the robot file of the identified robot. Raises InputError where none was found.

    Inertial values that the data determine are its parameters; `save_parameters` has their covariance, for tolerances.
    """
    return writing.text(result.uncertain().description, f"{result.description.title}: identified from recordings.")


def _friction(result: MachineIdentification) -> dict[str, tuple[float, float]]:
    """Return viscous and dry friction of the actuated joints, which no file allows below zero."""
    numbers = dict(zip((column.name for column in result.machine.columns), result.standard.values, strict=True))
    return {
        name: (
            max(float(numbers.get(f"{name}.viscous", 0.0)), 0.0),
            max(float(numbers.get(f"{name}.coulomb", 0.0)), 0.0),
        )
        for name in result.machine.robot.mechanism.actuators
    }


def identified_urdf(result: MachineIdentification) -> str:
    """Return the URDF text of the identified robot, with friction. Raises InputError for a robot beyond URDF."""
    try:
        return urdf_text(result.robot(), _friction(result))
    except ValueError as error:
        raise refused(result.machine.robot.name, str(error), "a tree, for URDF") from None


def identified_mjcf(result: MachineIdentification) -> str:
    """Return the MJCF text of the identified robot, with friction. Raises InputError for a robot beyond MJCF."""
    try:
        return mjcf_text(result.robot(), _friction(result), result.machine.model.gravity)
    except ValueError as error:
        raise refused(result.machine.robot.name, str(error), "a chain, for MJCF") from None


ROBOTS: Mapping[str, Callable[[MachineIdentification], str]] = {
    ".yaml": robot_text,
    ".yml": robot_text,
    ".urdf": identified_urdf,
    ".xml": identified_mjcf,
}
"""Writer of the identified robot, by the ending of the file name."""


def save_robot(result: MachineIdentification, path: Path) -> None:
    """Write the identified robot to a new file: a robot file, or URDF. Raises StoreError, InputError."""
    text = ROBOTS[checked_suffix(path, ROBOTS)](result)
    with path.open("x", encoding="utf-8") as file:
        file.write(text)


def dataset(result: MachineIdentification) -> Dataset:
    """Return the parameters and forces of an identification as a dataset.

    Parameters are along `base_parameter` and `standard_parameter`, forces, predicted forces and the motion along
    `sample` and `actuator`; which recording a sample is of, its role and its time are coordinates along `sample`.
    """
    import xarray as xr

    fit, robot = result.fit, result.machine.robot
    runs = fit.runs
    units = [JOINT_KINDS[kind].units for kind in actuator_kinds(robot)]
    force, position = ("/".join(dict.fromkeys(getattr(unit, key) for unit in units)) for key in ("force", "position"))
    rate = "/".join(dict.fromkeys(unit.rate for unit in units))
    series = {
        "force": (np.concatenate([run.forces for run in runs]), force, "filtered force"),
        "predicted_force": (np.concatenate([fit.predicted(run) for run in runs]), force, "force by the parameters"),
        "position": (np.concatenate([run.motion[0] for run in runs]), position, "position"),
        "velocity": (np.concatenate([run.motion[1] for run in runs]), rate, "velocity"),
        "acceleration": (np.concatenate([run.motion[2] for run in runs]), f"{rate}/s", "acceleration"),
        "used": (np.concatenate([run.good for run in runs]), "1", "whether the row counts"),
    }
    variables = {
        name: (("sample", "actuator"), values, {"units": unit, "long_name": text})
        for name, (values, unit, text) in series.items()
    }
    standard = list(result.standard_parameters())
    along = {
        "base_value": ("base_parameter", fit.values),
        "base_deviation": ("base_parameter", fit.deviations),
        "standard_value": ("standard_parameter", [row[2] for row in standard]),
        "standard_deviation": ("standard_parameter", [row[3] for row in standard]),
    }
    coordinates = {
        "base_parameter": list(fit.names),
        "standard_parameter": [row[0] for row in standard],
        "standard_unit": ("standard_parameter", [row[1] for row in standard]),
        "actuator": list(robot.mechanism.actuators),
        "recording": ("sample", [run.recording.name for run in runs for _ in run.time]),
        "role": ("sample", [run.recording.role for run in runs for _ in run.time]),
        "time": ("sample", np.concatenate([run.time for run in runs]), {"units": "s"}),
    }
    attributes = {
        "title": result.description.title,
        "robot": robot.name,
        "method": fit.method,
        "deviations": result.description.deviations,
        "description": result.description.text,
        "warnings": "\n".join(result.warnings),
    }
    return xr.Dataset({**variables, **along}, coordinates, attributes)


def save_dataset(result: MachineIdentification, path: Path) -> None:
    """Write the dataset as a new NetCDF file. Raises FileExistsError, StoreError for another ending."""
    checked_suffix(path, (".nc",))
    with path.open("xb") as file:
        found = dataset(result)
        found["used"] = found["used"].astype("int8")
        file.write(bytes(found.to_netcdf(engine="scipy")))
