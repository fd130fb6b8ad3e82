"""Commands of a text game as deeds over kinds."""

from benchmarks.alfworld.sentences import attempt_of_game
from memory_node.lessons.optimizer.attempt import DeedKind
from memory_node.lessons.optimizer.rules import whereabouts_of

TEXT = "You are in a room. Looking quickly around you, you see a drawer 2, a drawer 1, a side table 1, and a fridge 1."


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
