"""Sweeps of robot files: the same numbers as the catalogue's, stored so that the file is not needed again."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from applications.commands.cli import cli
from pipeline import run
from pipeline.errors import InputError
from pipeline.execution.blocks import block_of
from pipeline.plan.plan import plan
from pipeline.robot_files.reader import parse_robot
from pipeline.sweep.doors import read_sweeps
from pipeline.sweep.model import Sweep
from robots.formats.writing import flow
from robots.limits import NO_LIMITS
from tests.pipeline.robot_files.arm import ARM
from tests.pipeline.robot_files.test_reader import FIVE_BAR
from tests.pipeline.robot_files.test_urdf import FOUR_BAR, LOOPS
from tests.pipeline.runs import SYNCHRONOUS

EXAMPLES = Path(__file__).parents[3] / "examples" / "robots"

SWEEP = """\
limbsweep: 1
robot: ./my/five_bar.yaml  # mine
parameters: {distal_mass: 1.4}
design:
  grid: {proximal_length: [0.5, 0.53], platform_mass: {values: [100, 200], unit: g}}
  where: proximal_length > distal_length
friction: {law: coulomb_viscous, grid: {viscous: [0, 0.1]}, parameters: {coulomb: 0.1}}
trajectories: {circle: {kind: circle, radius: 0.05, normal: [0, 1, 0]}}
time: {stop: 1.0, step: 0.05}
outputs: [actuator_force]
metrics: [peak_force, energy]
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "my").mkdir()
    (tmp_path / "my" / "five_bar.yaml").write_text(FIVE_BAR)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_sweep_of_a_file_gives_the_numbers_of_the_catalogue(folder: Path) -> None:
    own, known = Sweep.from_text(SWEEP), Sweep.from_text(SWEEP.replace("./my/five_bar.yaml", "five_bar"))
    assert own.robot == "my_five_bar"
    results = [run(each, folder / f"{k}.zarr", SYNCHRONOUS) for k, each in enumerate((own, known))]
    for name in ("actuator_force", "peak_force", "energy"):
        np.testing.assert_allclose(results[0][name], results[1][name], rtol=1e-11)
    assert not results[0]["worst_status"].any()
    again = Sweep.from_text(results[0].attrs["sweep"])
    assert again.fingerprint == own.fingerprint == results[0].attrs["fingerprint"]
    assert again.text == own.text


def test_the_stored_text_needs_no_file_in_any_spelling(folder: Path) -> None:
    own = Sweep.from_text(SWEEP)
    assert "./my" not in own.text
    for spelling in ('"./my/five_bar.yaml"', "'my/five_bar.yaml'", "my/five_bar.yaml"):
        text = SWEEP.replace("./my/five_bar.yaml", spelling)
        assert Sweep.from_text(Sweep.from_text(text).text, folder="/").fingerprint == own.fingerprint
    assert own.description
    inside = SWEEP.replace("./my/five_bar.yaml", flow(own.description))
    assert Sweep.from_text(inside).fingerprint == own.fingerprint
    with pytest.raises(InputError, match="expected the name of the file in one line"):
        Sweep.from_text(SWEEP.replace("./my/five_bar.yaml  # mine", ">-\n  my/five_bar.yaml"))


def test_the_content_of_the_file_is_part_of_the_fingerprint(folder: Path) -> None:
    before = Sweep.from_text(SWEEP)
    (folder / "my" / "five_bar.yaml").write_text(FIVE_BAR.replace("# A planar", "# The planar"))
    assert Sweep.from_text(SWEEP).fingerprint == before.fingerprint
    (folder / "my" / "five_bar.yaml").write_text(FIVE_BAR.replace("-distal_length / 2", "-distal_length / 3"))
    after = Sweep.from_text(SWEEP)
    assert [line.split(":")[0] for line in before.difference(after)] == ["description"]


def test_a_block_carries_the_robot_to_a_worker(folder: Path) -> None:
    made = plan(Sweep.from_text(SWEEP))
    block = block_of(made, 0)
    sent = pickle.dumps(block)
    assert pickle.loads(sent).family is block.family is made.sweep.family
    assert len(sent) < 20_000


BAD = [
    (
        "../five_bar.yaml",
        "robot: got '../five_bar.yaml'; expected a file in the folder of the sweep or below. Copy it there",
    ),
    ("/etc/five_bar.yaml", "expected a file in the folder of the sweep or below"),
    ("my/five_baar.yaml", "no such file; expected an existing file. Did you mean five_bar.yaml?"),
    ("my/../../x.yaml", "expected a file in the folder of the sweep or below"),
    ("fivebar", "got 'fivebar'; expected a robot of the catalogue. Did you mean 'five_bar'?"),
    ("arm.urdf", "got 'arm.urdf'; expected a robot of the catalogue. Make a robot file of it with `limbsweep import`"),
    ("{limbsweep: 1, name: x}", "limbs"),
    ("7", "robot"),
]


@pytest.mark.parametrize(("name", "message"), BAD, ids=[row[0] for row in BAD])
def test_a_robot_that_is_not_there_is_refused(name: str, message: str, folder: Path) -> None:
    with pytest.raises(InputError) as caught:
        Sweep.from_text(SWEEP.replace("./my/five_bar.yaml", name), "s.yaml")
    assert message in str(caught.value)
    assert "no key 'robot'" not in str(caught.value)


def test_problems_of_a_robot_in_a_sweep_have_places_in_the_sweep() -> None:
    inside = flow(parse_robot(FIVE_BAR, "f"))
    text = SWEEP.replace("./my/five_bar.yaml", inside.replace("mobility: [vx, vz]", "mobility: [vx, vx]"))
    line = next(k for k, each in enumerate(text.split("\n"), 1) if "mobility" in each)
    with pytest.raises(InputError, match=rf"^s:{line}:\d+ platform.mobility: got .* expected every component once"):
        Sweep.from_text(text, "s")


SEVERAL = (
    SWEEP.replace(
        "robot: ./my/five_bar.yaml  # mine\nparameters: {distal_mass: 1.4}\n",
        """\
robots:
  five_bar: {parameters: {distal_mass: 1.4}}
  ./my/five_bar.yaml:
    parameters: {distal_mass: 1.4}  # heavier
    limits: {actuators: {all: {force: 30}}}
""",
    )
    + "loads: {push: {kind: wrench, body: platform, force: [5, 0, 0]}}\n"
)


def test_a_robot_file_is_one_of_several_with_sections_of_its_own(folder: Path) -> None:
    """Check loads too, which add to each robot, and that each store is read again without the other robots."""
    (folder / "both.yaml").write_text(SEVERAL)
    known, own = read_sweeps("both.yaml")
    assert (known.robot, own.robot) == ("five_bar", "my_five_bar")
    assert (known.limits, own.limits.actuators[0].force) == (NO_LIMITS, 30)
    results = [run(each, folder / f"{each.robot}.zarr", SYNCHRONOUS) for each in (known, own)]
    np.testing.assert_allclose(results[0]["actuator_force"], results[1]["actuator_force"], rtol=1e-11)
    again = Sweep.from_text(results[1].attrs["sweep"])
    assert again.fingerprint == own.fingerprint
    assert "# heavier" in again.text
    assert "robots:" not in again.text
    (folder / "one.yaml").write_text(SEVERAL.replace("  five_bar: {parameters: {distal_mass: 1.4}}\n", ""))
    alone = Sweep.from_yaml("one.yaml")
    assert Sweep.from_text(alone.text).fingerprint == alone.fingerprint


def test_problems_of_one_of_several_robots_are_where_it_stands(folder: Path) -> None:
    text = SEVERAL.replace("{distal_mass: 1.4}  #", "{distal_mass: -1}  #")
    line = next(k for k, each in enumerate(text.split("\n"), 1) if "heavier" in each)
    (folder / "both.yaml").write_text(text)
    place = rf"both.yaml:{line}:\d+ robots\../my/five_bar.yaml.parameters.distal_mass: got -1"
    with pytest.raises(InputError, match=place):
        read_sweeps("both.yaml")
    (folder / "both.yaml").write_text(SEVERAL.replace("  ./my/five_bar.yaml:", "  mine.yaml:"))
    with pytest.raises(InputError, match=r"both.yaml:\d+:3 robots.mine.yaml: .*mine.yaml"):
        read_sweeps("both.yaml")
    (folder / "my" / "five_bar.yaml").write_text(FIVE_BAR.replace("name: my_five_bar", "name: five_bar"))
    (folder / "both.yaml").write_text(SEVERAL)
    with pytest.raises(InputError, match="got robots of the names five_bar, five_bar; expected a name of its own"):
        read_sweeps("both.yaml")


def test_a_robot_beside_several_is_one_of_them(folder: Path) -> None:
    with pytest.raises(InputError, match="robot: got 'my_five_bar'; expected one of robots"):
        Sweep.from_text(SWEEP + "robots: [five_bar]\n")


def test_commands_on_robot_files(folder: Path) -> None:
    def said(*command: str, status: int = 0) -> str:
        result = CliRunner().invoke(cli, command)
        assert result.exit_code == status, result.output
        return result.output

    assert "proximal_length" in said("robots", "my/five_bar.yaml")
    assert "wrote own.yaml" in said("robots", "five_bar", "--set", "proximal_length=0.6", "--export", "own.yaml")
    assert "exists already" in said("robots", "five_bar", "--export", "own.yaml", status=2)
    assert "name both" in said("robots", "--export", "x.yaml", status=2)
    assert "name both" in said("robots", "five_bar", "--set", "proximal_length=0.6", status=2)
    assert "wrote sweep.yaml" in said("new", "my/five_bar.yaml")
    assert "robot: ./my/five_bar.yaml" in Path("sweep.yaml").read_text()
    assert "my_five_bar" in said("check", "sweep.yaml")
    assert "wrote second.yaml" in said("new", "own.yaml", "--output", "second.yaml")
    assert "blocks" in said("check", "second.yaml")
    assert "elsewhere" in said("new", "own.yaml", "--output", "my/third.yaml", status=2)
    Path("r.urdf").write_text(FOUR_BAR)
    Path("l.yaml").write_text(LOOPS)
    assert "wrote robot.yaml" in said("import", "r.urdf", "--loops", "l.yaml")
    assert "wrote four_bar.png" in said("show", "robot.yaml")
    assert "expected an existing file. Did you mean robot.yaml" in said("robots", "robots.yaml", status=2)


def test_new_sweeps_no_bar_of_a_parallelogram_alone(folder: Path) -> None:
    text = (EXAMPLES / "delta.yaml").read_text()
    bar = "  rod_b: {default: 1.0, unit: m, lower: 0.1, upper: 10, text: length of the second rod}\n"
    text = text.replace("\nparameters:\n", f"\nparameters:\n{bar}").replace(
        "a: rod_b\n        frame_a: {position: [0, 0, -rod_length]",
        "a: rod_b\n        frame_a: {position: [0, 0, -rod_b]",
    )
    Path("bars.yaml").write_text(text)
    assert CliRunner().invoke(cli, ["new", "bars.yaml", "--output", "bars.sweep.yaml"]).exit_code == 0
    sweep = Sweep.from_yaml("bars.sweep.yaml")
    assert (*sweep.design.names, sweep.design.size) == ("base_radius", 5)
    assert not (run(sweep, cluster=SYNCHRONOUS)["status"] != 0).any()


def test_a_chain_from_a_file_is_swept(folder: Path) -> None:
    Path("arm.yaml").write_text(ARM)
    text = SWEEP.split("parameters:")[0].replace("my/five_bar", "arm") + (
        "design: {grid: {length: [0.4, 0.5]}}\n"
        "trajectories: {swing: {kind: harmonic, amplitude: 0.2, period: 1.0}}\n"
        "time: {stop: 1.0, step: 0.1}\noutputs: [actuator_force]\n"
    )
    force = run(Sweep.from_text(text), folder / "arm.zarr", SYNCHRONOUS)["actuator_force"]
    assert force.sizes == {"design": 2, "friction": 1, "trajectory": 1, "time": 11, "actuator": 2}
    assert np.isfinite(force).all()
    assert np.abs(force).max() > 0.1
