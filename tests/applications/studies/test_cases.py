"""Operating cases: designs that carry all of them, against plain loops over the stored numbers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from click.testing import CliRunner

import applications.report.registered  # noqa: F401 - which xarray loads by itself where limbsweep is installed
from applications.commands.cli import cli
from applications.studies.cases import by_cases
from applications.studies.columns import column, feasible, objective, value_of
from applications.studies.optimisation import optimise
from applications.studies.problem import DesignProblem
from applications.studies.stored_factors import varied_numbers
from pipeline.cluster.connection import ClusterConfig
from pipeline.documents.dataset_names import STORED
from pipeline.errors import InputError
from pipeline.execution.run import run
from pipeline.sweep.model import Sweep
from pipeline.sweep.question.question import split_objective
from pipeline.sweep.question.reader import stored_question

TEXT = """\
limbsweep: 1
title: payloads
robot: delta_rl5_1450
design:
  grid:
    payload_mass: [0.0, 2.0, 5.0]
    upper_arm: [0.3, 0.35, 0.4]
    gear_ratio: [40, 60]
trajectories:
  pick: {kind: quintic, start: [-0.15, 0, 0], end: [0.15, 0, 0.05], duration: 0.3}
time: {stop: 0.3, step: 0.05}
metrics: [peak_force, rms_force, condition]
study:
  title: Which arm and gear carry up to 5 kg?
  objectives: min peak_force
  where: [condition < 20]
  cases: payload_mass
"""


@pytest.fixture(scope="module")
def ds(tmp_path_factory: pytest.TempPathFactory) -> xr.Dataset:
    return run(Sweep.from_text(TEXT), cluster=ClusterConfig.of("synchronous"))


def loops(ds: xr.Dataset, name: str) -> dict[tuple[float, float], list[float]]:
    """The values of a metric by arm and gear, in the order of payloads."""
    table: dict[tuple[float, float], list[float]] = {}
    worst = ds[name].max([dim for dim in ds[name].dims if dim != "design"]).values
    for place in np.argsort(ds["payload_mass"].values, kind="stable"):
        key = float(ds["upper_arm"][place]), float(ds["gear_ratio"][place])
        table.setdefault(key, []).append(float(worst[place]))
    return table


@pytest.mark.parametrize(
    ("over", "reduce"),
    [("", max), (", mean over cases", np.mean), (", quantile 0.5 over cases", np.median), (", min over cases", min)],
)
def test_a_design_counts_over_its_cases(ds: xr.Dataset, over: str, reduce) -> None:
    cased, table = by_cases(ds, ("payload_mass",)), loops(ds, "peak_force")
    assert dict(cased.sizes)["design"] == 6
    assert cased["payload_mass"].values.tolist() == [0.0, 2.0, 5.0]
    assert set(varied_numbers(cased)) == {"upper_arm", "gear_ratio"}
    values = value_of(cased, objective(f"min peak_force{over}"))
    for place in range(6):
        key = float(cased["upper_arm"][place]), float(cased["gear_ratio"][place])
        assert values[place] == pytest.approx(reduce(table[key]), rel=1e-12)
        for case, number in enumerate(cased[STORED].values[place]):
            assert float(ds["payload_mass"][number]) == cased["payload_mass"].values[case]
            assert (float(ds["upper_arm"][number]), float(ds["gear_ratio"][number])) == key


def test_a_payload_is_never_chosen(ds: xr.Dataset) -> None:
    cased, table = by_cases(ds, ("payload_mass",)), loops(ds, "peak_force")
    best = ds.limbsweep.best()
    key = float(best["upper_arm"]), float(best["gear_ratio"])
    assert max(table[key]) == min(max(values) for values in table.values())
    assert best["payload_mass"].values.tolist() == [0.0, 2.0, 5.0]
    # the least of all designs without cases is that of no payload
    alone = ds.limbsweep.best("peak_force", cases=())
    assert alone.sizes["case"] == 3  # an empty option leaves the question of the file
    limit = float(np.sort(column(cased, "peak_force"))[2])
    meets = feasible(cased, [f"peak_force <= {limit!r}"])
    assert meets.sum() == sum(max(values) <= limit for values in table.values())


def test_expressions_may_speak_of_cases(ds: xr.Dataset) -> None:
    cased, table = by_cases(ds, ("payload_mass",)), loops(ds, "peak_force")
    values = value_of(cased, objective("min peak_force / (1 + payload_mass)"))
    for place in range(6):
        key = float(cased["upper_arm"][place]), float(cased["gear_ratio"][place])
        expected = max(force / (1.0 + mass) for force, mass in zip(table[key], [0.0, 2.0, 5.0], strict=True))
        assert values[place] == pytest.approx(expected, rel=1e-12)


def test_designs_without_all_cases_are_left_out(ds: xr.Dataset) -> None:
    part = by_cases(ds.isel(design=slice(0, 17)), ("payload_mass",))
    assert (part.sizes["design"], part.attrs["designs_without_all_cases"]) == (5, 1)
    with pytest.raises(InputError, match="none of which has all 3 cases"):
        by_cases(ds.isel(design=[0, 7, 14]), ("payload_mass", "upper_arm"))
    with pytest.raises(InputError, match="got an operating case"):
        column(part, "payload_mass")
    with pytest.raises(InputError, match="Did you mean 'payload_mass'"):
        by_cases(ds, ("payload_mas",))


def test_texts_of_objectives() -> None:
    assert split_objective("min peak_force, mean over cases") == ("min", "peak_force", "mean")
    assert split_objective("max(a, b), quantile  0.9 over cases") == ("", "max(a, b)", "quantile 0.9")
    assert split_objective("max dexterity") == ("max", "dexterity", "worst")
    assert split_objective("min (100*(a-1)**2 + b) / c") == ("min", "(100*(a-1)**2 + b) / c", "worst")
    assert split_objective("max (a, b) + c")[0] == split_objective("min (min(a, b), c)")[0] == ""
    assert objective("min (max(a, b) - 1)").expression.names == ("a", "b")
    with pytest.raises(InputError, match="a quantile from 0 to 1"):
        objective("peak_force, quantile 9 over cases")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("cases: payload_mass", "cases: platform_mass", "expected a swept parameter, friction or trajectory"),
        ("min peak_force", "min peak_frce", "Did you mean 'peak_force'"),
        ("[condition < 20]", "[condition + 20]", "expected a condition"),
        ("title: Which", "tittle: Which", "tittle"),
    ],
)
def test_a_wrong_question_is_refused(old: str, new: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Sweep.from_text(TEXT.replace(old, new))


def test_a_question_changes_no_fingerprint(ds: xr.Dataset) -> None:
    plain = TEXT[: TEXT.index("study:")]
    assert Sweep.from_text(plain).fingerprint == Sweep.from_text(TEXT).fingerprint
    assert stored_question(ds.attrs).cases == ("payload_mass",)
    assert stored_question({"sweep": "study: ["}).cases == ()


@pytest.mark.parametrize(
    ("name", "over"), [("peak_force", "worst"), ("peak_force", "mean"), ("rms_force_mean", "worst")]
)
def test_a_search_over_cases_ends_no_worse_than_the_best_stored(ds: xr.Dataset, name: str, over) -> None:
    problem = DesignProblem.of(Sweep.from_text(TEXT), cases=("payload_mass",))
    assert problem.names == ("upper_arm", "gear_ratio")
    cased = by_cases(ds, ("payload_mass",))
    designs = np.stack([cased[key].values for key in problem.names], axis=1)
    by_case = problem.by_case(designs, (name,))[name]
    values = by_case.max(axis=1) if over == "worst" else by_case.mean(axis=1)
    text = name if over == "worst" else f"{name}, mean over cases"
    np.testing.assert_allclose(values, value_of(cased, objective(text)), rtol=1e-12)
    start = designs[np.argmax(values)]
    (best,) = optimise(problem, f"{name}, {over} over cases", start, ["condition <= 20"])
    assert best.feasible
    assert best.start == pytest.approx(values.max(), rel=1e-9)
    assert best.value <= values.min() * (1 + 1e-6)
    again = problem.by_case(np.array([list(best.design.values())]), (name,))[name][0]
    assert (again.max() if over == "worst" else again.mean()) == pytest.approx(best.value, rel=1e-9)


def test_the_command_line_takes_the_question_of_the_file(tmp_path: Path) -> None:
    store = tmp_path / "cases.zarr"
    run(Sweep.from_text(TEXT), store=store, cluster=ClusterConfig.of("synchronous"))

    def told(*arguments: str, status: int = 0) -> str:
        result = CliRunner().invoke(cli, ["study", *arguments])
        assert result.exit_code == status, result.output
        return result.output

    output = told("rank", str(store))
    assert "6 feasible designs of 6" in output
    assert "payload_mass" not in output
    payloads = told("interaction", str(store), "--of", "peak_force", "--between", "payload_mass", "gear_ratio")
    assert [line.split()[0] for line in payloads.splitlines()[1:4]] == ["0", "2", "5"]
    assert "got operating cases" in told("rank", str(store), "--refine", str(tmp_path / "next.yaml"), status=2)
    answer = told("optimise", str(store), "--starts", "1").splitlines()
    assert "payload_mass" not in answer[0]
    value, start = (float(cell) for cell in answer[1].split()[:2])
    assert value <= start
    assert "expected worst or mean over cases" in told(
        "optimise", str(store), "--objective", "peak_force, quantile 0.9 over cases", status=2
    )


SMALL = """\
limbsweep: 1
robot: five_bar
design: {grid: {proximal_length: [0.5, 0.55], payload_mass: [0.0, 1.0]}}
trajectories: {s: {kind: line_sine, amplitude: [0.05, 0, 0.04], period: 1.0}}
time: {stop: 0.3, step: 0.1}
outputs: [actuator_force]
metrics: [peak_force]
"""


def test_parameters_that_follow_from_a_case_belong_to_it() -> None:
    rules = "derive: {distal_length: 0.43 + 0.001 * payload_mass, base_half_width: 0.1 * proximal_length}"
    text = SMALL.replace("payload_mass: [0.0, 1.0]}}", f"payload_mass: [0.0, 1.0]}}, {rules}}}")
    made = by_cases(run(Sweep.from_text(text), cluster=ClusterConfig.of("synchronous")), ["payload_mass"])
    assert made["distal_length"].dims == ("design", "case")
    np.testing.assert_allclose(made["distal_length"].values, [[0.43, 0.431], [0.43, 0.431]])
    assert made["base_half_width"].dims == ("design",)
    assert made.sizes["design"] == made.sizes["case"] == 2
    assert varied_numbers(made) == ["proximal_length"]


def test_true_parameters_of_a_dataset_tell_no_designs_apart() -> None:
    text = f"{SMALL}split: {{validation: 0.3, test: 0.3}}\nseed: 1\n"
    made = by_cases(run(Sweep.from_text(text), cluster=ClusterConfig.of("synchronous")), ["payload_mass"])
    assert (made.sizes["design"], made.sizes["case"]) == (2, 2)
    assert made["true_platform_mass"].dims == ("design", "case")
    assert varied_numbers(made) == ["proximal_length"]
