"""Currents and electrical power of motors in sweeps."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from applications.commands.cli import cli
from pipeline import Sweep, run
from pipeline.errors import InputError
from tests.pipeline import runs

TEXT = """
limbsweep: 1
robot: {robot}
design:
  grid: {{payload_mass: {{values: [0, 2]}}}}
friction:
  law: coulomb_viscous
  grid: {{coulomb: {{values: [0.0, 0.03]}}}}
  parameters: {{viscous: 1.0e-4}}
trajectories: {{swing: {motion}}}
time: {{stop: 1.0, step: 0.02}}
outputs: [actuator_force, actuator_velocity, actuator_position, motor_current, electrical_power]
metrics: [peak_current, rms_current, electrical_energy, braking_energy, electrical_work, bus_energy, peak_force]
"""
SWINGS = {
    "irb6": "{kind: harmonic, centre: 0.0, amplitude: 0.3, period: 1.0}",
    "delta_rl5_1450_motors": "{kind: circle, radius: 0.1, normal: [0, 0, 1], period: 1.0}",
    "delta_rl5_1450": "{kind: circle, radius: 0.1, normal: [0, 0, 1], period: 1.0}",
}


def sweep(robot: str) -> Sweep:
    return runs.sweep(TEXT.format(robot=robot, motion=SWINGS[robot]))


@pytest.mark.parametrize("robot", ["irb6", "delta_rl5_1450_motors"])
def test_currents_are_torques_over_the_constant(robot: str, tmp_path: Path) -> None:
    made = sweep(robot)
    found = run(made, tmp_path / "out.zarr", runs.SYNCHRONOUS)
    values = {p.name: p.default for p in made.family.parameters}
    current = found["actuator_force"] / values["torque_constant"]
    np.testing.assert_allclose(found["motor_current"], current, rtol=1e-14)
    power = found["actuator_force"] * found["actuator_velocity"] + values["resistance"] * current**2
    wanted = power.transpose(*found["electrical_power"].dims)
    np.testing.assert_allclose(found["electrical_power"], wanted, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(found["peak_current"], abs(current).max("time"), rtol=1e-14)
    np.testing.assert_allclose(found["peak_force"], abs(found["actuator_force"]).max("time"), rtol=1e-14)
    parts = {
        "electrical_energy": power.clip(min=0.0),
        "braking_energy": (-power).clip(min=0.0),
        "electrical_work": power,
        "bus_energy": power.sum("actuator").clip(min=0.0),
    }
    for name, part in parts.items():
        energy = part.integrate("time").transpose(*found[name].dims)
        np.testing.assert_allclose(found[name], energy, rtol=1e-11, atol=1e-11)
    work, drawn = (found[name].sum("actuator") for name in ("electrical_work", "electrical_energy"))
    assert (work <= found["bus_energy"] + 1e-9).all()
    assert (found["bus_energy"] <= drawn + 1e-9).all()
    speed = found["actuator_position"].differentiate("time").isel(time=slice(2, -2))
    np.testing.assert_allclose(speed, found["actuator_velocity"].isel(time=slice(2, -2)), rtol=0.05, atol=1.0)
    assert not found["status"].any()


def test_a_robot_without_motors_has_none_of_their_variables() -> None:
    with pytest.raises(InputError, match="motor_current") as caught:
        sweep("delta_rl5_1450")
    for name in ("electrical_power", "peak_current", "rms_current", "electrical_energy"):
        assert name in str(caught.value)
    assert "Its actuators are not all drives with a motor" in str(caught.value)


def test_a_robot_with_more_actuators_than_freedoms_has_no_mass_matrix_of_its_actuators() -> None:
    text = runs.SMALL.replace("robot: delta_3rr2rrr", "robot: delta_4rr2rrr") + "outputs: [actuator_mass]\n"
    with pytest.raises(InputError, match="It has 4 actuators for 3 freedoms; take mass_matrix") as caught:
        Sweep.from_text(text)
    assert len(caught.value.problems) == 1


def test_a_robot_file_keeps_the_drives(tmp_path: Path) -> None:
    path = tmp_path / "irb6.yaml"
    done = CliRunner().invoke(cli, ["robots", "irb6", "--export", str(path)])
    assert done.exit_code == 0, done.output
    text = TEXT.format(robot="./irb6.yaml", motion=SWINGS["irb6"]).replace(
        "design:\n  grid: {payload_mass: {values: [0, 2]}}\n", ""
    )
    own = run(Sweep.from_text(text, "s", tmp_path), cluster=runs.SYNCHRONOUS)
    of_catalogue = run(sweep("irb6"), cluster=runs.SYNCHRONOUS)
    expected = of_catalogue["motor_current"].isel(design=[0])
    np.testing.assert_allclose(own["motor_current"], expected, rtol=1e-11, atol=1e-12)
