"""Outputs of some joints or links: the same numbers as those of all, and a store that holds no others."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import limbsweep as ls
from pipeline import Sweep, run
from pipeline.errors import InputError
from pipeline.plan.plan import plan
from tests.pipeline.runs import SYNCHRONOUS, content_hash, cut_finely

TEXT = """\
limbsweep: 1
robot: delta_3rr2rrr
design: {{grid: {{payload_mass: [0.5, 1.5]}}}}
friction: {{law: coulomb_viscous, joints: all, load: reaction, grid: {{coulomb: [0, 0.05]}}}}
trajectories: {{circle: {{kind: circle, radius: 0.1}}, line: {{kind: line_sine, amplitude: [0.1, 0, 0.05]}}}}
time: {{stop: 1.0, step: 0.1}}
outputs: [{outputs}]
metrics: [peak_reaction]
"""
ALL = "joint_reaction, joint_position, joint_friction, link_position, link_rotation, actuator_force"
SOME = (
    "joint_reaction: ['limb2.1', limb1.3], joint_position: [limb1.3, 'limb2.1'], joint_friction: ['limb2.1', limb1.3], "
    "link_position: rod_a, link_rotation: [limb1.rod_a, '*.rod_a'], actuator_force"
)


def test_some_joints_and_links_have_the_bits_of_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole, made = run(Sweep.from_text(TEXT.format(outputs=ALL)), cluster=SYNCHRONOUS), None
    made = Sweep.from_text(TEXT.format(outputs=SOME))
    some = run(made, tmp_path / "some.zarr", cluster=SYNCHRONOUS)
    assert not whole["worst_status"].values.any()
    assert list(some["selected_joint"].values) == ["limb1.3", "limb2.1"]
    assert list(some["selected_link"].values) == ["limb1.rod_a", "limb2.rod_a", "limb3.rod_a"]
    for name in ("joint_reaction", "joint_position", "joint_friction"):
        for place in some["selected_joint"].values:
            limb, joint = str(place).split(".")
            expected = whole[name].sel(limb=limb, joint=joint)
            np.testing.assert_array_equal(some[name].sel(selected_joint=place), expected)
    for name in ("link_position", "link_rotation"):
        expected = whole[name].sel(link="rod_a")
        np.testing.assert_array_equal(some[name].values, np.moveaxis(expected.values, 3, 3))
        assert some[name].sizes["selected_link"] == 3
    assert {"limb", "joint"} <= {*some["peak_reaction"].dims}
    again = ls.open(tmp_path / "some.zarr")
    assert again["joint_reaction"].dims == some["joint_reaction"].dims
    cut_finely(monkeypatch)
    assert content_hash(run(made, cluster=SYNCHRONOUS)) == content_hash(some)
    assert content_hash(run(made, cluster=SYNCHRONOUS, granularity="block")) == content_hash(some)


MATRICES = ("mass_matrix", "coriolis_matrix", "inverse_jacobian", "gravity_force")
ARM = """\
limbsweep: 1
robot: planar_3r
trajectories: {{swing: {{kind: harmonic, amplitude: 0.4, period: 1}}, slow: {{kind: harmonic, period: 3}}}}
time: {{stop: 1, step: 0.25}}
outputs: [{outputs}]
"""


def test_entries_of_some_freedoms_have_the_bits_of_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = run(Sweep.from_text(ARM.format(outputs=", ".join(MATRICES))), cluster=SYNCHRONOUS)
    made = Sweep.from_text(ARM.format(outputs=", ".join(f"{name}: ['joint_[13]']" for name in MATRICES)))
    some, ends = run(made, tmp_path / "some.zarr", cluster=SYNCHRONOUS), ["joint_1", "joint_3"]
    assert list(some["selected_freedom"].values) == list(some["selected_freedom_column"].values) == ends
    for name in MATRICES:
        along = [str(dim) for dim in whole[name].dims if str(dim).startswith("freedom")]
        assert some[name].dims == tuple(f"selected_{dim}" if dim in along else dim for dim in whole[name].dims)
        np.testing.assert_array_equal(some[name].values, whole[name].sel({dim: list(ends) for dim in along}).values)
    assert ls.open(tmp_path / "some.zarr")["mass_matrix"].sel(selected_freedom="joint_3").shape[-1] == len(ends)
    assert made.fingerprint != Sweep.from_text(made.text.replace("joint_[13]", "joint_[12]")).fingerprint
    cut_finely(monkeypatch, small=5)
    assert content_hash(run(made, cluster=SYNCHRONOUS)) == content_hash(some)


def test_a_plan_counts_what_is_stored_and_what_is_held() -> None:
    whole, some = (plan(Sweep.from_text(TEXT.format(outputs=text))) for text in (ALL, SOME))
    assert some.stored < 0.3 * whole.stored
    assert some.block_memory >= whole.block_memory
    assert whole.sweep.fingerprint != some.sweep.fingerprint


def test_a_sweep_of_objects_takes_them_too() -> None:
    parts = {"trajectories": {"circle": {"kind": "circle", "radius": 0.1}}, "time": (1.0, 0.1)}
    made = ls.sweep("delta_3rr2rrr", outputs=["actuator_force", {"link_twist": ["arm"]}], **parts)  # type: ignore[arg-type]
    assert made.outputs == ("actuator_force", "link_twist")
    assert [name for name, _ in made.selection.links] == ["limb1.arm", "limb2.arm", "limb3.arm"]


@pytest.mark.parametrize(
    ("outputs", "message"),
    [
        ("link_position: [armm]", r"outputs\[0\].link_position\[0\]: got 'armm'; expected a link of the robot"),
        (
            "actuator_force: [limb1.1]",
            "got joints or links of actuator_force; expected an output of joints, links or freedoms",
        ),
        ("link_positon: [arm]", r"outputs\[0\]: got 'link_positon'; expected one of the outputs. Did you mean"),
        ("link_position: []", r"outputs\[0\]: got .* expected a name, or a name with a list of joints or links"),
        (
            "joint_reaction: ['*.1'], joint_position: ['*.2']",
            "got other joints than those of another output; expected the same joints everywhere",
        ),
        ("mass_matrix: [vw]", r"mass_matrix\[0\]: got 'vw'; expected a freedom of the robot"),
        (
            "mass_matrix: [vx], gravity_force: [vz]",
            "got other freedoms than those of another output; expected the same freedoms everywhere",
        ),
    ],
)
def test_what_nobody_can_select_is_said(outputs: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Sweep.from_text(TEXT.format(outputs=outputs))
