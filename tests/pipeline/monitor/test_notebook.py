"""Progress in notebooks: what is drawn, how often, and what it says in the end."""

from __future__ import annotations

import pytest

import limbsweep as ls
from pipeline.monitor.log import BlockDone, BlockFailed, Finished, Started
from pipeline.monitor.notebook import EVERY, NOTES, NotebookProgress, in_notebook
from pipeline.monitor.samples import FailedSamples, FailedStatus


class Place:
    """Place to draw on, without a notebook."""

    def __init__(self, html: str) -> None:
        self.drawn = [html]

    def replace(self, html: str) -> None:
        self.drawn.append(html)


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def started() -> tuple[NotebookProgress, list[str], Clock]:
    places: list[Place] = []
    clock = Clock()

    def place(html: str) -> Place:
        places.append(Place(html))
        return places[-1]

    progress = NotebookProgress(place, clock)
    progress(Started(100, 0, 10, "http://127.0.0.1:8787/status", "limb"))
    return progress, places[0].drawn, clock


def test_it_is_drawn_at_most_so_often_and_at_the_end() -> None:
    progress, drawn, clock = started()
    assert len(drawn) == 2
    assert "starting" in drawn[0]
    assert 'href="http://127.0.0.1:8787/status"' in drawn[1]
    for block in range(50):
        progress(BlockDone(block, 10, 0.1))
    assert len(drawn) == 2
    clock.now = EVERY
    progress(BlockDone(50, 10, 0.1))
    assert len(drawn) == 3
    assert '<progress value="510" max="1000"' in drawn[-1]
    progress(Finished(1000, 2.0, 0))
    assert "1 k samples in 0:00:02" in drawn[-1]


def test_failures_are_named_and_text_is_text() -> None:
    progress, drawn, clock = started()
    for block in range(NOTES + 2):
        clock.now += 1.0
        progress(BlockFailed(block, "<b>no memory</b>"))
    assert "block 1 given up" not in drawn[-1]
    assert drawn[-1].count("given up: &lt;b&gt;no memory") == NOTES
    progress.results(FailedSamples(1000, (FailedStatus("NOT_REACHABLE", 1, 10, ((0, 0, 0),)),)))
    assert "10 of 1,000 samples failed" in drawn[-1]
    progress.stopped(KeyboardInterrupt())
    assert "stopped: KeyboardInterrupt" in drawn[-1]


def test_these_tests_run_in_no_notebook() -> None:
    assert not in_notebook()


def test_a_script_gets_lines_where_it_asks_for_them(capsys: pytest.CaptureFixture[str]) -> None:
    far = {"far": {"kind": "line_sine", "amplitude": [9, 0, 0]}}
    sweep = ls.sweep("five_bar", trajectories=far, time=(1, 0.25), metrics=["peak_force"])
    ls.run(sweep)
    assert capsys.readouterr().err == ""
    ls.run(sweep, progress=True)
    first, second, *failed = capsys.readouterr().err.splitlines()
    assert first == "1 block, a task for each, 5 samples"
    assert second.startswith("5 samples in 0:00:0")
    assert failed[0] == "2 of 5 samples failed (40 %) and hold NaN:"
    assert "NOT_REACHABLE" in failed[1]
