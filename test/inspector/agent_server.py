"""The server for agents of a memory in this process, and a client of it."""

from collections.abc import Awaitable, Callable
from typing import Any

import anyio
from mcp import Client

from memory_node.catalogue.label_space import load_catalogue
from memory_node.domain.clock import Clock, system_clock
from memory_node.inspector.access import Role
from memory_node.inspector.deeds import Desk, EditBook
from memory_node.inspector.mcp_server import build_server
from memory_node.inspector.opened_memory import StoredViews
from memory_node.inspector.robot_tasks import RobotTasks
from memory_node.memory import RobotMemory


def server_of(
    memory: RobotMemory, may: Role = "edit", clock: Clock = system_clock, robot: RobotTasks | None = None
) -> Any:
    """Return a server whose tools need the role `may` at most."""
    return build_server(Desk(memory, StoredViews(memory), load_catalogue(), clock, EditBook(clock), robot), may)


def with_client(server: Any, deed: Callable[[Client], Awaitable[Any]], within_s: float = 60.0, **options: Any) -> Any:
    """Return what the deed brings with a client of a server."""

    async def run() -> Any:
        async with Client(server, read_timeout_seconds=60.0, **options) as client:
            with anyio.fail_after(within_s):
                return await deed(client)

    return anyio.run(run)


async def told(client: Client, tool: str, **arguments: Any) -> Any:
    """Return what a tool answers that must not fail."""
    answer = await client.call_tool(tool, arguments)
    assert not answer.is_error, answer.content
    return answer.structured_content
