"""Surrogates of stores as modules of PyTorch, on any device and in any precision."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from applications.studies.surrogate import Surrogate, SurrogateColumn


class ProcessModule(torch.nn.Module):
    """Mean of the process of a column as a function of designs (*batch, input) in the units of the store."""

    def __init__(self, surrogate: Surrogate, column: SurrogateColumn):
        super().__init__()
        process, lengths = column.process, column.process.scales.lengths
        turned = process.slopes / lengths
        arrays = {
            "low": surrogate.low,
            "scale": 1.0 / ((surrogate.high - surrogate.low) * lengths),
            "points": process.points / lengths,
            "weights": process.weights,
            "turned": turned,
            "offset": (process.points / lengths * turned).sum(axis=1),
        }
        for name, array in arrays.items():
            self.register_buffer(name, torch.from_numpy(np.ascontiguousarray(array)))
        self.mean, self.spread, self.width = column.mean, column.spread, len(surrogate.names)
        self.logarithmic = column.logarithmic

    def forward(self, designs: Any) -> Any:
        """Return the column (*batch,). Raises ValueError for tensors of another dtype, device or width."""
        low: Any = self.low
        if designs.shape[-1:] != (self.width,) or (designs.dtype, designs.device) != (low.dtype, low.device):
            got = f"a tensor {tuple(designs.shape)} of {designs.dtype} on {designs.device}"
            expected = (
                f"(*batch, {self.width}) of {low.dtype} on {low.device}: move the surrogate or the tensor with .to()"
            )
            raise ValueError(f"designs: got {got}; expected {expected}")
        here = ((designs - low) * self.scale).reshape(-1, self.width)
        apart = (here**2).sum(dim=1)[:, None] + (self.points**2).sum(dim=1) - 2.0 * (here @ self.points.T)
        tiny = torch.finfo(low.dtype).tiny  # so that the root has a derivative at the points themselves
        distance = torch.sqrt(torch.clamp(5.0 * apart, min=tiny))
        near = torch.exp(-distance)
        along = here @ self.turned.T - self.offset
        values = ((1.0 + distance + distance**2 / 3.0) * near) @ self.weights
        values = values + ((5.0 / 3.0) * (1.0 + distance) * near * along).sum(dim=1)
        values = (self.mean + self.spread * values).reshape(designs.shape[:-1])
        return torch.exp(values) if self.logarithmic else values


def surrogate(model: Surrogate, column: str | None = None) -> ProcessModule:
    """Return a column of a surrogate of `limbsweep.study.surrogate` as a module of PyTorch, in double on the processor.

    column: its text; default the first. `.to(device, dtype)` moves it. Out of the ranges of the store it goes on
    without a warning. Raises ValueError for a column that it does not have.
    """
    for metric in model.columns:
        if column in (None, metric.text):
            return ProcessModule(model, metric)
    raise ValueError(f"column: got {column!r}; expected {', '.join(metric.text for metric in model.columns)}")
