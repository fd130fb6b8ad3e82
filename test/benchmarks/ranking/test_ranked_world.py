"""Names, beliefs and the calls that can be made."""

from benchmarks.ranking.ranked_world import SettledThings
from memory_node.catalogue.label_space import load_catalogue
from memory_node.domain.skill_library import GoalKind
from memory_node.domain.states import ObjectState
from memory_node.planner.goal import Goal, Mention
from memory_node.world.remembered import remembered
from memory_node.world.state import Thing, WorldState

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
