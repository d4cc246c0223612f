"""Every operation of a run fails once, in every way: the error says so, and going on gives the same store."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from storage.errors import StoreError
from storage.integrity import check_blocks, check_files, check_ledger
from storage.places.access import locate
from storage.places.location import Location
from tests.storage.cases import FEW, anywhere, digest, fill, store
from tests.storage.faults import ERRORS, FaultyLocation

MANY = 10**9
ADVICE = (
    "check free space and permissions, or choose another store|lost or stale|differs from what was written"
    "|wait a while, then run it again|give credentials where|check the address|make the bucket|see that the store"
)


def run(location: Location) -> None:
    """A whole run, or what is left of one."""
    if not location.exists():
        store(location, FEW)
    fill(location)


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("expected") / "s.zarr"
    run(locate(path))
    return digest(path)


def refusal(location: Location) -> str:
    """Return the message of a run that stops; "" where it goes on: what failed does not matter or is tried again."""
    try:
        run(location)
    except StoreError as error:
        return str(error)
    return ""


def steps(kind: str, folder: Path) -> int:
    """Number of operations of a run that nothing disturbs."""
    counting = FaultyLocation(locate(anywhere(kind, folder)), MANY, OSError)
    run(counting)
    return counting.count


def sound(location: Location) -> bool:
    blocks = (each for one in check_blocks(location) for each in one.findings)
    return not [*check_files(location), *check_ledger(location), *blocks]


@pytest.mark.parametrize("kind", ["path", "memory"])
def test_every_operation_fails_once(kind: str, tmp_path: Path, expected: str) -> None:
    """Let each operation fail with one kind of error, in turn; the slow campaign takes all pairs."""
    names, total = list(ERRORS), steps(kind, tmp_path / "count")
    assert total > 40
    for number in range(1, total + 1, 2 if kind == "path" else 5):
        once(kind, tmp_path / str(number), number, ERRORS[names[number % len(names)]], expected)


@pytest.mark.slow
@pytest.mark.parametrize("error", ERRORS)
def test_every_operation_fails_in_every_way(error: str, tmp_path: Path, expected: str) -> None:
    for number in range(1, steps("path", tmp_path / "count") + 1):
        once("path", tmp_path / str(number), number, ERRORS[error], expected)


def once(kind: str, folder: Path, number: int, error: Callable[[], OSError], expected: str) -> None:
    folder.mkdir(parents=True)
    location = locate(anywhere(kind, folder))
    with pytest.raises(StoreError, match=ADVICE):
        run(FaultyLocation(location, number, error))
    run(location)
    assert digest(location) == expected, f"operation {number}"
    assert sound(location), f"operation {number}"


def test_a_write_that_stores_half_is_found_at_once(tmp_path: Path, expected: str) -> None:
    """Check that half a manifest is reported at once, though no run can go on with it."""
    found = 0
    for number in range(1, steps("path", tmp_path / "count") + 1, 2):
        location = locate(tmp_path / str(number) / "s.zarr")
        if told := refusal(FaultyLocation(location, number, OSError, cut=True)):
            assert "differs from what was written" in told
            found += 1
            if "limbsweep.json" in told:
                continue
            run(location)
        assert digest(location) == expected
    assert found > 5


CALLS = ("fsync", "replace", "pwrite", "ftruncate")


@pytest.mark.parametrize("call", CALLS)
def test_calls_of_the_system_that_fail(
    call: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, expected: str
) -> None:
    real = getattr(os, call)
    count = [0]

    def at(number: int) -> Callable[..., Any]:
        count[0] = 0

        def fail(*arguments: Any, **options: Any) -> Any:
            count[0] += 1
            if count[0] == number:
                raise OSError(errno.EIO, os.strerror(errno.EIO))
            return real(*arguments, **options)

        return fail

    with monkeypatch.context() as patch:
        patch.setattr(os, call, at(MANY))
        run(locate(tmp_path / "count.zarr"))
    total = count[0]
    assert total
    for number in range(1, total + 1, max(1, total // 8)):
        location = locate(tmp_path / f"{number}.zarr")
        with monkeypatch.context() as patch:
            patch.setattr(os, call, at(number))
            assert "Input/output error" in (refusal(location) or "Input/output error")
        run(location)
        assert digest(location) == expected
        assert sound(location)
        assert not [name for name in os.listdir(tmp_path) if name.startswith(".")]
