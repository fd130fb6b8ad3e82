"""The parameters of the skills node; docs/skills.md tells how to fit them to a robot."""

from __future__ import annotations

import re
from typing import Literal

from pydantic import Field, create_model, field_validator

from memory_node.catalogue.label_space import HOUSEHOLD, LabelSpace
from memory_node.domain.parameters import Expert, Live, Parameters
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

    action: str = Field(
        default="navigate_to_pose",
        description="name of the nav2_msgs/NavigateToPose action; empty: the robot does not drive",
    )
    timeout_s: Live[float] = Field(
        default=180.0, ge=0.1, le=3600.0, description="time after which a drive is cancelled"
    )
    silence_s: Live[Expert[float]] = Field(
        default=1.5,
        ge=0.1,
        le=600.0,
        description="time since the last feedback, of which Nav2 gives many a second, that cancels a drive",
    )
    candidates: Expert[int] = Field(default=3, ge=1, le=32, description="stand-off poses that are tried for a thing")
    reach_m: float = Field(
        default=1.0, ge=0.1, le=5.0, description="distance from the base's middle within which a thing can be used"
    )
    repositions: Expert[int] = Field(
        default=0,
        ge=0,
        le=5,
        description="how often a skill of the arm begins anew: from elsewhere if it found no way, else from there",
    )
    front_room_m: Expert[float] = Field(
        default=0.0,
        ge=0.0,
        le=2.0,
        description="how much further off the robot stands before what it opens or switches",
    )
    front_square_weight: Expert[float] = Field(
        default=0.0,
        ge=0.0,
        le=100.0,
        description="weight of standing square before what is opened or switched; on the scale of stand_off.weights",
    )
    place_within_m: Expert[float] = Field(
        default=1.0, ge=0.1, le=5.0, description="distance from a place to explore within which it counts as reached"
    )


class ArmParameters(Parameters):
    """Of the arm, through MoveIt 2."""

    action: str = Field(
        default="move_action",
        description="name of the moveit_msgs/MoveGroup action; empty: only the actions of `actions` move the arm",
    )
    cartesian_path: str = Field(
        default="",
        description="name of MoveIt's moveit_msgs/GetCartesianPath service, usually compute_cartesian_path: doors, "
        "drawers and switches are moved along one path; empty: by one MoveGroup goal after the other",
    )
    execute_action: Expert[str] = Field(
        default="execute_trajectory", description="name of the moveit_msgs/ExecuteTrajectory action, for those paths"
    )
    group: str = Field(default="arm", description="MoveIt's planning group of the arm")
    link: str = Field(default="gripper_link", description="end-effector link that is brought to the grasp poses")
    frame: str = Field(default="base_link", description="frame in which poses are given to MoveIt")
    ahead_axis: Literal["x", "z"] = Field(
        default="x", description="the link's axis that points ahead; it closes along its y axis"
    )
    grasps: str = Field(
        default="boxes", description="plug-in that says how things are grasped; boxes: by the boxes that memory has"
    )
    approach_m: float = Field(
        default=0.12,
        ge=0.01,
        le=1.0,
        description="length of the straight way to a grasp, and back",
    )
    position_tolerance_m: Expert[float] = Field(
        default=0.01, ge=0.0001, le=0.2, description="tolerance of the link's position"
    )
    orientation_tolerance_rad: Expert[float] = Field(
        default=0.05,
        ge=0.001,
        le=3.2,
        description="tolerance of the link's orientation about each axis",
    )
    carry: str = Field(
        default="",
        description="joint values for driving (rad or m), as `shoulder=0.0 elbow=-1.2`; empty: the pose after a grasp",
    )
    planning_s: Expert[float] = Field(default=5.0, ge=0.1, le=120.0, description="planning time that MoveIt is allowed")
    planning_attempts: Expert[int] = Field(
        default=5, ge=1, le=100, description="planning attempts that MoveIt is allowed"
    )
    speed: Live[float] = Field(
        default=0.3,
        ge=0.01,
        le=1.0,
        description="share of the arm's greatest velocity and acceleration",
    )
    candidates: Expert[int] = Field(
        default=4, ge=1, le=32, description="grasps, and spots to put a thing down, that are tried"
    )
    timeout_s: Live[float] = Field(default=60.0, ge=0.1, le=600.0, description="time after which a motion is cancelled")
    look_s: Expert[float] = Field(
        default=0.0,
        ge=0.0,
        le=60.0,
        description="how long memory may take to see what came of a skill; 0: nothing is looked at",
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

    action: str = Field(
        default="gripper_controller/gripper_cmd",
        description="name of the control_msgs/GripperCommand action, or FollowJointTrajectory with gripper.joints; "
        "needed with arm.action",
    )
    joints: str = Field(
        default="",
        description="joints of a FollowJointTrajectory gripper's fingers, separated by spaces; empty: GripperCommand",
    )
    motion_s: Expert[float] = Field(
        default=1.5, ge=0.1, le=30.0, description="time that a FollowJointTrajectory gripper is given for a motion"
    )
    open_position: float = Field(
        default=0.04,
        ge=-10.0,
        le=10.0,
        description="position of the open gripper, in the controller's unit",
    )
    closed_position: float = Field(
        default=0.0,
        ge=-10.0,
        le=10.0,
        description="position of the gripper closed on nothing, in the controller's unit",
    )
    empty_margin: Expert[float] = Field(
        default=0.003,
        ge=0.0,
        le=1.0,
        description="distance from closed_position within which nothing is held, in the controller's unit",
    )
    opening_m: float = Field(default=0.085, ge=0.001, le=1.0, description="widest thing that fits between the fingers")
    finger_m: float = Field(default=0.04, ge=0.001, le=0.5, description="how deep the fingers reach over a thing")
    palm_m: Expert[float] = Field(
        default=0.05, ge=0.0, le=0.5, description="free room that the hand needs about a grasp"
    )
    max_effort: Live[float] = Field(
        default=20.0, ge=0.0, le=1000.0, description="greatest effort of the gripper (N or N m)"
    )
    timeout_s: Live[Expert[float]] = Field(
        default=10.0, ge=0.1, le=60.0, description="time after which a motion is cancelled"
    )


class ExploreParameters(Parameters):
    """Of the search."""

    look_s: Expert[float] = Field(
        default=2.0, ge=0.0, le=60.0, description="how long memory may take to see something in one direction"
    )
    directions: Expert[int] = Field(default=4, ge=1, le=16, description="directions that are looked in at each place")
    poll_s: Expert[float] = Field(
        default=0.25,
        ge=0.05,
        le=5.0,
        description="time between two questions to memory while looking",
    )


class SkillsParameters(LifecycleParameters, PeerParameters):
    """Parameters of the skills node."""

    memory_node: str = Field(default="memory", description="name of the memory node")
    label_space: LabelSpace = HOUSEHOLD
    map_frame: str = Field(default="map", description="frame of the map and of memory (REP-105)")
    base_frame: str = Field(default="base_link", description="frame of the base")
    costmap_topic: str = Field(
        default="global_costmap/costmap",
        description="latched nav_msgs/OccupancyGrid that stand-off poses are chosen on",
    )
    tf_timeout_s: float = Field(
        default=1.0, ge=0.0, le=30.0, description="how long to wait for a transform, or the costmap"
    )
    connect_s: Expert[float] = Field(
        default=5.0, ge=0.1, le=60.0, description="how long to wait for an action server to answer"
    )
    stop_s: Expert[float] = Field(
        default=5.0, ge=0.1, le=60.0, description="how long base or arm may take to confirm that it stopped"
    )
    action_timeout_s: float = Field(
        default=120.0, ge=0.1, le=3600.0, description="time after which an action of `actions` is cancelled"
    )
    plugins: str = Field(
        default="",
        description="skill plug-ins, separated by spaces: doors, switches, pouring, wiping, or installed packages'",
    )
    action_map: str = Field(
        default="",
        description="YAML file that says how skills become goals of actions of other types (docs/skills.md)",
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
