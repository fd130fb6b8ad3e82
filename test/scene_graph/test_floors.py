"""A site of several floors: each keeps its rooms, areas and things while the robot is on another."""

import json
from pathlib import Path

import cv2
import numpy as np
import pytest
from plain_search import find

from memory_node.domain.answer import FindQuery
from memory_node.domain.errors import InvalidValueError
from memory_node.domain.geometry import OrientedBox, Pose
from memory_node.domain.observation import Frame, ObjectObservation
from memory_node.domain.scene import RelationKind
from memory_node.scene_graph.config import SceneGraphConfig
from memory_node.scene_graph.graph import SceneGraph
from memory_node.scene_graph.marker_shapes import scene_markers
from memory_node.scene_graph.picture import draw_scene
from memory_node.scene_graph.relocalization import shift_graph

UPSTAIRS_M = 3.2
HALL = np.zeros((80, 100), np.int8)  # 4 x 5 m


class Storeys:
    """A robot that takes the lift between two floors which lie one above the other."""

    def __init__(self) -> None:
        self.graph = SceneGraph(SceneGraphConfig())
        self.stamp_s = 0

    def map(self, ground_m: float, cells: np.ndarray = HALL) -> None:
        self.graph.set_map(cells, 0.05, Pose(np.array([0.0, 0.0, ground_m]), np.array([0.0, 0.0, 0.0, 1.0])))

    def see(self, ground_m: float, **things: tuple[float, float, float]) -> None:
        """Look at things whose heights are over their floor, from the middle of it."""
        for _ in range(3):
            self.stamp_s += 1
            seen = [
                ObjectObservation({name: 0.9}, OrientedBox([x, y, z + ground_m], [0.1, 0.1, 0.1]), np.eye(3) * 1e-4)
                for name, (x, y, z) in things.items()
            ]
            camera = Pose(np.array([2.0, 2.0, ground_m + 1.3]), np.array([0.5, -0.5, 0.5, -0.5]))
            self.graph.observe(Frame(self.stamp_s * 1_000_000_000, camera, None, tuple(seen)))

    def floor_of(self, name: str) -> float:
        """Return the height of the floor that memory puts a thing on."""
        (found,) = (found for found in self.graph.objects() if found.class_name == name)
        return self.graph.places.floors[self.graph.places.areas[found.area_id].floor_id].height_m


@pytest.fixture
def home() -> Storeys:
    made = Storeys()
    made.map(0.0)
    made.see(0.0, Mug=(1.0, 1.0, 0.8), Rug=(3.0, 2.0, 0.0))
    made.map(UPSTAIRS_M)
    made.see(UPSTAIRS_M, Pillow=(1.0, 1.0, 0.6), Slipper=(3.0, 2.0, -0.03))
    return made


def test_each_floor_keeps_its_areas_rooms_and_paths(home: Storeys) -> None:
    places = home.graph.places
    assert sorted(floor.height_m for floor in places.floors.values()) == [0.0, UPSTAIRS_M]
    for floor_id in places.floors:
        areas = {area.id for area in places.areas.values() if area.floor_id == floor_id}
        assert len(areas) >= 4
        assert len([room for room in places.rooms.values() if room.floor_id == floor_id]) == 1
        assert any(set(ends) <= areas for ends in places.paths)
        assert not any(len(set(ends) & areas) == 1 for ends in places.paths)


def test_things_belong_to_the_floor_at_their_height(home: Storeys) -> None:
    found = {name: home.floor_of(name) for name in ("Mug", "Rug", "Pillow", "Slipper")}
    assert found == {"Mug": 0.0, "Rug": 0.0, "Pillow": UPSTAIRS_M, "Slipper": UPSTAIRS_M}


def test_ids_stay_when_the_robot_comes_back_and_its_map_has_grown(home: Storeys) -> None:
    before = {area.id: area.floor_id for area in home.graph.places.areas.values()}
    rooms = set(home.graph.places.rooms)
    grown = np.zeros((80, 160), np.int8)
    home.map(0.05, grown)  # the height of a floor is never told to the millimetre
    home.see(0.0, Mug=(1.0, 1.0, 0.8), Vase=(7.0, 2.0, 0.5))
    after = {area.id: area.floor_id for area in home.graph.places.areas.values()}
    assert len(home.graph.places.floors) == 2
    assert before.items() <= after.items()
    assert rooms <= set(home.graph.places.rooms)
    assert len(after) > len(before)
    assert (home.floor_of("Vase"), home.floor_of("Mug"), home.floor_of("Pillow")) == (0.0, 0.0, UPSTAIRS_M)


def test_thing_seen_upstairs_before_its_map_came_moves_to_its_floor_then() -> None:
    home = Storeys()
    home.map(0.0)
    home.see(UPSTAIRS_M, Pillow=(1.0, 1.0, 0.6))
    assert home.floor_of("Pillow") == 0.0
    home.map(UPSTAIRS_M)
    assert home.floor_of("Pillow") == UPSTAIRS_M


def test_find_is_narrowed_to_a_floor_or_room_by_id_or_name(home: Storeys) -> None:
    low, high = sorted(home.graph.places.floors.values(), key=lambda floor: floor.height_m)
    room = next(room for room in home.graph.places.rooms.values() if room.floor_id == high.id)
    home.graph.places.name_room(room.id, "attic", by_user=True)

    def found(place: str) -> set[str]:
        return {answer.object_class for answer in find(home.graph, FindQuery(area_id=place, k=100)).answers}

    assert found(low.id) == found(low.name) == {"Mug", "Rug"}
    assert found(high.id) == found(room.id) == found("attic") == {"Pillow", "Slipper"}
    with pytest.raises(InvalidValueError, match="attic, floor 0, floor 1"):
        found("cellar")
    pillow = find(home.graph, FindQuery(object_class="Pillow")).answers[0]
    assert found(pillow.area_id) == {"Pillow"}
    assert pillow.room_name == "attic"


def test_search_and_views_keep_to_the_floor_that_the_robot_is_on(home: Storeys) -> None:
    places = home.graph.places
    ranked = {area.area_id for area in home.graph.rank_search_areas("Mug")}
    assert ranked == {area.id for area in places.areas.values() if places.floors[area.floor_id].height_m > 1.0}
    home.see(0.0, Mug=(1.0, 1.0, 0.8))
    assert home.graph.rank_search_areas("Mug")[0].reason == "mug was seen there"


def test_text_markers_and_picture_show_all_floors(home: Storeys, tmp_path: Path) -> None:
    lines = [json.loads(line) for line in home.graph.in_words(5000).lines if line.startswith("{")]
    told = {line["floor"]: set() for line in lines}
    for line in lines:
        told[line["floor"]] |= set(line["contains"])
    assert told == {"floor 0": {"mug", "rug"}, "floor 1": {"pillow", "slipper"}}
    snapshot = home.graph.snapshot()
    raised = {m.key: m.position[2] for m in scene_markers(snapshot) if m.namespace in ("areas", "rooms", "floors")}
    for node in (*snapshot.areas, *snapshot.rooms, *snapshot.floors):
        floor = home.graph.places.floors[getattr(node, "floor_id", node.id)]
        assert 2.0 < raised[node.id] - floor.height_m < 8.0
    for part, height in zip((snapshot, snapshot.on_floor(snapshot.floors[0].id)), ("both", "one")):
        draw_scene(part, tmp_path / f"{height}.png", next(iter(home.graph.places.grounds.values())).map)
    both, one = (cv2.imread(str(tmp_path / f"{name}.png")) for name in ("both", "one"))
    assert both.shape[0] > 1.7 * one.shape[0]


def test_one_floor_of_a_snapshot_holds_its_own_nodes_and_edges(home: Storeys) -> None:
    snapshot = home.graph.snapshot()
    upper = snapshot.on_floor(max(snapshot.floors, key=lambda floor: floor.height_m).id)
    assert {found.class_name for found in upper.objects} == {"Pillow", "Slipper"}
    ids = {node.id for nodes in (upper.floors, upper.rooms, upper.areas, upper.objects) for node in nodes}
    assert any(relation.kind is RelationKind.NAVIGABLE for relation in upper.relations)
    assert all({relation.source_id, relation.target_id} <= ids for relation in upper.relations)


def test_floors_survive_a_restart_and_tell_heights_before_a_map_comes(home: Storeys) -> None:
    again = SceneGraph.from_snapshot(home.graph.snapshot(removed=True), SceneGraphConfig())
    assert again.places.floors == home.graph.places.floors
    assert again.places.areas == home.graph.places.areas
    before = set(again.places.areas)
    home.graph = again
    home.see(UPSTAIRS_M, Lamp=(1.0, 3.0, 0.9))
    home.see(0.0, Shoe=(1.0, 3.0, 0.1))
    assert (home.floor_of("Lamp"), home.floor_of("Shoe")) == (UPSTAIRS_M, 0.0)
    home.map(UPSTAIRS_M)
    assert set(again.places.areas) == before


def test_shifted_map_moves_all_floors(home: Storeys) -> None:
    before = dict(home.graph.places.areas)
    shift = Pose(np.array([1.0, -2.0, 0.5]), np.array([0.0, 0.0, 0.0, 1.0]))
    shift_graph(home.graph.state, home.graph.places, shift)
    for area in home.graph.places.areas.values():
        assert area.position == pytest.approx(np.add(before[area.id].position, [1.0, -2.0]))
    assert sorted(floor.height_m for floor in home.graph.places.floors.values()) == [0.5, UPSTAIRS_M + 0.5]
    home.see(UPSTAIRS_M + 0.5, Lamp=(2.0, 1.0, 0.9))
    assert home.floor_of("Lamp") == UPSTAIRS_M + 0.5
