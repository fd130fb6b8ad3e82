"""ROS 2's security settings (SROS2): the `cyclonedds` wheel is built without DDS Security, so they cannot be met."""

from __future__ import annotations

import os
import time

from ros_embedded.rclpy.impl.logging_output import LoggingSeverity, LogRecord, emit

WHY = (
    "ROS_SECURITY_ENABLE is true, but ros_embedded cannot sign or encrypt: the cyclonedds wheel has no DDS Security. "
    "Run this node on a ROS 2 installation"
)


def check_security() -> None:
    """Refuse to talk in the open where security is enforced, and say so where it is only wished for.

    As in rcl, security is on where ROS_SECURITY_ENABLE is `true`, and ROS_SECURITY_STRATEGY `Enforce` forbids a
    participant without it.

    Raises:
        RuntimeError: security is enforced.
    """
    if os.environ.get("ROS_SECURITY_ENABLE") != "true":
        return
    if os.environ.get("ROS_SECURITY_STRATEGY") == "Enforce":
        raise RuntimeError(f"{WHY}, or unset ROS_SECURITY_ENABLE.")
    text = (
        f"{WHY}. ROS_SECURITY_STRATEGY is not Enforce, so it goes on: everybody on the network can read what it sends, "
        "and secured nodes will not hear it."
    )
    emit(LogRecord("rcl", LoggingSeverity.ERROR, text, time.time_ns(), __file__, "check_security", 0))
