"""Names, beliefs and the calls that can be made."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from benchmarks.ranking.ranked_world import RankedWorld
from memory_node.catalogue.label_space import load_catalogue
from memory_node.domain.skill import FailureReason, SkillCall, SkillResult
from memory_node.domain.skill_library import SKILLS
from memory_node.world.episode import EpisodeWorld

CARRYING = ("Explore", "GoToObject", "PickupObject", "PutObject", "OpenObject", "CloseObject")


def world_of(home, *about: str, most: int = 40, skills: Sequence[str] = CARRYING) -> RankedWorld:
    known = tuple(SKILLS[name] for name in skills)
    world = RankedWorld(EpisodeWorld(load_catalogue()), about or ("Apple", "Mug", "Fridge"), known, most)
    follow_memory(world, home)
    return world


def follow_memory(world: RankedWorld, home) -> None:
    world.refresh(home.scene(), home.held_object())


def do(world: RankedWorld, home, text: str) -> SkillResult:
    call = world.admissible()[text]
    result = home.execute(call)
    world.follow(result)
    follow_memory(world, home)
    return result


def test_calls_need_what_the_skills_declare(kitchen) -> None:
    world = world_of(kitchen)
    calls = world.admissible()
    assert "GoToObject(Apple)" in calls
    assert not [call for call in calls if call.startswith(("PickupObject", "PutObject", "OpenObject"))], "too far"
    assert "GoToObject(Mug 2)" not in calls, "it is inside the closed fridge"
    do(world, kitchen, "GoToObject(Apple)")
    calls = world.admissible()
    assert {"PickupObject(Apple)", "PickupObject(Mug)"} <= set(calls)
    assert "GoToObject(Apple)" not in calls, "the robot is there"
    do(world, kitchen, "PickupObject(Apple)")
    assert world.held == "Apple"
    calls = world.admissible()
    assert "PutObject(Apple, CounterTop)" in calls
    assert not [call for call in calls if call.startswith("PickupObject")]


def test_call_that_failed_is_not_offered_until_its_things_were_used(kitchen) -> None:
    kitchen.failing = {"PickupObject": FailureReason.EXECUTION}
    world = world_of(kitchen)
    do(world, kitchen, "GoToObject(Apple)")
    assert not do(world, kitchen, "PickupObject(Apple)").success
    assert "PickupObject(Apple)" not in world.admissible()
    do(world, kitchen, "GoToObject(CounterTop)") if "GoToObject(CounterTop)" in world.admissible() else None
    do(world, kitchen, "GoToObject(SinkBasin)")
    do(world, kitchen, "GoToObject(Apple)")
    assert "PickupObject(Apple)" in world.admissible()


def test_what_was_out_of_reach_is_gone_to_first(kitchen) -> None:
    kitchen.failing = {"PickupObject": FailureReason.TOO_FAR}
    world = world_of(kitchen)
    do(world, kitchen, "GoToObject(Mug)")
    assert not do(world, kitchen, "PickupObject(Apple)").success
    assert "GoToObject(Apple)" in world.admissible()
    assert "GoToObject(Mug)" in world.admissible(), "it may not be where it was believed to be"


def test_memorys_doubt_makes_a_call_worth_less(kitchen) -> None:
    world = world_of(kitchen)
    assert world.value(world.admissible()["GoToObject(Apple)"]) == 0.9
    assert world.value(SkillCall("Explore", ("Plate",))) == 1.0


@pytest.mark.parametrize("label", ["???", "x" * 300, "two\nlines", 'a"b(c)', "Tasse à café", "\u202eevil"])
def test_thing_with_any_label_has_a_name_that_a_call_can_carry(kitchen, label: str) -> None:
    kitchen.things["m-sink"].object_class = label
    world = world_of(kitchen)
    assert all(name.replace(" ", "").isalnum() for name in world.things)
    assert len([call for call in world.admissible() if call.startswith("GoToObject")]) == 5


def test_what_lies_on_something_closed_is_within_reach_and_what_is_in_it_is_not(kitchen) -> None:
    world = world_of(kitchen)
    assert "GoToObject(Mug 2)" not in world.admissible(), "it is in the fridge, which is closed"
    on_top = [replace(one, inside=False) if one.id == "m-mug2" else one for one in kitchen.scene().objects]
    world.refresh(replace(kitchen.scene(), objects=tuple(on_top)))
    assert "GoToObject(Mug 2)" in world.admissible()


def find_shut(world: RankedWorld, home, name: str, robot_id: str) -> None:
    call = world.admissible()[f"GoToObject({name})"]
    world.follow(SkillResult(call, False, FailureReason.CLOSED, object_id=robot_id))
    follow_memory(world, home)


def test_lid_is_opened_first_where_the_robot_names_none(kitchen) -> None:
    world = world_of(kitchen, "Apple", "Mug")
    find_shut(world, kitchen, "Apple", "")
    assert set(world.to_open_first(world.admissible())) == {"GoToObject(Fridge)"}, "the robot has no id for it"
