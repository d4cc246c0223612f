"""Exact derivatives of traced values: forward differentiation of the graph along a direction."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from tasks.kernels.expression import MASKS, RESULT, STATE, Expression, select
from tasks.kernels.types import Scalar

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
"""How an operation changes: from its value, its arguments and their changes."""

_STEPS = frozenset(("rint", "floor", "power_of_two", "exponent", *MASKS))
"""Operations whose results are constant but for jumps."""


def _root_with_kink(node: Expression, x: Expression, dx: Scalar) -> Scalar:
    """Zero at a root of zero, which has no derivative, as of the size of a force that is not there."""
    return select(node > 0.0, node.graph.lift(dx * 0.5 / node), node.graph.lift(0.0))


def _size_with_kink(node: Expression, x: Expression, dx: Scalar) -> Scalar:
    """Zero at zero, between its two slopes."""
    lift = node.graph.lift
    return select(x < 0.0, lift(-dx), select(x > 0.0, lift(dx), lift(0.0)))


_WITH_KINKS: dict[str, Callable[..., Scalar]] = {"sqrt": _root_with_kink, "abs": _size_with_kink}


def tangent(values: Sequence[Scalar], seeds: Mapping[Expression, Scalar], *, kinks: bool = False) -> list[Scalar]:
    """Derivatives of traced `values` where the nodes in `seeds` change at the given rates and inputs do not.

    With `kinks`, a root and a size of zero, which have none, have the derivative zero instead of NaN or one of two.

    Nodes behind a seed are not looked at. That is how a loop is differentiated: the state after it must be among the
    seeds. Raises ValueError where it is not.
    """
    known: dict[int, Scalar] = {node.number: rate for node, rate in seeds.items()}

    def change(root: Expression) -> Scalar:
        stack = [root]
        while stack:
            node = stack[-1]
            if node.number in known:
                stack.pop()
                continue
            if node.op in _STEPS:
                known[node.number] = 0.0  # whatever is behind it
                continue
            waiting = [arg for arg in node.args if arg.number not in known]
            if waiting:
                stack.extend(waiting)
                continue
            known[node.number] = _one(node, [known[arg.number] for arg in node.args], kinks)
            stack.pop()
        return known[root.number]

    return [change(value) if isinstance(value, Expression) else 0.0 for value in values]


def _one(node: Expression, changes: Sequence[Scalar], kinks: bool) -> Scalar:
    if node.op in (STATE, RESULT):
        raise ValueError(f"tangent: got a value that depends on the loop behind {node!r}; expected its rate as a seed")
    if _all_zero(changes):
        return 0.0
    rules = _RULES | _WITH_KINKS if kinks else _RULES
    return rules[node.op](node, *node.args, *changes)


def _all_zero(values: Sequence[Scalar]) -> bool:
    return all((value.value if isinstance(value, Expression) else value) == 0.0 for value in values)
