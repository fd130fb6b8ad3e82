"""Publishers and subscriptions behave alike in ros_embedded and rclpy."""

from collections.abc import Callable

import pytest
from builtin_interfaces.msg import Time as TimeMsg
from rcl_interfaces.msg import SetParametersResult
from rclpy.duration import Duration
from rclpy.event_handler import PublisherEventCallbacks, SubscriptionEventCallbacks
from rclpy.exceptions import InvalidHandle, InvalidTopicNameException
from rclpy.parameter import Parameter
from rclpy.qos import (
    DurabilityPolicy,
    LivelinessPolicy,
    QoSCompatibility,
    QoSPolicyKind,
    QoSProfile,
    ReliabilityPolicy,
    qos_check_compatible,
    qos_profile_sensor_data,
)
from rclpy.qos_overriding_options import InvalidQosOverridesError, QoSOverridingOptions
from rclpy.serialization import deserialize_message, serialize_message
from sensor_msgs.msg import Image
from std_msgs.msg import String


def test_message_arrives_as_it_was_sent(make_node: Callable, spin_until: Callable, link: Callable) -> None:
    received: list[Image] = []
    publisher = link(make_node(), Image, "image", received.append, qos_profile_sensor_data)
    sent = Image(height=2, width=2, encoding="rgb8", step=6, data=list(range(12)))
    publisher.publish(sent)
    assert spin_until(lambda: received)
    assert received[0] == sent


def test_callback_with_two_parameters_gets_message_info(
    make_node: Callable, spin_until: Callable, link: Callable
) -> None:
    received: list[dict] = []
    publisher = link(make_node(), String, "s", lambda message, info: received.append(info))
    publisher.publish(String(data="x"))
    assert spin_until(lambda: received)
    assert 0 <= received[0]["received_timestamp"] - received[0]["source_timestamp"] < 5 * 10**9


def test_raw_subscription_gets_and_publisher_takes_bytes(
    make_node: Callable, spin_until: Callable, link: Callable
) -> None:
    received: list[bytes] = []
    publisher = link(make_node(), String, "s", received.append, raw=True)
    publisher.publish(serialize_message(String(data="raw")))
    for length in range(4):
        publisher.publish(String(data="x" * length))
    assert spin_until(lambda: len(received) == 5)
    assert [deserialize_message(raw, String).data for raw in received] == ["raw", "", "x", "xx", "xxx"]
    for raw, size in zip(received, (12, 9, 10, 11, 12)):  # filled up to words, with zeros
        assert len(raw) % 4 == 0
        assert raw[size:] == bytes(len(raw) - size)


def test_late_joiner_gets_what_is_latched(make_node: Callable, spin_until: Callable) -> None:
    node, received = make_node(), []
    latched = QoSProfile(depth=2, durability=DurabilityPolicy.TRANSIENT_LOCAL)
    publisher = node.create_publisher(String, "map", latched)
    for text in ("one", "two", "three"):
        publisher.publish(String(data=text))
    make_node("late").create_subscription(String, "map", lambda message: received.append(message.data), latched)
    assert spin_until(lambda: len(received) == 2)
    assert received == ["two", "three"]


def test_best_effort_publisher_and_reliable_subscription_are_told_of_each_other(
    make_node: Callable, spin_until: Callable
) -> None:
    node, events = make_node(), []
    publisher_events = PublisherEventCallbacks(incompatible_qos=lambda info: events.append(("pub", info)))
    subscription_events = SubscriptionEventCallbacks(incompatible_qos=lambda info: events.append(("sub", info)))
    best_effort = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
    node.create_subscription(String, "s", lambda _: None, 10, event_callbacks=subscription_events)
    publisher = node.create_publisher(String, "s", best_effort, event_callbacks=publisher_events)
    assert spin_until(lambda: len(events) == 2)
    assert {side for side, _ in events} == {"pub", "sub"}
    assert all(info.last_policy_kind == QoSPolicyKind.RELIABILITY and info.total_count == 1 for _, info in events)
    assert publisher.get_subscription_count() == 0


def test_incompatible_qos_is_warned_of_by_default(
    make_node: Callable, spin_until: Callable, capfd: pytest.CaptureFixture
) -> None:
    node = make_node("warned")
    node.create_publisher(String, "s", QoSProfile(depth=1))
    latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
    node.create_subscription(String, "s", lambda _: None, latched)
    captured: list[str] = []
    assert spin_until(lambda: captured.append(capfd.readouterr().err) or "offering incompatible" in "".join(captured))
    assert "Last incompatible policy: DURABILITY" in "".join(captured)


def test_missed_deadline_and_match_are_events(make_node: Callable, spin_until: Callable) -> None:
    node, missed, matched = make_node(), [], []
    qos = QoSProfile(depth=1, deadline=Duration(nanoseconds=50_000_000))
    node.create_subscription(
        String, "s", lambda _: None, qos, event_callbacks=SubscriptionEventCallbacks(deadline=missed.append)
    )
    publisher = node.create_publisher(String, "s", qos, event_callbacks=PublisherEventCallbacks(matched=matched.append))
    assert spin_until(lambda: matched)
    assert matched[0].current_count == 1
    publisher.publish(String())
    assert spin_until(lambda: missed)
    assert missed[0].total_count >= 1


def test_liveliness_is_lost_with_its_publisher(make_node: Callable, spin_until: Callable) -> None:
    node, other, changes = make_node(), make_node("other"), []
    qos = QoSProfile(depth=1, liveliness=LivelinessPolicy.AUTOMATIC)
    node.create_subscription(
        String, "s", lambda _: None, qos, event_callbacks=SubscriptionEventCallbacks(liveliness=changes.append)
    )
    publisher = other.create_publisher(String, "s", qos)
    assert spin_until(lambda: changes and changes[-1].alive_count == 1)
    other.destroy_publisher(publisher)
    assert spin_until(lambda: changes[-1].alive_count == 0)


def test_publish_refuses_another_type_and_a_destroyed_publisher(make_node: Callable) -> None:
    node = make_node()
    publisher = node.create_publisher(String, "s", 10)
    with pytest.raises(TypeError):
        publisher.publish(TimeMsg())
    assert node.destroy_publisher(publisher)
    assert not node.destroy_publisher(publisher)
    with pytest.raises(InvalidHandle):
        publisher.publish(String())


@pytest.mark.parametrize("name", ["", "a b", "a//b", "/a/", "1a", "a/~", "a{b"])
def test_invalid_topic_name_is_refused(make_node: Callable, name: str) -> None:
    with pytest.raises(InvalidTopicNameException):
        make_node().create_publisher(String, name, 10)


def test_remapped_node_publishes_under_its_new_name(make_node: Callable) -> None:
    node = make_node("n", cli_args=["--ros-args", "-r", "__node:=m", "-r", "__ns:=/w", "-r", "s:=t"])
    assert (node.get_fully_qualified_name(), node.create_publisher(String, "s", 1).topic_name) == ("/w/m", "/w/t")


def test_all_acknowledged_once_delivered(make_node: Callable, link: Callable) -> None:
    publisher = link(make_node(), String, "s", lambda _: None)
    publisher.publish(String())
    assert publisher.wait_for_all_acked(Duration(seconds=2))


def test_compatibility_check_names_the_policy() -> None:
    best_effort = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT, liveliness=LivelinessPolicy.AUTOMATIC)
    reliable = QoSProfile(depth=1, liveliness=LivelinessPolicy.AUTOMATIC)
    assert qos_check_compatible(reliable, best_effort) == (QoSCompatibility.OK, "")
    compatibility, reason = qos_check_compatible(best_effort, reliable)
    assert compatibility == QoSCompatibility.ERROR
    assert "est effort publisher and reliable subscription" in reason


def test_quality_of_a_publisher_is_overridden_by_parameters(make_node: Callable) -> None:
    overrides = [
        Parameter("qos_overrides./word.publisher_loud.depth", value=3),
        Parameter("qos_overrides./word.publisher_loud.reliability", value="best_effort"),
    ]
    node, asked = make_node("node", parameter_overrides=overrides), []

    def accept(profile: QoSProfile) -> SetParametersResult:
        asked.append((profile.depth, profile.reliability))
        return SetParametersResult(successful=True)

    options = QoSOverridingOptions.with_default_policies(callback=accept, entity_id="loud")
    node.create_publisher(String, "word", 10, qos_overriding_options=options)
    assert asked == [(3, ReliabilityPolicy.BEST_EFFORT)]
    assert node.get_parameter("qos_overrides./word.publisher_loud.history").value == "keep_last"
    described = node.describe_parameter("qos_overrides./word.publisher_loud.depth")
    assert described.read_only
    deadline = QoSOverridingOptions((QoSPolicyKind.DEADLINE,))
    node.create_subscription(String, "other", print, 10, qos_overriding_options=deadline)
    assert node.get_parameter("qos_overrides./other.subscription.deadline").value == 0


def test_override_that_is_refused_or_unknown_ends_the_creation(make_node: Callable) -> None:
    name = "qos_overrides./word.publisher.reliability"
    node = make_node("node", parameter_overrides=[Parameter(name, value="perhaps")])
    with pytest.raises(RuntimeError):
        node.create_publisher(String, "word", 10, qos_overriding_options=QoSOverridingOptions.with_default_policies())
    refuse = QoSOverridingOptions((), callback=lambda _: SetParametersResult(successful=False, reason="no"))
    with pytest.raises(InvalidQosOverridesError, match="no"):
        node.create_publisher(String, "other", 10, qos_overriding_options=refuse)
