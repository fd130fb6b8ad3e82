"""The parameters of the skills node; config/skills.yaml explains them to people."""

from __future__ import annotations

import dataclasses
from typing import Any

from memory_node.catalogue.label_space import HOUSEHOLD
from memory_node.domain.errors import InvalidValueError
from memory_node.domain.skill_library import SKILLS
from memory_node.nodes.parameters import parameter
from memory_node.nodes.running_goals import SILENCE
from memory_node.planner.stand_off_poses import StandOffConfig


def _action_fields() -> list[tuple[str, Any, Any]]:
    text = "action of type ExecuteSkill that does {}; empty: the bridge's own way, if it has one"
    return [(name, str, parameter("", text.format(name))) for name in SKILLS]


# One key a declared skill: actions.PickupObject and so on.
SkillActions = dataclasses.make_dataclass("SkillActions", _action_fields(), frozen=True)


@dataclasses.dataclass(frozen=True)
class BaseParameters:
    """Of the base."""

    action: str = parameter("navigate_to_pose", "nav2_msgs/NavigateToPose; empty: the robot does not drive")
    timeout_s: float = parameter(180.0, "a drive that takes longer is cancelled (s)", 0.1, 3600.0)
    silence_s: float = parameter(10.0, "as is one without feedback for so long (s)", 0.1, 600.0)
    candidates: int = parameter(3, "stand-off poses that are tried", 1, 32)
    reach_m: float = parameter(1.0, "a thing this close to the base's middle can be used (m)", 0.1, 5.0)
    place_within_m: float = parameter(1.0, "a place to explore is reached from this far (m)", 0.1, 5.0)


@dataclasses.dataclass(frozen=True)
class ArmParameters:
    """Of the arm, through MoveIt 2."""

    action: str = parameter("move_action", "moveit_msgs/MoveGroup; empty: only the actions of `actions` move the arm")
    group: str = parameter("arm", "planning group")
    link: str = parameter("gripper_link", "end-effector link that is brought to the poses")
    frame: str = parameter("base_link", "frame that the poses are given to MoveIt in")
    ahead_axis: str = parameter("x", "the link's axis that points ahead; its y is what closes", choices=("x", "z"))
    approach_m: float = parameter(0.12, "straight way to a grasp, and back (m)", 0.01, 1.0)
    position_tolerance_m: float = parameter(0.01, "radius about the link's goal (m)", 0.0001, 0.2)
    orientation_tolerance_rad: float = parameter(0.05, "about each axis (rad)", 0.001, 3.2)
    carry: str = parameter(
        "", "joint values to drive with, as `shoulder=0.0 elbow=-1.2` (rad or m); empty: as it drew back"
    )
    planning_s: float = parameter(5.0, "allowed planning time (s)", 0.1, 120.0)
    planning_attempts: int = parameter(5, "planning attempts", 1, 100)
    speed: float = parameter(0.3, "share of the greatest velocity and acceleration", 0.01, 1.0)
    candidates: int = parameter(4, "grasps and spots that are tried", 1, 32)
    timeout_s: float = parameter(60.0, "a motion that takes longer is cancelled (s)", 0.1, 600.0)

    @property
    def carry_joints(self) -> dict[str, float]:
        """Joint values of `carry` by name.

        Raises:
            InvalidValueError: it does not read as pairs `joint=number`.
        """
        pairs = [word.partition("=") for word in self.carry.replace(",", " ").split()]
        try:
            joints = {name: float(value) for name, _, value in pairs}
        except ValueError:
            joints = {"": 0.0}
        if "" in joints:
            raise InvalidValueError(f"parameter arm.carry: expected pairs like `elbow=-1.2`, got {self.carry!r}")
        return joints


@dataclasses.dataclass(frozen=True)
class GripperParameters:
    """Of the gripper; positions in the unit of its controller (m or rad)."""

    action: str = parameter("gripper_controller/gripper_cmd", "control_msgs/GripperCommand; needed with arm.action")
    open_position: float = parameter(0.04, "position when open", -10.0, 10.0)
    closed_position: float = parameter(0.0, "position when closed on nothing", -10.0, 10.0)
    empty_margin: float = parameter(0.003, "this close to closed_position, nothing is held", 0.0, 1.0)
    opening_m: float = parameter(0.085, "widest thing between the fingers (m)", 0.001, 1.0)
    finger_m: float = parameter(0.04, "how deep the fingers reach over a thing (m)", 0.001, 0.5)
    palm_m: float = parameter(0.05, "room that the hand needs about a grasp (m)", 0.0, 0.5)
    max_effort: float = parameter(20.0, "greatest effort (N or N m)", 0.0, 1000.0)
    timeout_s: float = parameter(10.0, "a motion that takes longer is cancelled (s)", 0.1, 60.0)


@dataclasses.dataclass(frozen=True)
class ExploreParameters:
    """Of the search."""

    look_s: float = parameter(2.0, "how long memory may take to see something in one direction (s)", 0.0, 60.0)
    directions: int = parameter(4, "directions to look in at each place", 1, 16)
    poll_s: float = parameter(0.25, "how often memory is asked meanwhile (s)", 0.05, 5.0)


@dataclasses.dataclass(frozen=True)
class SkillsParameters:
    """Parameters of the skills node."""

    memory_node: str = parameter("memory", "name of the memory node")
    label_space: str = parameter(HOUSEHOLD, "what kinds of things there are: a shipped label space or a .yaml file")
    map_frame: str = parameter("map", "frame of the map and of memory (REP-105)")
    base_frame: str = parameter("base_link", "frame of the base")
    costmap_topic: str = parameter("global_costmap/costmap", "nav_msgs/OccupancyGrid for stand-off poses, latched")
    tf_timeout_s: float = parameter(1.0, "how long to wait for a transform, or the costmap (s)", 0.0, 30.0)
    connect_s: float = parameter(5.0, "how long to wait for an action server to answer (s)", 0.1, 60.0)
    stop_s: float = parameter(5.0, "how long base or arm may take to confirm that it stopped (s)", 0.1, 60.0)
    peer_silence_s: float = parameter(0.3, SILENCE, 0.1, 10.0)
    action_timeout_s: float = parameter(120.0, "an action of `actions` that takes longer is cancelled (s)", 0.1, 3600.0)
    base: BaseParameters = BaseParameters()
    arm: ArmParameters = ArmParameters()
    gripper: GripperParameters = GripperParameters()
    explore: ExploreParameters = ExploreParameters()
    stand_off: StandOffConfig = StandOffConfig()  # noqa: RUF009 - frozen
    actions: SkillActions = SkillActions()  # type: ignore[valid-type]  # noqa: RUF009 - made from the library

    @property
    def deadlines_s(self) -> tuple[float, float]:
        """How long an action server may take to answer, and to confirm that it stopped."""
        return self.connect_s, self.stop_s
