"""Agents carry out "bring me the apple" with the memory's tools and a simulated robot; a script is the model.

The script chooses by what the tools answered, as a language model would; no figure of a model follows from this.
"""

import json
from collections.abc import Iterator
from typing import Any

import anyio
import pytest

pytest.importorskip("mcp")

from agent_server import server_of
from furnished_home import embedder
from mcp import Client
from seeing_robot import SeeingRobot

from memory_node.domain.skill import SkillCall

INSTRUCTION = "bring me the apple"
MOST_TURNS = 12
DONE = "Here you are."
Message = dict[str, Any]
# What a robot offers an agent beside its memory's tools.
EXECUTE_SKILL = {
    "name": "execute_skill",
    "description": "Let the robot do one skill of its library: GoToObject, PickupObject, PutObject, Explore, ...",
    "parameters": {
        "type": "object",
        "properties": {"skill": {"type": "string"}, "arguments": {"type": "array", "items": {"type": "string"}}},
        "required": ["skill", "arguments"],
    },
}


@pytest.fixture
def robot() -> SeeingRobot:
    return SeeingRobot("studio", embedder())


def did(robot: SeeingRobot, skill: str, arguments: list[str]) -> str:
    """Return what a skill came to, as the robot tells an agent."""
    result = robot.execute(SkillCall(skill, tuple(arguments)))
    return json.dumps({"success": result.success, "reason": str(result.reason), "message": result.message})


class ScriptedModel:
    """Answers a conversation as an OpenAI-compatible endpoint does: one tool call a turn, at the end words."""

    def __init__(self, tools: list[Message]) -> None:
        self._offered = {tool["function"]["name"] for tool in tools}
        self._script = self._turns()
        self._told: Any = None

    def complete(self, messages: list[Message]) -> Message:
        """Return the next message; the last one holds what the last tool call answered."""
        self._told = json.loads(messages[-1]["content"]) if messages[-1]["role"] == "tool" else None
        if self._told is not None and self._told.get("success") is False:
            return {"role": "assistant", "content": f"I could not: {self._told['message']}"}
        return next(self._script, {"role": "assistant", "content": DONE})

    def _turns(self) -> Iterator[Message]:
        yield self._call("locate_object", text="apple")
        if not self._told["objects"]:
            places = [place["area_id"] for place in self._told["areas"]]
            yield self._call("execute_skill", skill="Explore", arguments=["Apple", *places])
            yield self._call("locate_object", text="apple")
        (apple,) = self._told["objects"]
        yield self._call("execute_skill", skill="GoToObject", arguments=["Apple"])
        yield self._call("execute_skill", skill="PickupObject", arguments=["Apple"])
        yield self._call("remember", object_class="Apple", object_id=apple["object_id"], held=True)
        yield self._call("find_objects", text="User")
        person = self._told["objects"][0]["object_id"]
        yield self._call("execute_skill", skill="GoToObject", arguments=["User"])
        yield self._call("execute_skill", skill="PutObject", arguments=["Apple", "User"])
        yield self._call("remember", object_class="Apple", object_id=apple["object_id"], support=person)

    def _call(self, name: str, **arguments: Any) -> Message:
        assert name in self._offered
        function = {"name": name, "arguments": json.dumps(arguments)}
        return {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": f"call-{name}", "type": "function", "function": function}],
        }


async def tool_loop(client: Client, robot: SeeingRobot, instruction: str) -> list[Message]:
    """Let a model call tools until it says something; return the conversation."""
    listed = (await client.list_tools()).tools
    tools = [{"name": tool.name, "description": tool.description, "parameters": tool.input_schema} for tool in listed]
    model = ScriptedModel([{"type": "function", "function": tool} for tool in [*tools, EXECUTE_SKILL]])
    prompt = await client.get_prompt("carry_out", {"instruction": instruction})
    messages: list[Message] = [{"role": "user", "content": prompt.messages[0].content.text}]
    for _ in range(MOST_TURNS):
        answer = model.complete(messages)
        messages.append(answer)
        if not answer.get("tool_calls"):
            break
        for call in answer["tool_calls"]:
            name, arguments = call["function"]["name"], json.loads(call["function"]["arguments"])
            if name == "execute_skill":
                content = did(robot, **arguments)
            else:
                result = await client.call_tool(name, arguments)
                content = json.dumps(
                    {"error": result.content[0].text} if result.is_error else result.structured_content
                )
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": content})
    return messages


def test_tool_loop_brings_the_apple_and_memory_knows_it(robot: SeeingRobot) -> None:
    async def run() -> list[Message]:
        async with Client(server_of(robot.memory), read_timeout_seconds=60.0) as client:
            return await tool_loop(client, robot, INSTRUCTION)

    assert not any(one.class_name == "Apple" for one in robot.memory.scene().objects)
    conversation = anyio.run(run)
    assert conversation[-1]["content"] == DONE, conversation[-2:]
    assert INSTRUCTION in conversation[0]["content"]
    (person,) = [one for one in robot.memory.scene().objects if one.class_name == "User"]
    (apple,) = [one for one in robot.memory.scene().objects if one.class_name == "Apple"]
    assert apple.support_id == person.id
    assert robot.world.held is None
    assert "apple" in {thing.id for thing in robot.world.contents("user")}
