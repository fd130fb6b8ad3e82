"""An attempt that failed has taught its lesson when the next one begins."""

import threading

from memory_node.domain.skill import FailureReason, SkillCall
from memory_node.domain.step import StepRecord
from memory_node.lessons.long_term import ExperienceQuery
from memory_node.memory import RobotMemory


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
    monkeypatch.setattr(memory.experience._learner, "_learn", lambda *_: goes_on.wait(60.0))
    episode_id = fail(memory)
    memory.episodes.end(episode_id, False)  # does not wait for the lesson
    assert not goes_on.is_set()
    goes_on.set()
