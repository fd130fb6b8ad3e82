"""`topic info` and `echo`."""

from __future__ import annotations

import argparse
from typing import Any

from ros_embedded import rclpy
from ros_embedded.cli.command import CommandError, absolute, argument, command, flag, known_types, spin
from ros_embedded.interfaces import get_message
from ros_embedded.rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy, qos_profile_sensor_data
from ros_embedded.rosidl_runtime_py import message_to_yaml


def _echo_qos(node: Any, name: str) -> QoSProfile:
    """The strictest profile that all publishers offer."""
    offers = [info.qos_profile for info in node.get_publishers_info_by_topic(name)]
    if not offers:
        return qos_profile_sensor_data
    all_reliable = all(offer.reliability == ReliabilityPolicy.RELIABLE for offer in offers)
    all_latched = all(offer.durability == DurabilityPolicy.TRANSIENT_LOCAL for offer in offers)
    return qos_profile_sensor_data.replaced(
        reliability=ReliabilityPolicy.RELIABLE if all_reliable else ReliabilityPolicy.BEST_EFFORT,
        durability=DurabilityPolicy.TRANSIENT_LOCAL if all_latched else DurabilityPolicy.VOLATILE,
    )


def _class_of(node: Any, name: str, given: str | None) -> Any:
    """The class of a topic's messages. Raises CommandError where the graph has no such topic."""
    types = [given] if given else dict(node.get_topic_names_and_types()).get(name, [])
    if not types:
        raise CommandError(f"Could not determine the type for the passed topic '{name}'")
    if len(types) > 1:
        raise CommandError(f"Cannot echo topic '{name}', as it contains more than one type: {', '.join(types)}")
    return get_message(types[0])


@command(
    "topic info",
    "Print information about a topic",
    argument("topic_name"),
    flag("-v", "--verbose", help="nodes, type hashes and QoS of all endpoints"),
)
def _info(node: Any, arguments: argparse.Namespace) -> None:
    name = absolute(arguments.topic_name)
    end = "\n\n" if arguments.verbose else "\n"
    types = known_types("topic", node.get_topic_names_and_types(), arguments.topic_name)
    print(f"Type: {types[0] if len(types) == 1 else types}", end=end)
    publishers, subscriptions = node.get_publishers_info_by_topic(name), node.get_subscriptions_info_by_topic(name)
    for title, infos in (("Publisher", publishers), ("Subscription", subscriptions)):
        print(f"{title} count: {len(infos)}", end=end)
        for info in infos if arguments.verbose else ():
            print(info, end=end)


@command(
    "topic echo",
    "Output messages from a topic",
    argument("topic_name"),
    argument("message_type", nargs="?"),
    flag("-f", "--full-length", help="do not cut long values"),
    argument("-l", "--truncate-length", type=int, default=128, help="cut values longer than this"),
    argument("--field", help="only this field, for example pose.position"),
    flag("--once", help="end after the first message"),
    argument("--timeout", type=float, help="end after this many seconds"),
)
def _echo(node: Any, arguments: argparse.Namespace) -> None:
    name = absolute(arguments.topic_name)
    message_class = _class_of(node, name, arguments.message_type)
    done = rclpy.Future()

    def show(message: Any) -> None:
        print(_shown(message, arguments), flush=True)
        if arguments.once and not done.done():
            done.set_result(None)

    node.create_subscription(message_class, name, show, _echo_qos(node, name))
    spin(node, done, arguments.timeout)


def _shown(message: Any, arguments: argparse.Namespace) -> str:
    for field in filter(None, (arguments.field or "").split(".")):
        if not hasattr(message, field):
            raise CommandError(f"Invalid field '{arguments.field}'")
        message = getattr(message, field)
    if not hasattr(message, "get_fields_and_field_types"):
        return f"{message}\n---"
    length = None if arguments.full_length else arguments.truncate_length
    return f"{message_to_yaml(message, truncate_length=length)}---"
