"""What Rerun shows: camera, image, cloud, what is seen and what is remembered, along the frames' time."""

from __future__ import annotations

import errno
import socket
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from memory_node.catalogue.class_name import spoken
from memory_node.domain.errors import ExtraMissingError, InvalidValueError, PortTakenError
from memory_node.domain.geometry import OrientedBox
from memory_node.domain.observation import Frame
from memory_node.domain.scene import SceneObject
from memory_node.view.view import cloud, facts_of, jpeg, rectangle_of, uncertainty_of

try:
    import rerun
except ImportError as error:
    raise ExtraMissingError("Rerun needs rerun-sdk: pip install 'robot_memory[view]'", name="rerun") from error

_SEEN, _REMEMBERED = (255, 196, 0), (31, 111, 235)
# Memory kept for viewers that connect later: some minutes of a camera's images.
_KEPT = "200MB"


class RerunStream:
    """Hands on frames to a file (`rerun FILE` opens it), or to viewers that come and go."""

    def __init__(self, stream: rerun.RecordingStream) -> None:
        self._stream = stream
        self._stream.log("map", rerun.ViewCoordinates.RIGHT_HAND_Z_UP, static=True)

    @classmethod
    def into_file(cls, path: Path) -> RerunStream:
        """Write a recording (.rrd)."""
        stream = rerun.RecordingStream("robot_memory")
        stream.save(path)
        return cls(stream)

    @classmethod
    def served(cls, port: int) -> RerunStream:
        """Serve viewers: `rerun rerun+http://HOST:PORT/proxy`.

        Raises:
            PortTakenError: the port is taken. Rerun itself would only log that.
            InvalidValueError: this user may not serve it.
        """
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("0.0.0.0", port))
            except OSError as error:
                refusal = PortTakenError if error.errno == errno.EADDRINUSE else InvalidValueError
                raise refusal(f"view_port: port {port} cannot be served ({error.strerror})") from error
        stream = rerun.RecordingStream("robot_memory")
        stream.serve_grpc(grpc_port=port, server_memory_limit=_KEPT)
        return cls(stream)

    def show(self, color: NDArray[np.uint8], frame: Frame, objects: Sequence[SceneObject]) -> None:
        """Show an RGB image (h, w, 3), the frame with what was seen in it, and what is remembered now."""
        stream, pose = self._stream, frame.map_T_camera
        stream.set_time("time", timestamp=np.datetime64(frame.stamp_ns, "ns"))
        stream.log("map/camera", rerun.Transform3D(translation=pose.position, mat3x3=pose.matrix[:3, :3]))
        self._show_image(color, frame)
        points, colors = cloud(color, frame)
        stream.log("map/cloud", rerun.Points3D(points, colors=colors, radii=0.006))
        seen = [(o.box, spoken(o.best_class)) for o in frame.observations]
        stream.log("map/seen", _boxes(seen, _SEEN))
        self.show_objects(frame.stamp_ns, objects)

    def show_objects(self, stamp_ns: int, objects: Sequence[SceneObject]) -> None:
        """Show what was remembered at a stamp: boxes, ellipsoids of two standard deviations, and facts in columns."""
        stream = self._stream
        stream.set_time("time", timestamp=np.datetime64(stamp_ns, "ns"))
        known = [(found.box, found.name or spoken(found.class_name)) for found in objects]
        stream.log("map/objects", _boxes(known, _REMEMBERED))
        around = [uncertainty_of(found) for found in objects]
        ellipsoids = rerun.Ellipsoids3D(
            centers=np.array([found.box.center for found in objects]).reshape(-1, 3),
            half_sizes=np.array([half_axes for half_axes, _ in around]).reshape(-1, 3),
            quaternions=np.array([quaternion for _, quaternion in around]).reshape(-1, 4),
        )
        stream.log("map/objects/uncertainty", ellipsoids)
        facts = [facts_of(found) for found in objects]
        if facts:
            columns = {f"memory.{name}": [row[name] for row in facts] for name in facts[0]}
            stream.log("map/objects", rerun.AnyValues(**columns))

    def close(self) -> None:
        """Finish the file, or serve no more."""
        self._stream.flush()
        self._stream.disconnect()

    def _show_image(self, color: NDArray[np.uint8], frame: Frame) -> None:
        i = frame.intrinsics
        if i is None:
            return
        matrix = np.array([[i.fx, 0.0, i.cx], [0.0, i.fy, i.cy], [0.0, 0.0, 1.0]])
        image = "map/camera/image"
        self._stream.log(image, rerun.Pinhole(image_from_camera=matrix, resolution=[i.width, i.height]))
        self._stream.log(image, rerun.EncodedImage(contents=jpeg(color), media_type="image/jpeg"))
        drawn = [(rectangle_of(o.box, i, frame.map_T_camera), o.best_class) for o in frame.observations]
        found = [(rectangle, name) for rectangle, name in drawn if rectangle is not None]
        rectangles = np.array([rectangle for rectangle, _ in found]).reshape(-1, 4)
        names = [spoken(name) for _, name in found]
        sizes = rectangles[:, 2:] - rectangles[:, :2]
        self._stream.log(f"{image}/seen", rerun.Boxes2D(mins=rectangles[:, :2], sizes=sizes, labels=names))


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
