"""The parameters of each node, without ROS; config/*.yaml and docs/parameters.md are written from them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from memory_node.catalogue.label_space import HOUSEHOLD, LabelSpace
from memory_node.context.config import CompilerName
from memory_node.domain.parameters import Expert, Live, Parameters, parameter
from memory_node.llm.config import ModelChoice
from memory_node.memory_config import MemoryConfig
from memory_node.nodes.health_parameters import DiagnosticUpdaterParameters, LifecycleParameters, PeerParameters
from memory_node.nodes.inputs.config import ImageTransport, InputParameters
from memory_node.nodes.skill_bridge.config import SkillsParameters
from memory_node.perception.config import OnnxDetectorConfig, PerceptionConfig, SegmentationConfig, SegmentTrackerConfig
from memory_node.planner.memory_mode import Mode
from memory_node.planner.planner_config import PlannerConfig, PlannerName
from memory_node.planner.visual_verifier import VerifierConfig
from memory_node.sim.noise import BodyNoise, DetectionNoise


class VerifierParameters(VerifierConfig):
    """Who verifies what a planner takes for done, and the camera that shows it."""

    kind: Literal["graph", "pictures"] = parameter(
        "graph",
        "graph: goals are checked against the scene graph; pictures: a model that sees, `llm.verifier`, then looks at "
        "the camera's newest picture, too",
    )
    image_topic: str = parameter(
        "camera/color/image_raw",
        "colour images of the robot's camera, listened to by kind pictures and expert.llm.sees",
    )
    image_transport: ImageTransport = parameter(
        "raw", "how they come, as image_transport names it; compressed: on TOPIC/compressed"
    )
    wait_s: Live[Expert[float]] = parameter(
        3.0, "how long a picture taken after the last skill is waited for", 0.0, 60.0
    )


class MemoryParameters(LifecycleParameters, InputParameters, MemoryConfig):
    """Of the memory node. A robot's node has a database and a name without being given any."""

    database: str = parameter(
        "", "long-term memory: a file, or a SQLAlchemy URL of PostgreSQL; empty: the user's data folder"
    )
    site: str = parameter("home", "site of the long-term memory")
    robot_id: str = parameter("robot", "name of this robot in a memory that several robots share")
    publish_period_s: Live[float] = parameter(1.0, "period of the latched graph and the statistics", 0.1, 60.0)
    view: Literal["none", "rerun"] = parameter(
        "none", "rerun: serve images, what is seen, the cloud and the graph to Rerun's viewers; needs the extra view"
    )
    view_port: Expert[int] = parameter(
        9876, "port that viewers fetch from: rerun rerun+http://HOST:PORT/proxy", 1, 65_535
    )
    person_at: str = parameter(
        "",
        "where the person is who gives the instructions: x,y in metres in the map; empty: the topic `people` or a "
        "detector tells, else the planner asks before it fetches anything for them",
    )
    llm: ModelChoice = ModelChoice()
    perception: PerceptionConfig = PerceptionConfig()
    segmentation: SegmentationConfig = SegmentationConfig()
    segment_tracker: SegmentTrackerConfig = SegmentTrackerConfig()
    diagnostic_updater: DiagnosticUpdaterParameters = DiagnosticUpdaterParameters()


class DetectorParameters(LifecycleParameters, OnnxDetectorConfig):
    """Of the detector node."""

    image_transport: ImageTransport = parameter(
        "raw", "how images come, as image_transport names it; compressed: on TOPIC/compressed"
    )
    label_space: str = parameter(
        "",
        "label space whose classes an open-vocabulary model looks for where neither prompts nor class_names are "
        "given: a shipped one's name, or the path of a file",
    )
    diagnostic_updater: DiagnosticUpdaterParameters = DiagnosticUpdaterParameters()


class PlannerParameters(PeerParameters, PlannerConfig):
    """Of the planner node."""

    planner: PlannerName = parameter("offline", "which planner; llm: the language model of `llm`")
    label_space: LabelSpace = HOUSEHOLD
    memory: Mode = parameter("full+experience", "what the planner knows; none: only the map")
    compiler: CompilerName = parameter(
        "rules",
        "how memory is compiled at each step; model: by the memory node's language model `llm.compiler`, with its "
        "adapter if it has one; none: memory is given once, at the beginning",
    )
    attempts: Live[int] = parameter(
        2, "how often an instruction is tried while it fails and memory allows another try", 1, 10
    )
    session_file: str = parameter(
        "",
        "where the conversation is kept for a planner that starts anew; empty: the user's data folder; none: nowhere",
    )
    session_s: Expert[float] = parameter(
        900.0, "silence after which a new conversation begins (seconds)", 1.0, 86_400.0
    )
    memory_node: str = parameter("memory", "name of the memory node")
    skill_action: str = parameter("execute_skill", "name of the robot's ExecuteSkill action")
    skill_timeout_s: float = parameter(300.0, "time after which a skill is cancelled", 1.0, 86_400.0)
    verifier: VerifierParameters = VerifierParameters()
    diagnostic_updater: DiagnosticUpdaterParameters = DiagnosticUpdaterParameters()


class HomeParameters(PeerParameters):
    """Of the home node."""

    home: str = parameter("apartment", "a shipped home's name, or the path of a home file (YAML)")
    label_space: LabelSpace = HOUSEHOLD
    speed: float = parameter(4.0, "simulated seconds per second", 0.1, 100.0)
    camera_period_s: Expert[float] = parameter(0.5, "simulated seconds between two camera frames", 0.05, 10.0)
    still_camera_period_s: Expert[float] = parameter(
        4.0,
        "the same once ten frames have shown one view, and at least a second of real time; lower than camera_period_s "
        "it has no effect",
        0.05,
        60.0,
    )
    skill_fault_probability: Expert[float] = parameter(0.0, "probability that a skill fails by itself", 0.0, 1.0)
    noisy: bool = parameter(True, "whether the sensors have the faults of `noise`")
    diagnostic_updater: DiagnosticUpdaterParameters = DiagnosticUpdaterParameters()
    seed: int = parameter(0, "seed of every random choice", 0, 2**31 - 1)
    noise: Expert[DetectionNoise] = DetectionNoise()


class BodyParameters(PeerParameters):
    """Of the body node."""

    peer_silence_s: Expert[float] = parameter(
        2.0,  # a process that computes physics and pictures hears others late
        "silence after which a node on another machine counts as gone; on this one it takes 3 s at least",
        0.1,
        10.0,
    )
    speed: float = parameter(1.0, "simulated seconds per second, at most", 0.05, 20.0)
    camera_period_s: Expert[float] = parameter(0.25, "simulated seconds between two pictures, at least", 0.02, 10.0)
    seed: int = parameter(0, "seed of every random choice", 0, 2**31 - 1)
    noisy: bool = parameter(True, "whether the sensors have the faults of `noise`")
    noise: Expert[BodyNoise] = BodyNoise()
    film: str = parameter("", "mp4 file in which the robot is filmed from outside; empty: none")


NODE_PARAMETERS: Mapping[str, type[Parameters]] = {
    "memory": MemoryParameters,
    "planner": PlannerParameters,
    "skills": SkillsParameters,
    "detector": DetectorParameters,
    "home": HomeParameters,
    "body": BodyParameters,
}
