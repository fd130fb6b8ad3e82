"""`python -m ros_embedded`: the everyday part of the ros2 command line."""

import signal
import sys

from ros_embedded.cli.main import main

if __name__ == "__main__":
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # end as after Ctrl-C: tell the peers
    sys.exit(main())
