"""What another client than our planner lets the robot do becomes an episode, and a way for other things of its kind."""

import time
from pathlib import Path
from typing import Any

from ros_peer import RosPeer, wait_until
from running_memory import running_memory
from std_msgs.msg import String

from memory_node.domain.skill import SkillCall, SkillResult, StateChange
from memory_node.domain.step import StepRecord

HEATED = (
    ("PickupObject", "Potato"),
    ("OpenObject", "Microwave"),
    ("PutObject", "Potato", "Microwave"),
    ("CloseObject", "Microwave"),
    ("ToggleOn", "Microwave"),
)


def test_demonstration_gives_a_way_for_other_things_and_our_planner_is_not_recorded_twice(
    peer: RosPeer, tmp_path: Path
) -> None:
    from memory_node.nodes.demonstrations import Demonstrations
    from memory_node.nodes.experience_client import ExperienceClient
    from memory_node.nodes.memory_client import MemoryClient
    from memory_node.nodes.running_goals import RunningGoals
    from memory_node.nodes.skill_client import SkillClient
    from memory_node.nodes.skill_server import SkillGoal, SkillServer

    def perform(goal: SkillGoal) -> SkillResult:
        puts = goal.call.skill == "PutObject"
        change = StateChange("", "Potato", time.time_ns(), held=False, position=(1.0, 1.0, 1.0))
        result = SkillResult(goal.call, True, changes=(change,) if puts else ())
        if not goal.episode_id:
            shown.note(result)
        return result

    with running_memory(peer.domain_id, str(tmp_path / "memory.db")) as node:
        memory: Any = node.memory
        clients = ExperienceClient(peer.node, "memory", 30.0), MemoryClient(peer.node, "memory", 30.0)
        shown = Demonstrations(peer.node, *clients, time.time_ns, 600.0, is_performing=lambda: False)
        running = RunningGoals(peer.node)
        server = SkillServer(peer.node, perform, lambda: "", time.time_ns, "map", running, {"PickupObject"})
        wait_until(lambda: clients[0].is_there)
        planner = SkillClient(peer.node, running, episode_id=lambda: "of-our-planner")
        planner.wait(30.0)
        assert planner.execute(SkillCall("PickupObject", ("Mug",))).success
        assert not memory.experience.running
        peer.publish("execute_skill/demonstration", String(data="heat the potato"))
        wait_until(lambda: memory.experience.running)
        person = SkillClient(peer.node, running)
        person.wait(30.0)
        for skill, *arguments in HEATED:
            assert person.execute(SkillCall(skill, tuple(arguments))).success
        peer.publish("execute_skill/demonstration", String())
        wait_until(lambda: not memory.experience.running)
        assert memory.experience.wait_settled(timeout_s=30.0)
        (episode,) = clients[1].episodes(10)
        assert (episode.instruction, episode.success) == ("heat the potato", True)
        assert [step.action.skill for step in clients[1].episode(episode.id).steps] == [skill for skill, *_ in HEATED]
        (way,) = memory.experience.ways_to("heat the egg")
        assert way.steps[-1] == "ToggleOn(Microwave)"
        (potato,) = [one for one in memory.scene().objects if one.class_name == "Potato"]
        assert tuple(potato.box.center[:2]) == (1.0, 1.0)
        shown.close()
        server.close()
        running.close()


def test_long_call_is_no_pause_and_counts_though_memory_does_not_take_its_changes(peer: RosPeer) -> None:
    from memory_node.nodes.demonstrations import Demonstrations
    from memory_node.nodes.waiting import PeerTimeoutError

    class Experience:
        is_there = True

        def __init__(self) -> None:
            self.noted: list[Any] = []

        def start(self, instruction: str) -> str:
            self.noted.append(instruction)
            return "episode"

        def record(self, step: StepRecord) -> None:
            self.noted.append(step.action.skill)

        def end(self, episode_id: str, success: bool | None, waits: bool) -> None:
            self.noted.append(success)

    class SilentMemory:
        def remember(self, changes: Any) -> None:
            raise PeerTimeoutError("memory/remember did not answer")

    experience: Any = Experience()
    memory: Any = SilentMemory()
    performs = True
    shown = Demonstrations(peer.node, experience, memory, time.time_ns, 0.1, is_performing=lambda: performs)
    peer.publish("execute_skill/demonstration", String(data="heat the potato"))
    wait_until(lambda: experience.noted)
    time.sleep(1.5)  # several pauses, and a look whether one is over
    call, change = SkillCall("PutObject", ("Potato", "Microwave")), StateChange("", "Potato", 1, held=False)
    shown.note(SkillResult(call, True, changes=(change,)))
    performs = False
    wait_until(lambda: True in experience.noted)
    assert experience.noted == ["heat the potato", "PutObject", True]
    shown.close()
