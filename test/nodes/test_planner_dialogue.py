"""The planner's action over DDS: questions come back and are answered, and later instructions refer to earlier ones."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from free_domain import free_domain
from rclpy.action import ActionClient, ActionServer
from rclpy.callback_groups import ReentrantCallbackGroup
from robot_memory.action import ExecuteInstruction, ExecuteSkill
from ros_peer import RosPeer, spun, wait_until
from running_memory import running_memory

from memory_node.domain.skill import SkillCall, SkillResult, StateChange
from memory_node.nodes import conversions
from memory_node.nodes.service_clients import result_of


class WillingRobot:
    """An ExecuteSkill server that does everything at once and says what its hand holds. called: its skills so far."""

    def __init__(self, node: Any) -> None:
        self.called: list[str] = []
        self.held = ""
        group = ReentrantCallbackGroup()
        self._server = ActionServer(node, ExecuteSkill, "execute_skill", self._execute, callback_group=group)

    def close(self) -> None:
        self._server.destroy()

    def _execute(self, goal: Any) -> Any:
        call = conversions.call_from_msg(goal.request.call)
        self.called.append(str(call))
        goal.succeed()
        return conversions.skill_result_to_msg(self._done(call), self.held)

    def _done(self, call: SkillCall) -> SkillResult:
        name = call.arguments[0].partition("@")[0].partition(" ")[0]
        if call.skill == "Explore":
            return SkillResult(call, True, object_id=name)
        if call.skill not in ("PickupObject", "PutObject"):
            return SkillResult(call, True)
        held = call.skill == "PickupObject"
        self.held = name if held else ""
        return SkillResult(call, True, object_id=name, changes=(StateChange(name, name, 1, held=held),))


class Person:
    """Sends instructions. feedback: the messages of the last one."""

    def __init__(self, peer: RosPeer) -> None:
        self.feedback: list[Any] = []
        self._action = ExecuteInstruction
        self._client = ActionClient(peer.node, ExecuteInstruction, "execute_instruction")
        assert self._client.wait_for_server(timeout_sec=30.0)

    def close(self) -> None:
        self._client.destroy()

    def says(self, instruction: str) -> Any:
        """Return the result of one instruction."""
        self.feedback.clear()
        goal = self._action.Goal(instruction=instruction)
        sent = self._client.send_goal_async(goal, feedback_callback=lambda m: self.feedback.append(m.feedback))
        handle = result_of(sent, 30.0, "execute_instruction")
        assert handle.accepted
        return result_of(handle.get_result_async(), 60.0, "execute_instruction").result

    @property
    def plan(self) -> list[str]:
        """The goals that the planner announced last."""
        plans = [list(one.plan) for one in self.feedback if one.plan]
        return plans[-1] if plans else []


@pytest.fixture(scope="module")
def ring(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[RosPeer, WillingRobot]]:
    """Run memory, planner and a robot on one domain."""
    peer = RosPeer(free_domain())
    robot = WillingRobot(peer.node)
    folder: Path = tmp_path_factory.mktemp("dialogue")
    with running_memory(peer.domain_id, str(folder / "memory.db")):
        from memory_node.nodes.planner import PlannerNode

        with spun(PlannerNode()):
            yield peer, robot
    robot.close()
    peer.close()


@pytest.fixture
def robot(ring: tuple[RosPeer, WillingRobot]) -> WillingRobot:
    ring[1].called.clear()
    return ring[1]


@pytest.fixture
def person(ring: tuple[RosPeer, WillingRobot], robot: WillingRobot) -> Iterator[Person]:
    made = Person(ring[0])
    yield made
    made.close()


def test_question_comes_back_with_choices_and_the_next_goal_answers_it(person: Person, robot: WillingRobot) -> None:
    asked = person.says("put the apple on the table")
    assert asked.needs_answer
    assert not asked.success
    assert "table" in asked.question
    assert {"coffee table", "dining table", "side table"} <= set(asked.choices)
    assert [(one.question, list(one.choices)) for one in person.feedback] == [(asked.question, list(asked.choices))]
    assert robot.called == []
    person.says("the side table")
    assert person.plan == ["place Apple to SideTable"]
    assert robot.called


def test_it_means_the_thing_of_the_instruction_before(person: Person) -> None:
    person.says("wash the mug")
    assert person.plan == ["clean Mug"]
    person.says("put it on the shelf")
    assert person.plan == ["place Mug to Shelf"]


def test_hand_is_remembered_from_one_instruction_to_the_next(person: Person, robot: WillingRobot) -> None:
    assert person.says("pick up the mug").success
    assert robot.held == "Mug"
    dropped = person.says("put it down")
    assert dropped.success, dropped.message
    assert robot.held == ""


def test_answer_of_memory_is_in_the_result_and_nothing_moves(person: Person, robot: WillingRobot) -> None:
    told = person.says("where is the tennis racket?")
    assert told.success
    assert told.answer == "I do not know where the tennis racket is."
    assert not told.needs_answer
    assert robot.called == []


def test_senseless_instruction_is_asked_about(person: Person, robot: WillingRobot) -> None:
    asked = person.says("the weather is nice")
    assert asked.needs_answer
    assert asked.question
    assert robot.called == []


def test_diagnostics_tell_what_came_of_instructions_and_whether_memory_and_robot_are_there(
    person: Person, ring: tuple[RosPeer, WillingRobot]
) -> None:
    told: dict[str, Any] = {}

    def hear(message: Any) -> None:
        told.update({status.name: status for status in message.status})

    person.says("the weather is nice")
    subscription = ring[0].node.create_subscription(DiagnosticArray, "/diagnostics", hear, 10)
    names = {f"planner: {part}" for part in ("instructions", "peers", "callbacks", "threads")}
    wait_until(lambda: names <= set(told))
    ring[0].node.destroy_subscription(subscription)
    assert {told[name].level for name in names} == {DiagnosticStatus.OK}
    ended = {value.key: value.value for value in told["planner: instructions"].values}
    assert sum(int(ended.get(state, 0)) for state in ("succeeded", "aborted")) >= 1
    assert ended["running"] == "False"
    there = {value.key: value.value for value in told["planner: peers"].values}
    assert there == {"memory": "True", "robot": "True"}
    assert "failures.running-goals" in {value.key for value in told["planner: threads"].values}
