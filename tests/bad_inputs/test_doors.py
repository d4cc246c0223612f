# ruff: noqa: E501 - a row of a table is a line
"""Wrong arguments of functions of `limbsweep`: each gives one line with the value and a remedy."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import limbsweep as ls

pd = pytest.importorskip("pandas")

ROBOT = ls.robots.build("five_bar")
HOME = [0.0, 0.0, -0.6]
READ = "sweep: got 'sweep.yaml'; expected a Sweep. Read it: limbsweep.Sweep.from_yaml('sweep.yaml')."
STORE = "store: got an object of type int; expected its path or URL"
CIRCLE = {"c": {"kind": "circle", "radius": 0.05, "normal": [0, 1, 0]}}


def small(**changes: Any) -> ls.Sweep:
    return ls.sweep("five_bar", **({"time": (1.0, 0.5), "trajectories": CIRCLE, "metrics": "peak_force"} | changes))


def forces(**arguments: Any) -> Any:
    return ls.inverse_dynamics(ROBOT, position=HOME, **arguments).force


ROWS: tuple[tuple[Callable[[], object], type[Exception], str], ...] = (
    (lambda: ls.run("sweep.yaml"), ls.InputError, READ),
    (lambda: ls.compute(Path("sweep.yaml")), ls.InputError, READ),
    (lambda: ls.lazy("sweep.yaml"), ls.InputError, READ),
    (lambda: ls.plan("sweep.yaml"), ls.InputError, READ),
    (lambda: ls.submit("sweep.yaml"), ls.InputError, READ),
    (lambda: ls.append("out.zarr", "sweep.yaml"), ls.InputError, READ),
    (lambda: ls.run({"robot": "five_bar"}), ls.InputError, "sweep: got an object of type dict; expected a Sweep. Read a file with Sweep.from_yaml, or make one with sweep(robot, ...)."),
    (lambda: ls.Sweep.from_yaml({}), ls.InputError, "sweep: got an object of type dict; expected a path. Call Sweep.from_dict with a dict, or sweep(robot, ...) with objects."),
    (lambda: ls.run(small(), granularity="limbs"), ls.InputError, "granularity: got 'limbs'; expected one of limb, block. Leave it out: then the run chooses."),
    (lambda: ls.run(small(), 3), ls.StoreError, STORE),
    (lambda: ls.open(3), ls.StoreError, STORE),
    (lambda: ls.status(3), ls.StoreError, STORE),
    (lambda: ls.verify(3), ls.StoreError, STORE),
    (lambda: ls.export(3, "folder", "csv"), ls.StoreError, STORE),
    (lambda: ls.report(3), ls.ParameterError, "store: got 3; expected a path or a dataset of results, such as that of limbsweep.open or a sequence of a path or a dataset of results, such as that of limbsweep.open"),
    (lambda: ls.figure(3, "series", "a.png"), ls.ParameterError, "store: got 3; expected a path or a dataset of results, such as that of limbsweep.open"),
    (lambda: small(time="1 s"), ls.InputError, "time: got '1 s'; expected numbers. Such as numpy.linspace(0, 1, 1001), (stop, step), or {'stop': 1.0, 'samples': 1001}."),
    (lambda: ls.study.objective("a" * 5000), ls.ParameterError, f"text: got '{'a' * 56}...; expected a text of at most 4096 characters, without NUL"),
    (lambda: ls.schema(3), ls.InputError, "KIND: got 3; expected a kind of file. Known: sweep, robot, loops, cluster."),
    (lambda: ls.robots.build(3), ls.ParameterError, "robot: got an object of type int; expected the name of a robot"),
    (lambda: ls.robots.build("five_bar", proximal_length="long"), ls.ParameterError, "five_bar: proximal_length: got 'long'; expected a number in [0.00053, 100] m"),
    (lambda: ls.robots.build("five_bar", proximal_length=[0.5, 0.6]), ls.ParameterError, "five_bar: proximal_length: got [0.5, 0.6]; expected a number in [0.00053, 100] m"),
    (lambda: ls.inverse_dynamics("five_bar", position=HOME).force, ValueError, "robot: got 'five_bar'; expected a robot, such as that of limbsweep.robots.build"),
    (lambda: ls.inverse_dynamics(ls.robots.family("five_bar"), position=HOME).force, ValueError, "robot: got an object of type Family; expected a robot, such as that of limbsweep.robots.build"),
    (lambda: forces(parameters=[0.5]), ValueError, "inverse_dynamics: parameters: got an object of type list; expected a dict, a DataFrame or a Dataset of parameters"),
    (lambda: forces(parameters={"proximal_length": ["a"]}), ValueError, "inverse_dynamics: proximal_length: got ['a']; expected numbers"),
    (lambda: forces(parameters=pd.DataFrame({"proximal_length": [0.5, float("nan")]})), ls.ParameterError, "five_bar: proximal_length = nan is not finite; expected a number in [0.00053, 100] m"),
    (lambda: forces(parameters=pd.DataFrame({"proximal_lenght": [0.5]})), ls.ParameterError, "five_bar has no parameter 'proximal_lenght'; did you mean 'proximal_length'?"),
    (lambda: forces(parameters=pd.DataFrame([[0.5, 0.5]], columns=["proximal_length"] * 2)), ValueError, "inverse_dynamics: parameters: got the column 'proximal_length' twice; expected every column once"),
    (lambda: ls.cartesian_stiffness(ROBOT, 2e4, position=HOME), ValueError, "elasticity: got 20000.0; expected limbsweep.robots.Elasticity, such as by its method of"),
    (lambda: ls.pose_error(ROBOT, None, position=HOME), ValueError, "errors: got None; expected limbsweep.robots.Errors, such as by its method of"),
    (lambda: ls.clearance(ROBOT, 0.01, position=HOME), ValueError, "capsules: got 0.01; expected limbsweep.robots.Capsules, such as by its method of"),
)  # fmt: skip


@pytest.mark.parametrize(("call", "kind", "line"), ROWS, ids=[line[:40] for _, _, line in ROWS])
def test_a_mistake_is_told_in_one_line(
    call: Callable[[], object], kind: type[Exception], line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(kind) as refused:
        call()
    assert str(refused.value) == line
    assert list(tmp_path.iterdir()) == []


def test_a_data_frame_of_designs_is_its_columns() -> None:
    frame = pd.DataFrame({"proximal_length": [0.5, 0.52], "distal_length": [0.5, 0.55]}, index=[7, 3])
    expected = forces(parameters={name: frame[name].to_numpy() for name in frame})
    assert (forces(parameters=frame) == expected).all()
    assert forces(parameters=frame).shape == (2, 2)
