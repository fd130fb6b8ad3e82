"""A kind that is asked for by its name and by what describes it is no other kind."""

import pytest

from memory_node.search.request_words import KindWords, kind_of

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
