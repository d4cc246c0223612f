"""Refusals of commands and their exit statuses, and the group of commands that turns exceptions into them."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import click

from pipeline.errors import InputError, RunCancelledError, RunStoppedError, size, visible
from pipeline.execution.processes.signals import exit_status
from robots.extras import MissingExtraError
from robots.parameter_errors import ParameterError, nearest
from storage.errors import StoreError

BAD_INPUT = (InputError, MissingExtraError, ParameterError, StoreError)


class Refused(click.ClickException):
    """Misuse or bad input: the message as it stands, exit status 2."""

    exit_code = 2

    def show(self, file: object = None) -> None:
        """Print the message without a traceback."""
        with suppress(OSError):  # of a terminal that has gone
            click.echo(visible(self.message), err=True)


class Interrupted(Refused):
    """Ctrl-C, or a signal of the system: exit status 128 and its number."""

    exit_code = 130


class Incomplete(Refused):
    """A run that ended before its sweep did: exit status 1."""

    exit_code = 1


class CommandGroup(click.Group):
    """Commands that turn refusals into exit statuses, and know the nearest name of a misspelt command."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command; raise UsageError with the nearest name for an unknown one."""
        if not args[0].startswith("-") and args[0] not in self.commands:
            raise click.UsageError(f"no command {args[0]!r}; {nearest(args[0], self.commands)}", ctx)
        return super().resolve_command(ctx, args)

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: object
    ) -> click.Context:
        """Read the arguments, and print help or version where these are asked for."""
        with refused_errors():
            return super().make_context(info_name, args, parent, **extra)

    def invoke(self, ctx: click.Context) -> object:
        """Run the command."""
        with refused_errors():
            return super().invoke(ctx)


@contextmanager
def refused_errors() -> Iterator[None]:
    """Turn exceptions of a command that are no mistakes of ours into its exit status and one line."""
    try:
        yield
    except BAD_INPUT as error:
        raise Refused(str(error)) from None
    except RunStoppedError as error:
        raise stopped(error) from None
    except KeyboardInterrupt as error:
        raise interrupted(error) from None
    except BrokenPipeError:
        # the reader of the output has gone
        _leave_output()
        raise click.exceptions.Exit(141) from None
    except (MemoryError, ImportError, OSError) as error:
        if isinstance(error, OSError) and error.errno in FULL and error.filename is None:
            _leave_output()
            raise Refused(f"standard output cannot be written: {error.strerror}") from None
        if not isinstance(error, MemoryError) and not any(text in str(error) for text in _NO_MEMORY):
            raise
        limit = address_space_limit()
        here = "on this machine" if limit is None else f"within the limit of {size(limit)} (ulimit -v)"
        raise Refused(f"not enough memory {here}; expected {NEEDED}; end other programs or raise the limit") from None


FULL = (errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EFBIG)
"""Errors of a device that takes no more of the output."""

NEEDED = "about 1 GiB for a small sweep"

_NO_MEMORY = ("failed to map segment", "Cannot allocate memory", "libllvmlite")
"""Parts of the messages of libraries that find no memory to be loaded."""


def address_space_limit() -> int | None:
    """Return the limit on the memory of this process [bytes]; None without one, or where the system has none."""
    try:
        import resource
    except ImportError:  # on Windows
        return None
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    return None if limit == resource.RLIM_INFINITY else limit


def _leave_output() -> None:
    """Write further output nowhere; Python would raise again when it flushes at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def interrupted(error: KeyboardInterrupt, again: str = "") -> Interrupted:
    """Return the end of a command that Ctrl-C or another signal has interrupted."""
    end = Interrupted((str(error) or "interrupted") + (f"; go on with: {again}" if again else ""))
    end.exit_code = exit_status(error)  # type: ignore[misc]  # of this one, not of its class
    return end


def stopped(error: RunStoppedError, again: str = "") -> Refused:
    """Return the end of a command whose run has stopped."""
    kind = Interrupted if isinstance(error, RunCancelledError) else Incomplete
    return kind(f"{error}" + (f"\ngo on with: {again}" if again else ""))
