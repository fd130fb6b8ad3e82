"""Names, beliefs and the calls that can be made."""

from benchmarks.ranking.ranked_world import RankedWorld, SettledThings
from memory_node.catalogue.label_space import load_catalogue
from memory_node.domain.skill import FailureReason, SkillResult
from memory_node.domain.skill_library import SKILLS, GoalKind
from memory_node.domain.states import ObjectState
from memory_node.planner.goal import Goal, Mention
from memory_node.world.episode import EpisodeWorld
from memory_node.world.remembered import remembered
from memory_node.world.state import Thing, WorldState

CARRYING = ("Explore", "GoToObject", "PickupObject", "PutObject", "OpenObject", "CloseObject")


def world_of(home, *about: str) -> RankedWorld:
    known = tuple(SKILLS[name] for name in CARRYING)
    world = RankedWorld(EpisodeWorld(load_catalogue()), about or ("Apple", "Mug", "Fridge"), 40, skills=known)
    follow_memory(world, home)
    return world


def follow_memory(world: RankedWorld, home) -> None:
    world.refresh(home.scene(), home.held_object())


def do(world: RankedWorld, home, text: str) -> SkillResult:
    call = world.admissible()[text]
    result = home.execute(call)
    world.follow(result)
    follow_memory(world, home)
    return result


def test_calls_need_what_the_skills_declare(kitchen) -> None:
    world = world_of(kitchen)
    calls = world.admissible()
    assert "GoToObject(Apple)" in calls
    assert not [call for call in calls if call.startswith(("PickupObject", "PutObject", "OpenObject"))], "too far"
    assert "GoToObject(Mug 2)" not in calls, "it is inside the closed fridge"
    do(world, kitchen, "GoToObject(Apple)")
    calls = world.admissible()
    assert {"PickupObject(Apple)", "PickupObject(Mug)"} <= set(calls)
    assert "GoToObject(Apple)" not in calls, "the robot is there"
    do(world, kitchen, "PickupObject(Apple)")
    assert world.held == "Apple"
    calls = world.admissible()
    assert "PutObject(Apple, CounterTop)" in calls
    assert not [call for call in calls if call.startswith("PickupObject")]


def test_call_that_failed_is_not_offered_until_its_things_were_used(kitchen) -> None:
    kitchen.failing = {"PickupObject": FailureReason.EXECUTION}
    world = world_of(kitchen)
    do(world, kitchen, "GoToObject(Apple)")
    assert not do(world, kitchen, "PickupObject(Apple)").success
    assert "PickupObject(Apple)" not in world.admissible()
    do(world, kitchen, "GoToObject(CounterTop)") if "GoToObject(CounterTop)" in world.admissible() else None
    do(world, kitchen, "GoToObject(SinkBasin)")
    do(world, kitchen, "GoToObject(Apple)")
    assert "PickupObject(Apple)" in world.admissible()


def test_what_was_out_of_reach_is_gone_to_first(kitchen) -> None:
    kitchen.failing = {"PickupObject": FailureReason.TOO_FAR}
    world = world_of(kitchen)
    do(world, kitchen, "GoToObject(Mug)")
    assert not do(world, kitchen, "PickupObject(Apple)").success
    assert "GoToObject(Apple)" in world.admissible()
    assert "GoToObject(Mug)" in world.admissible(), "it may not be where it was believed to be"


APPLE, MUG, FRIDGE = (Mention(name, (name,)) for name in ("Apple", "Mug", "Fridge"))


def settled(home, goal: Goal) -> set[str]:
    return set(SettledThings(remembered(home.scene(), load_catalogue())).of(goal))


def test_what_is_where_a_goal_wants_it_is_settled(kitchen) -> None:
    two, clean = Goal(GoalKind.PLACE_TWO, MUG, FRIDGE, count=2), Goal(GoalKind.CLEAN, MUG, FRIDGE)
    assert settled(kitchen, two) == {"m-mug2"}
    assert settled(kitchen, clean) == set(), "it is there, but not clean"
    kitchen.things["m-mug2"].states = {ObjectState.CLEANED}
    assert settled(kitchen, clean) == {"m-mug2"}
    assert settled(kitchen, Goal(GoalKind.FETCH, MUG)) == set()


def test_of_a_stack_the_thing_in_its_vessel_is_settled_before_the_vessel(kitchen) -> None:
    goal = Goal(GoalKind.STACK, APPLE, FRIDGE, container=MUG)
    assert settled(kitchen, goal) == set()
    kitchen.things["m-apple"].support_id = "m-mug1"
    assert settled(kitchen, goal) == {"m-apple"}
    kitchen.things["m-mug1"].support_id = "m-fridge"
    assert settled(kitchen, goal) == {"m-apple", "m-mug1"}


def test_things_of_another_room_than_the_one_that_is_meant_stay() -> None:
    things = (Thing("f", "Fridge"), Thing("a", "Apple", room="Bedroom"), Thing("b", "Apple", room="Hall"))
    goal = Goal(GoalKind.PLACE, Mention("apple", ("Apple",), room="bedroom"), FRIDGE, every=True)
    assert SettledThings(WorldState.of_things(load_catalogue(), things)).of(goal) == {"b"}
