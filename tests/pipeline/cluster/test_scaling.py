from __future__ import annotations

from pipeline.cluster.connection import Demand
from pipeline.monitor.log import BlockDone, BlockFailed, Finished, Started, Stopped


class Clock:
    """A clock that is set by hand."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def begun(blocks: int, done: int = 0) -> tuple[Demand, Clock]:
    clock = Clock()
    demand = Demand(clock)
    demand(Started(blocks, done, 1000, None))
    return demand, clock


def test_workers_follow_what_is_left_and_how_fast_it_goes() -> None:
    demand, clock = begun(1000)
    assert demand.workers(1, 5.0) == 1, "nobody knows yet"
    clock.now = 2.0
    for block in range(10):
        demand(BlockDone(block, 1000, 0.1))
    assert demand.workers(1, 5.0) == 40, "990 blocks at 5 blocks a second and worker, in 5 s"
    clock.now = 3.0
    for block in range(10, 210):
        demand(BlockDone(block, 1000, 0.1))
    assert demand.workers(20, 5.0) == 20, "17 would do, but each has a block to work on"


def test_workers_stay_while_each_can_have_a_block() -> None:
    demand, clock = begun(100, done=90)
    demand.workers(4, 5.0)
    clock.now = 0.1
    for block in range(90, 97):
        demand(BlockDone(block, 1000, 0.0))
    assert demand.workers(4, 5.0) == 3
    demand(BlockFailed(97, "poison"))
    assert demand.workers(4, 5.0) == 2
    for over in (Finished(1, 1.0, 0), Stopped("somebody asked")):
        demand(over)
        assert demand.workers(4, 5.0) == 0


def test_a_run_that_has_no_worker_asks_for_one() -> None:
    demand, clock = begun(3)
    assert demand.workers(0, 5.0) == 1
    clock.now = 9.0
    assert demand.workers(0, 5.0) == 1
    assert begun(3, done=3)[0].workers(0, 5.0) == 0
