"""Instructions of several goals that are made for training."""

import random
import re

import pytest

from training.instructions.acts import UNKNOWN, Act, effects_of, labels_of_effects
from training.instructions.augment import Wording
from training.instructions.class_words import class_words
from training.instructions.corpus import Labels, Task
from training.instructions.inflection import gerund, participle
from training.instructions.phrase_book import load_phrase_book
from training.instructions.sentence_writer import SentenceWriter
from training.instructions.sequences import Sequences

KITCHEN = Task(
    "t1",
    Labels("clean", "Mug", "Shelf"),
    frozenset({"Mug", "Apple", "Fork", "Book", "Bowl"}),
    frozenset({"Shelf", "CounterTop", "Fridge", "SinkBasin"}),
    ("Put a clean mug on the shelf.",),
    (("Take the mug.", "Wash it.", "Put it on the shelf."),),
    (("PickupObject", ("mug",)), ("CleanObject", ("mug",)), ("PutObject", ("mug", "shelf"))),
)


def wording(generator: random.Random) -> Wording:
    return Wording.shipped(generator, load_phrase_book()["unknown_things"])


def sequences(seed: int) -> Sequences:
    return Sequences.shipped([KITCHEN], random.Random(seed))


def writer(seed: int) -> SentenceWriter:
    generator = random.Random(seed)
    return SentenceWriter(load_phrase_book(), wording(generator), KITCHEN, {}, generator)


def test_same_seed_makes_the_same_instructions() -> None:
    first, second = sequences(3), sequences(3)
    assert [first.instruction() for _ in range(30)] == [second.instruction() for _ in range(30)]


@pytest.mark.parametrize("kind", ["instruction", "joined"])
def test_every_pattern_is_filled_and_every_effect_is_of_known_classes(kind: str) -> None:
    maker, classes = sequences(1), {*class_words(), UNKNOWN}
    for _ in range(400):
        example = getattr(maker, kind)()
        assert not re.search(r"\{[a-z]+\}", example.text)
        assert all(name in classes for effect in example.effects for name in effect[1:])
        asked = {name for effect in example.effects for name in effect[1:]} - {UNKNOWN}
        assert asked <= example.objects | example.fixtures


def test_thing_just_spoken_of_is_mostly_a_pronoun_and_never_named_as_new() -> None:
    words = []
    for seed in range(40):
        told = writer(seed)
        told.base(Act("clean", "Mug"))
        words.append(told.thing("Mug"))
    assert sum(word in ("it", "that", "this one") for word in words) > 20
    assert not any(word.startswith(("a ", "an ")) for word in words)


def test_place_spoken_of_before_may_be_there() -> None:
    said = set()
    for seed in range(60):
        told = writer(seed)
        told.base(Act("at", "Mug", "Shelf"))
        said.add(told.at("Shelf"))
    assert "there too" in said


def test_whole_goal_is_written_as_its_effects_in_order() -> None:
    labels = Labels("stack", "Apple", "Fridge", "Bowl", sliced=True)
    assert effects_of(labels) == (("slice", "Apple"), ("at", "Apple", "Bowl"), ("at", "Bowl", "Fridge"))
    assert effects_of(Labels("place_two", "Pen", "Drawer")) == (("two", "Pen", "Drawer"),)
    assert effects_of(Labels("nothing")) == ()


@pytest.mark.parametrize(
    ("order", "doing", "done"),
    [
        ("put it down", "putting it down", "put it down"),
        ("chop the apple", "chopping the apple", "chopped the apple"),
        ("carry it", "carrying it", "carried it"),
        ("rinse the cup", "rinsing the cup", "rinsed the cup"),
        ("take it", "taking it", "taken it"),
    ],
)
def test_verb_forms(order: str, doing: str, done: str) -> None:
    assert gerund(order) == doing
    assert participle(order) == done


@pytest.mark.parametrize(
    "labels",
    [
        Labels("place", "Mug", "Shelf"),
        Labels("place", "Apple", "Fridge", sliced=True),
        Labels("place_two", "Mug", "Shelf"),
        Labels("stack", "Fork", "Shelf", "Bowl"),
        Labels("heat", "Apple", "Shelf", sliced=True),
        Labels("clean", "Mug"),
        Labels("examine", "Book", light="DeskLamp"),
        Labels("open", "Fridge"),
        Labels("slice", "Apple"),
        Labels("nothing"),
    ],
)
def test_effects_of_one_goal_give_that_goal_back(labels: Labels) -> None:
    assert labels_of_effects(effects_of(labels)) == labels


@pytest.mark.parametrize(
    "effects",
    [
        (("at", "Mug", "Shelf"), ("at", "Fork", "Shelf")),
        (("clean", "Mug"), ("at", "Fork", "Shelf")),
        (("clean", "Mug"), ("heat", "Mug"), ("at", "Mug", "Shelf")),
        (("slice", "Apple"), ("at", "Mug", "Shelf")),
        (("at", "Fork", "Bowl"), ("at", "Bowl", "Shelf"), ("open", "Fridge")),
        (("near", "Mug", "Bowl"),),
        (("at", "Mug", "User"),),
        (("at", UNKNOWN, "Shelf"),),
        (("back", "Mug"),),
    ],
)
def test_what_is_no_single_goal_is_called_several(effects: tuple) -> None:
    assert labels_of_effects(effects) == Labels("several")
