from __future__ import annotations

import math
import pickle
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tasks.mathematics.algebra  # noqa: F401 - gives symbols their sines
from robots.expressions.expression import MAX_LENGTH, SMOOTH, ExpressionError, parse
from tasks.kernels.expression import Expression, Graph

VALUES = {"a": 3.0, "b": -2.0, "c": 0.5}

NUMBERS = [
    ("1 + 2 * 3", 7.0),
    ("(1 + 2) * 3", 9.0),
    ("8 / 4 / 2", 1.0),
    ("10 - 4 - 3", 3.0),
    ("-2 ** 2", -4.0),
    ("--a + +b", 1.0),
    ("a ** 0", 1.0),
    ("b ** 3", -8.0),
    ("c ** -2", 4.0),
    ("2 * a ** 2 * c", 9.0),
    ("abs(b) + sqrt(16)", 6.0),
    ("min(a, b, c) + max(a, b)", 1.0),
    ("sqrt(a ** 2 + (b * 2) ** 2)", 5.0),
    (".5 + 1e-1 + 1.", 1.6),
]
CONDITIONS = [
    ("a > b", True),
    ("b < c < a", True),
    ("b < a < c", False),
    ("a >= 3 and c <= 0.5", True),
    ("a == 3 or 1 / 0 < 0", True),
    ("a < b or a > b and c > a", False),
    ("(a > b or a < b) and c > a", False),
    ("not a < b", True),
    ("not not a < b", False),
    ("not (a > b and c > a)", True),
    ("a != 3", False),
    ("a + b == 1 != 2", True),
    ("sqrt(b) < 1", False),
    ("sqrt(b) != 1", False),
    ("0 / 0 == 0 / 0", False),
    ("1 / 0 > 1e300", True),
]


@pytest.mark.parametrize(("text", "expected"), NUMBERS)
def test_numbers(text: str, expected: float) -> None:
    assert float(parse(text, "number")(VALUES)) == expected


@pytest.mark.parametrize(("text", "expected"), CONDITIONS)
def test_conditions(text: str, expected: bool) -> None:
    assert bool(parse(text, "condition")(VALUES)) is expected


def test_arrays_go_through_together() -> None:
    values = {"a": np.array([1.0, 2.0, 3.0]), "b": 2.0}
    assert parse("a < b", "condition")(values).tolist() == [True, False, False]
    assert parse("a * b + 1", "number")(values).tolist() == [3.0, 5.0, 7.0]


def test_the_spelling_does_not_count_and_the_names_are_known() -> None:
    one, two = (
        parse("upper_arm+2*rod>  max(1,rod)", "condition"),
        parse("upper_arm + 2 * rod > max ( 1 , rod )", "condition"),
    )
    assert one == two == pickle.loads(pickle.dumps(one))
    assert one.names == ("rod", "upper_arm")


def test_functions_that_are_not_exact_have_to_be_allowed() -> None:
    text = "sin(a) ** 2 + cos(a) ** 2 + tan(c) * 0 + abs(b)"
    assert float(parse(text, "number", SMOOTH)(VALUES)) == pytest.approx(3.0, rel=1e-15)
    with pytest.raises(ExpressionError, match=r"got the function 'sin'; expected .* abs, min, max, sqrt"):
        parse(text, "number")
    with pytest.raises(ExpressionError, match=r"got the function 'min'; expected .* abs, sqrt, sin, cos, tan"):
        parse("min(a, b)", "number", SMOOTH)


def test_symbols_of_a_kernel_are_values() -> None:
    graph = Graph()
    symbols = {name: graph.node("case", data=("parameters", k)) for k, name in enumerate(VALUES)}
    made = parse("2 * a ** 3 / c - sqrt(a) * cos(b) + b ** -1 + a ** 0 + tan(c) + abs(-b)", "number", SMOOTH)(symbols)
    assert isinstance(made, Expression)
    assert {"sqrt", "abs", "div", "mul"} <= {node.op for node in graph.nodes}


BAD = [
    ("", "condition", 0, "got the end; expected a number, a name"),
    ("__import__('os').system('x')", "condition", 11, 'got "\'"'),
    ("__import__(os)", "condition", 0, "got the function '__import__'; expected names, numbers, + - * / **"),
    ("a.b > 1", "condition", 1, "got '.'"),
    ("a[0] > 1", "condition", 1, "got '['"),
    ("lambda: 1", "condition", 6, "got ':'"),
    ("a = 1", "condition", 2, "Write == for equality."),
    ("a ^ 2 > 1", "condition", 2, "Write ** for powers."),
    ("a > 1 & b > 1", "condition", 6, "Write and."),
    ("a > 1 | b > 1", "condition", 6, "Write or."),
    ("a >", "condition", 3, "got the end; expected a number, a name"),
    ("a > 2b", "condition", 5, "got 'b'; expected an operator, or the end"),
    ("(a > 2", "condition", 6, "got the end; expected ')'"),
    ("a > 2)", "condition", 5, "got ')'; expected an operator"),
    ("a ** b > 1", "condition", 5, "a whole power of at most 8. Write sqrt for roots."),
    ("a ** 0.5 > 1", "condition", 5, "a whole power"),
    ("a ** 9 > 1", "condition", 5, "a whole power"),
    ("a ** 2 ** 3 > 1", "condition", 7, "an operator, or the end"),
    ("1e999 > a", "condition", 0, "a finite number"),
    ("min(a) > 1", "condition", 0, "got 1 argument of min; expected 2 to 8"),
    ("sqrt(a, b) > 1", "condition", 0, "got 2 arguments of sqrt; expected 1"),
    ("sqrt > 1", "condition", 5, "got '>'; expected '('"),
    ("a + b", "condition", 0, "got a number; expected a condition, such as"),
    ("a > b", "number", 0, "got a condition; expected a number"),
    ("a and b", "condition", 2, "got a number for and; expected a condition. Compare it with something."),
    ("not a", "condition", 0, "got a number for not"),
    ("not not a", "condition", 0, "got a number for not"),
    ("(a > b) + 1 > 0", "condition", 8, "got a condition for +; expected a number"),
    ("(a > b) ** 2 > 0", "condition", 8, "got a condition for positive"),
    ("and > 1", "condition", 0, "got 'and'; expected a number, a name"),
    ("\u0430 > 1", "condition", 0, "expected names, numbers"),
    ("a > " + "(" * 40 + "1" + ")" * 40, "condition", 37, "at most 32 levels of parentheses"),
    ("a" + "+a" * 120 + ">1", "condition", 200, "at most 200"),
    ("a > " + "1" * MAX_LENGTH, "condition", MAX_LENGTH, "504 characters; expected at most 500"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "kind", "place", "message"), BAD, ids=[row[0][:30] for row in BAD])
def test_what_is_no_expression_is_refused_at_its_place(text: str, kind: str, place: int, message: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        parse(text, kind)  # type: ignore[arg-type]
    assert message in str(caught.value)
    assert caught.value.place == place


PYTHON = [
    ("a ** (2)", 5, "a whole power"),
    ("a ** +2", 5, "a whole power"),
    ("a ** --2", 6, "a whole power"),
    ("a ** -2 ** 2", 8, "got '**'; expected an operator, or the end"),
    ("2 a", 2, "got 'a'; expected an operator"),
    ("2 (a)", 2, "got '('; expected an operator"),
    ("(a) (b)", 4, "got '('; expected an operator"),
    ("(sqrt)(a)", 5, "got ')'; expected '('"),
    ("sqrt()", 5, "got ')'; expected a number"),
    ("min(a, b,)", 9, "got ')'; expected a number"),
    ("min(*a)", 4, "got '*'; expected a number"),
    ("min(**a)", 6, "got 'a'; expected a whole power"),
    ("min(a)(b)", 6, "got '('; expected an operator"),
    ("min(a b)", 6, "got 'b'; expected ')'"),
    ("min(a, key=b)", 10, "Write == for equality."),
    ("()", 1, "got ')'; expected a number"),
    ("(a, b)", 2, "got ','; expected ')'"),
    ("a, b", 1, "got ','; expected an operator"),
    ("1_000", 1, "got '_000'; expected an operator"),
    ("0x10", 1, "got 'x10'; expected an operator"),
    ("1j", 1, "got 'j'; expected an operator"),
    ("1.a", 2, "got 'a'; expected an operator"),
    ("a if b else c", 2, "got 'if'; expected an operator"),
    ("a in b", 2, "got 'in'; expected an operator"),
    ("a is not b", 2, "got 'is'; expected an operator"),
    ("a not in b", 2, "got 'not'; expected an operator"),
    ("- not a", 2, "got 'not'; expected a number"),
    ("a < not b", 4, "got 'not'; expected a number"),
    ("a <> b", 3, "got '>'; expected a number"),
    ("a // b", 3, "got '/'; expected a number"),
    ("(a := 1)", 3, "got ':'"),
    ("f'{a}'", 1, 'got "\'"'),
    ("a % 2", 2, "got '%'"),
    ("a @ b", 2, "got '@'"),
    ("~a", 0, "got '~'"),
    ("a # b", 2, "got '#'"),
    ("a\\\n+ b", 1, "got '\\\\'"),
    ("a;b", 1, "got ';'"),
    ("\uff41 + 1", 0, "got '\\uff41'"),  # Python reads it as a
    ("\u0663", 0, "got '\\u0663'"),  # float reads it as 3
    ("a\0", 1, "got '\\x00'"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "place", "message"), PYTHON, ids=[ascii(row[0]) for row in PYTHON])
def test_what_python_has_beyond_the_language_is_refused(text: str, place: int, message: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        parse(text, "number")
    assert message in str(caught.value)
    assert caught.value.place == place


@pytest.mark.parametrize("name", ["lambda", "None", "True", "if", "is", "in", "e1", "x", "sin", "nota", "print"])
def test_words_of_python_are_names(name: str) -> None:
    expression = parse(f"2*{name}+a", "number")
    assert expression.names == tuple(sorted((name, "a")))
    assert expression({name: 1.5, "a": 1.0}) == 4.0


def test_numbers_are_decimal_and_may_touch_words() -> None:
    assert parse("010 + 00", "number")({}) == 10.0
    assert parse("1 > 0or 1<2and\n not\t0 > 1", "condition").text == "1 > 0 or 1 < 2 and not 0 > 1"


@pytest.mark.parametrize("text", ["a" + "+a" * 99, "-" * 198 + "a", "(" * 32 + "a" + ")" * 32, "min(a,a)*" * 27 + "a"])
def test_the_longest_expressions_are_computed(text: str) -> None:
    assert np.isfinite(parse(text, "number")({"a": 1.0}))


def test_a_long_chain_of_negations_is_computed() -> None:
    assert parse("not " * 120 + "a > 0", "condition")({"a": 1.0})


@given(st.lists(st.sampled_from([*"ab01.+-*/()<>=!,e ", "and ", "or ", "not ", "min(", "sqrt("])).map("".join))
def test_any_text_is_computed_or_refused(text: str) -> None:
    for kind in ("number", "condition"):
        with suppress(ExpressionError):
            value = parse(text, kind)(dict.fromkeys(parse(text, kind).names, 2.0))
            assert np.ndim(value) == 0


LEAVES = st.sampled_from(["a", "b", "c", "1.5", "2"])
TREES = st.recursive(
    LEAVES,
    lambda inner: st.tuples(inner, st.sampled_from("+-*/"), inner).map(lambda t: f"({t[0]} {t[1]} {t[2]})"),
    max_leaves=12,
)


@given(TREES)
def test_arithmetic_is_that_of_python(text: str) -> None:
    try:
        expected = eval(text, {"__builtins__": {}}, dict(VALUES))  # the text is made above
    except ZeroDivisionError:
        return
    value = float(parse(text, "number")(VALUES))
    assert value == expected or math.isnan(value)
