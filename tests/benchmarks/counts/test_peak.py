"""The peak is that of work that was done, fits the registers of each kind of processor, and is not exceeded."""

from __future__ import annotations

import re

import llvmlite.binding as llvm
import numpy as np
import pytest

from benchmarks.counts import peak
from benchmarks.figures import CheckError
from tasks.kernels.emission.emitter import source


def test_the_peak_is_positive_and_its_result_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    assert peak.peak(1) > 0.0
    program = peak._kernel(4, 4).program
    assert dict(program.operations()) == {"fma": 0.75 * peak.LENGTH, "add": 0.25 * peak.LENGTH}

    class Idle:
        def __init__(self, chains: int, sums: int) -> None:
            self.chains = chains

        def allocate(self, cases: int, samples: int) -> dict[str, np.ndarray]:
            return {"y": np.zeros((cases, self.chains, samples))}

        def __call__(self, *_: object) -> None:
            return None

    monkeypatch.setattr(peak, "_kernel", Idle)
    with pytest.raises(CheckError, match="has not come near its fixed point 2"):
        peak.peak(1)


PROCESSORS = {
    "avx2": ("x86_64-unknown-linux-gnu", "haswell", r"vfmadd.*%ymm", 2, r"\(%rsp\)"),
    "avx512": ("x86_64-unknown-linux-gnu", "skylake-avx512", r"vfmadd.*%zmm", 1, r"\(%rsp\)"),
    "neon": ("aarch64-unknown-linux-gnu", "neoverse-n1", r"\bfmla\s+v", 4, r"\[sp"),
}
"""Processors as LLVM names them, multiply-adds in their code, how many do eight numbers, and uses of the stack."""
BUSY = 8
"""Multiply-adds under way that keep two units of four cycles busy."""


@pytest.mark.parametrize("name", PROCESSORS)
def test_chains_that_keep_the_units_busy_stay_in_registers(name: str) -> None:
    triple, processor, product, parts, stack = PROCESSORS[name]
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    features = "-prefer-256-bit" if "avx512" in processor else ""
    machine = llvm.Target.from_triple(triple).create_target_machine(processor, features, opt=2)
    good = []
    for chains in (4, 8):
        text = machine.emit_assembly(llvm.parse_assembly(source(peak._kernel(chains, 0).program)))
        lines = text.splitlines()
        places = [k for k, line in enumerate(lines) if re.search(product, line)]
        used = sum(bool(re.search(stack, line)) for line in lines[places[0] : places[-1]])
        assert len(places) == parts * peak.LENGTH
        good += [chains] if used == 0 and parts * chains >= BUSY else []
    assert good


def test_a_share_above_the_peak_is_an_error() -> None:
    counts = {"fma": 1e6, "add": 1e6, "select": 1e12}
    assert 0.0 < peak.share_of_peak(counts, 1.0, 1).percent < 100.0
    with pytest.raises(CheckError, match=r"% of the peak of .* Gop/s; expected at most 100 %"):
        peak.share_of_peak(counts, 1e-9, 1)


def test_comparisons_and_choices_lower_the_largest_share() -> None:
    assert peak.most_arithmetic({"fma": 60.0, "add": 20.0, "select": 15.0, "abs": 5.0, "div": 7.0}) == 80.0
    assert peak.most_arithmetic({"mul": 3.0, "sqrt": 1.0}) == 100.0
