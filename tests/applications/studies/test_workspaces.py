"""Workspaces and their largest regular part, against closed forms of spheres, circles and Jacobians."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

import limbsweep as ls
from applications.studies.workspaces import shapes
from applications.studies.workspaces.workspace import workspace
from pipeline.errors import InputError

SHORTER, LONGER = 0.3, 0.5
"""Range of the legs of the Gough-Stewart platform about the reference pose [m]."""
CORNERS = np.array([[1.0, 0.0, -0.5], [-0.5, 0.8, -0.5], [-0.5, -0.8, -0.5], [0.0, 0.1, 0.9]])
TETRAHEDRON = shapes.hull(CORNERS)


@pytest.fixture(scope="module")
def legs():
    limits = {"joints": {"actuated": {"position": [-SHORTER, LONGER]}}}
    return workspace("gough_stewart", limits=limits, levels=0)


def shells(centre: np.ndarray) -> np.ndarray:
    """Return the depth of points (n, 3) inside each of the twelve spheres of the legs' reach (n, 12)."""
    mechanism = ls.robots.build("gough_stewart").mechanism
    base = np.array([instance.base.position for instance in mechanism.instances], dtype=float)
    tips = np.array([instance.platform.position for instance in mechanism.instances], dtype=float)
    own = np.linalg.norm(np.array(mechanism.platform.home.position, dtype=float) + tips - base, axis=1)
    distance = np.linalg.norm(centre[:, None] + tips - base, axis=2)
    return np.concatenate([own + LONGER - distance, distance - own + SHORTER], axis=1)


def test_largest_ball_between_spheres_is_that_of_the_closed_form(legs) -> None:
    best = minimize(
        lambda z: -z[3],
        [0.01, 0.0, 2.1, 0.1],
        constraints={"type": "ineq", "fun": lambda z: shells(z[None, :3])[0] - z[3]},
        method="SLSQP",
        options={"ftol": 1e-15},
    )
    assert legs.settled
    assert legs.size == pytest.approx(best.x[3], rel=5e-6)
    assert legs.centre == pytest.approx(best.x[:3], abs=1e-4)


def test_boundary_and_volume_are_those_of_the_spheres(legs) -> None:
    assert np.abs(shells(legs.boundary).min(axis=1)).max() < 1e-4
    low, high = legs.boundary.min(axis=0), legs.boundary.max(axis=0)
    points = np.random.default_rng(0).uniform(low, high, (40_000, 3))
    volume = float((shells(points) >= 0.0).all(axis=1).mean() * np.prod(high - low))
    assert abs(legs.volume - volume) < legs.uncertainty
    assert legs.volume == pytest.approx(volume, rel=0.08)


def five_bar_condition(points: np.ndarray) -> np.ndarray:
    """Condition numbers of J_IK (n,) of the five-bar with elbows outside, NaN beyond its circles or on another side."""
    near, far, width = 0.53, 0.4374, 0.15
    rows = []
    for side in (-1.0, 1.0):
        away = points - np.array([side * width, 0.0])
        reach = np.linalg.norm(away, axis=1)
        with np.errstate(invalid="ignore"):
            bend = side * np.arccos((near**2 + reach**2 - far**2) / (2.0 * near * reach))
        angle = np.arctan2(away[:, 1], away[:, 0]) + bend * 1.0
        elbow = near * np.stack([np.cos(angle), np.sin(angle)], axis=1)
        across = np.stack([-elbow[:, 1], elbow[:, 0]], axis=1)
        rod = away - elbow
        rows.append(rod / (rod * across).sum(axis=1)[:, None])
    jacobian = np.stack(rows, axis=1)
    good = np.isfinite(jacobian).all(axis=(1, 2))
    result = np.full(len(points), np.nan)
    result[good] = np.linalg.cond(jacobian[good])
    return result


def test_conditions_bound_the_ball_where_an_independent_jacobian_says() -> None:
    space = workspace("five_bar", where=["condition <= 4"], within=[[-0.6, 0, -0.9], [0.6, 0, -0.1]], levels=0)
    angle = np.linspace(0.0, 2.0 * np.pi, 20_001)
    ways = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    middle = space.centre[[0, 2]]
    numbers = [five_bar_condition(middle + space.size * share * ways) for share in (0.5, 1.0, 1.0 + 1e-5)]
    assert space.settled
    assert numbers[0].max() <= 4.0
    assert numbers[1].max() <= 4.0 + 1e-9
    # a little larger it is outside, of the region or of the box that counts
    over = not numbers[2].max() <= 4.0
    beyond = (np.abs(middle + space.size * (1.0 + 1e-5) * ways - [0.0, -0.5]) > [0.6, 0.4]).any()
    assert over or beyond
    assert space.share < 1.0


def test_largest_ball_is_on_the_side_of_home_and_a_larger_one_elsewhere_is_told() -> None:
    space = workspace("five_bar", levels=1)
    assert space.centre[2] < 0.0 < space.elsewhere[2]  # beyond poses in which the platform is singular
    assert space.settled
    angle, share = np.meshgrid(np.linspace(0.0, 2.0 * np.pi, 60), np.linspace(0.0, 1.0, 200))
    rim = space.centre[[0, 2]] + space.size * np.stack([np.cos(angle), np.sin(angle)], axis=-1)
    home = np.array([0.0, -0.6])
    way = home + share[..., None] * (rim - home)
    positions = np.insert(way, 1, 0.0, axis=-1)
    assert not ls.inverse_dynamics(ls.robots.build("five_bar"), position=positions).status.any()
    other = workspace("five_bar", centre=space.elsewhere, levels=1)
    assert other.size > space.size
    assert other.elsewhere is None


def test_a_box_at_a_place_ends_where_the_first_corner_does() -> None:
    robot = ls.robots.build("delta_3rr2rrr")
    home = np.array(robot.mechanism.platform.home.position, dtype=float)
    space = workspace(robot, "box", centre=home, proportions=[1.0, 1.0, 0.5], levels=0)
    corners = np.stack(np.meshgrid(*[[-1.0, 1.0]] * 3), axis=-1).reshape(-1, 3) * [1.0, 1.0, 0.5]
    inside, outside = (
        ls.inverse_dynamics(robot, position=home + space.size * share * corners).status for share in (1.0, 1.0 + 1e-5)
    )
    assert not inside.any()
    assert space.settled
    face = np.random.default_rng(0).uniform(-1.0, 1.0, (20_000, 3))
    face /= np.abs(face).max(axis=1)[:, None]
    states = ls.inverse_dynamics(robot, position=home + space.size * face * [1.0, 1.0, 0.5]).status
    assert not states.any()
    assert outside.any() or len(space.contacts)
    assert space.dimensions["z"] == pytest.approx(space.size)


def test_a_hull_with_the_corners_of_a_box_is_the_box_and_one_of_three_is_the_largest_triangle() -> None:
    corners = [[-1.0, -0.5], [1.0, -0.5], [1.0, 0.5], [-1.0, 0.5], [0.0, 0.0]]
    where = ["condition <= 4"]
    hull = workspace("five_bar", "hull", where, proportions=corners, levels=0)
    box = workspace("five_bar", "box", where, proportions=[1.0, 0.5], levels=0)
    assert hull.size == pytest.approx(box.size, rel=1e-3)
    assert hull.dimensions["volume"] == pytest.approx(2.0 * hull.size**2)
    centre = np.array([0.0, 0.0, -0.6])
    corners = np.array([[-0.5, -0.4], [0.6, -0.3], [0.1, 0.5]])
    fan = workspace("five_bar", "hull", proportions=corners, centre=centre, levels=0)
    weights = np.random.default_rng(0).dirichlet(np.full(3, 0.3), 20_000)
    positions = centre + fan.size * np.insert(weights @ corners, 1, 0.0, axis=1)
    robot = ls.robots.build("five_bar")
    assert not ls.inverse_dynamics(robot, position=positions).status.any()
    beyond = centre + 1.001 * fan.size * np.insert(weights @ corners, 1, 0.0, axis=1)
    assert ls.inverse_dynamics(robot, position=beyond).status.any()


def test_slopes_of_gauges_are_those_of_differences() -> None:
    points = np.random.default_rng(1).normal(size=(50, 3))
    for shape in (shapes.ball(3), shapes.box(np.array([1.0, 2.0, 0.5])), shapes.cylinder(1, 0.7, 0.4), TETRAHEDRON):
        steps = [(shape.gauge(points + d) - shape.gauge(points - d)) / 2e-6 for d in 1e-6 * np.eye(3)]
        assert shape.slope(points) == pytest.approx(np.stack(steps, axis=1), abs=1e-6)
        assert shape.gauge(shape.surface(64)) == pytest.approx(1.0)
    assert TETRAHEDRON.support(points) == pytest.approx((points @ CORNERS.T).max(axis=1))


@pytest.mark.parametrize(
    ("robot", "options", "said"),
    [
        ("five_bar", {"shape": "cone"}, "study shape: got 'cone'; expected one of ball, box, cylinder, hull"),
        ("five_bar", {"shape": "hull"}, "study proportions: got an array of shape (0,); expected corners (corner, 2)"),
        ("five_bar", {"shape": "hull", "proportions": [[1, 1], [2, 1], [1, 2]]}, "got the origin is not inside"),
        ("five_bar", {"shape": "hull", "proportions": [[1, 1], [2, 2], [3, 3]]}, "got the corners are on one plane"),
        ("five_bar", {"shape": "cylinder"}, "study shape: got a cylinder; expected a platform that moves along three"),
        ("five_bar", {"where": ["conditio < 4"]}, "study where: got conditio, which no pose at rest has"),
        ("five_bar", {"where": ["condition"]}, "study where: got a number; expected a condition"),
        ("five_bar", {"where": ["usable_share > 0.5"]}, "study where: got usable_share, which no pose at rest has"),
        ("five_bar", {"proportions": [1.0]}, "study proportions: got those of a ball; expected none"),
        ("five_bar", {"shape": "box", "proportions": [1.0, -1.0]}, "expected 2 numbers above 0 for a box"),
        ("five_bar", {"centre": [0.0, 0.1, -0.6]}, "study centre: got [0.0, 0.1, -0.6]; expected a place"),
        ("five_bar", {"within": [[1, 0, 1], [0, 0, 0]]}, "study within: got"),
        ("five_bar", {"rotation": 2.0 * np.eye(3)}, "study rotation: got matrices that do not turn"),
        ("five_bar", {"parameters": {"proximal_lenght": 0.5}}, "Did you mean 'proximal_length'?"),
        ("five_bar", {"parameters": {"proximal_length": -0.5}}, "study parameters.proximal_length: got -0.5"),
        ("five_bar", {"tolerance": 0.0}, "study tolerance: got 0.0; expected from 1e-12 to 0.1"),
        ("five_bar", {"levels": 20}, "study levels: got 20"),
        ("gough_stewart", {}, "study within: got nothing, for a robot whose limbs reach without end"),
        ("planar_3r", {}, "study robot: got planar_3r; expected a robot with a platform"),
    ],
)
def test_bad_input_is_one_message(robot: str, options: dict, said: str) -> None:
    with pytest.raises(InputError) as error:
        workspace(robot, **options)
    assert said in str(error.value)
    assert "\n" not in str(error.value).strip()
