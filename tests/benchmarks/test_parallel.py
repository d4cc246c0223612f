"""The benchmark of parallel robots: its recordings are of the machine that it says, and its score is the error."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from benchmarks.parallel import __main__ as program
from benchmarks.parallel.machines import clean, motions, tasks, true_robot
from benchmarks.parallel.solvers import by_script, table
from tasks import inverse_dynamics

SETTINGS = """\
seed: 3
step: 0.004
bodies: 0.25
machines:
  five_bar: {robot: five_bar, duration: 4, motion: {position: 0.08, velocity: 1.2, acceleration: 15}, pin: 0.012}
friction: {coulomb: 0.03, viscous: 0.02}
difficulties:
  easy: {force_noise: 0.01, encoder: 1.0e-6, forces: another engine}
  hard: {force_noise: 0.05, noise_time: 0.01, encoder: 3.0e-5, delay: 0.004, stamps: 0.001, passive: 0.1}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("parallel")
    (place / "settings.yaml").write_text(SETTINGS)
    for task in tasks(place / "settings.yaml"):
        program.make(place / "made", task)
    return place / "made"


def test_two_engines_agree_on_the_forces_of_a_machine(folder: Path) -> None:
    (easy, _) = tasks(folder.parent / "settings.yaml")
    robot = true_robot(easy)
    _, times, motion = next(motions(easy))
    few = {name: np.asarray(values)[::200] for name, values in motion.items()}
    found = clean(easy, robot, times[::200], few, {"coulomb": 0.0, "viscous": 0.0})  # type: ignore[arg-type]
    assert np.allclose(found.force, inverse_dynamics(robot, **few).force, rtol=1e-6)  # type: ignore[arg-type]
    assert not np.allclose(found.force, inverse_dynamics(easy.robot, **few).force, rtol=1e-2)  # type: ignore[arg-type]


def test_the_hidden_forces_are_nowhere_else(folder: Path) -> None:
    for name in ("five_bar-easy", "five_bar-hard"):
        assert table(folder / name / "test.csv").shape[1] == 3
        assert table(folder / name / "train.csv").shape[1] == 5
        truth = json.loads((folder / "hidden" / f"{name}.json").read_text())
        assert truth["passive"] == (0.1 if name.endswith("hard") else 0.0)
        stamps = table(folder / name / "train.csv")[:, 0]
        assert (np.diff(stamps) > 0.0).all()
        assert (np.ptp(np.diff(stamps)) > 1e-4) == name.endswith("hard")


def test_the_script_finds_the_machine_and_the_score_is_its_error(folder: Path, tmp_path: Path) -> None:
    forces = by_script(folder / "five_bar-easy")
    assert program.solve(folder, "script", "five_bar-easy") >= 0.0
    whole, far = program.score(folder, folder / "answers" / "script", "five_bar-easy")
    assert max(far, whole) < 0.02
    np.savetxt(tmp_path / "five_bar-easy.csv", forces * 1.1, delimiter=",", header="f1,f2", comments="")
    assert program.score(folder, tmp_path, "five_bar-easy")[0] == pytest.approx(0.1, abs=0.02)
    np.savetxt(tmp_path / "five_bar-easy.csv", forces[:-1], delimiter=",", header="f1,f2", comments="")
    with pytest.raises(SystemExit, match=r"got .* rows and columns; expected"):
        program.score(folder, tmp_path, "five_bar-easy")
    assert [*program.rows(folder, folder / "answers" / "script")][2].startswith("| `five_bar-easy` |")
