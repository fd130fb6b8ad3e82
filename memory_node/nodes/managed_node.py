"""Nodes that ROS 2's lifecycle tools configure, activate, deactivate and clean up."""

from __future__ import annotations

import traceback
import uuid
from collections.abc import Callable, Iterator
from typing import Any

from lifecycle_msgs.srv import ChangeState
from rclpy.callback_groups import MutuallyExclusiveCallbackGroup
from rclpy.lifecycle import LifecycleNodeMixin, LifecycleState, TransitionCallbackReturn
from rclpy.node import Node

from memory_node.domain.errors import RobotMemoryError
from memory_node.nodes.guarded_node import GuardedNode
from memory_node.nodes.health_parameters import LifecycleParameters
from memory_node.nodes.parameters import declare

# In the namespace of the node, where its manager is, too.
TOPIC = "bond"
# Silence after which a bond counts as broken: Nav2's value (s).
_TIMEOUT_S = 4.0


class Bond:
    """One side of a bond, named after its node: says `active` once a period, and says goodbye when it ends.

    If the other side falls silent, the node does nothing: then the manager has died. Without the package `bond` there
    is no heartbeat, and the log says so.

    Args:
        node: the node that talks; other threads spin it.
        period_s: time between two heartbeats; 0: there is no bond.
    """

    def __init__(self, node: Node, period_s: float) -> None:
        self._node = node
        self._period_s = period_s
        self._instance_id = str(uuid.uuid4())
        self._publisher: Any = None
        self._timer: Any = None
        self._status_type: Any = _status_type() if period_s > 0.0 else None
        if period_s > 0.0 and self._status_type is None:
            node.get_logger().info("the package bond is not installed: no heartbeat for a lifecycle manager")

    def start(self) -> None:
        """Begin to beat."""
        if self._status_type is None or self._publisher is not None:
            return
        self._publisher = self._node.create_publisher(self._status_type, TOPIC, 10)
        group = MutuallyExclusiveCallbackGroup()  # beats while other callbacks are busy: only a hanging node is silent
        self._timer = self._node.create_timer(self._period_s, self._beat, callback_group=group)

    def stop(self) -> None:
        """Say goodbye."""
        if self._publisher is None:
            return
        self._node.destroy_timer(self._timer)
        self._say(active=False)
        self._node.destroy_publisher(self._publisher)
        self._publisher = self._timer = None

    def _beat(self) -> None:
        self._say(active=True)

    def _say(self, active: bool) -> None:
        status = self._status_type(
            id=self._node.get_name(),
            instance_id=self._instance_id,
            active=active,
            heartbeat_timeout=_TIMEOUT_S,
            heartbeat_period=self._period_s,
        )
        status.header.stamp = self._node.get_clock().now().to_msg()
        if self._publisher is not None:
            self._publisher.publish(status)


def _status_type() -> Any:
    try:
        from bond.msg import Status
    except ImportError:
        return None
    return Status


_DONE, _REFUSED, _FAILED = (
    TransitionCallbackReturn.SUCCESS,
    TransitionCallbackReturn.FAILURE,
    TransitionCallbackReturn.ERROR,
)


class ManagedNode(LifecycleNodeMixin, GuardedNode):
    """A managed node (design.ros2.org/articles/node_lifecycle.html) that makes itself active unless told otherwise.

    Subclasses say what each transition does in `configure`, `activate`, `deactivate` and `clean_up`. Topics, services
    and timers that `activate` makes are gone when the node is deactivated. A RobotMemoryError refuses a transition:
    the node stays in the state before. With the parameter `lifecycle: false` there are no lifecycle services.

    Args:
        name: the node's name.
        kind: its parameters, LifecycleParameters among them; `config` has their values.
    """

    def __init__(self, name: str, kind: type[Any]) -> None:
        GuardedNode.__init__(self, name)
        self.config = declare(self, kind)
        self._lifecycle: LifecycleParameters = self.config
        self._failure: Exception | None = None
        self._is_configured = self._is_active = False
        self._offered: list[tuple[Callable[[Any], object], Any]] = []
        self._bond = Bond(self, self._lifecycle.bond_period_s if self._lifecycle.lifecycle else 0.0)
        self.at_end.callback(self._close)
        LifecycleNodeMixin.__init__(self, enable_communication_interface=self._lifecycle.lifecycle)
        for service in self.services:
            if service.srv_type is ChangeState:
                service.callback = _refusing(service.callback)

    def start(self) -> None:
        """Make the node active, unless a lifecycle manager shall; subclasses call it when they are made.

        Raises:
            RobotMemoryError: what kept it from that.
        """
        if self._lifecycle.lifecycle and not self._lifecycle.autostart:
            self.get_logger().info("waits to be configured: `ros2 lifecycle set`, or a lifecycle manager")
            return
        for trigger in (self.trigger_configure, self.trigger_activate):
            if trigger() != _DONE and self._failure is not None:
                raise self._failure

    # --- what subclasses do ----------------------------------------------------------------------

    def configure(self) -> None:
        """Open what the node works with; nothing is offered yet."""

    def activate(self) -> None:
        """Listen, publish and serve."""

    def deactivate(self) -> None:
        """End what runs; what was opened stays open."""

    def clean_up(self) -> None:
        """Close what `configure` opened."""

    # --- rclpy's callbacks -----------------------------------------------------------------------

    def on_configure(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Configure; FAILURE when that is refused."""
        result = self._attempt(self.configure)
        self._is_configured = result == _DONE
        return result

    def on_activate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Activate, and start the heartbeat; a failed attempt is cleaned up."""
        before = {id(entity) for _, entity in self._entities()}
        result = self._attempt(self.activate)
        self._offered = [(destroy, entity) for destroy, entity in self._entities() if id(entity) not in before]
        self._is_active = True
        if result == _DONE:
            self._bond.start()
        else:
            self._withdraw()
        return result

    def on_deactivate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Deactivate."""
        return self._withdraw()

    def on_cleanup(self, state: LifecycleState) -> TransitionCallbackReturn:
        """End and close everything, also what a failed transition has left open; the process goes on."""
        return self._close()

    on_shutdown = on_error = on_cleanup

    def _withdraw(self) -> TransitionCallbackReturn:
        if not self._is_active:
            return _DONE
        self._is_active = False
        self._bond.stop()
        result = self._attempt(self.deactivate)
        for destroy, entity in self._offered:
            destroy(entity)
        self._offered = []
        return result

    def _close(self) -> TransitionCallbackReturn:
        results = [self._withdraw()]
        if self._is_configured:
            self._is_configured = False
            results.append(self._attempt(self.clean_up))
        return _DONE if all(result == _DONE for result in results) else _FAILED

    def _attempt(self, step: Callable[[], None]) -> TransitionCallbackReturn:
        try:
            step()
        except RobotMemoryError as error:
            self._failure = error
            self.get_logger().error(f"cannot {step.__name__.replace('_', ' ')}: {error}")
            return _REFUSED
        except Exception as error:  # the boundary of the node: rclpy would say nothing of it
            self._failure = error
            self.get_logger().error(f"{step.__name__}: {error}\n{traceback.format_exc()}")
            return _FAILED
        return _DONE

    def _entities(self) -> Iterator[tuple[Callable[[Any], object], Any]]:
        for kind in ("timer", "subscription", "service", "client", "publisher"):
            for entity in list(getattr(self, f"{kind}s")):
                yield getattr(self, f"destroy_{kind}"), entity


def _refusing(change: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """Answer a transition that the state does not allow with no success; rclpy raises, which would end the process."""

    def guarded(request: Any, response: Any) -> Any:
        try:
            return change(request, response)
        except RuntimeError:  # RCLError; the state machine has logged it
            response.success = False
            return response

    return guarded
