"""Searches over populations: resumed, killed, compared with random ones, and refused."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from applications.commands.cli import cli
from applications.commands.declared import studies as commands
from applications.studies.columns import condition, feasible, objective
from applications.studies.factors import Choice, Continuous
from applications.studies.pareto import best_designs, front
from applications.studies.points import PointSpace
from applications.studies.populations.asking import SearchSettings
from applications.studies.populations.generations import GenerationStore, coarse_model
from applications.studies.populations.genes import Genome, Proposals
from applications.studies.populations.methods import METHODS, ask_and_tell, hypervolume
from applications.studies.populations.search import SearchOutcome, search
from applications.studies.populations.space import costs_and_violations
from applications.studies.problem import DesignProblem
from applications.studies.space import DesignSpace
from applications.studies.stored_factors import varied_numbers
from pipeline.errors import InputError
from pipeline.execution.run import compute
from pipeline.monitor.log import Event, Started
from pipeline.stores.verify import verify
from pipeline.sweep.model import Sweep
from storage.errors import StoreError
from storage.growth import FOLDER as GROWTH
from storage.manifest import MANIFEST, Manifest
from storage.store import open_results

pytest.importorskip("moocore")
pytest.importorskip("pymoo")

TEXT = """\
limbsweep: 1
title: search
robot: delta_rl5_1450_motors
design:
  grid:
    payload_mass: [0.0, 4.0]
    gear_ratio: [30, 40, 50]
  list:
    torque_constant: [0.32, 0.36, 0.45]
    resistance: [6.0, 4.0, 2.0]
  sample:
    method: sobol
    count: 2
    seed: 1
    parameters: {upper_arm: {low: 0.3, high: 0.45}, rod_length: {low: 0.9, high: 1.2}}
  where: [rod_length < 3.1 * upper_arm]
trajectories:
  pick: {kind: quintic, start: [-0.15, 0, 0], end: [0.15, 0, 0.05], duration: 0.3}
time: {stop: 0.3, step: 0.05}
metrics: [peak_force, electrical_energy, condition]
study:
  objectives: ["min electrical_energy, mean over cases", min peak_force]
  where: [condition < 4]
  cases: payload_mass
"""

SPACE = DesignSpace(
    (
        Continuous("a", 0.0, 1.0),
        Continuous("b", 0.0, 1.0),
        Choice(("c",), np.arange(3.0)[:, None], ordered=False),
        Choice(("d",), np.arange(5.0)[:, None], ordered=True),
    )
)


def found(path: Path, generations: int = 3, **options: object) -> SearchOutcome:
    return search(Sweep.from_text(TEXT), path, generations=generations, population=8, seed=2, **options)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, SearchOutcome]:
    path = tmp_path_factory.mktemp("search") / "whole.zarr"
    return path, found(path)


def test_a_store_of_a_search_is_read_as_any_other(whole: tuple[Path, SearchOutcome]) -> None:
    path, outcome = whole
    ds = open_results(path)
    assert ds.sizes["design"] == 3 * 8 * 2
    energy = ds["electrical_energy"].max([dim for dim in ds["electrical_energy"].dims if dim != "design"]).values
    assert np.array_equal(outcome.costs[:, 0], energy.reshape(-1, 2).mean(axis=1), equal_nan=True)
    # a design that breaks a condition of the section design is none of the feasible ones, in the store too
    ratio = ds["rod_length"].values / ds["upper_arm"].values
    assert (ratio.reshape(-1, 2)[outcome.feasible] < 3.1).all()
    assert (ratio >= 3.1).any()
    assert set(map(tuple, np.stack([ds["torque_constant"], ds["resistance"]], 1))) <= {(0.32, 6), (0.36, 4), (0.45, 2)}
    usable = feasible(outcome.designs, ["rod_length < 3.1 * upper_arm", "condition < 4"])
    assert np.array_equal(usable, outcome.feasible)
    assert 0 < usable.sum() < len(usable)
    on_front = front(np.where(usable[:, None], outcome.costs, np.nan))
    assert set(np.flatnonzero(on_front)) == set(outcome.front)
    volumes = [generation.hypervolume for generation in outcome.generations]
    assert volumes == sorted(volumes)
    told_by_command = CliRunner().invoke(cli, ["study", "pareto", str(path)])
    assert f"{len(outcome.front)} on the front, of {usable.sum()} feasible designs of 24" in told_by_command.output


class _StoppedError(Exception):
    pass


def test_a_search_that_is_interrupted_ends_with_the_same_front(
    whole: tuple[Path, SearchOutcome], tmp_path: Path
) -> None:
    begun = 0

    def stop(event: Event) -> None:
        nonlocal begun
        begun += isinstance(event, Started)
        if begun == 2:  # the second generation
            raise _StoppedError

    path = tmp_path / "stopped.zarr"
    with pytest.raises(_StoppedError):
        found(path, listeners=[stop])
    assert open_results(path).sizes["design"] == 16
    outcome = found(path)
    assert [generation.seconds > 0.0 for generation in outcome.generations] == [False, True, True]
    assert np.array_equal(outcome.costs, whole[1].costs, equal_nan=True)
    assert np.array_equal(outcome.front, whole[1].front)


def test_processes_go_on_from_what_is_stored(tmp_path: Path) -> None:
    pytest.importorskip("sklearn")
    sweep = Sweep.from_text(TEXT)
    first = search(sweep, tmp_path / "gp.zarr", method="gp", generations=2, population=4, seed=2)
    shutil.copytree(tmp_path / "gp.zarr", tmp_path / "again.zarr")
    ends = [
        search(sweep, tmp_path / name, method="gp", generations=3, population=4, seed=2)
        for name in ("gp.zarr", "again.zarr")
    ]
    assert np.array_equal(ends[0].costs, ends[1].costs, equal_nan=True)
    assert np.array_equal(first.costs, ends[0].costs[:8], equal_nan=True)
    points = np.array([[2, 1, 0.25, 1.0], [0, 0, 0.5, 2.0**-20]])
    space = DesignSpace.to_search(sweep)
    assert np.allclose(space.located(space.designs(points)), points, rtol=0.0, atol=1e-12)
    with pytest.raises(StoreError, match="is not of this search"):
        search(sweep, tmp_path / "gp.zarr", method="gp", generations=3, population=4, seed=3)


@pytest.mark.parametrize("name", METHODS)
def test_designs_whose_derived_parameters_are_out_of_bounds_are_never_asked_for(name: str) -> None:
    pytest.importorskip("optuna")
    pytest.importorskip("sklearn")
    text = TEXT.replace("where: [rod", "derive: {platform_mass: 1.05 - rod_length}\n  where: [rod_length < 1.04, rod")
    space = DesignSpace.to_search(Sweep.from_text(text))
    asker = ask_and_tell(name, SearchSettings(space, 2, 1, 8, 3))
    for _ in range(3):
        designs = space.designs(points := asker.ask())
        assert 0 < len(points) <= 8
        assert (designs["rod_length"] < 1.05).all()  # 1.2 at most without the rule
        asker.tell(np.stack([designs["rod_length"], designs["upper_arm"]], axis=1), np.full((len(points), 1), -1.0))


def test_rows_of_a_catalogue_are_points_in_the_space_of_their_numbers() -> None:
    torque = np.array([1.0, 10.0, 100.0, 10.0])
    rows = np.stack([np.arange(4.0), torque, 2.0 * torque, np.full(4, 7.0)], axis=1)
    motors = Choice(("motor", "torque", "current", "poles"), rows, ordered=False, texts=frozenset({"motor"}))
    assert np.allclose(
        motors.features, [[0.0], [0.5], [1.0], [0.5]]
    )  # by the logarithm; a copy and a constant say nothing
    names = Choice(("grease",), np.arange(3.0)[:, None], ordered=False, texts=frozenset({"grease"}))
    genome = Genome.of(PointSpace((motors, names)))
    assert [gene.kind for gene in genome.genes] == ["real", "name"]
    assert genome.points(np.array([[0.2, 2.0], [0.8, 0.0]])).tolist() == [[0, 2], [2, 0]]
    proposals = Proposals(genome)  # three motors that differ, times three greases
    new, kept = proposals.new(np.array([[0.0, 0.0]] * 12))
    assert len(new) == len(np.unique(new, axis=0)) == 9
    assert kept.tolist() == [True] * 9 + [False] * 3


@pytest.mark.parametrize("name", [name for name in METHODS if name not in ("nsga3", "random")])
def test_the_best_row_of_a_catalogue_is_found_by_its_numbers(name: str) -> None:
    pytest.importorskip("optuna")
    pytest.importorskip("sklearn")
    rows = np.random.default_rng(4).uniform(1.0, 10.0, (120, 3))
    cost = np.log(rows[:, 0] / 3.0) ** 2 + 0.1 * np.log(rows[:, 1] / 6.0) ** 2  # the third says nothing
    asker = ask_and_tell(name, SearchSettings(PointSpace((Choice(("a", "b", "c"), rows, ordered=False),)), 1, 1, 8, 3))
    seen: list[int] = []
    for _ in range(5):
        places = (points := asker.ask())[:, 0].astype(int)
        asker.tell(cost[places][:, None], np.full((len(points), 1), -1.0))
        seen += places.tolist()
    assert len(set(seen)) == len(seen)
    assert np.sort(cost)[:3].max() >= cost[seen].min()  # one of the three best of 120, with 40 designs


@pytest.mark.parametrize("step", ["before", "after"])
def test_files_of_an_append_that_was_killed_at_its_end_go(
    step: str, whole: tuple[Path, SearchOutcome], tmp_path: Path
) -> None:
    """Check a killed append: with the manifest in `.append` its last step is repeated, without it only files remain."""
    path = tmp_path / "copy.zarr"
    shutil.copytree(whole[0], path)
    shutil.copytree(path / "time", path / GROWTH / "time")
    if step == "before":
        for key in (MANIFEST, *Manifest.load(path).files):
            (path / GROWTH / key).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path / key, path / GROWTH / key)
    assert found(path).generations[-1].seconds == 0.0
    assert not (path / GROWTH).exists()
    assert verify(path).is_sound


def test_another_search_is_no_continuation(whole: tuple[Path, SearchOutcome]) -> None:
    sweep = Sweep.from_text(TEXT)
    for options in ({"seed": 3}, {"seed": 2, "method": "random"}, {"seed": 2, "population": 6}):
        with pytest.raises(StoreError, match="is not of this search"):
            search(sweep, whole[0], generations=3, **{"population": 8, **options})
    other = Sweep.from_text(TEXT.replace("step: 0.05", "step: 0.1"))
    with pytest.raises(StoreError, match="its sweep is another one"):
        search(other, whole[0], generations=3, population=8, seed=2)


@pytest.mark.slow
def test_a_search_that_is_killed_ends_with_the_same_front(whole: tuple[Path, SearchOutcome], tmp_path: Path) -> None:
    sweep, path = tmp_path / "sweep.yaml", tmp_path / "killed.zarr"
    sweep.write_text(TEXT, encoding="utf-8")
    command = [sys.executable, "-m", "limbsweep", "study", "search", str(sweep), "--store", str(path)]
    command += ["--generations", "3", "--population", "8", "--seed", "2"]
    for seconds in (0.3, 0.8, 0.2):
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True)
        with process:
            assert process.stdout is not None
            assert process.stdout.readline().startswith("generation 1")
            time.sleep(seconds)
            os.killpg(process.pid, signal.SIGKILL)
    outcome = found(path)
    assert np.array_equal(outcome.costs, whole[1].costs, equal_nan=True)
    assert np.array_equal(outcome.front, whole[1].front)


COARSE = TEXT + "subsets: {rough: {every: 2, precision: single}, same: {design: {stop: 1}}}\n"


@pytest.mark.parametrize("name", [name for name in METHODS if name != "nsga3"])
def test_a_coarse_model_selects_candidates_again_where_a_search_goes_on(name: str, tmp_path: Path) -> None:
    pytest.importorskip("optuna")
    pytest.importorskip("sklearn")
    options = {"method": name, "population": 4, "seed": 2, "coarse": "rough"}
    sweep = Sweep.from_text(COARSE)
    straight = search(sweep, tmp_path / "a.zarr", generations=2, **options)
    search(sweep, tmp_path / "b.zarr", generations=1, **options)
    again = search(sweep, tmp_path / "b.zarr", generations=2, **options)
    assert straight.costs.shape == (8, 2)
    assert np.array_equal(straight.costs, again.costs, equal_nan=True)
    assert open_results(tmp_path / "a.zarr").attrs["precision"] == "double"
    with pytest.raises(StoreError, match="is not of this search"):
        search(sweep, tmp_path / "a.zarr", generations=2, **{**options, "coarse": ""})


def test_candidates_are_those_that_the_coarse_model_finds_best(tmp_path: Path) -> None:
    sweep = Sweep.from_text(COARSE)
    question = sweep.question
    space = DesignSpace.to_search(sweep, question.cases)
    store = GenerationStore.at(sweep, space, question, tmp_path / "none.zarr")
    coarse = coarse_model(space, (store,), [objective(text) for text in question.objectives], "rough")
    seen: list[Sweep] = []
    points = space.random(np.random.default_rng(1), 12)
    costs, violations = coarse.at(points, lambda part: seen.append(part) or compute(part))
    assert seen[0].grid.samples == 4
    assert seen[0].precision == "single"
    assert len(seen[0].trajectories) == 1
    good = best_designs(costs, violations, 3)
    feasible_costs = np.where((violations <= 0.0).all(axis=1, keepdims=True), costs, np.nan)
    assert front(feasible_costs)[good[0]]
    whole_costs, _ = replace(coarse, stores=(store,)).at(points, compute)
    assert np.allclose(costs, whole_costs, rtol=0.3, equal_nan=True)
    assert not np.array_equal(costs, whole_costs, equal_nan=True)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("ruogh", "name of a subset of the sweep file. Did you mean 'rough'?"),
        ("same", "subset whose designs cost less"),
    ],
)
def test_a_subset_that_is_no_coarse_model_is_refused(name: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=re.escape(message)):
        search(Sweep.from_text(COARSE), tmp_path / "a.zarr", coarse=name)
    assert not (tmp_path / "a.zarr").exists()


@pytest.mark.parametrize("name", METHODS)
def test_methods_repeat_themselves_and_beat_random_points(name: str) -> None:
    pytest.importorskip("optuna")
    pytest.importorskip("sklearn")

    def run(method: str) -> tuple[np.ndarray, float]:
        asker, asked, volumes = ask_and_tell(method, SearchSettings(SPACE, 2, 2, 16, 5)), [], []
        for _ in range(3 if name == "gp" else 6):
            points = asker.ask()
            assert ((points >= 0) & (points <= [1, 1, 2, 4])).all()
            assert (points[:, 2:] == np.round(points[:, 2:])).all()
            costs = np.stack([points[:, 0] + points[:, 3], (1 - points[:, 0]) ** 2 + points[:, 2]], 1)
            violations = np.stack([np.zeros(len(points)), np.maximum(points[:, 1] - 0.1, 0)], 1)
            costs[0] = np.nan  # as of a design whose samples fail
            violations[0, 0] = 1.0
            asker.tell(costs, violations)
            asked.append(points)
            volumes.append(costs[(violations <= 0).all(axis=1)])
        return np.concatenate(asked), hypervolume(np.concatenate(volumes), np.array([5.0, 3.0]))

    (points, volume), (again, _) = run(name), run(name)
    assert np.array_equal(points, again)
    assert name == "random" or volume > run("random")[1]


def test_the_volume_of_some_boxes() -> None:
    # two boxes of 0.8 x 0.6 and 0.5 x 0.9 that share 0.5 x 0.6; a point beyond the reference adds nothing
    points = np.array([[0.2, 0.4], [0.5, 0.1], [2.0, 0.0], [np.nan, 0.0]])
    assert hypervolume(points, np.ones(2)) == pytest.approx(0.48 + 0.45 - 0.3, abs=1e-15)
    assert hypervolume(points[2:], np.ones(2)) == 0.0


def test_margins_have_the_sign_of_their_conditions() -> None:
    values = {"a": np.array([1.0, 2.0, 0.0, 5.0, -1.0]), "b": np.array([2.0, 1.0, 3.0, 9.0, -1.0])}
    for text in ("a < b", "a <= b and b < 3", "a > b or not b > 2", "a == b", "a != b", "1 < a < b"):
        read = condition(text)
        holds, margin = np.asarray(read(values)), np.asarray(read.margin(values))
        assert (holds[margin > 0]).all()
        assert (~holds[margin < 0]).all()
        assert (np.abs(margin) <= 1).all()
    assert condition("a < b").margin({"a": 1.0, "b": 3.0}) == 0.5


def test_designs_that_fail_violate_and_cost_nothing_that_is_compared(whole: tuple[Path, SearchOutcome]) -> None:
    ds = whole[1].designs.copy(deep=True)
    ds["failed_samples"].values[3, 1] = 2
    ds["peak_force"].values[4] = np.nan
    costs, violations = costs_and_violations(ds, [objective("peak_force")], ["condition < 4", "1 < 2", "2 < 1"])
    assert violations.shape == (24, 4)
    assert (violations[:, 2:] == [-1.0 / 3.0, 1.0 / 3.0]).all()  # by how much a condition is met, or broken
    assert violations[3, 0] == pytest.approx(2 / 3)
    assert violations[4, 0] == 1.0
    assert np.isnan(costs[4, 0])


def test_the_space_is_what_the_section_design_says() -> None:
    space = DesignSpace.to_search(Sweep.from_text(TEXT))
    assert space.names == ("gear_ratio", "torque_constant", "resistance", "upper_arm", "rod_length")
    assert space.case_count == 2
    table = space.table(np.array([[2, 1, 0.0, 1.0], [0, 0, 0.5, 0.5]]))
    assert table["gear_ratio"].tolist() == [50, 50, 30, 30]
    assert table["torque_constant"].tolist() == [0.36, 0.36, 0.32, 0.32]
    assert table["payload_mass"].tolist() == [0, 4, 0, 4]
    assert (table["upper_arm"][:2] == 0.3).all()
    assert (table["rod_length"][:2] == 1.2).all()


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("cases: payload_mass", "cases: upper_arm", "a case that is no parameter of the grid"),
        ("  where: [rod_length < 3.1 * upper_arm]", "  where: [rod_length < base_radius * 9]", "Write the value of"),
        ("min peak_force]", "min peak_force, min rms_force]", "a metric of this file"),
        ("mean over", "mean weighted by upper_arm over", "an operating case, by which cases are weighed"),
    ],
)
def test_what_cannot_be_searched_is_said(old: str, new: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=message):
        search(Sweep.from_text(TEXT.replace(old, new)), tmp_path / "none.zarr", generations=1, population=4)
    assert not (tmp_path / "none.zarr").exists()


def test_the_command_offers_all_methods() -> None:
    assert tuple(METHODS) == commands.METHODS


def test_the_command_prints_generations_and_the_front(tmp_path: Path) -> None:
    sweep, path = tmp_path / "sweep.yaml", tmp_path / "found.zarr"
    sweep.write_text(TEXT, encoding="utf-8")
    command = ["study", "search", str(sweep), "--store", str(path), "--generations", "1", "--population", "4"]
    result = CliRunner().invoke(cli, [*command, "--objective", "peak_force", "--method", "random"])
    assert result.exit_code == 0, result.output
    assert "generation 1: 4 designs" in result.output
    refused = CliRunner().invoke(cli, [*command, "--objective", "peak_force", "--method", "nsga3"])
    assert refused.exit_code == 2
    assert "nsga3 for one objective" in refused.output
    command[command.index(str(path))] = str(tmp_path / "other.zarr")
    refused = CliRunner().invoke(cli, [*command, "--objective", "peak_frce"])
    assert refused.exit_code == 2
    assert "Did you mean" in refused.output
    assert open_results(path).sizes["design"] == 8


def test_a_search_without_a_feasible_design_names_the_conditions_that_are_broken(tmp_path: Path) -> None:
    sweep = tmp_path / "sweep.yaml"
    sweep.write_text(TEXT.replace("condition < 4", "condition < 1"), encoding="utf-8")
    options = ["--store", str(tmp_path / "a.zarr"), "--generations", "1", "--population", "4"]
    told = CliRunner().invoke(cli, ["study", "search", str(sweep), *options])
    assert "none of 4 designs can do the task: " in told.output
    assert "'condition < 1' is broken by " in told.output


def test_labels_of_a_catalogue_are_columns_of_conditions(tmp_path: Path) -> None:
    rows = "torque_constant,resistance,rated_torque [N mm]\n0.32,6,500\n0.36,4,900\n0.45,2,1300\n"
    names = ["small, red", "B-36", "large"]
    named = ["motor," + rows.splitlines()[0]]
    named += [f'"{name}",{row}' for name, row in zip(names, rows.splitlines()[1:], strict=True)]
    (tmp_path / "motors.csv").write_text("\n".join(named), encoding="utf-8")
    listed = TEXT[TEXT.index("  list:") : TEXT.index("  sample:")]
    text = TEXT.replace(listed, "  file: motors.csv\n  labels: [rated_torque]\n")
    text = text.replace("[condition < 4]", "[condition < 4, peak_force < rated_torque]")
    texts = text.replace("[rated_torque]", "[motor, rated_torque]")
    sweep = Sweep.from_text(texts, folder=tmp_path)
    search(sweep, tmp_path / "l.zarr", generations=1, population=8, seed=2)
    outcome = search(sweep, tmp_path / "l.zarr", generations=2, population=8, seed=2)
    of = dict(zip([0.32, 0.36, 0.45], names, strict=True))
    assert outcome.designs["motor"].values.tolist() == [of[x] for x in outcome.designs["torque_constant"].values]
    assert open_results(tmp_path / "l.zarr")["motor"].dims == ("design",)
    assert Sweep.from_text(texts, folder=tmp_path).fingerprint == sweep.fingerprint
    for wrong, message in (
        ("", "an empty cell; expected a text"), ("36", "the number '36'; expected a text .* are no numbers"),
        ("B-37", ""),
    ):  # fmt: skip
        (tmp_path / "motors.csv").write_text("\n".join(named).replace("B-36", wrong), encoding="utf-8")
        if message:
            with pytest.raises(InputError, match=message):
                Sweep.from_text(texts, folder=tmp_path)
        else:
            assert Sweep.from_text(texts, folder=tmp_path).fingerprint != sweep.fingerprint
    (tmp_path / "motors.csv").write_text("\n".join(named), encoding="utf-8")
    with pytest.raises(InputError, match="got 5 cells; expected 4"):
        Sweep.from_text(text, folder=tmp_path)  # texts are no parameters
    (tmp_path / "motors.csv").write_text(rows, encoding="utf-8")
    rated = {0.32: 0.5, 0.36: 0.9, 0.45: 1.3}
    constants = outcome.designs["torque_constant"].values
    assert outcome.designs["rated_torque"].values == pytest.approx([rated[value] for value in constants])
    force = outcome.designs["peak_force"].max([d for d in outcome.designs["peak_force"].dims if d != "design"]).values
    meets = np.array([f < rated[c] for f, c in zip(force, constants, strict=True)])
    assert (meets[outcome.feasible]).all()
    assert not meets.all()
    assert "rated_torque" not in varied_numbers(outcome.designs)
    sweep = Sweep.from_text(text, folder=tmp_path)
    assert "rated_torque" not in DesignProblem.of(sweep, cases=["payload_mass"]).names
    for label, message in (
        ("resistance", "the parameter resistance"), ("peak_force", "that no output or metric has"),
        ("Time", "got 'Time'; expected a name .* that no output or metric has, nor a dim"),
        ("Coulomb", "got 'Coulomb'; expected a name that no other swept quantity has"),
    ):  # fmt: skip
        changed = text.replace("[rated_torque]", f"[{label}]")
        changed += "friction: {law: coulomb_viscous, grid: {coulomb: [0.1, 0.2]}}\n"
        (tmp_path / "motors.csv").write_text(rows.replace("rated_torque [N mm]", label), encoding="utf-8")
        if label == "resistance":
            (tmp_path / "motors.csv").write_text(rows, encoding="utf-8")
        with pytest.raises(InputError, match=message):
            Sweep.from_text(changed, folder=tmp_path)
    (tmp_path / "motors.csv").write_text(rows.replace("N mm", "kgf m"), encoding="utf-8")
    with pytest.raises(InputError, match="the unit 'kgf m' of the column rated_torque; expected a known unit"):
        Sweep.from_text(text, folder=tmp_path)
