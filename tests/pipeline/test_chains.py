"""Chains through the pipeline: the same bits however they are cut and run, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from pipeline.cluster import ClusterConfig
from pipeline.coordinator import run
from pipeline.errors import InputError
from pipeline.graph import Granularity
from pipeline.sweep import Sweep
from robots import catalog
from tasks import inverse_dynamics, joint_reactions
from tests.pipeline.runs import SYNCHRONOUS, content_hash, cut_finely

TEXT = """\
limbsweep: 1
robot: three_loop_leg
design:
  grid:
    link_2_mass: {values: [1.5, 2.0, 2.5]}
    link_4_pin_x: {values: [-0.045, -0.046]}
friction:
  law: coulomb_viscous
  joints: all
  load: reaction
  grid:
    coulomb: {values: [0.0, 0.1, 0.2]}
  parameters: {viscous: 0.01}
trajectories:
  slow: {kind: constant_velocity, velocity: 0.5}
  fast: {kind: harmonic, centre: 0.2, amplitude: 0.5, period: 1.0}
time: {stop: 0.8, step: 0.02}
gravity: [0, -9.8, 0]
outputs: [actuator_force, joint_position, joint_velocity, joint_reaction, joint_friction]
metrics: [peak_force, rms_force, condition, peak_reaction]
"""


@pytest.fixture(scope="module")
def whole() -> str:
    return content_hash(run(Sweep.from_text(TEXT), None, SYNCHRONOUS))


@pytest.mark.parametrize("granularity", ["limb", "block"])
def test_any_blocks_and_threads_give_the_same_bits(
    granularity: Granularity, whole: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    cut_finely(monkeypatch)
    for cluster in (SYNCHRONOUS, ClusterConfig.of("threads", threads_per_worker=3)):
        assert content_hash(run(Sweep.from_text(TEXT), None, cluster, granularity=granularity)) == whole


def test_results_are_those_of_single_calls() -> None:
    found = run(Sweep.from_text(TEXT), None, SYNCHRONOUS).isel(design=3, friction=2).sel(trajectory="fast")
    robot = catalog.build("three_loop_leg", link_2_mass=2.0, link_4_pin_x=-0.046)
    t = 2.0 * np.pi * found["time"].values[:, None]
    moving = {
        "q": 0.2 + 0.5 * np.sin(t),
        "qd": np.pi * np.cos(t),
        "qdd": -2.0 * np.pi**2 * np.sin(t),
    }
    friction = {"law": "coulomb_viscous", "joints": "all", "load": "reaction", "coulomb": 0.2, "viscous": 0.01}
    given = {**moving, "gravity": (0.0, -9.8, 0.0), "friction": friction}
    np.testing.assert_allclose(found["actuator_force"], inverse_dynamics(robot, **given), rtol=1e-11, atol=1e-11)
    wrenches = joint_reactions(robot, **given)
    np.testing.assert_allclose(found["joint_reaction"], wrenches, rtol=0, atol=1e-11 * np.abs(wrenches).max())


@pytest.mark.parametrize("name", ["platform_position", "platform_twist", "platform_acceleration"])
def test_a_chain_has_no_outputs_of_a_platform(name: str) -> None:
    with pytest.raises(
        InputError, match=rf"outputs\[0\]: got '{name}'; expected an output of a chain. It has no platform"
    ):
        Sweep.from_text(TEXT.replace("outputs: [actuator_force", f"outputs: [{name}"))
