"""Columns of Parquet files; only columns in use are unpacked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import IO

import numpy as np

from pipeline.documents.tables.columns import Bounds, Columns, ReadColumns, of_kind
from robots.extras import require_extra

KIND = ("Parquet file", "a Parquet file")
TEXTS = 1 << 24
"""Bytes of a text or of a list in the metadata, at most."""


def open_parquet(stream: IO[bytes], file: str, bounds: Bounds) -> Columns:
    """Return the columns of numbers of a Parquet file. Raises InputError."""
    require_extra("pyarrow")
    from pyarrow import types
    from pyarrow.parquet import ParquetFile

    with of_kind(file, *KIND):
        opened = ParquetFile(stream, thrift_string_size_limit=TEXTS, thrift_container_size_limit=TEXTS // 16)
        schema, rows = opened.schema_arrow, opened.metadata.num_rows
    bounds.check_columns(file, len(schema))
    kept = (types.is_integer, types.is_floating, types.is_boolean, types.is_decimal)
    fields = [field for field in schema if not field.name.startswith("__index_")]
    names = [field.name for field in fields if any(is_kind(field.type) for is_kind in kept)]
    others = tuple(field.name for field in fields if field.name not in names)

    def read(used: Sequence[str]) -> ReadColumns:
        bounds.check_values(file, ((name, (rows,), 8) for name in used))
        columns: dict[str, list[np.ndarray]] = {name: [] for name in used}
        count = 0
        with of_kind(file, *KIND):
            for batch in opened.iter_batches(columns=list(used), use_threads=False):
                if (count := count + batch.num_rows) > rows:
                    raise ValueError(f"more than the {rows} rows that it declares")
                for name in used:
                    values = batch.column(name).to_numpy(zero_copy_only=False)
                    columns[name].append(np.asarray(values, dtype=np.float64))
        return ReadColumns({name: np.concatenate(parts) if parts else np.zeros(0) for name, parts in columns.items()})

    return Columns(file, tuple(names), read, others=others)
