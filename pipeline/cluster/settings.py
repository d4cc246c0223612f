"""Settings of Dask and environment variables of every worker.

Processes of this machine and of SSH inherit the settings of Dask; jobs and pods do not, so they get them as variables
of their environment, in the form that Dask reads at its start.
"""

from __future__ import annotations

import ast
import os
from collections.abc import Container, Iterator, Mapping
from contextlib import contextmanager
from types import MappingProxyType
from typing import Any

SETTINGS: Mapping[str, Any] = {
    # A burst of worker deaths must not shrink a local cluster to nothing: the nanny starts them again.
    "distributed.deploy.lost-worker-timeout": "1h",
    # Without workers a run would wait for ever.
    "distributed.scheduler.no-workers-timeout": "5 minutes",
    "distributed.scheduler.worker-ttl": "120s",
    "distributed.scheduler.allowed-failures": 3,
    # A receipt that lay on a worker that has died is computed again at once; each retry would wait for the dead first.
    "distributed.comm.retry.count": 0,
    "tokenize.ensure-deterministic": True,
    # A look at all threads every 10 ms takes more than scheduling does; py-spy looks from outside where that is wanted.
    "distributed.worker.profile.enabled": False,
    # Each server measures so often how late its event loop is, and threads that compute make room for it.
    "distributed.admin.tick.interval": "1s",
    # Limits of the scheduler's record of past tasks, so that its memory does not grow with the sweep.
    "distributed.scheduler.dashboard.tasks.task-stream-length": 1000,
    "distributed.admin.low-level-log-length": 100,
    "distributed.admin.log-length": 1000,
}
"""Settings with which runs survive lost connections and workers; those of the cluster file come after them."""

ONE_THREAD = dict.fromkeys(
    ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMEXPR_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"), "1"
)
"""Environment of a worker: its threads are Dask's; libraries that start more would only get in each other's way."""

SAFE_PATH = {"PYTHONSAFEPATH": "1"}
"""Environment of other interpreters: they run no Python file for lying in the current folder."""

KEEP_MEMORY = {
    "MALLOC_TRIM_THRESHOLD_": str(1 << 25),
    "MALLOC_MMAP_THRESHOLD_": str(1 << 20),
    "MALLOC_ARENA_MAX": "1",
}
"""Environment of a worker. The pool of `tasks.blocks.block` keeps memory for the next block, within its own limit.

So glibc keeps little memory, in one arena for all threads, and returns large pieces at once.
"""

FOREIGN = ("jobqueue", "kubernetes", "cloudprovider", "gateway", "logging")
"""Sections of other packages: their keys are known only where the package is installed, so they pass unread."""

FREE = ("environ", "pre-spawn-environ", "resources", "default-task-durations", "logging", "bokeh-application", "types")
"""Dask settings that hold names of the user's own."""

_ENVIRON = ("distributed.nanny.pre-spawn-environ", "distributed.nanny.environ")


def from_environment() -> dict[str, Any]:
    """Return Dask's settings from variables of this process, nested; they override a cluster file, as any file."""
    import dask.config

    # A parent process hands down its whole configuration, with defaults: that must not hide the file.
    variables = {name: value for name, value in os.environ.items() if name != "DASK_INTERNAL_INHERIT_CONFIG"}
    settings: dict[str, Any] = dask.config.collect_env(variables)
    return settings


def effective(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return Dask's configuration with a cluster file's settings: defaults, files, this file, variables."""
    import dask.config

    merged: dict[str, Any] = dask.config.merge(dask.config.config, settings, from_environment())
    return merged


def flat(node: Mapping[str, Any], path: str = "", whole: Container[str] = ()) -> dict[str, Any]:
    """Return nested settings as dotted ones, so that one can be set alone; not below keys in `whole`."""
    settings: dict[str, Any] = {}
    for key, value in node.items():
        here = f"{path}.{key}" if path else key
        # An empty mapping, a section with nothing in it, must not take the defaults of Dask away.
        settings |= flat(value, here, whole) if isinstance(value, dict) and key not in whole else {here: value}
    return settings


@contextmanager
def safe_children() -> Iterator[None]:
    """Keep interpreters that any library starts meanwhile from importing modules of the current folder.

    In the environment of this process: `multiprocessing` starts helpers of its own before settings of Dask count.
    """
    before = {name: os.environ.get(name) for name in SAFE_PATH}
    os.environ.update(SAFE_PATH)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def nanny_variables(settings: Mapping[str, Any]) -> dict[str, str]:
    """Return the environment of a worker process: pinned variables, then those of a cluster file for Dask's nanny."""
    import dask.config

    sections = [dask.config.get(section, None, config=dict(settings)) or {} for section in _ENVIRON]
    return ONE_THREAD | KEEP_MEMORY | {name: str(value) for section in sections for name, value in section.items()}


def worker_environment(
    settings: Mapping[str, Any],
    before: Mapping[str, Any] = MappingProxyType({}),
    after: Mapping[str, Any] = MappingProxyType({}),
) -> dict[str, str]:
    """Return a worker's variables, if it inherits none: pins, own settings, `before`, cluster file, `after`.

    Variables of this process for Dask's core come last, as they do here. Settings of the file for Dask's nanny are
    passed under their own names, because Dask reads its own variables in lower case.
    """
    dotted = flat({key: value for key, value in settings.items() if key not in FOREIGN}, whole=FREE)
    of_file = {key.replace("_", "-"): value for key, value in dotted.items()}
    merged = {**SETTINGS, **before, **of_file, **after}
    variables = {_name(key): _text(value) for key, value in merged.items() if value is not None and key not in _ENVIRON}
    here = {name: value for name, value in os.environ.items() if name.startswith("DASK_DISTRIBUTED__")}
    return nanny_variables(settings) | variables | here


def _name(key: str) -> str:
    """Return `distributed.comm.retry.count` as DASK_DISTRIBUTED__COMM__RETRY__COUNT."""
    return "DASK_" + key.replace(".", "__").replace("-", "_").upper()


def _text(value: object) -> str:
    """Return a value so that Dask reads the same value back: text that looks like something else gets quotes."""
    if not isinstance(value, str):
        return repr(value)
    try:
        ast.literal_eval(value)
    except (SyntaxError, ValueError):
        return repr(value) if value.lower() in ("none", "null", "true", "false") else value
    return repr(value)


RESOURCE = "GPU"
"""Name of the resource of workers with a graphics card."""

WEIGHT = "limbsweep.cluster.weight"
"""Setting of Dask that has the weight of a run in a cluster of several."""
