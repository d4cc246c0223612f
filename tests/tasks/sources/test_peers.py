"""Closed loops under a controller beside another engine: `benchmarks.simulate` over a short time."""

from __future__ import annotations

import pytest

from benchmarks import simulate

pytest.importorskip("mujoco")


@pytest.mark.parametrize("name", ["delta_3rr2rrr", pytest.param("hexapod_6rrrprr", marks=pytest.mark.slow)])
def test_a_closed_loop_moves_as_around_another_engine(name: str) -> None:
    apart, *_ = [figure for figure in simulate.closed_loop(name, 0.01) if figure.unit == "m"]
    assert apart.value < 1e-10


def test_another_motion_is_noticed() -> None:
    with pytest.raises(simulate.CheckError, match=r"x: positions are 2\.00e-06 apart; expected at most 1e-06"):
        simulate._require_close("x", 2e-6)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        pytest.param(name, kind, marks=pytest.mark.slow if name == "hexapod_6rrrprr" else ())
        for name, row in simulate.TASK_SPACE.items()
        for kind in row[2]
    ],
)
def test_a_controller_of_the_platform_moves_it_as_around_another_engine(name: str, kind: str) -> None:
    apart, *_ = [figure for figure in simulate.in_task_space(name, kind, 0.01) if figure.unit == "m"]
    assert apart.value < 1e-10
