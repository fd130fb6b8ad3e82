"""Where people are, as a parameter or the topic `people` tells: memory keeps them as it keeps things."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from geometry_msgs.msg import PoseArray
from rclpy.callback_groups import MutuallyExclusiveCallbackGroup
from rclpy.node import Node

from memory_node.catalogue.object_kind import ObjectKind
from memory_node.domain.errors import InvalidValueError, RobotMemoryError
from memory_node.domain.skill import StateChange
from memory_node.memory import RobotMemory

# A person who has moved less is where they were: memory is durable, and poses come many times a second.
_MOVED_M = 0.3
_MOST_PEOPLE = 20
_MIDDLE_M = 0.6  # above the floor, of a kind without a size


class People:
    """Tells memory of people, whom things are handed over to. Their height is that of their kind.

    recipient: the label space's kind of them; None: it has none, and nothing is told. stays_at: x,y in the map of
    one who gives the instructions and does not move, "" for nobody.

    Raises:
        InvalidValueError: stays_at is something else.
    """

    def __init__(
        self,
        node: Node,
        memory: RobotMemory,
        recipient: ObjectKind | None,
        map_frame: str,
        stays_at: str = "",
    ) -> None:
        self._node = node
        self._memory = memory
        self._recipient = recipient
        self._map_frame = map_frame
        self._told: dict[int, tuple[float, float]] = {}
        if recipient is None:
            return
        if stays_at:
            self._tell([_place(stays_at)], 0)
        group = MutuallyExclusiveCallbackGroup()
        self._subscription = node.create_subscription(PoseArray, "people", self._on_poses, 1, callback_group=group)

    def _on_poses(self, message: PoseArray) -> None:
        frame, stamp = message.header.frame_id, message.header.stamp
        if frame != self._map_frame:
            text = f"people: expected poses in {self._map_frame!r} (parameter map_frame), got {frame!r}: left out"
            self._node.get_logger().warning(text, throttle_duration_sec=30.0)
            return
        positions = [(p.position.x, p.position.y) for p in message.poses[:_MOST_PEOPLE]]
        try:
            self._tell(positions, stamp.sec * 10**9 + stamp.nanosec)
        except RobotMemoryError as error:
            self._node.get_logger().warning(f"people: {error}", throttle_duration_sec=30.0)

    def _tell(self, positions: Sequence[tuple[float, float]], stamp_ns: int) -> None:
        """Tell memory where those are who have moved; positions (x, y) in the map."""
        assert self._recipient is not None
        kind = self._recipient
        moved = {
            number: position
            for number, position in enumerate(positions)
            if np.isfinite(position).all()
            and (number not in self._told or np.hypot(*np.subtract(position, self._told[number])) > _MOVED_M)
        }
        if not moved:
            return
        middle_m = kind.size_m[2] / 2.0 if kind.size_m is not None else _MIDDLE_M
        # "Put down" is how memory is told where a thing is now.
        self._memory.remember(
            [
                StateChange(
                    f"person {at + 1}", kind.name, stamp_ns, held=False, position=(x, y, middle_m), source="skill"
                )
                for at, (x, y) in moved.items()
            ]
        )
        self._told |= moved


def _place(text: str) -> tuple[float, float]:
    try:
        x, y = map(float, text.split(","))
    except ValueError:
        x = y = float("nan")
    if not np.isfinite((x, y)).all():
        raise InvalidValueError(f"person_at: expected x,y in metres, such as 3.2,1.0, got {text!r}")
    return x, y
