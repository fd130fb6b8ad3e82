"""A lesson as a robot: what it reads, what it sends, and lessons of a small world of our own carried out."""

import shutil
from functools import partial

import pytest
from small_game import Embedder
from small_lesson import SmallLesson

from benchmarks.alfworld.command import offline_planner
from benchmarks.alfworld.games import Game
from benchmarks.alfworld.robot import NonsenseError
from benchmarks.scienceworld.command import lesson_planner
from benchmarks.scienceworld.done_lesson import DoneLesson
from benchmarks.scienceworld.focus import Focus
from benchmarks.scienceworld.kinds import LessonKinds
from benchmarks.scienceworld.robot import LessonRobot
from benchmarks.scienceworld.sentences import SeenThing, read_held, read_room, refusal_of
from benchmarks.scienceworld.skill_player import SkillPlayer
from memory_node.catalogue.label_space import load_catalogue
from memory_node.catalogue.object_kind import Property
from memory_node.domain.skill import FailureReason, SkillCall
from memory_node.domain.states import ObjectState
from memory_node.llm.chat import Reply
from memory_node.llm.open_model import ModelShelf
from memory_node.planner.planner_config import LlmConfig

KINDS = LessonKinds.of(load_catalogue())
GAME = Game("boil/0", "boil", b"")

KITCHEN = """This room is called the kitchen. In it, you see:
\tthe agent
\ta substance called air
\ta counter. On the counter is: a bowl (containing a red apple, a banana), a drawer.
\ta cupboard. The cupboard door is closed.
\ta oven, which is turned off. The oven door is open. In the oven is: nothing.
\ta glass jar (containing a substance called sodium chloride)
\ta stove, which is turned on. On the stove is: a metal pot (containing a substance called water).
\ta thermometer, currently reading a temperature of 10 degrees celsius
\tunknown substance B
You also see:
\tA door to the hallway (that is open)
\tA door to the living room (that is closed)
In your inventory, you see:
\tan orange
\ta wood cup (containing a substance called water)
"""


def robot_in(lesson: SmallLesson, max_steps: int = 50) -> LessonRobot:
    robot = LessonRobot(lesson, KINDS, lambda: 1, max_steps, lambda _: None, lambda _: None)
    robot.first_look()
    return robot


def done(robot: LessonRobot, *calls: tuple[str, ...]) -> list[FailureReason]:
    return [robot.execute(SkillCall(skill, arguments)).reason for skill, *arguments in map(tuple, calls)]


def test_room_is_read_with_what_is_in_and_on_its_things() -> None:
    sight = read_room(KITCHEN)
    assert sight is not None
    assert (sight.room, sight.doors) == ("kitchen", {"hallway": True, "living room": False})
    supports = {thing.name: thing.support for thing in sight.things}
    assert supports == {
        "counter": "",
        "bowl": "counter",
        "red apple": "bowl",
        "banana": "bowl",
        "drawer": "counter",
        "cupboard": "",
        "oven": "",
        "glass jar": "",
        "sodium chloride": "glass jar",
        "stove": "",
        "metal pot": "stove",
        "water": "metal pot",
        "thermometer": "",
        "unknown substance b": "",
    }
    states = {thing.name: thing.states for thing in sight.things}
    assert states["cupboard"] == (ObjectState.CLOSED,)
    assert states["oven"] == (ObjectState.OFF, ObjectState.OPENED)
    assert states["stove"] == (ObjectState.ON,)
    assert states["metal pot"] == (ObjectState.FILLED,)
    assert SeenThing("counter", holds=True) in sight.things
    assert read_held(KITCHEN) == ("orange", "wood cup")
    assert read_room("You move to the kitchen.") is None


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ("The door is now open.", FailureReason.NONE),
        ("You move the pot to the inventory.", FailureReason.NONE),
        ("The door is already open.", FailureReason.ALREADY_OPEN),
        ("The table is not openable.", FailureReason.WRONG_OBJECT),
        ("The chair is not something that can be activated.", FailureReason.WRONG_OBJECT),
        ("That can't be moved there, because the fridge isn't open.", FailureReason.CLOSED),
        ("It's not clear how to get there from here.", FailureReason.UNREACHABLE),
        ("No known action matches that input.", FailureReason.EXECUTION),
    ],
)
def test_refusal_is_a_reason(reply: str, reason: FailureReason) -> None:
    assert refusal_of(reply) is reason


def test_thing_is_of_the_class_that_its_last_word_names_unless_the_task_tells_it_from_others() -> None:
    assert (KINDS.class_of("metal pot"), KINDS.class_of("baby beaver")) == ("Pot", "baby beaver")
    named = LessonKinds.of(load_catalogue(), "Put it in the red box, not in the box. Use the tin pot.")
    assert (named.class_of("red box"), named.class_of("blue box")) == ("red box", "Box")
    assert named["red box"].properties == load_catalogue()["Box"].properties
    assert (named.class_of("tin pot"), KINDS.class_of("tin pot")) == ("tin pot", "Pot")
    strange = KINDS["baby beaver"]
    assert strange.can(Property.PICKUPABLE)
    assert strange.is_receptacle


def test_search_goes_through_doors_and_into_what_is_shut() -> None:
    lesson = SmallLesson("find ice cream")
    robot = robot_in(lesson)
    kitchen = ",".join(f"{value:.1f}" for value in robot.senses.site.position("kitchen")[:2])
    result = robot.execute(SkillCall("Explore", ("ice cream", kitchen)))
    assert (result.success, result.object_id, result.explored_areas) == (True, "ice cream", 1)
    assert lesson.sent == ["open door to kitchen", "go to kitchen", "look around", "open fridge", "look in fridge"]
    found = robot.senses.things["ice cream"]
    assert (found.room, found.support) == ("kitchen", "fridge")
    assert "ice cream" in {change.object_id for change in result.changes}
    assert done(robot, ("Explore", "giraffe", kitchen)) == [FailureReason.NOT_FOUND]


def test_search_goes_on_past_what_cannot_be_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    lesson = SmallLesson("find cake", layout={"cupboard": ["cake"]}, room="kitchen")
    send = lesson.send
    locked = "The fridge can't be opened."
    monkeypatch.setattr(lesson, "send", lambda command: locked if command == "open fridge" else send(command))
    robot = robot_in(lesson)
    assert done(robot, ("Explore", "cake", "kitchen")) == [FailureReason.NONE]
    assert ("open fridge", locked) in robot.transcript
    canceled = robot_in(SmallLesson("find cake", layout={"cupboard": ["cake"]}, room="kitchen"), max_steps=1)
    assert done(canceled, ("Explore", "cake", "kitchen")) == [FailureReason.CANCELED]


def test_things_are_taken_put_and_switched() -> None:
    lesson = SmallLesson("go", room="kitchen")
    robot = robot_in(lesson)
    assert done(
        robot,
        ("PickupObject", "metal pot"),
        ("PickupObject", "orange"),
        ("PutObject", "metal pot", "fridge"),
        ("OpenObject", "fridge"),
        ("PutObject", "metal pot", "fridge"),
        ("ToggleOn", "table"),
        ("ToggleOn", "stove"),
        ("PickupObject", "orange"),
        ("PutObject", "orange", "red box"),
        ("PickupObject", "stove"),
        ("SliceObject", "orange"),
        ("GoToObject", "giraffe"),
    ) == [
        FailureReason.NONE,
        FailureReason.HAND_FULL,
        FailureReason.CLOSED,
        FailureReason.NONE,
        FailureReason.NONE,
        FailureReason.WRONG_OBJECT,
        FailureReason.NONE,
        FailureReason.NONE,
        FailureReason.NONE,
        FailureReason.WRONG_OBJECT,
        FailureReason.INVALID_CALL,
        FailureReason.NOT_FOUND,
    ]
    assert (lesson.layout["fridge"], lesson.layout["red box"], lesson.on) == (
        ["ice cream", "metal pot"],
        ["orange"],
        {"stove"},
    )
    assert "pick up orange" not in lesson.sent  # it is in the robot's bag


def test_what_is_heated_and_cooled_stays_a_while_and_is_in_the_hand_again() -> None:
    lesson = SmallLesson("go", room="kitchen")
    robot = robot_in(lesson)
    assert done(robot, ("PickupObject", "metal pot"), ("HeatObject", "metal pot", "stove")) == [FailureReason.NONE] * 2
    assert lesson.sent[1:] == [
        "move metal pot to stove",
        "activate stove",
        "wait",
        "wait",
        "deactivate stove",
        "pick up metal pot",
    ]
    assert robot.senses.held == "metal pot"
    assert done(robot, ("CoolObject", "metal pot", "fridge")) == [FailureReason.NONE]
    assert lesson.sent[7:9] == ["open fridge", "move metal pot to fridge"]


def test_contents_go_with_a_vessel_and_what_has_gone_is_forgotten() -> None:
    lesson = SmallLesson("go", room="kitchen", layout={"table": ["metal pot", "pen"]})
    robot = robot_in(lesson)
    done(robot, ("PickupObject", "pen"), ("PutObject", "pen", "metal pot"))
    lesson.layout["table"] = []
    robot._send("look around")
    assert "metal pot" not in robot.senses.things


def test_every_skill_is_canceled_when_no_step_is_left_or_the_lesson_is_over() -> None:
    robot = robot_in(SmallLesson("go", room="kitchen"), max_steps=1)
    assert done(robot, ("ToggleOn", "stove"), ("ToggleOff", "stove")) == [FailureReason.NONE, FailureReason.CANCELED]
    over = robot_in(SmallLesson("go", done=lambda _: True, room="kitchen"))
    assert done(over, ("ToggleOn", "stove")) == [FailureReason.CANCELED]


def test_text_that_is_no_lesson_is_nonsense() -> None:
    lesson = SmallLesson("go")
    lesson.text = "Your task is to: go."
    with pytest.raises(NonsenseError, match="no room"):
        robot_in(lesson)
    lesson.text = KITCHEN
    with pytest.raises(NonsenseError, match="no task"):
        robot_in(lesson)


def test_engine_that_asks_which_is_told_the_first(monkeypatch: pytest.MonkeyPatch) -> None:
    lesson = SmallLesson("go", room="kitchen")
    robot = robot_in(lesson)
    replies = iter(["Ambiguous request: Please enter the number:\n0: a\n1: b", "You move the metal pot."])
    sent: list[str] = []
    monkeypatch.setattr(lesson, "send", lambda command: (sent.append(command), next(replies))[1])
    assert done(robot, ("PickupObject", "metal pot")) == [FailureReason.NONE]
    assert (sent, robot.steps) == (["pick up metal pot", "0"], 2)


@pytest.mark.parametrize(
    ("task", "went_to", "took", "focused"),
    [
        ("boil ice cream. First, focus on the substance.", ["stove", "ice cream"], [], ["ice cream"]),
        ("boil water. First, focus on the substance.", [], ["pot", "water"], ["water"]),
        ("find a(n) animal. First, focus on the thing.", ["red box"], ["beaver", "dove"], ["beaver"]),
        ("measure. First, focus on the thermometer.", ["pot", "thermometer", "thermometer"], [], ["thermometer"]),
        ("boil water.", ["water"], ["water"], []),
    ],
)
def test_robot_focuses_once_on_what_the_task_names(
    task: str, went_to: list[str], took: list[str], focused: list[str]
) -> None:
    focus = Focus(task)
    found = [name for name in went_to if focus.due_before(name, is_taken=False)]
    assert [*found, *(name for name in took if focus.due_before(name, is_taken=True))] == focused


def played(planner_of, lesson: SmallLesson) -> DoneLesson:
    embedder = Embedder()
    player = SkillPlayer(partial(planner_of, embedder), load_catalogue(), embedder, 50, lambda _game, _steps: lesson)
    return DoneLesson(*player.play(GAME))


def is_frozen(lesson: SmallLesson) -> bool:
    return "orange" in lesson.layout["fridge"]


def test_planner_finds_a_thing_in_another_room_and_brings_it() -> None:
    lesson = SmallLesson("put the ice cream in the red box", lambda one: one.layout["red box"] == ["ice cream"])
    outcome = played(offline_planner, lesson)
    assert outcome.game.won, (outcome.game.goals, outcome.game.failure, outcome.game.trail)
    assert outcome.score == 1.0


class Scripted:
    """A model that says goals, and then a plan."""

    def __init__(self, *texts: str) -> None:
        self.texts = list(texts)

    def count_tokens(self, text):
        return len(text) // 4

    name = "scripted"

    def reply(self, messages, deadline=None, form=None, on_line=lambda _: None):
        return Reply(self.texts.pop(0), tokens_in=100, tokens_out=10)


def by_model(monkeypatch: pytest.MonkeyPatch, lesson: SmallLesson, *texts: str) -> DoneLesson:
    monkeypatch.setattr(ModelShelf, "open", lambda *_: Scripted(*texts))
    config = LlmConfig(base_url="http://localhost:1/v1", model="scripted", mode="plan", max_repairs=0, max_replans=0)
    return played(lambda embedder, kinds: lesson_planner(embedder, config, kinds), lesson)


TASK = "freeze the flurb. First, focus on the flurb. Then, take actions so that it stays in the fridge."
GOALS = '{"goals": [{"kind": "place", "object": "flurb", "place": "fridge"}]}'


def test_model_says_goals_of_things_that_no_label_space_knows(monkeypatch: pytest.MonkeyPatch) -> None:
    lesson = SmallLesson(TASK, lambda one: "flurb" in one.layout["fridge"], {"table": ["flurb"]}, "kitchen")
    plan = 'GoToObject("flurb")\nPickupObject("flurb")\nOpenObject("Fridge")\nPutObject("flurb", "Fridge")'
    outcome = by_model(monkeypatch, lesson, GOALS, plan)
    assert outcome.game.won, (outcome.game.goals, outcome.game.failure, outcome.game.trail)
    assert lesson.focused == ["flurb"]
    assert outcome.game.prompt_tokens == 100


def test_lesson_whose_goals_nobody_can_say_fails_with_a_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    outcome = by_model(monkeypatch, SmallLesson(TASK), "I do not know.")
    assert (outcome.game.won, outcome.game.steps, outcome.score) == (False, 0, 0.0)
    assert "nobody can say what the goals are" in outcome.game.failure
    assert outcome.game.prompt_tokens == 100


def test_lesson_of_the_engine_itself_is_read_and_walked_through() -> None:
    pytest.importorskip("scienceworld")
    if shutil.which("java") is None:
        pytest.skip("no Java")
    from benchmarks.scienceworld.lesson import Lesson, lessons

    [game] = lessons(["boil"], "dev", 1)
    lesson = Lesson(game, 60, lists_commands=False)
    assert lesson.commands == ()
    robot = LessonRobot(lesson, KINDS, lambda: 1, 60, lambda _: None, lambda _: None)
    assert robot.first_look()
    found = robot.execute(SkillCall("Explore", ("thermometer", *map(str, robot.senses.site.places))))
    assert found.success, (found.message, robot.transcript)
    assert "kitchen" in robot.senses.seen
    assert (
        done(robot, ("PickupObject", "thermometer"), ("GoToObject", "stove"), ("ToggleOn", "stove"))
        == [FailureReason.NONE] * 3
    )
    assert done(robot, ("PutObject", "thermometer", "counter"), ("ToggleOn", "chair")) == [
        FailureReason.NONE,
        FailureReason.WRONG_OBJECT,
    ]
    robot._send("look around")
    assert robot.senses.things["thermometer"].support == "counter"
