# ruff: noqa: E501 - a row of a table is a line
"""Section F: the cluster file."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.bad_inputs.rows import Prepare, Row, cluster


def ours(name: str, section: str, *said: str) -> Row:
    return cluster(name, f"limbsweep: {{cluster: {{{section}}}}}\n", *said)


def queue(name: str, options: str, *said: str, kind: str = "slurm", prepare: Prepare | None = None) -> Row:
    """A cluster of a batch system with options of its section."""
    text = f"limbsweep: {{cluster: {{kind: {kind}, insecure: true}}}}\njobqueue: {{{kind}: {{cores: 1, memory: 4GB, {options}}}}}\n"
    return cluster(name, text, *said, prepare=prepare)


def ssh(name: str, options: str, *said: str) -> Row:
    return ours(name, f"kind: ssh, options: {{{options}}}", "limbsweep.cluster.options", *said)


def pods(name: str, options: str, *said: str) -> Row:
    text = f"limbsweep: {{cluster: {{kind: kubernetes, insecure: true}}}}\nkubernetes: {{{options}}}\n"
    return cluster(name, text, *said)


def of_pods(name: str, entries: str, *said: str) -> Row:
    text = f"limbsweep: {{cluster: {{kind: kubernetes, insecure: true, pods: {{{entries}}}}}}}\nkubernetes: {{image: a/b:1}}\n"
    return cluster(name, text, *said)


def scratch(name: str, folder: str, *said: str, prepare: Prepare | None = None) -> Row:
    return cluster(name, f"temporary-directory: {folder}\n", "temporary-directory: got", *said, prepare=prepare)


def _full(patch: pytest.MonkeyPatch) -> None:
    real = os.statvfs
    patch.setattr(
        "os.statvfs", lambda path: SimpleNamespace(f_bavail=1000, f_frsize=4096) if path == "." else real(path)
    )


def _shared(patch: pytest.MonkeyPatch) -> None:
    kinds = {"/": "ext4", os.path.realpath("."): "nfs4"}
    mounts = [SimpleNamespace(mountpoint=folder, fstype=kind) for folder, kind in kinds.items()]
    patch.setattr("psutil.disk_partitions", lambda *, all: mounts)


def _locked(patch: pytest.MonkeyPatch) -> None:
    real = os.access
    patch.setattr("os.access", lambda path, mode: path != "." and real(path, mode))


def _everybody(patch: pytest.MonkeyPatch) -> None:
    Path("c.yaml").chmod(0o666)


def _sbatch_refuses(patch: pytest.MonkeyPatch) -> None:
    Path("bin").mkdir()
    script = Path("bin", "sbatch")
    script.write_text("#!/bin/sh\necho 'sbatch: error: Invalid account or account/partition combination' >&2; exit 1\n")
    script.chmod(0o755)
    patch.setenv("PATH", f"{Path('bin').absolute()}{os.pathsep}{os.environ['PATH']}")


def _slow(patch: pytest.MonkeyPatch) -> None:
    patch.setattr("pipeline.plan.cost.OPERATION", 1e-3)


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
    ours("F05", "memory-limit: 900TB", "memory-limit: got '900TB'; expected at most", "GiB, the memory"),
    ssh("F06 none", "hosts: []", "hosts: got []; expected at least 2 entries"),
    ssh(
        "F06 an option",
        "hosts: [localhost, '-oProxyCommand=x']",
        "hosts[1]: got '-oProxyCommand=x'; expected a host name",
    ),
    ssh("F06 a space", "hosts: [localhost, 'a b']", "hosts[1]: got 'a b'"),
    ssh("F06 a line", 'hosts: [localhost, "a\\nb"]', "hosts[1]: got 'a\\nb'"),
    ssh(
        "F07",
        "hosts: [localhost, localhost], connect_options: {known_hosts: null}",
        "known_hosts: got nothing; expected the keys of the hosts",
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
    *(
        queue(f"F13 {text}", f"walltime: {text}", "jobqueue.slurm.walltime: got", "a time as HH:MM:SS")
        for text in ("'1:00'", "abc", "0", "'00:00:00'", "'1:99:00'")
    ),
    queue("F13 LSF", "walltime: '01:00:00'", "a time as HH:MM", kind="lsf"),
    queue(
        "F14",
        "walltime: '00:01:00'",
        "limbsweep.cluster.kind: got a walltime of 60 seconds; expected at least",
        "for 2 blocks on one core. Raise walltime in the section jobqueue.slurm.",
        prepare=_slow,
    ),
    queue(
        "F15",
        "walltime: '01:00:00'",
        "limbsweep.cluster.kind: got 'slurm'; expected a cluster that starts",
        "sbatch: error: Invalid account or account/partition combination",
        prepare=_sbatch_refuses,
    ),
    queue(
        "F16 others",
        "job-script-prologue: [module load python]",
        "prologue: got a command that everybody may write; expected commands in a file that only you may write",
        prepare=_everybody,
    ),
    queue(
        "F16 lines",
        'job-script-prologue: ["true\\nrm -r $(pwd)"]',
        "job-script-prologue[0]: got several lines; expected one line",
    ),
    *(
        pods(
            f"F17 {image}",
            f"image: '{image}'",
            "kubernetes.image: got",
            "an image with a tag other than latest, or a digest",
        )
        for image in ("site/limbsweep", "site/limbsweep:latest", "a b:1", "site/limbsweep@sha256:12")
    ),
    *(
        pods(f"F18 {name}", f"image: 'a/b:1', namespace: '{name}'", "kubernetes.namespace: got", "lower-case letters")
        for name in ("Sweeps", "a_b", "-a", "a" * 64)
    ),
    of_pods("F18 volume", "volumes: [{name: a}]", "pods.volumes[0]: got", "a name and one source"),
    of_pods("F18 mount", "volume-mounts: [{name: a, mountPath: /a}]", "volume-mounts[0]: got", "the name of a volume"),
    of_pods(
        "F18 path",
        "volumes: [{name: a, emptyDir: {}}], volume-mounts: [{name: a, mountPath: a}]",
        "volume-mounts[0]: got",
        "mountPath, an absolute path",
    ),
    of_pods("F18 secret", "env-from: [{secretRef: s3}]", "env-from[0]: got", "secretRef: {name: NAME}"),
    *(
        pods(
            f"F19 {kind}",
            f"image: 'a/b:1', scheduler-service-type: {kind}",
            "scheduler-service-type: got",
            "ClusterIP, which",
        )
        for kind in ("LoadBalancer", "NodePort")
    ),
    ours("F22", "adapt: {minimum: 3, maximum: 2}", "adapt.minimum: got 3; expected at most the maximum, 2"),
    scratch("F23 nowhere", "/gone/scratch", "expected an existing folder"),
    scratch("F23 a file", "c.yaml", "expected an existing folder"),
    scratch("F23 locked", ".", "expected a folder that you may write to", prepare=_locked),
    scratch("F23 shared", ".", "expected a folder on a disk of this machine, not on nfs4", prepare=_shared),
    scratch("F23 full", ".", "expected at least 1 GB of free space, there are 0.0041 GB", prepare=_full),
    queue(
        "F23 elsewhere",
        "local-directory: scratch",
        "jobqueue.slurm.local-directory: got 'scratch'; expected an absolute path",
    ),
    cluster("F20", "jobqueue: {slurm: {api-token: AKIA123}}", "api-token: got a value that is not shown"),
    cluster(
        "F21",
        "distributed: {scheduler: {allowed-failurez: 3}}",
        "allowed-failurez: got an unknown",
        "'allowed-failures'?",
    ),
)
SECRETS = ("hunter2", "AKIA123")
"""Secrets in the files of rows, which no message may repeat."""
