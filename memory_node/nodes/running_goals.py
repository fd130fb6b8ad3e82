"""Announces the goals that this node has on action servers, and notices when another node is lost.

ROS 2's graph tells of a killed node only after DDS's lease (10 s). DDS's liveliness says that a writer is silent, not
which, and also of one that only waits for a processor. A robot has to stop within half a second of the first and must
not stop for the second, so nodes with goals say so on a topic, as a bond does.
"""

from __future__ import annotations

import contextlib
import os
import threading
import uuid
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Any

from action_msgs.srv import CancelGoal
from rclpy.callback_groups import MutuallyExclusiveCallbackGroup, ReentrantCallbackGroup
from rclpy.duration import Duration
from rclpy.exceptions import InvalidHandle, InvalidServiceNameException
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, LivelinessPolicy, QoSProfile
from robot_memory import msg as rm
from unique_identifier_msgs.msg import UUID

from memory_node.domain.worker_thread import WorkerThread
from memory_node.nodes.process_identity import goes_on, identity_of

try:
    from rclpy.event_handler import SubscriptionEventCallbacks
except ImportError:  # Humble
    from rclpy.qos_event import SubscriptionEventCallbacks

TOPIC = "running_goals"
# What the graph calls the node of an endpoint before it has heard of it.
_UNKNOWN = "_NODE_NAMESPACE_UNKNOWN_/_NODE_NAME_UNKNOWN_"
# A node with goals announces them so often within silence_s.
_BEATS = 4
# The middleware reports a death after this share of silence_s; Cyclone DDS renews a lease when 80 % of it have passed.
_LEASE_SHARE = 0.6
# Of a process that has ended, the last announcement may still be under way for so many beats.
_LAST_WORD_BEATS = 2
# A live process that is silent for so many beats hangs (15 times silence_s).
_HANGS_BEATS = 15 * _BEATS
# By then every waiting goal has noticed a lost node.
_FORGOTTEN_BEATS = 2000 * _BEATS
# Bounds on announcements. A robot has a handful of nodes with a handful of goals each; larger announcements are
# ignored.
_MAX_PEERS, _MAX_GOALS, _MAX_CANCELLERS = 64, 32, 32
# The service of a lost node's server appears to a new client within this time (s).
_CANCEL_CONNECT_S = 1.0


@dataclass
class Peer:
    """Another node as it announced itself last; ids as bytes.

    silent_beats: own beats since. Time in which this process got no processor is no silence of others.
    is_suspect: DDS has reported since that some writer is not alive any more.
    """

    node: str
    process: str
    asked: dict[bytes, str]
    carried_out: frozenset[bytes]
    silent_beats: int = 0
    is_suspect: bool = False

    @property
    def is_gone(self) -> bool:
        """Whether the node was lost."""
        if self.silent_beats < _LAST_WORD_BEATS:
            return False
        if self.silent_beats >= _HANGS_BEATS:
            return True
        is_there = goes_on(self.process)
        return is_there is False or (is_there is None and self.is_suspect and self.silent_beats >= _BEATS)


class RunningGoals:
    """What this node and the others have running, on the topic `running_goals`.

    A node is gone when its process has ended. Where that cannot be told, because it is on another machine for example,
    it is gone when it is silent for `silence_s` and DDS has missed its liveliness. One that is silent for 15 times as
    long hangs, and counts as gone in any case.

    Args:
        node: the node that talks; other threads spin it.
        silence_s: see above.
    """

    def __init__(self, node: Node, silence_s: float = 0.3) -> None:
        self._node = node
        self._period_s = silence_s / _BEATS
        self._session = uuid.uuid4().bytes
        self._process = identity_of(os.getpid())
        self._asked: dict[bytes, str] = {}  # goal -> action
        self._carried_out: dict[bytes, str] = {}
        self._peers: dict[bytes, Peer] = {}
        self._cancellers: dict[str, Any] = {}
        self._lock = threading.Lock()
        self._telling = threading.Lock()  # what is announced later is newer
        self._closed = threading.Event()
        latched = {"durability": DurabilityPolicy.TRANSIENT_LOCAL, "liveliness": LivelinessPolicy.AUTOMATIC}
        lease = Duration(nanoseconds=int(silence_s * _LEASE_SHARE * 1e9))
        offered = QoSProfile(depth=1, liveliness_lease_duration=lease, **latched)
        self._publisher = node.create_publisher(rm.RunningGoals, TOPIC, offered)
        self._subscription = node.create_subscription(
            rm.RunningGoals,
            TOPIC,
            self._on_announcement,
            QoSProfile(depth=50, **latched),
            callback_group=MutuallyExclusiveCallbackGroup(),  # in their order: the last one counts
            event_callbacks=SubscriptionEventCallbacks(liveliness=self._on_liveliness),
        )
        self._announcer = WorkerThread("running-goals", self._announce)
        self._announcer.start()

    def close(self) -> None:
        """Stop announcing; before the node is destroyed."""
        with self._telling:
            self._closed.set()
        self._announcer.join(1.0)

    def asking(self, action: str, goal_id: bytes) -> AbstractContextManager[None]:
        """Announce a goal that this node sends to `action`, until the block ends."""
        suffix = "/_action/cancel_goal"
        name = str(self._node.resolve_service_name(action + suffix)).removesuffix(suffix)
        return self._announced(self._asked, goal_id, name)

    def carrying_out(self, goal_id: bytes) -> AbstractContextManager[None]:
        """Announce a goal of another node that this one works on, until the block ends."""
        return self._announced(self._carried_out, goal_id)

    @contextmanager
    def _announced(self, goals: dict[bytes, str], goal_id: bytes, action: str = "") -> Iterator[None]:
        try:
            with self._lock:
                goals[goal_id] = action
            self._tell()
            yield
        finally:
            with self._lock:
                goals.pop(goal_id, None)
            self._tell()

    def other_side(self, goal_id: bytes) -> Peer | None:
        """Return the node that sent a goal to this one, or carries it out for it; None while none has said so."""
        with self._lock:
            return next((p for p in self._peers.values() if goal_id in p.asked or goal_id in p.carried_out), None)

    def unannounced_clients(self, topic: str) -> set[str]:
        """Return the full names of the nodes that subscribe to a topic and announce no goals, by ROS's graph."""
        announcing = {_full_name(info) for info in self._node.get_publishers_info_by_topic(TOPIC)} - {_UNKNOWN}
        return {_full_name(info) for info in self._node.get_subscriptions_info_by_topic(topic)} - announcing

    def cancel_for(self, lost: Peer) -> None:
        """Cancel the goals that a lost node has sent to others: it can no longer do so itself."""
        self._prepare_to_cancel(lost.asked.values())
        for goal_id, action in lost.asked.items():
            client = self._cancellers.get(action)
            if client is None:
                continue
            if not client.wait_for_service(_CANCEL_CONNECT_S):
                self._node.get_logger().error(f"cannot cancel a goal of a lost node: nobody offers {client.srv_name}")
                continue
            request = CancelGoal.Request()
            request.goal_info.goal_id.uuid = list(goal_id)
            client.call_async(request)

    @property
    def others_are_busy(self) -> bool:
        """Whether another node that is there has something running."""
        with self._lock:
            return any((p.asked or p.carried_out) and not p.is_gone for p in self._peers.values())

    def _prepare_to_cancel(self, actions: Iterable[str]) -> None:
        """Make clients that stay: the middleware takes a tenth of a second and more to connect a new one."""
        for action in actions:
            if action in self._cancellers or len(self._cancellers) >= _MAX_CANCELLERS:
                continue
            with contextlib.suppress(InvalidServiceNameException):  # anybody may announce anything
                name, group = f"{action}/_action/cancel_goal", ReentrantCallbackGroup()
                self._cancellers[action] = self._node.create_client(CancelGoal, name, callback_group=group)

    def _on_liveliness(self, change: Any) -> None:
        if change.alive_count_change < 0:
            with self._lock:
                for peer in self._peers.values():
                    peer.is_suspect = True

    def _on_announcement(self, message: rm.RunningGoals) -> None:
        session = bytes(message.session.uuid)
        if session == self._session:
            return
        if len(message.asked) > _MAX_GOALS or len(message.carried_out) > _MAX_GOALS:
            why = f"expected at most {_MAX_GOALS} goals of a node, got {len(message.asked)} asked for"
            self._node.get_logger().warning(f"skipped what {TOPIC} told: {why}", throttle_duration_sec=10.0)
            return
        asked = {bytes(goal.goal_id.uuid): goal.action for goal in message.asked}
        carried_out = frozenset(bytes(goal_id.uuid) for goal_id in message.carried_out)
        if not carried_out.isdisjoint(self._asked):
            self._prepare_to_cancel(asked.values())
        # Of a node in this very process, the process tells nothing.
        process = message.process if message.process != self._process else ""
        with self._lock:
            self._peers.pop(session, None)
            while len(self._peers) >= _MAX_PEERS:  # the one that was heard longest ago
                self._peers.pop(next(iter(self._peers)))
            if asked or carried_out:
                self._peers[session] = Peer(message.node, process, asked, carried_out)

    def _announce(self) -> None:
        self._tell()
        while not self._closed.wait(self._period_s):
            self._count_silence()
            if self._asked or self._carried_out:
                self._tell()

    def _tell(self) -> None:
        with self._telling:
            if self._closed.is_set():
                return
            try:
                self._publisher.publish(self._message())
            except (InvalidHandle, RuntimeError) as error:  # RCLError is the latter
                if self._node.context.ok() and not isinstance(error, InvalidHandle):
                    raise
                self._closed.set()  # nobody hears it any more: ROS was shut down, or the node has gone

    def _count_silence(self) -> None:
        with self._lock:
            for peer in self._peers.values():
                peer.silent_beats += 1
            self._peers = {key: peer for key, peer in self._peers.items() if peer.silent_beats < _FORGOTTEN_BEATS}

    def _message(self) -> rm.RunningGoals:
        with self._lock:
            asked = [rm.RunningGoal(action=name, goal_id=_uuid(goal_id)) for goal_id, name in self._asked.items()]
            carried_out = [_uuid(goal_id) for goal_id in self._carried_out]
        return rm.RunningGoals(
            node=self._node.get_fully_qualified_name(),
            session=_uuid(self._session),
            process=self._process,
            asked=asked,
            carried_out=carried_out,
        )


def _full_name(endpoint: Any) -> str:
    return f"{endpoint.node_namespace.rstrip('/')}/{endpoint.node_name}"


def _uuid(value: bytes) -> UUID:
    return UUID(uuid=list(value))
