"""Names, beliefs and the calls that can be made."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
from tiny_home import TinyHome, TinyThing

from benchmarks.ranking.ranked_world import RankedWorld
from memory_node.catalogue.label_space import load_catalogue
from memory_node.domain.skill import FailureReason, SkillCall, SkillResult
from memory_node.domain.skill_library import SKILLS
from memory_node.domain.states import ObjectState
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


def test_things_of_a_class_are_numbered_and_keep_their_names(kitchen) -> None:
    world = world_of(kitchen)
    assert {"Apple", "Mug", "Mug 2", "Fridge"} <= set(world.things)
    first = {name: thing.memory_id for name, thing in world.things.items()}
    del kitchen.things["m-mug1"]
    follow_memory(world, kitchen)
    assert {name: thing.memory_id for name, thing in world.things.items()}.items() <= first.items()


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


def test_composite_is_offered_at_each_place_that_memory_knows(kitchen) -> None:
    world = world_of(kitchen, skills=(*CARRYING, "CleanObject", "HeatObject"))
    for text in ("GoToObject(Apple)", "PickupObject(Apple)"):
        do(world, kitchen, text)
    calls = world.admissible()
    assert {"CleanObject(Apple, SinkBasin)", "HeatObject(Apple)", "Explore(Microwave)"} <= set(calls)
    assert not {"CleanObject(Apple)", "CleanObject(Apple, Fridge)", "Explore(SinkBasin)"} & set(calls)
    do(world, kitchen, "CleanObject(Apple, SinkBasin)")
    assert "GoToObject(SinkBasin)" not in world.admissible(), "the robot is there"


def test_pieces_are_in_reach_of_who_has_cut_them(kitchen) -> None:
    knife = replace(kitchen.things["m-mug1"], id="m-knife", object_class="Knife")
    kitchen.things["m-knife"] = knife
    world = world_of(kitchen, "Apple", skills=(*CARRYING, "SliceObject"))
    for text in ("GoToObject(Apple)", "PickupObject(Knife)"):
        do(world, kitchen, text)
    world.follow(kitchen.execute(world.admissible()["SliceObject(Apple)"]))
    kitchen.things["m-piece"] = replace(kitchen.things.pop("m-apple"), id="m-piece", object_class="AppleSliced")
    follow_memory(world, kitchen)
    assert "Apple" not in world.things
    assert "PutObject(Knife, CounterTop)" in world.admissible()


def test_knife_is_searched_where_something_is_to_be_cut(kitchen) -> None:
    assert "Explore(Knife)" in world_of(kitchen, "Apple", skills=(*CARRYING, "SliceObject")).admissible()
    assert "Explore(Knife)" not in world_of(kitchen, "Apple").admissible()


def test_pieces_are_not_searched_while_there_is_a_whole(kitchen) -> None:
    assert world_of(kitchen, "Apple", "AppleSliced").unknown_classes() == ()
    kitchen.things["m-apple"].seen = False
    assert world_of(kitchen, "Apple", "AppleSliced").unknown_classes() == ("Apple", "AppleSliced")


def test_closed_fridge_is_opened_before_something_goes_in(kitchen) -> None:
    world = world_of(kitchen)
    for text in ("GoToObject(Apple)", "PickupObject(Apple)", "GoToObject(Fridge)"):
        do(world, kitchen, text)
    assert "PutObject(Apple, Fridge)" not in world.admissible()
    do(world, kitchen, "OpenObject(Fridge)")
    assert {"PutObject(Apple, Fridge)", "CloseObject(Fridge)"} <= set(world.admissible())
    assert "OpenObject(Fridge)" not in world.admissible()
    do(world, kitchen, "PutObject(Apple, Fridge)")
    assert "Apple: in Fridge" in world.lines()


def test_names_stand_for_references_that_the_robot_takes(kitchen) -> None:
    world = world_of(kitchen)
    assert world.admissible()["GoToObject(Mug)"].arguments[0].startswith("Mug@")
    do(world, kitchen, "GoToObject(Mug)")
    assert world.admissible()["PickupObject(Mug)"] == SkillCall("PickupObject", ("m-mug1",)), "the robot's own id"


def test_what_nobody_has_seen_is_searched_and_then_has_a_name(kitchen) -> None:
    kitchen.things["m-apple"].seen = False
    world = world_of(kitchen)
    assert world.unknown_classes() == ("Apple",)
    do(world, kitchen, "Explore(Apple)")
    assert world.unknown_classes() == ()
    assert "PickupObject(Apple)" in world.admissible()
    assert list(world.things).count("Apple") == 1
    assert "Apple 2" not in world.things, "memory has seen the same one meanwhile"


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


def test_thing_that_is_not_there_any_more_is_not_named(kitchen) -> None:
    kitchen.failing = {"GoToObject": FailureReason.NOT_FOUND}
    world = world_of(kitchen)
    do(world, kitchen, "GoToObject(Apple)")
    assert "Apple" not in world.things
    assert "Explore(Apple)" in world.admissible()


def test_what_the_instruction_names_comes_before_all_else(kitchen) -> None:
    world = world_of(kitchen, "Mug", most=2)
    assert {"Mug", "Mug 2"} <= set(world.things)
    assert "Apple" not in world.things


def test_memorys_doubt_makes_a_call_worth_less(kitchen) -> None:
    world = world_of(kitchen)
    assert world.value(world.admissible()["GoToObject(Apple)"]) == 0.9
    assert world.value(SkillCall("Explore", ("Plate",))) == 1.0


def test_what_the_instruction_is_not_about_is_worth_less(kitchen) -> None:
    world = world_of(kitchen, "Apple")
    calls = world.admissible()
    assert world.value(calls["GoToObject(Apple)"]) == world.value(calls["GoToObject(CounterTop)"]) == 0.9, "it is there"
    assert world.value(calls["GoToObject(SinkBasin)"]) < 0.2


def test_doing_the_same_again_is_worth_less(kitchen) -> None:
    world = world_of(kitchen)
    for text in ("GoToObject(Apple)", "GoToObject(SinkBasin)"):
        do(world, kitchen, text)
    again = world.value(world.admissible()["GoToObject(Apple)"])
    assert again < 0.9 * world.value(world.admissible()["GoToObject(Mug)"])


@pytest.mark.parametrize("label", ["???", "x" * 300, "two\nlines", 'a"b(c)', "Tasse à café", "\u202eevil"])
def test_thing_with_any_label_has_a_name_that_a_call_can_carry(kitchen, label: str) -> None:
    kitchen.things["m-sink"].object_class = label
    world = world_of(kitchen)
    assert all(name.replace(" ", "").isalnum() for name in world.things)
    assert len([call for call in world.admissible() if call.startswith("GoToObject")]) == 5


def test_states_are_told(kitchen) -> None:
    kitchen.things["m-apple"].states = {ObjectState.CLEANED}
    assert "Apple: on CounterTop, cleaned" in world_of(kitchen).lines()


def test_to_take_up_what_is_settled_is_worth_little(kitchen) -> None:
    world = world_of(kitchen)
    do(world, kitchen, "GoToObject(Apple)")
    call = world.admissible()["PickupObject(Apple)"]
    assert world.value(call, {"m-apple"}) < 0.1 * world.value(call)
    assert world.value(call, {"m-mug1"}) == world.value(call)


def test_what_lies_on_something_closed_is_within_reach_and_what_is_in_it_is_not(kitchen) -> None:
    world = world_of(kitchen)
    assert "GoToObject(Mug 2)" not in world.admissible(), "it is in the fridge, which is closed"
    on_top = [replace(one, inside=False) if one.id == "m-mug2" else one for one in kitchen.scene().objects]
    world.refresh(replace(kitchen.scene(), objects=tuple(on_top)))
    assert "GoToObject(Mug 2)" in world.admissible()


def test_what_was_behind_a_door_is_offered_again_once_a_door_was_opened(kitchen) -> None:
    world = world_of(kitchen)
    goal = SkillCall("GoToObject", (world.things["Apple"].call_name,))
    world.follow(SkillResult(goal, False, FailureReason.CLOSED))
    assert "GoToObject(Apple)" not in world.admissible()
    do(world, kitchen, "GoToObject(Fridge)")
    do(world, kitchen, "OpenObject(Fridge)")
    assert "PickupObject(Apple)" in world.admissible(), "it is in the fridge, where the robot stands"


def find_shut(world: RankedWorld, home, name: str, robot_id: str) -> None:
    call = world.admissible()[f"GoToObject({name})"]
    world.follow(SkillResult(call, False, FailureReason.CLOSED, object_id=robot_id))
    follow_memory(world, home)


def test_what_a_thing_turned_out_to_be_shut_in_is_opened_first_by_the_robots_own_id(kitchen) -> None:
    kitchen.things["m-fridge"].states = {ObjectState.OPENED}  # beside the apple, and open as far as memory knows
    world = world_of(kitchen)
    assert not world.to_open_first(world.admissible()), "nothing is known to be closed over it"
    find_shut(world, kitchen, "Apple", "fridge-7")
    assert {"Apple: in Fridge", "Fridge: closed"} <= set(world.lines())
    calls = world.admissible()
    assert "GoToObject(Apple)" not in calls
    assert world.to_open_first(calls) == {"GoToObject(Fridge)": SkillCall("GoToObject", ("fridge-7",))}
    world.follow(SkillResult(SkillCall("OpenObject", ("fridge-7",)), True))
    follow_memory(world, kitchen)
    assert not world.to_open_first(world.admissible())
    assert "GoToObject(Apple)" in world.admissible()
    assert "Apple: in Fridge" in world.lines(), "until it is taken out"
    do(world, kitchen, "GoToObject(Apple)")
    do(world, kitchen, "PickupObject(Apple)")
    do(world, kitchen, "GoToObject(CounterTop)")
    do(world, kitchen, "PutObject(Apple, CounterTop)")
    assert "Apple: in Fridge" not in world.lines()


def test_nothing_is_opened_for_what_is_not_wanted_and_nothing_far_away_is_a_lid(kitchen) -> None:
    world = world_of(kitchen, "Mug", "Fridge")
    find_shut(world, kitchen, "Apple", "fridge-7")
    assert "Apple: in Fridge" in world.lines()
    assert not world.to_open_first(world.admissible()), "nobody asked for the apple"
    far = world_of(kitchen)
    find_shut(far, kitchen, "Mug", "drawer-1")
    assert "Mug: on CounterTop" in far.lines(), "the fridge is two metres away"


def test_lid_is_opened_first_where_the_robot_names_none(kitchen) -> None:
    world = world_of(kitchen, "Apple", "Mug")
    find_shut(world, kitchen, "Apple", "")
    assert set(world.to_open_first(world.admissible())) == {"GoToObject(Fridge)"}, "the robot has no id for it"


def test_door_that_the_robot_reports_open_is_open_until_something_says_otherwise(kitchen) -> None:
    world = world_of(kitchen)
    for text in ("GoToObject(Apple)", "PickupObject(Apple)", "GoToObject(Fridge)"):
        do(world, kitchen, text)
    opening = world.admissible()["OpenObject(Fridge)"]
    world.follow(SkillResult(opening, True))  # said, and not done
    follow_memory(world, kitchen)
    calls = world.admissible()
    assert "PutObject(Apple, Fridge)" in calls
    put = calls["PutObject(Apple, Fridge)"]
    world.follow(SkillResult(put, False, FailureReason.CLOSED))
    follow_memory(world, kitchen)
    assert "PutObject(Apple, Fridge)" not in world.admissible()
    assert "OpenObject(Fridge)" in world.admissible()


def test_door_that_was_closed_again_is_closed(kitchen) -> None:
    world = world_of(kitchen)
    for text in ("GoToObject(Fridge)", "OpenObject(Fridge)", "CloseObject(Fridge)"):
        do(world, kitchen, text)
    assert "OpenObject(Fridge)" in world.admissible()
    assert "CloseObject(Fridge)" not in world.admissible()


def test_what_took_a_thing_in_is_not_closed_any_more(kitchen) -> None:
    world = world_of(kitchen)
    for text in ("GoToObject(Apple)", "PickupObject(Apple)", "GoToObject(Fridge)", "OpenObject(Fridge)"):
        do(world, kitchen, text)
    put = world.admissible()["PutObject(Apple, Fridge)"]
    world.follow(SkillResult(put, False, FailureReason.CLOSED))  # another one opens it, and the call is made once more
    world.follow(kitchen.execute(put))
    follow_memory(world, kitchen)
    assert "CloseObject(Fridge)" in world.admissible()


def test_nobody_looks_for_the_whole_of_pieces_that_are_wanted_and_there(kitchen) -> None:
    kitchen.things["m-apple"].object_class = "AppleSliced"
    assert world_of(kitchen, "Apple", "AppleSliced").unknown_classes() == ()
    assert world_of(kitchen, "Apple").unknown_classes() == ("Apple",)


def test_many_of_a_kind_do_not_push_out_what_else_is_needed() -> None:
    drawers = [TinyThing(f"m-drawer{number:02}", "Drawer") for number in range(21)]
    home = TinyHome(*drawers, TinyThing("m-sink", "SinkBasin"), TinyThing("m-fridge", "Fridge"))
    world = world_of(home, "Drawer", "SinkBasin", "Fridge", most=10)
    assert {thing.object_class for thing in world.things.values()} == {"Drawer", "SinkBasin", "Fridge"}
    assert len(world.things) == 10
