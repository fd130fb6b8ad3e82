"""Several robots on one machine: transforms, and what each remembers, are apart."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest
from free_domain import free_domain
from ros_peer import RosPeer, wait_until
from test_lifecycle import spinning

from memory_node.memory_config import MemoryConfig
from memory_node.opening import open_memory
from memory_node.store.location import default_database


@pytest.fixture(autouse=True)
def data_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    return tmp_path


def test_transforms_come_from_the_namespace(peer: RosPeer) -> None:
    remapped = ("/tf:=tf", "/tf_static:=tf_static")
    listeners = peer.node.get_subscriptions_info_by_topic
    with spinning("memory", peer.domain_id, "/robot1", remapped):
        wait_until(lambda: listeners("/robot1/tf") and listeners("/robot1/tf_static"))
        assert [one.node_namespace for one in listeners("/tf")] == []


def test_each_namespace_has_a_memory_of_its_own(data_folder: Path) -> None:
    for namespace in ("", "/robot1", "/fleet/robot2"):
        with spinning("memory", free_domain(), namespace):
            pass
    files = {path.relative_to(data_folder).as_posix() for path in data_folder.rglob("memory.db")}
    assert files == {f"robot_memory/{name}memory.db" for name in ("", "robot1/", "fleet/robot2/")}
    assert default_database("/robot1") != default_database("/robot2")


def test_memory_that_another_robot_uses_is_refused_with_the_argument(
    refused: Callable[..., str], data_folder: Path
) -> None:
    other = open_memory(MemoryConfig(database=str(default_database())), clock=time.time_ns)
    told = refused("memory")
    other.close()
    assert "another process writes this memory already" in told
    assert "database:=" in told
