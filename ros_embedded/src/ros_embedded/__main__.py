"""`python -m ros_embedded`: the everyday part of the ros2 command line."""

import signal
import sys

import ros_embedded

ros_embedded.activate()  # first: with ROS_EMBEDDED=companions the commands use the real rclpy

from ros_embedded.cli.main import main  # noqa: E402

if __name__ == "__main__":
    for number in (
        signal.SIGINT,
        signal.SIGTERM,
    ):  # a shell makes background jobs ignore SIGINT; ros2's do not
        signal.signal(number, signal.default_int_handler)  # SIGTERM, too, ends as Ctrl-C does
    sys.exit(main())
