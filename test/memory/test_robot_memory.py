from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path

import numpy as np
import pytest
from plain_search import HashedWords

from memory_node.domain.answer import AnswerStatus, FindQuery
from memory_node.domain.context import Context, ContextSource
from memory_node.domain.errors import InvalidValueError, NotFoundError
from memory_node.domain.geometry import OrientedBox, Pose
from memory_node.domain.observation import Frame
from memory_node.domain.skill import FailureReason, SkillCall, StateChange
from memory_node.domain.states import ObjectState
from memory_node.domain.step import StepRecord
from memory_node.lessons.lesson import Lesson, LessonKind, Wording
from memory_node.lessons.long_term import ExperienceQuery
from memory_node.memory import RobotMemory
from memory_node.memory_config import MemoryConfig
from memory_node.opening import open_memory
from memory_node.scene_graph.free_space import OccupancyMap
from memory_node.store.errors import StoreBacklogError
from memory_node.store.records import StoreChange
from memory_node.store.store import Store

SECOND_NS = 1_000_000_000
See = Callable[..., Frame]
Open = Callable[[], RobotMemory]


def mug_id(memory: RobotMemory) -> str:
    best = memory.find(FindQuery(object_class="Mug")).best
    return best.object_id


def test_what_is_seen_is_in_both_memories(memory: RobotMemory, see: See) -> None:
    memory.observe(see(1, Mug=(1.0, 0.0, 0.8)))
    recalled, found = memory.recall(FindQuery(object_class="Mug")), memory.find(FindQuery(object_class="Mug"))
    assert recalled.best.object_id == found.best.object_id
    assert (recalled.best.source, found.best.source) == ("short_term", "long_term")


def test_memory_goes_on_after_a_restart_with_the_same_ids(open_at: Open, see: See) -> None:
    first = open_at()
    first.observe(see(1, Mug=(1.0, 0.0, 0.8)))
    known = mug_id(first)
    first.close()
    again = open_at()
    assert mug_id(again) == known
    assert again.recall(FindQuery(object_class="Mug")).status is AnswerStatus.UNKNOWN  # short-term memory is volatile
    again.observe(see(2, Mug=(1.0, 0.0, 0.8)))
    assert mug_id(again) == known


@pytest.mark.parametrize(("hours_later", "is_at_hand"), [(3, True), (5, False)])
def test_what_the_robot_used_in_the_last_hours_is_at_hand_after_a_restart(
    tmp_path: Path, see: See, hours_later: int, is_at_hand: bool
) -> None:
    now_ns = 100 * SECOND_NS

    def opened() -> RobotMemory:
        config = MemoryConfig(database=str(tmp_path / "memory.db"), site="home", robot_id="r1")
        return open_memory(config, lambda: now_ns, HashedWords())

    with closing(opened()) as memory:
        memory.observe(see(1, Mug=(1.0, 0.0, 0.8), Cup=(1.0, 1.0, 0.8)))
        memory.episodes.start("switch the mug on", "switch", "e1")
        memory.episodes.record(
            StepRecord("e1", 0, SkillCall("ToggleOn", (mug_id(memory),)), True, FailureReason.NONE, now_ns)
        )
    now_ns += hours_later * 3600 * SECOND_NS
    with closing(opened()) as memory:
        assert (memory.recall(FindQuery(object_class="Mug")).status is not AnswerStatus.UNKNOWN) == is_at_hand
        assert memory.recall(FindQuery(object_class="Cup")).status is AnswerStatus.UNKNOWN


def test_what_is_gone_stays_gone_after_a_restart(open_at: Open, see: See) -> None:
    first = open_at()
    first.observe(see(1, Mug=(1.0, 0.0, 0.8)))
    first.observe(see(2, Mug=(1.0, 0.0, 0.8)))
    first.remember([StateChange(mug_id(first), "Mug", 3 * SECOND_NS, destroyed=True)])
    before = first.find(FindQuery(object_class="Mug"))
    assert before.status is AnswerStatus.PROBABLY_GONE
    first.close()
    again = open_at()
    again.confirm_relocalization()
    assert again.find(FindQuery(object_class="Mug")).status is AnswerStatus.PROBABLY_GONE


def test_what_the_camera_does_not_find_at_its_place_is_the_like_thing_that_came_elsewhere(
    memory: RobotMemory, see: See
) -> None:
    for second in (1, 2, 3):
        memory.observe(see(second, Mug=(1.0, 0.0, 0.8), Table=(3.0, 0.0, 0.8)))
    known = mug_id(memory)
    for second in (50, 51, 52):
        memory.observe(see(second, Mug=(3.0, 0.5, 0.8), Table=(3.0, 0.0, 0.8)))
    assert len([one for one in memory.scene().objects if one.class_name == "Mug"]) == 2
    washed = StateChange("their-mug", "Mug", 53 * SECOND_NS, (ObjectState.CLEANED,), position=(3.0, 0.5, 0.8))
    memory.remember([washed])
    memory.remember([StateChange(known, "Mug", 53 * SECOND_NS, destroyed=True, source="camera")])
    (mug,) = [one for one in memory.scene().objects if one.class_name == "Mug"]
    assert (mug.id, mug.removed, mug.box.center[0]) == (known, False, pytest.approx(3.0, abs=0.05))
    assert [one.state for one in mug.states] == [ObjectState.CLEANED]
    recalled = memory.recall(FindQuery(object_class="Mug")).best
    assert recalled.position[0] == pytest.approx(3.0, abs=0.05)


def test_skill_report_reaches_scene_and_cache(memory: RobotMemory, see: See) -> None:
    memory.observe(see(1, Mug=(1.0, 0.0, 0.8)))
    change = StateChange("their-mug", "Mug", 2 * SECOND_NS, (ObjectState.CLEANED,), position=(1.1, 0.0, 0.8))
    (object_id,) = memory.remember([change])
    assert object_id == mug_id(memory)
    clean = memory.recall(FindQuery(object_class="Mug", states=(ObjectState.CLEANED,)))
    assert clean.best is not None
    assert memory.scene().objects[0].states[0].state is ObjectState.CLEANED
    assert memory.remember([StateChange("", "Mug", 3 * SECOND_NS), StateChange("", "", 3 * SECOND_NS)]) == (
        object_id,
        "",
    )


def test_forgotten_object_is_gone_from_everywhere(open_at: Open, see: See) -> None:
    memory = open_at()
    memory.observe(see(1, Mug=(1.0, 0.0, 0.8), Bowl=(2.0, 0.0, 0.8)))
    assert memory.forget(object_class="Mug") == 1
    assert memory.find(FindQuery(object_class="Mug")).status is AnswerStatus.UNKNOWN
    assert memory.recall(FindQuery(object_class="Mug")).status is AnswerStatus.UNKNOWN
    memory.close()
    assert [found.class_name for found in open_at().scene().objects] == ["Bowl"]


def test_forgotten_span_takes_what_was_learnt_in_it(open_at: Open) -> None:
    memory = open_at()
    for episode_id in ("e1", "e2"):
        memory.episodes.start("open the safe", "open", episode_id)
        opened = SkillCall("OpenObject", ("Safe",))
        failed = StepRecord(episode_id, 0, opened, False, FailureReason.TOO_FAR, 100 * SECOND_NS)
        memory.episodes.record(failed)
        memory.episodes.record(replace(failed, index=1, success=True, reason=FailureReason.NONE))
        if episode_id == "e1":
            memory.episodes.end(episode_id, True)
    assert memory.experience.wait_settled(10.0)
    assert memory.experience.figures()["experience.attempts"] == 1
    memory.save()
    memory.forget(begin_ns=99 * SECOND_NS, end_ns=101 * SECOND_NS)
    with pytest.raises(NotFoundError):
        memory.episodes.record(failed)
    assert_nothing_learnt(memory)
    memory.close()
    assert_nothing_learnt(open_at())


def test_forgotten_span_takes_its_steps_from_an_episode_that_goes_beyond(open_at: Open) -> None:
    memory = open_at()
    memory.episodes.start("open the safe", "open", "e1")
    for index, stamp_s in enumerate((90, 100)):
        call = SkillCall("OpenObject", ("Safe",))
        memory.episodes.record(StepRecord("e1", index, call, True, FailureReason.NONE, stamp_s * SECOND_NS))
    memory.episodes.end("e1", True)
    assert memory.experience.wait_settled(10.0)
    memory.forget(begin_ns=80 * SECOND_NS, end_ns=95 * SECOND_NS)
    memory.close()
    memory = open_at()
    assert memory.experience.wait_settled(10.0)
    assert memory.experience.figures()["experience.steps"] == 1


def test_episode_runs_on_across_a_restart(open_at: Open) -> None:
    memory = open_at()
    memory.episodes.start("open the safe", "open", "e1")
    failed = StepRecord("e1", 0, SkillCall("OpenObject", ("Safe",)), False, FailureReason.TOO_FAR, 100 * SECOND_NS)
    memory.episodes.record(failed)
    memory.save()
    memory.close()
    memory = open_at()
    assert memory.experience.wait_settled(10.0)
    warnings = memory.episodes.record(replace(failed, index=1))
    assert "no failed action twice" in [warning.rule for warning in warnings]
    memory.episodes.end("e1", False)
    assert memory.experience.wait_settled(10.0)
    memory.save()
    memory.close()
    memory = open_at()
    memory.episodes.end("e1", False)  # whoever had no answer says it again
    assert memory.experience.wait_settled(10.0)
    assert memory.experience.figures()["experience.steps"] == 2


def assert_nothing_learnt(memory: RobotMemory) -> None:
    assert memory.experience.wait_settled(10.0)
    figures = memory.experience.figures()
    learnt = ("experience.steps", "experience.attempts", "experience.lessons")
    assert [figures[name] for name in learnt] == [0, 0, 0]
    assert len(memory.knowledge) == 0


def test_user_edit_is_durable(open_at: Open, see: See) -> None:
    memory = open_at()
    memory.observe(see(1, Mug=(1.0, 0.0, 0.8)))
    known = mug_id(memory)
    assert memory.edit("relabel", known, new_class="Cup") == known
    memory.close()
    (found,) = open_at().scene().objects
    assert (found.class_name, found.provenance) == ("Cup", "user")
    with pytest.raises(InvalidValueError, match="paint"):
        memory.edit("paint", known)
    with pytest.raises(NotFoundError, match="ghost"):
        memory.edit("delete", "ghost")


def test_backup_stays_inside_the_data_folder(memory: RobotMemory, see: See) -> None:
    memory.observe(see(1, Mug=(1.0, 0.0, 0.8)))
    assert memory.save("one.db") == 1
    for outside in ("/tmp/elsewhere.db", "../elsewhere.db", "backups/one.db", "crops"):
        with pytest.raises(InvalidValueError, match="file name"):
            memory.save(outside)


def test_floors_are_there_again_after_a_restart(open_at: Open, see: See) -> None:
    memory = open_at()
    upstairs = Pose(np.array([0.0, 0.0, 3.0]), np.array([0.0, 0.0, 0.0, 1.0]))
    memory.set_map(OccupancyMap(np.zeros((80, 80), np.int8), 0.05, Pose()), SECOND_NS)
    memory.observe(see(2, Mug=(1.0, 1.0, 0.8)))
    memory.set_map(OccupancyMap(np.zeros((80, 80), np.int8), 0.05, upstairs), 3 * SECOND_NS)
    memory.observe(see(4, Bowl=(1.0, 1.0, 3.8)))
    memory.close()
    scene = open_at().scene()
    assert [(floor.name, floor.height_m) for floor in scene.floors] == [("floor 0", 0.0), ("floor 1", 3.0)]
    names = [[found.class_name for found in scene.on_floor(floor.id).objects] for floor in scene.floors]
    assert names == [["Mug"], ["Bowl"]]


def test_name_that_a_room_took_from_its_contents_is_durable(open_at: Open, see: See) -> None:
    memory = open_at()
    memory.set_map(OccupancyMap(np.zeros((80, 80), np.int8), 0.05, Pose()), SECOND_NS)
    (before,) = memory.scene().rooms
    memory.observe(see(2, Toilet=(1.0, 1.0, 0.4), ShowerCurtain=(2.0, 1.0, 1.0), Towel=(1.0, 2.0, 1.0)))
    memory.observe(see(5, SoapBar=(1.5, 1.5, 0.8), ToiletPaper=(3.0, 1.0, 0.5)))
    memory.close()
    again = open_at()
    (after,) = again.scene().rooms
    assert (after.id, before.name, after.name) == (before.id, "room 1", "bathroom")
    for found in again.scene().objects:
        again.edit("delete", found.id)
    again.close()
    (edited,) = open_at().scene().rooms
    assert (edited.id, edited.name) == (before.id, "room 1")


def test_context_tells_what_was_just_used_within_its_budget(memory: RobotMemory, see: See) -> None:
    memory.observe(see(1, Mug=(1.0, 0.0, 0.8)))
    context = memory.context("bring me the mug", 400)
    assert "Mug (id " in context.text
    assert context.tokens <= 400
    nothing = memory.context("bring me the mug", 5)
    assert (nothing.text, nothing.tokens) == ("", 0)


def test_what_another_robot_brought_is_taken_over(
    memory: RobotMemory, see: See, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory.observe(see(1, Mug=(1.0, 0.0, 0.8)))
    (mug,) = memory.scene().objects
    bowl = replace(mug, id="theirs", class_probabilities={"Bowl": 1.0})
    heard: list[str] = []
    memory.on_change(lambda events, before, after: heard.extend(event.object.class_name for event in events))
    brought = [StoreChange(1, objects=(bowl,), gone=(mug.id,)), None]
    monkeypatch.setattr(Store, "poll_changes", lambda store: brought.pop(0))
    assert (memory.take_over_changes(), memory.take_over_changes()) == (2, 0)
    assert [found.class_name for found in memory.scene().objects] == ["Bowl"]
    assert memory.recall(FindQuery(object_class="Mug")).status is AnswerStatus.UNKNOWN
    assert heard == ["Bowl"]


def test_camera_goes_on_while_the_store_is_full(memory: RobotMemory, see: See, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(store: Store, records: object) -> None:
        raise StoreBacklogError("no room")

    with monkeypatch.context() as patched:
        patched.setattr(Store, "append", full)
        memory.observe(see(1, Mug=(1.0, 0.0, 0.8)))
        with pytest.raises(StoreBacklogError):
            memory.remember([StateChange("", "Mug", 2 * SECOND_NS, (ObjectState.CLEANED,), position=(1.0, 0.0, 0.8))])
    assert memory.diagnostics()["store.refused_frames"] == 1
    assert memory.find(FindQuery(object_class="Mug")).best is not None


def carried(memory: RobotMemory, see: See) -> str:
    """Let the robot hold a mug, then begin an episode; return its id."""
    memory.observe(see(1, Mug=(1.0, 0.0, 0.8)))
    memory.remember([StateChange(mug_id(memory), "Mug", 2 * SECOND_NS, held=True)])
    return memory.episodes.start("put the mug away", "place")


def test_episode_begins_with_what_memory_knows_to_be_in_the_hand(memory: RobotMemory, see: See) -> None:
    episode_id = carried(memory, see)
    view = memory.experience.working_memory(episode_id)
    assert view.held_object == "Mug"
    assert "Holding: Mug." in view.text()


def test_episode_keeps_what_was_in_view_and_why_its_steps_were_chosen(open_at: Open, see: See) -> None:
    memory = open_at()
    memory.set_map(OccupancyMap(np.zeros((80, 80), np.int8), 0.1, Pose()), SECOND_NS)
    memory.observe(see(1, Mug=(1.0, 0.5, 0.8), Fridge=(2.0, 0.5, 0.8)))
    memory.episodes.start("open the safe", "open", "e1")
    failed = StepRecord("e1", 0, SkillCall("OpenObject", ("Safe",)), False, FailureReason.EXECUTION, 100 * SECOND_NS)
    memory.episodes.record(replace(failed, reasoning="it may hold the mug"))
    assert "it may hold the mug" in memory.experience.working_memory("e1").text()
    memory.episodes.end("e1", False)
    memory.save()
    memory.close()
    memory = open_at()
    assert memory.experience.wait_settled(10.0)
    assert [one.reasoning for one in memory.past.episode("e1").steps] == ["it may hold the mug"]
    memory.episodes.start("open the safe", "open", "e2")
    assert "it may hold the mug" in memory.context("open the safe", 2000, "e2").text
    (tried,) = memory.experience.ask(ExperienceQuery(task_type="open")).failed_before
    assert tried.source.facts == ("Mug", "asked Safe", "to open")


def test_context_tells_the_state_of_the_robot_without_an_episode(memory: RobotMemory, see: See) -> None:
    carried(memory, see)
    assert "holding Mug" in memory.context("what now?", 1000).text


def advised(memory: RobotMemory) -> Context:
    """Return a context with some of nine lessons; the budget leaves no room for all of them."""
    said, about = (Wording("", "Do it well. " * 20),), frozenset({"place"})
    memory.experience.load((), [Lesson(f"g{n}", LessonKind.PREFER, said, task_types=about) for n in range(9)])
    context = memory.context("put it away", 500, memory.episodes.start("put it away", "place", "e1"))
    assert 0 < context.section_lines["Lessons"] < 9
    return context


def tried_after(memory: RobotMemory, context_id: str) -> list[int]:
    """End the episode after a step that was chosen by a context; return how often each lesson was tried."""
    step = StepRecord("e1", 0, SkillCall("GoToObject", ("Mug",)), True, FailureReason.NONE, 5 * SECOND_NS)
    memory.episodes.record(step, context_id)
    memory.episodes.end("e1", True)
    assert memory.experience.wait_settled(10.0)
    return sorted(g.given.trials for g in memory.experience.ask(ExperienceQuery(task_type="place")).lessons)


def test_lesson_counts_as_given_when_a_step_was_chosen_by_its_context(memory: RobotMemory) -> None:
    context = advised(memory)
    shown = context.section_lines["Lessons"]
    assert tried_after(memory, context.id) == [0] * (9 - shown) + [1] * shown


def test_context_that_nobody_acted_on_changes_nothing(memory: RobotMemory) -> None:
    advised(memory)
    assert tried_after(memory, "") == [0] * 9


def test_context_that_is_not_remembered_is_told_and_counts_nothing(memory: RobotMemory) -> None:
    advised(memory)
    step = StepRecord("e1", 0, SkillCall("GoToObject", ("Mug",)), True, FailureReason.NONE, 5 * SECOND_NS)
    (warning,) = memory.episodes.record(step, "made up")
    assert "'made up' is not remembered" in str(warning)


def test_context_is_about_the_things_that_the_instruction_names_seen_or_not(memory: RobotMemory, see: See) -> None:
    memory.observe(see(1, Mug=(1.0, 0.0, 0.8)))
    memory.episodes.start("put the fork away", "place", "e1")
    tries = (("Fork", FailureReason.EXECUTION), ("Fork", FailureReason.NONE)) * 2 + (("Mug", FailureReason.EXECUTION),)
    for index, (name, reason) in enumerate(tries):
        call, worked = SkillCall("PickupObject", (name,)), reason is FailureReason.NONE
        memory.episodes.record(StepRecord("e1", index, call, worked, reason, (5 + index) * SECOND_NS))
    memory.episodes.end("e1", True)
    assert memory.experience.wait_settled(60.0)
    text = memory.context("put the fork in the drawer", 2000).text
    assert "- Fork: PickupObject worked 2 of 4 times" in text
    assert "- Mug: PickupObject" not in text


def test_context_tells_of_the_one_thing_that_is_named_beside_many_of_another_kind(
    memory: RobotMemory, see: See
) -> None:
    memory.observe(see(1, LaundryHamper=(1.0, 0.0, 0.5)))
    for number in range(40):
        memory.observe(see(2 + number, Spoon=(1.0 + 0.2 * number, 3.0, 0.8)))
    objects = {ContextSource.OBJECTS}
    assert "LaundryHamper (id " in memory.context("wash the spoon and put it in the hamper", 500, "", objects).text
    assert "LaundryHamper (id " not in memory.context("wash the spoon", 500, "", objects).text


def test_context_names_what_a_thing_is_shut_in(memory: RobotMemory, see: See) -> None:
    memory.observe(see(1, LaundryHamper=(1.0, 0.0, 0.5), Knife=(3.0, 0.0, 0.8)))
    things = {one.class_name: one for one in memory.scene().objects}
    hamper, knife = things["LaundryHamper"], things["Knife"]
    into = StateChange(knife.id, "Knife", 2 * SECOND_NS, held=False, position=(1.0, 0.0, 0.5), support_id=hamper.id)
    memory.remember([replace(into, inside=True)])
    told = memory.context("bring me the knife", 500, "", {ContextSource.OBJECTS}).text
    (line,) = [line for line in told.splitlines() if line.startswith("- Knife (id ")]
    assert f"in {hamper.name} (id {hamper.id})" in line


def test_context_says_where_is_now_what_was_told_of_by_a_place_that_it_has_left(memory: RobotMemory, see: See) -> None:
    table = replace(see(1, Desk=(1.0, 1.0, 0.4)).observations[0], box=OrientedBox([1.0, 1.0, 0.4], [1.0, 1.0, 0.8]))
    frame = see(1, Mug=(1.0, 1.0, 0.86), Shelf=(3.0, 3.0, 0.7))
    memory.observe(replace(frame, observations=(*frame.observations, table)))
    things = {one.class_name: one for one in memory.scene().objects}
    mug, shelf = things["Mug"], things["Shelf"]
    memory.tell_fact("The mug on the desk is Ben's.", "Ann", 2 * SECOND_NS)
    put = StateChange(mug.id, "Mug", 3 * SECOND_NS, held=False, position=(3.0, 3.0, 0.8), support_id=shelf.id)
    memory.remember([put])
    (line,) = (one for one in memory.context("bring Ben his mug", 2000).text.splitlines() if "is Ben's" in one)
    assert mug.name in line
    assert shelf.name in line


def test_context_of_one_source_has_nothing_of_the_other(memory: RobotMemory, see: See) -> None:
    memory.observe(see(1, Mug=(1.0, 0.0, 0.8)))
    memory.episodes.start("bring me the mug", "fetch")
    by_source = {source: memory.context("bring me the mug", 2000, "", {source}).text for source in ContextSource}
    assert "Mug (id " in by_source[ContextSource.OBJECTS]
    assert "holding nothing" not in by_source[ContextSource.OBJECTS]
    assert "holding nothing" in by_source[ContextSource.EXPERIENCE]
    assert "Mug (id " not in by_source[ContextSource.EXPERIENCE]


def test_relations_of_the_room_that_the_robot_is_in_are_spatial_guidance(memory: RobotMemory, see: See) -> None:
    memory.set_map(OccupancyMap(np.zeros((80, 80), np.int8), 0.05, Pose()), SECOND_NS)
    table = replace(see(1, Table=(1.0, 1.0, 0.4)).observations[0], box=OrientedBox([1.0, 1.0, 0.4], [1.0, 1.0, 0.8]))
    frame = see(2, Mug=(1.0, 1.0, 0.86), Fork=(1.3, 1.0, 0.86))
    pose = Pose.planar(2.0, 2.0, 0.0, 1.3)
    for stamp_s in (2, 3):
        memory.observe(
            replace(frame, stamp_ns=stamp_s * SECOND_NS, map_T_camera=pose, observations=(*frame.observations, table))
        )
    block = memory.context("bring me the mug", 4000).text.partition("## Spatial guidance: this room\n")[2]
    lines = block.split("\n\n")[0].splitlines()
    assert "- Mug on Table" in lines
    assert "- Fork near Mug" in lines or "- Mug near Fork" in lines


def test_what_the_hand_holds_is_what_memory_was_told(memory: RobotMemory, see: See) -> None:
    assert memory.held_object() is None
    carried(memory, see)
    held = memory.held_object()
    assert (held.object_id, held.object_class) == (mug_id(memory), "Mug")
    memory.remember([StateChange(mug_id(memory), "Mug", 3 * SECOND_NS, held=False, position=(1.0, 0.0, 0.8))])
    assert memory.held_object() is None


def test_step_tells_what_memory_knows_of_the_hand(memory: RobotMemory, see: See) -> None:
    episode_id = carried(memory, see)
    step = StepRecord(episode_id, 0, SkillCall("GoToObject", ("Shelf",)), True, FailureReason.NONE, 3 * SECOND_NS)
    memory.episodes.record(step)
    view = memory.experience.working_memory(episode_id)
    assert view.window[0].held_object == "Mug"


def test_locating_asks_the_sure_memory_and_counts_once(memory: RobotMemory, see: See) -> None:
    memory.set_map(OccupancyMap(np.zeros((80, 80), np.int8), 0.05, Pose()), SECOND_NS)
    memory.observe(see(1, Mug=(1.0, 1.0, 0.8), Table=(2.0, 1.0, 0.4)))
    known = memory.locate(FindQuery(object_class="Mug"))
    assert (known.memory, known.status, known.areas) == ("short_term", AnswerStatus.OK, ())
    memory.cache.clear()
    stored = memory.locate(FindQuery(object_class="Mug"))
    assert (stored.memory, stored.status, stored.areas) == ("long_term", AnswerStatus.OK, ())
    nowhere = memory.locate(FindQuery(object_class="Fork"), max_areas=2)
    assert (nowhere.memory, nowhere.status, nowhere.answers) == ("", AnswerStatus.UNKNOWN, ())
    assert len(nowhere.areas) == 2
    assert "2 places to look at" in nowhere.explanation
    assert (memory.statistics().lookups, memory.statistics().hits) == (3, 1)
    (table,) = (found.id for found in memory.scene().objects if found.class_name == "Table")
    mug = StateChange(mug_id(memory), "Mug", 2 * SECOND_NS, held=False, support_id=table)
    memory.remember([mug])
    without = memory.locate(FindQuery(object_class="Mug", exclude_supports=frozenset({table})))
    assert without.answers == ()


def test_of_equals_the_one_nearest_to_the_robot_comes_first(memory: RobotMemory, see: See) -> None:
    both = see(1, Mug=(4.0, 0.0, 0.8), Cup=(1.0, 0.0, 0.8))
    mug, cup = both.observations
    memory.observe(replace(both, observations=(mug, replace(cup, class_scores=mug.class_scores))))
    for cached in (True, False):
        answers = memory.locate(FindQuery(object_class="Mug")).answers
        assert [round(float(one.position[0])) for one in answers] == [1, 4], cached
        memory.cache.clear()


def test_of_equals_one_on_another_floor_comes_last(memory: RobotMemory, see: See) -> None:
    cells, upstairs = np.zeros((120, 120), np.int8), Pose(np.array([0.0, 0.0, 3.0]), np.array([0.0, 0.0, 0.0, 1.0]))
    memory.set_map(OccupancyMap(cells, 0.05, upstairs), SECOND_NS)
    memory.set_map(OccupancyMap(cells, 0.05, Pose()), SECOND_NS)
    both = see(2, Mug=(1.0, 0.5, 3.8), Cup=(4.0, 0.5, 0.8))
    mug, cup = both.observations
    memory.observe(replace(both, observations=(mug, replace(cup, class_scores=mug.class_scores))))
    answers = memory.locate(FindQuery(object_class="Mug")).answers
    assert [round(float(one.position[2]), 1) for one in answers] == [0.8, 3.8]


@pytest.mark.parametrize(("name", "first"), [("Knife", (4.0, 0.0, 0.8)), ("Sink", (1.0, 0.0, 0.8))])
def test_movable_thing_that_turned_up_later_is_taken_for_the_one_that_was_nearer(
    memory: RobotMemory, see: See, name: str, first: tuple[float, float, float]
) -> None:
    memory.observe(see(1, **{name: (1.0, 0.0, 0.8)}))
    memory.observe(see(5000, **{name: (4.0, 0.0, 0.8)}))
    located = memory.locate(FindQuery(object_class=name, near=(0.0, 0.0, 0.8)))
    assert len(located.answers) == 2
    assert located.answers[0].position == pytest.approx(first, abs=0.1)


def test_steps_that_name_things_by_memorys_ids_are_learnt_by_class(memory: RobotMemory, see: See) -> None:
    memory.observe(see(1, Mug=(1.0, 0.0, 0.8)))
    mug = mug_id(memory)
    episode_id = memory.episodes.start("fetch the mug", "fetch")
    taken = SkillCall("PickupObject", (mug,))
    step = StepRecord(episode_id, 0, taken, True, FailureReason.NONE, 2 * SECOND_NS, held_object="Mug")
    assert memory.episodes.record(step) == ()
    memory.episodes.end(episode_id, True)
    assert memory.experience.wait_settled(10.0)
    (record,) = memory.experience.ask(ExperienceQuery(task_type="fetch")).experiences
    assert record.done == ("PickupObject(Mug)",)


@pytest.mark.parametrize(
    ("zone", "day"), [("America/Los_Angeles", "5 May 2026"), ("Pacific/Auckland", "6 May 2026"), ("UTC", "6 May 2026")]
)
def test_tomorrow_is_the_speakers(zone: str, day: str) -> None:
    evening_ns = int(datetime(2026, 5, 5, 1, 30, tzinfo=timezone.utc).timestamp()) * SECOND_NS
    with closing(open_memory(MemoryConfig(time_zone=zone), lambda: evening_ns, HashedWords())) as memory:
        (told,) = memory.tell_fact("The plumber comes tomorrow.", "Ann", evening_ns)
        assert f"tomorrow ({day})" in told.text
        assert f"tomorrow ({day})" in memory.ask("When does the plumber come?").text


def test_unknown_time_zone_is_refused_by_name() -> None:
    for wrong in ("Mars/Olympus", "../etc/passwd", "Europe"):
        with pytest.raises(InvalidValueError, match="time_zone: expected the name of a zone, such as Europe/Berlin"):
            MemoryConfig(time_zone=wrong)
