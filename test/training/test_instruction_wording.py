"""The sentences that the instruction model is trained with say what their labels say."""

import random

import pytest

from memory_node.domain.skill_library import GoalKind
from memory_node.planner.reading.trained_reader import ALFRED_KIND, SEVERAL
from training.instructions.corpus import Example, Labels, Task, part_of
from training.instructions.wording import SeveralGoals, Wording, class_words

LABELS = Labels("clean", "Mug", "Shelf")
HOME = (frozenset({"Mug", "Apple", "Knife", "Ladle"}), frozenset({"Shelf", "SinkBasin", "Fridge", "DiningTable"}))
TASK = Task(
    "clean-Mug/1", LABELS, *HOME, ("Put a clean mug on the shelf.",), (("Wash the mug",),), (("CleanObject", ()),)
)
NO_TASKS = (GoalKind.EXAMINE, True)


@pytest.fixture
def wording() -> Wording:
    generator = random.Random(7)
    return Wording.shipped(generator)


@pytest.mark.parametrize(
    ("kind", "sliced"),
    [(kind.value, sliced) for kind in ALFRED_KIND.values() for sliced in (False, True) if (kind, sliced) != NO_TASKS],
)
def test_told_goals_fill_every_slot_and_keep_their_labels(wording: Wording, kind: str, sliced: bool) -> None:
    container = "Bowl" if kind == "stack" else ""
    light = "DeskLamp" if kind == "examine" else ""
    labels = Labels(kind, "Apple", "" if light else "Shelf", container, light, sliced)
    task = Task("x/1", labels, *HOME, ("",), (), ())
    for _ in range(20):
        example = wording.told(task)
        assert example.labels == labels
        assert "{" not in example.text


def test_distraction_keeps_the_sentence_and_its_labels(wording: Wording) -> None:
    plain = Example("Put a clean mug on the shelf.", LABELS, *HOME)
    for _ in range(60):
        example = wording.distracted(plain)
        assert "ut a clean mug on the shelf" in example.text
        assert len(example.text) > len(plain.text)
        assert example.labels == LABELS


def test_rewording_replaces_the_name_with_its_article(wording: Wording) -> None:
    plain = Example("Put a clean mug on the shelf.", LABELS, *HOME)
    texts = {wording.reworded(plain).text for _ in range(60)}
    assert len(texts) > 20
    assert not any(" a the " in text or " the the " in text or " a a " in text for text in texts)


def test_tasks_of_one_goal_in_one_home_are_in_one_part() -> None:
    assert {part_of(f"pick-Mug-None-Shelf-3/trial_{number}") for number in range(9)} == {
        part_of("pick-Mug-None-Shelf-3/x")
    }
    assert len({part_of(f"{kind}-Mug-{number}/t") for kind in ALFRED_KIND for number in range(20)}) == 3


def several(seed: int) -> SeveralGoals:
    generator = random.Random(seed)
    return SeveralGoals(Wording.shipped(generator), [TASK], generator)


def test_joined_sentences_are_several_goals_and_their_home_has_what_one_asks_for() -> None:
    maker, kinds = several(1), set()
    for _ in range(300):
        example = maker.example()
        kinds.add(example.labels.kind)
        assert "{" not in example.text
        asked = {example.labels.target, example.labels.parent} & class_words().keys()
        assert asked <= example.objects | example.fixtures
    assert {SEVERAL, "clean"} <= kinds
