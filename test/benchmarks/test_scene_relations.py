"""`bench scene` scores what memory says of things on and in others against a home."""

import itertools

import numpy as np
import pytest

from benchmarks.scene_home import HomeDrive, score_relations
from memory_node.domain.scene import Relation, RelationKind, SceneObject, SceneSnapshot
from memory_node.sim.home_file import load_home


def found(name: str, world, thing_id: str = "") -> SceneObject:
    box = world[thing_id or name].box
    return SceneObject(name, {world[thing_id or name].class_name: 1.0}, box, np.eye(3) * 1e-4, 0.9, 0, 0, times_seen=5)


def told(world, *edges: tuple[str, RelationKind, str]) -> SceneSnapshot:
    ids = dict.fromkeys(end for one, _, other in edges for end in (one, other))
    objects = tuple(found(thing_id, world) for thing_id in ids)
    return SceneSnapshot(1, objects=objects, relations=tuple(Relation(one, kind, other) for one, kind, other in edges))


def test_on_for_in_and_another_support_are_wrong_and_missed() -> None:
    world = load_home("apartment")
    on, inside = RelationKind.ON, RelationKind.IN
    right = ("apple", on, "counter_left"), ("spoon", inside, "kitchen_drawer")
    seen = {"apple": 3, "spoon": 3, "bread": 2}
    score = score_relations(told(world, *right), world, seen)
    assert (score.precision, score.recall) == (1.0, 1.0)
    wrong = ("apple", on, "dining_table"), ("spoon", on, "kitchen_drawer")
    score = score_relations(told(world, *wrong), world, seen)
    assert (score.precision, score.recall) == (0.0, 0.0)
    assert score.wrong == ("Apple on DiningTable", "Spoon on Drawer")


def test_edge_of_a_thing_that_is_not_there_is_wrong() -> None:
    world = load_home("apartment")
    scene = told(world, ("apple", RelationKind.ON, "counter_left"))
    ghost = found("ghost", world, "fork")
    scene = SceneSnapshot(
        1,
        objects=(*scene.objects, ghost),
        relations=(*scene.relations, Relation("ghost", RelationKind.ON, "counter_left")),
    )
    assert score_relations(scene, world, {}).precision == 0.5


def test_drive_sees_things_and_hands_over_frames() -> None:
    pytest.importorskip("open3d", exc_type=ImportError)
    drive = HomeDrive("studio", 0)
    frames = list(itertools.islice(drive.frames(), 4))
    assert [frame.stamp_ns for frame in frames] == sorted({frame.stamp_ns for frame in frames})
    assert sum(len(frame.observations) for frame in frames) >= sum(drive.seen.values()) / 2 > 0
