"""Starts the memory on a robot: the memory node, and if wanted the detector, the planner and the skill bridge."""

import os
import sys
from pathlib import Path

from ament_index_python.packages import PackageNotFoundError, get_package_prefix
from launch import LaunchContext, LaunchDescription
from launch.actions import DeclareLaunchArgument, EmitEvent, ExecuteProcess, OpaqueFunction, SetEnvironmentVariable
from launch.events import matches_action
from launch.events.process import ProcessExited, ShutdownProcess
from launch.substitutions import LaunchConfiguration, SubstitutionFailure
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue
from launch_ros.substitutions import FindPackageShare

# An argument that is empty leaves its parameter to the files.
ARGUMENTS = (
    ("namespace", "", "namespace of the nodes"),
    (
        "namespaced_tf",
        "false",
        "true: transforms are on NAMESPACE/tf and NAMESPACE/tf_static, as Nav2 has several robots",
    ),
    ("params_file", "", "YAML file of parameters of all nodes; it needs only what differs from config/*.yaml"),
    ("database", "", "long-term memory: a file, or a SQLAlchemy URL of PostgreSQL; empty: the user's data folder"),
    (
        "label_space",
        "",
        "what kinds of things there are: household, coco, or the path of a .yaml file; empty: household",
    ),
    ("use_sim_time", "", "true: take time from /clock"),
    ("map_frame", "", "frame that the graph is kept in (REP-105); empty: map"),
    ("color_topic", "camera/color/image_raw", "sensor_msgs/Image: RGB, BGR, mono8, yuv422, yuv422_yuy2, bayer"),
    ("image_transport", "", "raw or compressed: how images come, compressed on TOPIC/compressed; empty: raw"),
    ("depth_topic", "camera/depth/image_raw", "sensor_msgs/Image, 16UC1 or mono16 (mm), or 32FC1 (m)"),
    ("camera_info_topic", "camera/color/camera_info", "sensor_msgs/CameraInfo of the colour camera"),
    (
        "depth_registration",
        "",
        "aligned: depth images lie on colour images; tf: they are of a camera of its own; empty: aligned",
    ),
    ("depth_camera_info_topic", "camera/depth/camera_info", "its CameraInfo; used where depth_registration is tf"),
    ("detections", "", "what comes with the images: boxes, rectangles, labels, segment or none; empty: boxes"),
    ("detector_model", "", "ONNX detector: starts the detector node, whose rectangles memory then takes; empty: none"),
    ("class_names", "", "text file with one class name a line, for the detector"),
    ("detections_topic", "detections", "vision_msgs/Detection2DArray; used where the parameter detections is boxes"),
    ("masks_topic", "detections/masks", "sensor_msgs/Image, mono8 or 16UC1: pixel i+1 belongs to detection i"),
    ("map_topic", "map", "nav_msgs/OccupancyGrid"),
    ("path_topic", "optimized_path", "nav_msgs/Path of optimised poses; used where the parameter corrections is path"),
    ("planner", "true", "false: no planner node; offline or llm: which planner; true: the one that the files name"),
    ("llm_base_url", "", "OpenAI-compatible endpoint of the block llm; empty: the model in each node's own process"),
    ("llm_model", "", "the model's name at that endpoint; without one a GGUF file; empty: the embedded model"),
    ("llm_mode", "", "how the model acts: agent or plan; empty: as the files say"),
    ("skills", "false", "true: also start the bridge from ExecuteSkill to Nav2 and the arm"),
    ("skills_file", "", "YAML file of that bridge's parameters: the robot's actions, arm and gripper"),
    ("memory_file", "", "YAML file of parameters of the memory node alone: what it has to know of the robot"),
    ("view", "", "rerun: serve images, detections, the cloud and the graph to Rerun's viewers; empty: none"),
    ("inspector", "false", "true: also serve the page to look into memory, on this machine alone (docs/inspector.md)"),
    ("inspector_port", "8780", "its port"),
    ("foxglove", "false", "true: also start foxglove_bridge for Foxglove, on this machine alone (docs/inspector.md)"),
    ("foxglove_port", "8765", "its port"),
    ("lifecycle", "", "false: memory, detector and skills as ordinary nodes, not managed ones; empty: managed"),
    ("autostart", "", "false: they wait for a lifecycle manager; empty: they configure and activate themselves"),
    ("respawn", "true", "true: a node that has died starts again, but not for wrong parameters; false: it stays away"),
    ("respawn_delay", "2.0", "seconds until a node that has died starts again"),
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
    "depth_camera_info_topic": "camera/depth/camera_info",
    "detections_topic": "detections",
    "masks_topic": "detections/masks",
    "map_topic": "map",
    "path_topic": "optimized_path",
}

MANAGED = ("memory", "detector", "skills")


def generate_launch_description() -> LaunchDescription:
    """Return the launch description; `ros2 launch robot_memory memory.launch.py --show-args` lists its arguments."""
    declared = [DeclareLaunchArgument(name, default_value=value, description=text) for name, value, text in ARGUMENTS]
    return LaunchDescription(
        [
            *declared,
            OpaqueFunction(function=set_environment),
            OpaqueFunction(function=start_nodes),
        ]
    )


def set_environment(context: LaunchContext) -> list[SetEnvironmentVariable]:
    """Return what the nodes find in their environment."""
    domain, discovery, interface = (
        LaunchConfiguration(name).perform(context) for name in ("domain_id", "discovery_range", "interface")
    )
    # SIGTERM and SIGKILL end `ros2 launch` without a word to its nodes, which must not drive on then.
    variables = {"ROS_DOMAIN_ID": domain, "ROBOT_MEMORY_END_WITH_PARENT": "1"}
    if os.environ.get("ROS_DISTRO") != "humble":
        variables["ROS_AUTOMATIC_DISCOVERY_RANGE"] = discovery
    elif discovery in ("LOCALHOST", "OFF"):  # Humble knows only this one
        variables["ROS_LOCALHOST_ONLY"] = "1"
    if interface:
        general = f"<General><Interfaces><NetworkInterface name='{interface}'/></Interfaces></General>"
        variables["CYCLONEDDS_URI"] = f"<CycloneDDS><Domain>{general}</Domain></CycloneDDS>"
    return [SetEnvironmentVariable(name, value) for name, value in variables.items()]


def start_nodes(context: LaunchContext) -> list[Node | ExecuteProcess]:
    """Return the nodes that the arguments ask for, and the inspector."""
    given = {name: LaunchConfiguration(name).perform(context) for name, _, _ in ARGUMENTS}
    config = Path(FindPackageShare("robot_memory").perform(context), "config")
    use_sim_time = {"use_sim_time": given["use_sim_time"].lower() == "true"} if given["use_sim_time"] else {}

    tf = [("/tf", "tf"), ("/tf_static", "tf_static")] if given["namespaced_tf"].lower() == "true" else []
    managed = {key: given[key].lower() == "true" for key in ("lifecycle", "autostart") if given[key]}

    def node(name: str, own_file: str = "", topics: bool = False, **parameters: str) -> Node:
        """Make a node with the shipped parameters, then the user's, then what the arguments say: later ones win."""
        files = [str(config / f"{name}.yaml"), *(file for file in (given["params_file"], own_file) if file)]
        texts = {key: ParameterValue(value, value_type=str) for key, value in parameters.items() if value}
        values = {**use_sim_time, **(managed if name in MANAGED else {}), **texts}
        return Node(
            package="robot_memory",
            executable=name,
            name=name,
            namespace=given["namespace"],
            parameters=[*files, values] if values else files,
            remappings=[*tf, *((topic, given[argument]) for argument, topic in REMAPPED.items() if topics)],
            arguments=["--ros-args", "--log-level", given["log_level"]],
            output="screen",
            on_exit=stay_away,
            respawn=given["respawn"].lower() == "true",
            respawn_delay=float(given["respawn_delay"]),
        )

    for file in filter(None, (given["params_file"], given["skills_file"], given["memory_file"])):
        if not Path(file).is_file():
            raise SubstitutionFailure(f"there is no parameter file {file}")
    with_detector = bool(given["detector_model"])
    transport = {"image_transport": given["image_transport"]}
    detections = given["detections"] or ("rectangles" if with_detector else "")
    known = {"label_space": given["label_space"]}
    places = {"database": given["database"], "map_frame": given["map_frame"]}
    images = {
        "detections": detections,
        "depth_registration": given["depth_registration"],
        "view": given["view"],
    } | transport
    named = "llm.model" if given["llm_base_url"] else "llm.model_path"
    model = {"llm.base_url": given["llm_base_url"], named: given["llm_model"]}
    nodes: list[Node | ExecuteProcess] = [
        node("memory", given["memory_file"], topics=True, **images, **known, **places, **model)
    ]
    if with_detector:
        model_file = {"model": given["detector_model"], "class_names": given["class_names"]}
        nodes.append(node("detector", topics=True, **model_file, **transport))
    if given["planner"].lower() != "false":
        which = "" if given["planner"].lower() == "true" else given["planner"]
        nodes.append(node("planner", topics=True, planner=which, **model, **known, **{"llm.mode": given["llm_mode"]}))
    if given["skills"].lower() == "true":
        nodes.append(node("skills", given["skills_file"], map_frame=given["map_frame"], **known))
    if given["inspector"].lower() == "true":
        nodes.append(inspector(given))
    if given["foxglove"].lower() == "true":
        nodes.append(foxglove_bridge(given, use_sim_time))
    return nodes


def stay_away(event: ProcessExited, _context: LaunchContext) -> list[EmitEvent]:
    """Return what keeps a node from starting again that would end again: its parameters or files have to change."""
    if event.returncode != os.EX_CONFIG:
        return []
    return [EmitEvent(event=ShutdownProcess(process_matcher=matches_action(event.action)))]


def foxglove_bridge(given: dict[str, str], use_sim_time: dict[str, bool]) -> Node:
    """Return the bridge that Foxglove connects to; by itself it would listen on all of the machine's addresses."""
    try:
        get_package_prefix("foxglove_bridge")
    except PackageNotFoundError as error:
        raise SubstitutionFailure(
            "foxglove:=true needs foxglove_bridge, which is not installed: "
            "sudo apt install ros-$ROS_DISTRO-foxglove-bridge. It is a C++ node of ROS 2; on a machine without ROS 2, "
            "inspector:=true or `memory-node ingest --mcap FILE` (Foxglove opens the file) do without it"
        ) from error
    return Node(
        package="foxglove_bridge",
        executable="foxglove_bridge",
        name="foxglove_bridge",
        parameters=[{"address": "127.0.0.1", "port": int(given["foxglove_port"]), **use_sim_time}],
        output="screen",
    )


def inspector(given: dict[str, str]) -> ExecuteProcess:
    """Return the program that serves the page; its DDS domain is the one that this launch has set."""
    memory = f"{given['namespace'].strip('/')}/memory".lstrip("/")
    options = ["--node", memory, "--port", given["inspector_port"]]
    if given["label_space"]:
        options += ["--label-space", given["label_space"]]
    command = [sys.executable, "-m", "memory_node.cli", "inspect", *options]
    return ExecuteProcess(cmd=command, name="inspector", output="screen")
