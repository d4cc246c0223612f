from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from applications.identification.estimation import energy
from applications.identification.estimation.base import BaseParameters, base_parameters, from_matrix, values
from applications.identification.estimation.bases import Conditions, bases_along
from applications.identification.estimation.states import random_motion
from robots import catalog
from robots.geometry import diagonal, shifted
from robots.model import Family, Frame, Inertia, Link, Mechanism, Robot
from robots.parameters import Parameter
from robots.types import BASE
from tasks import inverse_dynamics, inverse_kinematics, regressor
from tasks.dynamics.designs import NO_FRICTION, RobotDesigns
from tasks.dynamics.records import Forces
from tasks.dynamics.regressor import columns_of, standard_parameters

X, Y, Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)


@pytest.mark.repository  # the table of a page
@pytest.mark.parametrize("name", catalog.FAMILIES)
def test_as_many_as_energy_tells_apart(name: str) -> None:
    robot = catalog.build(name)
    base = base_parameters(robot, seed=1)
    rows = energy.changes(robot, random_motion(robot, 4 * len(base.names), seed=2))
    assert base.count == energy.rank(rows) == documented()[name]
    assert base.margin > 1e6


def documented() -> dict[str, int]:
    """Numbers of base parameters, each limb on its own, in the table of the page."""
    text = (Path(__file__).parents[4] / "docs" / "identification.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)` \| (\d+) \| (\d+) \| (\d+) \|$", text, re.MULTILINE)
    assert {name for name, *_ in rows} == set(catalog.FAMILIES)
    return {name: int(base) for name, _, base, _ in rows}


@pytest.mark.parametrize("seed", [0, 1])
def test_random_states_of_a_parallelogram_are_not_crossed(seed: int) -> None:
    # in a parallelogram the joints of the loop turn as the driven ones, everywhere; in a crossed one they do not
    robot = catalog.build("irb6")
    q = random_motion(robot, 100, seed)["q"]
    assert np.abs(q).max() > 1.4
    for unit in np.eye(5):
        rates = inverse_kinematics(robot, q=q, qd=unit).velocity
        np.testing.assert_allclose(rates, np.broadcast_to(rates[0], rates.shape), atol=1e-9)


def test_motions_at_rest_tell_what_gravity_moves() -> None:
    robot = catalog.build("planar_3r")
    motion = {"q": np.concatenate([np.asarray(random_motion(robot, 5, k)["q"]) for k in range(2)])[None]}
    conditions = Conditions(robot, columns_of(robot, shared=True), NO_FRICTION)
    (found,), _ = bases_along(RobotDesigns.of(robot, (0.0, -9.81, 0.0)), motion, conditions)
    assert isinstance(found, BaseParameters)
    assert found.count == 6
    assert {name.split(".")[1] for name in (found.names[k] for k in found.independent)} == {"mx", "my"}


@pytest.mark.parametrize("name", ["delta_3rr2rrr", "gough_stewart", "three_loop_leg", "rover_rocker"])
def test_base_parameters_give_the_forces_at_states_not_used(name: str) -> None:
    robot = catalog.build(name)
    base, parameters = base_parameters(robot), standard_parameters(robot)
    moving = random_motion(robot, 30, seed=99)
    found = base.reduced(regressor(robot, **moving).matrix) @ np.array(list(values(base, parameters).values()))
    tau = inverse_dynamics(robot, **moving).force
    assert np.abs(found - tau).max() < 1e-8 * np.abs(tau).max()


@pytest.mark.parametrize("name", ["planar_3r", "five_bar"])
@pytest.mark.parametrize("slow", [0.05, 1e-3, 1e-6])
def test_friction_at_small_velocities_is_told_however_small_they_are(name: str, slow: float) -> None:
    robot = catalog.build(name)
    friction = {"law": "stribeck", "coulomb": 1.0, "static": 1.5, "viscous": 0.3, "stribeck_velocity": slow}
    rubbing = Forces(friction=friction)
    base = base_parameters(robot, rubbing)
    told = {base.names[k] for k in base.independent}
    assert {f"{joint}.static" for joint in robot.mechanism.actuators} <= told
    assert base.count == base_parameters(robot).count + 3 * len(robot.mechanism.actuators)
    # at velocities where all of it is in the forces
    moving = {key: np.asarray(value) for key, value in random_motion(robot, 20, seed=7).items()}
    moving |= {key: moving[key] * 1e-3 * slow for key in ("qd", "twist") if key in moving}
    parameters = standard_parameters(robot, friction=friction)
    found = base.reduced(regressor(robot, forces=rubbing, **moving).matrix) @ list(values(base, parameters).values())
    tau = inverse_dynamics(robot, forces=rubbing, **moving).force
    assert np.abs(found - tau).max() < 1e-8 * np.abs(tau).max()


def arm(axes: Sequence[tuple[float, float, float]]) -> Robot:
    """Revolute joints about coordinate axes, with offsets along all of them; drives without inertia are declared."""
    inertia = Inertia(1.0, (0.1, 0.2, 0.3), diagonal(0.3, 0.4, 0.5))
    places = [Frame()] + [shifted((0.3, 0.2, 0.4))] * (len(axes) - 1)
    links = tuple(
        Link(f"j{k}", f"b{k}", k - 1 if k else BASE, "revolute", axis, place, inertia)
        for k, (axis, place) in enumerate(zip(axes, places, strict=True))
    )
    names = tuple(link.joint for link in links)
    mechanism = Mechanism.chain("arm", links, names)
    return Robot(Family("arm", "arm", "made up", (Parameter("none", "1", 0.0),), lambda p: mechanism), {"none": 0.0})


@pytest.mark.parametrize(
    ("axes", "first", "along_gravity"),
    [
        ((Z, Y, Y, Z, Y, Z), 1, True),
        ((Z, Z, Z), 3, True),
        ((Y, Y, Y), 3, False),
        ((Y, Y, X, Y), 2, False),
        ((Z, Y, X), 1, True),
        ((Z, Y, Z, Y, Z, Y, Z), 1, True),
    ],
)
def test_arms_have_as_many_as_published(
    axes: tuple[tuple[float, float, float], ...], first: int, along_gravity: bool
) -> None:
    # 36 of an arm as PUMA 560, 43 of one as KUKA LWR or Franka Panda, where all have offsets.
    # Mayeda, Yoshida, Osuka 1990: 7 N - 4 b, less 2 where the first axis is along gravity; b joints before the first
    # that is not parallel. Without drives: the columns of armature are the last
    robot, inertial = arm(axes), 10 * len(axes)
    found = regressor(robot, **random_motion(robot, 40 * len(axes)))
    base = from_matrix(found.matrix[..., :inertial].reshape(-1, inertial), found.names[:inertial])
    assert base.count == 7 * len(axes) - 4 * first - (2 if along_gravity else 0)


def test_groupings_read_as_in_textbooks() -> None:
    base = base_parameters(catalog.build("planar_3r"))
    assert base.groupings[0] == "link_1.Izz + 0.25 link_2.mass + 0.25 link_3.mass + joint_1.armature"
    assert "link_2.mx + 0.4 link_3.mass" in base.groupings


def test_friction_of_joints_is_told_apart() -> None:
    robot = catalog.build("delta_3rr2rrr")
    friction = {"law": "coulomb_viscous", "coulomb": 1.0, "viscous": 1.0}
    assert base_parameters(robot, forces=Forces(friction=friction)).count == base_parameters(robot).count + 6


def test_rows_that_do_not_fit_the_names_are_refused() -> None:
    with pytest.raises(ValueError, match=r"got shape \(2, 3\) for 2 names"):
        from_matrix(np.ones((2, 3)), ("a", "b"))


def test_a_rank_that_is_not_clear_is_refused() -> None:
    powers = np.linspace(0.0, 1.0, 200)[:, None] ** np.arange(12)
    with pytest.raises(ValueError, match="10 with pivoting; expected the same number; give more states"):
        from_matrix(powers, [str(k) for k in range(12)], tolerance=1e-5)
