"""Starts the simulated body with the memory, the planner and the skill bridge, on the loopback interface."""

import os
from pathlib import Path
from typing import Any

from launch import LaunchContext, LaunchDescription
from launch.actions import DeclareLaunchArgument, IncludeLaunchDescription, OpaqueFunction
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution
from launch_ros.actions import Node
from launch_ros.substitutions import FindPackageShare

# An argument that is empty leaves its parameter to the files.
ARGUMENTS = (
    ("seed", "", "seed of the home and of every random choice; empty: 0"),
    ("speed", "", "simulated seconds per second, at most; empty: 1"),
    ("params_file", "", "YAML file of parameters of all nodes; it needs only what differs from config/*.yaml"),
    ("database", "", "long-term memory; empty: the user's data folder"),
    ("domain_id", os.environ.get("ROS_DOMAIN_ID", "0"), "DDS domain"),
    ("discovery_range", "LOCALHOST", "LOCALHOST keeps DDS on this machine; SUBNET lets others see the robot"),
    ("interface", "", "network interface for DDS; empty: Cyclone DDS chooses"),
)
OF_MEMORY = ("params_file", "database", "domain_id", "discovery_range", "interface")


def generate_launch_description() -> LaunchDescription:
    """Return the launch description; send instructions with `ros2 action send_goal /execute_instruction ...`."""
    share = FindPackageShare("robot_memory")
    memory = IncludeLaunchDescription(
        PythonLaunchDescriptionSource(PathJoinSubstitution([share, "launch", "memory.launch.py"])),
        launch_arguments={
            "use_sim_time": "true",
            "skills": "true",
            "skills_file": PathJoinSubstitution([share, "config", "fetch.yaml"]),
            "memory_file": PathJoinSubstitution([share, "config", "fetch.yaml"]),
            **{name: LaunchConfiguration(name) for name in OF_MEMORY},
        }.items(),
    )
    declared = [DeclareLaunchArgument(name, default_value=value, description=text) for name, value, text in ARGUMENTS]
    return LaunchDescription([*declared, memory, OpaqueFunction(function=start_body)])


def start_body(context: LaunchContext) -> list[Node]:
    """Return the body node with the shipped parameters, then the user's, then what the arguments say."""
    given = {name: LaunchConfiguration(name).perform(context) for name, _, _ in ARGUMENTS}
    shipped = Path(FindPackageShare("robot_memory").perform(context), "config", "body.yaml")
    asked: dict[str, Any] = {name: LaunchConfiguration(name) for name in ("seed", "speed") if given[name]}
    files = [str(shipped), *filter(None, [given["params_file"]])]
    parameters = [*files, asked] if asked else files
    return [Node(package="robot_memory", executable="body", name="body", parameters=parameters, output="screen")]
