"""Where things of a kind usually are: counts of other sites, and how a search follows them."""

import numpy as np
import pytest

from memory_node.catalogue.label_space import load_catalogue
from memory_node.domain.errors import InvalidValueError
from memory_node.domain.geometry import Intrinsics, Pose
from memory_node.domain.observation import Frame
from memory_node.domain.skill import StateChange
from memory_node.domain.states import ObjectState
from memory_node.scene_graph.config import SceneGraphConfig
from memory_node.scene_graph.graph import SceneGraph
from memory_node.scene_graph.place_habits import PlaceCensus, PlaceHabits, PlaceWatch

KINDS = load_catalogue()
HOME = {"a": "CounterTop", "b": "Cabinet", "c": "SideTable"}


def habits(*censuses: PlaceCensus, informed: bool = True) -> PlaceHabits:
    found = PlaceHabits(KINDS, informed)
    for census in censuses:
        found.add(census)
    return found


def census(thing: str, place: str, found: int, looks: int, room: str = "kitchen") -> PlaceCensus:
    return PlaceCensus({(place, room): looks}, {(thing, place, room): found})


def test_without_counts_the_label_space_tells_and_expects_one_thing() -> None:
    expected = habits().expected("Mug", HOME)
    assert sum(expected.values()) == pytest.approx(1.0)
    assert expected["a"] > expected["c"] > 0.0


def test_a_room_of_another_kind_has_habits_of_its_own() -> None:
    learnt = habits(census("cloth", "cabinet", 20, 40, "bathroom"), census("cloth", "cabinet", 0, 40, "kitchen"))
    bath, kitchen = (learnt.expected("Cloth", HOME, room)["b"] for room in ("bathroom", "kitchen"))
    assert bath > 3.0 * kitchen
    assert kitchen < learnt.expected("Cloth", HOME)["b"] < bath


def test_a_class_that_was_never_found_is_expected_where_most_things_are() -> None:
    learnt = habits(census("mug", "countertop", 50, 50), census("mug", "sidetable", 1, 50))
    expected = learnt.expected("Gizmo", HOME, "kitchen")
    assert expected["a"] > expected["c"]


def test_censuses_add_up_and_survive_the_store() -> None:
    one, other = census("mug", "cabinet", 1, 2), census("mug", "cabinet", 2, 3)
    both = PlaceCensus.together([one, other])
    assert both == census("mug", "cabinet", 3, 5)
    assert PlaceCensus.from_dict(both.as_dict()) == both


@pytest.mark.parametrize("body", [{}, {"looks": [["a"]], "finds": []}, {"looks": [["a", "b", -1]], "finds": []}])
def test_what_is_no_census_is_refused(body: dict) -> None:
    with pytest.raises(InvalidValueError):
        PlaceCensus.from_dict(body)


# --- in a graph: three pieces of furniture, each in an area of its own


def graph_with(learnt: PlaceHabits | None) -> SceneGraph:
    graph = SceneGraph(SceneGraphConfig(area_spacing_m=4.0, overlooked=0.01))
    graph.set_map(np.zeros((8, 24), np.int8), 0.5, Pose.planar(0.0, 0.0, 0.0), 1)
    for number, name in enumerate(HOME.values()):
        graph.apply_change(StateChange(name, name, 1, position=(2.0 + 4.0 * number, 2.0, 0.5)))
    graph.habits = learnt
    return graph


def order_in(graph: SceneGraph, object_class: str) -> list[str]:
    furniture = {found.area_id: found.class_name for found in graph.objects() if found.class_name in HOME.values()}
    return [furniture[area.area_id] for area in graph.rank_search_areas(object_class)]


def look_at(graph: SceneGraph, x_m: float, stamp_ns: int) -> None:
    axes = np.array([[1.0, 0, 0, x_m], [0, 0, 1, 0.5], [0, -1, 0, 0.5], [0, 0, 0, 1]])
    eye = Intrinsics(100.0, 100.0, 50.0, 50.0, 100, 100)
    graph.observe(Frame(stamp_ns, Pose.from_matrix(axes), eye, (), complete=False))


def test_search_begins_where_other_sites_had_such_things() -> None:
    learnt = habits(
        census("mug", "cabinet", 30, 40), census("mug", "sidetable", 10, 40), census("mug", "countertop", 0, 40)
    )
    assert order_in(graph_with(learnt), "Mug") == ["Cabinet", "SideTable", "CounterTop"]


def test_what_closes_comes_after_what_is_as_likely_and_lies_open() -> None:
    learnt = habits(
        census("mug", "cabinet", 12, 40), census("mug", "sidetable", 10, 40), census("mug", "countertop", 0, 40)
    )
    assert order_in(graph_with(learnt), "Mug")[0] == "SideTable"


def test_absence_outweighs_habit_and_sight_outweighs_both() -> None:
    graph = graph_with(habits(census("mug", "cabinet", 30, 40)))
    look_at(graph, 6.0, 5)
    assert order_in(graph, "Mug")[-1] == "Cabinet"
    graph.apply_change(StateChange("mug", "Mug", 6, support_id="", position=(10.0, 2.0, 1.0)))
    assert order_in(graph, "Mug")[0] == "SideTable"


def test_watch_counts_first_places_and_what_was_looked_into() -> None:
    graph = graph_with(None)
    watch = PlaceWatch(graph)
    cabinet, counter = (graph.objects_of_class(name)[0].id for name in ("Cabinet", "CounterTop"))

    def change(name: str, **values: object) -> None:
        watch.note(graph.apply_change(StateChange(name, name, 3, **values)))  # type: ignore[arg-type]

    change("Mug", support_id=cabinet, inside=True, position=(6.0, 2.0, 0.5))
    change("Cup", support_id=counter, position=(2.0, 2.0, 1.0))
    look_at(graph, 2.0, 4)
    look_at(graph, 6.0, 5)
    # A closed cabinet in view was not looked into.
    assert watch.census() == PlaceCensus({("countertop", ""): 1}, {("cup", "countertop", ""): 1})
    change(cabinet, added=(ObjectState.OPENED,))
    cup = graph.objects_of_class("Cup")[0].id
    change(cup, held=True)
    change(cup, held=False, support_id=cabinet, inside=True)
    assert watch.census().finds == {("cup", "countertop", ""): 1, ("mug", "cabinet", ""): 1}


def test_what_was_counted_outweighs_likeness() -> None:
    likeness = {"a": 10.0, "b": 0.1}
    learnt = habits(census("mug", "cabinet", 30, 40), census("mug", "countertop", 0, 40))
    assert (
        learnt.expected("Mug", HOME, "kitchen", likeness)["b"] > learnt.expected("Mug", HOME, "kitchen", likeness)["a"]
    )
    unlearnt = habits(informed=False).expected("Mug", HOME, "kitchen", likeness)
    assert unlearnt["a"] > unlearnt["c"] > unlearnt["b"]
