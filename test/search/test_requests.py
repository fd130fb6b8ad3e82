"""What the words of a request tell: kinds, purposes, deeds, and things that are not wanted."""

from __future__ import annotations

import numpy as np
import pytest

from memory_node.catalogue.label_space import load_catalogue
from memory_node.domain.answer import FindQuery
from memory_node.domain.memory_unit import MemoryUnit
from memory_node.search.glosses import ClassGlosses, NamedClasses, NamedInRequest
from memory_node.search.minilm import MiniLmEmbedder
from memory_node.search.ranker import Ranker
from memory_node.search.request_phrases import RequestPhrases, contradict, deed_of, role_of
from memory_node.search.request_words import KindWords, kind_of, purpose_of, without_purpose
from memory_node.search.unit_index import UnitIndex

TEXTS = [
    ["tomato", "vegetable", "a juicy red vegetable for salad"],
    ["lettuce", "leafy green vegetable"],
    ["dustbin", "waste bin"],
]


@pytest.mark.parametrize(
    ("text", "missing"),
    [
        ("a vegetable", [0.0, 0.0, 1.0]),
        ("a leafy vegetable", [2.0, 0.0, 3.0]),
        ("a small vegetable", [0.0, 0.0, 1.0]),
        ("a vegetable with leafy roots", [2.0, 1.0, 3.0]),
        ("the dustpan", [1.0, 1.0, 1.0]),
        ("some vegetable", [0.0, 0.0, 0.0]),
        ("something to eat", [0.0, 0.0, 0.0]),
    ],
)
def test_what_no_text_says_of_a_class_is_missing(text: str, missing: list[float]) -> None:
    assert KindWords(TEXTS).missing(text).tolist() == pytest.approx(missing)


def test_gloss_that_tells_more_than_a_kind_makes_no_name() -> None:
    assert kind_of("a leafy green vegetable") == ("leafy", "green", "vegetable")
    assert kind_of("a piece of furniture") == ("furniture",)
    assert kind_of("a rubber cup on a stick") == ()
    assert kind_of("to cut bread with") == ()


def test_other_word_before_a_name_may_make_it_another_thing() -> None:
    words = KindWords([["wine bottle", "bottle"], ["milk bottle"]], rooms=["living room"])
    assert words.is_other("the milk bottle").tolist() == [True, False]
    assert not words.is_other("the green bottle").any()
    assert not words.is_other("the living room bottle").any()
    assert not words.is_other("something to drink from").any()


@pytest.mark.parametrize(
    ("text", "deed"),
    [
        ("something to cut the bread with", "something to cut with"),
        ("something I can heat up soup with", "something i can heat up with"),
        ("a utensil for eating soup", "a utensil for eating"),
        ("something to throw rubbish away", "something to throw away"),
        ("somewhere to hang up the wet towel", "somewhere to hang up"),
        ("something to put flowers in", ""),  # one puts anything
        ("something to sit on", ""),
        ("move it to the sink", ""),
        ("the mug", ""),
    ],
)
def test_deed_is_told_without_what_it_is_done_to(text: str, deed: str) -> None:
    assert deed_of(text) == deed


@pytest.mark.parametrize(
    ("asked", "told", "contradicts"),
    [
        ("something to eat soup with", "something to eat soup from", True),
        ("something to serve the salad in", "something to eat salad with", True),
        ("something to eat yoghurt with", "something to eat", True),
        ("something to serve the salad in", "to make a salad with", True),
        ("something to make toast with", "something to make toast from", False),
        ("something to drink from", "to drink water in", False),
        ("something to cut bread with", "something sharp for cutting", False),
        ("the mug", "something to eat soup with", False),
    ],
)
def test_tools_vessels_and_food_are_told_apart(asked: str, told: str, contradicts: bool) -> None:
    assert contradict(role_of(asked), role_of(told)) is contradicts


@pytest.mark.parametrize(
    ("text", "purpose"),
    [
        ("a piece of furniture to sit on", "something to sit on"),
        ("an appliance for making toast", "something for making toast"),
        ("a machine that browns bread", "something that browns bread"),
        ("something to sit on", ""),
        ("move it to the sink", ""),
        ("batteries for the remote", ""),
        ("I need a chair", ""),
        ("the mug", ""),
    ],
)
def test_purpose_beside_a_kind_is_a_request_of_its_own(text: str, purpose: str) -> None:
    assert purpose_of(text) == purpose


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("a cup to drink wine from", "a cup"),
        ("a knife for cutting bread", "a knife"),
        ("take the cup to the sink", "take the cup to the sink"),
        ("I would like to have the mug", "I would like to have the mug"),
    ],
)
def test_purpose_is_left_out_where_something_stands_before_it(text: str, kind: str) -> None:
    assert without_purpose(text) == kind


def named_in(text: str) -> NamedInRequest:
    glosses = ClassGlosses.of(load_catalogue())
    return NamedClasses(glosses, glosses.names).find(text)


@pytest.mark.parametrize(
    ("text", "used_on"),
    [
        ("something to open the wine bottle with", {"WineBottle"}),
        ("something to clean the mirror", {"Mirror"}),
        ("something to spread on toast", {"Bread"}),
        ("what can I put the apple in?", {"Apple"}),
        ("a tool for cutting bread", {"Bread"}),
        ("something to watch television on", set()),
        ("something to make toast from", set()),
        ("something to sit on, like the armchair", set()),
        ("I want to water the plant", set()),
    ],
)
def test_description_names_what_the_wanted_thing_is_used_on(text: str, used_on: set[str]) -> None:
    found = named_in(text)
    assert (set(found.used_on), set(found.meant)) == (used_on, set())


def test_names_of_one_thing_mean_what_both_name() -> None:
    assert named_in("the shaker with the pepper").meant == {"PepperShaker"}
    assert named_in("the shaker and the pepper").meant == {"PepperShaker", "SaltShaker"}
    assert named_in("a plate or a bowl").meant == {"Plate", "Bowl"}


@pytest.mark.parametrize(
    ("text", "wanted", "where"),
    [
        ("something on the desk", "", "the desk"),
        ("what's in the fridge?", "", "the fridge"),
        ("what is on top of the coffee table", "", "the coffee table"),
        ("bring me something from the fridge", "", "the fridge"),
        ("something from the fridge that I can eat", "something that I can eat", "the fridge"),
        ("anything in the fridge to eat", "something to eat", "the fridge"),
        ("something to put on the table", "something to put on the table", ""),
        ("put something on the table", "something", ""),
    ],
)
def test_whatever_is_at_a_place_may_be_wanted(text: str, wanted: str, where: str) -> None:
    found = RequestPhrases.of(text)
    assert (found.wanted, found.where) == (wanted, where)


@pytest.fixture(scope="module")
def index() -> UnitIndex:
    return UnitIndex(Ranker(MiniLmEmbedder()))


def unit(object_class: str, support_class: str = "", room_name: str = "kitchen") -> MemoryUnit:
    position = np.array([0.0, 0.0, 0.8])
    covariance = np.eye(3) * 0.01
    return MemoryUnit(
        object_class, object_class, position, covariance, 900, support_class=support_class, room_name=room_name
    )


def answered(index: UnitIndex, text: str, *units: MemoryUnit) -> list[str]:
    index.clear()
    index.put_all(units)
    return [answer.object_class for answer in index.rank(FindQuery(text, k=9), 1000).answers]


def test_only_what_is_there_answers_for_a_place(index: UnitIndex) -> None:
    units = [unit("Apple", "Fridge"), unit("Egg", "Fridge"), unit("Bread", "CounterTop"), unit("Fridge"), unit("Mug")]
    assert set(answered(index, "what is in the fridge?", *units)) == {"Apple", "Egg"}
    assert answered(index, "something on the desk", *units) == []


def test_room_of_a_drawer_is_not_the_drawer(index: UnitIndex) -> None:
    assert answered(index, "something in the kitchen drawer", unit("Fork", "Drawer"), unit("Mug", "Shelf")) == ["Fork"]


def test_kind_and_purpose_must_both_fit(index: UnitIndex) -> None:
    found = answered(index, "a piece of furniture to lie on", unit("Bed"), unit("Dresser"), unit("Cabinet"))
    assert found == ["Bed"]


def test_thing_that_is_worked_on_does_not_answer(index: UnitIndex) -> None:
    units = [unit("WineBottle"), unit("Cup"), unit("Knife"), unit("Bread")]
    assert answered(index, "something to open the wine bottle with", *units) == []
    assert answered(index, "something to cut the bread with", *units) == ["Knife"]


@pytest.mark.parametrize(
    ("text", "there", "meant"),
    [
        ("something I can heat up soup with", "Spoon Bowl Microwave", ["Microwave"]),
        ("something to eat soup with", "Bowl Spoon", ["Spoon"]),
        ("something to serve the salad in", "Fork Bowl Tomato", ["Bowl"]),
        ("somewhere to wash my hands", "SoapBar Sink", ["Sink"]),
        ("where can I hang up the wet towel?", "Towel TowelHolder", ["TowelHolder"]),
        ("where do you keep the plates?", "Plate Cabinet", ["Plate"]),
        ("what do I season the eggs with?", "Pan Egg SaltShaker", ["SaltShaker"]),
        ("a leafy vegetable", "Potato Tomato Lettuce", ["Lettuce"]),
        ("a tropical fruit", "Apple Tomato", []),
        ("storage furniture", "Bed Cabinet", ["Cabinet"]),
        ("a drink with caffeine", "Mug Cup", []),
        ("the milk bottle", "WineBottle SoapBottle", []),
        ("the dishcloth", "Cloth Plate", ["Cloth"]),
        ("the night stand", "SideTable TVStand", ["SideTable"]),
        ("is there a potato left?", "Potato", ["Potato"]),
        ("a sharp tool", "ButterKnife Knife", ["Knife"]),
        ("something that keeps the rain off", "Towel Cloth", []),
    ],
)
def test_every_answer_is_of_the_kind_and_does_the_deed(
    index: UnitIndex, text: str, there: str, meant: list[str]
) -> None:
    assert answered(index, text, *map(unit, there.split())) == meant
