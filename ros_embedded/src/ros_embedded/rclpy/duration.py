"""A span of time, in nanoseconds."""

from __future__ import annotations

from functools import total_ordering
from typing import Any

from ros_embedded.interfaces import get_message

S_TO_NS = 1_000_000_000


@total_ordering
class Duration:
    """A signed span of time; fits 64 bits."""

    def __init__(self, *, seconds: float = 0, nanoseconds: float = 0) -> None:
        total = int(seconds * S_TO_NS) + int(nanoseconds)
        if not -(2**63) <= total < 2**63:
            raise OverflowError("Total nanoseconds value is too large to store in C duration.")
        self._nanoseconds = total

    @property
    def nanoseconds(self) -> int:
        return self._nanoseconds

    def __repr__(self) -> str:
        return f"Duration(nanoseconds={self.nanoseconds})"

    def __str__(self) -> str:
        if self == Infinite:
            return "Infinite"
        return f"{self.nanoseconds} nanoseconds"

    __hash__ = None  # type: ignore[assignment]  # as in rclpy

    def __eq__(self, other: object) -> bool:
        return self.nanoseconds == other.nanoseconds if isinstance(other, Duration) else NotImplemented

    def __lt__(self, other: Duration) -> bool:
        return self.nanoseconds < other.nanoseconds if isinstance(other, Duration) else NotImplemented

    def to_msg(self) -> Any:
        seconds, nanoseconds = divmod(self.nanoseconds, S_TO_NS)
        return get_message("builtin_interfaces/msg/Duration")(sec=seconds, nanosec=nanoseconds)

    @classmethod
    def from_msg(cls, msg: Any) -> Duration:
        """From builtin_interfaces/msg/Duration. Raises TypeError."""
        if not isinstance(msg, get_message("builtin_interfaces/msg/Duration")):
            raise TypeError("Must pass a builtin_interfaces.msg.Duration object")
        return cls(seconds=msg.sec, nanoseconds=msg.nanosec)


Infinite = Duration(nanoseconds=2**63 - 1)
