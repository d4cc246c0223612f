"""Searches in which the robot is a category: fronts, conditional parameters, going on, a robot that cannot."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from applications.commands.cli import cli
from applications.studies.factors import Choice, Continuous
from applications.studies.populations.asking import SearchSettings
from applications.studies.populations.methods import METHODS, ask_and_tell
from applications.studies.populations.search import FamilyOutcome, search_families
from applications.studies.populations.space import FamilySpace
from applications.studies.refinement import refine
from applications.studies.space import DesignSpace
from pipeline.errors import InputError
from pipeline.monitor.log import Event, Started
from pipeline.sweep.model import Sweep
from storage.errors import StoreError
from storage.store import open_results

pytest.importorskip("moocore")
pytest.importorskip("pymoo")

TEXT = """\
limbsweep: 1
robots:
  linear_delta:
    design:
      grid: {payload_mass: [0, 2]}
      sample:
        method: sobol
        count: 1
        seed: 1
        parameters: {rod_length: {low: 0.4, high: 0.7}, base_radius: {low: 0.25, high: 0.4}}
      where: [rod_length > 1.5 * base_radius]
  orthoglide:
    parameters: {rod_mass: 0.2}
    design:
      grid: {payload_mass: [0, 2]}
      sample: {method: sobol, count: 1, seed: 1, parameters: {rod_length: {low: 0.2, high: 0.4}}}
  delta_rl5_1450:
    design:
      grid: {payload_mass: [0, 2], gear_ratio: [40, 55]}
      sample: {method: sobol, count: 1, seed: 1, parameters: {upper_arm: {low: 0.2, high: 0.45}}}
trajectories:
  pick: {kind: quintic, start: [-0.06, 0, 0], end: [0.06, 0, 0.05], duration: 0.3}
time: {stop: 0.3, step: 0.1}
metrics: [energy, peak_power, condition]
study:
  objectives: ["min energy_sum, mean over cases", max dexterity]
  where: [condition < 5]
  cases: payload_mass
"""
TEXT = TEXT.replace("condition]\nstudy", "condition, dexterity]\nstudy")
ROBOTS = ("linear_delta", "orthoglide")


def sweeps_of(text: str = TEXT, robots: Sequence[str] = ROBOTS) -> list[Sweep]:
    return [Sweep.from_text(f"{text}robot: {name}\n") for name in robots]


def searched(folder: Path, generations: int = 2, **options: object) -> FamilyOutcome:
    return search_families(sweeps_of(), folder, **{"generations": generations, "population": 12, "seed": 3, **options})


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, FamilyOutcome]:
    folder = tmp_path_factory.mktemp("families") / "whole"
    return folder, searched(folder)


def test_the_front_is_that_of_all_stores_together(whole: tuple[Path, FamilyOutcome]) -> None:
    folder, outcome = whole
    rows = []
    for robot in ROBOTS:
        ds = open_results(folder / f"{robot}.zarr")
        assert ds.attrs["robot"] == robot
        cases = {name: ds[name].values.reshape(-1, 2) for name in ("payload_mass",)}
        assert (cases["payload_mass"] == [0, 2]).all()
        energy = ds["energy"].sum("actuator").values.reshape(-1, 2).mean(axis=1)
        dexterity = ds["dexterity"].values.reshape(-1, 2).min(axis=1)
        usable = (ds["failed_samples"].values.reshape(-1, 2) == 0).all(axis=1)
        usable &= (ds["condition"].values.reshape(-1, 2) < 5).all(axis=1)
        if robot == "linear_delta":
            usable &= (ds["rod_length"].values > 1.5 * ds["base_radius"].values).reshape(-1, 2).all(axis=1)
        rows += [(robot, k, e, d) for k, (e, d) in enumerate(zip(energy, dexterity, strict=True)) if usable[k]]
    beaten = [any(o[2] <= r[2] and o[3] >= r[3] and o[2:] != r[2:] for o in rows) for r in rows]
    expected = {row[:2] for row, worse in zip(rows, beaten, strict=True) if not worse}
    assert {(outcome.robots[k], int(outcome.numbers[k])) for k in outcome.front} == expected
    assert len(outcome.robots) == len(outcome.costs) == 24
    assert outcome.feasible.sum() == len(rows) < 24
    assert [share.designs for share in outcome.shares] == [outcome.robots.count(robot) for robot in ROBOTS]
    best = outcome.design(int(outcome.front[0]))
    assert outcome.costs[outcome.front[0], 0] == min(row[2] for row in rows)
    assert best.keys() - {"robot"} <= set(FamilySpace.of(sweeps_of()).spaces[str(best["robot"])].names)


def test_a_store_of_a_family_is_read_and_refined_as_any_other(
    whole: tuple[Path, FamilyOutcome], tmp_path: Path
) -> None:
    ds = open_results(whole[0] / "orthoglide.zarr")
    assert (ds["rod_length"].values >= 0.2).all()
    again = refine(ds, [0, 2], tmp_path / "next.yaml", count=4)
    assert (again.robot, again.fixed) == ("orthoglide", {"rod_mass": 0.2})


class _StoppedError(Exception):
    pass


def test_a_search_that_ends_between_two_stores_goes_on_to_the_same_front(
    whole: tuple[Path, FamilyOutcome], tmp_path: Path
) -> None:
    begun: list[Event] = []

    def stop(last: int, event: Event) -> None:
        begun.extend([event] if isinstance(event, Started) else [])
        if isinstance(event, Started) and len(begun) == last:  # the other robot has this generation stored
            raise _StoppedError

    for last in (2, 5):
        with pytest.raises(_StoppedError):
            searched(tmp_path / "stopped", listeners=[functools.partial(stop, last)])
    outcome = searched(tmp_path / "stopped", listeners=[functools.partial(stop, 0)])
    assert len(begun) == 6
    assert np.array_equal(outcome.costs, whole[1].costs, equal_nan=True)
    assert np.array_equal(outcome.front, whole[1].front)
    assert outcome.robots == whole[1].robots


def test_stores_of_another_search_are_refused(whole: tuple[Path, FamilyOutcome]) -> None:
    with pytest.raises(StoreError, match="is not of this search"):
        searched(whole[0], seed=4)


SPACE = FamilySpace(
    (Choice(("robot",), np.arange(2.0)[:, None], ordered=False), *(Continuous(name, 0.0, 1.0) for name in "abc")),
    {
        "one": DesignSpace((Continuous("a", 0.0, 1.0),)),
        "two": DesignSpace((Continuous("b", 0.0, 1.0), Continuous("c", 0.0, 1.0))),
    },
)


@pytest.mark.parametrize("name", METHODS)
def test_methods_find_the_best_of_the_best_family(name: str) -> None:
    pytest.importorskip("optuna")
    pytest.importorskip("sklearn")

    def run(method: str) -> tuple[np.ndarray, float]:
        asker, asked, best = ask_and_tell(method, SearchSettings(SPACE, 2, 1, 16, 5)), [], np.inf
        for _ in range(3 if name == "gp" else 6):
            points = asker.ask()
            (first, one), (second, two) = SPACE.parts(points)
            assert sorted((*first, *second)) == list(range(len(points)))
            cost = np.empty(len(points))
            cost[first], cost[second] = 1.0 + one[:, 0], ((two - 0.7) ** 2).sum(axis=1)  # the second robot is better
            asker.tell(np.stack([cost, cost], axis=1), np.zeros((len(points), 1)))
            asked.append(points)
            best = min(best, cost.min())
            designs = np.where(SPACE.active(points), points, -1.0)
            assert len(np.unique(designs, axis=0)) == len(points)
        return np.concatenate(asked), best

    (points, best), (again, _) = run(name), run(name)
    assert np.array_equal(points, again)
    assert (points[:16, 0] == 0).any()
    assert name == "random" or best < run("random")[1]
    assert name == "random" or (points[-16:, 0] == 1).mean() > 0.6


def test_a_robot_that_cannot_do_the_task_is_told_with_its_reasons(tmp_path: Path) -> None:
    path = tmp_path / "robots.yaml"
    text = TEXT[: TEXT.index("  delta_rl5")] + TEXT[TEXT.index("trajectories:") :]
    path.write_text(text.replace("low: 0.2, high: 0.4}", "low: 0.05, high: 0.055}"), encoding="utf-8")
    command = ["study", "search", str(path), "--store", str(tmp_path / "found"), "--generations", "1"]
    result = CliRunner().invoke(cli, [*command, "--population", "8", "--where", "condition < 5"])
    assert result.exit_code == 0, result.output
    lines = result.output.splitlines()
    (said,) = (line for line in lines if line.startswith("orthoglide: none of "))
    assert said.endswith(f"can do the task: failed samples by {said.split()[3]}")
    assert any(line.startswith("robot") and "rod_length [m]" in line for line in lines)
    assert any(line.startswith("linear_delta  ") for line in lines)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("min energy_sum", "min peak_frce", "a metric of this file"),
        ("min energy_sum", "min peak_force", "peak_force in N for linear_delta, in N m for delta_rl5_1450; expected"),
    ],
)
def test_robots_that_cannot_be_compared_are_refused(old: str, new: str, message: str, tmp_path: Path) -> None:
    text = TEXT.replace(old, new).replace("metrics: [", "metrics: [peak_force, ")
    with pytest.raises(InputError, match=message):
        search_families(sweeps_of(text, (*ROBOTS, "delta_rl5_1450")), tmp_path / "none", generations=1, population=4)
    assert not (tmp_path / "none").exists()
    with pytest.raises(InputError, match="got linear_delta; expected two robots or more, each once"):
        search_families(sweeps_of()[:1], tmp_path / "none")
