"""Comparisons with other engines, one after the other; the table names engines that are not installed."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.figures import Figure, Size
from benchmarks.peers.engines import ENGINES


def figures(size: Size) -> Iterator[Figure]:
    """Measure jobs on trees, on closed loops, on many designs and on many friction sets. Raises CheckError."""
    for engine in ENGINES:
        if not engine.here:
            yield Figure(f"{engine.name}, not measured", None, "", f"needs {engine.missing}")
    if not any(engine.here for engine in ENGINES):
        return
    # each imports SciPy and robots, which nothing needs where there is no other engine
    from benchmarks.peers import designs, loops, sets, trees

    for jobs in (trees, loops, designs, sets):
        yield from jobs.figures(size)
