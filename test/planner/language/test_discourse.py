"""What has been spoken of decides what later words refer to."""

from memory_node.domain.goal_labels import GoalKind as K
from memory_node.domain.states import ObjectState
from memory_node.planner.goal import Goal, Mention
from memory_node.planner.language.discourse import Discourse


def mention(name: str) -> Mention:
    return Mention(name, (name,))


def told(*goals: Goal, into_movable: bool = False, gained: tuple[ObjectState, ...] = ()) -> Discourse:
    discourse = Discourse()
    for goal in goals:
        discourse.add(goal, gained, into_movable)
        discourse.end_command([goal])
    return discourse


def test_thing_of_the_last_goal_is_it() -> None:
    assert told(Goal(K.CLEAN, mention("Mug")), Goal(K.CLEAN, mention("Fork"))).focus == "Fork"


def test_container_with_its_load_is_it() -> None:
    assert told(Goal(K.PLACE, mention("Apple"), mention("Plate")), into_movable=True).focus == "Plate"
    assert told(Goal(K.STACK, mention("Fork"), mention("Shelf"), mention("Cup"))).focus == "Cup"


def test_last_destination_is_there() -> None:
    discourse = told(Goal(K.PLACE, mention("Apple"), mention("Shelf")), Goal(K.CLEAN, mention("Fork")))
    assert str(discourse.place) == "Shelf"


def test_both_are_the_things_of_the_last_two_commands() -> None:
    discourse = told(Goal(K.CLEAN, mention("Apple")), Goal(K.CLEAN, mention("Fork")), Goal(K.CLEAN, mention("Cup")))
    assert discourse.together() == ("Fork", "Cup")


def test_them_are_the_things_of_the_last_command() -> None:
    discourse = Discourse()
    goals = [Goal(K.CLEAN, mention("Apple")), Goal(K.CLEAN, mention("Fork"))]
    for goal in goals:
        discourse.add(goal, (), False)
    discourse.end_command(goals)
    assert discourse.together() == ("Apple", "Fork")
    assert Discourse().together() == ()


def test_states_counts_and_all_are_remembered() -> None:
    discourse = told(Goal(K.SLICE, mention("Bread")), gained=(ObjectState.SLICED,))
    assert discourse.states_of("Bread") == {ObjectState.SLICED}
    assert discourse.last_sliced() == "Bread"
    assert told(Goal(K.PLACE, mention("Fork"), mention("Shelf"), count=3)).count_of("Fork") == 3
    assert told(Goal(K.PLACE, mention("Fork"), mention("Shelf"), every=True)).is_about_all("Fork")


def test_remark_puts_a_thing_first() -> None:
    discourse = told(Goal(K.CLEAN, mention("Mug")))
    discourse.remark(["Book"])
    assert (discourse.focus, discourse.classes) == ("Book", ["Book", "Mug"])


def test_copy_goes_on_alone_and_begins_a_new_instruction() -> None:
    discourse = told(Goal(K.CLEAN, mention("Mug")))
    copy = discourse.copy()
    copy.add(Goal(K.CLEAN, mention("Fork")), (), False)
    assert (discourse.focus, copy.focus) == ("Mug", "Fork")
    assert discourse.said
    assert not copy.said


def test_several_things_that_were_only_spoken_of_are_them() -> None:
    discourse = Discourse()
    discourse.remark(["Cup", "Fork"])
    assert discourse.together() == ("Cup", "Fork")


def test_what_only_a_description_stands_for_stays_a_guess() -> None:
    guessed = Mention("that thing", ("Box",), guessed=True)
    assert told(Goal(K.FETCH, guessed)).guessed == {"Box"}
    assert told(Goal(K.FETCH, guessed), Goal(K.FETCH, mention("Box"))).guessed == set()
