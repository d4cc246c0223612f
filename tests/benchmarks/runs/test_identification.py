from __future__ import annotations

import pytest

from benchmarks.figures import QUICK, CheckError
from benchmarks.runs import identification


def test_the_dataset_is_complete_and_identifies_its_robot() -> None:
    figures = {figure.name: figure for figure in identification.dataset(QUICK)}
    assert figures["samples"].value == 4 * 10 * 2000
    assert (figures["largest error"].value or 99.0) < identification.MOST


def test_designs_together_are_identified_as_each_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    name = next(iter(identification.DATASETS))
    monkeypatch.setattr(identification, "DATASETS", {name: identification.DATASETS[name]})
    (figure,) = identification.designs(QUICK)
    assert (figure.name, figure.value is not None and figure.value > 0.0) == (name, True)
    monkeypatch.setattr(identification, "SAME", 0.0)
    with pytest.raises(CheckError, match="deviations; expected less than 0"):
        list(identification.designs(QUICK))


def test_parameters_that_are_off_are_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(identification, "MOST", 0.0)
    with pytest.raises(CheckError, match="standard deviations off"):
        list(identification.dataset(QUICK))
