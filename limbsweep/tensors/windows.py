"""Windows of a published dataset as an iterable dataset of PyTorch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import torch

from applications.publishing.windows import WindowReader


class Windows(torch.utils.data.IterableDataset):
    """Batches of windows of a dataset that `limbsweep dataset --publish` wrote, as tensors.

    For a `DataLoader` with `batch_size=None`; its workers share the row groups of the files, and each pass has an order
    of its own. Arguments are those of `applications.publishing.windows.WindowReader`. Raises StoreError.

        >>> windows = ls.torch.Windows("dataset", "train", ["measured_position", "measured_force"], window=64, batch=16)
        >>> loader = torch.utils.data.DataLoader(windows, batch_size=None, num_workers=2)
    """

    def __init__(self, folder: str | Path, part: str, variables: Sequence[str], **options: int | bool | str) -> None:
        self.reader = WindowReader(folder, part, variables, **options)  # type: ignore[arg-type]
        self.epoch = 0

    @property
    def statistics(self) -> dict[str, dict[str, Any]]:
        """Least, largest, mean and standard deviation of each signal over the episodes for training."""
        return {
            name: {kind: torch.from_numpy(values) for kind, values in kinds.items()}
            for name, kinds in self.reader.statistics.items()
        }

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """Iterate over the batches of one pass."""
        info = torch.utils.data.get_worker_info()
        worker = (0, 1) if info is None else (info.id, info.num_workers)
        epoch, self.epoch = self.epoch, self.epoch + 1
        for batch in self.reader.batches(epoch, worker):
            yield {name: torch.from_numpy(values) for name, values in batch.items()}
