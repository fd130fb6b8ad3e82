"""A small memory to look into."""

import functools
from pathlib import Path
from typing import Any

import numpy as np

from memory_node.domain.geometry import Pose
from memory_node.domain.ports import TextEmbedder
from memory_node.domain.skill import StateChange
from memory_node.memory import RobotMemory
from memory_node.opening import MemoryConfig, open_memory
from memory_node.scene_graph.free_space import OccupancyMap
from memory_node.search.embedders import build_embedder

SECOND_NS = 10**9
START_NS = 1_700_000_000 * SECOND_NS


@functools.cache
def embedder() -> TextEmbedder:
    """Return the sentence embedder, loaded once."""
    return build_embedder(MemoryConfig().search)


def furnished(path: Path | None = None) -> tuple[RobotMemory, dict[str, str]]:
    """Return a memory with a table, an apple on it and two mugs, and their ids."""
    memory = open_memory(MemoryConfig(database=str(path) if path else ""), embedder=embedder())
    memory.set_map(OccupancyMap(np.zeros((120, 120), np.int8), 0.05, Pose()), START_NS)

    def tell(name: str, kind: str, at: tuple[float, float, float], after_s: int, **more: Any) -> str:
        change = StateChange(name, kind, START_NS + after_s * SECOND_NS, position=at, held=False, **more)
        return memory.remember([change])[0]

    table = tell("table", "DiningTable", (2.0, 1.0, 0.4), 1)
    ids = {"table": table}
    ids["apple"] = tell("apple", "Apple", (2.0, 1.0, 0.8), 2, support_id=table)
    ids["mug"] = tell("mug", "Mug", (4.0, 3.0, 0.8), 3)
    ids["cup"] = tell("cup", "Mug", (1.0, 4.0, 0.8), 4)
    return memory, ids
