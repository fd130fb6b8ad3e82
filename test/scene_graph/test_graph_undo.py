"""Edits taken back in reverse leave the graph as it was, whatever they were."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_node.domain.errors import NotFoundError, RobotMemoryError
from memory_node.domain.scene import SceneObject
from memory_node.domain.skill import StateChange
from memory_node.domain.states import ObjectState
from memory_node.memory import RobotMemory
from memory_node.opening import MemoryConfig, open_memory

KINDS = ("Mug", "Cup", "Apple", "Bowl", "DiningTable")
STATES = (ObjectState.CLEANED, ObjectState.DIRTY, ObjectState.OPENED)


def furnished(database: str = "") -> RobotMemory:
    memory = open_memory(MemoryConfig(database=database))
    memory.remember([_new("DiningTable", (2.0, 1.0, 0.4))])
    memory.remember([_new("Mug", (2.0, 1.0, 0.8), support_id="DiningTable")])
    memory.remember([_new("Mug", (4.0, 1.2, 0.8)), _new("Apple", (2.1, 1.0, 0.9), support_id="Mug 1")])
    memory.remember([_new("Bowl", (5.0, 1.0, 0.8)), _told("Apple 1", added=(ObjectState.CLEANED,))])
    return memory


def _told(object_id: str, **more: object) -> StateChange:
    return StateChange(object_id, "", 0, source="user", **more)  # type: ignore[arg-type]


def _new(kind: str, at: tuple[float, float, float], **more: object) -> StateChange:
    return StateChange("", kind, 0, source="user", position=at, held=False, **more)  # type: ignore[arg-type]


_AT = st.tuples(st.floats(0.0, 6.0), st.floats(0.0, 6.0), st.floats(0.0, 2.0))
_EDITS = st.lists(
    st.tuples(
        st.sampled_from(
            ("relabel", "call", "merge", "split", "delete", "restore", "move", "put", "pick", "states", "new")
        ),
        st.integers(0, 9),
        st.integers(0, 9),
        st.sampled_from(KINDS),
        _AT,
        st.sampled_from(STATES),
    ),
    min_size=1,
    max_size=12,
)


def _edit(memory: RobotMemory, edit: tuple, edit_id: str) -> None:
    what, first, second, kind, at, state = edit
    objects = memory.scene(removed=True).objects
    one, other = objects[first % len(objects)].id, objects[second % len(objects)].id
    told = {
        "move": lambda: _told(one, position=at),
        "put": lambda: _told(one, support_id=other, inside=first > second, held=False),
        "pick": lambda: _told(one, held=True),
        "states": lambda: _told(one, added=(state,)),
        "new": lambda: _new(kind, at),
    }
    if what in told:
        memory.remember([told[what]()], edit_id)
    else:
        memory.edit(what, one, other, kind, at, edit_id)


@settings(max_examples=15, deadline=None)
@given(_EDITS)
def test_any_edits_undone_in_reverse_leave_what_was(edits: list) -> None:
    memory = furnished()
    made = []
    for number, edit in enumerate(edits):
        before = memory.hash()
        try:
            _edit(memory, edit, f"edit-{number}")
        except RobotMemoryError:
            assert memory.hash() == before
            continue
        made.append((f"edit-{number}", before))
    for edit_id, before in reversed(made):
        memory.edit("undo", edit_id)
        assert memory.hash() == before
    # What follows works on it as on the graph that it is again.
    assert memory.remember([_told("Apple 1", support_id="Bowl 1", held=False)]) == (memory.one_object("Apple 1").id,)
    memory.close()


def test_merge_is_undone_after_a_restart_of_readers_and_store(tmp_path) -> None:
    database = str(tmp_path / "memory.db")
    memory = furnished(database)
    before = {one.id: one for one in memory.scene().objects}
    one, other = memory.one_object("Mug 1").id, memory.one_object("Mug 2").id
    memory.edit("merge", other, one, edit_id="merge")
    assert memory.one_object("Mug 1").id == other
    memory.edit("undo", "merge")
    memory.close()
    again = open_memory(MemoryConfig(database=database))
    after = {one.id: one for one in again.scene().objects}
    assert _told_of(after) == _told_of(before)
    assert again.one_object("Mug 1").id == one
    again.close()


def _told_of(objects: dict[str, SceneObject]) -> dict[str, tuple]:
    return {
        key: (one.name, one.support_id, one.inside, one.times_seen, one.box.center.tolist(), one.box.size.tolist())
        for key, one in objects.items()
    }


def test_first_thing_of_a_memory_can_be_taken_back() -> None:
    memory = open_memory(MemoryConfig())
    memory.remember([_new("Mug", (2.0, 1.0, 0.8))], "first")
    memory.edit("undo", "first")
    assert memory.scene(removed=True).objects == ()
    memory.close()


def test_what_was_seen_since_stays() -> None:
    memory = furnished()
    memory.edit("relabel", "Mug 1", new_class="Cup", edit_id="relabel")
    memory.remember([_told("Mug 1", position=(4.0, 4.0, 1.0))])
    memory.edit("undo", "relabel")
    mug = memory.one_object("Mug 1")
    assert (mug.class_name, mug.box.center[0]) == ("Mug", pytest.approx(4.0))
    with pytest.raises(NotFoundError, match="undone"):
        memory.edit("undo", "relabel")
    memory.close()
