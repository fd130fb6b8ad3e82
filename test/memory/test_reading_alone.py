"""A memory that does not learn tells what it knows, and keeps nothing of what the robot does now."""

from pathlib import Path

import pytest

from memory_node.domain.skill import FailureReason, SkillCall, StateChange
from memory_node.domain.step import StepRecord
from memory_node.lessons.config import ExperienceConfig
from memory_node.memory import RobotMemory
from memory_node.memory_config import MemoryConfig
from memory_node.opening import open_memory


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
