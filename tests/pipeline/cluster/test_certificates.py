from __future__ import annotations

import stat
import sys
from pathlib import Path

import pytest

from pipeline.cluster import kinds
from pipeline.cluster.certificates import NAMES, make_certificates
from pipeline.cluster.file import parse_cluster
from pipeline.documents.yaml import parse_yaml
from pipeline.errors import InputError
from robots.extras import MissingExtraError

pytest.importorskip("cryptography")


def test_a_set_is_private_and_works_for_every_role(certificates: Path) -> None:
    assert stat.S_IMODE(certificates.stat().st_mode) == 0o700
    assert {file.name for file in certificates.iterdir()} == {*NAMES, "section.yaml"}  # no key of the authority
    for name in NAMES:
        assert stat.S_IMODE((certificates / name).stat().st_mode) == 0o600
    for role in ("client", "scheduler", "worker"):
        assert kinds.failure(*(str(certificates / name) for name in NAMES), role) == ""


def test_what_it_prints_is_a_cluster_file(tmp_path: Path) -> None:
    text = make_certificates(tmp_path / "with space, {and} \"quotes'")
    config = parse_cluster(parse_yaml(text, "c.yaml"))
    assert kinds.named(config.settings)
    assert Path(str(kinds.files(config.settings, "worker").key)).is_file()


def test_two_sets_do_not_trust_each_other(certificates: Path, tmp_path: Path) -> None:
    make_certificates(tmp_path)
    mixed = kinds.failure(str(certificates / "ca.pem"), str(tmp_path / "cert.pem"), str(tmp_path / "key.pem"), "client")
    assert "signature failure" in mixed or "unable to get local issuer" in mixed


@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_overwritten(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text("mine")
    with pytest.raises(InputError, match=rf"{name}: got a file that exists already; expected a new file"):
        make_certificates(tmp_path)
    assert [file.name for file in tmp_path.iterdir()] == [name]
    assert (tmp_path / name).read_text() == "mine"


def test_a_link_to_nowhere_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "key.pem").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(InputError, match="exists already"):
        make_certificates(tmp_path)
    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.parametrize("days", [0, -1, 100_000])
def test_a_set_is_for_some_days(days: int, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=f"--days: got {days}; expected 1 to 3650 days"):
        make_certificates(tmp_path, days)


def test_a_folder_that_cannot_be_made_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match=r"got Not a directory; expected a folder that can be written"):
        make_certificates(tmp_path / "file" / "below")
    with pytest.raises(InputError, match=r"file: got a file; expected a folder that can be written. Name another one"):
        make_certificates(tmp_path / "file")


def test_without_cryptography_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cryptography", None)
    with pytest.raises(MissingExtraError, match=r'pip install "limbsweep\[certificates\]"'):
        make_certificates(tmp_path / "new")
    assert not (tmp_path / "new").exists()
