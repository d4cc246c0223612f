"""The programs of both Deltas: compiled equals interpreted, one kernel for many designs, lanes that do not matter."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from pipeline.execution.run import compute
from pipeline.sweep.model import Sweep
from robots import catalog
from robots.friction.groups import FrictionGroup, select
from robots.friction.laws import CURVES
from robots.model import Family, Frame, Instance
from robots.quantities import names as quantities
from robots.quantities import needing
from robots.status import Status
from tasks.features.friction.feature import FrictionForces
from tasks.features.limits import supplied
from tasks.kernels.interpreter import interpret
from tasks.kernels.kernel import kernel, padded
from tasks.kernels.keys import Indexed
from tasks.mechanics.families import mount_values, structure_of
from tasks.mechanics.structure import flat_mount, with_parameters
from tasks.sources import prescribed
from tasks.stages.assembly import actuation_program, assembly_program
from tasks.stages.limb import LimbRequest, constant_jacobian, limb_program
from tasks.stages.metrics.actuators import METRICS, SERIES
from tasks.stages.parts import ActuatorPart
from tasks.stages.platform import platform_program
from tests.catalogue import TREES
from tests.tasks.bits import assert_same_bits, bits, padded_last, strided, trimmed
from tests.tasks.machines import DELTAS, HEXAPOD, limb_inputs, motion_input, scaled, states, whole_robot

deltas = pytest.mark.parametrize("name", DELTAS)
SAMPLES, DESIGNS = 43, 3


def designs(name: str) -> dict[str, np.ndarray]:
    """Parameters of a few designs, the last of which cannot be built: its rods are too short."""
    made = [scaled(name, np.random.default_rng(seed)).values for seed in range(DESIGNS)]
    values = {key: np.array([each[key] for each in made]) for key in made[0]}
    values["rod_length"][-1] = 0.05
    return values


def motions(name: str) -> np.ndarray:
    """States near and far: in reach, at the reference pose, out of reach, on the axis of the base, NaN."""
    robot = catalog.build(name)
    r, v, a = states(robot, SAMPLES)
    r[5], v[5], a[5] = robot.mechanism.platform.home.position, 0.0, 0.0
    r[9:15] *= 3.0
    r[17], r[18], r[19] = (0.0, 0.0, 0.0), (1e6, 0.0, -1.0), np.nan
    r[20:24, 2] *= -1.0
    v[30] = np.nan
    return motion_input((r, v, a))


@pytest.mark.parametrize("name", ["delta_3rr2rrr", pytest.param("delta_rl5_1450", marks=pytest.mark.slow)])
def test_compiled_equals_interpreted_bit_for_bit(name: str) -> None:
    motion = motions(name)
    for program, inputs in whole_robot(catalog.family(name), designs(name), motion, SAMPLES):
        ready = kernel(program)
        out = {key: np.full_like(value, np.nan) for key, value in ready.allocate(DESIGNS, SAMPLES).items()}
        ready({key: strided(value) for key, value in inputs.items()}, SAMPLES, out)
        short = {key: value[..., :SAMPLES] if key in program.sample else value for key, value in inputs.items()}
        assert_same_bits(trimmed(out, SAMPLES), interpret(program, short, SAMPLES))


def test_compiled_equals_interpreted_for_six_freedoms() -> None:
    rng = np.random.default_rng(3)
    motion = rng.normal(size=(1, 24, padded(SAMPLES))) * 0.1
    motion[0, 2] += 0.9
    motion[0, 3:12] += np.eye(3).reshape(9, 1)
    motion[0, :, 7] = np.nan
    values = {
        "base_radius": np.array([0.6, 0.8]),
        "platform_radius": np.array([0.3, 0.2]),
        "mass": np.array([1.0, 9.0]),
    }
    for program, inputs in whole_robot(HEXAPOD, values, motion, padded(SAMPLES)):
        assert_same_bits(kernel(program)(inputs, padded(SAMPLES)), interpret(program, inputs, padded(SAMPLES)))


@deltas
def test_the_states_of_these_tests_are_of_all_sorts(name: str) -> None:
    program, inputs = whole_robot(catalog.family(name), designs(name), motions(name), SAMPLES)[-1]
    out = kernel(program)(inputs, SAMPLES)
    status = out["status"][:, 0, :SAMPLES]
    seen = set(status.ravel().tolist())
    assert {Status.OK, Status.NOT_REACHABLE} <= seen
    assert (status[-1] != Status.OK).all()
    assert (status[:2] == Status.OK).sum() >= 20
    np.testing.assert_array_equal(out["failed_samples"][:, 0], (status != Status.OK).sum(axis=1))
    np.testing.assert_array_equal(out["worst_status"][:, 0], status.max(axis=1))
    assert np.isnan(out["condition"]).all()


@deltas
def test_a_sample_knows_nothing_of_its_neighbours(name: str) -> None:
    family, motion = catalog.family(name), motions(name)
    order = np.random.default_rng(1).permutation(motion.shape[-1])
    width = len(order)
    program = limb_program(family, 0, LimbRequest(series=quantities("limb")))
    straight, shuffled = (
        kernel(program)(limb_inputs(family, designs(name), 1, m), width)
        for m in (motion, np.ascontiguousarray(motion[..., order]))
    )
    for key in straight:
        np.testing.assert_array_equal(bits(straight[key][..., order]), bits(shuffled[key]), err_msg=key)


@deltas
def test_many_designs_equal_each_alone_bit_for_bit(name: str) -> None:
    family, motion, values = catalog.family(name), motions(name), designs(name)
    together = whole_robot(family, values, motion, SAMPLES)
    for k in range(DESIGNS):
        alone = whole_robot(family, {key: value[k] for key, value in values.items()}, motion, SAMPLES)
        for (program, many), (same, one) in zip(together, alone, strict=True):
            assert program is same  # geometry is an input, never another program
            everything, single = kernel(program)(many, SAMPLES), kernel(program)(one, SAMPLES)
            assert_same_bits(
                trimmed(single, SAMPLES),
                {key: value[k : k + 1] for key, value in trimmed(everything, SAMPLES).items()},
            )


def test_condition_is_that_of_the_jacobian() -> None:
    family = catalog.family("delta_3rr2rrr")
    robot = catalog.build("delta_3rr2rrr")
    steps = whole_robot(family, robot.values, motion_input(states(robot, 8)), 8)
    program, inputs = steps[-1]
    worst = kernel(program)(inputs, 8)["condition"].item()
    jacobians = np.concatenate([inputs[Indexed("jacobian", k)] for k in range(3)], axis=1)[0].reshape(3, 3, 8)
    assert worst == pytest.approx(np.linalg.cond(np.moveaxis(jacobians, -1, 0)).max(), rel=1e-9)


def _parts(groups: tuple[FrictionGroup, ...], wanted: Sequence[tuple[str, ...]]) -> tuple[ActuatorPart, ...]:
    limits = supplied([name for names in wanted for name in names])
    assert limits is not None
    return FrictionForces(groups), limits


@pytest.mark.parametrize("law", CURVES)
def test_actuation_compiled_equals_interpreted(law: str) -> None:
    family = catalog.family("delta_3rr2rrr")
    names = tuple(parameter.name for parameter in CURVES[law].parameters)
    motors = FrictionGroup("", law, "constant", select(family.reference, "actuated"), names)
    wanted = [tuple(name for name in table if name not in needing("motors")) for table in (SERIES, METRICS)]
    program = actuation_program(family, _parts((motors,), wanted), *wanted)
    rng, cases = np.random.default_rng(2), 4
    inputs: dict[str, Any] = {
        "friction": rng.uniform(size=(cases, len(CURVES[law].parameters))),
        "capacity": np.tile([3.0, np.inf, 2.0], 3)[None],
        "force": rng.normal(size=(1, 3, SAMPLES)),
        "velocity": np.round(rng.normal(size=(1, 3, SAMPLES)), 0),
        "status": (rng.random((cases, 1, SAMPLES)) < 0.01).astype(float),
        "weight": rng.uniform(size=(1, 1, SAMPLES)),
    }
    slow = interpret(program, inputs, SAMPLES)
    wide = {k: padded_last(v, padded(SAMPLES)) if k in program.sample else v for k, v in inputs.items()}
    assert_same_bits(trimmed(kernel(program)(wide, SAMPLES), SAMPLES), slow)


def test_limbs_of_a_family_share_a_program() -> None:
    family = catalog.family("delta_3rr2rrr")
    made = structure_of(family)
    assert structure_of(family) is made
    assert [each.name for each in made.instances(0)] == ["limb1", "limb2", "limb3"]
    assert limb_program(family, 0) is limb_program(family, 0)
    assert (made.freedoms, made.motion_size) == (3, 9)


def test_only_what_differs_between_limbs_is_an_input() -> None:
    made = structure_of(catalog.family("delta_3rr2rrr"))
    # cosine and sine of the azimuth, four numbers of a rotation about z, in both mount frames
    assert made.differing == ((0, 1, 3, 4, 12, 13, 15, 16),)
    mounts = mount_values(made.family, catalog.build("delta_3rr2rrr").values)
    for azimuth, mount in zip(np.deg2rad([0.0, 120.0, -120.0]), mounts, strict=True):
        c, s = np.cos(azimuth), np.sin(azimuth)
        np.testing.assert_allclose(mount, [[c, -s, s, c] * 2], atol=1e-15)


def test_mounts_that_depend_on_parameters_follow_the_designs() -> None:
    values = {
        "base_radius": np.array([0.6, 0.7]),
        "platform_radius": np.array([0.35, 0.3]),
        "mass": np.array([12.0, 1.0]),
    }
    mounts = mount_values(HEXAPOD, values)
    assert len(mounts) == 6
    differing = structure_of(HEXAPOD).differing[0]
    assert differing == (9, 10, 21, 22)
    np.testing.assert_allclose(np.hypot(*mounts[3][:, :2].T), values["base_radius"], rtol=1e-15)
    np.testing.assert_allclose(np.hypot(*mounts[3][:, 2:].T), values["platform_radius"], rtol=1e-15)


def test_a_family_with_one_limb_has_no_mount_input() -> None:
    def alone(p: Any) -> Any:
        made = HEXAPOD.assemble(p)
        return type(made)(made.limbs, made.instances[:1], made.platform)

    family = Family("leg", "one leg", "made up", HEXAPOD.parameters, alone)
    values = {p.name: np.array([p.default, p.default]) for p in family.parameters}
    assert mount_values(family, values)[0].shape == (2, 0)


def test_flat_mount_lists_both_frames() -> None:
    instance = Instance("a", 0, Frame(position=(1.0, 2.0, 3.0)), Frame(position=(4.0, 5.0, 6.0)))
    flat = flat_mount(instance)
    eye = [1, 0, 0, 0, 1, 0, 0, 0, 1]
    assert flat == [*eye, 1, 2, 3, *eye, 4, 5, 6]


def test_parameters_become_rows_of_cases() -> None:
    family = catalog.family("delta_3rr2rrr")
    values = {p.name: np.array([1.0, 2.0]) * k for k, p in enumerate(family.parameters)}
    rows = with_parameters(family, values)
    np.testing.assert_array_equal(rows, np.outer([1.0, 2.0], range(len(family.parameters))))


@deltas
def test_programs_stay_small(name: str) -> None:
    """An operation count is a figure to watch: the paper's hand-written model of this limb has about as many."""
    family = catalog.family(name)
    limb = limb_program(family, 0)
    assert sum(limb.operations().values()) < 1100
    assert constant_jacobian(limb) is None
    assert sum(assembly_program(family).operations().values()) < 100
    assert sum(prescribed.program("circle").operations().values()) < 150


OPERATIONS = {
    "agile_eye": 1588, "delta_4rr2rrr": 3601, "delta_rl5_1450": 2521, "five_bar": 655, "gough_stewart": 4316,
    "hexa": 4466, "hexapod_6rrrprr": 11624, "iiwa14": 949, "irb6": 1632, "linear_delta": 1258,
    "orthoglide": 2560, "planar_3rrr": 1333, "tricept": 4158,
}  # fmt: skip
"""Operations of a sample of inverse kinematics and dynamics in November 2026, of loops those of one pass.

A division or a root counts as sixteen, about what it costs a processor."""


@pytest.mark.parametrize("name", OPERATIONS)
def test_robots_pay_nothing_for_what_they_do_not_have(name: str) -> None:
    family = catalog.family(name)
    limbs = [limb_program(family, each.limb) for each in structure_of(family).mechanism.instances]
    jacobian = constant_jacobian(limbs[0]) if len(limbs) == 1 else None
    programs = [*limbs, assembly_program(family, jacobian=jacobian)]
    programs += [] if family.reference.is_chain else [platform_program(family)]
    counts = sum((Counter(each.operations()) for each in programs), start=Counter[str]())
    assert counts.total() + 15 * (counts["div"] + counts["sqrt"]) <= 1.01 * OPERATIONS[name]


@pytest.mark.parametrize("name", TREES)
def test_the_assembly_of_a_tree_inverts_nothing(name: str) -> None:
    family = catalog.family(name)
    freedoms = structure_of(family).freedoms
    count = assembly_program(family, jacobian=constant_jacobian(limb_program(family, 0))).operations().total()
    driven = bool(family.reference.limbs[0].drives)
    assert (count < 4 * freedoms + 10) != driven


@pytest.mark.parametrize("robot", ["delta_3rr2rrr", "irb6", "linear_delta"])
def test_accelerations_of_actuators_are_rates_of_their_velocities(robot: str) -> None:
    sweep = Sweep.from_text(
        f"""\
limbsweep: 1
robot: {robot}
trajectories:
  t: {{kind: random_fourier, count: 1, seed: 1, period: 2.0, position: 0.05, velocity: 1.0, acceleration: 10.0}}
time: {{stop: 0.2, step: 0.001}}
outputs: [actuator_velocity, actuator_acceleration]
"""
    )
    found = compute(sweep).squeeze()
    velocity, acceleration = (
        found[f"actuator_{name}"].transpose("time", ...).values for name in ("velocity", "acceleration")
    )
    rates = (velocity[2:] - velocity[:-2]) / 0.002
    assert np.abs(acceleration).max() > 0.1
    np.testing.assert_allclose(acceleration[1:-1], rates, atol=1e-4 * np.abs(acceleration).max())
