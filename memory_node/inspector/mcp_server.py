"""Memory as tools, resources and a prompt for agents: the Model Context Protocol."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import anyio
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.subscriptions import ResourceUpdated, ServerEvent
from mcp_types import (
    CallToolResult,
    EmptyResult,
    SubscribeRequestParams,
    TextContent,
    Tool,
    ToolAnnotations,
    UnsubscribeRequestParams,
)
from pydantic import TypeAdapter, ValidationError

from memory_node import __version__
from memory_node.domain.errors import NotFoundError, RobotMemoryError, faults_of
from memory_node.inspector.access import Caller, Role
from memory_node.inspector.agent_memory import AgentMemory, MemoryViews
from memory_node.inspector.change_feed import ChangeFeed, Subscription
from memory_node.inspector.deeds import Desk
from memory_node.inspector.episode_rows import StepRow, episodes_value
from memory_node.inspector.scene_rows import scene_rows
from memory_node.inspector.verbs import Verb, verbs_of
from memory_node.llm.ask import prompt_templates

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
