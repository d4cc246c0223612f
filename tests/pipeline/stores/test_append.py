"""More designs or friction sets for a finished store."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from applications.commands.cli import cli
from pipeline import append, run, verify
from pipeline.monitor.log import Event
from pipeline.stores.append import drop
from storage import open_results
from storage.errors import StoreError
from storage.growth import is_growing
from tests.pipeline.runs import (
    SMALL,
    SYNCHRONOUS,
    compute_other_bits,
    content_hash,
    done,
    sweep,
    wrap_blocks,
)

FEW = f"{SMALL}outputs: [actuator_force, platform_position]\nmetrics: [peak_force]\n"
DESIGNS = FEW.replace("[0.22, 0.25, 0.28, 0.31]", "[0.22, 0.25, 0.28, 0.31, 0.34]")
FRICTION = FEW.replace("viscous: {values: [0.0, 0.05, 0.1]}", "viscous: {values: [0.0, 0.05, 0.1, 0.2, 0.4]}")
BOTH = DESIGNS.replace("viscous: {values: [0.0, 0.05, 0.1]}", "viscous: {values: [0.0, 0.05, 0.1, 0.2]}")
LARGER = {"designs": DESIGNS, "friction": FRICTION, "both": BOTH}


CUT = {"small": 41 * 5, "friction": 41 * 5 * 2}
"""Blocks of five designs on one trajectory with two friction sets: the last ones of both axes are shorter."""


def limbsweep(*arguments: str) -> Result:
    result = CliRunner().invoke(cli, arguments)
    assert "Traceback" not in result.stderr
    return result


@pytest.mark.parametrize("name", LARGER)
def test_a_larger_store_is_that_of_the_larger_sweep(name: str, path: Path) -> None:
    expected = content_hash(run(sweep(LARGER[name]), cluster=SYNCHRONOUS))
    events: list[Event] = []
    grown = append(path, sweep(LARGER[name]), SYNCHRONOUS, [events.append])
    assert content_hash(grown) == content_hash(path) == expected
    assert 0 < len(done(events)) < grown.sizes["design"] * grown.sizes["friction"], "what is there is not computed"
    assert verify(path, recompute=0.3, cluster=SYNCHRONOUS).is_sound
    assert open_results(path).attrs["sweep"] == LARGER[name]
    assert content_hash(append(path, sweep(LARGER[name]), SYNCHRONOUS)) == expected, "a second time changes nothing"
    assert content_hash(run(sweep(LARGER[name]), path, SYNCHRONOUS)) == expected, "it is a store of that sweep now"


def test_a_single_design_becomes_many(tmp_path: Path) -> None:
    def listed(numbers: str) -> str:
        text = FEW.replace("upper_arm: {values: [0.22, 0.25, 0.28, 0.31]}\n", f"upper_arm: {{values: [{numbers}]}}\n")
        return text.replace("    base_radius: {values: [0.14, 0.15, 0.16]}\n", "")

    run(sweep(listed("0.22")), tmp_path / "s.zarr", SYNCHRONOUS)
    append(tmp_path / "s.zarr", sweep(listed("0.22, 0.25, 0.28")), SYNCHRONOUS)
    append(tmp_path / "s.zarr", sweep(listed("0.22, 0.25, 0.28, 0.31")), SYNCHRONOUS)
    assert content_hash(tmp_path / "s.zarr") == content_hash(
        run(sweep(listed("0.22, 0.25, 0.28, 0.31")), cluster=SYNCHRONOUS)
    )


OTHERS = {
    "a value in the middle": (("0.25,", "0.26,"), r"design 3: upper_arm 0\.25 in the store, 0\.26 given"),
    "fewer designs": (("[0.22, 0.25, 0.28, 0.31]", "[0.22, 0.25]"), "design: 12 in the store, 6 given"),
    "a faster axis": (("[0.14, 0.15, 0.16]", "[0.14, 0.15, 0.16, 0.17]"), r"design 3: "),
    "another parameter": (
        ("base_radius: {values: [0.14, 0.15, 0.16]}", "platform_radius: {values: [0.05]}"),
        "design: axis of ",
    ),
    "another friction law": (("coulomb: 0.2}", "coulomb: 0.3}"), r"friction\.parameters\.coulomb: 0\.2 in the store"),
    "a friction set": (
        ("[0.0, 0.05, 0.1]", "[0.0, 0.06, 0.1]"),
        r"friction 1: viscous 0\.05 in the store, 0\.06 given",
    ),
    "another trajectory": (("radius: 0.1", "radius: 0.11"), r"trajectories\.fast\.values\.radius: 0\.1 in the store"),
    "another step": (("step: 0.02", "step: 0.04"), r"time\.step: 0\.02 in the store"),
    "other outputs": (("metrics: [peak_force]", "metrics: []"), r'metrics: \["peak_force"\] in the store'),
}


@pytest.mark.parametrize("name", OTHERS)
def test_anything_else_is_refused_with_the_difference(name: str, path: Path) -> None:
    (old, new), message = OTHERS[name]
    before = {file: file.stat().st_mtime_ns for file in path.rglob("*") if file.name != "coordinator.lock"}
    assert old in FEW
    Path("other.yaml").write_text(FEW.replace(old, new))
    refused = limbsweep("append", "s.zarr", "other.yaml", "--cluster", "here.yaml")
    assert refused.exit_code == 2
    assert "only designs and friction sets can be appended, at the end of their axes" in refused.stderr
    with pytest.raises(StoreError, match=message):
        append(path, sweep(FEW.replace(old, new)), SYNCHRONOUS)
    assert {file: file.stat().st_mtime_ns for file in path.rglob("*") if file.name != "coordinator.lock"} == before


def interrupt(victim: int, index: int, body: Any, *arguments: Any) -> Any:
    if index == victim:
        raise KeyboardInterrupt
    return body(*arguments)


def test_an_interrupted_append_leaves_the_old_content_and_goes_on(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old = content_hash(path)
    Path("more.yaml").write_text(BOTH)
    command = ("append", "s.zarr", "more.yaml", "--cluster", "here.yaml")
    with monkeypatch.context() as patch:
        wrap_blocks(patch, interrupt, 10)
        first = limbsweep(*command)
    assert first.exit_code == 130
    assert "go on with: limbsweep append s.zarr more.yaml --cluster here.yaml" in first.stderr
    assert content_hash(path) == old
    assert verify(path).is_sound
    with pytest.raises(StoreError, match=r"an append of another sweep has been begun; go on with that one, or drop it"):
        append(path, sweep(DESIGNS), SYNCHRONOUS)
    assert content_hash(run(sweep(FEW), path, SYNCHRONOUS)) == old, "a run of the old sweep finds it finished"
    assert limbsweep(*command).exit_code == 0
    assert content_hash(path) == content_hash(run(sweep(BOTH), cluster=SYNCHRONOUS))


def test_a_failed_block_leaves_the_append_unfinished(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def poisoned(index: int, body: Any, *arguments: Any) -> Any:
        if index == 10:
            raise ZeroDivisionError
        return body(*arguments)

    old = content_hash(path)
    Path("more.yaml").write_text(BOTH)
    command = ("append", "s.zarr", "more.yaml", "--cluster", "here.yaml")
    with monkeypatch.context() as patch:
        wrap_blocks(patch, poisoned)
        assert limbsweep(*command).exit_code == 1
    assert content_hash(path) == old
    assert limbsweep(*command).exit_code == 0


def test_an_append_can_be_dropped(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old = content_hash(path)
    with monkeypatch.context() as patch:
        wrap_blocks(patch, interrupt, 10)
        with pytest.raises(KeyboardInterrupt):
            append(path, sweep(BOTH), SYNCHRONOUS)
    assert is_growing(path)
    assert limbsweep("append", "s.zarr", "--drop").exit_code == 0
    assert content_hash(path) == old
    assert verify(path).is_sound
    with pytest.raises(StoreError, match="no append has been begun; there is nothing to drop"):
        drop(path)
    append(path, sweep(DESIGNS), SYNCHRONOUS)


def test_a_store_that_is_not_finished_is_not_appended_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        wrap_blocks(patch, interrupt, 2)
        with pytest.raises(KeyboardInterrupt):
            run(sweep(FEW), tmp_path / "s.zarr", SYNCHRONOUS)
    with pytest.raises(StoreError, match="is not finished; first run its own sweep to the end"):
        append(tmp_path / "s.zarr", sweep(DESIGNS), SYNCHRONOUS)


def test_a_machine_with_other_bits_is_refused(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compute_other_bits(monkeypatch)
    with pytest.raises(StoreError, match=r"computed again it has other bits in peak_force; another machine or version"):
        append(path, sweep(DESIGNS), SYNCHRONOUS)
    assert not is_growing(path)


@pytest.mark.parametrize("arguments", [("s.zarr",), ("s.zarr", "more.yaml", "--drop"), ("nothing", "--drop"), ()])
def test_misuse_ends_with_2(path: Path, arguments: tuple[str, ...]) -> None:
    Path("more.yaml").write_text(BOTH)
    assert limbsweep("append", *arguments).exit_code == 2
