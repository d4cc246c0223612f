"""Recordings in which several things are unusual at once: what is found is right all the same."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from applications.identification.machines.description import read_description
from applications.identification.machines.identify import MachineIdentification, identify_recordings
from benchmarks.campaigns import coverage
from robots import catalog
from tasks import inverse_dynamics
from tasks.dynamics.records import Forces
from tests.applications.identification.estimation.machines.synthetic import FRICTION, series


def mass_of_load(result: MachineIdentification) -> tuple[float, float]:
    return next((value, deviation) for name, value, deviation in result.parameters() if name == "load.mass")


def test_a_five_bar_with_a_load_in_cut_files_with_decimal_commas(tmp_path: Path) -> None:
    for name, load in (("bare", 0.0), ("loaded", 0.5)):
        truth = coverage.truth_of("five_bar", seed=4 + (load > 0), parameters={"payload_mass": load})
        noise = np.random.default_rng(1).normal(size=truth.force.shape)
        force = truth.force + 0.02 * noise * np.sqrt(np.mean(truth.force**2, axis=0))
        time = np.arange(len(force)) * coverage.STEP * 1e3
        table = np.column_stack([time, np.rad2deg(truth.position), force])
        rows = [";".join(f"{x:.7g}".replace(".", ",") for x in row) + ";AUTO" for row in table]
        rows[700], rows[1501], rows[2000] = rows[700][:23], rows[1501][:23], ""
        head = ["Zeit;Winkel links;Winkel rechts;Moment links;Moment rechts;Modus", "ms;°;°;Nm;Nm;-"]
        (tmp_path / f"{name}.csv").write_bytes("\r\n".join([*head, *rows])[:-30].encode("cp1252"))
    (tmp_path / "machine.yaml").write_text(
        "limbsweep: 1\nrobot: five_bar\ntime: {column: Zeit}\nrecordings: [{files: [bare.csv]}, "
        "{files: [loaded.csv], payload: {body: platform, unknown: load}}]\n"
        "position: {columns: [Winkel links, Winkel rechts]}\nforce: {columns: [Moment links, Moment rechts]}\n"
    )
    result = identify_recordings(read_description(tmp_path / "machine.yaml"))
    mass, deviation = mass_of_load(result)
    assert abs(mass - 0.5) < 4.0 * deviation < 0.01
    for text in ("2 of 4999 rows are no rows of 6 numbers", "the last row is cut off"):
        assert sum(text in warning for warning in result.warnings) == 2
    assert not any("another load" in warning for warning in result.warnings)


@pytest.mark.parametrize("still", [0, 2], ids=["first", "last"])
def test_a_load_on_an_arm_of_which_a_joint_never_moves(tmp_path: Path, still: int) -> None:
    random = np.random.default_rng(3)
    for name, seed, load in (("bare", 1, 0.0), ("loaded", 2, 2.0)):
        time, q, qd, qdd = series(3, 10.0, seed)
        q[:, still], qd[:, still], qdd[:, still] = 0.4, 0.0, 0.0
        robot = catalog.build("planar_3r", payload_mass=load, payload_centre_x=0.05)
        force = inverse_dynamics(robot, q=q, qd=qd, qdd=qdd, forces=Forces(friction=FRICTION)).force
        force, q = force + random.normal(size=force.shape) * 0.05, q + random.normal(size=q.shape) * 1e-5
        table = np.column_stack([time, q, force])
        np.savetxt(tmp_path / f"{name}.csv", table, delimiter=",", header="t,q1,q2,q3,f1,f2,f3", comments="")
    (tmp_path / "machine.yaml").write_text(
        "limbsweep: 1\nrobot: planar_3r\ntime: {column: t}\nrecordings: [{files: [bare.csv]}, "
        "{files: [loaded.csv], payload: {body: link_3, unknown: load}}]\n"
        "position: {columns: [q1, q2, q3]}\nforce: {columns: [f1, f2, f3]}\n"
    )
    result = identify_recordings(read_description(tmp_path / "machine.yaml"))
    mass, deviation = mass_of_load(result)
    assert abs(mass - 2.0) < 4.0 * deviation < 0.05
    name = result.machine.robot.mechanism.actuators[still]
    assert sum(f"{name}: does not move" in warning for warning in result.warnings) == 2
    shares = dict(result.rows())["train bare.csv"].rpartition("(")[2].rstrip(")").split(", ")
    assert [share == "at rest" for share in shares] == [k == still for k in range(3)]
