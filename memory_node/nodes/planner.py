"""The planner node: ExecuteInstruction goals in, memory's services asked, ExecuteSkill goals out."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Any

from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.node import Node
from robot_memory import msg as rm
from robot_memory.action import ExecuteInstruction

from memory_node.catalogue.label_space import HOUSEHOLD, load_catalogue
from memory_node.domain.context import ContextSource
from memory_node.domain.errors import RobotMemoryError
from memory_node.nodes import conversions
from memory_node.nodes.experience_client import ExperienceClient
from memory_node.nodes.memory_client import MemoryClient
from memory_node.nodes.parameters import declare, parameter
from memory_node.nodes.skill_client import SkillClient
from memory_node.planner.executor import InstructionExecutor, InstructionResult
from memory_node.planner.guided_planner import GuidedPlanner
from memory_node.planner.memory_mode import MODES, memory_in, sources_of
from memory_node.planner.open_planner import PLANNERS, open_planner
from memory_node.planner.planner import Planner, PlanProgress, ProgressKind
from memory_node.planner.planner_config import PlannerConfig
from memory_node.search.minilm import MiniLmEmbedder


@dataclass(frozen=True)
class PlannerParameters:
    """Parameters of the planner node."""

    planner: str = parameter("offline", "which planner", choices=PLANNERS)
    label_space: str = parameter(HOUSEHOLD, "what kinds of things there are: a shipped label space or a .yaml file")
    memory: str = parameter("full+experience", "what the planner knows; none: only the map", choices=MODES)
    attempts: int = parameter(1, "so often an instruction is tried while it fails and memory allows another", 1, 10)
    memory_node: str = parameter("memory", "name of the memory node")
    skill_action: str = parameter("execute_skill", "name of the robot's ExecuteSkill action")
    skill_timeout_s: float = parameter(300.0, "a skill that takes longer is cancelled (s)", 1.0, 86400.0)
    settings: PlannerConfig = PlannerConfig()  # noqa: RUF009 - frozen; see config/planner.yaml


class PlannerNode(Node):
    """Carries out one instruction at a time."""

    def __init__(self) -> None:
        super().__init__("planner")
        self._config = declare(self, PlannerParameters)
        self._memory = MemoryClient(self, self._config.memory_node)
        self._experience = ExperienceClient(self, self._config.memory_node)
        self._robot = SkillClient(self, self._config.skill_action, self._config.skill_timeout_s)
        self._planner: Planner = open_planner(
            self._config.planner, MiniLmEmbedder(), self._config.settings, load_catalogue(self._config.label_space)
        )
        self._busy = threading.Lock()
        self._server = ActionServer(
            self,
            ExecuteInstruction,
            "execute_instruction",
            execute_callback=self._execute,
            goal_callback=self._on_goal,
            cancel_callback=self._on_cancel,
            callback_group=ReentrantCallbackGroup(),
        )
        self.get_logger().info(f"planner {self._config.planner!r} ready at execute_instruction")

    def _now_ns(self) -> int:
        return int(self.get_clock().now().nanoseconds)

    def _on_goal(self, goal: ExecuteInstruction.Goal) -> GoalResponse:
        if self._busy.locked():
            self.get_logger().warning(f"refused {goal.instruction!r}: another instruction is being carried out")
            return GoalResponse.REJECT
        if not goal.instruction.strip() or goal.memory not in ("", *MODES):
            self.get_logger().warning("refused a goal: expected an instruction, and memory one of " + ", ".join(MODES))
            return GoalResponse.REJECT
        return GoalResponse.ACCEPT

    def _on_cancel(self, goal: Any) -> CancelResponse:
        self._robot.cancel()
        return CancelResponse.ACCEPT

    def _execute(self, goal: Any) -> ExecuteInstruction.Result:
        with self._busy:
            try:
                result = self._carry_out(goal)
            except RobotMemoryError as error:
                self.get_logger().error(str(error))
                goal.abort()
                return ExecuteInstruction.Result(success=False, message=str(error))
        if result.canceled:
            goal.canceled()
        elif result.success:
            goal.succeed()
        else:
            goal.abort()
        return result_to_msg(result, self._experience.episode_id)

    def _carry_out(self, goal: Any) -> InstructionResult:
        mode = goal.request.memory or self._config.memory
        self._memory.wait(timeout_s=30.0)
        self._robot.wait(timeout_s=30.0)
        instruction = goal.request.instruction
        self.get_logger().info(f"instruction {instruction!r} (memory {mode})")
        feedback = _Feedback(goal)
        sources = sources_of(mode)
        advised = ContextSource.EXPERIENCE in sources
        planner = GuidedPlanner(self._planner, self._experience, self._now_ns, self._config.attempts, advised=advised)
        executor = InstructionExecutor(memory_in(mode, self._memory), self._robot, planner, sources=sources)
        result = executor.execute(instruction, feedback.report, lambda: goal.is_cancel_requested)
        self.get_logger().info(f"instruction {instruction!r} {'done' if result.success else 'failed'}")
        return result


class _Feedback:
    """Turns the planner's progress into the action's feedback."""

    def __init__(self, goal: Any) -> None:
        self._goal = goal
        self._message = ExecuteInstruction.Feedback()

    def report(self, progress: PlanProgress) -> None:
        message = self._message
        if progress.kind is ProgressKind.PLAN:
            message.plan = list(progress.goals)
        elif progress.kind is ProgressKind.MEMORY:
            message.memory_answer = progress.text
        elif progress.kind is ProgressKind.SKILL:
            message.current_skill = progress.text
            message.step += 1
        self._goal.publish_feedback(message)


def result_to_msg(result: InstructionResult, episode_id: str) -> ExecuteInstruction.Result:
    """Return what came of an instruction as the action's result."""
    outcome = result.outcome
    unmet = [goal for goal, achieved in zip(outcome.goals, outcome.achieved, strict=False) if not achieved]
    return ExecuteInstruction.Result(
        success=result.success,
        message=result.failure or "; ".join(outcome.failures),
        episode_id=episode_id,
        executed=[conversions.call_to_msg(step.step.call) for step in result.steps],
        succeeded=[step.result.success for step in result.steps],
        unmet_goals=unmet,
        metrics=rm.InstructionMetrics(
            skills=result.skills,
            failed_skills=sum(not step.result.success for step in result.steps),
            explorations=result.explorations,
            explored_areas=result.explored_areas,
            distance=result.distance_m,
            duration=result.skill_s,
            lookups=len(result.lookups),
            short_term_hits=result.lookups_hit,
            long_term_hits=result.lookups_answered - result.lookups_hit,
            context_tokens=outcome.tokens_in,
        ),
    )
