"""Motion over time: energy, agreement of the forms, closure, orientation, loads, and what ends a case."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from robots import catalog
from robots.model import Robot
from robots.status import Status
from tasks import equations_of_motion, forward_dynamics, inverse_dynamics
from tasks.dynamics.forms import Form
from tasks.dynamics.motions import Simulation
from tasks.dynamics.records import Forces
from tasks.dynamics.servo import servo
from tasks.dynamics.simulate import simulate, simulate_adaptive
from tests.arguments import in_records
from tests.catalogue import PARALLEL
from tests.tasks.bits import bits
from tests.tasks.regions import freedoms
from tests.tasks.wells import PULLS, Well, well

NAMES = PARALLEL
FORMS: tuple[Form, ...] = ("task_space", "joint", "actuator")
EVERY_FORM = [(name, form) for name in NAMES for form in FORMS if (name, form) != ("delta_4rr2rrr", "actuator")]


def drift_of_energy(place: Well, found: Simulation) -> float:
    """Largest change of energy in any case, relative to the largest kinetic energy of the case."""
    kinetic, whole = place.energy(found.position, found.rotation, found.twist)
    return float((np.abs(whole - whole[0]) / kinetic.max(axis=0)).max())


def test_every_family_has_a_well() -> None:
    assert set(PULLS) == set(PARALLEL)


@pytest.mark.parametrize("name", NAMES)
def test_the_bottom_of_a_well_is_an_equilibrium(name: str) -> None:
    place = well(catalog.build(name))
    found = forward_dynamics(
        place.robot, position=place.position, forces=Forces(load=place.load, actuator=place.force)
    ).acceleration
    scale = np.abs(
        forward_dynamics(place.robot, position=place.position, forces=Forces(actuator=place.force)).acceleration
    ).max()
    assert np.abs(found).max() < 1e-10 * scale


# --- energy -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "form"), EVERY_FORM)
def test_energy_is_kept(name: str, form: Form) -> None:
    place = well(catalog.build(name))
    found = simulate(place.robot, **place.start(3), step=1e-3, steps=150, every=25, form=form)
    assert (found.status == Status.OK).all()
    assert drift_of_energy(place, found) < 1e-9
    kinetic, _ = place.energy(found.position, found.rotation, found.twist)
    assert (kinetic.min(axis=0) < 0.9 * kinetic.max(axis=0)).all()  # it went to and fro between two forms


@pytest.mark.slow
@pytest.mark.parametrize(("name", "form"), EVERY_FORM)
def test_energy_is_kept_for_ten_seconds(name: str, form: Form) -> None:
    place = well(catalog.build(name))
    found = simulate(place.robot, **place.start(8), step=1e-3, steps=10_000, every=100, form=form)
    assert (found.status == Status.OK).all()
    assert drift_of_energy(place, found) < 1e-8


def test_steps_are_of_order_four() -> None:
    place = well(catalog.build("five_bar"))
    ends = [
        simulate(place.robot, **place.start(2), step=0.16 / steps, steps=steps, every=steps).position[-1]
        for steps in (16, 32, 64, 256)
    ]
    errors = [np.abs(end - ends[-1]).max() for end in ends[:-1]]
    assert 14.0 < errors[0] / errors[1] < 24.0
    assert 14.0 < errors[1] / errors[2] < 24.0


# --- the forms, the adaptive integrator -------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_forms_agree_with_each_other_and_with_the_adaptive_integrator(name: str) -> None:
    """Compare all forms under forces and a load that change with time."""
    place = well(catalog.build(name))
    start = place.start(2)

    def force(t: float) -> np.ndarray:
        return place.force * (1.0 + 0.1 * np.sin(9.0 * t) * np.linspace(0.5, 1.0, len(place.force)))

    def load(t: float) -> np.ndarray:
        return place.load * (1.0 + 0.1 * np.cos(7.0 * t))

    start |= {"force": force, "load": load}
    forms = [form for each, form in EVERY_FORM if each == name]
    found = [simulate(place.robot, **start, step=1e-3, steps=120, every=40, form=form) for form in forms]
    single = start | {"twist": start["twist"][1]}
    adaptive = simulate_adaptive(place.robot, **single, times=found[0].time)
    assert adaptive.status == Status.OK
    assert (adaptive.time == found[0].time).all()
    for each in found:
        for field in ("position", "rotation", "twist"):
            a, b = getattr(each, field)[:, 1], getattr(adaptive, field)
            assert np.abs(a - b).max() < 1e-8 * np.abs(b).max(), (field, np.abs(a - b).max())


def test_forces_from_inverse_dynamics_drive_a_robot_along_its_trajectory() -> None:
    """Apply the forces of inverse dynamics together with the load that they include."""
    robot = catalog.build("delta_3rr2rrr")
    home, rate, size = np.array(robot.mechanism.platform.home.position), 9.0, np.array([0.08, -0.05, 0.04])
    pull = np.array([0.0, 0.0, 0.0, 3.0, -2.0, 5.0])

    def on_the_way(t: float) -> dict[str, np.ndarray]:
        zero, phase = np.zeros(3), rate * t
        return {
            "position": home + size * (1.0 - np.cos(phase)),
            "twist": np.concatenate([zero, size * rate * np.sin(phase)]),
            "acceleration": np.concatenate([zero, size * rate**2 * np.cos(phase)]),
        }

    found = simulate(
        robot,
        force=lambda t: inverse_dynamics(robot, forces=Forces(load=pull), **on_the_way(t)).force,
        load=pull,
        step=2e-3,
        steps=100,
    )
    expected = np.array([on_the_way(t)["position"] for t in found.time])
    np.testing.assert_allclose(found.position, expected, rtol=0, atol=1e-9)
    without = simulate(
        robot,
        force=lambda t: inverse_dynamics(robot, forces=Forces(load=pull), **on_the_way(t)).force,
        step=2e-3,
        steps=50,
    )
    assert np.abs(without.position[-1] - expected[50]).max() > 1e-3


# --- closure ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "form"), [each for each in EVERY_FORM if each[1] != "task_space"])
def test_loops_drift_open_and_are_closed_again(name: str, form: Form) -> None:
    place = well(catalog.build(name))
    run: dict[str, Any] = {**place.start(3), "step": 5e-3, "steps": 60, "every": 10, "form": form}
    closed, left = simulate(place.robot, **run), simulate(place.robot, **run, close=False)
    assert closed.gap.max() < 1e-12
    assert 0.0 < closed.drift.max() < 1e-6  # of one step
    assert left.gap.max() > 4.0 * closed.drift.max()
    assert left.gap.max() > 2.0 * left.gap[1].max()  # it grows
    assert (left.drift[1:] >= left.gap[1:]).all()


def test_in_task_space_nothing_drifts() -> None:
    place = well(catalog.build("irsbot2"))
    found = simulate(place.robot, **place.start(2), step=1e-3, steps=5)
    assert not found.drift.any()
    assert not found.gap.any()


# --- orientation ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", ["gough_stewart", "hexapod_6rrrprr"])
def test_large_turns_keep_the_rotation_orthonormal(name: str, form: Form) -> None:
    """Throw a platform about all axes at once without forces, by half a radian and more."""
    robot = catalog.build(name)
    rate = {"gough_stewart": 2.0, "hexapod_6rrrprr": 2.0}[name]
    free = {"force": np.zeros(6), "gravity": (0.0, 0.0, 0.0)}
    twist = rate * np.array([[1.0, 0.3, 0.2, 0, 0, 0], [-0.2, 1.0, -0.5, 0, 0, 0], [0.1, -0.2, 1.0, 0, 0, 0]])
    found = simulate(robot, **free, twist=twist, step=2e-3, steps=150, every=15, form=form)
    assert (found.status == Status.OK).all()
    turned = found.rotation[-1] @ np.swapaxes(found.rotation[0], -1, -2)
    assert (np.arccos((np.trace(turned, axis1=-2, axis2=-1) - 1.0) / 2.0) > 0.5).all()
    product = found.rotation @ np.swapaxes(found.rotation, -1, -2)
    assert np.abs(product - np.eye(3)).max() < 1e-14
    np.testing.assert_allclose(np.linalg.det(found.rotation), 1.0, rtol=1e-13)


def test_a_start_turned_away_is_kept() -> None:
    place = well(catalog.build("gough_stewart"))
    from scipy.spatial.transform import Rotation

    turned = Rotation.from_rotvec([0.1, -0.2, 0.3]).as_matrix()
    found = simulate(place.robot, force=place.force, rotation=turned, step=1e-3, steps=1, form="actuator")
    np.testing.assert_allclose(found.rotation[0], turned, rtol=0, atol=1e-15)


# --- loads ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_a_load_pushes_a_robot_as_forward_dynamics_says(name: str) -> None:
    place = well(catalog.build(name))
    free, rng = freedoms(place.robot), np.random.default_rng(3)
    load = np.zeros((4, 6))
    load[:, free] = place.load[free] + 0.05 * np.abs(place.load).max() * rng.normal(size=(4, len(free)))
    start = {"force": place.force, "position": place.position, "load": load}
    expected = forward_dynamics(place.robot, **in_records(**start)).acceleration
    found = simulate(place.robot, **start, step=1e-5, steps=1)
    np.testing.assert_allclose(found.twist[1] / 1e-5, expected, rtol=0, atol=1e-5 * np.abs(expected).max())


@pytest.mark.parametrize("form", FORMS)
def test_a_load_in_the_axes_of_the_platform_turns_with_it(form: Form) -> None:
    """A thrust from below a platform that turns about z, against the same in world axes as a function of time."""
    place = well(catalog.build("gough_stewart"))
    thrust = np.array([0.0, 200.0, 0.0, 900.0, 0.0, 300.0])
    run: dict[str, Any] = {"force": place.force, "twist": np.eye(6)[2], "step": 2e-3, "steps": 40, "form": form}
    turning = simulate(place.robot, **run, load=thrust, load_axes="platform")
    fixed = simulate(place.robot, **run, load=thrust)
    assert np.abs(turning.position[-1] - fixed.position[-1]).max() > 1e-6
    expected = np.stack([turning.rotation @ part for part in (thrust[:3], thrust[3:])]).transpose(1, 0, 2)

    def in_world(t: float) -> np.ndarray:  # linear between the kept times
        k = min(int(t / 2e-3), 39)
        share = t / 2e-3 - k
        return ((1.0 - share) * expected[k] + share * expected[k + 1]).ravel()

    again = simulate(place.robot, **run, load=in_world)
    np.testing.assert_allclose(again.position, turning.position, rtol=0, atol=1e-7)
    single = {name: value for name, value in run.items() if name not in ("step", "steps", "form")}
    adaptive = simulate_adaptive(place.robot, **single, load=thrust, load_axes="platform", times=turning.time)
    np.testing.assert_allclose(adaptive.position, turning.position, rtol=0, atol=1e-8)


# --- the end of a case ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", FORMS)
def test_a_case_that_leaves_the_workspace_ends_and_others_go_on(form: Form) -> None:
    """Pull an arm straight: beyond that it has no pose, and there no acceleration."""
    place = well(catalog.build("delta_3rr2rrr"))
    start = place.start(5)
    run: dict[str, Any] = {"step": 2e-3, "steps": 100, "every": 5, "form": form}
    clean = simulate(place.robot, **start, **run)
    wild = {**start, "twist": start["twist"].copy()}
    wild["twist"][2] = (0.0, 0.0, 0.0, 0.0, 0.0, -8.0)
    found = simulate(place.robot, **wild, **run)
    assert found.status.tolist() == [0, 0, Status.SINGULAR, 0, 0]
    others = [0, 1, 3, 4]
    for field in ("position", "rotation", "twist", "drift", "gap"):
        np.testing.assert_array_equal(
            bits(getattr(found, field)[:, others]), bits(getattr(clean, field)[:, others]), err_msg=field
        )
    lost = np.isnan(found.position[:, 2]).all(axis=-1)
    first = int(np.argmax(lost))
    assert 0 < first < len(lost)
    assert lost[first:].all()
    assert np.isfinite(found.position[:first, 2]).all()
    assert np.isnan(found.twist[first:, 2]).all()


def test_the_actuator_form_ends_at_a_singularity_of_the_actuators_that_others_pass() -> None:
    """A five-bar robot whose distal links come into line: actuator rates do not tell the platform's any more."""
    robot = catalog.build("five_bar")
    p = robot.values
    level = -np.sqrt(p["proximal_length"] ** 2 - (p["distal_length"] - p["base_half_width"]) ** 2)
    run: dict[str, Any] = {"force": np.zeros(2), "gravity": (0.0, 0.0, 0.0), "step": 1e-3, "steps": 60, "every": 10}
    run |= {"position": (0.0, 0.0, level - 0.03), "twist": (0.0, 0.0, 0.0, 0.0, 0.0, 1.0)}
    found = {form: simulate(robot, **run, form=form) for form in FORMS}
    assert found["task_space"].status == found["joint"].status == Status.OK
    assert found["task_space"].position[-1, 2] > level + 0.01
    np.testing.assert_allclose(found["joint"].position, found["task_space"].position, rtol=0, atol=1e-8)
    assert found["actuator"].status == Status.PLATFORM_SINGULAR or not np.allclose(
        found["actuator"].position[-1], found["task_space"].position[-1], atol=1e-3
    )


def test_a_step_that_is_too_long_is_cut() -> None:
    """Check that only the step of a case that swings more than three radians in it is cut."""
    place = well(catalog.build("hexapod_6rrrprr"))
    start = place.start(3)
    start["force"] = np.stack([place.force, 400.0 * place.force, place.force])
    start["load"] = np.stack([place.load, 400.0 * place.load, place.load])
    found = simulate(place.robot, **start, step=1e-2, steps=10)
    finer = simulate(place.robot, **start, step=2.5e-4, steps=400, every=40)
    assert (found.status == Status.OK).all()
    assert (finer.status == Status.OK).all()
    size = np.abs(finer.twist).max(axis=(0, 2))
    assert (np.abs(found.twist - finer.twist).max(axis=(0, 2)) < 1e-2 * size).all()


@pytest.mark.parametrize("form", FORMS)
def test_a_robot_that_stands_still_is_not_too_quick(form: Form) -> None:
    """Its accelerations are rounding, and differ by all that they are."""
    place = well(catalog.build("gough_stewart"))
    given = {"force": place.force, "load": place.load, "position": place.position}
    found = simulate(place.robot, **given, step=1e-2, steps=50, form=form)
    assert found.status == Status.OK
    assert np.abs(found.twist).max() < 1e-9


def test_a_force_that_jumps_is_not_too_quick() -> None:
    place = well(catalog.build("five_bar"))
    given = {"load": place.load, "position": place.position, "step": 1e-3, "steps": 40}
    found = simulate(place.robot, force=lambda t: place.force * (1.0 if t < 0.0205 else 1.5), **given)
    assert found.status == Status.OK
    assert np.abs(found.twist[20]).max() < 1e-9
    assert np.abs(found.twist[-1]).max() > 1e-2


def test_a_case_that_starts_out_of_reach_is_lost_from_the_first_step() -> None:
    robot = catalog.build("delta_3rr2rrr")
    for form in FORMS:
        found = simulate(robot, force=np.zeros(3), position=(0.0, 0.0, -9.0), step=1e-3, steps=2, form=form)
        assert found.status == Status.NOT_REACHABLE
        assert np.isnan(found.position[1:]).all()
    found = simulate_adaptive(robot, force=np.zeros(3), position=(0.0, 0.0, -9.0), times=[0.0, 0.1])
    assert found.status == Status.NOT_REACHABLE
    assert np.isnan(found.position[1:]).all()


def test_an_adaptive_run_keeps_what_comes_before_its_end() -> None:
    place = well(catalog.build("delta_3rr2rrr"))
    start = {**place.start(1), "twist": (0.0, 0.0, 0.0, 0.0, 0.0, -8.0)}
    steps: dict[str, Any] = {"times": np.linspace(0.0, 0.2, 41), "rtol": 1e-8, "atol": 1e-10}
    found = simulate_adaptive(place.robot, **start, **steps, solver="DOP853")
    assert found.status == Status.SINGULAR
    good = np.isfinite(found.position).all(axis=-1)
    assert 2 < good.sum() < 41
    assert good[: good.sum()].all()
    fixed = simulate(place.robot, **start, step=5e-4, steps=10 * (int(good.sum()) - 2), every=10)
    np.testing.assert_allclose(found.position[: len(fixed.time)], fixed.position, rtol=0, atol=1e-6)


# --- batches, misuse --------------------------------------------------------------------------------------------------


def test_batch_dims_of_all_arguments_broadcast() -> None:
    place = well(catalog.build("five_bar"))
    forces = place.force * np.linspace(0.9, 1.1, 3)[:, None, None] * np.ones((3, 1, 2))
    start = place.start(2) | {"force": forces}
    found = simulate(place.robot, **start, step=1e-3, steps=4, every=2)
    assert (found.position.shape, found.rotation.shape) == ((3, 3, 2, 3), (3, 3, 2, 3, 3))
    assert (found.drift.shape, found.status.shape) == ((3, 3, 2), (3, 2))
    np.testing.assert_allclose(found.time, [0.0, 2e-3, 4e-3])
    one = simulate(place.robot, **(start | {"force": forces[2, 0], "twist": start["twist"][1]}), step=1e-3, steps=4)
    np.testing.assert_array_equal(bits(found.position[-1, 2, 1]), bits(one.position[-1]))


RUN: dict[str, Any] = {"force": np.zeros(2), "step": 1e-3, "steps": 1}


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"form": "joints"}, "form: got 'joints'; expected one of task_space, joint, actuator"),
        ({"step": 0.0}, "step, steps, every: got 0.0, 1, 1; expected all above zero"),
        ({"steps": 0}, "step, steps, every: got 0.001, 0, 1; expected all above zero"),
        ({"every": 0}, "step, steps, every: got 0.001, 1, 0; expected all above zero"),
        ({"step": float("nan")}, "step, steps, every: got nan, 1, 1; expected all above zero"),
        ({"force": np.zeros(3)}, r"force: got an array of shape \(3,\); expected \(\*batch, 2\)"),
        ({"force": lambda t: np.zeros(3)}, r"force: got an array of shape \(3,\); expected \(\*batch, 2\)"),
        ({"load": np.zeros(5)}, r"load: got an array of shape \(5,\); expected \(\*batch, 6\)"),
        ({"load_axes": "tool"}, "load_axes: got 'tool'; expected 'world' or 'platform'"),
        ({"twist": np.zeros(3)}, r"twist: got an array of shape \(3,\); expected \(\*batch, 6\)"),
        ({"twist": np.eye(6)[4]}, "twist: the platform of five_bar cannot move along y; expected 0 there"),
        ({"gravity": 9.81}, r"gravity: got an array of shape \(\); expected \(3,\)"),
    ],
)
def test_misuse_is_told(change: dict[str, Any], text: str) -> None:
    with pytest.raises(ValueError, match=text):
        simulate(catalog.build("five_bar"), **{**RUN, **change})


def test_redundant_actuators_have_no_form_of_their_own() -> None:
    robot: Robot = catalog.build("delta_4rr2rrr")
    with pytest.raises(
        ValueError,
        match="form: got 'actuator', but delta_4rr2rrr has more actuators than freedoms; expected task_space or joint",
    ):
        simulate(robot, force=np.zeros(4), step=1e-3, steps=1, form="actuator")


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"times": [0.0]}, r"times: got \[0.0\]; expected at least two, ascending"),
        ({"times": [0.0, 0.2, 0.1]}, "expected at least two, ascending"),
        ({"force": np.zeros((3, 2))}, r"got batch dims \(3,\); expected one case, or method 'fixed'"),
    ],
)
def test_misuse_of_the_adaptive_integrator_is_told(change: dict[str, Any], text: str) -> None:
    given: dict[str, Any] = {"force": np.zeros(2), "times": [0.0, 0.1]}
    with pytest.raises(ValueError, match=text):
        simulate_adaptive(catalog.build("five_bar"), **{**given, **change})


def test_a_force_that_changes_its_shape_is_refused() -> None:
    shapes = iter([(2,), (2,), (3,)])
    with pytest.raises(ValueError, match=r"force: got an array of shape \(3,\); expected \(\*batch, 2\)"):
        simulate(catalog.build("five_bar"), **{**RUN, "force": lambda t: np.zeros(next(shapes)), "steps": 2})


# --- feedback ---------------------------------------------------------------------------------------------------------


def sprung(robot: Robot, stiffness: float, damping: float) -> Any:
    """Actuator forces of a spring and a damper between the platform and its home, with weight compensated."""
    home = np.array(robot.mechanism.platform.home.position)

    def force(t: float, position: np.ndarray, rotation: np.ndarray, twist: np.ndarray) -> np.ndarray:
        at = equations_of_motion(robot, position=position)
        wrench = at.gravity - stiffness * (position - home) - damping * twist[..., 3:]
        return np.asarray(np.linalg.solve(np.swapaxes(at.jacobian, -1, -2), wrench[..., None])[..., 0])

    return force


def test_a_spring_as_feedback_keeps_what_energy_it_has() -> None:
    robot = catalog.build("delta_3rr2rrr")
    home = np.array(robot.mechanism.platform.home.position)
    start = home + np.array([[0.05, 0.0, 0.0], [0.0, -0.03, 0.02]])
    run: dict[str, Any] = {"position": start, "step": 2e-3, "steps": 60, "every": 10}
    found = simulate(robot, force=sprung(robot, 2000.0, 0.0), **run)
    assert (found.status == Status.OK).all()
    kinetic = equations_of_motion(robot, position=found.position, twist=found.twist).kinetic_energy
    energy = kinetic + 1000.0 * ((found.position - home) ** 2).sum(axis=-1)
    np.testing.assert_allclose(energy, np.broadcast_to(energy[0], energy.shape), rtol=1e-6)
    assert kinetic.max() > 0.3 * energy[0].max()
    alone = simulate(robot, force=sprung(robot, 2000.0, 0.0), **{**run, "position": start[0]})
    np.testing.assert_array_equal(alone.position, found.position[:, 0])
    exact = simulate_adaptive(robot, force=sprung(robot, 2000.0, 0.0), position=start[0], times=found.time)
    np.testing.assert_allclose(exact.position, alone.position, rtol=0, atol=1e-7)


@pytest.mark.slow
def test_a_damper_as_feedback_brings_a_platform_home_whatever_the_form() -> None:
    robot = catalog.build("delta_3rr2rrr")
    home = np.array(robot.mechanism.platform.home.position)
    run: dict[str, Any] = {"force": sprung(robot, 2000.0, 200.0), "position": home + 0.03, "step": 2e-3, "steps": 400}
    ends = [simulate(robot, form=form, every=400, **run).position[-1] for form in ("task_space", "actuator")]
    np.testing.assert_allclose(ends[0], home, rtol=0, atol=1e-3)
    np.testing.assert_allclose(ends[0], ends[1], rtol=0, atol=1e-8)


@pytest.mark.parametrize("form", ["joint", "actuator"])
def test_each_form_follows_a_servo_and_starts_later(form: Form) -> None:
    robot = catalog.build("delta_3rr2rrr")
    home = np.array(robot.mechanism.platform.home.position)
    held = {"position": np.repeat(home[None] + 0.02, 41, axis=0)}
    follower = servo(robot, "pd", reference=held, step=1e-3, kp=60.0, kd=1.0)
    run: dict[str, Any] = {"position": home, "step": 1e-3, "steps": 40, "every": 10}
    ends = [simulate(robot, force=follower, **run, form=each) for each in ("task_space", form)]
    assert np.abs(ends[0].position[-1] - home).max() > 1e-3
    np.testing.assert_allclose(ends[1].position, ends[0].position, rtol=0, atol=1e-9)
    np.testing.assert_allclose(ends[1].work, ends[0].work, rtol=0, atol=1e-7)

    def push(time: float) -> np.ndarray:
        return np.array([3.0, 2.0, 1.0]) * np.sin(40.0 * time)

    later = [simulate(robot, force=push, **run, start=0.5, form=each) for each in ("task_space", form)]
    np.testing.assert_allclose(later[1].twist, later[0].twist, rtol=0, atol=1e-9)
    assert (later[1].time == 0.5 + 1e-2 * np.arange(5)).all()


@pytest.mark.parametrize(
    ("force", "error", "text"),
    [
        (
            lambda t, x: np.zeros(3),
            TypeError,
            "got a function of 2 arguments; expected one of time, or of time, position",
        ),
        (lambda t, p, r, v: np.zeros(2), ValueError, r"force: got an array of shape \(2,\); expected \(3,\)"),
    ],
)
@pytest.mark.parametrize("friction", [None, {"law": "viscous", "viscous": 1.0}])
def test_feedback_that_does_not_fit_is_refused(
    force: Any, error: type[Exception], text: str, friction: dict[str, Any] | None
) -> None:
    with pytest.raises(error, match=text):
        simulate(catalog.build("delta_3rr2rrr"), force=force, step=1e-3, steps=2, friction=friction)


@pytest.mark.parametrize("simulated", [{"step": 1e-3, "steps": 1}, {"times": [0.0, 1e-3]}])
def test_more_forces_than_actuators_are_no_load(simulated: dict[str, Any]) -> None:
    """A third force of a five-bar robot is refused, and does not push its platform."""
    run: Any = simulate if "step" in simulated else simulate_adaptive
    with pytest.raises(ValueError, match=r"force: got an array of shape \(3,\); expected \(2,\)"):
        run(catalog.build("five_bar"), force=lambda t, p, r, v: np.zeros(3), friction={"law": "viscous"}, **simulated)
