"""What an executor needs of a thing that has a callback, and what the things that a node owns on the graph share."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

from ros_embedded.rclpy.callback_groups import CallbackGroup
from ros_embedded.rclpy.exceptions import InvalidHandle

if TYPE_CHECKING:
    from ros_embedded.rclpy.impl.endpoint import Reader, Writer
    from ros_embedded.rclpy.node import Node


class OwnHandle:
    """What its `handle` is: `with thing.handle:` is left as it was entered."""

    def __enter__(self) -> None:
        """Nothing to lock: a call after the end raises."""

    def __exit__(self, *_: object) -> None:
        """Nothing to free."""


class Destroyable(OwnHandle):
    """Freed once; then its handle is invalid."""

    _destroyed = False

    @property
    def handle(self) -> Any:
        """Itself: there are no separate C handles here. Raises InvalidHandle once destroyed."""
        if self._destroyed:
            raise InvalidHandle("cannot use Destroyable because destruction was requested")
        return self

    def destroy(self) -> None:
        """Free it; calling again has no effect."""
        if not self._destroyed:
            self._destroyed = True
            self._close()

    def _close(self) -> None:
        raise NotImplementedError


class ExecutableEntity(Destroyable):
    """Its `_condition`, if any, wakes the executor, which then takes the work and calls it in the callback group."""

    _PLACE: ClassVar[int] = 0  # among what is ready at the same time, the order of rclpy's executors

    def __init__(self, callback_group: CallbackGroup | None, condition: int | None) -> None:
        self.callback_group, self._condition = callback_group, condition

    def _take(self) -> Callable[[], Any] | None:
        """The call to make now, or None if the work has gone meanwhile."""
        raise NotImplementedError


class NodeEntity(ExecutableEntity):
    """Endpoints of a node that go together: a publisher, subscription, service or client."""

    event_handlers: list[Any]

    def __init__(self, node: Node, callback_group: CallbackGroup, *endpoints: Reader | Writer) -> None:
        conditions = [endpoint.condition for endpoint in endpoints if endpoint.condition is not None]
        super().__init__(callback_group, conditions[0] if conditions else None)
        self._node, self._endpoints, self.event_handlers = node, endpoints, []
        node._rclpy_core.add(self)

    @property
    def context(self) -> Any:
        return self._node.context

    @property
    def logger_name(self) -> str:
        return self._node.get_logger().name

    def _close(self) -> None:
        for handler in self.event_handlers:
            self._node._rclpy_core.destroy(handler)
        self.context.participant.remove(self._node._rclpy_core.entities, *self._endpoints)
