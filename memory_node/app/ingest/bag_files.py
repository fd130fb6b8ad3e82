"""The storage files of a rosbag2: a folder with or without metadata.yaml, or lone .mcap and .db3 files."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rosbags.rosbag2 import Reader

from memory_node.domain.errors import InvalidValueError

_METADATA = "metadata.yaml"
_HELPS = {".mcap": "mend it with `mcap recover`", ".db3": "mend it with `sqlite3 FILE .recover`"}


class BagFiles:
    """Finds a bag's files and opens them.

    Args:
        path: a folder, or a .mcap or .db3 file.

    Raises:
        InvalidValueError: there is none, or one cannot be read at all.
    """

    def __init__(self, path: Path) -> None:
        self._named = path
        self._paths = self._readable(path)

    @contextmanager
    def open(self) -> Iterator[OpenBag]:
        """Yield the bag, open."""
        with ExitStack() as stack:
            try:
                readers = [stack.enter_context(Reader(path)) for path in self._paths]
            except Exception as error:  # whatever a broken file makes of sqlite3, mcap, zstd, yaml and rosbags
                raise self._unreadable(self._named, error) from error
            yield OpenBag(readers, lambda error: self._unreadable(self._named, error))

    def _readable(self, path: Path) -> list[Path]:
        folder = path if path.is_dir() else path.parent
        metadata = folder / _METADATA
        listed = metadata.read_text(encoding="utf-8", errors="replace") if metadata.is_file() else ""
        if listed and (path.is_dir() or path.name in listed) and _opens(folder) is None:
            return [folder]
        files = [path] if path.is_file() else sorted(one for one in path.iterdir() if one.suffix in _HELPS)
        if not files:
            raise self._unreadable(path, FileNotFoundError("there is no .mcap or .db3 file"))
        for file in files:
            if (error := _opens(file)) is not None:
                raise self._unreadable(file, error)
        return files

    def _unreadable(self, file: Path, why: Exception) -> InvalidValueError:
        told = " ".join(str(why).split()) or type(why).__name__
        helps = _HELPS.get(file.suffix, "mend it with `ros2 bag reindex`")
        return InvalidValueError(f"{file} cannot be read as a rosbag2 ({told:.200}): record it anew, or {helps}")


class OpenBag:
    """Readers of a bag's files as one. failed: makes an error of what a reader raises."""

    def __init__(self, readers: list[Any], failed: Callable[[Exception], InvalidValueError]) -> None:
        self._readers = readers
        self._failed = failed

    @property
    def connections(self) -> list[Any]:
        """The topics of all files."""
        return [connection for reader in self._readers for connection in reader.connections]

    def messages(self, wanted: Iterable[Any]) -> Iterator[tuple[Any, bytes]]:
        """Yield (connection, bytes) of connections, in the order in which they were recorded.

        Raises:
            InvalidValueError: a file breaks off in a way that its index hides.
        """
        listed = list(wanted)
        streams = []
        for reader in self._readers:
            own = [connection for connection in reader.connections if connection in listed]
            if own:
                streams.append(reader.messages(connections=own))
        merged = heapq.merge(*streams, key=lambda entry: entry[1])
        while True:
            try:
                connection, _, raw = next(merged)
            except StopIteration:
                return
            except Exception as error:
                raise self._failed(error) from error
            yield connection, bytes(raw)


def _opens(path: Path) -> Exception | None:
    """Return why a folder or file does not open; None: it does."""
    try:
        with Reader(path):
            return None
    except Exception as error:
        return error


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
