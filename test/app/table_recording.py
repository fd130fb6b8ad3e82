"""A table with one box on it, as a camera over it records it."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from box_world import cast_rays, looking
from numpy.typing import NDArray

from memory_node.domain.geometry import Intrinsics, OrientedBox, Pose
from memory_node.nodes import conversions

CAMERA = Intrinsics(525.0, 525.0, 319.5, 239.5, 640, 480)
BOX_CENTER, BOX_SIZE = np.array([0.8, 0.1, 0.06]), np.array([0.12, 0.2, 0.12])


def camera_pose(tilt_rad: float = 0.8, height_m: float = 0.6) -> Pose:
    """Return an optical frame over the origin that looks along +x and down by `tilt_rad`."""
    return looking((0.0, 0.0, height_m), (np.cos(tilt_rad), 0.0, height_m - np.sin(tilt_rad)))


def table_with_box(pose: Pose) -> NDArray[np.float32]:
    """Return exact depth (480, 640) in metres of a table at z = 0 with one box on it."""
    depth, _ = cast_rays(CAMERA, pose, [OrientedBox(BOX_CENTER, BOX_SIZE)])
    return np.where(depth < 3.0, depth, 0.0).astype(np.float32)


def write_bag(folder: Path, storage: str, more: Iterable[tuple[str, Any, int]] = ()) -> None:
    from geometry_msgs.msg import TransformStamped
    from nav_msgs.msg import OccupancyGrid
    from tf2_msgs.msg import TFMessage

    pose = camera_pose()
    transform: TransformStamped = conversions.transform_to_msg(pose, "map", "camera", 0)
    grid = OccupancyGrid()
    grid.info.width = grid.info.height = 40
    grid.info.resolution = 0.1
    grid.info.origin = conversions.pose_to_msg(Pose.planar(-2.0, -2.0, 0.0))
    grid.data = [0] * 1600
    color = np.full((480, 640, 3), 128, np.uint8)
    messages = [("/tf_static", TFMessage(transforms=[transform]), 0), ("/map", grid, 0)]
    for index in range(3):
        stamp_ns = 1_000_000_000 * (index + 1)
        depth = table_with_box(pose)
        messages += [
            ("/cam/info", conversions.intrinsics_to_msg(CAMERA, stamp_ns, "camera"), stamp_ns),
            ("/cam/color", conversions.image_to_msg(color, "rgb8", stamp_ns, "camera"), stamp_ns),
            ("/cam/depth", conversions.image_to_msg(depth, "32FC1", stamp_ns, "camera"), stamp_ns),
        ]
    lost = conversions.image_to_msg(table_with_box(pose), "32FC1", 4_000_000_000, "nowhere")
    messages.append(("/cam/depth", lost, 4_000_000_000))
    messages.append(("/cam/color", conversions.image_to_msg(color, "rgb8", 4_000_000_000, "camera"), 4_000_000_000))
    write_messages(folder, storage, [*messages, *more])


def write_messages(folder: Path, storage: str, messages: Iterable[tuple[str, Any, int]]) -> None:
    """Write a bag of (topic, message, stamp in ns)."""
    from rclpy.serialization import serialize_message
    from rosbags.rosbag2 import StoragePlugin, Writer
    from rosbags.typesys import Stores, get_types_from_msg, get_typestore

    store = get_typestore(Stores.ROS2_JAZZY)
    # rosbags does not know vision_msgs; a definition is only carried along in the file.
    store.register(get_types_from_msg("std_msgs/Header header", "vision_msgs/msg/Detection2DArray"))
    for definition in (Path(__file__).parents[2] / "msg").glob("*.msg"):
        store.register(get_types_from_msg(definition.read_text(), f"robot_memory/msg/{definition.stem}"))
    with Writer(folder, version=9, storage_plugin=StoragePlugin[storage]) as writer:
        connections = {}
        for topic, message, stamp_ns in messages:
            kind = type(message)
            name = f"{kind.__module__.split('.')[0]}/msg/{kind.__name__}"
            if topic not in connections:
                connections[topic] = writer.add_connection(topic, name, typestore=store)
            writer.write(connections[topic], stamp_ns, serialize_message(message))
