"""The history of one frame: its parent and its pose in the parent over time."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass

from ros_embedded.tf2_ros.rigid_transform import RigidTransform
from ros_embedded.tf2_ros.transform_exceptions import ExtrapolationException


@dataclass(frozen=True)
class StampedTransform:
    """A frame's pose in its parent at a time; stamp_ns 0 is static."""

    stamp_ns: int
    parent: str
    parent_T_child: RigidTransform


class TransformCache:
    """A frame's poses of the last storage_ns, ordered by time; the one pose of a frame that is static."""

    def __init__(self, storage_ns: int, is_static: bool) -> None:
        self._storage_ns, self.is_static = storage_ns, is_static
        self.stamps_ns: list[int] = []
        self._entries: list[StampedTransform] = []

    def insert(self, entry: StampedTransform) -> bool:
        """Add a pose; False if it is older than what is kept. One equal in time and value is not kept twice."""
        if self.is_static:
            self.stamps_ns, self._entries = [0], [StampedTransform(0, entry.parent, entry.parent_T_child)]
            return True
        if self.stamps_ns and entry.stamp_ns < self.stamps_ns[-1] - self._storage_ns:
            return False
        place = bisect_right(self.stamps_ns, entry.stamp_ns)
        same = bisect_left(self.stamps_ns, entry.stamp_ns)
        if any(_is_same(known, entry) for known in self._entries[same:place]):
            return True
        self.stamps_ns.insert(place, entry.stamp_ns)
        self._entries.insert(place, entry)
        outdated = bisect_left(self.stamps_ns, self.stamps_ns[-1] - self._storage_ns)
        del self.stamps_ns[:outdated], self._entries[:outdated]
        return True

    def at(self, stamp_ns: int) -> StampedTransform:
        """The pose at a time, interpolated between the poses around it. Raises ExtrapolationException."""
        first, last = self.stamps_ns[0], self.stamps_ns[-1]
        if self.is_static or stamp_ns in (0, last):
            return self._entries[-1]
        problem, asked = "", _seconds(stamp_ns)
        if first == last:
            problem = f"at time {asked}, but only time {_seconds(first)} is in the buffer"
        elif stamp_ns > last:
            problem = f"into the future.  Requested time {asked} but the latest data is at time {_seconds(last)}"
        elif stamp_ns < first:
            problem = f"into the past.  Requested time {asked} but the earliest data is at time {_seconds(first)}"
        if problem:
            raise ExtrapolationException(f"Lookup would require extrapolation {problem}")
        place = bisect_right(self.stamps_ns, stamp_ns)
        older, newer = self._entries[place - 1], self._entries[place]
        if older.parent != newer.parent or older.stamp_ns == stamp_ns:
            return older
        share = (stamp_ns - older.stamp_ns) / (newer.stamp_ns - older.stamp_ns)
        return StampedTransform(stamp_ns, older.parent, older.parent_T_child.towards(newer.parent_T_child, share))

    def latest(self) -> StampedTransform:
        return self._entries[-1]


def _is_same(a: StampedTransform, b: StampedTransform) -> bool:
    return (
        a.parent == b.parent
        and (a.parent_T_child.translation_m == b.parent_T_child.translation_m).all()
        and (a.parent_T_child.rotation_wxyz == b.parent_T_child.rotation_wxyz).all()
    )


def _seconds(stamp_ns: int) -> str:
    return f"{stamp_ns / 1e9:.6f}"
