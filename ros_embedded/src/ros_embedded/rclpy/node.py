"""Nodes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, cast

from ros_embedded.interfaces import get_message
from ros_embedded.rclpy.callback_groups import CallbackGroup, MutuallyExclusiveCallbackGroup
from ros_embedded.rclpy.client import Client
from ros_embedded.rclpy.clock import Clock, ROSClock
from ros_embedded.rclpy.context import Context
from ros_embedded.rclpy.duration import S_TO_NS
from ros_embedded.rclpy.event_handler import PublisherEventCallbacks, SubscriptionEventCallbacks
from ros_embedded.rclpy.exceptions import InvalidHandle, NameValidationException, NotInitializedException, RCLError
from ros_embedded.rclpy.executors import Executor
from ros_embedded.rclpy.guard_condition import GuardCondition
from ros_embedded.rclpy.impl import logging_output
from ros_embedded.rclpy.impl.arguments import parse_arguments
from ros_embedded.rclpy.impl.entity import OwnHandle
from ros_embedded.rclpy.impl.node_core import NodeCore
from ros_embedded.rclpy.impl.rcutils_logger import RcutilsLogger
from ros_embedded.rclpy.logging import get_logger
from ros_embedded.rclpy.logging_service import LoggingService
from ros_embedded.rclpy.node_graph import GraphMixin
from ros_embedded.rclpy.node_parameters import ParametersMixin
from ros_embedded.rclpy.parameter import Parameter
from ros_embedded.rclpy.parameter_service import ParameterService
from ros_embedded.rclpy.publisher import Publisher
from ros_embedded.rclpy.qos import (
    QoSProfile,
    qos_profile_parameter_events,
    qos_profile_rosout_default,
    qos_profile_services_default,
)
from ros_embedded.rclpy.qos_overriding_options import QoSOverridingOptions
from ros_embedded.rclpy.service import Service
from ros_embedded.rclpy.subscription import Subscription
from ros_embedded.rclpy.time_source import TimeSource
from ros_embedded.rclpy.timer import Timer
from ros_embedded.rclpy.utilities import get_default_context

HIDDEN_NODE_PREFIX = "_"


class Node(ParametersMixin, GraphMixin, OwnHandle):
    """A node: a name in the graph with publishers, subscriptions, services, clients, timers and parameters."""

    def __init__(
        self,
        node_name: str,
        *,
        context: Context | None = None,
        cli_args: list[str] | None = None,
        namespace: str | None = None,
        use_global_arguments: bool = True,
        enable_rosout: bool = True,
        start_parameter_services: bool = True,
        parameter_overrides: list[Parameter] | None = None,
        allow_undeclared_parameters: bool = False,
        automatically_declare_parameters_from_overrides: bool = False,
        enable_logger_service: bool = False,
    ) -> None:
        self._context = get_default_context() if context is None else context
        if not self._context.ok():
            raise NotInitializedException("cannot create node")
        arguments = parse_arguments(["--ros-args", *(cli_args or [])])
        if use_global_arguments:
            arguments = self._context.arguments.followed_by(arguments)
        self._rclpy_core = NodeCore(node_name, namespace or "", arguments)
        self._default_callback_group = MutuallyExclusiveCallbackGroup()
        self._logger = get_logger(self._rclpy_core.logger_name)
        self._clock = ROSClock()
        values = arguments.parameters_of(self.get_name(), self.get_namespace())
        overrides = {name: Parameter(name, value=value) for name, value in values.items()}
        overrides |= {parameter.name: parameter for parameter in parameter_overrides or ()}
        ParametersMixin.__init__(self, overrides, allow_undeclared_parameters)
        graph = self._context.participant.graph
        with graph.announcement():
            graph.add_node(self._rclpy_core.entities)
            if enable_rosout and arguments.rosout:
                self.__publish_logs()
            self._parameter_event_publisher = self.create_publisher(
                get_message("rcl_interfaces/msg/ParameterEvent"), "/parameter_events", qos_profile_parameter_events
            )
            if automatically_declare_parameters_from_overrides:
                descriptor = get_message("rcl_interfaces/msg/ParameterDescriptor")
                given = [(name, parameter.value, descriptor()) for name, parameter in overrides.items()]
                self.declare_parameters("", given, ignore_override=True)
            self._time_source = TimeSource(node=self)
            self._time_source.attach_clock(self._clock)
            if start_parameter_services:
                self._parameter_service = ParameterService(self)
            if enable_logger_service:
                self._logger_service = LoggingService(self)

    def __publish_logs(self) -> None:
        log = get_message("rcl_interfaces/msg/Log")
        publisher = self.create_publisher(log, "/rosout", qos_profile_rosout_default)
        self._rclpy_core.hidden.add(publisher)

        def publish(record: logging_output.LogRecord) -> None:
            message = log(level=int(record.severity), name=record.name, msg=record.message, file=record.file)
            message.function, message.line = record.function, record.line
            message.stamp.sec, message.stamp.nanosec = divmod(record.stamp_ns, S_TO_NS)
            if self._context.ok():
                publisher.publish(message)

        logging_output.rosout_writers[self._rclpy_core.logger_name] = publish

    @property
    def publishers(self) -> Iterator[Publisher]:
        return iter(self._rclpy_core.of_type(Publisher))

    @property
    def subscriptions(self) -> Iterator[Subscription]:
        return iter(self._rclpy_core.of_type(Subscription))

    @property
    def clients(self) -> Iterator[Client]:
        return iter(self._rclpy_core.of_type(Client))

    @property
    def services(self) -> Iterator[Service]:
        return iter(self._rclpy_core.of_type(Service))

    @property
    def timers(self) -> Iterator[Timer]:
        return iter(self._rclpy_core.of_type(Timer))

    @property
    def guards(self) -> Iterator[GuardCondition]:
        return iter(self._rclpy_core.of_type(GuardCondition))

    @property
    def executor(self) -> Executor | None:
        return cast("Executor | None", self._rclpy_core.executor)

    @executor.setter
    def executor(self, new_executor: Executor | None) -> None:
        current = self.executor
        if current is new_executor:
            return
        if current is not None:
            current.remove_node(self)
        self._rclpy_core.executor = new_executor
        if new_executor is not None:
            new_executor.add_node(self)

    @property
    def context(self) -> Context:
        return self._context

    @property
    def default_callback_group(self) -> CallbackGroup:
        """The group of callbacks that are created without one; mutually exclusive."""
        return self._default_callback_group

    @property
    def handle(self) -> Node:
        """Itself. Raises InvalidHandle once destroyed."""
        if self._rclpy_core.is_destroyed:
            raise InvalidHandle("cannot use Destroyable because destruction was requested")
        return self

    def get_name(self) -> str:
        return self._rclpy_core.name

    def get_namespace(self) -> str:
        return self._rclpy_core.namespace

    def get_fully_qualified_name(self) -> str:
        return f"{self.get_namespace().rstrip('/')}/{self.get_name()}"

    def get_clock(self) -> Clock:
        """The clock in ROS time."""
        return self._clock

    def get_logger(self) -> RcutilsLogger:
        return self._logger

    def resolve_topic_name(self, topic: str, *, only_expand: bool = False) -> str:
        """The full, remapped name of a topic. Raises RCLError."""
        return self.__resolved(topic, "topic", only_expand)

    def resolve_service_name(self, service: str, *, only_expand: bool = False) -> str:
        """The full, remapped name of a service. Raises RCLError."""
        return self.__resolved(service, "service", only_expand)

    def __resolved(self, name: str, kind: str, only_expand: bool) -> str:
        try:
            return self._rclpy_core.resolve(name, kind, only_expand)
        except (NameValidationException, ValueError) as error:
            reason = getattr(error, "reason", str(error).rpartition(" is invalid: ")[2])
            raise RCLError(f"failed to resolve name: {reason}") from error

    def create_publisher(
        self,
        msg_type: Any,
        topic: str,
        qos_profile: QoSProfile | int,
        *,
        callback_group: CallbackGroup | None = None,
        event_callbacks: PublisherEventCallbacks | None = None,
        qos_overriding_options: QoSOverridingOptions | None = None,
        publisher_class: type[Publisher] = Publisher,
    ) -> Publisher:
        """Create a publisher; an integer QoS is the depth of a KEEP_LAST history. Raises InvalidTopicNameException."""
        callbacks = event_callbacks or PublisherEventCallbacks()
        return publisher_class(self, msg_type, topic, qos_profile, callback_group, callbacks, qos_overriding_options)

    def create_subscription(
        self,
        msg_type: Any,
        topic: str,
        callback: Callable[..., Any],
        qos_profile: QoSProfile | int,
        *,
        callback_group: CallbackGroup | None = None,
        event_callbacks: SubscriptionEventCallbacks | None = None,
        qos_overriding_options: QoSOverridingOptions | None = None,
        raw: bool = False,
    ) -> Subscription:
        """Create a subscription; a callback with two parameters gets the message's info too, `raw` gives bytes.

        Raises InvalidTopicNameException.
        """
        endpoint = (self, msg_type, topic, qos_profile, callback_group)
        events = event_callbacks or SubscriptionEventCallbacks()
        return Subscription(callback, raw, *endpoint, events, qos_overriding_options)

    def create_client(
        self,
        srv_type: Any,
        srv_name: str,
        *,
        qos_profile: QoSProfile = qos_profile_services_default,
        callback_group: CallbackGroup | None = None,
    ) -> Client:
        """Create a client of a service. Raises InvalidServiceNameException."""
        return Client(self, srv_type, srv_name, qos_profile, callback_group)

    def create_service(
        self,
        srv_type: Any,
        srv_name: str,
        callback: Callable[[Any, Any], Any],
        *,
        qos_profile: QoSProfile = qos_profile_services_default,
        callback_group: CallbackGroup | None = None,
    ) -> Service:
        """Create a service; the callback fills in and returns the response. Raises InvalidServiceNameException."""
        return Service(callback, self, srv_type, srv_name, qos_profile, callback_group)

    def create_timer(
        self,
        timer_period_sec: float,
        callback: Callable[[], Any] | None,
        callback_group: CallbackGroup | None = None,
        clock: Clock | None = None,
        autostart: bool = True,
    ) -> Timer:
        """Call back every `timer_period_sec` seconds of `clock`, by default the node's."""
        group = callback_group or self._default_callback_group
        period_ns = int(float(timer_period_sec) * S_TO_NS)
        timer = Timer(callback, group, period_ns, clock or self._clock, context=self._context, autostart=autostart)
        timer._wake = self._rclpy_core.wake_executor
        self._rclpy_core.add(timer)
        return timer

    def create_guard_condition(
        self, callback: Callable[[], Any], callback_group: CallbackGroup | None = None
    ) -> GuardCondition:
        """A callback that any thread can trigger."""
        guard = GuardCondition(callback, callback_group or self._default_callback_group, context=self._context)
        self._rclpy_core.add(guard)
        return guard

    # each returns False if the entity is not the node's
    def destroy_publisher(self, publisher: Publisher) -> bool:
        return self._rclpy_core.destroy(publisher)

    def destroy_subscription(self, subscription: Subscription) -> bool:
        return self._rclpy_core.destroy(subscription)

    def destroy_client(self, client: Client) -> bool:
        return self._rclpy_core.destroy(client)

    def destroy_service(self, service: Service) -> bool:
        return self._rclpy_core.destroy(service)

    def destroy_timer(self, timer: Timer) -> bool:
        return self._rclpy_core.destroy(timer)

    def destroy_guard_condition(self, guard: GuardCondition) -> bool:
        return self._rclpy_core.destroy(guard)

    def destroy_node(self) -> None:
        """Take the node and all that it owns off the graph; calling again has no effect."""
        core = self._rclpy_core
        if core.is_destroyed:
            return
        if core.executor is not None:
            core.executor.remove_node(self)
        logging_output.rosout_writers.pop(core.logger_name, None)
        graph = self._context.participant.graph
        with graph.announcement():
            for entity in list(core.executables):
                core.destroy(entity)
            graph.remove_node(core.entities)
        core.is_destroyed = True
