"""What comes in: images of one moment, messages that stand for themselves, and jumps of odom; each with its moment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Union

from memory_node.domain.geometry import Pose
from memory_node.nodes.inputs.keyframes import OdomJump
from memory_node.nodes.inputs.timeline import Moment
from memory_node.nodes.inputs.unread import Unread


@dataclass(frozen=True)
class Images:
    """Messages of one moment: depth, colour, and by topic what a detector made of them."""

    moment: Moment
    depth: Unread
    color: Unread
    results: Mapping[str, Unread]


@dataclass(frozen=True)
class Single:
    """A vision_msgs/Detection3DArray, a nav_msgs/OccupancyGrid, or a nav_msgs/Path of SLAM's optimised poses."""

    moment: Moment
    unread: Unread

    @property
    def kind(self) -> type:
        """The message's class."""
        return self.unread.kind


Arrival = Union[Images, Single, OdomJump]  # noqa: UP007 - evaluated


@dataclass(frozen=True)
class Posed:
    """An arrival and where its frame lay in the map at its moment; the identity for what is told in the map itself.

    frame_T_depth: of images whose depth is of a camera of its own, where that was.
    """

    arrival: Arrival
    map_T_frame: Pose
    frame_T_depth: Pose | None = None
