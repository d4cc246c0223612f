"""The command line as a user meets it: what it prints, where, and its exit status."""

from __future__ import annotations

import inspect
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module, metadata
from pathlib import Path
from typing import Any, get_type_hints

import click
import pytest
from click.testing import CliRunner, Result

from applications.commands import schemas
from applications.commands.cli import cli
from applications.commands.declared.sweeps import SCHEMAS
from applications.commands.first_sweep import CLUSTER_FILE
from applications.commands.refusals import CommandGroup
from applications.commands.runs import Action, run
from pipeline.cluster.file import ClusterConfig
from pipeline.execution.run import run_into
from pipeline.monitor.log import BlockFailed, Finished, Started
from pipeline.sweep.model import Sweep
from robots import catalog
from tests.waiting import PATIENCE

ROOT = Path(__file__).parents[2]
PROGRAM = [sys.executable, "-W", "error", "-c", "from applications.commands.cli import main; main()"]
TINY = """\
limbsweep: 1
robot: delta_3rr2rrr
design: {grid: {upper_arm: {values: [0.2, 0.25, 0.3]}}}
trajectories: {circle: {kind: circle, radius: 0.05}}
time: {stop: 1.0, step: 0.1}
outputs: [actuator_force]
metrics: [peak_force]
"""
LONG = """\
limbsweep: 1
robot: delta_3rr2rrr
design: {grid: {upper_arm: {start: 0.2, stop: 0.3, num: 40000}}}
trajectories: {circle: {kind: circle, radius: 0.05}}
time: {stop: 1.0, samples: 1002}
metrics: [peak_force]
"""


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def tiny() -> Path:
    path = Path("tiny.yaml")
    path.write_text(TINY)
    return path


def limbsweep(*arguments: str) -> Result:
    return invoked(cli, *arguments)


def invoked(group: click.Group, *arguments: str) -> Result:
    result = CliRunner().invoke(group, arguments)
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def refused(*arguments: str) -> str:
    """Return the standard error of a command that must be refused and write nothing."""
    before = sorted(Path().rglob("*"))
    result = limbsweep(*arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert "Traceback" not in result.stderr
    assert sorted(Path().rglob("*")) == before
    return result.stderr


def environment() -> dict[str, str]:
    return os.environ | {"PYTHONPATH": str(ROOT)}


def script(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*PROGRAM, *arguments], capture_output=True, text=True, env=environment(), check=False, timeout=PATIENCE
    )


def run_with(action: Action, *arguments: str) -> Result:
    """Call the command `run` with another function than `run_into`, for endings that a healthy run does not have."""
    command = click.Command("run", params=cli.commands["run"].params, callback=partial(run, action=action))
    return invoked(CommandGroup("limbsweep", commands={"run": command}), "run", *arguments)


# the program


def test_no_arguments_shows_the_usage() -> None:
    message = refused()
    assert message.startswith("Usage: limbsweep [OPTIONS] COMMAND")
    assert "Missing command" in message


@pytest.mark.parametrize("flag", ["-h", "--help"])
def test_help_lists_the_commands(flag: str) -> None:
    result = limbsweep(flag)
    assert result.exit_code == 0
    for command in ("robots", "show", "new", "check", "run", "info", "bench"):
        assert f"\n  {command} " in result.stdout


def commands(group: click.Group = cli) -> Iterator[tuple[str, click.Command]]:
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            yield from commands(command)
        else:
            yield name, command


@pytest.mark.parametrize("command", [pytest.param(command, id=name) for name, command in commands()])
def test_every_command_has_a_body_that_takes_its_options(command: click.Command) -> None:
    """A declaration names its body by a text, which no checker of types reads."""
    callback = command.callback
    assert callback is not None
    body: Callable[..., None] = getattr(import_module(callback.__module__), callback.__qualname__)
    if hasattr(body, "__wrapped__"):  # the options are one record
        body = get_type_hints(body.__wrapped__)["options"]
    inspect.signature(body).bind(**{parameter.name: None for parameter in command.params if parameter.expose_value})


def test_declared_kinds_of_schemas_are_those_there_are() -> None:
    assert tuple(schemas.KINDS) == SCHEMAS


def test_unknown_command_names_the_nearest() -> None:
    assert "no command 'chekc'; did you mean 'check'?" in refused("chekc")
    assert f"no command 'xyzzy'; known: {', '.join(cli.commands)}" in refused("xyzzy")


def test_unknown_option_names_the_nearest() -> None:
    message = refused("run", "sweep.yaml", "--stor", "x")
    assert "No such option" in message
    assert "--store" in message


def test_a_prefix_is_not_an_option() -> None:
    assert "No such option" in refused("run", "sweep.yaml", "--clust", "c.yaml")


def test_version() -> None:
    try:
        version = metadata.version("limbsweep")
    except metadata.PackageNotFoundError:
        pytest.skip("limbsweep is not installed here")
    assert limbsweep("--version").stdout == f"limbsweep {version}\n"


def test_the_script_prints_no_traceback_and_exits_with_2() -> None:
    done = script("robots", "dleta_3rr2rrr")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "unknown robot 'dleta_3rr2rrr'; did you mean 'delta_3rr2rrr'?\n"


def test_a_closed_pipe_is_not_an_error_of_ours() -> None:
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run([*PROGRAM, "robots"], stdout=write, stderr=subprocess.PIPE, env=environment(), check=False)
    os.close(write)
    assert (done.returncode, done.stderr) == (141, b"")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
@pytest.mark.parametrize("argument", ["robots", "--help", "--version"])
def test_a_full_disk_under_the_output_is_told_in_a_line(argument: str) -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run([*PROGRAM, argument], stdout=full, stderr=subprocess.PIPE, env=environment(), check=False)
    assert (done.returncode, done.stderr) == (2, b"standard output cannot be written: No space left on device\n")


@pytest.mark.skipif(sys.platform != "linux", reason="limits of the address space")
def test_too_little_memory_is_told_in_a_line(tiny: Path) -> None:
    limited = f"import resource; resource.setrlimit(resource.RLIMIT_AS, ({300 << 20},) * 2)"
    start = f"{limited}; from limbsweep.__main__ import main; main()"
    command = [sys.executable, "-c", start, "check", str(tiny)]
    done = subprocess.run(command, capture_output=True, env=environment(), text=True, check=False)
    rule = "not enough memory within the limit of 300 MiB (ulimit -v); expected about 1 GiB for a small sweep; "
    assert (done.returncode, done.stderr) == (2, rule + "end other programs or raise the limit\n")


def test_an_error_of_ours_keeps_its_traceback(tiny: Path) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError("a mistake in the program")

    with pytest.raises(ZeroDivisionError, match="a mistake in the program"):
        run_with(broken, str(tiny))


# robots


def test_the_catalogue() -> None:
    head, *rows = limbsweep("robots").stdout.splitlines()
    assert head.split() == ["name", "dof", "actuators", "title", "source"]
    assert [row.split()[0] for row in rows] == list(catalog.FAMILIES)
    assert rows[0].split()[1:3] == ["3", "3"]


def test_parameters_of_a_robot() -> None:
    head, *rows = limbsweep("robots", "delta_3rr2rrr").stdout.splitlines()
    assert head.split() == ["parameter", "default", "unit", "bounds", "meaning", "source"]
    assert rows[2].startswith("upper_arm           0.25     m       [0.00025, 100]  length of the driven arms")
    assert len(rows) == len(catalog.family("delta_3rr2rrr").parameters)


# show


def test_show_writes_a_picture() -> None:
    result = limbsweep("show", "delta_3rr2rrr", "--set", "upper_arm=0.3", "--output", "delta.PNG")
    assert (result.exit_code, result.stdout) == (0, "wrote delta.PNG\n")
    assert Path("delta.PNG").read_bytes().startswith(b"\x89PNG")


def test_show_names_the_picture_after_the_robot() -> None:
    assert limbsweep("show", "delta_rl5_1450").stdout == "wrote delta_rl5_1450.png\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["delta"], "unknown robot 'delta'"),
        (["delta_3rr2rrr", "--set", "uper_arm=1"], "did you mean 'upper_arm'?"),
        (["delta_3rr2rrr", "--set", "upper_arm=-1"], "upper_arm = -1.0 is outside [0.00025, 100] m"),
        (["delta_3rr2rrr", "--set", "upper_arm=long"], "--set: got 'upper_arm=long'; expected NAME=VALUE"),
        (["delta_3rr2rrr", "--set", "upper_arm"], "--set: got 'upper_arm'; expected NAME=VALUE"),
        (["delta_3rr2rrr", "--output", "x.html"], "--output: got 'x.html'; expected a file name that ends in .png"),
        (
            ["delta_3rr2rrr", "--output", "none/x.png"],
            "--output: got 'none/x.png', which cannot be written (No such file or directory)",
        ),
    ],
)
def test_show_refuses(arguments: list[str], message: str) -> None:
    assert message in refused("show", *arguments)


# new


@pytest.mark.parametrize("name", sorted(catalog.FAMILIES))
def test_what_new_writes_passes_check(name: str) -> None:
    result = limbsweep("new", name)
    schema = "wrote sweep.schema.json, by which editors check the file\n"
    assert (result.exit_code, result.stdout) == (0, f"{schema}wrote sweep.yaml; next: limbsweep check sweep.yaml\n")
    assert limbsweep("check", "sweep.yaml").exit_code == 0


def test_new_writes_the_commented_cluster_file() -> None:
    result = limbsweep("new", "cluster")
    schema = "wrote cluster.schema.json, by which editors check the file\n"
    next_one = "wrote cluster.yaml; next: limbsweep cluster cluster.yaml\n"
    assert (result.exit_code, result.stdout) == (0, schema + next_one)
    first, rest = Path("cluster.yaml").read_text("utf-8").split("\n", 1)
    assert (first, rest) == (schemas.line("cluster.schema.json"), CLUSTER_FILE.read_text("utf-8"))
    assert limbsweep("cluster", "cluster.yaml").exit_code == 0
    message = "--output: got 'cluster.yaml', which exists already; expected a new file. "
    assert refused("new", "cluster").startswith(message)


def test_new_does_not_overwrite() -> None:
    Path("mine.yaml").write_text("mine")
    message = refused("new", "delta_3rr2rrr", "--output", "mine.yaml")
    assert message == (
        "--output: got 'mine.yaml', which exists already; expected a new file. "
        "Name another one, or replace it by --force.\n"
    )
    assert Path("mine.yaml").read_text() == "mine"


def test_new_refuses_an_unknown_robot() -> None:
    assert "did you mean 'delta_3rr2rrr'?" in refused("new", "delta_3rr2rr")


# check


def test_check_prints_the_plan(tiny: Path) -> None:
    result = limbsweep("check", str(tiny))
    assert result.exit_code == 0
    assert "samples" in result.stdout
    assert sorted(Path().iterdir()) == [tiny]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("delta_3rr2rrr", "delta_3rr2rr", "Did you mean"),
        ("upper_arm", "uper_arm", "Did you mean"),
        ("[0.2, 0.25, 0.3]", "[]", "design.grid.upper_arm"),
        ("actuator_force", "actuator_fource", "Did you mean"),
        ("limbsweep: 1", "limbsweep: 1\nlimbsweep: 1", "tiny.yaml:2:1"),
    ],
)
@pytest.mark.parametrize("command", ["check", "run"])
def test_a_bad_sweep_is_refused(tiny: Path, command: str, old: str, new: str, message: str) -> None:
    tiny.write_text(TINY.replace(old, new))
    said = refused(command, str(tiny))
    assert said.startswith("tiny.yaml:")
    assert message in said


@pytest.mark.parametrize("command", ["check", "run"])
def test_warnings_of_a_sweep_are_shown(tiny: Path, command: str) -> None:
    tiny.write_text(TINY + "gravity: [0, 0, 9.81]\n")
    result = limbsweep(command, str(tiny))
    assert result.exit_code == 0
    assert "warning: tiny.yaml:8:10 gravity: got gravity that points up" in result.stderr


def test_a_missing_sweep_is_refused() -> None:
    assert "nowhere.yaml" in refused("check", "nowhere.yaml")


# run and info


def test_run_then_info(tiny: Path) -> None:
    result = limbsweep("run", str(tiny))
    assert (result.exit_code, result.stdout) == (0, "results in tiny.zarr\n")
    assert "samples/s" in result.stderr
    rows = dict(line.split(maxsplit=1) for line in limbsweep("info", "tiny.zarr").stdout.splitlines())
    assert rows["state"] == "finished"
    assert "design 3" in rows["dims"]
    assert rows["peak_force"].startswith("(design, friction, trajectory, actuator) [N m]")


def test_a_small_run_imports_neither_distributed_nor_xarray(tiny: Path) -> None:
    """Check imports: both packages take longer than the run."""
    program = (
        "import sys; from applications.commands.cli import cli; cli(['run', 'tiny.yaml'], standalone_mode=False);"
        "print(sorted({'dask.array', 'distributed', 'pandas', 'scipy', 'xarray'} & set(sys.modules)))"
    )
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, env=environment(), check=True, timeout=PATIENCE)
    assert done.stdout.splitlines()[-1] == "[]"


def test_run_passes_store_and_cluster_on(tiny: Path) -> None:
    seen: list[object] = []

    def seeing(store: str, sweep: Sweep, cluster: ClusterConfig | None, *others: Any) -> None:
        seen.extend((store, sweep.robot, cluster))
        run_into(store, sweep, cluster, *others)

    Path("c.yaml").write_text("limbsweep: {cluster: {kind: synchronous}}\n")
    assert run_with(seeing, str(tiny), "--store", "a/b.zarr", "--cluster", "c.yaml").exit_code == 0
    assert seen == ["a/b.zarr", "delta_3rr2rrr", ClusterConfig.from_yaml("c.yaml")]


def test_several_robots_make_a_folder_of_stores(tiny: Path) -> None:
    seen: list[tuple[str, object]] = []

    def seeing(store: str, sweep: Sweep, *others: Any) -> None:
        seen.append((sweep.robot, store))
        run_into(store, sweep, *others)

    tiny.write_text(TINY.replace("robot: delta_3rr2rrr", "robots: [delta_3rr2rrr, delta_3r2us]"))
    result = run_with(seeing, str(tiny), "--granularity", "block")
    assert seen == [("delta_3rr2rrr", "tiny/delta_3rr2rrr.zarr"), ("delta_3r2us", "tiny/delta_3r2us.zarr")]
    assert result.stdout == "results in tiny/delta_3rr2rrr.zarr\nresults in tiny/delta_3r2us.zarr\n"
    plans = limbsweep("check", str(tiny)).stdout.split("\n\n")
    assert [plan.split()[:2] for plan in plans] == [["robot", "delta_3rr2rrr"], ["robot", "delta_3r2us"]]


def test_a_subset_has_a_store_of_its_own(tiny: Path) -> None:
    def interrupted(store: str, sweep: Sweep, *_: object) -> None:
        assert (sweep.design.size, store) == (2, "tiny-few.zarr")
        raise KeyboardInterrupt

    tiny.write_text(TINY + "subsets: {few: {design: {stop: 2}}}\n")
    result = run_with(interrupted, str(tiny), "--subset", "few")
    assert result.stderr == "interrupted; go on with: limbsweep run tiny.yaml --store tiny-few.zarr --subset few\n"
    assert dict(line.split(maxsplit=1) for line in limbsweep("check", str(tiny)).stdout.splitlines())["designs"] == "3"


def test_failed_blocks_give_status_1(tiny: Path) -> None:
    def failing(store: str, sweep: Sweep, cluster: ClusterConfig | None, listeners: Any, granularity: Any) -> None:
        run_into(store, sweep, cluster, (), granularity)
        for event in (Started(3, 0, 10, None), BlockFailed(2, "worker died twice"), Finished(20, 1.0, 1)):
            for listener in listeners:
                listener(event)

    result = run_with(failing, str(tiny), "--store", "my results.zarr")
    assert result.exit_code == 1
    assert "block 2 given up: worker died twice" in result.stderr
    assert "1 block failed; try again with: limbsweep run tiny.yaml --store 'my results.zarr'" in result.stderr


def test_ctrl_c_says_how_to_go_on(tiny: Path) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    Path("cluster.yaml").write_text("limbsweep: {cluster: {kind: threads}}\n")
    result = run_with(interrupted, str(tiny), "--cluster", "cluster.yaml")
    assert (result.exit_code, result.stdout) == (130, "")
    command = "limbsweep run tiny.yaml --store tiny.zarr --cluster cluster.yaml"
    assert result.stderr == f"interrupted; go on with: {command}\n"


FAR = TINY.replace("radius: 0.05", "radius: 2.5")


def test_a_sweep_of_which_all_fails_ends_with_status_1_and_says_why(tiny: Path) -> None:
    tiny.write_text(FAR)
    Path("c.yaml").write_text("limbsweep: {cluster: {kind: synchronous}}\n")
    result = limbsweep("run", str(tiny), "--cluster", "c.yaml")
    assert (result.exit_code, result.stdout) == (1, "results in tiny.zarr\n")
    assert (
        "all 33 samples failed and hold NaN:\n  NOT_REACHABLE: 33 samples in 3 cases, first in design 0,"
        in result.stderr
    )
    assert "A limb cannot reach the platform; lengthen it" in result.stderr
    assert limbsweep("run", str(tiny), "--cluster", "c.yaml").exit_code == 1  # there is nothing left to run


def test_a_part_that_fails_is_counted(tiny: Path) -> None:
    tiny.write_text(TINY.replace("[0.2, 0.25, 0.3]", "[0.2, 10.0]"))
    Path("c.yaml").write_text("limbsweep: {cluster: {kind: synchronous}}\n")
    result = limbsweep("run", str(tiny), "--cluster", "c.yaml")
    assert result.exit_code == 0
    assert "11 of 22 samples failed (50 %) and hold NaN:\n  NOT_REACHABLE: 11 samples in 1 cases" in result.stderr


def test_check_warns_of_what_fails(tiny: Path) -> None:
    tiny.write_text(FAR)
    result = limbsweep("check", str(tiny))
    assert result.exit_code == 1
    assert "warning: delta_3rr2rrr: tried 3 designs on 1 trajectories: all 33 samples failed" in result.stderr
    assert limbsweep("check", str(tiny), "--quick").stderr == ""
    tiny.write_text(TINY)
    assert limbsweep("check", str(tiny)).stderr == ""


@pytest.mark.slow
def test_ctrl_c_in_a_real_run(tiny: Path) -> None:
    tiny.write_text(LONG)
    running = subprocess.Popen(
        [*PROGRAM, "run", str(tiny)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment()
    )
    with running:
        assert running.stderr is not None
        assert "blocks, 40.1 M samples" in running.stderr.readline()
        time.sleep(1.0)
        running.send_signal(signal.SIGINT)
        _, said = running.communicate(timeout=PATIENCE)
    assert running.returncode == 130
    assert said.endswith("interrupted; go on with: limbsweep run tiny.yaml --store tiny.zarr\n")
    assert "not finished" in limbsweep("info", "tiny.zarr").stdout
    assert script("run", "tiny.yaml", "--store", "tiny.zarr").returncode == 0
    assert "not finished" not in limbsweep("info", "tiny.zarr").stdout


def test_ctrl_c_elsewhere_gives_130(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(_: str) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(catalog, "family", interrupted)
    result = limbsweep("robots", "delta_3rr2rrr")
    assert (result.exit_code, result.stderr) == (130, "interrupted\n")


def test_info_refuses_what_is_not_a_store() -> None:
    Path("other").mkdir()
    assert "other" in refused("info", "other")
    assert "nowhere.zarr" in refused("info", "nowhere.zarr")


# bench


def test_bench_prints_json_lines() -> None:
    lines = limbsweep("bench", "designs", "--json", "--quick").stdout.splitlines()
    assert lines
    for line in lines:
        assert isinstance(json.loads(line), dict)


def test_bench_refuses_an_unknown_case() -> None:
    assert "did you mean 'designs'?" in refused("bench", "designz")


def test_a_cluster_file_is_shown_as_what_it_starts() -> None:
    Path("c.yaml").write_text("limbsweep: {cluster: {n-workers: 2, threads-per-worker: 1}}\n")
    shown = limbsweep("cluster", "c.yaml")
    assert shown.exit_code == 0
    assert '"n_workers": 2' in shown.stdout
    Path("c.yaml").write_text("limbsweep: {cluster: {kind: slrum}}\n")
    assert "Did you mean 'slurm'?" in refused("cluster", "c.yaml")


def test_certificates_are_made_once() -> None:
    pytest.importorskip("cryptography")
    made = limbsweep("certificates", "tls", "--days", "3")
    assert made.exit_code == 0
    Path("c.yaml").write_text(made.stdout)
    assert limbsweep("cluster", "c.yaml").exit_code == 0
    assert "a file that exists already" in refused("certificates", "tls")
    assert "--days: got 0" in refused("certificates", "other", "--days", "0")
