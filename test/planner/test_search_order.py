"""Places are searched where the way is worth it, and equally likely ones on a tour."""

import itertools
import math
import random

from memory_node.domain.answer import RankedArea
from memory_node.planner.memory_lookup import in_search_order


def area(name: str, x: float, y: float, probability: float) -> RankedArea:
    return RankedArea(name, name, (x, y), probability, "")


def way_m(areas: tuple[RankedArea, ...]) -> float:
    return sum(math.dist(a.position, b.position) for a, b in itertools.pairwise(areas))


def test_likeliest_place_comes_first_and_a_far_one_after_what_lies_near() -> None:
    areas = [area("desk", 0.0, 0.0, 0.5), area("attic", 20.0, 0.0, 0.2), area("shelf", 1.0, 0.0, 0.15)]
    assert [one.name for one in in_search_order(areas, 1.0)] == ["desk", "shelf", "attic"]


def test_much_likelier_place_is_worth_its_way() -> None:
    areas = [area("desk", 0.0, 0.0, 0.5), area("bed", 5.0, 0.0, 0.45), area("shelf", 1.0, 0.0, 0.01)]
    assert [one.name for one in in_search_order(areas, 1.0)] == ["desk", "bed", "shelf"]


def test_equally_likely_places_are_a_short_tour() -> None:
    grid = [area(f"{x} {y}", 0.6 * x, 0.6 * y, 0.01) for x in range(10) for y in range(10)]
    random.Random(4).shuffle(grid)
    assert way_m(in_search_order(grid, 1.0)) < 1.5 * 99 * 0.6
    assert sorted(one.name for one in in_search_order(grid, 1.0)) == sorted(one.name for one in grid)


def test_ranks_stay_where_ways_cost_nothing() -> None:
    areas = [area("shelf", 0.0, 0.0, 0.3), area("closed safe", 900.0, 0.0, 0.5), area("desk", 1.0, 0.0, 0.2)]
    assert [one.name for one in in_search_order(areas, math.inf)] == ["shelf", "closed safe", "desk"]


def test_what_is_ranked_later_for_its_work_is_not_worth_more_than_what_stands_before() -> None:
    areas = [area("shelf", 0.0, 0.0, 0.3), area("desk", 3.0, 0.0, 0.3), area("closed safe", 3.0, 0.1, 0.5)]
    assert [one.name for one in in_search_order(areas, 1.0)] == ["shelf", "desk", "closed safe"]


def test_rooms_are_looked_over_before_what_was_seen_from_beside_it() -> None:
    shelf = [area(f"shelf {n}", 0.6 * n, 0.0, 0.1) for n in range(4)]
    behind_wall, attic = area("behind the wall", 0.0, 0.5, 0.1), area("attic", 9.0, 0.0, 0.1)
    rooms = {one.area_id: "room" for one in shelf} | {"behind the wall": "other room", "attic": "attic"}
    ordered = [one.name for one in in_search_order([*shelf, behind_wall, attic], 1.0, rooms)]
    assert set(ordered[:4]) == {"shelf 0", "behind the wall", "shelf 2", "attic"}
    assert set(ordered[4:]) == {"shelf 1", "shelf 3"}


def test_nothing_to_search_is_no_order() -> None:
    assert in_search_order([], 1.0) == ()
