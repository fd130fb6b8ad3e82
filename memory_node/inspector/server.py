"""Serves the inspector over HTTP or HTTPS, and lets no client keep a connection that it does not use."""

from __future__ import annotations

import asyncio
import resource
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

# Time for a client to send a request's head, and for the next request on a kept connection.
HEAD_WITHIN_S = 10.0
_KEEP_ALIVE_S = 15
_GRACE_S = 3
# More connections than that are closed at once.
MOST_CONNECTIONS = 4000


@dataclass(frozen=True)
class Listening:
    """Where to listen. certificate, key: files of TLS; None for plain HTTP."""

    host: str
    port: int
    certificate: Path | None = None
    key: Path | None = None


class BoundedProtocol(H11Protocol):
    """HTTP/1.1 that closes connections without a whole request head in time, and connections beyond a bound."""

    head_within_s = HEAD_WITHIN_S
    most_connections = MOST_CONNECTIONS

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take a connection, or close it where there are too many."""
        super().connection_made(transport)
        self._head_timer = self.loop.call_later(self.head_within_s, self._close_without_request)
        if len(self.connections) > self.most_connections:
            transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        self._head_timer.cancel()
        super().connection_lost(exc)

    def _close_without_request(self) -> None:
        if self.cycle is None and not self.transport.is_closing():
            self.transport.close()


class InspectorServer(uvicorn.Server):
    """Tells where it listens as soon as it does.

    on_listening: is called with the port. on_ending: is called before connections are waited for; it ends streams.
    """

    def __init__(
        self, app: Any, listening: Listening, on_listening: Callable[[int], None], on_ending: Callable[[], None]
    ) -> None:
        self._on_listening, self._on_ending = on_listening, on_ending
        super().__init__(
            uvicorn.Config(
                app,
                host=listening.host,
                port=listening.port,
                ssl_certfile=listening.certificate,
                ssl_keyfile=listening.key,
                http=BoundedProtocol,
                ws="none",
                loop="asyncio",
                backlog=1024,
                timeout_keep_alive=_KEEP_ALIVE_S,
                timeout_graceful_shutdown=_GRACE_S,
                h11_max_incomplete_event_size=16 * 1024,
                server_header=False,
                access_log=False,
                log_level="warning",
            )
        )

    async def startup(self, sockets: Any = None) -> None:
        """Begin to listen."""
        await super().startup(sockets)
        if self.started:
            self._on_listening(self.servers[0].sockets[0].getsockname()[1])

    async def shutdown(self, sockets: Any = None) -> None:
        """End streams, then wait a moment for the other answers."""
        self._on_ending()
        await super().shutdown(sockets)


def allow_many_connections() -> None:
    """Let this process open as many files as it may: idle connections must not keep others out."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 2 * MOST_CONNECTIONS
    if soft != resource.RLIM_INFINITY and soft < wanted:
        most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, most), hard))
