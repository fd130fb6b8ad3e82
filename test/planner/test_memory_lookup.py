"""The planner's questions to memory."""

from memory_node.domain.names import may_be_meant
from memory_node.domain.scene import Room, SceneSnapshot
from memory_node.domain.skill import StateChange
from memory_node.opening import open_memory
from memory_node.planner.memory_lookup import MemoryLookup
from memory_node.planner.planner import PlanningContext


def test_whole_scene_travels_once_between_two_steps(word_embedder) -> None:
    memory = open_memory(clock=lambda: 1, embedder=word_embedder)
    asked = []

    class Counting:
        def scene(self) -> SceneSnapshot:
            asked.append(1)
            return memory.scene()

    lookup = MemoryLookup(PlanningContext(Counting(), lambda _: None, lambda _: None))  # type: ignore[arg-type]
    assert lookup.scene_object("nothing") is None
    assert lookup.of_classes(["Mug"]) == []
    assert len(asked) == 1
    lookup.note_step()
    assert lookup.of_classes(["Mug"]) == []
    assert len(asked) == 2


def test_things_are_found_however_a_detector_spells_them(word_embedder) -> None:
    memory = open_memory(clock=lambda: 2, embedder=word_embedder)
    memory.remember([StateChange("c1", "counter_top", 1, position=(1.0, 0.0, 0.5))])
    lookup = MemoryLookup(PlanningContext(memory, lambda _: None, lambda _: None))
    assert [found.class_name for found in lookup.of_classes(["Mug", "CounterTop"])] == ["counter_top"]
    answer = lookup.locate("CounterTop")
    assert answer is not None
    assert answer.object_class == "counter_top"


def test_nearest_of_several_places_is_taken_whichever_was_used_last(word_embedder) -> None:
    memory = open_memory(clock=lambda: 10, embedder=word_embedder)
    memory.remember([StateChange("kitchen", "SinkBasin", 1, position=(2.0, 0.0, 0.8))])
    memory.cache.clear()
    memory.remember([StateChange("bath", "SinkBasin", 9, position=(4.5, 7.0, 0.8))])
    lookup = MemoryLookup(PlanningContext(memory, lambda _: None, lambda _: None))
    near_table, anywhere = lookup.locate("SinkBasin", near=(1.5, 2.6, 0.8)), lookup.locate("SinkBasin")
    assert near_table is not None
    assert anywhere is not None
    assert near_table.position[1] == 0.0
    assert anywhere.position[1] == 7.0


def test_room_without_a_name_is_not_the_one_that_nobody_named() -> None:
    class Rooms:
        def scene(self) -> SceneSnapshot:
            return SceneSnapshot(1, rooms=(Room("r1", "", "f", (0.0, 0.0)), Room("r2", "Kitchen", "f", (4.0, 0.0))))

    lookup = MemoryLookup(PlanningContext(Rooms(), lambda _: None, lambda _: None))  # type: ignore[arg-type]
    assert (lookup.room_called(""), lookup.room_called("kitchen"), lookup.room_called("attic")) == ("", "r2", "")
    assert (lookup.place_of_room(""), lookup.place_of_room("kitchen")) == (None, (4.0, 0.0))


def test_room_is_called_by_its_kind_where_there_is_one() -> None:
    names = ("kitchen 1", "bedroom 1", "bedroom 2")

    class Rooms:
        def scene(self) -> SceneSnapshot:
            return SceneSnapshot(1, rooms=tuple(Room(name, name, "f", (0.0, 0.0)) for name in names))

    lookup = MemoryLookup(PlanningContext(Rooms(), lambda _: None, lambda _: None))  # type: ignore[arg-type]
    assert [lookup.room_called(one) for one in ("kitchen", "bedroom 2", "bedroom")] == ["kitchen 1", "bedroom 2", ""]
    assert [may_be_meant(one, "bedroom", names) for one in names] == [False, True, True]
    assert [may_be_meant(one, "bedroom 2", names) for one in names] == [False, False, True]
