"""Instructions fall apart into commands in the order of doing, remarks, and what is not to be done."""

import pytest
from grammar import read

from memory_node.domain.goal_labels import GoalKind as K
from memory_node.planner.language.spoken_instruction import Remark


def commands(text: str) -> list[tuple[K, str]]:
    return [(one.kind, one.targets[0].text if one.targets else "") for one in read(text).commands]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Wash an apple and put it in the bowl.", [(K.CLEAN, "an apple"), (K.PLACE, "it")]),
        ("Could you please find the mug, and then wash it?", [(K.FIND, "the mug"), (K.CLEAN, "it")]),
        (
            "Slice the bread. Then toast it; finally serve it on a plate.",
            [(K.SLICE, "the bread"), (K.HEAT, "it"), (K.PLACE, "it")],
        ),
        ("Although there is a bowl in the cupboard, rinse a ladle", [(K.CLEAN, "a ladle")]),
        ("The pot, put it on the stove", [(K.PLACE, "it")]),
        ("Would you mind closing the window?", [(K.CLOSE, "the window")]),
        ("Pick up the mug before one of us trips over it and breaks a leg", [(K.FETCH, "the mug")]),
        ("Wash the mug before I serve the soup", [(K.CLEAN, "the mug")]),
        ("I am cooking tonight, so I'd like you to chop the bread", [(K.SLICE, "the bread")]),
        ("Use the knife to cut the bread", [(K.SLICE, "the bread")]),
        ("Put the potato on to boil", [(K.HEAT, "the potato")]),
        ("Put the mug in the sink and hand me the fork", [(K.PLACE, "the mug"), (K.PLACE, "the fork")]),
        ("The potato you gave me is too hot, so cool it down", [(K.COOL, "it")]),
        ("Pull the curtains shut", [(K.CLOSE, "the curtains")]),
        ("Warm me up an apple", [(K.HEAT, "an apple")]),
        ("An apple would be lovely", [(K.PLACE, "an apple")]),
        ("Microwave door open, please", [(K.OPEN, "microwave door")]),
    ],
)
def test_commands_follow_each_other(text: str, expected: list[tuple[K, str]]) -> None:
    assert commands(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("wash the cup before putting it in the cabinet", [(K.CLEAN, "the cup"), (K.PLACE, "it")]),
        ("before putting the cup in the cabinet, wash it", [(K.CLEAN, "the cup"), (K.PLACE, "it")]),
        ("after washing the cup, put it in the cabinet", [(K.CLEAN, "the cup"), (K.PLACE, "it")]),
        ("put the cup in the cabinet after washing it", [(K.CLEAN, "the cup"), (K.PLACE, "it")]),
    ],
)
def test_order_of_doing_is_not_that_of_speaking(text: str, expected: list[tuple[K, str]]) -> None:
    assert commands(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "do not touch the vase, wash the cup",
        "wash the cup instead of the vase",
        "instead of the vase, wash the cup",
        "never mind the vase, wash the cup",
        "leave the vase alone and wash the cup",
        "wash the cup, not the vase",
    ],
)
def test_what_is_not_to_be_done_is_no_command(text: str) -> None:
    instruction = read(text)
    assert [(one.kind, one.targets[0].head) for one in instruction.commands] == [(K.CLEAN, "cup")]
    assert instruction.plain


def test_remark_is_kept_as_what_was_spoken_of() -> None:
    first, second = read("There is a phone on the bed, bring it to me.").parts
    assert isinstance(first, Remark)
    assert [phrase.head for phrase in first.phrases] == ["phone"]
    assert not isinstance(second, Remark)


def test_talk_is_no_command() -> None:
    for text in ("the weather is nice", "How are you today?", "thank you"):
        assert read(text).commands == ()
        assert not read(text).plain


def test_unknown_words_make_an_instruction_not_plain() -> None:
    assert read("put the mug in the sink").plain
    assert not read("frobnicate the mug, put the cup in the sink").plain


@pytest.mark.parametrize(
    "text", ["if the mug is dirty, wash it", "wash the mug unless it is clean", "wash it if it is dirty"]
)
def test_condition_is_not_dropped(text: str) -> None:
    assert not read(text).plain


def test_part_that_is_told_with_another_verb_is_not_dropped() -> None:
    said = read("The bowl should be washed before it goes on the table.")
    assert len(said.commands) == 2 or not said.plain


def test_thing_told_by_strange_words_is_described() -> None:
    assert read("bring me the chipped mug").described
    assert not read("bring me the red mug").described


def test_question_about_the_home_is_no_order() -> None:
    assert read("does the cup need a wash?").asks
    assert not read("wash the cup").asks
