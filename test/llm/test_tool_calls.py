"""Replies as models and servers write them: what each answers, and which calls it makes."""

import json
from typing import Any

import pytest

from memory_node.llm.chat import Reply, Tool, ToolCall
from memory_node.llm.chat_completion import ReplyLines, parse_chunk, read_reply
from memory_node.llm.tool_calls import tool_calls_in

_TEXT = {"type": "string"}
TOOLS = (
    Tool("find", "look a thing up", {"type": "object", "properties": {"name": _TEXT, "room": _TEXT}}),
    Tool("done", "end", {"type": "object", "properties": {"summary": _TEXT}}),
)
MUG = ("find", {"name": "Mug"})
BOWL = ("find", {"name": "Bowl"})
END = ("done", {"summary": "it's there"})
CALL = '{"name": "find", "arguments": {"name": "Mug"}}'
CALL_2 = '{"name": "find", "arguments": {"name": "Bowl"}}'

SHAPES: dict[str, tuple[str, list[tuple[str, Any]]]] = {
    "Hermes": (f"<tool_call>\n{CALL}\n</tool_call>", [MUG]),
    "Hermes, two": (f"<tool_call>\n{CALL}\n</tool_call>\n<tool_call>\n{CALL_2}\n</tool_call>", [MUG, BOWL]),
    "Hermes, its end cut off by a stop word": (f"I look it up.\n<tool_call>\n{CALL}", [MUG]),
    "Hermes, words between": (
        f"First:\n<tool_call>{CALL}</tool_call> then\n<tool_call>{CALL_2}</tool_call>",
        [MUG, BOWL],
    ),
    "Qwen 3, reasoning before": (f"<think>\nThe mug?\n</think>\n\n<tool_call>\n{CALL}\n</tool_call>", [MUG]),
    "Qwen 3, a draft in the reasoning": (
        f"<think><tool_call>{CALL_2}</tool_call></think><tool_call>{CALL}</tool_call>",
        [MUG],
    ),
    "Qwen 3 Coder": (
        "<tool_call>\n<function=find>\n<parameter=name>\nMug\n</parameter>\n</function>\n</tool_call>",
        [MUG],
    ),
    "Llama 3.1": ('<|python_tag|>{"name": "find", "parameters": {"name": "Mug"}}<|eom_id|>', [MUG]),
    "Llama 3.1, bare": ('{"name": "find", "parameters": {"name": "Mug"}}', [MUG]),
    "Llama 3.1, several": (
        '{"name": "find", "parameters": {"name": "Mug"}}; {"name": "find", "parameters": {"name": "Bowl"}}',
        [MUG, BOWL],
    ),
    "Llama 3.1, its own tag": ('<function=find>{"name": "Mug"}</function>', [MUG]),
    "Llama 3.2, Python": ('[find(name="Mug")]<|eot_id|>', [MUG]),
    "Llama 4, Python in parallel": ("<|python_start|>[find(name='Mug'), find(name='Bowl')]<|python_end|>", [MUG, BOWL]),
    "Mistral": (f"[TOOL_CALLS][{CALL}]", [MUG]),
    "Mistral, parallel": (f"[TOOL_CALLS] [{CALL}, {CALL_2}]</s>", [MUG, BOWL]),
    "Mistral, newer": ('[TOOL_CALLS]find[ARGS]{"name": "Mug"}', [MUG]),
    "Mistral, newer, with an id": ('[TOOL_CALLS]find[CALL_ID]abc123def[ARGS]{"name": "Mug"}', [MUG]),
    "Magistral": (f"[THINK]the mug, not the bowl {CALL_2}[/THINK][TOOL_CALLS][{CALL}]", [MUG]),
    "functionary 3": ('>>>find\n{"name": "Mug"}', [MUG]),
    "functionary 3, with words": ('>>>all\nI look {it} up.>>>find\n{"name": "Mug"}', [MUG]),
    "functionary 2": ('<|from|>assistant\n<|recipient|>find\n<|content|>{"name": "Mug"}<|stop|>', [MUG]),
    "DeepSeek": (
        "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>find\n"
        '```json\n{"name": "Mug"}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
        [MUG],
    ),
    "DeepSeek 3.1": (
        "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>find<｜tool▁sep｜>"
        '{"name": "Mug"}<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
        [MUG],
    ),
    "gpt-oss": (
        "<|channel|>analysis<|message|>The mug.<|end|>"
        '<|start|>assistant<|channel|>commentary to=functions.find <|constrain|>json<|message|>{"name": "Mug"}<|call|>',
        [MUG],
    ),
    "Claude as text": (
        '<function_calls><invoke name="find"><parameter name="name">Mug</parameter></invoke></function_calls>',
        [MUG],
    ),
    "Command R": ('Action: ```json\n[{"tool_name": "find", "parameters": {"name": "Mug"}}]\n```', [MUG]),
    "ReAct as JSON": (
        'Thought: find it\nAction:\n```\n{"action": "find", "action_input": {"name": "Mug"}}\n```',
        [MUG],
    ),
    "the protocol's shape as text": (
        '{"tool_calls": [{"id": "1", "type": "function", '
        '"function": {"name": "find", "arguments": "{\\"name\\": \\"Mug\\"}"}}]}',
        [MUG],
    ),
    "the older function_call as text": (
        '{"function_call": {"name": "find", "arguments": "{\\"name\\": \\"Mug\\"}"}}',
        [MUG],
    ),
    "a schema's list": (f'{{"calls": [{CALL}, {CALL_2}]}}', [MUG, BOWL]),
    "a schema's list, empty": ('{"calls": []}', []),
    "the tool as key": ('{"find": {"name": "Mug"}}', [MUG]),
    "arguments as a string": ('{"name": "find", "arguments": "{\\"name\\": \\"Mug\\"}"}', [MUG]),
    "no arguments": ('{"name": "done", "arguments": null}', [("done", {})]),
    "an empty string of arguments": ('{"name": "done", "arguments": ""}', [("done", {})]),
    "arguments that are words": ('{"name": "find", "arguments": "the mug"}', [("find", {"": "the mug"})]),
    "a code fence": (f"```json\n{CALL}\n```", [MUG]),
    "a code fence with words around": (f"Sure! Here it is:\n\n```json\n{CALL}\n```\nLet me know.", [MUG]),
    "a draft in a fence, then the answer in another": (
        f"```json\n{CALL_2}\n```\nNo, better:\n```json\n{CALL}\n```",
        [MUG],
    ),
    "a draft in words, then the answer": (f"I could do {CALL_2}, but better is {CALL}", [MUG]),
    "a trailing comma": ('{"name": "find", "arguments": {"name": "Mug",},}', [MUG]),
    "single quotes": ("{'name': 'find', 'arguments': {'name': 'Mug'}}", [MUG]),
    "single quotes and an apostrophe": ("{'name': 'done', 'arguments': {'summary': \"it's there\"}}", [END]),
    "Python's None": (
        '{"name": "find", "arguments": {"name": "Mug", "room": None}}',
        [("find", {"name": "Mug", "room": None})],
    ),
    "keys without quotes": ('{name: "find", arguments: {name: "Mug"}}', [MUG]),
    "a lost comma": ('{"name": "find" "arguments": {"name": "Mug"}}', [MUG]),
    "Python, positional": ('find("Mug")', [MUG]),
    "Python, lines": ("```python\nfind(name='Mug')\nfind(name='Bowl')\n```", [MUG, BOWL]),
    "Python between words": ('I will look it up:\nfind(name="Mug")', [MUG]),
    "Python that computes": (
        'find(name=open("/etc/passwd").read())',
        [("find", {"": "find(name=open('/etc/passwd').read())"})],
    ),
    "<reasoning>": (f"<reasoning>perhaps {CALL_2}</reasoning>{CALL}", [MUG]),
    "an end of reasoning alone": (f"perhaps {CALL_2}\n</think>\n{CALL}", [MUG]),
    "reasoning in reasoning": (f"<think>a <think> b</think> {CALL_2} </think>{CALL}", [MUG]),
    "reasoning that was cut off": (f"<think>I could call {CALL}", []),
    "a call in a cut-off object": ('{"name": "find", "arguments": {"name": "Mu', []),
    "a tag inside a string": (
        '{"name": "done", "arguments": {"summary": "he said <think> and left"}}',
        [("done", {"summary": "he said <think> and left"})],
    ),
    "words alone": ("I have put the mug on the table.", []),
    "words that name a tool": ("I would find the mug (the blue one) and be done.", []),
    "a refusal": ("I'm sorry, but I can't help with that.", []),
    "nothing": ("", []),
    "an object that is no call": ('{"name": "Mug", "room": "kitchen"}', []),
    "a call of no tool, marked": ('<tool_call>{"name": "fly", "arguments": {}}</tool_call>', [("fly", {})]),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_calls_in_text_are_read_as_their_model_means_them(shape: str) -> None:
    text, expected = SHAPES[shape]
    calls = tool_calls_in(Reply(text, 1, 1), TOOLS)
    assert [(call.name, dict(call.arguments)) for call in calls] == expected


def test_calls_of_the_protocol_count_alone() -> None:
    reply = Reply(f"<tool_call>{CALL_2}</tool_call>", 1, 1, tool_calls=(ToolCall("find", {"name": "Mug"}, "a"),))
    assert [call.arguments["name"] for call in tool_calls_in(reply, TOOLS)] == ["Mug"]


@pytest.mark.parametrize(
    ("pieces", "expected"),
    [
        (
            [
                {"index": 0, "id": "a", "function": {"name": "find", "arguments": ""}},
                {"index": 1, "id": "b", "function": {"name": "find"}},
                {"index": 0, "function": {"arguments": '{"name": '}},
                {"index": 1, "function": {"arguments": '{"name": "Bowl"}'}},
                {"index": 0, "function": {"arguments": '"Mug"}'}},
                {"index": 2, "function": {"arguments": ""}},
            ],
            [("a", *MUG), ("b", *BOWL)],
        ),
        (
            [
                {"function": {"name": "find", "arguments": {"name": "Mug"}}},
                {"function": {"name": "find", "arguments": json.dumps({"name": "Bowl"})}},
            ],
            [("call_1", *MUG), ("call_2", *BOWL)],
        ),
    ],
    ids=["parallel calls in pieces", "whole calls without an index, one as an object"],
)
def test_streamed_calls_are_put_together(pieces: list[dict[str, Any]], expected: list[tuple[Any, ...]]) -> None:
    chunks = [parse_chunk({"choices": [{"delta": {"tool_calls": [piece]}}]}) for piece in pieces]
    reply = read_reply(chunks, [], ReplyLines(lambda _: None), 100)
    assert [(one.id, one.name, dict(one.arguments)) for one in reply.tool_calls] == expected
