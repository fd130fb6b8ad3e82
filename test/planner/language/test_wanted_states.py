"""Wishes are read as the commands that fulfil them."""

import pytest
from grammar import command, read

from memory_node.domain.goal_labels import GoalKind as K


@pytest.mark.parametrize(
    ("text", "kind", "target"),
    [
        ("I'd like the apple washed", K.CLEAN, "apple"),
        ("The lamp should be off", K.SWITCH_OFF, "lamp"),
        ("make sure the lamp is on", K.SWITCH_ON, "lamp"),
        ("lights off", K.SWITCH_OFF, "lights"),
        ("I want the window open", K.OPEN, "window"),
        ("please see to it that the fridge is closed", K.CLOSE, "fridge"),
        ("the plates need washing", K.CLEAN, "plates"),
        ("keep the potato warm", K.HEAT, "potato"),
    ],
)
def test_state_that_is_wished_is_the_command_for_it(text: str, kind: K, target: str) -> None:
    wished = command(text)
    assert wished.kind is kind
    assert target in wished.targets[0].text


@pytest.mark.parametrize("text", ["the mug goes in the sink", "mug to the sink", "I would like the mug in the sink"])
def test_place_that_is_wished_is_where_it_is_put(text: str) -> None:
    wished = command(text)
    assert wished.kind is K.PLACE
    assert wished.destination is not None
    assert (wished.targets[0].head, wished.destination.head) == ("mug", "sink")


@pytest.mark.parametrize("text", ["can I have a fork", "I need a fork", "a fork for me", "I could use a fork"])
def test_thing_that_is_wished_for_is_brought(text: str) -> None:
    wished = command(text)
    assert (wished.kind, wished.to_user, wished.targets[0].head) == (K.PLACE, True, "fork")


def test_state_that_is_not_wished_is_no_command() -> None:
    assert not [one for one in read("the lamp should not be on").commands if one.kind is K.SWITCH_ON]
