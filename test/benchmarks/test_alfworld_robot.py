"""The text game as a robot: what it reads, what it sends, and whole games in a small world of our own."""

from collections.abc import Callable
from functools import partial

import numpy as np
import pytest
from small_game import KITCHEN, Embedder, SmallGame

from benchmarks.alfworld.carried import Carried
from benchmarks.alfworld.command import offline_planner
from benchmarks.alfworld.games import Game
from benchmarks.alfworld.open_world import for_text_games
from benchmarks.alfworld.play import PlayedGame, Player
from benchmarks.alfworld.robot import NonsenseError, TextRobot
from benchmarks.alfworld.sentences import read_places, read_sight, read_task
from benchmarks.alfworld.site import site_of
from benchmarks.alfworld.things import classes_of
from memory_node.catalogue.label_space import load_catalogue
from memory_node.domain.skill import FailureReason, SkillCall
from memory_node.domain.states import ObjectState
from memory_node.scene_graph.place_habits import PlaceCensus

KINDS = for_text_games(load_catalogue())


def play(game: SmallGame, max_steps: int = 50, carried: Carried | None = None) -> PlayedGame:
    embedder = Embedder()
    player = Player(KINDS, embedder, partial(offline_planner, embedder), max_steps, lambda _: game)
    return player.play(Game("a/b/game.tw-pddl", "a", b""), carried)


def robot_in(game: SmallGame, max_steps: int = 50) -> TextRobot:
    return TextRobot(game, KINDS, lambda: 1, max_steps, lambda _: None)


def test_first_text_tells_places_and_task() -> None:
    text = "Looking quickly around you, you see a sidetable 10, a side table 2, and an oven 1.\n\nYour task is to: go."
    assert read_places(text) == ("sidetable 10", "side table 2", "oven 1")
    assert read_task(text) == "go."


@pytest.mark.parametrize(
    ("text", "contents", "doors"),
    [
        ("You arrive at desk 1. On the desk 1, you see a cd 2, and a pen 1.", {"desk 1": ("cd 2", "pen 1")}, {}),
        ("The safe 1 is open. In it, you see nothing.", {"safe 1": ()}, {"safe 1": True}),
        ("You arrive at drawer 3. The drawer 3 is closed.", {}, {"drawer 3": False}),
        ("You turn on the desklamp 1.", {}, {}),
    ],
)
def test_reply_tells_contents_and_doors(text: str, contents: dict, doors: dict) -> None:
    sight = read_sight(text)
    assert (sight.contents, sight.doors, sight.happened) == (contents, doors, True)


def test_nothing_happens_is_a_failure_with_a_reason() -> None:
    game = SmallGame(KITCHEN, "go", lambda _: False)
    robot = robot_in(game)
    assert robot.execute(SkillCall("GoToObject", ("countertop 1",))).success
    result = robot.execute(SkillCall("SwitchOn", ("cup 1",)))
    assert (result.success, result.reason) == (False, FailureReason.EXECUTION)
    assert "nothing happens" in result.message


def test_names_mean_classes_by_the_label_space() -> None:
    assert classes_of("coffee mug 3", KINDS) == ("Mug",)
    assert classes_of("cellphone 1", KINDS) == ("CellPhone",)
    assert classes_of("gizmo 2", KINDS) == ("gizmo",)
    assert {"Glassbottle", "WineBottle", "Bottle"} <= set(classes_of("bottle 1", KINDS))


def test_every_place_has_a_plot_of_its_own() -> None:
    site = site_of([f"drawer {number}" for number in range(30)])
    assert {site.place_near(*site.position(place)[:2]) for place in site.places} == set(site.places)
    slots = [site.slot("drawer 3", number) for number in range(100)]
    apart = np.linalg.norm(np.subtract(slots[0], slots[1:]), axis=1)
    assert apart.min() >= 0.99


def test_what_is_seen_is_reported_with_its_place_and_doors() -> None:
    robot = robot_in(SmallGame(KITCHEN, "go", lambda _: False))
    changes = robot.execute(SkillCall("Explore", ("Apple", "fridge 1"))).changes
    apple = next(change for change in changes if change.object_id == "apple 1")
    assert (apple.object_class, apple.support_id, apple.inside) == ("Apple", "fridge 1", True)
    doors = [change.added for change in changes if change.object_id == "fridge 1"]
    assert doors == [(ObjectState.CLOSED,), (ObjectState.OPENED,)]


def test_skill_in_a_closed_place_fails_with_the_place() -> None:
    robot = robot_in(SmallGame(KITCHEN, "go", lambda _: False))
    robot.execute(SkillCall("GoToObject", ("sidetable 1",)))
    robot.execute(SkillCall("PickupObject", ("mug 1",)))
    robot.execute(SkillCall("GoToObject", ("cabinet 1",)))
    result = robot.execute(SkillCall("PutObject", ("mug 1", "cabinet 1")))
    assert (result.reason, result.object_id) == (FailureReason.CLOSED, "cabinet 1")


def test_every_skill_is_canceled_when_no_step_is_left() -> None:
    game = SmallGame(KITCHEN, "go", lambda _: False)
    robot = robot_in(game, max_steps=1)
    assert robot.execute(SkillCall("GoToObject", ("countertop 1",))).success
    assert robot.execute(SkillCall("GoToObject", ("sidetable 1",))).reason is FailureReason.CANCELED
    assert len(game.sent) == 1


@pytest.mark.parametrize("text", ["", "You see nothing special.", "Looking quickly around you, you see a desk 1."])
def test_first_text_that_is_no_game_is_nonsense(text: str) -> None:
    game = SmallGame(KITCHEN, "go", lambda _: False)
    game.text = text
    with pytest.raises(NonsenseError):
        robot_in(game)


@pytest.mark.parametrize(
    ("task", "done"),
    [
        ("put a mug in drawer", lambda game: any("mug" in thing for thing in game.layout["drawer 1"])),
        ("put two mug in drawer", lambda game: sum("mug" in t for t in game.layout["drawer 1"]) == 2),
        ("clean some cup and put it in cabinet", lambda game: "cup 1" in game.layout["cabinet 1"]),
        ("put a hot apple in sidetable", lambda game: "apple 1" in game.layout["sidetable 1"]),
        ("cool some mug and put it in countertop", lambda g: any("mug" in t for t in g.layout["countertop 1"])),
        ("examine the mug with the desklamp", lambda game: "mug" in game.held and "desk lamp 1" in game.on),
        ("look at cup under the lamp", lambda game: game.held == "cup 1" and "desk lamp 1" in game.on),
    ],
)
def test_planner_wins_a_game_of_each_type(task: str, done: Callable[[SmallGame], bool]) -> None:
    played = play(SmallGame({**KITCHEN, "drawer 2": ["pen 1"]}, task, done))
    assert played.won, (played.goals, played.failure, played.trail)
    assert played.steps < 30


def test_things_and_places_that_no_catalogue_knows_work_by_their_names() -> None:
    layout = {"flurbtable 1": [], "drawer 1": [], "countertop 1": ["gizmo 1"]}
    played = play(SmallGame(layout, "put a gizmo in flurbtable", lambda game: "gizmo 1" in game.layout["flurbtable 1"]))
    assert played.won, (played.goals, played.failure, played.trail)


@pytest.mark.parametrize("task", ["put a hot redapple in sidetable", "cool some redapple and put it in sidetable"])
def test_thing_that_no_catalogue_knows_is_heated_and_cooled(task: str) -> None:
    layout = {**KITCHEN, "countertop 1": ["redapple 1"], "fridge 1": []}
    game = SmallGame(layout, task, lambda game: "redapple 1" in game.layout["sidetable 1"])
    played = play(game)
    assert played.won, (played.goals, played.failure, played.trail)
    assert game.states == {"redapple 1": "clean"}  # the small game's word for treated


def test_absent_things_are_not_looked_for_twice_at_a_place() -> None:
    layout = {f"shelf {number}": ["book 1"] if number == 5 else [] for number in range(6)}
    game = SmallGame({**layout, "sofa 1": []}, "put two book in sofa", lambda _: False)
    play(game, max_steps=30)
    visits = [command for command in game.sent if command.startswith("go to shelf")]
    assert len(visits) >= 6
    assert len(set(visits[:6])) == 6


def test_what_other_games_taught_is_where_the_robot_looks_first() -> None:
    layout = {"sidetable 1": [], "countertop 1": [], "cabinet 1": [], "cabinet 2": ["mug 1"], "drawer 1": []}
    taught = PlaceCensus(
        {("cabinet", ""): 20, ("countertop", ""): 20, ("sidetable", ""): 20, ("drawer", ""): 20},
        {("mug", "cabinet", ""): 10},
    )
    game = SmallGame(layout, "put a mug in countertop", lambda game: "mug 1" in game.layout["countertop 1"])
    assert play(game, carried=Carried(taught)).won
    assert game.sent[0].startswith("go to cabinet")


def test_census_tells_kinds_and_where_things_were_first() -> None:
    game = SmallGame(KITCHEN, "put a cup in sidetable", lambda game: "cup 1" in game.layout["sidetable 1"])
    taught = play(game).taught
    found = {(name, place): count for (name, place, _), count in taught.finds.items()}
    assert found["cup", "countertop"] == 1
    assert ("cup", "sidetable") not in found
    assert {place for place, _ in taught.looks} <= {"countertop", "sidetable", "fridge", "drawer", "cabinet"}


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


def test_command_that_somebody_else_chose_is_noted_as_its_skill() -> None:
    game = SmallGame(KITCHEN, "put a mug in fridge", lambda _: False)
    robot = robot_in(game)
    assert robot.first_command(SkillCall("OpenObject", ("fridge 1",))) == ""  # it is too far away
    assert robot.first_command(SkillCall("GoToObject", ("fridge 1",))) == "go to fridge 1"
    assert game.sent == []
    arrived = robot.send("go to fridge 1")
    assert (arrived.call, arrived.reason) == (SkillCall("GoToObject", ("fridge 1",)), FailureReason.NONE)
    opened = robot.send("open fridge 1")
    assert {state for change in opened.changes for state in change.added} == {ObjectState.OPENED}
    assert "apple 1" in {change.object_id for change in opened.changes}
    taken = robot.send("take apple 1 from fridge 1")
    assert [(change.object_id, change.held) for change in taken.changes] == [("apple 1", True)]
    assert robot.first_command(SkillCall("PutObject", ("apple 1", "fridge 1"))) == "move apple 1 to fridge 1"
    vain = robot.send("take mug 1 from sidetable 1")
    assert (vain.reason, vain.changes) == (FailureReason.EXECUTION, ())
    assert robot.send("examine fridge 1").call is None
    assert robot.transcript[-1][0] == "examine fridge 1"
