"""What a person or an agent names must be known: else memory says what is, and changes nothing."""

from collections.abc import Iterator

import pytest

from memory_node.domain.errors import InvalidValueError, NotFoundError
from memory_node.domain.skill import StateChange
from memory_node.domain.states import ObjectState
from memory_node.memory import RobotMemory
from memory_node.opening import MemoryConfig, open_memory

SLICED, BROKEN = ObjectState.SLICED, ObjectState.BROKEN


def told(object_id: str = "", kind: str = "", **more: object) -> StateChange:
    return StateChange(object_id, kind, 0, source="user", **more)  # type: ignore[arg-type]


@pytest.fixture
def memory() -> Iterator[RobotMemory]:
    memory = open_memory(MemoryConfig())
    memory.remember([told(kind="SideTable", position=(x, 0.0, 0.3)) for x in (4.0, 8.0)])
    memory.remember([told(kind="Bread", position=(4.0, 0.0, 0.7), support_id="SideTable 1")])
    memory.remember([told(kind="Chair", position=(float(x), 3.0, 0.5)) for x in (1, 3, 5)])
    yield memory
    memory.close()


def one(memory: RobotMemory, name: str):
    return memory.one_object(name)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (told("bread-of-nobody", "Bread", added=(SLICED,)), "Bread 1"),
        (told("Chair 1", "Bread", added=(SLICED,)), "is a Chair"),
        (told(kind="Chair", added=(BROKEN,)), "Chair 3"),
        (told(kind="Zebra", added=(BROKEN,)), "Zebra"),
        (told("Bread 1", support_id="SideTable", held=False), "SideTable 2"),
        (told("Bread 1", support_id="Wardrobe", held=False), "Wardrobe"),
        (told("SideTable 1", support_id="Bread 1", held=False), "itself"),
        (told(added=(BROKEN,)), "object_id"),
    ],
)
def test_what_memory_cannot_know_is_refused_with_candidates(
    memory: RobotMemory, change: StateChange, said: str
) -> None:
    before = memory.hash()
    with pytest.raises((InvalidValueError, NotFoundError), match=said):
        memory.remember([told("Bread 1", added=(SLICED,)), change])
    assert memory.hash() == before


def test_names_however_spelt_stand_for_things(memory: RobotMemory) -> None:
    memory.remember([told("bread 1", support_id="side table 2", held=False)])
    assert one(memory, "Bread 1").support_id == one(memory, "SideTable 2").id
    memory.edit("call", "Chair 2", new_class="grandma's chair")
    memory.remember([told("grandma's chair", added=(BROKEN,))])
    assert [belief.state for belief in one(memory, "Chair 2").states] == [BROKEN]


def test_only_thing_of_a_class_needs_no_id_and_a_new_one_a_place(memory: RobotMemory) -> None:
    assert memory.remember([told(kind="bread", added=(SLICED,))]) == (one(memory, "Bread 1").id,)
    assert memory.remember([told(kind="Mug", support_id="Chair 1", held=False)]) == (one(memory, "Mug 1").id,)
    memory.remember([told("Mug 1", position=(3.0, 3.0, 1.0))])
    assert one(memory, "Mug 1").box.center[0] == pytest.approx(3.0)


def test_forgetting_and_edits_need_a_known_name(memory: RobotMemory) -> None:
    with pytest.raises(NotFoundError, match="Bread 1"):
        memory.forget(object_id="bread")
    with pytest.raises(NotFoundError, match="Chair 1"):
        memory.edit("delete", "chair")
    assert memory.forget(object_id="Bread 1") == 1
