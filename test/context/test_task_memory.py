"""What experience and knowledge hold, as entries of one shape."""

import pytest

from memory_node.context.task_memory import (
    Entry,
    EntryKind,
    TaskMemory,
    of_guideline,
    of_places,
    of_prescription,
    of_proposition,
    of_trajectory,
)
from memory_node.domain.answer import RankedArea
from memory_node.domain.errors import InvalidValueError
from memory_node.domain.skill import FailureReason, SkillCall
from memory_node.domain.skill_declaration import Fact, Predicate
from memory_node.knowledge.facts import Prescription, Proposition
from memory_node.lessons.guideline import Guideline
from memory_node.lessons.record import ExperienceRecord


def test_repair_assumes_what_its_failure_was_for_want_of() -> None:
    entry = of_guideline(
        Guideline(
            "k", "Before PutObject, ...", frozenset({"place+heat"}), kind="repair", skill="PutObject", reason="too_far"
        )
    )
    assert entry.assumes == (Fact(Predicate.NEAR, ("receptacle",), False),)
    assert entry.reason is FailureReason.TOO_FAR
    assert entry.goal_kinds == {"place", "heat"}
    assert entry.worth == 0.5


def test_procedure_has_its_skills_in_order() -> None:
    entry = of_guideline(
        Guideline(
            "k", "For cool tasks this order worked: PickupObject, then CoolObject, then PutObject.", kind="procedure"
        )
    )
    assert entry.steps == (SkillCall("PickupObject"), SkillCall("CoolObject"), SkillCall("PutObject"))


def test_prescription_and_proposition() -> None:
    way = of_prescription(
        Prescription("wash a mug", ("PickupObject(Mug)", "CleanObject(Mug)", "sing()"), ("e1", "e2", "e3"))
    )
    assert way.steps == (SkillCall("PickupObject", ("Mug",)), SkillCall("CleanObject", ("Mug",)))
    assert (way.classes, way.worth) == ({"Mug"}, 0.75)
    fact = of_proposition(Proposition("Mug on Shelf", frozenset({"Mug", "Shelf"}), ("e1:0",)))
    assert (fact.kind, fact.text, fact.worth) == (EntryKind.PROPOSITION, "Mug on Shelf", 0.5)


def test_trajectory_tells_why() -> None:
    record = ExperienceRecord("e1", "wash the mug", "clean", True, 1, insights=("Open it first.",), objects=("Mug",))
    entry = of_trajectory(
        record, (("PickupObject(Mug)", FailureReason.TOO_FAR), ("GoToObject(Mug)", FailureReason.NONE))
    )
    assert entry.text == (
        "'wash the mug' succeeded: PickupObject(Mug) [too_far] -> GoToObject(Mug) (why: Open it first.)"
    )
    assert entry.steps == (SkillCall("GoToObject", ("Mug",)),)


def test_places_are_explored() -> None:
    (entry,) = of_places("Mug", [RankedArea("a1", "kitchen", (1.0, 2.0), 0.7, "seen here before")])
    assert entry.text == "Mug is likely in kitchen: seen here before"
    assert (entry.skill, entry.worth) == ("Explore", 0.7)


def test_memory_holds_each_entry_once_most_worth_first() -> None:
    entries = [Entry("a", EntryKind.ADVICE, "first", worth=0.2), Entry("b", EntryKind.ADVICE, "second", worth=0.9)]
    memory = TaskMemory.of([*entries, Entry("a", EntryKind.ADVICE, "again", worth=1.0)])
    assert memory.lines == ("- second", "- first")


@pytest.mark.parametrize("values", [{"id": ""}, {"text": " "}, {"worth": 1.5}])
def test_entry_that_says_nothing_is_refused(values: dict[str, object]) -> None:
    with pytest.raises(InvalidValueError):
        Entry(**{"id": "a", "kind": EntryKind.ADVICE, "text": "t", **values})  # type: ignore[arg-type]


def test_a_repair_of_a_wrong_thing_assumes_that_it_is_of_another_kind() -> None:
    entry = of_guideline(
        Guideline("k", "a counter does not open", kind="repair", skill="OpenObject", reason="wrong_object")
    )
    assert [str(fact) for fact in entry.assumes] == ["not openable(object)"]
