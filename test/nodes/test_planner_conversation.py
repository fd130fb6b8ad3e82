"""A conversation with the planner over DDS goes on from one instruction to the next, with either planner."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from free_domain import free_domain
from ros_peer import RosPeer, spun
from running_memory import running_memory
from test_planner_dialogue import Person, WillingRobot

from memory_node.domain.geometry import Pose
from memory_node.nodes.planner import PlannerNode
from memory_node.scene_graph.free_space import OccupancyMap


def _plan(kind: str, words: str, *calls: tuple[str, str], place: str = "") -> str:
    """Return a whole plan as a language model writes it."""
    goal = {"kind": kind, "thing": "Apple", "words": words} | ({"place": place} if place else {})
    goal |= {"sliced": True} if words.startswith("put it") else {}
    arguments = [{"target_class" if skill == "Explore" else "object": name} for skill, name in calls]
    steps = [{"name": call[0], "arguments": given} for call, given in zip(calls, arguments)]
    end = {"name": "done", "arguments": {"summary": "done"}}
    return json.dumps({"calls": [{"name": "set_goals", "arguments": {"goals": [goal]}}, *steps, end]})


REPLIES = [
    _plan("place", "put the apple on the plate", ("Explore", "Apple"), ("PickupObject", "Apple"), place="Plate"),
    _plan("clean", "wash the apple", ("Explore", "SinkBasin")),
    _plan("slice", "now slice it", ("Explore", "Knife")),
    _plan("place", "put it on the plate I used before", ("Explore", "Plate"), place="Plate"),
]


@contextmanager
def talking_to(peer: RosPeer) -> Iterator[Callable[[str], list[str]]]:
    """Yield what says something and returns the goals that the planner announces, or its question."""
    with spun(PlannerNode()):
        person = Person(peer)

        def goals_of(instruction: str) -> list[str]:
            result = person.says(instruction)
            return [result.question] if result.needs_answer else person.plan

        yield goals_of
        person.close()


@pytest.mark.parametrize("planner", ["offline", "llm"])
def test_what_was_spoken_of_and_held_goes_on_also_in_a_planner_that_starts_anew(
    planner: str, tmp_path: Path, endpoint: Callable[..., Any]
) -> None:
    server = endpoint(*REPLIES)
    given: dict[str, Any] = {
        "planner": planner,
        "session_file": tmp_path / "session.json",
        "attempts": 1,
        "compiler": "none",
    }
    asked = {"base_url": server.url, "model": "m", "mode": "plan", "max_replans": 0, "max_repairs": 0, "retries": 0}
    experts = ("max_replans", "max_repairs", "retries")
    given |= {f"{'expert.' if name in experts else ''}llm.{name}": value for name, value in asked.items()}
    peer = RosPeer(free_domain())
    robot = WillingRobot(peer.node)
    beside = {f"planner:{name}": value for name, value in given.items()}
    with running_memory(peer.domain_id, str(tmp_path / "memory.db"), beside=beside) as memory:
        # The home is known again by its areas; in another one a new conversation begins.
        memory.memory.set_map(OccupancyMap(np.zeros((40, 40), np.int8), 0.1, Pose.planar(0.0, 0.0, 0.0)), 1)
        with talking_to(peer) as goals_of:
            assert goals_of("put the apple on the plate") == ["place Apple to Plate"]
            assert goals_of("wash the apple") == ["clean Apple"]
            assert goals_of("now slice it") == ["slice Apple"]
        with talking_to(peer) as goals_of:
            meant = "place all sliced Apple to Plate" if planner == "offline" else "place sliced Apple to Plate"
            assert goals_of("put it on the plate I used before") == [meant]
            if planner == "offline":
                assert goals_of("thanks, that will be all") == ["stop"]
                (question,) = goals_of("wash it")
                assert question.endswith("?")
    robot.close()
    peer.close()
    if planner == "llm":
        assert len(server.requests) == len(REPLIES)
        told = [request["messages"][-1]["content"] for request in server.requests]
        held = [text.partition("# The robot")[2].partition("# Instruction")[0] for text in told]
        assert "Apple" not in held[0]
        assert "Apple" in held[1]
        assert "person: now slice it" in told[3], "also in a planner that started anew"
        assert [call.partition("(")[0] for call in robot.called] == ["Explore", "PickupObject", *["Explore"] * 3]
