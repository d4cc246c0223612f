"""Verify that a store holds the computed bits: read everything, compute a share again, repair damage.

`storage.integrity` finds damaged files; this module computes blocks again.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from pathlib import Path

from pipeline.cluster.arguments import ClusterLike, as_cluster
from pipeline.cluster.connection import connect
from pipeline.cluster.file import device_of
from pipeline.documents.writing import table
from pipeline.errors import ClusterLostError, RunStoppedError, size
from pipeline.execution.admission import admit
from pipeline.execution.contents import plan_at
from pipeline.execution.device import on_device
from pipeline.execution.executors import make_executor
from pipeline.execution.run import run
from pipeline.monitor.progress import counted
from pipeline.stores.recompute import differing, uncomputable
from pipeline.stores.repair import check_derived, repair_files, repair_manifest
from pipeline.sweep.stored import stored_sweep
from robots.arguments import check_arguments
from robots.data_classes import dataclass, replace
from storage.errors import StoreError
from storage.growth import manifest_in_force
from storage.integrity import (
    StoreDamage,
    check_blocks,
    check_files,
    check_ledger,
    foreign_files,
    open_for_repair,
    receipts_of,
)
from storage.later import later_text
from storage.ledger import Receipt
from storage.manifest import Manifest
from storage.places.access import locate
from storage.places.location import Location, LocationLike
from storage.signature import SIGNATURE, signature_problem


@dataclass(frozen=True)
class Verification:
    """Result of a verification of a store: the extent of the check, and the findings.

    `recomputed`: blocks that were computed again, chosen with `seed`. `repaired`: blocks that a repair has computed;
    `findings` are then the remaining ones. `restored`: files of metadata that the repair has made again. `foreign`:
    files in the store that do not belong to it. They are no damage, because nothing reads them. `later`: the variables
    that only a later version knows, as text; empty without such variables.
    """

    store: str
    blocks: int
    bytes: int
    findings: tuple[StoreDamage, ...]
    seed: int
    recomputed: tuple[int, ...] = ()
    repaired: tuple[int, ...] = ()
    restored: tuple[str, ...] = ()
    foreign: tuple[str, ...] = ()
    later: str = ""

    @property
    def is_sound(self) -> bool:
        """Return whether there are no findings."""
        return not self.findings

    def _repr_html_(self) -> str:
        """Return the HTML table that notebooks show."""
        return table(f"verification of {self.store}", self.rows())

    def rows(self) -> Iterator[tuple[str, str]]:
        """Yield the rows that `limbsweep verify` prints."""
        yield "blocks", f"{self.blocks:,} read, {size(self.bytes)} before compression"
        if self.recomputed:
            yield "computed again", f"{counted(len(self.recomputed), 'block')}, seed {self.seed}"
        if self.repaired:
            yield "repaired", f"blocks {', '.join(map(str, self.repaired))}"
        for file in self.restored:
            yield "made again", file
        for file in self.foreign:
            yield "foreign", file
        if self.later:
            yield "later version", self.later
        for finding in self.findings:
            yield finding.kind, str(finding)
        yield "result", "sound" if self.is_sound else counted(len(self.findings), "finding")


@check_arguments
def verify(
    store: LocationLike,
    recompute: float = 0.0,
    seed: int | None = None,
    *,
    repair: bool = False,
    cluster: ClusterLike = None,
    folder: str | Path = ".",
    signed_by: str | Path | None = None,
) -> Verification:
    """Check everything in a store against its checksums and receipts.

    `recompute` is the share of blocks, 0 to 1, that are chosen with `seed` (absent: a new one) and computed again;
    their bits have to be the same. `repair` makes damaged metadata again from the plan, and computes damaged blocks,
    and nothing else, through a normal run on `cluster`. Files that the sweep names and the store has lost are looked up
    in `folder`. `signed_by` is the file of a public key, whose owner has to have signed the store. Raises StoreError
    for a location that is no store, or cannot be repaired, RunStoppedError where the cluster is lost.

        >>> ls.verify("out.zarr").is_sound
        True
    """
    if not 0 <= recompute <= 1:
        raise StoreError(f"recompute: got {recompute!r}; expected a share of the blocks from 0 to 1")
    place, seed = locate(store), random.randrange(2**32) if seed is None else seed
    restored = repair_manifest(place, folder) if repair else ()
    verification = _read(place, seed, folder, derived=recompute > 0)
    if repair and (files := repair_files(place, verification.findings, folder)):
        verification = _read(place, seed, folder, derived=recompute > 0)
        restored = (*restored, *files)
    later = later_text(layout) if (layout := manifest_in_force(place).layout).later else ""
    verification = replace(verification, restored=restored, later=later)
    if recompute and not any(finding.kind == "metadata" for finding in verification.findings):
        verification = _recompute(place, verification, recompute, cluster, folder)
    if repair and verification.findings and not any(finding.kind == "metadata" for finding in verification.findings):
        verification = _repair(place, verification, cluster, folder)
    if signed_by is not None and (problem := signature_problem(place, signed_by)):
        finding = StoreDamage("signature", place.at(SIGNATURE), problem)
        verification = replace(verification, findings=(*verification.findings, finding))
    return verification


def _read(place: Location, seed: int, folder: str | Path, *, derived: bool = False) -> Verification:
    """Read everything; with `derived`, coordinates and metadata are derived again as well."""
    findings = [*check_files(place), *check_ledger(place)]
    if not any(finding.kind == "metadata" for finding in findings):
        findings += check_derived(place, folder, every=derived)
    foreign = tuple(foreign_files(place))
    if any(finding.kind == "metadata" for finding in findings):  # no block can be read by metadata that are wrong
        return Verification(str(place), 0, 0, tuple(findings), seed, foreign=foreign)
    blocks = total = 0
    for block in check_blocks(place):
        blocks, total = blocks + 1, total + block.bytes
        findings += block.findings
    return Verification(str(place), blocks, total, tuple(findings), seed, foreign=foreign)


def _recompute(
    place: Location, verification: Verification, share: float, cluster: ClusterLike, folder: str | Path
) -> Verification:
    """Compute a random share of the blocks, at least one; wrong blocks and blocks with failed cases are left out."""
    plan = plan_at(stored_sweep(place, folder), place)
    wrong = {finding.block for finding in verification.findings} | uncomputable(place, plan)
    sound = [block for block in sorted(receipts_of(place, range(plan.blocks))) if block not in wrong]
    chosen = sorted(random.Random(verification.seed).sample(sound, min(len(sound), max(1, round(share * len(sound))))))
    try:
        config = as_cluster(cluster)
        with connect(config) as client:
            plan = on_device(plan, device_of(config), config.source, client)
            members, hashing = admit(client, plan, config.source), Manifest.load(place).hashing
            executor = make_executor(client, plan if members is None else members.plan, members=members)
            differences = sorted(differing(plan, receipts_of(place, chosen), executor, hashing))
    except ClusterLostError as error:
        raise RunStoppedError(f"{error}; nothing was computed again to the end") from error
    findings = tuple(
        StoreDamage("other result", str(place), f"block {block}: {text}", block) for block, text in differences
    )
    return replace(verification, findings=verification.findings + findings, recomputed=tuple(chosen))


def _repair(place: Location, verification: Verification, cluster: ClusterLike, folder: str | Path) -> Verification:
    """Compute damaged blocks, and read the store again."""
    damaged = tuple(finding for finding in verification.findings if finding.kind != "other result")
    sweep, ledger = stored_sweep(place, folder), Manifest.load(place).ledger
    old = open_for_repair(place, damaged)
    run(sweep, place, cluster)
    broken = sorted({finding.block for finding in damaged if finding.block is not None})
    again = _read(place, verification.seed, folder)
    other_results = tuple(finding for finding in verification.findings if finding.kind == "other result")
    is_as_before = ledger and Manifest.load(place).ledger == ledger  # whatever the receipts of a foreign ledger were
    changed = () if is_as_before else tuple(_changed(place, old, receipts_of(place, old)))
    findings = again.findings + other_results + changed
    return replace(verification, blocks=again.blocks, bytes=again.bytes, findings=findings, repaired=tuple(broken))


def _changed(place: Location, old: Mapping[int, Receipt], new: Mapping[int, Receipt]) -> Iterator[StoreDamage]:
    """Yield the blocks that were first computed in another way: other versions or another machine."""
    for block, receipt in new.items():
        if receipt != old[block]:
            yield StoreDamage(
                "other result", str(place), f"block {block}: repaired with other bits than at first", block
            )
