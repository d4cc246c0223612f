"""A server of object storage on this machine (moto), and faults of such a service.

Needs the extra `test-s3`. Servers of one process share their buckets.
"""

from __future__ import annotations

import logging
import random
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from unittest.mock import patch

_ERROR = "<Error><Code>{}</Code><Message>{}</Message></Error>"
SLOW_DOWN = 503, _ERROR.format("SlowDown", "Please reduce your request rate.")
INTERNAL = 500, _ERROR.format("InternalError", "We encountered an internal error.")
UNKNOWN_KEY = 403, _ERROR.format("InvalidAccessKeyId", "The AWS Access Key Id does not exist in our records.")
EXPIRED = 400, _ERROR.format("ExpiredToken", "The provided token has expired.")

KEY = "testing"
"""Access key that a server accepts; the secret is not looked at."""


@dataclass
class Faults:
    """Mistakes of a server.

    throttled, lost: every so manyth request is refused, or every so manyth upload is done and its answer lost (0:
    none); share: of all requests, drawn by chance, that are refused; lost_share: of uploads whose answers are lost;
    valid: requests from now on after which the credentials have expired (-1: they do not expire); kill: called once
    before (or after) the request of a number.
    """

    throttled: int = 0
    lost: int = 0
    share: float = 0.0
    lost_share: float = 0.0
    valid: int = -1
    kill_at: int = 0
    kill_before: bool = True
    kill: Callable[[], None] = lambda: None
    requests: int = 0
    """Requests so far."""
    done: int = 0
    """Mistakes so far."""
    chance: random.Random = field(default_factory=lambda: random.Random(0))
    _counts: dict[str, int] = field(default_factory=dict)
    _lock: Any = field(default_factory=threading.Lock)

    def _is_due(self, name: str, share: float) -> bool:
        """Return whether the fault of this name, or one by chance, is due now."""
        every = int(getattr(self, name))
        with self._lock:
            self._counts[name] = self._counts.get(name, 0) + 1
            due = (bool(every) and self._counts[name] % every == 0) or self.chance.random() < share
            self.done += due
        return due

    def _count(self) -> bool:
        """Count a request, and return whether it is the request at which the process dies."""
        with self._lock:
            self.requests += 1
            self.valid -= self.valid > 0
            return self.requests == self.kill_at

    def refusal(self, authorization: str) -> tuple[int, str] | None:
        """Return the answer of a server that refuses a request, before it does anything; None where it does not."""
        if KEY not in authorization:
            return UNKNOWN_KEY
        if self.valid == 0:
            return EXPIRED
        return SLOW_DOWN if self._is_due("throttled", self.share) else None

    def install(self, create_app: Callable[..., Any]) -> Callable[..., Any]:
        """Return the maker of a server's application, with the faults."""
        from flask import Response, g, request

        def answer(refusal: tuple[int, str]) -> Any:
            return Response(refusal[1], refusal[0], mimetype="application/xml")

        def before() -> Any:
            g.dies = self._count()
            if g.dies and self.kill_before:
                self.kill()
            refusal = self.refusal(request.headers.get("Authorization", ""))
            return None if refusal is None else answer(refusal)

        def after(response: Any) -> Any:
            if g.get("dies") and not self.kill_before:
                self.kill()
            is_put = request.method == "PUT" and response.status_code == 200
            return answer(INTERNAL) if is_put and self._is_due("lost", self.lost_share) else response

        def create(*arguments: Any, **options: Any) -> Any:
            app = create_app(*arguments, **options)
            app.before_request(before)
            app.after_request(after)
            return app

        return create


@contextmanager
def server(faults: Faults) -> Iterator[str]:
    """The endpoint of a server with faults, which ends with the block."""
    from moto.moto_server import threaded_moto_server  # seconds, which the collection of all tests would take
    from moto.moto_server.werkzeug_app import create_backend_app
    from moto.server import ThreadedMotoServer

    logging.getLogger("werkzeug").setLevel(logging.ERROR)  # a line for each request
    create = faults.install(create_backend_app)
    with patch.object(threaded_moto_server, "create_backend_app", create):
        running = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
        running.start()
        host, port = running.get_host_and_port()
        try:
            yield f"http://{host}:{port}"
        finally:
            running.stop()


def variables(endpoint: str, key: str = KEY) -> dict[str, str]:
    """Return the environment of a process that uses a server."""
    return {
        "AWS_ACCESS_KEY_ID": key,
        "AWS_SECRET_ACCESS_KEY": "testing",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_ENDPOINT_URL": endpoint,
    }
