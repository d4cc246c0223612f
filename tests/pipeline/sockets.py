"""Listening sockets and their protocols, for tests that no one else gets access."""

from __future__ import annotations

import os
import socket
import ssl
from collections.abc import Iterable

import psutil


def listening(pids: Iterable[int] = ()) -> set[tuple[str, int]]:
    """Addresses and ports on which this process, those with `pids`, and all their children listen."""
    roots = [psutil.Process(pid) for pid in {os.getpid(), *pids}]
    processes = {each for root in roots for each in (root, *root.children(recursive=True))}
    found = set()
    for process in processes:
        try:
            sockets = process.net_connections(kind="inet")
        except psutil.NoSuchProcess:  # gone since it was listed
            continue
        found |= {(each.laddr.ip, each.laddr.port) for each in sockets if each.status == psutil.CONN_LISTEN}
    return found


def speaks_tls(port: int) -> bool:
    """Return whether a port of this machine answers a TLS greeting like a server, and asks for a certificate."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    # In TLS 1.2 the server refuses a client without a certificate during the handshake, not after it.
    context.maximum_version = ssl.TLSVersion.TLSv1_2
    with socket.create_connection(("127.0.0.1", port), timeout=5) as plain:
        try:
            with context.wrap_socket(plain):
                return False
        except ssl.SSLError as error:
            return "ALERT" in (error.reason or "")
        except OSError:
            return False


def speaks_http(port: int) -> bool:
    """Return whether a port of this machine answers like Dask's dashboards."""
    with socket.create_connection(("127.0.0.1", port), timeout=5) as plain:
        plain.settimeout(5)
        try:
            plain.sendall(b"GET /health HTTP/1.0\r\n\r\n")
            return plain.recv(5) == b"HTTP/"
        except OSError:
            return False
