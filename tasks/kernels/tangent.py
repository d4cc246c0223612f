"""Exact derivatives of traced values: forward differentiation of the graph along a direction."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tasks.kernels.expression import CONSTANT, Expression, select

Scalar = Any

_RULES: dict[str, Callable[..., Scalar]] = {
    "add": lambda node, x, y, dx, dy: dx + dy,
    "sub": lambda node, x, y, dx, dy: dx - dy,
    "mul": lambda node, x, y, dx, dy: dx * y + x * dy,
    "div": lambda node, x, y, dx, dy: (dx - node * dy) / y,
    "neg": lambda node, x, dx: -dx,
    "abs": lambda node, x, dx: select(x < 0.0, x.graph.lift(-dx), x.graph.lift(dx)),
    "sqrt": lambda node, x, dx: dx * 0.5 / node,
    "fma": lambda node, x, y, z, dx, dy, dz: dx * y + x * dy + dz,
    "select": lambda node, mask, x, y, dmask, dx, dy: select(mask, x.graph.lift(dx), y.graph.lift(dy)),
}
"""How an operation changes: from its value, its arguments and their changes. Others (rounding, comparison) do not change."""


def tangent(values: Sequence[Scalar], seeds: Mapping[Expression, Scalar]) -> list[Scalar]:
    """Derivatives of traced `values` where the nodes in `seeds` change at the given rates and nothing else does.

    Nodes behind a seed are not looked at, so the state after a loop may be a seed.
    """
    known: dict[int, Scalar] = {node.number: rate for node, rate in seeds.items()}

    def change(root: Expression) -> Scalar:
        stack = [root]
        while stack:
            node = stack[-1]
            if node.number in known:
                stack.pop()
                continue
            waiting = [arg for arg in node.args if arg.number not in known]
            if waiting:
                stack.extend(waiting)
                continue
            known[node.number] = _one(node, [known[arg.number] for arg in node.args])
            stack.pop()
        return known[root.number]

    return [change(value) if isinstance(value, Expression) else 0.0 for value in values]


def _one(node: Expression, changes: Sequence[Scalar]) -> Scalar:
    still = all(not isinstance(each, Expression) and each == 0.0 or _zero(each) for each in changes)
    if not node.args or still or node.op not in _RULES:
        return 0.0
    return _RULES[node.op](node, *node.args, *changes)


def _zero(value: Scalar) -> bool:
    return isinstance(value, Expression) and value.op == CONSTANT and value.data == 0.0
