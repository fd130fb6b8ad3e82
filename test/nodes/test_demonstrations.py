"""What another client than our planner lets the robot do becomes an episode, and a way for other things of its kind."""

import time
from pathlib import Path
from typing import Any

from heated_potato import HEATED
from robot_memory.msg import DemonstratedStep
from ros_peer import RosPeer, wait_until
from running_memory import running_memory
from std_msgs.msg import String

from memory_node.domain.skill import FailureReason, SkillCall, SkillResult, StateChange
from memory_node.nodes.demonstrations import Demonstrations
from memory_node.nodes.execute_skill import SkillClient, SkillGoal, SkillServer
from memory_node.nodes.running_goals import RunningGoals


def test_demonstration_gives_a_way_for_other_things_and_our_planner_is_not_recorded_twice(
    peer: RosPeer, tmp_path: Path
) -> None:
    def perform(goal: SkillGoal) -> SkillResult:
        puts = goal.call.skill == "PutObject"
        change = StateChange("", "Potato", time.time_ns(), held=False, position=(1.0, 1.0, 1.0))
        result = SkillResult(goal.call, True, changes=(change,) if puts else ())
        if not goal.episode_id:
            shown.note(result)
        return result

    with running_memory(peer.domain_id, str(tmp_path / "memory.db")) as node:
        memory: Any = node.memory
        shown = Demonstrations(peer.node, time.time_ns, 600.0, is_performing=lambda: False)
        running = RunningGoals(peer.node)
        server = SkillServer(peer.node, perform, lambda: "", time.time_ns, "map", running, {"PickupObject"})
        wait_until(lambda: peer.node.count_subscribers("execute_skill/demonstrated") == 1)
        planner = SkillClient(peer.node, running, episode_id=lambda: "of-our-planner")
        planner.wait(30.0)
        assert planner.execute(SkillCall("PickupObject", ("Mug",))).success
        peer.publish("execute_skill/demonstration", String(data="heat the potato"))
        person = SkillClient(peer.node, running)
        person.wait(30.0)
        for call in HEATED:
            assert person.execute(call).success
        peer.publish("execute_skill/demonstration", String())
        wait_until(lambda: memory.past.episodes(1) and memory.past.episodes(1)[0].ended_ns)
        assert memory.experience.wait_settled(timeout_s=30.0)
        (episode,) = memory.past.episodes(10)
        assert (episode.instruction, episode.success) == ("heat the potato", True)
        assert [step.action for step in memory.past.episode(episode.id).steps] == list(HEATED)
        (way,) = memory.experience.ways_to("heat the egg")
        assert way.steps[-1] == "ToggleOn(Microwave)"
        (potato,) = [one for one in memory.scene().objects if one.class_name == "Potato"]
        assert tuple(potato.box.center[:2]) == (1.0, 1.0)
        shown.close()
        server.close()
        running.close()


def test_long_call_is_no_pause_and_what_is_shown_ends_as_its_last_call_went(peer: RosPeer) -> None:
    performs = True
    got: list[Any] = []
    peer.node.create_subscription(DemonstratedStep, "execute_skill/demonstrated", got.append, 100)
    shown = Demonstrations(peer.node, time.time_ns, 0.1, is_performing=lambda: performs)
    peer.publish("execute_skill/demonstration", String(data="heat the potato"))
    time.sleep(1.5)  # several pauses, and a look whether one is over
    for success, reason in ((True, FailureReason.NONE), (False, FailureReason.EXECUTION)):
        shown.note(SkillResult(SkillCall("PickupObject", ("Potato",)), success, reason))
    performs = False
    wait_until(lambda: bool(got) and got[-1].has_ended)
    assert {one.instruction for one in got} == {"heat the potato"}
    assert len({one.step.episode_id for one in got}) == 1
    assert [one.step.success for one in got] == [True, False, False]
    shown.close()
