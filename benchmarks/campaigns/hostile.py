"""Commands on hostile robot files, stores and paths, each watched: processor time, memory, and faults.

`python -m benchmarks.campaigns.hostile [robots|stores|paths] [--every N]` prints a line for each file: the slowest and
the largest of its commands. Nothing may run, nothing outside may be read or written, and each command has to end in a
sentence within 10 s of processor time, and 1 GiB for robot files. The status is 1 where one did not.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path
from typing import Any

from tests.hostile import commands, path_commands, robot_commands
from tests.hostile.answers import Answer, Watched, path_answers, robot_answers, store_answers
from tests.hostile.robots import ROBOTS
from tests.hostile.stores import STORES

KINDS: dict[str, tuple[Any, str, Any]] = {
    "robots": (ROBOTS, robot_commands.__name__, robot_answers),
    "stores": (STORES, commands.__name__, store_answers),
    "paths": (path_commands.FILES, path_commands.__name__, path_answers),
}
"""Files by name, module of the commands, and the function that gives their answers."""


def main(words: list[str] | None = None) -> int:
    """Run the campaign; 1 where a command did not answer as it should."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.campaigns.hostile", description=__doc__)
    parser.add_argument("kind", choices=KINDS, nargs="?", default="robots")
    parser.add_argument("--every", type=int, default=1, help="every so many files")
    options = parser.parse_args(words)
    files, module, answers_of = KINDS[options.kind]
    answers: list[Answer] = []
    with tempfile.TemporaryDirectory(prefix="hostile-") as folder:
        watched = Watched(Path(folder), module)
        for name in list(files)[:: options.every]:
            found = list(answers_of(watched, Path(folder), name))
            print(f"{_figures(found)}  {name}", flush=True)
            for problem in (problem for answer in found for problem in answer.problems):
                print(f"  {problem}", flush=True)
            answers += found
        watched.end()
    faults = sum(bool(answer.problems) for answer in answers)
    print(f"{_figures(answers)}  of {len(answers)} commands; {faults} did not answer as they should")
    return int(faults > 0)


def _figures(answers: list[Answer]) -> str:
    """Return the slowest and the largest of some answers."""
    slow = max(answers, key=lambda answer: answer.seconds)
    large = max(answers, key=lambda answer: answer.memory)
    return f"{slow.seconds:5.1f} s ({slow.command:8}) {large.memory:5} MiB ({large.command:8})"


if __name__ == "__main__":
    sys.exit(main())
