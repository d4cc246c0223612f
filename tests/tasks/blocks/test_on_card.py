"""Blocks on a card: the bits of a processor, whatever is asked for, and little that moves."""

from __future__ import annotations

import gc
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from pipeline.execution import work
from tasks.blocks import assembly, limb_results, memory
from tasks.blocks.block import Block, motions
from tasks.kernels.device import Residents
from tests.tasks.bits import assert_same_bits
from tests.tasks.blocks.test_block import METRICS, SERIES, block
from tests.tasks.kernels.simulated_card import SimulatedCard, simulated

FRICTION = np.array([[0.0, 0.0], [0.3, 0.1]])
ASKED: dict[str, dict[str, Any]] = {
    "metrics": {"series": ()},
    "series": {"metrics": ()},
    "both": {},
    "one series": {"series": ("actuator_force",), "metrics": ("peak_force",)},
    "limbs that are alike": {"varied": "payload_mass", "series": ("status", "joint_position")},
    "peaks of reactions": {"series": (), "metrics": ("peak_reaction", "failed_samples", "peak_force")},
    "reactions": {"series": ("joint_reaction",), "metrics": ("peak_reaction",)},
    "a single design": {"designs": 1, "series": ("actuator_power",)},
    "single precision": {"single": True, "series": ("actuator_force",)},
    "linear equations": {"series": ("mass_matrix", "actuator_force"), "metrics": ()},
}


def same(given: Block, room: int = 1 << 30) -> SimulatedCard:
    """Assert that a block has the same bits on a card, and return the card."""
    expected = work.whole(given)
    with simulated(room) as card:
        found = work.whole(replace(given, device="gpu"))
    assert {name: array.dtype for name, array in found.items()} == {n: a.dtype for n, a in expected.items()}
    as_floats = [{name: array.astype(float) for name, array in arrays.items()} for arrays in (found, expected)]
    assert_same_bits(*as_floats)
    return card


@pytest.mark.parametrize("asked", ASKED)
def test_a_card_has_the_bits_of_a_processor(asked: str) -> None:
    same(block(times=11, **ASKED[asked]))


def test_limbs_as_tasks_have_the_same_bits() -> None:
    given = block(times=11)
    expected = work.whole(given)
    with simulated():
        asked = replace(given, device="gpu")
        root = motions(asked)
        limbs = [limb_results.limb_arrays(asked, root, k) for k in range(3)]
        found = assembly.assembled(asked, root, limbs).arrays
    assert_same_bits({n: a.astype(float) for n, a in found.items()}, {n: expected[n].astype(float) for n in found})


def test_strips_do_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    for samples in (1, 40, 80):
        monkeypatch.setattr(memory, "SAMPLES", samples)
        same(block(designs=7, times=11, series=("actuator_force",)))


def test_metrics_alone_move_next_to_nothing() -> None:
    """Parameters go there, metrics come back: nothing that grows with the number of samples but the motion."""
    few, many = (same(block(times=times, series=(), metrics=METRICS)).moved for times in (16, 160))
    assert few["fetch"] == many["fetch"]
    motions = 2 * 27 + 1
    assert many["send"] - few["send"] <= motions * 8 * (160 - 16)


def test_threads_share_arrays_but_no_places() -> None:
    """One that ends gives back nothing that another still reads."""
    shared = np.arange(64.0)
    with simulated() as card, ThreadPoolExecutor(1) as other:
        first, second = Residents(), other.submit(Residents).result()
        first.send([shared])
        other.submit(second.send, [shared]).result()
        here, there = card.places.find(shared), other.submit(lambda: card.places.find(shared)).result()
        assert here is not None
        assert there is not None
        assert here.card != there.card
        first.close()
        assert other.submit(lambda: card.places.find(shared)).result() is there
        other.submit(second.close).result()


@pytest.mark.parametrize(
    ("room", "metrics"),
    [
        *((room, ("peak_force",)) for room in (60_000, 200_000, 800_000)),
        *((room, ("peak_force", "peak_reaction", "failed_samples")) for room in (100_000, 400_000)),
    ],
)
def test_a_block_that_does_not_fit_gives_all_back(room: int, metrics: tuple[str, ...]) -> None:
    with simulated(room), suppress(MemoryError):
        work.whole(block(designs=40, times=50, series=(), metrics=metrics, device="gpu"))
    gc.collect(1)


def test_a_full_card_is_told_and_gives_all_back() -> None:
    with simulated(room=100_000), pytest.raises(MemoryError, match="no memory left"):
        work.whole(block(designs=40, times=200, series=(), device="gpu"))


def test_series_names_are_covered() -> None:
    assert set(ASKED["one series"]["series"]) < set(SERIES)
