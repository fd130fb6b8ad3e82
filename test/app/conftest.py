"""The same ROS that the programs get: the real one where it is sourced, ros_embedded elsewhere."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memory_node.cli import main
from memory_node.nodes.run import activate_ros

activate_ros()


@pytest.fixture
def ingested(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., dict[str, Any]]:
    """Return a function that ingests a recording; what the command prints: ingested(path, "--database", ...)."""

    def ingest(path: Path, *words: str) -> dict[str, Any]:
        capsys.readouterr()
        assert main(["ingest", str(path), "--json", "--out", str(tmp_path / "out"), *words]) == 0
        memory: dict[str, Any] = json.loads(capsys.readouterr().out)
        return memory

    return ingest
