"""Calibration of robots from simulated measurements: the parameters found, their errors, and the errors of poses.

    python -m benchmarks.campaigns.calibration [--poses 60]

Every limb has its own errors of geometry, half a millimetre or some hundredths of a degree; zeros of actuators are off
by as many milliradians or millimetres. A device measures poses to 0.02 mm and 0.05 mrad; ten poses are not used.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.spatial.transform import Rotation

from applications.identification.estimation.calibration.calibrate import Calibration, Poses, calibrate
from applications.identification.estimation.calibration.geometry import Geometry
from applications.identification.estimation.calibration.readings import Reader
from robots import catalog
from tasks.dynamics.inverse import actuator_positions
from tasks.mathematics.rotations import roll_pitch_yaw

PLACE, TURN = 2e-5, 5e-5
UNUSED = 10
ERRORS = {"m": 5e-4, "rad": 5e-4, "deg": 0.05}
ROBOTS = {
    "delta_3rr2rrr": ("upper_arm", "rod_length", "base_radius", "platform_radius"),
    "gough_stewart": ("base_radius", "platform_radius", "base_half_angle", "platform_half_angle"),
    "hexapod_6rrrprr": ("base_radius", "platform_radius", "base_offset", "platform_offset"),
}


@dataclass(frozen=True)
class Outcome:
    """A calibration, and errors of its values over their deviations."""

    name: str
    result: Calibration
    scores: np.ndarray


def outcomes(poses: int, seed: int = 1) -> Iterator[Outcome]:
    """Yield one calibration of each robot."""
    for name, parameters in ROBOTS.items():
        geometry, random = Geometry(catalog.build(name), parameters), np.random.default_rng(seed)
        truth = geometry.nominal + random.normal(size=len(geometry.nominal)) * [ERRORS[unit] for unit in geometry.units]
        platform = geometry.robot.mechanism.platform
        position = np.array(platform.home.position) + random.uniform(-0.08, 0.08, (poses + UNUSED, 3))
        turns = "wx" in platform.mobility
        if turns:
            angles = random.uniform(-0.15, 0.15, position.shape)
            rotation = roll_pitch_yaw(angles, angles * 0.0, angles * 0.0).rotation @ np.array(platform.home.rotation)
            actuators = actuator_positions(geometry.robot, position=position, rotation=rotation).position
        else:
            actuators = actuator_positions(geometry.robot, position=position).position
        reading = Reader(geometry).read(truth, actuators)
        place = reading.position + random.normal(size=position.shape) * PLACE
        turned = Rotation.from_rotvec(random.normal(size=position.shape) * TURN).as_matrix() @ reading.rotation
        parts = []
        for chosen in (slice(poses), slice(poses, None)):
            rotations = turned[chosen] if turns else None
            parts.append(
                Poses(
                    actuators[chosen],
                    place[chosen],
                    rotations,
                    position_deviation=PLACE,
                    rotation_deviation=TURN,
                    name="unused",
                )
            )
        result = calibrate(geometry, parts[0], unused=parts[1:])
        yield Outcome(name, result, (result.values - result.base.of(truth)) / result.deviations)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--poses", type=int, default=60)
    arguments = parser.parse_args()
    print("| robot | values | within 2 deviations | position before | after | unused | O1 | O2 | condition |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|---:|")
    for outcome in outcomes(arguments.poses):
        result = outcome.result
        lengths = [result.before["position"], result.after["position"], result.unused["unused position"]]
        position = " | ".join(f"{length * 1e3:.3f} mm" for length in lengths)
        told = f"{len(result.values)} of {len(result.whole)}"
        within = f"{np.mean(np.abs(outcome.scores) < 2.0):.0%}"
        indices = f"{result.observability['O1']:.2f} | {result.observability['O2']:.1e} | {result.condition:.0f}"
        print(f"| `{outcome.name}` | {told} | {within} | {position} | {indices} |", flush=True)


if __name__ == "__main__":
    main()
