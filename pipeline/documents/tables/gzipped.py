"""Files behind gzip, unpacked into a temporary file under the bounds of a table."""

from __future__ import annotations

import gzip
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO

from pipeline.documents.tables.columns import Bounds
from pipeline.errors import refused, size

PIECE = 4 << 20
"""Bytes that are unpacked at a time."""


@contextmanager
def unpacked(stream: IO[bytes], file: str, bounds: Bounds) -> Iterator[IO[bytes]]:
    """Open the content of a gzip file. Raises InputError for a damaged one, and for more than a text may have."""
    with tempfile.TemporaryFile() as plain, gzip.GzipFile(fileobj=stream) as packed:
        total = 0
        try:
            while data := packed.read(PIECE):
                if (total := total + len(data)) > bounds.text:
                    hint = "Save it as Parquet, or cut it into several files."
                    raise refused(file, f"more than {size(bounds.text)} behind gzip", "at most that", hint)
                plain.write(data)
        except (gzip.BadGzipFile, zlib.error, EOFError) as error:
            raise refused(file, f"a damaged gzip file: {error}", "a whole gzip file") from None
        plain.seek(0)
        yield plain
