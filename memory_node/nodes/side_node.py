"""A node beside another one, with an executor and a thread of its own, as tf2_ros has for TF."""

from __future__ import annotations

import contextlib
from collections.abc import Callable

from rclpy.exceptions import InvalidHandle
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.qos import QoSProfile, ReliabilityPolicy
from rclpy.qos_overriding_options import QoSOverridingOptions
from rclpy.subscription import Subscription

from memory_node.domain.worker_thread import WorkerThread
from memory_node.nodes.adaptive_subscription import AdaptiveSubscription
from memory_node.nodes.qos import OVERRIDABLE, OVERRIDABLE_BUT_RELIABILITY, own

_STOP_S = 5.0
_ADAPTS_EVERY_S = 1.0


class SideNode:
    """Takes frequent messages without the executor of the node that it belongs to, whose services stay quick.

    An executor looks at everything it has whenever a message comes: the fewer things it has, the less each message
    costs. The side node has no parameters or services. What is set for the node it belongs to holds: its namespace, how
    its topics are remapped, and `qos_overrides`.

    Args:
        node: the node that it belongs to.
        suffix: its own name is NODE_SUFFIX.
    """

    def __init__(self, node: Node, suffix: str) -> None:
        self._owner = node
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
        self._thread = WorkerThread(suffix, self._spin)

    def subscribe(
        self,
        kind: type,
        topic: str,
        callback: Callable[[bytes], object],
        profile: QoSProfile,
        overridable: QoSOverridingOptions = OVERRIDABLE,
    ) -> Subscription:
        """Subscribe to messages as bytes; the callbacks of all topics run one after the other."""
        name = self._owner.resolve_topic_name(topic)
        return self._node.create_subscription(
            kind, name, callback, own(profile), qos_overriding_options=overridable, raw=True
        )

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
        self._executor.shutdown(timeout_sec=_STOP_S)
        self._thread.join(_STOP_S)
        self._node.destroy_node()

    def _spin(self) -> None:
        with contextlib.suppress(ExternalShutdownException, InvalidHandle):
            self._executor.spin()
