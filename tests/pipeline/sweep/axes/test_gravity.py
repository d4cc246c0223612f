"""Gravity that designs sweep: the same bits as sweeps of their own, in studies and derivatives too."""

from __future__ import annotations

import numpy as np
import pytest

from applications.identification.dataset_card import lines
from applications.studies.problem import DesignProblem
from pipeline.cluster.file import ClusterConfig
from pipeline.errors import InputError
from pipeline.execution.run import compute, run
from pipeline.sweep.model import Sweep

TEXT = """\
limbsweep: 1
robot: {robot}
design: {design}
trajectories: {trajectories}
time: {{stop: 0.5, samples: 6}}
gravity: {gravity}
outputs: {outputs}
metrics: [peak_force]
"""
PLATFORM = "{q: {kind: quintic, start: [-0.05, 0, 0], end: [0.05, 0, 0], duration: 0.5}}"
CHAIN = "{q: {kind: quintic, start: 0.0, end: 0.4, duration: 0.5}}"
FIELDS = [(0.0, 0.0, -9.81), (3.0, 0.5, -9.0), (0.0, 0.0, 9.81)]
ROBOTS = {
    "delta_rl5_1450": ("payload_mass", (0.0, 3.0), PLATFORM),
    "gough_stewart": ("platform_radius", (0.2, 0.25), PLATFORM),
    "irb6": ("payload_mass", (0.0, 3.0), CHAIN),
}


def results(robot: str, design: str, gravity: object, trajectories: str):
    outputs = "[actuator_force, joint_reaction]" if robot.startswith("delta") else "[actuator_force]"
    text = TEXT.format(robot=robot, design=design, gravity=list(gravity), trajectories=trajectories, outputs=outputs)
    sweep = Sweep.from_text(text)
    return sweep, run(sweep, cluster=ClusterConfig.of("synchronous"))


@pytest.mark.parametrize("robot", ROBOTS)
def test_swept_gravity_is_that_of_sweeps_of_their_own(robot: str) -> None:
    name, values, motion = ROBOTS[robot]
    columns = zip("xyz", zip(*FIELDS, strict=True), strict=True)
    rows = ", ".join(f"gravity_{axis}: {list(column)}" for axis, column in columns)
    grid = f"grid: {{{name}: {list(values)}}}"
    sweep, ds = results(robot, f"{{{grid}, list: {{{rows}}}}}", FIELDS[0], motion)
    assert ds["gravity_x"].attrs["units"] == "m/s^2"
    assert "gravity" not in ds.attrs  # it is a coordinate
    for k, field in enumerate(FIELDS):
        assert sweep.gravity_of(k) == field
        alone_sweep, alone = results(robot, f"{{{grid}}}", field, motion)
        assert alone_sweep.gravity_of(1) == tuple(alone.attrs["gravity"]) == field
        for variable in alone.data_vars:
            assert ds[variable].values[k::3].tobytes() == alone[variable].values.tobytes()
    problem = DesignProblem.of(sweep, {name: values}, ["gravity_x", "gravity_y", "gravity_z"])
    order = [[field in zip(*problem.cases.values(), strict=True) for field in FIELDS]]
    assert all(order[0])
    at = [list(zip(*problem.cases.values(), strict=True)).index(field) for field in FIELDS]
    worst = ds["peak_force"].max([dim for dim in ds["peak_force"].dims if dim != "design"]).values
    middle = np.array([0.5 * sum(values)])
    assert np.array_equal(problem.by_case([[values[1]]], ["peak_force"])["peak_force"][0, at], worst[3:])
    if robot != "irb6":  # whose derivatives are compiled the quickest
        return
    step = 1e-4 * (values[1] - values[0])
    ends = [problem.by_case([middle + side * step], ["peak_force"])["peak_force"][0] for side in (1, -1)]
    found, rates = problem.rates(middle, ["peak_force"])["peak_force"]
    largest = np.argmax(found.reshape(3, -1), axis=1)
    slopes = rates.reshape(3, -1)[np.arange(3), largest]
    assert slopes == pytest.approx((ends[0] - ends[1]) / (2 * step), rel=1e-5, abs=1e-9)


SWEPT = {
    "robot": "five_bar", "design": "{grid: {gravity_z: [-9.81, 9.81]}}", "gravity": [0, 0, -9.81],
    "trajectories": "{c: {kind: circle, radius: 0.02, normal: [0, 1, 0]}}", "outputs": "[actuator_force]",
}  # fmt: skip


def test_gravity_is_swept_only_where_the_base_stands() -> None:
    with pytest.raises(InputError, match="gravity_z"):
        Sweep.from_text(TEXT.format(**SWEPT) + "base: {kind: circle, radius: 0.1}\n")


def test_gravity_is_differentiated_as_a_factor() -> None:
    problem = DesignProblem.of(Sweep.from_text(TEXT.format(**SWEPT)))
    assert problem.values([[-9.81]], ["peak_force"])["peak_force"][0] > 0.0
    before, here, after = (problem.rates([g], ["peak_force"])["peak_force"] for g in (-5.01, -5.0, -4.99))
    np.testing.assert_allclose(here[1][:, 0], (after[0] - before[0]) / 0.02, rtol=1e-9)


def test_the_card_of_a_dataset_says_whose_gravity_is_meant() -> None:
    sweep = Sweep.from_text(TEXT.format(**SWEPT))
    data = compute(sweep)
    assert "- gravity: that of each robot" in list(lines(sweep, data))
    alone = [*lines(Sweep.from_text(TEXT.format(**SWEPT | {"design": "{grid: {proximal_length: [0.5]}}"})), data)]
    assert "- gravity: 0, 0, -9.81 m/s^2" in alone
