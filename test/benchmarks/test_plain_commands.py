"""The plain commands and sessions of the benchmark are sound, and reading them is scored in three conditions."""

import pytest

from benchmarks.plain_commands import (
    CONDITIONS,
    PARTS,
    SESSION_PARTS,
    Outcome,
    Turn,
    home_in,
    load_commands,
    load_sessions,
    measure_commands,
    rows_of_commands,
)
from memory_node.catalogue.label_space import load_catalogue
from memory_node.planner.language.understanding import Understander

KINDS = load_catalogue()


def test_there_are_enough_and_none_twice() -> None:
    texts = [turn.text for part in PARTS for turn in load_commands(part, KINDS)]
    assert len(texts) >= 400
    assert len(set(texts)) == len(texts)
    assert all(load_sessions(part, KINDS) for part in SESSION_PARTS)


@pytest.mark.parametrize("part", PARTS)
def test_what_is_wanted_exists(part: str) -> None:
    sessions = load_sessions(part, KINDS) if part in SESSION_PARTS else []
    turns = [*load_commands(part, KINDS), *(turn for session in sessions for turn in session)]
    for turn in turns:
        assert turn.wanted, turn.text
        assert all(name in KINDS for name in turn.classes), turn.text


def test_home_holds_what_the_condition_says() -> None:
    turn = Turn("put the egg in the fridge", "place", (("Egg at Fridge",),))
    assert turn.classes <= home_in("known", turn, KINDS).all
    assert home_in("unknown", turn, KINDS).all
    assert not turn.classes & home_in("unknown", turn, KINDS).all
    assert home_in("empty", turn, KINDS).all == frozenset()


def test_rows_count_right_wrong_and_asked() -> None:
    turns = [
        Turn("put the egg in the fridge", "place", (("Egg at Fridge",),)),
        Turn("wash the mug", "clean", (("clean Fork",),)),
        Turn("slice it", "slice", (("slice Apple",),)),
        Turn("slice that", "slice", (("question",),)),
    ]
    rows = list(rows_of_commands(measure_commands(turns, Understander(KINDS, None, None), KINDS)))
    assert [row["condition"] for row in rows] == list(CONDITIONS)
    assert [(row["commands"], row["right"], row["wrong"], row["asked"]) for row in rows] == [(4, 0.5, 0.25, 0.25)] * 3


def test_question_is_never_a_wrong_thing() -> None:
    turn = Turn("slice it", "slice", (("slice Apple",),))
    assert not Outcome(turn, ("question",), 1.0).wrong
    assert Outcome(turn, ("slice Bread",), 1.0).wrong
    assert not Outcome(turn, ("slice Apple",), 1.0).wrong
