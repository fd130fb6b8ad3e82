"""What people told is answered, asked about or told of when the robot is spoken to."""

import pytest
from cooking_robot import CookingRobot

from memory_node.domain.ports import TextEmbedder
from memory_node.planner.reading.conversation import Conversation


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
    assert result.outcome.question == 'I was told: "Nobody but Paul may use the laptop." What shall I do instead?'
    assert not result.steps


@pytest.mark.parametrize(
    ("told", "instruction"),
    [
        ("The shelf was freshly painted, nothing goes on it.", "Put the remote control on the shelf."),
        ("Leave the newspaper where it is until Dad has read it.", "Put the newspaper on the sofa."),
        ("Only Eva handles the vase.", "Put the vase on the sofa."),
        ("The towel is reserved for visitors of ours.", "Bring me the towel."),
        ("Metal doesn't go in the microwave.", "Put the fork in the microwave."),
        ("While we have visitors nobody goes into the bedroom.", "Bring me the pillow from the bedroom."),
        (
            "Nobody uses the microwave except on Sundays.",
            "Heat the bread in the microwave.",
        ),  # the clock is on a Thursday
    ],
)
def test_rule_in_other_words_is_asked_about(
    robot: CookingRobot, word_embedder: TextEmbedder, told: str, instruction: str
) -> None:
    robot.memory.tell_fact(told)
    result = robot.carry_out(instruction, word_embedder)
    assert told.split(",")[0].rstrip(".") in result.outcome.question
    assert not result.steps


@pytest.mark.parametrize("told", ["The newspaper doesn't go with the tea.", "Only Ben knows where the newspaper was."])
def test_what_is_only_said_of_a_thing_is_no_rule(robot: CookingRobot, word_embedder: TextEmbedder, told: str) -> None:
    robot.memory.tell_fact(told)
    assert robot.carry_out("Put the newspaper on the sofa.", word_embedder).outcome.success


def test_what_was_told_of_a_thing_by_another_name_is_told(robot: CookingRobot, word_embedder: TextEmbedder) -> None:
    robot.memory.tell_fact("Papa gets grumpy when the TV is on during dinner.")
    result = robot.carry_out("Turn on the television.", word_embedder)
    assert any("Papa gets grumpy" in note for note in result.notes)


def test_person_may_insist_on_what_only_sounds_forbidden(robot: CookingRobot, word_embedder: TextEmbedder) -> None:
    insisted = robot.carry_out("Put the laptop on the desk anyway.", word_embedder)
    assert insisted.outcome.success
    assert "was told, and done all the same: Nobody but Paul may use the laptop" in insisted.notes
    conversation = Conversation()
    assert robot.carry_out("Put the laptop on the sofa.", word_embedder, conversation).outcome.question
    assert robot.carry_out("Do it anyway.", word_embedder, conversation).outcome.success
    assert not robot.carry_out("Do it anyway.", word_embedder, conversation).steps
    robot.memory.tell_fact("The laptop must never be moved.")
    assert robot.carry_out("Put the laptop on the sofa anyway.", word_embedder).outcome.question


def test_who_insists_on_what_was_forbidden_is_told_how_to_lift_it(
    robot: CookingRobot, word_embedder: TextEmbedder
) -> None:
    robot.memory.tell_fact("The newspaper must never be moved.")
    conversation = Conversation()
    assert robot.carry_out("Put the newspaper on the sofa.", word_embedder, conversation).outcome.question
    insisted = robot.carry_out("Do it anyway.", word_embedder, conversation)
    assert not insisted.steps
    lifting = insisted.outcome.question.rpartition("say: ")[2]
    assert lifting == "Forget that the newspaper must never be moved."
    assert robot.carry_out(lifting, word_embedder, conversation).outcome.answer
    assert robot.carry_out("Put the newspaper on the sofa.", word_embedder, conversation).outcome.success


def test_who_insists_means_the_thing_that_was_named(robot: CookingRobot, word_embedder: TextEmbedder) -> None:
    robot.memory.tell_fact("Only Eva handles the drawer.")
    opened = set()
    for name in ("Drawer 1", "Drawer 2"):
        conversation = Conversation()
        assert robot.carry_out(f"Open {name}.", word_embedder, conversation).outcome.question
        insisted = robot.carry_out("Do it anyway.", word_embedder, conversation)
        opened |= {one.step.call.arguments for one in insisted.steps if one.step.call.skill == "OpenObject"}
    assert len(opened) == 2


def test_drawer_that_memory_does_not_know_is_asked_for(robot: CookingRobot, word_embedder: TextEmbedder) -> None:
    robot.memory.tell_fact("We keep the mugs in the drawer of the night stand.")
    result = robot.carry_out("Put the mug away.", word_embedder)
    assert "I know of no drawer of the night stand" in result.outcome.question
    assert not result.steps


def test_tool_that_is_out_of_order_is_told_of(robot: CookingRobot, word_embedder: TextEmbedder) -> None:
    robot.memory.tell_fact("The knife is too blunt to cut anything.")
    assert "The knife is too blunt to cut anything." in robot.carry_out("Slice the bread.", word_embedder).notes


def test_what_is_told_with_an_instruction_is_not_told_of_as_left_at_that(
    robot: CookingRobot, word_embedder: TextEmbedder
) -> None:
    result = robot.carry_out("Remember that Kim must not have tomatoes.", word_embedder)
    assert result.outcome.answer == "I shall remember: Kim must not have tomatoes"
    assert not result.notes


def test_condition_is_looked_up_before_its_goal_is_pursued(robot: CookingRobot, word_embedder: TextEmbedder) -> None:
    def done(instruction: str) -> tuple[set[str], str]:
        result = robot.carry_out(instruction, word_embedder)
        return {one.step.call.skill for one in result.steps}, result.outcome.question or " ".join(result.notes)

    clean = "the fork is not dirty, so I leave that."
    assert clean in done("If the fork is dirty, wash it.")[1]  # beside a dirty plate
    assert done("If the fork is dirty, wash it.") == (set(), clean)  # it was looked at just now
    assert "CleanObject" in done("If the plate is dirty, wash it.")[0]
    skills, told = done("If the floor lamp is off, turn it on, otherwise open the fridge.")
    assert "SwitchOn" in skills
    assert "OpenObject" not in skills, "'otherwise' is of how it was"
    assert told == "the floor lamp is off, so I leave that."


def test_condition_of_which_nobody_knows_is_asked_about(robot: CookingRobot, word_embedder: TextEmbedder) -> None:
    conversation = Conversation()
    asked = robot.carry_out("If the fork is hot, put it in the sink.", word_embedder, conversation)
    assert asked.outcome.question == "I cannot tell whether the fork is hot. Shall I do it?"
    assert not {"PickupObject", "PutObject"} & {one.step.call.skill for one in asked.steps}
    done = robot.carry_out("yes", word_embedder, conversation)
    assert done.outcome.goals == ("place Fork to SinkBasin",)


def test_places_of_all_things_of_a_kind_are_told(robot: CookingRobot, word_embedder: TextEmbedder) -> None:
    robot.carry_out("Go to the bedroom.", word_embedder)
    robot.carry_out("Find the book on the shelf.", word_embedder)
    robot.carry_out("Find the book on the desk.", word_embedder)
    told = robot.carry_out("Where are the books?", word_embedder).outcome.answer
    assert told.startswith("Of the books that I know, one is "), told
    assert "desk" in told
    assert "shelf" in told


@pytest.mark.parametrize(
    ("said", "asked", "answer"),
    [
        ("My aunt Vera is allergic to tomatoes.", "Who is allergic to tomatoes?", "Vera"),
        ("The newspaper is my aunt Vera's.", "Whose is the newspaper?", "Vera"),
    ],
)
def test_fact_that_is_said_as_an_instruction_is_kept(
    robot: CookingRobot, word_embedder: TextEmbedder, said: str, asked: str, answer: str
) -> None:
    told = robot.carry_out(said, word_embedder)
    assert told.outcome.answer.startswith("I shall remember")
    assert answer in robot.carry_out(asked, word_embedder).outcome.answer


def test_ban_that_is_said_as_an_instruction_binds(robot: CookingRobot, word_embedder: TextEmbedder) -> None:
    assert "remember" in robot.carry_out("Never put the fork in the drawer.", word_embedder).outcome.answer
    result = robot.carry_out("Put the fork in the drawer.", word_embedder)
    assert "Never put the fork in the drawer" in result.outcome.question
    assert not result.steps


@pytest.mark.parametrize("said", ["I'm cold.", "The fork is dirty.", "Never mind the fork."])
def test_what_is_no_fact_that_binds_is_asked_about(robot: CookingRobot, word_embedder: TextEmbedder, said: str) -> None:
    known = len(robot.memory.knowledge.facts())
    assert not robot.carry_out(said, word_embedder).steps
    assert len(robot.memory.knowledge.facts()) == known


def test_what_is_not_to_be_done_now_is_neither_done_nor_kept(robot: CookingRobot, word_embedder: TextEmbedder) -> None:
    known = len(robot.memory.knowledge.facts())
    result = robot.carry_out("Don't bring me the fork.", word_embedder)
    assert result.outcome.answer
    assert not result.steps
    assert len(robot.memory.knowledge.facts()) == known


def test_ban_ends_where_it_is_said_to_be_allowed_again(robot: CookingRobot, word_embedder: TextEmbedder) -> None:
    robot.carry_out("Never put the fork in the drawer.", word_embedder)
    robot.carry_out("The fork may be put in the drawer again.", word_embedder)
    assert not robot.carry_out("Put the fork in the drawer.", word_embedder).outcome.question


def test_place_that_answers_the_robots_question_is_kept(robot: CookingRobot, word_embedder: TextEmbedder) -> None:
    talk = Conversation()
    assert robot.carry_out("Put the fork where it belongs.", word_embedder, talk).outcome.question
    robot.carry_out("It belongs in the drawer.", word_embedder, talk)
    assert not robot.carry_out("Put the fork where it belongs.", word_embedder).outcome.question
