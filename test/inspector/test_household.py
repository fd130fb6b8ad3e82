"""What a household asks: of what is now the scene graph decides, with one place a thing, how long ago and how sure."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("mcp")

import numpy as np
from agent_server import server_of, told, with_client
from furnished_home import SECOND_NS, START_NS, embedder
from inspected_home import serving
from mcp import Client

from memory_node.domain.geometry import Pose
from memory_node.domain.skill import FailureReason, SkillCall, StateChange
from memory_node.domain.states import ObjectState
from memory_node.domain.step import StepRecord
from memory_node.memory import RobotMemory
from memory_node.opening import MemoryConfig, open_memory
from memory_node.scene_graph.free_space import OccupancyMap

NOW_NS = START_NS + 600 * SECOND_NS


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RobotMemory]:
    """Return a home whose apple lay on the counter, then in the bowl, and lies in the garbage can."""
    database = str(tmp_path_factory.mktemp("household") / "memory.db")
    memory = open_memory(MemoryConfig(database=database), embedder=embedder(), clock=lambda: NOW_NS)
    memory.set_map(OccupancyMap(np.zeros((120, 120), np.int8), 0.05, Pose()), START_NS)

    def tell(after_s: int, object_id: str, kind: str = "", **more: Any) -> None:
        memory.remember([StateChange(object_id, kind, START_NS + after_s * SECOND_NS, source="user", **more)])

    tell(1, "", "CounterTop", position=(1.0, 1.0, 0.4))
    tell(1, "", "Fridge", position=(3.0, 1.0, 0.9))
    tell(1, "", "GarbageCan", position=(5.0, 1.0, 0.3))
    tell(1, "", "Sofa", position=(1.0, 4.0, 0.4))
    tell(1, "", "Bowl", position=(1.2, 1.0, 0.9), support_id="CounterTop", held=False)
    tell(2, "", "Apple", position=(1.0, 1.2, 0.9), support_id="CounterTop", held=False)
    tell(2, "", "Milk", support_id="Fridge", inside=True, held=False)
    tell(2, "", "Laptop", support_id="Sofa", held=False)
    for x in (2.0, 3.5, 5.0):
        tell(3, "", "Mug", position=(x, 4.0, 0.8))
    tell(4, "Mug 2", added=(ObjectState.DIRTY,))
    tell(60, "Apple 1", support_id="Bowl 1", inside=True, held=False)
    tell(120, "Apple 1", support_id="GarbageCan 1", inside=True, held=False)
    memory.edit("name_room", memory.scene().rooms[0].id, new_class="kitchen")
    memory.edit("call", "Laptop 1", new_class="my computer")
    memory.edit("relabel", memory.one_object("Mug 3").id, new_class="FloorLamp")
    memory.tell_fact("Anna likes black tea")
    episode = memory.episodes.start("put the apple into the garbage can", "", "", 1)
    apple, can = memory.one_object("Apple 1"), memory.one_object("GarbageCan 1")
    washing = SkillCall("CleanObject", ("Apple 1",))
    memory.episodes.record(StepRecord(episode, 0, washing, True, FailureReason.NONE, NOW_NS - 60 * SECOND_NS))
    memory.episodes.end(episode, True, "")
    assert apple.support_id == can.id
    yield memory
    memory.close()


def call(memory: RobotMemory, tool: str, **arguments: Any) -> Any:
    return with_client(server_of(memory, clock=lambda: NOW_NS), lambda client: told(client, tool, **arguments))


@pytest.mark.parametrize(
    ("question", "says", "not_says"),
    [
        ("where is the apple?", ["in GarbageCan 1", "ago", "% sure"], ["Bowl", "CounterTop"]),
        ("what is in the bowl?", ["nothing"], ["Apple"]),
        ("is the bowl empty?", ["nothing in Bowl 1"], ["Apple"]),
        ("is the fridge empty?", ["Milk 1"], []),
        ("where was the apple before?", ["at Bowl 1", "at CounterTop 1", "ago"], ["GarbageCan"]),
        ("what is in the fridge?", ["Milk 1"], []),
        ("which mugs are dirty?", ["Mug 2"], ["Mug 1", "Mug 3"]),
        ("how many mugs are there?", ["2"], []),
        ("is the laptop still on the sofa?", ["Yes", "Laptop 1"], []),
        ("is the apple still in the bowl?", ["No", "GarbageCan 1"], []),
        ("when did you last see my computer?", ["Laptop 1", "Sofa 1"], []),
        ("what is in the kitchen?", ["Milk 1", "Apple 1"], []),
        ("is Mug 2 clean?", ["not"], ["Yes"]),
        ("what changed today?", ["Apple 1"], []),
        ("did you wash the apple?", ["Yes"], []),
        ("who washed the apple?", ["I did, today"], []),
        ("what did you do today?", ["washed the apple"], []),
        ("what do you know about Anna?", ["black tea"], []),
        ("where did you put the apple?", ["in GarbageCan 1"], ["Bowl"]),
        ("where do I find the laptop?", ["on Sofa 1"], []),
        ("which room is the milk in?", ["in Fridge 1, in the kitchen"], []),
        ("how many laptops are there?", ["1 laptop:"], ["laptops"]),
        ("which laptops are dirty?", ["1 laptop none is known to be dirty"], ["was"]),
        ("where is the lamp?", ["Mug 3 (floor lamp)"], []),
    ],
)
def test_questions_of_a_household_are_answered(
    memory: RobotMemory, question: str, says: list[str], not_says: list[str]
) -> None:
    told = call(memory, "ask_memory", question=question)
    assert not told["abstains"], told
    assert [word for word in says if word not in told["answer"]] == [], told
    assert [word for word in not_says if word in told["answer"]] == [], told


def test_what_nobody_knows_is_said_and_abstained_from(memory: RobotMemory) -> None:
    told = call(memory, "ask_memory", question="where is the television?")
    assert told["abstains"]
    assert "no television" in told["answer"]
    told = call(memory, "ask_memory", question="is there any juice left?")
    assert (told["abstains"], told["answer"]) == (True, "I know of no juice here.")
    told = call(memory, "ask_memory", question="who won the match?")
    assert (told["abstains"], told["answer"]) == (True, None)


def test_tools_take_names_and_answer_with_names_and_nulls(memory: RobotMemory) -> None:
    apple = call(memory, "object", object_id="apple 1")
    assert (apple["support"], apple["inside"], apple["is_there"]) == ("GarbageCan 1", True, True)
    assert call(memory, "object", object_id="Sofa 1")["support_id"] is None
    assert call(memory, "object", object_id="Sofa 1")["on_or_in_it"] == ["Laptop 1"]
    assert "Milk 1" in call(memory, "contents", place="fridge")["answer"]
    assert any("Apple 1" in line for line in call(memory, "changes", since="9 min")["changes"])
    (episode,) = call(memory, "episodes")["episodes"]
    assert (episode["instruction"], episode["success"]) == ("put the apple into the garbage can", True)


def test_an_agent_takes_back_what_it_told(memory: RobotMemory) -> None:
    before = memory.hash()

    async def tell_and_undo(client: Client) -> None:
        await told(client, "remember", object_id="Mug 1", support="sofa 1")
        await told(client, "undo")

    with_client(server_of(memory), tell_and_undo)
    assert memory.hash() == before


def test_page_and_rest_are_answered_alike(memory: RobotMemory) -> None:
    with serving(memory) as client:
        answer = client.post("/api/v1/ask_memory", question="where is the apple?")
    assert answer["object_ids"] == [memory.one_object("Apple 1").id]
    assert "GarbageCan 1" in answer["answer"]


def test_scene_is_read_page_by_page(memory: RobotMemory) -> None:
    read = with_client(server_of(memory), lambda client: client.read_resource("memory://scene/1"))
    page = json.loads(read.contents[0].text)
    assert (page["page"], page["next"]) == (1, None)
    assert page["objects_in_all"] == len(page["objects"]) == len(memory.scene().objects)


def test_tools_say_what_they_may_change(memory: RobotMemory) -> None:
    listed = with_client(server_of(memory, "forget"), lambda client: client.list_tools()).tools
    tools = {tool.name: tool for tool in listed}
    assert tools["find_objects"].annotations.read_only_hint
    assert tools["forget"].annotations.destructive_hint
    assert not tools["remember"].annotations.read_only_hint
    for tool in tools.values():
        assert tool.title
        assert tool.input_schema["additionalProperties"] is False
        assert all(one.get("description") for one in tool.input_schema["properties"].values()), tool.name
