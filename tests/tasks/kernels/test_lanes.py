"""Cases in the lanes of vectors: the bits of one case at a time."""

from __future__ import annotations

import numpy as np
import pytest

from robots import catalog
from tasks.kernels.case_parts import PREPARED, split
from tasks.kernels.expression import Array
from tasks.kernels.kernel import LANES, Kernel, kernel
from tasks.kernels.lanes import BoundKernel, outputs_of_all
from tasks.kernels.program import Program, trace
from tasks.mathematics.algebra import iterate, where
from tasks.stages.limb import limb_program
from tests.tasks.bits import assert_same_bits

CASES = 2 * LANES


def rooted(a: Array, x: Array) -> dict[str, list[object]]:
    """Square roots by Newton steps; a mask, an output and a start of a loop that depend on the case alone."""
    half = a[0] * 0.5 + 0.25
    (root,) = iterate(
        lambda s: ([(s[0] + a[0] * x[0] / s[0]) * 0.5], abs(s[0] * s[0] - a[0] * x[0]) < 1e-9), [half], 50
    )
    return {"root": [root, where(a[1] < 0.0, x[0], a[0] * x[0] + a[1])], "of case": [half * a[1]]}


@pytest.fixture
def program() -> Program:
    return trace("rooted", rooted, case={"a": (2,)}, sample={"x": (1,)})


def one_by_one(program: Program, case: dict[str, Array], sample: dict[str, Array]) -> dict[str, Array]:
    outputs = []
    for k in range(CASES):
        own = {name: values[k : k + 1] for name, values in case.items()}
        samples = {name: np.repeat(values[:, :, k : k + 1], LANES, axis=2) for name, values in sample.items()}
        outputs.append(kernel(program)({**own, **samples}, LANES))
    return {key: np.concatenate([found[key][..., :1] for found in outputs], axis=2) for key in outputs[0]}


def test_lanes_have_the_bits_of_cases(program: Program) -> None:
    random = np.random.default_rng(1)
    case = {"a": np.stack([random.uniform(0.5, 2.0, CASES), random.normal(size=CASES)], axis=1)}
    sample = {"x": random.uniform(1.0, 5.0, (1, 1, CASES))}
    expected = one_by_one(program, case, sample)
    bound = BoundKernel(program, case)
    assert_same_bits(dict(bound(sample, CASES)), expected)
    columns = np.array([3, 1, 7, 11, 15, 0, 2, 5])
    part = bound.of(columns)({"x": np.ascontiguousarray(sample["x"][..., columns])}, LANES)
    assert_same_bits(dict(part), {key: values[..., columns] for key, values in expected.items()})


def test_kernels_of_one_program_in_one_call_have_the_bits_of_each(program: Program) -> None:
    """Beside them a kernel of another program, and one with a case for each sample."""
    random = np.random.default_rng(3)
    case = {"a": np.stack([random.uniform(0.5, 2.0, CASES), random.normal(size=CASES)], axis=1)}
    sample = {"x": random.uniform(1.0, 5.0, (1, 1, CASES))}
    other = trace("double", lambda a, x: {"double": x * a[0]}, case={"a": (2,)}, sample={"x": (1,)})
    runs = [BoundKernel(each, {"a": case["a"][k : k + 1]}) for k, each in enumerate((program, other, program, program))]
    runs.append(BoundKernel(program, case))
    for run, found in zip(runs, outputs_of_all(runs, sample, CASES), strict=True):
        assert_same_bits(dict(found), dict(run(sample, CASES)))


def test_interpreter_and_compiler_agree_on_both_parts(program: Program) -> None:
    random = np.random.default_rng(2)
    first, rest = split(program)
    inputs = {"a": random.uniform(0.5, 2.0, (1, 2, LANES)), "x": random.uniform(1.0, 5.0, (1, 1, LANES))}
    for part in (first, rest):
        compiled, interpreted = (dict(Kernel(part, compiled=way)(inputs, LANES)) for way in (True, False))
        assert_same_bits(compiled, interpreted)
        inputs |= {PREPARED: compiled[PREPARED]} if PREPARED in compiled else {}


def test_a_limb_whose_designs_differ_from_lane_to_lane() -> None:
    family = catalog.FAMILIES["five_bar"]
    program, random = limb_program(family, 0), np.random.default_rng(3)
    home = np.array(family.reference.platform.home.position)
    defaults = np.array([p.default for p in family.parameters])
    case = {
        "parameters": defaults * random.uniform(0.99, 1.01, (CASES, len(defaults))),
        "mount": np.zeros((CASES, program.case["mount"][0])),
        "gravity": np.broadcast_to([0.0, 0.0, -9.81], (CASES, 3)).copy(),
    }
    still = np.concatenate([home, np.zeros(6)])
    sample = {"motion": (still[:, None] + random.normal(size=(9, CASES)) * 1e-2)[None]}
    assert_same_bits(dict(BoundKernel(program, case)(sample, CASES)), one_by_one(program, case, sample))


def test_reductions_are_refused() -> None:
    program = trace(
        "sum", lambda a, x: {"s": [a[0] * x[0]]}, case={"a": (1,)}, sample={"x": (1,)}, reductions={"s": "sum"}
    )
    with pytest.raises(ValueError, match="got reductions of s; expected none"):
        split(program)
