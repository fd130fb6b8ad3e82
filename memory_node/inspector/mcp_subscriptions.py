"""Tells agents that resources have changed: `subscriptions/listen`, and `resources/subscribe` of clients of 2025."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any

from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.subscriptions import ResourceUpdated, ServerEvent
from mcp_types import EmptyResult, SubscribeRequestParams, UnsubscribeRequestParams

from memory_node.domain.errors import NotFoundError
from memory_node.inspector.agent_memory import Listener, MemoryChange

SCENE = "memory://scene"
# A memory that maps changes ten times a second; a listener is told so often at most.
_REST_S = 0.2


class MemoryBus:
    """A `SubscriptionBus` of a memory's changes.

    follow: has a listener called after each change of the scene graph, from any thread; see `MemoryViews`.
    """

    def __init__(self, follow: Callable[[Listener], Callable[[], None]]) -> None:
        self._lock = threading.Lock()
        self._listeners: dict[object, tuple[Callable[[ServerEvent], None], asyncio.AbstractEventLoop]] = {}
        self._due: set[object] = set()
        self._stop_following = follow(self._on_change)

    def close(self) -> None:
        """Follow memory no more."""
        self._stop_following()

    async def publish(self, event: ServerEvent) -> None:
        """Tell every listener of an event of the server's own."""
        for listener, _ in tuple(self._listeners.values()):
            listener(event)

    def subscribe(self, listener: Callable[[ServerEvent], None]) -> Callable[[], None]:
        """Have a listener called in the running event loop; what is returned ends that."""
        token = object()
        with self._lock:
            self._listeners[token] = (listener, asyncio.get_running_loop())

        def unsubscribe() -> None:
            with self._lock:
                self._listeners.pop(token, None)

        return unsubscribe

    def _on_change(self, change: MemoryChange) -> None:
        with self._lock:
            for token, (_, loop) in self._listeners.items():
                if token not in self._due and not loop.is_closed():
                    self._due.add(token)
                    loop.call_soon_threadsafe(loop.call_later, _REST_S, self._tell, token)

    def _tell(self, token: object) -> None:
        with self._lock:
            self._due.discard(token)
            listener, _ = self._listeners.get(token, (None, None))
        if listener is not None:
            listener(ResourceUpdated(SCENE))


def serve_subscribe(server: Server[Any], bus: MemoryBus) -> None:
    """Let clients of the protocol of 2025 subscribe to the scene."""
    ends: dict[int, Callable[[], None]] = {}

    async def subscribe(context: ServerRequestContext[Any], params: SubscribeRequestParams) -> EmptyResult:
        if str(params.uri) != SCENE:
            raise NotFoundError(f"{params.uri}: no such resource can be subscribed to; expected {SCENE}")
        session = context.session
        sending: set[asyncio.Task[None]] = set()  # the loop alone holds tasks weakly

        def tell(event: ServerEvent) -> None:
            task = asyncio.ensure_future(session.send_resource_updated(SCENE))
            sending.add(task)
            task.add_done_callback(ended)

        def ended(task: asyncio.Task[None]) -> None:
            sending.discard(task)
            if task.cancelled() or task.exception() is not None:  # the client is gone
                ends.pop(id(session), _pass_over)()

        ends.pop(id(session), _pass_over)()
        ends[id(session)] = bus.subscribe(tell)
        return EmptyResult()

    async def unsubscribe(context: ServerRequestContext[Any], params: UnsubscribeRequestParams) -> EmptyResult:
        ends.pop(id(context.session), _pass_over)()
        return EmptyResult()

    server.add_request_handler("resources/subscribe", SubscribeRequestParams, subscribe)
    server.add_request_handler("resources/unsubscribe", UnsubscribeRequestParams, unsubscribe)


def _pass_over() -> None:
    pass
