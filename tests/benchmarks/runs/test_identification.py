from __future__ import annotations

import pytest

from benchmarks.figures import QUICK, CheckError
from benchmarks.runs import identification


def test_the_dataset_is_complete_and_identifies_its_robot() -> None:
    figures = {figure.name: figure for figure in identification.dataset(QUICK)}
    assert figures["samples"].value == 4 * 10 * 2000
    assert (figures["largest error"].value or 99.0) < identification.MOST


def test_parameters_that_are_off_are_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(identification, "MOST", 0.0)
    with pytest.raises(CheckError, match="standard deviations off"):
        list(identification.dataset(QUICK))
