"""Opens the memory that a command names: a running node's, or a store file's."""

from __future__ import annotations

import argparse
import contextlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from memory_node.catalogue.label_space import HOUSEHOLD
from memory_node.domain.errors import RobotMemoryError
from memory_node.inspector.agent_memory import AgentMemory, MemoryViews
from memory_node.inspector.stored_views import StoredViews
from memory_node.opening import MemoryConfig, open_memory
from memory_node.store.engine import page_copy


@dataclass(frozen=True)
class OpenedMemory:
    """A memory, what it shows of itself, and what to call it."""

    memory: AgentMemory
    views: MemoryViews
    source: str


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options that name a memory."""
    parser.add_argument(
        "--database", type=Path, help="a memory's file; no node may have it open (default: the running memory node)"
    )
    parser.add_argument("--node", default="memory", help="name of the memory node, with its namespace (default memory)")
    parser.add_argument(
        "--domain-id", type=int, default=int(os.environ.get("ROS_DOMAIN_ID", "0")), help="DDS domain (default: ROS's)"
    )
    parser.add_argument("--label-space", default=HOUSEHOLD, help="name or file of the label space (default: household)")


@contextlib.contextmanager
def opened(args: argparse.Namespace, as_copy: bool = False) -> Iterator[OpenedMemory]:
    """Give the memory that the options name; as_copy: of a file as it is now, which a node may have open.

    Raises:
        RobotMemoryError: there is no such memory.
    """
    if args.database:
        with _stored(args.database, args.label_space, as_copy) as found:
            yield found
        return
    from memory_node.nodes.run import activate_ros

    activate_ros()
    from memory_node.nodes.connected_memory import inspected

    with inspected(args.node, args.domain_id) as (memory, views):
        yield OpenedMemory(memory, views, f"node {args.node}")


@contextlib.contextmanager
def _stored(path: Path, label_space: str, as_copy: bool) -> Iterator[OpenedMemory]:
    if not path.is_file():
        raise RobotMemoryError(f"{path}: no such database")
    with contextlib.ExitStack() as stack:
        used = stack.enter_context(page_copy(path)) if as_copy else path
        stored = open_memory(MemoryConfig(database=str(used), label_space=label_space))
        stack.callback(stored.close)
        yield OpenedMemory(stored, StoredViews(stored), str(path))
