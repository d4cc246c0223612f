"""Exciting motions: the best of many starts, the same on any cluster, as a sweep file that keeps its limits."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from applications.commands.cli import cli
from applications.identification.excite import Excited, excite
from applications.identification.excite_job import ExcitationOptions
from pipeline.sweep.model import Sweep
from robots import catalog
from robots.parameter_errors import ParameterError
from robots.trajectories.trajectory import Trajectory
from tasks import inverse_dynamics
from tasks.dynamics.inverse import actuator_positions
from tasks.sources.commanded import moving
from tests.pipeline.runs import SYNCHRONOUS

DRAWN = "random_fourier, count: 3, seed: 2, period: 4.0, position: 1.0, velocity: 3, acceleration: [10, 12, 15]"
TEXT = """\
# what the user wrote
limbsweep: 1
robot: planar_3r
friction: {law: coulomb_viscous, parameters: {coulomb: 0.3, viscous: 0.2}}
trajectories:
  excite: {kind: DRAWN}
  other: {kind: harmonic}  # stays
time: {stop: 4.0, samples: 101}
gravity: [0, -9.81, 0]
metrics: [peak_force]
""".replace("DRAWN", DRAWN)
PLATFORM = """\
limbsweep: 1
robot: gough_stewart
trajectories:
  excite:
    kind: random_fourier
    count: 1
    seed: 2
    period: 4.0
    position: 0.3
    turn: {position: [0.2, 0.2, 0.1], orientation: {euler: [0, 0, 0.1], order: xyz}}
time: {stop: 4.0, samples: 101}
metrics: [peak_force]
"""
WISH = ExcitationOptions(steps=4, samples=60)


@pytest.fixture(scope="module")
def found() -> Excited:
    return excite(Sweep.from_text(TEXT), WISH, cluster=SYNCHRONOUS)


def test_the_best_beats_random_motions(found: Excited) -> None:
    number, best = found.best("excite")
    assert best.cost == min(each.cost for each in found.searches["excite"].values())
    assert best.cost < min(each.random for each in found.searches["excite"].values())
    assert found.factor("excite") > 1.2
    rows = dict(found.rows())
    assert rows["excite"] == f"start {number} of 3"
    assert float(rows["  condition"].split()[0]) > 1.0


WORKERS = pytest.param("local, n-workers: 2, threads-per-worker: 1", marks=pytest.mark.slow)


@pytest.mark.parametrize("kind", ["threads", WORKERS])
def test_workers_do_not_change_the_best(kind: str, found: Excited, tmp_path: Path) -> None:
    (tmp_path / "c.yaml").write_text(f"limbsweep: {{cluster: {{kind: {kind}}}}}\n")
    other = excite(Sweep.from_text(TEXT), WISH, cluster=tmp_path / "c.yaml")
    assert other.best("excite")[0] == found.best("excite")[0]
    for number, search in found.searches["excite"].items():
        assert other.searches["excite"][number].cost == search.cost
    assert other.text() == found.text()


def test_other_trajectories_may_need_files(tmp_path: Path) -> None:
    text = TEXT.replace("count: 3", "count: 1").replace("{kind: harmonic}", "{kind: waypoints, file: p.csv}")
    (tmp_path / "s.yaml").write_text(text + "subsets: {some: {trajectories: [other]}}\n")
    (tmp_path / "p.csv").write_text("t,joint_1,joint_2,joint_3\n0,0,0,0\n4,1,1,1\n")
    found = excite(Sweep.from_yaml(tmp_path / "s.yaml"), ExcitationOptions(steps=1, samples=16), cluster=SYNCHRONOUS)
    assert not found.failed["excite"]
    assert found.save(tmp_path / "best.yaml").trajectories[1].kind == "waypoints"


def test_the_sweep_file_has_the_motion_and_keeps_the_rest(found: Excited, tmp_path: Path) -> None:
    sweep = found.save(tmp_path / "best.yaml")
    assert [each.name for each in sweep.trajectories] == ["excite", "other"]
    assert "# what the user wrote" in sweep.text
    assert "# stays" in sweep.text
    kept = sweep.trajectories[0]
    assert kept.values == found.best("excite")[1].series.values
    moved = moving(sweep.family, Trajectory(kept.kind, kept.values), sweep.times, (0.0, 0.0, 0.0))
    for name, most in (("q", 1.0), ("qd", 3.0), ("qdd", np.array([10.0, 12.0, 15.0]))):
        assert (np.abs(moved[name]) <= most * 1.001).all()  # type: ignore[literal-required]
        assert (np.abs(moved[name][[0, -1]]) < 1e-9).all()  # type: ignore[literal-required]


def test_determinant_is_another_criterion() -> None:
    sweep = Sweep.from_text(TEXT.replace("count: 3", "count: 2"))
    found = excite(sweep, replace(WISH, criterion="determinant"), cluster=SYNCHRONOUS)
    gains = [search.random - search.cost for search in found.searches["excite"].values()]
    # the line search of a start ends where it began on some processors: friction makes costs jump
    assert min(gains) >= 0.0
    assert max(gains) > 1.0
    assert "  determinant" in dict(found.rows())


def test_a_platform_keeps_limits_of_its_actuators(tmp_path: Path) -> None:
    wish = ExcitationOptions(
        steps=1, samples=40, stroke=(0.15,), actuator_velocity=(0.4,), actuator_acceleration=(1.5,)
    )
    free = excite(Sweep.from_text(PLATFORM), ExcitationOptions(steps=1, samples=40), cluster=SYNCHRONOUS)
    kept = excite(Sweep.from_text(PLATFORM), wish, cluster=SYNCHRONOUS)
    found = [_legs(each.save(tmp_path / f"{k}.yaml")) for k, each in enumerate((free, kept))]
    for loose, tight, limit in zip(*found, (0.15, 0.4, 1.5), strict=True):
        assert loose > limit
        assert tight < 1.05 * limit  # limits hold at 40 samples of a period, this looks at 101
    rotation = Sweep.from_text(kept.text()).trajectories[0].turn
    assert rotation is not None
    np.testing.assert_allclose(np.array(rotation.orientation)[0], [np.cos(0.1), -np.sin(0.1), 0.0], atol=1e-15)


def _legs(sweep: Sweep) -> tuple[float, float, float]:
    """Largest stroke, velocity and acceleration of the legs along the motion."""
    robot, each = catalog.build("gough_stewart"), sweep.trajectories[0]
    given = Trajectory(each.kind, each.values, turn=each.turn)
    moved = moving(sweep.family, given, sweep.times, robot.mechanism.platform.home.position)
    position = actuator_positions(robot, **moved).position
    velocity = inverse_dynamics(robot, **moved).velocity
    rates = np.gradient(velocity, sweep.times, axis=0)
    return tuple(float(np.abs(x).max()) for x in (position - position[0], velocity, rates))  # type: ignore[return-value]


def test_limits_of_the_sweep_are_kept() -> None:
    limits = "limits:\n  joints: {'*_2': {position: [-0.2, 0.9], velocity: 1.5}}\n  actuators: {'*_1': {force: 60}}\n"
    one = replace(WISH, steps=1)
    series = excite(Sweep.from_text(TEXT + limits), one, cluster=SYNCHRONOUS).best("excite")[1].series
    position, velocity, _ = series.at(np.linspace(0.0, 4.0, 2001))
    assert -0.201 < position[:, 1].min() < 0.0 < position[:, 1].max() < 0.901
    assert np.abs(velocity[:, 1]).max() < 1.502
    far = TEXT.replace("position: 1.0", "position: 1.0, centre: 1.0") + limits
    with pytest.raises(ParameterError, match=r"centre: got 1 for joint_2; expected it inside its limits, -0\.2 to"):
        excite(Sweep.from_text(far), WISH, cluster=SYNCHRONOUS).best("excite")


def test_forces_that_are_too_small_are_told() -> None:
    found = excite(
        Sweep.from_text(PLATFORM), ExcitationOptions(steps=1, samples=16, force=(1e-6,)), cluster=SYNCHRONOUS
    )
    with pytest.raises(ParameterError, match=r"no start came to a motion within the limits; .*larger forces"):
        found.best("excite")


@pytest.mark.parametrize(
    ("text", "wish", "message"),
    [
        (TEXT.replace(DRAWN, "harmonic"), {}, "got kinds harmonic; expected an entry of kind random_fourier"),
        (TEXT, {"criterion": "conditon"}, "did you mean 'condition'"),
        (TEXT, {"force": (1.0, 2.0)}, r"force: got \[1.0, 2.0\]; expected a number above zero, or one for each of 3"),
        (TEXT, {"stroke": (-1.0,)}, "stroke: got .* expected a number above zero"),
        (TEXT, {"design": 4}, "design: got 4; expected a number from 0 to 0"),
    ],
)  # fmt: skip
def test_what_cannot_be_sought_is_refused(text: str, wish: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        excite(Sweep.from_text(text), ExcitationOptions(**wish), cluster=SYNCHRONOUS)


def test_the_command_writes_a_sweep(tmp_path: Path) -> None:
    (tmp_path / "s.yaml").write_text(TEXT.replace("count: 3", "count: 1"))
    (tmp_path / "c.yaml").write_text("limbsweep: {cluster: {kind: synchronous}}\n")
    call = [
        "excite",
        str(tmp_path / "s.yaml"),
        "--cluster",
        str(tmp_path / "c.yaml"),
        "--steps",
        "1",
        "--samples",
        "16",
    ]
    told = CliRunner().invoke(cli, [*call, "--output", str(tmp_path / "best.yaml"), "--force", "40,40,40"])
    assert told.exit_code == 0, told.output
    assert "start 0 of 1" in told.output
    assert Sweep.from_yaml(tmp_path / "best.yaml").trajectories[0].kind == "fourier"
    again = CliRunner().invoke(cli, [*call, "--output", str(tmp_path / "best.yaml")])
    assert (again.exit_code, "exists already" in again.output) == (2, True)
    wrong = CliRunner().invoke(cli, [*call, "--output", str(tmp_path / "x.yaml"), "--force", "strong"])
    assert (wrong.exit_code, "got 'strong'; expected a number" in wrong.output) == (2, True)
