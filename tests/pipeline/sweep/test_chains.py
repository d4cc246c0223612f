"""Chains through the pipeline: the same bits however they are cut and run, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from pipeline.cluster.connection import ClusterConfig
from pipeline.errors import InputError
from pipeline.execution.graph import Granularity
from pipeline.execution.run import run
from pipeline.plan.plan import plan
from pipeline.sweep.model import Sweep
from robots import catalog
from robots.status import Status
from tasks import inverse_dynamics, joint_reactions
from tests.arguments import in_records
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
    np.testing.assert_allclose(
        found["actuator_force"], inverse_dynamics(robot, **in_records(**given)).force, rtol=1e-11, atol=1e-11
    )
    wrenches = joint_reactions(robot, **in_records(**given)).wrench
    np.testing.assert_allclose(found["joint_reaction"], wrenches, rtol=0, atol=1e-11 * np.abs(wrenches).max())


@pytest.mark.parametrize("name", ["platform_position", "platform_twist", "platform_acceleration"])
def test_a_chain_has_no_outputs_of_a_platform(name: str) -> None:
    with pytest.raises(
        InputError, match=rf"outputs\[0\]: got '{name}'; expected a variable that this robot has. It has no platform"
    ):
        Sweep.from_text(TEXT.replace("outputs: [actuator_force", f"outputs: [{name}"))


def test_friction_that_does_not_settle_is_told_of_its_set_alone() -> None:
    """Check the dim of friction of the status: present only where friction and reactions depend on each other."""
    text = TEXT.replace("{values: [0.0, 0.1, 0.2]}", "{values: [0.1, 400.0]}")
    found = run(Sweep.from_text(text), None, SYNCHRONOUS).load()
    assert found.status.dims == ("design", "friction", "trajectory", "time")
    assert (found.status.isel(friction=0) == Status.OK).all()
    bad = found.status.values != Status.OK
    assert bad[:, 1].any()
    told = {Status.FRICTION_NOT_CONVERGED, Status.FRICTION_NO_SOLUTION, Status.FRICTION_SEVERAL_SOLUTIONS}
    assert {*found.status.values[bad]} <= told
    assert "FRICTION_NO_SOLUTION" in found.status.attrs["flag_meanings"]
    for name in ("actuator_force", "joint_friction", "joint_reaction"):
        lost = np.isnan(found[name].values).reshape(*bad.shape, -1)
        np.testing.assert_array_equal(lost.all(axis=-1), bad)
    np.testing.assert_array_equal(found.failed_samples.values, bad.sum(axis=3))
    np.testing.assert_array_equal(found.worst_status.values, found.status.values.max(axis=3))
    np.testing.assert_array_equal(found.unsettled_samples.values, found.failed_samples.values)
    assert np.isfinite(found.joint_position).all()
    alone = run(Sweep.from_text(TEXT.replace("{values: [0.0, 0.1, 0.2]}", "{values: [0.1]}")), None, SYNCHRONOUS)
    for name in ("status", "failed_samples", "worst_status", "actuator_force"):
        np.testing.assert_array_equal(alone[name].values[:, 0], found[name].values[:, 0])
    made = plan(Sweep.from_text(TEXT.replace("load: reaction", "load: constant")))
    for name in ("status", "failed_samples", "worst_status"):
        assert "friction" not in made.layout.variables[name].dims
