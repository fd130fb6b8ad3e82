"""The scene benchmark runs, gives its row, and its site is what it says."""

import argparse
import json
from typing import Any

import numpy as np

from benchmarks.scene import add_arguments, run
from benchmarks.scene_camera import render
from benchmarks.scene_site import ROOM_M, Thing, build_site, rearrange
from memory_node.domain.geometry import OrientedBox, Pose

ROW = "objects frames p50_ms p99_ms precision recall duplicates position_error_mean_m moved_found removed_found rss_mb"


def test_row_has_the_agreed_keys_and_believable_figures(capsys: Any) -> None:
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    args = parser.parse_args(["--objects", "30", "--frames", "40", "--instances", "6", "--home", "none"])
    assert run(argparse.Namespace(**vars(args), json=True, seed=1)) == 0
    row = json.loads(capsys.readouterr().out)
    assert list(row) == ROW.split()
    assert row["precision"] > 0.8
    assert row["recall"] > 0.8
    assert row["position_error_mean_m"] < 0.06


def test_site_has_its_number_of_things_and_none_overlap() -> None:
    site = build_site(60, 60, np.random.default_rng(3))
    assert len(site.things) == 60
    small = [thing for thing in site.things.values() if not thing.furniture]
    for i, one in enumerate(small):
        for other in small[i + 1 :]:
            same_height = abs(one.box.bottom_m - other.box.bottom_m) < 0.01
            apart = np.linalg.norm(one.box.center[:2] - other.box.center[:2])
            assert not same_height or apart > 0.5 * min(one.box.size[:2].min(), other.box.size[:2].min())


def test_rearranging_moves_and_takes_away_shares() -> None:
    site = build_site(80, 40, np.random.default_rng(3))
    before = {number: thing.box.center.copy() for number, thing in site.things.items()}
    moved, taken = rearrange(site, [0, 1], np.random.default_rng(4), 0.2, 0.1)
    assert len(taken) == len(site.gone) > 3
    assert all(np.linalg.norm(thing.box.center - before[thing.number]) > 0.3 for thing in moved)
    assert len(moved) > 5


def test_rendered_depth_is_that_of_the_box_and_the_wall() -> None:
    box = OrientedBox(np.array([4.0, 2.5, 1.35]), np.array([0.4, 0.6, 0.6]))
    camera = Pose.from_matrix([[0, 0, 1, 2.0], [-1, 0, 0, 2.5], [0, -1, 0, 1.35], [0, 0, 0, 1]])
    view = render([Thing(7, "box", box, 0)], 0, camera)
    assert view.number[240, 320] == 7
    assert abs(view.depth_m[240, 320] - 1.8) < 1e-6
    assert abs(view.depth_m[240, 20] - (ROOM_M[0] - 2.0)) < 1e-6
    assert abs((view.number == 7).sum() / (0.6 * 525 / 1.8) ** 2 - 1.0) < 0.03
