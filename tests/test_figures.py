"""The figures of the sources: drawn from sweeps that are run for this, and what they show."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from xarray import Dataset

from docs import make_figures
from pipeline import Sweep, run
from pipeline.cluster.connection import ClusterConfig
from robots import catalog
from tasks import inertia_matrix, inverse_dynamics

DOCS = Path(__file__).parent.parent / "docs"


@pytest.fixture(scope="module")
def results() -> dict[str, Dataset]:
    synchronous = ClusterConfig.of("synchronous")
    return {
        name: run(Sweep.from_yaml(make_figures.EXAMPLES / f"{name}.yaml"), None, synchronous)
        for name in make_figures.FIGURES
    }


def test_every_figure_has_curves_that_are_numbers(results: dict[str, Dataset]) -> None:
    for name, figures in make_figures.FIGURES.items():
        for _, figure in figures:
            for axes in figure(results[name]).axes:
                assert axes.lines
                for line in axes.lines:
                    y = np.asarray(line.get_ydata(), dtype=float)
                    assert len(y) == 1001
                    assert np.isfinite(y).all()
                    assert np.ptp(y) > 0.0


def test_torques_are_those_of_single_calls(results: dict[str, Dataset]) -> None:
    axes, _ = make_figures.torques_of_the_tree(results["five_axis_tree"]).axes
    t = np.linspace(0.0, 10.0, 1001)[:, None] * np.ones(5)
    robot = catalog.build("five_axis_tree")
    expected = inverse_dynamics(robot, q=0.1 * t**2, qd=0.2 * t, qdd=0.2 + 0.0 * t, gravity=(0.0, 0.0, -9.8)).force
    for line, joint in zip(axes.lines[::3], (0, 1, 3), strict=True):
        np.testing.assert_allclose(line.get_ydata(), expected[:, joint], rtol=0, atol=1e-11)


def test_the_rover_moves_in_radians_and_in_degrees(results: dict[str, Dataset]) -> None:
    figure = make_figures.inertia_of_the_rover(results["rover_rocker"])
    t = np.linspace(0.0, 10.0, 1001)[:, None] * np.ones(5)
    for axes, unit in zip(figure.axes, (1.0, np.pi / 180.0), strict=True):
        expected = inertia_matrix(catalog.build("rover_rocker"), q=5.0 * unit * np.sin(t), method="explicit").matrix[
            :, 1, 0
        ]
        np.testing.assert_allclose(axes.lines[0].get_ydata(), expected, rtol=0, atol=1e-13)


def test_the_page_shows_every_figure_and_the_pictures_are_small() -> None:
    shown = re.findall(r"\]\((pictures/[^)]+)\)", (DOCS / "chains.md").read_text(encoding="utf-8"))
    assert shown == [f"pictures/{name}.png" for figures in make_figures.FIGURES.values() for name, _ in figures]
    for path in shown:
        assert 5_000 < (DOCS / path).stat().st_size < 100_000
