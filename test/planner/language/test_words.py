"""Instructions fall into words, with contractions and spellings put into one form."""

import pytest

from memory_node.planner.language.english import load_english
from memory_node.planner.language.instruction_words import without_kindness, words_of

ENGLISH = load_english()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Don't wash it!", "do not wash it !"),
        ("I’d like Anna's mug.", "i would like anna 's mug ."),
        ("the mug – the red one", "the mug - the red one"),
        ("salt & pepper", "salt and pepper"),
        ("a well-known mug", "a well known mug"),
        ("C'mere", "come here"),
        ("the fork as well as the knife", "the fork and the knife"),
        ("请把苹果", ""),
    ],
)
def test_text_becomes_words(text: str, words: str) -> None:
    assert words_of(text, ENGLISH) == words.split()


def test_other_ways_to_say_a_word_are_found_as_whole_words_only() -> None:
    assert words_of("the surplus plates", ENGLISH) == ["the", "surplus", "plates"]


def test_kindness_is_left_out() -> None:
    words = words_of("if you can, bring me the mug right away", ENGLISH)
    assert without_kindness(words, ENGLISH) == [",", "bring", "me", "the", "mug"]
