import json

import pytest

from memory_node.cli import main


def test_row_has_the_measured_figures(capsys):
    pytest.importorskip("onnx")
    arguments = ["--units", "600", "--queries", "20", "--k", "5", "--exact-below", "200"]
    assert main(["bench", "recall", *arguments, "--seed", "3", "--json"]) == 0
    row = json.loads(capsys.readouterr().out)
    assert row["units"] == 600
    assert not row["exact"]
    assert row["recall_vs_exact"] >= 0.98
    assert 0 < row["p50_ms"] <= row["p99_ms"]
    assert row["embed_p50_ms"] > 0
