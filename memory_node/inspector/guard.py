"""Checks every request before the routes: caller, origin, size, rate and speed."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from memory_node.inspector.access import Caller, RateLimit, Role, TokenBook

LOCAL_CALLER = "local"
# Paths without a token: they reveal nothing of the memory.
_PRIVATE = ("/api/", "/metrics")
_HEADERS = (
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"x-frame-options", b"DENY"),
    (
        b"content-security-policy",
        b"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; connect-src 'self'; "
        b"base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    ),
)
OnAnswer = Callable[[Scope, int, float], None]


class _RefusedError(Exception):
    """A request that goes no further: its status and why."""

    def __init__(self, status: int, message: str, *headers: tuple[bytes, bytes]) -> None:
        super().__init__(message)
        self.status, self.headers = status, headers


@dataclass(frozen=True)
class GuardConfig:
    """Bounds of requests.

    tokens: whoever has none of these is refused; an empty book lets everyone in as `local_role`. hosts: names and
    addresses by which the page may be asked for, without ports; others are another site's name for this machine (DNS
    rebinding). limit: of requests. wrong_tokens: of refused ones. origins: other sites whose pages may ask, with a
    token of their own (CORS).
    """

    tokens: TokenBook
    local_role: Role
    hosts: frozenset[str]
    limit: RateLimit
    origins: frozenset[str] = frozenset()
    wrong_tokens: RateLimit = field(default_factory=lambda: RateLimit(0.5, 10.0, time.monotonic))
    most_body_bytes: int = 64 * 1024
    body_within_s: float = 10.0
    send_within_s: float = 20.0


class Guard:
    """An ASGI application in front of another one; scope["state"]["caller"] says who asks.

    on_answer: is told (scope, status, seconds) of each answer's start. takes_posts: whether a path takes POST.
    """

    def __init__(
        self, app: ASGIApp, config: GuardConfig, on_answer: OnAnswer, takes_posts: Callable[[Scope], bool]
    ) -> None:
        self._app = app
        self._takes_posts = takes_posts
        self._config = config
        self._on_answer = on_answer
        open_to_pages = (b"cross-origin-resource-policy", b"cross-origin" if config.origins else b"same-origin")
        self._headers = (*_HEADERS, open_to_pages)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request, or refuse it; HEAD is answered as GET is, without the body."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began, head_only = time.monotonic(), scope["method"] == "HEAD"
        if head_only:
            scope = {**scope, "method": "GET"}

        async def send_bounded(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", ()), *self._headers]
                self._on_answer(scope, message["status"], time.monotonic() - began)
            elif head_only:
                message = {**message, "body": b""}
            # Without an end a client that reads nothing would hold its answer for ever.
            await asyncio.wait_for(send(message), self._config.send_within_s)

        try:
            scope.setdefault("state", {})["caller"] = self._caller(scope)
            body = await self._body(scope, receive)
        except _RefusedError as refused:
            await _refuse(send_bounded, refused)
            return
        await self._app(scope, _replayed(body, receive), send_bounded)

    def _caller(self, scope: Scope) -> Caller:
        headers = {name.lower(): value.decode("latin-1") for name, value in scope["headers"]}
        host = urlsplit(f"//{headers.get(b'host', '')}").hostname
        if host not in self._config.hosts:
            raise _RefusedError(421, f"this is not the page of {headers.get(b'host', '')[:100]!r}")
        client = scope["client"][0] if scope.get("client") else ""
        wait_s = self._config.limit.take(client)
        if wait_s:
            raise _RefusedError(429, "too many requests", (b"retry-after", b"%d" % max(1, round(wait_s))))
        caller = self._named(scope, headers, client)
        if scope["method"] == "POST" and self._takes_posts(scope):  # nothing else changes memory
            self._check_page(headers, scope["scheme"])
        return caller

    def _named(self, scope: Scope, headers: dict[bytes, str], client: str) -> Caller:
        """Return whose token it is."""
        if not len(self._config.tokens) or not scope["path"].startswith(_PRIVATE):
            return Caller(LOCAL_CALLER, self._config.local_role)
        scheme, _, token = headers.get(b"authorization", "").partition(" ")
        found = self._config.tokens.caller(token.strip()) if scheme.lower() == "bearer" else None
        if found is None:
            if self._config.wrong_tokens.take(client):
                raise _RefusedError(429, "too many requests without a valid token", (b"retry-after", b"2"))
            raise _RefusedError(401, "a token is needed: Authorization: Bearer TOKEN", (b"www-authenticate", b"Bearer"))
        return found

    def _check_page(self, headers: dict[bytes, str], scheme: str) -> None:
        """Refuse requests that another site's page makes a browser send (CSRF): they have its origin, or no JSON
        body."""
        origin = headers.get(b"origin")
        if origin not in self._config.origins:
            if origin is not None and origin != f"{scheme}://{headers.get(b'host', '')}":
                raise _RefusedError(403, f"pages of {origin[:100]!r} may not change memory")
            if headers.get(b"sec-fetch-site", "same-origin") not in ("same-origin", "none"):
                raise _RefusedError(403, "pages of other sites may not change memory")
        if headers.get(b"content-type", "").partition(";")[0].strip().lower() != "application/json":
            raise _RefusedError(415, "expected a body of application/json")

    async def _body(self, scope: Scope, receive: Receive) -> bytes:
        """Return the whole body, which a client has so long to send."""
        if scope["method"] != "POST":
            return b""
        too_long = _RefusedError(413, f"the body: expected at most {self._config.most_body_bytes} bytes")
        told = dict(scope["headers"]).get(b"content-length", b"0")
        if not told.isdigit() or int(told) > self._config.most_body_bytes:
            raise too_long
        parts, size, more = [], 0, True
        deadline = time.monotonic() + self._config.body_within_s
        while more:
            try:
                message = await asyncio.wait_for(receive(), max(deadline - time.monotonic(), 0.001))
            except asyncio.TimeoutError:
                raise _RefusedError(408, "the body did not come in time", (b"connection", b"close")) from None
            if message["type"] != "http.request":
                raise _RefusedError(400, "the client went away")
            parts.append(message.get("body", b""))
            size += len(parts[-1])
            more = message.get("more_body", False)
            if size > self._config.most_body_bytes:
                raise too_long
        return b"".join(parts)


def _replayed(body: bytes, receive: Receive) -> Receive:
    """Return what gives the body that has been read already, then what comes after it."""
    given = False

    async def replay() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return replay


async def _refuse(send: Send, refused: _RefusedError) -> None:
    text = json.dumps({"message": str(refused)}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(text)), *refused.headers]
    await send({"type": "http.response.start", "status": refused.status, "headers": headers})
    await send({"type": "http.response.body", "body": text})
