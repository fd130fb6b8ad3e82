"""What is cut or cracked while the camera watches stays the thing that it was."""

import pytest
from box_world import BoxWorld

from memory_node.catalogue.label_space import load_catalogue
from memory_node.domain.skill import StateChange
from memory_node.domain.states import ObjectState
from memory_node.memory import RobotMemory
from memory_node.memory_config import MemoryConfig
from memory_node.opening import open_memory
from memory_node.world.remembered import remembered
from memory_node.world.state import Thing


def kitchen(thing: str, side_m: float) -> BoxWorld:
    world = BoxWorld()
    world.put("DiningTable", 2.0, 0.2, 0.35, (1.0, 1.0, 0.7))
    world.put(thing, 2.0, 0.2, 0.7 + 0.5 * side_m, (side_m, side_m, side_m))
    return world


def watch(memory: RobotMemory, world: BoxWorld, since_s: int) -> None:
    for index, camera in enumerate(world.views(14)):
        memory.observe(world.frame(since_s + index, camera))


def believed(memory: RobotMemory, *classes: str) -> list[Thing]:
    state = remembered(memory.scene(), load_catalogue())
    return [one for one in state if one.object_class in classes and one.existence >= 0.5]


@pytest.mark.parametrize(
    ("whole", "pieces", "offsets"),
    [
        ("Apple", "AppleSliced", (-0.12, 0.0, 0.12)),
        ("Egg", "EggCracked", (0.0,)),
        ("Bread", "BreadSliced", (-0.1, 0.1)),
    ],
)
def test_a_thing_that_was_cut_goes_on_in_its_pieces(whole: str, pieces: str, offsets: tuple[float, ...]) -> None:
    memory = open_memory(MemoryConfig(), lambda: 0)
    world = kitchen(whole, 0.1)
    watch(memory, world, 1)
    (before,) = believed(memory, whole, pieces)
    del world.boxes[whole]
    for number, offset in enumerate(offsets):
        world.put(f"{pieces}{number}", 2.0 + offset, 0.2, 0.72, (0.05, 0.08, 0.04))
    watch(memory, world, 100)
    watch(memory, world, 200)
    after = believed(memory, whole, pieces)
    assert [one.object_class for one in after] == [pieces] * len(offsets)
    (same,) = [one for one in after if one.memory_id == before.memory_id]
    assert (same.id, same.has(ObjectState.SLICED)) == (before.id, True)
    memory.close()


def test_a_piece_far_from_a_thing_is_not_of_it() -> None:
    memory = open_memory(MemoryConfig(), lambda: 0)
    world = kitchen("Apple", 0.1)
    watch(memory, world, 1)
    del world.boxes["Apple"]
    world.put("AppleSliced", 2.42, 0.55, 0.72, (0.05, 0.08, 0.04))
    watch(memory, world, 100)
    (piece,) = believed(memory, "Apple", "AppleSliced")
    assert (piece.object_class, piece.has(ObjectState.SLICED)) == ("AppleSliced", None)
    memory.close()


def test_pieces_that_a_skill_tells_of_stay_as_many_though_only_some_are_seen() -> None:
    memory = open_memory(MemoryConfig(), lambda: 0)
    world = kitchen("Bread", 0.2)
    watch(memory, world, 1)
    (whole,) = believed(memory, "Bread")
    del world.boxes["Bread"]
    places = [(2.0 + offset, 0.2, 0.76) for offset in (-0.05, 0.0, 0.05)]
    cut = [StateChange(whole.memory_id, "Bread", 20 * 10**9, destroyed=True)]
    for number, place in enumerate(places):
        cut.append(
            StateChange(
                f"slice {number}", "BreadSliced", 20 * 10**9, (ObjectState.SLICED,), position=place,
                created_from=whole.memory_id,
            )
        )  # fmt: skip
    memory.remember(cut)
    for number, place in enumerate(places):
        world.put(f"BreadSliced{number}", *place, (0.04, 0.12, 0.1))
    for index, camera in enumerate(world.views(2)):
        memory.observe(
            world.frame(21 + index, camera, detected=lambda name: name not in ("BreadSliced1", "BreadSliced2"))
        )
    assert len(believed(memory, "BreadSliced")) == 3
    memory.close()
