"""Starts the memory on a robot: the memory node, and if wanted the planner and the skill bridge."""

import os

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, SetEnvironmentVariable
from launch.conditions import IfCondition, UnlessCondition
from launch.substitutions import EqualsSubstitution, LaunchConfiguration, PathJoinSubstitution
from launch_ros.actions import Node
from launch_ros.substitutions import FindPackageShare

ARGUMENTS = (
    ("namespace", "", "namespace of the nodes"),
    ("params_file", None, "YAML file of parameters"),
    ("database", "", "long-term memory: a file, or a SQLAlchemy URL of PostgreSQL; empty: the user's data folder"),
    ("label_space", "household", "what kinds of things there are: household, coco, or the path of a .yaml file"),
    ("use_sim_time", "false", "take time from /clock"),
    ("map_frame", "map", "frame that the graph is kept in (REP-105)"),
    ("color_topic", "camera/color/image_raw", "sensor_msgs/Image, rgb8, bgr8, rgba8, bgra8 or mono8"),
    ("depth_topic", "camera/depth/image_raw", "sensor_msgs/Image, 16UC1 (mm) or 32FC1 (m), aligned to the colour"),
    ("camera_info_topic", "camera/color/camera_info", "sensor_msgs/CameraInfo of the colour camera"),
    ("detector_model", "", "ONNX detector: starts the detector node, whose rectangles memory then takes; empty: none"),
    ("class_names", "", "text file with one class name a line, for the detector"),
    ("detections_topic", "detections", "vision_msgs/Detection2DArray; used where the parameter detections is boxes"),
    ("masks_topic", "detections/masks", "sensor_msgs/Image, mono8 or 16UC1: pixel i+1 belongs to detection i"),
    ("map_topic", "map", "nav_msgs/OccupancyGrid"),
    ("path_topic", "optimized_path", "nav_msgs/Path of optimised poses; used where the parameter corrections is path"),
    ("planner", "true", "also start the planner node"),
    ("skills", "false", "also start the bridge from ExecuteSkill to Nav2 and the arm"),
    ("skills_file", None, "YAML file of that bridge's parameters: the robot's actions, arm and gripper"),
    ("log_level", "info", "debug, info, warn or error"),
    ("domain_id", os.environ.get("ROS_DOMAIN_ID", "0"), "DDS domain"),
    (
        "discovery_range",
        os.environ.get("ROS_AUTOMATIC_DISCOVERY_RANGE", "SUBNET"),
        "LOCALHOST, SUBNET, OFF or SYSTEM_DEFAULT: how far the nodes look for others",
    ),
    ("interface", "", "network interface for DDS, for example eth0; empty: Cyclone DDS chooses"),
)
REMAPPED = {
    "color_topic": "camera/color/image_raw",
    "depth_topic": "camera/depth/image_raw",
    "camera_info_topic": "camera/color/camera_info",
    "detections_topic": "detections",
    "masks_topic": "detections/masks",
    "map_topic": "map",
    "path_topic": "optimized_path",
}


def generate_launch_description() -> LaunchDescription:
    """Return the launch description; `ros2 launch robot_memory memory.launch.py --show-args` lists its arguments."""
    argument = LaunchConfiguration
    config = PathJoinSubstitution([FindPackageShare("robot_memory"), "config"])
    shipped = {
        "params_file": PathJoinSubstitution([config, "memory.yaml"]),
        "skills_file": PathJoinSubstitution([config, "skills.yaml"]),
    }
    declared = [
        DeclareLaunchArgument(name, default_value=shipped.get(name, default), description=description)
        for name, default, description in ARGUMENTS
    ]
    interface_xml = [
        "<CycloneDDS><Domain><General><Interfaces><NetworkInterface name='",
        argument("interface"),
        "'/></Interfaces></General></Domain></CycloneDDS>",
    ]
    network = [
        SetEnvironmentVariable("ROS_DOMAIN_ID", argument("domain_id")),
        SetEnvironmentVariable("ROS_AUTOMATIC_DISCOVERY_RANGE", argument("discovery_range")),
        SetEnvironmentVariable(
            "CYCLONEDDS_URI",
            interface_xml,
            condition=UnlessCondition(EqualsSubstitution(argument("interface"), "")),
        ),
    ]
    common = {"use_sim_time": argument("use_sim_time")}
    knowing = {**common, "label_space": argument("label_space")}
    memory_parameters = {**knowing, "database": argument("database"), "map_frame": argument("map_frame")}

    no_detector = EqualsSubstitution(argument("detector_model"), "")
    detector_parameters = {**common, "model": argument("detector_model"), "class_names": argument("class_names")}
    remapped = [(topic, argument(name)) for name, topic in REMAPPED.items()]

    def node(name: str, parameters: dict, files: tuple[str, ...] = ("params_file",), **more: object) -> Node:
        return Node(
            package="robot_memory",
            executable=name,
            name=name,
            namespace=argument("namespace"),
            parameters=[*(argument(file) for file in files), parameters],
            arguments=["--ros-args", "--log-level", argument("log_level")],
            output="screen",
            **more,
        )

    return LaunchDescription(
        [
            *declared,
            *network,
            node("memory", memory_parameters, remappings=remapped, condition=IfCondition(no_detector)),
            node(
                "memory",
                {**memory_parameters, "detections": "rectangles"},
                remappings=remapped,
                condition=UnlessCondition(no_detector),
            ),
            node("detector", detector_parameters, remappings=remapped, condition=UnlessCondition(no_detector)),
            node("planner", knowing, condition=IfCondition(argument("planner"))),
            node("skills", knowing, ("params_file", "skills_file"), condition=IfCondition(argument("skills"))),
        ]
    )
