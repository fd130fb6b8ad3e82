"""The server for agents of a memory in this process."""

from typing import Any

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
