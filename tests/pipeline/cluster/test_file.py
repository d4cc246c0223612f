from __future__ import annotations

import inspect
import json
from contextlib import suppress
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.cluster.file import ClusterConfig, parse_cluster
from pipeline.cluster.kinds import (
    CONNECT_OPTIONS,
    EXTRAS,
    KINDS,
    SCHEDULER_OPTIONS,
    WORKER_OPTIONS,
    ClusterKindName,
)
from pipeline.cluster.safety import check_secrets, is_loopback
from pipeline.cluster.settings import SETTINGS
from pipeline.documents.yaml import parse_yaml
from pipeline.errors import InputError

ROOT = Path(__file__).parents[3]
EXAMPLES = sorted((ROOT / "examples" / "clusters").glob("*.yaml"))
SLURM = "jobqueue: {slurm: {cores: 4, memory: 8GB, %s}}\n"
KUBE = "kubernetes: {image: 'site/limbsweep:1.2', %s}\n"


def parse(text: str) -> ClusterConfig:
    return parse_cluster(parse_yaml(text, "c.yaml"))


def section(text: str) -> str:
    return f"limbsweep: {{cluster: {{{text}}}}}"


def refused(text: str) -> str:
    with pytest.raises(InputError) as caught:
        parse(text)
    return str(caught.value)


def test_yes_and_no_are_no_secrets() -> None:
    told: list[Any] = []
    node = {"use-password": True, "ask": [{"password": False, "api-key": 7}]}
    check_secrets(lambda path, *words: told.append(path), node)  # type: ignore[arg-type]
    assert told == [("ask", 0, "api-key")]


def test_a_sweep_file_is_met_with_one_line() -> None:
    told = refused("limbsweep: 1\nrobot: five_bar\ntime: {stop: 1}\n")
    assert told.startswith("c.yaml:1:1: got a sweep file; expected a cluster file. A sweep goes before --cluster")
    assert "\n" not in told


def ssh(text: str) -> str:
    return section(f"kind: ssh, options: {{{text}}}")


BAD = [
    ("F01", section("kind: locale"), ["c.yaml:1:29 limbsweep.cluster.kind: got 'locale'", "Did you mean 'local'?"]),
    ("F01 queue", section("kind: slrum"), ["Did you mean 'slurm'?"]),
    ("F01 cards", section("kind: dask-cuda"), ["Make it in Python by its own library", "ls.run(..., client=cluster)"]),
    ("F01 gateway", section("kind: gateway"), ["Make it in Python by its own library", "kind: address"]),
    ("kind type", section("kind: 3"), ["limbsweep.cluster.kind: got 3"]),
    ("key", section("n-worker: 3"), ["limbsweep.cluster.n-worker: got an unknown key", "Did you mean 'n-workers'?"]),
    ("F02 zero", section("n-workers: 0"), ["n-workers: got 0", "at least 1"]),
    ("F02 fraction", section("n-workers: 1.5"), ["n-workers: got 1.5", "an integer"]),
    ("F02 text", section("n-workers: four"), ["n-workers: got 'four'", "an integer"]),
    ("F02 many", section("n-workers: 1000000"), ["n-workers: got 1000000", "at most 10000"]),
    ("F03", section("threads-per-worker: 0"), ["threads-per-worker: got 0", "at least 1"]),
    ("F03 many", section("threads-per-worker: 99999"), ["threads-per-worker: got 99999", "four for each core"]),
    ("F04 bare", section("memory-limit: 4"), ["memory-limit: got 4", "text"]),
    ("F04 unit", section("memory-limit: 4 GBs"), ["memory-limit: got '4 GBs'", "4GiB"]),
    ("F04 negative", section("memory-limit: -1GB"), ["'-1GB'", "a size"]),
    ("F04 small", section("memory-limit: 0GB"), ["'0GB'", "a size"]),
    ("F04 share", section("memory-limit: 110%"), ["'110%'", "a size"]),
    ("F06 empty", ssh("hosts: []"), ["options.hosts: got []", "at least 2 entries"]),
    ("F06 one", ssh("hosts: [a]"), ["at least 2 entries"]),
    ("F06 option", ssh("hosts: [localhost, '-oProxyCommand=x']"),
     ["limbsweep.cluster.options.hosts[1]: got '-oProxyCommand=x'", "a host name", "connect_options"]),
    ("F06 space", ssh("hosts: [localhost, 'a b']"), ["hosts[1]: got 'a b'"]),
    ("F06 user", ssh("hosts: [me@localhost, localhost]"), ["hosts[0]: got 'me@localhost'"]),
    ("F06 newline", ssh('hosts: [localhost, "a\\nb"]'), ["hosts[1]"]),
    ("F07 null", ssh("hosts: [localhost, localhost], connect_options: {known_hosts: null}"),
     ["known_hosts: got nothing", "the keys of the hosts", "pose as the host"]),
    ("F07 ssh none", section("kind: ssh"), ["got no key 'options'", "which kind: ssh needs"]),
    ("ssh option", ssh("hosts: [localhost, localhost], worker_options: {nthread: 2}"),
     ["worker_options.nthread: got an unknown option", "Did you mean 'nthreads'?"]),
    ("ssh connect", ssh("hosts: [localhost, localhost], connect_options: {user_name: me}"), ["'username'"]),
    ("ssh argument", ssh("hosts: [localhost, localhost], host: a"), ["options.host: got an unknown key", "'hosts'"]),
    ("F07", "limbsweep: 5", ["limbsweep: got 5", "a mapping"]),
    ("F08", section("kind: local, password: hunter2"), ["password: got a value that is not shown", "no secrets"]),
    ("F08 ssh", ssh("hosts: [localhost, localhost], connect_options: {passphrase: hunter2}"),
     ["passphrase", "not shown"]),
    ("F08 number", section("kind: local, password: 271828"), ["password: got a value that is not shown"]),
    ("F20", "jobqueue: {slurm: {api-token: AKIA123}}", ["api-token: got a value that is not shown"]),
    ("F20 text", "jobqueue: {slurm: {job-script-prologue: ['export MY_TOKEN=geheim']}}", ["[0]: got a value that is"]),
    ("F20 key", "kubernetes: {env: {ID: AKIA1234567890ABCDEF}}", ["env.ID: got a value that is not shown"]),
    ("F20 env", "kubernetes: {env: [{name: DB_PASSWORD, value: geheim}]}", ["env[0].value: got a value that is not"]),
    ("F20 url", "distributed: {dashboard: {link: 'http://me:geheim@host/'}}", ["link: got a value that is not shown"]),
    ("F09", section("kind: address, address: 'tcp://10.0.0.5:8786'"), ["got 'tcp://10.0.0.5:8786'", "TLS", "run code"]),
    ("F09 name", section("kind: address, address: 'tcp://head:8786'"), ["TLS"]),
    ("F09 tls", section("kind: address, address: 'tls://head:8786'"), ["TLS files under distributed.comm.tls"]),
    ("F09 slurm", section("kind: slurm") + "\n" + SLURM % "",
     ["got 'slurm' without TLS files", "limbsweep certificates"]),
    ("F09 ssh", ssh("hosts: [head, node]"), ["got 'ssh' without TLS files", "insecure: true"]),
    ("F09 ssh host", ssh("hosts: [localhost, localhost], worker_options: {host: 0.0.0.0}"),
     ["'ssh' without TLS files"]),
    ("F09 pods", section("kind: kubernetes") + "\n" + KUBE % "", ["got 'kubernetes'", "NetworkPolicy"]),
    ("F10", "distributed: {comm: {tls: {ca-file: /gone/ca, client: {cert: /gone/c, key: /gone/k}}}}\n"
     + section("kind: address, address: 'tls://h:1'"),
     ["distributed.comm.tls.ca-file: got '/gone/ca'", "an existing file", "tls.client.cert", "tls.client.key"]),
    ("F10 part", "distributed: {comm: {tls: {ca-file: /gone/ca, client: {cert: /gone/c}}}}",
     ["tls.client.key: got no file", "the TLS files of the client", "tls.worker.cert: got no file"]),
    ("F10 relative", "distributed: {comm: {tls: {ca-file: a, client: {cert: a, key: a}, scheduler: {cert: a, key: a},"
     " worker: {cert: a, key: a}}}}\n" + ssh("hosts: [h, h]"),
     ["tls.worker.key: got 'a'", "an absolute path"]),
    ("F11", section("kind: address, address: 'tcp://127.0.0.1:70000'"), ["address", "1 to 65535"]),
    ("F11 zero", section("kind: address, address: 'tcp://127.0.0.1:0'"), ["1 to 65535"]),
    ("form", section("kind: address, address: 'inproc://x'"), ["tcp://HOST:PORT or tls://HOST:PORT"]),
    ("user", section("kind: address, address: 'tls://u:geheim@h:1'"), ["an address in another form", "not shown"]),
    ("no address", section("kind: address"), ["limbsweep.cluster: got no key 'address'"]),
    ("address", section("address: 'tcp://127.0.0.1:1'"),
     ["address: got 'tcp://127.0.0.1:1'; expected no key 'address' with kind: local", "It is for kind: address."]),
    ("workers", section("kind: address, address: 'tcp://127.0.0.1:1', n-workers: 2"),
     ["n-workers: got 2; expected no"]),
    ("F12", "jobqueue: {slurm: {scheduler-options: {dashboard-address: '0.0.0.0:8787'}}}", ["got '0.0.0.0:8787'"]),
    ("F12 port", "jobqueue: {slurm: {scheduler-options: {dashboard_address: ':8787'}}}",
     ["dashboard_address: got ':8787'"]),
    ("F12 argument", "jobqueue: {slurm: {worker-extra-args: ['--dashboard-address', '8788']}}",
     ["worker-extra-args: got '8788'"]),
    ("F12 ssh", ssh("hosts: [localhost, localhost], scheduler_options: {dashboard_address: ':8787'}"),
     ["scheduler_options.dashboard_address: got ':8787'", "an address of this machine"]),
    ("F13 short", section("kind: slurm") + "\n" + SLURM % "walltime: '1:00'",
     ["slurm.walltime: got '1:00'", "HH:MM:SS"]),
    ("F13 word", section("kind: pbs") + "\njobqueue: {pbs: {cores: 4, memory: 8GB, walltime: abc}}", ["got 'abc'"]),
    ("F13 none", section("kind: slurm") + "\n" + SLURM % "walltime: '00:00:00'", ["got '00:00:00'", "more than none"]),
    ("F13 lsf", section("kind: lsf") + "\njobqueue: {lsf: {cores: 4, memory: 8GB, walltime: '01:00:00'}}", ["HH:MM,"]),
    ("jobs", section("kind: slurm"), ["got no jobqueue.slurm.cores", "Add memory under jobqueue.slurm"]),
    ("jobs cores", section("kind: slurm") + "\njobqueue: {slurm: {cores: 0, memory: 4}}",
     ["cores: got 0", "memory: got 4"]),
    ("F17", section("kind: kubernetes") + "\nkubernetes: {image: 'site/limbsweep'}",
     ["image: got 'site/limbsweep'", "digest"]),
    ("F17 latest", section("kind: kubernetes") + "\nkubernetes: {image: 'site/limbsweep:latest'}",
     ["other than latest"]),
    ("F17 none", section("kind: kubernetes") + "\nkubernetes: {namespace: a}",
     ["image: got 'ghcr.io/dask/dask:latest'"]),
    ("F18", section("kind: kubernetes") + "\n" + KUBE % "namespace: My_Space", ["namespace: got 'My_Space'"]),
    ("F19", section("kind: kubernetes") + "\n" + KUBE % "scheduler-service-type: NodePort",
     ["got 'NodePort'", "ClusterIP"]),
    ("pods spec", section("kind: kubernetes") + "\n" + KUBE % "custom-cluster-spec: {a: 1}",
     ["no specification of your own"]),
    ("F22", section("adapt: {minimum: 3, maximum: 2}"), ["adapt.minimum: got 3", "at most the maximum, 2"]),
    ("adapt", section("adapt: {minimum: 3}"), ["got no key 'maximum'"]),
    ("adapt both", section("adapt: {maximum: 3}, n-workers: 2"), ["n-workers or adapt, not both"]),
    ("timeout", section("start-timeout: soon"), ["start-timeout: got 'soon'", "10 minutes"]),
    ("insecure", section("insecure: 'yes'"), ["insecure: got 'yes'", "true or false"]),
    ("no file", section("kind: scheduler-file"), ["got no key 'scheduler-file'"]),
    ("gone file", section("kind: scheduler-file, scheduler-file: /gone/s.json"), ["/gone/s.json: no such file"]),
    ("F21", "distributed: {scheduler: {allowed-failurez: 3}}",
     ["c.yaml:1:27 distributed.scheduler.allowed-failurez: got an unknown setting of Dask", "'allowed-failures'"]),
    ("F21 jobs", "jobqueue: {slurm: {wall-time: 3}}", ["slurm.wall-time: got an unknown", "'walltime'"]),
    ("F21 pods", "kubernetes: {imag: 3}", ["kubernetes.imag: got an unknown", "'image'"]),
    ("F21 top", "distributd: {}", ["distributd", "Did you mean 'distributed'?"]),
    ("F21 ours", "limbsweeep: {}", ["Did you mean 'limbsweep'?"]),
    ("F21 shape", "distributed: {scheduler: 3}", ["distributed.scheduler: got 3", "a mapping with allowed-failures"]),
    ("F21 value", "distributed: {scheduler: {allowed-failures: {a: 1}}}", ["a single value, like 3"]),
]  # fmt: skip
NEEDS = {"F21 jobs": "dask_jobqueue", "F21 pods": "dask_kubernetes", "F17 none": "dask_kubernetes"}


@pytest.mark.parametrize(("name", "text", "fragments"), BAD, ids=[row[0] for row in BAD])
def test_a_bad_cluster_file_is_refused(name: str, text: str, fragments: list[str]) -> None:
    if name in NEEDS:
        pytest.importorskip(NEEDS[name])
    message = refused(text)
    for fragment in fragments:
        assert fragment in message
    for secret in ("hunter2", "AKIA123", "geheim", "271828"):
        assert secret not in message


def test_each_problem_is_said_once(certificates: Path) -> None:
    text = (certificates / "section.yaml").read_text().replace("ca.pem", "gone.pem")
    assert refused(text).count("ca-file") == 1


GOOD = [
    section("adapt: {maximum: 3}"),
    section("memory-limit: 236967 KiB"),
    section("kind: address, address: 'tcp://10.0.0.5:8786', insecure: true"),
    section("kind: slurm, insecure: true, n-workers: 3") + "\n" + SLURM % "walltime: '1-02:00:00'",
    section("kind: kubernetes, insecure: true") + f"\nkubernetes: {{image: 'a/b@sha256:{'0' * 64}'}}",
    ssh("hosts: [localhost, 127.0.0.1, 127.0.0.1], connect_options: {client_keys: [/k], port: 22}"),
    "jobqueue: {slurm: {job-script-prologue: ['module load python', 'export OMP_NUM_THREADS=1']}}",
]


@pytest.mark.parametrize("text", GOOD)
def test_a_good_cluster_file_is_taken(text: str) -> None:
    assert parse(text).source == "c.yaml"


def test_keys_of_dask_and_of_other_packages_pass() -> None:
    text = (
        "distributed: {scheduler: {allowed_failures: 5}, nanny: {pre-spawn-environ: {MY_OWN: 1}},"
        " worker: {resources: {GPU: 1}}}\n"
        "jobqueue: {slurm: {cores: 4}}\ntemporary-directory: /tmp\n"
    )
    config = parse(text)
    assert config.settings["jobqueue"] == {"slurm": {"cores": 4}}
    assert config.cluster.kind == "local"


def test_tls_files_are_tried(certificates: Path) -> None:
    text = section("kind: address, address: 'tls://head:8786'") + "\n" + (certificates / "section.yaml").read_text()
    assert parse(text).cluster.address == "tls://head:8786"
    words = "distributed.comm.tls.client: got files that do not work (the key belongs to another certificate)"
    assert words in refused(text.replace("cert.pem", "ca.pem"))


def test_tls_files_of_other_machines_are_only_named() -> None:
    names = "{cert: /there/cert.pem, key: /there/key.pem}"
    roles = ", ".join(f"{role}: {names}" for role in ("client", "scheduler", "worker"))
    text = f"distributed: {{comm: {{tls: {{ca-file: /there/ca.pem, {roles}}}}}}}\n"
    message = refused(text + ssh("hosts: [h, h]"))
    assert "tls.client.cert" in message
    assert "tls.worker.cert" not in message


def test_a_scheduler_file_gives_its_address(tmp_path: Path) -> None:
    file = tmp_path / "scheduler.json"
    text = section(f"kind: scheduler-file, scheduler-file: '{file}'")
    file.write_text(json.dumps({"address": "tcp://127.0.0.1:8786"}))
    assert parse(text).cluster.address == "tcp://127.0.0.1:8786"
    file.write_text(json.dumps({"address": "tcp://10.0.0.5:8786"}))
    assert "scheduler-file: got 'tcp://10.0.0.5:8786'; expected TLS" in refused(text)
    for content in ("[]", "{", "no json"):
        file.write_text(content)
        assert "the JSON file of a Dask scheduler" in refused(text)
    file.write_text('{"address": 3}')
    assert "expected a file with an address" in refused(text)


@pytest.mark.parametrize(
    ("host", "loopback"),
    [("127.0.0.1", True), ("127.9.9.9", True), ("::1", True), ("localhost", True), ("head", False)],
)
def test_only_addresses_of_this_machine_are_loopback(host: str, loopback: bool) -> None:
    assert is_loopback(host) is loopback


def test_a_configuration_without_a_file_is_checked_too() -> None:
    with pytest.raises(InputError, match=r"the given cluster.*limbsweep\.cluster\.address: .*expected TLS"):
        ClusterConfig.of("address", address="tcp://10.0.0.5:8786")
    with pytest.raises(InputError, match=r"n-workers: got 0"):
        ClusterConfig.of(n_workers=0)


def test_settings_are_not_in_what_a_log_would_show() -> None:
    config = parse("distributed: {nanny: {pre-spawn-environ: {MY_OWN: hidden}}}")
    assert "hidden" not in repr(config)


@pytest.mark.repository
def test_the_file_of_the_project_states_the_defaults() -> None:
    config = ClusterConfig.from_yaml(ROOT / "cluster.yaml")
    assert config.cluster.model_copy(update={"n_workers": None}) == ClusterConfig().cluster
    for path, value in SETTINGS.items():
        node: object = config.settings
        for key in path.split("."):
            node = node.get(key, {}) if isinstance(node, dict) else node
        assert node in (value, {}), path


@pytest.mark.parametrize("path", EXAMPLES, ids=[path.stem for path in EXAMPLES])
def test_an_example_needs_nothing_but_its_files(path: Path, certificates: Path, tmp_path: Path) -> None:
    text = path.read_text(encoding="utf-8").replace("/home/me/limbsweep-tls", str(certificates))
    if "scheduler.json" in text:
        (tmp_path / "scheduler.json").write_text('{"address": "tls://10.0.0.5:8786"}')
        text = text.replace("/home/me/scheduler.json", str(tmp_path / "scheduler.json"))
    assert parse(text).cluster.kind == path.stem


@pytest.mark.repository
def test_every_kind_has_an_example_and_a_row() -> None:
    assert set(KINDS) == set(get_args(ClusterKindName))
    shown = {path.stem for path in EXAMPLES} | {"local", "threads", "synchronous"}
    assert shown == set(KINDS)
    for kind in KINDS.values():
        assert not kind.extra or kind.extra in EXTRAS


def test_options_of_ssh_are_those_of_its_packages() -> None:
    from distributed import Nanny, Scheduler, Worker
    from distributed.core import Server

    def parameters(*functions: object) -> set[str]:
        return {name for function in functions for name in inspect.signature(function).parameters}  # type: ignore[arg-type]

    assert {*WORKER_OPTIONS} <= parameters(Nanny, Worker) | {"n_workers"}
    assert {*SCHEDULER_OPTIONS} <= parameters(Scheduler, Server)
    asyncssh = pytest.importorskip("asyncssh")
    assert {*CONNECT_OPTIONS} <= parameters(asyncssh.connect, asyncssh.SSHClientConnectionOptions.prepare)


NAMES = (
    "limbsweep", "cluster", "kind", "options", "hosts", "adapt", "maximum", "address", "scheduler-file", "insecure",
    "distributed", "comm", "tls", "ca-file", "client", "cert", "key", "jobqueue", "slurm", "cores", "memory",
    "walltime", "worker-extra-args", "kubernetes", "image", "env", "name", "value", "dashboard-address", "x",
)  # fmt: skip
VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-2, 3),
    st.sampled_from([*KINDS, "tcp://h:1", "a\0b", "1:00", "4GB", ":8", ""]),
)
TREES = st.recursive(
    VALUES,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.sampled_from(NAMES), inner, max_size=3)),
    max_leaves=6,
)


@given(
    st.dictionaries(st.sampled_from(NAMES), TREES, max_size=4),
    st.one_of(st.none(), st.dictionaries(st.sampled_from(NAMES), TREES, max_size=5)),
)
def test_no_file_is_answered_with_a_traceback(data: dict[str, Any], ours: dict[str, Any] | None) -> None:
    data = data if ours is None else data | {"limbsweep": {"cluster": ours}}
    with suppress(InputError):
        parse(json.dumps(data or {"limbsweep": {}}))
