"""Plain scripts, as newcomers write them: without guard, inside a running loop, with a forgotten await."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from dask.base import annotate, get_annotations

from pipeline import run
from pipeline.cluster.script_guard import is_guarded
from pipeline.execution.handle import PendingRun, RunHandle
from pipeline.sweep.model import Sweep
from tests.pages import ROOT
from tests.pipeline.runs import FEW

SCRIPT = """\
import limbsweep as ls


def largest(actuator_force):
    return float(abs(actuator_force).max())


def main():
    sweep = ls.Sweep.from_text('''{text}''')
    results = ls.run(sweep, metrics={{"largest": ls.UserMetric(largest, "N m")}})
    print(dict(results["largest"].sizes))


{call}
"""


def printed(folder: Path, text: str, call: str) -> subprocess.CompletedProcess[str]:
    (folder / "script.py").write_text(SCRIPT.format(text=text, call=call), "utf-8")
    command = [sys.executable, "script.py"]
    return subprocess.run(
        command, cwd=folder, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=False
    )


def test_small_work_with_a_user_metric_needs_no_guard(tmp_path: Path) -> None:
    done = printed(tmp_path, FEW, "main()")
    assert (done.returncode, done.stderr) == (0, "")
    assert "'design'" in done.stdout


def test_a_missing_guard_is_told_in_a_line_before_a_process_starts(tmp_path: Path) -> None:
    many = FEW.replace("{values: [0.22, 0.25, 0.28, 0.31]}", "{start: 0.22, stop: 0.31, num: 5000}")
    done = printed(tmp_path, many, "main()")
    assert done.returncode == 1
    *trace, told = done.stderr.splitlines()
    line = SCRIPT.format(text=many, call="main()").splitlines().index("main()") + 1
    assert f'script.py:{line}:1: got a call outside of `if __name__ == "__main__":`; expected the call below' in told
    assert not any("nanny" in line or "spawn" in line for line in trace)
    assert len(trace) < 60


@pytest.mark.parametrize(
    ("script", "line", "guarded"),
    [
        ("import a\nrun()\n", 2, False),
        ("import a\nif __name__ == '__main__':\n    run()\n", 3, True),
        ("if '__main__' == __name__:\n    run()\n", 2, True),
        ("import sys\nif __name__ != '__main__':\n    sys.exit()\nrun()\n", 4, True),
        ("run()\nif __name__ == '__main__':\n    pass\n", 1, False),
        ("def f():\n    if __name__ == '__main__':\n        pass\nrun()\n", 4, False),
    ],
)
def test_the_guard_is_seen(script: str, line: int, guarded: bool) -> None:
    assert is_guarded(script, line) == guarded


def test_a_run_inside_a_running_loop_gives_results() -> None:
    async def main() -> Any:
        return run(Sweep.from_text(FEW))

    assert asyncio.run(main()).sizes["design"] == 12


def test_a_forgotten_await_is_told() -> None:
    pending = PendingRun(RunHandle(lambda listen, stop: "results"))  # type: ignore[arg-type, return-value]
    with pytest.raises(TypeError, match=r"'peak_force': got results of `run` that were not awaited; expected an await"):
        pending["peak_force"]
    with pytest.raises(AttributeError, match="sizes: got results of `run` that were not awaited"):
        pending.sizes  # noqa: B018 - the attribute is asked for
    with pytest.warns(RuntimeWarning, match="`run` with an asynchronous client was never awaited"):
        del pending


def test_an_awaited_run_tells_nothing() -> None:
    async def main() -> object:
        return await PendingRun(RunHandle(lambda listen, stop: "results"))  # type: ignore[arg-type, return-value]

    assert asyncio.run(main()) == "results"


def test_annotations_of_dask_go_with_a_run() -> None:
    with annotate(priority=3):
        handle = RunHandle(lambda listen, stop: get_annotations())  # type: ignore[arg-type, return-value]
    assert handle.result(10.0) == {"priority": 3}
