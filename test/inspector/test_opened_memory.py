"""Which memory a command opens by its options."""

import argparse
from pathlib import Path

import pytest
from furnished_home import SECOND_NS, START_NS, furnished

from memory_node.domain.errors import RobotMemoryError
from memory_node.domain.skill import StateChange
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


def test_opened_memory_knows_where_a_thing_was_between_two_moves(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    memory, ids = furnished(path)
    for second, x in ((600, 3.0), (1200, 5.0)):
        at = START_NS + second * SECOND_NS
        memory.remember([StateChange(ids["apple"], "Apple", at, position=(x, 1.0, 0.8), held=False)])
    memory.close()
    with opened_memory.opened(options("--database", str(path)), as_copy=True) as found:
        for second, x in ((300, 2.0), (601, 3.0), (1199, 3.0), (1201, 5.0)):
            (apple,) = found.memory.scene_of_one(ids["apple"], START_NS + second * SECOND_NS).objects
            assert apple.box.center[0] == pytest.approx(x), second


def test_missing_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "nowhere.db"
    with (
        pytest.raises(RobotMemoryError, match=f"{path}: no such"),
        opened_memory.opened(options("--database", str(path))),
    ):
        pass
