"""Which topics of a bag are colour, depth, detections and instance images."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from memory_node.domain.errors import InvalidValueError

IMAGES = ("sensor_msgs/msg/Image", "sensor_msgs/msg/CompressedImage")
DETECTIONS_2D, DETECTIONS_3D = "vision_msgs/msg/Detection2DArray", "vision_msgs/msg/Detection3DArray"
POSES = (
    "nav_msgs/msg/Odometry",
    "geometry_msgs/msg/PoseStamped",
    "geometry_msgs/msg/PoseWithCovarianceStamped",
)
_RAW = IMAGES[0]
_LABEL_WORDS = ("mask", "label", "instance", "segment")


@dataclass(frozen=True)
class BagTopics:
    """Names of topics; labels and detections: "" where the bag has none."""

    depth: str
    color: str
    labels: str = ""
    detections: str = ""
    detections_kind: str = DETECTIONS_2D

    @classmethod
    def of(cls, connections: Iterable[Any], depth: str | None, color: str | None) -> BagTopics:
        """Return the topics: the given ones, else the only ones that fit; of an image that is there both raw and
        compressed, the raw one.

        Raises:
            InvalidValueError: none fits, or several do.
        """
        listed = list(connections)
        images = sorted({(c.topic, c.msgtype) for c in listed if c.msgtype in IMAGES})
        depth = depth or _only([one for one in images if "depth" in one[0].lower()], "depth image", "--depth-topic")
        rest = [one for one in images if one[0] != depth and "depth" not in one[0].lower()]
        labels = [one for one in rest if any(word in one[0].lower() for word in _LABEL_WORDS)]
        color = color or _only([one for one in rest if one not in labels], "colour image", "--color-topic")
        found = sorted({c.topic for c in listed if c.msgtype == DETECTIONS_2D})
        raw_labels = [topic for topic, kind in labels if kind == _RAW]
        return cls(
            depth,
            color,
            raw_labels[0] if len(raw_labels) == 1 else "",
            found[0] if len(found) == 1 else "",
        )

    @property
    def streams(self) -> tuple[str, ...]:
        """The topics of which messages of one moment belong together."""
        return tuple(topic for topic in (self.depth, self.color, self.labels, self.detections) if topic)


def _only(images: Sequence[tuple[str, str]], what: str, option: str) -> str:
    raw = [topic for topic, kind in images if kind == _RAW]
    names = {_base(topic) for topic, _ in images}
    if len(names) == 1:
        return raw[0] if raw else images[0][0]
    found = ", ".join(topic for topic, _ in images) or "none"
    raise InvalidValueError(f"the bag has {found} as {what} topic; name one with {option}")


def _base(topic: str) -> str:
    """Return a topic without what image_transport appends to it."""
    for transport in ("/compressedDepth", "/compressed"):
        topic = topic.removesuffix(transport)
    return topic
