# ruff: noqa: E501 - tables
"""Mutations of good sweep, cluster and point files: each is read or refused in words, soon and in little memory.

Texts are cut, doubled, reversed and sprinkled with tokens that trip parsers; documents lose, swap and gain values at
any depth. The default run takes seconds; `-m slow` takes two minutes for each kind of files.
"""

from __future__ import annotations

import copy
import json
import os
import random
import re
import resource
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.cluster.file import parse_cluster
from pipeline.documents.files import decode
from pipeline.documents.points import parse_points
from pipeline.documents.yaml import parse_yaml
from pipeline.errors import InputError
from pipeline.plan.plan import plan
from pipeline.robot_files.importing import parse_tree
from pipeline.robot_files.reader import parse_robot
from pipeline.sweep.model import Sweep
from robots import catalog
from robots.formats import writing
from robots.formats.description import describe
from tests.bad_inputs.rows import GOOD
from tests.pipeline.robot_files.arm import ARM
from tests.pipeline.robot_files.test_reader import FIVE_BAR
from tests.pipeline.robot_files.test_urdf import ARM as URDF
from tests.pipeline.robot_files.test_urdf import FOUR_BAR
from tests.pipeline.sweep.axes.test_conditions import DESIGN, HEAD, ROBOTS, SUBSETS, TAIL
from tests.robots.formats.urdfs import tree

ROOT = Path(__file__).parents[2]
SECONDS = "LIMBSWEEP_FUZZ_SECONDS"
"""Quantity with the seconds of a kind of files, 120 without it."""

LIMIT = 10
"""Processor seconds in which a single file has to be read or refused; most take milliseconds."""

SWEEPS = [GOOD, HEAD + DESIGN + TAIL + SUBSETS + "seed: 3\nsubset: odd\n", ROBOTS + "robot: delta_3r2us\n" + TAIL]
SWEEPS += [path.read_text() for path in sorted((ROOT / "examples").glob("*.yaml"))]
CLUSTERS = [
    (ROOT / "cluster.yaml").read_text(),
    "limbsweep: {cluster: {kind: address, address: 'tcp://127.0.0.1:1'}}\n",
]
POINTS = ["t,x,y,z\n0,0,0,0\n1,0.1,-2e-3,0\n2,0,0,+.5\n", (ROOT / "examples" / "waypoints.csv").read_text()]

ROBOT_FILES = [ARM, FIVE_BAR, writing.text(describe(catalog.build("three_loop_leg")))]
URDFS = [URDF, FOUR_BAR, tree(1, 3)]

SPARKS = [
    "", " ", "\t", "\n", "\r", ":", ": ", "- ", "? ", "[", "]", "{", "}", "'", '"', "#", "&a ", "*a", "<<: *a", "!!binary ", "|", ">-",
    "%YAML 1.1\n", "---\n", "...\n", "~", "null", "true", "no", "1e999", ".nan", "-0", "0x", "1_0", "9" * 70, "1:30", "\ufeff", "\0",
    "\u202e", "e\u0301", "\ud7ff", "\U0001f600", "limbsweep", "robot", "grid", "where", "(" * 99, "** 9", "sin(", "<", "/>", "&lt;", "<!DOCTYPE a>", "<link/>", "turn", "along", "upper_arm", "nan", "a" * 300,
]  # fmt: skip
VALUES: list[Any] = [
    None, True, False, 0, -1, 1, 2**64, 10**30, 0.5, -0.0, 1e300, 1e-300, "", "x", "1", "upper_arm < 1", "yes", [], [[]], {}, [0.2, 0.3],
    {"": 1}, {"start": 0, "stop": 1, "num": 10**9}, {"where": ["1 < 2"]}, {"values": [1] * 99}, "circle", "../p.csv", [None], {"x": {"x": {}}},
]  # fmt: skip


@contextmanager
def time_limit(seconds: int) -> Iterator[None]:
    """Ends what hangs with an error that says so."""

    def expired(*_: object) -> None:
        raise AssertionError(f"not read or refused within {seconds} s")

    before = signal.signal(signal.SIGPROF, expired)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def read_sweep(text: str) -> None:
    made = plan(Sweep.from_text(text, "f", ROOT / "examples"))
    assert len(made.sweep.fingerprint) == 64
    made.sweep.designs(0, 1)


def read_robot(text: str) -> None:
    made = parse_robot(text, "f")
    assert parse_robot(writing.text(made), "g") == made


READERS: dict[str, tuple[list[str], Callable[[str], object]]] = {
    "sweep": (SWEEPS, read_sweep),
    "cluster": (CLUSTERS, lambda text: parse_cluster(parse_yaml(text, "f"))),
    "robot": (ROBOT_FILES, read_robot),
    "urdf": (URDFS, lambda text: parse_tree(text.encode(), "f").description().family.reference),
    "points": (POINTS, lambda text: parse_points(text, "f", ("t", "x", "y", "z"))),
}


def read_or_refused(reader: Callable[[str], object], data: bytes) -> bool:
    """Return whether the bytes were read; check the length of the message if they were refused."""
    with time_limit(LIMIT):
        try:
            reader(decode(data, "f"))
            return True
        except InputError as error:
            lines = str(error).splitlines()
            assert 1 <= len(lines) <= 51
            assert all(len(line) < 4000 for line in lines)
            assert all(": got " in line or line.startswith("... and") for line in lines)
            return False


# bytes and text


def mutated_text(text: str, dice: random.Random) -> bytes:
    """A text after a few accidents: most exchange a word, which leaves valid YAML, the others respect nothing."""
    for _ in range(dice.choice([1, 1, 1, 2, 5])):
        words = [match.span() for match in re.finditer(r"[\w.-]+", text)] or [(0, len(text))]
        start, stop = dice.choice(words)
        if dice.random() < 0.6:
            other = dice.choice(words)
            piece = dice.choice([text[slice(*other)], text[start:stop][::-1], "-1", "0", "1e9", "x", "true"])
        else:
            start = dice.randrange(len(text) + 1)
            stop = min(len(text), start + dice.choice([0, 0, 1, 3, 10, 80]))
            piece = dice.choice([dice.choice(SPARKS), text[start:stop] * 2, text[start:stop][::-1]])
        text = text[:start] + piece + text[stop:]
    data = bytearray(text.encode("utf-8", "surrogatepass"))
    if data and dice.random() < 0.1:
        data[dice.randrange(len(data))] = dice.randrange(256)
    return bytes(data)


@pytest.mark.parametrize("kind", list(READERS))
@settings(max_examples=100)
@given(seed=st.integers(0, 2**32))
def test_a_mutated_text_is_read_or_refused(kind: str, seed: int) -> None:
    texts, reader = READERS[kind]
    dice = random.Random(seed)
    read_or_refused(reader, mutated_text(dice.choice(texts), dice))


# structure


def places(node: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Paths of all values of a document."""
    for key, value in node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ():
        yield (*path, key)
        yield from places(value, (*path, key))


def mutated_data(data: Any, dice: random.Random) -> Any:
    """A document that lost, exchanged, renamed or gained values."""
    for _ in range(dice.choice([1, 1, 2, 4])):
        known = list(places(data))
        if not known:
            return data
        *above, last = dice.choice(known)
        node = data
        for key in above:
            node = node[key]
        other: Any = data
        for key in dice.choice(known):
            other = other[key]
        other, how = copy.deepcopy(other), dice.randrange(4)
        if how == 0:
            del node[last]
        elif how == 1 and isinstance(node, dict):
            node[dice.choice([str(last) + "x", str(last)[:-1] or "y", "where", "grid", "values"])] = node.pop(last)
        else:
            node[last] = copy.deepcopy(dice.choice(VALUES)) if how == 2 else other
        data = parse_yaml(dumped(data), "f").data
    return data


def dumped(data: Any) -> str:
    """A document as YAML text."""
    return json.dumps(data, ensure_ascii=False, indent=1)


@pytest.mark.parametrize("kind", ["sweep", "cluster", "robot"])
@settings(max_examples=100)
@given(seed=st.integers(0, 2**32))
def test_a_mutated_document_is_read_or_refused(kind: str, seed: int) -> None:
    texts, reader = READERS[kind]
    dice = random.Random(seed)
    try:
        data = mutated_data(parse_yaml(dice.choice(texts), "f").data, dice)
    except InputError:  # an earlier accident made a key or a number that no file may hold
        return
    read_or_refused(reader, dumped(data).encode("utf-8", "surrogatepass"))


def documents() -> list[dict[str, Any]]:
    """Sweep files of the examples and the pages."""
    pages = sorted((ROOT / "docs").rglob("*.md"))
    texts = [block for page in pages for block in re.findall(r"```yaml\n(.*?)```", page.read_text(), re.DOTALL)]
    texts = [text for text in texts if text.startswith("limbsweep: 1\nrobot: ")]
    return [parse_yaml(text, "f").data for text in (*SWEEPS[3:], *texts)]


@pytest.mark.slow
def test_sections_of_several_files_in_one_are_read_or_refused() -> None:
    """Sections that no file has together, some with mistakes: a mistake in one hides nothing and stops no other."""
    known, seed = documents(), random.SystemRandom().randrange(2**32)
    dice, until = random.Random(seed), time.monotonic() + float(os.environ.get(SECONDS, "120"))
    while time.monotonic() < until:
        data = copy.deepcopy(dice.choice(known))
        for other in dice.choices(known, k=dice.randint(1, 4)):
            section = dice.choice([key for key in other if key not in ("limbsweep", "robot")])
            data[section] = copy.deepcopy(other[section])
        try:
            data = mutated_data(data, dice) if dice.random() < 0.6 else data
        except InputError:
            continue
        text = dumped(data)
        try:
            read_or_refused(read_sweep, text.encode("utf-8", "surrogatepass"))
        except Exception as error:
            raise AssertionError(f"a mixture of seed {seed}: {text}") from error


@pytest.mark.slow
@pytest.mark.parametrize("kind", list(READERS))
def test_many_mutations_in_little_memory(kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    texts, reader = READERS[kind]
    seed = random.SystemRandom().randrange(2**32)
    dice, read = random.Random(seed), 0
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    until = time.monotonic() + float(os.environ.get(SECONDS, "120"))
    for number in count():
        if time.monotonic() > until:
            break
        text = dice.choice(texts)
        try:
            data = mutated_text(text, dice)
            if number % 2 and kind not in ("points", "urdf"):
                data = dumped(mutated_data(parse_yaml(text, "f").data, dice)).encode("utf-8", "surrogatepass")
        except InputError:
            continue
        try:
            read += read_or_refused(reader, data)
        except Exception as error:
            raise AssertionError(f"mutation {number} of seed {seed}: {data!r}") from error
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    assert grown < 400
    with capsys.disabled():
        print(f"\n{number} mutations of {kind} files, seed {seed}: {read} read, {grown:.0f} MiB more")


def test_the_mutations_reach_what_lies_behind_the_parser() -> None:
    dice, kinds = random.Random(1), {"read": 0, "refused": 0, "no yaml": 0}
    for _ in range(200):
        data = mutated_text(GOOD, dice)
        try:
            parse_yaml(decode(data, "f"), "f")
        except InputError:
            kinds["no yaml"] += 1
        else:
            kinds["read" if read_or_refused(read_sweep, data) else "refused"] += 1
    assert min(kinds.values()) > 20
