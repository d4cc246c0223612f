"""Small sweeps, hashes of results, and blocks that misbehave, for the tests of planning and running."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray
from dask._task_spec import Task

from pipeline.cluster.connection import ClusterConfig
from pipeline.execution import graph
from pipeline.monitor.log import BlockDone, BlockFailed, Event
from pipeline.plan import model, plan
from pipeline.plan.model import Plan
from pipeline.sweep.model import Sweep
from storage import open_results

OUTPUTS = (
    "actuator_force", "actuator_position", "actuator_velocity", "actuator_acceleration", "actuator_power",
    "joint_position", "joint_velocity", "joint_acceleration",
    "platform_position", "platform_twist", "platform_acceleration",
    "inverse_jacobian", "inverse_jacobian_rate", "mass_matrix", "coriolis_matrix", "coriolis_force", "gravity_force",
    "actuator_mass", "kinetic_energy", "potential_energy", "forward_jacobian", "actuator_coriolis_force",
    "actuator_gravity_force", "centre_of_mass", "momentum",
    "link_position", "link_rotation", "link_twist", "link_acceleration", "link_wrench",
    "state_matrix", "input_matrix",
)  # fmt: skip
METRICS = (
    "peak_force", "rms_force", "peak_power", "energy", "regenerated_energy", "peak_velocity", "condition",
)  # fmt: skip

SMALL = """\
limbsweep: 1
title: a small sweep
robot: delta_3rr2rrr
design:
  grid:
    upper_arm: {values: [0.22, 0.25, 0.28, 0.31]}
    base_radius: {values: [0.14, 0.15, 0.16]}
friction:
  law: coulomb_viscous
  parameters: {coulomb: 0.2}
  grid: {viscous: {values: [0.0, 0.05, 0.1]}}
trajectories:
  slow: {kind: line_sine, amplitude: [0.1, 0.15, 0.05], period: 1.0}
  fast: {kind: circle, radius: 0.1, period: 0.5}
time: {stop: 0.8, step: 0.02}
"""
"""12 designs x 3 friction sets x 2 trajectories x 41 times."""

EVERYTHING = f"{SMALL}outputs: [{', '.join(OUTPUTS)}]\nmetrics: [{', '.join(METRICS)}]\n"
FEW = f"{SMALL}outputs: [actuator_force]\nmetrics: [peak_force]\n"
SYNCHRONOUS = ClusterConfig.of("synchronous")


def sweep(text: str, **changes: str) -> Sweep:
    """The sweep in a text after replacing some of it."""
    for old, new in changes.items():
        assert old in text
        text = text.replace(old, new)
    return Sweep.from_text(text)


def cut_finely(monkeypatch: pytest.MonkeyPatch, small: int = 41, wanted: int = 10**9, friction: int = 82) -> None:
    """Make plans of many blocks: one design on one trajectory with two friction sets, unless asked otherwise."""
    monkeypatch.setattr(plan, "SMALL_BLOCK", small)
    monkeypatch.setattr(plan, "WANTED_BLOCKS", wanted)
    monkeypatch.setattr(plan, "FRICTION_SAMPLES", friction)
    monkeypatch.setattr(model, "MAX_FILES", 10**9)  # blocks as small as these make many


def content_hash(results: xarray.Dataset | Path) -> str:
    """One hash over names, dims, types and bits of all variables and coordinates, without the numbers of designs."""
    dataset = open_results(results) if isinstance(results, Path) else results.drop_vars("design", errors="ignore")
    digest = blake2b(digest_size=16)
    for name in sorted(map(str, dataset.variables)):
        values = dataset[name].values
        data = "\0".join(values).encode() if values.dtype.kind in "UOT" else np.ascontiguousarray(values).tobytes()
        digest.update(repr((name, dataset[name].dims, values.shape, values.dtype.kind)).encode() + data)
    return digest.hexdigest()


def done(events: list[Event]) -> list[int]:
    """Blocks that were computed."""
    return [event.block for event in events if isinstance(event, BlockDone)]


def failures(events: list[Event]) -> dict[int, str]:
    """Blocks that were given up, and why."""
    return {event.block: event.reason for event in events if isinstance(event, BlockFailed)}


def wrap_blocks(
    monkeypatch: pytest.MonkeyPatch, function: Callable[..., Any], *first: Any, task: str = "store"
) -> None:
    """Replace one task's body in each block's graph by `function(*first, index, body, *arguments)`.

    The task of a block that is isolated is wrapped as well: what a block does wrong it does there too.
    """

    def wrap(build: Callable[..., Any], prefix: str) -> Callable[..., Any]:
        def made(plan: Plan, index: int, *others: Any, **options: Any) -> Any:
            tasks, key = build(plan, index, *others, **options)
            for name, each in list(tasks.items()):
                if name[0].startswith(prefix):
                    tasks[name] = Task(name, function, *first, index, each.func, *each.args)
            return tasks, key

        return made

    monkeypatch.setattr("pipeline.execution.loop.block_graph", wrap(graph.block_graph, task))
    monkeypatch.setattr("pipeline.execution.loop.isolated_graph", wrap(graph.isolated_graph, "isolated"))


def compute_other_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Peak forces as a machine gives them that rounds otherwise."""
    right = graph.assembly.assembled

    def otherwise(*arguments: Any) -> Any:
        made = right(*arguments)
        made.arrays["peak_force"] += 1e-9
        return made

    monkeypatch.setattr(graph.assembly, "assembled", otherwise)


def slowly(seconds: float, index: int, body: Callable[..., Any], *arguments: Any) -> Any:
    """A block that takes its time."""
    time.sleep(seconds)
    return body(*arguments)


def suicidal(folder: str, victims: tuple[int, ...], index: int, body: Callable[..., Any], *arguments: Any) -> Any:
    """A block among `victims` kills its worker on the first attempt, after it has been written."""
    result = body(*arguments)
    mark = Path(folder, str(index))
    if index in victims and not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return result
