from memory_node.domain.skill import SkillCall, SkillResult, StateChange
from memory_node.planner.executor import ExecutedStep
from memory_node.planner.planner import PlannedStep
from memory_node.planner.step_recorder import StepRecorder


def executed(skill: str, *arguments: str, object_id: str = "", changes: tuple[StateChange, ...] = ()) -> ExecutedStep:
    call = SkillCall(skill, arguments)
    return ExecutedStep(PlannedStep(call), SkillResult(call, True, object_id=object_id, changes=changes))


def test_robots_own_ids_become_classes() -> None:
    recorder = StepRecorder(lambda: 7)
    recorder.begin("e1")
    recorder.step(executed("Explore", "Apple", "1.0,2.0", object_id="thing-17"))
    step = recorder.step(executed("GoToObject", "thing-17"))
    assert (step.action, step.index, step.stamp_ns) == (SkillCall("GoToObject", ("Apple",)), 1, 7)


def test_hand_is_followed_from_one_episode_to_the_next() -> None:
    recorder = StepRecorder(lambda: 7)
    recorder.begin("e1")
    picked = StateChange("a", "Apple", 1, held=True)
    assert recorder.step(executed("PickupObject", "a", changes=(picked,))).held_object == "Apple"
    recorder.begin("e2")
    assert recorder.step(executed("GoToObject", "Fridge")).held_object == "Apple"
    put = StateChange("a", "Apple", 2, held=False)
    last = recorder.step(executed("PutObject", "a", "Fridge", changes=(put,)))
    assert (last.held_object, last.index, last.episode_id) == ("", 1, "e2")
