"""Ordinary instructions that no grammar reads: what a capable reader does first is done, and nothing else is asked."""

from typing import Any

import pytest
from scripted_model import ScriptedModel, carry_out
from tiny_home import TinyHome, TinyThing

from memory_node.domain.states import ObjectState

CLOSED = {ObjectState.CLOSED}


def apartment() -> TinyHome:
    return TinyHome(
        TinyThing("t", "DiningTable"),
        TinyThing("c", "CounterTop"),
        TinyThing("sb", "SinkBasin", "c"),
        TinyThing("f", "Fridge", states=set(CLOSED)),
        TinyThing("h", "Cabinet", states=set(CLOSED)),
        TinyThing("w", "Microwave", "c", states=set(CLOSED)),
        TinyThing("s", "Sofa"),
        TinyThing("x", "Box"),
        TinyThing("p", "HousePlant"),
        TinyThing("l", "FloorLamp", states={ObjectState.OFF}),
        TinyThing("m1", "Mug", "c"),
        TinyThing("m2", "Mug", "h"),
        TinyThing("k", "Knife", "t"),
        TinyThing("b", "BasketBall", "s"),
        TinyThing("r", "RemoteControl", "s"),
        TinyThing("pl", "Plate", "t", states={ObjectState.DIRTY}),
        TinyThing("fo", "Fork", "t"),
        TinyThing("br", "Bread", "c"),
        TinyThing("eg", "Egg", "c"),
        TinyThing("bo", "Book", "s"),
        TinyThing("u", "User"),
    )


# What is said, the goals that a reader takes from it, and the skill that it calls first.
MOVES: list[tuple[str, list[dict[str, Any]], tuple[str, dict[str, Any]]]] = [
    (
        "bring me the mug Anna gave me",
        [{"kind": "fetch", "thing": "Mug 2", "place": "me", "words": "bring me the mug Anna gave me"}],
        ("OpenObject", {"object": "Cabinet"}),
    ),
    (
        "tidy up the living room",
        [{"kind": "place", "thing": "BasketBall", "place": "Box", "words": "tidy up the living room"}],
        ("PickupObject", {"object": "BasketBall"}),
    ),
    (
        "put the knife somewhere the kids can't reach",
        [
            {
                "kind": "place",
                "thing": "Knife",
                "place": "Cabinet",
                "words": "put the knife somewhere the kids can't reach",
            }
        ],
        ("OpenObject", {"object": "Cabinet"}),
    ),
    (
        "it's too dark in here to read",
        [{"kind": "switch_on", "thing": "FloorLamp", "words": "it's too dark in here to read"}],
        ("SwitchOn", {"object": "FloorLamp"}),
    ),
    (
        "I could do with a warm slice of bread",
        [
            {"kind": "slice", "thing": "Bread", "words": "a warm slice of bread"},
            {"kind": "heat", "thing": "Bread", "sliced": True, "words": "a warm slice of bread"},
        ],
        ("PickupObject", {"object": "Knife"}),
    ),
    (
        "the eggs shouldn't stand around like that",
        [{"kind": "place", "thing": "Egg", "place": "Fridge", "all": True, "words": "the eggs shouldn't stand around"}],
        ("OpenObject", {"object": "Fridge"}),
    ),
    (
        "clear the table after dinner, would you",
        [
            {"kind": "place", "thing": "Plate", "place": "SinkBasin", "words": "clear the table after dinner"},
            {"kind": "place", "thing": "Fork", "place": "SinkBasin", "words": "clear the table after dinner"},
        ],
        ("PickupObject", {"object": "Plate"}),
    ),
    (
        "I want to watch something, what do I need for that?",
        [{"kind": "fetch", "thing": "RemoteControl", "place": "me", "words": "what do I need for that"}],
        ("PickupObject", {"object": "RemoteControl"}),
    ),
    (
        "we eat in ten minutes and there isn't a single clean plate",
        [{"kind": "clean", "thing": "Plate", "words": "there isn't a single clean plate"}],
        ("PickupObject", {"object": "Plate"}),
    ),
    (
        "something to read in bed would be lovely",
        [{"kind": "fetch", "thing": "Book", "place": "me", "words": "something to read in bed would be lovely"}],
        ("PickupObject", {"object": "Book"}),
    ),
]


@pytest.mark.parametrize(("instruction", "goals", "first"), MOVES)
def test_a_sensible_first_move_is_made(
    instruction: str, goals: list[dict[str, Any]], first: tuple[str, dict[str, Any]]
) -> None:
    place = apartment()
    model = ScriptedModel([[("set_goals", {"goals": goals}), first], [("impossible", {"reason": "enough"})]])
    result = carry_out(model, instruction, place, told=["Anna gave me the mug in the cabinet."])
    assert len(result.outcome.pursued) == len(goals)
    assert place.calls[-1].startswith(first[0])
    assert not result.outcome.question
