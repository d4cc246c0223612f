"""The error of wrong parameters, and the hint for misspelt names."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

LONGEST = 200
"""Characters of a name that are compared with others."""


class ParameterError(ValueError):
    """A parameter that does not exist, or a value outside its bounds. The text has its name and the expected values.

    >>> try:
    ...     ls.robots.build("delta_3rr2rrr", uper_arm=0.28)
    ... except ls.ParameterError as error:
    ...     print(error)
    delta_3rr2rrr has no parameter 'uper_arm'; did you mean 'upper_arm'?
    """


def nearest(name: str, names: Iterable[str]) -> str:
    """Return a hint for a misspelt name: the nearest of `names`, or all of them."""
    names = list(names)
    close = difflib.get_close_matches(str(name)[:LONGEST], names, n=1)
    return f"did you mean {close[0]!r}?" if close else "known: " + ", ".join(names)
