"""A model's calls take only what the goals name, and of what is wanted in pieces no whole one."""

from memory_node.catalogue.label_space import load_catalogue
from memory_node.domain.goal_labels import GoalKind
from memory_node.domain.skill import SkillCall
from memory_node.planner.goal import Goal, Mention
from memory_node.planner.permitted_skills import PlanAudit

APPLE, FRIDGE = Mention("apple", ("Apple",)), Mention("fridge", ("Fridge",))


def objects_to(goals: tuple[Goal, ...], skill: str, object_class: str) -> bool:
    return bool(PlanAudit(goals, load_catalogue()).objection(SkillCall(skill, (object_class,)), object_class))


def test_another_thing_is_not_taken() -> None:
    goals = (Goal(GoalKind.PLACE, APPLE, FRIDGE),)
    assert objects_to(goals, "PickupObject", "Potato")
    assert not objects_to(goals, "PickupObject", "Apple")
    assert not objects_to(goals, "GoToObject", "Potato")


def test_whole_is_carried_to_where_it_is_cut_and_not_heated_where_pieces_are_wanted() -> None:
    goals = (Goal(GoalKind.HEAT, APPLE, FRIDGE, sliced=True),)
    assert objects_to(goals, "HeatObject", "Apple")
    assert not objects_to(goals, "PickupObject", "Apple")
    assert not objects_to(goals, "HeatObject", "AppleSliced")
    assert not objects_to(goals, "SliceObject", "Apple")
    both = (*goals, Goal(GoalKind.PLACE, APPLE, FRIDGE))
    assert not objects_to(both, "HeatObject", "Apple"), "a whole one is asked for as well"
