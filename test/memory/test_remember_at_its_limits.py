"""What one call of `remember` costs: its changes, not their product with what memory holds."""

import sys
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from types import FrameType

import numpy as np
import pytest
from plain_search import HashedWords

from memory_node.domain.errors import InvalidValueError
from memory_node.domain.skill import StateChange
from memory_node.intake.intake import MOST_CARRIED
from memory_node.memory import RobotMemory

SECOND_NS = 1_000_000_000


def spread(count: int, class_of: Callable[[int], str]) -> list[StateChange]:
    """Return changes that each bring in a thing of its own, 2 m from the next."""
    return [
        StateChange(f"theirs-{i}", class_of(i), SECOND_NS + i, position=(2.0 * (i % 32), 2.0 * (i // 32), 0.8))
        for i in range(count)
    ]


def python_calls_of(act: Callable[[], object]) -> int:
    """Return how many Python functions a call calls: its work, whatever else the machine does."""
    count = 0

    def note(frame: FrameType, event: str, _: object) -> None:
        nonlocal count
        count += event == "call"

    sys.setprofile(note)
    try:
        act()
    finally:
        sys.setprofile(None)
    return count


def work_of_a_call(memory: RobotMemory, changes: list[StateChange]) -> int:
    """Return the work of putting what is known down again, and of telling of as much under new names."""
    memory.remember(changes)
    again = [replace(change, stamp_ns=2 * SECOND_NS, held=False) for change in changes]
    new_names = [replace(change, object_id=f"other-{change.object_id}") for change in changes]
    return python_calls_of(lambda: memory.remember([*again, *new_names]))


@pytest.mark.parametrize("class_of", [lambda i: "Mug", lambda i: f"Thing{i}"], ids=["one class", "a class each"])
def test_work_grows_with_the_changes_alone(open_at: Callable[..., RobotMemory], class_of: Callable[[int], str]) -> None:
    few, many = (work_of_a_call(open_at(f"{count}.db"), spread(count, class_of)) for count in (50, 400))
    assert many < 12 * few, "eight times the changes, in a memory of eight times the things"


def test_names_of_new_classes_are_embedded_together(memory: RobotMemory, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    embed = HashedWords.embed

    def counting(self: HashedWords, texts: list[str]) -> np.ndarray:
        asked.append(len(texts))
        return embed(self, texts)

    monkeypatch.setattr(HashedWords, "embed", counting)
    memory.remember(spread(200, lambda i: f"Thing{i}"))
    assert len(asked) <= 3


def test_call_that_would_move_a_stack_again_and_again_ends_and_says_where(memory: RobotMemory) -> None:
    size = 300
    stack = [
        StateChange(f"plate-{i}", f"Plate{i}", SECOND_NS, held=False, position=(1.0, 1.0, 0.8 + 0.03 * i))
        for i in range(size)
    ]
    ids = memory.remember(stack)
    on_each_other = [
        StateChange(above, "", 2 * SECOND_NS, held=False, support_id=below) for below, above in pairwise(ids)
    ]
    memory.remember(on_each_other[:150])
    memory.remember(on_each_other[150:])
    with pytest.raises(
        InvalidValueError, match=r"^changes\[(\d+)\]: .*the changes before this one are remembered"
    ) as told:
        memory.remember([StateChange(ids[0], "", 3 * SECOND_NS, held=False, position=(5.0, 5.0, 0.8))] * 100)
    begun = int(str(told.value).partition("[")[2].partition("]")[0])
    assert begun == MOST_CARRIED // (size - 1) + 1
    assert next(found for found in memory.scene().objects if found.id == ids[0]).box.center[0] == 5.0
