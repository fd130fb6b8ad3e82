"""The memory that the tests of a module look into."""

from collections.abc import Iterator

import pytest
from furnished_home import furnished

from memory_node.memory import RobotMemory


@pytest.fixture(scope="module")
def memory() -> Iterator[RobotMemory]:
    memory, _ = furnished()
    yield memory
    memory.close()
