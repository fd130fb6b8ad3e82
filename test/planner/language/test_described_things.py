"""A thing that is told by what it is for is one that the label space says so of, or it is asked about."""

import pytest
from spoken_home import HOMES, KNOWN

from memory_node.catalogue.label_space import load_catalogue
from memory_node.planner.language.surroundings import HomeClasses
from memory_node.planner.language.understanding import Understander
from memory_node.search.minilm import MiniLmEmbedder

UNDERSTANDER = Understander(load_catalogue(), None, MiniLmEmbedder())


@pytest.mark.parametrize(
    ("described", "meant"),
    [
        ("something to cut the bread with", {"Knife", "ButterKnife"}),
        ("something to clean the window with", {"SprayBottle"}),
        ("something to dry the dishes with", {"HandTowel", "Towel"}),
        ("something to eat soup with", {"Spoon"}),
        ("something to blow my nose with", {"TissueBox"}),
        ("something to put flowers in", {"Vase"}),
        ("something to write with", {"Pen", "Pencil"}),
        ("something to drink from", {"Cup", "Mug"}),
    ],
)
@pytest.mark.parametrize("home", HOMES.values(), ids=HOMES)
def test_thing_for_a_purpose_is_brought(described: str, meant: set[str], home: HomeClasses) -> None:
    found = UNDERSTANDER.understand(f"Bring me {described}.", home)
    assert [str(goal.kind) for goal in found.goals] == ["place"]
    assert found.goals[0].target.object_class in meant


@pytest.mark.parametrize(
    "described",
    [
        "something to open the wine with",  # a corkscrew is no class
        "something to charge my phone with",
        "something to sweep the floor with",
        "something to keep me warm",  # a heater, a blanket
        "something to drink",  # a cup is to drink from
        "something to write on",
        "something sweet",
        "the thing on the sofa",
    ],
)
@pytest.mark.parametrize("home", HOMES.values(), ids=HOMES)
def test_what_no_class_is_good_for_is_asked(described: str, home: HomeClasses) -> None:
    found = UNDERSTANDER.understand(f"Bring me {described}.", home)
    assert found.goals == ()
    assert found.question is not None


def test_wish_for_a_purpose_asks_for_no_deed() -> None:
    found = UNDERSTANDER.understand("I want something to cut this apple with.", KNOWN)
    assert [(str(goal.kind), goal.target.object_class) for goal in found.goals] == [("place", "Knife")]


def test_memory_decides_between_things_that_serve_alike() -> None:
    written = [UNDERSTANDER.understand("Bring me something to write with.", home) for home in (KNOWN, _with("Pencil"))]
    assert [found.goals[0].target.object_class for found in written] == ["Pen", "Pencil"]


def _with(name: str) -> HomeClasses:
    return HomeClasses(KNOWN.objects - {"Pen"} | {name}, KNOWN.fixtures)
