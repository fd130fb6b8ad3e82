"""Reads the tool calls of a reply: those of the protocol, and those that models write as text in their own dialects."""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from memory_node.llm.chat import Reply, Tool, ToolCall
from memory_node.llm.reply_reader import BROKEN, BrokenJson, answer_in, json_values, last_block, spans_of_json

_MOST_CALLS = 32
_NAME_KEYS = ("name", "tool", "tool_name", "function", "action")
_ARGUMENT_KEYS = ("arguments", "parameters", "args", "input", "action_input")
_LIST_KEYS = ("tool_calls", "calls", "tools", "actions", "function_call")
# The name stands in the text and the arguments follow as JSON: functionary (2 and 3), DeepSeek, Mistral, gpt-oss,
# Llama's own <function=...>.
_NAMED = re.compile(
    r"(?:>>>(?P<v3>\w+)\n"
    r"|<\|recipient\|>\s*(?P<v2>\w+)\s*<\|content\|>"
    r"|<｜tool▁call▁begin｜>(?:\s*function\s*<｜tool▁sep｜>)?\s*(?P<deepseek>\w+)\s*(?:<｜tool▁sep｜>)?"
    r"|\[TOOL_CALLS\]\s*(?P<mistral>\w+)\s*(?:\[CALL_ID\]\w+\s*)?(?:\[ARGS\])?"
    r"|\bto=functions\.(?P<harmony>\w+)[^{]{0,80}?<\|message\|>"
    r"|<function=(?P<llama>\w+)>)\s*(?:```(?:json)?\s*)?(?=\{)"
)
# Qwen3-Coder and Claude write each argument in a tag of its own.
_XML_CALL = re.compile(
    r"<function=(?P<qwen>\w+)>(?P<body>.*?)</function>|<invoke name=\"(?P<claude>\w+)\">(?P<body2>.*?)</invoke>",
    re.DOTALL,
)
_XML_ARGUMENT = re.compile(r"<parameter(?:=(\w+)| name=\"(\w+)\")>\s*(.*?)\s*</parameter>", re.DOTALL)
_DIALECT = re.compile(
    r"</?tool_calls?>|<\|python_(?:tag|start|end)\|>|\[/?TOOL_CALLS\]|<\|/?tool_call\|>|</?function_calls>"
)


def tool_calls_in(reply: Reply, tools: Sequence[Tool]) -> tuple[ToolCall, ...]:
    """Return the calls of a reply in their order, () where it makes none.

    Calls of the protocol count alone where there are any. Text counts where it is a call in one of the dialects, or
    JSON with the name of a tool. Arguments in the wrong form become {"": text}, which no tool takes.
    """
    if reply.tool_calls:
        return reply.tool_calls[:_MOST_CALLS]
    text = answer_in(reply.text)
    names = {tool.name: tool for tool in tools}
    found = list(itertools.islice(_in_text(text, names), _MOST_CALLS))
    return tuple(ToolCall(call.name, call.arguments, f"call_{number}") for number, call in enumerate(found, 1))


def arguments_of(value: Any) -> Mapping[str, Any]:
    """Return the arguments of a call as a mapping: models write JSON in a string, too, or nothing."""
    if isinstance(value, Mapping):
        return value
    if value is None or (isinstance(value, str) and not value.strip()):
        return {}
    if isinstance(value, str):
        read = json_values(value)
        if len(read) == 1 and isinstance(read[0], dict):
            return read[0]
        if value.strip() in ("null", "None", "{}"):
            return {}
    return {"": str(value)}


def _in_text(text: str, tools: Mapping[str, Tool]) -> Iterator[ToolCall]:
    xml = [
        match
        for match in _XML_CALL.finditer(text)
        if not (match["body"] or match["body2"] or "").strip().startswith("{")
    ]
    if xml:
        for match in xml:
            pairs = _XML_ARGUMENT.findall(match["body"] or match["body2"] or "")
            yield ToolCall(match["qwen"] or match["claude"], {a or b: _plain(value) for a, b, value in pairs})
        return
    named = list(_NAMED.finditer(text))
    if named:
        for match in named:
            span = next(iter(spans_of_json(text[match.end() :])), None)
            value = span.value if span is not None else BROKEN
            name = next(filter(None, match.groups()))
            if name != "all":
                yield ToolCall(name, value if isinstance(value, dict) else {"": text[match.end() :][:80]})
        return
    yield from _in_json(text, tools) if spans_of_json(text) and not _is_python(text, tools) else _in_python(text, tools)


def _in_json(text: str, tools: Mapping[str, Tool]) -> Iterator[ToolCall]:
    """Yield the calls in an answer's JSON: all that a dialect marks, else those of the last value that holds any."""
    is_marked = bool(_DIALECT.search(text))
    per_value = [list(_calls_of(value, tools, is_marked)) for value in json_values(last_block(text))]
    if is_marked or (all(len(calls) <= 1 for calls in per_value) and _stand_together(text)):
        yield from itertools.chain.from_iterable(per_value)
        return
    yield from next((calls for calls in reversed(per_value) if calls), [])


def _stand_together(text: str) -> bool:
    """Return whether only separators stand between an answer's values: then they are calls in parallel, no drafts."""
    spans = spans_of_json(last_block(text))
    block = last_block(text)
    between = [block[a.end : b.start] for a, b in itertools.pairwise(spans)]
    return all(not words.strip(" \n\t;,") for words in between)


def _calls_of(value: Any, tools: Mapping[str, Tool], is_marked: bool) -> Iterator[ToolCall]:
    if isinstance(value, list):
        for one in value:
            yield from _calls_of(one, tools, is_marked)
        return
    if isinstance(value, BrokenJson) or not isinstance(value, dict):
        return
    for key in _LIST_KEYS:
        if isinstance(value.get(key), (list, dict)):
            yield from _calls_of(value[key], tools, True)
            return
    inner = value.get("function")
    if isinstance(inner, dict):
        yield from _calls_of(inner, tools, is_marked)
        return
    name = next((value[key] for key in _NAME_KEYS if isinstance(value.get(key), str)), "")
    has_arguments = any(key in value for key in _ARGUMENT_KEYS)
    if name and (name in tools or (is_marked and has_arguments)):
        given = next((value[key] for key in _ARGUMENT_KEYS if key in value), None)
        yield ToolCall(name, arguments_of(given))
        return
    # {"find": {"name": "Mug"}}
    if len(value) == 1 and next(iter(value)) in tools:
        name, given = next(iter(value.items()))
        yield ToolCall(name, arguments_of(given))


def _is_python(text: str, tools: Mapping[str, Tool]) -> bool:
    block = _DIALECT.sub("", last_block(text)).strip().lstrip("[").lstrip()
    return any(re.match(rf"{re.escape(name)}\s*\(", block) for name in tools)


def _in_python(text: str, tools: Mapping[str, Tool]) -> Iterator[ToolCall]:
    """Yield calls written as Python, one a line or in a list; the text is parsed, never executed."""
    block = _DIALECT.sub("", last_block(text)).strip()
    for piece in (block, *block.splitlines()):
        calls = list(_python_calls(piece.strip().rstrip(";,"), tools))
        if calls and piece is block:
            yield from calls
            return
        yield from calls


def _python_calls(piece: str, tools: Mapping[str, Tool]) -> Iterator[ToolCall]:
    try:
        tree = ast.parse(piece, mode="exec")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    for statement in tree.body:
        value = statement.value if isinstance(statement, ast.Expr) else None
        for node in value.elts if isinstance(value, (ast.List, ast.Tuple)) else [value]:
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in tools:
                yield ToolCall(node.func.id, _python_arguments(node, tools[node.func.id]))


def _python_arguments(node: ast.Call, tool: Tool) -> Mapping[str, Any]:
    names = list(tool.parameters.get("properties", {}))
    try:
        given = {name: ast.literal_eval(value) for name, value in zip(names, node.args)}
        given |= {one.arg or "": ast.literal_eval(one.value) for one in node.keywords}
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
        return {"": ast.unparse(node)[:80]}
    return given if len(node.args) <= len(names) else {"": ast.unparse(node)[:80]}


def _plain(text: str) -> Any:
    """Return an argument in a tag of its own: JSON where it is a list or an object, else its words."""
    values = json_values(text) if text[:1] in ("[", "{") else []
    return values[0] if len(values) == 1 and not isinstance(values[0], BrokenJson) else text
