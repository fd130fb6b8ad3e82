"""Answers, corrections and additions are filled into what was said before."""

import pytest
from grammar import KINDS, command, read

from memory_node.planner.language.asking_back import Question, Slot
from memory_node.planner.language.conversation import Conversation, Pending, completed
from memory_node.planner.language.spoken_command import Command


def asked(text: str, slot: Slot, *choices: str) -> Conversation:
    return Conversation(pending=Pending(Question("?", choices, slot), read(text).parts, 0))


def after(text: str) -> Conversation:
    return Conversation(last=read(text).parts)


def answered(answer: str, conversation: Conversation) -> Command | None:
    parts = completed(read(answer), conversation, KINDS)
    if not parts:
        return None
    assert isinstance(parts[-1], Command)
    return parts[-1]


def names(found: Command | None) -> tuple[str, str]:
    assert found is not None
    return found.targets[0].head if found.targets else "", found.destination.head if found.destination else ""


@pytest.mark.parametrize(
    ("said", "slot", "answer", "meant"),
    [
        ("put the book on the table", Slot.DESTINATION, "the dining table", ("book", "dining table")),
        ("put the mug", Slot.DESTINATION, "in the sink", ("mug", "sink")),
        ("put the mug", Slot.DESTINATION, "next to the lamp", ("mug", "lamp")),
        ("slice it", Slot.TARGET, "the apple", ("apple", "")),
        ("put it in the sink", Slot.TARGET, "the mug, please", ("mug", "sink")),
        ("go", Slot.TARGET, "to the kitchen", ("kitchen", "")),
        ("go", Slot.TARGET, "the kitchen", ("kitchen", "")),
    ],
)
def test_answer_fills_the_part_that_was_asked_about(said: str, slot: Slot, answer: str, meant: tuple[str, str]) -> None:
    assert names(answered(answer, asked(said, slot))) == meant


def test_answer_to_a_question_about_a_lamp_is_its_light() -> None:
    found = answered("the desk lamp", asked("look at the book under the lamp", Slot.LIGHT))
    assert found is not None
    assert found.light is not None
    assert found.light.head == "desk lamp"


def test_yes_takes_the_only_choice() -> None:
    found = answered("yes", asked("put the hammer in the drawer", Slot.TARGET, "knife"))
    assert names(found) == ("knife", "drawer")
    assert answered("yes", asked("put the book on the table", Slot.DESTINATION, "desk", "side table")) is None
    assert answered("no", asked("put the hammer in the drawer", Slot.TARGET, "knife")) is None


def test_answer_with_one_keeps_the_noun_that_was_asked_about() -> None:
    found = answered("the red one", asked("put the mug in the sink", Slot.TARGET))
    assert names(found) == ("mug", "sink")
    assert found is not None
    assert found.targets[0].attributes == ("red",)


@pytest.mark.parametrize(
    ("said", "then", "meant"),
    [
        ("put the mug in the sink", "no, the cup", ("cup", "sink")),
        ("put the mug in the sink", "and the fork, too", ("fork", "sink")),
        ("put the mug in the sink", "no, on the shelf", ("mug", "shelf")),
        ("put the mug in the sink", "no, the shelf", ("mug", "shelf")),
        ("wash the mug", "the other one, too", ("mug", "")),
        ("wash the mug", "do the same with the cup", ("cup", "")),
    ],
)
def test_last_command_is_done_with_another_thing_or_place(said: str, then: str, meant: tuple[str, str]) -> None:
    assert names(answered(then, after(said))) == meant


@pytest.mark.parametrize("then", ["not the red one", "no, not the red one"])
def test_thing_that_is_ruled_out_is_another_of_its_class(then: str) -> None:
    found = answered(then, after("bring me the mug"))
    assert names(found) == ("mug", "")
    assert found is not None
    assert found.targets[0].other


def test_new_command_is_no_answer() -> None:
    said = read("put the fork in the drawer")
    assert completed(said, asked("slice it", Slot.TARGET), KINDS) == said.parts


@pytest.mark.parametrize("text", ["the mug", "in the sink", "yes", "no"])
def test_fragment_with_nothing_before_it_means_nothing(text: str) -> None:
    assert completed(read(text), Conversation(), KINDS) is None


def test_stopping_is_not_done_with_another_thing() -> None:
    assert answered("the cup", Conversation(last=(command("stop"),))) is None
