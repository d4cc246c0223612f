"""The catalogue: every robot can be built, its numbers make sense, and misspelt names are met with a hint."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from robots import Robot, catalog
from robots.friction.laws import LAWS
from robots.parameter_errors import ParameterError
from robots.trajectories.kinds import MOTIONS
from robots.types import BASE
from tests.reference.delta_bodies import parse_delta

every = pytest.mark.parametrize("name", catalog.FAMILIES)


@every
def test_defaults_are_within_their_bounds_and_have_units_and_sources(name: str) -> None:
    for parameter in catalog.family(name).parameters:
        assert isinstance(parameter.default, float)
        assert parameter.problem(parameter.default) is None
        assert parameter.unit
        assert parameter.text
        assert parameter.source


@every
def test_families_can_be_pickled(name: str) -> None:
    """Sweeps with loads over time take them along to processes of their own."""
    again = pickle.loads(pickle.dumps(catalog.family(name).assemble))
    values = {parameter.name: parameter.scalar for parameter in catalog.family(name).parameters}
    assert again(values) == catalog.build(name).mechanism


@every
def test_models_are_well_formed(name: str) -> None:
    mechanism = catalog.build(name).mechanism
    for limb in mechanism.limbs:
        assert all(BASE <= link.parent < k for k, link in enumerate(limb.links))
        assert set(limb.actuated) <= {link.joint for link in limb.links}
        for link in limb.links:
            assert sum(map(abs, link.axis)) == 1.0
            r = np.array(link.placement.rotation, dtype=float)
            np.testing.assert_allclose(r @ r.T, np.eye(3), atol=1e-14)
            tensor = np.array(link.inertia.tensor, dtype=float)
            assert link.inertia.mass >= 0.0
            assert (np.diag(tensor) >= 0.0).all()
            assert 2.0 * tensor.diagonal().max() <= np.trace(tensor) * (1.0 + 1e-12)
    assert len(mechanism.actuators) == len(set(mechanism.actuators)) >= len(mechanism.platform.mobility)


@pytest.mark.parametrize("name", ["delta_3rr2rrr", "delta_rl5_1450"])
def test_lengths_and_bodies_are_those_of_the_source(name: str) -> None:
    """Compare with the numbers that are typed a second time for the references."""
    robot = catalog.build(name)
    delta = parse_delta(dict(robot.values))
    links = {link.body: link for link in robot.mechanism.limbs[0].links}
    for body, solid in (("arm", "arm"), ("elbow", "elbow"), ("rod_a", "rod"), ("rod_b", "rod"), ("wrist", "wrist")):
        assert links[body].inertia.mass == pytest.approx(delta.solids[solid].mass)
        np.testing.assert_allclose(links[body].inertia.tensor, delta.solids[solid].tensor, atol=1e-15)
    assert robot.mechanism.platform.inertia.mass == pytest.approx(delta.solids["platform"].mass)
    assert links["arm"].armature == pytest.approx(delta.armature)
    np.testing.assert_allclose(robot.mechanism.platform.home.position, [0.0, 0.0, -delta.height], rtol=1e-15)


def test_actuators_are_named_after_limbs() -> None:
    assert catalog.build("delta_3rr2rrr").mechanism.actuators == ("limb1.1", "limb2.1", "limb3.1")


def test_joints_of_a_limb_are_the_tree_then_those_at_the_platform_then_those_of_the_loops() -> None:
    limb = catalog.build("delta_3rr2rrr").mechanism.limbs[0]
    assert limb.joints == ("1", "2", "3", "4", "5", "6", "7")
    assert limb.index("4") == 3


def test_a_robot_has_all_parameters_in_the_order_of_its_family() -> None:
    robot = catalog.build("delta_rl5_1450", rod_length=1.1)
    assert isinstance(robot, Robot)
    assert robot.name == "delta_rl5_1450"
    assert list(robot.values) == [p.name for p in robot.family.parameters]
    assert robot.values["rod_length"] == 1.1
    assert robot.mechanism is robot.mechanism


def test_geometry_changes_inertia() -> None:
    small, large = (catalog.build("delta_3rr2rrr", upper_arm=x).mechanism.limbs[0].links[0] for x in (0.2, 0.4))
    assert large.inertia.mass == pytest.approx(2.0 * small.inertia.mass)
    assert large.inertia.centre[0] == -0.2


@pytest.mark.parametrize(
    ("name", "parameters", "text"),
    [
        ("delta_3rr2rr", {}, "unknown robot 'delta_3rr2rr'; did you mean 'delta_3rr2rrr'?"),
        ("spider", {}, "unknown robot 'spider'; known: delta_3rr2rrr, "),
        ("delta_3rr2rrr", {"uper_arm": 0.3}, "delta_3rr2rrr has no parameter 'uper_arm'; did you mean 'upper_arm'?"),
        ("delta_rl5_1450", {"arm_mass": -1.0}, r"delta_rl5_1450: arm_mass = -1\.0 is outside \[1e-06, 1e\+06\] kg"),
    ],
)
def test_misuse_is_told(name: str, parameters: dict[str, float], text: str) -> None:
    with pytest.raises(ParameterError, match=text):
        catalog.build(name, **parameters)


def test_friction_laws_and_motions_are_listed_under_their_names() -> None:
    for table in (LAWS, MOTIONS):
        for name, entry in table.items():
            assert entry.name == name
            assert entry.text
            for parameter in entry.parameters:
                default = np.atleast_1d(parameter.default)
                assert all(parameter.problem(float(x)) is None for x in default)
