"""`topic`: what is published, by whom, how often, and publishing from the command line."""

from __future__ import annotations

import argparse
import itertools
import math
import time
from typing import Any

from ros_embedded import rclpy
from ros_embedded.cli.command import (
    CommandError,
    absolute,
    add_command,
    add_group,
    fill,
    graph_node,
    is_hidden,
    print_names,
)
from ros_embedded.interfaces import get_message
from ros_embedded.rclpy.duration import Duration
from ros_embedded.rclpy.qos import (
    DurabilityPolicy,
    HistoryPolicy,
    LivelinessPolicy,
    QoSPresetProfiles,
    QoSProfile,
    ReliabilityPolicy,
    qos_profile_sensor_data,
)
from ros_embedded.rosidl_runtime_py import message_to_csv, message_to_yaml

_POLICIES = {
    "reliability": ReliabilityPolicy,
    "durability": DurabilityPolicy,
    "history": HistoryPolicy,
    "liveliness": LivelinessPolicy,
}


def add_commands(groups: Any) -> None:
    """Add the group and its commands."""
    group = add_group(groups, "topic", "Various topic related sub-commands")
    listing = add_command(group, "list", _list, "Output a list of available topics")
    listing.add_argument("-t", "--show-types", action="store_true", help="also show the types")
    listing.add_argument("-c", "--count-topics", action="store_true", help="only show how many there are")
    listing.add_argument("--include-hidden-topics", action="store_true", help="hidden topics too")
    info = add_command(group, "info", _info, "Print information about a topic")
    info.add_argument("topic_name")
    info.add_argument("-v", "--verbose", action="store_true", help="nodes, type hashes and QoS of all endpoints")
    add_command(group, "type", _type, "Print a topic's type").add_argument("topic_name")
    find = add_command(group, "find", _find, "Output a list of available topics of a given type")
    find.add_argument("topic_type")
    _add_echo(group)
    hz = add_command(group, "hz", _hz, "Print the average publishing rate to screen")
    hz.add_argument("topic_name")
    hz.add_argument("-w", "--window", type=int, default=10000, help="messages that count")
    _add_pub(group)


def _add_echo(group: Any) -> None:
    echo = add_command(group, "echo", _echo, "Output messages from a topic")
    echo.add_argument("topic_name")
    echo.add_argument("message_type", nargs="?")
    _add_qos_arguments(echo, "sensor_data")
    echo.add_argument("--csv", action="store_true", help="values on one line, separated by commas")
    echo.add_argument("--field", help="only this field, for example pose.position")
    echo.add_argument("-f", "--full-length", action="store_true", help="do not cut long values")
    echo.add_argument("-l", "--truncate-length", type=int, default=128, help="cut values longer than this")
    echo.add_argument("--no-arr", action="store_true", help="only describe arrays")
    echo.add_argument("--no-str", action="store_true", help="only describe strings")
    echo.add_argument("--flow-style", action="store_true", help="collections in one line")
    echo.add_argument("--raw", action="store_true", help="the bytes as received")
    echo.add_argument("--once", action="store_true", help="end after the first message")
    echo.add_argument("--timeout", type=float, help="end after this many seconds")


def _add_pub(group: Any) -> None:
    pub = add_command(group, "pub", _pub, "Publish a message to a topic")
    pub.add_argument("topic_name")
    pub.add_argument("message_type")
    pub.add_argument("values", nargs="?", default="{}", help="the message in YAML; header: auto, stamp: now")
    pub.add_argument("-r", "--rate", type=float, default=1.0, help="messages a second")
    pub.add_argument("-p", "--print", type=int, default=1, help="only print every Nth message")
    times = pub.add_mutually_exclusive_group()
    times.add_argument("-1", "--once", action="store_const", dest="times", const=1, help="publish once and end")
    times.add_argument("-t", "--times", type=int, default=0, help="publish this often and end")
    pub.add_argument("-w", "--wait-matching-subscriptions", type=int, help="wait for so many subscriptions")
    pub.add_argument("--max-wait-time-secs", type=float, help="but no longer than this")
    pub.add_argument("--keep-alive", type=float, default=0.1, help="seconds to stay after the last message")
    _add_qos_arguments(pub, "default")


def _list(arguments: argparse.Namespace) -> None:
    with graph_node(arguments) as node:
        topics = node.get_topic_names_and_types()
    shown = [topic for topic in topics if arguments.include_hidden_topics or not is_hidden(topic[0])]
    if arguments.count_topics:
        print(len(shown))
    else:
        print_names(shown, arguments.show_types)


def _info(arguments: argparse.Namespace) -> None:
    name = absolute(arguments.topic_name)
    end = "\n\n" if arguments.verbose else "\n"
    with graph_node(arguments) as node:
        types = _types_of(node, name)
        if not types:
            raise CommandError(f"Unknown topic '{arguments.topic_name}'")
        print(f"Type: {types[0] if len(types) == 1 else types}", end=end)
        for title, infos in (
            ("Publisher", node.get_publishers_info_by_topic(name)),
            ("Subscription", node.get_subscriptions_info_by_topic(name)),
        ):
            print(f"{title} count: {len(infos)}", end=end)
            for info in infos if arguments.verbose else ():
                print(info, end=end)


def _type(arguments: argparse.Namespace) -> None:
    with graph_node(arguments) as node:
        types = _types_of(node, absolute(arguments.topic_name))
    if not types:
        raise CommandError(f"Unknown topic '{arguments.topic_name}'")
    print("\n".join(types))


def _find(arguments: argparse.Namespace) -> None:
    with graph_node(arguments) as node:
        topics = node.get_topic_names_and_types()
    print_names([(name, types) for name, types in topics if arguments.topic_type in types], shows_types=False)


def _echo(arguments: argparse.Namespace) -> None:
    with graph_node(arguments) as node:
        name = absolute(arguments.topic_name)
        message_class = _class_of(node, name, arguments.message_type)
        done = rclpy.Future()

        def show(message: Any) -> None:
            print(_shown(message, arguments), flush=True)
            if arguments.once and not done.done():
                done.set_result(None)

        node.create_subscription(message_class, name, show, _echo_qos(node, name, arguments), raw=arguments.raw)
        rclpy.spin_until_future_complete(node, done, timeout_sec=arguments.timeout)


def _shown(message: Any, arguments: argparse.Namespace) -> str:
    if arguments.raw:
        return f"{message}\n---"
    for field in filter(None, (arguments.field or "").split(".")):
        if not hasattr(message, field):
            raise CommandError(f"Invalid field '{arguments.field}'")
        message = getattr(message, field)
    if not hasattr(message, "SLOT_TYPES"):
        return f"{message}\n---"
    options = {
        "truncate_length": None if arguments.full_length else arguments.truncate_length,
        "no_arr": arguments.no_arr,
        "no_str": arguments.no_str,
    }
    if arguments.csv:
        return message_to_csv(message, **options)
    return f"{message_to_yaml(message, flow_style=arguments.flow_style, **options)}---"


def _hz(arguments: argparse.Namespace) -> None:
    with graph_node(arguments) as node:
        name = absolute(arguments.topic_name)
        times_s: list[float] = []
        message_class = _class_of(node, name, None)
        node.create_subscription(
            message_class, name, lambda _: times_s.append(time.monotonic()), qos_profile_sensor_data, raw=True
        )
        shown_s = time.monotonic()
        while rclpy.ok():
            rclpy.spin_once(node, timeout_sec=0.1)
            del times_s[: -arguments.window - 1]
            if time.monotonic() - shown_s >= 1.0 and len(times_s) > 1 and times_s[-1] > shown_s:
                shown_s = time.monotonic()
                print(_rate_text(times_s), flush=True)


def _rate_text(times_s: list[float]) -> str:
    gaps_s = [later - earlier for earlier, later in itertools.pairwise(times_s)]
    mean_s = sum(gaps_s) / len(gaps_s)
    deviation_s = math.sqrt(sum((gap - mean_s) ** 2 for gap in gaps_s) / len(gaps_s))
    spread = f"min: {min(gaps_s):.3f}s max: {max(gaps_s):.3f}s std dev: {deviation_s:.5f}s window: {len(gaps_s)}"
    return f"average rate: {1.0 / mean_s:.3f}\n\t{spread}"


def _pub(arguments: argparse.Namespace) -> None:
    message = get_message(arguments.message_type)()
    set_times = fill(message, arguments.values, expand_header_auto=True, expand_time_now=True)
    with graph_node(arguments) as node:
        publisher = node.create_publisher(type(message), absolute(arguments.topic_name), _given_qos(arguments))
        wanted = arguments.wait_matching_subscriptions
        _wait_for_subscriptions(publisher, bool(arguments.times) if wanted is None else wanted, arguments)
        print("publisher: beginning loop", flush=True)
        count = 0
        while rclpy.ok() and (count < arguments.times or not arguments.times):
            for set_time in set_times:
                set_time(node.get_clock().now().to_msg())
            count += 1
            if arguments.print and count % arguments.print == 0:
                print(f"publishing #{count}: {message!r}\n", flush=True)
            publisher.publish(message)
            if count != arguments.times:
                rclpy.spin_once(node, timeout_sec=1.0 / arguments.rate)
        time.sleep(arguments.keep_alive)


def _wait_for_subscriptions(publisher: Any, wanted: int, arguments: argparse.Namespace) -> None:
    begin_s, shown_s = time.monotonic(), 0.0
    while rclpy.ok() and publisher.get_subscription_count() < wanted:
        if time.monotonic() - shown_s >= 1.0:
            shown_s = time.monotonic()
            print(f"Waiting for at least {int(wanted)} matching subscription(s)...", flush=True)
        if arguments.max_wait_time_secs is not None and time.monotonic() - begin_s > arguments.max_wait_time_secs:
            raise CommandError(f"Timed out waiting for subscribers: expected {int(wanted)}")
        time.sleep(0.1)


def _types_of(node: Any, name: str) -> list[str]:
    return dict(node.get_topic_names_and_types()).get(name, [])


def _class_of(node: Any, name: str, given: str | None) -> Any:
    """The class of a topic's messages. Raises CommandError where the graph does not tell."""
    types = [given] if given else _types_of(node, name)
    if not types:
        raise CommandError(f"Could not determine the type for the passed topic '{name}'")
    if len(types) > 1:
        raise CommandError(f"Cannot echo topic '{name}', as it contains more than one type: {', '.join(types)}")
    return get_message(types[0])


def _add_qos_arguments(parser: argparse.ArgumentParser, default: str) -> None:
    parser.add_argument("--qos-profile", choices=QoSPresetProfiles.short_keys(), default=default)
    parser.add_argument("--qos-depth", type=int)
    parser.add_argument("--qos-liveliness-lease-duration-seconds", type=float)
    for name, policy in _POLICIES.items():
        parser.add_argument(f"--qos-{name}", choices=policy.short_keys())


def _given_qos(arguments: argparse.Namespace) -> QoSProfile:
    """The preset with what the arguments change."""
    preset = QoSPresetProfiles.get_from_short_key(arguments.qos_profile)
    settings = {name: getattr(preset, name) for name in ("depth", *_POLICIES)}
    for name, policy in _POLICIES.items():
        chosen = getattr(arguments, f"qos_{name}")
        if chosen is not None:
            settings[name] = policy[chosen.upper()]
    if arguments.qos_depth is not None:
        settings["depth"] = arguments.qos_depth
    if arguments.qos_liveliness_lease_duration_seconds is not None:
        settings["liveliness_lease_duration"] = Duration(seconds=arguments.qos_liveliness_lease_duration_seconds)
    return QoSProfile(**settings)


def _echo_qos(node: Any, name: str, arguments: argparse.Namespace) -> QoSProfile:
    """What is asked for, else the strictest that all publishers offer."""
    profile = _given_qos(arguments)
    offers = [info.qos_profile for info in node.get_publishers_info_by_topic(name)]
    is_asked_for = any(getattr(arguments, f"qos_{policy}") is not None for policy in ("depth", *_POLICIES))
    if not offers or is_asked_for:
        return profile
    all_reliable = all(offer.reliability == ReliabilityPolicy.RELIABLE for offer in offers)
    all_latched = all(offer.durability == DurabilityPolicy.TRANSIENT_LOCAL for offer in offers)
    profile.reliability = ReliabilityPolicy.RELIABLE if all_reliable else ReliabilityPolicy.BEST_EFFORT
    profile.durability = DurabilityPolicy.TRANSIENT_LOCAL if all_latched else DurabilityPolicy.VOLATILE
    return profile
