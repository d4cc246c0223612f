from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.optimize import differential_evolution

from applications.identification.estimation.base import base_parameters
from applications.identification.estimation.excitation import Excitation, ExcitationLimits, Sphere, moving
from pipeline.robot_files.reader import find_family
from robots import catalog
from robots.limits import JointLimit
from robots.limits import Limits as Ranges
from robots.model import Robot
from robots.trajectories.trajectory import FREE, Series
from tasks import inverse_dynamics
from tasks.dynamics.inverse import body_motion, inverse_kinematics
from tasks.dynamics.records import Forces
from tasks.dynamics.regressor import standard_parameters
from tasks.sources import prescribed

CARRIAGE = Path(__file__).parents[4] / "examples" / "recordings" / "emps_robot.yaml"
LIMITS = ExcitationLimits(1.2, 3.0, [10.0, 12.0, 15.0])


def planar(**options: object) -> Excitation:
    robot = catalog.build("planar_3r")
    base = base_parameters(robot)
    nominal = base.of(list(standard_parameters(robot).values()))
    return Excitation(robot, base, options.pop("limits", LIMITS), 4.0, samples=60, nominal=nominal, **options)  # type: ignore[arg-type]


def test_a_series_starts_and_ends_at_rest_and_keeps_limits() -> None:
    problem = planar()
    series = problem.series(problem.random(0, 0))
    position, velocity, acceleration = series.at([0.0, 4.0])
    assert np.abs(position).max() < 1e-12
    assert np.abs(velocity).max() < 1e-12
    assert np.abs(acceleration).max() < 1e-11
    moved = series.at(np.linspace(0.0, 4.0, 3001))
    for part, limit in zip(moved, (1.2, 3.0, [10.0, 12.0, 15.0]), strict=True):
        assert (np.abs(part) <= np.array(limit) * 1.001).all()


@pytest.mark.parametrize("joints", [0, 3])
def test_the_kind_of_trajectory_is_the_same_series(joints: int) -> None:
    free = np.random.default_rng(3).normal(size=(3, FREE))
    series, times = Series.within(free, [0.1, 0.2, 0.3], 2.0, LIMITS.of_motion), np.linspace(0.0, 2.0, 16)
    found = prescribed.motion("fourier", series.values, times, joints=joints)
    assert np.allclose(found[:, :16], np.concatenate([part.T for part in series.at(times)]), atol=1e-12)


@pytest.mark.parametrize("criterion", ["condition", "determinant"])
def test_optimised_motions_beat_random_ones(criterion: str) -> None:
    problem = planar(criterion=criterion)
    found = problem.optimise(starts=3, steps=6)
    assert found.cost < found.random.min()
    assert found.factor > 2.0


@pytest.mark.parametrize(("criterion", "off"), [("condition", 0.5), ("determinant", 2.0)])
def test_smooth_costs_are_close_and_have_slopes(criterion: str, off: float) -> None:
    problem = planar(criterion=criterion)
    free = np.array([problem.random(2, number) for number in range(3)])
    assert problem.costs(free, smooth=True) == pytest.approx(problem.costs(free), abs=off)
    turn, steps = np.random.default_rng(1).normal(size=free.shape[1]), np.array([-2.0, -1.0, 1.0, 2.0]) * 1e-4
    line = problem.costs(free[0] + steps[:, None] * turn, smooth=True)
    assert (line[3] - line[0]) / 4.0 == pytest.approx((line[2] - line[1]) / 2.0, rel=1e-3, abs=1e-9)


def test_the_search_ends_within_the_limits_themselves() -> None:
    problem = planar()
    start = problem.random(0, 1)
    cost, free = problem.search(start, 4)
    assert cost == problem.cost(free) <= problem.cost(start)
    moved = problem.series(free).at(np.linspace(0.0, 4.0, 3001))
    for part, limit in zip(moved, (1.2, 3.0, [10.0, 12.0, 15.0]), strict=True):
        assert (np.abs(part) <= np.array(limit) * 1.001).all()


def test_ranges_that_are_not_symmetric_are_used_on_both_sides() -> None:
    problem = planar(limits=ExcitationLimits([[0.3, 0.4, 0.5], [1.2, 1.0, 0.5]]))
    moved = problem.series(problem.random(0, 3)).at(np.linspace(0.0, 4.0, 3001))[0]
    used = np.max([moved.max(axis=0) / [1.2, 1.0, 0.5], -moved.min(axis=0) / [0.3, 0.4, 0.5]], axis=0)
    assert used == pytest.approx(1.0, abs=1e-3)


def test_spheres_of_bodies_stay_apart_and_neighbours_are_not_looked_at() -> None:
    robot = catalog.build("planar_3r")
    free = planar()
    series = free.series(free.random(0, 2))
    times = series.times(free.samples)
    path = body_motion(robot, q=series.at(times)[0]).limbs[0][2].position
    far = path[np.argmax(np.linalg.norm(path - path[0], axis=1))]
    gap = 0.2 * float(np.linalg.norm(far - path[0]))
    x, y, z = far.tolist()
    obstacle, moved = Sphere("base", (x, y, z), gap), Sphere("link_3", (0.0, 0.0, 0.0), gap)
    kept = planar(spheres=(obstacle, moved, Sphere("link_2", (0.0, 0.0, 0.0), 100.0)))
    path = body_motion(robot, q=kept.series(kept.random(0, 2)).at(times)[0]).limbs[0][2].position
    assert np.linalg.norm(path - far, axis=1).min() > 2.0 * gap
    with pytest.raises(ValueError, match="spheres: got the body 'link_4'; expected one of the robot; "):
        planar(spheres=(Sphere("link_4", (0.0, 0.0, 0.0), 0.1),))


def test_joints_of_a_platform_keep_their_ranges() -> None:
    robot = catalog.build("five_bar")
    base, limits = base_parameters(robot, shared=True), ExcitationLimits(0.1, 2.0, 20.0)
    options: dict[str, Any] = {"samples": 60, "shared": True}
    wide = Excitation(robot, base, limits, 4.0, **options)
    free = wide.random(0, 1)
    position = inverse_kinematics(robot, **wide._moved([wide.series(free)])).position[0, :, 0, 1]
    high = 0.5 * float(position.max())
    narrow = Excitation(robot, base, limits, 4.0, ranges=Ranges({(0, 1): JointLimit(-10.0, high)}), **options)
    position = inverse_kinematics(robot, **narrow._moved([narrow.series(free)])).position[0, :, 0, 1]
    assert position.max() <= high


def test_a_platform_that_turns_is_excited_within_the_forces_that_it_has() -> None:
    robot = catalog.build("gough_stewart")
    base = base_parameters(robot, shared=True)
    nominal = base.of(list(standard_parameters(robot, shared=True).values()))
    limits = ExcitationLimits([0.3, 0.3, 0.3, 0.15, 0.15, 0.15], 3.0, 30.0)
    free = Excitation(robot, base, limits, 5.0, samples=40, shared=True)
    first = free.series(free.random(0, 1))
    moved = moving(robot, first, first.times(40))
    peak = float(np.abs(inverse_dynamics(robot, **moved).force).max())
    rest = float(np.abs(inverse_dynamics(robot, position=robot.mechanism.platform.home.position).force).max())
    most = 0.5 * (peak + rest)
    limits = ExcitationLimits(limits.position, 3.0, 30.0, most)
    problem = Excitation(robot, base, limits, 5.0, samples=40, nominal=nominal, shared=True)
    series = problem.series(problem.random(0, 1))
    assert np.abs(inverse_dynamics(robot, **moving(robot, series, series.times(40))).force).max() <= most * (1 + 1e-9)


def test_the_same_for_any_number_of_threads() -> None:
    one, two = (planar().optimise(starts=2, steps=2, threads=k) for k in (1, 2))
    assert one.cost == two.cost


def test_forces_that_cannot_hold_the_robot_are_refused() -> None:
    robot = catalog.build("gough_stewart")
    base = base_parameters(robot, shared=True)
    nominal = base.of(list(standard_parameters(robot, shared=True).values()))
    problem = Excitation(robot, base, ExcitationLimits(0.1, force=1e-6), 5.0, samples=16, nominal=nominal, shared=True)
    with pytest.raises(ValueError, match="cannot move around"):
        problem.series(problem.random(0, 0))


def test_limits_of_forces_need_nominal_values() -> None:
    problem = planar()
    with pytest.raises(ValueError, match="expected guesses of the base parameters"):
        Excitation(problem.robot, problem.base, ExcitationLimits(1.0, force=3.0), 1.0)


def test_an_unknown_criterion_is_refused() -> None:
    with pytest.raises(ValueError, match="did you mean 'condition'"):
        planar(criterion="conditon")


def test_d_optimal_motions_of_a_carriage_are_those_of_another_search_on_columns_by_hand() -> None:
    carriage = Robot.of(find_family(str(CARRIAGE)), {})
    friction = {"law": "coulomb_viscous", "coulomb": 1.0, "viscous": 1.0}
    base = base_parameters(carriage, forces=Forces(friction=friction))
    limits = ExcitationLimits(0.2, 0.5, 2.0)
    problem = Excitation(
        carriage, base, limits, 4.0, samples=40, criterion="determinant", forces=Forces(friction=friction)
    )

    def by_hand(free: np.ndarray) -> float:
        series = Series.within(free, [0.0], 4.0, limits.of_motion)
        _, velocity, acceleration = (part[:, 0] for part in series.at(series.times(40)))
        columns = np.stack([acceleration, np.sign(velocity), velocity], axis=1)
        return -float(np.linalg.slogdet(columns.T @ columns / 40)[1])

    found = problem.optimise(starts=4, steps=30)
    start = problem.random(0, 0)
    assert problem.cost(start) == pytest.approx(by_hand(start), rel=1e-9)
    other = differential_evolution(by_hand, [(-1.0, 1.0)] * FREE, popsize=6, maxiter=60, seed=1, polish=False, tol=0.0)
    efficiency = np.exp((other.fun - found.cost) / base.count)  # that of D-optimality, one parameter on average
    assert efficiency > 0.97, found.cost
