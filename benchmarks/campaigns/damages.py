"""Damage a finished store at random, in every way that bytes can be wrong: every damage has to be named.

Flips, cuts and lost files; shards, coordinates and metadata exchanged with others of the store, or taken from another
store or from the same one before it was made larger; links, folders; and consistent edits, in which checksums in the
manifest are made to match as well. Each damage is looked for in two ways: by reading everything through `open_results`,
and by `verify`, which for consistent edits derives what it can again (`--recompute`) and holds the store against the
signature of its owner. A damage is silent where other numbers are read without an error, or where `verify` finds
nothing: `python -m benchmarks.campaigns.damages [--damages 10000] [--seed N]`.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from benchmarks.campaigns.crashes import HERE, TEXT, sweep
from pipeline.errors import InputError
from pipeline.execution.run import run
from pipeline.stores.append import append
from pipeline.stores.verify import verify
from pipeline.sweep.model import Sweep
from storage import open_results
from storage.encoding.checksums import checksum
from storage.errors import StoreError
from storage.ledger import Ledger, Receipt, line, receipts
from storage.manifest import MANIFEST, Manifest
from storage.places.access import locate
from storage.signature import sign

DESIGNS = 3
EVERY = 500
"""Damages between two lines of figures."""
NOT_OF_RESULTS = ("coordinator.lock", "log.jsonl", "limbsweep.sig")


@dataclass(frozen=True)
class Stores:
    """A sound store, one of another sweep with the same layout, and the sound one before it was made larger."""

    sound: Path
    other: Path
    older: Path
    key: Path

    @property
    def files(self) -> list[str]:
        """Files that a damage may be done to."""
        return sorted(key for key in _keys(self.sound) if key not in NOT_OF_RESULTS)


def prepare(folder: Path) -> Stores:
    """Make the stores, and sign the sound one."""
    stores = Stores(folder / "sound.zarr", folder / "other.zarr", folder / "older.zarr", folder / "key.pub")
    run(sweep(DESIGNS - 1), stores.sound, HERE)
    shutil.copytree(stores.sound, stores.older)
    append(stores.sound, sweep(DESIGNS), HERE)
    longer = TEXT.replace("period: 1.0", "period: 1.1")
    run(Sweep.from_text(longer.format(arms=[0.22 + 0.031 * k for k in range(DESIGNS)])), stores.other, HERE)
    private = Ed25519PrivateKey.generate()
    encoding, form = serialization.Encoding, serialization.PrivateFormat.PKCS8
    (folder / "key").write_bytes(private.private_bytes(encoding.PEM, form, serialization.NoEncryption()))
    public = private.public_key().public_bytes(encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    stores.key.write_bytes(public)
    sign(stores.sound, folder / "key")
    return stores


# damages: each changes a copy of the sound store, and says which files; nothing where it had nothing to change

Damage = Callable[[Path, Stores, random.Random], list[str]]


def flip(store: Path, stores: Stores, chance: random.Random) -> list[str]:
    """One bit."""
    key = chance.choice(stores.files)
    data = bytearray((store / key).read_bytes())
    data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    (store / key).write_bytes(data)
    return [key]


def cut(store: Path, stores: Stores, chance: random.Random) -> list[str]:
    """The end of a file."""
    key = chance.choice(stores.files)
    data = (store / key).read_bytes()
    (store / key).write_bytes(data[: chance.randrange(len(data))])
    return [key]


def lose(store: Path, stores: Stores, chance: random.Random) -> list[str]:
    """A file."""
    key = chance.choice(stores.files)
    (store / key).unlink()
    return [key]


def swap(store: Path, stores: Stores, chance: random.Random) -> list[str]:
    """Two files that are like each other."""
    one = chance.choice(stores.files)
    other = chance.choice([key for key in stores.files if key != one and _kind(key) == _kind(one)] or [one])
    first, second = (store / one).read_bytes(), (store / other).read_bytes()
    (store / one).write_bytes(second)
    (store / other).write_bytes(first)
    return [one, other]


def copy(store: Path, stores: Stores, chance: random.Random) -> list[str]:
    """A file in the place of another."""
    one, other = chance.sample(stores.files, 2)
    shutil.copyfile(store / one, store / other)
    return [other]


def relink(store: Path, stores: Stores, chance: random.Random) -> list[str]:
    """A link to a file elsewhere with the content of another, or a folder, in the place of a file."""
    key = chance.choice(stores.files)
    (store / key).unlink()
    if chance.random() < 0.5:
        (store / key).symlink_to(stores.other / chance.choice(sorted(_keys(stores.other))))
    else:
        (store / key).mkdir()
    return [key]


def foreign(store: Path, stores: Stores, chance: random.Random) -> list[str]:
    """Files of another store with the same layout: one of them, or a whole array, or the ledger with all results."""
    return _taken(store, stores.other, chance)


def replay(store: Path, stores: Stores, chance: random.Random) -> list[str]:
    """Files of the same store before it was made larger."""
    return _taken(store, stores.older, chance)


def edit(store: Path, stores: Stores, chance: random.Random) -> list[str]:
    """Other metadata or coordinates, with checksums in the manifest to match."""
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
    """Other results, with a receipt and the checksum of all receipts to match."""
    from storage.store import StoreWriter

    writer, manifest = StoreWriter(store), Manifest.load(store)
    index = chance.randrange(manifest.layout.blocks)
    arrays = writer.read(index)
    name = chance.choice([name for name in arrays if arrays[name].dtype.kind == "f"])
    arrays[name] = arrays[name] * (1 + 1e-6)
    forged = writer.write(index, arrays)
    journal = locate(store).journal("ledger-2")
    others = [receipt for receipt in receipts(journal) if isinstance(receipt, Receipt) and receipt.block != index]
    journal.replace(line(receipt) for receipt in (*others, forged))
    replace(manifest, ledger=Ledger.read(store, manifest.layout.blocks).seal).save(store)
    return [manifest.layout.key(index, name)]


def restate(store: Path, stores: Stores, chance: random.Random) -> list[str]:
    """Another manifest with a checksum of its own to match."""
    manifest = Manifest.load(store)
    attributes = {**manifest.attributes, chance.choice(["created", "robot", "note"]): str(chance.random())}
    changes = (
        {"attributes": attributes},
        {"fingerprint": f"{chance.getrandbits(64):x}"},
        {"sweep": manifest.sweep.replace("0.1,", "0.11,")},
        {"ledger": ""},
        {"hashing": "crc32c"},
        {"generation": 1},
    )
    replace(manifest, **chance.choice(changes)).save(store)
    return [MANIFEST]


DAMAGES: dict[str, Damage] = {
    damage.__name__: damage for damage in (flip, cut, lose, swap, copy, relink, foreign, replay, edit, forge, restate)
}
CONSISTENT = ("edit", "forge", "restate")
"""Damages whose checksums match: only deriving again, or a signature, can tell."""


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
    """Metadata with another number or unit, a coordinate with another number."""
    if not data.startswith(b"{"):
        import google_crc32c

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
    """What reading and `verify` said of a store."""

    is_read: bool
    is_same: bool
    said: str


def look(store: Path, stores: Stores, expected: dict[str, bytes], *, consistent: bool) -> Seen:
    """Read everything, and verify."""
    try:
        values, is_read = contents(store), True
    except StoreError:
        values, is_read = {}, False
    try:
        verification = verify(
            store, recompute=1e-9 if consistent else 0.0, cluster=HERE, signed_by=stores.key if consistent else None
        )
        said = " ".join((*map(str, verification.findings), *verification.foreign))
    except (StoreError, InputError) as error:
        said = str(error)
    return Seen(is_read, values == expected, said)


def contents(store: Path) -> dict[str, bytes]:
    """Read dims, attributes and bits of a store."""
    data = open_results(store)
    read = {"": json.dumps(data.attrs, sort_keys=True, default=str).encode()}
    for name, variable in data.variables.items():
        values = np.asarray(variable.values)
        bits = "\0".join(values.tolist()).encode() if values.dtype.kind in "OUT" else values.tobytes()
        read[str(name)] = repr((variable.dims, sorted(variable.attrs.items()))).encode() + bits
    return read


def campaign(folder: Path, number: int, seed: int) -> Iterator[str]:
    """Do so many damages; yields lines of figures. Raises AssertionError at the first that is silent."""
    chance, counts = random.Random(seed), Counter[str]()
    stores = prepare(folder)
    expected, store = contents(stores.sound), folder / "damaged.zarr"
    kinds = list(DAMAGES)
    while sum(counts.values()) < number:
        name = kinds[sum(counts.values()) % len(kinds)]
        shutil.rmtree(store, ignore_errors=True)
        shutil.copytree(stores.sound, store)
        keys = DAMAGES[name](store, stores, chance)
        if all(_same(store / key, stores.sound / key) for key in keys):
            continue
        seen = look(store, stores, expected, consistent=name in CONSISTENT)
        what = f"{name} of {', '.join(keys[:3])}, number {sum(counts.values())}"
        assert seen.said, f"{what}: verify says that the store is sound"
        files = {MANIFEST if key == MANIFEST else str(store / key) for key in keys}
        named = any(file in seen.said for file in files) or name in CONSISTENT
        assert named, f"{what}: not named in {seen.said}"
        is_silent = seen.is_read and not seen.is_same and name not in CONSISTENT
        assert not is_silent, f"{what}: other numbers were read without an error"
        counts[name] += 1
        if not (done := sum(counts.values())) % EVERY or done == number:
            yield f"{done} damages, 0 silent: " + ", ".join(f"{count} {name}" for name, count in counts.items())


def _same(one: Path, other: Path) -> bool:
    if one.is_symlink() or one.is_file() != other.is_file():
        return False
    return not one.is_file() or one.read_bytes() == other.read_bytes()


def main(words: list[str] | None = None) -> int:
    """Run the campaign; 1 where a damage is silent."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.campaigns.damages", description=__doc__)
    parser.add_argument("--damages", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=random.randrange(2**32))
    options = parser.parse_args(words)
    print(f"seed {options.seed}", flush=True)
    os.fsync = lambda fd: None
    with tempfile.TemporaryDirectory(prefix="limbsweep-damages-") as folder:
        try:
            for text in campaign(Path(folder), options.damages, options.seed):
                print(text, flush=True)
        except AssertionError as error:
            print(f"FAILED: {error}", flush=True)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
