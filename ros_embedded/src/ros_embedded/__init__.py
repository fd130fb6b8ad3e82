"""ROS 2's Python API for machines without ROS 2: rclpy, tf2_ros and messages over Cyclone DDS, the same on the wire."""

from __future__ import annotations

import importlib.util
import os

from ros_embedded.interfaces.lookup import add_interface_folder

__all__ = ["activate", "add_interface_folder", "is_active"]


def activate() -> bool:
    """Let `import rclpy`, `tf2_ros`, `sensor_msgs.msg` and the like find what is served here. May be called again.

    Where a real rclpy can be imported nothing is done, unless the environment has ROS_EMBEDDED=1 (serve all) or
    ROS_EMBEDDED=companions (beside the real rclpy serve what is not installed: tf2_ros, launch, message_filters, ...).

    Returns:
        True if the imports are served by ros_embedded, False if by the real ROS 2.

    """
    from ros_embedded import import_hook

    if import_hook.is_installed():
        return True
    wanted = os.environ.get("ROS_EMBEDDED")
    if wanted != "1" and importlib.util.find_spec("rclpy") is not None:
        if wanted == "companions":
            import_hook.install_companions()
        return False
    import_hook.install()
    return True


def is_active() -> bool:
    """True if imports of rclpy are served by ros_embedded."""
    from ros_embedded import import_hook

    return import_hook.is_installed()
