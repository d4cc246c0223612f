from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from pipeline.cluster.connection import connect
from pipeline.cluster.file import ClusterConfig
from pipeline.cluster.worker_folders import folder_rule, own_folder


def test_a_folder_in_which_others_can_replace_files_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert folder_rule(str(tmp_path)) == ""
    tmp_path.chmod(0o777)
    assert "sticky bit: everybody can remove or replace its files" in folder_rule(str(tmp_path))
    tmp_path.chmod(0o1777)
    assert folder_rule(str(tmp_path)) == ""
    tmp_path.chmod(0o755)
    monkeypatch.setattr("os.geteuid", lambda: os.getuid() + 1)
    if os.getuid() != 0:
        assert "whose folder it is, can remove or replace" in folder_rule(str(tmp_path))


def test_workers_have_a_folder_of_their_own(tmp_path: Path) -> None:
    with own_folder(str(tmp_path)) as folder:
        assert stat.S_IMODE(Path(folder).stat().st_mode) == 0o700
        assert Path(folder).parent == tmp_path
        Path(folder, "x").touch()
    assert list(tmp_path.iterdir()) == []


def test_workers_of_this_machine_use_it(tmp_path: Path) -> None:
    (tmp_path / "dask-scratch-space").mkdir()  # that of somebody else
    (tmp_path / "c.yaml").write_text(
        f"temporary-directory: {tmp_path}\nlimbsweep: {{cluster: {{n-workers: 1, threads-per-worker: 1}}}}\n"
    )
    with connect(ClusterConfig.from_yaml(tmp_path / "c.yaml")) as client:
        assert client is not None
        (folder,) = client.run(lambda dask_worker: dask_worker.local_directory).values()
        assert Path(folder).is_relative_to(tmp_path)
        assert not Path(folder).is_relative_to(tmp_path / "dask-scratch-space")
        assert stat.S_IMODE(Path(folder).parents[1].stat().st_mode) == 0o700
    assert [path.name for path in (tmp_path / "dask-scratch-space").iterdir()] == []
