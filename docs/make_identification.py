"""Writes `docs/pictures/identification.svg`: errors of base parameters against the number of samples, with theory."""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
import numpy as np

from applications.identification.estimation import estimators
from applications.identification.estimation.base import base_parameters
from applications.identification.estimation.excitation import Excitation, ExcitationLimits, moving
from robots import catalog
from tasks import inverse_dynamics, regressor
from tasks.dynamics.records import Forces
from tasks.dynamics.regressor import standard_parameters

PICTURE = Path(__file__).parent / "pictures" / "identification.svg"
CASES = {
    "planar_3r": ExcitationLimits(1.2, 4.0, 20.0),
    "delta_3rr2rrr": ExcitationLimits(0.15, 2.0, 25.0),
    "gough_stewart": ExcitationLimits([0.3, 0.3, 0.3, 0.15, 0.15, 0.15], 2.0, 20.0),
    "three_loop_leg": ExcitationLimits(1.0, 4.0, 20.0),
    "irb6": ExcitationLimits([1.0, 0.5, 0.4, 1.0, 1.0], 4.0, 20.0),
}
FRICTION = {"law": "coulomb_viscous", "coulomb": 0.3, "viscous": 0.1}
NOISE = 0.01
"""Standard deviation of the noise, relative to the root mean square of the forces."""
COUNTS = (100, 200, 400, 800, 1600, 3200)
REPETITIONS = 30


def errors(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Errors over the standard deviations at the first count (count,), found and by theory; mean over parameters."""
    robot = catalog.build(name)
    base = base_parameters(robot, forces=Forces(friction=FRICTION), shared=True)
    problem = Excitation(robot, base, CASES[name], 5.0, samples=60, options={"friction": FRICTION, "shared": True})
    series = problem.series(problem.random(0, 0))
    truth = base.of(list(standard_parameters(robot, friction=FRICTION, shared=True).values()))
    found, theory = [], []
    for count in COUNTS:
        moved = moving(robot, series, series.times(count))
        forces = inverse_dynamics(robot, forces=Forces(friction=FRICTION), **moved).force.ravel()
        matrix = base.reduced(regressor(robot, shared=True, forces=Forces(friction=FRICTION), **moved).matrix).reshape(
            -1, base.count
        )
        size = NOISE * np.sqrt(np.mean(forces**2))
        noise = np.random.default_rng([1, count]).normal(size=(REPETITIONS, len(forces))) * size
        off = [estimators.estimate("least_squares", matrix, forces + each).values - truth for each in noise]
        found.append(np.sqrt(np.mean(np.square(off), axis=0)))
        theory.append(size * deviations(matrix))
    scale = theory[0]
    return tuple(np.exp(np.mean(np.log(np.array(each) / scale), axis=1)) for each in (found, theory))  # type: ignore[return-value]


def deviations(matrix: np.ndarray) -> np.ndarray:
    """Standard deviations for noise of one; by QR, as the normal matrix has the square of the condition number."""
    sizes = np.linalg.norm(matrix, axis=0)
    factor = np.linalg.qr(matrix / sizes, mode="r")
    return np.asarray(np.linalg.norm(np.linalg.inv(factor), axis=1) / sizes)


def main() -> None:
    """Compute, draw, print the slopes."""
    mpl.use("svg")
    mpl.rcParams["svg.hashsalt"] = "limbsweep"
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(6.0, 4.0), layout="constrained")
    for name in CASES:
        found, theory = errors(name)
        slope = np.polyfit(np.log(COUNTS), np.log(found), 1)[0]
        print(f"{name}: errors over theory {np.round(found / theory, 3).tolist()}, slope {slope:.3f}")
        axes.loglog(COUNTS, found, "o", label=name)
        axes.loglog(COUNTS, theory, "-", color=axes.lines[-1].get_color(), linewidth=0.8)
    axes.loglog(COUNTS, np.sqrt(COUNTS[0] / np.array(COUNTS)), "k:", label="1 / sqrt(samples)")
    axes.set(xlabel="samples of one motion", ylabel="error, relative to theory at 100 samples")
    axes.legend()
    figure.savefig(PICTURE, metadata={"Date": None})


if __name__ == "__main__":
    main()
