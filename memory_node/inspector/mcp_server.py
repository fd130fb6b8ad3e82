"""Memory as tools, resources and a prompt for agents: the Model Context Protocol."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable
from typing import Annotated, Any, Literal

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import Tool
from pydantic import Field, ValidationError

from memory_node.domain.answer import FindQuery
from memory_node.domain.clock import Clock, system_clock
from memory_node.domain.errors import InvalidValueError, RobotMemoryError
from memory_node.domain.geometry import POSITION_LIMIT_M
from memory_node.domain.skill import StateChange
from memory_node.domain.states import ObjectState
from memory_node.domain.validation_faults import faults_of
from memory_node.inspector.access import ROLES, Role
from memory_node.inspector.agent_answers import (
    Found,
    Known,
    Located,
    found_object,
    known,
    place_to_look,
    scene_values,
)
from memory_node.inspector.agent_memory import AgentMemory, MemoryViews
from memory_node.inspector.episode_rows import episodes_value, step_row
from memory_node.inspector.plain_schema import plain_schema
from memory_node.knowledge.mode import Mode
from memory_node.llm.prompt_templates import prompt_templates

_LONGEST_TEXT = 10_000
_LISTED_EPISODES = 50

Text = Annotated[str, Field(max_length=_LONGEST_TEXT)]
Question = Annotated[str, Field(min_length=1, max_length=4000)]
Count = Annotated[int, Field(ge=1, le=100)]
Tokens = Annotated[int, Field(ge=50, le=20_000)]
Metres = Annotated[float, Field(ge=-POSITION_LIMIT_M, le=POSITION_LIMIT_M, allow_inf_nan=False)]
States = Annotated[list[ObjectState], Field(max_length=20)]


class AgentTools:
    """The tools' deeds. Errors of memory are told to the agent in one line.

    memory: a store or a running node. clock: stamps of what is remembered.
    """

    def __init__(self, memory: AgentMemory, clock: Clock = system_clock) -> None:
        self._memory = memory
        self._clock = clock

    def find_objects(self, text: Text, k: Count = 5, states: States | None = None) -> Found:
        """Find things in the robot's long-term memory by words ("the red fruit") or by their class.

        Memory abstains where it knows nothing that fits; the status says why. states: only things that are so.
        """
        found = self._memory.find(self._query(text, k, states))
        objects = [found_object(answer) for answer in found.answers]
        return Found(status=str(found.status), explanation=found.explanation, objects=objects)

    def recall_objects(self, text: Text, k: Count = 5, states: States | None = None) -> Found:
        """Find things among those that the robot has just seen or used: the short-term memory, with fresh states."""
        found = self._memory.recall(self._query(text, k, states))
        objects = [found_object(answer) for answer in found.answers]
        return Found(status=str(found.status), explanation=found.explanation, objects=objects)

    def locate_object(self, text: Text, max_places: Count = 5) -> Located:
        """Tell where a thing is by either memory; where no memory is sure, also where to look for it first."""
        found = self._memory.locate(self._query(text, 3, None), max_places)
        return Located(
            status=str(found.status),
            explanation=found.explanation,
            objects=[found_object(answer) for answer in found.answers],
            places_to_look=[place_to_look(area) for area in found.areas],
        )

    def get_context(self, instruction: Text, token_budget: Tokens = 2000) -> str:
        """Return what memory knows that bears on an instruction: things, places, experience, guidelines."""
        return self._memory.context(instruction, token_budget).text

    def scene_text(self, token_budget: Tokens = 2000) -> str:
        """Describe the whole home as the robot remembers it."""
        return self._memory.scene_text(token_budget)

    def ask_memory(
        self, question: Question, mode: Literal["", "episodic", "semantic", "procedural"] = "", k: Count = 5
    ) -> Known:
        """Ask what is known from episodes, from people and from what was read; it abstains where nothing answers.

        mode: what happened, what is so, or how a thing is done; empty: found out from the question.
        """
        answer = self._memory.ask(question, Mode(mode) if mode else None, k)
        return known(answer)

    def tell_fact(self, text: Question, teller: Annotated[str, Field(max_length=200)] = "") -> list[str]:
        """Tell memory a fact that a person said ("Anna likes black tea"); return the statements that it understood.

        teller: who said it, for "I" and "my".
        """
        return [statement.text for statement in self._memory.tell_fact(text, teller)]

    def remember(
        self,
        object_class: Annotated[str, Field(max_length=200)] = "",
        object_id: Annotated[str, Field(max_length=200)] = "",
        is_now: States | None = None,
        is_no_longer: States | None = None,
        put_on: Annotated[str, Field(max_length=200)] = "",
        inside: bool = False,
        picked_up: bool = False,
        position_m: Annotated[list[Metres], Field(min_length=3, max_length=3)] | None = None,
    ) -> list[str]:
        """Tell memory what is so now, for example that a mug is clean or lies in a drawer; return its ids of the thing.

        object_id: its id or name ("Mug 2"); without it, the only thing of object_class is meant, or a new one whose
        place is told. put_on: id or name of the object that it stands on, or `inside` of which it is. picked_up: the
        robot's hand holds it. position_m: (x, y, z) in map. What memory does not know is refused with what may be
        meant.
        """
        if put_on and picked_up:
            raise InvalidValueError("put_on, picked_up: expected one of them, got both")
        position = (position_m[0], position_m[1], position_m[2]) if position_m is not None else None
        change = StateChange(
            object_id,
            object_class,
            self._clock(),
            added=tuple(is_now or ()),
            removed=tuple(is_no_longer or ()),
            held=picked_up or (False if put_on else None),
            support_id=put_on,
            inside=inside,
            position=position,
            source="user",
        )
        return list(self._memory.remember([change]))

    def confirm_relocalization(self) -> str:
        """Confirm that the robot is localised in the map of its memory, once a person or the localiser says so.

        Answers with the status frame_not_verified wait for it: the map may have had another origin when they were seen.
        """
        self._memory.confirm_relocalization()
        return "memory trusts the map frame again"

    def forget(self, object_id: Annotated[str, Field(min_length=1, max_length=200)]) -> int:
        """Erase a thing from memory for ever, its history and pictures included; return how many things went."""
        return self._memory.forget(object_id)

    def _query(self, text: str, k: int, states: States | None) -> FindQuery:
        return FindQuery(text=text, k=k, states=tuple(states or ()))


_TOOLS: dict[Role, tuple[str, ...]] = {
    "read": ("find_objects", "recall_objects", "locate_object", "ask_memory", "get_context", "scene_text"),
    "edit": ("remember", "tell_fact", "confirm_relocalization"),
    "forget": ("forget",),
}


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
            tool.input_schema = plain_schema(tool.input_schema)
            tool.output_schema = plain_schema(tool.output_schema) if tool.output_schema else None
        return listed

    async def call_tool(self, name: str, arguments: dict[str, Any], context: Any = None) -> Any:
        """Call a tool as `MCPServer` does."""
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
) -> MCPServer:
    """Return a server whose tools need the role `may` at most: who may edit may read, who may forget may edit.

    views: what episodes are read from; None: there are no resources of episodes.
    """
    server = _Server("robot_memory", instructions="The memory of a mobile robot: what is where in its home.")
    tools = AgentTools(memory, clock)
    for role in ROLES[: ROLES.index(may) + 1]:
        for name in _TOOLS[role]:
            server.tool(name)(_told(getattr(tools, name)))

    @server.resource("memory://scene", mime_type="application/json")
    def scene() -> str:
        """Return the scene graph: rooms, areas and things with their places."""
        return json.dumps(scene_values(memory.scene()))

    if views is not None:
        _add_episodes(server, views)
    prompts = prompt_templates()

    @server.prompt("carry_out")
    def carry_out(instruction: str) -> str:
        """Carry out an instruction with this memory."""
        return prompts.get_template("agent_carry_out.j2").render(instruction=instruction)

    return server


def _add_episodes(server: MCPServer, views: MemoryViews) -> None:
    @server.resource("memory://episodes", mime_type="application/json")
    def episodes() -> str:
        """Return the newest episodes, the newest first, and the running one's last steps in words."""
        return json.dumps(episodes_value(views, _LISTED_EPISODES))

    @server.resource("memory://episodes/{episode_id}", mime_type="application/json")
    def episode(episode_id: str) -> str:
        """Return the steps of one episode in order; none of an episode that nobody knows."""
        return json.dumps([step_row(step) for step in views.episode(episode_id).steps])
