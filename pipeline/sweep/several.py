"""Read the sweeps of a file: one, or one for each of its robots, each with a store of its own."""

from __future__ import annotations

import os
from pathlib import Path

from pipeline.documents.files import read_yaml
from pipeline.errors import InputError, Problem
from pipeline.sweep.choices import choose
from pipeline.sweep.model import Sweep


def read_sweeps(path: str | os.PathLike[str], subset: str | None = None) -> tuple[Sweep, ...]:
    """Read the sweeps of a file, in the order of its robots; `subset` is the name of a part to take.

    Each has a text of its own, from which it can be read again. Raises InputError with the problems of all of them.

        >>> [sweep.robot for sweep in ls.read_sweeps("sweep.yaml")]
        ['delta_3rr2rrr']
    """
    document = read_yaml(path)
    text = choose(document.text, "subset", subset, document.name) if subset else document.text
    robots = document.data.get("robots")
    several = robots if "robot" not in document.data and isinstance(robots, list | dict) and len(robots) > 1 else ()
    names = [name for name in several if isinstance(name, str)]
    texts = [choose(text, "robot", name, document.name) for name in names] or [text]
    sweeps: list[Sweep] = []
    problems: dict[Problem, None] = {}
    for robot_text in texts:
        try:
            sweeps.append(Sweep.from_text(robot_text, document.name, Path(path).parent))
        except InputError as error:
            problems |= dict.fromkeys(error.problems)
    if problems:
        raise InputError(problems)
    return tuple(sweeps)
