"""Tests that a change reaches, on made-up trees, and their processor seconds."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from benchmarks.house import changed, tests

TEXTS = {
    "robots.model": "",
    "robots.catalog": "from robots.model import (\n    Family,\n    Robot,\n)\n",
    "tasks.inverse": "import robots.model as model\n",
    "tasks.far": "def far():\n    from tasks import inverse\n",
    "tests.robots.test_model": "",
    "tests.robots.test_catalog": "from robots import catalog\n",
    "tests.helpers": "from tasks.far import x  # a comment\n",
    "tests.tasks.test_far": "from tests.helpers import y\n",
    "tests.test_pages": "PAGE = 'guide.md'\n",
}


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("robots/model.py", ["tests.robots.test_model", "tests.robots.test_catalog", "tests.tasks.test_far"]),
        ("tasks/far.py", ["tests.tasks.test_far"]),
        ("tests/helpers.py", ["tests.tasks.test_far"]),
        ("tests/test_pages.py", ["tests.test_pages"]),
        ("docs/guide.md", ["tests.test_pages"]),
        ("docs/other.md", []),
        ("setup.py", []),
    ],
)
def test_tests_are_reached_by_imports_the_nearest_first(path: str, expected: list[str]) -> None:
    assert changed.reached(TEXTS, [path]) == expected


def test_tests_of_the_same_folder_come_first() -> None:
    texts = {"tasks.a": "", "tests.robots.test_x": "import tasks.a", "tests.tasks.test_y": "import tasks.a"}
    assert changed.reached(texts, ["tasks/a.py"]) == ["tests.tasks.test_y", "tests.robots.test_x"]


def test_imports_of_a_circle_end() -> None:
    assert changed.distances({"a": {"b"}, "b": {"a"}, "c": {"b"}, "d": set()}, ["a"]) == {"a": 0, "b": 1, "c": 2}


def test_as_many_are_run_as_fit() -> None:
    record = {"tests/a.py": 5.0, "tests/b.py": 90.0, "tests/c.py": 4.0}
    names = ["tests.a", "tests.b", "tests.c", "tests.new"]
    assert changed.chosen(names, record, 10.0) == (("tests/a.py", "tests/c.py", "tests/new.py"), ("tests/b.py",))
    assert changed.chosen(["tests.b"], record, 10.0) == (("tests/b.py",), ())


def test_a_change_is_what_differs_from_where_the_branch_began(tmp_path: Path) -> None:
    def git(*arguments: str) -> None:
        names = ["-c", "user.name=x", "-c", "user.email=x@y"]
        subprocess.run(["git", "-C", str(tmp_path), *names, *arguments], check=True, capture_output=True)

    def commit(name: str) -> None:
        (tmp_path / name).write_text(name)
        git("add", "-A")
        git("commit", "-m", name)

    git("init", "--initial-branch", "main")
    commit("first")
    git("checkout", "-b", "branch")
    commit("committed")
    git("checkout", "main")
    commit("of_others")
    git("checkout", "branch")
    (tmp_path / "first").write_text("edited")
    (tmp_path / "new").write_text("")
    assert changed.changed_files(tmp_path, "main") == ["committed", "first", "new"]
    with pytest.raises(RuntimeError, match="git merge-base HEAD nowhere: "):
        changed.changed_files(tmp_path, "nowhere")


def test_every_recorded_file_is_there() -> None:
    """Check the list of files: a file that has moved would count as quick."""
    gone = [file for file in tests.read_record() if not (changed.ROOT / file).exists()]
    assert len(gone) < 40, gone


def test_seconds_are_summed_by_folder_beside_those_of_before() -> None:
    now = {"tests/a/test_x.py::test_1[p]": 1.0, "tests/a/test_x.py::test_1[q]": 2.0, "tests/b/test_y.py::test_2": 0.5}
    before = {"tests/a/test_x.py::test_1[p]": 4.0, "tests/gone/test_z.py::test_3": 9.0}
    assert list(tests.table(now, before, depth=2, top=1)) == [
        "      4.0       3.0  tests/a",
        "      0.0       0.5  tests/b",
        "      4.0       3.5  all, 3 tests",
        "                3.0  tests/a/test_x.py::test_1",
    ]


def test_the_time_of_a_test_and_of_its_children_is_noted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "test_busy.py").write_text(
        "import subprocess, sys\n"
        "def test_busy():\n"
        "    subprocess.run([sys.executable, '-c', 'sum(range(10_000_000))'], check=True)\n"
        "def test_idle():\n    pass\n"
    )
    monkeypatch.setattr(tests, "RECORD", tmp_path / "benchmarks/house/seconds.json")
    tests.RECORD.parent.mkdir(parents=True)
    keep = tmp_path / "seconds.json"
    arguments = [str(tmp_path), "--rootdir", str(tmp_path), "-p", "no:xdist"]
    assert tests.main(["--record", "--keep", str(keep), "--top", "1", *arguments]) == 0
    seconds = json.loads(keep.read_text())
    assert set(seconds) == {tests.COLLECTION, "test_busy.py::test_busy", "test_busy.py::test_idle"}
    assert seconds["test_busy.py::test_busy"] > 2 * seconds["test_busy.py::test_idle"]
    assert set(tests.read_record()) == {"test_busy.py"}
    assert "processor seconds" in capsys.readouterr().out
