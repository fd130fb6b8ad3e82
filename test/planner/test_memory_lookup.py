"""The planner's questions to memory; places are searched where the way is worth it, equally likely ones on a tour."""

import itertools
import math
import random

from memory_node.domain.answer import RankedArea
from memory_node.domain.names import may_be_meant
from memory_node.domain.scene import Room, SceneSnapshot
from memory_node.domain.skill import StateChange
from memory_node.opening import open_memory
from memory_node.planner.memory_lookup import MemoryLookup, in_search_order
from memory_node.planner.planner import PlanningContext


def test_whole_scene_travels_once_between_two_steps(word_embedder) -> None:
    memory = open_memory(clock=lambda: 1, embedder=word_embedder)
    asked = []

    class Counting:
        def scene(self) -> SceneSnapshot:
            asked.append(1)
            return memory.scene()

    lookup = MemoryLookup(PlanningContext(Counting()))  # type: ignore[arg-type]
    assert lookup.scene_object("nothing") is None
    assert lookup.of_classes(["Mug"]) == []
    assert len(asked) == 1
    lookup.note_step()
    assert lookup.of_classes(["Mug"]) == []
    assert len(asked) == 2


def test_things_are_found_however_a_detector_spells_them(word_embedder) -> None:
    memory = open_memory(clock=lambda: 2, embedder=word_embedder)
    memory.remember([StateChange("c1", "counter_top", 1, position=(1.0, 0.0, 0.5))])
    lookup = MemoryLookup(PlanningContext(memory))
    assert [found.class_name for found in lookup.of_classes(["Mug", "CounterTop"])] == ["counter_top"]
    answer = lookup.locate("CounterTop")
    assert answer.object_class == "counter_top"


def test_nearest_of_several_places_is_taken_whichever_was_used_last(word_embedder) -> None:
    memory = open_memory(clock=lambda: 10, embedder=word_embedder)
    memory.remember([StateChange("kitchen", "SinkBasin", 1, position=(2.0, 0.0, 0.8))])
    memory.cache.clear()
    memory.remember([StateChange("bath", "SinkBasin", 9, position=(4.5, 7.0, 0.8))])
    lookup = MemoryLookup(PlanningContext(memory))
    near_table, anywhere = lookup.locate("SinkBasin", near=(1.5, 2.6, 0.8)), lookup.locate("SinkBasin")
    assert near_table.position[1] == 0.0
    assert anywhere.position[1] == 7.0


def test_room_without_a_name_is_not_the_one_that_nobody_named() -> None:
    class Rooms:
        def scene(self) -> SceneSnapshot:
            return SceneSnapshot(1, rooms=(Room("r1", "", "f", (0.0, 0.0)), Room("r2", "Kitchen", "f", (4.0, 0.0))))

    lookup = MemoryLookup(PlanningContext(Rooms()))  # type: ignore[arg-type]
    assert (lookup.room_called(""), lookup.room_called("kitchen"), lookup.room_called("attic")) == ("", "r2", "")
    assert (lookup.place_of_room(""), lookup.place_of_room("kitchen")) == (None, (4.0, 0.0))


def test_room_is_called_by_its_kind_where_there_is_one() -> None:
    names = ("kitchen 1", "bedroom 1", "bedroom 2")

    class Rooms:
        def scene(self) -> SceneSnapshot:
            return SceneSnapshot(1, rooms=tuple(Room(name, name, "f", (0.0, 0.0)) for name in names))

    lookup = MemoryLookup(PlanningContext(Rooms()))  # type: ignore[arg-type]
    assert [lookup.room_called(one) for one in ("kitchen", "bedroom 2", "bedroom")] == ["kitchen 1", "bedroom 2", ""]
    assert [may_be_meant(one, "bedroom", names) for one in names] == [False, True, True]
    assert [may_be_meant(one, "bedroom 2", names) for one in names] == [False, False, True]


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
