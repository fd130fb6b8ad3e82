"""Frames and transforms: the API of Jazzy's tf2_ros."""
# ruff: noqa: F401 - the imported names are the API

from ros_embedded.tf2_ros.buffer import Buffer
from ros_embedded.tf2_ros.buffer_core import BufferCore
from ros_embedded.tf2_ros.static_transform_broadcaster import StaticTransformBroadcaster
from ros_embedded.tf2_ros.transform_broadcaster import TransformBroadcaster
from ros_embedded.tf2_ros.transform_exceptions import (
    ConnectivityException,
    ExtrapolationException,
    InvalidArgumentException,
    LookupException,
    TimeoutException,
    TransformException,
)
from ros_embedded.tf2_ros.transform_listener import TransformListener
