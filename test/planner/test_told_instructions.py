"""What people told is answered, asked about or told of when the robot is spoken to."""

import pytest
from cooking_robot import CookingRobot

from memory_node.domain.ports import TextEmbedder


@pytest.fixture
def robot(word_embedder: TextEmbedder) -> CookingRobot:
    robot = CookingRobot("apartment", word_embedder)
    for told in (
        "Grandma likes her tea without sugar.",
        "Don't wake Ben before nine.",
        "We keep the spare batteries in the drawer under the TV.",
        "Nobody but Paul may use the laptop.",
    ):
        robot.memory.tell_fact(told)
    return robot


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("How does Grandma like her tea?", "without sugar"),
        ("When may I wake Ben?", "before nine"),
        ("Where do we keep the spare batteries?", "under the TV"),
        ("Who may use the laptop?", "Nobody but Paul"),
    ],
)
def test_question_that_no_form_reads_is_answered_from_all_that_is_known(
    robot: CookingRobot, word_embedder: TextEmbedder, question: str, answer: str
) -> None:
    result = robot.carry_out(question, word_embedder)
    assert answer in result.outcome.answer
    assert not result.steps
    assert not result.outcome.question


def test_what_nobody_knows_is_not_answered(robot: CookingRobot, word_embedder: TextEmbedder) -> None:
    result = robot.carry_out("How does Zoe like her coffee?", word_embedder)
    assert result.outcome.question
    assert not result.outcome.answer


def test_ban_that_no_form_reads_is_asked_about(robot: CookingRobot, word_embedder: TextEmbedder) -> None:
    result = robot.carry_out("Put the laptop on the desk.", word_embedder)
    assert result.outcome.question == "Nobody but Paul may use the laptop. What shall I do instead?"
    assert not result.steps


def test_what_is_told_with_an_instruction_is_not_told_of_as_left_at_that(
    robot: CookingRobot, word_embedder: TextEmbedder
) -> None:
    result = robot.carry_out("Remember that Kim must not have tomatoes.", word_embedder)
    assert result.outcome.answer == "I shall remember: Kim must not have tomatoes"
    assert not result.notes
