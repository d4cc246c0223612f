"""Pages as programs: the blocks of a Markdown page, and how they are run in a folder of their own.

What is run: each `python` block, in one namespace for the page, and each line of a `sh` or an indented block that
begins with `limbsweep`, in the order of the page. Comments in front of a block say what is different:

    <!-- file: NAME -->          the block is the file NAME, there before anything runs
    <!-- not run: REASON -->     the block is for reading

Those of the how-to pages are in `tests/test_howto.py`, which runs them.

Every page starts in a folder with the examples of the repository.
"""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
from click.testing import CliRunner

from applications.commands.cli import cli

ROOT = Path(__file__).parent.parent
_NOTE = re.compile(r"<!-- (file|not run|in|run)(?:: (.+?))? -->")
_FENCE = re.compile(r"(\s*)```([^`\s]*)[^`]*$")


@dataclass(frozen=True)
class Block:
    """A block of a page: its line in the page, its language (`sh` if it is indented), its text, the note before it."""

    line: int
    language: str
    text: str
    note: tuple[str, str] = ("", "")

    def commands(self) -> list[list[str]]:
        """Return the words after `limbsweep` in each of its lines, without comments."""
        lines = [line for line in self.text.splitlines() if self.language == "sh" and line.startswith("limbsweep ")]
        return [shlex.split(line, comments=True)[1:] for line in lines]


def pages() -> list[str]:
    """The pages of `docs` and those at the top of the repository, without what is built of them."""
    found = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    return sorted(path.relative_to(ROOT).as_posix() for path in found if "_build" not in path.parts)


def open_tables(text: str) -> list[int]:
    """Return the numbers of lines that begin a table without a separator below its head: it is shown as plain text."""
    fenced = {n for block in blocks(text) for n in range(block.line, block.line + block.text.count("\n") + 1)}
    lines = {n: line for n, line in enumerate(text.splitlines(), start=1) if n not in fenced}
    heads = [n for n, line in lines.items() if line.startswith("|") and not lines.get(n - 1, "").startswith("|")]
    return [n for n in heads if not re.fullmatch(r"\|(:?-+:?\|)+", lines.get(n + 1, "").replace(" ", ""))]


def blocks(text: str) -> Iterator[Block]:
    """The blocks of a page, in order. Raises ValueError for a note without a block, and for a fence left open."""
    note, lines = ("", ""), iter(enumerate(text.splitlines(), start=1))
    blank = True
    for number, line in lines:
        if found := _NOTE.fullmatch(line.strip()):
            note = (found[1], found[2] or "")
        elif fence := _FENCE.match(line):
            yield Block(number, fence[2], _fenced(lines, number, len(fence[1])), note)
            note = ("", "")
        elif blank and line.startswith("    "):
            yield Block(number, "sh", line.strip() + "\n" + _indented(lines), note)
            note = ("", "")
        elif line.strip() and note[0]:
            raise ValueError(f"line {number}: got {line!r} after the note {note}; expected a block")
        blank = not line.strip()


def _fenced(lines: Iterator[tuple[int, str]], start: int, indent: int) -> str:
    held = []
    for _, line in lines:
        if line.strip() == "```":
            return "\n".join(held) + "\n"
        held.append(line[indent:])
    raise ValueError(f"line {start}: got a fence that stays open; expected ``` on a line of its own")


def _indented(lines: Iterator[tuple[int, str]]) -> str:
    held = []
    for _, line in lines:
        if not line.startswith("    "):
            break
        held.append(line.strip())
    return "\n".join(held)


def prepare(folder: Path, text: str) -> None:
    """Put the examples and the files of a page into a folder."""
    shutil.copytree(ROOT / "examples", folder / "examples")
    for block in blocks(text):
        kind, name = block.note
        if kind == "file":
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(block.text, "utf-8")


def run_page(name: str, text: str) -> dict[str, Any]:
    """Run a page in the folder that is the working one; the names that its Python has made."""
    space: dict[str, Any] = {"__name__": "page"}
    for block in blocks(text):
        if block.note[0]:
            continue
        for command in block.commands():
            run_command(command, f"{name}:{block.line}")
        if block.language == "python":
            # on its own line, so that a traceback says where in the page
            exec(compile("\n" * block.line + block.text, name, "exec"), space)
    return space


def run_command(words: Sequence[str], where: str) -> None:
    """Run a command line in this process; an exit status other than 0 fails the test with what was printed."""
    done = CliRunner().invoke(cli, words, prog_name="limbsweep", catch_exceptions=False)
    assert done.exit_code == 0, f"{where}: limbsweep {shlex.join(words)}\n{done.output}"


def mentioned(text: str) -> list[list[str]]:
    """The words of all commands that a page mentions, in blocks or between backticks."""
    spans = re.findall(r"`limbsweep ([^`]+)`", text)
    return [*(span.split() for span in spans), *(words for block in blocks(text) for words in block.commands())]


def unknown(words: Sequence[str]) -> list[str]:
    """Return the unknown command or the unknown options of a command line."""
    group: click.Command = cli
    rest = list(words)
    while isinstance(group, click.Group):
        if not rest or rest[0].startswith("-"):
            return []
        if rest[0] not in group.commands:
            return [rest[0]]
        group = group.commands[rest.pop(0)]
    known = {name for parameter in group.params for name in (*parameter.opts, *parameter.secondary_opts)}
    return [each for each in rest if re.match(r"--\w", each) and each.partition("=")[0] not in known | {"--help"}]


def links(text: str) -> list[str]:
    """Targets of the links and pictures of a page that are not addresses, without their anchors."""
    found = re.findall(r"\]\(([^)\s]+)\)", text)
    return [link for link in found if not re.match(r"[a-z]+:", link)]


def anchors(text: str) -> set[str]:
    """The names under which the headings of a page can be linked."""
    heads = re.findall(r"^#{1,6} (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.lower()).strip().replace(" ", "-") for head in heads}
