"""Kernels with the instructions of another processor: the same results, and features that it lacks are off."""

from __future__ import annotations

import llvmlite.binding
import pytest

from benchmarks import registers
from benchmarks.peers.compiled import compiler


def test_features_that_a_kind_lacks_are_off() -> None:
    features = registers.features_without(("avx512", "fma"))
    assert not any(on for name, on in features.items() if name.startswith(("avx512", "fma")))


@pytest.mark.slow
def test_both_kinds_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    registers.main(["--turns", "1", "--quick"])
    lines = capsys.readouterr().out.splitlines()
    assert [line.partition("  ")[0].strip() for line in lines] == [*registers.KINDS] * 2
    assert all("% of the peak" in line for line in lines)


def test_peers_are_compiled_for_the_same_kind() -> None:
    assert compiler.target == compiler.NATIVE
    with registers.instructions("AVX2"):
        assert compiler.target == "-march=alderlake"
        assert not llvmlite.binding.get_host_cpu_features().get("avx512f")
    with registers.instructions("this processor"):
        assert compiler.target == compiler.NATIVE


@pytest.mark.slow
@pytest.mark.skipif(compiler.missing(compiler.GENERATION) != "", reason=compiler.missing(compiler.GENERATION))
def test_a_tree_beside_generated_code_for_vectors(capsys: pytest.CaptureFixture[str]) -> None:
    registers.main(["--peers", "five_axis_tree", "--quick"])
    lines = capsys.readouterr().out.splitlines()
    assert sum(f"{registers.STRONGEST}, over limbsweep" in line for line in lines) == 3
