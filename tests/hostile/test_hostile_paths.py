"""Commands with something that is no file of theirs where a file, folder or store is named: each ends in a sentence."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from pathlib import Path

import pytest

from tests.hostile import path_commands
from tests.hostile.answers import Watched, path_answer
from tests.hostile.path_commands import COMMANDS, FILES

EVERY = tuple(product(FILES, COMMANDS))
STRIDE = 57
"""One of so many pairs is in every run; it has no factor in common with the number of commands."""


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Watched]:
    watched = Watched(tmp_path_factory.mktemp("watch"), path_commands.__name__)
    yield watched
    watched.end()


@pytest.mark.parametrize("line", ["sign s.zarr --key FILE", "verify s.zarr --signed-by FILE"])
def test_a_pipe_in_the_place_of_a_key_is_not_waited_for(line: str, watched: Watched, tmp_path: Path) -> None:
    assert path_answer(watched, tmp_path, "a pipe", line).problems == ()


@pytest.mark.parametrize(("name", "line"), EVERY[::STRIDE])
def test_what_is_no_file_ends_in_a_sentence(name: str, line: str, watched: Watched, tmp_path: Path) -> None:
    assert path_answer(watched, tmp_path, name, line).problems == ()


@pytest.mark.slow
@pytest.mark.parametrize("name", FILES)
def test_what_is_no_file_ends_in_a_sentence_of_each_command(name: str, watched: Watched, tmp_path: Path) -> None:
    problems = [problem for line in COMMANDS for problem in path_answer(watched, tmp_path, name, line).problems]
    assert not problems, "\n".join(problems)
