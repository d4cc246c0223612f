"""The command line of the table, called in this process."""

from __future__ import annotations

from click.testing import CliRunner

from applications.commands.cli import cli
from benchmarks.figures import require


def command(*words: object) -> str:
    """Run a command line and return its output. Raises InputError where it refuses, CheckError for other ends."""
    done = CliRunner().invoke(cli, [str(word) for word in words], prog_name="limbsweep")
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    if done.exit_code == 2:
        raise RefusedError(done.stderr or done.output)
    require(done.exit_code == 0, f"limbsweep {words[0]} ended with {done.exit_code}: {done.output[-300:]}")
    return done.output


class RefusedError(Exception):
    """A refusal by the command line, with its message."""
