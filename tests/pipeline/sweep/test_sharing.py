"""More actuators than freedoms: weights, preload and least maxima in sweeps, against solvers of NumPy and SciPy."""

from __future__ import annotations

import numpy as np
import pytest
import xarray
from scipy.optimize import linprog

from pipeline import Sweep, run
from pipeline.errors import InputError
from pipeline.identification.recordings import refuse_unmodelled
from storage.errors import StoreError
from tests.pipeline.runs import SYNCHRONOUS

TEXT = """\
limbsweep: 1
robot: delta_4rr2rrr
trajectories: {circle: {kind: circle, radius: 0.1, period: 0.7}}
time: {stop: 0.9, step: 0.1}
outputs: [actuator_force, inverse_jacobian]
metrics: [peak_force]
"""
WEIGHTS = np.array([1.0, 1.0, 4.0, 0.5])
SPOKEN = "weights: {'*': 1}"


def forces(text: str = "") -> tuple[np.ndarray, np.ndarray, xarray.Dataset]:
    """Forces (time, actuator), J_IK (time, actuator, freedom) and the case of a sweep with a section."""
    part = run(Sweep.from_text(TEXT + text), cluster=SYNCHRONOUS).isel(
        design=0, trajectory=0, friction=0, missing_dims="ignore"
    )
    return part["actuator_force"].values, part["inverse_jacobian"].values, part


def section(names: list[str], **parts: np.ndarray) -> str:
    said = [
        f"{key}: {{{', '.join(f'{n}: {x}' for n, x in zip(names, row, strict=True))}}}" for key, row in parts.items()
    ]
    return f"sharing: {{{', '.join(said)}}}\n"


@pytest.fixture(scope="module")
def even() -> tuple[np.ndarray, np.ndarray, xarray.Dataset]:
    return forces()


def test_weights_and_preload_are_least_squares(even: tuple[np.ndarray, np.ndarray, xarray.Dataset]) -> None:
    force, jacobian, part = even
    names, preload = [str(name) for name in part["actuator"].values], np.array([2.0, -1.0, 2.0, 0.0])
    weighted, _, _ = forces(section(names, weights=WEIGHTS))
    pulled, _, _ = forces(section(names, weights=WEIGHTS, preload=preload))
    alike, _, _ = forces(f"sharing: {{{SPOKEN}}}\n")
    np.testing.assert_array_equal(alike, force)
    root = np.sqrt(WEIGHTS)
    for k, rows in enumerate(jacobian):
        wrench = rows.T @ force[k]
        for found, wished in ((weighted[k], 0.0 * preload), (pulled[k], preload)):
            np.testing.assert_allclose(rows.T @ found, wrench, rtol=0, atol=1e-11 * np.abs(wrench).max())
            expected = np.linalg.lstsq(rows.T / root, wrench - rows.T @ wished, rcond=None)[0] / root + wished
            np.testing.assert_allclose(found, expected, rtol=0, atol=1e-11 * np.abs(force).max())
    assert np.abs(pulled - weighted).max() > 0.1


def test_the_least_maximum_is_that_of_a_linear_programme(
    even: tuple[np.ndarray, np.ndarray, xarray.Dataset],
) -> None:
    force, jacobian, part = even
    names = [str(name) for name in part["actuator"].values]
    found, _, least = forces(section(names, weights=WEIGHTS).replace("{weights", "{rule: least_maximum, weights"))
    for k, rows in enumerate(jacobian):
        sides = np.vstack([np.c_[np.diag(sign * WEIGHTS), -np.ones(4)] for sign in (1.0, -1.0)])
        solved = linprog(
            [0.0] * 4 + [1.0], sides, np.zeros(8), np.c_[rows.T, np.zeros(3)], rows.T @ force[k], bounds=(None, None)
        )
        assert abs((WEIGHTS * np.abs(found[k])).max() - solved.fun) < 1e-9 * solved.fun
        np.testing.assert_allclose(rows.T @ found[k], rows.T @ force[k], rtol=0, atol=1e-11 * np.abs(force).max())
        assert (WEIGHTS * np.abs(found[k])).max() <= (WEIGHTS * np.abs(force[k])).max() * (1 + 1e-12)
    np.testing.assert_array_equal(least["peak_force"], np.abs(found).max(axis=0))


@pytest.mark.parametrize(
    ("robot", "text", "message"),
    [
        ("five_bar", "sharing: {rule: least_maximum}", "sharing: got a robot with 2 actuators for as many freedoms"),
        ("delta_4rr2rrr", "sharing: {weights: {elbow: 2}}", "No actuator is called 'elbow'"),
        ("delta_4rr2rrr", "sharing: {weights: {all: 2, '*': 1}}", "actuators that no other key selects"),
        ("delta_4rr2rrr", "sharing: {weights: {all: 0}}", "weights.all: got 0"),
        ("delta_4rr2rrr", "sharing: {rule: fair}", "sharing.rule: got 'fair'"),
        (
            "delta_4rr2rrr",
            "sharing: {rule: least_maximum, preload: {all: 1}}",
            "sharing.rule: got least_maximum with a preload",
        ),
        (
            "delta_4rr2rrr",
            "sharing: {rule: least_maximum}\nfriction: {law: viscous, joints: passive}",
            "sharing.rule: got least_maximum with friction in passive joints",
        ),
    ],
)
def test_what_cannot_be_shared_is_refused(robot: str, text: str, message: str) -> None:
    with pytest.raises(InputError, match="(?s).*" + message.replace("{", "\\{")):
        Sweep.from_text(TEXT.replace("delta_4rr2rrr", robot) + text)


def test_recordings_of_forces_shared_in_another_way_are_not_fitted() -> None:
    sweep = Sweep.from_text(TEXT + "sharing: {preload: {all: 1}}")
    with pytest.raises(StoreError, match="the section sharing says how actuators share forces, and regressors"):
        refuse_unmodelled(sweep, "s.zarr")
