"""Which clock a time belongs to."""

from enum import IntEnum


class ClockType(IntEnum):
    """The kinds of clocks in ROS."""

    UNINITIALIZED = 0
    ROS_TIME = 1
    SYSTEM_TIME = 2
    STEADY_TIME = 3
