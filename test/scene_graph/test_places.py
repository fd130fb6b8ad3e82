"""Areas, rooms and paths from occupancy grids."""

import numpy as np
import pytest

from memory_node.domain.geometry import Intrinsics, Pose
from memory_node.domain.observation import Frame
from memory_node.domain.scene import Area, RelationKind
from memory_node.scene_graph.config import SceneGraphConfig
from memory_node.scene_graph.graph import SceneGraph

HOUR_NS = 3600 * 10**9


def two_rooms() -> np.ndarray:
    """Return 10 x 5 m at 5 cm: a wall at x = 5 m with a door of 0.9 m."""
    cells = np.zeros((100, 200), np.int8)
    cells[[0, -1]] = 100
    cells[:, [0, -1]] = 100
    cells[:, 99:101] = 100
    cells[40:58, 99:101] = 0
    return cells


@pytest.fixture
def graph() -> SceneGraph:
    made = SceneGraph(SceneGraphConfig(area_spacing_m=1.0))
    made.set_map(two_rooms(), 0.05, Pose.planar(-1.0, -2.0, 0.0))
    return made


def test_rooms_split_at_the_doorway(graph: SceneGraph) -> None:
    rooms = sorted(graph.places.rooms.values(), key=lambda room: room.center)
    assert len(rooms) == 2
    assert rooms[0].center[0] < 4.0 < rooms[1].center[0]
    assert all(room.area_m2 == pytest.approx(24.0, rel=0.1) for room in rooms)


def test_areas_cover_the_reachable_space_evenly(graph: SceneGraph) -> None:
    at = np.array([area.position for area in graph.places.areas.values()])
    assert 35 <= len(at) <= 60
    x, y = np.meshgrid(np.arange(-0.6, 8.6, 0.2), np.arange(-1.6, 2.6, 0.2))
    points = np.column_stack([x.ravel(), y.ravel()])
    nearest = np.linalg.norm(points[:, None] - at[None], axis=2).min(axis=1)
    assert nearest.max() < 1.1


def test_way_through_the_door_is_navigable_and_the_wall_is_not(graph: SceneGraph) -> None:
    by_id = graph.places.areas
    rooms = {area.id: area.room_id for area in by_id.values()}
    edges = [r for r in graph.snapshot().relations if r.kind is RelationKind.NAVIGABLE]
    across = [r for r in edges if rooms[r.source_id] != rooms[r.target_id]]
    assert across
    for edge in across:
        middle = 0.5 * (by_id[edge.source_id].position[1] + by_id[edge.target_id].position[1])
        assert -0.7 < middle < 1.6
    reached, waiting = set(), [next(iter(by_id))]
    while waiting:
        here = waiting.pop()
        if here not in reached:
            reached.add(here)
            waiting += [r.target_id for r in edges if r.source_id == here]
    assert reached == set(by_id)


def test_ids_stay_as_the_map_grows() -> None:
    graph = SceneGraph(SceneGraphConfig(area_spacing_m=1.0))
    half = two_rooms()
    half[:, 60:] = -1
    graph.set_map(half, 0.05, Pose.planar(-1.0, -2.0, 0.0))
    before = {area.id: area.position for area in graph.places.areas.values()}
    room = next(iter(graph.places.rooms))
    graph.places.name_room(room, "kitchen", by_user=True)
    graph.set_map(two_rooms(), 0.05, Pose.planar(-1.0, -2.0, 0.0))
    after = {area.id: area.position for area in graph.places.areas.values()}
    kept = set(before) & set(after)
    assert len(kept) >= 0.9 * len(before)
    assert all(before[name] == after[name] for name in kept)
    assert graph.places.rooms[room].name == "kitchen"
    assert len(after) > len(before)


def test_thing_on_a_counter_at_the_wall_belongs_to_the_room_it_is_seen_from() -> None:
    cells = two_rooms()
    cells[:40, 87:99] = 100  # a counter against the wall, in the left room
    graph = SceneGraph(SceneGraphConfig(area_spacing_m=1.0))
    graph.set_map(cells, 0.05, Pose.planar(-1.0, -2.0, 0.0))
    left = graph.places.area_at(3.85, -1.0, 0.9, (1.0, -1.0))
    assert graph.places.areas[left].position[0] < 4.0


def test_map_origin_may_be_turned() -> None:
    graph = SceneGraph(SceneGraphConfig(area_spacing_m=1.0))
    graph.set_map(two_rooms(), 0.05, Pose.planar(3.0, 1.0, np.pi / 4))
    assert len(graph.places.rooms) == 2
    back = Pose.planar(3.0, 1.0, np.pi / 4).inverse()
    at = back.apply([[*area.position, 0.0] for area in graph.places.areas.values()])
    assert at[:, 0].min() > 0.0
    assert at[:, 0].max() < 10.0
    assert at[:, 1].min() > 0.0
    assert at[:, 1].max() < 5.0


def test_stored_areas_are_found_before_the_map_comes_and_after_they_moved() -> None:
    places = SceneGraph().places
    places.areas.update({name: Area(name, name, (x_m, 0.0)) for name, x_m in (("west", 0.0), ("east", 4.0))})
    assert places.area_at(3.0, 0.0, 0.5) == "east"
    places.moved_by(Pose.planar(5.0, 0.0, 0.0))
    assert places.area_at(3.0, 0.0, 0.5) == "west"
    places.areas["middle"] = Area("middle", "middle", (3.0, 0.5))
    assert places.area_at(3.0, 0.0, 0.5) == "middle"


@pytest.mark.parametrize("map_first", [True, False])
def test_areas_lie_in_the_part_of_the_map_that_the_robot_is_in(map_first: bool) -> None:
    cells = np.full((60, 160), 100, np.int8)
    cells[2:58, 2:100] = 0  # seen through a window
    cells[2:58, 110:158] = 0
    graph = SceneGraph(SceneGraphConfig())
    origin = Pose.planar(-1.0, -2.0, 0.0)
    camera = Frame(1_000_000_000, Pose.planar(5.5, -0.5, 0.0, 1.3), None, (), None)
    if map_first:
        graph.set_map(cells, 0.05, origin)
        assert all(area.position[0] < 4.0 for area in graph.snapshot().areas)
    graph.observe(camera)
    if not map_first:
        graph.set_map(cells, 0.05, origin)
    assert graph.snapshot().areas
    assert all(area.position[0] > 4.5 for area in graph.snapshot().areas)
    assert len(graph.snapshot().rooms) == 1


def test_areas_behind_a_door_that_was_closed_since_keep_their_ids(graph: SceneGraph) -> None:
    forward = Pose(np.array([0.5, 0.5, 1.3]), np.array([-0.5, 0.5, -0.5, 0.5]))  # looks along +x
    camera = Intrinsics(525.0, 525.0, 319.5, 239.5, 640, 480)
    for second in range(1, 8):
        at = forward.position + np.array([second - 1.0, 0.0, 0.0])
        graph.observe(Frame(second * 1_000_000_000, Pose(at, forward.quaternion), camera, (), None))
    viewed = {area.id for area in graph.snapshot().areas if area.last_viewed_ns and area.position[0] < 3.0}
    assert viewed
    closed = two_rooms()
    closed[:, 99:101] = 100
    graph.set_map(closed, 0.05, Pose.planar(-1.0, -2.0, 0.0))
    assert viewed <= {area.id for area in graph.snapshot().areas}


def test_place_where_nobody_looked_is_likelier_than_one_that_was_just_looked_at() -> None:
    graph = SceneGraph()
    for number in range(3):
        at = (4.0 * number, 0.0)
        graph.places.areas[f"area {number}"] = Area(f"area {number}", "", at, last_viewed_ns=HOUR_NS * (number < 2))
    graph.state.now_ns = HOUR_NS
    assert graph.rank_search_areas("Mug")[0].area_id == "area 2"


def test_area_in_which_a_detector_without_an_image_stands_was_looked_at(graph: SceneGraph) -> None:
    graph.observe(Frame(HOUR_NS, Pose.planar(1.0, 1.0, 0.0), None, ()))
    areas = graph.snapshot().areas
    nearest = min(areas, key=lambda area: np.hypot(area.position[0] - 1.0, area.position[1] - 1.0))
    assert [area.id for area in areas if area.last_viewed_ns] == [nearest.id]
