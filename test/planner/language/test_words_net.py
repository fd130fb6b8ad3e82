"""What no rule explains is asked about, wherever it stands in the sentence."""

from __future__ import annotations

import pytest

from memory_node.catalogue.label_space import load_catalogue
from memory_node.planner.language.goal_effects import effects
from memory_node.planner.language.surroundings import HomeClasses
from memory_node.planner.language.understanding import Understander


@pytest.fixture(scope="module")
def understander() -> Understander:
    return Understander(load_catalogue(), None, None)


def _read(understander: Understander, text: str) -> tuple[str, ...]:
    found = understander.understand(text, HomeClasses())
    return () if found.question is not None else effects(found.goals)


@pytest.mark.parametrize(
    "text",
    [
        "I should like my newspaper and my slippers.",
        "Put the tomato in the fridge until it's cold, then varnish it.",
        "Put the eggs in the fridge, but varnish them first.",
        "I want the candle to be varnished.",
        "My green pen goes in the crock on my desk.",
        "Put the knife on the counter in the crock.",
        "With the floor radio on, inspect the vase.",
        "Shut the dryer door.",
        "Roll up the poster and put it in the box.",
        "Take the laptop off charge.",
        "Put the cards back in the card box.",
        "Bring me the phone book.",
        "Heat up what's in the crock.",
        "Instead of the fork bring me a whisk.",
    ],
)
def test_ask_about_words_that_no_goal_accounts_for(understander: Understander, text: str) -> None:
    assert _read(understander, text) == ()


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("Instead of the fork bring me a spoon.", ("Spoon at User",)),
        ("Close the blinds, open windows.", ("close Blinds", "open all Window")),
        ("Close the curtain, the sun blinds me.", ("close Curtains",)),
        ("Open fridge.", ("open Fridge",)),
        ("Bedroom, go.", ("go bedroom",)),
        ("Go near to the door and there wait.", ("find Door", "wait")),
        ("Shut the drawer before somebody hits their head.", ("close Drawer",)),
        ("In which drawer are the candles?", ("tell Candle place",)),
        ("Where's the mug? Bring it to me.", ("Mug at User",)),
        ("Make slices from the bread.", ("slice Bread",)),
        ("The plant looks thirsty, give it some water.", ("fill HousePlant",)),
        ("Put an egg in the pan and fry it.", ("Egg at Pan", "heat Egg")),
        ("Bring me the apple, no, not the apple, the tomato.", ("Tomato at User",)),
        ("Put the knife in the drawer. No, not the knife, the spoon.", ("Spoon at Drawer",)),
        ("Drop the ball here.", ("drop BasketBall",)),
        ("The light of the desk, switch it off.", ("switch_off DeskLamp",)),
    ],
)
def test_read_what_general_rules_explain(understander: Understander, text: str, wanted: tuple[str, ...]) -> None:
    assert _read(understander, text) == wanted
