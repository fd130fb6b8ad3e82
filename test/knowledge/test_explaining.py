"""What a verb is explained to mean is read from many wordings, and put into later instructions."""

from __future__ import annotations

import pytest

from memory_node.catalogue.label_space import load_catalogue
from memory_node.knowledge.told.explaining import explanation_of, in_known_words
from memory_node.knowledge.told.fact import Relation
from memory_node.knowledge.told.forms import TellingReader

KINDS = load_catalogue()


@pytest.mark.parametrize(
    ("said", "deed", "way"),
    [
        ("In our house, docking a thing means putting it on the shelf.", "dock", "put it on the shelf"),
        ("To bed something down is to put it in the box.", "bed down", "put it in the box"),
        ("By docking a phone I mean to put the phone on the desk.", "dock", "put it on the desk"),
        ("When I say dock it, put it on the desk.", "dock", "put it on the desk"),
        ("When I say lights out, turn off the lamp.", "lights out", "turn off the lamp"),
        ("Bed the cup down: wash it and put it in the cabinet.", "bed down", "wash it and put it in the cabinet"),
    ],
)
def test_explanation_tells_verb_and_way(said: str, deed: str, way: str) -> None:
    explained = explanation_of(said)
    assert explained is not None
    assert (explained.deed, explained.way) == (deed, way)
    (fact,) = TellingReader(KINDS).read(said, 1).facts
    assert (fact.relation, fact.object.words, fact.is_part) == (Relation.MEANS, way, False)


@pytest.mark.parametrize(
    "said",
    [
        "The mug is to be washed.",
        "Karl is to put it in the sink.",
        "The clicker means the remote control.",
        "kitchen: put the mug in the sink",
        "remember: put it back",
        "Clear the desk: take the cup and wash it",
        "What does docking mean?",
    ],
)
def test_other_sentences_explain_no_verb(said: str) -> None:
    assert explanation_of(said) is None


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("dock my tablet", "put my tablet on the shelf"),
        ("please dock the cup and the mug", "please put the cup and the mug on the shelf"),
        ("bring me the pen and dock it", "bring me the pen and put it on the shelf"),
        ("dock the phone on the desk", "dock the phone on the desk"),
        ("dock up the phone", "dock up the phone"),
    ],
)
def test_explained_verb_stands_for_its_way(text: str, meant: str) -> None:
    assert in_known_words(text, "dock", "put it on the shelf") == meant


def test_particle_stands_before_or_behind_thing_and_belongs_to_verb() -> None:
    way = "put it in the box"
    assert in_known_words("bed the cup down", "bed down", way) == "put the cup in the box"
    assert in_known_words("bed down the cup", "bed down", way) == "put the cup in the box"
    assert in_known_words("bed the cup", "bed down", way) == "bed the cup"


def test_saying_without_thing_is_meant_whole() -> None:
    assert in_known_words("Lights out!", "lights out", "turn off the lamp") == "turn off the lamp"
    assert in_known_words("are the lights out", "lights out", "turn off the lamp") == "are the lights out"
