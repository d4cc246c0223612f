"""The Python of docs/studies.md runs, and the metrics that it lists are those that there are."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from storage.schema import VARIABLES

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs/studies.md").read_text(encoding="utf-8")
ELSEWHERE = {
    *("failed_samples", "friction_residual", "unsettled_samples"),
    *("peak_current", "rms_current", "electrical_energy"),
}
"""Metrics that pages on friction and drives are about."""


def test_the_examples_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    found: dict[str, object] = {}
    for code in re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL):
        exec(code, found)
    assert float(found["ds"]["settling"].min()) > 0.0  # type: ignore[index]
    assert found["best"].feasible  # type: ignore[attr-defined]
    assert found["shares"].names == ("upper_arm", "rod_length")  # type: ignore[attr-defined]


def test_all_metrics_are_listed() -> None:
    table = PAGE[PAGE.index("## Metrics") : PAGE.index("## Columns")]
    metrics = {name for name, variable in VARIABLES.items() if variable.kind == "metric"}
    assert metrics - ELSEWHERE <= set(re.findall(r"`(\w+)`", table))
