"""Commands about what is stored: append, verify, info."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from pipeline.execution.graph import Granularity
    from pipeline.sweep.model import Sweep
from applications.commands.runs import end, options, run_sweep, say_failed
from applications.commands.terminal import CLUSTER, GRANULARITY, STORE, SUBSET, cluster_in, print_rows, sweeps_in


@click.command()
@STORE
@click.argument("sweep", type=click.Path(path_type=Path), required=False)
@SUBSET
@CLUSTER
@GRANULARITY
@click.option("--drop", is_flag=True, help="Drop an interrupted append; STORE is as before it.")
def append(
    store: str,
    sweep: Path | None,
    subset: str | None,
    cluster: Path | None,
    granularity: Granularity | None,
    drop: bool,
) -> None:
    """Add the further designs or friction sets of SWEEP to STORE, without computing existing blocks again."""
    from pipeline.monitor.status import failed_cases

    if drop == (sweep is not None):
        raise click.UsageError("append needs a SWEEP, or --drop without one")
    if sweep is None:
        from pipeline.stores.append import drop as drop_growth

        drop_growth(store)
        click.echo(f"{store} is as it was before the append")
        return
    again = shlex.join(["limbsweep", "append", store, str(sweep), *options(subset, cluster, granularity)])
    parsed = sweeps_in(sweep, subset)
    blocks = run_sweep("append", _of_robot(parsed, store), store, cluster_in(cluster), granularity, again)
    nothing = say_failed(store)
    click.echo(f"results in {store}")
    end(store, blocks, len(failed_cases(store)), again)
    if nothing:
        raise click.exceptions.Exit(1)


def _of_robot(sweeps: tuple[Sweep, ...], store: str) -> Sweep:
    """Choose the sweep of the store's robot, or any one, which is then refused with the difference."""
    from storage.manifest import Manifest

    robot = Manifest.load(store).attributes.get("robot")
    return next((sweep for sweep in sweeps if sweep.robot == robot), sweeps[0])


@click.command()
@STORE
@click.option("--recompute", type=click.FloatRange(0, 1), default=0.0, help="Share of the blocks to compute again.")
@click.option("--seed", type=click.IntRange(0), help="Seed of their choice; default: another every time.")
@click.option("--repair", is_flag=True, help="Compute damaged blocks alone.")
@click.option("--signed-by", type=click.Path(path_type=Path), help="Public key of the signature of STORE.")
@CLUSTER
def verify(
    store: str, recompute: float, seed: int | None, repair: bool, signed_by: Path | None, cluster: Path | None
) -> None:
    """Check all of STORE against its checksums and receipts; exit status 1 for any fault."""
    from pipeline.stores.verify import verify

    verification = verify(store, recompute, seed, repair=repair, cluster=cluster, signed_by=signed_by)
    print_rows(verification.rows())
    if not verification.is_sound:
        raise click.exceptions.Exit(1)


@click.command()
@STORE
@click.option("--key", required=True, type=click.Path(path_type=Path), help="Private key (ed25519).")
def sign(store: str, key: Path) -> None:
    """Sign STORE with a key of yours: `verify --signed-by` then finds deliberate changes."""
    from storage.signature import sign

    click.echo(f"wrote {sign(store, key)}")


@click.command()
@STORE
def info(store: str) -> None:
    """Describe the content of STORE."""
    from pipeline.stores import recompute as info
    from storage import open_results
    from storage.integrity import require_sound_metadata

    require_sound_metadata(store)
    print_rows(info.rows(open_results(store, unfinished=True), store))
