"""Coverage-guided fuzzing of all that is parsed: files of users, and bytes of stores that may come from strangers.

Whatever the bytes are, they are read or refused in words within seconds and in bounded memory. Files are those of
`tests.bad_inputs.test_fuzz`. Of stores: manifests, ledgers and shards, with checksums that match, since who forges
a store makes them match. libFuzzer, of the package `atheris` (extra `fuzz`), looks for inputs that take ways that none
has taken before: `python -m benchmarks.campaigns.fuzz [TARGET ...] [--seconds 60] [--seed N]`.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

INSTRUMENTED = ["pipeline", "applications", "robots", "storage", "ruamel.yaml"]
LONGEST = 1 << 14
"""Bytes of an input."""

WORDS = (
    "Infinity", "NaN", "-1e999", "1e309", "null", "true", "[[[[", "{}", "9" * 40, "18446744073709551616", "..", "/",
    "block", "checksums", "bytes", "layout", "sizes", "files", "attributes", "generation", "hashing", "limbsweep",
    "where", "grid", "values", "&a", "*a", "!!python", "<<", "|", "- ",
)  # fmt: skip
"""Words that are put into inputs."""

SECONDS, MEMORY = 20, 4096
"""Limits for one input on a busy machine: time [s], and memory of the process [MiB]."""

FILES = ("sweep", "cluster", "robot", "urdf", "points")
TABLES = {
    "csv": "text", "npy": "npy", "npz": "npz", "mat": "mat", "packed-mat": "packed mat", "mat4": "mat 4",
    "nc": "netcdf", "h5": "hdf5", "parquet": "parquet",
}  # fmt: skip
"""Readers of recordings and side files, and the file of `tests.pipeline.documents.tables.test_damaged` for each."""
XML = ("sdf", "macros", "mjcf")
BAGS = ("bag", "db3", "mcap")
"""Bags of ROS by the ending of their files."""
TARGETS = (*FILES, *XML, *TABLES, *BAGS, "manifest", "ledger", "shard")
Target = tuple[list[bytes], Callable[[bytes], object]]


def target(name: str) -> Target:
    """Return the seeds of a target, and the action on an input."""
    if name in FILES:
        from tests.bad_inputs.test_fuzz import READERS, read_or_refused

        texts, reader = READERS[name]
        return [text.encode() for text in texts], lambda data: read_or_refused(reader, data)
    if name in TABLES:
        return _table(TABLES[name])
    if name in BAGS:
        return _bag(name)
    kinds = {
        "manifest": _manifest, "ledger": _ledger, "shard": _shard, "sdf": _sdf, "macros": _macros, "mjcf": _mjcf,
    }  # fmt: skip
    return kinds[name]()


def _table(form: str) -> Target:
    """Return the target of a recording, read by columns and as a whole."""
    from pipeline.documents.tables.reader import parse_table
    from pipeline.errors import InputError
    from tests.pipeline.documents.tables import test_damaged

    ending, make = test_damaged.MAKERS[form]
    path = Path(tempfile.gettempdir(), f"a.{ending}")

    def read_columns(data: bytes) -> None:
        path.write_bytes(data)
        test_damaged.read(path)

    uses: list[Callable[[bytes], object]] = [
        read_columns,
        lambda data: parse_table(data, path.name, bounds=test_damaged.SMALL),
    ]

    def read(data: bytes) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for use in uses:
                try:
                    use(data)
                except InputError as error:
                    _require_words(error)

    return [make()], read


def _bag(ending: str) -> Target:
    """Return the target of a bag, unpacked as by the bounded process: any error of its reader is a refusal there."""
    import numpy as np

    from pipeline.documents.tables.bag_reader import bag_columns
    from tests.pipeline.documents.tables import test_damaged
    from tests.pipeline.documents.tables.bags import bag_bytes

    path = Path(tempfile.gettempdir(), f"a.{ending}")

    def read(data: bytes) -> None:
        path.write_bytes(data)
        try:
            columns = bag_columns(path, test_damaged.SMALL.values)
        except Exception:  # which ends that process with one line
            return
        assert all(values.dtype == np.float64 and values.ndim == 1 for values in columns.values())

    return [bag_bytes(ending)], read


def _mjcf() -> Target:
    """Return the target of a MuJoCo model, up to the copies of its files that MuJoCo compiles in another process."""
    from pipeline.robot_files.packages import PackageFiles
    from robots.formats.mjcf_files import CopiedModel
    from robots.formats.xml_tree import FormatError
    from tests.robots.formats.mjcfs import ARM, FOUR_BAR, INCLUDED, INCLUDES

    folder = Path(tempfile.gettempdir(), "model")
    folder.mkdir(exist_ok=True)
    (folder / "inner.xml").write_text(INCLUDED, encoding="utf-8")
    (folder / "m.obj").write_text("v 0 0 0", encoding="utf-8")
    path = str(folder / "a.xml")

    def read(data: bytes) -> None:
        with tempfile.TemporaryDirectory() as private:
            copied = CopiedModel(PackageFiles(path, {}), str(folder), private)
            try:
                copied.add(path, data)
            except FormatError as error:
                _require_words(error)
            places = [file for file in Path(private).rglob("*") if file.is_file()]
            assert len(places) <= len(copied.copied)
            assert all(str(file).startswith(copied.target(str(folder))) for file in places)

    return [text.encode() for text in (ARM, FOUR_BAR, INCLUDES)], read


def _sdf() -> Target:
    """Return the target of an SDF file, up to the robot that it describes."""
    from pipeline.errors import InputError
    from pipeline.robot_files.importing import parse_tree
    from tests.robots.formats.test_sdf import ARM, file

    def read(data: bytes) -> None:
        try:
            parse_tree(data, "a.sdf").description()
        except (InputError, ValueError) as error:
            _require_words(error, lines=60)

    return [file(*ARM)], read


def _macros() -> Target:
    """Return the target of a robot with macros, expanded and read."""
    from pipeline.errors import InputError
    from pipeline.robot_files.importing import import_robot
    from tests.robots.formats.test_macros import ARM, HEAD, PARTS

    path = Path(tempfile.gettempdir(), "a.xacro")

    def read(data: bytes) -> None:
        path.write_bytes(data)
        try:
            import_robot(path, macros=True)
        except InputError as error:
            _require_words(error, lines=60)

    return [f"{HEAD}{body}</robot>".encode() for body in (ARM, *PARTS.values())], read


def _manifest() -> Target:
    """Return the manifest of a store, sealed again."""
    from storage import manifest as manifests
    from storage.encoding.documents import parse_json
    from storage.errors import StoreError
    from tests.storage.cases import FEW, LAYOUT

    def read(data: bytes) -> None:
        try:
            content = parse_json(data)
        except ValueError:
            return
        if isinstance(content, dict):
            content.pop("check", None)
            content["check"] = manifests._seal(content)
        folder = Path(tempfile.gettempdir(), "s.zarr")
        folder.mkdir(exist_ok=True)
        (folder / manifests.MANIFEST).write_text(json.dumps(content), encoding="utf-8")
        try:
            loaded = manifests.Manifest.load(folder)
            manifests.Manifest.load(folder).dump()
            next(iter(loaded.layout.variables.values())).region(0)
        except StoreError as error:
            _require_words(error)

    own = manifests.Attributes({"fingerprint": "f00d", "sweep": "robot: delta\n"})
    return [manifests.Manifest(own, layout).dump() for layout in (FEW, LAYOUT)], read


def _ledger() -> Target:
    """Return the lines of a ledger, each sealed again, as `open` reads them and as a run does."""
    from storage import ledger
    from storage.errors import StoreError
    from storage.expected import Expected, _table
    from storage.manifest import Attributes, Manifest
    from storage.places.local import LocalFolder
    from tests.storage.cases import FEW

    folder = Path(tempfile.gettempdir(), "s.zarr")
    folder.mkdir(exist_ok=True)
    location, name = LocalFolder(folder), ledger.generation_name(1)
    stated = Manifest(Attributes({"fingerprint": "f00d", "sweep": "robot: delta\n"}), FEW)

    def read(data: bytes) -> None:
        lines = [line.rpartition(ledger._CHECK)[0] or line for line in data.split(b"\n")]
        (folder / f"{name}.jsonl").write_bytes(b"\n".join(line + ledger._seal(line) for line in lines) + b"\n")
        uses: list[Callable[[], object]] = [
            lambda: _table(Expected.of(location, stated)),
            lambda: ledger.Ledger.read(location, FEW.blocks),
        ]
        for use in uses:
            try:
                use()
            except StoreError as error:
                _require_words(error)

    sound = [ledger.line(ledger.Receipt(k, dict.fromkeys(FEW.owned(k), "0" * 32), 99)) for k in range(FEW.blocks)]
    return [b"\n".join(sound), sound[0]], read


def _shard() -> Target:
    """Return a shard of one chunk with matching checksums, so that Blosc gets the packed bytes."""
    import numpy as np

    from storage.encoding import shards

    shape = (3, 40)

    def read(data: bytes) -> None:
        index = np.array([0, len(data) + 4], "<u8").tobytes()
        whole = data + shards._seal(data) + index + shards._seal(index)
        try:
            shards.decode(whole, shape, shape, "float64")
        except shards.ShardError as error:
            _require_words(error)

    arrays = np.random.default_rng(0).random(shape), np.zeros(shape), np.linspace(0.0, 1.0, 120).reshape(shape)
    return [shards.encode(array, shape, shape, 0.0)[0] for array in arrays], read


def _require_words(error: Exception, lines: int = 1) -> None:
    """See that a message is of one line, or of so many, of bounded length."""
    text = str(error)
    assert text, "nothing is said"
    assert text.count("\n") < lines, repr(text)
    assert max(map(len, text.splitlines())) < 4000, len(text)


def fuzz(name: str, seconds: int, seed: int) -> None:
    """Fuzz one target in this process, which libFuzzer ends."""
    import atheris

    with atheris.instrument_imports(include=INSTRUMENTED):
        seeds, read = target(name)
    with tempfile.TemporaryDirectory(prefix="limbsweep-fuzz-") as folder:
        tempfile.tempdir = folder
        corpus = Path(folder, "corpus")
        corpus.mkdir()
        for number, data in enumerate(seeds):
            (corpus / str(number)).write_bytes(data)
        words = Path(folder, "words")
        words.write_text("".join(f'"{word}"\n' for word in WORDS), encoding="utf-8")
        options = (
            f"-dict={words} -max_total_time={seconds} -seed={seed} -max_len={LONGEST} -timeout={SECONDS} "
            f"-rss_limit_mb={MEMORY} -print_final_stats=1 -verbosity=0 -artifact_prefix={Path.cwd()}/fuzz-{name}-"
        )
        atheris.Setup([sys.argv[0], *options.split(), str(corpus)], read)
        atheris.Fuzz()


def figures(stderr: str) -> Iterator[str]:
    """Read the figures that libFuzzer prints at its end."""
    for line in stderr.splitlines():
        if line.startswith(("stat::number_of_executed_units", "stat::new_units_added", "stat::peak_rss_mb")):
            yield " ".join(line.removeprefix("stat::").split())


def main() -> int:
    """Fuzz the targets one after another; 1 where one of them crashes, hangs, grows or raises."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.campaigns.fuzz", description=__doc__)
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=f"some of {', '.join(TARGETS)}")
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--seed", type=int, default=random.randrange(1, 2**31))
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        fuzz(options.targets[0], options.seconds, options.seed)
        return 0
    if unknown := set(options.targets) - set(TARGETS):
        parser.error(f"there is no target {min(unknown)!r}")
    failed = 0
    print(f"seed {options.seed}", flush=True)
    for name in options.targets or TARGETS:
        command = [sys.executable, "-m", "benchmarks.campaigns.fuzz", name, "--one", "--seconds", str(options.seconds)]
        done = subprocess.run([*command, "--seed", str(options.seed)], capture_output=True, text=True, check=False)
        failed += done.returncode != 0
        print(f"{name}: {'ok' if done.returncode == 0 else 'FAILED'}, {', '.join(figures(done.stderr))}", flush=True)
        if done.returncode:
            print("\n".join((done.stdout + done.stderr).splitlines()[-40:]), flush=True)
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
