"""Agents use memory by the Model Context Protocol's own client: in this process, over a pipe and over HTTP."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("mcp")

from agent_server import server_of, with_client
from mcp import Client, StdioServerParameters
from mcp_types import TextContent
from running_memory import running_memory

from memory_node.catalogue.label_space import load_catalogue
from memory_node.domain.geometry import Pose
from memory_node.domain.skill import FailureReason, SkillCall, StateChange
from memory_node.domain.step import StepRecord
from memory_node.inspector.access import Role
from memory_node.memory import RobotMemory
from memory_node.nodes.run import activate_ros
from memory_node.opening import MemoryConfig, open_memory
from memory_node.scene_graph.free_space import OccupancyMap

KINDS = load_catalogue()
_INITIALIZE = (
    b'{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18", '
    b'"capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}}\n'
)
READING = {
    *("find_objects", "recall_objects", "locate_object", "ask_memory", "get_context", "scene_text"),
    *("contents", "object", "changes", "episodes", "rank_search_areas"),
}
EDITING = {
    *("remember", "move_object", "tell_fact", "retract_fact", "delete_document", "edit_object"),
    *("undo", "confirm_relocalization"),
}


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a memory in which an apple lies on a table."""
    return stored(tmp_path_factory.mktemp("agents") / "memory.db")


def stored(path: Path) -> Path:
    """Keep a memory in which an apple lies on a table, by a clock that began at zero."""
    memory = open_memory(MemoryConfig(database=str(path)))
    memory.set_map(OccupancyMap(np.zeros((80, 80), np.int8), 0.05, Pose()), 1)
    memory.remember([StateChange("table-1", "DiningTable", 1_000, position=(2.0, 1.0, 0.4))])
    (table,) = memory.remember([StateChange("table-1", "DiningTable", 2_000, position=(2.0, 1.0, 0.4))])
    memory.remember([StateChange("apple-1", "Apple", 3_000, support_id=table, held=False, position=(2.0, 1.0, 0.8))])
    memory.close()
    return path


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RobotMemory]:
    """Yield the same, open: no other process may have its file meanwhile."""
    opened = open_memory(MemoryConfig(database=str(stored(tmp_path_factory.mktemp("open") / "memory.db"))))
    yield opened
    opened.close()


def call(server: Any, tool: str, **arguments: Any) -> Any:
    (answer,) = calls(server, (tool, arguments))
    return answer


def calls(server: Any, *asked: tuple[str, dict[str, Any]]) -> list[Any]:
    """Return the answers of tools that one client calls."""

    async def called(client: Client) -> list[Any]:
        return [await client.call_tool(tool, arguments) for tool, arguments in asked]

    return with_client(server, called)


@pytest.mark.parametrize(
    ("may", "tools"),
    [
        ("read", READING),
        ("edit", READING | EDITING),
        ("forget", READING | EDITING | {"forget"}),
    ],
)
def test_role_decides_which_tools_there_are(memory: RobotMemory, may: Role, tools: set[str]) -> None:
    listed = with_client(server_of(memory, may), lambda client: client.list_tools()).tools
    assert {tool.name for tool in listed} == tools
    assert all(tool.description and tool.input_schema for tool in listed)


def test_schemas_are_plain_enough_for_every_client(memory: RobotMemory) -> None:
    for tool in with_client(server_of(memory, "forget"), lambda client: client.list_tools()).tools:
        for schema in (tool.input_schema, tool.output_schema):
            assert not [word for word in ("$ref", "$defs", "anyOf", "oneOf", "allOf") if word in json.dumps(schema)]
        assert tool.input_schema["type"] == "object"
    listed = with_client(server_of(memory), lambda client: client.list_tools()).tools
    (find,) = (tool for tool in listed if tool.name == "find_objects")
    states = find.input_schema["properties"]["states"]
    assert states["type"] == "array"
    assert "cleaned" in states["items"]["enum"]
    assert find.output_schema["properties"]["objects"]["items"]["properties"]["position_m"]["type"] == "array"


def test_relocalisation_that_an_answer_waits_for_can_be_confirmed(tmp_path: Path) -> None:
    opened = open_memory(MemoryConfig(database=str(tmp_path / "memory.db")))
    opened.set_map(OccupancyMap(np.zeros((80, 80), np.int8), 0.05, Pose()), 1)
    opened.remember([StateChange("table-1", "DiningTable", 1_000, position=(2.0, 1.0, 0.4))])
    opened.close()
    again = open_memory(MemoryConfig(database=str(tmp_path / "memory.db")))
    again.set_map(OccupancyMap(np.zeros((60, 90), np.int8), 0.05, Pose.planar(3.0, 1.0, 0.4)), 2)
    server = server_of(again)
    try:
        found = call(server, "find_objects", text="DiningTable").structured_content["objects"][0]
        assert (found["status"], again.scene().frame_verified) == ("frame_not_verified", False)
        assert "confirm_relocalization" in found["explanation"]
        assert not call(server, "confirm_relocalization").is_error
        found = call(server, "find_objects", text="DiningTable").structured_content["objects"][0]
        assert (found["status"], again.scene().frame_verified) == ("ok", True)
    finally:
        again.close()


@pytest.mark.parametrize("text", ["table", "the table", "dining table", "DiningTable", "Dining table"])
def test_name_is_found_as_it_is_said_or_spelt(memory: RobotMemory, text: str) -> None:
    found = call(server_of(memory), "find_objects", text=text).structured_content
    assert found["objects"][0]["object_class"] == "DiningTable"


def test_things_are_found_located_and_told(memory: RobotMemory) -> None:
    server = server_of(memory)
    found = call(server, "find_objects", text="the apple").structured_content
    assert [thing["object_class"] for thing in found["objects"]] == ["Apple"]
    assert found["objects"][0]["position_m"] == pytest.approx([2.0, 1.0, 0.8], abs=0.3)
    located = call(server, "locate_object", text="Apple").structured_content
    assert located["objects"][0]["object_id"] == found["objects"][0]["object_id"]
    nowhere = call(server, "locate_object", text="violin").structured_content
    assert (nowhere["objects"], len(nowhere["areas"]) > 0) == ([], True)
    assert "apple" in call(server, "scene_text").content[0].text
    assert "apple" in call(server, "get_context", instruction="bring me the apple").content[0].text.lower()


def test_what_an_agent_tells_is_remembered(memory: RobotMemory) -> None:
    server = server_of(memory)
    apple = call(server, "find_objects", text="Apple").structured_content["objects"][0]["object_id"]
    told = call(server, "remember", object_class="Apple", object_id=apple, added=["cleaned"])
    assert told.structured_content["ids"] == [apple]
    clean = call(server, "find_objects", text="Apple", states=["cleaned"]).structured_content
    assert [thing["object_id"] for thing in clean["objects"]] == [apple]
    assert not call(server, "remember", object_class="Apple", object_id=apple, held=True).is_error
    assert memory.held_object().object_id == apple
    assert not call(server, "remember", object_class="Apple", object_id=apple, support="dining table").is_error
    assert memory.held_object() is None
    assert call(server, "object", object_id=apple).structured_content["support"] == "DiningTable 1"


def test_episodes_are_resources(memory: RobotMemory) -> None:
    episode = memory.episodes.start("bring me the apple", "bring")
    step = SkillCall("PickupObject", ("Apple",))
    memory.episodes.record(StepRecord(episode, 0, step, True, FailureReason.NONE, 9_000, room="kitchen"))
    memory.episodes.end(episode, True)
    memory.commit()
    server = server_of(memory)

    def read(address: str) -> Any:
        return json.loads(with_client(server, lambda client: client.read_resource(address)).contents[0].text)

    assert [(one["instruction"], one["success"]) for one in read("memory://episodes")["episodes"]] == [
        ("bring me the apple", True)
    ]
    assert [one["action"] for one in read(f"memory://episodes/{episode}")] == ["PickupObject(Apple)"]


def test_forgetting_needs_its_role(memory: RobotMemory) -> None:
    assert call(server_of(memory, "edit"), "forget", object_id="x").is_error
    unknown = call(server_of(memory, "forget"), "forget", object_id="apple")
    assert unknown.is_error
    assert "known: Apple 1 (" in unknown.content[0].text
    (mug,) = memory.remember([StateChange("mug-9", "Mug", 5_000, position=(0.5, 0.5, 0.8))])
    assert call(server_of(memory, "forget"), "forget", object_id=mug).structured_content["ids"] == [mug]
    assert mug not in {found.id for found in memory.scene().objects}


@pytest.mark.parametrize(
    ("tool", "arguments", "said"),
    [
        ("find_objects", {"text": "x" * 20_000}, "4000"),
        ("find_objects", {"text": "apple", "k": -1}, "greater than or equal to 0"),
        ("remember", {"object_class": "Apple", "added": ["on fire"]}, "added"),
        ("remember", {"object_class": "Apple", "position": [1.0, 2.0]}, "position"),
        ("remember", {"object_class": "Apple", "held": True, "support": "table"}, "got both"),
        ("remember", {"object_class": "Apple", "position": [1e300, 0.0, 0.0]}, "position"),
        ("launch_rocket", {}, "launch_rocket"),
        ("find_objects", {"text": "apple", "limit": 3}, "limit: no such argument"),
        ("remember", {"object_id": "apple of nobody", "object_class": "Apple", "added": ["sliced"]}, "Apple 1"),
        ("remember", {"object_class": "Zebra", "added": ["broken"]}, "Zebra"),
        ("remember", {"object_class": "Apple", "support": "Wardrobe"}, "Wardrobe"),
        ("edit_object", {"operation": "split", "object_id": "Apple 1"}, "position"),
        ("contents", {"place": "spaceship"}, "spaceship"),
        ("changes", {"since": "when I was young"}, "90 min"),
        ("object", {"object_id": "apple"}, "Apple"),
    ],
)
def test_bad_calls_are_told_and_change_nothing(memory: RobotMemory, tool: str, arguments: Any, said: str) -> None:
    before = memory.hash()
    answer = call(server_of(memory), tool, **arguments)
    assert answer.is_error
    assert said in answer.content[0].text
    assert "\n" not in answer.content[0].text
    assert memory.hash() == before


def test_scene_is_a_resource_and_a_prompt_says_how_to_use_it(memory: RobotMemory) -> None:
    server = server_of(memory)
    scene = json.loads(with_client(server, lambda client: client.read_resource("memory://scene")).contents[0].text)
    assert {"Apple", "DiningTable"} <= {found["class"] for found in scene["objects"]}
    asked = with_client(server, lambda client: client.get_prompt("carry_out", {"instruction": "bring me the apple"}))
    content = asked.messages[0].content
    assert isinstance(content, TextContent)
    assert "bring me the apple" in content.text


def test_command_serves_a_store_over_a_pipe(tmp_path: Path) -> None:
    database = stored(tmp_path / "memory.db")
    pipe = StdioServerParameters(
        command=sys.executable, args=["-m", "memory_node.cli", "mcp", "--database", str(database), "--may", "read"]
    )
    found, told = calls(pipe, ("find_objects", {"text": "apple"}), ("ask_memory", {"question": "where is the apple?"}))
    found = found.structured_content
    assert [thing["object_class"] for thing in found["objects"]] == ["Apple"]
    # No robot has to be localised for it, and its clock, which began at zero, counts the ages.
    assert found["status"] == "ok"
    assert found["objects"][0]["age_s"] < 60.0
    assert "on DiningTable 1, in room 1 (seen " in told.structured_content["answer"]


def test_command_ends_on_ctrl_c_while_nobody_writes(database: Path) -> None:
    words = [sys.executable, "-m", "memory_node.cli", "mcp", "--database", str(database)]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as server:
        server.stdin.write(_INITIALIZE)
        server.stdin.flush()
        assert b"serverInfo" in server.stdout.readline()
        server.send_signal(signal.SIGINT)
        assert server.wait(10.0) == 130
        assert b"Traceback" not in server.stderr.read()


def test_command_serves_a_store_over_http(database: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "memory_node.cli", "mcp", "--database", str(database), "--http", str(port)]
    server = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 60.0
        while time.monotonic() < deadline:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.1)
        found = call(f"http://127.0.0.1:{port}/mcp", "locate_object", text="apple").structured_content
        assert found["objects"][0]["object_class"] == "Apple"
    finally:
        server.terminate()
        assert server.wait(20.0) is not None


def test_command_serves_the_memory_of_a_running_node(domain_id: int, tmp_path: Path) -> None:
    activate_ros()
    with running_memory(domain_id, str(tmp_path / "memory.db")):
        pipe = StdioServerParameters(
            command=sys.executable,
            args=["-m", "memory_node.cli", "mcp", "--domain-id", str(domain_id)],
            env={**os.environ},
        )
        mug = {"object_class": "Mug", "position": [1.0, 1.0, 0.8]}
        told, found = calls(pipe, ("remember", mug), ("find_objects", {"text": "mug"}))
        assert not told.is_error
        assert [one["object_id"] for one in found.structured_content["objects"]] == told.structured_content["ids"]
