"""The inspector's benchmark measures what it says: clients are answered, and streams hear the newest version."""

import argparse
import json
from typing import Any

import pytest

pytest.importorskip("fastapi")

from benchmarks.inspector import add_arguments, run


def arguments(*words: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    return argparse.Namespace(**vars(parser.parse_args(words)), json=True, seed=1)


def test_load_of_few_clients_loses_nothing(capsys: Any) -> None:
    words = ["--parts", "load", "--objects", "40", "--seconds", "2", "--rounds", "1", "--polling", "3"]
    assert run(arguments(*words, "--streaming", "2", "--rate", "2")) == 0
    quiet, load = map(json.loads, capsys.readouterr().out.splitlines())
    assert (quiet["phase"], load["phase"]) == ("quiet", "load")
    assert load["frames"] >= 1
    assert load["answers"] > 3
    assert (load["refused"], load["behind"], quiet["answers"]) == (0, 0, 0)
    assert load["events"] > 0


def test_find_tells_wall_and_processor_time(capsys: Any) -> None:
    assert run(arguments("--parts", "find", "--find", "200")) == 0
    (row,) = map(json.loads, capsys.readouterr().out.splitlines())
    assert row["objects"] == 200
    assert 0.0 < row["p50_ms"] <= row["p99_ms"] <= row["most_ms"]
    assert row["cpu_mean_ms"] < 100.0
