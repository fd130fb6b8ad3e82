"""Announces the goals that this node has on action servers, and notices when another node is lost.

ROS 2's graph tells of a killed node only after DDS's lease (10 s), and nothing tells a server who sent it a goal. A
robot has to stop within half a second, so each node with goals says on a topic what it has running, and holds two
things that it cannot keep when it ends: a lifeline for nodes on its machine, a liveliness lease for all others.

None of ROS 2's own means does this alone. A bond and a liveliness lease are heartbeats: short enough for half a second
they stop robots falsely on starved cores, long enough for those they are late. A lifecycle state stays `active` after a
kill, and the graph names a killed node's endpoints for 10 s. A lifeline does not reach another machine.
"""

from __future__ import annotations

import contextlib
import math
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from socket import socket
from typing import TYPE_CHECKING, Any

from action_msgs.msg import GoalInfo
from action_msgs.srv import CancelGoal
from rclpy.callback_groups import MutuallyExclusiveCallbackGroup, ReentrantCallbackGroup
from rclpy.duration import Duration
from rclpy.exceptions import InvalidHandle, InvalidServiceNameException
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, LivelinessPolicy, QoSProfile
from robot_memory import msg as rm
from std_msgs.msg import Empty
from unique_identifier_msgs.msg import UUID

from memory_node.domain.process import WorkerThread
from memory_node.nodes.lifeline import held_lifeline, is_cut, is_ending, watched_lifeline

if TYPE_CHECKING:
    from memory_node.nodes.goal_server import GoalServer

try:
    from rclpy.event_handler import SubscriptionEventCallbacks
except ImportError:  # Humble
    from rclpy.qos_event import SubscriptionEventCallbacks

TOPIC = "running_goals"
_CANCEL = "/_action/cancel_goal"
# What the graph calls the node of an endpoint before it has heard of it.
_UNKNOWN = "_NODE_NAMESPACE_UNKNOWN_/_NODE_NAME_UNKNOWN_"
# DDS tells after 0.3 s of a process that has ended, is stopped, or gets no processor at all. The lease is for both
# sides: Fast DDS takes what the subscription asks for, Cyclone DDS what the publisher offers.
LEASE_S = 0.3
# A process whose lifeline holds has not ended: on a busy machine it may be silent for so long (s).
_STARVED_S = 3.0
_LEASED = QoSProfile(
    depth=1, liveliness=LivelinessPolicy.AUTOMATIC, liveliness_lease_duration=Duration(nanoseconds=int(LEASE_S * 1e9))
)
_LATCHED_LAST = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
_LATCHED_OF_ALL = QoSProfile(depth=50, durability=DurabilityPolicy.TRANSIENT_LOCAL)
# A node with goals also renews its lease by a message so often (s): it then runs out only where a busy machine starves
# both its DDS and its Python.
_BEAT_S = 0.1
# By then every waiting goal has noticed a lost node (s).
_FORGOTTEN_S = 10.0
# Bounds on announcements. A robot has a handful of nodes with a handful of goals each; larger announcements are
# ignored.
_MAX_PEERS, _MAX_GOALS, _MAX_CANCELLERS = 64, 32, 32
# The service of a lost node's server appears to a new client within this time (s).
_CANCEL_CONNECT_S = 1.0


@dataclass
class Peer:
    """Another node as it announced itself last; goal ids as bytes.

    silence_s: see RunningGoals.
    lease: the subscription that DDS tells its liveliness by.
    lifeline: to its process; None for one on another machine.
    lost_s: the monotonic time since when DDS has missed it; endless while it is alive.
    """

    node: str
    silence_s: float
    lease: Any = None
    lifeline: socket | None = None
    asked: dict[bytes, str] = field(default_factory=dict)
    carried_out: frozenset[bytes] = frozenset()
    lost_s: float = math.inf

    @property
    def is_busy(self) -> bool:
        """Whether it has anything running."""
        return bool(self.asked or self.carried_out)

    @property
    def is_gone(self) -> bool:
        """Whether the node was lost: its process has ended, or was silent for too long."""
        silence_s, line = self.silence_s, self.lifeline  # which another thread may let go of
        if line is not None:
            if is_cut(line):
                return True
            if math.isfinite(self.lost_s) and not is_ending(line):
                silence_s = max(silence_s, _STARVED_S)
        return time.monotonic() - self.lost_s > max(0.0, silence_s - LEASE_S)

    def let_go(self) -> None:
        """Let go of its lifeline."""
        line, self.lifeline = self.lifeline, None
        if line is not None:
            line.close()

    def on_liveliness(self, change: Any) -> None:
        """Take note of what DDS tells of its lease."""
        self.lost_s = math.inf if change.alive_count else time.monotonic()


class RunningGoals:
    """What this node and the others have running, on the topic `running_goals`.

    Args:
        node: the node that talks; other threads spin it.
        silence_s: a node on another machine is gone when DDS has heard nothing of it for so long, and for no less than
            its lease.

    Attributes:
        servers: of this node's actions; each adds itself.
    """

    def __init__(self, node: Node, silence_s: float = LEASE_S) -> None:
        self._node = node
        self._silence_s = silence_s
        self._name = node.get_fully_qualified_name()
        self._session = uuid.uuid4().bytes
        self.servers: list[GoalServer] = []
        self._asked: dict[bytes, str] = {}  # goal -> action
        self._carried_out: dict[bytes, str] = {}
        self._peers: dict[bytes, Peer] = {}
        self._cancellers: dict[str, Any] = {}
        self._lock = threading.Lock()
        self._closed = threading.Event()
        self._telling = threading.Lock()  # what is announced later is newer
        self._lifeline = held_lifeline(self._session.hex())
        self._publisher = node.create_publisher(rm.RunningGoals, TOPIC, _LATCHED_LAST)
        self._lease = node.create_publisher(Empty, self._lease_topic(self._session), _LEASED)
        in_order = MutuallyExclusiveCallbackGroup()  # the last announcement counts
        self._subscription = node.create_subscription(
            rm.RunningGoals, TOPIC, self._on_announcement, _LATCHED_OF_ALL, callback_group=in_order
        )
        self._tell()
        self._beat = WorkerThread("running-goals", self._renew)
        self._beat.start()

    def close(self) -> None:
        """Leave the others; before the node is destroyed."""
        self._closed.set()
        self._beat.join(1.0)
        self._node.destroy_subscription(self._subscription)
        self._node.destroy_publisher(self._publisher)
        self._node.destroy_publisher(self._lease)
        if self._lifeline is not None:
            self._lifeline.close()
        with self._lock:
            for peer in self._peers.values():
                peer.let_go()

    @property
    def is_idle(self) -> bool:
        """Whether this node carries out nothing."""
        return all(server.is_idle for server in list(self.servers))

    def end(self) -> None:
        """Tell what this node carries out to stop, and accept no more."""
        for server in list(self.servers):
            server.end()

    def asking(self, action: str, goal_id: bytes) -> AbstractContextManager[None]:
        """Announce a goal that this node sends to `action`, until the block ends."""
        name = str(self._node.resolve_service_name(action + _CANCEL)).removesuffix(_CANCEL)
        return self._announced(self._asked, goal_id, name)

    def carrying_out(self, goal_id: bytes) -> AbstractContextManager[None]:
        """Announce a goal of another node that this one works on, until the block ends."""
        return self._announced(self._carried_out, goal_id)

    @contextmanager
    def _announced(self, goals: dict[bytes, str], goal_id: bytes, action: str = "") -> Iterator[None]:
        try:
            with self._lock:
                goals[goal_id] = action
            self._publish(self._lease, Empty())
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
        for goal_id, client in [(goal_id, self._canceller(action)) for goal_id, action in lost.asked.items()]:
            if client is not None and not client.wait_for_service(_CANCEL_CONNECT_S):
                self._node.get_logger().error(f"cannot cancel a goal of a lost node: nobody offers {client.srv_name}")
            elif client is not None:
                client.call_async(CancelGoal.Request(goal_info=GoalInfo(goal_id=_uuid(goal_id))))

    @property
    def others_are_busy(self) -> bool:
        """Whether another node that is there has something running."""
        with self._lock:
            return any(p.is_busy and not p.is_gone for p in self._peers.values())

    def _canceller(self, action: str) -> Any:
        """Return the client that cancels goals of an action; None for one too many, or what is no name."""
        if action not in self._cancellers and len(self._cancellers) < _MAX_CANCELLERS:
            with contextlib.suppress(InvalidServiceNameException):  # anybody may announce anything
                group = ReentrantCallbackGroup()
                self._cancellers[action] = self._node.create_client(CancelGoal, action + _CANCEL, callback_group=group)
        return self._cancellers.get(action)

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
            for action in asked.values():  # now: the middleware takes a tenth of a second and more to connect a client
                self._canceller(action)
        with self._lock:
            peer = self._peers.pop(session, None) or self._met(session, message.node)
            if not peer.is_busy:
                # Its lease may have run out while it was idle: DDS notices a node before its lease's renewals.
                peer.lost_s = math.inf
            peer.asked, peer.carried_out = asked, carried_out
            self._peers[session] = peer  # last: it was heard last

    def _met(self, session: bytes, node: str) -> Peer:
        """Return a node that was not known before, and forget those that are no use any more."""
        for other, known in list(self._peers.items()):
            if time.monotonic() - known.lost_s > _FORGOTTEN_S or len(self._peers) >= _MAX_PEERS:
                known.let_go()
                self._node.destroy_subscription(self._peers.pop(other).lease)
        peer = Peer(node, self._silence_s, lifeline=watched_lifeline(session.hex()))
        peer.lease = self._node.create_subscription(
            Empty,
            self._lease_topic(session),
            lambda _: None,
            _LEASED,
            callback_group=ReentrantCallbackGroup(),
            event_callbacks=SubscriptionEventCallbacks(liveliness=peer.on_liveliness),
        )
        return peer

    def _lease_topic(self, session: bytes) -> str:
        """Return the topic on which a node holds its lease: beside the announcements, and hidden from lists."""
        return f"{self._publisher.topic_name}/_lease_{session.hex()}"

    def _renew(self) -> None:
        while not self._closed.wait(_BEAT_S):
            if self._lifeline is not None:
                self._lifeline.let_in()
            if self._asked or self._carried_out:
                self._publish(self._lease, Empty())

    def _tell(self) -> None:
        with self._telling:
            with self._lock:
                asked = [rm.RunningGoal(action=name, goal_id=_uuid(goal_id)) for goal_id, name in self._asked.items()]
                carried_out = [_uuid(goal_id) for goal_id in self._carried_out]
            session = _uuid(self._session)
            told = rm.RunningGoals(node=self._name, session=session, asked=asked, carried_out=carried_out)
            self._publish(self._publisher, told)

    def _publish(self, publisher: Any, message: Any) -> None:
        try:
            publisher.publish(message)
        except (InvalidHandle, RuntimeError) as error:  # RCLError is the latter
            if self._node.context.ok() and not isinstance(error, InvalidHandle):
                raise  # else nobody hears it any more: ROS was shut down, or the node has gone


def _full_name(endpoint: Any) -> str:
    return f"{endpoint.node_namespace.rstrip('/')}/{endpoint.node_name}"


def _uuid(value: bytes) -> UUID:
    return UUID(uuid=list(value))
