"""What comes in: images of one moment, boxes, grids, SLAM's way, and jumps of odom; each with its moment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Union

from memory_node.domain.geometry import Pose
from memory_node.nodes.inputs.keyframes import OdomJump
from memory_node.nodes.inputs.timeline import Moment


@dataclass(frozen=True)
class Images:
    """Messages of one moment: depth, colour, and by topic what a detector made of them."""

    moment: Moment
    depth: Any
    color: Any
    results: Mapping[str, Any]


@dataclass(frozen=True)
class Boxes:
    """A vision_msgs/Detection3DArray."""

    moment: Moment
    msg: Any

    @property
    def frame_id(self) -> str:
        """The sensor's frame."""
        return str(self.msg.header.frame_id)


@dataclass(frozen=True)
class Grid:
    """A nav_msgs/OccupancyGrid."""

    moment: Moment
    msg: Any


@dataclass(frozen=True)
class OptimizedPath:
    """A nav_msgs/Path of SLAM's optimised poses."""

    moment: Moment
    msg: Any


Arrival = Union[Images, Boxes, Grid, OptimizedPath, OdomJump]  # noqa: UP007 - evaluated


@dataclass(frozen=True)
class Posed:
    """An arrival and where its frame lay in the map at its moment; the identity for what is told in the map itself.

    frame_T_depth: of images whose depth is of a camera of its own, where that was.
    """

    arrival: Arrival
    map_T_frame: Pose
    frame_T_depth: Pose | None = None
