"""`memory-node picture`: draws what a running memory node remembers, without rviz."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from memory_node.domain.errors import RobotMemoryError
from memory_node.domain.process import Newest
from memory_node.nodes.run import activate_ros, checked_domain
from memory_node.scene_graph.picture import draw_scene

# A map is latched: it comes at once, or there is none.
_MAP_WAIT_S = 2.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("out", type=Path, help="the PNG file")
    parser.add_argument("--node", default="memory", help="name of the memory node, with its namespace (default memory)")
    parser.add_argument(
        "--domain-id", type=int, default=os.environ.get("ROS_DOMAIN_ID") or "0", help="DDS domain (default: ROS's)"
    )
    parser.add_argument("--timeout-s", type=float, default=10.0, help="how long to wait for the node (default 10)")


def run(args: argparse.Namespace) -> int:
    """Ask the node for its graph and draw it.

    Raises:
        RobotMemoryError: the node does not answer.
    """
    activate_ros()
    from nav_msgs.msg import OccupancyGrid

    from memory_node.nodes import conversions
    from memory_node.nodes.connected_memory import joined
    from memory_node.nodes.memory_client import MemoryClient
    from memory_node.nodes.qos import LATCHED
    from memory_node.nodes.service_clients import PeerTimeoutError

    maps = Newest[OccupancyGrid]()
    with joined("memory_picture", checked_domain(args.domain_id, "--domain-id")) as node:
        node.create_subscription(OccupancyGrid, "map", maps.put, LATCHED)
        memory = MemoryClient(node, args.node, args.timeout_s)
        try:
            memory.wait(args.timeout_s)
        except PeerTimeoutError as error:
            told = f"no memory node {args.node!r} in DDS domain {args.domain_id}; is it running?"
            raise RobotMemoryError(told) from error
        scene, grid = memory.scene(), maps.take(_MAP_WAIT_S)
    # The map of another floor may be in a frame of its own.
    fits = grid is not None and grid.header.frame_id in ("", scene.frame_id)
    print(draw_scene(scene, args.out, conversions.grid_from_msg(grid) if fits else None))
    return 0
