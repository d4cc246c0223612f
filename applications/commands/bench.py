"""Body of the command bench: the benchmarks, which stand above all packages and are found where they are installed."""

from __future__ import annotations

import click

from benchmarks import against as other
from benchmarks import cases


def bench(names: tuple[str, ...], as_json: bool, quick: bool, record: bool, against: str | None, turns: int) -> None:
    """Run benchmark cases here, or by turns with another commit."""
    if record and quick:
        raise click.UsageError("--record: got --quick as well, whose times mean nothing; leave one of them out")
    if against is None:
        cases.main(json=as_json, quick=quick, record=record, names=names)
        return
    if as_json or record:
        raise click.UsageError("--against: got --json or --record as well; leave them out, it prints a table of ratios")
    cases.check(names)
    if not other.show(against, names, turns=turns, quick=quick):
        raise click.exceptions.Exit(1)
