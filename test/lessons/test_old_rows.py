"""What earlier releases stored is read as lessons."""

import pytest

from memory_node.catalogue.label_space import load_catalogue
from memory_node.domain.errors import InvalidValueError
from memory_node.lessons.lesson import Lesson, LessonKind, Tally
from memory_node.lessons.old_rows import lesson_of_entry, lesson_of_guideline, lesson_of_prescription

GUIDELINE = {
    "key": "procedure|slice",
    "text": "For slice tasks this order worked: PickupObject, then SliceObject, then PutObject.",
    "task_types": ["slice"],
    "object_classes": [],
    "successes": 2,
    "trials": 3,
    "helped_ns": 7,
    "episode_ids": ["e1", "e2"],
    "support": 4,
    "kind": "procedure",
}
ENTRY = {
    "id": "m1",
    "versions": [
        {"query": "cool a mug", "value": "Mind the mug.", "episode_id": "e1", "stamp_ns": 1, "task_type": "cool"},
        {
            "query": "cool the mug",
            "value": "Task: cool with mug. Way: take mug; cool mug with fridge.",
            "episode_id": "e2",
            "stamp_ns": 2,
            "task_type": "cool",
        },
    ],
    "given": {"total": 1.0, "trials": 2},
    "withheld": {"total": 0.0, "trials": 1},
    "episode_ids": ["e1", "e2"],
    "made_by": "rules",
}


NAMES = load_catalogue().spoken_names
PRESCRIPTION = {
    "intent": "wash the apple",
    "actions": ["Explore(Apple)", "PickupObject(Apple)", "ToggleOn(Faucet)"],
    "sources": ["e1", "e2"],
    "stamp_ns": 7,
    "support": 2,
    "returned": 10.0,
}


def test_prescription_becomes_a_way_over_roles() -> None:
    lesson = lesson_of_prescription(PRESCRIPTION, NAMES)
    assert lesson is not None
    assert (lesson.steps, lesson.situation) == (("PickupObject(the thing)", "ToggleOn(Faucet)"), "wash something")
    assert (lesson.episodes, lesson.helped_ns) == (("e1", "e2"), 7)


@pytest.mark.parametrize(
    "said", [{"intent": "get to: Apple held"}, {"returned": 2.0}, {"actions": ["take apple", "go to sink"]}]
)
def test_prescription_of_a_part_or_a_game_is_left_out(said: dict[str, object]) -> None:
    assert lesson_of_prescription(PRESCRIPTION | said, NAMES) is None


def test_guideline_keeps_its_worth_and_evidence() -> None:
    lesson = lesson_of_guideline(GUIDELINE)
    assert lesson is not None
    assert (lesson.id, lesson.kind, lesson.given, lesson.support) == ("procedure|slice", LessonKind.WAY, Tally(2, 3), 4)
    assert (lesson.text, lesson.episodes, lesson.helped_ns) == (GUIDELINE["text"], ("e1", "e2"), 7)
    assert Lesson.from_dict(lesson.to_dict()) == lesson


@pytest.mark.parametrize("said", [{"kind": "repair"}, {"kind": "order"}, {"key": "memory|m1", "kind": "advice"}])
def test_guideline_that_the_library_or_an_entry_says_itself_is_left_out(said: dict[str, str]) -> None:
    assert lesson_of_guideline(GUIDELINE | said) is None


def test_entry_keeps_its_wordings_and_outcomes() -> None:
    lesson = lesson_of_entry(ENTRY)
    assert (lesson.situation, lesson.kind, lesson.steps) == (
        "cool the mug",
        LessonKind.WAY,
        ("take mug", "cool mug with fridge"),
    )
    assert (lesson.given, lesson.withheld, lesson.writer) == (Tally(1.0, 2), Tally(0.0, 1), "rules")
    left = lesson.without("e2")
    assert left is not None
    assert left.text == "Mind the mug."


@pytest.mark.parametrize("broken", [{}, {"id": "m", "versions": []}, {"id": "m", "versions": [{"query": "q"}]}])
def test_row_that_is_none_is_refused(broken: dict[str, object]) -> None:
    with pytest.raises(InvalidValueError, match="stored entry"):
        lesson_of_entry(broken)
    with pytest.raises(InvalidValueError, match="stored guideline"):
        lesson_of_guideline(broken)
    with pytest.raises(InvalidValueError, match="stored prescription"):
        lesson_of_prescription(broken, NAMES)
