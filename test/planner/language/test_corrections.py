"""What a speaker takes back in the middle is left out."""

import pytest
from grammar import READER, words

from memory_node.planner.language.corrections import Corrections

CORRECTIONS = Corrections(READER.commands, READER.lexicon)


def mended(text: str) -> str:
    return " ".join(CORRECTIONS.applied(words(text))[0])


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("put the mug, no, the cup in the sink", "put the cup in the sink"),
        ("put the mug, no wait, the cup, in the sink", "put the cup in the sink"),
        ("put the mug in the sink, no, on the shelf", "put the mug on the shelf"),
        ("put the mug in the sink, I mean on the shelf", "put the mug on the shelf"),
        ("put the mug in the sink, sorry, the fridge", "put the mug in the fridge"),
        ("wash the mug, actually, the bowl", "wash the bowl"),
        ("wash the mug - scratch that - the bowl", "wash the bowl"),
    ],
)
def test_right_words_stand_in_place_of_the_wrong_ones(text: str, meant: str) -> None:
    assert mended(text).replace(" ,", "") == meant


def test_another_command_replaces_the_sentence_and_keeps_its_thing() -> None:
    assert mended("heat the bread, or rather, put it in the fridge") == "the bread , put it in the fridge"


def test_something_taken_back_without_a_like_is_noted() -> None:
    words_left, taken_back = CORRECTIONS.applied(words("wash the mug, no, quickly"))
    assert taken_back
    assert words_left[:3] == ["wash", "the", "mug"]


def test_plain_words_stay() -> None:
    said = words("there is no mug, wash the cup")
    assert CORRECTIONS.applied(said) == (said, False)
