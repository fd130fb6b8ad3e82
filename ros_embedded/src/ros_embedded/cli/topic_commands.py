"""`topic info`, `echo`, `hz` and `pub`."""

from __future__ import annotations

import argparse
import itertools
import statistics
import time
from collections import deque
from typing import Any

from ros_embedded import rclpy
from ros_embedded.cli.command import (
    CommandError,
    above_zero,
    absolute,
    argument,
    command,
    fill,
    flag,
    known_types,
    spin,
)
from ros_embedded.interfaces import get_message
from ros_embedded.rclpy.duration import Duration
from ros_embedded.rclpy.qos import (
    POLICY_TYPES,
    DurabilityPolicy,
    QoSPresetProfiles,
    QoSProfile,
    ReliabilityPolicy,
    qos_profile_sensor_data,
)
from ros_embedded.rosidl_runtime_py import message_to_yaml


def _qos_arguments(default: str) -> list[Any]:
    return [
        argument("--qos-profile", choices=QoSPresetProfiles.short_keys(), default=default),
        argument("--qos-depth", type=int),
        argument("--qos-liveliness-lease-duration-seconds", type=float),
        *(argument(f"--qos-{name}", choices=policy.short_keys()) for name, policy in POLICY_TYPES.items()),
    ]


def _given_qos(arguments: argparse.Namespace) -> QoSProfile:
    """The chosen preset, with the policies that the arguments change."""
    chosen = {name: getattr(arguments, f"qos_{name}") for name in ("depth", *POLICY_TYPES)}
    changes = {
        name: POLICY_TYPES[name][value.upper()] if name in POLICY_TYPES else value
        for name, value in chosen.items()
        if value is not None
    }
    if arguments.qos_liveliness_lease_duration_seconds is not None:
        changes["liveliness_lease_duration"] = Duration(seconds=arguments.qos_liveliness_lease_duration_seconds)
    return QoSPresetProfiles.get_from_short_key(arguments.qos_profile).replaced(**changes)


def _echo_qos(node: Any, name: str, arguments: argparse.Namespace) -> QoSProfile:
    """The requested profile, else the strictest one that all publishers offer."""
    profile = _given_qos(arguments)
    offers = [info.qos_profile for info in node.get_publishers_info_by_topic(name)]
    if not offers or any(getattr(arguments, f"qos_{policy}") is not None for policy in ("depth", *POLICY_TYPES)):
        return profile
    all_reliable = all(offer.reliability == ReliabilityPolicy.RELIABLE for offer in offers)
    all_latched = all(offer.durability == DurabilityPolicy.TRANSIENT_LOCAL for offer in offers)
    return profile.replaced(
        reliability=ReliabilityPolicy.RELIABLE if all_reliable else ReliabilityPolicy.BEST_EFFORT,
        durability=DurabilityPolicy.TRANSIENT_LOCAL if all_latched else DurabilityPolicy.VOLATILE,
    )


def _types_of(node: Any, name: str) -> list[str]:
    return dict(node.get_topic_names_and_types()).get(name, [])


def _class_of(node: Any, name: str, given: str | None = None) -> Any:
    """The class of a topic's messages. Raises CommandError where the graph has no such topic."""
    types = [given] if given else _types_of(node, name)
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
    *_qos_arguments("sensor_data"),
    flag("-f", "--full-length", help="do not cut long values"),
    argument("-l", "--truncate-length", type=int, default=128, help="cut values longer than this"),
    flag("--no-arr", help="only describe arrays"),
    flag("--no-str", help="only describe strings"),
    flag("--flow-style", help="sequences in one line"),
    argument("--field", help="only this field, for example pose.position"),
    flag("--raw", help="the bytes as received"),
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

    node.create_subscription(message_class, name, show, _echo_qos(node, name, arguments), raw=arguments.raw)
    spin(node, done, arguments.timeout)


def _shown(message: Any, arguments: argparse.Namespace) -> str:
    for field in () if arguments.raw else filter(None, (arguments.field or "").split(".")):
        if not hasattr(message, field):
            raise CommandError(f"Invalid field '{arguments.field}'")
        message = getattr(message, field)
    if not hasattr(message, "get_fields_and_field_types"):
        return f"{message}\n---"
    length = None if arguments.full_length else arguments.truncate_length
    shown = {"no_arr": arguments.no_arr, "no_str": arguments.no_str, "flow_style": arguments.flow_style}
    return f"{message_to_yaml(message, truncate_length=length, **shown)}---"


@command(
    "topic hz",
    "Print the average publishing rate to screen",
    argument("topic_name"),
    argument("-w", "--window", type=int, default=10000, help="messages that count"),
)
def _hz(node: Any, arguments: argparse.Namespace) -> None:
    name = absolute(arguments.topic_name)
    if not _types_of(node, name):
        print(f"WARNING: topic [{name}] does not appear to be published yet", flush=True)
    while not _types_of(node, name):
        time.sleep(0.1)
    times_s: deque[float] = deque(maxlen=arguments.window + 1)  # N messages have N - 1 gaps

    def take(_: bytes) -> None:
        times_s.append(time.monotonic())

    node.create_subscription(_class_of(node, name), name, take, qos_profile_sensor_data, raw=True)
    shown_s = time.monotonic()
    while rclpy.ok():
        rclpy.spin_once(node, timeout_sec=0.1)
        if time.monotonic() - shown_s < 1.0 or len(times_s) < 2 or times_s[-1] <= shown_s:
            continue
        shown_s = time.monotonic()
        gaps_s = [later - earlier for earlier, later in itertools.pairwise(times_s)]
        spread = f"min: {min(gaps_s):.3f}s max: {max(gaps_s):.3f}s std dev: {statistics.pstdev(gaps_s):.5f}s"
        print(f"average rate: {1.0 / statistics.fmean(gaps_s):.3f}\n\t{spread} window: {len(gaps_s)}", flush=True)


@command(
    "topic pub",
    "Publish a message to a topic",
    argument("topic_name"),
    argument("message_type"),
    argument("values", nargs="?", default="{}", help="the message in YAML; header: auto, stamp: now"),
    argument("-r", "--rate", type=above_zero, default=1.0, help="messages a second"),
    argument("-p", "--print", type=int, default=1, help="only print every Nth message"),
    argument("-1", "--once", action="store_const", dest="times", const=1, default=0, help="publish once and end"),
    argument("-t", "--times", type=int, default=0, help="publish this often and end"),
    argument("-w", "--wait-matching-subscriptions", type=int, help="wait for so many subscriptions"),
    argument("--max-wait-time-secs", type=float, help="but no longer than this"),
    argument("--keep-alive", type=float, default=0.1, help="seconds to stay after the last message"),
    *_qos_arguments("default"),
)
def _pub(node: Any, arguments: argparse.Namespace) -> None:
    message = get_message(arguments.message_type)()
    set_times = fill(message, arguments.values, expand_header_auto=True, expand_time_now=True)
    publisher = node.create_publisher(type(message), absolute(arguments.topic_name), _given_qos(arguments))
    wanted = arguments.wait_matching_subscriptions
    _wait_for_subscriptions(publisher, bool(arguments.times) if wanted is None else wanted, arguments)
    print("publisher: beginning loop", flush=True)
    count, begin_s = 0, time.monotonic()
    while rclpy.ok() and (count < arguments.times or not arguments.times):
        for set_time in set_times:
            set_time(node.get_clock().now().to_msg())
        count += 1
        if arguments.print and count % arguments.print == 0:
            print(f"publishing #{count}: {message!r}\n", flush=True)
        publisher.publish(message)
        if count != arguments.times:
            spin(node, rclpy.Future(), begin_s + count / arguments.rate - time.monotonic())
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
