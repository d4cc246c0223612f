"""Targets of the fuzzing campaign, called without the engine."""

from __future__ import annotations

import random
import tempfile
from pathlib import Path

import pytest

from benchmarks.campaigns.fuzz import FILES, TARGETS, target


@pytest.mark.parametrize("name", [name for name in TARGETS if name not in FILES])
def test_every_target_reads_its_seeds_and_bears_others(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    seeds, read = target(name)
    chance = random.Random(1)
    for seed in seeds:
        read(seed)
        for _ in range(40):
            data = bytearray(seed)
            for _ in range(chance.choice([1, 3, 9])):
                data[chance.randrange(len(data))] = chance.randrange(256)
            read(bytes(data))
    for number in (b"Infinity", b"1e999", b"NaN"):
        read(b'{"block":' + number + b',"bytes":1,"checksums":{}')
        read(b'{"format":5,"generation":' + number + b"}")
