import itertools
from collections.abc import Callable

import numpy as np
import pytest

from memory_node.domain.answer import AnswerStatus, FindQuery
from memory_node.domain.errors import InvalidValueError
from memory_node.domain.geometry import Pose
from memory_node.domain.observation import Frame
from memory_node.memory import RobotMemory
from memory_node.planner.ablated_memory import AblatedMemory
from memory_node.scene_graph.free_space import OccupancyMap

MUG = FindQuery(object_class="Mug")


@pytest.fixture
def known(memory: RobotMemory, see: Callable[..., Frame]) -> RobotMemory:
    memory.set_map(OccupancyMap(np.zeros((80, 80), np.int8), 0.05, Pose()), 1)
    memory.observe(see(1, Mug=(1.0, 1.0, 0.8)))
    return memory


@pytest.mark.parametrize(
    ("mode", "recalls", "finds"),
    [("full", True, True), ("no-short-term", False, True), ("no-long-term", True, False), ("none", False, False)],
)
def test_parts_are_off_as_the_mode_says(known: RobotMemory, mode: str, recalls: bool, finds: bool) -> None:
    memory = AblatedMemory(known, mode)
    assert (memory.recall(MUG).status is not AnswerStatus.UNKNOWN) == recalls
    assert (memory.find(MUG).status is not AnswerStatus.UNKNOWN) == finds
    assert bool(memory.scene().objects) == finds


def test_the_map_stays_and_is_toured_without_zigzag(known: RobotMemory) -> None:
    areas = AblatedMemory(known, "none").rank_search_areas("Mug")
    assert {area.area_id for area in areas} == {area.id for area in known.scene().areas}
    assert {area.probability for area in areas} == {1.0 / len(areas)}
    steps = [np.hypot(*np.subtract(a.position, b.position)) for a, b in itertools.pairwise(areas)]
    by_name = sorted(areas, key=lambda area: area.name)
    others = [np.hypot(*np.subtract(a.position, b.position)) for a, b in itertools.pairwise(by_name)]
    assert sum(steps) <= sum(others)


def test_unknown_mode_is_refused(known: RobotMemory) -> None:
    with pytest.raises(InvalidValueError, match="half"):
        AblatedMemory(known, "half")
