"""bench sequence: what its figures count, and that two builds of one recording agree."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from benchmarks.sequence import agreement_f1, aligned_boxes, contained_pairs
from memory_node.cli import main
from memory_node.domain.geometry import OrientedBox
from memory_node.domain.scene import SceneObject

UNIT = np.array([[0.0, 0.0, 0.0], [1.0, 1.0, 1.0]])


def moved(x_m: float) -> np.ndarray:
    return UNIT + np.array([x_m, 0.0, 0.0])


def test_agreement_matches_boxes_one_to_one() -> None:
    one = np.stack([UNIT, UNIT + 5.0])
    other = np.stack([moved(0.2), moved(0.3)])  # IoU 0.67 and 0.54 with the first
    assert agreement_f1(one, other, 0.5) == pytest.approx(0.5)
    assert agreement_f1(one, other, 0.7) == 0.0
    assert agreement_f1(one, one, 0.9) == 1.0
    assert agreement_f1(one[:0], one[:0], 0.3) == 0.0


def test_boxes_that_lie_in_each_other_are_counted() -> None:
    boxes = np.stack([UNIT, 0.2 * UNIT + 0.3, moved(0.9)])
    assert contained_pairs(boxes) == 1


def test_box_turned_by_45_degrees_is_measured_by_its_corners() -> None:
    box = OrientedBox(np.zeros(3), np.array([1.0, 1.0, 1.0]), np.pi / 4)
    found = SceneObject("a", {"mug": 1.0}, box, np.eye(3) * 1e-4, 0.9, 1, 1, 1)
    low, high = aligned_boxes((found,))[0]
    assert np.allclose(high - low, [np.sqrt(2.0), np.sqrt(2.0), 1.0])


def test_two_builds_of_the_kitchen_are_compared(shared_dir: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kitchen = str(shared_dir / "data" / "kitchen")
    assert main(["bench", "sequence", "--frames", kitchen, "--limit", "6", "--up", "0,-0.8975,-0.441", "--json"]) == 0
    row = json.loads(capsys.readouterr().out)
    assert list(row) == [
        "frames",
        "objects_even",
        "objects_odd",
        "repeatability_f1_at_30",
        "repeatability_f1_at_50",
        "contained_pairs",
        "seen_once",
        "ms_p50",
        "ms_p99",
    ]
    assert row["frames"] == 6
    assert 0.0 <= row["repeatability_f1_at_50"] <= row["repeatability_f1_at_30"] <= 1.0
