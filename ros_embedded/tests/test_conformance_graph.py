"""The graph and lifecycle nodes look alike in ros_embedded and rclpy."""

from collections.abc import Callable
from typing import Any

import pytest
import rclpy
from lifecycle_msgs.msg import State, Transition, TransitionEvent
from lifecycle_msgs.srv import ChangeState, GetAvailableTransitions, GetState
from rcl_interfaces.msg import LoggerLevel
from rcl_interfaces.srv import GetLoggerLevels, SetLoggerLevels
from rclpy.exceptions import (
    InvalidHandle,
    InvalidNamespaceException,
    InvalidNodeNameException,
    NotInitializedException,
)
from rclpy.lifecycle import LifecycleNode, LifecycleState, ManagedEntity, TransitionCallbackReturn
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, HistoryPolicy, ReliabilityPolicy, qos_profile_sensor_data
from std_msgs.msg import String
from std_srvs.srv import SetBool

STRING_HASH = "RIHS01_df668c740482bbd48fb39d76a70dfd4bd59db1288021743503259e948f6b1a18"


def test_nodes_topics_and_services_are_listed(make_node: Callable, spin_until: Callable) -> None:
    node, other = make_node("node", namespace="/ns"), make_node("other")
    node.create_publisher(String, "chatter", 10)
    node.create_service(SetBool, "~/set", lambda request, response: response)
    other.create_subscription(String, "/ns/chatter", lambda _: None, 10)
    other.create_client(SetBool, "/ns/node/set")
    other.create_client(SetBool, "/wanted")
    assert spin_until(lambda: other.count_subscribers("/ns/chatter") == 1 and other.count_clients("/ns/node/set") == 1)
    assert {("node", "/ns"), ("other", "/")} <= set(other.get_node_names_and_namespaces())
    assert ("/ns/chatter", ["std_msgs/msg/String"]) in other.get_topic_names_and_types()
    services = other.get_service_names_and_types()
    assert {name for name, types in services if types == ["std_srvs/srv/SetBool"]} == {"/ns/node/set", "/wanted"}
    entry = ("/ns/chatter", ["std_msgs/msg/String"])
    assert entry in other.get_publisher_names_and_types_by_node("node", "/ns")
    assert entry in other.get_subscriber_names_and_types_by_node("other", "/")
    assert ("/ns/node/set", ["std_srvs/srv/SetBool"]) in other.get_service_names_and_types_by_node("node", "/ns")
    assert other.get_client_names_and_types_by_node("other", "/")[0] == ("/ns/node/set", ["std_srvs/srv/SetBool"])
    assert other.count_publishers("/ns/chatter") == 1
    assert other.count_services("/ns/node/set") == 1
    assert other.wait_for_node("/ns/node", 1.0)
    assert not other.wait_for_node("/ns/absent", 0.05)


def test_endpoint_info_tells_type_hash_and_quality(make_node: Callable, spin_until: Callable) -> None:
    node = make_node("node", namespace="/ns")
    node.create_publisher(String, "s", qos_profile_sensor_data)
    assert spin_until(lambda: node.get_publishers_info_by_topic("s"))
    (info,) = node.get_publishers_info_by_topic("s")
    assert (info.node_name, info.node_namespace, info.topic_type) == ("node", "/ns", "std_msgs/msg/String")
    assert str(info.topic_type_hash) == STRING_HASH
    assert info.qos_profile.reliability == ReliabilityPolicy.BEST_EFFORT
    assert info.qos_profile.durability == DurabilityPolicy.VOLATILE
    assert (info.qos_profile.history, info.qos_profile.depth) == (HistoryPolicy.KEEP_LAST, 5)
    assert len(info.endpoint_gid) == 16
    (info,) = node.get_publishers_info_by_topic("rt/ns/s", no_mangle=True)
    assert info.topic_type == "std_msgs::msg::dds_::String_"


def test_destroyed_endpoints_and_nodes_leave_the_graph(make_node: Callable, spin_until: Callable) -> None:
    node, watcher = make_node("leaving"), make_node("watcher")
    publisher = node.create_publisher(String, "s", 10)
    assert spin_until(lambda: watcher.count_publishers("s") == 1)
    node.destroy_publisher(publisher)
    assert spin_until(lambda: watcher.count_publishers("s") == 0)
    node.destroy_node()
    assert spin_until(lambda: "leaving" not in watcher.get_node_names())
    with pytest.raises(InvalidHandle):
        node.create_publisher(String, "s", 10)


def test_invalid_names_and_contexts_are_refused(context: rclpy.context.Context) -> None:
    for name in ("", "a b", "1a", "a/b"):
        with pytest.raises(InvalidNodeNameException):
            Node(name, context=context)
    with pytest.raises(InvalidNamespaceException):
        Node("a", namespace="b b", context=context)
    with pytest.raises(NotInitializedException):
        Node("a", context=rclpy.context.Context())


class NodeWithNamesOfItsOwn(Node):
    """Has attributes and methods that rclpy does not use, and an implementation might."""

    def __init__(self, name: str, **options: Any) -> None:
        self._name = self._namespace = self._entities = self._participant = self._arguments = self._core = None
        self._executor = self._graph = self._writer = self._reader = self._lock = self._wait_set = self._tasks = 5
        super().__init__(name, **options)
        self._name = self._entities = self._participant = self._executable = self._ready = self._rosout = "mine"

    def _mine(self, *_: Any) -> Any:
        raise AssertionError("rclpy does not call this")

    _add = _store = _count = _info = _infos = _qos = _resolve = _destroy = _publish = _take = _close = _mine
    _refresh = _wake = _check = _trigger = _overrides = _of_node = _publish_log = _create_service = _mine


def test_subclass_may_use_any_private_name(make_node: Callable, spin_until: Callable, link: Callable) -> None:
    node, received = make_node("owner", NodeWithNamesOfItsOwn), []
    node.declare_parameter("x", 1)
    node.create_service(SetBool, "set", lambda request, response: response)
    publisher = link(node, String, "s", received.append)
    publisher.publish(String())
    node.get_logger().info("fine")
    assert spin_until(lambda: received)
    assert node.count_publishers("s") == len(node.get_publishers_info_by_topic("s")) == 1
    assert node.list_parameters(["x"], 1).names == ["x"]


class ManagedNode(LifecycleNode):
    """Fails to configure the first time, then does; notes what happens."""

    def __init__(self, name: str, **options: Any) -> None:
        self.calls: list[tuple[str, str]] = []
        super().__init__(name, **options)

    def on_configure(self, state: LifecycleState) -> TransitionCallbackReturn:
        self.calls.append(("configure", state.label))
        if len(self.calls) == 1:
            return TransitionCallbackReturn.FAILURE
        return super().on_configure(state)

    def on_activate(self, state: LifecycleState) -> TransitionCallbackReturn:
        self.calls.append(("activate", state.label))
        return super().on_activate(state)


def test_lifecycle_follows_requests_and_publishes_transitions(
    make_node: Callable, spin_until: Callable, call: Callable
) -> None:
    node, caller, events, received = make_node("managed", ManagedNode), make_node("caller"), [], []
    publisher = node.create_lifecycle_publisher(String, "s", 10)
    caller.create_subscription(TransitionEvent, "/managed/transition_event", events.append, 10)
    caller.create_subscription(String, "s", lambda message: received.append(message.data), 10)
    change = caller.create_client(ChangeState, "/managed/change_state")
    get = caller.create_client(GetState, "/managed/get_state")
    available = caller.create_client(GetAvailableTransitions, "/managed/get_available_transitions")
    assert spin_until(lambda: publisher.get_subscription_count() == 1)

    def request(number: int) -> Any:
        return ChangeState.Request(transition=Transition(id=number))

    assert not call(change, request(Transition.TRANSITION_CONFIGURE)).success
    assert call(get, GetState.Request()).current_state.label == "unconfigured"
    assert call(change, request(Transition.TRANSITION_CONFIGURE)).success
    publisher.publish(String(data="too early"))
    labels = {item.transition.label for item in call(available, available.srv_type.Request()).available_transitions}
    assert labels == {"cleanup", "activate", "shutdown"}
    assert call(change, ChangeState.Request(transition=Transition(label="activate"))).success
    assert publisher.is_activated
    publisher.publish(String(data="active"))
    assert call(get, GetState.Request()).current_state.id == State.PRIMARY_STATE_ACTIVE
    assert spin_until(lambda: received and len(events) == 6)
    assert received == ["active"]
    path = [(event.start_state.label, event.goal_state.label) for event in events]
    assert path[:2] == [("unconfigured", "configuring"), ("configuring", "unconfigured")]
    assert path[-2:] == [("inactive", "activating"), ("activating", "active")]
    assert node.calls == [("configure", "unconfigured"), ("configure", "unconfigured"), ("activate", "inactive")]


def test_lifecycle_refuses_what_its_state_does_not_allow(
    make_node: Callable, capfd: pytest.CaptureFixture[str]
) -> None:
    node = make_node("managed", LifecycleNode)
    with pytest.raises(RuntimeError):
        node.trigger_activate()
    assert "[rcl_lifecycle]: No transition matching" in capfd.readouterr().err
    assert str(TransitionCallbackReturn.SUCCESS) == "TransitionCallbackReturnType.SUCCESS"
    assert node.trigger_configure() == TransitionCallbackReturn.SUCCESS
    assert node.trigger_shutdown() == TransitionCallbackReturn.SUCCESS
    with pytest.raises(RuntimeError):
        node.trigger_shutdown()


class FailingNode(LifecycleNode):
    """Fails to activate by an exception, and says what comes of errors."""

    after_error = TransitionCallbackReturn.SUCCESS

    def on_activate(self, state: LifecycleState) -> TransitionCallbackReturn:
        raise ValueError("meant")

    def on_error(self, state: LifecycleState) -> TransitionCallbackReturn:
        return self.after_error


@pytest.mark.parametrize(
    ("after_error", "label"),
    [(TransitionCallbackReturn.SUCCESS, "unconfigured"), (TransitionCallbackReturn.FAILURE, "finalized")],
)
def test_error_in_a_transition_is_handled_or_ends_the_node(
    make_node: Callable, call: Callable, after_error: TransitionCallbackReturn, label: str
) -> None:
    node = make_node("failing", FailingNode)
    node.after_error = after_error
    assert node.trigger_configure() == TransitionCallbackReturn.SUCCESS
    assert node.trigger_activate() == TransitionCallbackReturn.ERROR
    get = make_node("caller").create_client(GetState, "/failing/get_state")
    assert call(get, GetState.Request()).current_state.label == label


def test_managed_entities_share_the_transitions(make_node: Callable) -> None:
    node, calls = make_node("managed", LifecycleNode), []

    class Entity(ManagedEntity):
        def on_configure(self, state: LifecycleState) -> TransitionCallbackReturn:
            calls.append(state.label)
            return TransitionCallbackReturn.SUCCESS

    node.add_managed_entity(Entity())
    with pytest.raises(TypeError):
        node.add_managed_entity("entity")
    publisher = node.create_lifecycle_publisher(String, "s", 10)
    assert node.trigger_configure() == TransitionCallbackReturn.SUCCESS
    assert node.trigger_activate() == TransitionCallbackReturn.SUCCESS
    assert (calls, publisher.is_activated) == (["unconfigured"], True)
    assert node.trigger_deactivate() == TransitionCallbackReturn.SUCCESS
    assert node.trigger_cleanup() == TransitionCallbackReturn.SUCCESS
    assert not publisher.is_activated
    assert node.destroy_lifecycle_publisher(publisher)
    assert not node.destroy_lifecycle_publisher(publisher)


def test_what_a_node_owns_is_listed_until_it_is_destroyed(make_node: Callable) -> None:
    node = make_node()
    publisher = node.create_publisher(String, "s", 10)
    subscription = node.create_subscription(String, "s", print, 10)
    client, service = node.create_client(SetBool, "set"), node.create_service(SetBool, "set", print)
    timer, guard = node.create_timer(1.0, print), node.create_guard_condition(print)
    owned = ("publishers", "subscriptions", "clients", "services", "timers", "guards")
    for kind, entity in zip(owned, (publisher, subscription, client, service, timer, guard), strict=True):
        assert entity in list(getattr(node, kind))
    assert node.destroy_publisher(publisher)
    assert node.destroy_subscription(subscription)
    assert node.destroy_client(client)
    assert node.destroy_service(service)
    assert node.destroy_timer(timer)
    assert node.destroy_guard_condition(guard)
    assert not node.destroy_publisher(publisher)
    assert publisher not in list(node.publishers)


def test_levels_of_loggers_are_set_by_service(make_node: Callable, call: Callable) -> None:
    make_node("server", enable_logger_service=True)
    caller = make_node("caller")
    setter = caller.create_client(SetLoggerLevels, "/server/set_logger_levels")
    getter = caller.create_client(GetLoggerLevels, "/server/get_logger_levels")
    levels = [LoggerLevel(name="of_a_test", level=LoggerLevel.LOG_LEVEL_ERROR), LoggerLevel(name="of_a_test", level=22)]
    answer = call(setter, SetLoggerLevels.Request(levels=levels))
    assert [result.successful for result in answer.results] == [True, False]
    assert answer.results[1].reason
    answer = call(getter, GetLoggerLevels.Request(names=["of_a_test", "unheard_of"]))
    assert [level.level for level in answer.levels] == [LoggerLevel.LOG_LEVEL_ERROR, LoggerLevel.LOG_LEVEL_UNKNOWN]
