"""Episodes as shards of WebDataset: tar files with an `.npy` for each signal and a `.json` of the case."""

from __future__ import annotations

import io
import json
import tarfile
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from applications.publishing.episodes import Episode, Episodes
from applications.publishing.frames import SHARD
from robots.data_classes import dataclass, field

FOLDER = "webdataset"


@dataclass
class ShardWriter:
    """Writer of the tar files `webdataset/PART-NNNNNN.tar`."""

    folder: Path
    episodes: Episodes
    _open: dict[str, tuple[tarfile.TarFile, int]] = field(default_factory=dict)
    _counts: dict[str, int] = field(default_factory=dict)

    def write(self, episode: Episode, signals: Mapping[str, np.ndarray]) -> None:
        """Write an episode into the shard of its part."""
        file, room = self._open.get(episode.part, (None, 0))
        if file is None or room <= 0:
            file, room = self._next(episode.part), SHARD
        stem = f"{episode.number:09d}"
        case = dict(zip(self.episodes.dims, episode.case, strict=True))
        about = {"episode_index": episode.number, **case, "step": self.episodes.step, "part": episode.part}
        room -= _add(file, f"{stem}.json", json.dumps(about).encode())
        for name, values in signals.items():
            content = io.BytesIO()
            np.save(content, np.asarray(values, dtype=self.episodes.precision))
            room -= _add(file, f"{stem}.{name}.npy", content.getvalue())
        self._open[episode.part] = (file, room)

    def close(self) -> None:
        """Close all files."""
        for file, _ in self._open.values():
            file.close()
        self._open.clear()

    def _next(self, part: str) -> tarfile.TarFile:
        if part in self._open:
            self._open[part][0].close()
        number = self._counts[part] = self._counts.get(part, -1) + 1
        (self.folder / FOLDER).mkdir(exist_ok=True)
        return tarfile.open(self.folder / FOLDER / f"{part}-{number:06d}.tar", "w")


def _add(file: tarfile.TarFile, name: str, content: bytes) -> int:
    """Add a file of a fixed time and owner, and return its bytes."""
    entry = tarfile.TarInfo(name)
    entry.size = len(content)
    file.addfile(entry, io.BytesIO(content))
    return len(content)
