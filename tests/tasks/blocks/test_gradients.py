"""Derivatives of metrics by design parameters against finite differences of high order, on every robot."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.gradients.complex_steps import STEP
from benchmarks.gradients.metrics import stepped
from pipeline.execution import work
from robots import catalog
from robots.friction.groups import FrictionGroup, group_parameters, select
from robots.quantities import needing, of_criteria
from robots.requested import QuantityNames
from robots.trajectories.kinds import Turn
from robots.trajectories.trajectory import Trajectory
from tasks.blocks import gradients
from tasks.blocks.block import Block
from tasks.blocks.designs import BlockDesigns
from tasks.blocks.gradients import AHEAD, metric_rates
from tasks.stages.metrics import actuators

STEPS = np.array([-3, -2, -1, 1, 2, 3])
WEIGHTS = np.array([-1, 9, -45, 45, -9, 1]) / 60
"""The first derivative to sixth order."""


WAVE = {"centre": [0.0] * 3, "period": 1.0, "phase": 0.4}


def motion_of(robot: str) -> Trajectory:
    """A short motion that the robot can make."""
    mechanism = catalog.family(robot).reference
    if mechanism.is_chain:
        count = len(mechanism.freedoms)
        values = {"centre": 0.02, "amplitude": 0.05, "period": 1.0, "phase": 0.4}
        return Trajectory("harmonic", {name: np.full(count, value) for name, value in values.items()})
    amplitude = [0.013 if f"v{axis}" in mechanism.platform.mobility else 0.0 for axis in "xyz"]
    amplitude = [a * k for a, k in zip(amplitude, (1.0, -0.7, 0.6), strict=True)]
    turn = None if any(amplitude) else Turn("harmonic", {**WAVE, "amplitude": [0.05, -0.04, 0.03]})
    return Trajectory("line_sine", {**WAVE, "amplitude": amplitude}, turn=turn)


def block(robot: str, metrics: tuple[str, ...] = ("peak_force",), joints: str = "actuated", times: int = 21) -> Block:
    family = catalog.family(robot)
    values = np.array([[each.scalar for each in family.parameters]])
    names = tuple(each.name for each in group_parameters("coulomb_viscous", "constant"))
    group = FrictionGroup("", "coulomb_viscous", "constant", select(family.reference, joints), names)
    size = [0.2 if name == "viscous" else 0.1 for name in names]
    designs = BlockDesigns(values, np.array([[0.0, 0.0, -9.81]]))
    return Block(
        index=0, robot=robot, designs=designs, groups=(group,), friction=np.array([size]),
        trajectories=(motion_of(robot),), times=np.linspace(0.0, 0.9, times),
        origin=family.reference.platform.home.position, quantities=QuantityNames((), metrics),
    )  # fmt: skip


def values_of(given: Block) -> dict[str, np.ndarray]:
    """The metrics by the kernels of a run, which know nothing of derivatives."""
    return work.whole(given)


def differences(given: Block, step: float) -> list[dict[str, np.ndarray]]:
    """Derivatives by each parameter."""
    sizes = [max(abs(each.scalar), 0.1) * step for each in given.family.parameters]
    rows = given.designs.parameters + np.concatenate([np.outer(STEPS, row) for row in np.diag(sizes)])
    found = values_of(replace(given, designs=given.designs.moved(rows)))
    parts = {name: value.reshape(len(sizes), len(STEPS), *value.shape[1:]) for name, value in found.items()}
    return [
        {name: np.tensordot(WEIGHTS, part[p], axes=1) / size for name, part in parts.items()}
        for p, size in enumerate(sizes)
    ]


def metrics_of(robot: str) -> tuple[str, ...]:
    """Metrics that can be differentiated; effective masses of small robots alone: six freedoms take long to compile."""
    mechanism = catalog.family(robot).reference
    left_out = {"usable_share", "reachable_share", "peak_reaction", *(() if mechanism.motors else needing("motors"))}
    left_out |= {*of_criteria(), *needing("constraints")}  # the latter are constants of most robots here
    left_out |= set(needing("mass matrix")) if len(mechanism.freedoms) > 3 else set()
    square = len(mechanism.actuators) == len(mechanism.freedoms)
    left_out |= set() if square else set(needing("as many actuators as freedoms"))
    return tuple(name for name in gradients.DIFFERENTIABLE if name not in left_out)


def smooth(name: str, values: dict[str, np.ndarray], errors: np.ndarray) -> np.ndarray:
    """Errors where a metric is smooth: a friction share is not where there is no other force, as sizes have a kink."""
    return np.where(values[name] > 1.0 - 1e-12, 0.0, errors) if name == "friction_share" else errors


@pytest.mark.parametrize("robot", catalog.FAMILIES)
def test_every_parameter_of_every_robot_against_finite_differences(robot: str) -> None:
    given = block(robot, metrics_of(robot))
    got = metric_rates(given, np.eye(given.designs.parameters.shape[1]))
    plain = values_of(given)
    for name in given.metrics:
        assert np.isfinite(plain[name]).all()
        np.testing.assert_allclose(got[name].values[..., 0], plain[name], rtol=1e-9, atol=1e-12)
    # a long step may reach over a kink, where another sample becomes the peak; a short one has more rounding
    expected = [differences(given, step) for step in (3e-4, 1e-5, 1e-6, 1e-7)]
    ways = [metric_rates(given, way * np.eye(given.designs.parameters.shape[1]), kind=AHEAD) for way in (1.0, -1.0)]
    for p, parameter in enumerate(given.family.parameters):
        for name in given.metrics:
            if not plain[name].any():
                continue  # a singular mass matrix: the root of zero has no derivative
            rates = [each[p][name] for each in expected]
            size = np.abs(plain[name]).max() / max(abs(parameter.scalar), 0.1)
            scale = max(size, *(np.abs(rate).max() for rate in rates))
            up, down = (way[name].rates[p][..., 0] for way in ways)  # at a kink differences give the mean of both
            slopes = (got[name].rates[p][..., 0], 0.5 * (up - down))
            errors = [np.abs(smooth(name, plain, slope - rate)).max() for slope in slopes for rate in rates]
            assert min(errors) <= 1e-7 * scale, (parameter.name, name, errors, scale)


QUICK = ("five_bar", "planar_3r", "five_axis_tree", "rover_rocker", "three_loop_leg", "delta_3rr2rrr")
SLOW = [pytest.param(robot, marks=pytest.mark.slow) for robot in catalog.FAMILIES if robot not in QUICK]


@pytest.mark.parametrize("robot", [*QUICK, *SLOW])
def test_peaks_of_reactions_against_finite_differences(robot: str) -> None:
    require_reaction_rates(block(robot, ("peak_reaction",)), sets=False)


@pytest.mark.parametrize("robot", ["five_bar", "three_loop_leg", pytest.param("irsbot2", marks=pytest.mark.slow)])
def test_peaks_of_reactions_with_friction_in_passive_joints(robot: str) -> None:
    require_reaction_rates(block(robot, ("peak_reaction",), joints="all"), sets=True)


def require_reaction_rates(given: Block, *, sets: bool) -> None:
    """Derivatives by all parameters agree with differences of one of three steps; a kink may be beside the others."""
    got = metric_rates(given, np.eye(given.designs.parameters.shape[1]))["peak_reaction"]
    plain = values_of(given)["peak_reaction"]
    assert plain.ndim == (5 if sets else 4)
    np.testing.assert_allclose(got.values[..., 0], plain, rtol=1e-13, atol=1e-15 * np.nanmax(plain))
    expected = [differences(given, step) for step in (3e-4, 1e-5, 1e-6)]
    for p, parameter in enumerate(given.family.parameters):
        rates = [each[p]["peak_reaction"] for each in expected]
        scale = max(np.abs(plain).max() / max(abs(parameter.scalar), 0.1), *(np.abs(rate).max() for rate in rates))
        errors = [np.abs(got.rates[p][..., 0] - rate).max() for rate in rates]
        assert min(errors) <= 1e-7 * scale, (parameter.name, errors, scale)


def test_peaks_of_reactions_fail_with_their_samples_and_have_windows() -> None:
    given = block("five_bar", ("peak_reaction", "peak_force"))
    along = np.eye(given.designs.parameters.shape[1])[:2]
    whole, parts = (metric_rates(given, along, windows)["peak_reaction"] for windows in (1, 4))
    np.testing.assert_array_equal(parts.values.max(axis=-1), whole.values[..., 0])
    far = replace(given.trajectories[0], values=given.trajectories[0].values | {"amplitude": [2.0, 0.0, 0.0]})
    failed = metric_rates(replace(given, trajectories=(given.trajectories[0], far)), along)["peak_reaction"]
    np.testing.assert_array_equal(failed.values[:, 0], whole.values[:, 0])
    assert np.isnan(failed.values[:, 1]).all()


def test_passive_friction_of_constant_load_is_differentiated() -> None:
    given = block("delta_3rr2rrr", ("rms_force",), joints="all")
    got = metric_rates(given, np.eye(given.designs.parameters.shape[1]))
    for p, expected in enumerate(differences(given, 1e-4)):
        np.testing.assert_allclose(got["rms_force"].rates[p][0, ..., 0], expected["rms_force"], rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize(("robot", "joints"), [("five_bar", "passive"), ("delta_3rr2rrr", "all")])
def test_friction_loaded_by_reactions_is_differentiated(robot: str, joints: str) -> None:
    plain = block(robot, ("rms_force", "peak_force"), times=9)
    names = tuple(each.name for each in group_parameters("coulomb_viscous", "reaction"))
    sizes = {"coulomb": 0.3, "viscous": 0.02, "friction_arm": 0.01, "pin_radius": 0.02, "bending_arm": 0.05}
    group = FrictionGroup("", "coulomb_viscous", "reaction", select(plain.family.reference, joints), names)
    given = replace(plain, groups=(group,), friction=np.array([[sizes.get(name, 0.0) for name in names]]))
    got = metric_rates(given, np.eye(given.designs.parameters.shape[1]))
    before = values_of(replace(given, friction=given.friction * 0.0 + 1e-9))["rms_force"]
    assert np.abs(values_of(given)["rms_force"] - before).max() > 0.01 * np.abs(before).max()
    for name in given.metrics:
        expected = [differences(given, step) for step in (1e-4, 1e-5)]
        for p, parameter in enumerate(given.family.parameters):
            rates = [each[p][name] for each in expected]
            size = max(np.abs(before).max() / max(abs(parameter.scalar), 0.1), np.abs(rates[0]).max())
            errors = [np.abs(got[name].rates[p][..., 0] - rate).max() for rate in rates]
            assert min(errors) <= 1e-7 * size, (parameter.name, name, errors, size)


def test_a_direction_is_the_sum_of_its_parameters() -> None:
    given = block("delta_rl5_1450", ("peak_force", "rms_force"))
    count = given.designs.parameters.shape[1]
    along = np.random.default_rng(1).normal(size=(1, count))
    one, each = metric_rates(given, along), metric_rates(given, np.eye(count))
    for name in given.metrics:
        summed = np.tensordot(along, each[name].rates, axes=1)
        np.testing.assert_allclose(one[name].rates, summed, rtol=1e-10, atol=1e-10)


def test_metrics_agree_with_complex_steps_through_the_stages() -> None:
    given = block("five_bar", ("rms_force", "peak_force", "condition", "peak_reaction"), times=5)
    count = given.designs.parameters.shape[1]
    got, ends = metric_rates(given, np.eye(count)), stepped(given)
    for name in given.metrics:
        expected = ends[name].imag / STEP
        scale = np.nanmax(np.abs(expected))
        np.testing.assert_allclose(got[name].rates.reshape(count, -1).T, expected, rtol=0.0, atol=1e-10 * scale)


def test_designs_and_trajectories_do_not_mix() -> None:
    given = block("delta_3rr2rrr", ("rms_force", "condition"))
    other = replace(given.trajectories[0], values=given.trajectories[0].values | {"period": 0.7})
    rows = np.repeat(given.designs.parameters, 3, axis=0) * np.array([[1.0], [1.02], [0.98]])
    along = np.eye(rows.shape[1])[:4]
    whole = metric_rates(
        replace(given, designs=given.designs.moved(rows), trajectories=(*given.trajectories, other)), along
    )
    for d in range(3):
        for j, trajectory in enumerate((*given.trajectories, other)):
            alone = metric_rates(
                replace(given, designs=given.designs.moved(rows[d : d + 1]), trajectories=(trajectory,)), along
            )
            np.testing.assert_array_equal(whole["rms_force"].rates[:, d, :, j], alone["rms_force"].rates[:, 0, :, 0])
            np.testing.assert_array_equal(whole["condition"].values[d, j], alone["condition"].values[0, 0])


def test_windows_hold_the_peak() -> None:
    given = block("delta_3rr2rrr", ("peak_force", "rms_force"))
    whole, parts = (metric_rates(given, np.eye(given.designs.parameters.shape[1])[:2], windows) for windows in (1, 5))
    assert (whole["peak_force"].values.shape, parts["peak_force"].values.shape) == ((1, 1, 1, 3, 1), (1, 1, 1, 3, 5))
    best = parts["peak_force"].values.argmax(axis=-1)[..., None]
    for kind in ("values", "rates"):
        array = getattr(parts["peak_force"], kind)
        taken = np.take_along_axis(array, np.broadcast_to(best, (*array.shape[:-1], 1)), axis=-1)
        np.testing.assert_array_equal(taken, getattr(whole["peak_force"], kind))
    assert parts["rms_force"].values.shape[-1] == 1


def test_a_case_with_a_failed_sample_is_nan() -> None:
    given = block("delta_3rr2rrr", ("peak_force", "energy"))
    far = replace(given.trajectories[0], values=given.trajectories[0].values | {"amplitude": [2.0, 0.0, 0.0]})
    got = metric_rates(replace(given, trajectories=(far,)), np.eye(given.designs.parameters.shape[1])[:1])
    assert all(np.isnan(each.values).all() for each in got.values())


def test_what_cannot_be_differentiated_is_refused() -> None:
    given = block("delta_3rr2rrr")
    with pytest.raises(ValueError, match=r"directions: got an array of shape \(2, 3\); expected \(directions, \d+\)"):
        metric_rates(given, np.zeros((2, 3)))
    with pytest.raises(ValueError, match=r"metric 'failed_samples' is not differentiated; expected some of peak_force"):
        metric_rates(
            replace(given, quantities=QuantityNames((), ("failed_samples",))), np.eye(given.designs.parameters.shape[1])
        )
    bristles = replace(given.groups[0], law="lugre")
    with pytest.raises(ValueError, match=r"friction law 'lugre' is not differentiated; expected a law without state"):
        metric_rates(replace(given, groups=(bristles,)), np.eye(given.designs.parameters.shape[1]))


def test_all_metrics_of_actuators_are_differentiable() -> None:
    assert set(actuators.METRICS) < set(gradients.DIFFERENTIABLE)
