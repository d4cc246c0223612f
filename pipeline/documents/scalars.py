"""Plain scalars of YAML 1.2, without the spellings that YAML readers take for different things."""

from __future__ import annotations

import math
import re
import unicodedata

from robots.data_classes import dataclass

Scalar = str | int | float | bool | None

LONGEST_NUMBER = 64
"""Characters of a number; 2**128 has 39 digits."""

_WORDS: dict[str, Scalar] = {"": None, "~": None} | dict.fromkeys(("null", "Null", "NULL"), None)
_WORDS |= dict.fromkeys(("true", "True", "TRUE"), True) | dict.fromkeys(("false", "False", "FALSE"), False)

_INTEGER = re.compile(r"[-+]?[0-9]+")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_BASED = re.compile(r"0o[0-7]+|0x[0-9a-fA-F]+")


@dataclass(frozen=True)
class Rule:
    """Refused spellings, which match `pattern`, with the expected value and the right spelling."""

    pattern: re.Pattern[str]
    expected: str
    hint: str


_REFUSED = (
    Rule(
        re.compile(r"[-+]?0[0-9]+"),
        "a number without leading zeros",
        "Other YAML readers take this as octal: write 10 or 0o10, or quote it if it is text.",
    ),
    Rule(
        re.compile(r"[-+]?[0-9]+(:[0-5]?[0-9])+(\.[0-9]*)?"),
        "a plain number",
        "Sexagesimal numbers are not supported: write seconds or degrees, or quote it if it is text.",
    ),
    Rule(
        re.compile(r"[-+]?[0-9][0-9.]*_[0-9_.]*([eE][-+]?[0-9]+)?"),
        "a number without underscores",
        "Write the digits alone, or quote it if it is text.",
    ),
    Rule(
        re.compile(r"[-+]?\.?(inf|nan|infinity)", re.IGNORECASE),
        "a finite number",
        "Give a number, or quote it if it is a name.",
    ),
)


class ScalarError(ValueError):
    """A scalar that is refused, with the rule it breaks and advice."""

    def __init__(self, expected: str, hint: str) -> None:
        super().__init__(f"expected {expected}. {hint}")
        self.expected = expected
        self.hint = hint


def parse_scalar(text: str) -> Scalar:
    """Parse a plain (unquoted) scalar. Raises ScalarError for a spelling that is ambiguous or not finite."""
    if text in _WORDS:
        return _WORDS[text]
    if _FLOAT.fullmatch(text) or _BASED.fullmatch(text):
        return _number(text)
    for rule in _REFUSED:
        if rule.pattern.fullmatch(text):
            raise ScalarError(rule.expected, rule.hint)
    return text


def _number(text: str) -> int | float:
    if len(text) > LONGEST_NUMBER:
        raise ScalarError(f"a number of at most {LONGEST_NUMBER} characters", f"This one has {len(text)}.")
    if rule := next((rule for rule in _REFUSED if rule.pattern.fullmatch(text)), None):
        raise ScalarError(rule.expected, rule.hint)
    if _BASED.fullmatch(text):
        return int(text, 0)
    if _INTEGER.fullmatch(text):
        return int(text)
    if not math.isfinite(value := float(text)):
        raise ScalarError("a finite number", "The largest is about 1.8e308.")
    return value


def strange_character(text: str) -> str | None:
    """Return the first invisible character of `text` as U+XXXX: control, bidirectional or zero width; None if none."""
    for character in text:
        if character not in "\n\t" and unicodedata.category(character) in ("Cc", "Cf", "Cs", "Zl", "Zp"):
            return f"U+{ord(character):04X}"
    return None
