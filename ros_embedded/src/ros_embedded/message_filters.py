"""Filters that bring messages of several topics together: the API of Jazzy's message_filters."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Sequence
from typing import Any

from ros_embedded.rclpy.clock import ROSClock
from ros_embedded.rclpy.duration import Duration
from ros_embedded.rclpy.logging import get_logger
from ros_embedded.rclpy.time import Time


class SimpleFilter:
    """Hands its output to all callbacks registered with it."""

    def __init__(self) -> None:
        self.callbacks: dict[int, tuple[Callable[..., Any], tuple[Any, ...]]] = {}

    def registerCallback(self, cb: Callable[..., Any], *args: Any) -> int:  # noqa: N802
        """Call `cb(*messages, *args)` with every output; returns the connection's number."""
        connection = len(self.callbacks)
        self.callbacks[connection] = (cb, args)
        return connection

    def signalMessage(self, *msg: Any) -> None:  # noqa: N802
        for callback, args in list(self.callbacks.values()):
            callback(*msg, *args)


class Subscriber(SimpleFilter):
    """The messages of a topic; takes a node and the arguments of its create_subscription, less the callback."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()
        self.node, self.topic = args[0], args[2]
        kwargs.setdefault("qos_profile", 10)
        self.sub = self.node.create_subscription(*args[1:], self.callback, **kwargs)

    def callback(self, msg: Any) -> None:
        self.signalMessage(msg)

    def getTopic(self) -> str:  # noqa: N802
        return self.topic

    def __getattr__(self, key: str) -> Any:
        if key == "sub":  # __init__ failed before the subscription was made
            raise AttributeError(key)
        return getattr(self.sub, key)


class TimeSynchronizer(SimpleFilter):
    """Calls back with one message of each filter where their header stamps are equal; keeps queue_size of each."""

    def __init__(self, fs: Sequence[SimpleFilter], queue_size: int) -> None:
        super().__init__()
        self.queue_size = queue_size
        self.lock = threading.RLock()
        self.connectInput(fs)

    def connectInput(self, fs: Sequence[SimpleFilter]) -> None:  # noqa: N802
        self.queues: list[dict[int, Any]] = [{} for _ in fs]
        self.input_connections = [
            each.registerCallback(self.add, queue, index) for index, (each, queue) in enumerate(zip(fs, self.queues))
        ]

    def add(self, msg: Any, my_queue: dict[int, Any], my_queue_index: int | None = None) -> None:
        """Take in a message of one filter, and give out every set that it completes."""
        with self.lock:
            self._keep(my_queue, Time.from_msg(msg.header.stamp).nanoseconds, msg)
            for stamp_ns in sorted(set.intersection(*map(set, self.queues))):
                self._give_out([stamp_ns] * len(self.queues))

    def _keep(self, queue: dict[int, Any], stamp_ns: int, msg: Any) -> None:
        queue[stamp_ns] = msg
        while len(queue) > self.queue_size:
            del queue[min(queue)]

    def _give_out(self, stamps_ns: Sequence[int]) -> None:
        self.signalMessage(*(queue.pop(stamp_ns) for queue, stamp_ns in zip(self.queues, stamps_ns)))


class ApproximateTimeSynchronizer(TimeSynchronizer):
    """As TimeSynchronizer, for stamps that lie less than slop seconds apart.

    With allow_headerless, messages without a header count as of the ROS time when they arrive.
    """

    def __init__(
        self, fs: Sequence[SimpleFilter], queue_size: int, slop: float, allow_headerless: bool = False
    ) -> None:
        super().__init__(fs, queue_size)
        self.slop = Duration(seconds=slop)
        self.allow_headerless = allow_headerless

    def add(self, msg: Any, my_queue: dict[int, Any], my_queue_index: int | None = None) -> None:
        """Take in a message of one filter, and give out the set that it completes."""
        stamp = _stamp_of(msg, self.allow_headerless)
        if stamp is None:
            return
        now_ns, slop_ns = stamp.nanoseconds, self.slop.nanoseconds
        with self.lock:
            self._keep(my_queue, now_ns, msg)
            candidates = [[now_ns] if queue is my_queue else _near(now_ns, queue, slop_ns) for queue in self.queues]
            for stamps_ns in itertools.product(*candidates):
                is_whole = all(stamp_ns in queue for stamp_ns, queue in zip(stamps_ns, self.queues))
                if is_whole and max(stamps_ns) - min(stamps_ns) < slop_ns:
                    self._give_out(stamps_ns)
                    return


def _near(stamp_ns: int, queue: dict[int, Any], slop_ns: int) -> list[int]:
    """The stamps in a queue that lie within the slop, nearest first."""
    distances = sorted((abs(other_ns - stamp_ns), other_ns) for other_ns in queue)
    return [other_ns for distance_ns, other_ns in distances if distance_ns <= slop_ns]


def _stamp_of(msg: Any, allow_headerless: bool) -> Time | None:
    stamp = getattr(getattr(msg, "header", None), "stamp", None)
    if stamp is not None:
        return stamp if hasattr(stamp, "nanoseconds") else Time.from_msg(stamp)
    if allow_headerless:
        return ROSClock().now()
    text = "a message without a header was dropped, since allow_headerless is not set"
    get_logger("message_filters").warning(text)
    return None
