"""Tells agents that resources have changed: `subscriptions/listen`, and `resources/subscribe` of clients of 2025."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.subscriptions import ResourceUpdated, ServerEvent
from mcp_types import EmptyResult, SubscribeRequestParams, UnsubscribeRequestParams

from memory_node.domain.errors import NotFoundError
from memory_node.inspector.change_feed import ChangeFeed, Subscription

SCENE = "memory://scene"
# A memory that maps changes ten times a second; a listener is told so often at most.
_REST_S = 0.2
_LOOK_S = 10.0


class MemoryBus:
    """A `SubscriptionBus` of a memory's changes, which a feed passes on."""

    def __init__(self, feed: ChangeFeed) -> None:
        self._feed = feed
        self._listeners: dict[object, Callable[[ServerEvent], None]] = {}

    async def publish(self, event: ServerEvent) -> None:
        """Tell every listener of an event of the server's own."""
        for listener in tuple(self._listeners.values()):
            listener(event)

    def subscribe(self, listener: Callable[[ServerEvent], None]) -> Callable[[], None]:
        """Have a listener called in the running event loop; what is returned ends that."""
        stream = self._feed.subscribe()
        telling = asyncio.get_running_loop().create_task(self._tell(stream, listener))
        self._listeners[telling] = listener

        def unsubscribe() -> None:
            self._listeners.pop(telling, None)
            telling.cancel()
            self._feed.leave(stream)

        return unsubscribe

    async def _tell(self, stream: Subscription, listener: Callable[[ServerEvent], None]) -> None:
        while not self._feed.closed:
            if await stream.next(_LOOK_S) is not None:
                listener(ResourceUpdated(SCENE))
                await asyncio.sleep(_REST_S)


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
