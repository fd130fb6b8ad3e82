"""`memory-node mcp`: lets agents ask and tell a memory by the Model Context Protocol."""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path

from memory_node.catalogue.label_space import HOUSEHOLD, load_catalogue
from memory_node.domain.errors import RobotMemoryError
from memory_node.inspector.access import ROLES
from memory_node.inspector.agent_memory import AgentMemory
from memory_node.opening import MemoryConfig, open_memory

HELP = "let agents ask and tell a memory (Model Context Protocol)"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "--database", type=Path, help="a memory's file; no node may have it open (default: the running memory node)"
    )
    parser.add_argument("--node", default="memory", help="name of the memory node, with its namespace (default memory)")
    parser.add_argument(
        "--domain-id", type=int, default=int(os.environ.get("ROS_DOMAIN_ID", "0")), help="DDS domain (default: ROS's)"
    )
    parser.add_argument("--label-space", default=HOUSEHOLD, help="name or file of the label space (default: household)")
    parser.add_argument("--may", choices=ROLES, default="edit", help="what agents may do (default edit: read and tell)")
    parser.add_argument(
        "--http",
        type=int,
        metavar="PORT",
        help="streamable HTTP on 127.0.0.1:PORT/mcp (default: standard input and output)",
    )


def run(args: argparse.Namespace) -> int:
    """Serve until standard input ends or a signal comes.

    Raises:
        RobotMemoryError: the extra is not installed, or there is no such memory.
    """
    try:
        from memory_node.inspector.mcp_server import build_server
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] != "mcp":
            raise
        raise RobotMemoryError("MCP needs the extra `agents`: pip install 'robot_memory[agents]'") from error
    kinds = load_catalogue(args.label_space)
    opened = _stored(args.database, args.label_space) if args.database else _running(args.node, args.domain_id)
    with opened as memory:
        server = build_server(memory, kinds, args.may)
        if args.http is None:
            server.run("stdio")
        else:
            print(f"http://127.0.0.1:{args.http}/mcp", file=sys.stderr)
            server.run("streamable-http", host="127.0.0.1", port=args.http)
    return 0


@contextlib.contextmanager
def _stored(path: Path, label_space: str) -> Iterator[AgentMemory]:
    if not path.is_file():
        raise RobotMemoryError(f"{path}: no such database")
    memory = open_memory(MemoryConfig(database=str(path), label_space=label_space))
    try:
        yield memory
    finally:
        memory.close()


@contextlib.contextmanager
def _running(node_name: str, domain_id: int) -> Iterator[AgentMemory]:
    from memory_node.nodes.run import activate_ros

    activate_ros()
    from memory_node.nodes.connected_memory import connected

    with connected(node_name, domain_id) as memory:
        yield memory
