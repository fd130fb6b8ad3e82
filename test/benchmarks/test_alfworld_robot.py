"""The text game as a robot: what it reads, what it sends, and whole games in a small world of our own."""

from collections.abc import Callable
from functools import partial

import pytest
from small_game import KITCHEN, Embedder, SmallGame, mugs_in_drawers

from benchmarks.alfworld.command import offline_planner
from benchmarks.alfworld.games import Game
from benchmarks.alfworld.learnt import Carried
from benchmarks.alfworld.play import PlayedGame, Player, for_text_games
from benchmarks.alfworld.robot import NonsenseError, TextRobot
from memory_node.catalogue.label_space import load_catalogue
from memory_node.domain.skill import FailureReason, SkillCall

KINDS = for_text_games(load_catalogue())


def play(game: SmallGame, max_steps: int = 50, carried: Carried | None = None) -> PlayedGame:
    embedder = Embedder()
    player = Player(KINDS, embedder, partial(offline_planner, embedder), max_steps, lambda _: game)
    return player.play(Game("a/b/game.tw-pddl", "a", b""), carried)


def robot_in(game: SmallGame, max_steps: int = 50) -> TextRobot:
    return TextRobot(game, KINDS, lambda: 1, max_steps, lambda _: None)


def test_skill_in_a_closed_place_fails_with_the_place() -> None:
    robot = robot_in(SmallGame(KITCHEN, "go", lambda _: False))
    robot.execute(SkillCall("GoToObject", ("sidetable 1",)))
    robot.execute(SkillCall("PickupObject", ("mug 1",)))
    robot.execute(SkillCall("GoToObject", ("cabinet 1",)))
    result = robot.execute(SkillCall("PutObject", ("mug 1", "cabinet 1")))
    assert (result.reason, result.object_id) == (FailureReason.CLOSED, "cabinet 1")


@pytest.mark.parametrize("text", ["", "You see nothing special.", "Looking quickly around you, you see a desk 1."])
def test_first_text_that_is_no_game_is_nonsense(text: str) -> None:
    game = SmallGame(KITCHEN, "go", lambda _: False)
    game.text = text
    with pytest.raises(NonsenseError):
        robot_in(game)


@pytest.mark.parametrize(
    ("task", "done"),
    [
        ("put a mug in drawer", lambda game: 1 in mugs_in_drawers(game)),
        ("put two mug in drawer", lambda game: 2 in mugs_in_drawers(game)),
        ("clean some cup and put it in cabinet", lambda game: "cup 1" in game.layout["cabinet 1"]),
        ("put a hot apple in sidetable", lambda game: "apple 1" in game.layout["sidetable 1"]),
        ("cool some mug and put it in countertop", lambda g: any("mug" in t for t in g.layout["countertop 1"])),
        ("examine the mug with the desklamp", lambda game: "mug" in game.held and "desk lamp 1" in game.on),
        ("look at cup under the lamp", lambda game: game.held == "cup 1" and "desk lamp 1" in game.on),
    ],
)
def test_planner_wins_a_game_of_each_type(task: str, done: Callable[[SmallGame], bool]) -> None:
    played = play(SmallGame({**KITCHEN, "drawer 2": ["pen 1"]}, task, done))
    assert played.won, (played.failure, played.transcript)
    assert played.steps < 30


def test_things_and_places_that_no_catalogue_knows_work_by_their_names() -> None:
    layout = {"flurbtable 1": [], "drawer 1": [], "countertop 1": ["gizmo 1"]}
    played = play(SmallGame(layout, "put a gizmo in flurbtable", lambda game: "gizmo 1" in game.layout["flurbtable 1"]))
    assert played.won, (played.failure, played.transcript)


def test_text_commands_and_the_end_are_all_that_the_robot_needs_of_a_game() -> None:
    game = SmallGame(KITCHEN, "put a cup in sidetable", lambda _: False)

    class Window:  # asking it for anything else raises AttributeError
        text = game.text
        over = False
        commands = property(lambda _: game.commands)
        send = staticmethod(game.send)

    robot = TextRobot(Window(), KINDS, lambda: 1, 50, lambda _: None)
    for call in (("GoToObject", ("countertop 1",)), ("PickupObject", ("cup 1",)), ("CleanObject", ("cup 1",))):
        assert robot.execute(SkillCall(*call)).success
    assert game.states == {"cup 1": "clean"}
