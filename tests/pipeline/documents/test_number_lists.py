from __future__ import annotations

import random

import pytest

from pipeline.documents import yaml
from pipeline.documents.document import Document
from pipeline.documents.number_lists import FEWEST, Blanked, blank_lists
from pipeline.documents.yaml import parse_yaml
from pipeline.errors import InputError

MANY = ", ".join(str(k % 7) for k in range(FEWEST))
ROWS = "".join(f"  - {k}.5e-1 \n" for k in range(FEWEST))


def _scanned(text: str, monkeypatch: pytest.MonkeyPatch) -> Document:
    """Return the document that the scanner alone makes of a text."""
    with monkeypatch.context() as patch:
        patch.setattr(yaml, "blank_lists", lambda text: Blanked(text, {}))
        return parse_yaml(text, "f")


@pytest.mark.parametrize(
    "text",
    [
        f"a: [{MANY}]\nb: 1\n",
        f"a: {{x: [ {MANY} ], y: 2}}  # [{MANY}]\nb: 1\n",
        f"a:\n  - [{MANY}]\n  - [{MANY}]\nb: [[{MANY}], x]\n",
        f"a: [-1, +2, 3.,\n\n  {MANY},\n 1e3, -0]\nb: 1\n",
        f"a:\n{ROWS}b: 1\n",
        f"a:\n{ROWS}",
        f"a:\n{ROWS}  - x\nb: 1\n",
        f"a:\n  - x\n{ROWS}b: 1\n",
        "a:\n" + ROWS.replace("  -", "-") + "b: 1\n",
        f"a: |\n{ROWS}b: 1\n",
        f"a: '[{MANY}]'\nb: \"[{MANY}]\"\n",
        f"# [{MANY}]\na: 1\n",
        f"a: x [{MANY}]\nb: 1\n",
        f"a: [{MANY},\n# a comment\n 3]\n",
        f"a: [{MANY}, x]\nb: [{MANY}]\n",
    ],
)
def test_lists_of_numbers_are_read_as_the_scanner_reads_them(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    quick, slow = parse_yaml(text, "f"), _scanned(text, monkeypatch)
    assert quick == slow
    assert quick.values == slow.values
    assert [type(x) for x in _numbers(quick.data)] == [type(x) for x in _numbers(slow.data)]


def _numbers(value: object) -> list[object]:
    if isinstance(value, dict):
        return [x for item in value.values() for x in _numbers(item)]
    return [x for item in value for x in _numbers(item)] if isinstance(value, list) else [value]


def test_random_numbers_are_the_same_doubles(monkeypatch: pytest.MonkeyPatch) -> None:
    draw = random.Random(3)
    words = [repr(draw.uniform(-1, 1) * 10.0 ** draw.randint(-30, 30)) for _ in range(500)]
    text = f"a: [{', '.join(words)}]\n"
    assert blank_lists(text).size == 500
    assert parse_yaml(text, "f").data == _scanned(text, monkeypatch).data == {"a": [float(word) for word in words]}


@pytest.mark.parametrize("bad", ["1e999", "010", "1_000", ".nan", "9" * 70, "1:30"])
def test_a_bad_number_in_a_long_list_has_its_message_and_place(bad: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text = f"a: [{MANY}, {bad}]\n"
    with pytest.raises(InputError) as quick:
        parse_yaml(text, "f")
    with pytest.raises(InputError) as slow:
        _scanned(text, monkeypatch)
    assert str(quick.value) == str(slow.value)
    assert f"f:1:{len(MANY) + 7} a[{FEWEST}]: got" in str(quick.value)


def test_a_duplicate_key_beside_a_list_is_told_once() -> None:
    with pytest.raises(InputError, match=r"f:2:1 a: got the key again, first in line 1; expected every key once"):
        parse_yaml(f"a: [{MANY}]\na: 2\n", "f")
