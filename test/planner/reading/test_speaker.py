"""Who speaks is told from the other persons who are there."""

import pytest
from told_home import home, thing

from memory_node.domain.skill_library import GoalKind
from memory_node.planner.goal import Goal, Mention
from memory_node.planner.reading.named_things import with_speaker

ME = Mention("me", ("User",))
MUG = Mention("the mug", ("Mug",))


@pytest.mark.parametrize(
    ("there", "meant"), [((), "user"), ((thing("guest", "User"),), ""), ((thing("ana", "User", called="Ana"),), "user")]
)
def test_me_is_the_only_one_without_a_name(there, meant: str) -> None:
    people = [one for one in home(*there).objects if one.class_name == "User"]
    brought, come, put = with_speaker(
        [
            Goal(GoalKind.PLACE, MUG, ME),
            Goal(GoalKind.GO, Mention("you", ("User",))),
            Goal(GoalKind.PLACE, MUG, Mention("the desk", ("Desk",))),
        ],
        people,
    )
    assert (brought.destination.thing_id, come.target.thing_id, put.destination.thing_id) == (meant, meant, "")
    assert brought.target == MUG


def test_who_is_alone_needs_no_id_and_who_is_named_keeps_it() -> None:
    alone = [one for one in home().objects if one.id == "user"]
    assert with_speaker([Goal(GoalKind.PLACE, MUG, ME)], alone) == [Goal(GoalKind.PLACE, MUG, ME)]
    kim = Goal(GoalKind.PLACE, MUG, Mention("me", ("User",), thing_id="kim"))
    assert with_speaker([kim], [one for one in home().objects if one.class_name == "User"]) == [kim]
