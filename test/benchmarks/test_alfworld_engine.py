"""ALFWorld's engine on a game of our own: a pen on a desk that belongs into a box."""

import json

import pytest

from benchmarks.alfworld.games import Game

pytest.importorskip("textworld", reason="needs the extra alfworld")

from benchmarks.alfworld.engine import BrokenGameError, PddlEngine

DOMAIN = """
(define (domain small)
  (:requirements :typing :adl)
  (:types agent place thing - object)
  (:predicates (at ?a - agent ?p - place) (lies ?t - thing ?p - place) (holds ?a - agent ?t - thing)
    (busy ?a - agent) (known ?p - place))
  (:action GoTo
    :parameters (?a - agent ?from - place ?to - place)
    :precondition (and (at ?a ?from) (not (at ?a ?to)))
    :effect (and (at ?a ?to) (not (at ?a ?from))))
  (:action Take
    :parameters (?a - agent ?t - thing ?p - place)
    :precondition (and (at ?a ?p) (lies ?t ?p) (not (busy ?a)))
    :effect (and (holds ?a ?t) (busy ?a) (not (lies ?t ?p))))
  (:action Put
    :parameters (?a - agent ?t - thing ?p - place)
    :precondition (and (at ?a ?p) (holds ?a ?t))
    :effect (and (lies ?t ?p) (not (busy ?a)) (not (holds ?a ?t)))))
"""
PROBLEM = """
(define (problem pen) (:domain small)
  (:objects agent1 - agent Desk_bar_1 - place Box_bar_1 - place Pen_bar_1 - thing)
  (:init (at agent1 Box_bar_1) (lies Pen_bar_1 Desk_bar_1) (known Desk_bar_1) (known Box_bar_1))
  (:goal (lies Pen_bar_1 Box_bar_1)))
"""
GRAMMAR = '''
grammar :: """
{
  "intro": [{"rhs": "Looking quickly around you, you see [{p.indefinite + ' ' + p.name | known(p:place)}].\\n#task#"}],
  "list_separator": [{"rhs": ", "}],
  "list_last_separator": [{"rhs": ", and "}],
  "list_empty": [{"rhs": "nothing"}],
  "task": [{"rhs": "Your task is to: put a pen in box."}],
  "see": [{"rhs": "On the {to.name}, you see [{t.indefinite + ' ' + t.name | lies(t:thing, to:place)}]."}]
}
""";
action GoTo { template :: "go to {to}"; feedback :: "#see#"; }
action Take { template :: "take {t} from {p}"; feedback :: "You pick up the {t.name} from the {p.name}."; }
action Put { template :: "move {t} to {p}"; feedback :: "You move the {t.name} to the {p.name}."; }
'''
SMALL = {"pddl_domain": DOMAIN, "pddl_problem": PROBLEM, "grammar": GRAMMAR, "walkthrough": ["look"], "solvable": True}


def game(**changes: object) -> Game:
    return Game("pens/game.tw-pddl", "pens", json.dumps({**SMALL, **changes}).encode())


def test_game_is_played_by_its_commands_to_the_end() -> None:
    engine = PddlEngine(game())
    assert "a desk 1" in engine.text
    assert list(engine.commands) == ["go to desk 1"]
    assert "a pen 1" in engine.send("go to desk 1")
    assert engine.send("dance") == "Nothing happens."
    for command in ("take pen 1 from desk 1", "go to box 1", "move pen 1 to box 1"):
        assert command in engine.commands
        assert not engine.over
        engine.send(command)
    assert (engine.over, engine.won) == (True, True)
    engine.close()


def test_solution_of_a_file_does_not_reach_the_engine() -> None:
    engine = PddlEngine(game(walkthrough=["go to desk 1"]))
    assert engine._env.walkthrough is None
    engine.close()


@pytest.mark.parametrize(
    "content",
    [b"", b"[]", b"{", b"\xff", json.dumps({**SMALL, "grammar": None}).encode()],
    ids=["empty", "list", "cut", "encoding", "no grammar"],
)
def test_broken_file_is_told_by_its_name(content: bytes) -> None:
    with pytest.raises(BrokenGameError, match=r"pens/game\.tw-pddl") as told:
        PddlEngine(Game("pens/game.tw-pddl", "pens", content))
    assert "\n" not in str(told.value)


def test_grammar_that_cannot_be_parsed_is_told_in_one_line() -> None:
    with pytest.raises(BrokenGameError, match=r"FailedToken|Error") as told:
        PddlEngine(game(grammar="g"))
    assert "\n" not in str(told.value)
