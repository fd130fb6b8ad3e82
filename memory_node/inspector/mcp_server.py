"""Memory as tools, resources and a prompt for agents: the Model Context Protocol."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import anyio
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import CallToolResult, TextContent, Tool, ToolAnnotations
from pydantic import TypeAdapter, ValidationError

from memory_node import __version__
from memory_node.domain.errors import NotFoundError, RobotMemoryError, faults_of
from memory_node.inspector.access import Caller, Role
from memory_node.inspector.agent_memory import AgentMemory, MemoryViews
from memory_node.inspector.change_feed import ChangeFeed
from memory_node.inspector.episode_rows import StepRow, episodes_value
from memory_node.inspector.mcp_subscriptions import SCENE, MemoryBus, serve_subscribe
from memory_node.inspector.scene_rows import scene_rows
from memory_node.inspector.verbs import Desk, Verb, verbs_of
from memory_node.llm.ask import prompt_templates

_HIDDEN = ("$defs", "title")


def plain_schema(schema: dict[str, Any], with_null: bool = False) -> dict[str, Any]:
    """Return a schema with each reference replaced by what it refers to, and each choice between a type and null by the
    type: what may be left out need not be sent. with_null: of answers, in which null says that there is none.

    Pydantic's models refer to others and to enumerations. Models that contain themselves have no such form.

    Raises:
        ValueError: a choice between several types.
    """
    plain = _plain(schema, schema.get("$defs", {}), with_null)
    assert isinstance(plain, dict)
    return plain


def _plain(part: Any, known: dict[str, Any], with_null: bool) -> Any:
    if isinstance(part, list):
        return [_plain(one, known, with_null) for one in part]
    if not isinstance(part, dict):
        return part
    if "$ref" in part:
        part = {**known[part["$ref"].rpartition("/")[2]], **{key: one for key, one in part.items() if key != "$ref"}}
    if "anyOf" in part:
        only = _only_type(part["anyOf"])
        part = {**only, **{key: one for key, one in part.items() if key != "anyOf"}}
        if with_null and isinstance(only.get("type"), str):
            part["type"] = [only["type"], "null"]
        if part.get("default", "") is None:
            del part["default"]
        return _plain(part, known, with_null)
    return {
        key: _plain(one, known, with_null) for key, one in part.items() if key not in _HIDDEN or not _is_note(key, one)
    }


def _is_note(key: str, value: Any) -> bool:
    """Whether a key is pydantic's own: a property may be called `title`, too."""
    return key == "$defs" or isinstance(value, str)


def _only_type(choices: list[dict[str, Any]]) -> dict[str, Any]:
    types = [choice for choice in choices if choice.get("type") != "null"]
    if len(types) != 1:
        raise ValueError(f"expected one type or null, got {choices}")
    return types[0]


_LISTED_EPISODES = 50
# Things on one page of memory://scene; some 40 kB.
_PAGE = 150
# Of a schema: which fields go together. Known clients refuse them; what breaks them is refused with a line.
_CONDITIONS = ("anyOf", "allOf", "not")


class _Server(MCPServer):
    """A server whose tools are verbs; it tells an agent in one line which of its arguments cannot be."""

    def __init__(self, desk: Desk, verbs: Iterable[Verb], **options: Any) -> None:
        super().__init__("robot_memory", **options)
        self._desk = desk
        self._verbs = {verb.name: verb for verb in verbs}

    async def list_tools(self) -> list[Tool]:
        """List the tools, with schemas that every client takes."""
        return list(map(_tool, self._verbs.values()))

    async def call_tool(self, name: str, arguments: dict[str, Any], context: Any = None) -> CallToolResult:
        """Call a tool.

        Raises:
            ToolError: there is no such tool, an argument cannot be, or memory refuses.
        """
        verb = self._verbs.get(name)
        if verb is None:
            raise ToolError(f"{name[:100]}: no such tool; expected one of {', '.join(self._verbs)}")
        try:
            asked = verb.request.model_validate(arguments, strict=False)
            answer = await anyio.to_thread.run_sync(verb.run, self._desk, asked)
        except ValidationError as error:
            raise ToolError(_misfit(verb, error)) from error
        except RobotMemoryError as error:
            raise ToolError(str(error)) from error
        told = getattr(answer, verb.agents_get) if verb.agents_get else answer
        values = TypeAdapter(_told(verb)).dump_python(told, mode="json")
        structured = values if isinstance(values, dict) else {"result": values}
        text = told if isinstance(told, str) else json.dumps(values, ensure_ascii=False)
        return CallToolResult(content=[TextContent(type="text", text=text)], structured_content=structured)


def _told(verb: Verb) -> Any:
    """Return the type of what agents are told."""
    return verb.answer.model_fields[verb.agents_get].annotation if verb.agents_get else verb.answer


def _misfit(verb: Verb, error: ValidationError) -> str:
    known = ", ".join(verb.request.model_fields) or "none"
    unknown = [str(one["loc"][0]) for one in error.errors() if one["type"] == "extra_forbidden"]
    if unknown:
        return f"{verb.name}: {', '.join(unknown):.200}: no such argument; expected some of {known}"
    return f"{verb.name}: {'; '.join(faults_of(error))}"


def _tool(verb: Verb) -> Tool:
    given = TypeAdapter(_told(verb)).json_schema(mode="serialization")
    if given.get("type") != "object":
        hoisted = {"$defs": given.pop("$defs")} if "$defs" in given else {}
        given = {"type": "object", "properties": {"result": given}, "required": ["result"], **hoisted}
    taken = verb.request.model_json_schema()
    hints = ToolAnnotations(
        title=verb.name.replace("_", " ").capitalize(),
        read_only_hint=verb.role == "read",
        destructive_hint=verb.is_lasting,
        idempotent_hint=verb.is_repeatable,
        open_world_hint=False,
    )
    return Tool(
        name=verb.name,
        title=hints.title,
        description=verb.words,
        input_schema=plain_schema({key: one for key, one in taken.items() if key not in _CONDITIONS}),
        output_schema=plain_schema(given, with_null=True),
        annotations=hints,
    )


def build_server(desk: Desk, may: Role = "edit") -> MCPServer:
    """Return a server whose tools need the role `may` at most: who may edit may read, who may forget may edit."""
    caller, memory, views = Caller(desk.caller, may), desk.memory, desk.views
    bus = MemoryBus(ChangeFeed(views.follow))
    server = _Server(
        desk,
        [verb for verb in verbs_of(desk.robot) if caller.may(verb.role)],
        title="Memory of a mobile robot",
        version=__version__,
        instructions="The memory of a mobile robot: what is where in its home, what it did, and what people told it. "
        "ask_memory answers questions in plain words; the other tools answer with ids and positions.",
        subscriptions=bus,
    )
    serve_subscribe(server._lowlevel_server, bus)

    @server.resource(SCENE, mime_type="application/json")
    def scene() -> str:
        """Return the scene graph: rooms, areas and the first things with their places; `next` names the next page."""
        return _scene_page(memory, 1)

    @server.resource("memory://scene/{page}", mime_type="application/json")
    def scene_page(page: str) -> str:
        """Return one page of the scene graph's things, from 1 on."""
        return _scene_page(memory, int(page) if page.isascii() and page.isdigit() else 0)

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
    part = replace(scene, objects=shown, relations=())  # `on` and `inside` of the objects say it
    part = part if page == 1 else replace(part, floors=(), rooms=(), areas=())
    following = f"memory://scene/{page + 1}" if page < pages else None
    values = {"page": page, "pages": pages, "objects_in_all": len(scene.objects), "next": following}
    return json.dumps({**values, **scene_rows(part)})


def _add_episodes(server: MCPServer, views: MemoryViews) -> None:
    @server.resource("memory://episodes", mime_type="application/json")
    def episodes() -> str:
        """Return the newest episodes, the newest first, and the running one's last steps in words."""
        return json.dumps(episodes_value(views, _LISTED_EPISODES).model_dump())

    @server.resource("memory://episodes/{episode_id}", mime_type="application/json")
    def episode(episode_id: str) -> str:
        """Return the steps of one episode in order; none of an episode that nobody knows."""
        return json.dumps([StepRow.plain(step) for step in views.episode(episode_id).steps])
