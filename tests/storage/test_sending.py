"""Blocks that are sent and written elsewhere: the files are those that a writer beside the store makes."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from storage.errors import StoreError
from storage.ledger import Receipt
from storage.places.reach import marked
from storage.sending import SendingWriter, SentReceipt, delivered
from storage.store import StoreWriter
from tests.storage.cases import block, store


def test_a_block_that_was_sent_has_the_files_of_one_that_was_written(tmp_path: Path) -> None:
    near, far = store(tmp_path / "near.zarr"), store(tmp_path / "far.zarr")
    with marked(far.location) as mark:
        sender = pickle.loads(pickle.dumps(SendingWriter(far, mark)))
    assert mark.fault(), "the mark has gone, as for a machine that does not see it"
    for index in range(near.layout.blocks):
        expected = near.write(index, block(near.layout, index))
        sent = sender.write(index, block(near.layout, index))
        assert isinstance(sent, SentReceipt)
        with pytest.raises(StoreError, match="missing"):
            far.read(index)
        assert delivered(pickle.loads(pickle.dumps(sent)), far) == expected
    assert sorted(near.location.keys()) == sorted(far.location.keys())
    for key in near.location.keys("actuator_force"):
        assert near.location.read(key) == far.location.read(key)


def test_who_sees_the_store_writes_there_itself(tmp_path: Path) -> None:
    writer = store(tmp_path / "a.zarr")
    with marked(writer.location) as mark:
        receipt = SendingWriter(writer, mark).write(0, block(writer.layout, 0))
    assert type(receipt) is Receipt
    assert writer.read(0)
    assert delivered(receipt, writer) is receipt


def test_arrays_that_are_not_of_the_block_are_not_sent(tmp_path: Path) -> None:
    writer: StoreWriter = store(tmp_path / "a.zarr")
    with marked(writer.location) as mark:
        pass
    with pytest.raises(StoreError, match="block 0 got arrays"):
        SendingWriter(writer, mark).write(0, {})
