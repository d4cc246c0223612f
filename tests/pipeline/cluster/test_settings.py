from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import pytest

from pipeline.cluster.settings import KEEP_MEMORY, ONE_THREAD, SETTINGS, effective, flat, worker_environment

GIVEN: dict[str, Any] = {
    "distributed": {
        "scheduler": {"allowed_failures": 7},
        "nanny": {"pre-spawn-environ": {"MY_Own": 1, "OMP_NUM_THREADS": 2}},
        "worker": {"memory": {"spill": False}, "resources": {"MY_GPU": 1}},
        "comm": {"timeouts": {"connect": "30"}},
    },
    "jobqueue": {"slurm": {"cores": 4}},
    "temporary-directory": "/scratch/None",
}


def _read(environment: dict[str, str], *keys: str) -> list[Any]:
    """Return the settings that Dask finds in a process of that environment."""
    code = f"import json, dask, distributed; print(json.dumps([dask.config.get(key) for key in {keys!r}]))"
    clean = {name: value for name, value in os.environ.items() if not name.startswith("DASK_")}
    done = subprocess.run(
        [sys.executable, "-c", code], env=clean | environment, capture_output=True, text=True, check=True
    )
    found: list[Any] = json.loads(done.stdout)
    return found


def test_a_process_with_that_environment_has_the_settings() -> None:
    environment = worker_environment(GIVEN)
    ours = {key: value for key, value in SETTINGS.items() if key != "distributed.scheduler.allowed-failures"}
    assert _read(environment, *ours) == list(ours.values())
    found = _read(
        environment,
        "distributed.scheduler.allowed-failures",
        "distributed.worker.memory.spill",
        "distributed.worker.resources",
        "distributed.comm.timeouts.connect",
        "temporary-directory",
    )
    assert found == [7, False, {"MY_GPU": 1}, "30", "/scratch/None"]


def test_pins_are_there_and_the_file_has_the_last_word() -> None:
    environment = worker_environment(GIVEN)
    assert {name: environment[name] for name in KEEP_MEMORY} == KEEP_MEMORY
    assert environment["OPENBLAS_NUM_THREADS"] == ONE_THREAD["OPENBLAS_NUM_THREADS"] == "1"
    assert (environment["MY_Own"], environment["OMP_NUM_THREADS"]) == ("1", "2")


def test_variables_of_this_process_come_last(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES", "9")
    monkeypatch.setenv("DASK_GATEWAY__AUTH__PASSWORD", "hidden")
    environment = worker_environment(GIVEN)
    assert environment["DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES"] == "9"
    assert "hidden" not in environment.values()
    monkeypatch.setenv("DASK_DISTRIBUTED__COMM__TLS__CA_FILE", "/ca")
    found = effective({"distributed": {"comm": {"tls": {"ca-file": "/other", "ciphers": "x"}}}})
    tls = found["distributed"]["comm"]["tls"]
    assert (tls["ca-file"], tls["ciphers"]) == ("/ca", "x")


def test_options_of_the_batch_system_stay_here() -> None:
    assert not [name for name in worker_environment(GIVEN) if "JOBQUEUE" in name]


@pytest.mark.parametrize("value", ["1", "None", "true", "5 minutes", "[", "it's", "", "null"])
def test_text_comes_back_as_text(value: str) -> None:
    (name,) = [name for name in worker_environment({"a": {"b-c": value}}) if name.startswith("DASK_A")]
    assert name == "DASK_A__B_C"
    from dask.config import interpret_value

    assert interpret_value(worker_environment({"a": {"b-c": value}})[name]) == value


def test_settings_become_dotted() -> None:
    assert flat({"a": {"b": 1, "c": {}}, "d": [2]}) == {"a.b": 1, "d": [2]}
