"""Every example sweep is valid, small, and runs: two designs of it at 161 instants."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from pipeline import Sweep, run
from pipeline.cluster.connection import ClusterConfig
from pipeline.plan.plan import plan
from pipeline.sweep.doors import read_sweeps
from robots import catalog
from robots.status import Status

EXAMPLES = Path(__file__).parents[2] / "examples"
SWEEPS = sorted(EXAMPLES.glob("*.yaml"))
STUDIES = sorted((EXAMPLES / "studies").glob("*.yaml"))
SIMULATIONS = sorted((EXAMPLES / "simulations").glob("*.yaml"))
LONG = ("arm_platform", "friction_share", "hexapod_6rrrprr", "hexapod_ball_screws", "hexapod_stiffness")
"""Large programs, friction in all joints from their reactions, hexapods, a redundant arm: slow tests."""
OF_FILES = {"arm_platform", "tripod_on_rail"}
"""Robots of examples that are files."""
MOST = 300_000
"""Samples of an example: seconds of work for one core."""


@pytest.mark.parametrize("path", SWEEPS, ids=lambda path: path.stem)
def test_an_example_is_valid_and_small(path: Path) -> None:
    assert 0 < plan(Sweep.from_yaml(path)).samples <= MOST


@pytest.mark.parametrize("path", SIMULATIONS, ids=lambda path: path.stem)
def test_a_simulation_is_valid(path: Path) -> None:
    sweep = Sweep.from_yaml(path)
    assert sweep.simulation is not None
    assert plan(sweep).samples > 0


def test_every_robot_has_an_example() -> None:
    assert {Sweep.from_yaml(path).robot for path in SWEEPS} - OF_FILES == set(catalog.FAMILIES)


def part(path: Path, folder: Path) -> Sweep:
    """Return up to two designs of an example at 161 instants, as its filters need; its files are beside it."""
    designs = min(2, Sweep.from_yaml(path).design.size)
    content = YAML(typ="safe").load(path.read_text("utf-8"))
    content["time"] = {"stop": content["time"]["stop"], "samples": 161}
    content["subsets"] = {"part": {"design": {"stop": designs}}}
    (folder / "robots").mkdir()
    for file in (*path.parent.glob("*.csv"), *path.parent.glob("robots/*.yaml")):
        (folder / file.relative_to(path.parent)).write_bytes(file.read_bytes())
    with (folder / path.name).open("w", encoding="utf-8") as target:
        YAML(typ="safe").dump(content, target)
    (sweep,) = read_sweeps(folder / path.name, "part")
    return sweep


@pytest.mark.parametrize(
    "path",
    [pytest.param(path, id=path.stem, marks=[pytest.mark.slow] * (path.stem in LONG)) for path in [*SWEEPS, *STUDIES]],
)
def test_a_part_of_an_example_runs(path: Path, tmp_path: Path) -> None:
    sweep = part(path, tmp_path)
    results = run(sweep, None, ClusterConfig.of("synchronous"))
    assert results["worst_status"].size > 0
    assert (results["worst_status"] == Status.OK).any()
    for name in results.data_vars:
        assert results[name].notnull().any(), name


def test_the_figure_of_the_readme_is_drawn(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(part(EXAMPLES / "delta.yaml", tmp_path), tmp_path / "delta.zarr", ClusterConfig.of("synchronous"))
    spec = importlib.util.spec_from_file_location("plot_delta", EXAMPLES / "plot_delta.py")
    assert spec is not None
    assert spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    script.main(str(tmp_path / "delta.zarr"), str(tmp_path / "pictures" / "delta.png"), "50")
    assert (tmp_path / "pictures" / "delta.png").stat().st_size > 5000
    assert "wrote" in capsys.readouterr().out
