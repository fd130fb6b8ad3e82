"""Short names of things: given once, found again, never given twice."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from memory_node.catalogue.label_space import load_catalogue
from memory_node.domain.errors import InvalidValueError
from memory_node.domain.scene import SceneObject
from memory_node.domain.skill import SkillCall, StateChange
from memory_node.intake.episodes import named_by_class
from memory_node.memory_config import MemoryConfig
from memory_node.opening import open_memory
from memory_node.scene_graph.edits import SceneEdits
from memory_node.scene_graph.graph import SceneGraph
from memory_node.store.rows import object_row
from memory_node.world.state import Thing, WorldState, called


def put(graph: SceneGraph, object_id: str, object_class: str, x: float) -> str:
    """Have a skill report a thing; return its name."""
    graph.apply_change(StateChange(object_id, object_class, 10**9, held=False, position=(4.0 * x, 0.0, 0.8)))
    return graph.object(object_id).name


def test_things_of_a_class_are_numbered_in_the_order_of_their_birth() -> None:
    graph = SceneGraph()
    names = [put(graph, one, "Mug", x) for x, one in enumerate(("a", "b"))]
    assert [*names, put(graph, "c", "dining table", 5.0)] == ["Mug 1", "Mug 2", "diningtable 1"]


@pytest.mark.parametrize("said", ["DiningTable 1", "dining table 1", "dining_table 1", "Family Table", "a"])
def test_name_is_read_alike_wherever_one_is_read(said: str) -> None:
    graph = SceneGraph()
    put(graph, "a", "DiningTable", 0.0)
    put(graph, "b", "DiningTable", 3.0)
    SceneEdits(graph.state, graph.places).call("a", "family table")
    found = graph.meant(said), graph.object(said), called(said, graph.objects())
    assert [one.id if one is not None else "" for one in found] == ["a", "a", "a"]
    step = named_by_class(SkillCall("GoToObject", (said,)), graph)
    assert step.arguments == (graph.object("a").reference,)


def test_planner_reads_a_name_however_it_is_spelt() -> None:
    state = WorldState.of_things(load_catalogue(), [Thing("DiningTable 1", "DiningTable", object_id="table 2")])
    assert state.named("dining table 1") == state.named("table 2") == state.things["DiningTable 1"]
    assert state.named("dining table 2") is None


def test_name_and_alias_are_accepted_in_place_of_the_id() -> None:
    graph = SceneGraph()
    put(graph, "a", "Mug", 0.0)
    edits = SceneEdits(graph.state, graph.places)
    edits.call("Mug 1", "my cup")
    assert graph.object("my Cup").id == graph.object("mug 1").id == "a"
    put(graph, "b", "Mug", 3.0)
    with pytest.raises(InvalidValueError, match="another thing"):
        edits.call("b", "my cup")
    edits.relabel("my cup", "Cup")
    assert graph.object("a").name == "Mug 1"


def test_name_of_a_merged_entry_stands_for_the_one_that_stays() -> None:
    graph = SceneGraph()
    for x, one in enumerate(("a", "b")):
        put(graph, one, "Mug", x)
    SceneEdits(graph.state, graph.places).merge("a", "b")
    assert graph.object("Mug 2").id == "a"
    assert put(graph, "c", "Mug", 5.0) == "Mug 3"


def test_two_robots_that_gave_one_name_agree_on_the_older_thing() -> None:
    graph = SceneGraph()
    put(graph, "b", "Mug", 0.0)
    other = SceneGraph()
    put(other, "a", "Mug", 3.0)
    graph.add_object(other.object("a"))
    assert {graph.object("a").name, graph.object("b").name} == {"Mug 1", "Mug 2"}
    assert graph.object("Mug 1").id == "a"


def test_names_outlive_a_restart_and_are_not_given_again(tmp_path: Path) -> None:
    config = MemoryConfig(database=str(tmp_path / "home.db"))

    def told(*positions: float) -> list[str]:
        memory = open_memory(config)
        changes = [StateChange(f"x{one}", "Mug", 0, held=False, position=(one, 0.0, 0.8)) for one in positions]
        memory.remember(changes)
        names = sorted(one.name for one in memory.scene().objects)
        if "Mug 2" in names:
            memory.forget("Mug 2")
        memory.close()
        return names

    assert told(0.0, 4.0) == ["Mug 1", "Mug 2"]
    assert told(8.0) == ["Mug 1", "Mug 3"]


def test_scene_of_a_release_without_names_is_given_names() -> None:
    graph = SceneGraph()
    put(graph, "a", "Mug", 0.0)
    nameless = replace(graph.object("a"), name="")
    other = SceneGraph()
    other.add_object(nameless)
    assert other.object("a").name == "Mug 1"


def test_names_given_to_an_old_store_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = MemoryConfig(database=str(tmp_path / "home.db"))
    with monkeypatch.context() as patched:
        patched.setattr("memory_node.store.rows.object_row", _row_of_the_first_release)
        patched.setattr("memory_node.store.translate.object_row", _row_of_the_first_release)
        memory = open_memory(config)
        memory.remember([StateChange(f"x{x}", "Mug", 0, held=False, position=(x, 0.0, 0.8)) for x in (0.0, 4.0)])
        memory.close()
    names = []
    for _ in range(2):
        memory = open_memory(config)
        names.append({one.id: one.name for one in memory.scene().objects})
        memory.close()
    assert len({name for name in names[0].values() if name.startswith("Mug ")}) == 2
    assert names[0] == names[1]


def _row_of_the_first_release(found: SceneObject, merged_into: str = "") -> dict[str, Any]:
    row = dict(object_row(found, merged_into))
    body = json.loads(row["body"])
    row["body"] = json.dumps({key: value for key, value in body.items() if key not in ("name", "aliases")})
    return row


def test_own_ids_of_a_robot_that_look_like_names_stay_its_own() -> None:
    memory = open_memory(MemoryConfig())

    def told(object_id: str, **others: Any) -> str:
        (found,) = memory.remember([StateChange(object_id, "Mug", 0, **others)])
        return found

    first = told("mug 2", held=False, position=(0.0, 0.0, 0.8))
    second = told("mug 1", held=False, position=(4.0, 0.0, 0.8))
    assert {one.id: one.name for one in memory.scene().objects} == {first: "Mug 1", second: "Mug 2"}
    assert (told("mug 2", held=True), told("mug 2", held=False, position=(8.0, 0.0, 0.8))) == (first, first)
    assert told("mug 7", held=True, position=(4.0, 0.0, 0.8)) == second
    assert told(second, held=False, position=(2.0, 0.0, 0.8)) == second
    memory.close()


def test_a_robot_that_has_no_own_ids_is_understood_by_names() -> None:
    memory = open_memory(MemoryConfig())
    ids = memory.remember(
        [StateChange(one, "Mug", 0, held=False, position=(4.0 * x, 0.0, 0.8)) for x, one in enumerate(("a", "b"))]
    )
    assert memory.remember([StateChange("Mug 2", "Mug", 0, held=True)]) == (ids[1],)
    memory.close()
