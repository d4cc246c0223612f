"""The design space: what a user varied is a factor, what follows from it is not, wherever factors are asked for."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from applications.commands.cli import cli
from applications.studies.axes import by_design
from applications.studies.columns import column, objective, value_of
from applications.studies.optimisation import optimise, value_with_rates
from applications.studies.problem import DesignProblem
from applications.studies.refinement import refine
from applications.studies.space import DesignSpace
from applications.studies.stored_factors import varied_numbers
from pipeline.errors import InputError
from pipeline.execution.run import compute, run
from pipeline.sweep.model import Sweep
from storage import open_results
from tests.pipeline.runs import SYNCHRONOUS

TRAJECTORY = """\
trajectories: {c: {kind: circle, radius: 0.05, normal: [0, 1, 0], period: 0.5}}
time: {stop: 0.5, samples: 11}
metrics: [peak_force, rms_force, energy]
"""
DERIVED = f"""\
limbsweep: 1
robot: five_bar
design:
  grid: {{proximal_length: [0.5, 0.52, 0.54, 0.56], distal_length: [0.46, 0.49, 0.52, 0.54]}}
  derive:
    proximal_mass: 12 * proximal_length ** 2
    distal_mass: proximal_mass / 2 + distal_length
  where: proximal_length + distal_length > 1
{TRAJECTORY}"""
MOTORS = {
    "payload_mass": [0.1, 0.2, 0.35],
    "platform_mass": [0.1, 0.15, 0.3],
}
CATALOGUE = f"""\
limbsweep: 1
robot: five_bar
design:
  grid: {{proximal_length: [0.5, 0.53, 0.56], distal_length: [0.46, 0.5, 0.54]}}
  list: {{payload_mass: {MOTORS["payload_mass"]}, platform_mass: {MOTORS["platform_mass"]}}}
{TRAJECTORY}"""


def masses(proximal: float, distal: float) -> tuple[float, float]:
    """Both derived masses, by hand."""
    return 12 * proximal**2, 6 * proximal**2 + distal


@pytest.fixture(scope="module")
def derived(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("derived") / "s.zarr"
    run(Sweep.from_text(DERIVED), path, SYNCHRONOUS)
    return path


@pytest.fixture(scope="module")
def catalogue(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("catalogue") / "s.zarr"
    run(Sweep.from_text(CATALOGUE), path, SYNCHRONOUS)
    return path


def said(*words: object, status: int = 0) -> str:
    result = CliRunner().invoke(cli, ["study", *map(str, words)])
    assert result.exit_code == status, result.output
    return result.output


def rows_of(file: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(file.read_text(encoding="utf-8").splitlines()))


def built(proximal: float, distal: float, text: str = DERIVED) -> float:
    """The peak force of one design, by a sweep of its own in which nothing is derived."""
    head, _ = text.split("design:")
    proximal, distal = float(proximal), float(distal)
    first, second = masses(proximal, distal)
    design = "parameters: {" + f"proximal_length: {proximal!r}, distal_length: {distal!r}, "
    design += f"proximal_mass: {first!r}, distal_mass: {second!r}" + "}\n"
    return float(run(Sweep.from_text(head + design + TRAJECTORY), cluster=SYNCHRONOUS)["peak_force"].max())


def test_derived_parameters_are_no_factors(derived: Path) -> None:
    for space in (DesignSpace.of(Sweep.from_text(DERIVED)), DesignSpace.of_dataset(open_results(derived))):
        assert [factor.name for factor in space.varied()] == ["proximal_length", "distal_length"]
        assert set(space.of_kind("derived")) == {"proximal_mass", "distal_mass"}
        assert not space.assumption
    assert DesignProblem.of(Sweep.from_text(DERIVED)).names == ("proximal_length", "distal_length")
    with pytest.raises(InputError, match="proximal_mass, which follows as 12 \\* proximal_length"):
        DesignProblem.of(Sweep.from_text(DERIVED), {"proximal_mass": (1.0, 2.0)})
    with pytest.raises(InputError, match="which follows as"):
        DesignProblem.of(Sweep.from_text(DERIVED)).at({"distal_mass": 1.0})


def test_a_problem_derives_again_for_every_point(derived: Path) -> None:
    problem = DesignProblem.of(Sweep.from_text(DERIVED))
    at = np.array([[0.51, 0.52], [0.545, 0.5]])
    table = problem.table(at)
    for k, point in enumerate(at):
        assert (table["proximal_mass"][k], table["distal_mass"][k]) == pytest.approx(masses(*point), rel=1e-15)
        assert problem.objective(at, objective("peak_force"))[k] == pytest.approx(built(*point), rel=1e-12)
    ds = open_results(derived)
    stored = np.stack([ds[name].values for name in problem.names], axis=1)
    np.testing.assert_array_equal(problem.objective(stored, objective("peak_force")), column(ds, "peak_force"))


@pytest.mark.parametrize("text", ["peak_force", "peak_force / proximal_mass", "sqrt(rms_force_mean) * distal_length"])
def test_derivatives_go_through_the_rules(text: str) -> None:
    problem, at = DesignProblem.of(Sweep.from_text(DERIVED)), np.array([0.512, 0.523])
    value, rates = value_with_rates(problem, objective(text), at)
    assert value == pytest.approx(problem.objective(at, objective(text)).item(), rel=1e-12)
    for k, step in enumerate(1e-5 * np.eye(2)):
        ahead, behind = (problem.objective(at + sign * step, objective(text)).item() for sign in (1.0, -1.0))
        assert rates[k] == pytest.approx((ahead - behind) / 2e-5, rel=1e-7)


def test_optimised_designs_are_what_they_say(derived: Path, tmp_path: Path) -> None:
    said("optimise", derived, "--objective", "peak_force", "--starts", 2, "--csv", tmp_path / "o.csv")
    for row in rows_of(tmp_path / "o.csv"):
        proximal, distal = float(row["proximal_length"]), float(row["distal_length"])
        expected = masses(proximal, distal)
        assert (float(row["proximal_mass"]), float(row["distal_mass"])) == pytest.approx(expected, rel=1e-5)
        assert float(row["peak_force"]) == pytest.approx(built(proximal, distal), rel=1e-4)
        assert row["conditions"] == "hold"
        assert proximal + distal >= 1.0 - 1e-6
    problem = DesignProblem.of(Sweep.from_text(DERIVED))
    (best, *_) = optimise(problem, "peak_force", np.array([[0.53, 0.5]]))
    assert best.feasible
    assert best.design["proximal_length"] + best.design["distal_length"] > 1.0
    grid = np.stack(np.meshgrid(*(np.linspace(*problem.bounds[name], 9) for name in problem.names)), axis=-1)
    points = grid.reshape(-1, 2)
    points = points[problem.admissible(points)]
    assert best.value <= problem.objective(points, objective("peak_force")).min() * (1 + 1e-6)


def test_an_expression_is_optimised_as_a_grid_says(derived: Path) -> None:
    problem = DesignProblem.of(Sweep.from_text(DERIVED))
    points = np.stack(np.meshgrid(*(np.linspace(*problem.bounds[n], 9) for n in problem.names)), -1).reshape(-1, 2)
    points = points[problem.admissible(points)]
    for text in (
        "peak_force / distal_length",
        "max energy_sum * proximal_length - peak_force",
        "rms_force_sum + peak_force",
    ):
        wanted = objective(text)
        for where in ((), ("peak_force < 60 and distal_length <= 0.53",)):
            found = optimise(problem, wanted, np.array([[0.53, 0.5]]), where)[0]
            here = np.array([list(found.design.values())])
            assert problem.objective(here, wanted).item() == pytest.approx(found.value, rel=1e-9)
            values = wanted.sign * problem.objective(points, wanted)
            met = problem.values(points, ["peak_force"])["peak_force"] < 60 if where else np.ones(len(points), bool)
            met &= (points[:, 1] <= 0.53) if where else True
            assert found.feasible
            assert wanted.sign * found.value <= values[met].min() + 1e-5 * abs(values[met].min()), text
    text = said("optimise", derived, "--objective", "max energy_sum * proximal_length", "--starts", 1)
    assert "evaluations" in text


@pytest.mark.parametrize("command", ["sensitivity", "one-at-a-time", "sobol", "morris", "rank"])
def test_no_table_has_what_is_derived(command: str, derived: Path) -> None:
    option = "--objective" if command == "rank" else "--of"
    more = {"sobol": ("--count", 4), "morris": ("--count", 2)}.get(command, ())
    text = said(command, derived, option, "peak_force", *more)
    assert "proximal_length" in text
    assert "_mass" not in text


def test_a_refined_sweep_and_a_grid_leave_the_rules_alone(derived: Path, tmp_path: Path) -> None:
    ds = open_results(derived)
    sweep = refine(ds, [3, 4], tmp_path / "next.yaml", count=8)
    first = {name: float(values[0]) for name, values in sweep.designs(0, 1).items()}
    assert first["proximal_mass"] == pytest.approx(12 * first["proximal_length"] ** 2, rel=1e-15)
    assert varied_numbers(by_design(ds)) == ["proximal_length", "distal_length"]


def test_a_derived_parameter_stays_within_its_bounds() -> None:
    text = DERIVED.replace("12 * proximal_length ** 2", "20 * (proximal_length - 0.499)").replace("  where", "  #")
    problem = DesignProblem.of(Sweep.from_text(text), {"proximal_length": (0.46, 0.56)})
    assert problem.admissible(np.array([[0.49], [0.5]])).tolist() == [False, True]
    assert np.isnan(problem.objective(np.array([[0.49], [0.5]]), objective("peak_force"))).tolist() == [True, False]
    best = optimise(problem, "energy_sum", np.array([[0.55]]))[0]
    assert best.feasible
    assert problem.table(np.array([list(best.design.values())]))["proximal_mass"][0] >= 1e-6


def test_a_row_of_a_table_is_one_factor(catalogue: Path, tmp_path: Path) -> None:
    ds, name = open_results(catalogue), "payload_mass, platform_mass"
    for space in (DesignSpace.of(Sweep.from_text(CATALOGUE)), DesignSpace.of_dataset(ds)):
        assert [(f.name, f.kind) for f in space.varied()] == [
            *(("proximal_length", "free"), ("distal_length", "free")),
            (name, "category"),
        ]
    columns = DesignSpace.of_dataset(ds).columns_of(ds)
    assert [len(np.unique(values)) for values in columns.values()] == [3, 3, 3]
    problem = DesignProblem.of(Sweep.from_text(CATALOGUE))
    assert problem.bounds[name] == (0.0, 3.0)
    points = np.stack([*problem.space.coordinates({str(k): v.values for k, v in ds.coords.items()}).values()], axis=1)
    np.testing.assert_array_equal(problem.objective(points, objective("peak_force")), column(ds, "peak_force"))
    for command in ("sensitivity", "one-at-a-time", "sobol", "morris"):
        more = {"sobol": ("--count", 8), "morris": ("--count", 2)}.get(command, ())
        lines = said(command, catalogue, "--of", "peak_force", *more).splitlines()
        assert sum(line.startswith(("proximal", "distal", "payload", "platform")) for line in lines) == 3
    said("optimise", catalogue, "--objective", "peak_force", "--csv", tmp_path / "o.csv")
    for row in rows_of(tmp_path / "o.csv"):
        pair = float(row["payload_mass"]), float(row["platform_mass"])
        assert pair in zip(*MOTORS.values(), strict=True)
    with pytest.raises(InputError, match="rows of a table, which have no derivatives"):
        optimise(problem, "peak_force", np.array([[0.53, 0.5, 1.0]]))
    following = refine(ds, [0, 1, 2], tmp_path / "next.yaml", count=4)
    values = following.designs(0, following.design.size)
    pairs = set(zip(values["payload_mass"].tolist(), values["platform_mass"].tolist(), strict=True))
    assert pairs <= set(zip(*MOTORS.values(), strict=True))


def test_a_list_of_designs_has_its_columns_as_factors() -> None:
    draws = np.random.default_rng(1).uniform(0.5, 0.56, (2, 40))
    lists = {"proximal_length": draws[0].tolist(), "distal_length": draws[1].tolist()}
    lists |= {"payload_mass": [0.0, 0.1] * 20, "platform_mass": [0.1, 0.3] * 20}
    head, _ = CATALOGUE.split("design:")
    text = f"{head}design: {{list: {lists}}}\n{TRAJECTORY}"
    ds = run(Sweep.from_text(text), cluster=SYNCHRONOUS)
    expected = [("proximal_length", "free"), ("distal_length", "free"), ("payload_mass, platform_mass", "category")]
    for space in (DesignSpace.of(Sweep.from_text(text)).with_columns(), DesignSpace.of_dataset(ds)):
        assert [(f.name, f.kind) for f in space.varied()] == expected
    unread = ds.assign_attrs(sweep="robot: [")
    space = DesignSpace.of_dataset(unread)
    assert sorted((f.name, f.kind) for f in space.varied()) == sorted(expected)
    assert "cannot be read" in space.assumption
    assert value_of(unread, "peak_force").shape == (40,)


FRICTION = f"""\
limbsweep: 1
robot: five_bar
design: {{grid: {{proximal_length: [0.5, 0.53, 0.56]}}}}
friction:
  law: coulomb_viscous
  joints: actuated
  grid: {{viscous: [0.0, 0.2, 0.4, 0.6], coulomb: [0.0, 1.0, 2.0, 4.0]}}
{TRAJECTORY}"""


def test_friction_sets_are_in_tables_and_their_parameters_are_factors(tmp_path: Path) -> None:
    ds = run(Sweep.from_text(FRICTION), tmp_path / "s.zarr", SYNCHRONOUS).load()
    each = ds["peak_force"].max(["trajectory", "actuator"]).values
    text = said("rank", tmp_path / "s.zarr", "--objective", "peak_force")
    assert text.splitlines()[-1] == "3 feasible designs of 3, each by the worst of 16 friction sets"
    assert float(text.splitlines()[1].split()[2]) == pytest.approx(each.max(axis=1).min(), rel=1e-5)
    text = said("rank", tmp_path / "s.zarr", "--objective", "max peak_force", "--friction", "--csv", tmp_path / "r.csv")
    assert text.splitlines()[-1].endswith("48: 3 designs under 16 friction sets each")
    rows = rows_of(tmp_path / "r.csv")
    assert len(rows) == each.size == 48
    for row in rows:
        place = int(row["design"]), int(row["friction set"])
        assert float(row["peak_force [N m]"]) == pytest.approx(each[place], rel=1e-5)
        coulomb = next(float(value) for name, value in row.items() if name.startswith("coulomb"))
        assert coulomb == ds["coulomb"].values[place[1]]
    lines = said("sensitivity", tmp_path / "s.zarr", "--of", "energy").splitlines()
    assert {line.split()[0] for line in lines[1:4]} == {"proximal_length", "viscous", "coulomb"}
    assert "on the front" in said("pareto", tmp_path / "s.zarr", "--objective", "peak_force", "--friction")
    refused = said(
        "rank", tmp_path / "s.zarr", "--objective", "peak_force", "--friction", "--refine", "n.yaml", status=2
    )
    assert "got friction sets apart" in refused
    cased = said("rank", tmp_path / "s.zarr", "--objective", "peak_force, mean over cases", "--cases", "friction")
    assert float(cased.splitlines()[1].split()[2]) == pytest.approx(each.mean(axis=1).min(), rel=1e-5)


def test_friction_sets_of_one_design_are_what_is_ranked(tmp_path: Path) -> None:
    text = FRICTION.replace("design: {grid: {proximal_length: [0.5, 0.53, 0.56]}}\n", "")
    run(Sweep.from_text(text), tmp_path / "s.zarr", SYNCHRONOUS)
    last = said("rank", tmp_path / "s.zarr", "--objective", "energy").splitlines()[-1]
    assert last == "16 feasible designs of 16: one design under 16 friction sets"
    last = said("one-at-a-time", tmp_path / "s.zarr", "--of", "max energy", "--parts", 2).splitlines()[-1]
    assert last.endswith("at the base, design 0 under friction set 15")


def test_friction_with_a_state_has_slopes_by_differences() -> None:
    law = "law: lugre, joints: actuated, parameters: {static: 1.4, sigma0: 200.0, sigma1: 0.5, stribeck_velocity: 0.1}"
    sweep = Sweep.from_text(
        "limbsweep: 1\nrobot: five_bar\ndesign: {grid: {proximal_length: [0.5, 0.55]}}\n"
        f"friction: {{{law}, grid: {{coulomb: [0.8, 1.2]}}}}\n"
        "trajectories: {go: {kind: line_sine, amplitude: [0.05, 0, 0.03], period: 1.0}}\n"
        "time: {stop: 0.3, step: 0.01}\nmetrics: [rms_force]\n"
    )
    problem = DesignProblem.of(sweep, friction=True)
    here = np.array([0.52, 1.0])
    slopes = problem.rates(here, ["rms_force"])["rms_force"][1]
    for k, step in enumerate(1e-3 * np.eye(2)):
        ends = [problem.rates(here + side * step, ["rms_force"])["rms_force"][0] for side in (-1, 1)]
        np.testing.assert_allclose(slopes[:, k], (ends[1] - ends[0]) / 2e-3, rtol=1e-3)
    (best,) = optimise(problem, "rms_force", here[None])
    assert best.value < best.start


def test_friction_varies_in_problems_as_designs_do(tmp_path: Path) -> None:
    sweep = Sweep.from_text(FRICTION)
    ds = by_design(run(sweep, tmp_path / "s.zarr", SYNCHRONOUS), friction=True).load()
    problem = DesignProblem.of(sweep, friction=True)
    assert problem.names == ("proximal_length", "viscous", "coulomb")
    shuffled = np.random.default_rng(3).permutation(ds.sizes["design"])
    points = np.stack([ds[name].values[shuffled] for name in problem.names], axis=1)
    for text in ("peak_force", "energy_sum - 0.1 * coulomb"):
        expected = value_of(ds, text)[shuffled]
        np.testing.assert_allclose(problem.objective(points, objective(text)), expected, rtol=1e-14)
    assert DesignProblem.of(sweep).names == ("proximal_length",)
    alone = DesignProblem.of(sweep, {"viscous": (0.0, 1.0)})
    rising = alone.objective(np.linspace(0.0, 1.0, 4)[:, None], objective("energy_sum"))
    assert (np.diff(rising) > 0.0).all()
    assert optimise(alone, "energy_sum", np.array([[0.5]]))[0].design["viscous"] == pytest.approx(0.0, abs=1e-9)
    here, step = points[:1].T.ravel(), 1e-4
    slopes = problem.rates(here, ["rms_force"])["rms_force"][1]
    for k, unit in enumerate(np.eye(3)):
        ends = [problem.rates(here + side * step * unit, ["rms_force"])["rms_force"][0] for side in (-1, 1)]
        np.testing.assert_allclose(slopes[:, k], (ends[1] - ends[0]) / (2 * step), rtol=1e-6, atol=1e-8)
    for command, more in (("sobol", ("--count", 4)), ("morris", ("--count", 2)), ("one-at-a-time", ("--parts", 3))):
        text = said(command, tmp_path / "s.zarr", "--of", "energy", *more)
        assert {"proximal_length", "viscous", "coulomb"} <= {line.split()[0] for line in text.splitlines()[1:]}
    assert "under its first friction set" in text
    assert "evaluations" in said("optimise", tmp_path / "s.zarr", "--objective", "peak_force", "--starts", 1)


def test_labels_stay_with_their_row_in_an_optimum(tmp_path: Path) -> None:
    """A row fixes what is no parameter too: a text, and a number that conditions may use."""
    (tmp_path / "sizes.csv").write_text("size,price,proximal_length\nS,10,0.5\nL,20,0.53\n", encoding="utf-8")
    design = "design: {file: sizes.csv, labels: [size, price], grid: {distal_length: [0.5, 0.53]}}"
    text = f"limbsweep: 1\nrobot: five_bar\n{design}\n{TRAJECTORY}"
    problem = DesignProblem.of(Sweep.from_text(text, folder=tmp_path))
    assert problem.rows_of_tables == ("size",)
    large = problem.at({"size": 1.0})
    assert large.first_parameters["price"] == 20.0
    (best,) = optimise(large, "peak_force / price", np.array([[0.5]]))
    alone = text.replace("distal_length: [0.5, 0.53]", f"distal_length: [{best.design['distal_length']!r}]")
    peak = column(compute(Sweep.from_text(alone, folder=tmp_path)), "peak_force")[1]
    assert best.value == pytest.approx(peak / 20.0, rel=1e-6)


def test_a_table_has_the_same_name_in_a_sweep_and_in_its_store(tmp_path: Path) -> None:
    """Opened stores sort coordinates by name; a table without label is called by its columns, as they are written."""
    rows = "list: {proximal_length: [0.5, 0.53], distal_length: [0.5, 0.52]}"
    sweep = Sweep.from_text(f"limbsweep: 1\nrobot: five_bar\ndesign: {{{rows}}}\n{TRAJECTORY}")
    made, opened = run(sweep, tmp_path / "s.zarr", SYNCHRONOUS), open_results(tmp_path / "s.zarr")
    for space in (DesignSpace.of(sweep), DesignSpace.of_dataset(made), DesignSpace.of_dataset(opened)):
        assert [factor.name for factor in space.varied()] == ["proximal_length, distal_length"]


def test_a_table_of_designs_under_all_cases_has_the_derivatives_of_a_grid() -> None:
    lengths = [0.5, 0.52, 0.56]
    rows = [(length, payload) for length in lengths for payload in (0.0, 1.0)]
    columns = ", ".join(
        f"{name}: {list(x)}"
        for name, x in zip(("proximal_length", "payload_mass"), zip(*rows, strict=True), strict=True)
    )
    text = f"limbsweep: 1\nrobot: five_bar\ndesign: {{list: {{{columns}}}}}\n{TRAJECTORY}"
    grid = text.replace(f"list: {{{columns}}}", f"grid: {{proximal_length: {lengths}, payload_mass: [0.0, 1.0]}}")
    target, best = objective("min peak_force"), []
    for each in (text, grid):
        problem = DesignProblem.of(Sweep.from_text(each), cases=["payload_mass"])
        assert problem.bounds == {"proximal_length": (0.5, 0.56)}
        assert problem.case_count == 2
        best.append(value_with_rates(problem, target, np.array([0.53])))
    assert best[0][0] == best[1][0]
    assert np.array_equal(best[0][1], best[1][1])
    broken = Sweep.from_text(text.replace("0.56, 0.56", "0.56, 0.57"))  # a design without all of its cases
    with pytest.raises(InputError, match="a case that is no parameter of the grid"):
        DesignProblem.of(broken, cases=["payload_mass"])
