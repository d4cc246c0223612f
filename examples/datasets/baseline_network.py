"""A baseline network on a published dataset: motor torques from the measured motion and the parameters of the case.

    limbsweep dataset examples/identification.yaml --store data.zarr --publish dataset --licence cc-by-4.0 --author NAME
    python examples/datasets/baseline_network.py dataset

A network of two hidden layers learns the episodes for training. It prints the unexplained part of the forces of the
episodes for validation and tests, beside linear least squares on the same inputs. It needs PyTorch, but no store of
limbsweep.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pandas
import torch

from limbsweep.torch import Windows

MOTION = ("measured_position", "measured_velocity", "measured_acceleration")
FORCE = "measured_force"
CASE = ("design", "friction")
TABLES = {"design": "designs", "friction": "friction"}


def parameters(folder: Path) -> dict[str, torch.Tensor]:
    """Return the parameters of each case that differ, by dim (place, parameter), scaled; true ones are not told."""
    result = {}
    for dim, name in TABLES.items():
        numbers = pandas.read_parquet(folder / "tables" / f"{name}.parquet").select_dtypes("number").drop(columns=dim)
        told = [column for column in numbers if not column.startswith("true_") and numbers[column].std() > 0]
        scaled = (numbers[told] - numbers[told].mean()) / numbers[told].std()
        result[dim] = torch.tensor(scaled.to_numpy(), dtype=torch.float32)
    return result


def batches(folder: Path, part: str, seed: int = 0) -> Windows:
    """Return the samples of a part in batches of single windows."""
    return Windows(folder, part, (*MOTION, FORCE, *CASE), window=64, batch=16, seed=seed, normalised=True)


def rows(batch: dict[str, torch.Tensor], known: dict[str, torch.Tensor]) -> tuple[torch.Tensor, torch.Tensor]:
    """Return inputs and normalised forces of a batch, a row for each sample."""
    told = [known[dim][batch[dim]] for dim in CASE]
    inputs = torch.cat([*(batch[name] for name in MOTION), *told], dim=-1)
    return inputs.flatten(0, 1), batch[FORCE].flatten(0, 1)


def unexplained(folder: Path, part: str, known: dict[str, torch.Tensor], model: torch.nn.Module) -> float:
    """Return the root mean square of a model's errors in the forces of a part, relative to that about the mean."""
    left, whole = 0.0, 0.0
    with torch.no_grad():
        for batch in batches(folder, part):
            inputs, force = rows(batch, known)
            left += float((force - model(inputs)).square().sum())
            whole += float(force.square().sum())
    return float(np.sqrt(left / whole))


def linear(folder: Path, known: dict[str, torch.Tensor]) -> torch.nn.Module:
    """Return linear least squares on the inputs of the network."""
    pairs = [rows(batch, known) for batch in batches(folder, "train")]
    inputs, force = (torch.cat(column) for column in zip(*pairs, strict=True))
    wide = torch.cat([inputs, torch.ones(len(inputs), 1)], 1)
    solution = torch.linalg.lstsq(wide, force).solution
    model = torch.nn.Linear(inputs.shape[1], force.shape[1])
    model.weight.data, model.bias.data = solution[:-1].T.contiguous(), solution[-1]
    return model


def network(folder: Path, known: dict[str, torch.Tensor], passes: int) -> torch.nn.Module:
    """Train a network of two hidden layers."""
    torch.manual_seed(0)
    inputs, force = rows(next(iter(batches(folder, "train"))), known)
    model = torch.nn.Sequential(
        torch.nn.Linear(inputs.shape[1], 64), torch.nn.Tanh(), torch.nn.Linear(64, 64), torch.nn.Tanh(),
        torch.nn.Linear(64, force.shape[1]),
    )  # fmt: skip
    optimiser = torch.optim.Adam(model.parameters(), lr=3e-3)
    rate = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, passes)
    samples = batches(folder, "train")
    for _ in range(passes):
        for batch in samples:
            inputs, force = rows(batch, known)
            optimiser.zero_grad()
            torch.nn.functional.mse_loss(model(inputs), force).backward()
            optimiser.step()
        rate.step()
    return model


def main() -> None:
    """Print the table: parts, linear model, network."""
    folder, passes = Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 100
    known = parameters(folder)
    models = {"linear": linear(folder, known), "network": network(folder, known, passes)}
    for part in ("train", "validation", "test"):
        print(part, *(f"{name} {unexplained(folder, part, known, model):.1%}" for name, model in models.items()))


if __name__ == "__main__":
    main()
