"""A store against a simple reference, by whatever order of runs, deaths, growth, repairs, exchanges and replays.

The reference is a dictionary: which blocks have a receipt, which files were damaged since, how many designs there are.
Whatever happens, a number that is read is the right one, damage that was done is found, and repair brings all back.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from storage.encoding.documents import METADATA
from storage.errors import StoreError
from storage.growth import Growing, abandon, begin, commit, grown, is_growing
from storage.integrity import check_blocks, check_files, check_ledger, open_for_repair
from storage.layout import Layout
from storage.ledger import generation_name
from storage.manifest import MANIFEST, Manifest
from storage.places.access import coordinator_lock
from storage.places.local import LocalFolder
from storage.store import create, describe, metadata, open_results
from tests.storage.cases import ATTRIBUTES, FEW, fill, lasting

MOST = 6
"""Designs of the largest store."""


def attributes(designs: int) -> dict[str, str]:
    return {**ATTRIBUTES, "fingerprint": str(designs)}


class StoreMachine(RuleBasedStateMachine):
    """Operations and damages of a store, in any order."""

    @initialize()
    def begin(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="limbsweep-stateful-"))
        self.path = self.folder / "s.zarr"
        self.location = LocalFolder(self.path)
        create(self.path, FEW, (), attributes(FEW.sizes["design"]))
        self.damaged: set[str] = set()
        self.copies: dict[str, bytes] = {}
        self.ages: list[dict[str, bytes]] = []

    def teardown(self) -> None:
        if hasattr(self, "folder"):
            shutil.rmtree(self.folder, ignore_errors=True)

    @property
    def manifest(self) -> Manifest:
        return Manifest.load(self.location)

    @property
    def layout(self) -> Layout:
        return self.manifest.layout

    def is_finished(self) -> bool:
        return self.manifest.state == "finished"

    def is_sound(self) -> bool:
        return self.is_finished() and not self.damaged and not is_growing(self.location)

    @precondition(lambda self: not self.damaged and not is_growing(self.location))
    @rule(blocks=st.integers(1, 9))
    def run_some_blocks(self, blocks: int) -> None:
        fill(self.location, lasting, blocks=blocks)

    @precondition(lambda self: not self.damaged and not self.is_finished())
    @rule()
    def die_with_drafts(self) -> None:
        (self.path / "peak_force/.c.0.0.0.0.ab.draft").write_bytes(b"half")
        journal = self.path / f"{generation_name(self.manifest.generation)}.jsonl"
        if journal.exists():
            with journal.open("ab") as stream:
                stream.write(b'{"block":')

    @precondition(lambda self: self.is_sound() and self.layout.sizes["design"] < MOST)
    @rule(more=st.integers(1, 2))
    def grow(self, more: int) -> None:
        old = self.manifest
        designs = min(MOST, self.layout.sizes["design"] + more)
        layout = grown(self.layout, {**self.layout.sizes, "design": designs})
        files = metadata(layout, (), attributes(designs))
        with coordinator_lock(self.location):
            begin(self.location, describe(layout, attributes(designs), files, old.generation + 1), files)

    @precondition(lambda self: is_growing(self.location) and not self.damaged)
    @rule(blocks=st.integers(1, 9), gives_up=st.booleans())
    def go_on_growing(self, blocks: int, gives_up: bool) -> None:
        if gives_up:
            with coordinator_lock(self.location):
                abandon(self.location)
            return
        fill(Growing(self.location), lasting, blocks=blocks)
        if Manifest.load(Growing(self.location)).state == "finished":
            with coordinator_lock(self.location):
                commit(self.location)

    def shards(self) -> list[str]:
        return [key for name in self.layout.variables for key in self.layout.variables[name].all_keys()]

    @precondition(lambda self: self.is_sound())
    @rule(data=st.data())
    def keep_a_copy(self, data: st.DataObject) -> None:
        key = data.draw(st.sampled_from(self.shards()))
        self.copies[key] = (self.path / key).read_bytes()

    @precondition(lambda self: self.is_sound())
    @rule()
    def keep_the_age(self) -> None:
        """Keep metadata, manifest and ledger as they are now."""
        names = [MANIFEST, METADATA, f"{generation_name(self.manifest.generation)}.jsonl"]
        self.ages.append({name: (self.path / name).read_bytes() for name in names})

    @precondition(lambda self: self.is_sound() and self.ages)
    @rule(data=st.data())
    def replay_an_older_age(self, data: st.DataObject) -> None:
        """One file of an older age in the place of today's: right numbers of some age, or an error."""
        age = data.draw(st.sampled_from(self.ages))
        key = data.draw(st.sampled_from(sorted(age)))
        file = self.path / key
        today = file.read_bytes() if file.exists() else None
        file.write_bytes(age[key])
        try:
            results, layout = open_results(self.path), self.layout
            for name in layout.variables:
                assert (results[name].values == lasting(layout, name)).all(), (key, name)
        except StoreError:
            assert age[key] != today
        finally:
            file.unlink() if today is None else file.write_bytes(today)

    @precondition(lambda self: self.is_sound())
    @rule()
    def verify(self) -> None:
        assert [*check_files(self.path), *check_ledger(self.path)] == []
        assert [finding for block in check_blocks(self.path) for finding in block.findings] == []

    def put(self, key: str, content: bytes | None) -> None:
        file = self.path / key
        if content is None:
            file.unlink()
            self.damaged.add(key)
        elif content != file.read_bytes():
            file.write_bytes(content)
            self.damaged.add(key)

    @precondition(lambda self: self.is_sound())
    @rule(data=st.data(), how=st.sampled_from(["swap", "delete", "flip", "replay"]))
    def damage(self, data: st.DataObject, how: str) -> None:
        one, other = (data.draw(st.sampled_from(self.shards())) for _ in range(2))
        first, second = (self.path / one).read_bytes(), (self.path / other).read_bytes()
        if how == "swap":
            self.put(one, second)
            self.put(other, first)
        elif how == "delete":
            self.put(one, None)
        elif how == "flip":
            place = data.draw(st.integers(0, len(first) - 1))
            self.put(one, first[:place] + bytes([first[place] ^ 1]) + first[place + 1 :])
        elif self.copies:
            key = data.draw(st.sampled_from(sorted(self.copies)))
            self.put(key, self.copies[key])

    @precondition(lambda self: self.damaged)
    @rule()
    def repair(self) -> None:
        findings = [*check_files(self.path), *check_ledger(self.path)]
        findings += [finding for block in check_blocks(self.path) for finding in block.findings]
        files = {finding.file.removeprefix(f"{self.path}/") for finding in findings}
        same = {key for key in self.damaged - files if self.holds_right_numbers(key)}
        assert self.damaged - same <= files
        open_for_repair(self.path, findings)
        fill(self.location, lasting)
        self.damaged = set()

    def holds_right_numbers(self, key: str) -> bool:
        """Return whether a file that was exchanged has the same numbers: those of a status are the same everywhere."""
        from storage.writer import BlockReader

        name = key.partition("/")[0]
        reader = BlockReader(self.location, self.layout)
        index = next(i for i in range(self.layout.blocks) if self.layout.variables[name].key(i) == key)
        expected = lasting(self.layout, name)[self.layout.variables[name].region(index)]
        return bool((reader.read_region(index, self.layout.variables[name]) == expected).all())

    @invariant()
    def numbers_are_right_or_an_error(self) -> None:
        if not hasattr(self, "path"):
            return
        data = open_results(self.path, unfinished=True)
        layout, finished = self.layout, self.is_finished()
        for name in layout.variables:
            expected: Any = lasting(layout, name)
            try:
                values = data[name].values
            except StoreError:
                assert any(key.startswith(f"{name}/") for key in self.damaged), name
                continue
            right = values == expected
            missing = np.isnan(values) if values.dtype.kind == "f" else values == layout.variables[name].row.fill
            assert (right | (missing & (not finished))).all(), name


StoreMachine.TestCase.settings = settings(
    max_examples=12, stateful_step_count=12, deadline=None, suppress_health_check=list(HealthCheck)
)
TestStore = StoreMachine.TestCase


class LongStoreMachine(StoreMachine):
    """The same for many stores and more steps."""


LongStoreMachine.TestCase.settings = settings(
    max_examples=400, stateful_step_count=40, deadline=None, suppress_health_check=list(HealthCheck)
)
TestStoreAtLength = pytest.mark.slow(LongStoreMachine.TestCase)
