"""Memory as tools, resources and a prompt for agents: the Model Context Protocol."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import Tool, ToolAnnotations
from pydantic import ValidationError

from memory_node import __version__
from memory_node.catalogue.label_space import load_catalogue
from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.domain.clock import Clock, system_clock
from memory_node.domain.errors import NotFoundError, RobotMemoryError
from memory_node.domain.validation_faults import faults_of
from memory_node.inspector.access import ROLES, Role
from memory_node.inspector.agent_answers import scene_values
from memory_node.inspector.agent_memory import AgentMemory, MemoryViews
from memory_node.inspector.agent_tools import AgentTools
from memory_node.inspector.episode_rows import episodes_value, step_row
from memory_node.inspector.mcp_subscriptions import SCENE, MemoryBus, serve_subscribe
from memory_node.inspector.plain_schema import plain_schema
from memory_node.inspector.robot_tasks import RobotTasks
from memory_node.inspector.robot_tools import RobotTools
from memory_node.llm.prompt_templates import prompt_templates

_LISTED_EPISODES = 50
# Things on one page of memory://scene; some 40 kB.
_PAGE = 200

_TOOLS: dict[Role, tuple[str, ...]] = {
    "read": (
        "find_objects",
        "recall_objects",
        "locate_object",
        "ask_memory",
        "contents",
        "object",
        "changes",
        "episodes",
        "get_context",
        "scene_text",
    ),
    "edit": ("remember", "tell_fact", "retract_fact", "edit_object", "undo", "confirm_relocalization"),
    "forget": ("forget",),
}
# Where a robot is connected and agents may command it.
_ACTING = ("carry_out", "task", "cancel")
# Of those that change memory: what cannot be taken back, and what may be said twice.
_DESTRUCTIVE = frozenset({"forget", "carry_out"})
_IDEMPOTENT = frozenset({"cancel", "remember", "tell_fact", "retract_fact", "confirm_relocalization"})


def _annotations(name: str, role: Role) -> ToolAnnotations:
    return ToolAnnotations(
        title=name.replace("_", " ").capitalize(),
        read_only_hint=role == "read",
        destructive_hint=name in _DESTRUCTIVE,
        idempotent_hint=role == "read" or name in _IDEMPOTENT,
        open_world_hint=False,
    )


def _told(deed: Callable[..., Any]) -> Callable[..., Any]:
    """Return the deed with errors of memory told to the agent."""

    @functools.wraps(deed)
    def told(**arguments: Any) -> Any:
        try:
            return deed(**arguments)
        except RobotMemoryError as error:
            raise ToolError(str(error)) from error

    return told


class _Server(MCPServer):
    """A server with plain schemas, which tells an agent in one line which of its arguments cannot be; pydantic takes
    four for each."""

    async def list_tools(self) -> list[Tool]:
        """List the tools, with schemas that every client takes."""
        listed = await super().list_tools()
        for tool in listed:
            tool.input_schema = {**plain_schema(tool.input_schema), "additionalProperties": False}
            tool.output_schema = plain_schema(tool.output_schema, with_null=True) if tool.output_schema else None
        return listed

    async def call_tool(self, name: str, arguments: dict[str, Any], context: Any = None) -> Any:
        """Call a tool as `MCPServer` does, but for arguments that it does not have."""
        tool = self._tool_manager.get_tool(name)
        known = tool.parameters.get("properties", {}) if tool is not None else arguments
        unknown = sorted(set(arguments) - set(known))
        if unknown:
            raise ToolError(f"{name}: {', '.join(unknown)}: no such argument; expected some of {', '.join(known)}")
        try:
            return await super().call_tool(name, arguments, context)
        except ToolError as error:
            if not isinstance(error.__cause__, ValidationError):
                raise
            raise ToolError(f"{name}: {'; '.join(faults_of(error.__cause__))}") from error.__cause__


def build_server(
    memory: AgentMemory,
    may: Role = "edit",
    clock: Clock = system_clock,
    views: MemoryViews | None = None,
    kinds: ObjectCatalogue | None = None,
    robot: RobotTasks | None = None,
) -> MCPServer:
    """Return a server whose tools need the role `may` at most: who may edit may read, who may forget may edit.

    views: what episodes are read from; None: there are no resources of episodes. kinds: the label space, by default the
    household's. robot: carries out instructions; None: there are no such tools.
    """
    bus = MemoryBus(views.follow) if views is not None else None
    server = _Server(
        "robot_memory",
        title="Memory of a mobile robot",
        version=__version__,
        instructions="The memory of a mobile robot: what is where in its home, what it did, and what people told it. "
        "ask_memory answers questions in plain words; the other tools answer with ids and positions.",
        subscriptions=bus,
    )
    if bus is not None:
        serve_subscribe(server._lowlevel_server, bus)
    tools = AgentTools(memory, clock, kinds or load_catalogue(), views)
    for role in ROLES[: ROLES.index(may) + 1]:
        for name in _TOOLS[role]:
            hints = _annotations(name, role)
            server.tool(name, title=hints.title, annotations=hints)(_told(getattr(tools, name)))
    if robot is not None:
        acting = RobotTools(robot)
        for name in _ACTING:
            hints = _annotations(name, "read" if name == "task" else "edit")
            server.tool(name, title=hints.title, annotations=hints)(_told(getattr(acting, name)))

    @server.resource(SCENE, mime_type="application/json")
    def scene() -> str:
        """Return the scene graph: rooms, areas and the first things with their places; `next` names the next page."""
        return _scene_page(memory, 1)

    @server.resource("memory://scene/{page}", mime_type="application/json")
    def scene_page(page: str) -> str:
        """Return one page of the scene graph's things, from 1 on."""
        return _scene_page(memory, int(page) if page.isascii() and page.isdigit() else 0)

    if views is not None:
        _add_episodes(server, views)
    prompts = prompt_templates()

    @server.prompt("carry_out")
    def carry_out(instruction: str) -> str:
        """Carry out an instruction with this memory."""
        return prompts.get_template("agent_carry_out.j2").render(instruction=instruction)

    return server


def _scene_page(memory: AgentMemory, page: int) -> str:
    scene = memory.scene()
    pages = max(-(-len(scene.objects) // _PAGE), 1)
    if not 1 <= page <= pages:
        raise NotFoundError(f"memory://scene has the pages 1 to {pages}, got {page}")
    shown = scene.objects[(page - 1) * _PAGE : page * _PAGE]
    part = replace(scene, objects=shown) if page == 1 else replace(scene, objects=shown, rooms=(), areas=())
    following = f"memory://scene/{page + 1}" if page < pages else None
    values = {"page": page, "pages": pages, "objects_in_all": len(scene.objects), "next": following}
    return json.dumps({**values, **scene_values(part)})


def _add_episodes(server: MCPServer, views: MemoryViews) -> None:
    @server.resource("memory://episodes", mime_type="application/json")
    def episodes() -> str:
        """Return the newest episodes, the newest first, and the running one's last steps in words."""
        return json.dumps(episodes_value(views, _LISTED_EPISODES))

    @server.resource("memory://episodes/{episode_id}", mime_type="application/json")
    def episode(episode_id: str) -> str:
        """Return the steps of one episode in order; none of an episode that nobody knows."""
        return json.dumps([step_row(step) for step in views.episode(episode_id).steps])
