"""The tools of the agent loop, made from the skill library and memory's services; schemas that every endpoint takes."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from memory_node.domain.skill_declaration import ArgumentKind, Skill
from memory_node.domain.skill_library import SKILLS, GoalKind
from memory_node.llm.chat import JsonForm, Tool

# What a goal can be: the others are said by count, container, done and ask_person.
_NO_GOAL = frozenset({GoalKind.PLACE_TWO, GoalKind.STACK, GoalKind.STOP, GoalKind.WAIT, GoalKind.TELL})
GOAL_KINDS: tuple[str, ...] = tuple(str(kind) for kind in GoalKind if kind not in _NO_GOAL)
_MOST_GOALS = 20
_TYPES: Mapping[str, Any] = {"object": Mapping, "array": list, "string": str, "integer": int, "boolean": bool}
# What these tell, no other call waits for.
ASKS_MEMORY = frozenset({"find", "locate", "ask_memory", "recall_past", "remember", "tell_person"})
# Calls that one reply may make: so many, or so many for each goal where that is more.
MOST_CALLS_A_REPLY, CALLS_A_GOAL = 12, 6


def _text(description: str, **more: Any) -> dict[str, Any]:
    return {"type": "string", **({"description": description} if description else {}), **more}


def _texts(description: str) -> dict[str, Any]:
    return {"type": "array", "items": {"type": "string"}, "description": description}


def _tool(name: str, description: str, properties: Mapping[str, Any], required: Sequence[str] = ()) -> Tool:
    schema = {
        "type": "object",
        "properties": dict(properties),
        "required": list(required),
        "additionalProperties": False,
    }
    return Tool(name, description, schema)


def _of_texts(name: str, description: str, /, **texts: str) -> Tool:
    """Return a tool that needs some texts. texts: what each is, by its name."""
    return _tool(name, description, {key: _text(said) for key, said in texts.items()}, tuple(texts))


_GOAL = {
    "type": "object",
    "properties": {
        "kind": _text(
            "place: in or on a place; fetch ('bring me'): hold it in the end, with a person as place (me: who asks)"
            " beside them, or PutObject it there; examine: hold it with a lamp on; go: be at a room or person",
            enum=list(GOAL_KINDS),
        ),
        "thing": _text("name or class"),
        "place": _text("where it ends, not where it is washed or heated"),
        "container": _text("it goes in this, and this to the place"),
        "count": {"type": "integer", "description": "how many (default 1)"},
        "all": {"type": "boolean", "description": "all that there are"},
        "sliced": {"type": "boolean", "description": "a piece of it"},
        "words": _text("the words of the instruction that ask for it, as they stand"),
        "reason": _text("why it is meant all the same, after a warning"),
    },
    "required": ["kind", "thing", "words"],
    "additionalProperties": False,
}

SET_GOALS = _tool(
    "set_goals",
    "Say what the instruction asks for, in order. Replaces the goals said before.",
    {"goals": {"type": "array", "items": _GOAL, "maxItems": _MOST_GOALS}},
    ("goals",),
)
FIND = _of_texts("find", "Ask memory for all things of a class or name, or in a room, with place and states.", name="")
LOCATE = _of_texts("locate", "Ask memory where a thing is or is likely to be, the likeliest areas first.", name="")
ASK_MEMORY = _of_texts("ask_memory", "Ask what people told and what documents say.", question="")
RECALL_PAST = _of_texts(
    "recall_past", "Ask what the robot did before with things of a class, and what it left unfinished.", about=""
)
REMEMBER = _of_texts("remember", "Keep a fact that the person has said, in the person's own words.", words="")
LOOK_AT = _of_texts("look_at", "Drive to a thing and see what is there and in which state.", thing="")
ASK_PERSON = _tool(
    "ask_person",
    "Ask the person what neither memory nor a look can tell. An answer comes, or a new instruction in its place.",
    {"question": _text(""), "choices": _texts("possible answers")},
    ("question",),
)
TELL_PERSON = _of_texts("tell_person", "Tell the person something on the way, such as a substitute.", text="")
DONE = _of_texts("done", "End: all is done, or the question is answered.", summary="what was done, or the answer")
IMPOSSIBLE = _of_texts("impossible", "End: it cannot be done.", reason="why, for the person")


def agent_tools(
    skills: Collection[str],
    asks_memory: bool,
    recalls: bool,
    remembers: bool,
    asks: bool = True,
    at_once: bool = False,
) -> tuple[Tool, ...]:
    """Return the tools of a robot with some skills.

    asks_memory, recalls, remembers: whether memory answers from what was told, tells of the past, and keeps facts.
    asks: whether somebody is there to answer questions. at_once: for a whole plan, which asks memory nothing
    on the way.
    """
    offered = ((FIND, True), (LOCATE, True), (ASK_MEMORY, asks_memory), (RECALL_PAST, recalls), (REMEMBER, remembers))
    services = [tool for tool, is_offered in offered if is_offered]
    known = [skill_tool(skill) for name, skill in SKILLS.items() if name in skills]
    on_the_way = [] if at_once else [*services, LOOK_AT]
    return (SET_GOALS, *on_the_way, *known, *([ASK_PERSON] if asks else []), TELL_PERSON, DONE, IMPOSSIBLE)


def skill_tool(skill: Skill) -> Tool:
    """Return a skill as a tool: its arguments by name, those that may be left out not required."""
    named = skill.named_arguments
    properties = {
        one.name: _texts("rooms or areas to search, in order; none: all, the likeliest first")
        if one.kind is ArgumentKind.AREA
        else _text("class" if one.kind is ArgumentKind.OBJECT_CLASS else "" if one in named else one.description)
        for one in skill.arguments
    }
    summary = skill.summary[:1].upper() + skill.summary[1:]
    return _tool(skill.name, f"{summary}.", properties, [one.name for one in named])


def calls_form(tools: Sequence[Tool], most: int) -> JsonForm:
    """Return the form of replies of a model without tool calls: at most so many calls by name."""
    call = {
        "type": "object",
        "properties": {
            "name": {"type": "string", "enum": [tool.name for tool in tools]},
            "arguments": {"type": "object"},
        },
        "required": ["name", "arguments"],
    }
    properties = {"calls": {"type": "array", "items": call, "minItems": 1, "maxItems": most}}
    return JsonForm({"type": "object", "properties": properties, "required": ["calls"]}, "calls")


def exact_calls_form(tools: Sequence[Tool], most: int) -> JsonForm:
    """Return calls_form for a model in this process, without the arguments that may be left out: its grammar needs
    each that it knows."""
    items = [
        {
            "type": "object",
            "properties": {
                "name": {"const": tool.name},
                "arguments": {"type": "object", "properties": _required(tool.parameters)},
            },
        }
        for tool in tools
    ]
    calls = {"type": "array", "items": {"anyOf": items}, "minItems": 1, "maxItems": most}
    return JsonForm({"type": "object", "properties": {"calls": calls}}, "calls")


def _required(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the properties that a schema requires, those of the objects in its lists, too, and none of the others."""
    properties = {}
    for name in schema.get("required", ()):
        part = dict(schema["properties"][name])
        if part.get("type") == "array" and part["items"].get("type") == "object":
            part["items"] = {"type": "object", "properties": _required(part["items"])}
        if part.get("type") == "string" and "enum" not in part:
            part["maxLength"] = 200
        properties[name] = part
    return properties


def faults_of(tool: Tool, arguments: Mapping[str, Any]) -> str:
    """Return what is wrong with a call's arguments, "" for nothing."""
    return "; ".join(_faults(tool.parameters, arguments, ""))


def _faults(schema: Mapping[str, Any], value: Any, where: str) -> list[str]:
    kind, name = schema["type"], where.rstrip(".") or "arguments"
    if not isinstance(value, _TYPES[kind]) or (kind == "integer" and isinstance(value, bool)):
        return [f"{name}: expected {kind}"]
    if kind == "object":
        properties = schema["properties"]
        faults = [f"{where}{one} is missing" for one in schema["required"] if value.get(one) in (None, "")]
        strange = [one for one in value if one not in properties]
        faults += [f"{where}{strange[0]} is unknown; there are: {', '.join(properties)}"] if strange else []
        given = ((one, value[one]) for one in value if one in properties and value[one] is not None)
        return faults + [text for one, part in given for text in _faults(properties[one], part, f"{where}{one}.")]
    if kind == "array":
        most = schema.get("maxItems", _MOST_GOALS)
        many = [f"{name}: at most {most}"] if len(value) > most else []
        return many or [text for at, one in enumerate(value) for text in _faults(schema["items"], one, f"{where}{at}.")]
    if value not in schema.get("enum", [value]):
        return [f"{name}: expected one of {', '.join(schema['enum'])}"]
    return []
