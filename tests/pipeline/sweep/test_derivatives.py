"""Derivatives of metrics as outputs: differences along axes, kinks, bits however blocks are cut, and refusals."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray

import limbsweep as ls
from applications.studies import column
from benchmarks.gradients import kinks
from pipeline import append, run, verify
from pipeline.errors import InputError
from pipeline.execution.conventions import structure
from pipeline.plan.plan import plan
from pipeline.sweep.model import Sweep
from robots.derivatives import RequestedDerivatives
from robots.status import Status
from tests.pipeline.runs import SMALL, SYNCHRONOUS, content_hash, cut_finely, sweep

TINY = SMALL.replace("[0.22, 0.25, 0.28, 0.31]", "[0.25]").replace("[0.14, 0.15, 0.16]", "[0.15]")
TINY = TINY.replace("stop: 0.8", "stop: 0.2").replace("[0.0, 0.05, 0.1]", "[0.05]")
TINY = TINY.replace("radius: 0.1, period: 0.5", "radius: 0.1, period: 0.5, phase: 0.3")  # no velocity is zero
"""One design and friction set on two trajectories of 11 times."""
WANTED = ("peak_force", "rms_force", "condition")
SERIES = ("actuator_force", "joint_position", "joint_reaction")
BY = "outputs: [{derivative: [peak_force, rms_force, condition], of: [upper_arm, viscous, gravity_z]}]\n"
STEPS, WEIGHTS = np.array([-2, -1, 1, 2]), np.array([1, -8, 8, -1]) / 12
"""The first derivative to fourth order."""


def compute(text: str) -> xarray.Dataset:
    return run(Sweep.from_text(text), cluster=SYNCHRONOUS).load()


def along(text: str, old: str, new: str, value: float, step: float) -> dict[str, np.ndarray]:
    """Differences of metrics where `new`, with a number in it, takes the place of `old`."""
    assert old in text
    parts = [compute(text.replace(old, new.format(float(value + k * step)))) for k in STEPS]
    names = [name for name in (*WANTED, *SERIES) if name in parts[0]]
    return {name: np.tensordot(WEIGHTS, [part[name] for part in parts], axes=1) / step for name in names}


def test_derivatives_are_those_along_the_axes() -> None:
    plain = f"{TINY}gravity: [0, 0, -9.81]\nmetrics: [{', '.join(WANTED)}]\n"
    made = compute(plain + BY)
    expected = [
        along(plain, "upper_arm: {values: [0.25]}", "upper_arm: {{values: [{!r}]}}", 0.25, 1e-4),
        along(plain, "viscous: {values: [0.05]}", "viscous: {{values: [{!r}]}}", 0.05, 1e-3),
        along(plain, "gravity: [0, 0, -9.81]", "gravity: [0, 0, {!r}]", -9.81, 1e-3),
    ]
    for k, by_name in enumerate(expected):
        for name, slopes in by_name.items():
            got = made[f"{name}_derivative"].isel(parameter=k).values
            np.testing.assert_allclose(got, slopes, rtol=1e-8, atol=1e-9)
            assert (made[f"{name}_derivative_status"] == Status.OK).all()
    assert list(made["parameter"].values) == ["upper_arm", "viscous", "gravity_z"]
    assert made["condition_derivative"].dims == ("design", "trajectory", "parameter")
    assert made["peak_force_derivative"].attrs["component_units"] == "N m/m, N m/(N m s/rad), N m/(m/s^2)"


def test_series_are_differentiated_sample_by_sample() -> None:
    plain = f"{TINY}outputs: [{', '.join(SERIES)}]\n"
    made = compute(f"{TINY}outputs: [{{derivative: [{', '.join(SERIES)}], of: [upper_arm, viscous]}}]\n")
    expected = [
        along(plain, "upper_arm: {values: [0.25]}", "upper_arm: {{values: [{!r}]}}", 0.25, 1e-4),
        along(plain, "viscous: {values: [0.05]}", "viscous: {{values: [{!r}]}}", 0.05, 1e-3),
    ]
    for name in SERIES:
        assert made[f"{name}_derivative"].dims == (*made[name].dims, "parameter")
        assert (made[f"{name}_derivative_status"] == Status.OK).all()
        for k, by_name in enumerate(expected):
            slopes = made[f"{name}_derivative"].isel(parameter=k)
            np.testing.assert_allclose(slopes, by_name[name], rtol=1e-8, atol=1e-8)


def test_a_series_has_the_status_of_each_sample() -> None:
    text = TINY.replace("amplitude: [0.1, 0.15, 0.05]", "amplitude: [1.5, 0.0, 0.0]")
    made = compute(text + "outputs: [{derivative: actuator_force, of: [coulomb]}]\n")
    slopes, statuses = (made[f"actuator_force_derivative{end}"][0, 0, ..., 0] for end in ("", "_status"))
    reasons = made["status"][0]
    assert 0 < (reasons != Status.OK).sum() < reasons.size
    assert (statuses == reasons).all()
    np.testing.assert_allclose(abs(slopes.where(reasons == Status.OK)).fillna(1.0), 1.0, rtol=1e-12)
    assert np.isnan(slopes.where(reasons != Status.OK)).all()


def test_a_derived_parameter_moves_with_those_that_it_follows_from() -> None:
    text = TINY.replace("friction:", "  derive: {rod_length: 4 * upper_arm}\nfriction:", 1)
    text += f"metrics: [{', '.join(WANTED)}]\n"
    made = compute(text + BY)
    slopes = along(text, "upper_arm: {values: [0.25]}", "upper_arm: {{values: [{!r}]}}", 0.25, 1e-4)
    for name, expected in slopes.items():
        np.testing.assert_allclose(made[f"{name}_derivative"].isel(parameter=0), expected, rtol=1e-6)


def test_a_kink_has_no_derivative_but_two_sides() -> None:
    """Check a kink: without viscous friction all samples share the peak, otherwise the fastest one has it."""
    text = TINY.replace("viscous: {values: [0.05]}", "viscous: {values: [0.0, 0.05]}")
    entry = "outputs: [{{derivative: peak_friction, of: [viscous]{}}}]\n"
    plain, both = (compute(text + entry.format(more)) for more in ("", ", sides: true"))
    status = plain["peak_friction_derivative_status"]
    assert (status.isel(friction=0) == Status.KINK).all()
    assert (status.isel(friction=1) == Status.OK).all()
    assert np.isnan(plain["peak_friction_derivative"].isel(friction=0)).all()
    assert "KINK" in status.attrs["flag_meanings"]
    sides = both["peak_friction_derivative"].isel(parameter=0)
    assert list(sides["side"].values) == ["below", "above"]
    speeds = abs(compute(f"{text}outputs: [actuator_velocity]\n")["actuator_velocity"])
    # a coulomb force of no velocity is none, so that the slowest sample that moves counts
    np.testing.assert_allclose(sides.isel(friction=0, side=1), speeds.max("time"), rtol=1e-9)
    np.testing.assert_allclose(sides.isel(friction=0, side=0), speeds.where(speeds > 0.0).min("time"), rtol=1e-9)
    np.testing.assert_allclose(sides.isel(friction=1, side=0), sides.isel(friction=1, side=1), rtol=1e-12)


STRETCHED = """\
limbsweep: 1
robot: five_bar
design: {{list: {{distal_length: {lengths}}}}}
trajectories: {{down: {{kind: quintic, end: [0, 0, -0.1], duration: 1}}}}
time: {{stop: 1, step: 0.25}}
outputs: [actuator_force, {{derivative: actuator_force, of: distal_length{sides}}}]
"""


@pytest.mark.parametrize("sides", ["", ", sides: true"])
def test_derivatives_near_the_end_of_the_reach_are_those_of_its_root(sides: str) -> None:
    """A force that goes with the root of the distance from the end was told to have a kink 1e-5 m before it."""
    border = float(np.hypot(0.15, 0.7) - 0.53)  # of the lowest point, limbs stretched
    distances = np.array([1e-4, 2e-5, 1e-5, 2e-6, 1e-6])
    lengths = np.concatenate([border + distances, border + distances * (1 + 1e-4), border + distances * (1 - 1e-4)])
    made = compute(STRETCHED.format(lengths=lengths.tolist(), sides=sides))
    assert (made["actuator_force_derivative_status"] == Status.OK).all()
    slopes = made["actuator_force_derivative"].isel(time=-1, actuator=0, trajectory=0, friction=0)[:5]
    _, above, below = made["actuator_force"].isel(time=-1, actuator=0, trajectory=0, friction=0).values.reshape(3, 5)
    expected = (above - below) / (2e-4 * distances)
    np.testing.assert_allclose(
        slopes.values.reshape(5, -1).T, np.broadcast_to(expected, (slopes.size // 5, 5)), rtol=1e-5
    )
    np.testing.assert_allclose(expected[:-1] / expected[1:], np.sqrt(distances[1:] / distances[:-1]), rtol=0.05)


def test_both_sides_of_a_peak_that_two_instants_share_beside_one_sided_differences() -> None:
    found = kinks.row("five_bar", lambda name: name == "proximal_length")
    assert found.told == found.kinks > 0
    assert found.gap > 1e-3
    assert found.difference < 1e-9


@pytest.mark.parametrize("granularity", ["limb", "block"])
def test_bits_do_not_depend_on_blocks(granularity: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    text = TINY.replace("values: [0.25]", "values: [0.22, 0.25, 0.28]") + BY
    whole = content_hash(compute(text))
    cut_finely(monkeypatch, small=11)
    store = tmp_path / "s.zarr"
    assert plan(sweep(text)).blocks > 1
    assert content_hash(run(sweep(text), store, SYNCHRONOUS, granularity=granularity)) == whole
    assert verify(store, recompute=1.0, cluster=SYNCHRONOUS).is_sound


def test_designs_and_functions_are_added_to_a_store_with_derivatives(tmp_path: Path) -> None:
    store, text = tmp_path / "s.zarr", TINY + BY
    longer = text.replace("values: [0.25]", "values: [0.25, 0.28]")
    run(sweep(text), store, SYNCHRONOUS)
    assert content_hash(append(store, sweep(longer), SYNCHRONOUS)) == content_hash(compute(longer))
    made = run(sweep(text), cluster=SYNCHRONOUS, metrics={"mine": lambda time: float(time[-1])})
    assert set(structure(made.attrs, "own_metrics")) == {"mine"}
    with pytest.raises(InputError, match=r"metrics peak_force_derivative: got a name of the dataset"):
        run(sweep(text), cluster=SYNCHRONOUS, metrics={"peak_force_derivative": lambda time: 1.0})


def test_a_case_that_fails_has_its_status() -> None:
    made = compute(TINY.replace("amplitude: [0.1, 0.15, 0.05]", "amplitude: [3.0, 0.15, 0.05]") + BY)
    for name in WANTED:
        status = made[f"{name}_derivative_status"]
        assert (status.isel(trajectory=0) == made["worst_status"].isel(trajectory=0)).all()
        assert (status.isel(trajectory=0) != Status.OK).all()
        assert (status.isel(trajectory=1) == Status.OK).all()
        assert np.isnan(made[f"{name}_derivative"].isel(trajectory=0)).all()


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ("derivative: peak_forc, of: [upper_arm]", r"outputs\[0\].derivative: got 'peak_forc'.*'peak_force'"),
        ("derivative: usable_volume, of: [upper_arm]", r"It has none, because it counts points of a grid"),
        (
            "derivative: tracking_error, of: [upper_arm]",
            r"got 'tracking_error'; expected a metric or series with a der",
        ),
        ("derivative: platform_twist, of: [upper_arm]", r"Motions of the platform are given"),
        ("derivative: peak_force, of: [uper_arm]", r"outputs\[0\].of\[0\]: got 'uper_arm'.*'upper_arm'"),
        ("derivative: peak_force, of: [3]", r"outputs\[0\]: got .* expected derivative with a metric"),
        ("derivative: peak_force", r"outputs\[0\]: got .* expected derivative with a metric"),
        ("derivative: peak_force, of: upper_arm, sides: 3", r"expected derivative with a metric.*sides: true"),
        (
            "derivative: peak_force, of: [coulomb, coulomb]",
            r"of\[1\]: got coulomb again; expected every parameter once",
        ),
        ("derivative: peak_current, of: [upper_arm]", r"got 'peak_current'; expected a variable that this robot has"),
        ("derivative: least_stiffness, of: [upper_arm]", r"section criteria"),
        ("derivative: energy, of: [viscous]}, {derivative: rms_force, of: [coulomb]", r"outputs\[1\]: got other param"),
        ("derivative: energy, of: [viscous]}, {derivative: energy, of: [viscous]", r"the derivative of energy again"),
    ],
)
def test_mistakes_are_told(entry: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Sweep.from_text(f"{TINY}outputs: [{{{entry}}}]\n")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"friction:\n": "  derive: {rod_length: 4 * upper_arm}\nfriction:\n"},
            r"got rod_length, which derive computes",
        ),
        ({"time:": "base: {kind: circle, radius: 0.1, period: 1.0}\ntime:"}, r"gravity_x beside a base that moves"),
    ],
)
def test_derivatives_that_there_are_not(changes: dict[str, str], message: str) -> None:
    entry = "outputs: [{derivative: peak_force, of: [rod_length, gravity_x]}]\n"
    with pytest.raises(InputError, match=message):
        sweep(TINY + entry, **changes)


ARM = """
limbsweep: 1
robot: planar_3r
gravity: [0, -9.81, 0]
parameters: {length_1: 0.5}
friction: {law: coulomb_viscous, joints: all, parameters: {viscous: 0.1, coulomb: 0.3, width: 0.5}}
trajectories: {move: {kind: quintic, start: 0.1, end: [0.4, 0.2, -0.2], duration: 0.1}}
simulation:
  controller: {kind: pd, parameters: {kd: 5.0}}
  gains: {grid: {kp: [100.0]}}
  step: 0.002
time: {stop: 0.04, step: 0.02}
"""
MOVED = {"length_1": "length_1", "kp": "servo.kp", "kd": "servo.kd", "coulomb": "friction.coulomb"}


def test_simulations_against_the_derivatives_of_the_integrator() -> None:
    entry = "outputs: [{derivative: tracking_error, of: [length_1, kp, kd, coulomb, gravity_y, joint_2, joint_1_rate]}]"
    made = compute(ARM + entry)
    arm, times = ls.robots.build("planar_3r", length_1=0.5), np.linspace(0.0, 0.04, 21)
    share = times / 0.1
    along = (10.0 * share**3 - 15.0 * share**4 + 6.0 * share**5)[:, None]
    rate = (30.0 * share**2 - 60.0 * share**3 + 30.0 * share**4)[:, None] / 0.1
    path = np.array([0.3, 0.1, -0.3])
    reference = {"q": 0.1 + along * path, "qd": rate * path}
    servo = ls.servo(arm, "pd", reference=reference, step=0.002, kp=100.0, kd=5.0)
    rubbing = {"law": "coulomb_viscous", "coulomb": 0.3, "viscous": 0.1, "joints": "all", "width": 0.5}
    exact = ls.differentiate_simulation(
        arm, ls.State(q=[0.1] * 3), ls.Forces(actuator=servo, friction=rubbing), [0.0, 0.02, 0.04], step=0.002,
        environment=ls.Environment(gravity=(0.0, -9.81, 0.0)), parameters={"length_1": 0.5},
    )  # fmt: skip
    rates: list[dict[str, Any]] = [{name: 1.0} for name in MOVED.values()]
    rates += [{"gravity": [0.0, 1.0, 0.0]}, {"q": [0.0, 1.0, 0.0]}, {"qd": [1.0, 0.0, 0.0]}]
    slopes = made["tracking_error_derivative"]
    assert slopes.dims == ("design", "friction", "trajectory", "gains", "time", "actuator", "parameter")
    assert (made["tracking_error_derivative_status"] == Status.OK).all()
    for k, moving in enumerate(rates):
        expected = -exact.jvp(moving)["q"]
        got = slopes.isel(parameter=k).values.reshape(expected.shape)
        np.testing.assert_allclose(got, expected, rtol=0.0, atol=1e-8 * np.abs(expected).max())


def test_a_simulation_that_sticks() -> None:
    """Check an arm that dry friction holds: its force grows with the gain and does not depend on the friction."""
    text = ARM.replace(", width: 0.5", "").replace("coulomb: 0.3", "coulomb: 30.0").replace("kd: 5.0", "kd: 0.0")
    text = text.replace("gravity: [0, -9.81, 0]\n", "")
    made = compute(text + "outputs: [{derivative: [peak_force, rms_tracking_error], of: [kp, coulomb, joint_1_rate]}]")
    assert (made["rms_tracking_error_derivative"].isel(parameter=[0, 1]) == 0.0).all()
    slope = made["peak_force_derivative"].isel(parameter=0)
    np.testing.assert_allclose(slope, made["peak_force"] / 100.0, rtol=1e-9)
    assert (made["rms_tracking_error_derivative_status"].isel(parameter=2, actuator=0) == Status.KINK).all()


FAST = """
limbsweep: 1
robot: five_bar
design: {grid: {proximal_length: [0.53]}}
friction: {law: lugre, joints: actuated, parameters: {coulomb: 0.2, static: 0.3, stribeck_velocity: 0.1}}
limits: {actuators: {all: {force: 20.0, velocity: 12.0}}}
trajectories: {line: {kind: quintic, start: [0.0, 0.0, 0.0], end: [0.1, 0.0, 0.05], duration: 0.5}}
time: {stop: 0.5, step: 0.05}
"""


def test_fastest_motions_and_laws_with_a_state_are_differentiated() -> None:
    names = ("speed_factor", "peak_force", "actuator_force")
    made = compute(FAST + f"outputs: [{{derivative: [{', '.join(names)}], of: [proximal_length, payload_mass]}}]\n")
    for name in names:
        assert (made[f"{name}_derivative_status"] == Status.OK).all()
    plain = f"{FAST}outputs: [actuator_force]\nmetrics: [{', '.join(names[:-1])}]\n"
    parts = [compute(plain.replace("[0.53]", f"[{float(0.53 + k * 1e-4)!r}]")) for k in STEPS]
    for name in names:
        slope = np.tensordot(WEIGHTS, [part[name] for part in parts], axes=1) / 1e-4
        got = made[f"{name}_derivative"].isel(parameter=0)
        np.testing.assert_allclose(got, slope, rtol=1e-6, atol=1e-6 * np.abs(slope).max())


@pytest.mark.slow
def test_the_cycle_time_is_differentiated() -> None:
    text = re.sub(r"friction: .*\n", "", FAST)
    made = compute(text + "outputs: [{derivative: cycle_time, of: [proximal_length]}]\n")
    plain = text + "metrics: [cycle_time]\n"
    parts = [compute(plain.replace("[0.53]", f"[{float(0.53 + k * 1e-4)!r}]"))["cycle_time"] for k in STEPS]
    slope = np.tensordot(WEIGHTS, parts, axes=1) / 1e-4
    np.testing.assert_allclose(made["cycle_time_derivative"].isel(parameter=0), slope, rtol=1e-5)


def test_a_derivative_is_no_column_of_a_study() -> None:
    made = compute(TINY + BY)
    with pytest.raises(InputError, match=r"peak_force_derivative: got derivatives, a number for each parameter"):
        column(made, "peak_force_derivative")
    assert np.isfinite(column(made, "peak_force")).all()


def test_a_plan_tells_the_cost() -> None:
    rows = dict(plan(sweep(TINY + BY)).rows())
    assert rows["derivatives"].startswith("3 quantities by 3 parameters, from both sides: ")
    assert sweep(TINY + BY).derivatives == RequestedDerivatives(WANTED, ("upper_arm", "viscous", "gravity_z"))
