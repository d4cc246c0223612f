import errno
import os
import tracemalloc
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

from storage.errors import StoreError
from storage.ledger import LEDGER, Ledger, Receipt, _seal, receipts
from storage.places.access import locate

FILE = f"{LEDGER}.jsonl"


def receipt(block: int, checksum: int = 7) -> Receipt:
    return Receipt(block, {"actuator_force": checksum, "status": 1}, 100)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    with Ledger.open(tmp_path, 10) as ledger:
        for block in (3, 0, 7):
            ledger.append(receipt(block))
    return tmp_path


def test_round_trip(path: Path) -> None:
    with Ledger.open(path, 10) as ledger:
        assert ledger.count == 3
        assert [ledger.is_done(block) for block in range(10)] == [block in (0, 3, 7) for block in range(10)]
        assert list(ledger.remaining()) == [1, 2, 4, 5, 6, 8, 9]
        ledger.append(receipt(1))
    assert Ledger.read(path, 10).done == bytes([1, 1, 0, 1, 0, 0, 0, 1, 0, 0])


def test_no_ledger_yet(tmp_path: Path) -> None:
    assert Ledger.read(tmp_path, 3).count == 0
    assert not (tmp_path / FILE).exists()


def test_receipts_that_arrive_while_blocks_are_handed_out(path: Path) -> None:
    with Ledger.open(path, 10) as ledger:
        remaining = ledger.remaining()
        assert next(remaining) == 1
        ledger.append(receipt(2))
        assert next(remaining) == 4


def test_second_receipt_that_agrees_adds_nothing(path: Path) -> None:
    before = (path / FILE).read_bytes()
    with Ledger.open(path, 10) as ledger:
        ledger.append(receipt(3))
        assert ledger.count == 3
    assert (path / FILE).read_bytes() == before


def test_second_receipt_that_differs_is_refused(path: Path) -> None:
    with (
        Ledger.open(path, 10) as ledger,
        pytest.raises(StoreError, match="block 3 was computed twice with different results"),
    ):
        ledger.append(receipt(3, checksum=8))


@pytest.mark.parametrize("block", [-1, 10])
def test_receipt_of_no_block(path: Path, block: int) -> None:
    with Ledger.open(path, 10) as ledger, pytest.raises(StoreError, match=f"receipt of block {block}; expected 0 to 9"):
        ledger.append(receipt(block))


def test_torn_last_line_is_dropped_at_every_length(path: Path) -> None:
    file = path / FILE
    whole = file.read_bytes()
    keep = whole[: whole[:-1].rindex(b"\n") + 1]
    for length in range(len(keep), len(whole)):
        file.write_bytes(whole[:length])
        assert Ledger.read(path, 10).count == 2
        assert file.read_bytes() == whole[:length], "a reader leaves the file to the run that writes it"
        with Ledger.open(path, 10) as ledger:
            assert ledger.count == 2
            assert file.read_bytes() == keep
            ledger.append(receipt(7))
        assert file.read_bytes() == whole


def test_any_flipped_byte_is_found(path: Path) -> None:
    file = path / FILE
    whole = file.read_bytes()
    first = whole.index(b"\n")
    for place in range(first):
        file.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        with pytest.raises(
            StoreError, match=r"ledger.jsonl:[12]: damaged line .*; limbsweep verify --repair computes its block again"
        ):
            Ledger.open(path, 10)


@pytest.mark.parametrize("body", [b'{"a":1', b'{"block":"x"', b"[1"])
def test_line_that_is_no_receipt(path: Path, body: bytes) -> None:
    (path / FILE).write_bytes(body + b',"check":"%08x"}\n' % zlib.crc32(body))
    with pytest.raises(StoreError, match=r"ledger.jsonl:1: damaged line"):
        Ledger.read(path, 10)


def full(*_: object) -> int:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def short(descriptor: int, line: bytes, offset: int, write: Callable[[int, bytes, int], int] = os.pwrite) -> int:
    return write(descriptor, line[:9], offset)


@pytest.mark.parametrize(
    ("fault", "reason"), [(full, "No space left on device"), (short, "only a part of the line was written")]
)
def test_failed_write_is_taken_back(
    path: Path, monkeypatch: pytest.MonkeyPatch, fault: Callable[..., int], reason: str
) -> None:
    before = (path / FILE).read_bytes()
    with Ledger.open(path, 10) as ledger:
        with monkeypatch.context() as patch:
            patch.setattr(os, "pwrite", fault)
            with pytest.raises(StoreError, match=f"ledger.jsonl: {reason}; check free space"):
                ledger.append(receipt(1))
        assert not ledger.is_done(1)
        assert (path / FILE).read_bytes() == before
        ledger.append(receipt(1))
    assert Ledger.read(path, 10).count == 4


def test_receipts_become_durable_after_a_second_and_on_closing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[float] = []
    now = [0.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    with Ledger.open(tmp_path, 10) as ledger:
        monkeypatch.setattr(os, "fsync", lambda descriptor: synced.append(now[0]))
        for block, now[0] in enumerate((0.5, 0.9, 1.1, 1.2, 2.0, 2.2)):
            ledger.append(receipt(block))
        now[0] = 2.5
    ledger.close()
    assert synced == [1.1, 2.2, 2.5]


def test_memory_of_a_million_blocks(tmp_path: Path) -> None:
    tracemalloc.start()
    ledger = Ledger.read(tmp_path, 1_000_000)
    assert tracemalloc.get_traced_memory()[0] < 18 << 20
    tracemalloc.stop()
    assert not ledger.is_done(999_999)


@pytest.mark.parametrize("number", ["Infinity", "NaN", "1e999", "-1e999", "null", '"x"'])
def test_a_number_without_end_is_a_damaged_line(number: str, tmp_path: Path) -> None:
    """Forge the line with a matching checksum."""
    bodies = [b'{"block":%s,"bytes":1,"checksums":{}', b'{"block":0,"bytes":%s,"checksums":{}']
    for body in (body % number.encode() for body in bodies):
        (tmp_path / "ledger.jsonl").write_bytes(body + _seal(body) + b"\n")
        assert all(isinstance(receipt, str) for receipt in receipts(locate(tmp_path).journal("ledger")))
