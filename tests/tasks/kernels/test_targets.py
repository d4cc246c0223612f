"""The same bits whichever processor of this kind a kernel is compiled for."""

from __future__ import annotations

from types import SimpleNamespace

import llvmlite.binding as llvm
import numpy as np
import pytest

from benchmarks.regions import states
from robots import catalog
from tasks import inverse_dynamics
from tasks.kernels import kernel
from tasks.kernels import llvm as llvm_kernels
from tests.tasks.bits import bits

PROCESSORS = {"x86-64": "sse2", "x86-64-v2": "sse4.2", "haswell": "avx2", "skylake-avx512": "avx512dq"}
"""Processors as LLVM names them, each with the feature that the one before does not have."""


@pytest.mark.parametrize("name", ["five_bar", "irb6"])
@pytest.mark.parametrize("processor", PROCESSORS)
def test_bits_of_other_processors(processor: str, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if not llvm.get_host_cpu_features().get(PROCESSORS[processor], False):
        pytest.skip(f"the processor of this machine has no {PROCESSORS[processor]}")
    robot = catalog.build(name)
    moving = states(robot, 24)
    here = inverse_dynamics(robot, **moving).force
    monkeypatch.setattr(llvm, "get_host_cpu_name", lambda: processor)
    features = llvm_kernels.REGISTERS if "avx512" in processor else ""  # two groups of samples at a time, or one
    monkeypatch.setattr(llvm, "get_host_cpu_features", lambda: SimpleNamespace(flatten=lambda: features))
    monkeypatch.setattr(kernel, "_kernels", {})
    there = inverse_dynamics(robot, **moving).force
    assert kernel.compiled()
    np.testing.assert_array_equal(bits(there), bits(here))
