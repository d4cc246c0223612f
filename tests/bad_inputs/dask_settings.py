# ruff: noqa: E501 - a row of a table is a line
"""Section J: settings of Dask and of the cluster section, by type and range."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.bad_inputs.rows import Row, cluster


def _nested(path: str, value: str) -> str:
    """A setting as YAML."""
    text = value
    for key in reversed(path.split(".")):
        text = f"{{{key}: {text}}}"
    return text[1:-1] + "\n"


def setting(path: str, *values: str, rule: str) -> list[Row]:
    return [cluster(f"J {path} {value}", _nested(path, value), f"{path}: got", f"expected {rule}") for value in values]


def ours(key: str, *values: str, said: str) -> list[Row]:
    return [
        cluster(
            f"J {key} {value}", f"limbsweep: {{cluster: {{{key}: {value}}}}}\n", f"limbsweep.cluster.{key}: got", said
        )
        for value in values
    ]


def _everybody(patch: pytest.MonkeyPatch) -> None:
    Path("c.yaml").chmod(0o666)


def steered(path: str, value: str) -> Row:
    text = _nested(path, value)
    return cluster(f"J {path} of others", text, f"{path}: got a command that everybody may write", prepare=_everybody)


MEMORY = "distributed.worker.memory"
SHARE = "a share of memory, above 0 and at most 1"
COUNT = "a number from 0 to 1e+12"
TIME = "a time, such as 30s"
NOT_TIMES = ("-1s", "''", "soon", "1e400s", "[1s]", "true")
NOT_COUNTS = ("-3", "many", "true", "[]")

ROWS = (
    *(row for name in ("target", "spill", "pause", "terminate", "transfer") for row in setting(f"{MEMORY}.{name}", "5", "-1", "0", "1.01", "most", rule=SHARE)),
    *setting(f"{MEMORY}.target", "true", "60%", "[0.6]", "1e300", rule=SHARE),
    *setting(f"{MEMORY}.rebalance.sender-min", "-0.1", "2", "x", rule=SHARE),
    *setting(f"{MEMORY}.target", "0.9", rule="target, spill, pause, terminate in this order, and target is 0.9, spill 0.7"),
    *setting(f"{MEMORY}.terminate", "0.5", rule="target, spill, pause, terminate in this order, and pause is 0.8, terminate 0.5"),
    *setting(f"{MEMORY}.monitor-interval", *NOT_TIMES, rule=TIME),
    *setting(f"{MEMORY}.spill-compression", "3", "1.5", rule="text"),
    *setting("distributed.scheduler.allowed-failures", *NOT_COUNTS, rule=COUNT),
    *setting("distributed.scheduler.allowed-failures", "2.5", rule="a whole number"),
    *setting("distributed.scheduler.bandwidth", "-1", rule=COUNT),
    *setting("distributed.scheduler.worker-saturation", "-1", "x", rule=COUNT),
    *setting("distributed.scheduler.worker-ttl", *NOT_TIMES, rule=TIME),
    *setting("distributed.scheduler.no-workers-timeout", "-1s", "soon", "1e400s", rule=TIME),
    *setting("distributed.scheduler.idle-timeout", "-5", "x", rule=TIME),
    *setting("distributed.scheduler.work-stealing", "3", "'yes'", "[]", rule="true or false"),
    *setting("distributed.scheduler.validate", "1", rule="true or false"),
    *setting("distributed.scheduler.preload", "3", "true", rule="a list"),
    *setting("distributed.scheduler.default-data-size", "x", "-1kB", "[]", rule="a size, such as 64MiB"),
    *setting("distributed.comm.timeouts.connect", *NOT_TIMES, rule=TIME),
    *setting("distributed.comm.timeouts.tcp", *NOT_TIMES, rule=TIME),
    *setting("distributed.comm.timeouts.connect", "null", rule="a value, or no such key"),
    *setting("distributed.comm.retry.count", *NOT_COUNTS, rule=COUNT),
    *setting("distributed.comm.retry.delay.min", "-1s", "x", rule=TIME),
    *setting("distributed.comm.socket-backlog", "-1", "x", rule=COUNT),
    *setting("distributed.comm.shard", "x", "-64MiB", rule="a size, such as 64MiB"),
    *setting("distributed.comm.compression", "7", rule="true or false"),
    *setting("distributed.deploy.lost-worker-timeout", *NOT_TIMES, rule=TIME),
    *setting("distributed.adaptive.interval", *NOT_TIMES, rule=TIME),
    *setting("distributed.adaptive.wait-count", "-1", "x", rule=COUNT),
    *setting("distributed.adaptive.target-duration", "-5s", rule=TIME),
    *setting("distributed.worker.profile.enabled", "2", rule="true or false"),
    *setting("distributed.worker.connections.outgoing", "-1", "1.5", rule="a"),
    *setting("distributed.admin.log-length", "-1", "x", rule=COUNT),
    *setting("distributed.admin.max-error-length", "null", rule="a value, or no such key"),
    *setting("distributed.admin.tick.limit", *NOT_TIMES, rule=TIME),
    *setting("array.chunk-size", "x", "-1MiB", rule="a size, such as 64MiB"),
    *setting("distributed.worker.multiprocessing-method", "3", "[spawn]", rule="text"),
    *ours("start-timeout", "1e400s", "-1s", "0s", "soon", "1e300h", "'1e99 days'", said="expected a time"),
    *ours("start-timeout", "5", "true", "[1h]", said="expected text"),
    *ours("n-workers", f"{10**31}", "-3", "1e3", "true", "x", said="expected a"),
    *ours("threads-per-worker", f"{10**31}", "-3", "1.5", "true", said="expected a"),
    *ours("memory-limit", "1e400GB", "-4GiB", "4", "nan", "'1GiB 2GiB'", "0%", "101%", said="expected"),
    *(cluster(f"J adapt {text}", f"limbsweep: {{cluster: {{adapt: {text}}}}}\n", "limbsweep.cluster.adapt", "expected")
        for text in ("{minimum: -1, maximum: 2}", "{maximum: 0}", "{maximum: 1e9}", "{minimum: 1}", f"{{minimum: 0, maximum: {10**30}}}", "[1, 2]")),
    *(cluster(f"J address {text}", f"limbsweep: {{cluster: {{kind: address, address: '{text}'}}}}\n", "limbsweep.cluster.address: got", "expected")
        for text in ("tcp://127.0.0.1:1", "tcp://[::1]:1", "tcp://localhost:2", "127.0.0.1:8786", "tcp://127.0.0.1:-1", "tcp://:8786", "udp://127.0.0.1:8786", "tcp://127.0.0.1:99999")),
    steered("distributed.worker.preload", "[os]"),
    steered("distributed.scheduler.preload", "[os]"),
    steered("distributed.nanny.preload", "[os]"),
    steered("distributed.nanny.pre-spawn-environ", "{LD_PRELOAD: /tmp/x.so}"),
    steered("distributed.nanny.environ", "{PYTHONPATH: /tmp}"),
    steered("distributed.scheduler.active-memory-manager.policies", "[{class: os.system}]"),
    steered("distributed.worker.http.routes", "[os]"),
)  # fmt: skip
