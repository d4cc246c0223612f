"""Names of datasets: no parameter, variable or label may take one, and each is refused where it is declared."""

from __future__ import annotations

from pathlib import Path

import pytest

import limbsweep as ls
from pipeline.documents.dataset_names import GRAVITY, is_free, name_conflict, parameter_conflict
from pipeline.errors import InputError
from pipeline.plan.coordinates import coordinates
from pipeline.plan.plan import plan
from pipeline.robot_files.importing import import_robot
from pipeline.robot_files.reader import parse_robot
from pipeline.sweep.model import Sweep
from robots import catalog
from storage.schema import LABELS
from tests.pipeline.robot_files.arm import ARM
from tests.pipeline.robot_files.test_urdf import ARM as URDF_ARM

EXAMPLES = Path(__file__).parents[3] / "examples"
KINDS = ("delta.yaml", "gough_stewart.yaml", "hexapod_identification.yaml", "datasets/*.yaml", "simulations/*.yaml")
FILES = sorted(path for kind in KINDS for path in EXAMPLES.glob(kind))
SWEEP = """\
limbsweep: 1
robot: ./arm.yaml
design: {grid: {payload: [0.5, 1.0]}}
friction: {law: coulomb_viscous, grid: {viscous: [0.1, 0.2]}}
trajectories: {first: {kind: harmonic, amplitude: 0.1, period: 1.0}}
time: {stop: 1.0, step: 0.1}
metrics: [peak_force]
"""
CHAIN = SWEEP.replace("./arm.yaml", "planar_3r").replace("payload", "mass_1")
PAYLOAD = ARM.replace("upper: 2}}", "upper: 2}, payload: {default: 1, unit: kg}}")
TAKEN = {
    "design": "A dim of datasets",
    "Time": "A dim of datasets",
    "link": "A dim of datasets",
    "stored_design": "A coordinate of datasets",
    "trajectory_samples": "A coordinate of datasets",
    "written": "A coordinate of datasets",
    "design_part": "A coordinate of datasets",
    "status": "Outputs and metrics",
    "peak_force": "Outputs and metrics",
    "peak_force_mean": "Outputs and metrics",
    "rms_force_derivative": "Outputs and metrics",
    "gravity_x": "The gravity of every sweep",
    "true_mass": "Names of true parameters of generated data begin with true_",
    "trajectory_radius": "Names of numbers of trajectories begin with trajectory_",
    "length_deviation": "Names of deviations within tolerances end in _deviation",
}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_names_that_datasets_have_beside_swept_parameters_are_taken(path: Path) -> None:
    sweep = Sweep.from_yaml(path)
    planned = plan(sweep)
    own = {name for name, *_ in coordinates(sweep, planned.layout, sweep.family.reference)} | {*LABELS}
    taken = {*own, *planned.layout.sizes, *planned.layout.variables} - {*sweep.swept, *sweep.design.names}
    assert taken >= {"design", "trajectory", "actuator"}
    assert {name for name in taken if not name_conflict(name)} <= {"parameter", "side"}  # dims where derivatives are


def test_parameters_of_the_catalogue_are_free() -> None:
    names = {row.name for family in catalog.FAMILIES.values() for row in family.parameters}
    assert {name for name in names if not is_free(name)} == set()


@pytest.mark.parametrize("name", TAKEN)
def test_a_parameter_of_a_robot_file_with_a_name_of_datasets_is_refused(name: str) -> None:
    text = ARM.replace("length", name)
    rule = rf"^arm.yaml:3:14 parameters\.{name}: got '{name}'; expected a name that is free in datasets\. {TAKEN[name]}"
    with pytest.raises(InputError, match=rule):
        parse_robot(text, "arm.yaml")
    with pytest.raises(InputError, match=rf"variables\.{name}: got '{name}'; expected a name of letters"):
        Sweep.from_text(CHAIN + f"variables: {{{name}: {{default: 1}}}}\n")


@pytest.mark.parametrize(("section", "place"), [
    ("design: {grid: {NAME: [0.5, 1.0]}}", r"design\.grid\.NAME"),
    ("design: {list: {NAME: [0.5, 1.0]}}", r"design\.list\.NAME"),
    ("design: {sample: {method: sobol, count: 4, seed: 1, parameters: {NAME: {low: 0.5, high: 1}}}}",
     r"design\.sample\.parameters\.NAME"),
    ("design: {grid: {length: [0.4, 0.5]}, derive: {NAME: 2 * length}}", r"design\.derive\.NAME"),
    ("design: {file: designs.csv}", r"design"),
])  # fmt: skip
@pytest.mark.parametrize("name", ["viscous", "VISCOUS"])
def test_a_parameter_that_friction_sweeps_too_is_refused(name: str, section: str, place: str, tmp_path: Path) -> None:
    (tmp_path / "arm.yaml").write_text(PAYLOAD.replace("payload", name))
    (tmp_path / "designs.csv").write_text(f"{name}\n0.5\n1.0\n")
    text = SWEEP.replace("design: {grid: {payload: [0.5, 1.0]}}", section.replace("NAME", name))
    place = place.replace("NAME", name)
    rule = rf"^sweep:3:[0-9]+ {place}: got '{name}'; expected a name that no other swept quantity has"
    with pytest.raises(InputError, match=rule):
        Sweep.from_text(text, folder=tmp_path)
    Sweep.from_text(text.replace("grid: {viscous: [0.1, 0.2]}", "parameters: {viscous: 0.1}"), folder=tmp_path)


@pytest.mark.parametrize("name", [*TAKEN, "design_1", "mass"])
def test_users_metrics_have_names_of_their_own(name: str) -> None:
    def metric(actuator_force: object) -> float:
        return 0.0

    sweep = Sweep.from_text(CHAIN)
    if name_conflict(name):
        with pytest.raises(InputError, match="a name of the dataset"):
            ls.compute(sweep, metrics={name: metric})
    else:
        assert name in ls.compute(sweep, metrics={name: metric})


@pytest.mark.parametrize(("body", "named"), [
    ("actuator", "actuator_2_mass"), ("trajectory", "part_trajectory_mass"), ("true", "part_true_mass"),
])  # fmt: skip
def test_parameters_of_an_imported_robot_are_free(body: str, named: str, tmp_path: Path) -> None:
    (tmp_path / "r.urdf").write_text(URDF_ARM.replace('"upper"', f'"{body}"'))
    names = [row.name for row in import_robot(tmp_path / "r.urdf").description.parameters]
    assert named in names
    assert {name for name in names if parameter_conflict(name)} == set()


def test_gravity_is_swept_by_its_own_name_and_only_by_that() -> None:
    assert all(name_conflict(name) == "" and parameter_conflict(name) for name in GRAVITY)
    sweep = Sweep.from_text(CHAIN.replace("mass_1: [0.5, 1.0]", "gravity_z: [-9.81, -1.6]"))
    assert sweep.design.names == ("gravity_z",)


def test_messages_have_plain_paths_of_robot_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("arm.yaml").write_text(ARM.replace("length", "design"))
    Path("sweep.yaml").write_text(SWEEP)
    with pytest.raises(InputError, match=r"^arm\.yaml:3:14 parameters\.design"):
        Sweep.from_yaml("sweep.yaml")
    with pytest.raises(InputError, match=r"^arm\.yaml:3:14 parameters\.design"):
        ls.sweep("./arm.yaml", time=(1.0, 0.1), trajectories={"first": {"kind": "harmonic", "amplitude": 0.1}})


def test_an_initial_position_is_swept_by_a_name_that_datasets_can_have(tmp_path: Path) -> None:
    control = "controller: {kind: pd, parameters: {kp: 10, kd: 1}}"
    simulated = f"simulation: {{{control}, state: {{grid: {{JOINT: [0.0, 0.1]}}}}}}"
    text = CHAIN.replace("design: {grid: {mass_1: [0.5, 1.0]}}", simulated)
    for name, end in (("el-bow", "Coordinates have at most 80 letters"), ("time", "A dim of datasets has this name")):
        (tmp_path / "arm.yaml").write_text(ARM.replace("elbow", name))
        wrong = text.replace("planar_3r", "./arm.yaml").replace("JOINT", name)
        rule = rf"^sweep:3:[0-9]+ simulation\.state\.grid\.{name}: got a swept parameter {name}; .* {end}"
        with pytest.raises(InputError, match=rule):
            Sweep.from_text(wrong, folder=tmp_path)
    assert Sweep.from_text(text.replace("JOINT", "joint_1")).sizes["state"] == 2
