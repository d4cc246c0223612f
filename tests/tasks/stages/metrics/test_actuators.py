"""Series and metrics with friction against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from robots import catalog
from robots.friction.groups import FrictionGroup, select
from robots.quantities import needing
from tasks.features.friction.feature import FrictionForces
from tasks.features.limits import Supplied
from tasks.kernels.kernel import Kernel, padded
from tasks.stages.assembly import actuation_program
from tasks.stages.metrics import actuators
from tasks.stages.metrics.actuators import trapezoid_weights
from tests.tasks.bits import padded_last

FAMILY = catalog.family("delta_3rr2rrr")
MOTORS = FrictionGroup("", "coulomb_viscous", "constant", select(FAMILY.reference, "actuated"), ("coulomb", "viscous"))
SERIES, METRICS = (
    {name: each for name, each in table.items() if name not in needing("motors")}
    for table in (actuators.SERIES, actuators.METRICS)
)
LIMITED = Supplied(electric=False, limited=True, fed=False)
SAMPLES = 21
COULOMB, VISCOUS = 0.3, 0.05
CAPACITY = (2.0, np.inf, 5.0)
TIMES = np.sort(np.random.default_rng(9).uniform(0.0, 2.0, SAMPLES))


def computed(force: np.ndarray, velocity: np.ndarray, status: np.ndarray) -> dict[str, np.ndarray]:
    """Series and metrics for one friction set, (actuators, samples) and (actuators,)."""
    made = actuation_program(FAMILY, (FrictionForces((MOTORS,)), LIMITED), tuple(SERIES), tuple(METRICS))
    samples = {"force": force, "velocity": velocity, "status": status[None], "weight": trapezoid_weights(TIMES)[None]}
    wide = {name: padded_last(value, padded(SAMPLES))[None] for name, value in samples.items()}
    case = {"friction": np.array([[COULOMB, VISCOUS]]), "capacity": np.tile(CAPACITY, 3)[None]}
    out = Kernel(made)({**case, **wide}, SAMPLES)
    return {name: value[0, :, :SAMPLES] if value.ndim == 3 else value[0] for name, value in out.items()}


def samples() -> tuple[np.ndarray, np.ndarray]:
    force, velocity = np.random.default_rng(10).normal(size=(2, 3, SAMPLES))
    velocity[1, 4] = 0.0
    return force, velocity


def test_series_and_metrics_agree_with_numpy() -> None:
    force, velocity = samples()
    got = computed(force, velocity, np.zeros(SAMPLES))
    total = force + COULOMB * np.sign(velocity) + VISCOUS * velocity
    power, span = total * velocity, float(TIMES[-1] - TIMES[0])
    expected = {
        "actuator_force": total,
        "actuator_power": power,
        "peak_force": np.abs(total).max(axis=1),
        "peak_velocity": np.abs(velocity).max(axis=1),
        "rms_velocity": np.sqrt(np.trapezoid(velocity**2, TIMES) / span),
        "rms_power": np.sqrt(np.trapezoid(power**2, TIMES) / span),
        "peak_friction": np.abs(total - force).max(axis=1),
        "friction_loss": np.trapezoid((total - force) * velocity, TIMES),
        "actuator_margin": 1.0 - np.maximum(np.abs(total) / CAPACITY[0], np.abs(power) / CAPACITY[2]).max(axis=1),
        "friction_share": np.trapezoid(np.abs(total - force), TIMES)
        / np.trapezoid(np.abs(total - force) + np.abs(force), TIMES),
        "peak_power": np.abs(power).max(axis=1),
        "rms_force": np.sqrt(np.trapezoid(total**2, TIMES) / span),
        "energy": np.trapezoid(np.maximum(power, 0.0), TIMES),
        "regenerated_energy": np.trapezoid(np.maximum(-power, 0.0), TIMES),
        "work": np.trapezoid(power, TIMES),
    }
    assert set(expected) == {*SERIES, *METRICS}
    for name, value in expected.items():
        finish = METRICS[name].finished if name in METRICS else lambda x, span: x
        np.testing.assert_allclose(finish(got[name], span), value, rtol=1e-13, atol=1e-14, err_msg=name)


def test_energies_balance() -> None:
    force, velocity = samples()
    got = computed(force, velocity, np.zeros(SAMPLES))
    net = np.trapezoid(got["actuator_power"], TIMES)
    np.testing.assert_allclose(got["energy"] - got["regenerated_energy"], net, rtol=1e-12)


def shares(groups: tuple[FrictionGroup, ...], friction: np.ndarray, force: np.ndarray) -> np.ndarray:
    """The friction share (actuator,) of a motion with these forces without friction (actuator, samples)."""
    made = actuation_program(FAMILY, (FrictionForces(groups),), (), ("friction_share",))
    given = {"force": force, "velocity": samples()[1], "status": np.zeros((1, SAMPLES))}
    wide = {name: padded_last(value, padded(SAMPLES))[None] for name, value in given.items()}
    wide["weight"] = padded_last(trapezoid_weights(TIMES)[None], padded(SAMPLES))[None]
    inputs = {"friction": friction, **wide}
    got = Kernel(made)({name: inputs[name] for name in made.inputs}, SAMPLES)["friction_share"]
    return METRICS["friction_share"].finished(got, 1.0)[0]


def test_friction_has_no_share_without_friction_and_all_of_it_without_other_forces() -> None:
    force = samples()[0]
    assert shares((), np.zeros((1, 0)), force).tolist() == [0.0] * 3
    assert shares((), np.zeros((1, 0)), 0.0 * force).tolist() == [0.0] * 3
    assert shares((MOTORS,), np.array([[COULOMB, VISCOUS]]), 0.0 * force).tolist() == [1.0] * 3


def test_the_share_of_friction_grows_with_it() -> None:
    one, more = (shares((MOTORS,), np.array([[COULOMB, VISCOUS]]) * k, samples()[0]) for k in (1.0, 2.0))
    assert (more > one).all()
    np.testing.assert_allclose(more / (1.0 - more), 2.0 * one / (1.0 - one), rtol=1e-12)


@pytest.mark.parametrize("metric", METRICS)
def test_a_failed_sample_spoils_every_metric_of_its_case(metric: str) -> None:
    force, velocity = samples()
    status = np.zeros(SAMPLES)
    status[13] = 1.0
    got = computed(force, velocity, status)
    assert np.isnan(got[metric]).all()
    for name in SERIES:
        assert np.isnan(got[name][:, 13]).all()
        assert np.isfinite(np.delete(got[name], 13, axis=1)).all()


def test_only_what_is_wanted_is_computed() -> None:
    least = actuation_program(FAMILY, (), (), ("peak_velocity",))
    assert set(least.outputs) == {"peak_velocity"}
    assert "mul" not in least.operations()


def test_trapezoid_weights() -> None:
    np.testing.assert_allclose(trapezoid_weights(np.array([0.0, 1.0, 3.0])), [0.5, 1.5, 1.0])
    np.testing.assert_array_equal(trapezoid_weights(np.array([5.0])), [1.0])
    assert trapezoid_weights(TIMES).sum() == pytest.approx(TIMES[-1] - TIMES[0])
