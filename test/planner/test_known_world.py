"""What a prompt tells of many things of a kind."""

from dataclasses import replace

import pytest
from tiny_home import TinyHome, TinyThing

from memory_node.catalogue.label_space import load_catalogue
from memory_node.domain.states import ObjectState
from memory_node.planner.agent.home_names import HomeNames
from memory_node.planner.known_world import KnownWorld, names_folded, prompt_objects
from memory_node.world.episode import EpisodeWorld
from memory_node.world.state import Thing, WorldState


@pytest.mark.parametrize(
    ("names", "folded"),
    [
        (["Drawer 1", "Drawer 2", "Drawer 3"], ["Drawer 1 to 3"]),
        (["Drawer 1", "Drawer 2"], ["Drawer 1", "Drawer 2"]),
        (["Drawer 1", "Drawer 3", "Drawer 4", "Drawer 5", "Mug"], ["Drawer 1", "Drawer 3 to 5", "Mug"]),
        (["Mug 1", "Cup 3", "Cup 2"], ["Cup 2", "Cup 3", "Mug 1"]),
    ],
)
def test_runs_of_numbers_are_one(names: list[str], folded: list[str]) -> None:
    assert names_folded(names) == folded


def test_what_things_look_like_is_told_in_quotes_that_they_cannot_end() -> None:
    home = TinyHome(TinyThing("v1", "Vase"), TinyThing("v2", "Vase"))
    looks = {"v1": 'A "white" vase.\n# Instruction', "v2": ""}
    objects = [replace(one, attributes={"description": looks[one.id]}) for one in home.scene().objects]
    world = KnownWorld(EpisodeWorld(load_catalogue()), ("Vase",), 40)
    world.refresh(replace(home.scene(), objects=tuple(objects)))
    said = "\"A 'white' vase. # Instruction\""
    assert HomeNames(world, home, lambda _: "", {}).inventory(home.scene()) == [f"- Vase ({said})", "- Vase 2"]
    assert world.lines() == [f"Vase: {said}", "Vase 2"]


def test_drawers_that_nothing_tells_apart_are_told_as_one() -> None:
    drawers = [TinyThing(f"d{number:02}", "Drawer", states={ObjectState.CLOSED}) for number in range(1, 13)]
    home = TinyHome(*drawers, TinyThing("spoon", "Spoon", support_id="d11"))
    objects = [replace(one, name=f"Drawer {int(one.id[1:])}") for one in home.scene().objects if one.id != "spoon"]
    spoon = next(replace(one, name="Spoon 1") for one in home.scene().objects if one.id == "spoon")
    scene = replace(home.scene(), objects=(*objects, spoon))
    world = KnownWorld(EpisodeWorld(load_catalogue()), ("Spoon", "Drawer"), 40)
    world.refresh(scene)
    told = HomeNames(world, home, lambda _: "", {}).inventory(scene)
    assert told == ["- closed: Drawer 1 to 10, Drawer 12", "- Drawer 11 (closed): Spoon 1"]


def test_every_listed_thing_stands_where_it_lies() -> None:
    drawers = [TinyThing(f"d{number}", "Drawer") for number in range(6)]
    home = TinyHome(*drawers, TinyThing("p", "Pen", "d5"), TinyThing("m", "Mug"))
    world = KnownWorld(EpisodeWorld(load_catalogue()), ("Mug",), 40)
    world.refresh(home.scene())
    assert world.state.things["Pen"].container in world.things


def test_pieces_of_a_thing_are_told_as_one_where_they_lie() -> None:
    sliced = [TinyThing(f"s{number}", "AppleSliced", "t", {ObjectState.SLICED}) for number in range(1, 5)]
    home = TinyHome(TinyThing("t", "DiningTable"), *sliced, TinyThing("m", "Mug", "t"))
    names = {"t": "DiningTable 1", "m": "Mug 1"}
    objects = [replace(one, name=names.get(one.id, f"AppleSliced {one.id[1:]}")) for one in home.scene().objects]
    scene = replace(home.scene(), objects=tuple(objects))
    world = KnownWorld(EpisodeWorld(load_catalogue()), ("AppleSliced", "Mug"), 40)
    world.refresh(scene)
    assert HomeNames(world, home, lambda _: "", {}).inventory(scene) == [
        "- DiningTable 1: AppleSliced 1 to 4 (sliced), Mug 1"
    ]


def test_what_a_listed_thing_stands_on_is_listed_to_the_floor() -> None:
    things = [Thing("Table 1", "DiningTable"), Thing("Plate 1", "Plate", container="Table 1")]
    things += [Thing("Apple 1", "Apple", container="Plate 1", memory_id="a")]
    things += [Thing(f"Mug {n}", "Mug", memory_id=f"m{n}") for n in range(9)]
    state = WorldState.of_things(load_catalogue(), [replace(one, memory_id=one.memory_id or one.id) for one in things])
    chosen = prompt_objects(state, ("Apple",), (), (), 1)
    assert chosen == ["Apple 1", "Plate 1", "Table 1"]
