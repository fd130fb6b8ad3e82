"""What experience and knowledge hold, as entries of one shape; subgoals in words, taken apart."""

from collections.abc import Callable

import pytest

from memory_node.catalogue.label_space import load_catalogue
from memory_node.context.task_memory import (
    Entry,
    EntryKind,
    Subgoal,
    TaskMemory,
    of_lesson,
    of_places,
    preparing,
    reminders,
)
from memory_node.domain.answer import RankedArea
from memory_node.domain.errors import InvalidValueError
from memory_node.domain.skill import FailureReason, SkillCall
from memory_node.domain.step import StepRecord
from memory_node.episodes.episode_graph import EpisodeGraph
from memory_node.lessons.lesson import Lesson, LessonKind, Preparation, Tally, Wording
from memory_node.lessons.plugmem import way_over_roles
from memory_node.lessons.whereabouts import Whereabouts


def lesson(kind: LessonKind, text: str, **more: object) -> Lesson:
    return Lesson("k", kind, (Wording("", text),), **more)  # type: ignore[arg-type]


def test_way_of_skills_alone_is_advice_for_its_kinds_of_task() -> None:
    skills = ("PickupObject", "CoolObject", "PutObject")
    given = Tally(1.0, 4)
    entry = of_lesson(lesson(LessonKind.WAY, "so", steps=skills, task_types=frozenset({"place+heat"}), given=given))
    assert (entry.kind, entry.steps) == (EntryKind.ADVICE, ())
    assert (entry.goal_kinds, entry.worth) == ({"place", "heat"}, 0.25)


def test_what_makes_a_call_work_prepares_it() -> None:
    switch, put = Preparation("SwitchOn", "id7", "Switch"), Preparation("PutObject", "", "Mug", "id8", "Shelf")
    tries = lesson(LessonKind.REPAIR, "so", skill="HeatObject", place_class="Microwave", before=(switch,))
    entry = preparing(tries)
    assert (entry.kind, entry.skill, entry.classes) == (EntryKind.PREPARATION, "HeatObject", {"Microwave"})
    assert entry.steps == (SkillCall("SwitchOn", ("Switch",)),)
    assert of_lesson(tries).steps == ()
    assert preparing(lesson(LessonKind.REPAIR, "so", skill="HeatObject", before=(put,))) is None


def test_other_lessons_are_advice() -> None:
    entry = of_lesson(lesson(LessonKind.PREFER, "Mind the mug.", object_classes=frozenset({"Mug"})))
    assert (entry.kind, entry.text, entry.classes) == (EntryKind.ADVICE, "Mind the mug.", {"Mug"})


def test_where_a_thing_is_found_is_a_place_to_explore() -> None:
    text = Whereabouts("Mug", ("Shelf",)).text
    entry = of_lesson(lesson(LessonKind.WHERE, text, object_classes=frozenset({"Mug"})))
    (place,) = of_places("Mug", [RankedArea("a", "area 1", (0.0, 0.0), 0.5, "")])
    assert (entry.kind, entry.skill, entry.classes, entry.steps) == (
        place.kind,
        place.skill,
        place.classes,
        place.steps,
    )
    assert "Shelf" in entry.text


def test_way_over_roles_is_for_any_thing_of_its_kind_of_task() -> None:
    calls = [SkillCall("PickupObject", ("Mug",)), SkillCall("CleanObject", ("Mug",))]
    learnt = way_over_roles(
        "wash a mug", load_catalogue().spoken_names, calls, ["e1:0", "e1:1", "e2:0"], 1, "clean+place"
    )
    assert learnt is not None
    way = of_lesson(learnt)
    assert way.steps == (SkillCall("PickupObject", ("the thing",)), SkillCall("CleanObject", ("the thing",)))
    assert (way.kind, way.classes, way.goal_kinds, way.worth) == (EntryKind.WAY, set(), {"clean", "place"}, 0.75)


@pytest.mark.parametrize(
    ("reason", "remedy", "classes"),
    [
        (FailureReason.CLOSED, "OpenObject({receptacle})", {"Fridge"}),
        (FailureReason.NOT_HOLDING, "PickupObject({object})", set()),
    ],
)
def test_what_failed_in_a_task_of_this_kind_is_reminded_of_with_its_declared_remedy(
    step: Callable[..., StepRecord], reason: FailureReason, remedy: str, classes: set[str]
) -> None:
    graph = EpisodeGraph()
    graph.add(
        "e1",
        [step("PutObject", "Egg", "Fridge", fails=str(reason)), step("PutObject", "Egg", "Shelf", fails="timeout")],
    )
    (entry,) = reminders(graph.failed_transitions(["e1"]))
    assert (entry.kind, entry.skill, entry.classes) == (EntryKind.REMINDER, "PutObject", classes)
    assert [str(call) for call in entry.steps] == [remedy]


def test_places_are_explored() -> None:
    (entry,) = of_places("Mug", [RankedArea("a1", "kitchen", (1.0, 2.0), 0.7, "seen here before")])
    assert entry.text == "Mug is likely in kitchen: seen here before"
    assert (entry.skill, entry.worth) == ("Explore", 0.7)


def test_memory_holds_each_entry_once_most_worth_first() -> None:
    entries = [Entry("a", EntryKind.ADVICE, "first", worth=0.2), Entry("b", EntryKind.ADVICE, "second", worth=0.9)]
    memory = TaskMemory.of([*entries, Entry("a", EntryKind.ADVICE, "again", worth=1.0)])
    assert [entry.text for entry in memory.entries] == ["second", "first"]


@pytest.mark.parametrize("values", [{"id": ""}, {"text": " "}, {"worth": 1.5}])
def test_entry_that_says_nothing_is_refused(values: dict[str, object]) -> None:
    with pytest.raises(InvalidValueError):
        Entry(**{"id": "a", "kind": EntryKind.ADVICE, "text": "t", **values})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "subgoal"),
    [
        ("heat Mug to Fridge", Subgoal("heat", "Mug", "Fridge")),
        ("place_two 2 x SaltShaker to Cabinet", Subgoal("place_two", "SaltShaker", "Cabinet")),
        ("stack sliced Apple in Pot to Fridge", Subgoal("stack", "Apple", "Fridge", "Pot")),
        ("examine KeyChain with FloorLamp", Subgoal("examine", "KeyChain", light="FloorLamp")),
        ("go kitchen", Subgoal("go")),
        ("", Subgoal("")),
    ],
)
def test_parts(text: str, subgoal: Subgoal) -> None:
    assert Subgoal.parse(text) == subgoal
