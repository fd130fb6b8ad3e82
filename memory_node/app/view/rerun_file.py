"""A Rerun recording (.rrd): camera, image, cloud, what is seen and what is remembered, along the recording's time."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from memory_node.app.ingest.recording import RgbdImage
from memory_node.app.view.view import cloud, jpeg, rectangle_of
from memory_node.catalogue.class_name import spoken
from memory_node.domain.errors import ResourceMissingError
from memory_node.domain.geometry import OrientedBox
from memory_node.domain.observation import Frame
from memory_node.domain.scene import SceneObject

try:
    import rerun
except ImportError as error:
    raise ResourceMissingError("a Rerun file needs the package rerun-sdk: pip install 'robot_memory[view]'") from error

_SEEN, _REMEMBERED = (255, 196, 0), (31, 111, 235)


class RerunFile:
    """Writes the file while it is shown frames; `rerun FILE` opens it."""

    def __init__(self, path: Path) -> None:
        self._stream = rerun.RecordingStream("robot_memory")
        self._stream.save(path)
        self._stream.log("map", rerun.ViewCoordinates.RIGHT_HAND_Z_UP, static=True)

    def show(self, image: RgbdImage, frame: Frame, objects: Sequence[SceneObject]) -> None:
        """Show an image, what was seen in it, and what is remembered now."""
        stream, pose, i = self._stream, frame.map_T_camera, image.intrinsics
        stream.set_time("time", timestamp=np.datetime64(image.stamp_ns, "ns"))
        stream.log("map/camera", rerun.Transform3D(translation=pose.position, mat3x3=pose.matrix[:3, :3]))
        matrix = np.array([[i.fx, 0.0, i.cx], [0.0, i.fy, i.cy], [0.0, 0.0, 1.0]])
        stream.log("map/camera/image", rerun.Pinhole(image_from_camera=matrix, resolution=[i.width, i.height]))
        stream.log("map/camera/image", rerun.EncodedImage(contents=jpeg(image.color), media_type="image/jpeg"))
        drawn = [(rectangle_of(o.box, image, pose), o.best_class) for o in frame.observations]
        found = [(rectangle, name) for rectangle, name in drawn if rectangle is not None]
        rectangles = np.array([rectangle for rectangle, _ in found]).reshape(-1, 4)
        names = [spoken(name) for _, name in found]
        stream.log(
            "map/camera/image/seen",
            rerun.Boxes2D(mins=rectangles[:, :2], sizes=rectangles[:, 2:] - rectangles[:, :2], labels=names),
        )
        points, colors = cloud(image, pose)
        stream.log("map/cloud", rerun.Points3D(points, colors=colors, radii=0.006))
        seen = [(o.box, spoken(o.best_class)) for o in frame.observations]
        stream.log("map/seen", _boxes(seen, _SEEN))
        known = [(found.box, f"{spoken(found.class_name)} {found.existence:.2f}") for found in objects]
        stream.log("map/objects", _boxes(known, _REMEMBERED))

    def close(self) -> None:
        """Finish the file."""
        self._stream.flush()
        self._stream.disconnect()


def _boxes(named: Sequence[tuple[OrientedBox, str]], color: tuple[int, int, int]) -> rerun.Boxes3D:
    half_yaws = np.array([0.5 * box.yaw_rad for box, _ in named])
    zeros = np.zeros(len(named))
    return rerun.Boxes3D(
        centers=np.array([box.center for box, _ in named]).reshape(-1, 3),
        sizes=np.array([box.size for box, _ in named]).reshape(-1, 3),
        quaternions=np.stack([zeros, zeros, np.sin(half_yaws), np.cos(half_yaws)], axis=1),
        labels=[name for _, name in named],
        colors=[color] * len(named),
    )
