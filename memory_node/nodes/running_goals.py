"""Announces the goals that this node has on action servers, and notices when another node is lost."""

from __future__ import annotations

import os
import threading
import uuid
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from action_msgs.srv import CancelGoal
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.duration import Duration
from rclpy.exceptions import InvalidServiceNameException
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, LivelinessPolicy, QoSProfile
from robot_memory import msg as rm
from unique_identifier_msgs.msg import UUID

from memory_node.domain.worker_thread import WorkerThread
from memory_node.nodes.awake_clock import AwakeClock
from memory_node.nodes.conversions.ranges import shown
from memory_node.nodes.process_identity import goes_on, identity_of

try:
    from rclpy.event_handler import SubscriptionEventCallbacks
except ImportError:  # Humble
    from rclpy.qos_event import SubscriptionEventCallbacks

TOPIC = "running_goals"
# Announcements within silence_s of a node with running goals.
_ANNOUNCEMENTS = 4
# The middleware reports a death after this share of silence_s; Cyclone DDS renews a lease when 80 % of it have passed.
_LEASE_SHARE = 0.6
# A live process that is silent for this many times silence_s hangs.
_HANGS_AFTER = 15.0
# By then every waiting goal has noticed a lost node (s).
_FORGOTTEN_AFTER_S = 600.0
# Bounds on announcements. A robot has a handful of nodes with a handful of goals each; larger announcements are
# ignored.
_MOST_PEERS, _MOST_GOALS, _MOST_SERVERS = 64, 32, 64


@dataclass(frozen=True)
class _Peer:
    """Another node as it announced itself last; ids as bytes, heard_s by the AwakeClock of who heard it."""

    node: str
    process: str
    heard_s: float
    asked: dict[bytes, str]
    carried_out: frozenset[bytes]


class RunningGoals:
    """What this node and the others have running, on the topic `running_goals`.

    A node that is silent for `silence_s` counts as gone when its process has ended. Where that cannot be told, because
    it is on another machine for example, it counts as gone when DDS has missed its liveliness. One that is silent for
    15 times as long hangs, and counts as gone in any case. DDS alone would not do: it says that a writer died, not
    which, and on a busy machine a process may wait for a processor for longer than its lease. Nor would silence: an
    interpreter may pause. While this process itself pauses, nobody is silent.

    Args:
        node: the node that talks; other threads spin it.
        silence_s: see above.
        clock: seconds in which this process was awake.
    """

    def __init__(self, node: Node, silence_s: float = 0.3, clock: Callable[[], float] | None = None) -> None:
        self._node = node
        self._name = node.get_fully_qualified_name()
        self._silence_s = silence_s
        self._clock = clock or AwakeClock()
        self._session = uuid.uuid4().bytes
        self._process = identity_of(os.getpid())
        self._asked: dict[bytes, str] = {}
        self._carried_out: set[bytes] = set()
        self._peers: dict[bytes, _Peer] = {}
        self._cancellers: OrderedDict[str, Any] = OrderedDict()
        self._missed_s = 0.0
        self._lock = threading.Lock()
        self._changed = threading.Event()
        self._closed = False
        lease = Duration(nanoseconds=int(silence_s * _LEASE_SHARE * 1e9))
        offered = QoSProfile(
            depth=1,
            durability=DurabilityPolicy.TRANSIENT_LOCAL,
            liveliness=LivelinessPolicy.AUTOMATIC,
            liveliness_lease_duration=lease,
        )
        self._publisher = node.create_publisher(rm.RunningGoals, TOPIC, offered)
        self._group = ReentrantCallbackGroup()
        self._subscription = node.create_subscription(
            rm.RunningGoals,
            TOPIC,
            self._on_announcement,
            QoSProfile(depth=50, durability=DurabilityPolicy.TRANSIENT_LOCAL, liveliness=LivelinessPolicy.AUTOMATIC),
            callback_group=self._group,
            event_callbacks=SubscriptionEventCallbacks(liveliness=self._on_liveliness),
        )
        self._announcer = WorkerThread("running-goals", self._announce)
        self._announcer.start()

    def close(self) -> None:
        """Stop announcing; before the node is destroyed."""
        self._closed = True
        self._changed.set()
        self._announcer.join(1.0)

    @contextmanager
    def asking(self, action: str, goal_id: bytes) -> Iterator[None]:
        """Announce a goal that this node sends to `action`, until the block ends."""
        with self._lock:
            self._asked[goal_id] = full_name(self._node, action)
        self._changed.set()
        try:
            yield
        finally:
            with self._lock:
                del self._asked[goal_id]
            self._changed.set()

    @contextmanager
    def carrying_out(self, goal_id: bytes) -> Iterator[None]:
        """Announce a goal of another node that this one works on, until the block ends."""
        with self._lock:
            self._carried_out.add(goal_id)
        self._changed.set()
        try:
            yield
        finally:
            with self._lock:
                self._carried_out.discard(goal_id)
            self._changed.set()

    def is_announced(self, goal_id: bytes) -> bool:
        """Return whether some node has said that it waits for the goal."""
        with self._lock:
            return any(goal_id in peer.asked for peer in self._peers.values())

    def is_awaited(self, goal_id: bytes) -> bool:
        """Return whether a node that is there waits for the goal, by what it said last."""
        with self._lock:
            return any(goal_id in peer.asked and not self._is_gone(peer) for peer in self._peers.values())

    def lost_asker(self, goal_id: bytes) -> str:
        """Return the name of the node that sent a goal and is gone; "" while there is no such."""
        with self._lock:
            return next((p.node for p in self._peers.values() if goal_id in p.asked and self._is_gone(p)), "")

    def lost_server(self, goal_id: bytes) -> str:
        """Return the name of the node that carried a goal out and is gone; "" while there is no such."""
        with self._lock:
            return next((p.node for p in self._peers.values() if goal_id in p.carried_out and self._is_gone(p)), "")

    def cancel_for_server(self, goal_id: bytes) -> None:
        """Cancel the goals that a lost server has sent to others: it can no longer do so itself."""
        with self._lock:
            peers = [peer for peer in self._peers.values() if goal_id in peer.carried_out]
        for peer in peers:
            for asked, action in peer.asked.items():
                self.cancel(action, asked)

    def cancel(self, action: str, goal_id: bytes) -> None:
        """Ask an action server to cancel a goal, whoever has sent it."""
        request = CancelGoal.Request()
        request.goal_info.goal_id.uuid = list(goal_id)
        try:
            self._canceller(action).call_async(request)
        except InvalidServiceNameException:  # announced by somebody else; it was told when it came
            return

    @property
    def others_are_busy(self) -> bool:
        """Whether another node that is there has something running."""
        with self._lock:
            return any((p.asked or p.carried_out) and not self._is_gone(p) for p in self._peers.values())

    def _is_gone(self, peer: _Peer) -> bool:
        silent_s = self._clock() - peer.heard_s
        if silent_s <= self._silence_s:
            return False
        if silent_s > _HANGS_AFTER * self._silence_s:
            return True
        # Of a node in this very process, the process tells nothing.
        is_there = None if peer.process == self._process else goes_on(peer.process)
        return self._missed_s > peer.heard_s if is_there is None else not is_there

    def _is_past(self, peer: _Peer) -> bool:
        return self._clock() - peer.heard_s > _FORGOTTEN_AFTER_S

    def _canceller(self, action: str) -> Any:
        """Return a client that cancels goals of an action; the ones that were not asked for longest are let go.

        Raises:
            InvalidServiceNameException: it is no name of an action.
        """
        with self._lock:
            if action not in self._cancellers:
                self._cancellers[action] = self._node.create_client(
                    CancelGoal, f"{action}/_action/cancel_goal", callback_group=self._group
                )
                if len(self._cancellers) > _MOST_SERVERS:
                    self._node.destroy_client(self._cancellers.popitem(last=False)[1])
            self._cancellers.move_to_end(action)
            return self._cancellers[action]

    def _on_liveliness(self, change: Any) -> None:
        if change.alive_count_change < 0:
            self._missed_s = self._clock()

    def _on_announcement(self, message: rm.RunningGoals) -> None:
        session = bytes(message.session.uuid)
        if session == self._session:
            return
        if len(message.asked) > _MOST_GOALS or len(message.carried_out) > _MOST_GOALS:
            self._skip(f"expected at most {_MOST_GOALS} goals of a node, got {len(message.asked)} asked for")
            return
        asked = {bytes(goal.goal_id.uuid): goal.action for goal in message.asked}
        carried_out = frozenset(bytes(goal_id.uuid) for goal_id in message.carried_out)
        with self._lock:
            self._peers.pop(session, None)
            self._peers = {key: peer for key, peer in self._peers.items() if not self._is_past(peer)}
            while len(self._peers) >= _MOST_PEERS:  # the one that was heard longest ago
                self._peers.pop(next(iter(self._peers)))
            if asked or carried_out:
                self._peers[session] = _Peer(message.node, message.process, self._clock(), asked, carried_out)
        for action in set(asked.values()):
            try:
                self._canceller(action)  # now: a service takes a while to be found, and a cancel must not wait for that
            except InvalidServiceNameException:
                self._skip(f"expected the name of an action, got {shown(action)}")

    def _skip(self, why: str) -> None:
        self._node.get_logger().warning(f"skipped what {TOPIC} told: {why}", throttle_duration_sec=10.0)

    def _announce(self) -> None:
        period_s = self._silence_s / _ANNOUNCEMENTS
        while not self._closed:
            with self._lock:
                message = self._message()
            self._publisher.publish(message)
            self._changed.wait(period_s if message.asked or message.carried_out else None)
            self._changed.clear()

    def _message(self) -> rm.RunningGoals:
        return rm.RunningGoals(
            node=self._name,
            session=_uuid(self._session),
            process=self._process,
            asked=[rm.RunningGoal(action=action, goal_id=_uuid(goal_id)) for goal_id, action in self._asked.items()],
            carried_out=[_uuid(goal_id) for goal_id in self._carried_out],
        )


def full_name(node: Node, action: str) -> str:
    """Return an action's name with its namespace, as remapping leaves it."""
    suffix = "/_action/cancel_goal"
    return str(node.resolve_service_name(action + suffix)).removesuffix(suffix)


def _uuid(value: bytes) -> UUID:
    return UUID(uuid=list(value))
