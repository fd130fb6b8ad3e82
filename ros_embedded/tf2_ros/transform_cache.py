"""What is known of one frame over time: its parent and its pose in it."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass

from ros_embedded.tf2_ros.exceptions import ExtrapolationException
from ros_embedded.tf2_ros.rigid_transform import RigidTransform


@dataclass(frozen=True)
class StampedTransform:
    """A frame's pose in its parent at a time; stamp_ns 0 is static."""

    stamp_ns: int
    parent: str
    parent_T_child: RigidTransform


class StaticCache:
    """A frame that does not move in its parent."""

    def __init__(self) -> None:
        self._entry: StampedTransform | None = None

    def insert(self, entry: StampedTransform) -> bool:
        self._entry = StampedTransform(0, entry.parent, entry.parent_T_child)
        return True

    def at(self, stamp_ns: int) -> StampedTransform:
        assert self._entry is not None  # a cache is made for its first entry
        return self._entry

    def latest(self) -> StampedTransform:
        """The one entry; its stamp is 0."""
        return self.at(0)

    def oldest_stamp_ns(self) -> int:
        return 0

    def __len__(self) -> int:
        return 1


class TimeCache:
    """A frame that moves: its poses of the last storage_ns, ordered by time."""

    def __init__(self, storage_ns: int) -> None:
        self._storage_ns = storage_ns
        self._stamps: list[int] = []
        self._entries: list[StampedTransform] = []

    def insert(self, entry: StampedTransform) -> bool:
        """Add a pose; False if it is older than what is kept. One equal in time and value is not kept twice."""
        if self._stamps and entry.stamp_ns < self._stamps[-1] - self._storage_ns:
            return False
        place = bisect_right(self._stamps, entry.stamp_ns)
        same = bisect_left(self._stamps, entry.stamp_ns)
        if any(_is_same(known, entry) for known in self._entries[same:place]):
            return True
        self._stamps.insert(place, entry.stamp_ns)
        self._entries.insert(place, entry)
        outdated = bisect_left(self._stamps, self._stamps[-1] - self._storage_ns)
        if outdated:
            del self._stamps[:outdated], self._entries[:outdated]
        return True

    def at(self, stamp_ns: int) -> StampedTransform:
        """The pose at a time, interpolated between the poses around it. Raises ExtrapolationException."""
        first, last = self._stamps[0], self._stamps[-1]
        if stamp_ns == 0 or stamp_ns == last:
            return self._entries[-1]
        asked = _seconds(stamp_ns)
        if first == last:
            problem = f"at time {asked}, but only time {_seconds(first)} is in the buffer"
            raise ExtrapolationException(f"Lookup would require extrapolation {problem}")
        if stamp_ns > last:
            problem = f"future.  Requested time {asked} but the latest data is at time {_seconds(last)}"
            raise ExtrapolationException(f"Lookup would require extrapolation into the {problem}")
        if stamp_ns < first:
            problem = f"past.  Requested time {asked} but the earliest data is at time {_seconds(first)}"
            raise ExtrapolationException(f"Lookup would require extrapolation into the {problem}")
        place = bisect_right(self._stamps, stamp_ns)
        older, newer = self._entries[place - 1], self._entries[place]
        if older.parent != newer.parent or older.stamp_ns == stamp_ns:
            return older
        share = (stamp_ns - older.stamp_ns) / (newer.stamp_ns - older.stamp_ns)
        return StampedTransform(stamp_ns, older.parent, older.parent_T_child.towards(newer.parent_T_child, share))

    def latest(self) -> StampedTransform:
        """The newest pose."""
        return self._entries[-1]

    def oldest_stamp_ns(self) -> int:
        """The time of the oldest pose kept."""
        return self._stamps[0]

    def __len__(self) -> int:
        return len(self._entries)


def _is_same(a: StampedTransform, b: StampedTransform) -> bool:
    return (
        a.parent == b.parent
        and (a.parent_T_child.translation_m == b.parent_T_child.translation_m).all()
        and (a.parent_T_child.rotation_wxyz == b.parent_T_child.rotation_wxyz).all()
    )


def _seconds(stamp_ns: int) -> str:
    return f"{stamp_ns / 1e9:.6f}"
