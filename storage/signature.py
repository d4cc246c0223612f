"""Sign the manifest of a finished store with a key of the user's, and hold a store against it.

The manifest has checksums of metadata, coordinates and all receipts, and receipts have checksums of results, so a
signature of the manifest covers the whole store. The manifest's own checksum finds mistakes; a signature also finds
changes on purpose. Keys are made by `ssh-keygen -t ed25519`, or are PEM; the signature is a file beside the manifest.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from storage.errors import StoreError
from storage.manifest import Manifest
from storage.places.access import locate
from storage.places.location import LocationLike, refusals

SIGNATURE = "limbsweep.sig"
_PURPOSE = b"limbsweep manifest, format of 2026\0"
_SIZE = 64
_LARGEST_KEY = 1 << 16
OTHER_KIND = "a key of another kind; expected one that ssh-keygen -t ed25519 makes"


def sign(store: LocationLike, key: str | Path) -> str:
    """Sign a finished store with the private key in a file; return the name of the signature.

    Raises StoreError for a store that is not finished, or whose receipts have no checksum, and for a file that is no
    key.
    """
    location = locate(store)
    manifest = Manifest.load(location)
    if manifest.state != "finished" or not manifest.ledger:
        raise StoreError(f"{location}: cannot be signed; expected a finished store of this version of limbsweep")
    private = _private(Path(key))
    with refusals(location):
        location.write(SIGNATURE, (private.sign(_signed(manifest)),))
    return location.at(SIGNATURE)


def signature_problem(store: LocationLike, key: str | Path) -> str:
    """Return why a store's signature is not this public key's; "" if it is. Raises StoreError without a key."""
    location, public = locate(store), _public(Path(key))
    try:
        signature = location.read_within(SIGNATURE, _SIZE)
    except OSError as error:
        return f"no signature ({error.strerror or 'missing'})"
    try:
        public.verify(signature, _signed(Manifest.load(location)))
    except InvalidSignature:
        return f"the manifest is not the one that the owner of {key} has signed"
    return ""


def _signed(manifest: Manifest) -> bytes:
    """Return the bytes that are signed: the content of the manifest, whatever its spelling."""
    data = json.loads(manifest.dump())
    del data["check"]
    return _PURPOSE + json.dumps(data, sort_keys=True, separators=(",", ":")).encode()


def _private(file: Path) -> Ed25519PrivateKey:
    text = _text(file)
    load = serialization.load_ssh_private_key if b"OPENSSH" in text else serialization.load_pem_private_key
    with _key_refusals(file, "private", "one of ed25519 without a pass phrase"):
        key = load(text, None)
    if not isinstance(key, Ed25519PrivateKey):
        raise StoreError(f"{file}: {OTHER_KIND}")
    return key


def _public(file: Path) -> Ed25519PublicKey:
    text = _text(file)
    load = serialization.load_ssh_public_key if text.startswith(b"ssh-") else serialization.load_pem_public_key
    with _key_refusals(file, "public", "one of ed25519, such as id_ed25519.pub"):
        key = load(text)
    if not isinstance(key, Ed25519PublicKey):
        raise StoreError(f"{file}: {OTHER_KIND}")
    return key


@contextmanager
def _key_refusals(file: Path, kind: str, expected: str) -> Iterator[None]:
    """Raise StoreError for a file that holds no key of a kind."""
    try:
        yield
    except (ValueError, TypeError, UnsupportedAlgorithm) as error:
        raise StoreError(f"{file}: no {kind} key ({_brief(error)}); expected {expected}") from None


def _text(file: Path) -> bytes:
    try:
        # Opening a pipe would wait for a writer; with O_NONBLOCK it returns, and fstat tells the kind of the file.
        with open(os.open(file, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0)), "rb") as stream:
            if stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
                return stream.read(_LARGEST_KEY)
            why = "no regular file"
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
    raise StoreError(f"{file}: cannot be read ({why}); expected the file of a key") from None


def _brief(error: Exception) -> str:
    return " ".join(str(error).split())[:100]
