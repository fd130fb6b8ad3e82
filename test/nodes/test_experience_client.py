"""Experience over DDS: what a planner in another process is told step by step, refused, or lacks without memory."""

from __future__ import annotations

import copy
import sqlite3
import time
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from robot_memory import msg, srv
from ros_peer import RosPeer
from running_memory import running_memory

from memory_node.context.brief_state import BriefState, Create
from memory_node.context.guidance import Compiled, CompiledStep, Delivery, Guidance, StepObservation, TakenStep
from memory_node.domain.errors import InvalidValueError
from memory_node.domain.skill import FailureReason, SkillCall, SkillResult
from memory_node.domain.step import StepRecord
from memory_node.nodes import conversions
from memory_node.nodes.experience_client import ExperienceClient
from memory_node.planner.executor import InstructionExecutor
from memory_node.planner.guided_planner import GuidedPlanner
from memory_node.planner.planner import PlannedStep, PlanningContext, PlanOutcome, PlanProgress, PlanRun, ProgressKind

PUT = SkillCall("PutObject", ("Egg", "Fridge"))


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


PUT_THERE = SkillCall("PutObject", ("Egg@1,1,1", "Fridge@2,2,1"))
GOALS = ("place Egg to Fridge",)


def test_planner_in_another_process_is_guided_step_by_step(peer: RosPeer, memory: object) -> None:
    client = ExperienceClient(peer.node, "memory", timeout_s=30.0)
    episode_id = client.start("put the egg away", "place")
    closed = TakenStep(PUT_THERE, False, FailureReason.CLOSED)
    first = client.compile(episode_id, StepObservation(GOALS, proposed=SkillCall("GoToObject", ("Fridge@2,2,1",))))
    assert first.guidance is None
    assert first.compiled.delivery is Delivery.BRIEF
    assert first.compiled.delta == (Create(section="current", text="place Egg to Fridge"),)
    taken = TakenStep(SkillCall("PickupObject", ("Egg@1,1,1",)), True)
    client.compile(episode_id, StepObservation(GOALS, taken=taken))
    client.compile(
        episode_id, StepObservation(GOALS, taken=TakenStep(SkillCall("GoToObject", ("Fridge@2,2,1",)), True))
    )
    step = client.compile(episode_id, StepObservation(GOALS, taken=closed, proposed=PUT_THERE))
    assert step.guidance.goal == SkillCall("OpenObject", ("Fridge@2,2,1",))
    assert step.guidance.reason == "PutObject(Egg, Fridge) failed: closed"
    assert (step.state.goal, step.state.current) == ("put the egg away", "place Egg to Fridge")
    client.end(episode_id, None)
    other = client.start("wash it")
    client.compiler = "oracle"
    assert client.compile(other, StepObservation()) is None  # refused, and logged: there is none of this name


def test_requests_that_make_no_sense_are_refused(peer: RosPeer, memory: object) -> None:
    def refused(**fields: object) -> str:
        response = peer.call(srv.CompileContext, "memory/compile_context", **fields)
        assert not response.success
        return str(response.message)

    assert "not running" in refused(episode_id="nobody")
    assert "goal_index: expected 0 to 1, got 2" in refused(episode_id="e", goals=["a"], goal_index=2)
    assert "classes: expected one for each of 1" in refused(episode_id="e", references=["x"], names=["x"])
    assert "reason: expected" in refused(
        episode_id="e", step_taken=True, taken=msg.SkillCall(skill="GoToObject", arguments=["Mug"]), reason="bored"
    )
    assert "goals" in refused(episode_id="e", goals=["two\nlines"])


def test_what_is_delivered_comes_back_as_it_was() -> None:
    state = BriefState("tidy up", ("a",), "b", ("c", "d"), ("Mug is in or on Shelf",), ("x",), ("y",))
    guidance = Guidance(PUT_THERE, "Next: it.", "y", ("k",), (SkillCall("OpenObject", ("Fridge",)),))
    step = CompiledStep(Compiled(guidance, (Create(section="facts", text="y"),), problem="none"), state, 1.5)
    response = srv.CompileContext.Response()
    conversions.compiled_to_response(step, response)
    assert conversions.compiled_from_response(response) == step
    observation = StepObservation(
        ("a", "b"),
        1,
        TakenStep(PUT_THERE, False, FailureReason.CLOSED, "robots-fridge"),
        PUT_THERE,
        {"id7": "Mug"},
        {"id7": "Mug 2"},
    )
    request = conversions.observation_to_request("e1", observation, "rules")
    assert conversions.observation_from_request(request) == observation
    latent = np.arange(6, dtype=np.float32).reshape(2, 3)
    conversions.compiled_to_response(replace(step, compiled=replace(step.compiled, latent=latent)), response)
    came = conversions.compiled_from_response(response).compiled.latent
    assert came.tolist() == latent.tolist()
    for field, wrong in (("latent_tokens", 4), ("latent_tokens", 0), ("latent", [float("nan")] * 6)):
        broken = copy.deepcopy(response)
        setattr(broken, field, wrong)
        with pytest.raises(InvalidValueError, match="latent"):
            conversions.compiled_from_response(broken)
    response.delta = "{"
    with pytest.raises(InvalidValueError, match="delta"):
        conversions.compiled_from_response(response)
