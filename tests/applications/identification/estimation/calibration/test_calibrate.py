"""Calibration of robots that there are not: known errors of geometry, noise of known size."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from applications.identification.estimation.calibration.calibrate import Calibration, Poses, calibrate
from applications.identification.estimation.calibration.geometry import Geometry
from applications.identification.estimation.calibration.readings import Reader
from robots import catalog
from robots.parameter_errors import ParameterError
from tasks.dynamics.inverse import actuator_positions
from tasks.mathematics.rotations import roll_pitch_yaw

NOISE, TURN = 2e-5, 5e-5
POSES = 40
DELTA = ("upper_arm", "rod_length", "base_radius", "platform_radius")
HEXAPOD = ("base_radius", "platform_radius", "base_half_angle", "platform_half_angle")


def off(geometry: Geometry, seed: int = 1) -> np.ndarray:
    """Values that are off by half a millimetre, a milliradian, some hundredths of a degree."""
    sizes = {"m": 5e-4, "rad": 1e-3, "deg": 0.05}
    return geometry.nominal + np.random.default_rng(seed).normal(size=len(geometry.nominal)) * [
        sizes[unit] for unit in geometry.units
    ]


def actuators_of(geometry: Geometry, seed: int = 2) -> np.ndarray:
    """Return readings of the actuators' sensors at random poses of the described robot."""
    robot, random = geometry.robot, np.random.default_rng(seed)
    if robot.mechanism.is_chain:
        return random.uniform(-1.5, 1.5, (POSES, len(robot.mechanism.actuators)))
    position = np.array(robot.mechanism.platform.home.position) + random.uniform(-0.08, 0.08, (POSES, 3))
    if "wx" not in robot.mechanism.platform.mobility:
        return actuator_positions(robot, position=position).position
    angles = random.uniform(-0.15, 0.15, (POSES, 3))
    rotation = roll_pitch_yaw(angles, angles * 0.0, angles * 0.0).rotation
    home = np.array(robot.mechanism.platform.home.rotation)
    return actuator_positions(robot, position=position, rotation=rotation @ home).position


def measured(geometry: Geometry, truth: np.ndarray, *, seed: int = 3, **reader: object) -> Poses:
    """Noisy measurements of a robot with other values."""
    actuators, random = actuators_of(geometry), np.random.default_rng(seed)
    reading = Reader(geometry, **reader).read(truth, actuators)  # type: ignore[arg-type]
    turns = Rotation.from_rotvec(random.normal(size=(POSES, 3)) * TURN).as_matrix()
    return Poses(
        actuators,
        reading.position + random.normal(size=(POSES, 3)) * NOISE,
        turns @ reading.rotation,
        position_deviation=NOISE,
        rotation_deviation=TURN,
    )


def scores(result: Calibration, truth: np.ndarray) -> np.ndarray:
    """Errors over deviations of what was estimated."""
    return np.asarray((result.values - result.base.of(truth)) / result.deviations)


@pytest.mark.parametrize(("name", "parameters", "told"), [("delta_3rr2rrr", DELTA, 12), ("gough_stewart", HEXAPOD, 30)])
def test_the_geometry_of_every_limb_is_found_within_its_deviations(
    name: str, parameters: tuple[str, ...], told: int
) -> None:
    geometry = Geometry(catalog.build(name), parameters)
    truth = off(geometry)
    poses = measured(geometry, truth)
    if name.startswith("delta"):
        poses = replace(poses, rotation=None)
    result = calibrate(
        geometry, poses, unused=[replace(measured(geometry, truth, seed=9), rotation=None, name="others")]
    )
    assert len(result.values) == told
    assert np.square(scores(result, truth)).mean() < 2.0
    assert np.abs(scores(result, truth)).max() < 4.0
    assert result.before["position"] > 10.0 * result.after["position"]
    assert 0.7 < result.weighted < 1.3
    assert result.unused["others position"] < 2.0 * NOISE
    assert result.observability["O2"] == pytest.approx(1.0 / result.condition)
    assert 0.0 < result.observability["O5"] < result.observability["O3"] < result.observability["O1"]


def test_what_poses_cannot_tell_apart_is_one_value() -> None:
    geometry = Geometry(catalog.build("delta_3rr2rrr"), DELTA)
    result = calibrate(geometry, replace(measured(geometry, geometry.nominal), rotation=None))
    assert "limb1.base_radius - limb1.platform_radius" in result.names


def test_slopes_are_those_of_what_is_read() -> None:
    for name, parameters, sensors in (("gough_stewart", HEXAPOD, ((0, 0),)), ("planar_3r", ("length_1",), ())):
        robot = catalog.build(name)
        known = [p.name for p in robot.family.parameters if p.unit == "m"]
        geometry = Geometry(robot, parameters if name == "gough_stewart" else tuple(known[:2]))
        values, actuators = off(geometry), actuators_of(geometry)[:5]
        reader = Reader(geometry, sensors)
        reading = reader.read(values, actuators)
        for k in {0, len(values) // 2, len(values) - 1}:
            unit = np.eye(len(values))[k] * 1e-6
            ahead, behind = (reader.read(values + sign * unit, actuators) for sign in (1.0, -1.0))
            turned = Rotation.from_matrix(ahead.rotation @ np.swapaxes(behind.rotation, 1, 2)).as_rotvec()
            np.testing.assert_allclose(
                (ahead.position - behind.position) / 2e-6, reading.position_slope[..., k], atol=1e-6
            )
            np.testing.assert_allclose(turned / 2e-6, reading.turn_slope[..., k], atol=1e-6)
            np.testing.assert_allclose((ahead.joints - behind.joints) / 2e-6, reading.joint_slope[..., k], atol=1e-6)


def test_redundant_sensors_tell_the_geometry_without_poses() -> None:
    robot = catalog.build("five_bar")
    geometry = Geometry(robot, ("proximal_length", "distal_length"))
    truth = geometry.nominal + np.array([3e-4, -2e-4, -3e-4, 4e-4, 1e-3, -2e-3])
    random = np.random.default_rng(4)
    spread = np.zeros((POSES, 3))
    axes = [("vx", "vy", "vz").index(name) for name in robot.mechanism.platform.mobility]
    spread[:, axes] = random.uniform(-0.06, 0.06, (POSES, 2))
    actuators = actuator_positions(robot, position=np.array(robot.mechanism.platform.home.position) + spread).position
    reading = Reader(geometry, ((0, 1), (1, 1))).read(truth, actuators)
    joints = reading.joints + random.normal(size=reading.joints.shape) * 1e-5
    poses = Poses(actuators, joints=joints, sensors=("left.2", "right.2"), joint_deviation=1e-5)
    result = calibrate(geometry, poses)
    assert result.before["joints"] > 20.0 * result.after["joints"]
    assert np.abs(scores(result, truth)).max() < 4.0


def test_the_frame_of_the_measuring_device_is_found() -> None:
    geometry = Geometry(catalog.build("gough_stewart"), ("base_radius",), zeros=False, shared=True)
    truth = geometry.nominal + 1e-3
    poses = measured(geometry, truth)
    assert poses.position is not None
    assert poses.rotation is not None
    turned = Rotation.from_rotvec([0.02, -0.01, 0.3]).as_matrix()
    moved = replace(poses, position=poses.position @ turned.T + [0.5, -0.2, 0.1], rotation=turned @ poses.rotation)
    result = calibrate(geometry, moved, frame=True)
    np.testing.assert_allclose(result.whole[-6:], [0.5, -0.2, 0.1, 0.02, -0.01, 0.3], atol=5e-4)
    assert abs(result.whole[0] - truth[0]) < 4.0 * result.deviations[0]
    assert result.robot().values["base_radius"] == pytest.approx(truth[0], abs=5e-4)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("parameter", "parameters: got 'upper_arms'; expected a length or an angle of delta_3rr2rrr; did you mean"),
        ("sensor", "got a sensor of 'limb9.3'; expected a joint of delta_3rr2rrr"),
        ("nothing", "nothing was measured"),
        ("few", "3 measured numbers for 3 values; expected more"),
        ("degrees", "pose 1: delta_3rr2rrr cannot be there with its geometry"),
        ("nan", "got values that are not finite"),
    ],
)
def test_measurements_that_do_not_fit_are_refused(change: str, message: str) -> None:
    robot = catalog.build("delta_3rr2rrr")
    with pytest.raises((ParameterError, ValueError), match=message):  # noqa: PT012
        geometry = Geometry(robot, ("upper_arms",) if change == "parameter" else DELTA)
        poses = replace(measured(geometry, geometry.nominal), rotation=None)
        assert poses.position is not None
        if change == "sensor":
            poses = replace(poses, sensors=("limb9.3",), joints=np.zeros((POSES, 1)))
        elif change == "nothing":
            poses = replace(poses, position=None)
        elif change == "few":
            poses = replace(poses, actuators=poses.actuators[:1], position=poses.position[:1])
        elif change == "degrees":
            poses = replace(poses, actuators=np.rad2deg(poses.actuators) + 100.0)
        elif change == "nan":
            poses = replace(poses, position=poses.position * np.nan)
        calibrate(geometry, poses)
