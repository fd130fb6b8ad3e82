"""`memory-node picture`: draws what a running memory node remembers, without rviz."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import Any

from memory_node.domain.errors import RobotMemoryError
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
    import rclpy
    from nav_msgs.msg import OccupancyGrid
    from rclpy.context import Context
    from rclpy.executors import SingleThreadedExecutor
    from rclpy.task import Future
    from robot_memory.srv import GetSceneGraph

    from memory_node.nodes import conversions
    from memory_node.nodes.qos import LATCHED

    context = Context()
    rclpy.init(context=context, domain_id=checked_domain(args.domain_id, "--domain-id"))
    node = rclpy.create_node("memory_picture", context=context)
    executor = SingleThreadedExecutor(context=context)
    executor.add_node(node)
    try:
        came: Any = Future()
        node.create_subscription(OccupancyGrid, "map", lambda msg: came.done() or came.set_result(msg), LATCHED)
        client = node.create_client(GetSceneGraph, f"{args.node}/get_scene_graph")
        if not client.wait_for_service(timeout_sec=args.timeout_s):
            raise RobotMemoryError(f"no memory node {args.node!r} in DDS domain {args.domain_id}; is it running?")
        answer = client.call_async(GetSceneGraph.Request())
        executor.spin_until_future_complete(answer, args.timeout_s)
        if not answer.done():
            raise RobotMemoryError(f"{client.srv_name} did not answer within {args.timeout_s:g} s")
        executor.spin_until_future_complete(came, _MAP_WAIT_S)
        scene = conversions.snapshot_from_msg(answer.result().graph)
        # The map of another floor may be in a frame of its own.
        fits = came.done() and came.result().header.frame_id in ("", scene.frame_id)
        grid = conversions.grid_from_msg(came.result()) if fits else None
        print(draw_scene(scene, args.out, grid))
    finally:
        executor.shutdown()
        node.destroy_node()
        rclpy.shutdown(context=context)
    return 0
