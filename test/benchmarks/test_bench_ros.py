"""`memory-node bench ros` gives the rows of ros_embedded's benchmark."""

import json

import pytest
from ros_embedded.bench import BenchmarkError, Row

from benchmarks import ros
from memory_node.cli import main


def test_rows_are_those_of_ros_embedded(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(ros, "measure", lambda kind, seconds, domain: Row(kind, 3, 0.5, 1.0, 3 / seconds, domain))
    assert main(["bench", "ros", "--kinds", "pose", "--seconds", "2", "--domain", "5", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {
        "kind": "pose", "messages": 3, "p50_ms": 0.5, "p99_ms": 1.0, "messages_per_s": 1.5, "cpu_percent": 5,
    }  # fmt: skip


def test_process_that_failed_is_told(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def fail(kind: str, seconds: float, domain: int) -> Row:
        raise BenchmarkError(f"{kind} could not be measured")

    monkeypatch.setattr(ros, "measure", fail)
    assert main(["bench", "ros"]) == 1
    assert "image_640x480 could not be measured" in capsys.readouterr().err


def test_memory_under_load_is_measured_beside_a_plain_node(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "ros", "--kinds", "tf_rgbd_boxes", "--seconds", "3", "--json"]) == 0
    row = json.loads(capsys.readouterr().out)
    assert row["frames"] == 30
    assert row["used"] > 0
    assert row["plain_images"] > 0
    assert 0.0 < row["p50_ms"] <= row["p99_ms"]
    assert min(row["memory_cpu"], row["plain_cpu"], row["robot_cpu"]) > 0.0
