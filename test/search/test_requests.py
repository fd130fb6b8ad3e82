"""What the words of a request tell: kinds, purposes, deeds, and things that are not wanted."""

from __future__ import annotations

import numpy as np
import pytest

from memory_node.domain.answer import FindQuery
from memory_node.domain.memory_unit import MemoryUnit
from memory_node.search.minilm import MiniLmEmbedder
from memory_node.search.ranker import Ranker
from memory_node.search.request_phrases import contradict, role_of
from memory_node.search.request_words import KindWords, purpose_of
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
        ("something to make toast from", "Toaster Bread", ["Bread"]),
        ("a tool for cutting bread", "Bread Knife Fork", ["Knife"]),
        ("something to spread on toast", "Bread Pen", []),
        ("a can to plant with", "HousePlant Cup", []),
        ("something from the fridge that I can eat", "Apple Fridge", ["Apple"]),
        ("take the apple out of the fridge", "Apple Fridge", ["Apple"]),
        ("move the apple to the fridge", "Fridge Apple", ["Apple", "Fridge"]),
        ("put the knives on the coffee table", "CoffeeTable Knife Fork", ["Knife", "CoffeeTable"]),
        ("a bread knife", "Bread Knife", ["Knife"]),
        ("the shaker with the pepper", "PepperShaker SaltShaker", ["PepperShaker"]),
        ("a plate or a bowl", "Plate Bowl Cup", ["Plate", "Bowl"]),
        ("the toilet is blocked", "Toilet Mug", []),
        ("I spilled the plant's water", "HousePlant Cloth", []),
    ],
)
def test_every_answer_is_of_the_kind_and_does_the_deed(
    index: UnitIndex, text: str, there: str, meant: list[str]
) -> None:
    assert answered(index, text, *map(unit, there.split())) == meant
