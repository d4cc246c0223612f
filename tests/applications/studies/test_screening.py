"""Elementary effects and derivative-based measures, and Sobol indices, against SALib and closed forms."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from applications.studies.problem import DesignProblem
from applications.studies.screening import derivative_measures, morris, morris_designs
from applications.studies.sensitivity import saltelli, sobol
from pipeline.errors import InputError
from pipeline.sweep.model import Sweep

BOUNDS = {"a": (-np.pi, np.pi), "b": (-np.pi, np.pi), "c": (-np.pi, np.pi)}
PROBLEM = {"num_vars": 3, "names": list(BOUNDS), "bounds": [list(pair) for pair in BOUNDS.values()]}


def ishigami(x: np.ndarray) -> np.ndarray:
    return np.asarray(np.sin(x[:, 0]) + 7 * np.sin(x[:, 1]) ** 2 + 0.1 * x[:, 2] ** 4 * np.sin(x[:, 0]))


@pytest.fixture(scope="module")
def salib():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pytest.importorskip("SALib")
        from SALib.analyze import morris as of_morris
        from SALib.analyze import sobol as of_sobol
    return of_morris.analyze, of_sobol.analyze


def test_elementary_effects_are_those_of_salib(salib) -> None:
    effects = morris(ishigami, BOUNDS, 12, seed=3)
    designs = morris_designs(BOUNDS, 12, seed=3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        other = salib[0](PROBLEM, designs, ishigami(designs), num_levels=4, scaled=False, num_resamples=10, seed=1)
    assert effects.mean == pytest.approx(np.asarray(other["mu"], float), rel=1e-10)
    assert effects.mean_size == pytest.approx(np.asarray(other["mu_star"], float), rel=1e-10)
    assert effects.deviation == pytest.approx(np.asarray(other["sigma"], float), rel=1e-10)


def test_sobol_indices_are_those_of_salib(salib) -> None:
    n = 256
    indices = sobol(ishigami, BOUNDS, n, seed=2)
    a, b, *mixed = ishigami(saltelli(BOUNDS, n, seed=2)).reshape(5, n)
    values = np.stack([a, *mixed, b], axis=1).ravel()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        other = salib[1](PROBLEM, values, calc_second_order=False, num_resamples=10, seed=1)
    assert indices.first == pytest.approx(other["S1"], abs=2e-2)  # the estimators take means apart differently
    assert indices.total == pytest.approx(other["ST"], abs=2e-3)
    variance = 0.5 + 49 / 8 + 0.1 * np.pi**4 / 5 + 0.01 * np.pi**8 / 18  # of the function, in closed form
    exact = np.array([0.5 * (1 + 0.1 * np.pi**4 / 5) ** 2, 49 / 8, 0.0]) / variance
    assert indices.first == pytest.approx(exact, abs=0.1)


def test_effects_of_a_sum_are_its_factors() -> None:
    effects = morris(lambda x: 3 * x[:, 0] - 2 * x[:, 1], {"a": (1.0, 3.0), "b": (0.0, 0.5)}, 6, seed=1)
    assert effects.mean == pytest.approx([6.0, -1.0], rel=1e-12)
    assert effects.deviation == pytest.approx([0.0, 0.0], abs=1e-12)


def test_means_of_squared_derivatives_are_those_of_differences() -> None:
    sweep = Sweep.from_text(
        "limbsweep: 1\nrobot: five_bar\ntrajectories: {c: {kind: circle, radius: 0.05, normal: [0, 1, 0]}}\n"
        "time: {stop: 1, step: 0.1}\nmetrics: [rms_force]\n"
    )
    problem = DesignProblem.of(sweep, {"proximal_length": (0.5, 0.56), "distal_length": (0.5, 0.56)})
    measures = derivative_measures(problem, "rms_force", 8, seed=4)
    from scipy import stats

    low, span = 0.5, 0.06
    designs = low + span * stats.qmc.Sobol(2, rng=np.random.default_rng(4)).random(8)
    step, squares = 1e-5, []
    for k in range(2):
        away = np.eye(2)[k] * step
        ends = [problem.values(designs + side * away, ["rms_force"])["rms_force"] for side in (1, -1)]
        squares.append((((ends[0] - ends[1]) / (2 * step) * span) ** 2).mean())
    assert measures.mean_square == pytest.approx(squares, rel=1e-6)
    variance = problem.values(designs, ["rms_force"])["rms_force"].var(ddof=1)
    assert measures.bound == pytest.approx(np.array(squares) / np.pi**2 / variance, rel=1e-6)
    totals = sobol(lambda x: problem.values(x, ["rms_force"])["rms_force"], problem.bounds, 64, seed=1).total
    assert (totals <= measures.bound * 1.5).all()  # of few samples each


def test_what_has_no_value_is_refused() -> None:
    with pytest.raises(InputError, match="designs without a value"):
        morris(lambda x: np.full(len(x), np.nan), BOUNDS, 4, seed=1)
    with pytest.raises(InputError, match="at least 2"):
        morris_designs(BOUNDS, 1, seed=1)


def test_indices_under_a_case_are_those_of_a_sweep_with_it_alone() -> None:
    text = (
        "limbsweep: 1\nrobot: five_bar\ndesign: {grid: {payload_mass: PAYLOADS, distal_length: [0.5, 0.56]}}\n"
        "trajectories: {c: {kind: circle, radius: 0.05, normal: [0, 1, 0]}}\n"
        "time: {stop: 1, step: 0.1}\nmetrics: [rms_force]\n"
    )
    bounds = {"proximal_length": (0.5, 0.56), "distal_length": (0.5, 0.56)}
    both = DesignProblem.of(Sweep.from_text(text.replace("PAYLOADS", "[0, 2]")), bounds, cases=["payload_mass"])
    designs = np.array([[0.51, 0.52], [0.55, 0.5]])
    for payload in (0.0, 2.0):
        alone = DesignProblem.of(Sweep.from_text(text.replace("PAYLOADS", f"[{payload:g}]")), bounds)
        case = both.under({"payload_mass": payload})
        assert case.case_count == 1
        assert (
            case.values(designs, ["rms_force"])["rms_force"] == alone.values(designs, ["rms_force"])["rms_force"]
        ).all()
        mean = derivative_measures(case, "rms_force", 4, seed=1).mean_square
        assert (mean == derivative_measures(alone, "rms_force", 4, seed=1).mean_square).all()


@pytest.mark.parametrize(
    ("case", "said"),
    [
        ({"payload_mass": 1.0}, "study case.payload_mass: got 1; expected one of 0, 2"),
        (
            {"payload_mas": 0.0},
            "study case.payload_mas: got no such case; expected one of payload_mass. Did you mean 'payload_mass'?",
        ),
    ],
)
def test_a_case_that_is_none_is_refused(case: dict[str, float], said: str) -> None:
    sweep = Sweep.from_text(
        "limbsweep: 1\nrobot: five_bar\ndesign: {grid: {payload_mass: [0, 2], distal_length: [0.5, 0.56]}}\n"
        "trajectories: {c: {kind: circle, radius: 0.05, normal: [0, 1, 0]}}\n"
        "time: {stop: 1, step: 0.1}\nmetrics: [rms_force]\n"
    )
    with pytest.raises(InputError, match="case") as error:
        DesignProblem.of(sweep, cases=["payload_mass"]).under(case)
    assert said in str(error.value)
    with pytest.raises(InputError, match=r"expected one of none\. Name it as a case of the problem, too"):
        DesignProblem.of(sweep).under(case)
