"""The planner node: ExecuteInstruction goals in, memory's services asked, ExecuteSkill goals out."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rclpy.callback_groups import MutuallyExclusiveCallbackGroup
from rclpy.node import Node
from rclpy.qos import QoSProfile, qos_profile_sensor_data
from robot_memory.action import ExecuteInstruction

from memory_node.catalogue.label_space import load_catalogue
from memory_node.context.recalled import Recalled
from memory_node.domain.context import ContextSource
from memory_node.domain.errors import InputSkippedError, InvalidValueError, RobotMemoryError
from memory_node.domain.process import Newest
from memory_node.domain.skill import FailureReason, SkillCall, SkillResult
from memory_node.lessons.expectations import expectations_of
from memory_node.llm.chat import Deadline
from memory_node.nodes import conversions
from memory_node.nodes.diagnostics import Diagnosis
from memory_node.nodes.execute_skill import SkillClient
from memory_node.nodes.experience_client import ExperienceClient
from memory_node.nodes.goal_server import Ending, GoalServer, GoalState, ServedGoal
from memory_node.nodes.guarded_node import GuardedNode
from memory_node.nodes.inputs.camera_topics import topic_of
from memory_node.nodes.memory_client import MemoryClient
from memory_node.nodes.node_parameters import PlannerParameters, VerifierParameters
from memory_node.nodes.parameters import declare
from memory_node.nodes.qos import OVERRIDABLE
from memory_node.nodes.service_clients import PeerTimeoutError
from memory_node.perception.crop import picture_jpeg
from memory_node.planner.executor import InstructionExecutor, InstructionResult
from memory_node.planner.guided_planner import GuidedPlanner
from memory_node.planner.memory_mode import MODES, memory_in, sources_of
from memory_node.planner.open_planner import open_planner
from memory_node.planner.planner import Planner, PlanProgress, ProgressKind
from memory_node.planner.reading.plain_reader import Known
from memory_node.planner.session import Session
from memory_node.planner.told_limits import ToldLimits, nothing_told
from memory_node.planner.visual_verifier import SeenPicture, SeenVerification, VerificationCounts, open_seer
from memory_node.search.minilm import MiniLmEmbedder
from memory_node.store.location import default_database

# After so long it is said that a node is missing; an instruction waits longer only while the robot's nodes start.
_SAID_AFTER_S = 1.5
_STARTING_S = 30.0
_REMEDIES = {
    "memory": "; is the memory node running, in this namespace and domain?",
    "robot": "; start the bridge to the robot (memory.launch.py skills:=true skills_file:=...), or a simulated one",
}


class PlannerNode(GuardedNode):
    """Carries out one instruction at a time."""

    def __init__(self) -> None:
        super().__init__("planner")
        self.config = declare(self, PlannerParameters)
        memory, compiler = self.config.memory_node, self.config.compiler
        self._memory = MemoryClient(self, memory, is_ending=lambda: self._server.is_ending)
        self._experience = ExperienceClient(self, memory, compiler=compiler, is_ending=lambda: self._server.is_ending)
        running = self.announce_goals(self.config.peer_silence_s)
        self._started_s = time.monotonic()
        self._robot = SkillClient(
            self,
            running,
            self.config.skill_action,
            self.config.skill_timeout_s,
            episode_id=lambda: self._experience.episode_id,
        )
        self._kinds = catalogue = load_catalogue(self.config.label_space)
        verifies, sees = self.config.verifier.kind == "pictures", self.config.planner == "llm" and self.config.llm.sees
        self._camera = CameraPictures(self, self.config.verifier) if verifies or sees else None
        self._planner: Planner = open_planner(
            self.config.planner, MiniLmEmbedder(), self.config, catalogue, camera=self._camera
        )
        components: dict[str, Callable[[], Diagnosis]] = {}
        if verifies and self._camera is not None:
            verifier, counts = self.config.verifier, VerificationCounts()
            seer = open_seer(verifier.llm)
            self._planner = SeenVerification(self._planner, seer, self._camera, self.now_ns, verifier, counts)
            components["verification"] = lambda: Diagnosis(counts.values(), tuple(filter(None, [counts.problem])))
        self._session = Session(_session_file(self.config.session_file, self.get_namespace()), self.config.session_s)
        self._server = GoalServer(
            self,
            ExecuteInstruction,
            "execute_instruction",
            running,
            self._carry_out,
            self._result_of_failure,
            refusal=_refusal,
        )
        components |= {"instructions": self._server.diagnosis, "peers": self._peers_diagnosis}
        self.publish_diagnostics(self.config.diagnostic_updater, components)
        self.get_logger().info(f"planner {self.config.planner!r} ready at execute_instruction")

    def end(self) -> None:
        """Stop the robot and tell the caller."""
        if self._camera is not None:
            self._camera.end()
        super().end()

    def _peers_diagnosis(self) -> Diagnosis:
        """Return whether the nodes that an instruction needs are there."""
        there = {"memory": self._memory.is_there, "robot": self._robot.is_there}
        missing = {
            "memory": f"no memory node {self.config.memory_node!r} is there",
            "robot": f"no robot offers {self.config.skill_action}: start its bridge (skills:=true skills_file:=...)",
        }
        return Diagnosis(there, tuple(text for name, text in missing.items() if not there[name]))

    def _carry_out(self, goal: ServedGoal) -> Ending:
        self._robot.is_canceled = lambda: goal.is_canceled
        try:
            result = self._execute(goal)
        except RobotMemoryError as error:
            self.get_logger().error(str(error))
            state = GoalState.CANCELED if goal.is_canceled else GoalState.ABORTED
            return Ending(self._result_of_failure(goal.cancel_reason or str(error)), state)
        message = result_to_msg(result, self._experience.episode_id, self._robot.held_object)
        if result.canceled and goal.is_canceled:
            message.message = f"{goal.cancel_reason}; {message.message}".removesuffix("; canceled")
            return Ending(message, GoalState.CANCELED)
        return Ending(message, GoalState.SUCCEEDED if result.success else GoalState.ABORTED)

    def _execute(self, goal: ServedGoal) -> InstructionResult:
        mode = goal.request.memory or self.config.memory
        instruction = goal.request.instruction
        self.get_logger().info(f"instruction {instruction!r} (memory {mode})")
        feedback = _Feedback(goal)
        self._await("memory", lambda timeout_s: self._memory.wait(timeout_s, lambda: goal.is_canceled), feedback)
        sources = sources_of(mode)
        advised = ContextSource.EXPERIENCE in sources
        compiled = advised and self.config.compiler != "none"
        planner = GuidedPlanner(
            self._planner,
            self._experience,
            self.now_ns,
            self.config.attempts,
            guidance=self._experience if compiled else None,
        )
        recalled = self._memory.recall_past() if advised else Recalled()
        lessons = expectations_of(
            recalled.tried, recalled.facts, self._kinds, self._memory.scene, self.now_ns(), recalled.zone
        )
        executor = InstructionExecutor(
            memory_in(mode, self._memory),
            _AwaitedRobot(self._robot, lambda: self._await("robot", self._robot.wait, feedback)),
            planner,
            sources=sources,
            skills=self._robot.skills,
            conversation=self._session.conversation(self.now_ns(), self._memory.scene),
            told=self._memory.told_facts if advised else nothing_told,
            # Who remembers no things looks for the person as for any other thing.
            asks_for_person=ContextSource.OBJECTS in sources,
            limits=ToldLimits(recalled.facts, self._memory.scene, self._kinds, self.now_ns, recalled.zone),
            known=Known(recalled, self.now_ns, self._memory.tell_in_words, lessons, self._memory.ask)
            if advised
            else None,
        )
        result = executor.execute(instruction, feedback.report, lambda: goal.is_canceled)
        self._session.note(self.now_ns(), self._memory.scene)
        ended = "done" if result.success else goal.cancel_reason or _said(result)
        self.get_logger().info(f"instruction {instruction!r}: {ended}")
        return result

    def _await(self, peer: str, wait: Callable[[float], None], feedback: _Feedback) -> None:
        """Wait for a node that is needed; the caller is told soon that it is missing.

        Raises:
            PeerTimeoutError: it did not appear.
        """
        try:
            wait(_SAID_AFTER_S)
        except PeerTimeoutError as error:
            starting_s = _STARTING_S - (time.monotonic() - self._started_s)
            text = f"{error}{_REMEDIES[peer]}"
            if starting_s <= 0.0:
                raise PeerTimeoutError(text) from error
            # Nodes that start together find each other late.
            feedback.say(f"waiting for {peer}: {text}")
            try:
                wait(starting_s)
            except PeerTimeoutError:
                raise PeerTimeoutError(text) from error

    def _result_of_failure(self, message: str) -> ExecuteInstruction.Result:
        return ExecuteInstruction.Result(
            success=False,
            message=message,
            episode_id=self._experience.episode_id,
            held_object=self._robot.held_object,
        )


def _session_file(name: str, namespace: str) -> Path | None:
    """Return where sessions are kept: beside the memory of a robot that names no database."""
    if name == "none":
        return None
    return Path(name) if name else default_database(namespace).with_name("session.json")


def _refusal(goal: ExecuteInstruction.Goal) -> str:
    if goal.instruction.strip() and goal.memory in ("", *MODES):
        return ""
    return f"expected an instruction, and memory one of {', '.join(MODES)}"


class _AwaitedRobot:
    """The robot, waited for when it is first needed: a question is answered without one."""

    def __init__(self, robot: SkillClient, wait: Callable[[], None]) -> None:
        self._robot = robot
        self._wait = wait

    def execute(self, call: SkillCall) -> SkillResult:
        """Run one skill; without a robot the instruction ends, and says so."""
        try:
            self._wait()
        except PeerTimeoutError as error:
            return SkillResult(call, False, FailureReason.CANCELED, str(error))
        return self._robot.execute(call)


class _Feedback:
    """Turns the planner's progress into the action's feedback."""

    def __init__(self, goal: ServedGoal) -> None:
        self._goal = goal
        self._message = ExecuteInstruction.Feedback()

    def say(self, text: str) -> None:
        """Tell what is waited for, in place of a skill."""
        self._goal.publish_feedback(ExecuteInstruction.Feedback(current_skill=text))

    def report(self, progress: PlanProgress) -> None:
        message = self._message
        if progress.kind is ProgressKind.PLAN and progress.goals:
            message.plan = list(progress.goals)
        elif progress.kind is ProgressKind.MEMORY:
            message.memory_answer = progress.text
        elif progress.kind is ProgressKind.QUESTION:
            message.question, message.choices = progress.text, list(progress.choices)
        elif progress.kind is ProgressKind.SKILL:
            message.current_skill = progress.text
            message.step += 1
        elif progress.kind is ProgressKind.NOTE:
            message.notes = list(dict.fromkeys((*message.notes, progress.text)))
        elif progress.kind is ProgressKind.STATE:
            message.brief_state = list(progress.state)
        self._goal.publish_feedback(message)


def _said(result: InstructionResult) -> str:
    """Return in words what the caller has to know."""
    outcome = result.outcome
    if outcome.question:
        return f"needs an answer: {outcome.question}"
    return result.failure or "; ".join(outcome.failures) or outcome.answer


def result_to_msg(result: InstructionResult, episode_id: str, held_object: str) -> ExecuteInstruction.Result:
    """Return what came of an instruction as the action's result."""
    outcome = result.outcome
    unmet = [goal for goal, achieved in zip(outcome.goals, outcome.achieved, strict=False) if not achieved]
    return ExecuteInstruction.Result(
        success=result.success,
        message=_said(result),
        needs_answer=bool(outcome.question),
        question=outcome.question,
        choices=list(outcome.choices),
        answer=outcome.answer,
        episode_id=episode_id,
        executed=[conversions.call_to_msg(step.step.call) for step in result.steps],
        succeeded=[step.result.success for step in result.steps],
        unmet_goals=unmet,
        held_object=held_object,
        notes=list(result.notes),
        metrics=conversions.model_cost_to_msg(
            outcome.cost,
            skills=result.skills,
            failed_skills=sum(not step.result.success for step in result.steps),
            explorations=result.explorations,
            explored_areas=result.explored_areas,
            distance=result.distance_m,
            duration=result.skill_s,
            lookups=len(result.lookups),
            short_term_hits=result.lookups_hit,
            long_term_hits=result.lookups_answered - result.lookups_hit,
            replans=outcome.replans,
        ),
    )


_JPEG_QUALITY = 90
_CLOSER_MAX_PX = 512


class CameraPictures:
    """`PictureSource` over a topic of images. Only the newest message is kept; it is decoded when it is asked for."""

    def __init__(self, node: Node, config: VerifierParameters) -> None:
        self._config = config
        self._newest = Newest[Any]()
        self._held: Any = None
        kind, topic = topic_of(config.image_topic, config.image_transport)
        node.create_subscription(
            kind,
            topic,
            self._newest.put,
            QoSProfile(depth=1, reliability=qos_profile_sensor_data.reliability),
            callback_group=MutuallyExclusiveCallbackGroup(),
            qos_overriding_options=OVERRIDABLE,
        )

    def newest(self, earliest_ns: int) -> SeenPicture | None:
        """Return the newest picture, waiting `wait_s` for one taken at `earliest_ns` or later; see PictureSource.

        Raises:
            InputSkippedError: an unknown encoding, sizes that do not fit, data cut short, or no valid stamp.
        """
        try:
            return self._read(earliest_ns)
        except InvalidValueError as error:
            raise InputSkippedError("invalid_value", str(error)) from error

    def _read(self, earliest_ns: int) -> SeenPicture | None:
        deadline = Deadline(self._config.wait_s)
        self._held = self._newest.take(0.0) or self._held
        while self._stamp_ns() < earliest_ns and not deadline.passed and not self._newest.ended:
            self._held = self._newest.take(max(deadline.remaining_s(), 0.0)) or self._held
        if self._held is None:
            return None
        color = conversions.color_from_msg(self._held)
        whole = picture_jpeg(color, self._config.picture_max_px, _JPEG_QUALITY)
        height, width = color.shape[:2]
        middle = color[height // 4 : height - height // 4, width // 4 : width - width // 4]
        return SeenPicture(self._stamp_ns(), whole, picture_jpeg(middle, _CLOSER_MAX_PX, _JPEG_QUALITY))

    def end(self) -> None:
        """Wait for no picture any more."""
        self._newest.end()

    def _stamp_ns(self) -> int:
        """Return when the held picture was taken (ns); before everything where there is none."""
        return -1 if self._held is None else conversions.stamp_from_msg(self._held.header.stamp)
