"""Scripts of an able user: an engine's dynamics for each design, Dask for all cores, xarray and Zarr.

Each script gets the numbers of the bodies of every design, and the motion, in plain arrays. Loops of a Delta are closed
in NumPy (`benchmarks.peers.closure`), because no engine closes them. Simulations leave loops to the engine.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from platformdirs import user_cache_dir

from benchmarks.peers.bodies import Skeleton, skeleton
from benchmarks.peers.closure import Closure, Target
from benchmarks.wholes.jobs import GRAVITY, Job, Release
from robots.types import BASE

Array = np.ndarray
Torques = Callable[[Array, Array, Array], Array]
"""Joint torques (sample, body) of a tree from positions, rates and accelerations."""


def numpy_tree(bones: Skeleton) -> Torques:
    """Return Newton and Euler's recursion in NumPy, on all samples at once, as one writes it in MATLAB."""
    kinds = [body.kind == "revolute" for body in bones.bodies]

    def torques(q: Array, qd: Array, qdd: Array) -> Array:
        n = len(q)
        up = np.broadcast_to(np.negative(GRAVITY), (n, 3))
        still = (np.broadcast_to(np.eye(3), (n, 3, 3)), *np.zeros((3, n, 3)), up)
        moved: list[tuple[Array, ...]] = []
        for k, body in enumerate(bones.bodies):
            turn, origin, w, dw, a = still if body.parent == BASE else moved[body.parent]
            arm, turn = turn @ body.at.position, turn @ body.at.rotation
            axis = turn[:, :, 2]
            rate, change = axis * qd[:, k, None], axis * qdd[:, k, None]
            if kinds[k]:
                c, s, x, y = np.cos(q[:, k, None]), np.sin(q[:, k, None]), turn[:, :, 0], turn[:, :, 1]
                a = a + np.cross(dw, arm) + np.cross(w, np.cross(w, arm))
                dw, w = dw + change + np.cross(w, rate), w + rate
                turn = np.stack([c * x + s * y, c * y - s * x, axis], axis=2)
            else:
                arm = arm + axis * q[:, k, None]
                a = a + np.cross(dw, arm) + np.cross(w, np.cross(w, arm)) + change + 2.0 * np.cross(w, rate)
            moved.append((turn, origin + arm, w, dw, a))
        force, moment = np.zeros((2, len(bones.bodies), n, 3))
        result = np.empty(q.shape)
        for k in reversed(range(len(bones.bodies))):
            body, (turn, origin, w, dw, a) = bones.bodies[k], moved[k]
            centre = turn @ body.centre
            inertia = turn @ body.tensor @ turn.swapaxes(1, 2)
            pull = body.mass * (a + np.cross(dw, centre) + np.cross(w, np.cross(w, centre)))
            spin = (inertia @ w[..., None])[..., 0]
            force[k] += pull
            moment[k] += (inertia @ dw[..., None])[..., 0] + np.cross(w, spin) + np.cross(centre, pull)
            result[:, k] = ((moment if kinds[k] else force)[k] * turn[:, :, 2]).sum(axis=1)
            if body.parent != BASE:
                force[body.parent] += force[k]
                moment[body.parent] += moment[k] + np.cross(origin - moved[body.parent][1], force[k])
        return result

    return torques


def native_tree(bones: Skeleton) -> Torques:
    """Return Pinocchio's `rnea` in C++, compiled for this processor."""
    from benchmarks.peers.compiled.native import Tree

    return Tree(bones, GRAVITY).inverse_dynamics


def wheel_tree(bones: Skeleton) -> Torques:
    """Return Pinocchio's `rneaInParallel` of its wheel, on one thread."""
    from benchmarks.peers.pinocchio import Tree

    return Tree(bones, GRAVITY).inverse_dynamics


def mujoco_tree(bones: Skeleton) -> Torques:
    """Return MuJoCo's `mj_inverse`, one call for each sample."""
    from benchmarks.peers.mujoco import Tree

    return Tree(bones, GRAVITY).inverse_dynamics


def mjx_tree(bones: Skeleton) -> Torques:
    """Return MJX's `inverse` of a batch, compiled by XLA for the processor and kept on disk; designs share the code."""
    import jax
    from mujoco import mjx

    from benchmarks.peers.mujoco import OF_DESIGN, Tree

    jax.config.update("jax_enable_x64", True)
    jax.config.update("jax_compilation_cache_dir", user_cache_dir("limbsweep-benchmarks"))
    made = Tree(bones, GRAVITY).model
    if made.nbody not in COMPILED:
        batch = jax.jit(jax.vmap(_inverse, (None, None, 0, 0, 0)))
        COMPILED[made.nbody] = mjx.put_model(made), mjx.make_data(made), batch
    first, data, batch = COMPILED[made.nbody]
    model = first.replace(**{name: jax.numpy.asarray(getattr(made, name)) for name in OF_DESIGN})
    return lambda *motion: np.asarray(batch(model, data, *motion))


COMPILED: dict[int, tuple[Any, Any, Any]] = {}
"""Model and data of the first design in MJX, and its compiled function, by number of bodies."""


def _inverse(model: Any, data: Any, q: Any, qd: Any, qdd: Any) -> Any:
    from mujoco import mjx

    return mjx.inverse(model, data.replace(qpos=q, qvel=qd, qacc=qdd)).qfrc_inverse


SCRIPTS: dict[str, Callable[[Skeleton], Torques]] = {
    "Pinocchio (native), Dask, Zarr": native_tree,
    "Pinocchio (wheel), Dask, Zarr": wheel_tree,
    "MuJoCo, Dask, Zarr": mujoco_tree,
    "MJX, Zarr": mjx_tree,
    "NumPy, Dask, Zarr": numpy_tree,
}
"""Scripts by engine: each makes the torques of a tree from the numbers of its bodies."""

IN_ONE_PROCESS = ("MJX, Zarr",)
"""Scripts whose engine takes all cores by itself."""


def forces(job: Job, value: float, tree: Callable[[Skeleton], Torques]) -> Array:
    """Return the forces of a design (trajectory, time, actuator)."""
    bones = skeleton(job.build(value).mechanism)
    if job.is_chain:
        q, qd, qdd = (bones.tree_order(each.reshape(job.trajectories * job.samples, 1, -1)) for each in job.motion)
        result = np.empty(q.shape)
        result[:, [body.joint for body in bones.bodies]] = tree(bones)(q, qd, qdd)
    else:
        closure = Closure(bones, np.zeros((1, bones.size)))
        result = closure.forces(_target(job), None, tree(bones))
    return result.reshape(job.trajectories, job.samples, -1)


@cache
def _target(job: Job) -> Target:
    place, rate, change = (each.reshape(-1, 3).T for each in job.motion)
    home = np.array(job.build().mechanism.platform.home.position, dtype=float)
    still = np.zeros_like(place)
    turn = np.repeat(np.eye(3)[:, :, None], place.shape[1], axis=2)
    twist, acceleration = np.concatenate([still, rate]), np.concatenate([still, change])
    return Target(home[:, None] + place, turn, twist, acceleration)


def _mujoco_loops(bones: Skeleton) -> Any:
    from benchmarks.peers.mujoco import ClosedLoops

    return ClosedLoops(bones, GRAVITY)


def _kamino_loops(bones: Skeleton) -> Any:
    from benchmarks.peers.kamino import ClosedLoops

    return ClosedLoops(bones, GRAVITY)


SIMULATIONS: dict[str, Callable[[Skeleton], Any]] = {
    "MuJoCo, Dask, Zarr": _mujoco_loops,
    "Kamino, Dask, Zarr": _kamino_loops,
}
"""Scripts of simulations by engine: each makes closed loops whose `rollout` gives last positions of the platform."""


def positions(job: Release, value: float, loops: Callable[[Skeleton], Any]) -> Array:
    """Return the last positions of a design's platform (trajectory, 3), from where that of the default design is."""
    bones, home, still = skeleton(job.build(value).mechanism), job.build().mechanism.platform.home, np.zeros((6, 1))
    position, turn = (np.array(each, dtype=float)[..., None] for each in (home.position, home.rotation))
    start = Closure(bones, np.zeros((1, bones.size))).close(Target(position, turn, still, still))[:, 0]
    return np.asarray(loops(bones).rollout(start, job.forces, job.seconds / job.samples, job.samples))


def scripts_of(job: Job) -> dict[str, Callable[[Skeleton], Any]]:
    """Return the scripts of a job by engine."""
    return SIMULATIONS if isinstance(job, Release) else SCRIPTS


def block(job: Job, name: str, first: int, store: str) -> dict[str, Array]:
    """Compute some designs, and write their series: arrays by name, dimensions `dims` of the job."""
    import zarr

    values = job.values[first : first + job.together]
    if isinstance(job, Release):
        return {"platform_position": np.stack([positions(job, value, SIMULATIONS[name]) for value in values])}
    every = []
    for value in values:
        every.append(forces(job, value, SCRIPTS[name]))
        if job.series:
            zarr.open_group(store)["actuator_force"][first + len(every) - 1] = every[-1]  # type: ignore[index]
    found = np.stack(every)
    rms = np.sqrt(np.trapezoid(found**2, axis=2) / (job.samples - 1))
    return {"peak_force": np.abs(found).max(axis=2), "rms_force": rms}


def run(job: Job, name: str, store: Path) -> None:
    """Compute the sweep by a script and write its store."""
    import xarray as xr

    path, firsts = os.fspath(store), range(0, job.designs, job.together)
    if job.series:
        _series(job, path)
    if name in IN_ONE_PROCESS:
        parts = [block(job, name, first, path) for first in firsts]
    else:
        parts = _by_dask(job, name, path, firsts)
    found = {variable: (job.dims, np.concatenate([part[variable] for part in parts])) for variable in parts[0]}
    coordinates = {"design": np.arange(job.designs), job.parameter: ("design", job.values)}
    xr.Dataset(found, coords=coordinates).to_zarr(path, mode="a", consolidated=False)


def _by_dask(job: Job, name: str, path: str, firsts: Sequence[int]) -> list[dict[str, Array]]:
    from distributed import Client, LocalCluster

    cores = len(os.sched_getaffinity(0))
    cluster = LocalCluster(n_workers=cores, threads_per_worker=1, dashboard_address=None)
    with cluster, Client(cluster) as client:
        tasks = client.map(lambda first: block(job, name, first, path), firsts)
        return list(client.gather(tasks))


def _series(job: Job, path: str) -> None:
    """Create the array of forces: a chunk for each design, compressed as those of limbsweep are."""
    import zarr
    from zarr.codecs import BloscCodec

    width = len(job.build().mechanism.actuators)
    shape = (job.designs, job.trajectories, job.samples, width)
    zarr.open_group(path, mode="w").create_array(
        "actuator_force", shape=shape, chunks=(1, *shape[1:]), dtype="float64",
        compressors=[BloscCodec(cname="lz4", clevel=5, shuffle="shuffle")],
        dimension_names=("design", "trajectory", "time", "actuator"),
    )  # fmt: skip
