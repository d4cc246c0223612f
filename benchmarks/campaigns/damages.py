"""Damage stores of every kind at random, in every way that bytes can be wrong: every damage has to be named.

Flips, cuts and lost files; shards, coordinates and metadata exchanged with others of the store, or taken from another
store or from the same one before it was made larger; links, folders; and consistent edits, in which public checksums
are made anew. Each damage is looked for in two ways: by reading everything as `open_results` does, and by `verify`,
which for consistent edits computes all blocks again (`--recompute 1`) and, where that finds nothing, holds the store
against the signature of its owner. A damage is silent where other numbers are read without an error, or where neither
finds anything; then each store is repaired, and one that is called sound has to hold the same bits as before.
`python -m benchmarks.campaigns.damages [--damages 10000] [--kind NAME] [--seed N]`; the kinds of stores are those of
`tests.pipeline.stores.corpus`.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import dask
import google_crc32c
import numpy as np
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from pipeline.errors import InputError
from pipeline.execution.run import run
from pipeline.stores.repair import ON_TRUST
from pipeline.stores.verify import verify
from pipeline.sweep.stored import stored_sweep
from storage import open_results
from storage.encoding.checksums import checksum
from storage.encoding.documents import METADATA
from storage.errors import StoreError
from storage.ledger import Ledger, Receipt, generation_name, line, receipts
from storage.manifest import MANIFEST, Attributes, Manifest
from storage.places.access import locate
from storage.signature import sign
from storage.store import StoreWriter
from tests.pipeline.stores.corpus import HERE, LATER, OLDER, STORES, cut_finely, make

NOT_OF_RESULTS = ("coordinator.lock", "log.jsonl", "limbsweep.sig")
NOT_COMPUTED = ("own metrics", "later version")
"""Kinds whose sweep does not compute them again: consistent edits of results are found by the signature alone."""

REFUSALS = ("call pipeline.run with the same metrics", "need the version that wrote it")
"""Ends of the sentences that refuse to compute them."""


@dataclass(frozen=True)
class Stores:
    """A sound store, one of another sweep with the same layout, and copies of the sound one at other times.

    `older`: before it was made larger, absent where it was not. `expected` is its content, `whole` that at the end of
    its run. `key` is the public key of who has signed it, absent where it is not finished.
    """

    kind: str
    sound: Path
    other: Path
    older: Path | None
    key: Path | None
    expected: dict[str, bytes]
    whole: dict[str, bytes]

    @property
    def files(self) -> list[str]:
        """Files that a damage may be done to."""
        return sorted(key for key in _keys(self.sound) if key not in NOT_OF_RESULTS)

    def is_open(self, keys: list[str]) -> bool:
        """Return whether a damage is to receipts that nothing holds together yet: of a store that is not finished."""
        return self.key is None and any(key.startswith("ledger") for key in keys)

    @property
    def damages(self) -> list[str]:
        """Names of the damages that can be done to this kind."""
        return [name for name in DAMAGES if self.older or name != "replay"]


def prepare(kind: str, folder: Path) -> Stores:
    """Make the stores of a kind, and sign the sound one."""
    for name in ("here", "there"):
        (folder / name).mkdir()
    sound, other = make(kind, folder / "here"), make(kind, folder / "there", other=True)
    older, key = sound.with_suffix(OLDER), folder / "key.pub"
    finished = Manifest.load(sound).state == "finished"
    if finished:
        _sign(sound, folder / "key", key)
    expected = whole = contents(sound)
    if not finished:
        shutil.copytree(sound, folder / "whole.zarr")
        run(stored_sweep(sound), folder / "whole.zarr", HERE)
        whole = contents(folder / "whole.zarr")
    return Stores(kind, sound, other, older if older.exists() else None, key if finished else None, expected, whole)


def _sign(store: Path, private: Path, public: Path) -> None:
    made = Ed25519PrivateKey.generate()
    encoding, form = serialization.Encoding, serialization.PrivateFormat.PKCS8
    private.write_bytes(made.private_bytes(encoding.PEM, form, serialization.NoEncryption()))
    public.write_bytes(made.public_key().public_bytes(encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo))
    sign(store, private)


# damages: each changes a copy of the sound store, and says which files; nothing where it had nothing to change

Damage = Callable[[Path, Stores, random.Random], list[str]]


def flip(store: Path, stores: Stores, chance: random.Random) -> list[str]:
    """Flip one bit."""
    key = chance.choice(stores.files)
    data = bytearray((store / key).read_bytes())
    data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    (store / key).write_bytes(data)
    return [key]


def cut(store: Path, stores: Stores, chance: random.Random) -> list[str]:
    """Cut the end of a file."""
    key = chance.choice(stores.files)
    data = (store / key).read_bytes()
    (store / key).write_bytes(data[: chance.randrange(len(data))])
    return [key]


def lose(store: Path, stores: Stores, chance: random.Random) -> list[str]:
    """Return a file."""
    key = chance.choice(stores.files)
    (store / key).unlink()
    return [key]


def swap(store: Path, stores: Stores, chance: random.Random) -> list[str]:
    """Swap two files of the same kind."""
    one = chance.choice(stores.files)
    other = chance.choice([key for key in stores.files if key != one and _kind(key) == _kind(one)] or [one])
    return _exchanged(store, one, other)


def exchange(store: Path, stores: Stores, chance: random.Random) -> list[str]:
    """Exchange two shards: of a variable between two blocks, or of a block between two variables."""
    layout = Manifest.load(store).layout
    keys = ((name, key) for name, variable in layout.variables.items() for key in variable.all_keys())
    there = [(name, key) for name, key in keys if (store / key).is_file()]
    name, one = chance.choice(there)
    if chance.random() < 0.5:
        others = [key for variable, key in there if variable == name and key != one]
    else:
        others = [key for variable, key in there if variable != name and key.split("/")[1][:6] == one.split("/")[1][:6]]
    if not others:
        return []
    return _exchanged(store, one, chance.choice(others))


def copy(store: Path, stores: Stores, chance: random.Random) -> list[str]:
    """Return a file in the place of another."""
    one, other = chance.sample(stores.files, 2)
    shutil.copyfile(store / one, store / other)
    return [other]


def relink(store: Path, stores: Stores, chance: random.Random) -> list[str]:
    """Return a link to a file elsewhere with the content of another, or a folder, in the place of a file."""
    key = chance.choice(stores.files)
    (store / key).unlink()
    if chance.random() < 0.5:
        (store / key).symlink_to(stores.other / chance.choice(sorted(_keys(stores.other))))
    else:
        (store / key).mkdir()
    return [key]


def foreign(store: Path, stores: Stores, chance: random.Random) -> list[str]:
    """Take files of another store with this layout: one, a whole array, or the ledger with all results."""
    return _taken(store, stores.other, chance)


def replay(store: Path, stores: Stores, chance: random.Random) -> list[str]:
    """Take the files of the same store before it was enlarged."""
    assert stores.older is not None
    return _taken(store, stores.older, chance)


def edit(store: Path, stores: Stores, chance: random.Random) -> list[str]:
    """Write other metadata or coordinates, with matching checksums in the manifest."""
    key = chance.choice([key for key in stores.files if key.endswith(("zarr.json", "/c.0"))])
    other = stores.other if chance.random() < 0.3 and (stores.other / key).is_file() else None
    data = (store / key).read_bytes()
    changed = (other / key).read_bytes() if other else _edited(data, chance)
    if changed == data:
        return []
    (store / key).write_bytes(changed)
    manifest = Manifest.load(store)
    replace(manifest, files={**manifest.files, key: checksum(key, changed)}).save(store)
    return [key]


def forge(store: Path, stores: Stores, chance: random.Random) -> list[str]:
    """Write other results, also of another block, with a matching receipt and checksum of all receipts."""
    writer, manifest = StoreWriter(store), Manifest.load(store)
    ledger = generation_name(manifest.generation)
    journal = locate(store).journal(ledger)
    sound = [receipt for receipt in receipts(journal) if isinstance(receipt, Receipt)]
    index, neighbour = chance.sample([receipt.block for receipt in sound], 2)
    arrays, others = writer.read(index), writer.read(neighbour)
    name = chance.choice([name for name in arrays if arrays[name].dtype.kind == "f"])
    before = arrays[name]
    if chance.random() < 0.5 and name in others and others[name].shape == before.shape:
        arrays[name] = others[name]
    else:
        arrays[name] = before * (1 + 1e-6)
    if arrays[name].tobytes() == before.tobytes():
        return []
    forged = writer.write(index, arrays)
    journal.replace(line(receipt) for receipt in (*(each for each in sound if each.block != index), forged))
    if manifest.state == "finished":
        replace(manifest, ledger=Ledger.read(store, manifest.layout.blocks).seal).save(store)
    return [manifest.layout.variables[name].key(index)]


def restate(store: Path, stores: Stores, chance: random.Random) -> list[str]:
    """Write another manifest with its own matching checksum."""
    manifest = Manifest.load(store)
    stated = manifest.attributes.values
    changes: list[dict[str, Any]] = [
        {"attributes": Attributes({**stated, "note": str(chance.random())})},
        {"attributes": Attributes({**stated, **_other_attribute(manifest.attributes.others, chance)})},
        {"attributes": Attributes({**stated, "fingerprint": f"{chance.getrandbits(64):x}"})},
        {"attributes": Attributes({**stated, "sweep": manifest.sweep.replace("0.4", "0.41")})},
        {"hashing": "crc32c"},
        {"files": dict(list(manifest.files.items())[1:])},
    ]
    if manifest.state == "finished":
        changes.append({"ledger": ""})
    replace(manifest, **chance.choice(changes)).save(store)
    return [MANIFEST]


def relabel(store: Path, stores: Stores, chance: random.Random) -> list[str]:
    """Change a dataset attribute, in the manifest and the group's metadata, with matching checksums."""
    manifest = Manifest.load(store)
    attributes = _other_attribute(manifest.attributes.others, chance)
    group = json.loads((store / METADATA).read_text())
    group["attributes"] |= attributes
    data = json.dumps(group).encode()
    (store / METADATA).write_bytes(data)
    files = {**manifest.files, METADATA: checksum(METADATA, data)}
    replace(manifest, files=files, attributes=Attributes({**manifest.attributes.values, **attributes})).save(store)
    return [METADATA, MANIFEST]


def _other_attribute(attributes: Any, chance: random.Random) -> dict[str, Any]:
    """Return the attributes, one of them with another value of its type."""
    name = chance.choice(sorted(attributes))
    return {**attributes, name: _other_value(attributes[name], chance)}


def _other_value(value: Any, chance: random.Random) -> Any:
    """Return another value of the same type."""
    if isinstance(value, dict) and value:
        key = chance.choice(sorted(value))
        return {**value, key: _other_value(value[key], chance)}
    if isinstance(value, list) and value:
        return [_other_value(value[0], chance), *value[1:]]
    return value * 1.001 + 1.0 if isinstance(value, int | float) else f"{value}x"


DAMAGES: dict[str, Damage] = {
    damage.__name__: damage
    for damage in (
        flip,
        cut,
        lose,
        swap,
        exchange,
        copy,
        relink,
        foreign,
        replay,
        edit,
        forge,
        restate,
        relabel,
    )
}
CONSISTENT = ("edit", "forge", "restate", "relabel")
"""Damages whose checksums match: only deriving again, or a signature, can tell."""


def _exchanged(store: Path, one: str, other: str) -> list[str]:
    first, second = (store / one).read_bytes(), (store / other).read_bytes()
    (store / one).write_bytes(second)
    (store / other).write_bytes(first)
    return [one, other]


def _taken(store: Path, source: Path, chance: random.Random) -> list[str]:
    keys = sorted(key for key in _keys(source) if key not in NOT_OF_RESULTS and key != MANIFEST)
    key = chance.choice(keys)
    some = chance.choice(("file", "array", "results"))
    chosen = [key] if some == "file" else [other for other in keys if other.split("/")[0] == key.split("/")[0]]
    if some == "results":
        chosen = [key for key in keys if not key.endswith("zarr.json")]
    for key in chosen:
        (store / key).parent.mkdir(exist_ok=True)
        shutil.copyfile(source / key, store / key)
    return chosen


def _edited(data: bytes, chance: random.Random) -> bytes:
    """Return the metadata with another number or unit; a coordinate with another number."""
    if not data.startswith(b"{"):
        body = bytearray(data[:-4])
        body[-1 - chance.randrange(min(8, len(body)))] ^= 1 << chance.randrange(8)
        return bytes(body) + google_crc32c.value(bytes(body)).to_bytes(4, "little")
    described = json.loads(data)
    change = chance.choice(("units", "scale_factor", "fill_value", "long_name"))
    if change == "fill_value":
        described["fill_value"] = 0.5
    else:
        described.setdefault("attributes", {})[change] = chance.choice((2.0, "kN m", "something else"))
    return json.dumps(described).encode()


def _kind(key: str) -> str:
    name = key.rpartition("/")[2]
    return "chunk" if name.startswith("c.") else name


def _keys(store: Path) -> Iterator[str]:
    return (file.relative_to(store).as_posix() for file in store.rglob("*") if file.is_file())


# looking


@dataclass(frozen=True)
class Seen:
    """Answers of reading and of `verify`; `by_signature` where only the signature tells."""

    is_read: bool
    is_same: bool
    said: str
    by_signature: bool = False


def look(store: Path, stores: Stores, *, consistent: bool) -> Seen:
    """Read everything, and verify."""
    try:
        values, is_read = contents(store), True
    except StoreError:
        values, is_read = {}, False
    said = _verified(store, recompute=1.0 if consistent else 0.0)
    if consistent and stores.kind in NOT_COMPUTED and said.endswith(REFUSALS):
        said = ""  # a refusal to compute is no answer
    by_signature = consistent and not said and stores.key is not None
    if by_signature:
        said = _verified(store, signed_by=stores.key)
    return Seen(is_read, values == stores.expected, said, by_signature)


def _verified(store: Path, **options: Any) -> str:
    """Return the findings of `verify` as text, or its refusal."""
    try:
        verification = verify(store, cluster=HERE, **options)
    except (StoreError, InputError) as error:
        return str(error)
    return " ".join((*map(str, verification.findings), *verification.foreign))


def mend(store: Path, stores: Stores) -> str:
    """Repair a store: `identical`, `refused`, or `not sound`. Raises AssertionError for a sound one with other bits."""
    try:
        verification = verify(store, repair=True, cluster=HERE)
    except (StoreError, InputError):
        return "refused"
    if not verification.is_sound:
        return "not sound"
    same = contents(store) in (stores.expected, stores.whole)
    assert same, "a repair has made a store with other bits, and calls it sound"
    return "identical"


def contents(store: Path) -> dict[str, bytes]:
    """Return the bits of a store, as they are read: dims, attributes but those on trust, values."""
    data = open_results(store, unfinished=True)
    attributes = {name: value for name, value in data.attrs.items() if name not in ON_TRUST}
    read = {"": json.dumps(attributes, sort_keys=True, default=str).encode()}
    with dask.config.set(scheduler="synchronous"):
        for name, variable in data.variables.items():
            values = np.asarray(variable.values)
            bits = "\0".join(values.tolist()).encode() if values.dtype.kind in "OUT" else values.tobytes()
            read[str(name)] = repr((variable.dims, sorted(variable.attrs.items()))).encode() + bits
    return read


def campaign(kind: str, folder: Path, number: int, seed: int) -> Counter[str]:
    """Do so many damages to a kind of store, and count them. Raises AssertionError at the first that is silent."""
    chance, counts = random.Random(f"{seed} {kind}"), Counter[str]()
    with cut_finely(), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=f".*{LATER}")
        stores = prepare(kind, folder)
        store = folder / "damaged.zarr"
        while sum(counts[name] for name in DAMAGES) < number:
            name = chance.choice(stores.damages)
            shutil.rmtree(store, ignore_errors=True)
            shutil.copytree(stores.sound, store)
            keys = DAMAGES[name](store, stores, chance)
            if all(_same(store / key, stores.sound / key) for key in keys):
                counts["without effect"] += 1
                assert counts["without effect"] < 10 * number + 10, "damages change nothing"
                continue
            counts[name] += 1
            counts.update(_judged(store, stores, name, keys, consistent=name in CONSISTENT or stores.is_open(keys)))
    return counts


def _judged(store: Path, stores: Stores, name: str, keys: list[str], *, consistent: bool) -> Iterator[str]:
    """Look at a damage and repair it; yields the words to count. Raises AssertionError where it is silent."""
    seen = look(store, stores, consistent=consistent)
    what = f"{stores.kind}: {name} of {', '.join(keys[:3])}"
    if not seen.said and stores.is_open(keys) and len(keys) == 1:
        run(stored_sweep(store), store, HERE)
        assert contents(store) == stores.whole, f"{what}: the run does not end as it should"
        yield "fewer receipts, run to the same end"
        return
    rests = consistent and (seen.by_signature or not seen.said)
    assert not rests or seen.is_same or stores.kind in NOT_COMPUTED, f"{what}: changes more than attributes on trust"
    if not seen.said and consistent and stores.key is None:
        yield "on trust"
        return
    assert seen.said, f"{what}: verify says that the store is sound"
    files = {MANIFEST if key == MANIFEST else str(store / key) for key in keys}
    assert consistent or any(file in seen.said for file in files), f"{what}: not named in {seen.said}"
    is_silent = seen.is_read and not seen.is_same and not consistent
    assert not is_silent, f"{what}: other numbers were read without an error"
    yield "found by signature alone" if seen.by_signature else "found"
    if not consistent:
        yield f"repair: {mend(store, stores)}"


def _same(one: Path, other: Path) -> bool:
    if one.is_symlink() or one.is_file() != other.is_file():
        return False
    return not one.is_file() or one.read_bytes() == other.read_bytes()


def main(words: list[str] | None = None) -> int:
    """Run the campaign; 1 where a damage is silent."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.campaigns.damages", description=__doc__)
    parser.add_argument("--damages", type=int, default=10_000, help="in total")
    parser.add_argument("--kind", choices=[*STORES, "all"], default="all")
    parser.add_argument("--seed", type=int, default=random.randrange(2**32))
    options = parser.parse_args(words)
    kinds = list(STORES) if options.kind == "all" else [options.kind]
    print(f"seed {options.seed}", flush=True)
    os.fsync = lambda fd: None
    total = Counter[str]()
    for kind in kinds:
        with tempfile.TemporaryDirectory(prefix="limbsweep-damages-") as folder:
            try:
                counts = campaign(kind, Path(folder), -(-options.damages // len(kinds)), options.seed)
            except AssertionError as error:
                print(f"FAILED: {error}", flush=True)
                return 1
        total += counts
        print(_line(kind, counts), flush=True)
    print(_line("all", total), flush=True)
    return 0


def _line(kind: str, counts: Counter[str]) -> str:
    damages = sum(counts[name] for name in DAMAGES)
    return f"{kind}: {damages} damages, 0 silent: " + ", ".join(f"{count} {name}" for name, count in counts.items())


if __name__ == "__main__":
    sys.exit(main())
