from collections.abc import Callable

import pytest

from memory_node.domain.answer import FindQuery
from memory_node.domain.errors import NotFoundError
from memory_node.domain.observation import Frame
from memory_node.domain.skill import SkillCall, SkillResult, StateChange
from memory_node.domain.step import DemonstratedStep, StepRecord
from memory_node.intake.short_term_mirror import TaskObjects
from memory_node.memory import RobotMemory


def test_classes_of_running_episodes_are_pinned_until_their_end():
    pinned = []
    tasks = TaskObjects(lambda text: {word for word in text.split() if word.istitle()}, pinned.append)
    tasks.start("e1", "put the Mug on the Desk")
    tasks.touch("e1", ["Mug"])
    tasks.touch("e1", ["Fridge"])
    tasks.start("e2", "wash the Plate")
    tasks.touch("unknown", ["Sofa"])
    tasks.end("e1")
    tasks.end("e1")
    tasks.end("e2")
    assert pinned == [
        ("Desk", "Mug"),
        ("Desk", "Fridge", "Mug"),
        ("Desk", "Fridge", "Mug", "Plate"),
        ("Plate",),
        (),
    ]
    assert tasks.classes == ()


def test_episode_that_nobody_ends_is_let_go_when_there_are_too_many():
    pinned = []
    tasks = TaskObjects(lambda text: [text], pinned.append, most_episodes=2)
    for number, thing in enumerate(("Mug", "Plate", "Fork")):
        tasks.start(f"e{number}", thing)
    assert pinned[-1] == ("Fork", "Plate")


def test_objects_of_the_task_are_pinned_and_figures_told(memory: RobotMemory, see: Callable[..., Frame]) -> None:
    memory.observe(see(1, Mug=(1.0, 0.0, 0.8), Apple=(1.4, 0.4, 0.8)))
    episode_id = memory.episodes.start("put the coffee mug on the desk")
    assert memory.statistics().pinned == 1
    memory.recall(FindQuery(object_class="Mug"))
    figures = memory.diagnostics()
    assert figures["short_term.hit_ratio"] == 1.0
    assert figures["short_term.pinned"] == 1
    memory.episodes.end(episode_id, True)
    assert memory.statistics().pinned == 0


def test_episode_that_has_ended_pins_nothing_again(memory: RobotMemory, see: Callable[..., Frame]) -> None:
    memory.observe(see(1, Mug=(1.0, 0.0, 0.8)))
    result = SkillResult(SkillCall("PickupObject", ("Mug",)), True)
    step = StepRecord.of(result, "shown", 0, 10**9, result.call)
    for has_ended, pinned in ((False, 1), (True, 0), (False, 0), (True, 0)):
        memory.episodes.take_demonstrated(DemonstratedStep("take the mug", step, has_ended=has_ended))
        assert memory.statistics().pinned == pinned
    memory.episodes.start("take the mug", episode_id="shown")
    assert memory.statistics().pinned == 0


def test_demonstrated_step_counts_where_its_change_cannot_be_taken_over(
    memory: RobotMemory, see: Callable[..., Frame]
) -> None:
    memory.observe(see(1, Mug=(1.0, 0.0, 0.8)))
    result = SkillResult(SkillCall("PickupObject", ("Mug",)), True)
    step = StepRecord.of(result, "shown", 0, 10**9, result.call)
    strange = StateChange("gone", "Mug", 10**9, source="user")
    with pytest.raises(NotFoundError):
        memory.episodes.take_demonstrated(DemonstratedStep("take the mug", step, (strange,)))
    memory.episodes.take_demonstrated(DemonstratedStep("take the mug", step, has_ended=True))
    assert [(deed.episode_id, deed.skill) for deed in memory.deeds.all()] == [("shown", "PickupObject")]
