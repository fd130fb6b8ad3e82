"""A point in time on one of the clocks."""

from __future__ import annotations

from enum import IntEnum
from functools import total_ordering
from typing import Any

from ros_embedded.interfaces import get_message
from ros_embedded.rclpy.duration import S_TO_NS, Duration


class ClockType(IntEnum):
    """The kinds of clocks in ROS."""

    UNINITIALIZED = 0
    ROS_TIME = 1
    SYSTEM_TIME = 2
    STEADY_TIME = 3


@total_ordering
class Time:
    """Nanoseconds since the epoch of `clock_type`; times of different clocks do not compare."""

    def __init__(
        self, *, seconds: float = 0, nanoseconds: float = 0, clock_type: ClockType = ClockType.SYSTEM_TIME
    ) -> None:
        if not isinstance(clock_type, ClockType):
            raise TypeError("Clock type must be a ClockType enum")
        if seconds < 0:
            raise ValueError("Seconds value must not be negative")
        if nanoseconds < 0:
            raise ValueError("Nanoseconds value must not be negative")
        total = int(seconds * S_TO_NS) + int(nanoseconds)
        if total >= 2**63:
            raise OverflowError("Total nanoseconds value is too large to store in C time point.")
        self._nanoseconds, self._clock_type = total, clock_type

    @property
    def nanoseconds(self) -> int:
        return self._nanoseconds

    def seconds_nanoseconds(self) -> tuple[int, int]:
        return divmod(self._nanoseconds, S_TO_NS)

    @property
    def clock_type(self) -> ClockType:
        return self._clock_type

    def __repr__(self) -> str:
        return f"Time(nanoseconds={self.nanoseconds}, clock_type={self.clock_type.name})"

    __hash__ = None  # type: ignore[assignment]  # as in rclpy

    def __add__(self, other: Duration) -> Time:
        if not isinstance(other, Duration):
            return NotImplemented
        return self._shifted(other.nanoseconds, "addition")

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        if isinstance(other, Time):
            if self.clock_type != other.clock_type:
                raise TypeError("Can't subtract times with different clock types")
            return Duration(nanoseconds=self.nanoseconds - other.nanoseconds)
        if isinstance(other, Duration):
            return self._shifted(-other.nanoseconds, "subtraction")
        return NotImplemented

    def _shifted(self, nanoseconds: int, operation: str) -> Time:
        try:
            return Time(nanoseconds=self.nanoseconds + nanoseconds, clock_type=self.clock_type)
        except OverflowError as error:
            raise OverflowError(f"{operation.title()} leads to overflow in C storage.") from error
        except ValueError as error:
            raise ValueError(f"{operation.title()} leads to negative time.") from error

    def __eq__(self, other: object) -> bool:
        return self.nanoseconds == self._comparable(other) if isinstance(other, Time) else NotImplemented

    def __lt__(self, other: Time) -> bool:
        return self.nanoseconds < self._comparable(other) if isinstance(other, Time) else NotImplemented

    def _comparable(self, other: Time) -> int:
        if self.clock_type != other.clock_type:
            raise TypeError("Can't compare times with different clock types")
        return other.nanoseconds

    def to_msg(self) -> Any:
        seconds, nanoseconds = self.seconds_nanoseconds()
        return get_message("builtin_interfaces/msg/Time")(sec=seconds, nanosec=nanoseconds)

    @classmethod
    def from_msg(cls, msg: Any, clock_type: ClockType = ClockType.ROS_TIME) -> Time:
        """From builtin_interfaces/msg/Time. Raises TypeError."""
        if not isinstance(msg, get_message("builtin_interfaces/msg/Time")):
            raise TypeError("Must pass a builtin_interfaces.msg.Time object")
        return cls(seconds=msg.sec, nanoseconds=msg.nanosec, clock_type=clock_type)
