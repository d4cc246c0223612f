"""TLS files of Dask (`distributed.comm.tls`): whether they are named, and whether they would work.

They are tried with a handshake in memory, so that an expired certificate, a key of another one or a foreign authority
is found before anything starts. Making files is in `pipeline.cluster.certificates`.
"""

from __future__ import annotations

import os
import ssl
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pipeline.cluster.kinds import Role

SECTION = ("distributed", "comm", "tls")


@dataclass(frozen=True)
class TlsFiles:
    """Paths of PEM files: the authority's certificate, and a role's certificate and key; None where none is named."""

    ca: str | None
    cert: str | None
    key: str | None


def named(config: Mapping[str, Any]) -> bool:
    """Whether Dask's settings name TLS files at all."""
    return _get(config, "ca-file") is not None


def files(config: Mapping[str, Any], role: Role) -> TlsFiles:
    """The files of a role in Dask's settings."""
    return TlsFiles(_get(config, "ca-file"), _get(config, f"{role}.cert"), _get(config, f"{role}.key"))


def _get(config: Mapping[str, Any], key: str) -> str | None:
    import dask.config

    value: str | None = dask.config.get(".".join((*SECTION, key)), None, config=dict(config))
    return value


def file_rule(path: str, *, secret: bool) -> str:
    """What a file should be and is not; empty where it is."""
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError):
        return "an existing file"
    if not stat.S_ISREG(mode):
        return "a regular file"
    if secret and mode & (stat.S_IRWXG | stat.S_IRWXO):
        return f"a key that only its owner may read (chmod 600), its mode is {stat.filemode(mode)}"
    return "" if os.access(path, os.R_OK) else "a readable file"


def failure(ca: str, cert: str, key: str, role: Role) -> str:
    """Why the files do not work for a role, in the words of the TLS library; empty where they do.

    A client shows its certificate as a client; schedulers and workers also as servers.
    """
    try:
        _handshake(ca, cert, key, server_checks=True)
        if role != "client":
            _handshake(ca, cert, key, server_checks=False)
    except ssl.SSLCertVerificationError as error:
        return error.verify_message
    except ssl.SSLError as error:
        reason = (error.reason or "no PEM data").replace("_", " ").lower()
        return "the key belongs to another certificate" if "key values mismatch" in reason else reason
    except OSError as error:
        return error.strerror or type(error).__name__
    return ""


def _handshake(ca: str, cert: str, key: str, *, server_checks: bool) -> None:
    """A handshake of the certificate with itself, in memory, of which one side checks the other as Dask would."""
    server, client = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    # Dask goes without names too: its certificates are for a cluster, not for a host.
    client.check_hostname = False
    checking, checked = (server, client) if server_checks else (client, server)
    checked.verify_mode = ssl.CERT_NONE
    checking.verify_mode = ssl.CERT_REQUIRED
    for context in (server, client):
        context.load_verify_locations(ca)
        context.load_cert_chain(cert, key)
        context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    sides = [
        client.wrap_bio(to_client, to_server, server_side=False),
        server.wrap_bio(to_server, to_client, server_side=True),
    ]
    for _ in range(6):
        sides = [side for side in sides if not _advance(side)]


def _advance(side: ssl.SSLObject) -> bool:
    """One step of a handshake; whether it is finished."""
    try:
        side.do_handshake()
    except ssl.SSLWantReadError:
        return False
    return True
