"""Images that image_transport compresses become objects as raw ones do."""

from __future__ import annotations

import struct
from collections.abc import Callable
from pathlib import Path

import cv2
import numpy as np
import pytest
from ros_peer import CAMERA, RosPeer, SimulatedCamera, view_of, wait_until
from running_memory import counted, running_memory
from sensor_msgs.msg import CompressedImage
from test_compressed_images import rvl

from memory_node.nodes import conversions
from memory_node.perception.detection import Detection

SECOND_NS = 1_000_000_000


def png(depth_mm: np.ndarray) -> bytes:
    return bytes(cv2.imencode(".png", depth_mm)[1].tobytes())


class CompressingCamera(SimulatedCamera):
    """The simulated camera, its images compressed; coded: codes the depth; name: what its messages call that."""

    def __init__(self, peer: RosPeer, coded: Callable[[np.ndarray], bytes], name: str) -> None:
        super().__init__(peer)
        self._coded, self._name = coded, name

    def show(self, stamp_ns: int, **changed: object) -> None:
        depth_m, mask = view_of((1.5, 0.0, 1.0), 0.2, self.pose)
        info = conversions.intrinsics_to_msg(CAMERA, stamp_ns, "camera")
        jpeg = cv2.imencode(".jpg", np.full((480, 640, 3), 90, np.uint8))[1].tobytes()
        depth = struct.pack("<iff", 0, 0.0, 0.0) + self._coded((depth_m * 1000.0).astype(np.uint16))
        found = [Detection({"Mug": 0.9}, instance=1)]
        for topic, message in {
            "camera/color/camera_info": info,
            "camera/color/image_raw/compressed": CompressedImage(header=info.header, format="rgb8; jpeg", data=jpeg),
            "camera/depth/image_raw/compressedDepth": CompressedImage(
                header=info.header, format=f"16UC1; compressedDepth {self._name}", data=depth
            ),
            "detections/masks": conversions.image_to_msg(mask, "16UC1", stamp_ns, "camera"),
            "detections": conversions.detections_to_msg(found, stamp_ns, "camera"),
        }.items():
            self._peer.publish(topic, message)


@pytest.mark.parametrize(("coded", "name"), [(png, "png"), (rvl, "rvl")])
def test_compressed_images_become_objects(
    peer: RosPeer, tmp_path: Path, coded: Callable[[np.ndarray], bytes], name: str
) -> None:
    with running_memory(peer.domain_id, str(tmp_path / "memory.db"), image_transport="compressed") as node:
        camera = CompressingCamera(peer, coded, name)
        shown = iter(range(1, 600))

        def seen() -> bool:
            camera.show(next(shown) * SECOND_NS)
            return bool(node.memory.scene().objects)

        wait_until(seen)
        (found,) = node.memory.scene().objects
        assert found.class_name == "Mug"
        assert np.linalg.norm(found.box.center - [1.5, 0.0, 1.0]) < 0.1
        assert not [name for name in counted(node) if name.startswith(("skipped.color", "skipped.depth"))]
