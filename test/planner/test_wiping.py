"""A skill from its declaration to the act: a surface is wiped with what wipes in the hand, and goes by that."""

import pytest
from seeing_robot import SeeingRobot, executor

from memory_node.catalogue.label_space import load_catalogue
from memory_node.domain.ports import TextEmbedder
from memory_node.domain.skill import SkillCall
from memory_node.domain.skill_library import ALL_SKILLS, GOALS, SKILLS, GoalKind
from memory_node.domain.states import ObjectState
from memory_node.planner.goal import Goal, Mention
from memory_node.planner.permitted_skills import licensed_skills
from memory_node.search.request_words import states_in
from memory_node.world.skills import possible
from memory_node.world.state import Thing, WorldState

TABLE = Mention("table", ("DiningTable",))

KINDS = load_catalogue()


@pytest.fixture
def robot(word_embedder: TextEmbedder) -> SeeingRobot:
    return SeeingRobot("apartment", word_embedder)


def test_table_is_wiped_with_something_that_wipes_and_asked_about(robot, word_embedder) -> None:
    plan = executor(robot, word_embedder)
    result = plan.execute("wipe the dining table")
    assert result.success, result.outcome.failures
    (table,) = robot.world.of_class("DiningTable")
    assert ObjectState.WIPED in table.states
    assert robot.world.held.class_name in KINDS.treatment("wipe").tools
    assert plan.execute("is the dining table wiped?").outcome.answer == "Yes, the dining table is wiped."
    assert plan.execute("have you wiped the dining table?").outcome.answer == "Yes, the dining table is wiped."


def test_mug_is_washed_where_a_table_is_wiped(robot, word_embedder) -> None:
    result = executor(robot, word_embedder).execute("wipe the mug")
    assert {goal.kind for goal in result.outcome.pursued} == {GoalKind.CLEAN}


def test_robot_without_the_skill_says_so_before_it_moves(robot, word_embedder) -> None:
    result = executor(robot, word_embedder, skills=ALL_SKILLS - {"WipeObject"}).execute("wipe the dining table")
    assert not result.success
    assert "needs WipeObject" in " ".join(result.outcome.failures)
    assert result.steps == ()


def test_wiped_things_are_found_by_that_word() -> None:
    assert states_in("the wiped table") == (ObjectState.WIPED,)


def test_model_is_offered_the_call_with_the_tool_in_the_hand() -> None:
    assert not GOALS[GoalKind.WIPE].learnt
    skills = licensed_skills([Goal(GoalKind.WIPE, TABLE)], KINDS)
    state = WorldState.of_things(KINDS, [Thing("Table 1", "DiningTable"), Thing("Sponge 1", "DishSponge")])
    near = state.standing_at("Table 1")
    call = SkillCall("WipeObject", ("Table 1",))
    assert call not in set(possible(near, skills))
    assert call in set(possible(near.holding("Sponge 1"), skills))
    assert call not in set(possible(near.holding("Sponge 1"), [SKILLS["SliceObject"]]))
