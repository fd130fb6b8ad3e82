"""Starting nodes where something is missing."""

import os
import subprocess
import sys


def test_node_without_rclpy_tells_what_to_install() -> None:
    code = (
        "import sys; sys.modules['ros_embedded'] = None\n"
        "from memory_node.nodes.run import run_node; sys.exit(run_node('memory'))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"ROS_EMBEDDED": "1"},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 1
    assert done.stderr.startswith("memory cannot start: no rclpy: source a ROS 2, or install ros_embedded")
