"""The trained readers' classes and those of a label space are put into one another."""

import pytest

from memory_node.catalogue.label_space import load_catalogue
from memory_node.domain.goal_labels import GoalKind
from memory_node.planner.goal import Goal, Mention
from memory_node.planner.language.reader_names import ReaderNames
from memory_node.planner.language.sequence_reader import GoalSequenceModel
from memory_node.planner.language.single_goal_reader import HomeClasses
from memory_node.planner.language.understanding import NotUnderstoodError, TrainedReaders, Understander

VOCABULARY = ("Cup", "Mug", "SinkBasin", "Drawer")


@pytest.fixture
def names() -> ReaderNames:
    return ReaderNames(load_catalogue("coco"), VOCABULARY)


def test_household_has_the_readers_own_names() -> None:
    assert ReaderNames(load_catalogue(), GoalSequenceModel().classes).are_equal


def test_class_stands_for_all_that_the_reader_tells_apart(names: ReaderNames) -> None:
    home = names.home(HomeClasses(frozenset({"cup"}), frozenset({"sink", "bed"})))
    assert home == HomeClasses(frozenset({"Cup", "Mug"}), frozenset({"SinkBasin"}))
    assert names.here(("Mug", "Cup", "Drawer")) == ("cup",)
    assert names.there("cup") == "Cup"


def test_goal_keeps_only_what_the_label_space_has(names: ReaderNames) -> None:
    goal = names.goal(Goal(GoalKind.PLACE, Mention("mug", ("Mug",)), Mention("sink", ("SinkBasin", "Drawer"))))
    assert goal.target.candidates == ("cup",)
    assert goal.destination is not None
    assert goal.destination.candidates == ("sink",)


def test_likeliest_thing_without_a_name_is_not_swapped_for_the_next(names: ReaderNames) -> None:
    goal = names.goal(Goal(GoalKind.FETCH, Mention("drawer", ("Drawer", "Mug"))))
    assert goal.target.candidates == ()


def test_space_without_the_readers_classes_is_not_taken_for_theirs() -> None:
    assert not ReaderNames(load_catalogue("coco"), ("Mug", "Drawer")).are_equal


def test_thing_that_the_label_space_lacks_is_refused() -> None:
    kinds = load_catalogue("coco")
    home = HomeClasses(frozenset({"apple"}), frozenset({"toaster", "chair"}))
    with pytest.raises(NotUnderstoodError):
        Understander(TrainedReaders.load(kinds), None, kinds).understand("toast the bread", home)


def test_readers_speak_of_another_label_space() -> None:
    kinds = load_catalogue("coco")
    readers = TrainedReaders.load(kinds)
    home = HomeClasses(frozenset({"cup", "apple", "book"}), frozenset({"sink", "refrigerator", "couch"}))
    (goal,) = Understander(readers, None, kinds).understand("wash the apple and put it in the refrigerator", home).goals
    assert str(goal) == "clean apple to refrigerator"
    assert "cup" in readers.sequence.classes
