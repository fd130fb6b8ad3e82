"""The loads of `bench ros`: what a robot publishes while memory and a plain node listen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Load:
    """tf_hz: messages of /tf a second, each of `transforms`. image_hz: colour, depth and detections of 640x480; 0: no
    camera. moves: whether the camera does. parameters: of the memory node."""

    tf_hz: float
    transforms: int
    image_hz: float
    moves: bool = True
    parameters: Mapping[str, str] = field(default_factory=dict)


LOADS: Mapping[str, Load] = {
    "tf_load": Load(300.0, 20, 0.0),
    "tf_rgbd_boxes": Load(300.0, 20, 15.0),
    "rgbd_boxes": Load(50.0, 5, 30.0),
    "rgbd_segment": Load(50.0, 5, 30.0, parameters={"detections": "segment"}),
    "still_camera": Load(50.0, 5, 30.0, moves=False),
}
