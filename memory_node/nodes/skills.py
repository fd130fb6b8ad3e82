"""The skills node: ExecuteSkill goals in; Nav2, MoveIt 2, gripper and the user's action goals out."""

from __future__ import annotations

from collections import Counter

from memory_node.catalogue.label_space import load_catalogue
from memory_node.domain.skill import SkillResult
from memory_node.nodes.demonstrations import Demonstrations
from memory_node.nodes.diagnostics import Diagnosis
from memory_node.nodes.execute_skill import SkillGoal, SkillServer
from memory_node.nodes.managed_node import ManagedNode
from memory_node.nodes.memory_client import MemoryClient
from memory_node.nodes.skill_bridge.arm import CommandGripper, MoveGroupArm, TrajectoryGripper
from memory_node.nodes.skill_bridge.base import Driving, NavigationBase, Surroundings
from memory_node.nodes.skill_bridge.config import SkillsParameters
from memory_node.nodes.skill_bridge.forwarding import ForwardedSkills
from memory_node.nodes.skill_bridge.outcome import EarlierPoses, SkillRun
from memory_node.nodes.skill_bridge.performer import SkillPerformer
from memory_node.nodes.skill_bridge.plugins import RobotParts
from memory_node.nodes.skill_bridge.second_look import SecondLook
from memory_node.nodes.skill_bridge.target import Hand, TargetLookup


class SkillsNode(ManagedNode):
    """Offers a real robot's skills as execute_skill; one goal at a time. It offers them while it is active."""

    def __init__(self) -> None:
        super().__init__("skills", SkillsParameters)
        self._hand = Hand()
        self._ended: Counter[str] = Counter()
        self._goals = self.announce_goals(self.config.peer_silence_s)
        self._performer = self._make_performer()
        self._server: SkillServer | None = None
        self._shown: Demonstrations | None = None
        self.start()

    def activate(self) -> None:
        """Offer the skills."""
        available = self._performer.available()
        self._server = SkillServer(
            self,
            self._perform,
            lambda: self._hand.held_class,
            self.now_ns,
            self.config.map_frame,
            self._goals,
            available,
        )
        if self.config.demonstration_pause_s:
            goals, pause_s = self._server.goals, self.config.demonstration_pause_s
            self._shown = Demonstrations(self, self.now_ns, pause_s, is_performing=lambda: not goals.is_idle)
        components = {
            "skills": lambda: Diagnosis({"holding": self._hand.held_class, **self._ended}),
            "goals": self._server.goals.diagnosis,
        }
        self.publish_diagnostics(self.config.diagnostic_updater, components)
        self.get_logger().info(f"skills of the robot at execute_skill: {', '.join(sorted(available)) or 'none'}")

    def deactivate(self) -> None:
        """Stop base, arm and gripper, and tell the caller."""
        if self._server is not None:
            self._server.close()
        if self._shown is not None:
            self._shown.close()
        self._server = self._shown = None

    def clean_up(self) -> None:
        """Forget what the hand holds; memory is asked again."""
        self._hand.forget()

    def _make_performer(self) -> SkillPerformer:
        config, goals = self.config, self._goals
        catalogue = load_catalogue(config.label_space)
        view = Surroundings(self, config)
        memory = MemoryClient(self, config.memory_node, is_ending=lambda: self._is_ending)
        lookup = TargetLookup(memory, self._hand, view.robot_pose)
        earlier = EarlierPoses(memory.tried_poses)
        driving = arm = gripper = None
        if config.base.action:
            base = NavigationBase(self, config, goals)
            driving = Driving(base, view, lookup, config, catalogue, self.now_ns, earlier)
        if config.arm.action:
            arm = MoveGroupArm(self, config, view, goals)
            gripper = (TrajectoryGripper if config.gripper.joints else CommandGripper)(self, config, goals)
        look = SecondLook(lookup, self.now_ns, config.arm.look_s)
        parts = RobotParts(self, config, self._hand, view.robot_pose, look, arm, gripper)
        actions = ForwardedSkills(self, config, goals)
        return SkillPerformer(parts, lookup, actions, catalogue, self.now_ns, driving, earlier)

    @property
    def _is_ending(self) -> bool:
        return self._server is not None and self._server.goals.is_ending

    def _perform(self, goal: SkillGoal) -> SkillResult:
        result = self._performer.execute(goal.call, SkillRun(goal.is_canceled, goal.report, goal.episode_id))
        self._ended["succeeded" if result.success else f"failed.{result.reason}"] += 1
        if self._shown is not None and not goal.episode_id:
            self._shown.note(result)
        return result
