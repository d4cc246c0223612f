"""Calls with tensors without a package for these: marked arrays of NumPy, in both directions, against differences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import limbsweep as ls
from limbsweep.tensors.calls import FUNCTIONS, TensorCall
from tasks.dynamics.differentiate import EXTRAPOLATED, KINDS, WITHOUT
from tests.limbsweep.differentiated import ARM, CALLS, DELTA, MASK, CheckedCall

STEP = 1e-5


class Marked(np.ndarray):
    """An array in the place of a tensor."""


class Face:
    """Functions on marked arrays, and the last call."""

    def __init__(self) -> None:
        self.call: Any = None
        self.derivatives: Any = None

    def __getattr__(self, name: str) -> Callable[..., Any]:
        def function(robot: ls.Robot, **arguments: Any) -> Any:
            self.call = TensorCall.of(name, robot, arguments, lambda value: isinstance(value, Marked))
            self.derivatives = self.call.at([np.asarray(array) for array in self.call.tensors.values()])
            results = self.derivatives.results
            return (*(results[key] for key in self.call.outputs), results["status"])

        return function


def _marked(array: np.ndarray) -> Any:
    return np.asarray(array).view(Marked)


@pytest.mark.parametrize("row", CALLS, ids=lambda row: f"{row.function}-{row.robot}-{len(row.arrays)}")
def test_both_directions_are_those_of_differences(row: CheckedCall) -> None:
    robot, face, rng = row.build(), Face(), np.random.default_rng(1)
    inputs = row.inputs()

    def results(inputs: list[np.ndarray]) -> list[Any]:
        return row.call(face, robot, [_marked(x) for x in inputs], MASK)

    values = results(inputs)
    call, derivatives, tensors = face.call, face.derivatives, dict(face.call.tensors)
    batch = np.shape(derivatives.results["status"])
    assert [(*batch, *shape) for shape in call.result_shapes()] == [part.shape for part in values]
    ways = [rng.uniform(-0.05, 0.05, x.shape) for x in inputs]
    results([x + way for x, way in zip(inputs, ways, strict=True)])
    rates = [np.asarray(moved - tensors[key]) for key, moved in face.call.tensors.items()]
    ahead, behind = (
        results([x + sign * STEP * way for x, way in zip(inputs, ways, strict=True)]) for sign in (1.0, -1.0)
    )
    expected = [(plus - minus) / (2.0 * STEP) for plus, minus in zip(ahead, behind, strict=True)]
    forward = call.jvp(derivatives, rates)
    for found, wanted, value in zip(forward, expected, values, strict=True):
        size = np.nanmax(np.abs(wanted), initial=np.nanmax(np.abs(value)))
        np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6 * size)
    seeds = [np.cos(np.arange(part.size)).reshape(part.shape) / (np.abs(part).max() or 1.0) for part in values]
    backward = call.vjp(derivatives, [np.where(np.isnan(x), 0.0, x) for x in seeds])
    along = sum(float((gradient * rate).sum()) for gradient, rate in zip(backward, rates, strict=True))
    parts = [np.nansum(seed * rate) for seed, rate in zip(seeds, forward, strict=True)]
    assert along == pytest.approx(sum(parts), rel=1e-9, abs=1e-9 * max(map(abs, parts)))


@pytest.mark.parametrize("name", WITHOUT)
def test_functions_without_a_derivative_say_why(name: str) -> None:
    with pytest.raises(ValueError, match=f"function: got {name}, which is not differentiated: ") as error:
        ls.differentiate(getattr(ls, name), ls.robots.build(ARM), q=[0.0, 0.0, 0.0])
    assert str(error.value).endswith(WITHOUT[name])


def test_every_function_on_arrays_is_differentiated_or_says_why() -> None:
    from limbsweep.labelled.table import RESULTS

    told = {*KINDS, *EXTRAPOLATED, *WITHOUT}
    assert {*RESULTS} <= told
    assert {*FUNCTIONS} - {"simulate"} == {*KINDS, *EXTRAPOLATED}
    assert {row.function for row in CALLS} == {*FUNCTIONS}
    assert {name for name in told if not hasattr(ls, name)} == set()


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        ("regressor", {"q": [0.0] * 3, "elasticity": 1.0}, "elasticity: got 1.0"),
        ("regressor", {"q": [0.0] * 3, "row": 1}, "row: got it for regressor, which has no such argument"),
        ("inverse_dynamics", {"q": [0.0] * 3, "row": 1}, "row: got it for inverse_dynamics where it is differentiated"),
        ("motor_demand", {"q": [0.0] * 3, "force": [0.0] * 3}, "motion: got one for motor_demand"),
        ("bias_vector", {"q": [0.0] * 3, "forces": ls.Forces(load=[0.0] * 6)}, "forces: got them for bias_vector"),
        (
            "regressor",
            {"q": [0.0] * 3, "parameters": {"length_1": [0.4, 0.5]}},
            r"an array of shape \(2,\); expected one",
        ),
        ("regressr", {"q": [0.0] * 3}, "function: got 'regressr'; did you mean 'regressor'"),
    ],
)
def test_arguments_that_do_not_fit(name: str, arguments: dict[str, Any], message: str) -> None:
    def unknown(robot: ls.Robot) -> None:
        """Do nothing."""

    unknown.__name__ = name
    with pytest.raises(ValueError, match=message):
        ls.differentiate(getattr(ls, name, unknown), ls.robots.build(ARM), **arguments)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"gains": {"ki": _marked(np.array(1.0))}}, "gains: got ki; known: kp, kd"),
        ({"gains": {"kp": _marked(np.ones(2))}}, r"gains: kp: got an array of shape \(2,\); expected one number"),
        ({"drive": None, "gains": {"kp": _marked(np.array(1.0))}}, "gains: got them without a servo"),
        ({"parameters": {"length_1": _marked(np.ones(2))}}, r"length_1: got an array of shape \(2,\)"),
    ],
)
def test_arguments_of_simulations_that_do_not_fit(arguments: dict[str, Any], message: str) -> None:
    arm = ls.robots.build(ARM)
    servo = ls.servo(arm, "pd", reference={"q": [[0.0] * 3]}, step=0.01, kp=30.0, kd=1.0)
    call = {"state": ls.State(q=[0.0] * 3), "drive": servo, "times": [0.0, 0.01], **arguments}
    with pytest.raises(ValueError, match=message):
        Face().simulate(arm, **call)


def test_derivatives_are_missing_at_kinks_and_failed_samples() -> None:
    robot = ls.robots.build(DELTA)
    soft = ls.robots.Elasticity.of(robot.mechanism, actuators={"all": 2e4})
    at = ls.differentiate(ls.cartesian_stiffness, robot, elasticity=soft, position=[[0.0, 0.0, -0.9], [0.0, 0.1, 5.0]])
    gradient = at.vjp({"least": [1.0, 0.0], "largest": [0.0, 0.0]})["position"]
    assert np.isnan(gradient[0, :2]).all()  # two axes are equally soft there, and part as it moves
    assert (gradient[1] == 0.0).all()
    assert np.isnan(at.vjp({"least": [0.0, 1.0]})["position"][1]).all()
