"""A memory with a word-counting embedder, so that nothing here needs a model."""

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from plain_search import HashedWords

from memory_node.domain.geometry import OrientedBox, Pose
from memory_node.domain.observation import Frame, ObjectObservation
from memory_node.memory import RobotMemory
from memory_node.opening import MemoryConfig, open_memory

SECOND_NS = 1_000_000_000


@pytest.fixture
def open_at(tmp_path: Path) -> Iterator[Callable[..., RobotMemory]]:
    """Return a function that opens (again) the memory of one database."""
    opened: list[RobotMemory] = []

    def open_again(database: str = "memory.db", robot_id: str = "r1") -> RobotMemory:
        config = MemoryConfig(database=str(tmp_path / database), site="home", robot_id=robot_id)
        opened.append(open_memory(config, clock=lambda: 100 * SECOND_NS, embedder=HashedWords()))
        return opened[-1]

    yield open_again
    for memory in opened:
        memory.close()


@pytest.fixture
def memory(open_at: Callable[[], RobotMemory]) -> RobotMemory:
    return open_at()


@pytest.fixture
def see() -> Callable[..., Frame]:
    """Return a maker of frames without depth: see(stamp_s, Mug=(1, 0, 0.8), ...)."""

    def make(stamp_s: float, **things: tuple[float, float, float]) -> Frame:
        size = np.array([0.1, 0.1, 0.1])
        observations = tuple(
            ObjectObservation({name: 0.9}, OrientedBox(np.array(at), size), np.eye(3) * 1e-4)
            for name, at in things.items()
        )
        return Frame(int(stamp_s * SECOND_NS), Pose.planar(0.0, 0.0, 0.0, 1.3), None, observations)

    return make
