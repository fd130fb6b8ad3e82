"""What memory gives back of the robot's own past, and of things that have changed since."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from memory_node.domain.answer import FindQuery
from memory_node.domain.context import ContextSource
from memory_node.domain.geometry import OrientedBox, Pose
from memory_node.domain.observation import Frame, ObjectObservation
from memory_node.domain.skill import FailureReason, SkillCall, StateChange
from memory_node.domain.states import ObjectState
from memory_node.domain.step import StepRecord
from memory_node.memory import RobotMemory

See = Callable[..., Frame]
SECOND_NS = 10**9


def begun(memory: RobotMemory, instruction: str, success: bool | None, task_type: str = "place") -> None:
    episode = memory.episodes.start(instruction, task_type)
    call = SkillCall("GoToObject", ("Mug",))  # which is no deed yet
    memory.episodes.record(StepRecord(episode, 0, call, True, FailureReason.NONE, 100 * SECOND_NS))
    memory.episodes.end(episode, success)


def unfinished(memory: RobotMemory) -> list[str]:
    return [one.instruction for one in memory.recall_past().unfinished]


def test_begun_instruction_stays_unfinished_until_it_was_gone_on_with(memory: RobotMemory) -> None:
    begun(memory, "put the mug on the desk", None)
    begun(memory, "what is left to do?", None, task_type="")  # who asks has begun nothing
    begun(memory, "bring me the pen", True)
    assert unfinished(memory) == ["put the mug on the desk"]
    begun(memory, "go on, but leave the mug", None)
    assert unfinished(memory) == ["go on, but leave the mug", "put the mug on the desk"]
    begun(memory, "go on", True)
    assert unfinished(memory) == []


def test_what_was_asked_back_about_waits_for_its_answer(memory: RobotMemory) -> None:
    begun(memory, "bring me the pen", True)
    assert memory.recall_past().waiting == ""
    memory.episodes.end(memory.episodes.start("put the mug where it belongs"), None)
    assert memory.recall_past().waiting == "put the mug where it belongs"


def test_what_was_broken_off_before_is_next_once_the_later_one_is_done(memory: RobotMemory) -> None:
    begun(memory, "put the mug on the desk", None)
    begun(memory, "put the pen in the drawer", None)
    begun(memory, "go on", None)
    begun(memory, "go on", True)
    assert unfinished(memory) == ["put the mug on the desk"]
    begun(memory, "go on", True)
    assert unfinished(memory) == []


def test_what_could_not_be_done_is_unfinished(memory: RobotMemory) -> None:
    begun(memory, "put the bread in the fridge", False)
    assert unfinished(memory) == ["put the bread in the fridge"]


def test_way_names_the_place_where_it_worked_with_such_a_thing(memory: RobotMemory) -> None:
    places = ((1.0, 0.0, 0.5), (5.0, 0.0, 0.5))
    memory.remember(tuple(StateChange("", "Microwave", 50, position=at, source="camera") for at in places))
    episode = memory.episodes.start("heat the potato", "heat")
    calls = SkillCall("PickupObject", ("Potato",)), SkillCall("HeatObject", ("Potato", "Microwave@5.0,0.0,0.5"))
    for at, call in enumerate(calls):
        memory.episodes.record(StepRecord(episode, at, call, True, FailureReason.NONE, (100 + at) * SECOND_NS))
    memory.episodes.end(episode, True)
    assert memory.experience.wait_settled(timeout_s=10.0)
    assert "HeatObject(Potato, Microwave 2)" in memory.context("heat the potato").text
    # Whether it works there with another thing nobody has tried.
    assert "HeatObject(Egg, Microwave)" in memory.context("heat the egg").text
    (used,) = (one.id for one in memory.scene().objects if one.name == "Microwave 2")
    memory.remember((StateChange("", "Microwave", 300 * SECOND_NS, position=(9.0, 0.0, 0.5), source="camera"),))
    memory.edit("delete", used)
    # Where it is no more, another one is as good.
    assert "HeatObject(Potato, Microwave)" in memory.context("heat the potato").text


def test_deed_names_what_is_no_more_since_it_was_cut(memory: RobotMemory, see: See) -> None:
    memory.observe(see(1, Bread=(1.0, 0.0, 0.8)))
    (bread,) = (one.id for one in memory.scene().objects)
    episode = memory.episodes.start("slice the bread", "slice")
    memory.remember([StateChange(bread, "Bread", 2 * SECOND_NS, destroyed=True)])
    call = SkillCall("SliceObject", (bread,))
    memory.episodes.record(StepRecord(episode, 0, call, True, FailureReason.NONE, 2 * SECOND_NS))
    (deed,) = memory.recall_past().deeds
    assert (deed.object_id, deed.object_class) == (bread, "Bread")


def test_only_thing_of_its_kind_is_looked_for_where_one_came_into_view_since(memory: RobotMemory, see: See) -> None:
    for stamp_s in (1, 2, 3, 4):
        memory.observe(see(stamp_s, KeyChain=(1.0, 1.0, 0.8)))
    memory.observe(see(2000, KeyChain=(9.0, 9.0, 0.8)))
    for _ in range(2):  # by either memory
        best = memory.locate(FindQuery(object_class="KeyChain")).answers[0]
        assert best.position[0] == np.float64(9.0)
        memory.cache.clear()


def test_short_list_of_things_names_who_is_there(memory: RobotMemory) -> None:
    size, sure = np.array([0.1, 0.1, 0.1]), np.eye(3) * 1e-4
    pens = [
        ObjectObservation({"Pen": 0.9}, OrientedBox(np.array([0.3 * (n % 9), 0.3 * (n // 9), 0.8]), size), sure)
        for n in range(60)
    ]
    person = ObjectObservation({"User": 0.9}, OrientedBox(np.array([8.0, 8.0, 0.8]), 4 * size), sure)
    memory.observe(Frame(SECOND_NS, Pose(), None, (person, *pens)))
    (user,) = (one.id for one in memory.scene().objects if one.class_name == "User")
    told = memory.context("bring me the pen again", 1500, sources=(ContextSource.OBJECTS,)).text
    assert f"(id {user})" in told


def test_drawer_seen_open_before_the_report_stays_the_drawer_with_its_contents(memory: RobotMemory) -> None:
    def frame(stamp_s: int, **things: tuple[float, float, float]) -> Frame:
        size = {"Drawer": np.array([0.4, 0.5, 0.18]), "Spoon": np.array([0.04, 0.15, 0.02])}
        seen = (
            ObjectObservation({name: 0.95}, OrientedBox(np.array(at), size[name]), np.eye(3) * 1e-4)
            for name, at in things.items()
        )
        return Frame(stamp_s * SECOND_NS, Pose.planar(3.0, 0.0, np.pi, 1.3), None, tuple(seen), complete=False)

    def door(stamp_s: int, added: ObjectState, x_m: float) -> StateChange:
        return StateChange("drawer-1", "Drawer", stamp_s * SECOND_NS, (added,), position=(x_m, 0.0, 0.6))

    memory.observe(frame(1, Drawer=(1.0, 0.0, 0.6)))
    memory.remember([door(2, ObjectState.OPENED, 1.3)])
    memory.observe(frame(3, Drawer=(1.3, 0.0, 0.6), Spoon=(1.3, 0.1, 0.6)))
    memory.remember([door(4, ObjectState.CLOSED, 1.0)])
    known = {one.class_name: one.id for one in memory.scene().objects}
    memory.observe(frame(60, Drawer=(1.3, 0.0, 0.6), Spoon=(1.3, 0.1, 0.6)))
    memory.remember([door(60, ObjectState.OPENED, 1.3)])
    scene = memory.scene().objects
    assert {one.class_name: one.id for one in scene} == known
    assert len(scene) == 2
    spoon = next(one for one in scene if one.class_name == "Spoon")
    assert spoon.support_id == known["Drawer"]
    assert spoon.box.center[0] == np.float64(1.3)


def test_deed_that_failed_tells_where_the_thing_stands_and_not_where_it_was_before(
    memory: RobotMemory, see: See
) -> None:
    places = {"Desk": (1.0, 1.0, 0.5), "Bed": (4.0, 1.0, 0.5)}
    memory.observe(see(1, Pen=(1.0, 1.0, 0.8), **places))
    ids = {one.class_name: one.id for one in memory.scene().objects}
    for number, (place, (x, y, _)) in enumerate(places.items(), 2):
        put = StateChange(ids["Pen"], "Pen", number * SECOND_NS, support_id=ids[place], position=(x, y, 0.8))
        memory.remember([put])
    episode = memory.episodes.start("bring me the pen", "place")
    call = SkillCall("PickupObject", ("Pen",))
    memory.episodes.record(StepRecord(episode, 0, call, False, FailureReason.EXECUTION, 5 * SECOND_NS))
    (deed,) = memory.deeds.all()
    assert (deed.object_class, deed.from_class) == ("Pen", "Bed")


def test_what_was_brought_to_somebody_and_is_met_elsewhere_has_moved(memory: RobotMemory, see: See) -> None:
    memory.observe(see(1, Pen=(1.0, 1.0, 0.8), User=(1.0, 3.0, 0.5)))
    ids = {one.class_name: one.id for one in memory.scene().objects}
    brought = StateChange(ids["Pen"], "Pen", 2 * SECOND_NS, support_id=ids["User"], position=(1.0, 3.0, 0.6))
    memory.remember([brought])
    memory.observe(see(30, Pen=(9.0, 9.0, 0.8), Bed=(9.0, 9.0, 0.5)))
    (met,) = (one for one in memory.scene().objects if one.class_name == "Pen" and one.id != ids["Pen"])
    assert memory.locate(FindQuery(object_class="Pen")).answers[0].object_id == met.id


def test_thing_that_is_met_on_furniture_which_was_bare_before_has_moved(memory: RobotMemory, see: See) -> None:
    places = {"Desk": (1.0, 1.0, 0.5), "Bed": (9.0, 9.0, 0.5)}
    memory.observe(see(1, **places))
    memory.observe(see(4000, KeyChain=(1.0, 1.0, 0.6), **places))
    memory.observe(see(4010, KeyChain=(9.0, 9.0, 0.6), **places))
    scene = memory.scene()
    first, last = sorted(
        (one for one in scene.objects if one.class_name == "KeyChain"), key=lambda one: one.first_seen_ns
    )
    assert (scene.was_met_elsewhere(first), scene.was_met_elsewhere(last)) == (True, False)
    assert memory.locate(FindQuery(object_class="KeyChain")).answers[0].object_id == last.id
