"""Hostile tables through identify, calibrate and run: a sentence within seconds and a GiB, and nothing else is read.

One process takes all files of a door one after another, so that its limits hold for each and it starts once.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.bad_inputs.hostile_tables import HOSTILE, SECRET, WIDTH

ROOT = Path(__file__).parents[2]
MIB = 1 << 20
SECONDS = 10.0
"""Processor time of an answer, that of processes which unpack bags included."""
MOST = 1024 * MIB
"""Largest resident size while a file is read, the process itself included."""
SPACE = 6144 * MIB
"""Address space of the process; libraries reserve much that they never touch."""
DOORS = {
    "identify": "limbsweep: 1\nrobot: planar_3r\nrecordings: [{{files: [{file}]}}]\ntime: {{rate: 100}}\n"
    "position: {{columns: [1, 2, 3]}}\nforce: {{columns: [4, 5, 6]}}\n",
    "calibrate": "limbsweep: 1\nrobot: delta_3rr2rrr\nposes: [{{files: [{file}]}}]\nactuators: {{columns: [1, 2, 3]}}\n"
    "position: {{columns: [4, 5, 6], deviation: 0.001}}\n",
    "run": "limbsweep: 1\nrobot: delta_3rr2rrr\ndesign: {{file: {file}}}\n"
    "trajectories: {{turn: {{kind: circle}}}}\ntime: {{stop: 0.1, step: 0.1}}\nmetrics: [peak_force]\n",
}
COMMANDS = {"identify": ("identify",), "calibrate": ("calibrate",), "run": ("run", "--store", "never.zarr")}
CHILD = """
import json, os, resource, sys
from pathlib import Path
resource.setrlimit(resource.RLIMIT_AS, (int(sys.argv[3]),) * 2)
command, secret = sys.argv[1].split(), sys.argv[2]
from click.testing import CliRunner
from applications.commands.cli import cli
from tests.hostile.watch import Watch, processor_seconds
import h5py  # which asks the system for its processor
CliRunner().invoke(cli, [command[0], "absent.yaml"])
watch = Watch(os.getcwd(), [])
sys.addaudithook(watch)
for path in sorted(Path().glob(f"*.{command[0]}.yaml")):
    Path("/proc/self/clear_refs").write_text("5")
    watch.calls.clear()
    start = processor_seconds()
    done = CliRunner().invoke(cli, [command[0], str(path), *command[1:]])
    spent = processor_seconds() - start
    status = Path("/proc/self/status").read_text()
    peak = int(status.split("VmHWM:")[1].split()[0]) << 10
    raised = "" if done.exception is None or isinstance(done.exception, SystemExit) else repr(done.exception)
    print(json.dumps([path.name.split('.')[0], done.exit_code, done.output[-600:], raised, spent, peak,
                      watch.calls]), flush=True)
"""


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A folder with all hostile files and a description of each for each door, and the file that nothing may read."""
    for package in ("h5py", "pyarrow", "rosbags"):
        pytest.importorskip(package)
    folder, secret = tmp_path_factory.mktemp("work"), tmp_path_factory.mktemp("elsewhere") / "victim/secret"
    secret.parent.mkdir()
    secret.write_bytes(np.full(4 * WIDTH, float(SECRET)).tobytes())
    for number, (name, (ending, make)) in enumerate(HOSTILE.items()):
        place = folder / f"{number:02}"
        place.mkdir()
        make(place / f"a.{ending}", secret)
        for door, text in DOORS.items():
            (folder / f"{name}.{door}.yaml").write_text(text.format(file=f"{number:02}/a.{ending}"))
    return folder, secret


@pytest.mark.skipif(not os.path.exists("/proc/self/clear_refs"), reason="needs the memory figures of Linux")
@pytest.mark.parametrize("door", DOORS)
def test_hostile_tables_end_in_a_sentence(door: str, hostile: tuple[Path, Path]) -> None:
    folder, secret = hostile
    environment = os.environ | {"PYTHONPATH": str(ROOT), "OPENBLAS_NUM_THREADS": "2"}
    command = [sys.executable, "-c", CHILD, " ".join(COMMANDS[door]), str(secret), str(SPACE)]
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=600, check=False
    )
    answers = {row[0]: row[1:] for row in map(json.loads, done.stdout.splitlines())}
    assert set(answers) == set(HOSTILE), done.stderr[-2000:].decode()
    problems = []
    for name, (status, said, raised, seconds, peak, calls) in answers.items():
        sound = (
            status == 2
            and not raised
            and "Traceback" not in said
            and "; expected " in said
            and HOSTILE[name][0] in said
            and SECRET[:8] not in said
            and seconds < SECONDS
            and peak < MOST
            and not calls
        )
        if not sound:
            problems.append(f"{name}: {status} {raised} {seconds:.1f} s {peak / MIB:.0f} MiB {calls} {said}")
    assert not problems, "\n".join(problems)
    print(
        f"{door}: slowest {max(row[3] for row in answers.values()):.1f} s, "
        f"largest {max(row[4] for row in answers.values()) / MIB:.0f} MiB of {len(answers)} files"
    )
    assert not list(folder.rglob("trapped"))
    assert not (folder / "never.zarr").exists()
