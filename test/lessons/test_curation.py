"""What the optimizer writes in the product: guidelines and advice, with provenance, taken back and undone."""

import threading
from collections.abc import Iterator

import pytest

from memory_node.catalogue.label_space import load_catalogue
from memory_node.domain.ports import TextEmbedder
from memory_node.domain.skill import SkillCall
from memory_node.lessons.config import ExperienceConfig
from memory_node.lessons.experience import Experience
from memory_node.lessons.experience_answer import ExperienceQuery
from memory_node.lessons.extractor import RuleExtractor
from memory_node.lessons.log import NullLog
from memory_node.lessons.optimizer.bank import BankLimits, MemoryBank
from memory_node.lessons.optimizer.candidate import Candidate
from memory_node.lessons.optimizer.curator import MemoryCurator
from memory_node.lessons.optimizer.entry import Version, entry_of
from memory_node.lessons.optimizer.method_note import MethodNote, RepairNote
from memory_node.lessons.optimizer.proposal import Proposal, WholeAttempts
from memory_node.lessons.optimizer.rules import RulesOptimizer
from memory_node.lessons.optimizer.vetting import Vetting
from memory_node.lessons.optimizer.written import guidelines_of

KINDS = load_catalogue()
TASK = "put the mug in the cabinet"
TOO_FAR = RepairNote("PickupObject", "GoToObject(object)", "too_far")


def experience_of(embedder, optimizer=None, advise=lambda *_: None, **limits) -> Experience:
    bank = MemoryBank(embedder, BankLimits(**limits))
    curator = MemoryCurator(bank, optimizer or RulesOptimizer(), Vetting(KINDS))
    config = ExperienceConfig(parts=frozenset({"semantic"}))
    return Experience(config, RuleExtractor(), NullLog(), lambda: 0, kinds=KINDS, curator=curator, advise=advise)


def lived(experience: Experience, step, *steps, success: bool = True, episode: str = "e1", given=()) -> None:
    experience.start(TASK, "place", episode)
    for one in steps:
        experience.record(one)
    experience.note_given(given, episode)
    experience.end(episode, success)
    assert experience.wait_settled(10.0)


@pytest.fixture
def told() -> list[tuple[str, str, str]]:
    return []


@pytest.fixture
def experience(word_embedder: TextEmbedder, told: list[tuple[str, str, str]]) -> Iterator[Experience]:
    made = experience_of(word_embedder, advise=lambda *one: told.append(one))
    yield made
    made.close()


def guided(experience: Experience) -> set[str]:
    return {one.text for one in experience.ask(ExperienceQuery(task_type="place")).guidelines}


def test_episode_leaves_a_memory_in_the_book_and_beside_its_way(experience, told, step) -> None:
    lived(experience, step, step("PickupObject", "Mug"), step("PutObject", "Mug", "Cabinet"))
    (entry,) = experience.memories()
    assert entry.value in guided(experience)
    assert entry.episode_ids == ("e1",)
    assert told == [(TASK, "e1", entry.value)]


def test_undo_takes_it_out_again(experience, told, step) -> None:
    lived(experience, step, step("PickupObject", "Mug", fails="too_far"), success=False)
    assert experience.undo_memory()
    assert experience.memories() == ()
    assert not any("Task:" in text for text in guided(experience))
    assert told[-1] == (TASK, "e1", "")
    assert not experience.undo_memory()


def test_way_of_an_undone_rewording_has_the_wording_before(experience, told, step) -> None:
    lived(experience, step, step("PickupObject", "Mug"), step("PutObject", "Mug", "Cabinet"))
    (first,) = experience.memories()
    again = step("PickupObject", "Mug", fails="too_far", episode="e2"), step("PickupObject", "Mug", episode="e2")
    lived(experience, step, *again, step("PutObject", "Mug", "Cabinet", episode="e2"), episode="e2")
    (second,) = experience.memories()
    assert second.value != first.value
    experience.undo_memory()
    assert told[-1] == (TASK, "e2", first.value)


def test_forgotten_episode_takes_its_memory_with_it(experience, step) -> None:
    lived(experience, step, step("PickupObject", "Mug"), step("PutObject", "Mug", "Cabinet"))
    experience.forget("e1")
    assert experience.memories() == ()
    assert guided(experience) == set()


def test_root_cause_of_one_skill_is_a_repair_of_all_that_want_the_same(experience, step) -> None:
    lived(experience, step, step("PickupObject", "Mug", fails="too_far"), success=False)
    experience.start("heat the egg", "heat", "e2")
    advice = experience.advise("e2", SkillCall("OpenObject", ("Microwave",)))
    assert [str(call) for one in advice for call in one.before] == ["GoToObject({object})"]


REPAIR = "Before PickupObject, do GoToObject(object): otherwise it fails with too_far."


def lifted(experience: Experience) -> list[str]:
    return [one.text for one in experience.guidelines() if one.lifted]


def test_repair_that_semantic_memory_holds_too_is_told_once(experience, step) -> None:
    failed = step("PickupObject", "Mug", fails="too_far")
    lived(experience, step, failed, step("PickupObject", "Mug"), step("PutObject", "Mug", "Cabinet"))
    assert [one.lifted for one in experience.guidelines() if one.kind == "repair"] == [False, True]
    told = [one for one in experience.ask(ExperienceQuery(task_type="place")).guidelines if one.kind == "repair"]
    assert [(one.text, one.lifted) for one in told] == [(REPAIR, True)]
    experience.start("heat the egg", "heat", "e2")
    (advice,) = experience.advise("e2", SkillCall("PickupObject", ("Egg",)))
    assert advice.text == REPAIR


def test_lifted_repair_speaks_of_the_skill_at_hand(experience, step) -> None:
    lived(experience, step, step("PickupObject", "Mug", fails="too_far"), success=False)
    experience.start("heat the egg", "heat", "e2")
    (advice,) = experience.advise("e2", SkillCall("PutObject", ("Egg", "Bowl")))
    assert advice.text == "Before PutObject, do GoToObject(receptacle): otherwise it fails with too_far."


def test_failed_step_teaches_the_rest_of_its_own_episode(experience, step) -> None:
    experience.start(TASK, "place", "e1")
    experience.record(step("PickupObject", "Mug", fails="too_far"))
    advice = experience.advise("e1", SkillCall("OpenObject", ("Cabinet",)))
    assert [str(call) for one in advice for call in one.before] == ["GoToObject({object})"]
    experience.record(step("PickupObject", "Mug", fails="execution"))
    assert lifted(experience) == [REPAIR]
    experience.end("e1", False)
    assert experience.wait_settled(10.0)
    assert lifted(experience) == [REPAIR]
    assert experience.undo_memory()
    assert lifted(experience) == []


@pytest.mark.parametrize("over", ["abandoned", "forgotten", "left nothing"])
def test_what_a_running_episode_taught_goes_with_it_where_its_lesson_does_not_say_it(
    word_embedder, step, over: str
) -> None:
    class SaysNothing(RulesOptimizer):
        def propose(self, attempt, shown) -> Proposal:
            return Proposal(None)

    experience = experience_of(word_embedder, SaysNothing())
    experience.start(TASK, "place", "e1")
    experience.record(step("PickupObject", "Mug", fails="too_far"))
    assert REPAIR in guided(experience)
    if over == "forgotten":
        experience.forget("e1")
    else:
        experience.end("e1", None if over == "abandoned" else False)
    assert experience.wait_settled(10.0)
    assert lifted(experience) == []
    experience.close()


def test_doors_are_opened_where_there_are_doors() -> None:
    note = MethodNote(thing="Mug", repairs=(RepairNote("PutObject", "OpenObject(receptacle)", "closed"),))
    _, repair = guidelines_of(entry_of("m", Version(TASK, note.text, "e"), "rules"), KINDS)
    assert "Fridge" in repair.object_classes
    assert "Bed" not in repair.object_classes


def test_repair_that_the_library_does_not_declare_is_no_structured_one() -> None:
    note = MethodNote(thing="Mug", repairs=(RepairNote("PutObject", "ThrowObject(object)", "closed"),))
    assert [one.kind for one in guidelines_of(entry_of("m", Version(TASK, note.text, "e"), "rules"), KINDS)] == [
        "advice"
    ]


def test_what_two_memories_say_stays_while_one_of_them_does(word_embedder, step) -> None:
    class Says(WholeAttempts):
        name, is_quick = "test", True

        def __init__(self) -> None:
            self.left = [Candidate(TOO_FAR.text), Candidate(f"The mug. {TOO_FAR.text}"), Candidate("The mug.", 0)]

        def propose(self, attempt, shown) -> Proposal:
            return Proposal(self.left.pop(0))

    experience = experience_of(word_embedder, Says())
    for number in range(2):
        lived(experience, step, step("GoToObject", "Mug", episode=f"e{number}"), episode=f"e{number}")
    assert REPAIR in guided(experience)
    lived(experience, step, step("GoToObject", "Mug", episode="e2"), episode="e2")
    assert REPAIR in guided(experience)
    experience.undo_memory()
    experience.undo_memory()
    assert REPAIR in guided(experience)
    experience.undo_memory()
    assert REPAIR not in guided(experience)
    experience.close()


def test_memory_that_tasks_fail_with_leaves_the_book(word_embedder, step) -> None:
    class SaysOnce(WholeAttempts):
        name, is_quick = "test", True

        def propose(self, attempt, shown) -> Proposal:
            return Proposal(Candidate("Take the mug.") if attempt.episode_id == "e3" else None)

    experience = experience_of(word_embedder, SaysOnce(), least_trials=3)
    for number in range(4):
        lived(experience, step, step("GoToObject", "Mug", episode=f"e{number}"), episode=f"e{number}")
    assert "Take the mug." in guided(experience)
    (entry,) = experience.memories()
    for number in range(4, 7):
        one = step("GoToObject", "Mug", episode=f"e{number}")
        lived(experience, step, one, success=False, episode=f"e{number}", given=[f"memory|{entry.id}"])
    assert "Take the mug." not in guided(experience)
    assert experience.memories() == ()
    experience.close()


def test_slow_optimizer_holds_nobody_up(word_embedder, step) -> None:
    class Slow(WholeAttempts):
        name, is_quick = "test", False

        def __init__(self) -> None:
            self.may = threading.Event()

        def propose(self, attempt, shown) -> Proposal:
            assert self.may.wait(10.0)
            return Proposal(Candidate("Take the mug."))

    slow = Slow()
    experience = experience_of(word_embedder, slow)
    experience.start(TASK, "place", "e1")
    experience.record(step("PickupObject", "Mug"))
    lesson = experience.end("e1", True)
    assert lesson is not None
    lesson.result(10.0)
    assert not experience.wait_settled(0.05)
    assert experience.memories() == ()
    slow.may.set()
    assert experience.wait_settled(10.0)
    assert [entry.value for entry in experience.memories()] == ["Take the mug."]
    experience.close()
