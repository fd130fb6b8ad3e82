"""The inspector over a running memory node: what people see and mend goes through its services and topics."""

import argparse
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

pytest.importorskip("fastapi")

from inspected_home import Client, serving
from running_memory import running_memory

from memory_node.context.guidance import StepObservation
from memory_node.domain.skill import FailureReason, SkillCall, StateChange
from memory_node.domain.step import EpisodeAccount, ModelCost, StepRecord
from memory_node.inspector import opened_memory
from memory_node.inspector.scene_rows import timeline
from memory_node.memory import RobotMemory
from memory_node.nodes.run import activate_ros

SECOND_NS = 1_000_000_000
JPEG = b"\xff\xd8\xff\xe0 not much of a picture"


@pytest.fixture(scope="module")
def node(domain_id: int, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Any, Client]]:
    activate_ros()
    from memory_node.nodes.connected_memory import inspected

    database = tmp_path_factory.mktemp("inspected") / "memory.db"
    with (
        running_memory(domain_id, str(database), publish_period_s=0.1) as node,
        inspected("memory", domain_id) as (memory, views),
        serving(memory, views=views) as client,
    ):
        yield node, client


@pytest.fixture
def memory(node: tuple[Any, Client]) -> RobotMemory:
    return node[0].memory


@pytest.fixture
def client(node: tuple[Any, Client]) -> Client:
    return node[1]


def until(holds: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + 10.0
    while not holds() and time.monotonic() < deadline:
        time.sleep(0.05)
    return holds()


def classes(client: Client) -> dict[str, str]:
    return {one["id"]: one["class"] for one in client.get("/api/v1/scene_graph")["objects"]}


def test_edits_reach_the_node_and_are_undone(memory: RobotMemory, client: Client) -> None:
    (mug,) = client.post("/api/v1/remember", object_class="Mug", position=[1.0, 1.0, 0.8])["ids"]
    edit = client.post("/api/v1/edit_object", operation="relabel", object_id=mug, new_class="Cup")
    assert {one.id: one.class_name for one in memory.scene().objects}[mug] == "Cup"
    assert until(lambda: classes(client)[mug] == "Cup")
    client.post(f"/api/v1/edits/{edit['id']}/undo")
    assert {one.id: one.class_name for one in memory.scene().objects}[mug] == "Mug"
    found = client.post("/api/v1/find_objects", text="mug")["objects"]
    assert [one["object_id"] for one in found] == [mug]
    assert client.get(f"/api/v1/objects/{mug}")["by"] == "user"


def test_facts_go_through_the_services(client: Client) -> None:
    client.post("/api/v1/tell_fact", text="Anna likes black tea")
    assert "black tea" in client.post("/api/v1/ask_memory", question="What does Anna like?")["answer"]
    assert any("tea" in one["text"] for one in client.get("/api/v1/knowledge?concept=black+tea"))
    context = client.post("/api/v1/get_context", instruction="bring me the mug")
    assert context["tokens"] == sum(section["tokens"] for section in context["sections"])
    tight = client.post("/api/v1/get_context", instruction="bring me the mug", token_budget=50)
    assert sum(section["cut_tokens"] for section in tight["sections"]) > 0


def test_short_term_memory_comes_by_its_topics(memory: RobotMemory, client: Client) -> None:
    (bowl,) = memory.remember([StateChange("bowl", "Bowl", 0, position=(2.0, 1.0, 0.8), held=False)])
    assert until(lambda: client.ask("GET", "/api/v1/cache")[0] == 200)
    assert until(lambda: bowl in {unit["id"] for unit in client.get("/api/v1/cache")["units"]})
    assert all(unit["segment"] for unit in client.get("/api/v1/cache")["units"])
    assert until(lambda: client.get("/api/v1/cache")["figures"]["units"] > 0)
    assert until(lambda: b"robot_memory_short_term_capacity" in client.get("/metrics"))
    assert client.ask("GET", f"/api/v1/objects/{bowl}/crop")[0] == 404


def test_earlier_episodes_and_their_lessons_are_told(memory: RobotMemory, client: Client) -> None:
    for attempt in ("one", "two"):
        memory.episodes.start("clean the mug", "clean", f"episode-{attempt}")
        for index, skill in enumerate(("ToggleOn", "ToggleOff")):
            call = SkillCall(skill, ("Faucet",))
            memory.episodes.record(StepRecord(f"episode-{attempt}", index, call, True, FailureReason.NONE, 0))
        memory.episodes.end(
            f"episode-{attempt}", attempt == "two", "", EpisodeAccount(ModelCost(tokens_in=900, replies=2, model_s=1.5))
        )
    memory.commit()
    told = client.get("/api/v1/episodes?newest=2")
    assert told["told"]
    assert [(one["id"], one["success"]) for one in told["episodes"]] == [("episode-two", True), ("episode-one", False)]
    told = client.get("/api/v1/episodes/episode-one")
    assert [step["action"] for step in told["steps"]][:1] == ["ToggleOn(Faucet)"]
    assert (told["cost"]["tokens_in"], told["cost"]["replies"], told["cost"]["model_s"]) == (900, 2, 1.5)
    known = {one.text for one in memory.experience.lessons() if "episode-one" in one.episodes}
    assert {one["text"] for one in told["guidelines"]} == known
    assert client.ask("GET", "/api/v1/episodes/nobody")[0] == 404


def test_prompts_are_told_as_a_planner_was_sent_them(memory: RobotMemory, client: Client) -> None:
    memory.episodes.start("bring me the mug", "bring", "episode-mug")
    sent = client.post("/api/v1/get_context", instruction="the mug", token_budget=50)
    call = SkillCall("GoToObject", ("Mug",))
    memory.episodes.record(StepRecord("episode-mug", 0, call, True, FailureReason.NONE, 0), sent["context_id"])
    memory.commit()
    (told,) = client.get("/api/v1/episodes/episode-mug")["prompts"]
    assert {name: told[name] for name in sent} == sent
    assert (told["instruction"], told["steps"]) == ("the mug", [0])
    memory.episodes.end("episode-mug", True)


def test_lessons_of_a_context_that_a_step_was_chosen_by_are_used(memory: RobotMemory, client: Client) -> None:
    call = SkillCall("PickupObject", ("Fork",))
    memory.episodes.start("put the fork away", "place", "episode-fork")
    for index in range(3):
        memory.episodes.record(StepRecord("episode-fork", index, call, False, FailureReason.EXECUTION, index))
    memory.episodes.end("episode-fork", False)
    assert memory.experience.wait_settled(60.0)
    memory.episodes.start("bring me the fork", "bring", "episode-next")
    sent = client.post("/api/v1/get_context", instruction="bring me the fork")
    memory.episodes.record(StepRecord("episode-next", 0, call, True, FailureReason.NONE, 9), sent["context_id"])
    memory.commit()
    used = client.get("/api/v1/episodes/episode-next")["used"]
    assert "Fork" in "".join(one["text"] for one in used)
    memory.episodes.end("episode-next", True)


def test_episode_costs_a_node_one_answer(memory: RobotMemory, client: Client) -> None:
    memory.episodes.start("clean the mug", "clean", "episode-once")
    call = SkillCall("ToggleOn", ("Faucet",))
    memory.episodes.record(StepRecord("episode-once", 0, call, True, FailureReason.NONE, 0))
    memory.commit()
    asked: list[str] = []
    steps_of = memory.past._store.steps
    memory.past._store.steps = lambda episode_id: (asked.append(episode_id), steps_of(episode_id))[1]
    try:
        client.get("/api/v1/episodes/episode-once")
    finally:
        del memory.past._store.steps
    assert asked == ["episode-once"]
    memory.episodes.end("episode-once", False)


def test_guidance_of_the_compiler_is_told_by_step(memory: RobotMemory, client: Client) -> None:
    memory.remember([StateChange("egg", "Egg", 0, position=(2.0, 0.0, 0.9), held=False)])
    memory.episodes.start("put the egg in the fridge", "place", "episode-egg")
    put = SkillCall("PutObject", ("Egg@2.000,0.000,0.900", "Fridge@3.000,0.000,0.800"))
    memory.guidance.compile("episode-egg", StepObservation(("place Egg to Fridge",), proposed=put))
    memory.episodes.record(StepRecord("episode-egg", 0, put, False, FailureReason.TOO_FAR, 0))
    memory.commit()
    told = client.get("/api/v1/episodes/episode-egg")
    assert [one["delivery"] for one in told["compiled"]] == ["hybrid"]
    assert told["compiled"][0]["guidance"].startswith("Next: GoToObject(Egg)")
    assert told["steps"][0]["warnings"]
    memory.episodes.end("episode-egg", False)


def test_earlier_places_of_an_object_are_told(client: Client) -> None:
    (cup,) = client.post("/api/v1/remember", object_class="Cup", position=[3.0, 1.0, 0.8])["ids"]
    client.post("/api/v1/move_object", object_id=cup, position=[1.0, 3.0, 0.8])
    (place,) = client.get(f"/api/v1/objects/{cup}")["history"]
    assert place["at"][:2] == [3.0, 1.0]


def test_refusals_of_the_node_are_told(client: Client) -> None:
    (pan,) = client.post("/api/v1/remember", object_class="Pan", position=[1.0, 2.0, 0.8])["ids"]
    status, told = client.ask("POST", "/api/v1/edit_object", {"operation": "restore", "object_id": pan})
    assert status == 503
    assert "not removed" in told["message"]


def test_timeline_tells_moves_as_over_a_file(memory: RobotMemory, client: Client) -> None:
    (bowl,) = memory.remember([StateChange("bowl", "Bowl", 10 * SECOND_NS, position=(2.0, 1.0, 0.8), held=False)])
    memory.remember([StateChange(bowl, "Bowl", 40 * SECOND_NS, position=(-2.0, 1.0, 0.8), held=False)])
    memory.remember([StateChange(bowl, "Bowl", 90 * SECOND_NS, position=(2.0, -1.0, 0.8), held=False)])
    told = client.get("/api/v1/timeline")
    objects = memory.scene(removed=True).objects
    assert sum(len(found.history) for found in objects) >= 2
    assert told == timeline(objects, [place for found in objects for place in found.history])
    assert len(told["moments"]) >= 3


def test_now_is_that_of_the_clock_that_is_played(node: tuple[Any, Client], domain_id: int) -> None:
    from rosgraph_msgs.msg import Clock

    from memory_node.nodes import conversions

    options = argparse.ArgumentParser()
    opened_memory.add_arguments(options)
    with opened_memory.opened(options.parse_args(["--domain-id", str(domain_id)])) as found:
        publisher = node[0].create_publisher(Clock, "/clock", 10)
        at_ns = found.clock() + 3600 * SECOND_NS

        def is_told() -> bool:
            publisher.publish(Clock(clock=conversions.stamp_to_msg(at_ns)))
            return found.clock() == at_ns

        assert until(is_told)


def test_newest_facts_are_told_without_a_concept(client: Client) -> None:
    for text in ("Uma likes figs", "Uma is allergic to eggs"):
        client.post("/api/v1/tell_fact", text=text, teller="Ben")
    newest = client.get("/api/v1/knowledge?k=2")
    assert [(one["text"], one["teller"]) for one in newest] == [
        ("Uma is allergic to eggs", "Ben"),
        ("Uma likes figs", "Ben"),
    ]


def test_what_the_planner_said_is_told_with_the_episode(node: tuple[Any, Client], client: Client) -> None:
    from memory_node.nodes.experience_client import ExperienceClient

    experience = ExperienceClient(node[0], "memory")
    episode = experience.start("bring Uma an egg")
    experience.end(episode, True, "", EpisodeAccount(notes=("Uma is allergic to eggs.",)))
    assert client.get(f"/api/v1/episodes/{episode}")["notes"] == ["Uma is allergic to eggs."]
