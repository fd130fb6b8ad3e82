"""Which memory a command opens by its options."""

import argparse
from pathlib import Path

import pytest
from furnished_home import furnished

from memory_node.domain.errors import RobotMemoryError
from memory_node.inspector import opened_memory


def options(*words: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    opened_memory.add_arguments(parser)
    return parser.parse_args(words)


def test_file_that_a_node_has_open_is_shown_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    memory, ids = furnished(path)
    memory.commit()
    before = memory.hash()
    with opened_memory.opened(options("--database", str(path)), as_copy=True) as found:
        assert {one.id for one in found.memory.scene().objects} == set(ids.values())
        found.memory.edit("delete", ids["apple"])
        assert ids["apple"] not in {one.id for one in found.memory.scene().objects}
    assert memory.hash() == before
    memory.close()


def test_missing_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "nowhere.db"
    with (
        pytest.raises(RobotMemoryError, match=f"{path}: no such"),
        opened_memory.opened(options("--database", str(path))),
    ):
        pass
