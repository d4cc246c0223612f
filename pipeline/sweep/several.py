"""Read the sweeps of a file: one, or one for each of its robots, each with a store of its own."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
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
    problems: dict[Problem, list[str]] = {}
    for robot, robot_text in zip(names or [""], texts, strict=True):
        try:
            sweeps.append(Sweep.from_text(robot_text, document.name, Path(path).parent))
        except InputError as error:
            for problem in error.problems:
                problems.setdefault(problem, []).append(robot)
    if problems:
        raise InputError(_with_robots(problem, robots, len(texts)) for problem, robots in problems.items())
    return tuple(sweeps)


def _with_robots(problem: Problem, robots: Sequence[str], count: int) -> Problem:
    """A problem with the robots that have it, where others have not and it does not stand in a section of its own."""
    if len(robots) == count or problem.key.startswith("robots."):
        return problem
    return replace(problem, hint=f"{problem.hint} This is so for {', '.join(robots)}.".strip())
