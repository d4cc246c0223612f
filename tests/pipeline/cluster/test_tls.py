from __future__ import annotations

import datetime
from pathlib import Path
from typing import Any

import pytest

from pipeline.cluster import certificates as making
from pipeline.cluster import kinds
from pipeline.cluster.kinds import Role

pytest.importorskip("cryptography")


def tried(folder: Path, role: Role = "worker", **other: Path) -> str:
    names = {"ca": folder / "ca.pem", "cert": folder / "cert.pem", "key": folder / "key.pem"} | other
    return kinds.failure(str(names["ca"]), str(names["cert"]), str(names["key"]), role)


class _Past(datetime.datetime):
    @classmethod
    def now(cls, tz: Any = None) -> datetime.datetime:
        return datetime.datetime.now(tz) - datetime.timedelta(days=100)


@pytest.fixture
def expired(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    class Past:
        datetime, timedelta, UTC = _Past, datetime.timedelta, datetime.UTC

    monkeypatch.setattr(making, "datetime", Past)
    making.make_certificates(tmp_path / "old")
    return tmp_path / "old"


@pytest.mark.parametrize("role", ["client", "worker"])
def test_an_expired_certificate_is_found(expired: Path, role: Role) -> None:
    assert tried(expired, role) == "certificate has expired"


def test_files_that_do_not_belong_together_are_found(certificates: Path, tmp_path: Path) -> None:
    making.make_certificates(tmp_path / "other")
    assert tried(certificates, key=tmp_path / "other" / "key.pem") == "the key belongs to another certificate"
    assert tried(certificates, ca=tmp_path / "other" / "ca.pem") != ""


def test_files_without_a_certificate_are_found(certificates: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").write_text("")
    for name in ("ca", "cert", "key"):
        assert tried(certificates, **{name: tmp_path / "empty"}) != ""
    assert tried(certificates, key=tmp_path / "gone") == "No such file or directory"


@pytest.mark.parametrize(
    ("mode", "secret", "rule"),
    [(0o600, True, ""), (0o644, True, "a key that only its owner may read (chmod 600), its mode is -rw-r--r--"),
     (0o644, False, "")],
)  # fmt: skip
def test_a_key_is_for_its_owner(mode: int, secret: bool, rule: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    (tmp_path / "file").chmod(mode)
    assert kinds.file_rule(str(tmp_path / "file"), secret=secret) == rule


def test_other_things_are_no_files(tmp_path: Path) -> None:
    assert kinds.file_rule(str(tmp_path), secret=False) == "a regular file"
    assert kinds.file_rule(str(tmp_path / "gone"), secret=False) == "an existing file"
    assert kinds.file_rule("a\0b", secret=False) == "an existing file"
