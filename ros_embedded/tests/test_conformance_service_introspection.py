"""The events of introspected services and clients are alike in ros_embedded and rclpy."""

import time
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from example_interfaces.srv import AddTwoInts
from rclpy.clock import Clock, ClockType
from rclpy.exceptions import InvalidHandle
from rclpy.qos import DurabilityPolicy, QoSProfile, qos_profile_system_default
from rclpy.service_introspection import ServiceIntrospectionState
from service_msgs.msg import ServiceEventInfo

CLIENT_SIDE = {ServiceEventInfo.REQUEST_SENT, ServiceEventInfo.RESPONSE_RECEIVED}
OFF, METADATA = ServiceIntrospectionState.OFF, ServiceIntrospectionState.METADATA
CONTENTS = ServiceIntrospectionState.CONTENTS


def add(request: AddTwoInts.Request, response: AddTwoInts.Response) -> AddTwoInts.Response:
    response.sum = request.a + request.b
    return response


@pytest.fixture
def adder(make_node: Callable, spin_until: Callable) -> SimpleNamespace:
    """A service, a client and a list to which their events go, by type; `call` asks and waits for `count` events."""
    node = make_node("adder")
    made = SimpleNamespace(node=node, events={})
    made.service = node.create_service(AddTwoInts, "add", add)
    made.client = node.create_client(AddTwoInts, "add")

    def keep(event: Any) -> None:
        made.events[event.info.event_type] = event

    made.subscription = node.create_subscription(AddTwoInts.Event, "add/_service_event", keep, 10)

    def call(count: int) -> None:
        assert spin_until(lambda: made.subscription.get_publisher_count() == (count + 1) // 2)
        assert spin_until(made.client.service_is_ready)
        made.events.clear()
        future = made.client.call_async(AddTwoInts.Request(a=2, b=3))
        assert spin_until(lambda: future.done() and len(made.events) >= count)

    made.call = call
    return made


def configure(adder: SimpleNamespace, state: ServiceIntrospectionState) -> None:
    for end in (adder.service, adder.client):
        end.configure_introspection(adder.node.get_clock(), qos_profile_system_default, state)


def test_contents_tell_request_and_response_on_both_sides(adder: SimpleNamespace) -> None:
    configure(adder, CONTENTS)
    adder.call(4)
    request, response = [AddTwoInts.Request(a=2, b=3)], [AddTwoInts.Response(sum=5)]
    for kind, event in adder.events.items():
        is_request = kind in (ServiceEventInfo.REQUEST_SENT, ServiceEventInfo.REQUEST_RECEIVED)
        assert (list(event.request), list(event.response)) == ((request, []) if is_request else ([], response))


def test_metadata_tell_when_and_whose_request_it_was(adder: SimpleNamespace) -> None:
    configure(adder, METADATA)
    adder.call(4)
    assert not any(event.request or event.response for event in adder.events.values())
    infos = [event.info for event in adder.events.values()]
    assert len({info.sequence_number for info in infos}) == 1
    assert all(abs(info.stamp.sec - time.time()) < 60 for info in infos)
    for of_client in (True, False):
        ids = {bytes(info.client_gid) for info in infos if (info.event_type in CLIENT_SIDE) == of_client}
        assert len(ids) == 1
        assert any(ids.pop())


def test_only_the_configured_end_tells(adder: SimpleNamespace) -> None:
    adder.client.configure_introspection(adder.node.get_clock(), qos_profile_system_default, CONTENTS)
    adder.call(2)
    assert adder.events.keys() == CLIENT_SIDE


def test_while_on_only_the_state_changes(adder: SimpleNamespace) -> None:
    steady = Clock(clock_type=ClockType.STEADY_TIME)
    latched = QoSProfile(depth=3, durability=DurabilityPolicy.TRANSIENT_LOCAL)
    adder.service.configure_introspection(steady, latched, METADATA)
    adder.service.configure_introspection(adder.node.get_clock(), qos_profile_system_default, CONTENTS)
    adder.call(2)
    event = adder.events[ServiceEventInfo.REQUEST_RECEIVED]
    assert len(event.request) == 1
    assert abs(event.info.stamp.sec - steady.now().nanoseconds // 10**9) < 60
    (info,) = adder.node.get_publishers_info_by_topic("add/_service_event")
    assert info.qos_profile.durability == DurabilityPolicy.TRANSIENT_LOCAL


def test_event_topic_is_on_the_graph_but_no_publisher_of_the_node(adder: SimpleNamespace, spin_until: Callable) -> None:
    before, topic = len(list(adder.node.publishers)), "/add/_service_event"
    configure(adder, METADATA)
    assert len(list(adder.node.publishers)) == before
    assert spin_until(lambda: topic in dict(adder.node.get_publisher_names_and_types_by_node("adder", "/")))
    assert spin_until(lambda: adder.node.count_publishers(topic) == 2)
    for info in adder.node.get_publishers_info_by_topic(topic):
        assert info.topic_type == "example_interfaces/srv/AddTwoInts_Event"
        assert str(info.topic_type_hash) == "RIHS01_32c1d140259c71e5c355115942bcb31df98b4330e4d906b1b75ccb1c9b3ce6c8"


def test_off_and_destruction_end_the_events(adder: SimpleNamespace, spin_until: Callable) -> None:
    configure(adder, OFF)
    assert adder.subscription.get_publisher_count() == 0
    configure(adder, METADATA)
    assert spin_until(lambda: adder.subscription.get_publisher_count() == 2)
    adder.client.configure_introspection(adder.node.get_clock(), qos_profile_system_default, OFF)
    assert spin_until(lambda: adder.subscription.get_publisher_count() == 1)
    adder.node.destroy_service(adder.service)
    assert spin_until(lambda: adder.subscription.get_publisher_count() == 0)
    with pytest.raises(InvalidHandle):
        adder.service.configure_introspection(adder.node.get_clock(), qos_profile_system_default, METADATA)


def test_state_must_be_one(adder: SimpleNamespace) -> None:
    with pytest.raises(TypeError):
        adder.service.configure_introspection(adder.node.get_clock(), qos_profile_system_default, 1)
    assert (str(OFF), int(CONTENTS), METADATA.name) == ("ServiceIntrospectionState.OFF", 2, "METADATA")
