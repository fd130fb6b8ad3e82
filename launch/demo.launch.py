"""Starts the simulated home with the memory and the planner, on the loopback interface."""

import os
from pathlib import Path
from typing import Any

from launch import LaunchContext, LaunchDescription
from launch.actions import DeclareLaunchArgument, IncludeLaunchDescription, OpaqueFunction
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue
from launch_ros.substitutions import FindPackageShare

# An argument that is empty leaves its parameter to the files.
ARGUMENTS = (
    ("home", "", "a shipped home's name or a home file; empty: apartment"),
    ("label_space", "", "what the robot calls things: household, coco, or the path of a .yaml file; empty: household"),
    ("speed", "", "simulated seconds per second; empty: 4"),
    ("params_file", "", "YAML file of parameters of all nodes; it needs only what differs from config/*.yaml"),
    ("database", "", "long-term memory; empty: the user's data folder"),
    ("domain_id", os.environ.get("ROS_DOMAIN_ID", "0"), "DDS domain"),
    ("discovery_range", "LOCALHOST", "LOCALHOST keeps DDS on this machine; SUBNET lets others see the demo"),
    ("interface", "", "network interface for DDS; empty: Cyclone DDS chooses"),
    ("inspector", "false", "true: also serve the page to look into memory, on this machine alone (docs/inspector.md)"),
    ("inspector_port", "8780", "its port"),
    ("foxglove", "false", "true: also start foxglove_bridge for Foxglove, on this machine alone (docs/inspector.md)"),
    ("foxglove_port", "8765", "its port"),
)
OF_MEMORY = (
    "params_file",
    "label_space",
    "database",
    "domain_id",
    "discovery_range",
    "interface",
    "inspector",
    "inspector_port",
    "foxglove",
    "foxglove_port",
)


def generate_launch_description() -> LaunchDescription:
    """Return the launch description; send instructions with `ros2 action send_goal /execute_instruction ...`."""
    memory = IncludeLaunchDescription(
        PythonLaunchDescriptionSource(
            PathJoinSubstitution([FindPackageShare("robot_memory"), "launch", "memory.launch.py"])
        ),
        launch_arguments={
            "use_sim_time": "true",
            **{name: LaunchConfiguration(name) for name in OF_MEMORY},
        }.items(),
    )
    declared = [DeclareLaunchArgument(name, default_value=value, description=text) for name, value, text in ARGUMENTS]
    return LaunchDescription([*declared, memory, OpaqueFunction(function=start_home)])


def start_home(context: LaunchContext) -> list[Node]:
    """Return the home node with the shipped parameters, then the user's, then what the arguments say."""
    given = {name: LaunchConfiguration(name).perform(context) for name, _, _ in ARGUMENTS}
    shipped = Path(FindPackageShare("robot_memory").perform(context), "config", "home.yaml")
    texts = {name: given[name] for name in ("home", "label_space") if given[name]}
    asked: dict[str, Any] = {name: ParameterValue(text, value_type=str) for name, text in texts.items()}
    if given["speed"]:
        asked["speed"] = LaunchConfiguration("speed")  # a substitution is read as YAML
    files = [str(shipped), *filter(None, [given["params_file"]])]
    parameters = [*files, asked] if asked else files
    return [Node(package="robot_memory", executable="home", name="home", parameters=parameters, output="screen")]
