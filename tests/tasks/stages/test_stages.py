"""Stages and the tables that they read: each quantity has its mathematics, each formulation the forces of another."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from robots import catalog
from robots.quantities import QUANTITIES, names
from tasks import inverse_dynamics
from tasks.checks.newton_euler_system import joint_reactions_reference
from tasks.features.table import request
from tasks.mathematics.algebra import array
from tasks.stages import limb, stages
from tasks.stages.limb import FORMULATIONS
from tasks.stages.metrics import actuators, poses
from tasks.stages.parts import RECURSION
from tests.tasks.machines import states, twist

ROBOT = catalog.build("delta_3rr2rrr")
POSITION, VELOCITY, ACCELERATION = states(ROBOT, 5)
STATE: Any = {"position": POSITION, "twist": twist(VELOCITY), "acceleration": twist(ACCELERATION)}
OF_FRICTION = {
    *("joint_friction", "joint_friction_part", "normal_load_part", "friction_residual", "unsettled_samples"),
    "dissipated_energy",
}
"""Quantities of the friction of all joints, which are no function of one actuator."""


def test_each_quantity_has_its_mathematics() -> None:
    assert set(names("limb")) == set(limb.SERIES)
    assert set(names("assembly", "series")) == set(poses.SERIES)
    assert {name for name in names("assembly") if QUANTITIES[name].reduction} == set(poses.METRICS)
    assert (
        set(names("actuation")) - OF_FRICTION
        == {*actuators.SERIES, *actuators.METRICS, *actuators.ROBOT_METRICS} - OF_FRICTION
    )


def test_the_limbs_and_the_assembly_give_what_they_say() -> None:
    wanted = (*names("limb"), *names("assembly", "series"), "condition", "largest_effective_mass")
    *limbs, platform, assembly = stages.stages(request(ROBOT.family, wanted))
    for stage in (*limbs, platform, assembly):
        shapes = {stage.gives(name): shape for name, (shape, _) in stage.program.outputs.items()}
        reduced = ("condition", "largest_effective_mass") if stage is assembly else ()
        assert shapes == {**stage.shapes, **dict.fromkeys(reduced, (1,))}


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_a_formulation_has_the_forces_of_the_newton_euler_system(formulation: str) -> None:
    forces = inverse_dynamics(ROBOT, **STATE, formulation=formulation).force
    expected = joint_reactions_reference(ROBOT, **STATE, method="least_norm").actuator_force
    np.testing.assert_allclose(forces, expected, rtol=1e-9, atol=1e-9 * abs(expected).max())


def test_the_wrench_of_each_limb_is_that_of_the_formulation(monkeypatch: pytest.MonkeyPatch) -> None:
    built_in = FORMULATIONS[RECURSION]
    monkeypatch.setitem(FORMULATIONS, "doubled", lambda s, g: 2.0 * array(built_in(s, g)))  # type: ignore[arg-type]
    monkeypatch.setitem(FORMULATIONS, "short", lambda s, g: built_in(s, g)[:2])  # type: ignore[arg-type]
    bare, doubled = (inverse_dynamics(ROBOT, **STATE, formulation=name).force for name in (RECURSION, "doubled"))
    assert (bare == inverse_dynamics(ROBOT, **STATE).force).all()
    assert (abs(doubled - bare) > 1e-3).all()
    with pytest.raises(ValueError, match=r"'wrench': \(2,\).*expected .*'wrench': \(3,\)"):
        inverse_dynamics(ROBOT, **STATE, formulation="short")
    with pytest.raises(ValueError, match="formulation: got 'other'; expected one of recursion, doubled, short"):
        inverse_dynamics(ROBOT, **STATE, formulation="other")
