"""The shards that limbsweep writes against those that Zarr writes, and as Zarr reads them."""

import errno
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarr
from hypothesis import given, settings
from hypothesis import strategies as st
from zarr.codecs import BloscCodec, BytesCodec, Crc32cCodec

from storage import shards


def by_zarr(path: Path, array: np.ndarray[Any, Any], shard: tuple[int, ...], chunk: tuple[int, ...]) -> zarr.Array[Any]:
    """The array as Zarr stores it, empty chunks too."""
    stored = zarr.create_array(
        path,
        shape=array.shape,
        shards=shard,
        chunks=chunk,
        dtype=array.dtype,
        fill_value=-1,
        serializer=BytesCodec(endian="little"),
        compressors=[BloscCodec(cname="lz4", clevel=5, shuffle="shuffle"), Crc32cCodec()],
        config={"write_empty_chunks": True},
    )
    stored[...] = array
    return stored


@st.composite
def cuts(draw: st.DrawFn) -> tuple[np.ndarray[Any, Any], tuple[int, ...], tuple[int, ...]]:
    """An array, and a shard that holds it, in chunks."""
    shape = draw(st.lists(st.integers(1, 6), min_size=1, max_size=3))
    chunk = tuple(draw(st.integers(1, size)) for size in shape)
    shard = tuple(-(-size // short) * short for size, short in zip(shape, chunk, strict=True))
    dtype = draw(st.sampled_from(["float64", "int32", "int8", ">f8"]))
    return np.random.default_rng(1).integers(-9, 9, shape).astype(dtype), shard, chunk


@given(cuts())
@settings(max_examples=40, deadline=None)
def test_zarr_reads_what_is_written(tmp_path_factory: pytest.TempPathFactory, cut: Any) -> None:
    array, shard, chunk = cut
    path = tmp_path_factory.mktemp("shard") / "x"
    stored = by_zarr(path, np.zeros_like(array, dtype=array.dtype.newbyteorder("=")), shard, chunk)
    shards.write(path.joinpath("c", *"0" * array.ndim), shards.encode(array, shard, chunk, -1))
    np.testing.assert_array_equal(stored[...], array)


@pytest.mark.parametrize("dtype", ["float64", "int32", "int8"])
def test_the_same_bytes_as_zarr(tmp_path: Path, dtype: str) -> None:
    array = np.random.default_rng(2).integers(-99, 99, (6, 50, 3)).astype(dtype)
    shard, chunk = (6, 52, 3), (6, 13, 3)
    by_zarr(tmp_path / "x", array, shard, chunk)
    expected = (tmp_path / "x/c/0/0/0").read_bytes()
    assert b"".join(shards.encode(array, shard, chunk, -1)) == expected
    assert b"".join(shards.encode(np.asfortranarray(array), shard, chunk, -1)) == expected


def test_checksum_is_that_of_the_bytes_in_c_order() -> None:
    array = np.frombuffer(b"123456789", dtype=np.int8)
    assert shards.crc32c(array) == 0xE3069283  # The check value of CRC-32C.
    grid = np.arange(12.0).reshape(3, 4)
    assert shards.crc32c(grid) == shards.crc32c(np.asfortranarray(grid)) != shards.crc32c(grid.T)


@pytest.mark.parametrize("content", [b"", b"a", b"ax", b"abc", b"abcd"])
def test_file_that_holds_other_bytes(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "x").write_bytes(content)
    assert shards.holds(tmp_path / "x", [b"a", b"bc"]) == (content == b"abc")


def test_failed_write_leaves_the_old_shard(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    shards.write(tmp_path / "c/0", [b"old"])
    monkeypatch.setattr(os, "replace", refuse)
    with pytest.raises(OSError, match="No space left"):
        shards.write(tmp_path / "c/0", [b"new"])
    assert os.listdir(tmp_path / "c") == ["0"]
    assert (tmp_path / "c/0").read_bytes() == b"old"
