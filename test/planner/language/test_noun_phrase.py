"""Noun phrases say which thing is meant, how many, in which state, and what tells it from others."""

import pytest

from memory_node.catalogue.label_space import load_catalogue
from memory_node.domain.states import ObjectState
from memory_node.planner.language.english import INTO, load_english
from memory_node.planner.language.instruction_words import words_of
from memory_node.planner.language.lexicon import Lexicon
from memory_node.planner.language.noun_phrase import NounPhrase
from memory_node.planner.language.noun_phrase_reader import NounPhraseReader

ENGLISH = load_english()
READER = NounPhraseReader(Lexicon(load_catalogue(), ENGLISH.rooms), ENGLISH)


def phrase(text: str) -> NounPhrase:
    found = READER.read(words_of(text, ENGLISH), 0)
    assert found is not None, text
    return found


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        ("the mug", {"head": "mug", "definite": True, "count": 1, "every": False}),
        ("a mug", {"definite": False}),
        ("three forks", {"head": "fork", "count": 3}),
        ("two of the forks", {"head": "fork", "count": 2}),
        ("all the pillows", {"head": "pillow", "every": True}),
        ("all of the pillows", {"head": "pillow", "every": True}),
        ("one of the pillows", {"head": "pillow", "every": False, "plural": False}),
        ("the forks", {"plural": True}),
        ("the keys", {"plural": False}),
        ("my phone", {"owner": "my", "definite": True}),
        ("Anna's mug", {"owner": "anna", "head": "mug"}),
        ("the lettuce's slices", {"owner": "", "head": "lettuce", "pieces": True}),
        ("the other mug", {"other": True, "head": "mug"}),
        ("another cup", {"other": True}),
        ("the other one", {"other": True, "pronoun": "one"}),
        ("the red mug", {"attributes": ("red",)}),
        ("the clean plate", {"states": (ObjectState.CLEANED,)}),
        ("the mug you washed", {"states": (ObjectState.CLEANED,), "handled": True}),
        ("a slice of bread", {"head": "bread", "pieces": True}),
        ("a cup of coffee", {"head": "cup"}),
        ("me", {"person": True}),
        ("it", {"pronoun": "it"}),
        ("the kitchen", {"room": "kitchen"}),
        ("something to drink from", {"described": True}),
        ("the fridge door", {"head": "fridge"}),
        ("the top of the fridge", {"head": "fridge"}),
    ],
)
def test_phrase_is_read(text: str, fields: dict[str, object]) -> None:
    found = phrase(text)
    assert {name: getattr(found, name) for name in fields} == fields


def test_clause_tells_where_the_thing_is() -> None:
    (where,) = phrase("the mug that is on the table").places
    assert (where[0], where[1].head) == (INTO, "table")


def test_what_is_not_meant_is_kept_apart() -> None:
    found = phrase("the mug, not the cup".replace(",", ""))
    assert (found.head, [one.head for one in found.excluded]) == ("mug", ["cup"])


def test_phrase_ends_before_its_place() -> None:
    assert phrase("the mug in the sink").end == 2


@pytest.mark.parametrize("text", ["in the sink", "and", ", the mug"])
def test_other_words_begin_no_phrase(text: str) -> None:
    assert READER.read(words_of(text, ENGLISH), 0) is None


@pytest.mark.parametrize(
    ("text", "named", "refers_back"),
    [("the mug", True, False), ("the hammer", False, False), ("it", False, True), ("the fruit", True, False)],
)
def test_phrase_names_or_refers_back(text: str, named: bool, refers_back: bool) -> None:
    found = phrase(text)
    assert (found.named, found.refers_back) == (named, refers_back)


def test_thing_that_is_shown_is_not_asked_to_be_so() -> None:
    assert phrase("that wet towel").pointed_at
    assert not phrase("the wet towel").pointed_at
