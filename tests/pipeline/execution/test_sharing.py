"""Runs that share a cluster: a fake scheduler keeps their rows."""

from __future__ import annotations

from typing import Any

import dask
import pytest

from pipeline.errors import InputError
from pipeline.execution.policy.window import window_size
from pipeline.execution.policy.workers import Worker
from pipeline.execution.sharing import GONE_SECONDS, Share, weight


class Scheduler:
    """Metadata of a scheduler, and the time."""

    def __init__(self) -> None:
        self.metadata: dict[str, Any] = {}
        self.now = 0.0

    def set_metadata(self, keys: list[str], value: object) -> None:
        self.metadata.setdefault(keys[0], {})[keys[1]] = value

    def get_metadata(self, keys: list[str], default: object) -> Any:
        return self.metadata.get(keys[0], default)

    def share(self, weight: float = 1.0, seconds: float = 1.0, more: bool = True) -> Share:
        client: Any = self
        return Share(client, weight, seconds, lambda: more, lambda: self.now)


def test_a_run_that_is_alone_has_all() -> None:
    assert Scheduler().share(0.01)() == 1.0


def test_shares_follow_weights_and_the_time_of_blocks() -> None:
    scheduler = Scheduler()
    first, second = scheduler.share(1.0), scheduler.share(3.0)
    first()
    assert (second(), first()) == (0.75, 0.25)
    long = scheduler.share(3.0, seconds=10.0)  # a block of it counts for ten
    assert long() == pytest.approx(0.3 / 4.3)


def test_who_has_nothing_left_ends_or_falls_silent_gives_its_share_away() -> None:
    scheduler = Scheduler()
    first, drained, closed, killed = (scheduler.share(more=more) for more in (True, False, True, True))
    for share in (first, drained, closed, killed):
        share()
    assert first() == pytest.approx(1.0 / 3.0)
    closed.close()
    assert first() == 0.5
    scheduler.now += GONE_SECONDS
    assert first() == 1.0
    killed()  # it was only slow
    assert first() == 0.5


def test_the_weight_is_an_annotation_or_a_setting_and_has_bounds() -> None:
    assert weight() == 1.0
    with dask.config.set({"limbsweep.cluster.weight": 2.0}):
        assert weight() == 2.0
        with dask.annotate(weight=0.5):
            assert weight() == 0.5
    for wrong in (0.0, -1, 1e3, float("nan"), True, "3"):
        with dask.annotate(weight=wrong), pytest.raises(InputError, match=r"weight.*a number from 0.01 to 100"):
            weight()


def test_windows_follow_the_share_and_keep_one_block() -> None:
    workers = [Worker(8) for _ in range(4)]
    whole = window_size(workers)
    assert window_size(workers, share=0.25) == pytest.approx(whole / 4, abs=0.5)
    assert window_size(workers, share=1e-6) >= 1
