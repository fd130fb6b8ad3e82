"""`python -m ros_embedded`: the everyday part of the ros2 command line."""

import signal
import sys

from ros_embedded.cli.main import main

if __name__ == "__main__":
    for number in (signal.SIGINT, signal.SIGTERM):  # a shell has its background jobs ignore SIGINT; rclpy hears it too
        signal.signal(number, signal.default_int_handler)  # end as after Ctrl-C: tell the peers
    sys.exit(main())
