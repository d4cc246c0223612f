"""Problems from sweeps, and the optimisation of geometry: against samples, limits and the kernels of a run."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import qmc

from applications.studies.columns import column
from applications.studies.optimisation import LocalOptimum, optimise
from applications.studies.problem import DesignProblem
from pipeline.errors import InputError
from pipeline.execution.run import run
from pipeline.sweep.model import Sweep

BOX = {
    "upper_arm": (0.25, 0.5),
    "rod_length": (0.7, 1.2),
    "base_radius": (0.15, 0.4),
    "platform_radius": (0.05, 0.2),
    "gear_ratio": (35.0, 75.0),
}
TEXT = """\
limbsweep: 1
robot: delta_rl5_1450
design:
  grid:
    upper_arm: [0.3, 0.4]
    gear_ratio: [40, 60]
friction: {law: viscous, joints: actuated, list: {viscous: [0.0, 0.5]}}
trajectories:
  pick: {kind: quintic, start: [-0.15, 0, 0], end: [0.15, 0, 0.05], duration: 0.3}
  turn: {kind: circle, radius: 0.1, period: 0.5}
time: {stop: 0.3, step: 0.01}
metrics: [peak_force, rms_force, condition, peak_reaction]
"""


@pytest.fixture(scope="module")
def problem() -> DesignProblem:
    return DesignProblem.of(Sweep.from_text(TEXT), BOX)


@pytest.fixture(scope="module")
def sample(problem: DesignProblem) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """10 000 designs, and their values."""
    low, high = np.array(list(BOX.values())).T
    designs = low + (high - low) * qmc.LatinHypercube(len(BOX), rng=np.random.default_rng(7)).random(10_000)
    return designs, problem.values(designs, ("peak_force", "rms_force_mean", "condition"))


def best_of(sample: tuple[np.ndarray, dict[str, np.ndarray]], name: str) -> tuple[np.ndarray, float]:
    at = int(np.nanargmin(sample[1][name]))
    return sample[0][at], float(sample[1][name][at])


def test_values_are_those_of_a_run() -> None:
    sweep = Sweep.from_text(TEXT)
    ds = run(sweep)
    made = DesignProblem.of(sweep)
    assert made.bounds == {"upper_arm": (0.3, 0.4), "gear_ratio": (40.0, 60.0)}
    designs = np.stack([ds[name].values for name in made.names], axis=1)
    wanted = ("peak_force", "rms_force_mean", "condition", "peak_reaction_max")
    for name, values in made.values(designs, wanted[:3]).items():
        np.testing.assert_array_equal(values, column(ds, name), err_msg=name)
    rows = made.rates(designs[1], ("peak_force",))["peak_force"][0]
    np.testing.assert_allclose(rows, ds["peak_force"].values[1].ravel(), rtol=1e-9)


@pytest.mark.parametrize("name", ["peak_force", "rms_force_mean"])
def test_the_optimum_beats_the_best_of_ten_thousand_designs(problem: DesignProblem, sample, name: str) -> None:
    start, value = best_of(sample, name)
    (found,) = optimise(problem, name, start)
    assert found.start == pytest.approx(value, rel=1e-9)
    assert found.value < 0.99 * value
    again = problem.values(np.array(list(found.design.values())), (name,))[name]
    assert again.item() == pytest.approx(found.value, rel=1e-9)
    assert all(low <= found.design[key] <= high for key, (low, high) in BOX.items())


def test_limits_hold_and_cost_something(problem: DesignProblem, sample) -> None:
    start, _ = best_of(sample, "peak_force")
    (free,) = optimise(problem, "peak_force", start)
    worst = problem.values(np.array(list(free.design.values())), ("condition",))["condition"].item()
    (bound,) = optimise(problem, "peak_force", start, [f"condition <= {0.8 * worst!r}"])
    assert bound.feasible
    assert bound.value > free.value
    got = problem.values(np.array(list(bound.design.values())), ("condition",))["condition"].item()
    assert got <= 0.8 * worst * (1 + 1e-5)


def test_a_metric_that_is_good_when_large_is_made_large(problem: DesignProblem) -> None:
    start = np.array([0.3, 0.9, 0.2, 0.1, 50.0])
    (found,) = optimise(problem, "manipulability", start)
    assert found.value > 1.2 * found.start


def test_bearings_may_be_an_objective_or_a_limit(problem: DesignProblem, sample) -> None:
    start, _ = best_of(sample, "peak_force")
    (light,) = optimise(problem, "peak_reaction", start)
    assert light.value < 0.95 * light.start
    (bound,) = optimise(problem, "peak_force", start, [f"peak_reaction <= {0.5 * (light.value + light.start)!r}"])
    assert bound.feasible
    got = problem.values(np.array(list(bound.design.values())), ("peak_reaction",))["peak_reaction"].item()
    assert got <= 0.5 * (light.value + light.start) * (1 + 1e-5)


def test_threads_change_nothing(problem: DesignProblem, sample) -> None:
    starts = sample[0][np.argsort(sample[1]["peak_force"])[[0, 3, 9]]]

    def told(found: list[LocalOptimum]) -> list[tuple[float, list[float]]]:
        return [(each.value, list(each.design.values())) for each in found]

    one, two = (optimise(problem, "peak_force", starts, threads=threads) for threads in (1, 2))
    assert told(one) == told(two)
    assert [each.value for each in one] == sorted(each.value for each in one)


def test_gradients_against_finite_differences(problem: DesignProblem) -> None:
    x, step = np.array([0.33, 0.95, 0.21, 0.11, 50.0]), np.array([1e-5, 1e-5, 1e-5, 1e-5, 1e-3])
    got = problem.rates(x, ("rms_force",))["rms_force"][1]
    for p in range(len(x)):
        beside = [problem.rates(x + k * step * np.eye(5)[p], ("rms_force",))["rms_force"][0] for k in (-2, -1, 1, 2)]
        expected = np.array([1, -8, 8, -1]) @ np.stack(beside) / (12 * step[p])
        np.testing.assert_allclose(got[:, p], expected, rtol=1e-7, atol=1e-7 * np.abs(got).max())


def test_mistakes_are_refused(problem: DesignProblem) -> None:
    sweep = problem.sweep
    with pytest.raises(InputError, match=r"bounds.uper_arm: got no such parameter; .*Did you mean 'upper_arm'"):
        DesignProblem.of(sweep, {"uper_arm": (0.2, 0.3)})
    with pytest.raises(InputError, match=r"bounds.upper_arm: got \(0.3, 0.2\); expected low < high"):
        DesignProblem.of(sweep, {"upper_arm": (0.3, 0.2)})
    alone = Sweep.from_text(TEXT.replace(TEXT[TEXT.index("design:") : TEXT.index("friction:")], ""))
    with pytest.raises(InputError, match=r"bounds: got a sweep of one design; expected bounds of the parameters"):
        DesignProblem.of(alone)
    with pytest.raises(InputError, match=r"starts: got 2 parameters; expected 5: upper_arm, rod_length"):
        optimise(problem, "peak_force", np.ones(2))
    with pytest.raises(InputError, match=r"starts: got a design out of bounds; expected designs within the bounds"):
        optimise(problem, "peak_force", np.ones(5))
    with pytest.raises(InputError, match=r"peak_frce: got no such metric; expected a metric\. Did you mean"):
        problem.values(np.ones(5), ("peak_frce",))
    with pytest.raises(InputError, match=r"starts: got a design without peak_force; expected designs whose samples"):
        optimise(DesignProblem.of(sweep, {"base_radius": (0.1, 3.0)}), "peak_force", np.array([2.9]))
