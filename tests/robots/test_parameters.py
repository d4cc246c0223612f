"""Named parameters: bounds in words, what is completed and what is refused."""

from __future__ import annotations

import math

import pytest

from robots.parameter_errors import ParameterError, nearest
from robots.parameters import Parameter, complete

LENGTH = Parameter("length", "m", 0.5, 1e-3, 10.0)
OFFSET = Parameter("offset", "rad", 0.0)
PARAMETERS = (LENGTH, OFFSET)


def test_defaults_fill_in_and_the_order_is_that_of_the_owner() -> None:
    assert list(complete(PARAMETERS, {"offset": 1}, owner="arm").items()) == [("length", 0.5), ("offset", 1.0)]


@pytest.mark.parametrize("value", [1e-3, 10.0])
def test_bounds_are_included(value: float) -> None:
    assert complete(PARAMETERS, {"length": value}, owner="arm")["length"] == value


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ({"lenght": 1.0}, "arm has no parameter 'lenght'; did you mean 'length'?"),
        ({"mass": 1.0}, "arm has no parameter 'mass'; known: length, offset"),
        ({"length": 0.0}, r"arm: length = 0\.0 is outside \[0\.001, 10\] m; expected a number in \[0\.001, 10\] m"),
        ({"length": 11}, r"arm: length = 11\.0 is outside"),
        (
            {"offset": math.nan},
            r"arm: offset = nan is not finite; expected a finite number of at most 1e\+12 in size \[rad\]",
        ),
        ({"offset": math.inf}, "arm: offset = inf is not finite"),
    ],
)
def test_misuse_is_told(values: dict[str, float], text: str) -> None:
    with pytest.raises(ParameterError, match=text):
        complete(PARAMETERS, values, owner="arm")


def test_shape_is_that_of_the_default() -> None:
    assert LENGTH.shape == ()
    assert Parameter("centre", "m", (0.0, 0.0, 0.0)).shape == (3,)


def test_problems_in_words() -> None:
    assert LENGTH.problem(1.0) is None
    assert LENGTH.problem(-1.0) == "is outside [0.001, 10] m"
    assert Parameter("ratio", "", 1.0, 0.0, 2.0).bounds == "a number in [0, 2]"


def test_nearest_lists_all_names_where_none_is_near() -> None:
    assert nearest("zzz", ["alpha", "beta"]) == "known: alpha, beta"
