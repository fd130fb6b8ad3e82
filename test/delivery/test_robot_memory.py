from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from memory_node.delivery.robot_memory import RobotMemory
from memory_node.domain.answer import AnswerStatus, FindQuery
from memory_node.domain.errors import InvalidValueError, NotFoundError
from memory_node.domain.geometry import Pose
from memory_node.domain.observation import Frame
from memory_node.domain.scene import SceneEventKind
from memory_node.domain.skill import StateChange
from memory_node.domain.states import ObjectState
from memory_node.scene_graph.free_space import OccupancyMap
from memory_node.store.errors import StoreBacklogError
from memory_node.store.records import StoreChange
from memory_node.store.store import Store

SECOND_NS = 1_000_000_000
See = Callable[..., Frame]
Open = Callable[[], RobotMemory]


def mug_id(memory: RobotMemory) -> str:
    best = memory.find(FindQuery(object_class="Mug")).best
    assert best is not None
    return best.object_id


def test_what_is_seen_is_in_both_memories(memory: RobotMemory, see: See) -> None:
    memory.observe(see(1, Mug=(1.0, 0.0, 0.8)))
    recalled, found = memory.recall(FindQuery(object_class="Mug")), memory.find(FindQuery(object_class="Mug"))
    assert recalled.best is not None
    assert found.best is not None
    assert recalled.best.object_id == found.best.object_id
    assert (recalled.best.source, found.best.source) == ("short_term", "long_term")


def test_each_recall_counts_as_one_lookup(memory: RobotMemory, see: See) -> None:
    memory.observe(see(1, Mug=(1.0, 0.0, 0.8)))
    memory.recall(FindQuery(object_class="Mug"))
    memory.recall(FindQuery(object_class="Unicorn"))
    statistics = memory.statistics()
    assert (statistics.lookups, statistics.hits) == (2, 1)


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


def test_skill_report_reaches_scene_and_cache(memory: RobotMemory, see: See) -> None:
    memory.observe(see(1, Mug=(1.0, 0.0, 0.8)))
    change = StateChange("their-mug", "Mug", 2 * SECOND_NS, (ObjectState.CLEANED,), position=(1.1, 0.0, 0.8))
    (object_id,) = memory.remember_objects([change])
    assert object_id == mug_id(memory)
    clean = memory.recall(FindQuery(object_class="Mug", states=(ObjectState.CLEANED,)))
    assert clean.best is not None
    assert memory.scene().objects[0].states[0].state is ObjectState.CLEANED


def test_listeners_hear_changes_with_versions_in_order(memory: RobotMemory, see: See) -> None:
    heard: list[tuple[list[SceneEventKind], int, int]] = []
    memory.on_change(lambda events, before, after: heard.append(([e.kind for e in events], before, after)))
    memory.observe(see(1, Mug=(1.0, 0.0, 0.8)))
    memory.observe(see(2, Mug=(1.0, 0.0, 0.8)))
    assert heard[0][0] == [SceneEventKind.APPEARED]
    assert heard[0][2] == heard[1][1]


def test_forgotten_object_is_gone_from_everywhere(open_at: Open, see: See) -> None:
    memory = open_at()
    memory.observe(see(1, Mug=(1.0, 0.0, 0.8), Bowl=(2.0, 0.0, 0.8)))
    assert memory.forget(object_class="Mug") == 1
    assert memory.find(FindQuery(object_class="Mug")).status is AnswerStatus.UNKNOWN
    assert memory.recall(FindQuery(object_class="Mug")).status is AnswerStatus.UNKNOWN
    memory.close()
    assert [found.class_name for found in open_at().scene().objects] == ["Bowl"]


def test_forgetting_nothing_in_particular_is_refused(memory: RobotMemory) -> None:
    with pytest.raises(InvalidValueError, match="got none"):
        memory.forget()


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
    assert memory.save("backups/one.db") == 1
    for outside in ("/tmp/elsewhere.db", "../elsewhere.db"):
        with pytest.raises(InvalidValueError, match="data folder"):
            memory.save(outside)


def test_map_gives_areas_that_survive(open_at: Open) -> None:
    memory = open_at()
    memory.set_map(OccupancyMap(np.zeros((80, 80), np.int8), 0.05, Pose()), SECOND_NS)
    areas = {area.id for area in memory.scene().areas}
    memory.save()
    memory.close()
    assert areas
    assert {area.id for area in open_at().scene().areas} == areas


def test_context_tells_what_was_just_used_within_its_budget(memory: RobotMemory, see: See) -> None:
    memory.observe(see(1, Mug=(1.0, 0.0, 0.8)))
    context = memory.full_context("bring me the mug", 400)
    assert "Mug (id " in context.text
    assert context.tokens <= 400
    assert memory.full_context("bring me the mug", 5).text == ""


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
