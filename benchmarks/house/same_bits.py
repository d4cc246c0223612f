"""Makes the example sweeps and compares a SHA-256 of each store with those of the commit before the refactoring.

- `python -m benchmarks.house.same_bits [NAME ...]`: two designs of each example, or of the named ones
- `--whole`: the examples as they stand, all designs of the studies too; minutes
- `--root DIR`: run by the packages of another checkout, on the examples of this one
- `--values`: hashes of values alone, without attributes and manifest, to compare two checkouts by `--root`
- `--write`: keep the hashes in `bits.json`, with the commit of the packages; for an example that is new or changed, run
  it with the packages of a commit that is trusted

A hash covers the dataset of `open_results` (names, dims, types, bits, chunks and attributes of all variables and
coordinates), the manifest and the names of all files. It leaves out `LEFT_OUT`, the date and the versions of packages;
descriptions of variables, which are words; and the bytes of files, which depend on the versions of Zarr and its codecs.
Kernels give the same bits on every processor. LAPACK, which makes random Fourier motions, does not: it runs with
`BLAS`, which every x86-64 processor can.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.checkout import use_packages

if TYPE_CHECKING:
    import numpy as np
    from xarray import Dataset

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
BITS = HERE / "bits.json"
LEFT_OUT = ("versions", "created")
"""Attributes of a store that are not compared: versions of packages, and when it was made."""
WORDS = "long_name"
"""Attribute of a variable that is not compared: a description for readers."""
SEALS = ("check", "files", "attributes", "hashing", "ledger")
"""Parts of the manifest that are not compared: checksums, also of receipts, and a copy of the attributes."""
FORMAT = 3
"""Format of the stores whose hashes are kept; later formats differ in their checksums, which are not compared."""
CLUSTER = "limbsweep: {cluster: {kind: threads}}\n"
BLAS = {"OPENBLAS_CORETYPE": "Nehalem", "OPENBLAS_NUM_THREADS": "1"}
DESIGNS = 2
"""Designs of a part, or the only one."""


def examples() -> dict[str, Path]:
    """Return the example sweeps by name, those of the studies as `studies/NAME`."""
    folder = ROOT / "examples"
    files = [*sorted(folder.glob("*.yaml")), *sorted((folder / "studies").glob("*.yaml"))]
    return {file.relative_to(folder).with_suffix("").as_posix(): file for file in files}


def hashes(names: Sequence[str], *, whole: bool, values: bool = False) -> Iterator[tuple[str, str]]:
    """Yield each example's name and the hash of its store, by the packages of `import pipeline`; or of its values."""
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(ROOT / "examples", Path(folder, "examples"))
        for name in names:
            store = _run(Path(folder), name, whole=whole)
            yield name, digest_of_values(store) if values else digest(store)


def _run(folder: Path, name: str, *, whole: bool) -> Path:
    """Run an example, or a part of it, into a store in a folder that has a copy of the examples."""
    from applications.commands.cli import cli
    from pipeline import Sweep

    sweep, cluster, store = folder / "examples" / f"{name}.yaml", folder / "cluster.yaml", folder / f"{name}.zarr"
    cluster.write_text(CLUSTER, encoding="utf-8")
    command = ["run", str(sweep), "--store", str(store), "--cluster", str(cluster)]
    if not whole:
        stop = min(DESIGNS, Sweep.from_yaml(sweep).design.size)
        with sweep.open("a", encoding="utf-8") as file:
            file.write(f"\nsubsets: {{part: {{design: {{stop: {stop}}}}}}}\n")
        command += ["--subset", "part"]
    with (
        Path(os.devnull).open("w") as nowhere,
        contextlib.redirect_stdout(nowhere),
        contextlib.redirect_stderr(nowhere),
    ):
        cli(command, prog_name="limbsweep", standalone_mode=False)
    return store


def digest(store: Path) -> str:
    """Return the SHA-256 of all that must not change in a store, in hexadecimal."""
    from storage import open_results

    manifest = json.loads((store / "limbsweep.json").read_text(encoding="utf-8"))
    total = hashlib.sha256()
    compared = {name: value for name, value in manifest.items() if name not in SEALS}
    total.update(_text(compared | {"format": FORMAT}))
    total.update(_text(sorted(file.relative_to(store).as_posix() for file in store.rglob("*") if file.is_file())))
    for part in contents(open_results(store)):
        total.update(part)
    return total.hexdigest()


def digest_of_values(store: Path) -> str:
    """Return the SHA-256 of the names, dims and bits of all variables and coordinates, in hexadecimal."""
    import numpy as np

    from storage import open_results

    total, results = hashlib.sha256(), open_results(store)
    for name in sorted(map(str, results.variables)):
        total.update(_text([name, results[name].dims]))
        for part in _bits(np.asarray(results[name].values)):
            total.update(part)
    return total.hexdigest()


def contents(results: Dataset) -> Iterator[bytes]:
    """Yield everything that a dataset holds, except the omitted attributes."""
    import numpy as np

    yield _text({name: value for name, value in results.attrs.items() if name not in LEFT_OUT})
    for name in sorted(map(str, results.variables)):
        variable = results[name].variable
        chunks = {key: variable.encoding.get(key) for key in ("chunks", "shards")}
        values = np.asarray(variable.values)
        attributes = {key: value for key, value in variable.attrs.items() if key != WORDS}
        yield _text({"name": name, "dims": variable.dims, "shape": values.shape, "attributes": attributes, **chunks})
        yield from _bits(values)


def _bits(values: np.ndarray) -> Iterator[bytes]:
    """Yield type and bits of an array; all NaN alike, because sign and payload of a NaN are no part of a result."""
    import numpy as np

    if values.dtype.kind in "UOT":
        yield _text(values.tolist())
        return
    if values.dtype.kind == "f":
        values = np.where(np.isnan(values), np.array(np.nan, values.dtype), values)
    little = values.astype(values.dtype.newbyteorder("<"))
    yield little.dtype.str.encode()
    yield np.ascontiguousarray(little).tobytes()


def _text(value: object) -> bytes:
    return json.dumps(value, sort_keys=True, default=lambda array: array.tolist()).encode()


def stored(*, whole: bool) -> dict[str, dict[str, str]]:
    """Return the hashes that are kept, with the commit of the packages that made them."""
    kinds: dict[str, dict[str, dict[str, str]]] = json.loads(BITS.read_text(encoding="utf-8"))
    return kinds["whole" if whole else "part"]


def write(hashes: Mapping[str, str], commit: str, *, whole: bool) -> None:
    """Keep hashes; those of other examples stay."""
    bits = {"part": stored(whole=False), "whole": stored(whole=True)}
    bits["whole" if whole else "part"] |= {name: {"commit": commit, "sha256": value} for name, value in hashes.items()}
    BITS.write_text(json.dumps(bits, indent=1, sort_keys=True) + "\n", encoding="utf-8")


def main() -> int:
    """Print each hash and whether it equals the kept one; return 1 if one differs."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.house.same_bits", description="Hashes of the examples.")
    parser.add_argument("names", nargs="*", choices=[[], *examples()], default=[], metavar="NAME", help="examples")
    parser.add_argument("--root", type=Path, default=ROOT, help="the checkout whose packages run")
    parser.add_argument("--whole", action="store_true", help="all designs")
    parser.add_argument("--values", action="store_true", help="values alone, compared with nothing")
    parser.add_argument("--write", metavar="COMMIT", help="keep the hashes as those of this commit")
    options = parser.parse_args()
    os.environ |= BLAS  # before NumPy and SciPy are loaded
    use_packages(options.root.resolve())
    expected = {name: entry["sha256"] for name, entry in stored(whole=options.whole).items()}
    fresh: dict[str, str] = {}
    for name, value in hashes(options.names or list(examples()), whole=options.whole, values=options.values):
        fresh[name] = value
        if options.values:
            print(f"{value}  {name}", flush=True)
            continue
        print(f"{value}  {name}  {'same' if value == expected.get(name) else 'DIFFERS'}", flush=True)
    if options.values:
        return 0
    if options.write:
        write(fresh, options.write, whole=options.whole)
        return 0
    return int(any(value != expected.get(name) for name, value in fresh.items()))


if __name__ == "__main__":
    sys.exit(main())
