"""Section F: the cluster file."""

from __future__ import annotations

from tests.bad_inputs.rows import Row, cluster


def ours(name: str, section: str, *said: str) -> Row:
    return cluster(name, f"limbsweep: {{cluster: {{{section}}}}}\n", *said)


ROWS = (
    ours("F01", "kind: slrum", "limbsweep.cluster.kind: got 'slrum'", "Did you mean 'slurm'?"),
    *(ours(f"F02 {n}", f"n-workers: {n}", f"n-workers: got {n}; expected a") for n in (0, -1, 1.5, "1000000")),
    ours("F02 text", "n-workers: four", "n-workers: got 'four'; expected an integer"),
    ours("F03", "threads-per-worker: 0", "threads-per-worker: got 0; expected a number of at least 1"),
    ours("F03 many", "threads-per-worker: 99999", "threads-per-worker: got 99999; expected at most"),
    ours("F04", "memory-limit: 4", "memory-limit: got 4"),
    *(
        ours(f"F04 {text}", f"memory-limit: {text}", f"memory-limit: got '{text}'", "4GiB")
        for text in ("4 GBs", "-1GB", "0GB", "110%")
    ),
    ours("F08", "kind: local, password: hunter2", "password: got a value that is not shown"),
    ours(
        "F09",
        "kind: address, address: 'tcp://10.0.0.5:8786'",
        "limbsweep.cluster.address: got 'tcp://10.0.0.5:8786'",
        "TLS",
    ),
    cluster(
        "F10",
        "distributed: {comm: {tls: {ca-file: /gone/ca, client: {cert: c, key: k}}}}",
        "tls.ca-file: got '/gone/ca'",
    ),
    ours("F11", "kind: address, address: 'tcp://127.0.0.1:70000'", "limbsweep.cluster.address: got", "1 to 65535"),
    ours("F11 zero", "kind: address, address: 'tcp://127.0.0.1:0'", "limbsweep.cluster.address: got", "1 to 65535"),
    cluster("F12", "jobqueue: {local: {scheduler-options: {dashboard-address: '0.0.0.0:8787'}}}", "got '0.0.0.0:8787'"),
    cluster("F20", "jobqueue: {slurm: {api-token: AKIA123}}", "api-token: got a value that is not shown"),
    cluster(
        "F21",
        "distributed: {scheduler: {allowed-failurez: 3}}",
        "allowed-failurez: got an unknown",
        "'allowed-failures'?",
    ),
)
SECRETS = ("hunter2", "AKIA123")
"""What rows put into files and no message may repeat."""
