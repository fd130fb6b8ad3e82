"""The trained readers' classes and those of a label space are put into one another."""

import pytest

from memory_node.catalogue.label_space import load_catalogue
from memory_node.domain.goal_labels import GoalKind
from memory_node.planner.goal import Goal, Mention
from memory_node.planner.language.goal_effects import effects
from memory_node.planner.language.reader_names import NamedGoalReader, ReaderNames
from memory_node.planner.language.sequence_reader import GoalSequenceModel
from memory_node.planner.language.single_goal_reader import GoalModel
from memory_node.planner.language.surroundings import HomeClasses
from memory_node.planner.language.trained_readers import TrainedReaders
from memory_node.planner.language.understanding import Understander

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


@pytest.fixture(scope="module")
def coco_reader() -> Understander:
    kinds = load_catalogue("coco")
    return Understander(kinds, TrainedReaders(kinds), None)


def test_thing_that_the_label_space_lacks_is_asked_about(coco_reader: Understander) -> None:
    home = HomeClasses(frozenset({"apple"}), frozenset({"toaster", "chair"}))
    read = coco_reader.understand("toast the bread", home)
    assert read.goals == ()
    assert read.question is not None
    assert "the bread" in read.question.text


def test_readers_speak_of_another_label_space(coco_reader: Understander) -> None:
    home = HomeClasses(frozenset({"cup", "apple", "book"}), frozenset({"sink", "refrigerator", "couch"}))
    read = coco_reader.understand("After you have rinsed the apple it belongs in the refrigerator, I'd say.", home)
    assert effects(read.goals) == ("clean apple", "apple at refrigerator")


def test_trained_readers_write_a_goal_in_the_label_spaces_classes() -> None:
    kinds = load_catalogue("coco")
    home = HomeClasses(frozenset({"cup", "apple", "book"}), frozenset({"sink", "refrigerator", "couch"}))
    goal = (
        NamedGoalReader(GoalModel(), ReaderNames(kinds, GoalSequenceModel().classes))
        .predict("wash the apple and put it in the refrigerator", home)
        .goal
    )
    assert str(goal) == "clean apple to refrigerator"
