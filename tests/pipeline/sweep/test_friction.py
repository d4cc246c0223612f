"""The friction section: groups of joints, where their load comes from, what is swept, and what is refused."""

from __future__ import annotations

import pytest

from pipeline.errors import InputError
from pipeline.sweep.model import Sweep

HEAD = """\
limbsweep: 1
robot: delta_3rr2rrr
trajectories: {turn: {kind: circle, radius: 0.1}}
time: {stop: 1.0, step: 0.1}
outputs: [actuator_force]
"""


def sweep(friction: str) -> Sweep:
    return Sweep.from_text(HEAD + "friction:\n" + friction)


def refused(friction: str) -> str:
    with pytest.raises(InputError) as caught:
        sweep(friction)
    return str(caught.value)


def test_one_group_has_the_names_of_its_law() -> None:
    made = sweep("  law: stribeck\n  parameters: {coulomb: 0.1}\n  grid: {static: [0.2, 0.3]}\n").friction
    (group,) = made.groups
    assert (group.law, group.load, len(group.places)) == ("stribeck", "constant", 3)
    assert made.axis.names == ("static",)
    assert [list(values) for values in made.values(0, 2).values()][:2] == [[0.1, 0.1], [0.2, 0.3]]


def test_groups_carry_their_names_in_front() -> None:
    made = sweep(
        "  groups:\n"
        "    motors: {law: viscous}\n"
        "    rest: {law: coulomb_viscous, joints: passive, load: reaction, parameters: {width: 0.01}}\n"
        "  grid: {motors_viscous: [0.1, 0.2], rest_coulomb: [0.05]}\n"
    ).friction
    motors, rest = made.groups
    assert (len(motors.places), len(rest.places)) == (3, 18)
    assert {place.actuator for place in rest.places} == {-1}
    assert rest.parameters == ("coulomb", "viscous", "width", "friction_arm", "pin_radius", "bending_arm", "preload")
    assert list(made.parameters)[:3] == ["motors_viscous", "rest_coulomb", "rest_viscous"]
    assert made.parameters["rest_coulomb"].unit == "1"
    assert made.fixed["rest_width"] == 0.01
    assert made.size == 2


def test_joints_by_name_and_pattern() -> None:
    def places(joints: str) -> int:
        (group,) = sweep(f"  law: viscous\n  joints: {joints}\n  parameters: {{viscous: 1.0}}\n").friction.groups
        return len(group.places)

    assert places("limb1.2") == 1
    assert places("'2'") == 3
    assert places("[limb1.*, 'limb2.3']") == 8
    assert places("all") == 21


@pytest.mark.parametrize(
    ("friction", "fragments"),
    [
        ("  joints: all\n", ["friction: got no law", "coulomb_viscous"]),
        ("  law: viscous\n  load: weight\n", ["friction.load: got 'weight'", "constant, preload, reaction"]),
        ("  law: viscous\n  joints: knee\n", ["friction.joints: got ['knee']", "joint is called 'knee'"]),
        (
            "  law: viscous\n  groups: {a: {law: viscous}}\n",
            ["friction.law: got law beside groups", "inside each group"],
        ),
        ("  groups: {a: {joints: all}}\n", ["friction.groups.a: got no law"]),
        (
            "  groups:\n    a: {law: viscous}\n    b: {law: viscous, joints: all}\n",
            ["friction.groups.b.joints", "joints of no other group", "group a too"],
        ),
        (
            "  groups: {a: {law: viscous, parameters: {viscos: 1}}}\n",
            ["friction.groups.a.parameters.viscos: got an unknown parameter", "a_viscous"],
        ),
        ("  law: viscous\n  parameters: {viscous: -1}\n", ["friction.parameters.viscous: got -1", "at least 0"]),
    ],
)
def test_what_is_wrong_is_told_in_its_place(friction: str, fragments: list[str]) -> None:
    message = refused(friction)
    for fragment in fragments:
        assert fragment in message
