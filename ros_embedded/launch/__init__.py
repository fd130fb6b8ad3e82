"""Launch descriptions without ROS: the part of Jazzy's `launch` that starts nodes (no event handlers)."""

from ros_embedded.launch.launch_context import LaunchContext
from ros_embedded.launch.launch_description import LaunchDescription
from ros_embedded.launch.launch_description_sources import LaunchDescriptionSource
from ros_embedded.launch.substitutions import SomeSubstitutionsType, Substitution

__all__ = [
    "LaunchContext",
    "LaunchDescription",
    "LaunchDescriptionSource",
    "SomeSubstitutionsType",
    "Substitution",
]
