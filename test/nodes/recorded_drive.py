"""A recorded drive past a table, as messages and as a bag: TF with a gap, a clock that is set back."""

import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
from box_world import cast_rays, looking
from nav_msgs.msg import OccupancyGrid
from numpy.typing import NDArray
from rclpy.serialization import serialize_message
from rosgraph_msgs.msg import Clock
from tf2_msgs.msg import TFMessage

from memory_node.domain.geometry import Intrinsics, OrientedBox, Pose
from memory_node.nodes import conversions

CAMERA = Intrinsics(262.5, 262.5, 159.5, 119.5, 320, 240)
BASE_T_CAMERA_TILT_RAD, CAMERA_HEIGHT_M = 0.8, 0.6
THINGS = {"box": ((0.8, 0.1, 0.06), (0.12, 0.2, 0.12)), "can": ((0.75, -0.25, 0.07), (0.1, 0.1, 0.14))}
SECOND_NS = 1_000_000_000

Recorded = list[tuple[int, str, Any]]  # when it was recorded, topic, message


def camera_on_base() -> Pose:
    """Return an optical frame over the base that looks ahead and down."""
    ahead_m, down_m = np.cos(BASE_T_CAMERA_TILT_RAD), np.sin(BASE_T_CAMERA_TILT_RAD)
    return looking((0.0, 0.0, CAMERA_HEIGHT_M), (ahead_m, 0.0, CAMERA_HEIGHT_M - down_m))


def depth_of_table(camera: Pose, lens: Intrinsics = CAMERA) -> NDArray[np.float32]:
    """Return exact depth (h, w) in metres of a table at z = 0 with THINGS on it."""
    boxes = [OrientedBox(np.array(center), np.array(size)) for center, size in THINGS.values()]
    depth, _ = cast_rays(lens, camera, boxes)
    return np.where(depth < 3.0, depth, 0.0).astype(np.float32)


def images(stamp_ns: int, camera: Pose, color_later_ns: int = 0) -> list[tuple[str, Any]]:
    """Return what the camera publishes at a stamp, by topic."""
    depth = depth_of_table(camera)
    color = np.full((*depth.shape, 3), 128, np.uint8)
    at_ns = stamp_ns + color_later_ns
    return [
        ("camera/color/camera_info", conversions.intrinsics_to_msg(CAMERA, at_ns, "camera")),
        ("camera/color/image_raw", conversions.image_to_msg(color, "rgb8", at_ns, "camera")),
        ("camera/depth/image_raw", conversions.image_to_msg(depth, "32FC1", stamp_ns, "camera")),
    ]


def transforms(
    stamp_ns: int,
    odom_T_base: Pose,
    map_T_odom: Pose = Pose(),  # noqa: B008 - frozen
    map_frame: str = "map",
) -> Any:
    """Return TF of the robot at a stamp."""
    return TFMessage(
        transforms=[
            conversions.transform_to_msg(map_T_odom, map_frame, "odom", stamp_ns),
            conversions.transform_to_msg(odom_T_base, "odom", "base", stamp_ns),
        ]
    )


def fixed_transform() -> Any:
    """Return where the camera is on the robot, for /tf_static."""
    return TFMessage(transforms=[conversions.transform_to_msg(camera_on_base(), "base", "camera", 0)])


def empty_map(stamp_ns: int, frame: str = "map") -> Any:
    """Return a map of 4 m by 4 m without walls."""
    grid = OccupancyGrid(header=conversions.header(stamp_ns, frame), data=[0] * 1600)
    grid.info.width = grid.info.height = 40
    grid.info.resolution = 0.1
    grid.info.origin = conversions.pose_to_msg(Pose.planar(-2.0, -2.0, 0.0))
    return grid


def recorded_drive() -> Recorded:
    """Return two legs of 1.6 s: in the first TF is silent for 0.6 s, before the second the clock is set back."""
    start_ns = 1000 * SECOND_NS
    recorded: Recorded = [(start_ns, "/tf_static", fixed_transform()), (start_ns, "map", empty_map(start_ns))]
    for leg, (begin_ns, silence) in enumerate(((start_ns, (0.5, 1.1)), (900 * SECOND_NS, (9.0, 9.0)))):
        offset_ns = start_ns + leg * 2 * SECOND_NS - begin_ns
        for tick in range(33):  # TF at 20 Hz
            after_s = 0.2 + 0.05 * tick
            stamp_ns = begin_ns + int(after_s * 1e9)
            if not silence[0] < after_s < silence[1]:
                recorded.append((stamp_ns + offset_ns, "/tf", transforms(stamp_ns, _base(leg, after_s))))
        for tick in range(8):  # images at 5 Hz, between the samples of TF
            after_s = 0.213 + 0.2 * tick
            stamp_ns = begin_ns + int(after_s * 1e9)
            for topic, message in images(stamp_ns, _base(leg, after_s) @ camera_on_base(), color_later_ns=4_000_000):
                recorded.append((stamp_ns + offset_ns + 8_000_000, topic, message))
    return sorted(recorded, key=lambda entry: entry[0])


def _base(leg: int, after_s: float) -> Pose:
    return Pose.planar(0.0, -0.1 + 0.1 * after_s, 0.02 * leg)


def write_bag(folder: Path, recorded: Recorded) -> None:
    """Write messages as a rosbag2."""
    from rosbags.rosbag2 import StoragePlugin, Writer
    from rosbags.typesys import Stores, get_typestore

    store = get_typestore(Stores.ROS2_JAZZY)
    with Writer(folder, version=9, storage_plugin=StoragePlugin.MCAP) as writer:
        connections = {}
        for at_ns, topic, message in recorded:
            kind = type(message)
            if topic not in connections:
                name = f"{kind.__module__.split('.')[0]}/msg/{kind.__name__}"
                connections[topic] = writer.add_connection(
                    topic if topic[0] == "/" else f"/{topic}", name, typestore=store
                )
            writer.write(connections[topic], at_ns, serialize_message(message))


def play(recorded: Iterable[tuple[int, str, Any]], publish: Callable[[str, Any], None], rate: float) -> None:
    """Publish messages as far apart as they were recorded, `rate` times as fast, with /clock."""
    begun_s, first_ns = time.monotonic(), None
    for at_ns, topic, message in recorded:
        first_ns = at_ns if first_ns is None else first_ns
        time.sleep(max(0.0, (at_ns - first_ns) * 1e-9 / rate - (time.monotonic() - begun_s)))
        publish("/clock", Clock(clock=conversions.stamp_to_msg(at_ns)))
        publish(topic, message)
