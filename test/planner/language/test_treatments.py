"""Treatments are read from words of treating, not from the name of an appliance."""

import pytest

from memory_node.catalogue.label_space import load_catalogue
from memory_node.domain.goal_labels import GoalKind
from memory_node.planner.language.treatments import TreatmentWords

speaks_of = TreatmentWords(load_catalogue()).speak_of


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        (GoalKind.COOL, "put a chilled apple on the table"),
        (GoalKind.COOL, "Refrigerate the wine"),
        (GoalKind.HEAT, "microwave the potato"),
        (GoalKind.HEAT, "Serve a cooked egg"),
        (GoalKind.CLEAN, "rinse it off"),
        (GoalKind.COOL, "please refrigerate apple for a moment"),
        (GoalKind.CLEAN, "place the wet sponge in the drawer"),
    ],
)
def test_words_of_treating_count(kind: GoalKind, text: str) -> None:
    assert speaks_of(kind, text)


@pytest.mark.parametrize(
    ("kind", "text", "destination"),
    [
        (GoalKind.COOL, "put the mug in the refrigerator", "Fridge"),
        (GoalKind.COOL, "put the mug in the freezer", "Fridge"),
        (GoalKind.COOL, "put the mug in the refrigerate", "Fridge"),
        (GoalKind.HEAT, "put the mug in the microwave", "Microwave"),
        (GoalKind.CLEAN, "put the soap in the sink", "SinkBasin"),
    ],
)
def test_place_where_a_thing_is_to_stay_does_not(kind: GoalKind, text: str, destination: str) -> None:
    assert not speaks_of(kind, text, destination)


def test_appliance_on_the_way_does() -> None:
    assert speaks_of(GoalKind.COOL, "put the tomato in the fridge and then in the bin", "GarbageCan")
