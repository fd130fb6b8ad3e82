"""The shipped instruction model reads people's words."""

import pytest

from memory_node.domain.errors import ResourceMissingError
from memory_node.domain.goal_labels import GoalKind
from memory_node.planner.language.single_goal_reader import WEIGHTS_FOLDER, GoalModel
from memory_node.planner.language.surroundings import HomeClasses

KITCHEN = HomeClasses(
    frozenset({"Apple", "Mug", "Ladle", "Knife", "Plate", "Bowl", "Egg", "Spoon", "Potato"}),
    frozenset({"CounterTop", "Fridge", "Microwave", "SinkBasin", "DiningTable", "GarbageCan", "Drawer", "Cabinet"}),
)
OFFICE = HomeClasses(
    frozenset({"Book", "Pen", "Laptop", "CreditCard"}), frozenset({"Desk", "DeskLamp", "Sofa", "Shelf"})
)


@pytest.fixture(scope="module")
def model() -> GoalModel:
    return GoalModel()


@pytest.mark.parametrize(
    ("sentence", "kind", "target", "destination"),
    [
        ("Could you please put the mug on the counter?", GoalKind.PLACE, "Mug", "CounterTop"),
        ("warm an egg up and leave it on the dining table", GoalKind.HEAT, "Egg", "DiningTable"),
        ("Place a chilled apple in the trash", GoalKind.COOL, "Apple", "GarbageCan"),
        (
            "although there is a bowl in the cupboard, rinse a ladle and put it in the drawer",
            GoalKind.CLEAN,
            "Ladle",
            "Drawer",
        ),
    ],
)
def test_goal_of_a_sentence(model: GoalModel, sentence: str, kind: GoalKind, target: str, destination: str) -> None:
    goal = model.predict(sentence, KITCHEN).goal
    assert goal.destination is not None
    assert (goal.kind, goal.target.object_class, goal.destination.object_class) == (kind, target, destination)


def test_examining_names_the_lamp_of_the_home(model: GoalModel) -> None:
    goal = model.predict("look at a book in the light of the lamp", OFFICE).goal
    assert goal.kind is GoalKind.EXAMINE
    assert goal.light is not None
    assert goal.light.object_class == "DeskLamp"


def test_slice_is_asked_for_as_a_slice(model: GoalModel) -> None:
    assert model.predict("put a slice of potato on the counter", KITCHEN).goal.sliced


def test_home_decides_between_tables(model: GoalModel) -> None:
    for table in ("DiningTable", "CoffeeTable", "SideTable"):
        home = HomeClasses(OFFICE.objects, frozenset({table, "Sofa"}))
        goal = model.predict("put the book on the table", home).goal
        assert goal.destination is not None
        assert goal.destination.object_class == table


def test_complete_goal_has_a_destination(model: GoalModel) -> None:
    assert model.predict("wash the mug", KITCHEN, complete=True).goal.destination is not None


def test_shipped_weights_stay_small() -> None:
    of_readers = (path for path in WEIGHTS_FOLDER.iterdir() if path.suffix != ".gguf")
    assert sum(path.stat().st_size for path in of_readers) <= 20_000_000
    assert all(path.stat().st_size <= 10_000_000 for path in WEIGHTS_FOLDER.glob("*.gguf"))


def test_missing_weights_are_said_so(tmp_path) -> None:
    with pytest.raises(ResourceMissingError, match="install"):
        GoalModel(tmp_path)


@pytest.mark.parametrize(
    ("sentence", "one"),
    [
        ("Put the mug in the cabinet.", True),
        ("Wash the ladle at the sink and then leave it in the drawer.", True),
        ("Wash the ladle, then put the mug in the cabinet and bring me the apple.", False),
        ("Put the mug in the cabinet and the plate on the counter, then open the fridge.", False),
        ("Open the cabinet, take the bowl out and give it to me.", False),
    ],
)
def test_goal_is_not_taken_for_the_whole_of_several(model: GoalModel, sentence: str, one: bool) -> None:
    assert (model.predict(sentence, KITCHEN).whole > 0.2) is one


def test_last_sentence_is_not_computed_twice_and_another_home_is(model: GoalModel) -> None:
    first = model.hidden("Put the mug in the cabinet.", KITCHEN)
    assert model.hidden("Put the mug in the cabinet.", KITCHEN) is first
    assert model.hidden("Put the mug in the cabinet.", OFFICE) is not first
