"""Names, beliefs and the calls that can be made."""

from collections.abc import Sequence

from benchmarks.ranking.ranked_world import RankedWorld
from memory_node.catalogue.label_space import load_catalogue
from memory_node.domain.skill import FailureReason, SkillResult
from memory_node.domain.skill_library import SKILLS
from memory_node.world.episode import EpisodeWorld

CARRYING = ("Explore", "GoToObject", "PickupObject", "PutObject", "OpenObject", "CloseObject")


def world_of(home, *about: str, most: int = 40, skills: Sequence[str] = CARRYING) -> RankedWorld:
    known = tuple(SKILLS[name] for name in skills)
    world = RankedWorld(EpisodeWorld(load_catalogue()), about or ("Apple", "Mug", "Fridge"), most, skills=known)
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
