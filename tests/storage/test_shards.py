"""The shards that limbsweep writes against those that Zarr writes, and as Zarr reads them."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarr
from hypothesis import given, settings
from hypothesis import strategies as st
from zarr.codecs import BloscCodec, BytesCodec, Crc32cCodec

from storage.encoding import shards
from storage.encoding.shards import ShardError


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
    file = path.joinpath("c", *"0" * array.ndim)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(b"".join(shards.encode(array, shard, chunk, -1)))
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


@given(cuts())
@settings(max_examples=40, deadline=None)
def test_what_is_decoded_is_what_was_encoded(cut: Any) -> None:
    array, shard, chunk = cut
    whole = shards.decode(b"".join(shards.encode(array, shard, chunk, -1)), shard, chunk, array.dtype.str[1:])
    np.testing.assert_array_equal(whole[tuple(slice(0, size) for size in array.shape)], array)
    rest = np.ones(shard, dtype=bool)
    rest[tuple(slice(0, size) for size in array.shape)] = False
    assert (whole[rest] == -1).all()


def test_every_flipped_bit_and_every_truncation_of_a_shard_is_found() -> None:
    data = b"".join(shards.encode(np.arange(12.0).reshape(4, 3), (4, 3), (2, 3), -1))
    for place in range(len(data)):
        for bit in range(8):
            bad = data[:place] + bytes([data[place] ^ (1 << bit)]) + data[place + 1 :]
            with pytest.raises(ShardError, match=r"checksum of (chunk [01]|the index) does not match"):
                shards.decode(bad, (4, 3), (2, 3), "float64")
        with pytest.raises(ShardError, match=r"bytes; expected an index|does not match"):
            shards.decode(data[:place], (4, 3), (2, 3), "float64")


def test_a_sound_index_that_does_not_fit_is_refused() -> None:
    parts = shards.encode(np.arange(12.0).reshape(4, 3), (4, 3), (2, 3), -1)
    index = np.frombuffer(parts[-2], "<u8").reshape(2, 2)
    swapped = index[::-1].tobytes()
    bad = b"".join([*parts[:-2], swapped, shards._seal(swapped)])
    with pytest.raises(ShardError, match=r"chunk 0 is said to be at \d+ with \d+ bytes; expected it at 0"):
        shards.decode(bad, (4, 3), (2, 3), "float64")
    with pytest.raises(ShardError, match="3 bytes between chunks and index; expected none"):
        shards.decode(b"".join([*parts[:-2], b"abc", *parts[-2:]]), (4, 3), (2, 3), "float64")
