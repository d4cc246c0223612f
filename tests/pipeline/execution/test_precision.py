"""A sweep in single precision: near the one in double, another sweep to a store, the same bits however it is run."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline import run
from pipeline.errors import InputError
from storage.errors import StoreError
from tests.pipeline.runs import FEW, SYNCHRONOUS, content_hash, cut_finely, sweep

SINGLE = FEW + "precision: single\n"


def test_forces_are_near_those_in_double_precision(tmp_path: Path) -> None:
    """Leave out samples near rest, where the last digit decides the sign of dry friction."""
    more = {"[actuator_force]": "[actuator_force, actuator_velocity]"}
    double, single = (
        run(sweep(text, **more), tmp_path / f"{k}.zarr", SYNCHRONOUS).load() for k, text in enumerate((FEW, SINGLE))
    )
    error = abs(single.actuator_force - double.actuator_force).where(abs(double.actuator_velocity) > 1e-3)
    assert 1e-9 < float(error.max() / abs(double.actuator_force).max()) < 1e-4
    assert single.attrs["precision"] == "single"


def test_bits_depend_neither_on_blocks_nor_on_granularity(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hashes = {content_hash(run(sweep(SINGLE), tmp_path / "whole.zarr", SYNCHRONOUS))}
    cut_finely(monkeypatch)
    for granularity in ("limb", "block"):
        made = run(sweep(SINGLE), tmp_path / f"{granularity}.zarr", SYNCHRONOUS, granularity=granularity)
        hashes.add(content_hash(made))
    assert len(hashes) == 1


def test_a_store_in_one_precision_is_not_finished_in_the_other(tmp_path: Path) -> None:
    run(sweep(FEW), tmp_path / "s.zarr", SYNCHRONOUS)
    with pytest.raises((StoreError, InputError), match="precision"):
        run(sweep(SINGLE), tmp_path / "s.zarr", SYNCHRONOUS)


def test_other_precisions_are_refused() -> None:
    with pytest.raises(InputError, match=r"precision: got 'half'; expected one of 'double' or 'single'"):
        sweep(FEW + "precision: half\n")
