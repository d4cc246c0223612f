"""Repair metadata of a store from its plan: the sweep decides every file but the results.

The manifest and the metadata of the group each hold the text of the sweep, so each can be made again from the other;
metadata of arrays and coordinates follow from the plan, side files are taken from the folder. Blocks are computed again
in `pipeline.stores.verify`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from pipeline.errors import InputError
from pipeline.execution.contents import contents, plan_at
from pipeline.plan.model import Plan
from pipeline.plan.plan import plan
from pipeline.sweep.model import Sweep
from pipeline.sweep.side_files import Folder, StoredFiles
from pipeline.sweep.stored import SWEEP_FINGERPRINT, functions_of, stored_sweep
from storage.completion import finish
from storage.encoding.checksums import Hashing, checksum
from storage.encoding.documents import MAX_BYTES, METADATA, parse_json
from storage.errors import StoreError, cause
from storage.files import Files
from storage.growth import FOLDER, is_growing, manifest_in_force
from storage.integrity import StoreDamage
from storage.layout import Layout
from storage.ledger import LEDGER, Ledger, generation_name, receipts
from storage.manifest import MANIFEST, Attributes, Manifest
from storage.places.access import coordinator_lock
from storage.places.location import Location, refusals
from storage.schema import older_units
from storage.sources import FOLDER as SOURCES
from storage.store import describe, metadata, same_values
from storage.writer import require_form

ON_TRUST = ("versions", "created")
"""Attributes that no sweep gives: with which versions a store was computed, and when."""

OF_FUNCTIONS = ("own_metrics", SWEEP_FINGERPRINT, "fingerprint")
"""Attributes that follow from functions of a user's own, which a store does not keep."""

LOST = "restore both from a copy, or run the sweep into a new store"


def repair_files(place: Location, findings: Iterable[StoreDamage], folder: str | Path) -> tuple[str, ...]:
    """Make damaged or missing metadata and coordinates again; return the names of these files.

    Their checksums go to the manifest, in case another version of Zarr spells the same otherwise. Raises StoreError for
    a store that is being made larger or held by a run, InputError where its sweep cannot be read.
    """
    broken = [finding.file for finding in findings if finding.kind == "metadata"]
    if not broken:
        return ()
    _require_settled(place)
    manifest, sweep = Manifest.load(place), stored_sweep(place, folder)
    planned = plan_at(sweep, place)
    described, attributes = contents(planned), manifest.attributes.values
    if place.at(MANIFEST) in broken:
        attributes = derived_attributes(described["attributes"], manifest)
        broken.append(place.at(METADATA))  # which has the same attributes
    files = _files(planned.layout, described, attributes)
    keys = [key for key in files if place.at(key) in broken]
    with coordinator_lock(place), refusals(place):
        for key in keys:
            place.write(key, (files[key],))
        sums = {key: checksum(key, files[key]) for key in keys}
        replace(manifest, files={**manifest.files, **sums}, attributes=Attributes(attributes)).save(place)
    restored = [MANIFEST] if place.at(MANIFEST) in broken else []
    return tuple(place.at(key) for key in (*restored, *keys))


def check_derived(place: Location, folder: str | Path, *, every: bool) -> Iterator[StoreDamage]:
    """Derive coordinates, metadata, sources and attributes again from the stored sweep, and compare.

    Checksums prove that files match the manifest, not that the manifest is right. `every` file is compared, or only
    coordinates with a checksum of an older version, which does not include the name of the file. The function yields
    nothing where the stored sweep cannot be read any more. Attributes that no sweep gives (ON_TRUST) are not compared.
    """
    manifest = manifest_in_force(place)
    if not every and not any(isinstance(stated, int) and "/c." in key for key, stated in manifest.files.items()):
        return
    try:
        planned = plan_at(stored_sweep(place, folder, plain=True), place)
        described = contents(planned)
        of_functions = bool(functions_of(manifest.layout, planned.sweep))
        attributes = derived_attributes(described["attributes"], manifest, of_functions=of_functions)
        layout = _with_own(planned.layout, manifest.layout) if of_functions else planned.layout
        files = _files(layout, described, attributes)
    except (InputError, StoreError):
        return
    if every:
        yield from _other_attributes(place, manifest, attributes)
    for key in files:
        if key not in manifest.files and every:
            yield StoreDamage("metadata", place.at(key), f"without a checksum in {MANIFEST}")
        elif every or "/c." in key:
            yield from _not_derived(place, files, key, is_part=of_functions)


def _not_derived(place: Location, files: Files, key: str, *, is_part: bool) -> Iterator[StoreDamage]:
    """Compare a file with the derived one; of a group `is_part` of the arrays may be derived."""
    if "/c." in key and not same_values(files, place, key):
        yield StoreDamage("metadata", place.at(key), "damaged coordinate: differs from the sweep")
    elif key.rpartition("/")[2] == METADATA and not _same_metadata(place.read(key), files[key], is_part=is_part):
        yield StoreDamage("metadata", place.at(key), "damaged metadata: differs from the sweep")
    elif key.startswith(f"{SOURCES}/") and place.read(key) != files[key]:
        yield StoreDamage("metadata", place.at(key), "damaged source: not the file that the sweep names")


def _other_attributes(place: Location, manifest: Manifest, derived: Mapping[str, Any]) -> Iterator[StoreDamage]:
    """Compare the attributes in the manifest with the attributes from the sweep."""
    stored = manifest.attributes.values
    for key in dict.fromkeys((*derived, *stored)):
        if derived.get(key) != stored.get(key):
            text = f"attribute {key} is {stored.get(key, 'not there')!r:.80}; the sweep gives "
            yield StoreDamage("metadata", place.at(MANIFEST), text + f"{derived.get(key, 'none')!r:.80}")


def derived_attributes(fresh: Mapping[str, Any], manifest: Manifest, *, of_functions: bool = False) -> dict[str, Any]:
    """Return the attributes of a store: the `fresh` ones of its plan, and of its manifest those on trust.

    of_functions: the store has metrics of a user's own.
    """
    stored = manifest.attributes.values
    trusted = (*ON_TRUST, *OF_FUNCTIONS) if of_functions else ON_TRUST
    taken = {key: stored[key] for key in trusted if key in stored}
    return {key: taken.get(key, value) for key, value in fresh.items()} | taken


def _with_own(planned: Layout, stored: Layout) -> Layout:
    """Return the layout of a plan with the metrics of a user's own that a store has: those are on trust."""
    grid = replace(planned.grid, sizes={**stored.sizes, **planned.sizes})
    trusted = {name: variable for name, variable in stored.variables.items() if variable.source == "own"}
    taken = stored.variables | planned.variables | trusted
    return Layout(grid, {name: replace(taken[name], grid=grid) for name in stored.variables})


def _same_metadata(stored: bytes, derived: bytes, *, is_part: bool) -> bool:
    """Return whether metadata describe values in the same way.

    Codes of a status that the store's version did not have yet make no difference, nor do its units of joints.
    """
    before, after = parse_json(stored), parse_json(derived)
    if is_part and (arrays := before.get("consolidated_metadata", {}).get("metadata")):
        names = arrays.keys() & after["consolidated_metadata"]["metadata"].keys()
        before["consolidated_metadata"]["metadata"] = {name: arrays[name] for name in names}
    return _said(before) == _said(_as_before(before, after))


def _as_before(before: Mapping[str, Any], described: dict[str, Any]) -> dict[str, Any]:
    """Return the metadata with units and flags of an older version, where the previous metadata have these."""
    known, attributes = before.get("attributes", {}).get("flag_values"), described.get("attributes", {})
    if known and "flag_values" in attributes:
        flags = dict(zip(attributes["flag_values"], attributes["flag_meanings"].split(), strict=True))
        kept = {code: meaning for code, meaning in flags.items() if code in known}
        described["attributes"] = {**attributes, "flag_values": [*kept], "flag_meanings": " ".join(kept.values())}
    unit = before.get("attributes", {}).get("units")
    own = described.get("attributes", {})
    if unit in older_units(own.get("units", ""), described.get("dimension_names") or ()):
        described["attributes"] = {**own, "units": unit}
    arrays = before.get("consolidated_metadata", {}).get("metadata", {})
    for name, array in described.get("consolidated_metadata", {}).get("metadata", {}).items():
        _as_before(arrays.get(name, {}), array)
    return described


def _said(described: Mapping[str, Any]) -> list[Any]:
    """Return the entries in the metadata of an array or group that describe values.

    Codecs are left out, because versions of Zarr spell them differently.
    """
    arrays = described.get("consolidated_metadata", {}).get("metadata", {})
    own = [described.get(key) for key in ("attributes", "shape", "data_type", "fill_value", "dimension_names")]
    return [*own, {name: _said(array) for name, array in arrays.items()}]


def repair_manifest(place: Location, folder: str | Path) -> tuple[str, ...]:
    """Make a damaged or missing manifest again from the metadata of the group; return its name, if it was made.

    Raises StoreError that names both files where these are no help either.
    """
    if (damage := _damage(place)) is None:
        return ()
    _require_settled(place)
    try:
        group = parse_json(place.read_within(METADATA, MAX_BYTES))
        attributes = {key: value for key, value in group["attributes"].items() if key != "coordinates"}
        source = StoredFiles(place, attributes, Folder(Path(folder)))
        sweep = Sweep.from_text(attributes["sweep"], f"{place.at(METADATA)} (its sweep)", source)
        planned = plan(sweep)
        layout = planned.layout.moved(block=_block(group, planned.layout))
    except (OSError, ValueError, KeyError, TypeError, AttributeError, IndexError) as error:
        raise StoreError(f"{damage}\n{place.at(METADATA)}: no help either ({cause(error)}); {LOST}") from error
    if sweep.fingerprint != attributes.get("fingerprint"):
        raise StoreError(f"{damage}\n{place.at(METADATA)}: holds a sweep with another fingerprint; {LOST}")
    require_form(place, layout)
    with coordinator_lock(place):
        described, generation = contents(Plan(sweep, layout)), _generation(place)
        attributes = described["attributes"] | {key: attributes[key] for key in ON_TRUST if key in attributes}
        files = _files(layout, described, attributes)
        describe(layout, attributes, files, generation, _hashing(place, generation)).save(place)
        if Ledger.read(place, layout.blocks).count == layout.blocks:
            finish(place)
    return (place.at(MANIFEST),)


def _damage(place: Location) -> str | None:
    """Return the problem of the manifest; None for a sound one. Raises StoreError if the place is no store."""
    try:
        Manifest.load(place)
    except StoreError as error:
        if not place.is_folder() or not place.has(METADATA):
            raise
        return str(error)
    return None


def _require_settled(place: Location) -> None:
    if is_growing(place) or place.has(f"{FOLDER}/{METADATA}"):
        raise StoreError(f"{place}: an append has been begun; go on with it, or drop it first: limbsweep append --drop")


def _files(layout: Layout, described: Mapping[str, Any], attributes: Mapping[str, Any]) -> Files:
    """Return the files of a store except results, with these attributes in the order of the plan's."""
    fresh = described["attributes"]
    ordered = {key: attributes.get(key, value) for key, value in fresh.items()}
    return metadata(layout, **{**described, "attributes": {**ordered, **attributes}})


def _block(group: Mapping[str, Any], layout: Layout) -> dict[str, int]:
    """Return a block's lengths from the metadata of arrays, along the cut dims: as the store began."""
    block = dict(layout.block)
    for name in layout.variables:
        array = group["consolidated_metadata"]["metadata"][name]
        shard = zip(array["dimension_names"], array["chunk_grid"]["configuration"]["chunk_shape"], strict=True)
        block |= {dim: length for dim, length in shard if dim in layout.block}
    return block


def _hashing(place: Location, generation: int) -> Hashing:
    """Return the hash function of the receipts in a ledger. Stores of older formats have CRC-32C."""
    sums = (
        receipt.checksums.values()
        for receipt in receipts(place.journal(generation_name(generation)))
        if not isinstance(receipt, str)
    )
    return "crc32c" if any(isinstance(value, int) for values in sums for value in values) else "blake3"


def _generation(place: Location) -> int:
    """Return the generation of the store by the name of its ledger: 1, plus one each time that it was made larger."""
    names = (re.match(rf"{LEDGER}(?:-([0-9]+))?[./]", key) for key in place.keys(""))
    return max((int(name[1] or 1) for name in names if name), default=1)
