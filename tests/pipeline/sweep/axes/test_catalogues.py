"""Several tables of one axis: their rows multiply, labels keep their units, and expressions know labels."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from applications.studies.columns import unit
from applications.studies.factors import Choice
from applications.studies.space import DesignSpace
from pipeline.errors import InputError
from pipeline.execution.run import run
from pipeline.sweep.model import Sweep

MOTORS = "motor,rotor_inertia [kg mm^2],torque_constant,rated_torque [N mm]\nsmall,47,0.32,320\nlarge,67,0.45,1270\n"
GEARS = "gear,gear_ratio,gear_inertia [kg m^2]\nG-20,20,1.4e-5\nG-32,32,1.0e-5\nG-40,40,0.8e-5\n"
TEXT = """\
limbsweep: 1
robot: delta_rl5_1450_motors
design:
  file: [motors.csv, gears.csv]
  labels: [motor, rotor_inertia, rated_torque, gear, gear_inertia]
  derive: {gearbox_inertia: rotor_inertia + gear_inertia}
  where: [rated_torque * gear_ratio > 10]
trajectories:
  pick: {kind: quintic, start: [-0.1, 0, 0], end: [0.1, 0, 0], duration: 0.4}
time: {stop: 0.4, step: 0.1}
metrics: [rms_force]
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "motors.csv").write_text(MOTORS, encoding="utf-8")
    (tmp_path / "gears.csv").write_text(GEARS, encoding="utf-8")
    return tmp_path


def test_motors_and_gears_multiply_and_what_both_decide_follows(folder: Path) -> None:
    sweep = Sweep.from_text(TEXT, folder=folder)
    ds = run(sweep)
    pairs = [("small", "G-32"), ("small", "G-40"), ("large", "G-20"), ("large", "G-32"), ("large", "G-40")]
    assert list(zip(ds["motor"].values.tolist(), ds["gear"].values.tolist(), strict=True)) == pairs
    rotor, gear = {"small": 47e-6, "large": 67e-6}, {"G-20": 1.4e-5, "G-32": 1.0e-5, "G-40": 0.8e-5}
    inertias = [rotor[motor] + gear[name] for motor, name in pairs]
    assert ds["gearbox_inertia"].values == pytest.approx(inertias, rel=1e-15)
    assert [unit(ds, name) for name in ("rated_torque", "rotor_inertia", "gear_ratio")] == ["N m", "kg m^2", "1"]
    assert ds["rated_torque"].values[[0, -1]].tolist() == [0.32, 1.27]
    names = ("torque_constant", "gear_ratio", "gearbox_inertia")
    lists = ", ".join(f"{name}: {ds[name].values.tolist()}" for name in names)
    table = Sweep.from_text(f"{TEXT.split('  file:')[0]}  list: {{{lists}}}\n{TEXT[TEXT.index('trajectories') :]}")
    assert np.array_equal(ds["rms_force"].values, run(table)["rms_force"].values)


def test_catalogues_are_variables_of_their_own_in_a_search(folder: Path) -> None:
    space = DesignSpace.to_search(Sweep.from_text(TEXT, folder=folder))
    assert [len(v.rows) for v in space.variables if isinstance(v, Choice) and not v.ordered] == [2, 3]
    table = space.designs(np.array([[1.0, 2.0], [0.0, 0.0]]))
    assert space.labels("motor", table["motor"]) == ["large", "small"]
    assert table["gear_ratio"].tolist() == [40.0, 20.0]
    assert space.where == ("rated_torque * gear_ratio > 10",)


def test_a_list_beside_a_file_belongs_to_the_fingerprint(folder: Path) -> None:
    changed = TEXT.replace("[motors.csv, gears.csv]", "gears.csv").replace("motor, rotor_inertia, rated_torque, ", "")
    changed = changed.replace("rotor_inertia +", "6e-5 +").replace("  where: [rated_torque * gear_ratio > 10]\n", "")
    texts = [changed.replace("  labels", f"  list: {{torque_constant: [0.3, {x}]}}\n  labels") for x in (0.4, 0.5)]
    first, second = (Sweep.from_text(text, folder=folder) for text in texts)
    assert first.fingerprint != second.fingerprint
    assert any("torque_constant" in line or "0.5" in line for line in first.difference(second))
    assert "list_2" in first.canonical["design"]
    more = GEARS.replace("40,0.8e-5", "45,0.8e-5")
    (folder / "gears.csv").write_text(more, encoding="utf-8")
    assert Sweep.from_text(texts[0], folder=folder).fingerprint != first.fingerprint


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("gears.csv]", "geers.csv]", "geers.csv: got no such file; expected an existing file. Did you mean gears.csv"),
        (
            "[motors.csv, gears.csv]",
            "[motors.csv, gears.csv, motors.csv]",
            "got 'motors.csv'; expected every file once",
        ),
        ("gear_inertia]", "gear_inertia, brake]", r"design.labels\[5\]: got an unknown column of the file"),
        ("  labels", "  columns: [torque_constant]\n  labels", r"file\[1\]: got no column of parameters; expected one"),
        (
            "rotor_inertia + gear",
            "rotor_inertia + motor + gear",
            "'motor', which has texts at character .*; expected a",
        ),
        ("rotor_inertia + gear", "rotr_inertia + gear", "unknown name 'rotr_inertia' .* Did you mean 'rotor_inertia'"),
    ],
)
def test_mistakes_in_catalogues_get_one_line(old: str, new: str, message: str, folder: Path) -> None:
    with pytest.raises(InputError, match=message) as caught:
        Sweep.from_text(TEXT.replace(old, new), folder=folder)
    assert len(caught.value.problems) == 1
