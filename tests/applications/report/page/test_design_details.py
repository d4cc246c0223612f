from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from applications.report.data import workspace
from applications.report.data.recomputed import ComputedResults
from applications.report.data.results import Results
from applications.report.page import runs
from pipeline.cluster.connection import ClusterConfig
from pipeline.execution.run import run
from pipeline.sweep.model import Sweep
from tests.applications.report.large import large
from tests.applications.report.page.test_bundle import unpacked as from_bundle

FAR = """\
limbsweep: 1
robot: delta_3rr2rrr
trajectories:
  far: {kind: quintic, start: [0, 0, -3], end: [0.1, 0, -3], duration: 0.1}
time: {stop: 0.1, step: 0.05}
outputs: [actuator_force]
"""


def unpacked(details: Any, packed: dict[str, Any]) -> np.ndarray:
    return from_bundle(details["bundle"], packed)


def test_every_design_that_is_shown_can_be_looked_into(results: Results) -> None:
    assert runs.design_details(results)[0]["design"] == results.design
    assert sorted(each["design"] for each in runs.design_details(results)) == results.shown.tolist()


def test_details_have_the_numbers_of_the_store(results: Results) -> None:
    for each in runs.design_details(results):
        stored = results.dataset.isel(design=each["design"])
        force = unpacked(each, each["series"]["actuator_force"])
        np.testing.assert_array_equal(force, stored["actuator_force"].isel(friction=results.friction))
        for index, motion in enumerate(each["motion"]["trajectories"]):
            reaction = stored["joint_reaction"].values[index].reshape(41, 21, 6)
            np.testing.assert_allclose(unpacked(each, motion["force"]), reaction[..., 3:], rtol=1e-5)
            moment = np.linalg.norm(reaction[..., :3], axis=-1)
            np.testing.assert_allclose(unpacked(each, motion["moment"]), moment, rtol=1e-5)
        assert each["motion"]["longest"] == np.linalg.norm(stored["joint_reaction"].values[..., 3:], axis=-1).max()


def test_only_as_many_as_fit_are_held_and_the_best_are(results: Results, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runs, "MOST_DESIGNS", 5)
    few = ComputedResults(results.dataset, 14)
    held = [each["design"] for each in runs.design_details(few)]
    assert len(held) == 5
    assert held[0] == 14
    assert few.designs.best in held
    monkeypatch.setattr(runs, "MOST_BYTES", 10)
    assert [each["design"] for each in runs.design_details(ComputedResults(results.dataset, 14))] == [14]


def test_a_design_that_fails_throughout_has_no_motion() -> None:
    dataset = run(Sweep.from_text(FAR), cluster=ClusterConfig.of("synchronous"))
    assert (dataset["worst_status"] != 0).all()
    (one,) = runs.design_details(ComputedResults(dataset))
    assert one["motion"] is None
    assert np.isnan(unpacked(one, one["series"]["actuator_force"])).all()


def test_without_a_sweep_details_have_what_is_stored() -> None:
    (one, *others) = runs.design_details(ComputedResults(large(30)))
    assert (one["motion"], one["series"], one["colours"]) == (None, {}, {})
    assert len(others) == 24


def test_details_leave_out_what_all_designs_share(results: Results, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = [colour.label for colour in workspace.choices(results, results.case) if not colour.shared]
    assert expected

    def refuse(*arguments: object) -> None:
        raise AssertionError("asked for each design again")

    monkeypatch.setattr(workspace, "_of_all", refuse)
    assert [*runs.details_of(results, results.case)["colours"]] == expected
