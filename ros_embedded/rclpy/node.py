"""Nodes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Any

from ros_embedded.interfaces import get_message
from ros_embedded.interfaces.cdr import serialize
from ros_embedded.rclpy.callback_groups import CallbackGroup, MutuallyExclusiveCallbackGroup, ReentrantCallbackGroup
from ros_embedded.rclpy.client import Client
from ros_embedded.rclpy.clock import Clock, ROSClock
from ros_embedded.rclpy.constants import S_TO_NS
from ros_embedded.rclpy.context import Context
from ros_embedded.rclpy.event_handler import PublisherEventCallbacks, SubscriptionEventCallbacks
from ros_embedded.rclpy.exceptions import (
    InvalidHandle,
    NotInitializedException,
)
from ros_embedded.rclpy.executors import Executor
from ros_embedded.rclpy.guard_condition import GuardCondition
from ros_embedded.rclpy.impl import logging_output
from ros_embedded.rclpy.impl.arguments import RosArguments, parse_arguments
from ros_embedded.rclpy.impl.best_available import resolved
from ros_embedded.rclpy.impl.node_core import NodeCore
from ros_embedded.rclpy.impl.rcutils_logger import RcutilsLogger
from ros_embedded.rclpy.logging import get_logger
from ros_embedded.rclpy.logging_service import LoggingService
from ros_embedded.rclpy.names import (
    validate_namespace,
    validate_node_name,
)
from ros_embedded.rclpy.node_graph import GraphMixin
from ros_embedded.rclpy.node_parameters import ParametersMixin
from ros_embedded.rclpy.parameter import Parameter, value_from_yaml
from ros_embedded.rclpy.parameter_service import ParameterService
from ros_embedded.rclpy.publisher import Publisher
from ros_embedded.rclpy.qos import (
    QoSProfile,
    qos_profile_parameter_events,
    qos_profile_rosout_default,
    qos_profile_services_default,
)
from ros_embedded.rclpy.qos_overriding_options import QoSOverridingOptions, declare_qos_parameters
from ros_embedded.rclpy.service import Service, make_service
from ros_embedded.rclpy.subscription import Subscription
from ros_embedded.rclpy.time_source import TimeSource
from ros_embedded.rclpy.timer import Rate, Timer
from ros_embedded.rclpy.type_description_service import TypeDescriptionService
from ros_embedded.rclpy.type_support import check_is_valid_msg_type, check_is_valid_srv_type
from ros_embedded.rclpy.utilities import get_default_context

HIDDEN_NODE_PREFIX = "_"


def _resolved_name(name: str, namespace: str, arguments: RosArguments) -> tuple[str, str]:
    namespace = namespace if namespace.startswith("/") else f"/{namespace}"
    validate_node_name(name)
    validate_namespace(namespace)
    namespace = arguments.node_namespace(name, namespace)
    namespace = namespace if namespace.startswith("/") else f"/{namespace}"
    name = arguments.node_name(name)
    validate_node_name(name)
    validate_namespace(namespace)
    return name, namespace


def _qos_profile(qos_or_depth: QoSProfile | int) -> QoSProfile:
    if isinstance(qos_or_depth, QoSProfile):
        return qos_or_depth
    if not isinstance(qos_or_depth, int):
        raise TypeError(f"Expected QoSProfile or int, but received {type(qos_or_depth)!r}")
    if qos_or_depth < 0:
        raise ValueError("history depth must be greater than or equal to zero")
    return QoSProfile(depth=qos_or_depth)


class Node(ParametersMixin, GraphMixin):
    """A named place in the graph that owns publishers, subscriptions, services, clients, timers and parameters."""

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
        own = parse_arguments(["--ros-args", *(cli_args or [])])
        arguments = self._context.arguments.followed_by(own) if use_global_arguments else own
        self._rclpy_core = NodeCore(*_resolved_name(node_name, namespace or "", arguments), arguments)
        self._publishers: list[Publisher] = []
        self._default_callback_group = MutuallyExclusiveCallbackGroup()
        self._rate_group = ReentrantCallbackGroup()
        self._logger = get_logger(self.get_fully_qualified_name()[1:].replace("/", "."))
        self._clock = ROSClock()
        ParametersMixin.__init__(self, self.__overrides(parameter_overrides or []), allow_undeclared_parameters)
        graph = self._context.participant.graph
        with graph.announcement():
            graph.add_node(self._rclpy_core.entities)
            self.__create_own_endpoints(
                enable_rosout,
                start_parameter_services,
                automatically_declare_parameters_from_overrides,
                enable_logger_service,
            )

    def __overrides(self, given: list[Parameter]) -> dict[str, Parameter]:
        values = self._rclpy_core.arguments.parameters_of(self.get_name(), self.get_namespace())
        overrides = {name: Parameter(name, value=value_from_yaml(value, str(value))) for name, value in values.items()}
        overrides.update({parameter.name: parameter for parameter in given})
        return overrides

    def __create_own_endpoints(
        self, rosout: bool, services: bool, declare_overrides: bool, logger_service: bool
    ) -> None:
        core = self._rclpy_core
        if rosout and core.arguments.rosout:
            log = get_message("rcl_interfaces/msg/Log")
            core.rosout_publisher = self.create_publisher(log, "/rosout", qos_profile_rosout_default)
            self._publishers.remove(core.rosout_publisher)
            logging_output.rosout_writers[self._logger.name] = self.__publish_log
        event = get_message("rcl_interfaces/msg/ParameterEvent")
        self._parameter_event_publisher = self.create_publisher(
            event, "/parameter_events", qos_profile_parameter_events
        )
        if declare_overrides:
            descriptor = get_message("rcl_interfaces/msg/ParameterDescriptor")
            values = [(name, parameter.value, descriptor()) for name, parameter in self._parameter_overrides.items()]
            self.declare_parameters("", values, ignore_override=True)
        self._time_source = TimeSource(self, self._clock)
        if services:
            self._parameter_service = ParameterService(self)
        if logger_service:
            self._logger_service = LoggingService(self)
        self._type_description_service = TypeDescriptionService(self)

    def __publish_log(self, record: logging_output.LogRecord) -> None:
        message = get_message("rcl_interfaces/msg/Log")(
            level=int(record.severity),
            name=record.name,
            msg=record.message,
            file=record.file,
            function=record.function,
            line=record.line,
        )
        message.stamp.sec, message.stamp.nanosec = divmod(record.stamp_ns, S_TO_NS)
        publisher = self._rclpy_core.rosout_publisher
        if publisher is not None and self._context.ok():
            publisher._write(serialize(message))

    @property
    def publishers(self) -> Iterator[Publisher]:
        """Its publishers."""
        return iter(list(self._publishers))

    @property
    def subscriptions(self) -> Iterator[Subscription]:
        """Its subscriptions."""
        return iter(self._rclpy_core.of_type(Subscription))

    @property
    def clients(self) -> Iterator[Client]:
        """Its clients."""
        return iter(self._rclpy_core.of_type(Client))

    @property
    def services(self) -> Iterator[Service]:
        """Its services."""
        return iter(self._rclpy_core.of_type(Service))

    @property
    def timers(self) -> Iterator[Timer]:
        """Its timers."""
        return iter(self._rclpy_core.of_type(Timer))

    @property
    def guards(self) -> Iterator[GuardCondition]:
        """Its guard conditions."""
        return iter(self._rclpy_core.of_type(GuardCondition))

    @property
    def executor(self) -> Executor | None:
        """The executor that spins it."""
        return self._rclpy_core.executor

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
        """Its context."""
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
        """The name without namespace."""
        return self._rclpy_core.name

    def get_namespace(self) -> str:
        """The namespace."""
        return self._rclpy_core.namespace

    def get_fully_qualified_name(self) -> str:
        """Namespace and name."""
        return f"{self.get_namespace().rstrip('/')}/{self.get_name()}"

    def get_clock(self) -> Clock:
        """The clock in ROS time."""
        return self._clock

    def get_logger(self) -> RcutilsLogger:
        """The logger, named like the node."""
        return self._logger

    def resolve_topic_name(self, topic: str, *, only_expand: bool = False) -> str:
        """The full, remapped name of a topic. Raises InvalidTopicNameException."""
        return self._rclpy_core.resolve(topic, "topic", only_expand)

    def resolve_service_name(self, service: str, *, only_expand: bool = False) -> str:
        """The full, remapped name of a service. Raises InvalidServiceNameException."""
        return self._rclpy_core.resolve(service, "service", only_expand)

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
        """Create a publisher; an integer QoS is the depth of a KEEP_LAST history.

        Raises:
            InvalidTopicNameException
        """
        check_is_valid_msg_type(msg_type)
        qos, full_name = _qos_profile(qos_profile), self.handle.resolve_topic_name(topic)
        if qos_overriding_options is not None:
            qos = declare_qos_parameters(self, "publisher", full_name, qos, qos_overriding_options)
        prefix = "" if qos.avoid_ros_namespace_conventions else "rt"
        qos = resolved(qos, self._context.participant.graph, prefix + full_name, for_publisher=True)
        writer = self._context.participant.create_writer(
            self._rclpy_core.entities, prefix + full_name, msg_type._TYPE_NAME, qos
        )
        group = callback_group or self._default_callback_group
        callbacks = event_callbacks or PublisherEventCallbacks()
        publisher = publisher_class(self, writer, msg_type, topic, qos, callbacks, group)
        self._publishers.append(publisher)
        for handler in publisher.event_handlers:
            self._rclpy_core.add(handler)
        return publisher

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

        Raises:
            InvalidTopicNameException
        """
        check_is_valid_msg_type(msg_type)
        qos, full_name = _qos_profile(qos_profile), self.handle.resolve_topic_name(topic)
        if qos_overriding_options is not None:
            qos = declare_qos_parameters(self, "subscription", full_name, qos, qos_overriding_options)
        prefix = "" if qos.avoid_ros_namespace_conventions else "rt"
        qos = resolved(qos, self._context.participant.graph, prefix + full_name, for_publisher=False)
        reader = self._context.participant.create_reader(
            self._rclpy_core.entities, prefix + full_name, msg_type._TYPE_NAME, qos
        )
        group = callback_group or self._default_callback_group
        callbacks = event_callbacks or SubscriptionEventCallbacks()
        subscription = Subscription(self, reader, msg_type, topic, callback, group, qos, raw, callbacks)
        self._rclpy_core.add(subscription)
        for handler in subscription.event_handlers:
            self._rclpy_core.add(handler)
        return subscription

    def create_client(
        self,
        srv_type: Any,
        srv_name: str,
        *,
        qos_profile: QoSProfile = qos_profile_services_default,
        callback_group: CallbackGroup | None = None,
    ) -> Client:
        """Create a client of a service. Raises InvalidServiceNameException."""
        check_is_valid_srv_type(srv_type)
        name, mark = (
            self.handle.resolve_service_name(srv_name),
            f"clientid= {self._context.participant.new_service_id()};",
        )
        request, reply = srv_type.Request._TYPE_NAME, srv_type.Response._TYPE_NAME
        with self._context.participant.graph.announcement():
            entities, participant = self._rclpy_core.entities, self._context.participant
            reader = participant.create_reader(entities, f"rr{name}Reply", reply, qos_profile, mark)
            writer = participant.create_writer(entities, f"rq{name}Request", request, qos_profile, mark)
        group = callback_group or self._default_callback_group
        client = Client(self, reader, writer, srv_type, name, qos_profile, group)
        self._rclpy_core.add(client)
        return client

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
        group = callback_group or self._default_callback_group
        return make_service(Service, self, srv_type, srv_name, callback, qos_profile, group)

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

    def create_rate(self, frequency: float, clock: Clock | None = None) -> Rate:
        """A rate of `frequency` Hz. Raises ValueError if it is not positive."""
        if frequency <= 0:
            raise ValueError("frequency must be > 0")
        timer = self.create_timer(1.0 / frequency, None, self._rate_group, clock)
        return Rate(timer, context=self._context)

    def destroy_publisher(self, publisher: Publisher) -> bool:
        """False if it is not the node's."""
        if publisher not in self._publishers:
            return False
        self._publishers.remove(publisher)
        for handler in publisher.event_handlers:
            self._rclpy_core.destroy(handler)
        publisher.destroy()
        return True

    def destroy_subscription(self, subscription: Subscription) -> bool:
        """False if it is not the node's."""
        return self._rclpy_core.destroy(subscription)

    def destroy_client(self, client: Client) -> bool:
        """False if it is not the node's."""
        return self._rclpy_core.destroy(client)

    def destroy_service(self, service: Service) -> bool:
        """False if it is not the node's."""
        return self._rclpy_core.destroy(service)

    def destroy_timer(self, timer: Timer) -> bool:
        """False if it is not the node's."""
        return self._rclpy_core.destroy(timer)

    def destroy_guard_condition(self, guard: GuardCondition) -> bool:
        """False if it is not the node's."""
        return self._rclpy_core.destroy(guard)

    def destroy_rate(self, rate: Rate) -> bool:
        """False if it is not the node's."""
        rate.destroy()
        return self._rclpy_core.destroy(rate._timer)

    def destroy_node(self) -> None:
        """Take the node and all that it owns off the graph; calling again has no effect."""
        core = self._rclpy_core
        if core.is_destroyed:
            return
        executor = self.executor
        if executor is not None:
            executor.remove_node(self)
        logging_output.rosout_writers.pop(self._logger.name, None)
        graph = self._context.participant.graph
        with graph.announcement():
            for publisher in list(self._publishers):
                self.destroy_publisher(publisher)
            if core.rosout_publisher is not None:
                core.rosout_publisher.destroy()
            for entity in list(core.executables):
                self._rclpy_core.destroy(entity)
            graph.remove_node(core.entities)
        core.is_destroyed = True

    def __enter__(self) -> Node:
        return self

    def __exit__(
        self, exc_type: type[BaseException] | None, exc_val: BaseException | None, exc_tb: TracebackType | None
    ) -> None:
        self.destroy_node()
