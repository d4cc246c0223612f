"""From recordings to a sweep: the identified robot and the covariance of its parameters as tolerances."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

import limbsweep as ls
from applications.identification.machines.description import read_description
from applications.identification.machines.identify import MachineIdentification, identify_recordings
from applications.identification.machines.results import save_parameters, save_robot
from applications.studies import objective, tolerance_effect
from pipeline import run
from pipeline.errors import InputError
from pipeline.sweep.model import Sweep
from pipeline.sweep.question.reader import stored_question
from robots import catalog
from tests.pipeline.runs import SYNCHRONOUS

RECORDING = """\
limbsweep: 1
robot: ROBOT
recordings: [{files: [run.csv]}]
time: {column: 1}
position: {columns: POSITIONS}
force: {columns: FORCES}
model: {friction: viscous, shared: true}
"""
SWEEP = """\
limbsweep: 1
robot: arm.yaml
tolerances: {from: fit.json, count: 256, seed: 2}
trajectories: {a: {kind: harmonic, amplitude: [0.3, 0.4, -0.5], period: 1}}
time: {stop: 0.5, samples: 4}
outputs: [actuator_force]
metrics: [peak_force]
"""


def _motion(robot: ls.Robot, seed: int) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Return times and a random motion of the freedoms."""
    random, time = np.random.default_rng(seed), np.arange(0.0, 8.0, 0.004)
    count = len(robot.mechanism.freedoms)
    size = 0.5 if robot.mechanism.is_chain else 0.05
    x, xd, xdd = np.zeros((3, len(time), count))
    for k in range(1, 5):
        omega = 0.5 * np.pi * k
        a, b = random.normal(size=(2, count)) * size / k
        sine, cosine = np.sin(omega * time)[:, None], np.cos(omega * time)[:, None]
        x, xd = x + a * sine + b * cosine, xd + omega * (a * cosine - b * sine)
        xdd -= omega**2 * (a * sine + b * cosine)
    if robot.mechanism.is_chain:
        return time, {"q": x, "qd": xd, "qdd": xdd}
    still, home = np.zeros((len(time), 3)), np.asarray(robot.mechanism.platform.home.position, float)
    twist, acceleration = (np.concatenate([still, each], axis=1) for each in (xd, xdd))
    return time, {"position": home + x, "twist": twist, "acceleration": acceleration}


def _identified(name: str, folder: Path) -> MachineIdentification:
    robot = catalog.build(name)
    time, motion = _motion(robot, 3)
    force = ls.inverse_dynamics(robot, **motion).force  # type: ignore[arg-type]
    position = motion["q"] if "q" in motion else ls.actuator_positions(robot, position=motion["position"]).position
    random = np.random.default_rng(5)
    force = force + random.normal(size=force.shape) * 0.03 * np.abs(force).mean(axis=0)
    np.savetxt(folder / "run.csv", np.column_stack([time, position, force]), delimiter=",", fmt="%.10g")
    count = force.shape[1]
    text = RECORDING.replace("ROBOT", name).replace("POSITIONS", str([*range(2, 2 + count)]))
    (folder / "run.yaml").write_text(text.replace("FORCES", str([*range(2 + count, 2 + 2 * count)])))
    result = identify_recordings(read_description(folder / "run.yaml"))
    save_parameters(result, folder / "fit.json")
    save_robot(result, folder / "arm.yaml")
    return result


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("fit")


@pytest.fixture(scope="module")
def arm(folder: Path) -> MachineIdentification:
    return _identified("planar_3r", folder)


@pytest.mark.filterwarnings("ignore:.*no body has the moments of")  # a deviation may leave none that one has
@pytest.mark.parametrize("name", ["planar_3r", pytest.param("delta_3rr2rrr", marks=pytest.mark.slow)])
def test_a_parameter_of_the_robot_is_a_column_of_the_regressor(
    name: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    result = request.getfixturevalue("arm") if name == "planar_3r" else _identified(name, tmp_path)
    place = request.getfixturevalue("folder") if name == "planar_3r" else tmp_path
    robot, spread = ls.robots.read(place / "arm.yaml"), json.loads((place / "fit.json").read_text())["tolerances"]
    assert {parameter.name for parameter in robot.family.parameters} == {*spread["parameters"]}
    _, motion = _motion(catalog.build(name), 8)
    motion = {key: values[:5] for key, values in motion.items()}
    numbers = ls.inverse_dynamics(ls.Robot.of(result.robot().family, {}), **motion).force  # type: ignore[arg-type]
    force = ls.inverse_dynamics(robot, **motion).force  # type: ignore[arg-type]
    assert np.allclose(force, numbers, rtol=1e-9, atol=1e-9 * np.abs(numbers).max())
    found = ls.regressor(robot, ls.Motion(**motion), shared=True)  # type: ignore[arg-type]
    sizes = np.sqrt(np.diag(spread["covariance"]))
    for parameter, size in zip(spread["parameters"], sizes, strict=True):
        (column,) = [k for k, text in enumerate(found.names) if re.sub(r"\W", "_", text) == parameter]
        changed = ls.robots.read(place / "arm.yaml", **{parameter: robot.values[parameter] + size})
        moved = ls.inverse_dynamics(changed, **motion).force - force  # type: ignore[arg-type]
        assert np.allclose(moved, found.matrix[..., column] * size, atol=1e-7 * np.abs(force).max()), parameter


def test_forces_of_a_sweep_spread_as_the_fit_says(arm: MachineIdentification, folder: Path) -> None:
    (folder / "sweep.yaml").write_text(SWEEP)
    sweep = Sweep.from_yaml(folder / "sweep.yaml")
    spread = json.loads((folder / "fit.json").read_text())["tolerances"]
    assert [*sweep.tolerances.deviations] == spread["parameters"]
    data = run(sweep, folder / "out.zarr", SYNCHRONOUS).load()
    forces = data["actuator_force"].values.reshape(256, 4, 3)
    drawn = np.stack([data[f"{name}_deviation"].values for name in spread["parameters"]])
    covariance = np.array(spread["covariance"])
    sizes = np.sqrt(np.diag(covariance))
    assert np.abs(np.cov(drawn / sizes[:, None]) - covariance / np.outer(sizes, sizes)).max() < 0.25
    robot = ls.robots.read(folder / "arm.yaml")
    times = np.linspace(0.0, 0.5, 4)[:, None]
    amplitude, omega = np.array([0.3, 0.4, -0.5]), 2.0 * np.pi
    motion = {"q": amplitude * np.sin(omega * times), "qd": amplitude * omega * np.cos(omega * times),
              "qdd": -amplitude * omega**2 * np.sin(omega * times)}  # fmt: skip
    found = ls.regressor(robot, ls.Motion(**motion))  # type: ignore[arg-type]
    columns = {text.replace(".", "_"): k for k, text in enumerate(found.names)}
    chosen = [columns[name] for name in spread["parameters"]]
    matrix = found.matrix[..., chosen]
    expected = np.sqrt(np.einsum("tai,ij,taj->ta", matrix, covariance, matrix))
    assert np.allclose(forces.std(axis=0, ddof=1), expected, rtol=0.15)
    effect = tolerance_effect(sweep, "peak_force")
    assert effect.deviation == pytest.approx(float(data["peak_force"].max("actuator").std()), rel=0.3)
    assert sum(effect.shares.values()) == pytest.approx(1.0)
    assert objective("peak_force, quantile 0.9 over tolerances").tolerances
    cases = stored_question(data.attrs, data.coords).cases
    assert sorted(cases) == sorted(sweep.question.cases)
    designs = ls.study.by_cases(data, cases)
    assert (designs.sizes["design"], designs.sizes["case"]) == (1, 256)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{}", "tolerances.from: got 'fit.json'; expected a file of limbsweep identify --output"),
        ('{"tolerances": {"parameters": ["a"], "covariance": [[1, 2]]}}', "a covariance of shape"),
        (
            '{"tolerances": {"parameters": ["a", "b"], "covariance": [[1, 2], [2, 1]]}}',
            "a matrix that is no covariance",
        ),
        ('{"tolerances": {"parameters": ["a"], "covariance": [[1]]}}', "lanar_3r has no parameter 'a'"),
        ("[", "tolerances.from: got 'fit.json'; expected a file of limbsweep identify --output"),
    ],
)
def test_files_that_are_no_identification_are_refused(tmp_path: Path, content: str, message: str) -> None:
    (tmp_path / "fit.json").write_text(content)
    with pytest.raises(InputError) as caught:
        Sweep.from_text(SWEEP.replace("arm.yaml", "planar_3r"), folder=tmp_path)
    assert message in str(caught.value)


def test_tolerances_need_parameters_or_a_file() -> None:
    with pytest.raises(InputError, match="got neither parameters nor from; expected one of both"):
        Sweep.from_text(SWEEP.replace("arm.yaml", "planar_3r").replace("from: fit.json, ", ""))
