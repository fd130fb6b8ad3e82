"""What the writers leave in the bank: with evidence, counted by use, taken back, undone, given up when it is untrue."""

import threading
from collections.abc import Iterator

import pytest

from memory_node.catalogue.label_space import load_catalogue
from memory_node.domain.ports import TextEmbedder
from memory_node.domain.skill import SkillCall
from memory_node.lessons.bank import LessonBank
from memory_node.lessons.config import BankLimits, ExperienceConfig
from memory_node.lessons.experience import Experience
from memory_node.lessons.lesson import ExperienceLog, LessonKind
from memory_node.lessons.long_term import ExperienceQuery
from memory_node.lessons.optimizer.attempt import Candidate, Proposal
from memory_node.lessons.optimizer.curator import Curator
from memory_node.lessons.optimizer.rules import RulesOptimizer
from memory_node.lessons.optimizer.vetting import Vetting

TASK = "put the mug in the cabinet"


class Says:
    """An optimizer that says what it was told to say, of one episode after the other."""

    name, is_quick = "test", True

    def __init__(self, *candidates: Candidate | None) -> None:
        self._left = list(candidates)

    def propose(self, attempt, shown) -> Proposal:
        return Proposal(self._left.pop(0) if self._left else None)


def experience_of(embedder, optimizer=None, **limits) -> Experience:
    bank = LessonBank(embedder, BankLimits(**limits))
    kinds = load_catalogue()
    curator = Curator(bank, optimizer or RulesOptimizer(), Vetting(kinds))
    config = ExperienceConfig(parts=frozenset({"semantic"}))
    return Experience(config, ExperienceLog(), lambda: 0, kinds=kinds, curator=curator)


def lived(experience: Experience, *steps, success: bool = True, episode: str = "e1", given=()) -> None:
    experience.start(TASK, "place", episode)
    for one in steps:
        experience.record(one)
    experience.note_given(given, episode)
    experience.end(episode, success)
    assert experience.wait_settled(10.0)


@pytest.fixture
def experience(word_embedder: TextEmbedder) -> Iterator[Experience]:
    made = experience_of(word_embedder)
    yield made
    made.close()


def guided(experience: Experience, instruction: str = TASK) -> set[str]:
    return {one.text for one in experience.ask(ExperienceQuery(instruction=instruction)).lessons}


def found_in_the_drawer(step):
    yield step("OpenObject", "Drawer")
    yield step("PickupObject", "Mug", relations=("Mug in Drawer",))
    yield step("PutObject", "Mug", "Cabinet")


def test_episode_leaves_a_lesson_that_a_planner_with_a_related_task_is_given(experience, step) -> None:
    lived(experience, *found_in_the_drawer(step))
    (lesson,) = experience.lessons()
    assert lesson.kind is LessonKind.WHERE
    assert "Look first at: Drawer." in lesson.text
    assert lesson.episodes == ("e1",)
    assert guided(experience, "put the cup in the cabinet") == {lesson.text}
    assert guided(experience, "water all flowers now") == set()


def test_what_every_planner_knows_is_no_lesson(experience, step) -> None:
    lived(experience, step("PickupObject", "Mug"), step("PutObject", "Mug", "Cabinet"))
    assert experience.lessons() == ()


def test_declared_precondition_is_no_lesson(experience, step) -> None:
    steps = [step("OpenObject", "Cabinet", fails="too_far"), step("GoToObject", "Cabinet")]
    lived(experience, *steps, step("OpenObject", "Cabinet"))
    assert experience.lessons() == ()


def test_thing_is_no_place_of_itself(experience, step) -> None:
    seen = step("GoToObject", "Mug", relations=("Mug on Shelf",))
    lived(experience, seen, step("PickupObject", "Mug"), step("PutObject", "Mug", "Cabinet"))
    (lesson,) = experience.lessons()
    assert "Shelf" in lesson.text
    assert "at: Mug" not in lesson.text


def test_what_can_be_carried_is_no_place_to_look_at(experience, step) -> None:
    there = [step("GoToObject", "Pan"), step("GoToObject", "Shelf")]
    lived(experience, *there, *found_in_the_drawer(step))
    (lesson,) = experience.lessons()
    assert "Seldom at: Shelf." in lesson.text
    assert "Pan" not in lesson.text


def test_one_failure_of_a_declared_cause_leaves_no_stored_lesson_and_another_one(experience, step) -> None:
    lived(experience, step("PickupObject", "Mug"), step("PutObject", "Mug", "Cabinet", fails="closed"), success=False)
    assert experience.lessons() == ()


def test_forgotten_episode_takes_its_lesson_with_it(experience, step) -> None:
    lived(experience, *found_in_the_drawer(step))
    experience.forget("e1")
    assert experience.lessons() == ()
    assert guided(experience) == set()


def test_lesson_that_tasks_fail_with_is_withdrawn(word_embedder, step) -> None:
    experience = experience_of(word_embedder, Says(None, None, None, Candidate("Take the mug.")), least_trials=3)
    for number in range(4):
        lived(experience, step("GoToObject", "Mug", episode=f"e{number}"), episode=f"e{number}")
    (lesson,) = experience.lessons()
    assert guided(experience) == {"Take the mug."}
    for number in range(4, 7):
        one = step("GoToObject", "Mug", episode=f"e{number}")
        lived(experience, one, success=False, episode=f"e{number}", given=[lesson.id])
    assert experience.lessons() == ()
    experience.close()


def test_lesson_that_was_followed_in_vain_three_times_is_given_up(word_embedder, step) -> None:
    experience = experience_of(word_embedder, Says(Candidate("Take the mug.")))
    lived(experience, step("GoToObject", "Mug"))
    (lesson,) = experience.lessons()
    wanted = SkillCall("PickupObject", ("Mug",))
    experience.start(TASK, "place", "e2")
    for index, fails in enumerate(("execution", "execution", "none", "execution", "execution")):
        experience.note_given([lesson.id], "e2", wanted)
        experience.record(step("GoToObject", "Cup", episode="e2", index=2 * index))  # not what it asked for
        experience.note_given([lesson.id], "e2", wanted)
        experience.record(step("PickupObject", "Mug", fails=fails, episode="e2", index=2 * index + 1))
    (left,) = experience.lessons()
    assert (left.contradicted, len(left.evidence_against)) == (2, 4)
    experience.note_given([lesson.id], "e2", wanted)
    experience.record(step("PickupObject", "Mug", fails="execution", episode="e2", index=20))
    assert experience.lessons() == ()
    experience.close()


def test_slow_optimizer_holds_nobody_up(word_embedder, step) -> None:
    class Slow(Says):
        is_quick = False
        may = threading.Event()

        def propose(self, attempt, shown) -> Proposal:
            assert self.may.wait(60.0)
            return super().propose(attempt, shown)

    slow = Slow(Candidate("Take the mug."))
    experience = experience_of(word_embedder, slow)
    experience.start(TASK, "place", "e1")
    experience.record(step("PickupObject", "Mug"))
    lesson = experience.end("e1", True)
    lesson.result(60.0)
    assert not experience.wait_settled(0.05)
    assert experience.lessons() == ()
    slow.may.set()
    assert experience.wait_settled(60.0)
    assert [one.text for one in experience.lessons()] == ["Take the mug."]
    experience.close()
