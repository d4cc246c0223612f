"""Requests to other projects: job scripts and pods, compared with the documents of these projects."""

from __future__ import annotations

import itertools
import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from pipeline.cluster.arguments import ARGUMENTS
from pipeline.cluster.connection import preview
from pipeline.cluster.file import ClusterConfig, parse_cluster
from pipeline.cluster.kinds import KINDS
from pipeline.cluster.settings import KEEP_MEMORY, ONE_THREAD, worker_environment
from pipeline.documents.yaml import parse_yaml

EXAMPLES = Path(__file__).parents[3] / "examples" / "clusters"
QUEUES = [name for name, kind in KINDS.items() if kind.family == "jobqueue"]

DIRECTIVES = {
    "slurm": ["#SBATCH -J dask-worker", "#SBATCH -p compute", "#SBATCH -A my-project", "#SBATCH -n 1",
              "#SBATCH --cpus-per-task=16", "#SBATCH --mem=30G", "#SBATCH -t 02:00:00"],
    "pbs": ["#PBS -N dask-worker", "#PBS -q compute", "#PBS -l select=1:ncpus=16:mem=32gb",
            "#PBS -l walltime=02:00:00"],
    "lsf": ["#BSUB -q compute", "#BSUB -n 16", '#BSUB -R "span[hosts=1]"', "#BSUB -M 32000000", "#BSUB -W 02:00"],
    "sge": ["#$ -N dask-worker", "#$ -q compute", "#$ -l h_vmem=2G", "#$ -l h_rt=02:00:00", "#$ -pe smp 16"],
    "oar": ["#OAR -n dask-worker", "#OAR -q default", "#OAR -l /nodes=1/core=16,walltime=02:00:00",
            "#OAR -p mem_core>=1908"],
    "htcondor": ["RequestCpus = MY.DaskWorkerCores", "RequestMemory = floor(MY.DaskWorkerMemory / 1048576)",
                 "MY.DaskWorkerCores = 16", "MY.DaskWorkerDisk = 10000000000"],
}  # fmt: skip
"""Lines that dask-jobqueue documents for the options of the examples."""


def example(name: str, certificates: Path, **changes: str) -> ClusterConfig:
    text = (EXAMPLES / f"{name}.yaml").read_text(encoding="utf-8").replace("/home/me/limbsweep-tls", str(certificates))
    for old, new in changes.items():
        text = text.replace(old, new)
    return parse_cluster(parse_yaml(text, f"{name}.yaml"))


@pytest.mark.parametrize("name", QUEUES)
def test_a_job_script_has_the_directives_and_one_worker_with_tls(name: str, certificates: Path) -> None:
    pytest.importorskip("dask_jobqueue")
    config = example(name, certificates)
    script = preview(config)
    lines = [line.strip() for line in script.splitlines()]
    assert [line for line in DIRECTIVES[name] if line not in lines] == []
    command = next(line for line in lines if "dask_worker" in line).rpartition("; ")[2].rstrip("'\"").split()
    options = dict(itertools.pairwise(command))
    assert options["--nthreads"] == "16"
    assert "--nworkers" not in options  # one process with all cores
    assert options["--protocol"] == "tls://"
    assert options["--tls-key"] == str(certificates / "key.pem")
    assert options["--dashboard-address"] == "127.0.0.1:0"
    assert "tls://SCHEDULER" in command


@pytest.mark.parametrize("name", [name for name in QUEUES if name != "htcondor"])
def test_a_job_exports_settings_and_pins_before_the_prologue_of_the_file(name: str, certificates: Path) -> None:
    pytest.importorskip("dask_jobqueue")
    config = example(name, certificates)
    lines = preview(config).splitlines()
    exports = "\n".join(line for line in lines if line.startswith("export "))
    shown = subprocess.run(["sh", "-c", exports + "\nenv"], env={}, capture_output=True, text=True, check=True).stdout
    found = dict(line.split("=", 1) for line in shown.splitlines())
    wanted = worker_environment(config.settings, {"distributed.scheduler.no-workers-timeout": "4h"})
    assert {key: found.get(key) for key in wanted} == wanted
    assert found["DASK_DISTRIBUTED__COMM__REQUIRE_ENCRYPTION"] == "True"
    assert wanted.keys() >= {*ONE_THREAD, *KEEP_MEMORY}
    prologue = lines.index("source /home/me/limbsweep/.venv/bin/activate")
    assert max(index for index, line in enumerate(lines) if line.startswith("export ")) < prologue
    assert "dask_worker" in lines[prologue + 1]


def test_values_of_the_file_are_no_code_in_a_job_script(tmp_path: Path) -> None:
    pytest.importorskip("dask_jobqueue")
    text = f"""
limbsweep: {{cluster: {{kind: slurm, insecure: true}}}}
jobqueue: {{slurm: {{cores: 2, memory: 4GB}}}}
temporary-directory: "$(touch {tmp_path}/made); `touch {tmp_path}/made` 'x"
"""
    exports = [
        line for line in preview(parse_cluster(parse_yaml(text, "c"))).splitlines() if line.startswith("export ")
    ]
    subprocess.run(["sh", "-c", "\n".join(exports)], check=True)
    assert list(tmp_path.iterdir()) == []


def _containers(resource: Any) -> list[Any]:
    return [resource["spec"][role]["spec"]["containers"][0] for role in ("worker", "scheduler")]


def test_pods_have_settings_and_pins(certificates: Path) -> None:
    pytest.importorskip("dask_kubernetes")
    config = example("kubernetes", certificates)
    resource = json.loads(preview(config))
    assert (resource["apiVersion"], resource["kind"]) == ("kubernetes.dask.org/v1", "DaskCluster")
    assert resource["spec"]["worker"]["replicas"] == 2
    assert resource["spec"]["scheduler"]["service"]["type"] == "ClusterIP"
    for container in _containers(resource):
        env = {each["name"]: each["value"] for each in container["env"]}
        assert env == worker_environment(config.settings, {"distributed.scheduler.no-workers-timeout": "1h"})
        assert container["image"] == "registry.example/limbsweep:0.1.0"
        assert container["volumeMounts"] == [{"name": "runs", "mountPath": "/runs"}]
    limits = [container["resources"]["limits"] for container in _containers(resource)]
    assert limits == [{"cpu": "8", "memory": "16Gi"}, {"memory": "4Gi"}]


def test_pods_are_those_of_the_models_of_kubernetes(certificates: Path) -> None:
    pytest.importorskip("dask_kubernetes")
    kubernetes = pytest.importorskip("kubernetes.client")
    secret = "      env-from: [{secretRef: {name: s3}}]\nkubernetes:"
    resource = json.loads(preview(example("kubernetes", certificates, **{"kubernetes:\n": secret + "\n"})))
    api = kubernetes.ApiClient()
    for role in ("worker", "scheduler"):
        spec = resource["spec"][role]["spec"]
        assert spec["containers"][0]["envFrom"] == [{"secretRef": {"name": "s3"}}]
        model = api._ApiClient__deserialize(spec, "V1PodSpec")  # which raises where a required key is missing
        assert api.sanitize_for_serialization(model) == spec  # and drops keys that it does not know
    service = resource["spec"]["scheduler"]["service"]
    assert api.sanitize_for_serialization(api._ApiClient__deserialize(service, "V1ServiceSpec")) == service


@pytest.mark.parametrize("env", ["{MINE: '1'}", "[{name: MINE, value: '1'}]"])
def test_variables_of_the_file_come_to_the_pods_too(env: str, certificates: Path) -> None:
    pytest.importorskip("dask_kubernetes")
    config = example("kubernetes", certificates, **{"  namespace: sweeps": f"  namespace: sweeps\n  env: {env}"})
    for container in _containers(json.loads(preview(config))):
        found = {each["name"]: each["value"] for each in container["env"]}
        assert (found["MINE"], found["OMP_NUM_THREADS"]) == ("1", "1")


def test_the_arguments_of_a_cluster_by_ssh(certificates: Path) -> None:
    pytest.importorskip("asyncssh")
    arguments = json.loads(preview(example("ssh", certificates)))
    assert arguments["hosts"] == ["node1", "node1", "node2", "node3"]
    assert arguments["scheduler_options"]["protocol"] == "tls://"
    assert arguments["worker_options"]["nthreads"] == 16
    for role in ("scheduler_options", "worker_options"):
        assert arguments[role]["dashboard_address"] == "127.0.0.1:0"


@pytest.mark.parametrize("kind", ["local", "threads"])
def test_other_kinds_say_what_they_are(kind: str) -> None:
    shown = preview(ClusterConfig.of(kind))  # type: ignore[arg-type]
    assert "127.0.0.1" in shown if kind == "local" else shown == "threads of this process\n"
    on_cards = preview(ClusterConfig.of(kind, device="gpu"))  # type: ignore[arg-type]
    assert "GPU" in on_cards if kind == "local" else on_cards == "threads of this process, blocks on graphics cards\n"


def test_every_family_that_starts_something_has_arguments() -> None:
    assert {kind.family for kind in KINDS.values()} == {*ARGUMENTS, "process", "running"}
