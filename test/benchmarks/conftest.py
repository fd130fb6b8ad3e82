"""Running a benchmark as a user does: its rows, or why it was refused."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memory_node.cli import main


@pytest.fixture
def rows_of(capsys: pytest.CaptureFixture[str]) -> Callable[..., list[dict[str, Any]]]:
    """Return what runs `memory-node bench` with some words and returns the rows that it prints."""

    def run(*words: str) -> list[dict[str, Any]]:
        assert main(["bench", *words, "--json"]) == 0
        return [json.loads(line) for line in capsys.readouterr().out.splitlines()]

    return run


@pytest.fixture
def refusal_of(capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """Return what runs `memory-node bench` with words that it refuses, and returns what it says of them."""

    def run(*words: str) -> str:
        assert main(["bench", *words]) == 1
        return capsys.readouterr().err

    return run


@pytest.fixture
def one_task(shared_dir: Path, tmp_path: Path) -> list[str]:
    """Return the options of a benchmark of ALFRED-L with one task, of the floor plan that has fewest."""
    rows = json.loads((shared_dir / "data/alfred_l/tasks.json").read_text())
    tasks = tmp_path / "tasks.json"
    tasks.write_text(json.dumps([row for row in rows if row["floor_plan"] == "FloorPlan19"][:1]))
    scenes = shared_dir / "data/alfred_home/scenes.json.gz"
    return ["--scenes", str(scenes), "--tasks", str(tasks), "--suite", "alfred-l"]
