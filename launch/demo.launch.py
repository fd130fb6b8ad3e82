"""Starts the simulated home with the memory and the planner, on the loopback interface."""

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, IncludeLaunchDescription
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution
from launch_ros.actions import Node
from launch_ros.substitutions import FindPackageShare

ARGUMENTS = (
    ("home", "apartment", "a shipped home's name or a home file"),
    (
        "label_space",
        "household",
        "what the robot calls things: household, coco, or the path of a .yaml file",
    ),
    ("database", "", "long-term memory; empty: the user's data folder"),
    ("speed", "4.0", "simulated seconds per second"),
    ("domain_id", "77", "DDS domain of the demo"),
    ("discovery_range", "LOCALHOST", "LOCALHOST keeps DDS on this machine; SUBNET lets others see the demo"),
    ("interface", "", "network interface for DDS; empty: Cyclone DDS chooses"),
)


def generate_launch_description() -> LaunchDescription:
    """Return the launch description; send instructions with `ros2 action send_goal /execute_instruction ...`."""
    argument = LaunchConfiguration
    share = FindPackageShare("robot_memory")
    memory = IncludeLaunchDescription(
        PythonLaunchDescriptionSource(PathJoinSubstitution([share, "launch", "memory.launch.py"])),
        launch_arguments={
            "use_sim_time": "true",
            "label_space": argument("label_space"),
            "database": argument("database"),
            "domain_id": argument("domain_id"),
            "discovery_range": argument("discovery_range"),
            "interface": argument("interface"),
        }.items(),
    )
    home = Node(
        package="robot_memory",
        executable="home",
        name="home",
        parameters=[
            PathJoinSubstitution([share, "config", "memory.yaml"]),
            {"home": argument("home"), "label_space": argument("label_space"), "speed": argument("speed")},
        ],
        output="screen",
    )
    declared = [DeclareLaunchArgument(name, default_value=value, description=text) for name, value, text in ARGUMENTS]
    return LaunchDescription([*declared, memory, home])
