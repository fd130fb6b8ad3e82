"""Edits by people and agents: what they name must be known, and what they take back is as it was."""

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_node.domain.errors import InvalidValueError, NotFoundError, RobotMemoryError
from memory_node.domain.geometry import OrientedBox, Pose
from memory_node.domain.observation import Frame, ObjectObservation
from memory_node.domain.scene import SceneEventKind, SceneObject
from memory_node.domain.skill import StateChange
from memory_node.domain.states import ObjectState
from memory_node.memory import RobotMemory
from memory_node.opening import MemoryConfig, open_memory
from memory_node.scene_graph.edits import SceneEdits
from memory_node.scene_graph.graph import SceneGraph

SECOND_NS = 1_000_000_000


@pytest.fixture
def graph() -> SceneGraph:
    graph = SceneGraph()
    size = np.array([0.1, 0.1, 0.1])
    for stamp_s, name, x_m in ((1, "Mug", 1.0), (2, "Bowl", 2.0)):
        box = OrientedBox(np.array([x_m, 0.0, 0.8]), size)
        seen = (ObjectObservation({name: 0.9}, box, np.eye(3) * 1e-4),)
        graph.observe(Frame(stamp_s * SECOND_NS, Pose.planar(0.0, 0.0, 0.0, 1.3), None, seen))
    return graph


@pytest.fixture
def edits(graph: SceneGraph) -> SceneEdits:
    return SceneEdits(graph.state, graph.places)


def ids(graph: SceneGraph) -> dict[str, str]:
    return {found.class_name: found.id for found in graph.objects()}


def test_deleted_object_stays_in_history_and_forgotten_one_does_not(graph: SceneGraph, edits: SceneEdits) -> None:
    known = ids(graph)
    edits.delete(known["Mug"])
    assert [found.class_name for found in graph.objects()] == ["Bowl"]
    assert graph.object(known["Mug"]).removed
    edits.forget(edits.select(object_class="mug"))
    with pytest.raises(NotFoundError):
        graph.object(known["Mug"])


def test_restored_object_is_where_it_was(graph: SceneGraph, edits: SceneEdits) -> None:
    mug = ids(graph)["Mug"]
    edits.delete(mug)
    (event,) = edits.restore(mug)
    assert (event.kind, event.object.id) == (SceneEventKind.MOVED, mug)
    assert graph.object(mug).box.center.tolist() == [1.0, 0.0, 0.8]
    assert graph.object(mug).existence > 0.9
    with pytest.raises(InvalidValueError, match="not removed"):
        edits.restore(mug)


def test_forgetting_without_a_condition_is_refused(edits: SceneEdits) -> None:
    with pytest.raises(InvalidValueError, match="got none"):
        edits.select()


def test_unknown_ids_are_named(edits: SceneEdits) -> None:
    with pytest.raises(NotFoundError, match="ghost"):
        edits.relabel("ghost", "Mug")
    with pytest.raises(NotFoundError, match="ghost"):
        edits.name_room("ghost", "kitchen")


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
