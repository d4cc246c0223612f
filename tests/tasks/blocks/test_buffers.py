from __future__ import annotations

import gc
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from tasks.blocks.pool import LITTLE, SMALL, SPARE, Pool
from tasks.kernels.keys import HUGE, LANES, empty_together
from tests.waiting import PATIENCE

LARGE = (4, SMALL // 8)
NBYTES = 4 * SMALL


def address(array: np.ndarray) -> int:
    return array.ctypes.data


@pytest.fixture
def pool() -> Pool:
    return Pool()


def test_an_array_is_what_was_asked_for(pool: Pool) -> None:
    for shape, kind in ((LARGE, float), ((SMALL + 3,), np.int8), ((7, SMALL), np.int32), ((0, 5), float), ((), float)):
        array = pool.empty(shape, kind)
        assert (array.shape, array.dtype) == (shape, np.dtype(kind))
        assert array.flags.c_contiguous
        assert array.flags.writeable
        array[...] = 3
        assert (array == 3).all()


def test_memory_begins_with_a_whole_vector(pool: Pool) -> None:
    """Vectors that lie in two cache lines each took a twentieth longer."""
    for size in (SMALL, SMALL + 8, HUGE - 4096, HUGE, 3 * HUGE + 8):
        memory = pool.memory(size)
        assert len(memory) == size
        assert address(memory) % (8 * LANES) == 0


def test_arrays_together_are_one_piece_that_comes_back(pool: Pool) -> None:
    shapes = [(3, 4, 5000), (2, 4, 5000)]
    arrays = list(empty_together(shapes, pool.memory))
    assert [array.shape for array in arrays] == shapes
    assert pool.leased == HUGE
    place = address(arrays[0])
    del arrays[0]
    assert not pool.free
    assert pool.leased == HUGE, "the other array is there"
    arrays.clear()
    assert address(next(empty_together(shapes, pool.memory))) == place


def test_a_little_more_than_the_largest_amount_drops_no_piece(pool: Pool) -> None:
    """Strips of a block need some memory beside the results of limbs that the next block will have."""
    pool.memory(20 * HUGE)
    strip = pool.memory(HUGE)
    pool.empty(LARGE)
    assert sum(piece.nbytes for piece in pool.free) == 20 * HUGE + NBYTES
    assert pool.leased == strip.nbytes


def test_memory_comes_back_when_the_array_is_gone(pool: Pool) -> None:
    first = pool.empty(LARGE)
    place = address(first)
    assert address(pool.empty(LARGE)) != place
    del first
    assert address(pool.empty((2, 2, SMALL // 8))) == place, "another shape of the same size"


@pytest.mark.parametrize(
    "view",
    [
        lambda array: array[1:2, ::3],
        lambda array: array.T.reshape(-1)[5:],
        lambda array: array.view(np.int64),
        lambda array: memoryview(array),
        lambda array: np.frombuffer(array.reshape(-1)[8:], dtype=np.uint8),
        lambda array: np.asarray(memoryview(array[2])),
    ],
)
def test_a_view_keeps_the_memory(pool: Pool, view: object) -> None:
    array = pool.empty(LARGE)
    place, seen = address(array), view(array)  # type: ignore[operator]
    copied = not np.shares_memory(np.asarray(seen), array)
    del array
    gc.collect()
    assert (address(pool.empty(LARGE)) == place) == copied
    del seen
    assert address(pool.empty(LARGE)) == place


def test_living_arrays_never_share_memory(pool: Pool) -> None:
    random = np.random.default_rng(0)
    alive: list[np.ndarray] = []
    for number in range(400):
        if alive and random.random() < 0.5:
            alive.pop(random.integers(len(alive)))
        array = pool.empty((int(random.integers(1, 5)), SMALL // 8))
        array[...] = number
        alive.append(array)
        assert all((each == each.flat[0]).all() for each in alive)
    assert len({each.flat[0] for each in alive}) == len(alive)


def test_small_arrays_are_left_to_numpy(pool: Pool) -> None:
    array = pool.empty((SMALL // 8 - 1,))
    del array
    assert not pool.free


def test_much_larger_pieces_are_not_spent_on_small_requests(pool: Pool) -> None:
    oldest = pool.empty((16, SMALL // 8))
    large = pool.empty((16, SMALL // 8))
    place = address(large)
    del oldest, large
    assert address(pool.empty((4, SMALL // 8))) != place
    assert address(pool.empty((13, SMALL // 8))) == place


def test_what_is_kept_is_bounded_and_the_oldest_goes_first() -> None:
    pool = Pool(kept_bytes=3 * NBYTES)
    arrays = [pool.empty(LARGE) for _ in range(5)]
    places = [address(each) for each in arrays]
    while arrays:
        del arrays[0]
    assert sum(piece.nbytes for piece in pool.free) == 3 * NBYTES
    assert [piece.ctypes.data for piece in pool.free] == places[2:]
    none = Pool(kept_bytes=0)
    assert none.empty(LARGE).size
    assert not none.free


def test_free_and_leased_memory_stay_within_what_was_leased_at_once(pool: Pool) -> None:
    random = np.random.default_rng(1)
    for _ in range(200):
        alive = [pool.empty((int(random.integers(1, 40)), SMALL // 8)) for _ in range(int(random.integers(1, 4)))]
        held = sum(piece.nbytes for piece in pool.free) + pool.leased
        assert pool.leased >= sum(array.nbytes for array in alive)
        assert held <= (1 + LITTLE) * pool.most_leased
        assert pool.most_leased <= SPARE * 3 * 40 * SMALL
        del alive


def test_room_for_memory_elsewhere_is_made_of_free_pieces(pool: Pool) -> None:
    arrays = [pool.empty(LARGE) for _ in range(4)]
    del arrays[1:]
    pool.make_room(NBYTES // 5)  # as of metrics, for which the next block would fill fresh pages
    assert sum(piece.nbytes for piece in pool.free) == 3 * NBYTES
    pool.make_room(2 * NBYTES)
    assert sum(piece.nbytes for piece in pool.free) == NBYTES
    pool.make_room(100 * NBYTES)
    assert not pool.free
    assert pool.leased == arrays[0].nbytes


def test_memory_that_comes_back_while_the_lock_is_held_waits_for_the_next_request(pool: Pool) -> None:
    """The garbage collector may find an array in the midst of the pool's own work, in the same thread."""
    array = pool.empty(LARGE)
    place = address(array)

    def work() -> None:
        nonlocal array
        with pool.lock:
            del array

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(timeout=PATIENCE)
    assert not thread.is_alive(), "the pool waits for itself"
    assert address(pool.empty(LARGE)) == place


def test_many_threads(pool: Pool) -> None:
    def work(number: int) -> bool:
        good = True
        for turn in range(200):
            array = pool.empty((1 + turn % 3, SMALL // 8))
            array[...] = number
            part = array[:, ::7]
            del array
            good = good and bool((part == number).all())
        return good

    with ThreadPoolExecutor(8) as threads:
        assert all(threads.map(work, range(16)))
    assert sum(piece.nbytes for piece in pool.free) <= pool.kept_bytes
    assert len({piece.ctypes.data for piece in pool.free}) == len(pool.free)
