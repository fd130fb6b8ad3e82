"""Memory compiled over DDS: what a planner in another process gets at each step, and what is refused."""

import copy
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from robot_memory import msg, srv
from ros_peer import RosPeer
from running_memory import running_memory

from memory_node.context.brief_state import BriefState, Create
from memory_node.context.guidance import Compiled, CompiledStep, Delivery, Guidance, StepObservation, TakenStep
from memory_node.domain.errors import InvalidValueError
from memory_node.domain.skill import FailureReason, SkillCall
from memory_node.nodes import conversions
from memory_node.nodes.experience_client import ExperienceClient

PUT = SkillCall("PutObject", ("Egg@1,1,1", "Fridge@2,2,1"))
GOALS = ("place Egg to Fridge",)


@pytest.fixture
def memory(tmp_path: Path, peer: RosPeer) -> Iterator[None]:
    with running_memory(peer.domain_id, str(tmp_path / "memory.db")):
        yield


def test_planner_in_another_process_is_guided_step_by_step(peer: RosPeer, memory: object) -> None:
    client = ExperienceClient(peer.node, "memory", timeout_s=30.0)
    episode_id = client.start("put the egg away", "place")
    closed = TakenStep(PUT, False, FailureReason.CLOSED)
    first = client.compile(episode_id, StepObservation(GOALS, proposed=SkillCall("GoToObject", ("Fridge@2,2,1",))))
    assert first is not None
    assert first.guidance is None
    assert first.compiled.delivery is Delivery.BRIEF
    assert first.compiled.delta == (Create(section="current", text="place Egg to Fridge"),)
    taken = TakenStep(SkillCall("PickupObject", ("Egg@1,1,1",)), True)
    client.compile(episode_id, StepObservation(GOALS, taken=taken))
    client.compile(
        episode_id, StepObservation(GOALS, taken=TakenStep(SkillCall("GoToObject", ("Fridge@2,2,1",)), True))
    )
    step = client.compile(episode_id, StepObservation(GOALS, taken=closed, proposed=PUT))
    assert step is not None
    assert step.guidance is not None
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
    guidance = Guidance(PUT, "Next: it.", "y", ("k",), (SkillCall("OpenObject", ("Fridge",)),))
    step = CompiledStep(Compiled(guidance, (Create(section="facts", text="y"),), problem="none"), state, 1.5)
    response = srv.CompileContext.Response()
    conversions.compiled_to_response(step, response)
    assert conversions.compiled_from_response(response) == step
    observation = StepObservation(
        ("a", "b"),
        1,
        TakenStep(PUT, False, FailureReason.CLOSED, "robots-fridge"),
        PUT,
        {"id7": "Mug"},
        {"id7": "Mug 2"},
    )
    request = conversions.observation_to_request("e1", observation, "rules")
    assert conversions.observation_from_request(request) == observation
    latent = np.arange(6, dtype=np.float32).reshape(2, 3)
    conversions.compiled_to_response(replace(step, compiled=replace(step.compiled, latent=latent)), response)
    came = conversions.compiled_from_response(response).compiled.latent
    assert came is not None
    assert came.tolist() == latent.tolist()
    for field, wrong in (("latent_tokens", 4), ("latent_tokens", 0), ("latent", [float("nan")] * 6)):
        broken = copy.deepcopy(response)
        setattr(broken, field, wrong)
        with pytest.raises(InvalidValueError, match="latent"):
            conversions.compiled_from_response(broken)
    response.delta = "{"
    with pytest.raises(InvalidValueError, match="delta"):
        conversions.compiled_from_response(response)
