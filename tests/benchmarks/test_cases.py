"""Every case runs with timing off and asserts its result; the table and the JSON lines are complete."""

from __future__ import annotations

import io
import json
import math

import pytest

from benchmarks import cases
from benchmarks.cases import CASES
from benchmarks.figures import QUICK
from robots.parameter_errors import ParameterError

WANTED = {
    "kernel": ("inverse kinematics and dynamics", "NumPy, same operations, over compiled", "steps, most", "compile"),
    "designs": ("one design",),
    "storage": ("write, limbsweep of plain Zarr", "read, limbsweep of plain Zarr"),
    "run": ("limb tasks, local, ", "block tasks, local, ", "  efficiency when steady"),
    "blocks": ("64 Ki samples, limb tasks", "64 Ki samples, block tasks"),
    "series": ("run, of plain Zarr", "computing, then plain Zarr with fsync"),
    "series_large": ("limb tasks", "  of plain Zarr with fsync", "  worker"),
    "dataset": ("samples", "time", "stored", "largest error"),
    "identify": ("five-bars", "planar arms", "Deltas, 5", "Deltas of one geometry"),
    "large": ("limb tasks", "block tasks", "  efficiency", "  worker", "  share of kernels", "  share of waiting"),
    "precision": ("five_bar, forces, largest error", "hexapod_6rrrprr, gain in speed"),
    "shapes": ("reactions",),
    "memory": ("coordinator and scheduler, each block more",),
    "robots": ("five_bar", "hexapod_6rrrprr, with all reactions"),
    "inertia_counts": ("matrices differ by", "explicit elements, 50 joints", "largest element alone"),
    "features": (
        "  a base that moves",
        "  a metric of clearances",
        "  a linear task",
        "  elastic drives as states",
        "  loads by stiffness",
    ),
    "friction_sets": ("ratio",),
    "friction": ("delta_3rr2rrr, constant load", "hexapod_6rrrprr, reaction load"),
    "small": (
        "1e5 samples in a new process",
        "limbsweep run of them into a store",
        "again in the same process",
        "1,000 designs of a DataFrame, the plan",
    ),
    "busy": ("2 x 1 threads, limb tasks", "2 x 1 threads, block tasks"),
    "thousand": ("4 threads", "1000 cores, on paper", "sweep of 1e+09 samples, on paper"),
    "thousand_limbs": ("4 threads", "1000 cores, limb tasks, on paper"),
    "rest": ("irb6, elbow coupler_foot coupler_head, stiction", "three_loop_leg, all, coulomb"),
    "simulate": ("delta_3rr2rrr", "irb6"),
    "energy": ("planar_3r, coulomb", "planar_3r, lugre"),
    "coordinator": (
        "block tasks",
        "  coordinator alone, limb",
        "scheduler, each block in flight",
        "scheduler, each block that waits",
    ),
    "peers": ("five_axis_tree, inverse dynamics: limbsweep", "hexapod_6rrrprr, closed-loop reactions: limbsweep"),
    "published": ("ivp_andrews", "rows that do not agree"),
    "start": ("five_bar, process start to first forces",),
}


LONG = ("identify", "peers", "simulate", "features", "series_large", "rest")
"""Cases of more than five seconds, whose parts other tests of this folder run."""


@pytest.mark.parametrize("name", [pytest.param(name, marks=pytest.mark.slow if name in LONG else ()) for name in CASES])
def test_a_case_gives_its_figures(name: str) -> None:
    figures = list(CASES[name].figures(QUICK))
    missing = [each for each in figures if each.value is None]
    if len(missing) == len(figures):
        pytest.skip("; ".join(f"{each.name}: {each.remark}" for each in missing))
    for wanted in WANTED[name]:
        assert any(each.name.startswith(wanted) for each in figures), f"{name} has no figure {wanted!r}"
    for each in figures:
        if each.value is None:
            assert "install limbsweep[peers]" in each.remark
            continue
        assert math.isfinite(each.value)
        assert each.unit


def test_table_and_json_lines_hold_the_same_figures() -> None:
    shown, lines = io.StringIO(), io.StringIO()
    cases.main(quick=True, names=["designs"], out=shown)
    cases.main(quick=True, names=["designs"], out=lines, json=True)
    assert "designs: the same for many designs\n" in shown.getvalue()
    read = [json.loads(line) for line in lines.getvalue().splitlines()]
    assert [each["name"] for each in read] == ["one design", "inverse kinematics and dynamics"]
    for each in read:
        assert each["case"] == "designs"
        assert each["machine"]["cpu"]
        assert each["name"] in shown.getvalue()


def test_an_unknown_case_is_refused_before_anything_runs() -> None:
    out = io.StringIO()
    with pytest.raises(ParameterError, match="there is no benchmark 'kernal'; did you mean 'kernel'"):
        cases.main(names=["designs", "kernal"], out=out)
    assert out.getvalue() == ""
