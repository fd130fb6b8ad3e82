import itertools
from collections.abc import Callable

import numpy as np
import pytest

from benchmarks.ablated_memory import MemoryOfStartUp, ablated
from memory_node.domain.answer import AnswerStatus, FindQuery
from memory_node.domain.errors import InvalidValueError
from memory_node.domain.geometry import Pose
from memory_node.domain.observation import Frame
from memory_node.domain.skill import StateChange
from memory_node.domain.states import ObjectState
from memory_node.memory import RobotMemory
from memory_node.scene_graph.free_space import OccupancyMap

MUG = FindQuery(object_class="Mug")


@pytest.fixture
def known(memory: RobotMemory, see: Callable[..., Frame]) -> RobotMemory:
    memory.set_map(OccupancyMap(np.zeros((80, 80), np.int8), 0.05, Pose()), 1)
    memory.observe(see(1, Mug=(1.0, 1.0, 0.8)))
    return memory


@pytest.mark.parametrize(
    ("mode", "recalls", "finds"),
    [
        ("full", True, True),
        ("no-cache", False, True),
        ("karma-no-short-term", False, True),
        ("no-long-term", True, False),
        ("none", False, False),
    ],
)
def test_parts_are_off_as_the_mode_says(known: RobotMemory, mode: str, recalls: bool, finds: bool) -> None:
    memory = ablated(mode, known)
    assert (memory.recall(MUG).status is not AnswerStatus.UNKNOWN) == recalls
    assert (memory.find(MUG).status is not AnswerStatus.UNKNOWN) == finds
    assert bool(memory.scene().objects) == (finds or recalls)
    located = memory.locate(MUG)
    assert located.memory == ("short_term" if recalls else "long_term" if finds else "")
    assert bool(located.areas) == (not recalls and not finds)


def test_scene_of_short_term_memory_loses_what_that_forgets(known: RobotMemory) -> None:
    memory = ablated("no-long-term", known)
    assert [found.class_name for found in memory.scene().objects] == ["Mug"]
    known.cache.clear()
    assert memory.scene().objects == ()
    assert memory.scene().areas == known.scene().areas


def test_hand_is_known_in_every_mode(known: RobotMemory) -> None:
    (mug,) = known.scene().objects
    frozen, others = MemoryOfStartUp(known), [ablated(mode, known) for mode in ("full", "no-long-term", "none")]
    frozen.remember([StateChange("their-mug", "Mug", 2, held=True)])
    assert known.held_object() is None
    others[-1].remember([StateChange(mug.id, "Mug", 2, held=True)])
    held = [memory.held_object() for memory in (frozen, *others)]
    assert [found.object_class for found in held if found is not None] == ["Mug"] * 4
    frozen.remember([StateChange("their-mug", "Mug", 3, held=False)])
    assert frozen.held_object() is None


def test_the_map_stays_and_is_toured_without_zigzag(known: RobotMemory) -> None:
    areas = ablated("none", known).rank_search_areas("Mug")
    assert {area.area_id for area in areas} == {area.id for area in known.scene().areas}
    assert {area.probability for area in areas} == {1.0 / len(areas)}
    steps = [np.hypot(*np.subtract(a.position, b.position)) for a, b in itertools.pairwise(areas)]
    by_name = sorted(areas, key=lambda area: area.name)
    others = [np.hypot(*np.subtract(a.position, b.position)) for a, b in itertools.pairwise(by_name)]
    assert sum(steps) <= sum(others)


def test_unknown_mode_is_refused(known: RobotMemory) -> None:
    with pytest.raises(InvalidValueError, match="half"):
        ablated("half", known)


def test_scene_follows_what_is_told_without_cache_and_not_as_karma_ablates_it(known: RobotMemory) -> None:
    (mug,) = known.scene().objects
    ablated("karma-no-short-term", known).remember([StateChange(mug.id, "Mug", 2, added=(ObjectState.FILLED,))])
    assert ObjectState.FILLED not in {belief.state for belief in known.scene().objects[0].states}
    ablated("no-cache", known).remember([StateChange(mug.id, "Mug", 3, added=(ObjectState.FILLED,))])
    assert ObjectState.FILLED in {belief.state for belief in known.scene().objects[0].states}
