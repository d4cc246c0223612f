"""The metrics that docs/studies.md lists are those that there are."""

from __future__ import annotations

import re
from pathlib import Path

from robots.quantities import QUANTITIES

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs/studies.md").read_text(encoding="utf-8")
ELSEWHERE = {
    *("failed_samples", "friction_residual", "unsettled_samples"),
    *("peak_current", "rms_current", "electrical_energy"),
    *("peak_tracking_error", "rms_tracking_error", "peak_position_error", "rms_position_error", "overshoot"),
    *("settling_time", "lost_steps", "saturated_time", "substeps", "integration_error", "integration_error_share"),
}
"""Metrics that pages on friction, drives and simulations are about."""


def test_all_metrics_are_listed() -> None:
    table = PAGE[PAGE.index("## Metrics") : PAGE.index("## Columns")]
    metrics = {name for name, variable in QUANTITIES.items() if variable.kind == "metric"}
    assert metrics - ELSEWHERE <= set(re.findall(r"`(\w+)`", table))
