"""/tf as bytes: of all transforms only those between the map and what was asked for are read."""

from __future__ import annotations

import struct
from collections import deque
from collections.abc import Callable, Collection, Iterator

from memory_node.domain.errors import InvalidValueError
from memory_node.nodes import conversions
from memory_node.nodes.inputs.keyframes import OdomJump
from memory_node.nodes.inputs.transform_history import MOST_FRAMES, TransformHistory, checked_frames

# The encapsulation headers of plain CDR, as every middleware of ROS 2 sends it, and how `struct` names the byte order.
_ORDERS = {b"\x00\x01": "<", b"\x00\x00": ">"}
_HEADS = {order: struct.Struct(f"{order}iII") for order in _ORDERS.values()}
_COUNTS = {order: struct.Struct(f"{order}I") for order in _ORDERS.values()}
_NUMBERS = {order: struct.Struct(f"{order}7d") for order in _ORDERS.values()}
_FIRST = 8  # after the encapsulation header and the number of transforms

Place = tuple[int, bytes, bytes, int]


def byte_order(data: bytes) -> str:
    """Return the byte order of a serialised message, `<` or `>` as in `struct`.

    Raises:
        InvalidValueError: it is not plain CDR.
    """
    order = _ORDERS.get(data[:2])
    if order is None:
        raise InvalidValueError(f"message: expected plain CDR, got the header {data[:4].hex()!r}")
    return order


def transforms_in(data: bytes) -> Iterator[Place]:
    """Yield of each transform where its stamp begins, its parent and child as they are written, and where its seven
    numbers begin (x, y, z, and the quaternion's x, y, z, w).

    Raises:
        InvalidValueError: the bytes are no TFMessage.
    """
    order = byte_order(data)
    head, count = _HEADS[order].unpack_from, _COUNTS[order].unpack_from
    try:
        place = _FIRST
        for _ in range(count(data, 4)[0]):
            stamp = place + -place % 4
            length = head(data, stamp)[2]
            begin = stamp + 12
            end = begin + length
            parent = data[begin : end - 1]
            begin = end + -end % 4
            end = begin + 4 + count(data, begin)[0]
            child = data[begin + 4 : end - 1]
            numbers = end + (4 - end) % 8  # eight bytes are counted from behind the encapsulation header
            place = numbers + 56
            if place > len(data):
                raise InvalidValueError(f"message: {len(data)} bytes end within a transform")
            yield stamp, parent, child, numbers
    except struct.error as error:
        raise InvalidValueError(f"message: {len(data)} bytes are no TFMessage ({error})") from error


# Messages are kept so far back for a way that becomes known later: seconds of a busy robot, minutes of a calm one.
_KEPT_BYTES = 4_000_000


class TransformStream:
    """Passes the moving transforms on the ways from frames that were asked for to the map on to a history.

    A robot publishes the transforms of all its joints, hundreds of times a second. Of those off the way only the
    parents are noted. What a way that becomes known later needs is read from the latest messages.

    Args:
        history: what it passes transforms on to.
        refuse: told of each transform on a way that is none, of names that are none, and of bytes that are no message.
        kept_bytes: of the latest messages.
    """

    def __init__(
        self, history: TransformHistory, refuse: Callable[[InvalidValueError], object], kept_bytes: int = _KEPT_BYTES
    ) -> None:
        self._history = history
        self._refuse = refuse
        self._kept_bytes = kept_bytes
        self._recent: deque[bytes] = deque()
        self._recent_bytes = 0
        self._asked: set[str] = set()
        self._parents: dict[str, str] = {}
        # As they are written: the parent of each child, and the children on a way.
        self._written: dict[bytes, bytes] = {}
        self._on_a_way: set[bytes] = set()

    def take(self, data: bytes) -> list[OdomJump]:
        """Take in a serialised TFMessage; return the corrections of odom that it tells of."""
        jumps: list[OdomJump] = []
        is_new = False
        for place in self._places(data):
            _, parent, child, _ = place
            if self._written.get(child) != parent:
                is_new |= self._note(parent, child)
            if child in self._on_a_way:
                jump = self._pass_on(data, place)
                jumps += [jump] if jump is not None else []
        self._recent.append(data)
        self._recent_bytes += len(data)
        while self._recent_bytes > self._kept_bytes:
            self._recent_bytes -= len(self._recent.popleft())
        if is_new:
            self.look_again()
        return jumps

    def ask(self, frame: str) -> None:
        """Follow a frame's way to the map from now on."""
        name = frame.lstrip("/")
        if name not in self._asked and len(self._asked) < MOST_FRAMES:
            self._asked.add(name)
            self.look_again()

    def look_again(self) -> None:
        """Read what has become part of a way: a parent or a fixed transform is new."""
        names = {name for frame in self._asked for name in self._way(frame)}
        new = {child for child in self._written if _name(child) in names} - self._on_a_way
        self._on_a_way |= new
        for data in self._recent if new else ():
            for place in self._places(data):
                if place[2] in new:
                    self._pass_on(data, place)

    def _places(self, data: bytes) -> Iterator[Place]:
        try:
            yield from transforms_in(data)
        except InvalidValueError as error:
            self._refuse(error)

    def _note(self, parent: bytes, child: bytes) -> bool:
        """Note a frame's parent; return whether a way may have changed by it."""
        try:
            parent_name, name = checked_frames(_name(parent), _name(child))
            if child not in self._written and len(self._written) >= MOST_FRAMES:
                raise InvalidValueError(f"child_frame_id: expected at most {MOST_FRAMES} frames, {name!r} is one more")
        except InvalidValueError as error:
            self._refuse(error)
            return False
        self._written[child] = parent
        self._parents[name] = parent_name
        if name == self._history.limits.odom_frame:
            self._on_a_way.add(child)  # for its corrections, from the first sample on
        return True

    def _pass_on(self, data: bytes, place: Place) -> OdomJump | None:
        stamp, parent, child, at = place
        order = byte_order(data)
        (seconds, rest_ns, _), numbers = _HEADS[order].unpack_from(data, stamp), _NUMBERS[order].unpack_from(data, at)
        try:
            stamp_ns = conversions.stamp_from_parts(seconds, rest_ns)
            return self._history.add_sample(_name(parent), _name(child), stamp_ns, numbers)
        except InvalidValueError as error:
            self._refuse(error)
            return None

    def _way(self, frame: str) -> Collection[str]:
        """Return the frames between a frame and where its ancestors meet the map's; none while they do not meet."""
        up, down = self._ancestry(frame), self._ancestry(self._history.map_frame)
        joint = next((name for name in up if name in down), None)
        return () if joint is None else (*up[: up.index(joint)], *down[: down.index(joint)])

    def _ancestry(self, frame: str | None) -> list[str]:
        names: list[str] = []
        while frame is not None and frame not in names:
            names.append(frame)
            frame = self._parents.get(frame) or self._history.fixed_parent(frame)
        return names


def _name(written: bytes) -> str:
    return written.decode("utf-8", "replace").lstrip("/")
