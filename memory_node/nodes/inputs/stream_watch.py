"""Says what is wrong with the topics that memory listens to, by ROS's graph and by when and with what stamps they come.

Each of these leaves a robot blind without an error anywhere: no publisher, other quality of service, a stream that is
silent, stamps of another clock, stamps that go back because a recording is played in a loop.
"""

from __future__ import annotations

import os
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

from rclpy.node import Node
from rclpy.qos import QoSCompatibility, QoSProfile, qos_check_compatible
from rclpy.utilities import get_rmw_implementation_identifier

from memory_node.domain.resources import share_folders
from memory_node.nodes.inputs.camera_topics import OTHER_TRANSPORTS

# So long a driver may take to offer its topics (s).
_OFFERED_WITHIN_S = 3.0
# Stamps further apart than this are of different clocks (s); drivers are late by seconds at most.
_CLOCKS_APART_S = 30.0
# Of streams that came further apart than this (s) none is told of another clock: a recording may be played faster.
_TOGETHER_S = 5.0
# Messages that overtake each other come this late at most (s).
_LATE_S = 0.5
_NS = 1e-9
# Losses are judged by so many of the latest messages, from a quarter of them on; a twentieth may be missing.
_STAMPS = 200
_LOST_SHARE = 0.05
_PAUSE_STEPS = 50  # a longer silence is a pause of the publisher
_RMEM_MAX = Path("/proc/sys/net/core/rmem_max")
# Distributions whose Fast DDS (2) has another name for the variable than the later ones (3).
_FAST_DDS_2 = ("humble", "jazzy")


@dataclass
class _Stream:
    """A subscription, and when and with what stamps its messages came.

    parameter: sets its reliability. is_timed: see StreamWatch.listen. backwards: messages in a row that were stamped
    before the newest. stamps: of the latest messages.
    """

    subscription: Any
    parameter: str
    needed: bool
    is_timed: bool
    heard_s: float | None = None
    newest_ns: int = 0
    last_ns: int = 0
    backwards: int = 0
    stamps: deque[int] = field(default_factory=lambda: deque(maxlen=_STAMPS))

    @property
    def topic(self) -> str:
        return str(self.subscription.topic_name)


@dataclass(eq=False)
class StreamWatch:
    """Watches subscriptions. Thread-safe.

    Args:
        node: asked for its graph.
        silent_s: a stream that others outlive by so long is silent.
        clock_jump_s: a step back of stamps by more than this means that the clock was set back.
        clock: seconds.
    """

    node: Node
    silent_s: float
    clock_jump_s: float
    clock: Callable[[], float] = time.monotonic

    def __post_init__(self) -> None:
        self._begun_s = self.clock()
        self._lock = threading.Lock()
        self._streams: dict[str, _Stream] = {}
        self._tf_ns: int | None = None
        self._tf_heard_s = 0.0

    def listen(self, name: str, subscription: Any, parameter: str, needed: bool, is_timed: bool = True) -> None:
        """Watch a subscription.

        Args:
            name: as `came` is told it.
            subscription: rclpy's.
            parameter: sets its reliability.
            needed: nothing can be used without it.
            is_timed: its stamps are used, and are of when its messages are sent: not those of a latched map.
        """
        with self._lock:
            self._streams[name] = _Stream(subscription, parameter, needed, is_timed)

    def came(self, name: str, stamp_ns: int) -> None:
        """Note a message and its stamp."""
        with self._lock:
            stream = self._streams.get(name)
            if stream is None:  # a message between the subscription's making and `listen`
                return
            stream.heard_s, stream.last_ns = self.clock(), stamp_ns
            stream.stamps.append(stamp_ns)
            behind_s = (stream.newest_ns - stamp_ns) * _NS
            is_back = _LATE_S < behind_s <= self.clock_jump_s
            stream.backwards = stream.backwards + 1 if is_back else 0
            stream.newest_ns = stamp_ns if behind_s > self.clock_jump_s else max(stream.newest_ns, stamp_ns)

    def tf_came(self, newest_ns: int | None) -> None:
        """Note a message of /tf. newest_ns: the stamp of the latest transform that is used, None while none is."""
        with self._lock:
            if newest_ns != self._tf_ns:
                self._tf_ns, self._tf_heard_s = newest_ns, self.clock()

    def problems(self) -> tuple[str, ...]:
        """Return in words what is wrong now."""
        with self._lock:
            streams = list(self._streams.values())
            stamps = {
                one.topic: (one.last_ns, one.heard_s) for one in streams if one.is_timed and one.heard_s is not None
            }
            if self._tf_ns is not None:
                stamps["/tf"] = self._tf_ns, self._tf_heard_s
        found = [*self._unoffered(streams), *self._unheard(streams), *self._loops(streams), *_losses(streams)]
        return (*found, *_other_clocks(stamps, self.clock()))

    def _unoffered(self, streams: list[_Stream]) -> Iterator[str]:
        """Topics that nobody publishes, or only with a quality of service that does not fit."""
        if self.clock() - self._begun_s < _OFFERED_WITHIN_S:
            return
        missing = []
        for stream in streams:
            publishers = self.node.get_publishers_info_by_topic(stream.topic)
            refusals = [_refusal(one, stream) for one in publishers]
            if refusals and all(refusals):
                yield refusals[0]
            elif not publishers and stream.needed:
                missing.append(f"{stream.topic}{self._hint(stream.topic)}")
        if missing:
            yield f"nobody publishes {', '.join(missing)}"

    def _hint(self, topic: str) -> str:
        for suffix, transport, other_suffix in OTHER_TRANSPORTS:
            other = f"{topic.removesuffix(suffix)}{other_suffix}"
            if topic.endswith(suffix) and self.node.count_publishers(other):
                return f" (but {other} is published: set image_transport:={transport})"
        return ""

    def _unheard(self, streams: list[_Stream]) -> Iterator[str]:
        """Topics that are published and silent while others come."""
        now_s = self.clock()
        heard = [stream.heard_s for stream in streams if stream.heard_s is not None]
        if not heard or now_s - max(heard) > self.silent_s:
            return
        for stream in streams:
            since_s = now_s - (stream.heard_s or self._begun_s)
            publishers = self.node.get_publishers_info_by_topic(stream.topic) if since_s > self.silent_s else ()
            if stream.needed and publishers and not all(_refusal(one, stream) for one in publishers):
                names = ", ".join(sorted({one.node_name for one in publishers}))
                how = "has fallen silent" if stream.heard_s else "has never come"
                yield f"{stream.topic} of {names} {how}, for {since_s:.0f} s, while other topics come"

    def _loops(self, streams: list[_Stream]) -> Iterator[str]:
        """Stamps that went back by less than counts as a clock that was set back."""
        back = [stream for stream in streams if stream.backwards > 3]
        if back:
            behind_s = max((stream.newest_ns - stream.last_ns) * _NS for stream in back)
            yield (
                f"stamps of {', '.join(stream.topic for stream in back)} have gone back, by {behind_s:.1f} s now, so "
                f"that they count as late: of a recording in a loop that is shorter than scene_graph.clock_jump_s "
                f"({self.clock_jump_s:g} s)? set that below the loop's length"
            )


def _refusal(publisher: Any, stream: _Stream) -> str:
    """Return why a subscription hears nothing of a publisher: both policies, and what to set; "" where it hears it."""
    offered, asked = publisher.qos_profile, stream.subscription.qos_profile
    if qos_check_compatible(offered, asked)[0] != QoSCompatibility.ERROR:
        return ""
    for policy, parameter in (("reliability", stream.parameter), ("durability", "")):
        offer, wish = getattr(offered, policy), getattr(asked, policy)
        one_only = {policy: offer}
        alone = QoSProfile(depth=1, **one_only), QoSProfile(depth=1, **{policy: wish})
        if offer != wish and qos_check_compatible(*alone)[0] == QoSCompatibility.ERROR:
            name = offer.name.lower()
            advice = parameter or f"qos_overrides.{stream.topic}.subscription.{policy}"
            return (
                f"{stream.topic}: {publisher.node_name} publishes it {_words(offer)}, memory asks for {_words(wish)} "
                f"{policy}, so nothing arrives: set {advice}:={name}"
            )
    return f"{stream.topic}: the quality of service of {publisher.node_name} does not fit, so nothing arrives"


def _losses(streams: list[_Stream]) -> Iterator[str]:
    """Streams of which messages are missing that another stream has, as the driver publishes both."""
    sent = {stream.topic: _sent(stream) for stream in streams if stream.needed and len(stream.stamps) >= _STAMPS // 4}
    whole = min(sent, key=lambda topic: sent[topic].share_lost, default="")
    lost = [
        f"{one.lost} of {one.count} messages on {topic}"
        for topic, one in sent.items()
        if one.share_lost - sent[whole].share_lost > _LOST_SHARE
    ]
    if lost:
        yield (
            f"{', '.join(lost)} were lost on the way, {sent[whole].lost} of {sent[whole].count} on {whole}: "
            f"{_way_of_images()}, or let the camera publish reliably (camera_reliability:=auto follows)"
        )


@dataclass(frozen=True)
class _Sent:
    """How many messages were published between the first and the last that came, by their stamps, and how many of them
    are missing."""

    count: int
    lost: int

    @property
    def share_lost(self) -> float:
        return self.lost / self.count


def _sent(stream: _Stream) -> _Sent:
    stamps = sorted(set(stream.stamps))
    steps = [later - earlier for earlier, later in pairwise(stamps)]
    # Streams of which most messages are lost have no regular step: the least one is the publisher's.
    period = max(1, sorted(steps)[len(steps) // 20])
    count = 1 + sum(max(1, round(step / period)) for step in steps if step < _PAUSE_STEPS * period)
    return _Sent(max(count, len(stamps)), max(0, count - len(stamps)))


def _way_of_images() -> str:
    """Return in words where the middleware loses images, and what to set."""
    if "fastrtps" in get_rmw_implementation_identifier():
        library = "FASTRTPS" if os.environ.get("ROS_DISTRO") in _FAST_DDS_2 else "FASTDDS"
        return (
            "images are larger than the 512 kB of shared memory in which Fast DDS passes on what a process publishes. "
            f"Start the camera's with {library}_DEFAULT_PROFILES_FILE={share_folders()[0] / 'config' / 'fastdds.xml'}"
        )
    return (
        f"images are larger than the kernel's receive buffer{_receive_buffer()}. Raise it (sudo sysctl -w "
        "net.core.rmem_max=16777216)"
    )


def _receive_buffer() -> str:
    """Return in words how large Linux lets a receive buffer be; nothing elsewhere."""
    try:
        return f" (net.core.rmem_max is {int(_RMEM_MAX.read_text())} bytes)"
    except (OSError, ValueError):
        return ""


def _words(policy: Any) -> str:
    return str(policy.name).lower().replace("_", " ")


def _other_clocks(stamps: dict[str, tuple[int, float]], now_s: float) -> Iterator[str]:
    """Topics that are stamped by different clocks, or by none; stamps: by topic the last one, and when it came (s)."""
    if not any(stamp_ns for stamp_ns, _ in stamps.values()):
        return
    unstamped = " and ".join(sorted(topic for topic, (stamp_ns, _) in stamps.items() if not stamp_ns))
    if unstamped:
        yield f"no stamp: {unstamped} comes with the stamp 0: have its publisher set the time"
    since_s = max(heard_s for stamp_ns, heard_s in stamps.values() if stamp_ns) - _TOGETHER_S
    ahead_s = {
        topic: stamp_ns * _NS - heard_s
        for topic, (stamp_ns, heard_s) in stamps.items()
        if stamp_ns and heard_s >= since_s
    }
    first, last = min(ahead_s, key=ahead_s.__getitem__), max(ahead_s, key=ahead_s.__getitem__)
    if ahead_s[last] - ahead_s[first] > _CLOCKS_APART_S:
        yield (
            f"two clocks: {last} is stamped {_told(ahead_s[last] + now_s)}, {first} {_told(ahead_s[first] + now_s)}: "
            "set use_sim_time alike for all nodes"
        )


def _told(stamp_s: float) -> str:
    """Return a stamp and which clock it may be of."""
    is_wall = abs(stamp_s - time.time()) < 3600.0
    return f"{stamp_s:.1f} s ({'wall clock' if is_wall else 'simulated or recorded time'})"
