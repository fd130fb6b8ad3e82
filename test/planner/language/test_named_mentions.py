"""What the words name stays that thing in a trained reader's goals."""

from memory_node.domain.goal_labels import GoalKind
from memory_node.planner.goal import Goal, Mention
from memory_node.planner.language.lexicon import Called
from memory_node.planner.language.named_mentions import with_named


def placed(target: Mention, place: Mention) -> Goal:
    return Goal(GoalKind.PLACE, target, place)


TABLES = Called((), ("CoffeeTable", "DiningTable", "Desk", "SideTable"))
TROPHY = Mention("the trophy", ("Statue", "Candle"))


def test_class_that_is_first_called_so_is_not_one_of_several_guesses() -> None:
    read = placed(TROPHY, Mention("CoffeeTable", ("CoffeeTable", "SideTable")))
    (goal,) = with_named([read], (), [Called(("CoffeeTable",)), Called(("Chair",), ("ArmChair",))])
    assert goal.destination is not None
    assert (goal.destination.candidates, goal.target.candidates) == (("CoffeeTable",), ("Statue", "Candle"))


def test_thing_under_a_generic_name_is_the_one_that_the_grammar_finds() -> None:
    said = placed(Mention("the mug", ("Mug",)), Mention("the table", ("Desk",), stand_ins=("SideTable",)))
    read = placed(Mention("Mug", ("Mug",)), Mention("SideTable", ("SideTable",)))
    (goal,) = with_named([read], [said], [TABLES])
    assert goal.destination is not None
    assert (goal.destination.candidates, goal.destination.stand_ins) == (("Desk",), ("SideTable",))


def test_reader_orders_the_classes_that_the_grammar_leaves_open() -> None:
    said = placed(Mention("the mug", ("Mug",)), Mention("a table", ("CoffeeTable", "DiningTable")))
    read = placed(Mention("Mug", ("Mug",)), Mention("DiningTable", ("DiningTable",)))
    (goal,) = with_named([read], [said], [TABLES])
    assert goal.destination is not None
    assert goal.destination.candidates == ("DiningTable", "CoffeeTable")


def test_one_of_a_group_stays_as_the_reader_reads_it() -> None:
    said = placed(Mention("two containers", ("Bowl", "Box", "Cup")), Mention("the desk", ("Desk",)))
    read = placed(Mention("Box", ("Box",)), Mention("Desk", ("Desk",)))
    (goal,) = with_named([read], [said], [Called(("Desk",))])
    assert goal.target.candidates == ("Box",)
