"""Gradients of all functions on arrays, checked by PyTorch and JAX themselves.

    python -m benchmarks.gradients.checks [FUNCTION ...]

A row for each call of `tests.limbsweep.differentiated`: robot, numbers that derivatives are taken by, and the answers
of PyTorch's gradcheck and of JAX's check_grads, in both modes; "-" without the package.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import numpy as np

import limbsweep as ls
from tests.limbsweep.differentiated import CALLS, MASK, CheckedCall

STEP = 1e-6
"""Step of the differences of the checks."""

TOLERANCES = {"atol": 1e-5, "rtol": 1e-4}


def torch_check(row: CheckedCall, robot: ls.Robot) -> bool:
    """Return the answer of PyTorch's gradcheck, in both modes."""
    import torch

    inputs = [torch.tensor(x, requires_grad=True) for x in row.inputs()]
    mask = torch.tensor(MASK)

    def function(*values: Any) -> tuple[Any, ...]:
        return tuple(row.call(ls.torch, robot, values, mask))

    options = {**TOLERANCES, "check_forward_ad": True, "raise_exception": False}
    return bool(torch.autograd.gradcheck(function, inputs, eps=STEP, **options))


def jax_check(row: CheckedCall, robot: ls.Robot) -> bool:
    """Return whether JAX's check_grads holds, compiled and not."""
    import jax
    from jax.test_util import check_grads

    jax.config.update("jax_enable_x64", True)
    inputs, mask = [jax.numpy.asarray(x) for x in row.inputs()], jax.numpy.asarray(MASK)

    def function(*values: Any) -> list[Any]:
        return row.call(ls.jax, robot, values, mask)

    try:
        for each in (function, jax.jit(function)):
            check_grads(each, inputs, order=1, eps=STEP, **TOLERANCES)
    except AssertionError:
        return False
    return True


CHECKS: dict[str, Callable[[CheckedCall, ls.Robot], bool]] = {"torch": torch_check, "jax": jax_check}


def main(arguments: list[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("functions", nargs="*")
    options = parser.parse_args(arguments)
    there = [name for name in CHECKS if find_spec(name)]
    print(f"{'function':<22}{'robot':<16}{'numbers':>8}" + "".join(f"{name:>8}" for name in CHECKS))
    counts = dict.fromkeys(there, 0)
    rows = [row for row in CALLS if not options.functions or row.function in options.functions]
    for row in rows:
        robot, numbers = row.build(), sum(np.size(x) for x in row.inputs())
        answers = {name: CHECKS[name](row, robot) for name in there}
        for name in there:
            counts[name] += answers[name]
        cells = "".join(f"{('yes' if answers[name] else 'NO') if name in answers else '-':>8}" for name in CHECKS)
        print(f"{row.function:<22}{row.robot:<16}{numbers:>8}{cells}", flush=True)
    print(", ".join(f"{name}: {counts[name]} of {len(rows)} hold" for name in there))


if __name__ == "__main__":
    main()
