"""Friction whose normal loads are reactions, in forward dynamics, against free bodies and another method."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.motion import loads, rest
from benchmarks.motion.loads import states_of
from benchmarks.motion.machines import machine
from robots.status import Status
from tasks import forward_dynamics, inverse_dynamics
from tasks.dynamics.motions import ChainMotion
from tasks.dynamics.records import Forces
from tasks.dynamics.simulate import simulate
from tests.reference.free_bodies import Affine, Response
from tests.reference.loaded_friction import Bearing, LoadedFriction
from tests.reference.loaded_search import solutions
from tests.tasks.bits import bits


@pytest.mark.parametrize("coefficient", [0.01, 0.3])
@pytest.mark.parametrize("name", ["three_loop_leg", "irb6", "five_bar"])
def test_friction_meets_its_law_at_the_reactions_of_free_bodies(name: str, coefficient: float) -> None:
    """Another solution is one of the same accelerations, but where friction of joints at rest is not unique."""
    found = loads.verdict(name, coefficient, 12)
    assert (found.status == Status.OK).all()
    assert not found.wrong.any()
    assert found.solved.sum() >= 10
    assert (found.same | ~found.solved | ~found.unique).all()
    assert found.same.sum() >= 6


@pytest.mark.parametrize(
    ("name", "law"), [("five_bar", "stiction"), ("five_bar", "lugre"), ("three_loop_leg", "lugre")]
)
def test_laws_with_a_state_meet_their_formula_at_the_reactions_of_free_bodies(name: str, law: str) -> None:
    found = loads.verdict(name, 0.1, 12, law)
    assert (found.status == Status.OK).all()
    assert not found.wrong.any()


@pytest.mark.slow
def test_the_same_of_a_delta() -> None:
    found = loads.verdict("delta_3rr2rrr", 0.1, 6)
    assert not found.wrong.any()
    assert (found.status == Status.OK).all()


def test_results_that_are_off_are_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    """Change accelerations, friction in motion and friction at rest, each by itself."""

    def shifted(part: str) -> None:
        def off(*args: object, **options: object) -> object:
            motion = forward_dynamics(*args, **options)  # type: ignore[arg-type]
            return motion._replace(**{part: getattr(motion, part) * 1.001 + 1e-4})

        monkeypatch.setattr(loads, "forward_dynamics", off)

    for part in ("acceleration", "friction"):
        shifted(part)
        assert loads.verdict("three_loop_leg", 0.3, 12).wrong.sum() >= 8
        assert loads.verdict("five_bar", 0.1, 12, "lugre").wrong.sum() >= 8


def test_free_bodies_move_as_robots_do() -> None:
    """Compare without friction with a third formulation of forward dynamics, to rounding."""
    for name in ("irb6", "five_bar", "three_loop_leg"):
        robot = machine(name)
        numbers = rest.setting(robot, "actuated", 4)
        free = forward_dynamics(
            robot, gravity=rest.GRAVITY, forces=Forces(actuator=rest.forces(numbers, 3.0)), **numbers.state
        )
        own = loads.without_friction(numbers, rest.forces(numbers, 3.0))
        np.testing.assert_allclose(own, free.acceleration, rtol=0, atol=1e-11 * np.abs(free.acceleration).max())


@pytest.mark.parametrize(("rate", "push", "expected"), [(1.0, 1.0, 3.0), (0.0, 1.0, 1.0), (0.0, -5.0, -3.0)])
def test_newton_steps_find_friction_of_a_block(rate: float, push: float, expected: float) -> None:
    """A block of 1 kg on a plane, pressed down by 10 N: c N of friction in motion, and what pushes it at rest."""
    carried = Affine(np.array([[0.0, 0.0, 10.0, 0.0, 0.0]]), np.zeros((1, 5, 1)))
    response = Response(Affine(np.array([push]), np.eye(1)), carried, Affine(np.zeros(6), np.zeros((6, 1))))
    friction = LoadedFriction(response, Bearing(0.01, 0.01, 0.05, np.array([True])), 0.3, np.array([rate]))
    solution = friction.solved(np.zeros(1))
    assert solution is not None
    np.testing.assert_allclose(solution, expected, rtol=1e-12)


@pytest.mark.parametrize("name", ["five_bar", "three_loop_leg"])
def test_what_reactions_hold_does_not_creep(name: str) -> None:
    """Check for 60 s that friction holds the robot to the last bit."""
    robot = machine(name)
    chain = robot.mechanism.is_chain
    state = {"q": np.array([0.1])} if chain else {"position": np.array(robot.mechanism.platform.home.position)}
    force = inverse_dynamics(robot, **state).force + 0.02
    law = {"law": "coulomb_viscous", "coulomb": 0.3, "load": "reaction", "joints": "all"}
    found = simulate(robot, **state, force=force, friction=law, step=1.0, steps=60, every=10)
    assert found.status == Status.OK
    assert found.stuck.all()
    place = found.q if isinstance(found, ChainMotion) else found.position
    assert (bits(place) == bits(place[0])).all()


def test_a_search_of_many_states_side_by_side_finds_what_each_alone_does() -> None:
    """Compare states of a linear Delta whose rails jam, with no motion, one and two."""
    states = states_of("linear_delta", 4)
    rates = np.where(states.numbers.still(), 0.0, states.numbers.velocity)
    loaded = [
        LoadedFriction(response, states.bearing, 0.5, rate)
        for response, rate in zip(states.responses, rates, strict=True)
        if response is not None
    ]
    together, alone = solutions(loaded, 2), [each.solutions(2) for each in loaded]
    assert [len(found) for found in together] == [len(found) for found in alone]
    for found, expected in zip(together, alone, strict=True):
        for tau, other in zip(found, expected, strict=True):
            np.testing.assert_allclose(tau, other, rtol=1e-6, atol=1e-9)


def test_a_joint_at_rest_is_not_said_to_break_away_where_several_motions_fit() -> None:
    """A linear Delta with its third rail at rest, which holds in one motion and slides in another; it had none."""
    friction = {"law": "coulomb_viscous", "coulomb": 0.5, "load": "reaction", "joints": ["limb*"]}
    found = forward_dynamics(
        machine("linear_delta"), gravity=rest.GRAVITY,
        position=[0.09762754715796113, -0.14814242945448486, -0.5712715884762508],
        twist=[0.0, 0.0, 0.0, 2.1254782182585026, 0.40430047919720413, -0.5464758419061735],
        forces=Forces(actuator=[-36.471349084610544, 17.984660971186774, -9.707204656640576], friction=friction),
    )  # fmt: skip
    assert found.status == Status.FRICTION_SEVERAL_SOLUTIONS
