"""What is believed in one instruction: memory's word under what skills told and memory has not taken over."""

from dataclasses import replace

import numpy as np
import pytest

from memory_node.catalogue.label_space import load_catalogue
from memory_node.domain.geometry import OrientedBox
from memory_node.domain.scene import SceneObject, SceneSnapshot
from memory_node.domain.skill import FailureReason, SkillCall, SkillResult, StateChange
from memory_node.domain.states import ObjectState, StateBelief
from memory_node.world.episode import EpisodeWorld
from memory_node.world.state import Thing, WorldState

S = ObjectState
NOTHING = SceneSnapshot(1)


def seen(memory_id: str, object_class: str, x_m: float, support_id: str = "", *states: ObjectState) -> SceneObject:
    box = OrientedBox(np.array([x_m, 0.0, 1.0]), np.full(3, 0.1))
    beliefs = tuple(StateBelief(state, 0.9, 1) for state in states)
    return SceneObject(memory_id, {object_class: 1.0}, box, np.eye(3), 0.9, 1, 1, support_id=support_id, states=beliefs)


TABLE, SINK = seen("m3", "DiningTable", 0.0), seen("m2", "SinkBasin", 3.0)
HOME = SceneSnapshot(1, objects=(seen("m1", "Apple", 0.0, "m3", S.DIRTY), SINK, TABLE))


def done(skill: str, *arguments: str, object_id: str = "", changes: tuple[StateChange, ...] = ()) -> SkillResult:
    return SkillResult(SkillCall(skill, arguments), True, object_id=object_id or arguments[0], changes=changes)


def begun(scene: SceneSnapshot = HOME) -> EpisodeWorld:
    """Return what is believed at the beginning of an instruction."""
    world = EpisodeWorld(load_catalogue())
    world.refresh(scene)
    return world


def world_after(*results: SkillResult, scene: SceneSnapshot = HOME, told: dict[str, str] | None = None) -> WorldState:
    world = begun(scene)
    for result in results:
        world.follow(result, told or {})
        world.refresh(scene)
    return world.state


WASH = (
    done("GoToObject", "Apple", object_id="apple-7"),
    done("PickupObject", "apple-7", changes=(StateChange("apple-7", "Apple", 2, held=True),)),
    done("GoToObject", "SinkBasin", object_id="sink-2"),
    done(
        "PutObject",
        "apple-7",
        "sink-2",
        changes=(StateChange("apple-7", "Apple", 3, held=False, support_id="sink-2", inside=True),),
    ),
    done("CleanObject", "apple-7", "sink-2", changes=(StateChange("apple-7", "Apple", 4, added=(S.CLEANED,)),)),
)


def test_a_map_that_follows_nothing_is_corrected_by_what_skills_did() -> None:
    apple = world_after(*WASH).things["Apple"]
    assert (apple.container, apple.inside, apple.states) == ("SinkBasin", True, frozenset({S.CLEANED}))
    assert apple.call_name == "apple-7", "the robot's own id"


def test_what_memory_took_over_is_left_to_it() -> None:
    apple = world_after(*WASH, told={"apple-7": "m1"}).things["Apple"]
    assert (apple.container, apple.states) == ("DiningTable", frozenset({S.DIRTY}))


def test_what_lies_on_a_thing_that_was_met_elsewhere_lies_where_that_was() -> None:
    late_ns = 2000 * 10**9
    cloth, met = seen("m4", "Cloth", 0.0, "m3"), replace(seen("m5", "Cloth", 3.0, "m2"), first_seen_ns=late_ns)
    met, pen = replace(met, last_seen_ns=late_ns), seen("m6", "Pen", 0.0, "m4")
    pen = replace(pen, inside=True)
    state = world_after(scene=replace(HOME, objects=(*HOME.objects, cloth, met, pen)))
    assert [one.container for one in state.of_class("Cloth", "Pen")] == ["SinkBasin", "DiningTable"]
    assert not state.things["Pen"].inside


def test_two_things_that_were_told_to_lie_on_each_other_and_met_elsewhere_are_on_nothing_known() -> None:
    late_ns = 2000 * 10**9
    objects = [seen("t1", "Tray", 0.0, "b1"), seen("b1", "Box", 0.0, "t1"), seen("p1", "Pen", 0.0, "b1")]
    objects += [
        replace(seen(memory_id, name, 3.0), first_seen_ns=late_ns, last_seen_ns=late_ns)
        for memory_id, name in (("t2", "Tray"), ("b2", "Box"))
    ]
    assert world_after(scene=replace(HOME, objects=(*HOME.objects, *objects))).things["Pen"].container == ""


PIECES = tuple(StateChange(f"apple-7/{n}", "AppleSliced", 2, created_from="apple-7") for n in (1, 2))
WHOLE_IS_GONE = StateChange("apple-7", "Apple", 2, destroyed=True)
CUT = done("SliceObject", "Apple@0.0,0.0,1.0", object_id="apple-7/1", changes=(*PIECES, WHOLE_IS_GONE))


def test_pieces_are_one_entry_where_the_whole_was() -> None:
    state = world_after(done("GoToObject", "Apple", object_id="apple-7"), CUT)
    assert [one.object_class for one in state if "Apple" in one.object_class] == ["AppleSliced"]
    apple = state.things["Apple"]
    assert (apple.container, apple.count, apple.has(S.SLICED)) == ("DiningTable", 2, True)


@pytest.mark.parametrize("support", ["bowl-1", "Bowl@1.568,2.932,0.793"])
def test_found_things_keep_names_states_and_places(support: str) -> None:
    put = StateChange("apple-1", "Apple", 0, held=False, support_id=support)
    state = world_after(
        done("Explore", "Apple", object_id="apple-1"),
        done("Explore", "Bowl", object_id="bowl-1"),
        done("Explore", "Bowl", object_id="bowl-2"),
        done("PickupObject", "apple-1", changes=(StateChange("apple-1", "Apple", 0, held=True),)),
        done("PutObject", "apple-1", "bowl-1", changes=(put,)),
        scene=NOTHING,
    )
    assert set(state.things) == {"Apple", "Bowl", "Bowl 2"}
    assert state.things["Apple"].container == "Bowl"


def test_what_was_found_keeps_its_name_when_memory_sees_it() -> None:
    world = begun(NOTHING)
    world.follow(done("Explore", "Apple", object_id="apple-1"))
    state = world.refresh(HOME)
    assert state.things["Apple"].memory_id == "m1"
    assert "Apple 2" not in state.things


def test_what_memory_knew_and_explore_found_again_is_no_second_thing() -> None:
    world = begun(replace(HOME, stamp_ns=2))
    world.follow(done("Explore", "Apple", object_id="apple-1"))
    apple = replace(HOME.objects[0], last_seen_ns=3)
    state = world.refresh(replace(HOME, stamp_ns=4, objects=(apple, SINK, TABLE)))
    assert [one.object_class for one in state] == ["Apple", "SinkBasin", "DiningTable"]
    assert (state.at, state.things["Apple"].call_name) == ("Apple", "apple-1")


def test_what_was_found_before_is_found_once() -> None:
    found = done("Explore", "Apple", object_id="apple-1")
    assert set(world_after(found, found, scene=NOTHING).things) == {"Apple"}


def test_what_memory_sees_at_once_has_memory_s_name() -> None:
    world = begun(NOTHING)
    world.follow(done("Explore", "Apple", object_id="apple-1"))
    named = replace(HOME, objects=tuple(replace(one, name=f"{one.class_name} 4") for one in HOME.objects))
    state = world.refresh(named)
    assert (state.things["Apple 4"].object_id, state.at) == ("apple-1", "Apple 4")


def test_pieces_that_memory_knows_one_by_one_have_no_entry_together() -> None:
    world, known = with_two_pieces()
    named = [replace(one, name=f"AppleSliced {one.id}") for one in known]
    state = world.refresh(SceneSnapshot(2, objects=(*named, SINK, TABLE)))
    assert set(state.things) == {"AppleSliced m7", "AppleSliced m8", "SinkBasin", "DiningTable"}
    assert state.things["AppleSliced m8"].call_name == "apple-7/2"


def test_what_is_not_there_is_no_more_and_holds_nothing() -> None:
    gone = SkillResult(SkillCall("GoToObject", ("DiningTable",)), False, FailureReason.NOT_FOUND)
    state = world_after(gone)
    assert "DiningTable" not in state.things
    assert state.container_of("Apple") == ""


def test_thing_that_was_moved_unseen_is_believed_where_it_was_met_last_until_it_is_not_there() -> None:
    later = 10**12
    moved = replace(seen("m4", "Apple", 3.0, "m2"), movable=True, first_seen_ns=later, last_seen_ns=later)
    scene = replace(HOME, stamp_ns=later, objects=(*HOME.objects, moved))
    assert [one.memory_id for one in world_after(scene=scene).of_class("Apple")] == ["m4"]
    reference = world_after(scene=scene).of_class("Apple")[0].call_name
    gone = SkillResult(SkillCall("GoToObject", (reference,)), False, FailureReason.NOT_FOUND)
    assert [one.memory_id for one in world_after(gone, scene=scene).of_class("Apple")] == ["m1"]
    still_seen = replace(HOME.objects[0], last_seen_ns=later + 1)
    two = replace(scene, objects=(still_seen, *scene.objects[1:]))
    assert len(world_after(scene=two).of_class("Apple")) == 2


def test_memory_names_come_first() -> None:
    named = replace(HOME, objects=tuple(replace(one, name=f"{one.class_name} 4") for one in HOME.objects))
    assert set(world_after(scene=named).things) == {"Apple 4", "SinkBasin 4", "DiningTable 4"}


def test_what_was_found_and_what_memory_holds_turn_out_to_be_one_thing() -> None:
    world = begun()
    world.follow(done("Explore", "SinkBasin", object_id="sink-2"))
    world.follow(done("GoToObject", world.state.things["SinkBasin"].call_name, object_id="sink-2"))
    assert [one.id for one in world.state.of_class("SinkBasin")] == ["SinkBasin"]
    assert (world.state.things["SinkBasin"].object_id, world.state.at) == ("sink-2", "SinkBasin")


def test_thing_shut_in_what_memory_has_not_seen_is_in_what_the_robot_names() -> None:
    shut = SkillResult(SkillCall("PickupObject", ("Apple",)), False, FailureReason.CLOSED, object_id="chest-1")
    state = world_after(shut)
    outer = state.things[state.container_of("Apple")]
    assert (outer.call_name, outer.door) == ("chest-1", S.CLOSED)


def test_what_is_supposed_of_a_thing_stays_until_a_skill_changes_it() -> None:
    world = begun()
    world.suppose("Apple", S.DIRTY, False)
    assert world.refresh(HOME).things["Apple"].has(S.DIRTY) is False


def test_thing_that_memory_has_lost_is_kept_under_a_name_of_its_own() -> None:
    world = begun()
    mug = world.keep(Thing("Apple", "Mug", "Mug@1.00,0.00,0.90", memory_id="m9"))
    assert mug.id == "Mug"
    assert world.keep(mug).id == world.refresh(HOME).things["Mug"].id


def test_what_a_picture_refutes_is_so_no_more() -> None:
    world = begun()
    for result in WASH:
        world.follow(result)
    world.refute(("Apple", "Potato"), (S.CLEANED,))
    assert world.refresh(HOME).things["Apple"].has(S.CLEANED) is False


def test_thing_that_turns_out_to_be_one_that_memory_lost_goes_on() -> None:
    laptops = (seen("m1", "Laptop", 0.0, "m3"), seen("m4", "Laptop", 0.5, "m3"))
    world = begun(SceneSnapshot(1, objects=(TABLE, *laptops)))
    world.refresh(SceneSnapshot(1, objects=(TABLE, laptops[0])))
    (name,) = (one.id for one in world.state if one.memory_id == "m1")
    world.follow(done("GoToObject", name, object_id="laptop-7"), {})
    taken = (StateChange("laptop-7", "Laptop", 2, held=True),)
    world.follow(done("PickupObject", "laptop-7", object_id="laptop-7", changes=taken), {"laptop-7": "m4"})
    assert world.state.things[name].memory_id == "m4"
    assert world.state.held == name


def test_piece_that_memory_has_only_since_the_call_goes_on() -> None:
    world = begun(SceneSnapshot(1, objects=(TABLE, seen("m1", "AppleSliced", 0.0, "m3"))))
    (name,) = (one.id for one in world.state if one.memory_id == "m1")
    taken = (StateChange("apple-7/slice2", "AppleSliced", 2, held=True),)
    world.follow(done("PickupObject", name, object_id="apple-7/slice2", changes=taken), {"apple-7/slice2": "m9"})
    assert world.state.things[name].memory_id == "m9"


def test_an_id_that_memory_gave_before_and_has_lost_takes_no_name() -> None:
    scene = SceneSnapshot(1, objects=(TABLE, seen("m1", "AppleSliced", 0.0, "m3")))
    world = begun(scene)
    (name,) = (one.id for one in world.state if one.memory_id == "m1")
    # The piece was m9 when it was cut; memory has it as m1 since.
    world.follow(done("GoToObject", name, object_id="apple-7/slice2"), {"apple-7/slice2": "m9"})
    assert [one.id for one in world.refresh(scene).of_class("AppleSliced")] == [name]


PIECE_IDS = {"apple-7/1": "m7", "apple-7/2": "m8"}


def with_two_pieces() -> tuple[EpisodeWorld, list[SceneObject]]:
    """Return a world in which an apple has just been cut in two, and the pieces as memory will see them."""
    world = begun()
    world.follow(CUT, PIECE_IDS)
    return world, [seen(name, "AppleSliced", 0.0, "m3") for name in PIECE_IDS.values()]


def test_piece_that_a_skill_destroyed_is_gone() -> None:
    world, known = with_two_pieces()
    world.refresh(SceneSnapshot(2, objects=(*known, TABLE)))
    destroyed = (StateChange("apple-7/2", "AppleSliced", 3, destroyed=True),)
    world.follow(done("BreakObject", "apple-7/2", changes=destroyed), PIECE_IDS)
    state = world.refresh(SceneSnapshot(3, objects=(known[0], TABLE)))
    assert [one.memory_id for one in state.of_class("AppleSliced")] == ["m7"]
