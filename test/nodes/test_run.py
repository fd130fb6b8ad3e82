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


def test_process_ends_without_taking_the_interpreter_apart() -> None:
    """Of a memory node that took 0.5 s of processor time, and 8 s on a machine with a load of 20."""
    code = (
        "import atexit, sys; from memory_node.nodes.run import end_process\n"
        "class Large:\n"
        "    def __del__(self): print('taken apart')\n"
        "large = Large(); sys.stdout.write('last words\\n')\n"
        "atexit.register(print, 'closed'); end_process(3)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout.split("\n")) == (3, ["last words", "closed", ""])
