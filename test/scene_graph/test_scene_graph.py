"""Objects come in, stay one, move, vanish and hide: what the graph believes after a few looks."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from box_world import looking
from plain_search import find

from memory_node.domain.answer import AnswerStatus, FindQuery
from memory_node.domain.geometry import OrientedBox, Pose
from memory_node.domain.observation import ObjectObservation
from memory_node.domain.scene import SceneEvent, SceneEventKind
from memory_node.domain.skill import StateChange
from memory_node.domain.states import ObjectState
from memory_node.scene_graph.config import SceneGraphConfig
from memory_node.scene_graph.graph import SceneGraph

World = Any  # BoxWorld of conftest.py


@pytest.fixture
def graph() -> SceneGraph:
    return SceneGraph(SceneGraphConfig())


def look(graph: SceneGraph, world: World, count: int, start_s: float = 1.0, **options: Any) -> list[SceneEvent]:
    return world.show(graph, world.views(count), start_s, 0.1, **options)


def classes(graph: SceneGraph) -> list[str]:
    return sorted(found.class_name for found in graph.objects())


def test_each_thing_becomes_one_object_and_equal_mugs_stay_two(graph: SceneGraph, world: World) -> None:
    look(graph, world, 12)
    assert classes(graph) == ["bowl", "fridge", "mug", "mug", "table"]
    for found in graph.objects():
        true = [box for name, box in world.boxes.items() if name.rstrip("12") == found.class_name]
        assert min(np.linalg.norm(found.box.center - box.center) for box in true) < 0.01


def test_thing_keeps_its_last_description(graph: SceneGraph, world: World) -> None:
    for number, said in enumerate(("a bowl", "a white bowl with a rim", "")):
        frame = world.frame(1.0 + number, world.views(1)[0])
        seen = [replace(one, description=said if one.best_class == "bowl" else "") for one in frame.observations]
        graph.observe(replace(frame, observations=tuple(seen)))
    assert {one.class_name: one.description for one in graph.objects()}["bowl"] == "a white bowl with a rim"
    assert [one.description for one in graph.objects() if one.class_name != "bowl"] == [""] * 4


def test_taken_object_is_removed_and_kept_in_history(graph: SceneGraph, world: World) -> None:
    look(graph, world, 6)
    bowl = next(found for found in graph.objects() if found.class_name == "bowl")
    del world.boxes["bowl"]
    events = look(graph, world, 6, start_s=5.0)
    assert [e.object.id for e in events if e.kind is SceneEventKind.REMOVED] == [bowl.id]
    assert "bowl" not in classes(graph)
    kept = graph.object(bowl.id)
    assert kept.removed
    assert kept.history[-1].box.center == pytest.approx(bowl.box.center)


def test_half_hidden_thing_is_missed_when_what_shows_of_its_place_is_empty(graph: SceneGraph, world: World) -> None:
    world.put("crate", 2.6, 0.0, 1.0, (0.3, 0.5, 0.5))
    look(graph, world, 8)
    crate = next(found for found in graph.objects() if found.class_name == "crate")
    # A board in front hides the left half.
    world.put("board", 1.2, 0.3, 1.0, (0.04, 0.6, 1.2))
    look(graph, world, 4, start_s=5.0)
    assert crate.id in {found.id for found in graph.objects()}
    del world.boxes["crate"]
    look(graph, world, 8, start_s=8.0)
    assert graph.object(crate.id).removed


def test_thing_that_took_the_place_of_another_is_itself(graph: SceneGraph, world: World) -> None:
    look(graph, world, 6)
    bowl = next(found for found in graph.objects() if found.class_name == "bowl")
    at = world.boxes.pop("bowl").center
    world.put("vase", float(at[0]), float(at[1]), 0.75 + 0.15, (0.15, 0.15, 0.3))
    look(graph, world, 2, start_s=5.0)
    assert "vase" in classes(graph)
    look(graph, world, 8, start_s=8.0)
    # The vase hides the bowl's place from every side, and fills it.
    assert graph.object(bowl.id).removed
    assert classes(graph) == ["fridge", "mug", "mug", "table", "vase"]


def test_moved_object_keeps_its_id(graph: SceneGraph, world: World) -> None:
    look(graph, world, 6)
    bowl = next(found for found in graph.objects() if found.class_name == "bowl")
    world.put("bowl", 2.25, -0.05, 0.79, (0.16, 0.16, 0.08))
    events = look(graph, world, 6, start_s=5.0)
    assert [e.object.id for e in events if e.kind is SceneEventKind.MOVED] == [bowl.id]
    moved = graph.object(bowl.id)
    assert moved.box.center == pytest.approx([2.25, -0.05, 0.79], abs=0.02)
    assert moved.history[0].box.center == pytest.approx(bowl.box.center)
    assert classes(graph) == ["bowl", "fridge", "mug", "mug", "table"]


def test_contents_of_a_closed_fridge_stay_believed_until_it_is_open(graph: SceneGraph, world: World) -> None:
    look(graph, world, 4)
    bowl = next(found for found in graph.objects() if found.class_name == "bowl")
    fridge = next(found for found in graph.objects() if found.class_name == "fridge")
    del world.boxes["bowl"]
    graph.apply_change(StateChange(bowl.id, "bowl", 2_000_000_000, held=True))
    look(graph, world, 6, start_s=3.0)
    assert graph.object(bowl.id).support_id == "robot"
    graph.apply_change(StateChange(bowl.id, "bowl", 4_000_000_000, held=False, support_id=fridge.id, inside=True))
    look(graph, world, 6, start_s=5.0)
    inside = graph.object(bowl.id)
    assert (inside.removed, inside.support_id, inside.inside) == (False, fridge.id, True)
    assert inside.existence > 0.9


def test_thing_is_gone_from_a_fridge_that_the_camera_sees_into(graph: SceneGraph, world: World) -> None:
    fridge = world.boxes["fridge"]
    views = [looking((0.6 + 0.1 * i, 0.6, 1.4), tuple(fridge.center)) for i in range(8)]
    world.show(graph, views)
    known = graph.objects_of_class("fridge")[0].id
    graph.apply_change(StateChange("", "milk", 20_000_000_000, held=False, support_id=known, inside=True))
    world.show(graph, views, 30.0)
    assert graph.objects_of_class("milk")[0].existence > 0.9
    # Nobody says that it was opened, but its back wall shows.
    del world.boxes["fridge"]
    world.put("panel", 3.33, 1.6, 0.9, (0.04, 0.7, 1.8))
    for i, view in enumerate(views):
        frame = world.frame(60.0 + i, view, detected=lambda name: name != "panel")
        seen = ObjectObservation({"fridge": 0.9}, fridge, np.eye(3) * 1e-4, 5000)
        graph.observe(replace(frame, observations=(*frame.observations, seen)))
    assert not graph.objects_of_class("milk")
    assert [found.id for found in graph.objects_of_class("fridge")] == [known]


def test_thing_that_went_along_with_a_drawer_stays_believed(graph: SceneGraph, world: World) -> None:
    world.boxes.clear()
    world.put("drawer", 2.0, 0.0, 0.5, (0.8, 0.5, 0.3))
    look(graph, world, 6)
    drawer = graph.objects_of_class("drawer")[0].id
    graph.apply_change(
        StateChange("", "fork", 3_000_000_000, held=False, support_id=drawer, inside=True, position=(1.65, 0.0, 0.5))
    )
    world.put("drawer", 2.25, 0.0, 0.5, (0.3, 0.5, 0.3))  # pushed in
    look(graph, world, 10, start_s=5.0)
    assert graph.objects_of_class("fork")[0].existence > 0.9


def test_slices_and_states_of_skills_are_known(graph: SceneGraph, world: World) -> None:
    world.put("apple", 2.1, 0.0, 0.79, (0.08, 0.08, 0.08))
    look(graph, world, 4)
    apple = next(found for found in graph.objects() if found.class_name == "apple")
    graph.apply_change(StateChange(apple.id, "apple", 2_000_000_000, added=(ObjectState.SLICED,)))
    graph.apply_change(StateChange("slice-1", "apple slice", 2_000_000_000, created_from=apple.id))
    piece = graph.object("slice-1")
    assert graph.object(apple.id).states[0].state is ObjectState.SLICED
    assert (piece.support_id, piece.attributes["created_from"]) == (apple.support_id, apple.id)
    graph.apply_change(StateChange(apple.id, "apple", 3_000_000_000, destroyed=True))
    assert graph.object(apple.id).removed
    look(graph, world, 8, start_s=90.0)
    whole = [found for found in graph.objects() if found.class_name == "apple" and not found.removed]
    assert [found.states for found in whole] == [()], "another apple lies there now"


def test_find_answers_with_evidence_and_abstains(graph: SceneGraph, world: World) -> None:
    look(graph, world, 4)
    best = find(graph, FindQuery(object_class="Bowl")).best
    assert best.status is AnswerStatus.OK
    assert best.position == pytest.approx([2.0, -0.3, 0.79], abs=0.01)
    assert find(graph, FindQuery(object_class="piano")).status is AnswerStatus.UNKNOWN
    near = find(graph, FindQuery(object_class="mug", near=(1.9, 0.35, 0.8)))
    assert near.answers[0].position[1] > near.answers[1].position[1]


def test_replay_gives_the_same_graph_and_a_snapshot_restores_it(world: World) -> None:
    graphs = [SceneGraph(SceneGraphConfig()) for _ in range(2)]
    for graph in graphs:
        look(graph, world, 5)
    assert graphs[0].hash() == graphs[1].hash()
    assert json.loads(json.dumps(graphs[0].to_records()))["objects"]
    restored = SceneGraph.from_snapshot(graphs[0].snapshot(removed=True), SceneGraphConfig())
    assert [found.id for found in restored.objects()] == [found.id for found in graphs[0].objects()]
    look(restored, world, 2, start_s=9.0)
    assert classes(restored) == ["bowl", "fridge", "mug", "mug", "table"]


def test_late_frames_are_counted_and_a_clock_set_back_is_survived(graph: SceneGraph, world: World) -> None:
    camera = world.views(1)[0]
    graph.observe(world.frame(30.0, camera))
    assert graph.observe(world.frame(29.5, camera)) == []
    assert graph.observe(world.frame(2.0, camera)) != []
    assert (graph.counters["late_frame"], graph.counters["clock_jump"]) == (1, 1)


def test_detection_without_class_takes_the_name_that_comes_later(graph: SceneGraph, world: World) -> None:
    camera = world.views(1)[0]
    frame = world.frame(1.0, camera)
    nameless = tuple(
        type(o)({}, OrientedBox(o.box.center, o.box.size, o.box.yaw_rad), o.covariance, o.pixels)
        for o in frame.observations
    )
    graph.observe(type(frame)(frame.stamp_ns, Pose(), None, nameless))
    assert set(classes(graph)) == {"object"}
    look(graph, world, 2, start_s=2.0)
    assert classes(graph) == ["bowl", "fridge", "mug", "mug", "table"]


def test_wall_right_before_a_thing_hides_it(graph: SceneGraph, world: World) -> None:
    look(graph, world, 6)
    world.put(
        "wall", 1.5, 0.0, 1.0, (0.04, 6.0, 2.0)
    )  # the table's far side lies a metre behind it, its near side 6 cm
    look(graph, world, 10, start_s=5.0)
    assert {"bowl", "table", "fridge"} < set(classes(graph))
    assert all(found.times_missed == 0 for found in graph.objects())
