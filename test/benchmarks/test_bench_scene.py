"""`bench scene`: its figures, the error of its localiser, and how it scores relations."""

from __future__ import annotations

import argparse
import itertools
import json
from typing import Any

import numpy as np
import pytest

from benchmarks.scene import add_arguments, run
from benchmarks.scene_home import HomeDrive, LocalisationNoise, NoisyLocalisation, score_relations
from benchmarks.scene_site import ROOM_M, Thing, render
from memory_node.domain.geometry import OrientedBox, Pose
from memory_node.domain.scene import Relation, RelationKind, SceneObject, SceneSnapshot
from memory_node.sim.home_file import load_home


def test_localisation_drift_stays_bounded() -> None:
    noise = LocalisationNoise()
    localisation = NoisyLocalisation(noise, seed=1)
    errors = [
        np.linalg.norm(localisation.believed(Pose.planar(0.1 * step, 0.0, 0.0)).position[:2] - [0.1 * step, 0.0])
        for step in range(3000)
    ]
    assert max(errors) < noise.drift_limit_m + 6.0 * noise.pose_sigma_m
    assert np.mean(errors[-500:]) > 0.5 * noise.pose_sigma_m


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


ROW = "objects frames p50_ms p99_ms precision recall duplicates position_error_mean_m moved_found removed_found rss_mb"


def test_row_has_the_agreed_keys_and_believable_figures(capsys: Any) -> None:
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    args = parser.parse_args(["--objects", "30", "--frames", "40", "--instances", "6", "--home", "none"])
    assert run(argparse.Namespace(**vars(args), json=True, seed=1)) == 0
    told = capsys.readouterr()
    row = json.loads(told.out)
    assert list(row) == ROW.split()
    assert "wrongly removed: 0.0000" in told.err
    assert row["precision"] > 0.8
    assert row["recall"] > 0.8
    assert row["position_error_mean_m"] < 0.06


def test_rendered_depth_is_that_of_the_box_and_the_wall() -> None:
    box = OrientedBox(np.array([4.0, 2.5, 1.35]), np.array([0.4, 0.6, 0.6]))
    camera = Pose.from_matrix([[0, 0, 1, 2.0], [-1, 0, 0, 2.5], [0, -1, 0, 1.35], [0, 0, 0, 1]])
    view = render([Thing(7, "box", box, 0)], 0, camera)
    assert view.number[240, 320] == 7
    assert abs(view.depth_m[240, 320] - 1.8) < 1e-6
    assert abs(view.depth_m[240, 20] - (ROOM_M[0] - 2.0)) < 1e-6
    assert abs((view.number == 7).sum() / (0.6 * 525 / 1.8) ** 2 - 1.0) < 0.03
