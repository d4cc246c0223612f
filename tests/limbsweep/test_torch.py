"""Functions of tensors: PyTorch's own check of gradients, batches, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import limbsweep as ls
from benchmarks.gradients.checks import torch_check
from robots.status import Status
from tests.limbsweep.differentiated import CALLS, CheckedCall

torch = pytest.importorskip("torch", reason="PyTorch (extra torch) is missing")
pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning")  # of parts that PyTorch loads late
MASK = torch.tensor([0.0, 0.0, 0.0, 1.0, 1.0, 1.0], dtype=torch.float64)


def _tensor(values: Any) -> Any:
    return torch.tensor(values, dtype=torch.float64, requires_grad=True)


@pytest.fixture
def robot() -> ls.Robot:
    return ls.robots.build("delta_3rr2rrr")


@pytest.fixture
def position() -> Any:
    return _tensor([[0.0, 0.1, -0.9], [0.05, 0.0, -0.85]])


def test_inverse_dynamics_by_all_inputs(robot: ls.Robot, position: Any) -> None:
    inputs = {
        "position": position,
        "twist": _tensor([[0.0, 0.0, 0.0, 1.0, 2.0, 3.0]] * 2),
        "acceleration": _tensor([0.0, 0.0, 0.0, 1.0, -1.0, 0.5]),
        "upper_arm": _tensor(0.28),
        "coulomb": _tensor(0.3),
        "gravity": _tensor([0.0, 0.0, -9.81]),
        "load": _tensor([0.0, 0.0, 0.0, 1.0, 2.0, 3.0]),
    }

    def force(*values: Any) -> Any:
        part = dict(zip(inputs, values, strict=True))
        friction = {"law": "coulomb_viscous", "coulomb": part["coulomb"], "joints": "all", "width": 0.1}
        found = ls.torch.inverse_dynamics(
            robot, position=part["position"], twist=part["twist"] * MASK, acceleration=part["acceleration"] * MASK,
            gravity=part["gravity"], forces=ls.Forces(load=part["load"], friction=friction),
            parameters={"upper_arm": part["upper_arm"]},
        )  # fmt: skip
        return found.force, found.velocity

    assert torch.autograd.gradcheck(force, tuple(inputs.values()), check_forward_ad=True)


def test_functions_that_solve(robot: ls.Robot, position: Any) -> None:
    def acceleration(position: Any, twist: Any, arm: Any, push: Any) -> Any:
        return ls.torch.forward_dynamics(
            robot, position=position, twist=twist * MASK, forces=ls.Forces(actuator=push), parameters={"upper_arm": arm}
        ).acceleration

    def pose(angles: Any, arm: Any) -> Any:
        return ls.torch.forward_kinematics(robot, actuator_position=angles, parameters={"upper_arm": arm}).position

    arm, twist = _tensor(0.28), _tensor([0.0, 0.0, 0.0, 1.0, 2.0, 3.0])
    assert torch.autograd.gradcheck(acceleration, (position, twist, arm, _tensor([1.0, 2.0, 3.0])))
    angles = ls.torch.actuator_positions(robot, position=position.detach(), parameters={"upper_arm": 0.28}).position
    assert torch.autograd.gradcheck(pose, (angles.requires_grad_(), arm), check_forward_ad=True)


def test_second_derivatives() -> None:
    arm = ls.robots.build("planar_3r")
    inputs = (_tensor([0.3, -0.2, 0.5]), _tensor(arm.values["length_1"]), _tensor(0.3))

    def force(q: Any, length: Any, coulomb: Any) -> Any:
        friction = {"law": "coulomb_viscous", "coulomb": coulomb, "joints": "all", "width": 0.1}
        forces = ls.Forces(friction=friction)
        return ls.torch.inverse_dynamics(
            arm, q=q, qd=[1.0, 0.3, -0.4], forces=forces, parameters={"length_1": length}
        ).force

    def acceleration(q: Any, length: Any) -> Any:
        push = ls.Forces(actuator=[1.0, 2.0, 0.5])
        return ls.torch.forward_dynamics(arm, q=q, forces=push, parameters={"length_1": length}).acceleration

    assert torch.autograd.gradgradcheck(force, inputs)
    assert torch.autograd.gradgradcheck(acceleration, inputs[:2])


@pytest.mark.parametrize("name", ["inverse_kinematics", "joint_reactions"])
def test_other_functions_with_designs_of_a_batch(robot: ls.Robot, position: Any, name: str) -> None:
    def result(position: Any, arm: Any) -> Any:
        return getattr(ls.torch, name)(robot, position=position, parameters={"upper_arm": arm})[0]

    assert torch.autograd.gradcheck(result, (position, _tensor([0.27, 0.28])))


def test_an_optimiser_finds_the_arm_that_a_robot_has(robot: ls.Robot, position: Any) -> None:
    measured = torch.from_numpy(ls.inverse_dynamics(robot, position=position.detach().numpy()).force)
    arm = _tensor(robot.values["upper_arm"] * 1.05)
    search = torch.optim.LBFGS(
        [arm], line_search_fn="strong_wolfe", lr=0.01, tolerance_grad=1e-12, tolerance_change=1e-16
    )

    def loss() -> Any:
        search.zero_grad()
        found = ls.torch.inverse_dynamics(robot, position=position.detach(), parameters={"upper_arm": arm}).force
        value = (found - measured).square().sum()
        value.backward()
        return value

    for _ in range(20):
        search.step(loss)
    assert arm.item() == pytest.approx(robot.values["upper_arm"], abs=1e-7)


def test_failed_samples_are_masked_by_their_status(robot: ls.Robot) -> None:
    position = _tensor([[0.0, 0.1, -0.9], [0.0, 0.1, 5.0]])
    found = ls.torch.inverse_dynamics(robot, position=position)
    found.force[found.status == int(Status.OK)].sum().backward()
    assert torch.isfinite(position.grad).all()
    assert position.grad[0].abs().max() > 1.0


@pytest.mark.slow
@pytest.mark.parametrize("row", CALLS, ids=lambda row: f"{row.function}-{row.robot}-{len(row.arrays)}")
def test_every_function_by_the_check_of_the_package(row: CheckedCall) -> None:
    assert torch_check(row, row.build())


SWEEP = """\
limbsweep: 1
robot: delta_rl5_1450
design: {grid: {upper_arm: [0.3, 0.4], gear_ratio: [40, 60]}}
trajectories:
  pick: {kind: quintic, start: [-0.15, 0, 0], end: [0.15, 0, 0.05], duration: 0.3}
time: {stop: 0.3, step: 0.01}
metrics: [rms_force]
"""


def test_an_objective_of_a_sweep() -> None:
    problem = ls.study.DesignProblem.of(ls.Sweep.from_text(SWEEP))
    designs = _tensor([[0.33, 45.0], [0.36, 52.0]])
    value = ls.torch.objective(problem, "rms_force / upper_arm", designs)
    assert value.shape == (2,)
    value.sum().backward()
    step = np.array([1e-5, 1e-3])
    for k, row in enumerate(designs.detach().numpy()):
        for j in range(2):
            ahead, behind = (
                float(
                    ls.torch.objective(
                        problem, "rms_force / upper_arm", torch.from_numpy(row + sign * step * np.eye(2)[j])
                    )
                )
                for sign in (1.0, -1.0)
            )
            assert float(designs.grad[k, j]) == pytest.approx((ahead - behind) / (2 * step[j]), rel=1e-5)


def test_an_objective_takes_tensors_alone() -> None:
    problem = ls.study.DesignProblem.of(ls.Sweep.from_text(SWEEP))
    with pytest.raises(ValueError, match=r"designs: got an array of shape \(1, 2\).*; expected a tensor"):
        ls.torch.objective(problem, "rms_force", np.zeros((1, 2)))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"position": torch.zeros(3)}, "position: got a tensor of torch.float32; expected torch.float64: convert it"),
        ({"position": torch.zeros(3, dtype=torch.cfloat)}, "position: got .* torch.complex64; expected torch.float64$"),
        ({"position": torch.zeros(3, dtype=torch.float64, device="meta")}, "position: got a tensor on meta"),
        ({"parameters": {"upperarm": _tensor(0.3)}}, "has no parameter 'upperarm'"),
        ({"time": _tensor(0.3)}, "time: "),
        ({"parameters": {"upper_arm": _tensor([1.0, 2.0, 3.0])}, "position": torch.zeros(2, 3).double()}, "parameters"),
    ],
)
def test_tensors_that_do_not_fit(robot: ls.Robot, arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ls.torch.inverse_dynamics(robot, **{"position": np.array([0.0, 0.1, -0.9]), **arguments})
