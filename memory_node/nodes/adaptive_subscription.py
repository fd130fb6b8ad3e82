"""A subscription that is as reliable as its publishers."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

from rclpy.qos import ReliabilityPolicy

# Messages that both of two subscriptions may bring while one takes over from the other.
_OVERLAPPING = 100
# In the bytes of a message with a header: its stamp.
_STAMP = slice(4, 12)


class AdaptiveSubscription:
    """Reliable while every publisher of the topic is, else best effort.

    Images are larger than what a kernel's receive buffer takes: best effort loses many of them where that is small,
    and reliable has them sent again. But a reliable subscription hears nothing of a best-effort publisher. (rclpy's
    BEST_AVAILABLE looks only once, and when the camera starts later it is wrong.)

    Args:
        make: makes a subscription of this reliability with this callback, which gets bytes.
        destroy: destroys one.
        publishers: tells of the publishers of a topic, as rclpy's get_publishers_info_by_topic.
        callback: gets each message once.
    """

    def __init__(
        self,
        make: Callable[[ReliabilityPolicy, Callable[[bytes], None]], Any],
        destroy: Callable[[Any], object],
        publishers: Callable[[str], list[Any]],
        callback: Callable[[bytes], object],
    ) -> None:
        self._make = make
        self._destroy = destroy
        self._publishers = publishers
        self._callback = callback
        self._before: Any = None
        self._stamps: deque[bytes] = deque(maxlen=_OVERLAPPING)
        self._now = make(ReliabilityPolicy.BEST_EFFORT, self._take)
        self.adapt()

    @property
    def topic_name(self) -> str:
        """The topic's full name."""
        return str(self._now.topic_name)

    @property
    def qos_profile(self) -> Any:
        """What is asked for now."""
        return self._now.qos_profile

    def adapt(self) -> None:
        """Look at the publishers; call it about once a second, in the thread of the callbacks."""
        if self._before is not None:  # the new one has heard the publishers by now
            self._destroy(self._before)
            self._before = None
        offered = {one.qos_profile.reliability for one in self._publishers(self.topic_name)}
        reliable, best_effort = ReliabilityPolicy.RELIABLE, ReliabilityPolicy.BEST_EFFORT
        wanted = reliable if offered == {reliable} else best_effort
        if offered and wanted != self._now.qos_profile.reliability:
            self._before, self._now = self._now, self._make(wanted, self._take)

    def _take(self, data: bytes) -> None:
        stamp = data[_STAMP]
        if self._before is not None and stamp in self._stamps:
            return
        self._stamps.append(stamp)
        self._callback(data)
