"""What Nav2's lifecycle manager does with its nodes, written after its protocol: transitions by number, a bond each."""

import threading
import time
import uuid
from typing import Any

from lifecycle_msgs.msg import State, Transition
from lifecycle_msgs.srv import ChangeState, GetState
from ros_peer import RosPeer, wait_until

_BEAT_S, _SILENCE_S, _FORMED_S = 0.1, 2.0, 4.0


class BondOfManager:
    """The manager's side of a bond: formed by the first beat of the node, broken by its goodbye or by silence."""

    def __init__(self, peer: RosPeer, namespace: str, node: str, status_type: Any) -> None:
        self._status_type = status_type
        self._node = node
        self._instance_id = str(uuid.uuid4())
        self._lock = threading.Lock()
        self._last_s: float | None = None
        self._said_goodbye = False
        self._peer = peer
        self._publisher = peer.node.create_publisher(status_type, f"{namespace}/bond", 5)
        self._subscription = peer.node.create_subscription(status_type, f"{namespace}/bond", self._on_status, 100)
        self._timer = peer.node.create_timer(_BEAT_S, lambda: self._say(active=not self._said_goodbye))

    @property
    def is_formed(self) -> bool:
        """Whether the node has answered."""
        return self._last_s is not None

    @property
    def is_broken(self) -> bool:
        """Whether the node has said goodbye or been silent for too long."""
        with self._lock:
            silent = self._last_s is not None and time.monotonic() - self._last_s > _SILENCE_S
            return self._said_goodbye or silent

    def close(self) -> None:
        """Break the bond."""
        self._peer.node.destroy_timer(self._timer)
        self._say(active=False)
        self._peer.node.destroy_subscription(self._subscription)
        self._peer.node.destroy_publisher(self._publisher)

    def _on_status(self, status: Any) -> None:
        if status.id != self._node or status.instance_id == self._instance_id:
            return
        with self._lock:
            self._last_s = time.monotonic()
            self._said_goodbye = self._said_goodbye or not status.active

    def _say(self, active: bool) -> None:
        status = self._status_type(id=self._node, instance_id=self._instance_id, active=active)
        status.heartbeat_timeout, status.heartbeat_period = _SILENCE_S, _BEAT_S
        self._publisher.publish(status)


class Nav2Manager:
    """Brings a node up and down, and looks at its state after each step."""

    def __init__(self, peer: RosPeer, namespace: str, node: str, status_type: Any) -> None:
        self._peer = peer
        self._namespace = namespace
        self._node = node
        self._status_type = status_type
        self.bond: BondOfManager | None = None

    def bring_up(self) -> None:
        """Configure, activate, and form the bond, which Nav2 gives 4 s."""
        self._change(Transition.TRANSITION_CONFIGURE, State.PRIMARY_STATE_INACTIVE)
        self._change(Transition.TRANSITION_ACTIVATE, State.PRIMARY_STATE_ACTIVE)
        bond = self.bond = BondOfManager(self._peer, self._namespace, self._node, self._status_type)
        wait_until(lambda: bond.is_formed, _FORMED_S)

    def shut_down(self) -> None:
        """Deactivate, clean up, finalize."""
        self._change(Transition.TRANSITION_DEACTIVATE, State.PRIMARY_STATE_INACTIVE)
        self._change(Transition.TRANSITION_CLEANUP, State.PRIMARY_STATE_UNCONFIGURED)
        self._change(Transition.TRANSITION_UNCONFIGURED_SHUTDOWN, State.PRIMARY_STATE_FINALIZED)

    def _change(self, transition: int, expected: int) -> None:
        services = f"{self._namespace}/{self._node}"
        asked = Transition(id=transition)
        assert self._peer.call(ChangeState, f"{services}/change_state", transition=asked).success
        assert self._peer.call(GetState, f"{services}/get_state").current_state.id == expected
