"""What a first instruction meets: no robot that is there, no memory, a person whose place is unknown."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
import rclpy
from geometry_msgs.msg import Point, Pose, PoseArray
from ros_peer import RosPeer, spun, wait_until
from running_memory import running_memory
from std_msgs.msg import Header
from test_planner_dialogue import Person, WillingRobot

from memory_node.domain.skill import StateChange
from memory_node.nodes import planner


@pytest.fixture
def planner_starts(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Return a function that starts a planner node in this process; a robot's nodes have all started by then."""
    monkeypatch.setattr(planner, "_STARTING_S", 0.0)
    with ExitStack() as running:
        yield lambda: running.enter_context(spun(planner.PlannerNode()))


def people_of(node: Any) -> list[Any]:
    return [one for one in node.memory.scene().objects if one.class_name == "User" and not one.removed]


def told_apple(memory: Any) -> None:
    memory.remember([StateChange("apple", "Apple", 0, position=(1.0, 2.0, 0.8))])


def test_question_is_answered_without_a_robot(own_peer: RosPeer, tmp_path: Path, planner_starts: Any) -> None:
    with running_memory(own_peer.domain_id, str(tmp_path / "memory.db")) as memory:
        told_apple(memory.memory)
        planner_starts()
        person = Person(own_peer)
        answered = person.says("where is the apple?")
        assert answered.success
        assert "apple" in answered.answer.lower()
        person.close()


def test_missing_robot_is_told_with_the_remedy(own_peer: RosPeer, tmp_path: Path, planner_starts: Any) -> None:
    with running_memory(own_peer.domain_id, str(tmp_path / "memory.db"), person_at="3.0,1.0") as memory:
        told_apple(memory.memory)
        planner_starts()
        person = Person(own_peer)
        ended = person.says("bring me the apple")
        assert not ended.success
        assert "execute_skill" in ended.message
        assert "skills:=true" in ended.message
        person.close()


def test_missing_memory_is_told(own_peer: RosPeer, planner_starts: Any) -> None:
    rclpy.init(domain_id=own_peer.domain_id)
    try:
        planner_starts()
        person = Person(own_peer)
        assert "no memory node" in person.says("where is the apple?").message
        person.close()
    finally:
        rclpy.try_shutdown()


def test_nothing_is_fetched_for_a_person_whose_place_is_unknown(
    own_peer: RosPeer, tmp_path: Path, planner_starts: Any
) -> None:
    robot = WillingRobot(own_peer.node)
    with running_memory(own_peer.domain_id, str(tmp_path / "memory.db")) as memory:
        told_apple(memory.memory)
        planner_starts()
        person = Person(own_peer)
        asked = person.says("bring me the apple")
        assert asked.needs_answer
        assert "where you are" in asked.question
        assert robot.called == []
        person.close()
    robot.close()


def test_topic_tells_where_people_are(own_peer: RosPeer, tmp_path: Path) -> None:
    def poses(*places: tuple[float, float], frame: str = "map") -> PoseArray:
        return PoseArray(
            header=Header(frame_id=frame), poses=[Pose(position=Point(x=float(x), y=float(y))) for x, y in places]
        )

    with running_memory(own_peer.domain_id, str(tmp_path / "memory.db")) as memory:
        own_peer.publish("people", poses((float("nan"), 0.0)))
        own_peer.publish("people", poses((9.0, 9.0), frame="odom"))
        own_peer.publish("people", poses((3.0, 1.0), (5.0, 1.0)))
        wait_until(lambda: len(people_of(memory)) == 2)
        assert sorted(one.box.center[0] for one in people_of(memory)) == pytest.approx([3.0, 5.0])
        own_peer.publish("people", poses((3.0, 4.0), (5.0, 1.0)))
        wait_until(lambda: any(one.box.center[1] == pytest.approx(4.0) for one in people_of(memory)))
        assert len(people_of(memory)) == 2


def test_place_of_a_person_must_be_two_numbers(refused: Callable[..., str], tmp_path: Path) -> None:
    told = refused("memory", "-p", f"memory:database:={tmp_path / 'memory.db'}", "-p", "memory:person_at:=kitchen")
    assert "person_at" in told
