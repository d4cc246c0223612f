"""Designs that share limbs in groups: strips share them, in one call, with the bits of each design by itself."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tasks.blocks import assembly
from tasks.blocks.block import Block
from tasks.blocks.limb_results import OncePerInput, even_strips
from tasks.kernels import strips
from tasks.kernels.kernel import padded
from tests.tasks.blocks.test_block import FAMILY, assert_same_bits_of_all, block, computed

NAMES = [p.name for p in FAMILY.parameters]


def grid(lengths: list[int]) -> Block:
    """Designs with payloads, in groups of so many that share limbs."""
    given = block(
        designs=sum(lengths), metrics=("peak_force", "condition", "failed_samples"), series=("actuator_force",)
    )
    numbers = given.designs.parameters.copy()
    numbers[:, NAMES.index("upper_arm")] = np.repeat(np.linspace(0.22, 0.3, len(lengths)), lengths)
    payloads = np.concatenate([np.linspace(0.0, 1.0, count) if count > 1 else [0.5] for count in lengths])
    numbers[:, NAMES.index("payload_mass")] = payloads
    return replace(given, designs=given.designs.moved(numbers))


@pytest.mark.parametrize(
    ("lengths", "most", "counts"),
    [
        ([4, 4, 4, 4], 4, [4, 4]),
        ([4, 4, 4, 4], 3, [8, 8]),
        ([1, 4, 4, 4, 3], 4, [3, 3]),
        ([3, 6, 6, 2], 4, [5, 5]),
        ([5, 15], 4, [4, 4]),
        ([3, 4, 5, 2], 4, []),
        ([6, 1, 6], 4, []),
        ([2, 2], 4, []),
    ],
)
def test_strips_share_limbs(lengths: list[int], most: int, counts: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    given = grid(lengths)
    with monkeypatch.context() as patch:
        patch.setattr(OncePerInput, "_different", lambda self, inputs: 2 * (np.arange(max(map(len, inputs.values()))),))
        patch.setattr(assembly.Assembly, "STRIP", padded(19))
        expected = computed(given)
    seen, run = [], strips.run

    def counted(each: Any, kernel: Any, count: int) -> None:
        seen.append(count)
        run(each, kernel, count)

    monkeypatch.setattr(assembly.strips, "run", counted)
    monkeypatch.setattr(assembly.Assembly, "STRIP", most * padded(19))
    assert_same_bits_of_all(computed(given), expected)
    assert seen == counts
    assert len(np.unique(expected["peak_force"][:, 0, 0, 0])) == sum(lengths)


@pytest.mark.parametrize(
    ("changes", "most", "expected"),
    [
        ([4, 8, 12], 4, (0, 4)),
        ([4, 10, 22], 5, (1, 3)),
        ([7], 5, (2, 5)),
        ([1, 2, 3], 8, (0, 1)),
        ([3, 9], 100, (3, 6)),
    ],
)
def test_inputs_change_between_strips(changes: list[int], most: int, expected: tuple[int, int]) -> None:
    offset, length = even_strips(np.array(changes), most)
    assert (offset, length) == expected
    assert all((change - offset) % length == 0 for change in changes)
