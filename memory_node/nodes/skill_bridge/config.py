"""The parameters of the skills node; docs/skills.md tells how to fit them to a robot."""

from __future__ import annotations

import re
from typing import Literal

from pydantic import Field, create_model, field_validator

from memory_node.catalogue.label_space import HOUSEHOLD, LabelSpace
from memory_node.domain.parameters import Expert, Live, Parameters, parameter
from memory_node.domain.skill_library import SKILLS
from memory_node.nodes.health_parameters import DiagnosticUpdaterParameters, LifecycleParameters, PeerParameters
from memory_node.planner.stand_off_poses import StandOffConfig

_JOINT_VALUE = re.compile(r"[^=]+=[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
_ACTION = "action of type ExecuteSkill that does this skill; empty: the bridge's own way, if it has one"
# One key a declared skill: actions.PickupObject and so on.
SkillActions = create_model(
    "SkillActions",
    __base__=Parameters,
    **{name: (str, Field(default="", description=_ACTION)) for name in SKILLS},  # type: ignore[call-overload]
)


class BaseParameters(Parameters):
    """Of the base."""

    action: str = parameter(
        "navigate_to_pose", "name of the nav2_msgs/NavigateToPose action; empty: the robot does not drive"
    )
    timeout_s: Live[float] = parameter(180.0, "time after which a drive is cancelled", 0.1, 3600.0)
    silence_s: Live[Expert[float]] = parameter(
        1.5, "time since the last feedback, of which Nav2 gives many a second, that cancels a drive", 0.1, 600.0
    )
    candidates: Expert[int] = parameter(3, "stand-off poses that are tried for a thing", 1, 32)
    reach_m: float = parameter(1.0, "distance from the base's middle within which a thing can be used", 0.1, 5.0)
    repositions: Expert[int] = parameter(
        0, "how often a skill of the arm begins anew: from elsewhere if it found no way, else from there", 0, 5
    )
    front_room_m: Expert[float] = parameter(
        0.0, "how much further off the robot stands before what it opens or switches", 0.0, 2.0
    )
    front_square_weight: Expert[float] = parameter(
        0.0,
        "weight of standing square before what is opened or switched; on the scale of stand_off.weights",
        0.0,
        100.0,
    )
    place_within_m: Expert[float] = parameter(
        1.0, "distance from a place to explore within which it counts as reached", 0.1, 5.0
    )


class ArmParameters(Parameters):
    """Of the arm, through MoveIt 2."""

    action: str = parameter(
        "move_action", "name of the moveit_msgs/MoveGroup action; empty: only the actions of `actions` move the arm"
    )
    cartesian_path: str = parameter(
        "",
        "name of MoveIt's moveit_msgs/GetCartesianPath service, usually compute_cartesian_path: doors, drawers and "
        "switches are moved along one path; empty: by one MoveGroup goal after the other",
    )
    execute_action: Expert[str] = parameter(
        "execute_trajectory", "name of the moveit_msgs/ExecuteTrajectory action, for those paths"
    )
    group: str = parameter("arm", "MoveIt's planning group of the arm")
    link: str = parameter("gripper_link", "end-effector link that is brought to the grasp poses")
    frame: str = parameter("base_link", "frame in which poses are given to MoveIt")
    ahead_axis: Literal["x", "z"] = parameter("x", "the link's axis that points ahead; it closes along its y axis")
    grasps: str = parameter("boxes", "plug-in that says how things are grasped; boxes: by the boxes that memory has")
    approach_m: float = parameter(0.12, "length of the straight way to a grasp, and back", 0.01, 1.0)
    position_tolerance_m: Expert[float] = parameter(0.01, "tolerance of the link's position", 0.0001, 0.2)
    orientation_tolerance_rad: Expert[float] = parameter(
        0.05, "tolerance of the link's orientation about each axis", 0.001, 3.2
    )
    carry: str = parameter(
        "", "joint values for driving (rad or m), as `shoulder=0.0 elbow=-1.2`; empty: the pose after a grasp"
    )
    planning_s: Expert[float] = parameter(5.0, "planning time that MoveIt is allowed", 0.1, 120.0)
    planning_attempts: Expert[int] = parameter(5, "planning attempts that MoveIt is allowed", 1, 100)
    speed: Live[float] = parameter(0.3, "share of the arm's greatest velocity and acceleration", 0.01, 1.0)
    candidates: Expert[int] = parameter(4, "grasps, and spots to put a thing down, that are tried", 1, 32)
    timeout_s: Live[float] = parameter(60.0, "time after which a motion is cancelled", 0.1, 600.0)
    look_s: Expert[float] = parameter(
        0.0, "how long memory may take to see what came of a skill; 0: nothing is looked at", 0.0, 60.0
    )

    @property
    def carry_joints(self) -> dict[str, float]:
        """Joint values of `carry` by name."""
        pairs = [word.partition("=") for word in self.carry.replace(",", " ").split()]
        return {name: float(value) for name, _, value in pairs}

    @field_validator("carry")
    @classmethod
    def _check_carry(cls, carry: str) -> str:
        if not all(_JOINT_VALUE.fullmatch(word) for word in carry.replace(",", " ").split()):
            raise ValueError("expected pairs like `elbow=-1.2`")
        return carry


class GripperParameters(Parameters):
    """Of the gripper; positions in the unit of its controller (m or rad)."""

    action: str = parameter(
        "gripper_controller/gripper_cmd",
        "name of the control_msgs/GripperCommand action, or FollowJointTrajectory with gripper.joints; needed with "
        "arm.action",
    )
    joints: str = parameter(
        "", "joints of a FollowJointTrajectory gripper's fingers, separated by spaces; empty: GripperCommand"
    )
    motion_s: Expert[float] = parameter(
        1.5, "time that a FollowJointTrajectory gripper is given for a motion", 0.1, 30.0
    )
    open_position: float = parameter(0.04, "position of the open gripper, in the controller's unit", -10.0, 10.0)
    closed_position: float = parameter(
        0.0, "position of the gripper closed on nothing, in the controller's unit", -10.0, 10.0
    )
    empty_margin: Expert[float] = parameter(
        0.003, "distance from closed_position within which nothing is held, in the controller's unit", 0.0, 1.0
    )
    opening_m: float = parameter(0.085, "widest thing that fits between the fingers", 0.001, 1.0)
    finger_m: float = parameter(0.04, "how deep the fingers reach over a thing", 0.001, 0.5)
    palm_m: Expert[float] = parameter(0.05, "free room that the hand needs about a grasp", 0.0, 0.5)
    max_effort: Live[float] = parameter(20.0, "greatest effort of the gripper (N or N m)", 0.0, 1000.0)
    timeout_s: Live[Expert[float]] = parameter(10.0, "time after which a motion is cancelled", 0.1, 60.0)


class ExploreParameters(Parameters):
    """Of the search."""

    look_s: Expert[float] = parameter(2.0, "how long memory may take to see something in one direction", 0.0, 60.0)
    directions: Expert[int] = parameter(4, "directions that are looked in at each place", 1, 16)
    poll_s: Expert[float] = parameter(0.25, "time between two questions to memory while looking", 0.05, 5.0)


class SkillsParameters(LifecycleParameters, PeerParameters):
    """Parameters of the skills node."""

    memory_node: str = parameter("memory", "name of the memory node")
    label_space: LabelSpace = HOUSEHOLD
    map_frame: str = parameter("map", "frame of the map and of memory (REP-105)")
    base_frame: str = parameter("base_link", "frame of the base")
    costmap_topic: str = parameter(
        "global_costmap/costmap", "latched nav_msgs/OccupancyGrid that stand-off poses are chosen on"
    )
    tf_timeout_s: float = parameter(1.0, "how long to wait for a transform, or the costmap", 0.0, 30.0)
    connect_s: Expert[float] = parameter(5.0, "how long to wait for an action server to answer", 0.1, 60.0)
    stop_s: Expert[float] = parameter(5.0, "how long base or arm may take to confirm that it stopped", 0.1, 60.0)
    action_timeout_s: float = parameter(120.0, "time after which an action of `actions` is cancelled", 0.1, 3600.0)
    demonstration_pause_s: Expert[float] = parameter(
        60.0,
        "time without a call after which what another client than our planner shows has ended; 0: nothing is learnt "
        "from others",
        0.0,
        3600.0,
    )
    plugins: str = parameter(
        "", "skill plug-ins, separated by spaces: doors, switches, pouring, wiping, or installed packages'"
    )
    action_map: str = parameter(
        "", "YAML file that says how skills become goals of actions of other types (docs/skills.md)"
    )
    base: BaseParameters = BaseParameters()
    arm: ArmParameters = ArmParameters()
    gripper: GripperParameters = GripperParameters()
    explore: ExploreParameters = ExploreParameters()
    diagnostic_updater: DiagnosticUpdaterParameters = DiagnosticUpdaterParameters()
    stand_off: StandOffConfig = StandOffConfig()
    actions: SkillActions = SkillActions()  # type: ignore[valid-type]  # made from the library

    @property
    def deadlines_s(self) -> tuple[float, float]:
        """How long an action server may take to answer, and to confirm that it stopped."""
        return self.connect_s, self.stop_s
