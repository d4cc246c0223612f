"""Plain scalars have the readings of YAML 1.2; spellings that readers take for different things are refused."""

from __future__ import annotations

import pytest

from pipeline.documents.scalars import Scalar, ScalarError, parse_scalar, strange_character
from pipeline.documents.yaml import parse_yaml

READINGS = {
    "1e3": 1000.0,
    "-.5": -0.5,
    "+7": 7,
    "0o10": 8,
    "0x1F": 31,
    "true": True,
    "~": None,
    "": None,
    **{text: text for text in ("no", "on", "2026-01-01", "5 kg", "True story")},
}


@pytest.mark.parametrize(("text", "value"), READINGS.items())
def test_scalars_have_the_readings_of_yaml_1_2(text: str, value: Scalar) -> None:
    found = parse_scalar(text)
    assert (found, type(found)) == (value, type(value))
    assert parse_yaml(f"a: {text}\n", "f").data == {"a": value}


@pytest.mark.parametrize("text", ["010", "1:30", "1_000", ".nan", "-.inf", "1e400", "9" * 65])
def test_ambiguous_spellings_are_refused_unless_quoted(text: str) -> None:
    with pytest.raises(ScalarError, match=r"^expected "):
        parse_scalar(text)
    assert parse_yaml(f"a: '{text}'\n", "f").data == {"a": text}


def test_invisible_characters_are_found() -> None:
    assert strange_character("a\u200bb") == "U+200B"
    assert strange_character("two\nlines\twith é") is None
