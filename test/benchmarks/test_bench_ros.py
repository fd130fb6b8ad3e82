"""`memory-node bench ros` gives the rows of ros_embedded's benchmark."""

import pytest
from ros_embedded.bench import BenchmarkError, Row

from benchmarks import ros


def test_rows_are_those_of_ros_embedded(monkeypatch: pytest.MonkeyPatch, rows_of) -> None:
    monkeypatch.setattr(ros, "measure", lambda kind, seconds, domain: Row(kind, 3, 0.5, 1.0, 3 / seconds, domain))
    assert rows_of("ros", "--kinds", "pose", "--seconds", "2", "--domain", "5") == [
        {"kind": "pose", "messages": 3, "p50_ms": 0.5, "p99_ms": 1.0, "messages_per_s": 1.5, "cpu_percent": 5}
    ]


def test_process_that_failed_is_told(monkeypatch: pytest.MonkeyPatch, refusal_of) -> None:
    def fail(kind: str, seconds: float, domain: int) -> Row:
        raise BenchmarkError(f"{kind} could not be measured")

    monkeypatch.setattr(ros, "measure", fail)
    assert "image_640x480 could not be measured" in refusal_of("ros")


def test_memory_under_load_is_measured_beside_a_plain_node(rows_of) -> None:
    (row,) = rows_of("ros", "--kinds", "tf_rgbd_boxes", "--seconds", "3")
    assert row["frames"] == 30
    assert row["used"] > 0
    assert row["plain_images"] > 0
    assert 0.0 < row["p50_ms"] <= row["p99_ms"]
    assert min(row["memory_cpu"], row["plain_cpu"], row["robot_cpu"]) > 0.0
