"""The graph follows SLAM's corrections and finds itself again in a map with another origin."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from box_world import BoxWorld, looking

from memory_node.domain.geometry import Pose
from memory_node.domain.skill import StateChange
from memory_node.scene_graph import relocalization
from memory_node.scene_graph.config import SceneGraphConfig
from memory_node.scene_graph.graph import SceneGraph
from memory_node.scene_graph.map_alignment import Landmarks, align

CORRECTION = Pose.planar(1.0, 0.3, np.radians(10.0))


def errors(graph: SceneGraph, world: BoxWorld, transform: Pose) -> list[float]:
    return [
        min(
            float(np.linalg.norm(found.box.center - transform.apply(box.center)))
            for name, box in world.boxes.items()
            if name.rstrip("12") == found.class_name
        )
        for found in graph.objects()
    ]


def drive(graph: SceneGraph, world: BoxWorld, frames: int, start_s: float = 1.0, seen_in: Pose | None = None) -> None:
    for i, camera in enumerate(world.views(frames)):
        frame = world.frame(start_s + 0.1 * i, camera, keyframe=f"k{i // 2}")
        if seen_in is not None:
            moved = tuple(replace(o, box=o.box.moved_by(seen_in)) for o in frame.observations)
            frame = replace(frame, map_T_camera=seen_in @ camera, observations=moved)
        graph.observe(frame)


def test_objects_follow_a_correction_of_one_metre_and_ten_degrees(world: BoxWorld) -> None:
    graph = SceneGraph()
    drive(graph, world, 8)
    before = errors(graph, world, Pose())
    ids = [found.id for found in graph.objects()]
    graph.correct_poses({name: CORRECTION @ pose for name, pose in graph.state.keyframes.items()})
    after = errors(graph, world, CORRECTION)
    assert [found.id for found in graph.objects()] == ids
    assert max(a - b for a, b in zip(after, before)) < 0.02
    drive(graph, world, 4, start_s=5.0, seen_in=CORRECTION)
    assert [found.id for found in graph.objects()] == ids


def test_correction_of_one_keyframe_moves_only_what_was_seen_from_it(world: BoxWorld) -> None:
    graph = SceneGraph()
    drive(graph, world, 2)
    world.put("bin", 2.0, 9.0, 0.2, (0.3, 0.3, 0.4))
    camera = looking((0.5, 9.0, 1.4), (2.0, 9.0, 0.3))
    graph.observe(world.frame(9.0, camera, keyframe="far"))
    near = {found.id: found.box.center for found in graph.objects() if found.class_name != "bin"}
    shift = Pose.planar(0.2, 0.0, 0.0)
    graph.correct_poses({"far": shift @ graph.state.keyframes["far"], "unheard of": Pose()})
    moved = next(found for found in graph.objects() if found.class_name == "bin")
    assert moved.box.center == pytest.approx([2.2, 9.0, 0.2], abs=0.01)
    assert all(graph.object(name).box.center == pytest.approx(center) for name, center in near.items())


def test_object_follows_each_keyframe_by_what_it_owes_to_it(world: BoxWorld) -> None:
    """Drift while a thing is looked at: once SLAM has taken it out, it lies where it would lie without."""
    drifted, true = SceneGraph(), SceneGraph()
    drift = {f"k{i}": Pose.planar(0.004 * i, 0.002 * i, 0.0) for i in range(12)}
    views = world.views(len(drift))
    for i, (name, camera) in enumerate(zip(drift, views)):
        frame = world.frame(1.0 + 0.1 * i, camera, name)
        true.observe(frame)
        moved = tuple(replace(o, box=o.box.moved_by(drift[name])) for o in frame.observations)
        drifted.observe(replace(frame, map_T_camera=drift[name] @ camera, observations=moved))
    before = errors(drifted, world, Pose())
    drifted.correct_poses(dict(zip(drift, views)))
    assert max(before) > 0.015
    for one, other in zip(drifted.objects(), true.objects()):
        assert float(np.linalg.norm(one.box.center - other.box.center)) < 0.004


def test_thing_that_was_put_elsewhere_no_longer_follows_the_keyframes_of_its_old_place(world: BoxWorld) -> None:
    graph = SceneGraph()
    drive(graph, world, 8)
    old = graph.keyframes()
    bowl = world.boxes["bowl"]
    world.put("bowl", 2.1, 0.05, float(bowl.center[2]), tuple(bowl.size))
    world.show(graph, world.views(4), 20.0, keyframe="later")
    found = next(found for found in graph.objects() if found.class_name == "bowl")
    assert found.box.center == pytest.approx([2.1, 0.05, 0.79], abs=0.02)
    graph.correct_poses({name: CORRECTION @ pose for name, pose in old.items()})
    assert graph.object(found.id).box.center == pytest.approx([2.1, 0.05, 0.79], abs=0.02)


def test_what_a_skill_put_down_moves_with_the_keyframe_of_then(world: BoxWorld) -> None:
    graph = SceneGraph()
    drive(graph, world, 8)
    first, *_, last = graph.state.keyframes
    bowl = next(found for found in graph.objects() if found.class_name == "bowl")
    told = [
        StateChange(bowl.id, "bowl", 3_000_000_000, held=False, position=(4.0, 1.0, 0.8)),
        StateChange("", "cup", 3_000_000_000, held=False, position=(4.0, 2.0, 0.8)),
    ]
    put = {event.object.id for change in told for event in graph.apply_change(change)}
    graph.correct_poses({first: CORRECTION @ graph.state.keyframes[first]})
    assert {round(float(graph.object(name).box.center[0]), 6) for name in put} == {4.0}
    graph.correct_poses({last: CORRECTION @ graph.state.keyframes[last]})
    found = [graph.object(name).box.center for name in put]
    assert sorted(np.round(center, 3).tolist() for center in found) == sorted(
        np.round(CORRECTION.apply(np.array(change.position)), 3).tolist() for change in told
    )


def test_moved_origin_is_found_and_stored_objects_keep_their_ids(world: BoxWorld) -> None:
    world.put("sofa", 1.5, 1.4, 0.4, (0.6, 0.5, 0.8))
    first = SceneGraph()
    drive(first, world, 8)
    ids = {found.id for found in first.objects()}
    graph = SceneGraph.from_snapshot(first.snapshot(removed=True), SceneGraphConfig())
    graph.doubt_frame()
    drive(graph, world, 10, start_s=100.0, seen_in=Pose.planar(2.0, -1.0, 0.5))
    assert {found.id for found in graph.objects()} == ids
    assert max(errors(graph, world, Pose.planar(2.0, -1.0, 0.5))) < 0.03
    assert graph.counters["map_shifted"] == 1


def test_nothing_is_believed_gone_before_the_frame_is_verified(world: BoxWorld) -> None:
    first = SceneGraph()
    drive(first, world, 6)
    graph = SceneGraph.from_snapshot(first.snapshot(removed=True), SceneGraphConfig())
    graph.doubt_frame()
    world.boxes.clear()
    drive(graph, world, 8, start_s=100.0)
    assert len(graph.objects()) == len(first.objects())


def test_equal_things_in_a_row_are_no_proof_of_a_place(world: BoxWorld) -> None:
    world.boxes.clear()
    for i in range(8):
        world.put(f"door{i}", 1.0 * i, 0.0, 1.0, (0.8, 0.05, 2.0))
    graph = SceneGraph()
    for i in range(8):
        graph.observe(world.frame(1.0 + i, looking((1.0 * i, -2.0, 1.3), (1.0 * i, 0.0, 1.0))))
    assert len(graph.objects()) >= 6
    doors = Landmarks.of(graph.state.table, graph.state.active_rows())
    half_on = doors.select(np.arange(2, 6))
    assert align(doors, replace(half_on, at=half_on.at + np.array([0.5, 0.0]))) is None


def test_long_doubt_is_compared_ever_more_rarely(world: BoxWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = SceneGraph()
    drive(graph, world, 4)
    graph.doubt_frame()
    compared: list[int] = []
    shown = [0]
    monkeypatch.setattr(relocalization, "align", lambda then, now: compared.append(shown[0]))
    (camera, *_) = world.views(1)
    for shown[0] in range(1, 71):
        graph.observe(world.frame(10.0 + 0.1 * shown[0], camera, keyframe="k"))
    assert compared == [*range(1, 11), *range(15, 51, 5), 55, 60, 66]
