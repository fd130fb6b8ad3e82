"""Which topics of a bag are colour, depth, detections and instance images."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from memory_node.domain.errors import InvalidValueError

IMAGES = ("sensor_msgs/msg/Image", "sensor_msgs/msg/CompressedImage")
DETECTIONS_2D, DETECTIONS_3D = "vision_msgs/msg/Detection2DArray", "vision_msgs/msg/Detection3DArray"
DEMONSTRATIONS = "robot_memory/msg/DemonstratedStep"
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
        depths = _named(images, ("depth",))
        depth = depth or _only(depths, "depth image", "--depth-topic")
        rest = [one for one in images if one[0] != depth and one not in depths]
        labels = _named(rest, _LABEL_WORDS)
        color = color or _only([one for one in rest if one not in labels], "colour image", "--color-topic")
        detections = {c.topic for c in listed if c.msgtype == DETECTIONS_2D}
        return cls(depth, color, _single({topic for topic, kind in labels if kind == _RAW}), _single(detections))

    @property
    def streams(self) -> tuple[str, ...]:
        """The topics of which messages of one moment belong together."""
        return tuple(topic for topic in (self.depth, self.color, self.labels, self.detections) if topic)


def _named(images: Sequence[tuple[str, str]], words: Collection[str]) -> list[tuple[str, str]]:
    """Return the images with one of these words in their topic."""
    return [(topic, kind) for topic, kind in images if any(word in topic.lower() for word in words)]


def _single(topics: Collection[str]) -> str:
    """Return the only topic, "" where there are none or several."""
    return next(iter(topics)) if len(topics) == 1 else ""


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
