"""Reactions of a single task for a block, strip by strip: the bits of those that tasks of limbs compute."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from robots.friction.groups import FrictionGroup, group_parameters, select
from tasks.blocks import assembly, limb_results
from tasks.blocks.block import Block, motions
from tasks.blocks.reactions import StripReactions, reactions
from tasks.blocks.series import gathered
from tasks.kernels import strips
from tasks.kernels.kernel import LANES, padded
from tests.tasks.blocks.test_block import FAMILY, assert_same_bits_of_all, block, computed

NUMBERS = {"coulomb": (0.01, 0.03), "viscous": (0.002, 0.0)}
LAWS = {
    "none": None,
    "actuators": ("coulomb_viscous", "actuated", "constant"),
    "all joints": ("coulomb_viscous", "all", "constant"),
    "all joints, loads of reactions": ("coulomb_viscous", "all", "reaction"),
    "bristles": ("lugre", "actuated", "constant"),
}


def reacting(law: str, designs: int, series: tuple[str, ...]) -> Block:
    """A block of which one design cannot follow the trajectories."""
    changes: dict[str, Any] = {"groups": (), "friction": np.zeros((0, 0))}
    if chosen := LAWS[law]:
        kind, joints, load = chosen
        parameters = group_parameters(kind, load)  # type: ignore[arg-type]
        group = FrictionGroup("", kind, load, select(FAMILY.reference, joints), tuple(p.name for p in parameters))
        sets = [[NUMBERS.get(p.name, (p.scalar, p.scalar))[k] for p in parameters] for k in range(2)]
        changes = {"groups": (group,), "friction": np.array(sets, dtype=float)}
    metrics = ("failed_samples", "peak_reaction")
    given = block(designs=designs, times=37, series=series, metrics=metrics, **changes)
    numbers, names = given.designs.parameters.copy(), [p.name for p in FAMILY.parameters]
    numbers[-1, names.index("rod_length")] = 0.1
    return replace(given, designs=given.designs.moved(numbers))


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize(
    ("designs", "strip", "part"), [(5, 1, LANES), (5, 1, 64), (7, 2, 64), (3, 100, 100), (1, 1, 64)]
)
def test_bits_are_those_of_tasks_of_limbs(
    law: str, designs: int, strip: int, part: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = reacting(law, designs, ("joint_reaction", "joint_position", "status"))
    root = motions(given)
    made = assembly.assembled(given, root, [limb_results.limb_arrays(given, root, k) for k in range(3)])
    assert made.loads
    expected = made.arrays | gathered([reactions(given, root, made.loads, k) for k in range(3)])
    monkeypatch.setattr(assembly.Assembly, "STRIP", strip * padded(37))
    monkeypatch.setattr(assembly, "MANY_ROWS", part)
    got = computed(given)
    assert_same_bits_of_all(got, expected)
    assert np.isnan(got["peak_reaction"][-1]).all()
    assert np.isfinite(got["peak_reaction"][:-1]).all()
    assert np.isfinite(got["joint_reaction"][:-1]).all()


@pytest.mark.parametrize(("law", "counts"), [("none", [5, 5]), ("all joints", [5, 5]), ("bristles", [])])
def test_strips_are_one_call(law: str, counts: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    seen, run = [], strips.run

    def counted(each: Any, kernel: Any, count: int) -> None:
        seen.append(count)
        run(each, kernel, count)

    monkeypatch.setattr(assembly.strips, "run", counted)
    monkeypatch.setattr(assembly.Assembly, "STRIP", padded(37))
    computed(reacting(law, 5, ("joint_reaction",)))
    assert [count for count in seen if count == 5] == counts


def test_a_block_that_does_not_report_failures_keeps_its_loads() -> None:
    given = replace(reacting("none", 3, ("joint_reaction",)))
    quantities = replace(given.quantities, metrics=("peak_reaction",))
    bare = replace(given, quantities=quantities)
    assert StripReactions.suffice(given)
    assert not StripReactions.suffice(bare)
    assert_same_bits_of_all(computed(bare), {n: a for n, a in computed(given).items() if n != "failed_samples"})
