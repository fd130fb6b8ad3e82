"""Commands of a text game as deeds over kinds."""

import pytest

from benchmarks.alfworld.sentences import attempt_of_game, deed_of
from memory_node.lessons.optimizer.attempt import DeedKind
from memory_node.lessons.optimizer.rules import whereabouts_of

TEXT = "You are in a room. Looking quickly around you, you see a drawer 2, a drawer 1, a side table 1, and a fridge 1."


@pytest.mark.parametrize(
    ("command", "kind", "way", "thing", "place"),
    [
        ("go to side table 1", DeedKind.TRAVEL, "go to side table", "", "side table"),
        ("open drawer 12", DeedKind.OPEN, "open drawer", "", "drawer"),
        ("examine drawer 2", DeedKind.LOOK, "examine drawer", "", "drawer"),
        ("take egg 1 from drawer 2", DeedKind.TAKE, "take egg from drawer", "egg", "drawer"),
        ("move egg 1 to side table 1", DeedKind.PUT, "move egg to side table", "egg", "side table"),
        ("put egg 1 in/on fridge 1", DeedKind.PUT, "put egg in/on fridge", "egg", "fridge"),
        ("cool egg 1 with fridge 1", DeedKind.CHANGE, "cool egg with fridge", "egg", "fridge"),
        ("use desklamp 1", DeedKind.CHANGE, "use desklamp", "desklamp", ""),
        ("look", DeedKind.LOOK, "look", "", ""),
    ],
)
def test_command_is_read_over_kinds(command: str, kind: DeedKind, way: str, thing: str, place: str) -> None:
    deed = deed_of(command, "You do it.")
    assert (deed.kind, deed.way, deed.thing, deed.place) == (kind, way, thing, place)
    assert deed.worked


def test_reply_tells_what_is_seen_and_what_failed() -> None:
    seen = deed_of("go to drawer 1", "You arrive at drawer 1. On the drawer 1, you see a egg 2, a egg 1, and a pen 1.")
    assert seen.seen == ("egg", "pen")
    assert not deed_of("open drawer 1", "Nothing happens.").worked


def test_game_is_an_attempt_with_its_kinds_of_places() -> None:
    turns = [
        ("go to drawer 1", "The drawer 1 is closed."),
        ("open drawer 1", "You open the drawer 1. The drawer 1 is open. In it, you see a egg 1."),
        ("take egg 1 from drawer 1", "You pick up the egg 1 from the drawer 1."),
        ("cool egg 1 with fridge 1", "You cool the egg 1 using the fridge 1."),
        ("move egg 1 to side table 1", "You move the egg 1 to the side table 1."),
    ]
    attempt = attempt_of_game("e", "put a cool egg in side table.", TEXT, turns, True)
    assert attempt.places == ("drawer", "side table", "fridge")
    assert [deed.way for deed in attempt.deeds if deed.kind is DeedKind.CHANGE] == ["cool egg with fridge"]
    assert whereabouts_of(attempt).found_at == ("drawer",)
