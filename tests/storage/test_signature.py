"""A signature of the manifest finds whoever changes a store on purpose, checksums and all."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519

from applications.commands.cli import cli
from storage.errors import StoreError
from storage.integrity import foreign_files
from storage.manifest import Attributes, Manifest
from storage.signature import SIGNATURE, sign, signature_problem
from tests.storage.cases import FEW, fill, store

OPENSSH, PEM = serialization.PrivateFormat.OpenSSH, serialization.PrivateFormat.PKCS8


def keys(folder: Path, form: serialization.PrivateFormat = OPENSSH) -> tuple[Path, Path]:
    """Files of a private key and of its public half."""
    key = ed25519.Ed25519PrivateKey.generate()
    none = serialization.NoEncryption()
    public = (
        (serialization.Encoding.OpenSSH, serialization.PublicFormat.OpenSSH)
        if form is OPENSSH
        else (serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    )
    private, other = folder / "id", folder / "id.pub"
    private.write_bytes(key.private_bytes(serialization.Encoding.PEM, form, none))
    other.write_bytes(key.public_key().public_bytes(*public))
    return private, other


@pytest.fixture
def path(tmp_path: Path) -> Path:
    store(tmp_path / "s.zarr", FEW)
    fill(tmp_path / "s.zarr")
    return tmp_path / "s.zarr"


@pytest.mark.parametrize("form", [OPENSSH, PEM])
def test_what_was_signed_is_told_from_what_was_changed(
    path: Path, tmp_path: Path, form: serialization.PrivateFormat
) -> None:
    private, public = keys(tmp_path, form)
    assert "no signature" in signature_problem(path, public)
    assert sign(path, private) == f"{path}/{SIGNATURE}"
    assert signature_problem(path, public) == ""
    assert list(foreign_files(path)) == []
    manifest = Manifest.load(path)
    for changed in (
        replace(manifest, attributes=Attributes({**manifest.attributes.values, "created": "yesterday"})),
        replace(manifest, files={**manifest.files, "zarr.json": "0" * 64}),
        replace(manifest, ledger="0" * 64),
        replace(manifest, state="running"),
    ):
        changed.save(path)
        assert "not the one that the owner of" in signature_problem(path, public)
    manifest.save(path)
    assert signature_problem(path, public) == ""
    (tmp_path / "other").mkdir()
    assert "not the one that the owner of" in signature_problem(path, keys(tmp_path / "other")[1])
    (path / SIGNATURE).write_bytes(b"x" * 65)
    assert "no signature" in signature_problem(path, public)


def test_commands(path: Path, tmp_path: Path) -> None:
    private, public = keys(tmp_path)
    assert CliRunner().invoke(cli, ["sign", str(path), "--key", str(private)]).exit_code == 0
    sound = CliRunner().invoke(cli, ["verify", str(path), "--signed-by", str(public)])
    assert sound.exit_code == 0, sound.output
    manifest = Manifest.load(path)
    replace(manifest, attributes=Attributes({**manifest.attributes.values, "fingerprint": "forged"})).save(path)
    found = CliRunner().invoke(cli, ["verify", str(path), "--signed-by", str(public)])
    assert (found.exit_code, "the manifest is not the one that the owner of" in found.stdout) == (1, True)
    refused = CliRunner().invoke(cli, ["sign", str(path), "--key", str(public)])
    assert (refused.exit_code, "no private key" in refused.stderr) == (2, True)


def test_keys_of_other_kinds_and_stores_that_are_not_finished_are_refused(path: Path, tmp_path: Path) -> None:
    private, _ = keys(tmp_path)
    other = ec.generate_private_key(ec.SECP256R1())
    (tmp_path / "ec").write_bytes(other.private_bytes(serialization.Encoding.PEM, PEM, serialization.NoEncryption()))
    with pytest.raises(StoreError, match="a key of another kind; expected one that ssh-keygen -t ed25519 makes"):
        sign(path, tmp_path / "ec")
    with pytest.raises(StoreError, match="no public key"):
        signature_problem(path, private)
    with pytest.raises(StoreError, match=r"nowhere: cannot be read \(No such file"):
        sign(path, tmp_path / "nowhere")
    replace(Manifest.load(path), state="running").save(path)
    with pytest.raises(StoreError, match="cannot be signed; expected a finished store"):
        sign(path, private)


def test_a_pipe_in_the_place_of_a_key_is_not_waited_for(path: Path, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for use in (sign, signature_problem):
        for place in ("pipe", "."):
            with pytest.raises(
                StoreError, match=r"cannot be read \((no regular file|Is a directory)\); expected the file of a key"
            ):
                use(path, tmp_path / place)
