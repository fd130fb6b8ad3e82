"""Where a call is expected to fail is the last place to try it, and what never worked is tried once."""

from collections import Counter
from dataclasses import replace

import pytest
import told_home
from cooking_robot import CookingRobot
from seeing_robot import SeeingRobot, executor

from memory_node.context.recalled import Recalled
from memory_node.domain.ports import TextEmbedder
from memory_node.domain.resources import resource_path
from memory_node.domain.scene import SceneObject
from memory_node.domain.skill import FailureReason, SkillCall, SkillResult
from memory_node.domain.skill_library import GoalKind
from memory_node.domain.states import ObjectState, StateBelief
from memory_node.domain.step import Deed
from memory_node.lessons.expectations import Expectations
from memory_node.planner import plan_execution
from memory_node.planner.executor import InstructionExecutor, InstructionResult
from memory_node.planner.expected_failures import ExpectedFailures
from memory_node.planner.goal import Goal, Mention
from memory_node.planner.offline_planner import OfflinePlanner
from memory_node.planner.reading.conversation import Conversation
from memory_node.planner.reading.plain_reader import Known
from memory_node.planner.reading.understanding import Understander
from memory_node.world.episode import EpisodeWorld
from memory_node.world.state import Thing


@pytest.fixture
def robot(word_embedder: TextEmbedder) -> CookingRobot:
    return CookingRobot("apartment", word_embedder)


def told(
    robot: SeeingRobot, embedder: TextEmbedder, tried: list[Deed], instruction: str = "heat the apple"
) -> InstructionResult:
    now_ns = lambda: robot.world.now_ns  # noqa: E731
    known = Known(Recalled(), now_ns, str, lessons=Expectations(tried))
    planner = OfflinePlanner(Understander(robot.kinds, None, embedder), robot.kinds)
    return InstructionExecutor(robot.memory, robot, planner, known=known).execute(instruction)


def avoided(robot: SeeingRobot, goal: Goal, tried: list[Deed], *things: SceneObject) -> frozenset[str]:
    """Return what is tried last for a goal in a home with some things, by what was tried there."""
    world = EpisodeWorld(robot.kinds)
    world.refresh(told_home.home(*things))
    return ExpectedFailures(Expectations(tried), robot.kinds, world, lambda: 9, lambda _: None).avoided(goal)


def test_place_that_failed_before_is_tried_when_the_other_fails(robot, word_embedder) -> None:
    tried = robot.failed_at("Microwave")
    robot.cold = {"Oven"}
    result = told(robot, word_embedder, tried)
    assert result.success
    assert robot.heated_at[0] == "Oven"
    assert robot.heated_at[-1] == "Microwave"


def test_guided_call_that_fails_by_itself_is_tried_no_oftener_than_an_unguided_one(robot, word_embedder) -> None:
    robot.cold = {"Microwave", "microwave"}
    assert robot.carry_out("heat the apple", word_embedder).success
    assert 1 < robot.heated_at.index("Oven") <= 3


def test_composite_that_failed_everywhere_is_done_by_its_steps(robot, word_embedder) -> None:
    robot.cold = {"Oven", "Microwave"}
    result = told(robot, word_embedder, robot.failed_at("Microwave", "Oven"))
    assert result.success
    assert not robot.heated_at
    assert ObjectState.HEATED in robot.world["apple"].states
    assert robot.world.held is not None
    assert not robot.world["microwave"].is_on
    assert not robot.world["microwave"].is_open


def test_composite_is_tried_again_when_something_was_switched_for_it(robot, word_embedder) -> None:
    robot.cold = {"Oven", "Microwave"}
    tried = robot.failed_at("Microwave", "Oven")
    robot.cold = set()
    result = told(robot, word_embedder, tried, "turn on the television and heat the apple")
    assert result.success
    assert len(robot.heated_at) == 1


def test_appliance_that_failed_is_tried_again_when_something_was_switched_for_it(robot, word_embedder) -> None:
    result = told(robot, word_embedder, robot.failed_at("Microwave"), "turn on the television and heat the apple")
    assert result.success
    assert robot.heated_at == ["Microwave"]


def test_composite_is_tried_again_after_what_was_done_a_short_time_ago(robot, word_embedder) -> None:
    switched = Deed("e2:0", "SwitchOn", "l", "FloorLamp", 3)
    result = told(robot, word_embedder, [*robot.failed_at("Microwave", "Oven"), switched])
    assert result.success
    assert len(robot.heated_at) == 1


def test_composite_is_expected_to_fail_where_a_step_of_it_does(robot, word_embedder) -> None:
    (microwave,) = (one for one in robot.memory.scene().objects if one.class_name == "Microwave")
    stuck = Deed("e:1", "OpenObject", microwave.id, "Microwave", 1, reason="execution")
    assert told(robot, word_embedder, [stuck]).success
    assert robot.heated_at == ["Oven"]
    heated = Deed("e:2", "HeatObject", "b", "Bread", 2, to_id=microwave.id, to_class="Microwave")
    robot.heated_at.clear()
    assert told(robot, word_embedder, [stuck, heated], "heat the bread").success
    assert robot.heated_at == ["Microwave"]  # it has worked since


@pytest.mark.parametrize(("bad", "good"), [("left", "right"), ("right", "left")])
@pytest.mark.parametrize(
    ("skill", "of_class", "goal"),
    [
        ("PutObject", "Shelf", Goal(GoalKind.PLACE, Mention("a plate", ("Plate",)), Mention("a shelf", ("Shelf",)))),
        ("CleanObject", "SinkBasin", Goal(GoalKind.CLEAN, Mention("a plate", ("Plate",)))),
    ],
)
def test_place_where_a_call_worked_last_comes_before_one_where_it_did_not(
    robot, skill: str, of_class: str, goal: Goal, bad: str, good: str
) -> None:
    places = [told_home.thing(one, of_class) for one in ("left", "right")]
    tries = [("Pen", bad, ""), ("Book", bad, "execution"), ("Mug", good, "execution"), ("Bowl", good, "")]
    tried = [
        Deed(f"e:{number}", skill, name, name, number, reason=reason, to_id=place, to_class=of_class)
        for number, (name, place, reason) in enumerate(tries)
    ]
    for known, last in ((tried, {bad}), (tried[:2], set())):
        assert avoided(robot, goal, known, *places) == last
        # Where it worked with such a thing itself, another with which it did not says nothing.
        assert avoided(robot, replace(goal, target=Mention("a pen", ("Pen",))), known, *places) == set()


@pytest.mark.parametrize(("broken", "other"), [("desk_lamp", "night_lamp"), ("night_lamp", "desk_lamp")])
def test_switch_that_failed_before_is_left_for_another_of_its_kind(robot, word_embedder, broken, other) -> None:
    for name in (other, broken):
        robot.execute(SkillCall("GoToObject", (name,)))
        robot.world.set_on(robot.world[name], False)
    lamp = max(robot.memory.scene().objects, key=lambda one: (one.class_name == "DeskLamp", one.last_seen_ns))
    tries = [Deed("e:1", "SwitchOn", lamp.id, "DeskLamp", 1, reason="execution")]
    assert told(robot, word_embedder, tries, "turn on the desk lamp").success
    assert (robot.world[broken].is_on, robot.world[other].is_on) == (False, True)


class ThirstyRobot(SeeingRobot):
    """A robot with dry taps; filled_at: where it tried to fill what it held, in order."""

    def __init__(self, home: str, embedder: TextEmbedder) -> None:
        super().__init__(home, embedder)
        self.dry = {"faucet"}
        self.filled_at: list[str] = []
        for thing in ("bath_faucet", "faucet", "cup"):
            self.execute(SkillCall("GoToObject", (thing,)))

    def execute(self, call: SkillCall) -> SkillResult:
        if call.skill == "FillObject":
            self.filled_at.append(self._robot.resolve(call.arguments[1]).id)
            if self.filled_at[-1] in self.dry:
                return SkillResult(call, False, FailureReason.EXECUTION, "FillObject failed")
        return super().execute(call)


def test_vessel_is_filled_at_another_tap_where_one_is_dry(word_embedder) -> None:
    robot = ThirstyRobot("apartment", word_embedder)
    result = executor(robot, word_embedder).execute("fill the cup with water")
    assert result.success
    assert set(robot.filled_at[:-1]) == {"faucet"}
    assert robot.filled_at[-1] == "bath_faucet"


def test_what_never_worked_is_tried_once(robot, word_embedder) -> None:
    microwave = next(one for one in robot.memory.scene().objects if one.class_name == "Microwave")
    robot.faults = ["OpenObject"] * 9
    tried = [Deed("e:1", "OpenObject", microwave.id, "Microwave", 1, reason="execution")]
    result = told(robot, word_embedder, tried, "open the microwave")
    assert not result.success
    assert [one.step.call.skill for one in result.steps].count("OpenObject") == 1


def with_cup(robot: SeeingRobot, *tries: tuple[str, str]) -> list[Deed]:
    """Return tries with a cup at the basin, each with why it failed: it is what the robot's memory knows as its cup."""
    basin = next(one for one in robot.memory.scene().objects if one.class_name == "SinkBasin")
    cup = next(one for one in robot.memory.scene().objects if one.class_name == "Cup")
    return [
        Deed(f"e{n}:0", skill, cup.id, "Cup", n, to_id=basin.id, to_class="SinkBasin", reason=reason)
        for n, (skill, reason) in enumerate(tries)
    ]


def test_cup_that_was_filled_only_after_it_was_washed_is_washed_first(word_embedder) -> None:
    robot = ThirstyRobot("apartment", word_embedder)
    robot.dry = set()
    tried = with_cup(robot, ("FillObject", "execution"), ("CleanObject", ""), ("FillObject", ""))
    result = told(robot, word_embedder, tried, "fill the cup with water")
    assert result.success
    skills = [one.step.call.skill for one in result.steps]
    assert skills.count("CleanObject") == 1
    assert skills.index("CleanObject") < skills.index("FillObject")
    why = {one.step.call.skill: one.step.reasoning for one in result.steps}
    assert "FillObject of Cup" in why["CleanObject"]  # the lesson
    assert why["FillObject"] == "it serves fill Cup"


def test_what_was_cut_only_on_the_counter_is_put_there_first(word_embedder) -> None:
    robot = SeeingRobot("apartment", word_embedder)
    for thing in ("bread", "knife", "counter_left"):
        robot.execute(SkillCall("GoToObject", (thing,)))
    known = {one.class_name: one.id for one in robot.memory.scene().objects}
    bread, table = known["Bread"], known["CounterTop"]
    tried = [
        Deed("e0:0", "SliceObject", bread, "Bread", 1, reason="execution"),
        Deed("e1:0", "PutObject", bread, "Bread", 2, to_id=table, to_class="CounterTop"),
        Deed("e2:0", "SliceObject", bread, "Bread", 3),
    ]
    result = told(robot, word_embedder, tried, "slice the bread")
    assert result.success
    skills = [one.step.call.skill for one in result.steps]
    assert skills.index("PutObject") < skills.index("SliceObject")


@pytest.mark.parametrize("needs_it", [False, True])
@pytest.mark.parametrize("tries", [1, 3])
def test_way_of_another_kind_is_followed_once_the_call_failed_without(
    word_embedder, monkeypatch, needs_it: bool, tries: int
) -> None:
    monkeypatch.setattr(plan_execution, "_TRIES", tries)  # guidance may have used them up
    robot = ThirstyRobot("apartment", word_embedder)
    robot.dry = {"faucet"} if needs_it else set()
    known = {one.class_name: one.id for one in robot.memory.scene().objects}
    tap = {"to_id": known["Faucet"], "to_class": "Faucet"}
    tried = [
        Deed("e0:0", "FillObject", "m", "Mug", 1, to_id="t", to_class="Sink", reason="execution"),
        Deed("e0:1", "FillObject", "m", "Mug", 2, **tap, reason="execution"),
        Deed("e1:0", "ToggleOn", known["CoffeeMachine"], "CoffeeMachine", 3),
        Deed("e2:0", "FillObject", "m", "Mug", 4, **tap),
    ]
    result = told(robot, word_embedder, tried, "fill the cup with water")
    assert result.success
    assert ("ToggleOn" in [one.step.call.skill for one in result.steps]) == needs_it
    assert (robot.filled_at.count("faucet") > 1) == needs_it


def test_what_one_person_wants_first_says_nothing_of_another(robot) -> None:
    tried = [
        Deed("e0:0", "PutObject", "n", "Newspaper", 1, to_id="ana", to_class="User", reason="execution"),
        Deed("e1:0", "SwitchOn", "l", "FloorLamp", 2),
        Deed("e1:1", "PutObject", "n", "Newspaper", 3, to_id="ana", to_class="User"),
    ]
    world = EpisodeWorld(robot.kinds)
    expectations = Expectations(tried, recipient=robot.kinds.recipient)
    expected = ExpectedFailures(expectations, robot.kinds, world, lambda: 4, lambda _: None)
    call = SkillCall("PutObject", ("Newspaper", "User"))
    newspaper, to = Thing("target", "Newspaper", "Newspaper"), Thing("destination", "User", "User")
    assert expected.way(call, newspaper, replace(to, memory_id="me")) is None
    assert expected.way(call, newspaper, replace(to, memory_id="ana")) is not None


def test_what_failed_is_not_spoken_of_as_done(robot, word_embedder) -> None:
    conversation = Conversation()
    planner = OfflinePlanner(Understander(robot.kinds, None, word_embedder), robot.kinds)
    acting = InstructionExecutor(robot.memory, robot, planner, conversation=conversation)
    robot.faults = ["SliceObject"] * 60
    assert not acting.execute("slice the bread").success
    robot.faults.clear()
    result = acting.execute("put the bread on the dining table, then slice it")
    assert result.success
    skills = [one.step.call.skill for one in result.steps]
    assert skills.index("PutObject") < skills.index("SliceObject")


@pytest.mark.parametrize("at_fault", ["thing", "place"])
@pytest.mark.parametrize("stuck", ["book", "novel"])
def test_other_thing_of_the_kind_is_taken_where_one_is_stuck(robot, word_embedder, stuck: str, at_fault: str) -> None:
    places = {}
    for one in ("book", "novel"):
        robot.execute(SkillCall("GoToObject", (one,)))
        places[one] = robot.world[one].box.center[:2]
    books = [one for one in robot.memory.scene().objects if one.class_name == "Book"]
    assert len(books) == 2
    known = min(books, key=lambda one: one.box.distance_m(places[stuck]))
    tried = [Deed("e:1", "PickupObject", known.id, "Book", 1, reason="execution")]
    if at_fault == "place":
        tried = [
            Deed(f"e:{n}", "PickupObject", thing, "Pen", n, from_id=known.support_id, reason="execution")
            for n, thing in enumerate(("red pen", "blue pen"))
        ]
    result = told(robot, word_embedder, tried, "put a book on the bed")
    assert result.success
    (other,) = {"book", "novel"} - {stuck}
    assert other in {one.id for one in robot.world.contents("bed")}


def test_thing_that_is_taken_for_a_moved_one_is_taken_where_that_one_is_stuck(robot, word_embedder) -> None:
    robot.execute(SkillCall("GoToObject", ("book",)))
    robot.world.advance(3600.0)
    robot.execute(SkillCall("GoToObject", ("novel",)))
    scene = robot.memory.scene()
    books = [one for one in scene.objects if one.class_name == "Book"]
    (stuck,) = [one for one in books if not scene.was_met_elsewhere(one)]
    assert len(books) == 2
    tried = [Deed("e:1", "PickupObject", stuck.id, "Book", 1, reason="execution")]
    assert told(robot, word_embedder, tried, "put a book on the bed").success
    assert "book" in {one.id for one in robot.world.contents("bed")}
    assert robot.world.held is None


def test_what_is_shut_in_where_the_door_jams_is_tried_last(robot) -> None:
    cabinet = replace(told_home.thing("c", "Cabinet"), states=(StateBelief(ObjectState.CLOSED, 0.9, 1),))
    mugs = (replace(told_home.thing("in", "Mug", on="c"), inside=True), told_home.thing("out", "Mug"))
    jammed = Deed("e:0", "OpenObject", "c", "Cabinet", 1, reason="execution")
    goal = Goal(GoalKind.FETCH, Mention("a mug", ("Mug",)))
    assert avoided(robot, goal, [jammed], cabinet, *mugs) == {"in"}
    assert avoided(robot, goal, [], cabinet, *mugs) == set()


def test_what_stands_on_a_box_is_taken_last_where_nothing_comes_off_the_shelf_below(robot) -> None:
    things = [told_home.thing("s", "Shelf"), told_home.thing("b", "Box", on="s"), told_home.thing("on", "Mug", on="b")]
    stuck = [
        Deed(f"e:{one}", "PickupObject", one, "Pen", 1, from_id="s", from_class="Shelf", reason="execution")
        for one in ("red", "blue")
    ]
    goal = Goal(GoalKind.FETCH, Mention("a mug", ("Mug",)))
    for tried, last in ((stuck, {"on"}), ([], set())):
        assert avoided(robot, goal, tried, *things, told_home.thing("off", "Mug")) == last


@pytest.mark.parametrize(
    ("goal", "failed"),
    [
        (Goal(GoalKind.EXAMINE, Mention("", ("Book",)), light=Mention("", ("DeskLamp",))), ("SwitchOn", "DeskLamp")),
        (Goal(GoalKind.PLACE_TWO, Mention("", ("Book",)), container=Mention("", ("Box",))), ("PickupObject", "Box")),
    ],
)
def test_lamp_that_stays_dark_and_vessel_that_is_stuck_are_taken_last(robot, goal, failed) -> None:
    skill, of_class = failed
    things = [told_home.thing(name, of_class) for name in ("bad", "good")]
    assert avoided(robot, goal, [Deed("e:0", skill, "bad", of_class, 1, reason="execution")], *things) == {"bad"}


def test_thing_is_taken_from_the_drawer_that_was_opened_though_another_lies_below(word_embedder, tmp_path) -> None:
    home = tmp_path / "home.yaml"
    spoon = "  - {id: spoon, type: Spoon, in: kitchen_drawer, at: [0.0, 0.10]}"
    text = resource_path("config/homes/apartment.yaml").read_text()
    home.write_text(text.replace(spoon, f"{spoon}\n  - {{id: other, type: Spoon, in: kitchen_drawer_low}}"))
    robot = SeeingRobot(home, word_embedder)
    ids = {}
    for drawer in ("kitchen_drawer", "kitchen_drawer_low"):
        for skill in ("GoToObject", "OpenObject"):
            assert robot.execute(SkillCall(skill, (drawer,))).success
        inside = [
            one for one in robot.memory.scene().objects if one.class_name == "Spoon" and one.support_id not in ids
        ]
        ids |= {inside[0].support_id: drawer}
        assert robot.execute(SkillCall("CloseObject", (drawer,))).success
    jams = next(one for one, drawer in ids.items() if drawer == "kitchen_drawer_low")
    tried = [Deed("e:0", "OpenObject", jams, "Drawer", 1, reason="execution")]
    result = told(robot, word_embedder, tried, "put a spoon on the bed")
    assert result.success, result.failure or result.outcome.failures
    assert {one.id for one in robot.world.contents("bed")} >= {"spoon"}
    assert robot.world.contents("kitchen_drawer_low")
    assert all(one.result.success for one in result.steps)


def test_other_thing_is_taken_where_one_cannot_be_reached_into(word_embedder) -> None:
    robot = SeeingRobot("apartment", word_embedder)
    carried = ("GoToObject bowl", "PickupObject bowl", "GoToObject oven", "OpenObject oven", "PutObject bowl oven")
    for call in (*carried, "CloseObject oven", *(f"{one}Object wall_cabinet" for one in ("GoTo", "Open", "Close"))):
        skill, *arguments = call.split()
        assert robot.execute(SkillCall(skill, tuple(arguments))).success
    robot.faults = ["OpenObject"] * 3
    result = executor(robot, word_embedder).execute("put a bowl on the bed")
    assert result.success, result.failure or result.outcome.failures
    opened = [
        one.result.object_id for one in result.steps if one.step.call.skill == "OpenObject" and one.result.success
    ]
    jammed, *_ = {"oven", "wall_cabinet"} - set(opened)
    assert robot.world.contents(jammed)


def test_what_is_expected_to_fail_now_is_tried_once(robot, word_embedder) -> None:
    microwave = next(one for one in robot.memory.scene().objects if one.class_name == "Microwave")
    robot.faults = ["OpenObject"] * 9
    tried = [
        Deed(f"e:{number}", "OpenObject", microwave.id, "Microwave", number, reason=reason)
        for number, reason in ((1, ""), (2, "execution"))
    ]
    result = told(robot, word_embedder, tried, "open the microwave")
    assert [one.step.call.skill for one in result.steps].count("OpenObject") == 1


@pytest.mark.parametrize("worked", [False, True])
def test_what_never_worked_is_not_tried_once_more_where_nothing_else_is_known(robot, word_embedder, worked) -> None:
    robot.execute(SkillCall("GoToObject", ("pen",)))
    pen = next(one for one in robot.memory.scene().objects if one.class_name == "Pen")
    robot.faults = ["PickupObject"] * 9
    tried = [Deed("e:1", "PickupObject", pen.id, "Pen", 1, reason="" if worked else "execution")]
    result = told(robot, word_embedder, tried, "put the pen on the bed")
    assert not result.success
    assert result.outcome.is_final is not worked


@pytest.mark.parametrize("worked", [False, True])
def test_appliance_that_never_did_its_work_is_started_once_by_hand(robot, word_embedder, worked) -> None:
    robot.faults = ["ToggleOn"] * 9
    tried = robot.failed_at("Microwave", "Oven")
    if worked:
        tried = [*(Deed("e:9", "ToggleOn", one.to_id, one.to_class, 0) for one in tried), *tried]
    result = told(robot, word_embedder, tried)
    started = Counter(one.step.call.arguments for one in result.steps if one.step.call.skill == "ToggleOn")
    assert (max(started.values()) > 1) is worked
    assert result.outcome.is_final is not worked


def test_each_kind_of_thing_that_a_general_word_means_follows_lessons(robot) -> None:
    kinds = {"c": "CoffeeTable", "d": "DiningTable", "s": "SideTable", "l": "DeskLamp", "f": "FloorLamp"}
    things = [told_home.thing(key, kind) for key, kind in kinds.items()]
    tried = [
        Deed(f"e:{key}", "PutObject", "v", "Vase", 1, to_id=key, to_class=kinds[key], reason="execution")
        for key in ("c", "d")
    ]
    tried += [Deed("e:l", "SwitchOn", "l", "DeskLamp", 2, reason="execution")]
    table, lamp = Mention("", ("CoffeeTable", "DiningTable", "SideTable")), Mention("", ("DeskLamp", "FloorLamp"))
    placing = Goal(GoalKind.PLACE, Mention("the vase", ("Vase",)), table)
    assert avoided(robot, placing, tried, *things) == {"c", "d"}
    assert avoided(robot, Goal(GoalKind.SWITCH_ON, lamp), tried, *things) == {"l"}


def test_hand_is_freed_where_what_it_holds_stays(robot, word_embedder) -> None:
    robot.execute(SkillCall("GoToObject", ("coffee_table",)))
    (table,) = [one for one in robot.memory.scene().objects if one.class_name == "CoffeeTable"]
    assert robot.carry_out("take the vase", word_embedder).success
    tried = [Deed("e:0", "PutObject", "v", "Vase", 1, to_id=table.id, to_class="CoffeeTable", reason="execution")]
    result = told(robot, word_embedder, tried, "put the apple on the coffee table")
    assert result.success
    assert "apple" in {one.id for one in robot.world.contents("coffee_table")}
    assert "vase" not in {one.id for one in robot.world.contents("coffee_table")}


def test_where_only_other_things_failed_comes_before_where_this_one_did(robot) -> None:
    things = told_home.thing("c", "CoffeeTable"), told_home.thing("s", "SideTable")
    failed = (("Vase", "c", "CoffeeTable"), ("Pan", "c", "CoffeeTable"), ("Pan", "s", "SideTable"))
    tried = [
        Deed(f"e:{n}", "PutObject", name.lower(), name, n, to_id=at, to_class=kind, reason="execution")
        for n, (name, at, kind) in enumerate(failed)
    ]
    goal = Goal(GoalKind.PLACE, Mention("the vase", ("Vase",)), Mention("a table", ("CoffeeTable", "SideTable")))
    assert avoided(robot, goal, tried, *things) == {"c"}


def test_lamp_of_another_kind_is_switched_on_where_one_kind_failed(robot, word_embedder) -> None:
    for lamp in ("desk_lamp", "night_lamp", "floor_lamp"):
        robot.execute(SkillCall("GoToObject", (lamp,)))
    lamps = [one for one in robot.memory.scene().objects if one.class_name == "DeskLamp"]
    tried = [
        Deed(f"e:{n}", "SwitchOn", one.id, "DeskLamp", n, reason="execution") for n, one in enumerate(lamps, start=1)
    ]
    result = told(robot, word_embedder, tried, "turn on a lamp")
    assert result.success
    assert robot.world["floor_lamp"].is_on
    assert [one.step.call.skill for one in result.steps].count("SwitchOn") == 1


def test_thing_that_is_gone_when_it_is_prepared_ends_in_words(word_embedder) -> None:
    robot = SeeingRobot("apartment", word_embedder)
    for thing in ("bread", "knife", "fridge"):
        robot.execute(SkillCall("GoToObject", (thing,)))
    known = {one.class_name: one.id for one in robot.memory.scene().objects}
    tried = [
        Deed("e0:0", "SliceObject", known["Bread"], "Bread", 1, reason="execution"),
        Deed("e1:0", "CoolObject", known["Bread"], "Bread", 2, to_id=known["Fridge"], to_class="Fridge"),
        Deed("e2:0", "SliceObject", known["Bread"], "Bread", 3),
    ]
    robot.world.destroy(robot.world["bread"])
    result = told(robot, word_embedder, tried, "slice the bread")
    assert not result.success
    assert any("the bread today and found none" in note for note in result.notes)
