"""Doors that run a sweep, in memory or into a store, each with the check that the numbers are those of others."""

from __future__ import annotations

import contextlib
import json
import shutil
import time
import warnings
from collections.abc import Iterator
from dataclasses import replace
from unittest import mock

import dask
import xarray as xr

import limbsweep as ls
from benchmarks.composition import slow
from benchmarks.composition.case import SYNCHRONOUS, Case, NoMeaningError, require_equal
from benchmarks.composition.command import command
from benchmarks.figures import require
from pipeline.documents.yaml import parse_yaml
from pipeline.errors import RunStoppedError
from pipeline.execution import submit as submitted_run
from pipeline.monitor.log import BlockDone
from pipeline.plan import model, plan
from pipeline.sweep.user_metrics import with_metrics


def check(case: Case) -> None:
    """Check that the plan states the sizes of the results."""
    text = command("check", case.file)
    for dim, size in case.sweep.sizes.items():
        require(f"{size:,}" in text, f"limbsweep check does not say {size} of {dim}")


def compute(case: Case) -> None:
    """Check that the results in memory are those of the slow path."""
    slow.check(case)


def run(case: Case) -> None:
    """Check that a store has the bits of results in memory."""
    require_equal(ls.open(case.store).load(), case.results, "run")


def lazy(case: Case) -> None:
    """Check that lazy results have the bits of others."""
    if case.own:
        raise NoMeaningError("lazy takes no metrics of a user's own")
    with dask.config.set(scheduler="synchronous"):
        require_equal(ls.lazy(case.sweep).load(), case.results, "lazy")


def to_zarr(case: Case) -> None:
    """Check that lazy results, chunked anew and written by xarray, have the bits of others."""
    if case.own:
        raise NoMeaningError("lazy takes no metrics of a user's own")
    path = case.folder / "other.zarr"
    with dask.config.set(scheduler="synchronous"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of Zarr, about texts in its third format
        ls.lazy(case.sweep).chunk({"design": 2}).to_zarr(path, consolidated=False)
        written = xr.open_zarr(path, consolidated=False, decode_times=False).load()
    require_equal(written, case.results, "to_zarr")


@contextlib.contextmanager
def finely() -> Iterator[None]:
    """Make plans of many blocks: one design on one trajectory each."""
    small = {"SMALL_BLOCK": 1, "WANTED_BLOCKS": 10**9, "FRICTION_SAMPLES": 1}
    with contextlib.ExitStack() as stack:
        for name, value in small.items():
            stack.enter_context(mock.patch.object(plan, name, value))
        stack.enter_context(mock.patch.object(model, "MAX_FILES", 10**9))
        yield


def resume(case: Case) -> None:
    """Check that a run stopped after its first block continues and ends with the same bits, however it is cut."""
    path = case.folder / "stopped.zarr"

    def stop(event: object) -> None:
        if isinstance(event, BlockDone):
            raise KeyboardInterrupt

    with finely():
        with contextlib.suppress(KeyboardInterrupt, RunStoppedError):
            ls.run(case.sweep, path, SYNCHRONOUS, (stop,), metrics=case.own, progress=False)
        ls.run(case.sweep, path, SYNCHRONOUS, metrics=case.own, progress=False)
    require_equal(ls.open(path).load(), case.results, "resume")


def submit(case: Case) -> None:
    """Check that a run in a process of its own, in tasks for limbs, has the bits of others."""
    path = case.folder / "submitted.zarr"
    submitted_run.submit(with_metrics(case.sweep, case.own) if case.own else case.sweep, path, SYNCHRONOUS, "limb")
    last = time.monotonic() + 120.0
    while (state := ls.status(path)).done < state.blocks and time.monotonic() < last:
        time.sleep(0.2)
    require(state.done == state.blocks, f"submit: {state.done} of {state.blocks} blocks are done")
    require_equal(ls.open(path).load(), case.results, "submit")


def robots_list(case: Case) -> None:
    """Check that a robot with sections of its own, in a list of robots, has the bits of one alone."""
    content = parse_yaml(case.file.read_text(encoding="utf-8"), "sweep").data
    own = {key: content.pop(key) for key in ("design", "limits", "parameters") if key in content}
    del content["robot"]
    path, name = case.folder / "robots.yaml", case.machine.source
    if case.machine.file:
        name = "robot.yaml"
        shutil.copy(case.machine.source, case.folder / name)
    path.write_text(json.dumps({**content, "robots": {name: own}}), encoding="utf-8")
    (sweep,) = ls.read_sweeps(path)
    require_equal(ls.compute(sweep, metrics=case.own, progress=False), case.results, "robots list")


def append(case: Case) -> None:
    """Check that a store that grows by designs has the bits of the whole."""
    if case.own:
        raise NoMeaningError("append takes no metrics of a user's own")
    design = case.content.get("design", {})
    name, values = next(iter(design.get("grid", {}).items()), ("", []))
    first = values["values"] if isinstance(values, dict) else values
    if "file" in design or "list" in design or "sample" in design or len(first) < 2:
        raise NoMeaningError("no grid of designs to be longer")
    less = {**values, "values": first[:-1]} if isinstance(values, dict) else first[:-1]
    short = replace(case, changes={**case.changes, "design": {**design, "grid": {**design["grid"], name: less}}})
    path = case.folder / "grown.zarr"
    ls.run(short.sweep, path, SYNCHRONOUS, progress=False)
    ls.append(path, case.sweep, SYNCHRONOUS)
    require_equal(ls.open(path).load(), case.results, "append")


def verify(case: Case) -> None:
    """Check that a store is sound."""
    require(ls.verify(case.store).is_sound, "verify has findings")


def recompute(case: Case) -> None:
    """Compute each block again, and compare it with the store."""
    if case.own:
        raise NoMeaningError("a store does not keep metrics of a user's own")
    found = ls.verify(case.store, 1.0, cluster=SYNCHRONOUS)
    require(found.is_sound and len(found.recomputed) > 0, f"recompute has findings {found.findings[:1]}")
