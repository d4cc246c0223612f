"""Stores of real sweeps are verified, computed again and repaired; the store's own sweep repeats it."""

from __future__ import annotations

import errno
import os
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from applications.commands.cli import cli
from pipeline import verify
from pipeline.stores import names
from pipeline.sweep.stored import stored_sweep
from robots.parameter_errors import ParameterError
from storage import open_results
from storage.encoding.checksums import checksum
from storage.errors import StoreError
from storage.integrity import check_blocks, open_for_repair
from storage.layout import Layout
from storage.ledger import Ledger, Receipt, line, receipts
from storage.manifest import Attributes, Manifest
from storage.places.access import locate
from storage.places.local import LocalFolder
from storage.store import StoreWriter
from tests.pipeline.runs import SYNCHRONOUS, compute_other_bits, content_hash, wrap_blocks
from tests.storage.formats import turn_into

BLOCKS = 8


CUT = {"small": 41 * 8, "friction": 41 * 8 * 2}
"""Eight blocks."""


def layout(path: Path) -> Layout:
    return Manifest.load(path).layout


def limbsweep(*arguments: str) -> Result:
    result = CliRunner().invoke(cli, [*arguments, "--cluster", "here.yaml"])
    assert "Traceback" not in result.stderr
    return result


def test_a_sound_store(path: Path) -> None:
    found = verify(path, recompute=0.5, seed=3, cluster=SYNCHRONOUS)
    assert found.is_sound
    assert found.blocks == layout(path).blocks == BLOCKS
    assert len(found.recomputed) == BLOCKS // 2
    assert found == verify(path, recompute=0.5, seed=3, cluster=SYNCHRONOUS)
    assert verify(path, recompute=1e-9, seed=4, cluster=SYNCHRONOUS).recomputed
    assert verify(path).recomputed == ()


@pytest.mark.parametrize("share", [-0.1, 1.1])
def test_a_share_that_is_none(path: Path, share: float) -> None:
    with pytest.raises(StoreError, match=r"recompute: got .*; expected a share of the blocks from 0 to 1"):
        verify(path, recompute=share)


@pytest.mark.parametrize("share", [float("nan"), "x"])
def test_a_share_that_is_no_number(path: Path, share: float) -> None:
    with pytest.raises(ParameterError, match=r"recompute: got .*; expected a number"):
        verify(path, recompute=share)


def test_damage_is_found_named_and_repaired_by_computing_nothing_else(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = content_hash(path)
    cut = layout(path)
    (path / cut.variables["peak_force"].key(1)).unlink()
    file = path / cut.variables["actuator_force"].key(4)
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 4
    file.write_bytes(data)
    first = limbsweep("verify", "s.zarr")
    assert first.exit_code == 1
    assert f"missing  s.zarr/{cut.variables['peak_force'].key(1)}: missing (block 1 of peak_force)" in first.stdout
    assert (
        f"damaged  s.zarr/{cut.variables['actuator_force'].key(4)}: damaged (block 4 of actuator_force: "
        in first.stdout
    )
    computed: list[int] = []

    def seen(index: int, body: Any, *arguments: Any) -> Any:
        computed.append(index)
        return body(*arguments)

    wrap_blocks(monkeypatch, seen)
    second = limbsweep("verify", "s.zarr", "--repair")
    assert (second.exit_code, computed) == (0, [1, 4])
    assert "repaired  blocks 1, 4" in second.stdout
    assert content_hash(path) == expected
    assert limbsweep("verify", "s.zarr").exit_code == 0


def test_results_that_were_exchanged_with_their_receipts_are_found_by_computing(path: Path) -> None:
    """Replace results by other numbers with matching checksums and receipts."""
    writer = StoreWriter(path)
    arrays = writer.read(2)
    arrays["peak_force"] = arrays["peak_force"] * 1.0001
    forged = writer.write(2, arrays)
    journal = locate(path).journal("ledger")
    others = [each for each in receipts(journal) if isinstance(each, Receipt) and each.block != 2]
    journal.replace(line(each) for each in (*others, forged))
    assert [(each.kind, "not the receipts that" in each.text) for each in verify(path).findings] == [("ledger", True)]
    replace(Manifest.load(path), ledger=Ledger.read(path, BLOCKS).seal).save(path)
    assert verify(path).is_sound, "now the manifest says the same; only a signature would tell"
    found = verify(path, recompute=1.0, cluster=SYNCHRONOUS)
    assert [(each.kind, each.block) for each in found.findings] == [("other result", 2)]
    assert str(found.findings[0]).endswith("s.zarr: block 2: computed again it has other bits in peak_force")
    assert not verify(path, recompute=1.0, repair=True, cluster=SYNCHRONOUS).is_sound, "which one is right is not known"


@pytest.mark.parametrize("is_old", [False, True])
def test_exchanged_coordinates_are_found_named_and_made_again(path: Path, is_old: bool) -> None:
    expected = content_hash(path)
    if is_old:
        turn_into(path, 3)
        assert limbsweep("verify", "s.zarr").exit_code == 0
    one, other = path / "upper_arm/c.0", path / "base_radius/c.0"
    first, second = one.read_bytes(), other.read_bytes()
    one.write_bytes(second)
    other.write_bytes(first)
    result = limbsweep("verify", "s.zarr")
    assert result.exit_code == 1
    assert all(f"s.zarr/{name}/c.0: damaged" in result.stdout for name in ("upper_arm", "base_radius"))
    if not is_old:
        for command in (("info", "s.zarr"), ("export", "s.zarr", "--format", "npz", "--output", "x")):
            refused = CliRunner().invoke(cli, command)
            assert (refused.exit_code, Path("x").exists()) == (2, False), command
            assert re.search(r"(upper_arm|base_radius)/c.0: damaged .*its checksum", refused.stderr), command
    assert limbsweep("verify", "s.zarr", "--repair").exit_code == 0
    assert (one.read_bytes(), other.read_bytes()) == (first, second)
    assert content_hash(path) == expected


def reseal(path: Path, *keys: str) -> None:
    """Make checksums in the manifest match again, as somebody would who edits a store on purpose."""
    manifest = Manifest.load(path)
    sums = {key: checksum(key, (path / key).read_bytes()) for key in keys}
    replace(manifest, files={**manifest.files, **sums}).save(path)


def test_codes_that_a_status_did_not_have_yet_are_no_damage_and_exchanged_ones_are(path: Path) -> None:
    keys = [str(file.relative_to(path)) for file in path.rglob("zarr.json") if "flag_values" in file.read_text()]
    assert len(keys) > 1

    def turned(code: str) -> None:
        for key in keys:
            text = re.sub(r"(\"flag_values\":\s*)\[.*?\]", rf"\1[0, {code}]", (path / key).read_text(), flags=re.DOTALL)
            (path / key).write_text(re.sub(r"(\"flag_meanings\":\s*)\".*?\"", r'\1"OK NOT_REACHABLE"', text))
        reseal(path, *keys)

    turned("1")
    assert verify(path, recompute=0.1, cluster=SYNCHRONOUS).is_sound
    turned("2")
    found = verify(path, recompute=0.1, cluster=SYNCHRONOUS).findings
    assert {each.file.removeprefix(f"{path}/") for each in found} == set(keys)


def test_coordinates_and_metadata_that_were_edited_consistently_are_found_by_computing(path: Path) -> None:
    one, other = path / "upper_arm/c.0", path / "base_radius/c.0"
    first, second = one.read_bytes(), other.read_bytes()
    one.write_bytes(second)
    other.write_bytes(first)
    for key in ("zarr.json", "peak_force/zarr.json"):
        (path / key).write_text((path / key).read_text().replace('"N m"', '"kN m"'))
    reseal(path, "upper_arm/c.0", "base_radius/c.0", "zarr.json", "peak_force/zarr.json")
    assert verify(path).is_sound
    found = verify(path, recompute=0.1, cluster=SYNCHRONOUS)
    assert sorted(each.file.removeprefix(f"{path}/") for each in found.findings) == [
        "base_radius/c.0",
        "peak_force/zarr.json",
        "upper_arm/c.0",
        "zarr.json",
    ]
    assert all("differs from the sweep" in str(each) for each in found.findings)
    assert verify(path, recompute=0.1, repair=True, cluster=SYNCHRONOUS).is_sound
    assert (one.read_bytes(), other.read_bytes()) == (first, second)
    assert open_results(path)["peak_force"].attrs["units"] == "N m"


def test_files_of_others_are_listed_and_are_no_damage(path: Path) -> None:
    (path / "notes.txt").write_text("mine")
    result = limbsweep("verify", "s.zarr")
    assert result.exit_code == 0
    assert "foreign  s.zarr/notes.txt: a file, not of this store; nothing reads it" in result.stdout
    assert limbsweep("verify", "s.zarr", "--repair").exit_code == 0
    assert (path / "notes.txt").exists()


def test_a_folder_in_the_place_of_a_shard_is_repaired(path: Path) -> None:
    expected = content_hash(path)
    shard = path / layout(path).variables["peak_force"].key(1)
    shard.unlink()
    shard.mkdir()
    assert "a folder (block 1 of peak_force)" in limbsweep("verify", "s.zarr").stdout
    assert limbsweep("verify", "s.zarr", "--repair").exit_code == 0
    assert content_hash(path) == expected


@pytest.mark.parametrize("name", ["ledger.jsonl", "zarr.json", "time/c.0"])
def test_a_link_in_the_place_of_a_file_is_listed_and_replaced(path: Path, tmp_path: Path, name: str) -> None:
    expected = content_hash(path)
    (tmp_path / "precious").write_text("mine")
    (path / name).unlink()
    (path / name).symlink_to(tmp_path / "precious")
    first = limbsweep("verify", "s.zarr")
    assert (first.exit_code, f"s.zarr/{name}: " in first.stdout, "a link" in first.stdout) == (1, True, True), (
        first.stdout
    )
    assert limbsweep("verify", "s.zarr", "--repair").exit_code == 0
    assert content_hash(path) == expected
    assert (tmp_path / "precious").read_text() == "mine"


def test_a_missing_coordinate_is_no_zeros_in_an_export(path: Path) -> None:
    Path("s.zarr/upper_arm/c.0").unlink()
    Path("s.zarr/time/c.0").unlink()
    commands = (
        ("export", "s.zarr", "--format", "csv", "--output", "x"),
        ("report", "s.zarr", "--output", "r.html"),
        ("study", "rank", "s.zarr", "--objective", "peak_force"),
        ("info", "s.zarr"),
    )
    for command in commands:
        refused = CliRunner().invoke(cli, command)
        assert (refused.exit_code, "/c.0: missing" in refused.stderr) == (2, True), (command, refused.stderr)
    assert sorted(os.listdir()) == ["here.yaml", "s.zarr"]


def test_a_machine_that_repairs_otherwise_is_told(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (path / layout(path).variables["peak_force"].key(3)).unlink()
    compute_other_bits(monkeypatch)
    found = verify(path, repair=True, cluster=SYNCHRONOUS)
    assert [str(each) for each in found.findings] == [f"{path}: block 3: repaired with other bits than at first"]


def test_a_block_that_cannot_be_computed_again(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pipeline.execution.graph.motions", lambda block: 1 / 0)
    found = verify(path, recompute=1.0, cluster=SYNCHRONOUS)
    assert len(found.findings) == BLOCKS
    assert "cannot be computed again: ZeroDivisionError" in str(found.findings[0])


@pytest.mark.parametrize("arguments", [("nothing",), ("here.yaml",), ("s.zarr", "--recompute", "2"), ()])
def test_misuse_ends_with_2(path: Path, arguments: tuple[str, ...]) -> None:
    assert limbsweep("verify", *arguments).exit_code == 2


# the store's own sweep


def test_a_store_is_repeated_from_itself(path: Path) -> None:
    again = limbsweep("run", "s.zarr", "--store", "t.zarr")
    assert (again.exit_code, again.stdout) == (0, "results in t.zarr\n")
    assert content_hash(Path("t.zarr")) == content_hash(path)
    nothing = limbsweep("run", "s.zarr")
    assert (nothing.exit_code, nothing.stdout) == (0, "results in s.zarr\n")


def test_a_store_goes_on_from_itself(path: Path) -> None:
    (path / layout(path).variables["peak_force"].key(3)).unlink()
    open_for_repair(path, [each for one in check_blocks(path) for each in one.findings])
    assert limbsweep("run", "s.zarr").exit_code == 0
    assert verify(path).is_sound


def test_a_text_that_means_something_else_now_is_refused(path: Path) -> None:
    manifest = Manifest.load(path)
    replace(manifest, attributes=Attributes({**manifest.attributes.values, "fingerprint": "0" * 64})).save(path)
    with pytest.raises(StoreError, match=r"its sweep has fingerprint .*; expected 0{64}; a file that it names in '\.'"):
        stored_sweep(path)


# elsewhere


def test_a_sweep_runs_into_objects(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(names, "FLEETING", ())  # as a stand-in for a service
    url = "memory://verification/s"
    done = limbsweep("run", "s.zarr", "--store", url)
    assert (done.exit_code, done.stdout) == (0, f"results in {url}\n")
    expected = open_results(path)
    found = open_results(url)
    for name in expected.data_vars:
        assert (found[name].values.tobytes()) == expected[name].values.tobytes()
    assert limbsweep("verify", url, "--recompute", "0.2").exit_code == 0
    assert "finished" in CliRunner().invoke(cli, ["info", url]).stdout


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EIO, errno.ETIMEDOUT])
def test_a_write_that_fails_ends_with_2_and_the_next_run_goes_on(
    path: Path, code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    write, count = LocalFolder.write, [0]

    def fail(self: LocalFolder, key: str, parts: Any) -> None:
        count[0] += 1
        if count[0] == 7:
            raise OSError(code, os.strerror(code))
        write(self, key, parts)

    with monkeypatch.context() as patch:
        patch.setattr(LocalFolder, "write", fail)
        first = limbsweep("run", "s.zarr", "--store", "t.zarr")
    assert first.exit_code == 2
    assert f"{os.strerror(code)}; check free space and permissions" in first.stderr
    assert limbsweep("run", "s.zarr", "--store", "t.zarr").exit_code == 0
    assert content_hash(Path("t.zarr")) == content_hash(path)
