"""What people, prompts and rviz are shown of the graph."""

import json
from pathlib import Path

import cv2
import numpy as np
import pytest
from box_world import BoxWorld

from memory_node.domain.geometry import Pose
from memory_node.domain.observation import Frame
from memory_node.domain.skill import StateChange
from memory_node.domain.states import ObjectState
from memory_node.scene_graph.config import SceneGraphConfig
from memory_node.scene_graph.graph import SceneGraph
from memory_node.scene_graph.marker_shapes import MarkerDiff
from memory_node.scene_graph.picture import draw_scene
from memory_node.scene_graph.text_form import estimate_tokens


@pytest.fixture
def graph(world: BoxWorld) -> SceneGraph:
    made = SceneGraph(SceneGraphConfig())
    made.set_map(np.zeros((80, 100), np.int8), 0.05, Pose.planar(-0.5, -1.8, 0.0))
    world.show(made, world.views(4), every_s=0.1)
    return made


def test_text_has_one_record_an_area_with_karmas_fields(graph: SceneGraph) -> None:
    lines = graph.in_words(token_budget=5000).lines
    records = [json.loads(line) for line in lines if line.startswith("{")]
    assert len(records) == len(graph.places.areas)
    assert set(records[0]) == {"name", "type", "contains", "adjacent nodes", "position"}
    told = [word for record in records for word in record["contains"]]
    assert sorted(told) == ["bowl on table", "fridge", "mug on table (2)", "table"]
    assert any(" -- " in line for line in lines)


def test_text_tells_states_and_what_the_hand_holds(graph: SceneGraph) -> None:
    (bowl,) = graph.objects_of_class("Bowl")
    graph.apply_change(StateChange(bowl.id, "bowl", 9_000_000_000, added=(ObjectState.CLEANED,), held=True))
    assert '"cleaned bowl held by the robot"' in "\n".join(graph.in_words(token_budget=5000).lines)


def test_text_tells_objects_in_no_area_the_nearest_first(world: BoxWorld) -> None:
    without_map = SceneGraph(SceneGraphConfig())
    world.show(without_map, world.views(4), every_s=0.1)
    (fridge,) = without_map.objects_of_class("Fridge")
    x, y, _ = fridge.box.center
    told = [json.loads(line) for line in without_map.in_words(5000, near=(x, y)).lines]
    assert sorted(one["name"] for one in told) == ["bowl on table", "fridge", "mug on table", "mug on table", "table"]
    assert told[0] == {"name": "fridge", "position": pytest.approx(fridge.box.center, abs=0.01)}


def test_text_keeps_to_its_budget_and_starts_nearby(graph: SceneGraph) -> None:
    near = graph.places.areas[next(iter(graph.places.areas))].position
    text = "\n".join(graph.in_words(token_budget=120, near=near).lines)
    assert 0 < estimate_tokens(text) <= 120
    first = json.loads(text.splitlines()[0])
    assert np.linalg.norm(np.subtract(first["position"], near)) < 2.0


def test_text_starts_where_the_robot_is_unless_told_otherwise(graph: SceneGraph) -> None:
    areas = graph.snapshot().areas
    for area in (areas[0], areas[-1]):
        x, y = area.position
        graph.observe(Frame(graph.state.now_ns + 20_000_000_000, Pose.planar(x, y, 0.0, 1.3), None, (), None))
        assert json.loads(graph.in_words(token_budget=200).lines[0])["name"] == area.name


def test_picture_is_drawn_with_the_objects_on_it(graph: SceneGraph, tmp_path: Path) -> None:
    snapshot = graph.snapshot()
    (ground,) = graph.places.grounds.values()
    path = draw_scene(snapshot, tmp_path / "graph.png", ground.map, robot_path=[(0.0, 0.0), (1.0, 0.0)])
    empty = draw_scene(type(snapshot)(snapshot.stamp_ns), tmp_path / "empty.png", ground.map)
    picture, blank = cv2.imread(str(path)), cv2.imread(str(empty))
    assert picture is not None
    assert np.ptp(picture, axis=2).astype(bool).sum() > 2 * np.ptp(blank, axis=2).astype(bool).sum() + 1000


def test_markers_are_sent_once_changed_alone_and_deleted(graph: SceneGraph, world: BoxWorld) -> None:
    shown = MarkerDiff()
    first = shown.update(graph.snapshot())
    assert len({(marker.namespace, number) for number, marker in first.set}) == len(first.set)
    assert shown.update(graph.snapshot()).set == ()
    bowl = next(found for found in graph.objects() if found.class_name == "bowl")
    del world.boxes["bowl"]
    world.show(graph, world.views(8), 5.0, 0.1)
    changes = shown.update(graph.snapshot())
    ids = {(m.namespace, number) for number, m in first.set if m.key == bowl.id}
    assert ids <= set(changes.deleted)
    assert all(marker.key != bowl.id for _, marker in shown.everything().set)
