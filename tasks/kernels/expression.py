"""Arithmetic recorded as a graph: nodes that fold constants and share common subexpressions.

An `Expression` behaves like a float inside NumPy object arrays (`@`, `np.cross`, `np.sqrt`, `sum` work), so that a
function written for one sample can be called on symbols. Elementary functions beyond IEEE 754 are in
`tasks.mathematics.algebra`, like the functions for code that must also run on floats. The types of the mathematics,
numbers and arrays of numbers or of symbols, are defined here too.
"""

from __future__ import annotations

import functools
import math
from collections import defaultdict
from collections.abc import Callable, Hashable, Sequence
from math import copysign
from typing import Any, ClassVar, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from robots.data_classes import dataclass, field

T = TypeVar("T")

_made = object.__new__

CONSTANT, CASE, SAMPLE, STATE, RESULT = "constant", "case", "sample", "state", "result"
LEAVES = frozenset((CONSTANT, CASE, SAMPLE, STATE, RESULT))
MASKS = frozenset(("lt", "le", "eq", "and", "or", "not"))
COMMUTATIVE = frozenset(("add", "mul", "eq", "and", "or"))


class Dual(float):
    """A constant that is another number where samples are in single precision: a tolerance, or the end of a range."""

    single: float

    def __new__(cls, double: float, single: float) -> Dual:
        """Return a number with two values; as a float it is the one in double precision."""
        made = super().__new__(cls, double)
        made.single = single
        return made

    def __repr__(self) -> str:
        return f"Dual({float(self)!r}, {self.single!r})"

    def __mul__(self, factor: float) -> Dual:
        if not isinstance(factor, float | int):
            return NotImplemented
        return Dual(float(self) * float(factor), self.single * (factor.single if isinstance(factor, Dual) else factor))

    __rmul__ = __mul__

    def __neg__(self) -> Dual:
        return self * -1.0


@dataclass
class Loop:
    """An iteration: `state` symbols start as `initial` and become `following`, until all are `done` or `limit` rounds.

    A lane that is done keeps its state, so a sample's result does not depend on its neighbours. Lanes to `skip` are
    done before the first round; a vector of such lanes costs nothing. `newton`: at the solution, a step does not depend
    on the state to first order, as in Newton's method; other loops are differentiated as contractions.
    """

    index: int
    limit: int
    initial: tuple[Expression, ...]
    state: tuple[Expression, ...] = ()
    following: tuple[Expression, ...] = ()
    done: Expression | None = None
    skip: Expression | None = None
    newton: bool = True


@dataclass
class Graph:
    """Nodes of one trace, each distinct one once, in an order in which arguments come first."""

    nodes: list[Expression] = field(default_factory=list)
    tables: dict[str, dict[tuple[Expression, ...], Expression]] = field(default_factory=lambda: defaultdict(dict))
    """Nodes without data by operation and arguments."""
    known: dict[tuple[Any, ...], Expression] = field(default_factory=dict)
    """Nodes with data by operation, arguments and data."""
    numbers: dict[float, Expression] = field(default_factory=dict)
    """Constants by value, but for zeros and duals."""
    loops: list[Loop] = field(default_factory=list)
    results: dict[tuple[Hashable, ...], tuple[Any, ...]] = field(default_factory=dict)
    """Results of functions that are called again and again, see `once`, with their arguments, kept alive."""

    def clear(self) -> None:
        """Delete all nodes. They refer to their graph, so their memory would wait for garbage collection."""
        self.__dict__.pop("zero", None)
        for table in (self.tables, self.known, self.numbers, self.loops, self.nodes, self.results):
            table.clear()

    def node(self, op: str, args: tuple[Expression, ...] = (), data: Any = None) -> Expression:
        """Return the node `op(args)`, created on first use."""
        if data is None:
            table = self.tables[op]
            node = table.get(args)
            return self.new(table, op, args) if node is None else node
        # repr tells 0.0 from -0.0, which compare equal
        key = op, args, repr(data) if op == CONSTANT else data
        node = self.known.get(key)
        return self.new(self.known, op, args, data, key) if node is None else node

    def new(
        self, table: dict[Any, Expression], op: str, args: tuple[Expression, ...], data: Any = None, key: Any = None
    ) -> Expression:  # fmt: skip
        """Create a node that a table does not have under its key, by default its arguments."""
        node = _made(Expression)  # without a call of a function in Python
        node.graph = self
        node.op = op
        node.args = args
        node.data = data
        nodes = self.nodes
        node.number = len(nodes)
        node.value = data if op == CONSTANT else None
        table[args if key is None else key] = node
        nodes.append(node)
        return node

    def constant(self, value: float) -> Expression:
        """Return a number as a node."""
        if not value and value.__class__ is not Dual:  # with `== 0.0` NaN would raise a flag, of which NumPy warns
            return self.zero if copysign(1.0, value) > 0.0 else self.node(CONSTANT, data=-0.0)
        if value.__class__ is Dual:
            return self.node(CONSTANT, data=value)
        node = self.numbers.get(value)
        if node is None:
            node = self.numbers[value] = self.node(CONSTANT, data=float(value))
        return node

    @functools.cached_property
    def zero(self) -> Expression:
        """The constant 0.0, created on first use."""
        return self.node(CONSTANT, data=0.0)

    def lift(self, value: float | Expression) -> Expression:
        """Return `value` as a node of this graph."""
        return value if isinstance(value, Expression) else self.constant(value)


class Expression:
    """A node: `op` of `args`; `data` holds a constant's value, or which input, state or result it is."""

    __slots__ = ("args", "data", "graph", "number", "op", "value")

    functions: ClassVar[dict[str, Callable[[Expression], Expression]]] = {}
    """Functions made of several operations, by name: `tasks.mathematics.algebra` enters its own, so that
    `np.sin` finds them."""
    of_two: ClassVar[dict[str, Callable[[Expression, float | Expression], Expression]]] = {}
    """Functions of two arguments, by name."""

    graph: Graph
    op: str
    args: tuple[Expression, ...]
    data: Any
    number: int
    value: float | None
    """The number of a constant, else None."""

    def __repr__(self) -> str:
        return f"Expression({self.op}#{self.number})"

    def __bool__(self) -> bool:
        raise TypeError("a traced value has no truth value; use tasks.mathematics.algebra.where in place of a branch")

    def __add__(self, addend: float | Expression) -> Expression:
        if isinstance(addend, Expression):
            return add(self, addend)
        if not addend and self.value is None:
            return self
        return add(self, self.graph.constant(addend))

    __radd__ = __add__

    def __sub__(self, subtrahend: float | Expression) -> Expression:
        return sub(self, subtrahend if isinstance(subtrahend, Expression) else self.graph.constant(subtrahend))

    def __rsub__(self, minuend: float | Expression) -> Expression:
        return sub(minuend if isinstance(minuend, Expression) else self.graph.constant(minuend), self)

    def __mul__(self, factor: float | Expression) -> Expression:
        if isinstance(factor, Expression):
            return mul(self, factor)
        if not factor and self.value is None:
            return self.graph.zero
        return mul(self, self.graph.constant(factor))

    __rmul__ = __mul__

    def __truediv__(self, divisor: float | Expression) -> Expression:
        return div(self, divisor if isinstance(divisor, Expression) else self.graph.constant(divisor))

    def __rtruediv__(self, dividend: float | Expression) -> Expression:
        return div(dividend if isinstance(dividend, Expression) else self.graph.constant(dividend), self)

    def __neg__(self) -> Expression:
        return neg(self)

    def __pos__(self) -> Expression:
        return self

    def __abs__(self) -> Any:  # else `abs` of a number or a symbol is but an object to a type checker
        return unary("abs", self)

    def __lt__(self, bound: float | Expression) -> Expression:
        return self.graph.node("lt", (self, self.graph.lift(bound)))

    def __le__(self, bound: float | Expression) -> Expression:
        return self.graph.node("le", (self, self.graph.lift(bound)))

    def __gt__(self, bound: float | Expression) -> Expression:
        return self.graph.node("lt", (self.graph.lift(bound), self))

    def __ge__(self, bound: float | Expression) -> Expression:
        return self.graph.node("le", (self.graph.lift(bound), self))

    def __and__(self, mask: Expression) -> Expression:
        return binary("and", self, mask)

    def __or__(self, mask: Expression) -> Expression:
        return binary("or", self, mask)

    def __invert__(self) -> Expression:
        return self.args[0] if self.op == "not" else self.graph.node("not", (self,))

    def where(self, x: float | Expression, y: float | Expression) -> Expression:
        """Return x where this mask holds, else y."""
        return select(self, self.graph.lift(x), self.graph.lift(y))

    def sqrt(self) -> Expression:
        """Return the square root; `np.sqrt` calls it."""
        return unary("sqrt", self)

    def sin(self) -> Expression:
        """Return the sine; `np.sin` calls it."""
        return self.functions["sin"](self)

    def arctan2(self, x: float | Expression) -> Expression:
        """Return the angle of the point (x, self); `np.arctan2` calls it."""
        return self.of_two["arctan2"](self, x)

    def cos(self) -> Expression:
        """Return the cosine; `np.cos` calls it."""
        return self.functions["cos"](self)

    def exp(self) -> Expression:
        """Return the exponential; `np.exp` calls it."""
        return self.functions["exp"](self)

    def expm1(self) -> Expression:
        """Return the exponential less one; `np.expm1` calls it."""
        return self.functions["expm1"](self)

    def log(self) -> Expression:
        """Return the natural logarithm; `np.log` calls it."""
        return self.functions["log"](self)

    def tanh(self) -> Expression:
        """Return the hyperbolic tangent; `np.tanh` calls it."""
        return self.functions["tanh"](self)

    def rint(self) -> Expression:
        """Return the nearest integer, halves to even; `np.rint` calls it."""
        return unary("rint", self)

    def floor(self) -> Expression:
        """Return the largest integer that is not above the value."""
        return unary("floor", self)

    __floor__ = floor  # called by `np.floor`

    def power_of_two(self) -> Expression:
        """Return 2^x for an integer x in [-1022, 1023]; elsewhere a number without meaning, the same everywhere."""
        return self.graph.node("power_of_two", (self,))

    def exponent(self) -> Expression:
        """Return the largest whole n with 2^n <= |x|, for x that is neither subnormal nor infinite; -1023 at zero."""
        return self.graph.node("exponent", (self,))


def once(name: Hashable, numbers: Sequence[Any], make: Callable[[], T]) -> T:
    """Return what `make` returns; where numbers are traced, the same object for the same name and numbers.

    A name tells apart what is made of the same numbers. Callers must not change the object.
    """
    graph = next((x.graph for x in numbers if isinstance(x, Expression)), None)
    if graph is None:
        return make()
    key = (name, *map(id, numbers))
    if key not in graph.results:
        graph.results[key] = make(), numbers
    return cast(T, graph.results[key][0])


_FOLD: dict[str, Callable[..., float]] = {
    "abs": abs,
    "sqrt": lambda x: math.sqrt(x) if x >= 0 else math.nan,
    "rint": lambda x: float(round(x)),
    "floor": lambda x: float(math.floor(x)),
}


def unary(op: str, x: Expression) -> Expression:
    """Return `op(x)`, with a constant folded."""
    if x.value is not None and math.isfinite(x.value):
        return x.graph.constant(_FOLD[op](x.value))
    return x.graph.node(op, (x,))


ODD = "odd"
"""Data of a size in an odd function."""


def size_in_odd(x: Expression) -> Expression:
    """Return |x| for a function made odd by the sign of x; the derivative at zero is that of x, not a mean."""
    return unary("abs", x) if x.value is not None else x.graph.node("abs", (x,), ODD)


def binary(op: str, x: Expression, y: Expression) -> Expression:
    """Return `op(x, y)`; operands of a commutative op are in the order of their creation."""
    return _ordered(op, x, y) if op in COMMUTATIVE else x.graph.node(op, (x, y))


def _ordered(op: str, x: Expression, y: Expression) -> Expression:
    """Return a commutative `op(x, y)`."""
    args = (y, x) if y.number < x.number else (x, y)
    graph = x.graph
    table = graph.tables[op]
    node = table.get(args)
    return graph.new(table, op, args) if node is None else node


def add(x: Expression, y: Expression) -> Expression:
    """Return x + y."""
    first, second = x.value, y.value
    if first is None and second is None:
        if x.op != "neg" and y.op != "neg":  # no rule below applies
            return _ordered("add", x, y)
    elif first is not None and second is not None:
        return x.graph.constant(first + second)
    elif first == 0.0:
        return y
    elif second == 0.0:
        return x
    if y.op == "neg":
        return sub(x, y.args[0])
    if x.op == "neg":
        return sub(y, x.args[0])
    return binary("add", x, y)


def sub(x: Expression, y: Expression) -> Expression:
    """Return x - y."""
    first, second = x.value, y.value
    if first is not None and second is not None:
        return x.graph.constant(first - second)
    if second == 0.0:
        return x
    if first == 0.0:
        return neg(y)
    if x is y:
        return x.graph.zero
    if y.op == "neg":
        return add(x, y.args[0])
    if x.op == "neg":
        return neg(add(x.args[0], y))
    graph = x.graph
    table, args = graph.tables["sub"], (x, y)
    opposite = table.get((y, x))
    if opposite is not None:
        return neg(opposite)
    node = table.get(args)
    return graph.new(table, "sub", args) if node is None else node


def mul(x: Expression, y: Expression) -> Expression:
    """Return x * y; a constant factor of zero gives zero for any other factor."""
    first, second = x.value, y.value
    if first is None and second is None:
        if x.op != "neg" and y.op != "neg":  # no rule below applies
            return _ordered("mul", x, y)
    elif first is not None and second is not None:
        return x.graph.constant(first * second)
    else:
        if first is not None:
            x, y, second = y, x, first
        if second == 0.0:
            return x.graph.zero
        if second == 1.0:
            return x
        if second == -1.0:
            return neg(x)
    if x.op == "neg" and y.op == "neg":
        return mul(x.args[0], y.args[0])
    if x.op == "neg":
        return neg(mul(x.args[0], y))
    if y.op == "neg":
        return neg(mul(x, y.args[0]))
    return binary("mul", x, y)


def div(x: Expression, y: Expression) -> Expression:
    """Return x / y."""
    if x.value is not None and y.value is not None and y.value != 0.0:
        return x.graph.constant(x.value / y.value)
    if x.value == 0.0:
        return x
    if y.value in (1.0, -1.0):
        return x if y.value == 1.0 else neg(x)
    if x.op == "neg":
        return neg(div(x.args[0], y))
    if y.op == "neg":
        return neg(div(x, y.args[0]))
    return binary("div", x, y)


def neg(x: Expression) -> Expression:
    """Return -x."""
    if x.value is not None:
        return x.graph.constant(-x.value)
    if x.op == "neg":
        return x.args[0]
    graph, args = x.graph, (x,)
    table = graph.tables["neg"]
    node = table.get(args)
    return graph.new(table, "neg", args) if node is None else node


def fma(x: Expression, y: Expression, z: Expression) -> Expression:
    """Return x * y + z with one rounding, on request: for code whose accuracy depends on it."""
    return x.graph.node("fma", (x, y, z))


def select(mask: Expression, x: Expression, y: Expression) -> Expression:
    """Return x where the mask is true, else y."""
    if mask.op == "not":
        mask, x, y = mask.args[0], y, x
    return x if x is y else mask.graph.node("select", (mask, x, y))


def loop(
    step: Callable[[Sequence[Expression]], tuple[Sequence[float | Expression], bool | Expression]],
    initial: Sequence[Expression],
    limit: int,
    skip: Expression | None = None,
    newton: bool = True,
) -> list[Expression]:
    """Return the state after iterating `step(state) -> (next state, done)`; see Loop. Raises ValueError if nested."""
    graph = initial[0].graph
    record = Loop(len(graph.loops), limit, tuple(initial), skip=skip, newton=newton)
    graph.loops.append(record)
    record.state = tuple(graph.node(STATE, data=(record.index, i)) for i in range(len(initial)))
    following, done = step(record.state)
    if len(graph.loops) > record.index + 1:
        raise ValueError("a loop inside the step of a loop; expected straight-line code: unroll the inner one")
    record.following, record.done = tuple(graph.lift(x) for x in following), graph.lift(done)
    return [graph.node(RESULT, data=(record.index, i)) for i in range(len(initial))]


Scalar = float | Expression
"""A number of one sample, or its symbol."""

Mask = bool | Expression
"""A truth value of one sample, or its symbol."""

Array = NDArray[Any]
"""Numbers, or symbols in an array of objects."""

Scalars = Sequence[Scalar] | Array
"""Numbers or symbols in a row."""

Numbers = Scalars | Sequence[Scalars]
"""Values that a function of one sample gives under one name: a row of numbers or symbols, or rows of them."""

ABSENT: Array = np.zeros(0)
"""An input that a program does without."""

ZERO: Array = np.zeros(())
"""Start value for sums of arrays."""
