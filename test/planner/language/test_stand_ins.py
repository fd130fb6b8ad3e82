"""Furniture that a home lacks is stood in for where nobody can be asked; things that can be carried never are."""

from collections.abc import Collection, Mapping, Sequence

from grammar import KINDS

from memory_node.domain.goal_labels import GoalKind
from memory_node.planner.goal import Goal, Mention
from memory_node.planner.language.asking_back import Slot
from memory_node.planner.language.stand_ins import StandIns
from memory_node.planner.language.surroundings import HomeClasses
from memory_node.planner.language.understanding import Understander

HOME = HomeClasses(frozenset({"Book", "Mug"}), frozenset({"CoffeeTable", "DiningTable", "SinkBasin"}))


def stand_ins(shares: Mapping[str, float], close: Sequence[str]) -> StandIns:
    def prefer(_text: str, _home: HomeClasses, _slot: Slot, among: Collection[str]) -> Mapping[str, float]:
        return {name: share for name, share in shares.items() if name in among}

    return StandIns(KINDS, prefer, lambda _words, among: [name for name in close if name in among])


def placed(thing: str, place: str) -> Goal:
    return Goal(GoalKind.PLACE, Mention(thing, (thing,)), Mention(place, (place,)))


def of(found: StandIns, goal: Goal, home: HomeClasses = HOME) -> tuple[str, ...]:
    place = found.added(goal, home, "put it there").destination
    assert place is not None
    return place.stand_ins


def test_table_that_people_call_so_comes_first() -> None:
    found = stand_ins({"DiningTable": 0.7, "CoffeeTable": 0.3}, ["CoffeeTable", "DiningTable"])
    assert of(found, placed("Book", "Desk")) == ("DiningTable", "CoffeeTable")


def test_without_readers_the_closest_in_meaning_comes_first() -> None:
    assert of(stand_ins({}, ["CoffeeTable"]), placed("Book", "Desk")) == ("CoffeeTable", "DiningTable")


def test_what_the_home_has_is_not_stood_in_for() -> None:
    assert of(stand_ins({"CoffeeTable": 1.0}, []), placed("Book", "DiningTable")) == ()


def test_nothing_stands_in_for_what_can_be_carried() -> None:
    found = stand_ins({"Mug": 1.0}, ["Mug"])
    goal = found.added(placed("Cup", "DiningTable"), HOME, "put the cup on the table")
    assert goal.target.stand_ins == ()


def test_nothing_stands_in_where_no_furniture_is_known() -> None:
    assert of(stand_ins({"CoffeeTable": 1.0}, []), placed("Book", "Desk"), HomeClasses(frozenset({"Book"}))) == ()


def test_only_a_planner_that_cannot_ask_takes_stand_ins() -> None:
    for asks in (True, False):
        understander = Understander(KINDS, None, None, asks=asks)
        (goal,) = understander.understand("put the book on the desk", HOME).goals
        assert goal.destination is not None
        assert bool(goal.destination.stand_ins) is not asks
