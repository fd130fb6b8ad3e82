"""Plain commands are read word by word: what to do, with what, from where, to where."""

import pytest
from grammar import READER, command, words

from memory_node.domain.goal_labels import GoalKind as K
from memory_node.planner.language.spoken_command import Command


def text_of(command: Command, part: str) -> str:
    phrase = getattr(command, part)
    return phrase.text if phrase is not None else ""


@pytest.mark.parametrize(
    ("text", "kind", "target", "destination"),
    [
        ("put the red mug in the sink", K.PLACE, "the red mug", "the sink"),
        ("take a cd from a table to a dresser", K.PLACE, "a cd", "a dresser"),
        ("get the apple on the table", K.FETCH, "the apple", ""),
        ("turn the lamp on", K.SWITCH_ON, "the lamp", ""),
        ("turn off the light", K.SWITCH_OFF, "the light", ""),
        ("throw the paper away", K.PLACE, "the paper", ""),
        ("throw the ball", K.THROW, "the ball", ""),
        ("slicing the bread with a knife", K.SLICE, "the bread", ""),
        ("put the box on top of the sofa", K.PLACE, "the box", "the sofa"),
        ("go to the kitchen", K.GO, "the kitchen", ""),
        ("stand by the window", K.GO, "the window", ""),
        ("put the mug down", K.DROP, "the mug", ""),
        ("let go of the mug", K.DROP, "the mug", ""),
        ("drop the mug", K.DROP, "the mug", ""),
        ("drop it", K.DROP, "it", ""),
        ("drop the mug in the sink", K.PLACE, "the mug", "the sink"),
        ("put the pen on the table next to the lamp", K.PLACE, "the pen", "the table"),
        ("put water in the kettle", K.FILL, "the kettle", ""),
        ("hold the book under the lamp", K.EXAMINE, "the book", ""),
    ],
)
def test_command_is_read(text: str, kind: K, target: str, destination: str) -> None:
    read = command(text)
    assert not read.unread
    assert (read.kind, read.targets[0].text, text_of(read, "destination")) == (kind, target, destination)


@pytest.mark.parametrize(
    ("text", "origin", "destination"),
    [
        ("take the knife out of the drawer", "the drawer", ""),
        ("take the knife off the table", "the table", ""),
        ("get the milk from the fridge", "the fridge", ""),
        ("move the apple from the bowl to the plate", "the bowl", "the plate"),
        ("take the cup from inside the cabinet and", "the cabinet", ""),
    ],
)
def test_origin_is_no_destination(text: str, origin: str, destination: str) -> None:
    read = command(text)
    assert (text_of(read, "origin"), text_of(read, "destination")) == (origin, destination)


@pytest.mark.parametrize("text", ["stop", "stop moving", "freeze", "stand still", "don't move"])
def test_stopping_needs_no_thing(text: str) -> None:
    assert command(text).kind is K.STOP


@pytest.mark.parametrize("text", ["wait", "hold on", "wait a moment"])
def test_waiting_needs_no_thing(text: str) -> None:
    assert command(text).kind is K.WAIT


@pytest.mark.parametrize("text", ["come here", "come over here", "come to me"])
def test_robot_is_called(text: str) -> None:
    read = command(text)
    assert read.kind is K.GO
    assert read.to_user or read.targets[0].person


@pytest.mark.parametrize(
    "text", ["bring me the apple", "bring the apple to me", "hand me the apple", "get me the apple"]
)
def test_bringing_something_to_me_is_a_delivery(text: str) -> None:
    read = command(text)
    assert read.to_user
    assert read.targets[0].text == "the apple"
    assert read.destination is None


@pytest.mark.parametrize(
    "text", ["put it back", "put the mug back where it was", "put the mug back in its place", "replace it"]
)
def test_back_is_where_it_was(text: str) -> None:
    read = command(text)
    assert read.back
    assert read.destination is None


@pytest.mark.parametrize("text", ["replace it with a cup", "replace the mug by a cup"])
def test_one_thing_for_another_is_explained_by_no_rule(text: str) -> None:
    assert command(text).unread == ("replace",)


def test_vessel_with_contents_names_both() -> None:
    read = command("put a plate with a spoon on it on the counter")
    assert read.contents is not None
    assert read.destination is not None
    assert (read.targets[0].text, read.contents.text, read.destination.text) == ("a plate", "a spoon", "the counter")


@pytest.mark.parametrize(
    "text", ["bring a cup or a mug to the sofa", "bring me a cup or a mug", "get me a cup or a mug"]
)
def test_either_of_two_things_will_do(text: str) -> None:
    read = command(text)
    assert read.alternatives
    assert [phrase.text for phrase in read.targets] == ["a cup", "a mug"]


def test_several_things_are_taken_along() -> None:
    read = command("put salt, pepper and a fork on the table")
    assert len(read.targets) == 3


@pytest.mark.parametrize(
    "text", ["put them both in the drawer", "put both of them in the drawer", "put both in the drawer"]
)
def test_both_are_taken(text: str) -> None:
    read = command(text)
    assert not read.unread
    assert read.targets[0].refers_back
    assert read.targets[0].plural


@pytest.mark.parametrize(
    ("text", "kind", "treatment"),
    [
        ("toast the bread", K.HEAT, "toast"),
        ("boil the egg", K.HEAT, "boil"),
        ("mash the potato", K.HEAT, "boil"),
        ("melt the butter", K.HEAT, "melt"),
        ("warm the soup up", K.HEAT, "heat"),
        ("peel the apple", K.SLICE, "peel"),
        ("empty the cup", K.EMPTY, "pour out"),
        ("pour the mug out", K.EMPTY, "pour out"),
        ("give the pan a good scrub", K.CLEAN, "wash"),
        ("make me some toast", K.HEAT, "toast"),
    ],
)
def test_verb_of_a_treatment_is_known_with_it(text: str, kind: K, treatment: str) -> None:
    read = command(text)
    assert (read.kind, read.treatment) == (kind, treatment)


def test_words_that_no_rule_explains_are_kept() -> None:
    assert command("wash the mug the cup").unread == ("the", "cup")
    assert command("wash the mug").unread == ()


def test_command_begins_behind_a_comma_only_with_a_verb() -> None:
    commands = READER.commands
    assert commands.begins(words("wash it"), 0)
    assert not commands.begins(words("the wash"), 0)
    assert not commands.begins(words("fork in the drawer"), 0)
    assert commands.begins(words("light the candle"), 0)
    assert not commands.begins(["and", "light"], 1)
