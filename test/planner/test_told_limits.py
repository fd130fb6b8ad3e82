"""What was told holds for every planner: before a plan, and before each call."""

from collections.abc import Sequence
from dataclasses import replace
from zoneinfo import ZoneInfo

import pytest
from told_home import home, thing

from memory_node.catalogue.label_space import load_catalogue
from memory_node.domain.scene import SceneSnapshot
from memory_node.domain.skill import FailureReason, SkillCall, SkillResult
from memory_node.domain.skill_library import GoalKind
from memory_node.knowledge.told.binding import grounded
from memory_node.knowledge.told.forms import TellingReader
from memory_node.planner.executor import InstructionExecutor
from memory_node.planner.goal import Goal, Mention
from memory_node.planner.planner import PlannedStep, PlanningContext, PlanOutcome, PlanRun
from memory_node.planner.told_limits import ToldLimits

KINDS = load_catalogue()
SCENE = home(thing("vase", "Vase"), thing("egg", "Egg"))


def limits(*told: str, scene: SceneSnapshot = SCENE, now_ns: int = 2) -> ToldLimits:
    reader = TellingReader(KINDS, ZoneInfo("UTC"))
    facts = [grounded(one, scene, KINDS) for text in told for one in reader.read(text, 1).facts]
    return ToldLimits(facts, lambda: scene, KINDS, lambda: now_ns, ZoneInfo("UTC"))


def person(object_id: str) -> Mention:
    return Mention(object_id, ("User",), thing_id=object_id)


def mention(name: str) -> Mention:
    return Mention(name, (name,))


@pytest.mark.parametrize(
    ("told", "goal", "is_asked"),
    [
        ("The vase must never be moved.", Goal(GoalKind.PLACE, mention("Vase"), mention("Desk")), True),
        ("The vase must never be moved.", Goal(GoalKind.CLEAN, mention("Vase")), False),
        ("The egg must not be heated.", Goal(GoalKind.HEAT, mention("Egg")), True),
        ("Kim doesn't eat eggs.", Goal(GoalKind.PLACE, mention("Egg"), person("kim")), True),
        ("Kim doesn't eat eggs.", Goal(GoalKind.PLACE, mention("Egg"), person("user")), False),
        ("Kim hates eggs.", Goal(GoalKind.PLACE, mention("Egg"), Mention("Kim", ("Desk",))), True),
        ("The microwave is broken.", Goal(GoalKind.HEAT, mention("Egg")), False),
        ("The microwave is broken.", Goal(GoalKind.PLACE, mention("Egg"), mention("Microwave")), True),
        ("The tap is broken.", Goal(GoalKind.PLACE, mention("Egg"), mention("Bowl")), False),
    ],
)  # fmt: skip
def test_goal_is_asked_about_where_what_was_told_forbids_it(told: str, goal: Goal, is_asked: bool) -> None:
    assert bool(limits(told).of_goals([goal]).question) == is_asked


@pytest.mark.parametrize(
    ("person_id", "closed"), [("user", {"hers", "zoe's"}), ("kim", {"nobody's", "zoe's"})], ids=["me", "an owner"]
)
def test_thing_for_somebody_is_hers_or_else_nobody_s(person_id: str, closed: set[str]) -> None:
    places = (("hers", "desk"), ("zoe's", "counter"), ("nobody's", "bowl"))
    scene = home(*(thing(name, "Mug", on=on) for name, on in places))
    to = Mention("Kim" if person_id == "kim" else "me", ("User",), thing_id=person_id)
    told = limits("The mug on the desk is Kim's.", "The mug on the counter is Zoe's.", scene=scene)
    assert told.of_goals([Goal(GoalKind.PLACE, mention("Mug"), to)]).closed == (frozenset(closed),)
    for several in ({"count": 3}, {"every": True}):
        assert told.of_goals([Goal(GoalKind.PLACE, mention("Mug"), to, **several)]).closed == (frozenset(),)


def test_things_of_others_are_taken_where_a_room_has_no_other() -> None:
    scene = home(thing("zoe's", "Mug", on="counter"), thing("nobody's", "Mug", area="a2"))
    told = limits("The mug on the counter is Zoe's.", scene=scene)
    here, me = Mention("the mug in the kitchen", ("Mug",), room="kitchen"), Mention("me", ("User",), thing_id="user")
    assert told.of_goals([Goal(GoalKind.PLACE, here, me)]).closed == (frozenset(),)
    assert told.of_goals([Goal(GoalKind.PLACE, mention("Mug"), me)]).closed == (frozenset({"zoe's"}),)


def test_what_is_shared_or_of_a_role_is_nobody_else_s() -> None:
    places = (("kim's", "desk"), ("zoe's", "counter"), ("shared", "bowl"))
    scene = home(*(thing(name, "Mug", on=on) for name, on in places))
    owned = ("The mug on the desk is my friend's.", "The mug on the counter is Zoe's.")
    shared = "I share the mug in the bowl with Zoe."
    told = limits("My friend is called Kim.", *owned, shared, scene=scene)
    for text, count, closed in (("my friend", 2, "zoe's"), ("me", 1, "zoe's kim's")):
        goal = Goal(GoalKind.PLACE, mention("Mug"), Mention(text, ("User",)), count=count)
        assert told.of_goals([goal]).closed == (frozenset(closed.split()),)


@pytest.mark.parametrize(
    ("told", "goal", "is_asked", "closed"),
    [
        ("The egg must never be put in the microwave.", Goal(GoalKind.HEAT, mention("Egg")), False, {"microwave"}),
        ("The egg must never be put in the microwave.", Goal(GoalKind.HEAT, mention("Apple")), False, set()),
        ("The egg must never be in the kitchen.", Goal(GoalKind.HEAT, mention("Egg")), True, set()),
        ("The egg must never be in the kitchen.", Goal(GoalKind.PLACE, mention("Egg"), Mention("", room="kitchen")),
         True, set()),
        ("The egg must never be in the kitchen.", Goal(GoalKind.PLACE, mention("Egg"), Mention("me", ("User",))),
         False, set()),
        ("The egg must never be in the study.", Goal(GoalKind.PLACE, mention("Egg"), Mention("me", ("User",))),
         True, set()),
        ("The egg must never be in the study.", Goal(GoalKind.PLACE, mention("Egg"), mention("Shelf")),
         False, {"far shelf"}),
    ],
)  # fmt: skip
def test_thing_is_kept_from_a_place_whatever_it_would_be_brought_there_for(
    told: str, goal: Goal, is_asked: bool, closed: set[str]
) -> None:
    scene = home(thing("egg", "Egg"), thing("shelf", "Shelf"), thing("far shelf", "Shelf", area="a2"))
    verdict = limits(told, scene=scene).of_goals([goal, Goal(GoalKind.SWITCH_ON, mention("Television"))])
    assert bool(verdict.question) == is_asked
    assert verdict.closed == (() if is_asked else (closed, set()))


def test_only_what_was_not_read_is_told_as_such() -> None:
    kept = ["The oven is out of order until tomorrow (2 January 1970).", "It rains until tomorrow (2 January 1970)."]
    assert limits("The oven is out of order until tomorrow.").unread(kept) == kept[1:]


def test_what_a_food_contains_is_kept_from_who_must_not_have_it() -> None:
    told = limits("Kim is allergic to nuts.", "The bread contains nuts.")
    assert told.of_goals([Goal(GoalKind.PLACE, mention("Bread"), person("kim"))]).question
    assert not told.of_goals([Goal(GoalKind.PLACE, mention("Apple"), person("kim"))]).question


def test_what_somebody_must_not_have_and_no_class_is_called_is_told_with_food() -> None:
    food, mug = (Goal(GoalKind.PLACE, mention(name), Mention("Kim", ("Desk",))) for name in ("Egg", "Mug"))
    told = limits("Kim is allergic to nuts.")
    assert told.of_goals([food]).notes == ("Kim is allergic to nuts.",)
    assert not told.of_goals([mug]).notes


def test_scene_is_read_for_a_call_only_where_a_fact_may_speak_against_it() -> None:
    reads: list[int] = []

    def scene() -> SceneSnapshot:
        reads.append(1)
        return SCENE

    facts = TellingReader(KINDS).read("The vase must never be moved.", 1).facts
    told = ToldLimits(facts, scene, KINDS, lambda: 2)
    assert told.of_call(SkillCall("PickupObject", ("vase",))) is not None
    before = len(reads)
    assert all(told.of_call(SkillCall("PickupObject", ("egg",))) is None for _ in range(5))
    assert len(reads) == before


def test_all_that_was_told_of_a_person_named_or_present_is_told() -> None:
    told = limits("Kim is allergic to nuts.", "Zoe likes apples.", "The vase must never be moved.")
    assert told.told_of("make Zoe a sandwich") == ["Kim is allergic to nuts.", "Zoe likes apples."]


def test_what_cannot_be_used_is_told_of_although_nobody_names_it() -> None:
    told = limits("Kim is allergic to nuts.", "The microwave is broken.", "The vase must never be moved.")
    assert told.told_of("heat the egg") == ["Kim is allergic to nuts.", "The microwave is broken."]


def test_broken_appliance_is_told_of_and_another_one_is_used_or_asked_for() -> None:
    heat = [Goal(GoalKind.HEAT, mention("Egg"))]
    verdict = limits("The microwave is broken.").of_goals(heat)
    assert verdict.closed == ({"microwave"},)
    assert "microwave is broken" in verdict.notes[0]
    assert limits("The microwave is broken.", "The oven is broken.").of_goals(heat).question


@pytest.mark.parametrize(
    ("told", "unusable"),
    [
        ("The sink in the kitchen is out of order.", {"basin"}),
        ("The tap in the kitchen is broken.", {"basin"}),
        ("The kitchen sink is broken until Wednesday.", {"basin"}),
        ("The kitchen tap is broken.", {"basin"}),
        ("The sink is out of order.", {"basin", "other basin"}),
    ],
)
def test_basin_is_out_of_order_with_its_sink_or_its_tap(told: str, unusable: set[str]) -> None:
    scene = home(
        thing("basin", "SinkBasin", (2.0, 4.0, 0.8)),
        thing("tap", "Faucet", (2.0, 4.2, 1.0)),
        thing("other basin", "SinkBasin", (6.0, 0.0, 0.8), area="a2"),
        thing("other tap", "Faucet", (6.0, 0.2, 1.0), area="a2"),
    )
    told_limits = limits(told, scene=scene)
    verdict = told_limits.of_goals([Goal(GoalKind.CLEAN, mention("Mug"))])
    closed = frozenset[str]().union(*verdict.closed)
    assert {one for one in closed if "basin" in one} == (unusable if not verdict.question else set())
    assert bool(verdict.question) == (len(unusable) == 2)
    call = SkillCall("CleanObject", ("Mug", "SinkBasin@6.0,0.0,0.8"))
    assert (told_limits.of_call(call) is not None) == ("other basin" in unusable)


class _Stubborn:
    """A planner that wants one call whatever it is told."""

    def run(self, instruction: str, situation: PlanningContext) -> PlanRun:
        result = yield PlannedStep(SkillCall("PickupObject", ("vase",)))
        return PlanOutcome(("take",), (result.success,), (str(result.reason),))


class _Robot:
    def __init__(self) -> None:
        self.calls: list[SkillCall] = []

    def execute(self, call: SkillCall) -> SkillResult:
        self.calls.append(call)
        return SkillResult(call, True)


@pytest.mark.parametrize(("told", "done"), [((), 1), (("The vase must never be moved.",), 0)])
def test_forbidden_call_of_any_planner_never_reaches_the_robot(told: Sequence[str], done: int) -> None:
    robot = _Robot()
    memory = None
    executor = InstructionExecutor(memory, robot, _Stubborn(), limits=limits(*told))  # type: ignore[arg-type]
    result = executor.execute("take the vase")
    assert len(robot.calls) == done
    assert result.success == bool(done)
    assert [step.result.reason for step in result.steps] == [FailureReason.NONE if done else FailureReason.FORBIDDEN]
    assert any("never be moved" in note for note in result.notes) == (not done)


@pytest.mark.parametrize(
    ("words", "thing_id", "is_told"),
    [
        ("wash the bowl", "hers", True),
        ("wash Kim's bowl", "hers", False),
        ("wash his bowl", "hers", False),
        ("wash the bowl", "bowl", False),
    ],
)
def test_a_planner_that_chooses_somebody_else_s_thing_is_told_whose_it_is(
    words: str, thing_id: str, is_told: bool
) -> None:
    scene = home(thing("hers", "Bowl", (5.0, 0.0, 0.8), on="desk"))
    goal = Goal(GoalKind.CLEAN, Mention("bowl", ("Bowl",), thing_id=thing_id), text=words)
    assert bool(limits("The bowl on the desk is Kim's.", scene=scene).of_others(goal).get(thing_id)) is is_told


def test_ban_that_was_read_in_part_binds_as_far_as_it_was_read() -> None:
    told = "Kim gets a rash from eggs, so please never give her any."
    egg = Goal(GoalKind.PLACE, mention("Egg"), person("user"))
    assert not limits(told).unread_ban([egg], [told]).question
    assert limits(told).of_goals([replace(egg, destination=person("kim"))]).question


POTATO = Goal(GoalKind.HEAT, mention("Potato"))
PILLOW = Goal(GoalKind.FETCH, Mention("pillow", ("Pillow",), room="bedroom"))
LAPTOP, PAN = Goal(GoalKind.PLACE, mention("Laptop"), person("kim")), Goal(GoalKind.HEAT, mention("Pan"))
TO_PAUL = Goal(GoalKind.PLACE, mention("Laptop"), Mention("Paul", ("User",), thing_id="paul"))


@pytest.mark.parametrize(
    ("told", "goal", "is_asked"),
    [
        ("Nobody but Paul may use the laptop.", LAPTOP, True),
        ("Nobody but Paul may use the laptop.", TO_PAUL, False),
        ("I'd rather you didn't lend the laptop to guests.", LAPTOP, True),
        ("Use only the pan for eggs.", PAN, True),
        ("Nobody but Paul may use the laptop.", PAN, False),
        ("Nobody but Paul may use the laptop.", Goal(GoalKind.TELL, mention("Laptop")), False),
        ("I don't know where the laptop is.", LAPTOP, False),
        ("Nobody has seen the laptop since Monday.", LAPTOP, False),
        ("Ben never had his laptop in the kitchen.", LAPTOP, False),
        ("The laptop is only here on Mondays.", LAPTOP, False),
        ("Ben never wants the laptop in the kitchen.", LAPTOP, True),
        ("The laptop is not mine and can't play films.", LAPTOP, False),
        ("No laptop before six in the evening.", LAPTOP, True),
        ("Nobody uses the microwave except on Sundays.", POTATO, True),
        ("Nobody uses the microwave except on Thursdays.", POTATO, False),  # stamp 0 is one
        ("You may use the microwave except on Thursdays.", POTATO, True),
        ("You may use the microwave except on Sundays.", POTATO, False),
        ("No problem at all, the laptop is mine.", LAPTOP, False),
        ("The bedroom is off limits.", PILLOW, True),
        ("The cat must not come into the bedroom.", PILLOW, False),
        ("Nobody goes hungry in the bedroom.", PILLOW, False),
        ("Nobody puts metal in the microwave.", POTATO, False),
        ("While we have visitors nobody goes into the bedroom.", PILLOW, True),
        ("While we have visitors nobody sings in the bedroom.", PILLOW, False),
    ],
)
def test_unread_statement_that_sounds_like_a_ban_is_asked_about(told: str, goal: Goal, is_asked: bool) -> None:
    verdict = limits().unread_ban([goal], [told])
    assert verdict.question == (f'I was told: "{told.rstrip(".")}." What shall I do instead?' if is_asked else "")


@pytest.mark.parametrize(
    ("told", "goal", "is_asked"),
    [
        ("The microwave is in such a state until Thursday.", Goal(GoalKind.HEAT, mention("Egg")), True),
        ("The microwave is in such a state until Thursday.", Goal(GoalKind.CLEAN, mention("Egg")), False),
        ("The microwave is really heavy.", Goal(GoalKind.HEAT, mention("Egg")), False),
        ("Kim has gone to bed, he must not be disturbed.", Goal(GoalKind.PLACE, mention("Egg"), person("Kim")), True),
        ("Kim is in bed, he must not be woken until noon.", Goal(GoalKind.PLACE, mention("Egg"), person("Kim")), True),
        ("Kim has gone to bed, he must not be disturbed.", Goal(GoalKind.PLACE, mention("Egg"), person("me")), False),
        ("Zoe told me Jo must not be late.", Goal(GoalKind.PLACE, mention("Egg"), Mention("me", ("User",))), False),
        ("The egg is good until Friday.", Goal(GoalKind.PLACE, mention("Egg"), mention("Desk")), False),
        ("Kim said the vase must not be washed.", Goal(GoalKind.PLACE, mention("Egg"), person("Kim")), False),
        ("Kim must not open the window.", Goal(GoalKind.PLACE, mention("Egg"), person("Kim")), False),
        ("Do not worry about Kim.", Goal(GoalKind.PLACE, mention("Egg"), person("Kim")), False),
    ],
)  # fmt: skip
def test_unread_ban_of_an_appliance_or_a_person_is_asked_about(told: str, goal: Goal, is_asked: bool) -> None:
    assert bool(limits(told).unread_ban([goal], [told]).question) == is_asked


def test_broken_thing_stays_broken_whatever_is_said_of_it_besides() -> None:
    told = limits("The microwave is broken, the man is coming then.", "The oven is broken, the part comes later.")
    assert told.of_goals([Goal(GoalKind.HEAT, mention("Egg"))]).question


@pytest.mark.parametrize(("day", "is_asked"), [(0, True), (1, False), (2, False)])
def test_ban_that_no_form_reads_ends_on_its_day(day: int, is_asked: bool) -> None:
    told = "Kim has gone to bed, she must not be disturbed until tomorrow (2 January 1970)"
    goal = Goal(GoalKind.PLACE, mention("Egg"), Mention("Kim", ("User",), thing_id="kim"))
    assert bool(limits(now_ns=day * 86_400 * 10**9 + 2).unread_ban([goal], [told]).question) == is_asked


@pytest.mark.parametrize(
    ("told", "is_asked"),
    [("Leave the floor lamp on.", False), ("Leave the oven open.", False), ("Never turn off the floor lamp.", True)],
)
def test_what_is_left_as_it_is_may_be_changed_the_next_day(told: str, is_asked: bool) -> None:
    goals = [Goal(GoalKind.SWITCH_OFF, mention("FloorLamp")), Goal(GoalKind.CLOSE, mention("Oven"))]
    scene = home(thing("lamp", "FloorLamp"))
    assert limits(told, scene=scene).of_goals(goals).question
    assert bool(limits(told, scene=scene, now_ns=86_400 * 10**9).of_goals(goals).question) == is_asked
