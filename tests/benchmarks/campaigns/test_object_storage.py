"""Runs into object storage that go wrong: one kill, credentials, and hints."""

from __future__ import annotations

import pytest

from tests.benchmarks.forks import campaign

pytest.importorskip("s3fs", reason="needs the extra test-s3")
pytest.importorskip("moto", reason="needs the extra test-s3")


@pytest.mark.chaos
@pytest.mark.parametrize("step", ["kills", "wrong-credentials", "expired-credentials", "two-runs", "hints"])
def test_a_run_into_object_storage_that_goes_wrong_ends_the_same_or_with_the_right_advice(step: str) -> None:
    code, told = campaign("object_storage", "--blocks", "3", "--kills", "2", "--seed", "1", "--only", step)
    assert code == 0, told
