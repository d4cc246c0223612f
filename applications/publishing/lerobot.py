"""Metadata of LeRobot 3: information, statistics, tasks and episodes, in the folder `meta`.

An episode is a case, its task the name of its trajectory. Statistics of the whole are those of the episodes for
training, so that nothing of the others gets into a normalisation.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from applications.publishing.episodes import Episodes
from applications.publishing.frames import FILES, INDEX, PATH, SHARD
from applications.publishing.statistics import Statistics

VERSION = "v3.0"
ROWS = 10_000
"""Episodes in one file of their table."""


def write_metadata(
    folder: Path, robot: str, episodes: Episodes, places: Mapping[int, tuple[int, int]], statistics: Statistics
) -> None:
    """Write the folder `meta`."""
    import pandas

    meta = folder / "meta"
    meta.mkdir()
    training = [row.number for row in episodes.rows if row.part == next(iter(episodes.counts))]
    write_json(meta / "info.json", information(robot, episodes))
    write_json(meta / "stats.json", statistics.together(training))
    names = tasks(episodes)
    pandas.DataFrame({"task_index": range(len(names))}, index=names).to_parquet(meta / "tasks.parquet")
    (meta / "episodes" / "chunk-000").mkdir(parents=True)
    for file, start in enumerate(range(0, len(episodes.rows), ROWS)):
        _write_episodes(meta, episodes, places, statistics, (file, slice(start, start + ROWS)))


def write_json(path: Path, content: object) -> None:
    """Write a new JSON file."""
    path.write_text(json.dumps(content, indent=2, allow_nan=False, ensure_ascii=False) + "\n", encoding="utf-8")


def tasks(episodes: Episodes) -> list[str]:
    """List the names of the trajectories, in the order of their numbers."""
    return [str(name) for name in episodes.data["trajectory"].values.tolist()]


def information(robot: str, episodes: Episodes) -> dict[str, Any]:
    """Return the content of `info.json`: counts, rate, parts as ranges of episodes, and the columns."""
    splits, start = {}, 0
    for part, count in episodes.counts.items():
        splits[part] = f"{start}:{start + count}"
        start += count
    rate = float(f"{1.0 / episodes.step:.9g}")
    return {
        "codebase_version": VERSION,
        "robot_type": robot,
        "total_episodes": len(episodes.rows),
        "total_frames": len(episodes.rows) * episodes.length,
        "total_tasks": len(tasks(episodes)),
        "chunks_size": FILES,
        "data_files_size_in_mb": SHARD // 2**20,
        "video_files_size_in_mb": 0,
        "fps": int(rate) if rate.is_integer() else rate,
        "splits": splits,
        "data_path": PATH,
        "video_path": None,
        "features": features(episodes),
    }


def features(episodes: Episodes) -> dict[str, dict[str, Any]]:
    """Return type, shape and names of the components of each column."""
    result: dict[str, dict[str, Any]] = {
        signal.name: {
            "dtype": episodes.precision,
            "shape": [signal.width],
            "names": list(signal.components),
            "unit": signal.units,
        }
        for signal in episodes.signals
    }
    result |= {dim: {"dtype": "int64", "shape": [1], "names": None} for dim in episodes.dims}
    result["timestamp"] = {"dtype": "float32", "shape": [1], "names": None, "unit": "s"}
    return result | {name: {"dtype": "int64", "shape": [1], "names": None} for name in INDEX}


def _write_episodes(
    meta: Path,
    episodes: Episodes,
    places: Mapping[int, tuple[int, int]],
    statistics: Statistics,
    part: tuple[int, slice],
) -> None:
    """Write some rows of the table of episodes: place, length, case, part and statistics of each."""
    import pyarrow
    import pyarrow.parquet as parquet

    file, taken = part
    rows, names, length = episodes.rows[taken], tasks(episodes), episodes.length
    trajectory = episodes.dims.index("trajectory")
    table: dict[str, Any] = {
        "episode_index": [row.number for row in rows],
        "tasks": [[names[row.case[trajectory]]] for row in rows],
        "length": [length] * len(rows),
        "data/chunk_index": [places[row.number][0] for row in rows],
        "data/file_index": [places[row.number][1] for row in rows],
        "dataset_from_index": [row.number * length for row in rows],
        "dataset_to_index": [(row.number + 1) * length for row in rows],
        "meta/episodes/chunk_index": [0] * len(rows),
        "meta/episodes/file_index": [file] * len(rows),
        "part": [row.part for row in rows],
    }
    table |= {dim: [row.case[k] for row in rows] for k, dim in enumerate(episodes.dims)}
    for name, kinds in statistics.values.items():
        for kind, values in kinds.items():
            chosen = np.ascontiguousarray(values[taken])
            flat = pyarrow.array(chosen.ravel())
            offsets = np.arange(len(rows) + 1, dtype=np.int32) * chosen.shape[1]
            table[f"stats/{name}/{kind}"] = pyarrow.ListArray.from_arrays(offsets, flat)
        table[f"stats/{name}/count"] = [[length]] * len(rows)
    path = meta / "episodes" / "chunk-000" / f"file-{file:03d}.parquet"
    parquet.write_table(pyarrow.table(table), path)
