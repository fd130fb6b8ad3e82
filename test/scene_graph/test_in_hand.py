from dataclasses import replace

import numpy as np
import pytest

from memory_node.catalogue.label_space import load_catalogue
from memory_node.domain.geometry import Intrinsics, OrientedBox, Pose
from memory_node.domain.observation import Frame, ObjectObservation
from memory_node.domain.scene import SceneObject
from memory_node.domain.skill import StateChange
from memory_node.domain.states import ObjectState, StateBelief, believed
from memory_node.intake.intake import ChangeGrounding
from memory_node.scene_graph.config import SceneGraphConfig
from memory_node.scene_graph.graph import SceneGraph

SECOND_NS = 1_000_000_000
# An optical frame at (0, 0, 0.8) that looks along +x.
TOWARDS_X = np.array([[0.0, 0.0, 1.0, 0.0], [-1.0, 0.0, 0.0, 0.0], [0.0, -1.0, 0.0, 0.8], [0.0, 0.0, 0.0, 1.0]])


def seen(name: str, *places: tuple[float, float, float]) -> tuple[ObjectObservation, ...]:
    size = np.array([0.08, 0.08, 0.08])
    return tuple(ObjectObservation({name: 0.9}, OrientedBox(np.array(p), size), np.eye(3) * 1e-4) for p in places)


def frame(stamp_s: int, camera_x_m: float, observations: tuple[ObjectObservation, ...]) -> Frame:
    return Frame(stamp_s * SECOND_NS, Pose.planar(camera_x_m, 0.0, 0.0, 1.3), None, observations)


@pytest.fixture
def graph() -> SceneGraph:
    """A graph that saw an apple at the first second."""
    made = SceneGraph()
    made.observe(frame(1, 0.0, seen("Apple", (0.8, 0.0, 0.9))))
    return made


@pytest.fixture
def apple(graph: SceneGraph) -> SceneObject:
    return graph.objects()[0]


def test_held_object_seen_while_driving_stays_one(graph: SceneGraph, apple: SceneObject) -> None:
    graph.apply_change(StateChange(apple.id, "Apple", 2 * SECOND_NS, held=True))
    for step in range(3, 8):
        graph.observe(frame(step, 1.0 * step, seen("Apple", (1.0 * step + 0.4, 0.0, 0.95))))
    assert [found.id for found in graph.objects()] == [apple.id]
    assert np.allclose(graph.object(apple.id).box.center, [7.4, 0.0, 0.95])


@pytest.mark.parametrize("places", [((3.4, 0.0, 0.95), (5.0, 0.5, 0.9)), ((5.0, 0.5, 0.9),)], ids=["both", "it alone"])
def test_second_apple_beyond_the_hand_is_another_one(
    graph: SceneGraph, apple: SceneObject, places: tuple[tuple[float, float, float], ...]
) -> None:
    graph.apply_change(StateChange(apple.id, "Apple", 2 * SECOND_NS, held=True))
    graph.observe(frame(3, 3.0, seen("Apple", *places)))
    assert len(graph.objects()) == 2


def test_apple_that_is_known_to_lie_within_reach_is_not_the_one_in_the_hand(
    graph: SceneGraph, apple: SceneObject
) -> None:
    graph.observe(frame(2, 3.0, seen("Apple", (5.0, 0.0, 0.9))))
    graph.apply_change(StateChange(apple.id, "Apple", 3 * SECOND_NS, held=True))
    graph.observe(frame(4, 4.5, seen("Apple", (5.0, 0.0, 0.9))))
    assert len(graph.objects()) == 2
    assert not np.allclose(graph.object(apple.id).box.center, [5.0, 0.0, 0.9])


def test_sighting_at_the_new_place_before_the_report_is_no_second_object(graph: SceneGraph, apple: SceneObject) -> None:
    graph.observe(frame(5, 3.0, seen("Apple", (5.0, 0.02, 0.9))))
    assert len(graph.objects()) == 2
    put = StateChange(apple.id, "Apple", 4 * SECOND_NS, held=False, position=(5.0, 0.0, 0.9))
    graph.apply_change(put)
    assert [found.id for found in graph.objects()] == [apple.id]


def test_two_things_seen_side_by_side_before_the_report_of_one_stay_two(graph: SceneGraph) -> None:
    graph.observe(frame(5, 3.0, seen("Fork", (5.0, 0.0, 0.9), (5.12, 0.0, 0.9))))
    one, other = graph.objects_of_class("Fork")
    graph.apply_change(StateChange(one.id, "Fork", 4 * SECOND_NS, held=False, position=(5.0, 0.0, 0.9)))
    assert {found.id for found in graph.objects_of_class("Fork")} == {one.id, other.id}


@pytest.mark.parametrize("was_cooked", [True, False])
def test_sighting_of_what_was_cooked_before_does_not_say_that_it_is_cold_no_more(
    graph: SceneGraph, apple: SceneObject, was_cooked: bool
) -> None:
    def see(second: int, x_m: float, is_cooked: bool) -> None:
        (there,) = seen("Apple", (x_m, 0.0, 0.9))
        belief = StateBelief(ObjectState.COOKED, 1.0, second * SECOND_NS)
        graph.observe(frame(second, x_m - 1.0, (replace(there, states=(belief,) if is_cooked else ()),)))

    see(2, 0.8, was_cooked)
    graph.apply_change(StateChange(apple.id, "Apple", 3 * SECOND_NS, (ObjectState.COLD,)))
    see(4, 0.8, was_cooked)
    graph.apply_change(StateChange(apple.id, "Apple", 5 * SECOND_NS, held=True))
    see(8, 5.0, True)
    graph.apply_change(StateChange(apple.id, "Apple", 7 * SECOND_NS, held=False, position=(5.0, 0.0, 0.9)))
    (one,) = graph.objects()
    assert (ObjectState.COLD in {belief.state for belief in one.states}) is was_cooked


def test_sighting_at_the_new_place_before_the_report_revives_no_other_that_was_lost() -> None:
    graph = SceneGraph()
    graph.observe(frame(1, 0.0, seen("Apple", (0.8, 0.0, 0.9), (0.8, 0.6, 0.9))))
    apple, lost = graph.objects()
    graph.apply_change(StateChange(lost.id, "Apple", SECOND_NS, destroyed=True))
    graph.apply_change(StateChange(apple.id, "Apple", 2 * SECOND_NS, held=True))
    graph.observe(frame(5, 3.0, seen("Apple", (5.0, 0.02, 0.9))))
    graph.apply_change(StateChange(apple.id, "Apple", 4 * SECOND_NS, held=False, position=(5.0, 0.0, 0.9)))
    assert [found.id for found in graph.objects()] == [apple.id]


def test_apple_that_lay_there_before_stays_a_second_one(graph: SceneGraph, apple: SceneObject) -> None:
    graph.observe(frame(2, 3.0, seen("Apple", (5.0, 0.2, 0.9))))
    graph.apply_change(StateChange(apple.id, "Apple", 4 * SECOND_NS, held=False, position=(5.0, 0.0, 0.9)))
    assert len(graph.objects()) == 2


def sighting(name: str, at: tuple[float, float, float], size: tuple[float, float, float]) -> ObjectObservation:
    return ObjectObservation({name: 0.9}, OrientedBox(np.array(at), np.array(size)), np.eye(3) * 1e-4)


APPLE_IN_BOWL = (
    sighting("Table", (1.0, 0.0, 0.375), (0.8, 1.2, 0.75)),
    sighting("Bowl", (1.0, 0.3, 0.79), (0.2, 0.2, 0.08)),
    sighting("Apple", (1.0, 0.3, 0.80), (0.07, 0.07, 0.07)),
)


def bowl_with_apple() -> tuple[SceneGraph, str, str]:
    """Return a graph with an apple in a bowl on a table, seen three times, and the ids of bowl and apple."""
    graph = SceneGraph(SceneGraphConfig())
    for second in range(1, 4):
        graph.observe(frame(second, 0.0, APPLE_IN_BOWL))
    ids = {found.class_name: found.id for found in graph.objects()}
    return graph, ids["Bowl"], ids["Apple"]


def test_contents_go_where_their_container_is_carried() -> None:
    graph, bowl, apple = bowl_with_apple()
    graph.apply_change(StateChange(bowl, "Bowl", 10 * SECOND_NS, held=True))
    # The place that both left is looked at from near by: both are in the hand, nothing is missing there.
    depth = np.full((120, 160), 4.0, np.float32)
    for second in range(11, 16):
        looking = Pose.from_matrix(TOWARDS_X)
        graph.observe(Frame(second * SECOND_NS, looking, Intrinsics(130.0, 130.0, 79.5, 59.5, 160, 120), (), depth))
    carried = graph.object(apple)
    assert (carried.removed, carried.support_id, carried.times_missed) == (False, bowl, 0)
    put = StateChange(bowl, "Bowl", 20 * SECOND_NS, held=False, position=(4.0, -2.0, 0.99))
    events = graph.apply_change(put)
    assert {event.object.id for event in events} == {bowl, apple}
    assert np.allclose(graph.object(apple).box.center, [4.0, -2.0, 1.0])
    assert graph.object(apple).support_id == bowl
    assert [found.id for found in graph.objects_near((4.0, -2.0, 1.0), 0.1)] == [apple, bowl]
    # As of a time before, it was where it was.
    then = {found.id: found.box.center for found in graph.snapshot(5 * SECOND_NS).objects}
    assert np.allclose(then[apple], [1.0, 0.3, 0.80])


def test_what_stands_on_a_thing_that_is_no_dish_stays_when_that_is_taken() -> None:
    graph, height_m = SceneGraph(SceneGraphConfig()), 0.05
    heap = (
        sighting("Table", (1.0, 0.0, 0.375), (0.8, 1.2, 0.75)),
        sighting("Book", (1.0, 0.3, 0.775), (0.2, 0.2, height_m)),
        sighting("Plate", (1.0, 0.3, 0.81), (0.18, 0.18, 0.02)),
        sighting("Apple", (1.0, 0.3, 0.855), (0.07, 0.07, 0.07)),
    )
    for second in range(1, 4):
        graph.observe(frame(second, 0.0, heap))
    table, book, plate, apple = (graph.objects_of_class(name)[0] for name in ("Table", "Book", "Plate", "Apple"))
    assert (plate.support_id, apple.support_id) == (book.id, plate.id)
    events = graph.apply_change(StateChange(book.id, "Book", 10 * SECOND_NS, held=True))
    assert {event.object.id for event in events} == {book.id, plate.id, apple.id}
    assert [graph.object(one.id).support_id for one in (plate, apple)] == [table.id, plate.id]
    for one in (plate, apple):
        assert np.allclose(graph.object(one.id).box.center, one.box.center - [0.0, 0.0, height_m])


def test_sighting_of_what_is_in_a_held_bowl_is_no_new_object() -> None:
    graph, bowl, apple = bowl_with_apple()
    graph.apply_change(StateChange(bowl, "Bowl", 10 * SECOND_NS, held=True))
    seen_in_hand = sighting("Apple", (5.5, 0.0, 1.0), (0.07, 0.07, 0.07))
    graph.observe(frame(12, 5.0, (seen_in_hand,)))
    assert len(graph.objects()) == 3
    assert np.allclose(graph.object(apple).box.center, [5.5, 0.0, 1.0])


def test_reloaded_graph_still_carries() -> None:
    graph, bowl, apple = bowl_with_apple()
    graph.apply_change(StateChange(bowl, "Bowl", 10 * SECOND_NS, held=True))
    again = SceneGraph.from_snapshot(graph.snapshot(removed=True), SceneGraphConfig())
    assert again.objects_near((1.0, 0.3, 0.8), 0.2) == []
    again.apply_change(StateChange(bowl, "Bowl", 20 * SECOND_NS, held=False, position=(4.0, -2.0, 0.99)))
    assert np.allclose(again.object(apple).box.center, [4.0, -2.0, 1.0])


def test_picture_from_before_a_put_that_comes_after_its_report_moves_nothing_back() -> None:
    graph, _, apple = bowl_with_apple()
    graph.apply_change(StateChange(apple, "Apple", 10 * SECOND_NS, held=False, position=(4.0, -2.0, 0.99)))
    graph.observe(frame(9, 0.0, APPLE_IN_BOWL))
    assert np.allclose(graph.object(apple).box.center, [4.0, -2.0, 0.99])
    assert graph.counters["late_frame"] == 1


def test_fork_that_lies_beside_a_mug_is_not_in_it() -> None:
    graph = SceneGraph(SceneGraphConfig())
    counter = sighting("CounterTop", (1.0, 0.0, 0.475), (0.8, 1.6, 0.95))
    mug = sighting("Mug", (1.0, 0.0, 1.0), (0.10, 0.08, 0.10))
    fork = sighting("Fork", (0.935, 0.0, 0.96), (0.20, 0.02, 0.02))
    for second in range(1, 4):
        graph.observe(frame(second, 0.0, (counter, mug, fork)))
    found = {one.class_name: one for one in graph.objects()}
    assert found["Fork"].support_id == found["CounterTop"].id


def test_pieces_seen_before_the_report_of_the_cut_are_no_others(graph: SceneGraph, apple: SceneObject) -> None:
    places = [(0.8, y, 0.9) for y in (-0.05, 0.0, 0.05)]
    graph.observe(frame(5, 0.0, seen("AppleSliced", *places)))
    for number, place in enumerate(places):
        graph.apply_change(
            StateChange(f"piece-{number}", "AppleSliced", 4 * SECOND_NS, position=place, created_from=apple.id)
        )
    graph.apply_change(StateChange(apple.id, "Apple", 4 * SECOND_NS, destroyed=True))
    assert {found.id for found in graph.objects_of_class("AppleSliced")} == {"piece-0", "piece-1", "piece-2"}


def test_what_is_carried_along_and_seen_before_the_report_is_no_second_object() -> None:
    graph = SceneGraph()
    top = OrientedBox(np.array((5.0, 0.0, 0.4)), np.array([1.0, 1.0, 0.8]))
    table = ObjectObservation({"Table": 0.9}, top, np.eye(3) * 1e-4)
    graph.observe(frame(1, 0.0, (*seen("Bowl", (0.8, 0.0, 0.9)), *seen("Apple", (0.8, 0.4, 0.9)), table)))
    bowl, apple = (graph.objects_of_class(name)[0] for name in ("Bowl", "Apple"))
    graph.apply_change(
        StateChange(apple.id, "Apple", 2 * SECOND_NS, held=False, support_id=bowl.id, position=(0.8, 0.0, 0.92))
    )
    graph.apply_change(StateChange(bowl.id, "Bowl", 3 * SECOND_NS, held=True))
    at_table = (5.0, 0.0, 0.84)
    graph.observe(frame(6, 4.0, (*seen("Bowl", at_table), *seen("Apple", (5.06, 0.0, 0.9)), table)))
    put = StateChange(bowl.id, "Bowl", 5 * SECOND_NS, held=False, support_id="Table", position=at_table)
    graph.apply_change(put)
    assert [found.id for found in graph.objects_of_class("Apple")] == [apple.id]
    assert graph.objects_of_class("Bowl")[0].id == bowl.id


@pytest.mark.parametrize(("burner", "stays_cold"), [(ObjectState.ON, False), (ObjectState.OFF, True)])
@pytest.mark.parametrize("is_put_first", [False, True])
@pytest.mark.parametrize("heater", ["StoveBurner", "CoffeeMachine"])
def test_what_comes_to_stand_over_heat_is_believed_cold_no_more(
    burner: ObjectState, stays_cold: bool, is_put_first: bool, heater: str
) -> None:
    graph = SceneGraph(catalogue=load_catalogue())
    at = {heater: (2.0, 0.0, 0.9), "Pan": (0.0, 0.0, 0.9), "Egg": (0.0, 0.0, 0.95)}
    for name, place in at.items():
        states = (ObjectState.COLD,) if name != heater else ()
        graph.apply_change(StateChange(name, name, SECOND_NS, states, held=False, position=place))
    graph.apply_change(StateChange("Egg", "Egg", 2 * SECOND_NS, held=False, support_id="Pan", inside=True))
    put = StateChange("Pan", "Pan", 3 * SECOND_NS, held=False, support_id=heater)
    turn = StateChange(heater, heater, 3 * SECOND_NS, (burner,))
    for change in (put, turn) if is_put_first else (turn, put):
        graph.apply_change(change)
    assert [ObjectState.COLD in believed(graph.object(one).states) for one in ("Pan", "Egg")] == [stays_cold] * 2


def reported(graph: SceneGraph, change: StateChange, grounding: ChangeGrounding | None = None) -> SceneObject:
    """Let a graph take over a change that names its thing by the robot's own id; return the thing."""
    grounded = (grounding or ChangeGrounding(graph)).ground(change)
    graph.apply_change(grounded)
    return graph.object(grounded.object_id)


WASHED = StateChange("robot's apple 2", "Apple", 3 * SECOND_NS, (ObjectState.CLEANED,), position=(4.0, 0.0, 0.9))


def test_what_is_done_to_a_like_thing_elsewhere_is_not_done_to_the_one_in_the_hand(
    graph: SceneGraph, apple: SceneObject
) -> None:
    grounding = ChangeGrounding(graph)
    taken = StateChange("robot's apple 1", "Apple", 2 * SECOND_NS, held=True, position=(0.8, 0.0, 0.9))
    assert reported(graph, taken, grounding).support_id == "robot"
    other = reported(graph, WASHED, grounding)
    assert (other.id != apple.id, believed(other.states)) == (True, (ObjectState.CLEANED,))
    assert believed(graph.object(apple.id).states) == ()


@pytest.mark.parametrize("position", [None, WASHED.position])
def test_what_was_in_the_hand_before_memory_began_is_what_a_skill_changes_far_from_others(
    graph: SceneGraph, apple: SceneObject, position: tuple[float, float, float] | None
) -> None:
    graph.apply_change(StateChange(apple.id, "Apple", 2 * SECOND_NS, held=True))
    assert reported(graph, replace(WASHED, position=position)).id == apple.id


@pytest.mark.parametrize(("away_m", "seen_s", "is_same"), [(0.5, 3, False), (0.5, 1, True), (0.2, 3, True)])
def test_what_is_seen_where_it_lies_is_not_what_a_skill_changed_elsewhere(
    graph: SceneGraph, apple: SceneObject, away_m: float, seen_s: int, is_same: bool
) -> None:
    graph.observe(frame(seen_s, 0.0, seen("Apple", (0.8, 0.0, 0.9))))
    washed = replace(WASHED, stamp_ns=5 * SECOND_NS, position=(0.8, away_m, 0.9))
    assert (reported(graph, washed).id == apple.id) is is_same


def test_skill_s_own_ids_with_class_and_place_reach_the_right_thing(graph: SceneGraph, apple: SceneObject) -> None:
    graph.observe(frame(2, 0.0, seen("Bowl", (0.8, 0.4, 0.9))))
    (bowl,) = graph.objects_of_class("Bowl")
    taken = StateChange("home/a7", "Apple", 3 * SECOND_NS, held=True, position=(0.8, 0.1, 0.9))
    assert reported(graph, taken).support_id == "robot"
    put = StateChange("home/a8", "Apple", 4 * SECOND_NS, held=False, support_id="Bowl@0.8,0.5,0.9", inside=True)
    assert (reported(graph, put).id, graph.object(apple.id).support_id) == (apple.id, bowl.id)
