"""Exact derivatives of traced values along a direction, operation by operation.

`tasks.kernels.derivatives` differentiates whole programs in this way.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from tasks.kernels.expression import MASKS, ODD, RESULT, STATE, Expression, Scalar, select

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
"""Derivative rules of the operations: change of a result from its value, the arguments and their changes."""

STEPS = frozenset(("rint", "floor", "power_of_two", "exponent", *MASKS))
"""Operations whose results are constant except for jumps."""


def _root_with_kink(node: Expression, x: Expression, dx: Scalar) -> Scalar:
    """Return zero at a root of zero, which has no derivative, as for the size of a force that is absent."""
    return select(node > 0.0, node.graph.lift(dx * 0.5 / node), node.graph.lift(0.0))


def _size_with_kink(node: Expression, x: Expression, dx: Scalar) -> Scalar:
    """Return zero at zero, between its two slopes; in an odd function the slope that it has there."""
    lift = node.graph.lift
    if node.data == ODD:
        return _RULES["abs"](node, x, dx)
    return select(x < 0.0, lift(-dx), select(x > 0.0, lift(dx), lift(0.0)))


_WITH_KINKS: dict[str, Callable[..., Scalar]] = {"sqrt": _root_with_kink, "abs": _size_with_kink}


def _size_ahead(node: Expression, x: Expression, dx: Scalar) -> Scalar:
    """Return the slope of a size ahead of the point: at zero it grows, whichever way the number goes."""
    lift = node.graph.lift
    return select(_less_ahead(x, lift(0.0), dx, 0.0), lift(-dx), lift(dx))


def _less_ahead(x: Expression, y: Expression, dx: Scalar, dy: Scalar) -> Expression:
    """Return whether x < y just ahead: where they are equal, their rates decide."""
    return (x < y) | (_equal(x, y) & (x.graph.lift(dx) < dy))


def _equal(x: Expression, y: Expression) -> Expression:
    return x.graph.node("eq", (x, y))


def _unless_still(rule: Callable[..., Expression]) -> Callable[..., Expression]:
    """Return a rule of a comparison that keeps the comparison if both sides are constant."""
    return lambda node, x, y, dx, dy: node if _all_zero((dx, dy)) else rule(x, y, dx, dy)


_AHEAD: dict[str, Callable[..., Scalar]] = {
    "abs": _size_ahead,
    "sqrt": _root_with_kink,
    "select": lambda node, mask, x, y, ahead, dx, dy: select(ahead, x.graph.lift(dx), y.graph.lift(dy)),
    "lt": _unless_still(_less_ahead),
    "le": _unless_still(lambda x, y, dx, dy: (x < y) | (_equal(x, y) & (x.graph.lift(dx) <= dy))),
    "eq": _unless_still(lambda x, y, dx, dy: _equal(x, y) & _equal(x.graph.lift(dx), x.graph.lift(dy))),
    "and": lambda node, x, y, ahead, other: ahead & other,
    "or": lambda node, x, y, ahead, other: ahead | other,
    "not": lambda node, x, ahead: ~ahead,
}
"""Rules of the one-sided derivative in the direction: the rate of a mask is replaced by the mask just ahead of the
point. Source: Griewank, On stable piecewise linearization, Optim. Methods Softw. 28 (2013), section 2."""

KINDS: Mapping[str, tuple[Mapping[str, Callable[..., Scalar]], frozenset[str]]] = {
    "smooth": (_RULES, STEPS),
    "middle": (_RULES | _WITH_KINKS, STEPS),
    "ahead": (_RULES | _AHEAD, STEPS - MASKS),
}
"""Rules, and operations without a rate, of each kind of derivative at a kink: NaN or one of two slopes at a root or
size of zero; zero there; or the one-sided slope in the direction, at comparisons as well."""


def tangent(values: Sequence[Scalar], seeds: Mapping[Expression, Scalar], kind: str = "smooth") -> list[Scalar]:
    """Return the derivatives of traced `values` if the nodes in `seeds` change at the given rates and inputs do not.

    kind: a key of KINDS, which selects the derivative at a kink.

    Nodes before a seed are ignored. So loops are not differentiated here: the state after a loop must be among the
    seeds. Raises ValueError if it is not.
    """
    rates: dict[int, Scalar] = {node.number: rate for node, rate in seeds.items()}
    rules, steps = KINDS[kind]

    def change(root: Expression) -> Scalar:
        stack = [root]
        while stack:
            node = stack[-1]
            number, args = node.number, node.args
            if number in rates:
                stack.pop()
                continue
            if node.op in steps:
                rates[number] = 0.0  # for any argument
                continue
            waiting = [arg for arg in args if arg.number not in rates]
            if waiting and node.op == "select":
                waiting = _waiting(node, rates)
            if waiting:
                stack.extend(waiting)
                continue
            rates[number] = _one(node, [rates.get(arg.number, 0.0) for arg in args], rules)
            stack.pop()
        return rates[root.number]

    return [change(value) if isinstance(value, Expression) else 0.0 for value in values]


def _waiting(node: Expression, rates: Mapping[int, Scalar]) -> list[Expression]:
    """Return the arguments of a choice whose rates are to be found first; not the mask, if its branches have none."""
    mask, *branches = node.args
    waiting = [arg for arg in branches if arg.number not in rates]
    still = not waiting and _all_zero([rates[arg.number] for arg in branches])
    return waiting if waiting or still or mask.number in rates else [mask]


def _one(node: Expression, changes: Sequence[Scalar], rules: Mapping[str, Callable[..., Scalar]]) -> Scalar:
    if node.op in (STATE, RESULT):
        raise ValueError(f"tangent: got a value that depends on the loop behind {node!r}; expected its rate as a seed")
    if node.op not in MASKS and _all_zero(changes[1:] if node.op == "select" else changes):
        return 0.0
    return rules[node.op](node, *node.args, *changes)


def _all_zero(values: Sequence[Scalar]) -> bool:
    return all((value.value if isinstance(value, Expression) else value) == 0.0 for value in values)
