"""Commands that read a store, on all hostile ones: nothing outside is written, nothing is run, nothing hangs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.hostile.answers import Watched, store_answers
from tests.hostile.commands import COMMANDS, NAME, prepared
from tests.hostile.stores import STORES

EVERY = tuple(STORES)
QUICK = EVERY[::56]
"""Sample of the stores; all of them are behind the marker `slow`."""


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Watched]:
    watched = Watched(tmp_path_factory.mktemp("watch"))
    yield watched
    watched.end()


def watch_all(watched: Watched, folder: Path, name: str) -> None:
    problems = [problem for answer in store_answers(watched, folder, name) for problem in answer.problems]
    assert not problems, "\n".join(problems)


@pytest.mark.parametrize("name", QUICK)
def test_a_hostile_store_does_nothing(name: str, watched: Watched, tmp_path: Path) -> None:
    watch_all(watched, tmp_path, name)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in EVERY if name not in QUICK])
def test_another_hostile_store_does_nothing(name: str, watched: Watched, tmp_path: Path) -> None:
    watch_all(watched, tmp_path, name)


def test_a_sound_store_is_read_by_all_commands(watched: Watched, tmp_path: Path) -> None:
    """Check the sound store: if it were refused too, the tests above would prove nothing."""
    for command, (arguments, allowed) in COMMANDS.items():
        prepared(tmp_path / command)
        done = watched.run(tmp_path / command, arguments, allowed)
        assert done["status"] == (2 if command == "drop" else 0), (command, done)
        assert done["calls"] == [], (command, done)


def test_the_watch_sees_what_it_should(watched: Watched, tmp_path: Path) -> None:
    prepared(tmp_path)
    done = watched.run(tmp_path, COMMANDS["export"][0], (NAME,))
    assert any(call.startswith("os.mkdir") for call in done["calls"])
