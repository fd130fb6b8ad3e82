"""Starts nodes: one by name in its own process, or several composed in one."""

from __future__ import annotations

import gc
import importlib
import importlib.util
import os
import signal
import sys
from collections.abc import Sequence

from memory_node.domain.errors import RobotMemoryError
from memory_node.domain.resources import share_folders

# name -> (module, class); `ros2 run robot_memory NAME` and the composed process start the same classes.
NODES = {
    "memory": ("memory_node.nodes.memory", "MemoryNode"),
    "planner": ("memory_node.nodes.planner", "PlannerNode"),
    "skills": ("memory_node.nodes.skills", "SkillsNode"),
    "detector": ("memory_node.nodes.detector", "DetectorNode"),
    "home": ("memory_node.nodes.home", "HomeNode"),
}


def activate_ros() -> None:
    """Make `import rclpy` work: the real one where it imports, ros_embedded elsewhere or with ROS_EMBEDDED=1.

    Raises:
        RobotMemoryError: neither is installed.
    """
    if os.environ.get("ROS_EMBEDDED") != "1" and importlib.util.find_spec("rclpy") is not None:
        return
    try:
        from ros_embedded import activate, add_interface_folder
    except ImportError as error:
        raise RobotMemoryError(
            f"no rclpy: source a ROS 2, or install ros_embedded with the extra `embedded` ({error})"
        ) from error
    add_interface_folder("robot_memory", share_folders()[0])
    activate()


def run_nodes(names: Sequence[str], argv: Sequence[str] | None = None, threads: int = 6) -> int:
    """Spin nodes in one process until shutdown; return the exit status."""
    try:
        activate_ros()
    except RobotMemoryError as error:
        print(f"{' and '.join(names)} cannot start: {error}", file=sys.stderr)
        return 1
    import rclpy
    from rclpy.executors import ExternalShutdownException, MultiThreadedExecutor

    signal.signal(signal.SIGINT, _interrupt_once)
    rclpy.init(args=list(argv) if argv is not None else sys.argv)
    executor = MultiThreadedExecutor(num_threads=threads)
    nodes = []
    try:
        for name in names:
            module, class_name = NODES[name]
            try:
                nodes.append(getattr(importlib.import_module(module), class_name)())
            except RobotMemoryError as error:  # what a user has to put right: a path, a parameter, a database
                print(f"{name} cannot start: {error}", file=sys.stderr)
                return 1
            executor.add_node(nodes[-1])
        gc.freeze()  # what a node starts with stays: full collections shall not go through it while messages wait
        executor.spin()
    except (KeyboardInterrupt, ExternalShutdownException):
        pass
    finally:
        executor.shutdown()
        for node in nodes:
            node.destroy_node()
        rclpy.try_shutdown()
    return 0


def _interrupt_once(*_: object) -> None:
    """End what runs; a further interrupt (of the terminal and of launch) must not cut off making memory durable."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    raise KeyboardInterrupt


def run_node(name: str) -> int:
    """Run one node in this process (what the executables call)."""
    return run_nodes([name])


if __name__ == "__main__":
    # python -m memory_node.nodes.run memory planner [--ros-args ...]
    chosen = [word for word in sys.argv[1:] if word in NODES]
    sys.exit(run_nodes(chosen, [sys.argv[0], *(word for word in sys.argv[1:] if word not in NODES)]))
