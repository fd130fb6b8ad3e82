import json

import pytest

from memory_node.cli import main


def test_small_run_reports_retrieval_and_the_delay_of_an_episodes_end(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("onnx")
    arguments = ["--steps", "2000", "--lessons", "100", "--queries", "20", "--ends", "5", "--json"]
    assert main(["bench", "experience", *arguments]) == 0
    (row,) = map(json.loads, capsys.readouterr().out.splitlines())
    assert (row["steps"], row["lessons"], row["ends"]) == (2000, 100, 5)
    assert row["samples_while_learning"] >= 5
    assert 0.0 < row["p50_ms"] <= row["p99_ms"]
    assert row["optimizer"] == "rules"
    assert 0.0 < row["end_episode_p50_ms"] <= row["end_episode_p99_ms"]
    assert 0.0 < row["record_step_while_learning_p99_ms"] <= row["record_step_while_learning_max_ms"]
