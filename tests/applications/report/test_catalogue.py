"""The report of a first sweep of every robot of the catalogue, in a browser."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from applications.commands.template import sweep_text
from applications.report import write_report
from pipeline.cluster.connection import ClusterConfig
from pipeline.execution.run import run
from pipeline.sweep.model import Sweep
from robots import catalog
from tests.applications.report.browser import complaints, opened, settle

EVERYTHING = """
for (const choice of document.querySelectorAll('select'))
  for (const option of [...choice.options].reverse()) {
    choice.value = option.value;
    choice.dispatchEvent(new Event('change'));
  }
for (const slider of document.querySelectorAll('input[type=range]')) {
  slider.value = slider.max;
  slider.dispatchEvent(new Event('input'));
}
[...document.querySelectorAll('#brush-rows button')].at(-1)?.click();
"""
"""All choices, the ends of all sliders, another design."""


def short(name: str) -> str:
    """The sweep that `limbsweep new` writes, with fewer times."""
    return re.sub(r"(?m)^time: .*$", "time: {stop: 1.0, samples: 21}", sweep_text(catalog.FAMILIES[name]))


@pytest.mark.slow
def test_every_robot_has_a_report_without_complaints(tmp_path: Path) -> None:
    pytest.importorskip("plotly", reason="no plotly; install limbsweep[report] to test pages")
    pages = []
    for name in catalog.FAMILIES:
        dataset = run(Sweep.from_text(short(name)), cluster=ClusterConfig.of("synchronous"))
        pages.append(write_report(dataset, tmp_path / f"{name}.html"))
    with opened(pages[0]) as window:
        for page in pages:
            window.get(page.as_uri())
            settle(window)
            window.execute_script(EVERYTHING)
            settle(window)
            told = window.execute_script("return document.getElementById('frame-readout').textContent")
            assert "the largest force, " in told, page.stem
            assert complaints(window) == [], page.stem
