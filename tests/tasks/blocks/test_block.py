"""The bodies of a block's tasks by themselves: shapes, names, and arrays that are written in full."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from pipeline.execution import work
from robots import catalog
from robots.friction.groups import FrictionGroup, select
from robots.quantities import QUANTITIES, names, needing, of_criteria
from robots.requested import QuantityNames
from robots.status import Status
from robots.trajectories.trajectory import Trajectory
from tasks.blocks import assembly, limb_results
from tasks.blocks.block import Block, motions
from tasks.blocks.designs import BlockDesigns
from tasks.blocks.reactions import reactions
from tasks.blocks.series import gathered
from tasks.kernels import strips
from tasks.kernels.kernel import LANES, padded
from tasks.stages import stages
from tasks.stages.metrics import actuators
from tests.tasks.bits import assert_same_bits

FAMILY = catalog.family("delta_3rr2rrr")
LIMB_SERIES = ("joint_position", "joint_velocity", "joint_acceleration")
SERIES = (
    "actuator_force", "actuator_power", "actuator_position", "actuator_velocity", *LIMB_SERIES,
    "platform_position", "platform_twist", "platform_acceleration", "status",
)  # fmt: skip
GROUP = FrictionGroup("", "coulomb_viscous", "constant", select(FAMILY.reference, "actuated"), ("coulomb", "viscous"))
OF_ACTUATORS = tuple(name for name in actuators.METRICS if name not in needing("motors"))
OF_POSES = tuple(
    name
    for name in names("assembly")
    if QUANTITIES[name].reduction and name not in (*needing("workspace"), *of_criteria())
)
METRICS = (*OF_ACTUATORS, *OF_POSES)
CIRCLE = {"centre": (0.0, 0.0, 0.0), "normal": (0.0, 0.0, 1.0), "radius": 0.1, "period": 1.0, "phase": 0.0}
HOP = {"start": (0.0, 0.0, 0.0), "end": (0.1, 0.05, 0.02), "duration": 0.8}


def block(designs: int = 5, times: int = 19, varied: str = "upper_arm", **changes: Any) -> Block:
    parameters = np.array([[float(p.default) for p in FAMILY.parameters]] * designs)  # type: ignore[arg-type]
    names = [p.name for p in FAMILY.parameters]
    parameters[:, names.index(varied)] = np.linspace(0.22, 0.3, designs)
    values: dict[str, Any] = {
        "index": 0,
        "robot": FAMILY.name,
        "designs": BlockDesigns(parameters, np.array([[0.0, 0.0, -9.81]])),
        "groups": (GROUP,),
        "friction": np.array([[0.0, 0.0], [0.3, 0.1]]),
        "trajectories": (Trajectory("circle", CIRCLE), Trajectory("quintic", HOP)),
        "times": np.linspace(0.0, 1.0, times),
        "origin": FAMILY.assemble(dict(zip(names, parameters[0], strict=True))).platform.home.position,
    }
    quantities = QuantityNames(changes.pop("series", SERIES), changes.pop("metrics", METRICS))
    return Block(**(values | {"quantities": quantities} | changes))


def computed(given: Block) -> dict[str, np.ndarray]:
    return work.whole(given)


@pytest.fixture
def _poisoned(monkeypatch: pytest.MonkeyPatch) -> None:
    """Memory that nobody has written holds a number that is not a result."""

    def poison(shape: tuple[int, ...], dtype: Any = float) -> np.ndarray:
        return np.full(shape, -77, dtype=dtype)

    monkeypatch.setattr(assembly, "empty", poison)
    monkeypatch.setattr(limb_results, "empty_together", lambda shapes, memory, least: map(poison, shapes))


@pytest.mark.usefixtures("_poisoned")
@pytest.mark.parametrize("times", [1, 2, 8, 19])
def test_all_variables_have_their_shapes_and_are_written_in_full(times: int) -> None:
    made = computed(block(times=times))
    d, f, j, t, n, k, q = 5, 2, 2, times, 3, 3, 7
    shapes: Mapping[str, tuple[int, ...]] = (
        {"actuator_force": (d, f, j, t, n), "actuator_power": (d, f, j, t, n), "status": (d, j, t)}
        | dict.fromkeys(("actuator_position", "actuator_velocity"), (d, j, t, n))
        | dict.fromkeys(LIMB_SERIES, (d, j, t, k, q))
        | {"platform_position": (j, t, 3), "platform_twist": (j, t, 6), "platform_acceleration": (j, t, 6)}
        | dict.fromkeys(OF_ACTUATORS, (d, f, j, n))
        | dict.fromkeys(("peak_velocity", "rms_velocity"), (d, j, n))
        | dict.fromkeys(OF_POSES, (d, j))
    )
    assert {name: array.shape for name, array in made.items()} == shapes
    for name, array in made.items():
        assert not (array == -77).any(), name
        assert np.isfinite(array).all(), name
        assert array.dtype == {"status": np.int8, "worst_status": np.int8, "failed_samples": np.int32}.get(name, float)


def test_the_strip_that_is_worked_on_does_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = computed(block(designs=7))
    for strip in (1, 2 * padded(19), 3 * padded(19) + 5, 10**6):
        monkeypatch.setattr(assembly.Assembly, "STRIP", strip)
        assert_same_bits_of_all(computed(block(designs=7)), expected)


@pytest.mark.parametrize(("designs", "strip", "counts"), [(11, 2, [5, 5]), (3, 1, [3, 3]), (5, 2, []), (11, 11, [])])
def test_strips_of_metrics_are_one_call(
    designs: int, strip: int, counts: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    expected, seen, run = computed(block(designs=designs, series=())), [], strips.run

    def counted(each: Any, kernel: Any, count: int) -> None:
        seen.append(count)
        run(each, kernel, count)

    monkeypatch.setattr(strips, "run", counted)
    monkeypatch.setattr(assembly.Assembly, "STRIP", strip * padded(19))
    assert_same_bits_of_all(computed(block(designs=designs, series=())), expected)
    assert seen == counts
    for series in (*((name,) for name in SERIES if not name.startswith("platform")), SERIES):
        monkeypatch.setattr(strips, "FEWEST", 100)
        expected = computed(block(designs=designs, series=series))
        monkeypatch.undo()
        monkeypatch.setattr(strips, "run", counted)
        monkeypatch.setattr(assembly.Assembly, "STRIP", strip * padded(19))
        seen.clear()
        assert_same_bits_of_all(computed(block(designs=designs, series=series)), expected)
        assert seen == counts, series


@pytest.mark.parametrize("varied", ["upper_arm", "payload_mass"])
@pytest.mark.parametrize("part", [LANES, 2 * LANES, 100])
@pytest.mark.parametrize("strip", [1, 2, 5, 100])
@pytest.mark.parametrize("friction", [np.array([[0.0, 0.0], [0.3, 0.1]]), np.zeros((0, 2))])
def test_peaks_of_reactions_follow_strip_by_strip(
    strip: int, part: int, varied: str, friction: np.ndarray, monkeypatch: pytest.MonkeyPatch
) -> None:
    groups = (GROUP,) if len(friction) else ()
    metrics = (*OF_ACTUATORS, *OF_POSES) if len(friction) else OF_POSES
    metrics = (*metrics, "peak_reaction")
    given = block(designs=11, times=37, series=(), metrics=metrics, groups=groups, friction=friction, varied=varied)
    parameters, names = given.designs.parameters.copy(), [p.name for p in FAMILY.parameters]
    parameters[4, names.index("rod_length")] = 0.1  # cannot be reached
    given = replace(given, designs=given.designs.moved(parameters))
    root = motions(given)
    made = assembly.assembled(given, root, [limb_results.limb_arrays(given, root, k) for k in range(3)])
    peaks = gathered([reactions(given, root, made.loads, k) for k in range(3)])
    monkeypatch.setattr(assembly.Assembly, "STRIP", strip * padded(37))
    monkeypatch.setattr(assembly, "MANY_ROWS", part)
    got = computed(given)
    assert_same_bits_of_all(got, made.arrays | peaks)
    assert np.isnan(got["peak_reaction"][4]).all()
    assert np.isfinite(got["peak_reaction"][[0, 1, 2, 3, *range(5, 11)]]).all()


def assert_same_bits_of_all(got: Mapping[str, np.ndarray], expected: Mapping[str, np.ndarray]) -> None:
    for kind in (np.float64, np.int8, np.int32):
        assert_same_bits(
            {name: array.astype(float) for name, array in got.items() if array.dtype == kind},
            {name: array.astype(float) for name, array in expected.items() if array.dtype == kind},
        )


def test_what_else_is_asked_for_changes_no_bit() -> None:
    everything = computed(block())
    for series in (("actuator_force",), ("joint_velocity", "status"), ("platform_twist",), ("actuator_position",), ()):
        few = computed(block(series=series, metrics=("energy", "failed_samples")))
        assert set(few) == {*series, "energy", "failed_samples"}
        assert_same_bits_of_all(few, {name: everything[name] for name in few})


def test_only_what_limbs_have_to_compute_is_asked_of_them() -> None:
    def asked(**wanted: tuple[str, ...]) -> set[str]:
        limb = stages.limb(block(**wanted).request, 0)
        return {key.name for key in limb.shapes} - {"wrench", "jacobian", "status"}

    assert asked(series=("actuator_force",), metrics=()) == set()
    assert asked(series=("actuator_position", "joint_velocity"), metrics=()) == {"joint_velocity", "actuator_position"}
    assert asked(series=(), metrics=("condition",)) == set()


def test_a_block_without_friction() -> None:
    none = computed(block(groups=(), friction=np.zeros((1, 0))))
    zero = computed(block(friction=np.zeros((1, 2))))
    np.testing.assert_array_equal(none["actuator_force"], zero["actuator_force"])


def test_trajectories_count_from_the_origin() -> None:
    given = block()
    here, moved = (motions(each).motion for each in (given, replace(given, origin=(1.0, 2.0, 3.0))))
    shift = np.subtract((1.0, 2.0, 3.0), given.origin)
    np.testing.assert_allclose(moved[:, :3] - here[:, :3], np.broadcast_to(shift[:, None], here[:, :3].shape))
    np.testing.assert_array_equal(moved[:, 3:], here[:, 3:])


def test_a_design_that_fails_leaves_its_neighbours_alone() -> None:
    good = block(trajectories=(Trajectory("circle", CIRCLE),))
    parameters = good.designs.parameters.copy()
    names = [p.name for p in FAMILY.parameters]
    parameters[2, names.index("upper_arm")] = 0.01
    parameters[2, names.index("rod_length")] = 0.1
    expected, made = computed(good), computed(replace(good, designs=good.designs.moved(parameters)))
    assert (made["status"][2] == Status.NOT_REACHABLE).all()
    assert (made["failed_samples"][2], made["worst_status"][2]) == (len(good.times), Status.NOT_REACHABLE)
    for name, array in made.items():
        if array.shape[0] == 5:
            told = name in ("status", "failed_samples", "worst_status", "dexterity", "usable_share", "reachable_share")
            assert told or np.isnan(array[2]).all(), name
    assert made["dexterity"][2].tolist() == made["usable_share"][2].tolist() == [0.0]
    others = [0, 1, 3, 4]
    at_others = (
        {name: array[others] for name, array in each.items() if not name.startswith("platform")}
        for each in (made, expected)
    )
    assert_same_bits_of_all(*at_others)


def test_friction_sets_of_a_single_design_are_done_several_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    sets = np.random.default_rng(3).uniform(0.0, 0.3, (7, 2))
    for designs in (1, 4):
        given = block(designs=designs, series=(), friction=sets)
        monkeypatch.setattr(assembly.Assembly, "STRIP", 10**6)
        expected = computed(given)
        monkeypatch.setattr(assembly.Assembly, "STRIP", 3 * padded(19))
        monkeypatch.setattr(assembly, "SHORT", padded(19))
        whole = assembly.Assembly(given, motions(given))
        assert (whole.sets, whole.step) == (3, 3 if designs == 1 else 1)
        assert_same_bits_of_all(computed(given), expected)
