"""Kernels on a real card, and their text for an assembler of PyPI; skipped where there is neither."""

from __future__ import annotations

import importlib.util
import re
import subprocess
from pathlib import Path

import pytest

from benchmarks import cards as benchmark
from pipeline.execution import work
from robots import catalog
from tasks.kernels import cards, llvm
from tasks.kernels.emission import threads
from tasks.kernels.program import Program
from tests.tasks.kernels.simulated_card import simulated


def has_card() -> bool:
    try:
        cards.card()
    except cards.CardError:
        return False
    return True


@pytest.mark.skipif(not has_card(), reason="needs a card of NVIDIA and the extra gpu")
@pytest.mark.parametrize("name", catalog.FAMILIES)
def test_a_card_has_the_bits_of_a_processor(name: str) -> None:
    (line,) = benchmark.bits([name])
    assert line.endswith(" 0 differ")


def test_the_benchmark_compares_bits() -> None:
    with simulated():
        (line,) = benchmark.bits(["five_bar"])
    assert re.search(r"five_bar +\d{5,} numbers, +\d+ samples failed, 0 differ", line)


def test_the_benchmark_counts_operations_and_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Loops count as often as they run: a Delta's limb takes more than one step."""
    monkeypatch.setattr(benchmark, "TIMES", 16)
    monkeypatch.setattr(benchmark, "CASES", {"Delta": benchmark.CASES["Delta"]._replace(designs=2)})
    block = benchmark.CASES["Delta"].block(2, "double")
    assert benchmark.arithmetic(block) > 2500
    with simulated() as card:
        monkeypatch.setattr(benchmark, "card", lambda: card)
        lines = list(benchmark.blocks())
    assert len(lines) == 4
    assert re.search(r"Delta, double: .* 3\d{3} products and sums a sample: .* first call .*[1-9].* MiB", lines[1])


def assembler() -> Path | None:
    """Return the program `ptxas` of the package nvidia-cuda-nvcc."""
    for name in ("nvidia.cu13", "nvidia.cu12"):
        try:
            spec = importlib.util.find_spec(name)
        except ModuleNotFoundError:
            continue
        for folder in (spec.submodule_search_locations or []) if spec else []:
            if (program := Path(folder) / "bin" / "ptxas").exists():
                return program
    return None


@pytest.mark.slow
@pytest.mark.skipif(assembler() is None, reason="needs the extra test-gpu")
@pytest.mark.parametrize("name", catalog.FAMILIES)
def test_an_assembler_takes_the_text(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Program] = []
    block = benchmark.first_block(name)
    kernel = type(block).kernel
    monkeypatch.setattr(type(block), "kernel", lambda self, program: (seen.append(program), kernel(self, program))[1])
    work.whole(block)
    for program in {id(program): program for program in seen}.values():
        for single in (False, True):
            text = llvm.text_for_cards(threads.source(threads.ThreadLayout(program, single), threads.NVIDIA))
            (tmp_path / "text.ptx").write_text(text)
            words = [str(assembler()), "-arch=sm_90", str(tmp_path / "text.ptx"), "-o", str(tmp_path / "code")]
            done = subprocess.run(words, capture_output=True, text=True, check=False)
            assert done.returncode == 0, f"{program.name}: {done.stderr[:500]}"
