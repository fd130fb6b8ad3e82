"""A node beside another one, with an executor and a thread of its own, as tf2_ros has for TF."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.qos import QoSProfile, ReliabilityPolicy
from rclpy.qos_overriding_options import QoSOverridingOptions
from rclpy.subscription import Subscription

from memory_node.domain.process import WorkerThread
from memory_node.nodes.qos import OVERRIDABLE, OVERRIDABLE_BUT_RELIABILITY, own
from memory_node.nodes.spinning import spin

_STOP_S = 5.0
# While messages come they are taken so often, and meet the executor's turns (timers, events) so often (s).
_GATHERED_S = 0.01
_TURN_S = 0.5
_SILENT_S = 0.1
_ADAPTS_EVERY_S = 1.0
# How far one of two subscriptions may be behind the other while it takes over (messages).
_OVERLAPPING = 100
# Where so many looks saw no message at all, the publishers are silent: there is none to lose.
_QUIET_LOOKS = 3
# In the bytes of a message with a header: its stamp.
_STAMP = slice(4, 12)


@dataclass(eq=False)
class AdaptiveSubscription:
    """Reliable while every publisher of the topic is, else best effort.

    Images are larger than what a kernel's receive buffer takes: best effort loses many of them where that is small,
    and reliable has them sent again. But a reliable subscription hears nothing of a best-effort publisher. (rclpy's
    BEST_AVAILABLE looks only once, and when the camera starts later it is wrong.)

    Args:
        make: makes a subscription of this reliability with this callback, which gets bytes.
        destroy: destroys one.
        publishers: tells of the publishers of a topic, as rclpy's get_publishers_info_by_topic.
        callback: gets each message once, also where one subscription takes over from another; some may be late then.
    """

    make: Callable[[ReliabilityPolicy, Callable[[bytes], None]], Any]
    destroy: Callable[[Any], object]
    publishers: Callable[[str], list[Any]]
    callback: Callable[[bytes], object]

    def __post_init__(self) -> None:
        self._other: Any = None  # which goes once both have brought the same message
        # What was brought since the last change.
        self._stamps: deque[bytes] = deque(maxlen=_OVERLAPPING)
        self._is_taking_over = self._both_hear = False
        self._quiet_looks = 0
        self._now = self.make(ReliabilityPolicy.BEST_EFFORT, self._take)
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
        self._quiet_looks += 1
        if self._other is None:
            self._is_taking_over = False
        elif self._both_hear or self._quiet_looks >= _QUIET_LOOKS:
            # Before, the new one may not have found the publisher: a busy machine takes long for it.
            self.destroy(self._other)
            self._other = None
        offered = {one.qos_profile.reliability for one in self.publishers(self.topic_name)}
        reliable, best_effort = ReliabilityPolicy.RELIABLE, ReliabilityPolicy.BEST_EFFORT
        wanted = reliable if offered == {reliable} else best_effort
        if offered and wanted != self._now.qos_profile.reliability:
            if self._other is None:
                self._stamps.clear()
                self._is_taking_over, self._both_hear, self._quiet_looks = True, False, 0
                self._other = self.make(wanted, self._take)
            self._now, self._other = self._other, self._now

    def _take(self, data: bytes) -> None:
        self._quiet_looks = 0
        if self._is_taking_over:
            stamp = data[_STAMP]
            if stamp in self._stamps:
                self._both_hear = True
                return
            self._stamps.append(stamp)
        self.callback(data)


class SideNode:
    """Takes frequent messages without the executor of the node that it belongs to, whose services stay quick.

    An executor looks at everything it has whenever a message comes, which costs ten times what taking a message does.
    So it wakes this node when messages begin to come; from then on they are looked for. The side node has no parameters
    or services. What is set for the node it belongs to holds: its namespace, how its topics are remapped, and
    `qos_overrides`.

    Args:
        node: the node that it belongs to.
        suffix: its own name is NODE_SUFFIX.
    """

    def __init__(self, node: Node, suffix: str) -> None:
        self._owner = node
        self._is_wanted, self._is_taking = True, False
        self._paused_until_s = 0.0
        given = node.get_parameters_by_prefix("qos_overrides")
        parameters = [Parameter(f"qos_overrides.{name}", value=each.value) for name, each in given.items()]
        parameters.append(Parameter("start_type_description_service", value=False))
        self._node = Node(
            f"{node.get_name()}_{suffix}",
            context=node.context,
            namespace=node.get_namespace(),
            use_global_arguments=False,
            enable_rosout=False,
            start_parameter_services=False,
            parameter_overrides=parameters,
        )
        self._executor = SingleThreadedExecutor(context=node.context)
        self._executor.add_node(self._node)
        self._thread = WorkerThread(suffix, partial(spin, self._executor))

    def subscribe(
        self,
        kind: type,
        topic: str,
        callback: Callable[[bytes], object],
        profile: QoSProfile,
        overridable: QoSOverridingOptions = OVERRIDABLE,
    ) -> Subscription:
        """Subscribe to messages as bytes; the callbacks of all topics run one after the other."""

        def take(data: bytes) -> None:
            callback(data)
            self._take_what_comes()

        name = self._owner.resolve_topic_name(topic)
        return self._node.create_subscription(
            kind, name, take, own(profile), qos_overriding_options=overridable, raw=True
        )

    def pause(self, seconds: float) -> None:
        """Let messages wait for their callbacks for so long, for nothing that comes meanwhile is urgent: taking several
        at once costs less."""
        self._paused_until_s = time.monotonic() + seconds

    def _take_what_comes(self) -> None:
        """Take the messages of all topics until none comes, or the executor's other work has waited for long enough."""
        if self._is_taking:
            return
        self._is_taking = True
        ends_s, silent_s = time.monotonic() + _TURN_S, time.monotonic() + _SILENT_S
        try:
            while self._is_wanted and time.monotonic() < min(silent_s, ends_s):
                time.sleep(max(_GATHERED_S, self._paused_until_s - time.monotonic()))
                # One of each topic in turn: messages may come faster than their callback takes them.
                while self._is_wanted and time.monotonic() < ends_s and self._take_one_of_each():
                    silent_s = time.monotonic() + _SILENT_S
        finally:
            self._is_taking = False

    def _take_one_of_each(self) -> bool:
        has_taken = False
        for subscription in self._node.subscriptions:
            with subscription.handle:
                taken = subscription.handle.take_message(subscription.msg_type, True)
            if taken is not None:
                subscription.callback(taken[0])
                has_taken = True
        return has_taken

    def subscribe_adaptively(
        self, kind: type, topic: str, callback: Callable[[bytes], object], profile: QoSProfile
    ) -> AdaptiveSubscription | Subscription:
        """Do as `subscribe`, as reliably as the publishers allow, unless `qos_overrides` says how reliably."""
        name = self._owner.resolve_topic_name(topic)
        if self._owner.has_parameter(f"qos_overrides.{name}.subscription.reliability"):
            return self.subscribe(kind, topic, callback, profile)

        def make(reliability: ReliabilityPolicy, take: Callable[[bytes], None]) -> Subscription:
            wanted = own(profile)
            wanted.reliability = reliability
            return self.subscribe(kind, topic, take, wanted, OVERRIDABLE_BUT_RELIABILITY)

        publishers = self._owner.get_publishers_info_by_topic
        subscription = AdaptiveSubscription(make, self._node.destroy_subscription, publishers, callback)
        self._node.create_timer(_ADAPTS_EVERY_S, subscription.adapt)
        return subscription

    def start(self) -> None:
        """Begin to take messages."""
        self._thread.start()

    def stop(self) -> None:
        """Finish the callback that runs, and go."""
        self._is_wanted = False
        self._executor.shutdown(timeout_sec=_STOP_S)
        self._thread.join(_STOP_S)
        self._node.destroy_node()
