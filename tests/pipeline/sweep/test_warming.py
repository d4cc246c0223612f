"""Links that grow with temperature: beside robots built with grown lengths, to first order, in sweeps; refusals."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import limbsweep as ls
from robots.drives import Drive
from robots.loads.warming import warmed
from robots.model import Family
from robots.parameter_errors import ParameterError

EXPANSION = {"proximal": 23e-6, "distal": 1e-6, "base": 12e-6}
WARMER = 40.0
AT: dict[str, Any] = {
    "position": [[0.05, 0.0, -0.6], [-0.08, 0.0, -0.55], [0.02, 0.0, -0.7]],
    "twist": [0.0, 0.0, 0.0, 0.4, 0.0, -0.3],
    "acceleration": [0.0, 0.0, 0.0, 2.0, 0.0, -1.5],
}
LENGTHS = {"proximal": "proximal_length", "distal": "distal_length", "base": "base_half_width"}


def crank_angles(lengths: dict[str, float], place: list[float], side: float) -> float:
    """Angle of a crank from straight down, outwards, by the triangle of crank, rod and the line to the point."""
    x, z = side * place[0] + lengths["base_half_width"], place[2]
    near, far, reach = lengths["proximal_length"], lengths["distal_length"], np.hypot(x, z)
    return float(np.arccos((near**2 + reach**2 - far**2) / (2 * near * reach)) - np.arctan2(x, -z))


def test_forces_and_positions_are_those_of_a_robot_built_with_grown_lengths() -> None:
    cold = ls.robots.build("five_bar")
    warm = ls.robots.with_warm_links(cold, expansion=EXPANSION, temperature=WARMER)
    grown = {LENGTHS[name]: cold.values[LENGTHS[name]] * (1.0 + rate * WARMER) for name, rate in EXPANSION.items()}
    built = ls.robots.build("five_bar", **grown)
    force = ls.inverse_dynamics(warm, **AT).force
    np.testing.assert_allclose(force, ls.inverse_dynamics(built, **AT).force, rtol=1e-12)
    assert (np.abs(force - ls.inverse_dynamics(cold, **AT).force) > 1e-3).all()
    kept = ls.joint_reactions(warm, **AT).wrench - ls.joint_reactions(built, **AT).wrench
    assert np.nanmax(np.abs(kept)) < 1e-11
    home, was = [0.0, 0.0, -cold.values["home_height"]], dict(cold.values)
    positions = ls.actuator_positions(warm, **AT).position
    for place, found in zip(AT["position"], positions, strict=True):
        for side, angle in zip((1.0, -1.0), found, strict=True):
            turned = crank_angles(grown, place, side) - crank_angles(was, home, side)  # sensors read what they did
            assert abs(angle) == pytest.approx(abs(turned), abs=1e-12)


def test_a_limb_may_be_warm_by_itself() -> None:
    cold = ls.robots.build("five_bar")
    one, both = (ls.robots.with_warm_links(cold, expansion={x: 2e-5}, temperature=50.0) for x in ("left.*", "all"))
    positions = ls.actuator_positions(one, **AT).position
    np.testing.assert_array_equal(positions[:, 0], ls.actuator_positions(both, **AT).position[:, 0])
    np.testing.assert_array_equal(positions[:, 1], ls.actuator_positions(cold, **AT).position[:, 1])


def test_to_first_order_it_is_the_thermal_shift() -> None:
    """Check that the drives' turn for a platform at rest is J_IK times its free displacement."""
    cold, place = ls.robots.build("delta_3rr2rrr"), [0.05, 0.1, -0.9]
    rates = {"arm": 23e-6, "elbow": 23e-6, "rod_*": 1e-6, "wrist": 23e-6}
    tube = ls.robots.Elasticity.of(cold.mechanism, links={"all": ls.robots.Beam.tube(0.03, 70e9)})
    full: Any = ls.inverse_dynamics(cold, position=place)
    left = []
    for warmer in (40.0, 20.0):
        shift = ls.pose_error(
            cold, ls.robots.Errors.of(cold.mechanism, expansion=rates, warming=warmer), tube, position=place
        ).shift[3:]
        warm = ls.robots.with_warm_links(cold, expansion=rates, temperature=warmer)
        turned = (
            ls.actuator_positions(warm, position=place).position - ls.actuator_positions(cold, position=place).position
        )
        left.append(np.abs(turned + full.jacobian @ shift).max() / np.abs(turned).max())
    assert left[0] < 2e-3
    assert left[0] / left[1] == pytest.approx(2.0, abs=0.1)  # of second order


def test_an_overconstrained_limb_that_grows_out_of_shape_has_a_status() -> None:
    warm = ls.robots.with_warm_links(
        ls.robots.build("delta_3rr2rrr"), expansion={"limb1.rod_a": 23e-6}, temperature=40.0
    )
    full: Any = ls.inverse_dynamics(warm, position=[0.05, 0.1, -0.9])
    assert full.status == ls.Status.NOT_REACHABLE
    assert np.isnan(full.force).all()


SWEEP: dict[str, Any] = {
    "robot": "five_bar",
    "design": {"grid": {"link_temperature": {"values": [0, 40]}}},
    "trajectories": {"c": {"kind": "circle", "radius": 0.05, "normal": [0, 1, 0]}},
    "time": {"stop": 1.0, "samples": 5},
    "outputs": ["actuator_position"],
    "warming": {"expansion": EXPANSION},
}


def test_a_sweep_has_temperatures_as_cases() -> None:
    results = ls.compute(ls.Sweep.from_dict(SWEEP)).squeeze()
    assert (results["status"] == 0).all()
    cold = ls.robots.build("five_bar")
    home = np.array(cold.mechanism.platform.home.position)
    for number, warmer in enumerate((0.0, WARMER)):
        own = results["actuator_position"].isel(design=number).transpose("time", "actuator").values
        robot = ls.robots.with_warm_links(cold, expansion=EXPANSION, temperature=warmer)
        found: Any = ls.forward_kinematics(robot, actuator_position=own)
        np.testing.assert_allclose(np.linalg.norm(found.position - home, axis=-1), 0.05, atol=1e-9)
    other = ls.Sweep.from_dict({**SWEEP, "warming": {"expansion": {"all": 1e-6}}})
    assert other.fingerprint != ls.Sweep.from_dict(SWEEP).fingerprint


@pytest.mark.parametrize(
    ("section", "text"),
    [
        ({"expansion": {}}, "expected at least 1"),
        ({"expansion": {"spoke": 1e-6}}, "No link is called 'spoke'"),
        ({"expansion": {"all": 12}}, "got 12.0; expected a number from -0.001 to 0.001"),
        ({"expansion": {"all": 1e-6, "distal": 1e-6}}, "distal"),
    ],
)
def test_what_is_refused(section: dict[str, Any], text: str) -> None:
    with pytest.raises(ls.InputError, match=text):
        ls.Sweep.from_dict({**SWEEP, "warming": section})


def test_growth_of_what_is_not_known_is_refused() -> None:
    arm = ls.robots.build("five_bar")
    twice = ls.robots.with_warm_links(arm, expansion=EXPANSION)
    with pytest.raises(ParameterError, match="has a parameter 'link_temperature' already"):
        ls.robots.with_warm_links(twice, expansion=EXPANSION)
    loaded = ls.robots.with_loads(arm, {"pull": ls.robots.WrenchLoad(body="platform", force=(0.0, 0.0, -1.0))})
    with pytest.raises(ParameterError, match="has loads; expected a robot without"):
        ls.robots.with_warm_links(loaded, expansion=EXPANSION)
    (limb,) = ls.robots.build("planar_3r").mechanism.limbs
    crank = Drive("crank", ((limb.actuated[0], 1.0),), position=lambda q: q[limb.actuated[0]])
    drives = (crank, *(Drive(f"motor_{name}", ((name, 1.0),)) for name in limb.actuated[1:]))
    cranked = replace(ls.robots.build("planar_3r").mechanism, limbs=(replace(limb, drives=drives),))
    family = Family("cranked", "", "", (), lambda values: cranked)
    with pytest.raises(
        ParameterError, match="the position of drive crank is a function of joints, and it is unknown how that grows"
    ):
        warmed(family, {"all": 1e-6})
    with pytest.raises(ParameterError, match="got a platform of a chain"):
        warmed(ls.robots.family("planar_3r"), {"platform": 1e-6})
