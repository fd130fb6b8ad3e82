"""Experience over DDS: what a planner in another process is told, and what it gets when memory is not there."""

import sqlite3
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest
from ros_peer import RosPeer
from running_memory import running_memory

from memory_node.context.guidance import StepObservation, TakenStep
from memory_node.domain.skill import FailureReason, SkillCall, SkillResult
from memory_node.domain.step import StepRecord
from memory_node.nodes.experience_client import ExperienceClient
from memory_node.planner.executor import InstructionExecutor
from memory_node.planner.guided_planner import GuidedPlanner
from memory_node.planner.planner import PlannedStep, PlanningContext, PlanOutcome, PlanProgress, PlanRun, ProgressKind

PUT = SkillCall("PutObject", ("Egg", "Fridge"))


@pytest.fixture
def memory(tmp_path: Path, peer: RosPeer) -> Iterator[None]:
    with running_memory(peer.domain_id, str(tmp_path / "memory.db")):
        yield


def failed_put(episode_id: str) -> StepRecord:
    return StepRecord(episode_id, 0, PUT, False, FailureReason.CLOSED, 1_000_000_000, held_object="Egg")


def test_planner_in_another_process_is_guided_after_a_failure(peer: RosPeer, memory: object) -> None:
    client = ExperienceClient(peer.node, "memory", timeout_s=30.0)
    episode_id = client.start("put the egg away", "place")
    assert client.episode_id == episode_id != ""
    assert client.may_retry(1)
    assert not client.may_retry(3)
    client.record(failed_put(episode_id))
    failed = TakenStep(PUT, False, FailureReason.CLOSED)
    step = client.compile(episode_id, StepObservation(taken=failed, proposed=PUT))
    assert step is not None
    assert step.guidance is not None  # the egg first: the hand is empty
    assert "PutObject(Egg, Fridge) failed: closed" in step.state.text
    client.end(episode_id, None)
    other = client.start("put the cup away", "place")
    client.end(other, None)
    assert client.compile(other, StepObservation(proposed=PUT)) is None  # refused, and logged: the episode has ended


def test_what_a_service_says_is_done_is_in_the_database(peer: RosPeer, memory: object, tmp_path: Path) -> None:
    client = ExperienceClient(peer.node, "memory", timeout_s=30.0)
    database = sqlite3.connect(tmp_path / "memory.db")
    episode_id = client.start("put the egg away", "place")
    assert database.execute("SELECT ended_ns FROM episodes WHERE id = ?", (episode_id,)).fetchall() == [(0,)]
    for index in range(3):
        client.record(replace(failed_put(episode_id), index=index))
        steps = database.execute("SELECT step_index FROM steps WHERE episode_id = ?", (episode_id,)).fetchall()
        assert len(steps) == index + 1
    client.end(episode_id, False)
    assert database.execute("SELECT success FROM episodes WHERE id = ?", (episode_id,)).fetchall() == [(0,)]
    database.close()


class ForgetfulPlanner:
    """Never thinks of the door, and gives up at the first failure."""

    def run(self, instruction: str, situation: PlanningContext) -> PlanRun:
        situation.report(PlanProgress(ProgressKind.PLAN, "", ("place Egg to Fridge",)))
        result = yield PlannedStep(PUT)
        return PlanOutcome(("place",), (result.success,))


class EmptyHand:
    """A memory of nothing."""

    def held_object(self) -> None:
        return None


class ClosedFridge:
    """A robot before a fridge that is closed until it is opened."""

    def __init__(self) -> None:
        self.calls: list[str] = []

    def execute(self, call: SkillCall) -> SkillResult:
        self.calls.append(call.skill)
        done = call.skill != "PutObject" or "OpenObject" in self.calls
        return SkillResult(call, done, FailureReason.NONE if done else FailureReason.CLOSED)


def test_what_failed_in_one_episode_is_prepared_for_in_the_next(peer: RosPeer, tmp_path: Path) -> None:
    with running_memory(peer.domain_id, str(tmp_path / "memory.db")) as memory:
        client = ExperienceClient(peer.node, "memory", timeout_s=30.0)
        planner = GuidedPlanner(ForgetfulPlanner(), client, time.time_ns, guidance=client)
        days = []
        for _ in range(2):
            robot = ClosedFridge()
            InstructionExecutor(cast("Any", EmptyHand()), robot, planner).execute("put the egg away")
            days.append(robot.calls)
            assert memory.memory.experience.wait_settled(timeout_s=30.0)
    assert [calls.count("PutObject") for calls in days] == [2, 1]


def test_planner_goes_on_without_a_memory_node(peer: RosPeer) -> None:
    client = ExperienceClient(peer.node, "memory_that_nobody_started", timeout_s=0.1)
    assert client.start("put the egg away") == ""
    assert client.compile("", StepObservation(proposed=PUT)) is None
    assert client.record(failed_put("")) == ()
    client.end("", True)
    assert not client.may_retry(1)
