"""What a memory keeps of the steps that it is told, and when it learns from them."""

import threading
from pathlib import Path

import pytest
from plain_search import HashedWords

from memory_node.domain.skill import FailureReason, SkillCall, StateChange
from memory_node.domain.step import StepRecord
from memory_node.lessons.config import ExperienceConfig
from memory_node.lessons.long_term import ExperienceQuery
from memory_node.memory import RobotMemory
from memory_node.memory_config import MemoryConfig
from memory_node.opening import open_memory


def fail(memory: RobotMemory) -> str:
    episode_id = memory.episodes.start("put the egg away", "place")
    put = SkillCall("PutObject", ("Egg", "Fridge"))
    memory.episodes.record(StepRecord(episode_id, 0, put, False, FailureReason.CLOSED, 1))
    return episode_id


def test_lesson_is_there_when_the_episode_has_ended(memory: RobotMemory) -> None:
    episode_id = fail(memory)
    memory.episodes.end(episode_id, False, "it would not go")
    learnt = memory.experience.ask(ExperienceQuery(task_type="place", objects=("Egg",)))
    assert [record.episode_id for record in learnt.experiences] == [episode_id]
    assert not learnt.experiences[0].success


def test_slow_lesson_is_not_waited_for_long(memory: RobotMemory, monkeypatch) -> None:
    monkeypatch.setattr("memory_node.intake.episodes._LESSON_S", 0.1)
    goes_on = threading.Event()
    monkeypatch.setattr(memory.experience, "_learn", lambda *_: goes_on.wait(60.0))
    episode_id = fail(memory)
    memory.episodes.end(episode_id, False)  # does not wait for the lesson
    assert not goes_on.is_set()
    goes_on.set()


@pytest.mark.parametrize(
    ("call", "reason", "kept"),
    [
        (SkillCall("HeatObject", ("Egg", "Microwave")), FailureReason.EXECUTION, True),
        (SkillCall("HeatObject", ("Egg", "Microwave")), FailureReason.PRECONDITION, True),
        (SkillCall("OpenObject", ("Drawer",)), FailureReason.UNREACHABLE, True),
        (SkillCall("PickupObject", ("Egg",)), FailureReason.NOT_VISIBLE, True),
        (SkillCall("OpenObject", ("Drawer",)), FailureReason.TOO_FAR, False),
        (SkillCall("ToggleOn", ("Microwave",)), FailureReason.PRECONDITION, False),
        (SkillCall("PutObject", ("Egg", "Drawer")), FailureReason.CLOSED, False),
        (SkillCall("GoToObject", ("Egg",)), FailureReason.UNREACHABLE, False),
    ],
)
def test_step_that_failed_for_no_declared_cause_is_kept(call: SkillCall, reason: FailureReason, kept: bool) -> None:
    memory = open_memory(embedder=HashedWords())
    memory.episodes.start("try it", "try", "e1")
    memory.episodes.record(StepRecord("e1", 0, call, False, reason, 1))
    tried = memory.deeds.all()
    memory.close()
    assert [(one.skill, one.reason) for one in tried] == ([(call.skill, str(reason))] if kept else [])


def carried_out(memory: RobotMemory, instruction: str, *calls: tuple[str, ...]) -> None:
    episode = memory.episodes.start(instruction)
    for index, (skill, *arguments) in enumerate(calls):
        call = SkillCall(skill, tuple(arguments))
        memory.episodes.record(StepRecord(episode, index, call, True, FailureReason.NONE, 10**9 * (1 + index)))
    memory.episodes.end(episode, True)
    assert memory.experience.wait_settled(timeout_s=10.0)


def ways(memory: RobotMemory) -> list[tuple[str, ...]]:
    return [
        way.steps for asked in ("heat the egg", "chill the egg") for way in memory.experience.ways_to(asked, most=1)
    ]


@pytest.mark.parametrize("learning", [True, False])
def test_tries_of_a_memory_that_does_not_learn_are_recalled_and_teach_nothing(learning: bool) -> None:
    memory = open_memory(MemoryConfig(experience=ExperienceConfig(learning=learning)), embed_in_background=False)
    memory.remember((StateChange("", "Microwave", 50, position=(1.0, 0.0, 0.5), source="camera"),))
    episode, call = (
        memory.episodes.start("heat the potato"),
        SkillCall("HeatObject", ("Potato", "Microwave@1.0,0.0,0.5")),
    )
    memory.episodes.record(StepRecord(episode, 0, call, False, FailureReason.EXECUTION, 10**9))
    assert [deed.skill for deed in memory.deeds.all()] == ["HeatObject"]
    assert bool(memory.lessons()) is learning
    memory.close()


def test_ways_are_told_and_none_is_added(tmp_path: Path) -> None:
    database = str(tmp_path / "memory.db")
    heated = ("PickupObject", "Potato"), ("HeatObject", "Potato", "Microwave")
    chilled = ("PickupObject", "Potato"), ("CoolObject", "Potato", "Fridge")
    for learning, calls in ((True, heated), (False, chilled)):
        config = MemoryConfig(database=database, experience=ExperienceConfig(learning=learning))
        memory = open_memory(config, embed_in_background=False)
        carried_out(memory, "heat the potato" if learning else "chill the potato", *calls)
        known = ways(memory)
        memory.close()
        assert len(known) == 1
        assert "HeatObject(the thing, Microwave)" in known[0]
    memory = open_memory(MemoryConfig(database=database), embed_in_background=False)
    assert ways(memory) == known
    assert [one.instruction for one in memory.past.episodes(10)] == ["heat the potato"]
    memory.close()


def test_order_of_skills_is_told_for_its_kind_of_task_alone(memory: RobotMemory) -> None:
    for episode in ("e1", "e2"):
        memory.episodes.start("wash the fork", "clean", episode)
        for index, skill in enumerate(("PickupObject", "CleanObject")):
            memory.episodes.record(StepRecord(episode, index, SkillCall(skill, ("Fork",)), True, FailureReason.NONE, 1))
        memory.episodes.end(episode, True)
    assert memory.experience.wait_settled(10.0)
    order = next(one.text for one in memory.experience.lessons() if one.writer == "brainmem")
    assert order in memory.context("rinse the plate", 2000).text
    assert order not in memory.context("heat the egg", 2000).text
