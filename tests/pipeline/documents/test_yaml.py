from __future__ import annotations

import time
from contextlib import suppress

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from pipeline.documents.yaml import MAX_NUMBERS, parse_yaml
from pipeline.errors import InputError


def refused(text: str) -> str:
    with pytest.raises(InputError) as caught:
        parse_yaml(text, "f")
    return str(caught.value)


BAD = [
    ("A05", "", ["f: got an empty file"]),
    ("A06", "# only this\n", ["an empty file"]),
    ("A11", "a: \x00", ["f:1:4", "U+0000", "control characters"]),
    ("A13", "a:\n\t- 1\n", ["f:2:1", "not YAML", "spaces, not tabs"]),
    ("A14 quote", "x: 1\na: 'b\n", ["f:3:1", "line 2, column 4"]),
    ("A14 bracket", "x: 1\na: [1,\n", ["not YAML", "line 2, column 4"]),
    ("A15", "a: 1\n---\nb: 2\n", ["f:2:1", "one document"]),
    ("A16 list", "- 1\n", ["f:1:1", "got [1]", "a mapping"]),
    ("A16 scalar", "hello\n", ["got 'hello'", "a mapping"]),
    ("B01", "m: 1\nb: 2\nm: 3\n", ["f:3:1 m:", "first in line 1", "every key once"]),
    ("B02", "a: &x [1]\nb: [*x, *x]\n", ["f:1:4 a", "anchor 'x'", "f:2:5 b[0]", "alias 'x'"]),
    ("B03", "a: &x {k: 1}\nb: {<<: *x}\n", ["merge key", "f:2:5"]),
    ("B04", "a: &a [*a]\n", ["anchor 'a'"]),
    ("B05", "a: *zz\n", ["alias 'zz'", "Write the value out"]),
    ("B06", "a: " + "[" * 1000, ["f:1:35", "at most 32 levels"]),
    ("B07", "a: !!python/object/apply:os.system [ls]\n", ["f:1:4 a", "no tags"]),
    ("B08", "a: !foo 1\n", ["tag '!foo'", "no tags"]),
    ("B09", "a: " + "9" * 4301, ["at most 64 characters", "4301"]),
    ("B10", "a: 0x" + "f" * 50_000, ["at most 64 characters"]),
    ("B12", "a: 1.0e+400", ["1.0e+400", "a finite number"]),
    ("B13", "a: .nan\nb: .inf\nc: nan\nd: [NaN, -.INF]\n", ["f:1:4", "f:2:4", "f:3:4", "f:4:5 d[0]", "f:4:10 d[1]"]),
    ("B14", "a: 010\n", ["leading zeros", "10 or 0o10"]),
    ("B15", "a: 1:30\n", ["1:30", "Sexagesimal"]),
    ("B19", "? : 1\n", ["an empty key", "keys that are text"]),
    ("B19 null", "~: 1\n", ["an empty key"]),
    ("B20", "1: x\n[a]: y\n", ["f:1:1", "key 1", "f:2:1"]),
    ("B23", "a: 1_000\n", ["without underscores"]),
    ("B24", 'a: "x\\u202E"\n', ["U+202E", "visible"]),
    ("B24 key", "a\u200bb: 1\n", ["U+200B"]),
    ("B25", "\u00e9: 1\ne\u0301: 2\n", ["f:2:1", "first in line 1"]),
    ("directive", "%YAML 1.1\n---\na: yes\n", ["YAML 1.2"]),
    ("line", "a: " + "!" * 70_000, ["f:1:65537", "70003 characters", "lines of at most"]),
    ("nodes", "a: [" + "1,\n" * (MAX_NUMBERS + 5) + "]", ["numbers; expected at most 200000 in a file"]),
    ("syntax", "a: b: c\n", ["f:1:5: got text that is not YAML (mapping values are not allowed"]),
]


@pytest.mark.parametrize(("text", "fragments"), [row[1:] for row in BAD], ids=[row[0] for row in BAD])
def test_bad_text_is_refused_in_words(text: str, fragments: list[str]) -> None:
    message = refused(text)
    for fragment in fragments:
        assert fragment in message
    assert "ruamel" not in message


def test_every_value_knows_its_line_and_column() -> None:
    document = parse_yaml("a: 1\r\nb:\r\n  c: [10, {d: 2}]\n", "f")
    assert document.where(("b", "c", 0)) == (3, 7)
    assert document.where(("b", "c", 1, "d")) == (3, 15)
    assert document.keys["b", "c"] == (3, 3)
    assert document.where(("b", "gone", "too")) == (3, 3)


def test_all_problems_come_in_one_pass() -> None:
    assert len(refused("a: 010\nb: 1_0\nc: !x 1\nb: 2\n").splitlines()) == 4


def test_no_more_problems_than_the_limit_are_collected() -> None:
    assert len(refused("a: [" + "010, " * 1000 + "]").splitlines()) == 50


YAML_LIKE = st.text(
    st.sampled_from(list("ab1.:-,[]{}&*!|>'\"%#?@`\\ \n\t\r~=<_0eé\ufeff\x85\u2028\U0001f600")), max_size=60
)


@settings(max_examples=400)
@given(st.one_of(st.text(max_size=60), YAML_LIKE))
@example("a: !!binary x")
@example("%YAML 9.9\n---\n")
@example("? ? ? a")
@example("a: |9\n x")
@example('"\\U00110000"')
@example('a: "\\xZZ"')
def test_any_text_is_read_or_refused(text: str) -> None:
    with suppress(InputError):
        assert isinstance(parse_yaml(text, "f").data, dict)


@pytest.mark.parametrize("text", ["- " * 9999, "? " * 9999, "[" * 9999, "{a: " * 9999, "a: &x\n" * 9999, "!" * 65_000])
def test_bombs_end_soon(text: str) -> None:
    start = time.process_time()
    refused(text)
    assert time.process_time() - start < 5
