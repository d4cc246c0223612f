"""Features beside the stages: a trial damper meets the others, and what nobody asks for changes no program."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from robots import catalog
from robots.loads.declared import SpringLoad
from robots.loads.family import with_loads
from robots.model import Robot
from robots.status import Status
from tasks.dynamics.inputs import field_input
from tasks.dynamics.inverse import Dynamics, Influences
from tasks.dynamics.records import Moving
from tasks.features.criteria import Criteria, LimbCriteria
from tasks.features.friction.inputs import friction_input
from tasks.features.limits import JointLimits
from tasks.features.loads import PlatformWrench, acted_on
from tasks.features.sharing import Sharing
from tasks.features.table import FEATURES, request
from tasks.kernels.keys import Shapes
from tasks.mathematics.algebra import array, cross, dot, sqrt
from tasks.mechanics.structure import Structure
from tasks.stages.metrics.margins import LimbLimits
from tasks.stages.parts import Part, PlatformSample
from tasks.stages.request import Feature, Request
from tasks.stages.stages import stages

COUNT, DAMPING, ANCHOR, POINT = 12, 30.0, (0.1, 0.2, 0.0), (0.02, 0.0, 0.01)
PINS = {"pin_radius": 0.01, "friction_arm": 0.02, "bending_arm": 0.05, "preload": 0.1}
WANTED = ("actuator_force", "status")


@dataclass(frozen=True)
class Damper(Feature):
    """A viscous damper between base and platform."""

    mounted: bool = False

    def of_platform(self, request: Request) -> Part[PlatformSample] | None:
        return DamperForce() if self.mounted else None


@dataclass(frozen=True)
class DamperForce(Part[PlatformSample]):
    """A case input `damper` (7,): N s/m, its point of the base, that of the platform."""

    def case(self, structure: Structure) -> Shapes:
        return {"damper": (7,)}

    def add_to(self, sample: PlatformSample) -> PlatformSample:
        numbers, moving = array(sample.inputs["damper"]), sample.moving
        arm = sample.pose.rotation @ numbers[4:7]
        gap = sample.pose.position + arm - numbers[1:4]
        opening = dot(gap, moving.v + cross(moving.omega, arm)) / sqrt(dot(gap, gap))
        force = gap * -(numbers[0] * opening / sqrt(dot(gap, gap)))
        return acted_on(sample, [*cross(arm, force), *force])


def moving(robot: Robot) -> Moving:
    random, body = np.random.default_rng(5), robot.mechanism.platform
    free = [axis in body.mobility for axis in ("wx", "wy", "wz", "vx", "vy", "vz")]
    twist, acceleration = random.normal(size=(2, COUNT, 6)) * free
    position = np.array(body.home.position) + random.uniform(-0.02, 0.02, (COUNT, 3))
    return Moving(position=position, twist=twist, acceleration=acceleration)


def forces(robot: Robot, damper: Damper, given: Mapping[str, Any]) -> np.ndarray:
    """Actuator forces (actuator, sample)."""
    dynamics = Dynamics(robot, moving(robot), WANTED, Influences(**given))
    asked = dynamics.request
    dynamics.request = replace(asked, features=(asked.features[0], damper, *asked.features[1:]))
    dynamics.values["damper"] = np.array([[DAMPING, *ANCHOR, *POINT]])
    dynamics.run(stages(dynamics.request))
    assert (dynamics.status == Status.OK).all()
    return dynamics.sample_rows("actuator_force")


def rubbing(robot: Robot) -> dict[str, Any]:
    law = {"law": "coulomb_viscous", "joints": "all", "load": "reaction", "coulomb": 0.05, "viscous": 0.1, **PINS}
    return {"friction": friction_input(robot, law)}


MEETS = {
    "nothing": lambda robot: {},
    "a load": lambda robot: {"load": [1.0, -2.0, 0.5, 4.0, 3.0, -5.0]},
    "friction from reactions": rubbing,
    "other gravity": lambda robot: {"field": field_input()},
}


@pytest.mark.parametrize("other", MEETS)
@pytest.mark.parametrize("name", ["delta_3rr2rrr", "gough_stewart", "delta_4rr2rrr"])
def test_a_new_feature_meets_the_others(name: str, other: str) -> None:
    robot = catalog.build(name)
    damped = forces(robot, Damper(mounted=True), MEETS[other](robot))
    still = forces(robot, Damper(), MEETS[other](robot))
    load = SpringLoad("platform", 0.0, to=ANCHOR, at=POINT, damping=DAMPING)
    sprung = with_loads(robot, {"damper": load})
    np.testing.assert_allclose(damped, forces(sprung, Damper(), MEETS[other](sprung)), rtol=1e-9, atol=1e-9)
    assert np.abs(damped - still).max() > 1.0


def test_without_a_setting_no_program_changes() -> None:
    family = catalog.family("delta_3rr2rrr")
    bare = request(family, WANTED)
    beside = replace(bare, features=(*bare.features, Damper()))
    for one, other in zip(stages(bare), stages(beside), strict=True):
        assert one.program is other.program


@pytest.mark.parametrize("kind", FEATURES, ids=lambda kind: kind.__name__)
def test_every_feature_has_defaults_that_ask_for_nothing(kind: type[Feature]) -> None:
    family, feature = catalog.family("delta_3rr2rrr"), kind()
    assert hash(feature) == hash(kind())
    bare = request(family, ())
    assert feature.solver(bare) is None
    assert not feature.settles
    parts = [feature.of_limb(bare, 0), feature.of_platform(bare), feature.of_robot(bare)]
    assert parts == [None, None, None]


def test_settings_change_the_stages_that_they_name() -> None:
    family = catalog.family("delta_3rr2rrr")
    limits = JointLimits((LimbLimits((0,), (0,)),) * 3)
    asked = request(family, ("limit_margin",), limits, PlatformWrench(loaded=True))
    limb, *_, platform, assembly = stages(asked)
    assert "limits" in limb.program.case
    assert limb.program.outputs.keys() >= {"margin", "rate_margin"}
    assert "load" in platform.program.sample
    assert "limit_margin" in assembly.program.outputs


def test_a_feature_that_comes_with_settings_alone_is_the_last() -> None:
    features = request(catalog.family("delta_3rr2rrr"), (), Damper(mounted=True)).features
    assert [type(each) for each in features] == [*FEATURES, Damper]
    assert features[-1] == Damper(mounted=True)


def test_two_of_a_kind_are_refused() -> None:
    family = catalog.family("delta_3rr2rrr")
    with pytest.raises(ValueError, match="features: got Sharing, Sharing; expected at most one of each kind"):
        request(family, (), Sharing(), Sharing())
    with pytest.raises(ValueError, match="features: got Damper, Damper; expected at most one of each kind"):
        request(family, (), Damper(), Damper(mounted=True))


def test_other_settings_take_the_place_of_those_that_were_there() -> None:
    asked = request(catalog.family("delta_3rr2rrr"), (), PlatformWrench(loaded=True))
    known = Criteria((LimbCriteria(),) * 3)
    changed = asked.with_features(PlatformWrench(), known)
    assert changed.feature(PlatformWrench) == PlatformWrench()
    assert changed.feature(Criteria) is known
    assert [type(each) for each in changed.features] == list(FEATURES)
