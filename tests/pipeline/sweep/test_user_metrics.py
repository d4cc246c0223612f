"""Metrics of a user's own: the bits of built-in ones, what becomes of their errors, and what a resumed run accepts."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from applications.studies import column
from pipeline import UserMetric, append, run, verify
from pipeline.cluster.connection import ClusterConfig
from pipeline.errors import InputError
from pipeline.execution.conventions import structure
from pipeline.execution.run import compute
from pipeline.monitor.log import Event, MetricFailed
from pipeline.monitor.status import status
from pipeline.sweep.function_hash import of_function
from pipeline.sweep.user_metrics import with_metrics
from storage.errors import StoreError
from tests.pipeline.runs import FEW, SMALL, SYNCHRONOUS, content_hash, cut_finely, sweep

FINE = SMALL.replace("[0.14, 0.15, 0.16]", "[0.15]").replace("0.28, 0.31]", "0.28]")
"""3 designs x 3 friction sets x 2 trajectories x 41 times."""

METRICS_ONLY = f"{FINE}metrics: [peak_force, energy]\n"
REACTIONS = f"{SMALL}metrics: [peak_reaction]\n"


def peak(actuator_force: np.ndarray) -> np.ndarray:
    return np.abs(actuator_force).max(axis=0)


def worst(actuator_force: np.ndarray) -> float:
    return float(helper(actuator_force))


def helper(values: np.ndarray) -> float:
    return float(np.abs(values).max())


PEAK = UserMetric(peak, units="N m", long_name="peak of my own", per_actuator=True)


@pytest.mark.parametrize("granularity", ["limb", "block"])
def test_a_peak_has_the_bits_of_the_one_that_is_built_in(granularity: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    cut_finely(monkeypatch)
    given = sweep(METRICS_ONLY)
    made = run(given, cluster=SYNCHRONOUS, granularity=granularity, metrics={"own_peak": PEAK, "worst_of_all": worst})
    np.testing.assert_array_equal(made["own_peak"], made["peak_force"])
    np.testing.assert_array_equal(made["worst_of_all"], made["peak_force"].max("actuator"))
    assert made["own_peak"].dims == ("design", "friction", "trajectory", "actuator")
    assert made["worst_of_all"].dims == ("design", "friction", "trajectory")
    assert made["own_peak"].attrs["units"] == "N m"
    assert made["own_peak"].attrs["long_name"] == "peak of my own"
    assert made["worst_of_all"].attrs["long_name"] == "worst of all"
    assert "actuator_force" not in made
    assert set(structure(made.attrs, "own_metrics")) == {"own_peak", "worst_of_all"}
    plain = run(given, cluster=SYNCHRONOUS)
    assert content_hash(made.drop_vars(["own_peak", "worst_of_all"])) == content_hash(plain)


def test_it_may_ask_for_times_and_numbers_of_its_case() -> None:
    def ask(
        time: np.ndarray,
        parameters: Mapping[str, float],
        friction: Mapping[str, float],
        platform_position: np.ndarray,
        joint_position: np.ndarray,
        status: np.ndarray,
    ) -> float:
        assert platform_position.shape == (len(time), 3)
        assert joint_position.shape == (len(time), 3, 7)
        assert status.shape == time.shape
        assert not joint_position.flags.writeable
        return parameters["upper_arm"] + 10.0 * friction["viscous"] + 100.0 * friction["coulomb"] + 1000.0 * time[-1]

    made = run(sweep(FEW), cluster=SYNCHRONOUS, metrics={"asked": ask})
    expected = made["upper_arm"] + 10.0 * made["viscous"] + 20.0 + 1000.0 * made["time"][-1]
    np.testing.assert_allclose(made["asked"].isel(trajectory=0), expected, rtol=1e-14)
    assert set(made.data_vars) == {"actuator_force", "peak_force", "asked", "failed_samples", "worst_status", "status"}


def test_reactions_can_be_asked_for() -> None:
    def largest(joint_reaction: np.ndarray) -> float:
        return float(np.sqrt((joint_reaction[..., 3:] ** 2).sum(axis=-1)).max())

    made = run(sweep(REACTIONS), cluster=SYNCHRONOUS, metrics={"largest": largest})
    assert made["largest"].dims == ("design", "friction", "trajectory")
    steady = made["peak_reaction"].max(("limb", "joint"))
    np.testing.assert_allclose(made["largest"].isel(friction=1), steady, rtol=1e-12)


def test_an_error_is_nan_and_told_and_the_run_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cut_finely(monkeypatch)

    def picky(parameters: Mapping[str, float], friction: Mapping[str, float]) -> float:
        if parameters["upper_arm"] == 0.25 and friction["viscous"] > 0.0:
            raise ValueError("an arm of 0.25")
        return 1.0

    events: list[Event] = []
    store = tmp_path / "s.zarr"
    text = f"{FINE}metrics: [peak_force]\n"
    made = run(sweep(text), store, SYNCHRONOUS, [events.append], metrics={"picky": picky}).load()
    assert made.attrs.get("finished", True)
    expected = np.where((made["upper_arm"] == 0.25) & (made["viscous"] > 0.0), np.nan, 1.0)
    np.testing.assert_array_equal(made["picky"].isel(trajectory=1), expected)
    assert np.isfinite(made["peak_force"]).all()
    told = [each for each in events if isinstance(each, MetricFailed)]
    assert sum(each.cases for each in told) == np.isnan(made["picky"].values).sum() == 4
    assert {each.reason for each in told} == {"ValueError: an arm of 0.25"}
    for each in told:
        assert np.isnan(made["picky"].values[each.design, each.friction, each.trajectory])
    assert status(store).metrics == tuple(told)
    assert f"metric {told[0].metric}" in dict(status(store).rows())


@pytest.mark.parametrize("stored", [False, True])
def test_an_error_is_a_warning_where_nobody_listens(stored: bool, tmp_path: Path) -> None:
    def picky(parameters: Mapping[str, float]) -> float:
        if parameters["upper_arm"] > 0.22:
            raise ValueError("a long arm")
        return 1.0

    text = f"{FINE}metrics: [peak_force]\n"
    store = tmp_path / "s.zarr" if stored else None
    with pytest.warns(RuntimeWarning, match=r"metric picky is NaN in \d+ cases, .* ValueError: a long arm") as told:
        made = run(sweep(text), store, SYNCHRONOUS, metrics={"picky": picky})
    (warning,) = told
    assert f"in {int(np.isnan(made['picky'].values).sum())} cases" in str(warning.message)
    assert warning.filename == __file__


def test_an_error_in_memory_is_told_by_block_and_place() -> None:
    def never(time: np.ndarray) -> float:
        raise ValueError("never")

    events: list[Event] = []
    made = compute(sweep(f"{FINE}metrics: [peak_force]\n"), [events.append], {"never": never})
    told = [each for each in events if isinstance(each, MetricFailed)]
    assert sum(each.cases for each in told) == made["never"].size
    assert {each.reason for each in told} == {"ValueError: never"}


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        (lambda time: time, "ValueError: it returned float64 of shape (41,); expected one real number"),
        (lambda time: "much", "expected one real number"),
        (lambda time: 1j, "expected one real number"),
        (lambda actuator_force: actuator_force.fill(0.0), "ValueError: assignment destination is read-only"),
    ],
)
def test_what_is_no_number_is_an_error_of_its_cases(function: Any, reason: str) -> None:
    events: list[Event] = []
    made = run(sweep(FEW), None, SYNCHRONOUS, [events.append], metrics={"odd": function})
    assert np.isnan(made["odd"]).all()
    assert np.isfinite(made["actuator_force"]).all()
    (told,) = (each for each in events if isinstance(each, MetricFailed))
    assert reason in told.reason
    assert (told.cases, told.design) == (72, 0)


def test_a_resumed_run_takes_the_same_function_only(tmp_path: Path) -> None:
    def scaled(factor: float) -> Any:
        return lambda actuator_force: factor * np.abs(actuator_force).max()

    store = tmp_path / "s.zarr"
    first = run(sweep(FEW), store, SYNCHRONOUS, metrics={"own": scaled(1.0)})
    again = run(sweep(FEW), store, SYNCHRONOUS, metrics={"own": scaled(1.0)})
    assert content_hash(first) == content_hash(again)
    for other in ({"own": scaled(2.0)}, {"other": scaled(1.0)}, {"own": UserMetric(scaled(1.0), units="N m")}, None):
        with pytest.raises(StoreError, match=r"holds another sweep; .*\n.* a metric of your own"):
            run(sweep(FEW), store, SYNCHRONOUS, metrics=other)
    with pytest.raises(StoreError, match=r"holds metrics of functions that it does not keep \(own\); expected these"):
        verify(store, recompute=1.0, cluster=SYNCHRONOUS)


def test_designs_are_appended_with_the_same_function(tmp_path: Path) -> None:
    store, more = tmp_path / "s.zarr", FEW.replace("0.16]", "0.16, 0.17]")
    one = sweep(FEW.replace("upper_arm: {values: [0.22, 0.25, 0.28, 0.31]}", "upper_arm: {values: [0.22]}"))
    larger = sweep(more.replace("upper_arm: {values: [0.22, 0.25, 0.28, 0.31]}", "upper_arm: {values: [0.22]}"))
    run(one, store, SYNCHRONOUS, metrics={"own": worst})
    made = append(store, with_metrics(larger, {"own": worst}), SYNCHRONOUS)
    assert made.sizes["design"] == 4
    np.testing.assert_array_equal(made["own"], made["peak_force"].max("actuator"))


def test_functions_are_sent_by_value_to_processes(tmp_path: Path) -> None:
    # a worker cannot import this module by its name
    cluster = ClusterConfig.of("local", n_workers=1, threads_per_worker=1)
    made = run(sweep(FEW), tmp_path / "s.zarr", cluster, metrics={"own": worst})
    np.testing.assert_array_equal(made["own"], made["peak_force"].max("actuator"))


def test_columns_of_a_study() -> None:
    made = run(sweep(FEW), cluster=SYNCHRONOUS, metrics={"own": worst})
    np.testing.assert_array_equal(column(made, "own"), column(made, "peak_force"))
    np.testing.assert_allclose(column(made, "own_mean"), made["own"].mean(("friction", "trajectory")))


LIMIT = 3.0


def test_fingerprints_say_what_a_function_is() -> None:
    def one(x: float) -> float:
        return x + LIMIT

    def same(x: float) -> float:
        # a comment
        return (x +
                LIMIT)  # fmt: skip

    def other(x: float) -> float:
        return x - LIMIT

    def holding(limit: Any) -> Any:
        return lambda x: x + limit

    assert of_function(one) == of_function(same) != of_function(other)
    values = [1.0, 2.0, (1.0,), [1.0], {1.0}, {"a": 1.0}, np.ones(2), np.zeros(2), one, other, np, None]
    assert len({of_function(holding(each)) for each in values}) == len(values)
    assert of_function(holding({"a", "b"})) == of_function(holding({"b", "a"}))
    assert of_function(holding(one)) == of_function(holding(same))

    def recursive(x: float) -> float:
        return recursive(x - 1.0) if x > 0.0 else x

    assert of_function(recursive) == of_function(recursive)


@pytest.mark.parametrize(
    ("name", "function", "text"),
    [
        ("peak_force", worst, "metrics peak_force: got a name of the dataset; expected a name of its own"),
        ("upper_arm", worst, "got a name of the dataset"),
        ("Energy", worst, "got a name of the dataset"),
        ("a b", worst, "got 'a b'; expected letters, digits and '_'"),
        ("own", np.max, "expected a function written in Python"),
        ("own", lambda force: 1.0, "metrics own(force): got no such series; expected one that this sweep has"),
        ("own", lambda *force: 1.0, "got any number of arguments; expected parameters that have the names of series"),
        ("own", lambda motor_current: 1.0, "own(motor_current): got no such series"),
        ("own", lambda measured_force: 1.0, "own(measured_force): got no such series"),
    ],
)
def test_misuse_is_refused(name: str, function: Any, text: str) -> None:
    with pytest.raises(InputError) as caught:
        run(sweep(FEW), metrics={name: function})
    assert text in str(caught.value)
