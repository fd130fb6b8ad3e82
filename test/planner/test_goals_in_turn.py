"""The goals of one instruction, each in a dialogue of its own, and what goes on from one to the next."""

from dataclasses import replace

import pytest
from test_stepwise import Wanting
from tiny_home import TinyHome, TinyThing
from understood import Understood

from memory_node.catalogue.label_space import load_catalogue
from memory_node.domain.goal_labels import GoalKind
from memory_node.llm.openai_model import OpenAiModel
from memory_node.planner.executor import InstructionExecutor, InstructionResult
from memory_node.planner.goal import Goal, Mention
from memory_node.planner.goals_in_turn import Part, parts_of
from memory_node.planner.language.conversation import Conversation
from memory_node.planner.llm_planner import LlmPlanner
from memory_node.planner.planner_config import LlmConfig

APPLE, MUG = Mention("apple", ("Apple",)), Mention("mug", ("Mug",))
FRIDGE, TABLE = Mention("fridge", ("Fridge",)), Mention("table", ("CounterTop",))
INSTRUCTION = "put the apple in the fridge, then put it on the table"
IN, OUT = (
    Goal(GoalKind.PLACE, APPLE, FRIDGE, text="put the apple in the fridge"),
    Goal(GoalKind.PLACE, replace(APPLE, referring=True), TABLE, text="put it on the table"),
)
PUT_IN = [
    "GoToObject(Apple)",
    "PickupObject(Apple)",
    "GoToObject(Fridge)",
    "OpenObject(Fridge)",
    "PutObject(Apple, Fridge)",
    "Done()",
]
PUT_OUT = ["PickupObject(Apple)", "GoToObject(CounterTop)"]  # the robot stands at the fridge
PUT_OUT += ["PutObject(Apple, CounterTop)", "Done()"]


def run(model, home, *goals: Goal, conversation: Conversation | None = None, **config) -> InstructionResult:
    settings = LlmConfig(mode="rank", brief=True, **config)
    planner = LlmPlanner(model, settings, load_catalogue(), Understood(*goals), False)
    return InstructionExecutor(home, home, planner, conversation=conversation).execute(INSTRUCTION)


def opening(messages) -> str:
    """Return what the user's first message of a dialogue says."""
    return next(message.text for message in messages if message.role == "user")


def test_each_goal_is_a_dialogue_of_its_own_that_is_told_what_was_done_before(kitchen) -> None:
    model = Wanting(*PUT_IN, *PUT_OUT)
    result = run(model, kitchen, IN, OUT)
    assert result.success
    first, second = model.shown[0], model.shown[len(PUT_IN)]
    assert len(second) == len(first) == 2
    assert "Instruction: put the apple in the fridge\nGoals: place Apple to Fridge" in opening(first)
    before = "Done before: put the apple in the fridge\nInstruction: put it on the table\n"
    assert before + "Goals: place Apple to CounterTop" in opening(second)
    assert "Done before" not in opening(first)


def test_goal_that_a_later_one_undoes_was_achieved_in_its_time(kitchen) -> None:
    result = run(Wanting(*PUT_IN, *PUT_OUT), kitchen, IN, OUT)
    assert kitchen.things["m-apple"].support_id == "m-table"
    assert result.outcome.achieved == (True, True)
    assert [step.step.goal_index for step in result.steps] == [0] * 5 + [1] * 3


def test_goal_that_fails_does_not_keep_the_next_one_from_being_tried(kitchen) -> None:
    nowhere = Goal(GoalKind.PLACE, Mention("book", ("Book",)), FRIDGE, text="put the book in the fridge")
    result = run(Wanting("Explore(Book)", *PUT_IN), kitchen, nowhere, IN, max_replans=0)
    assert result.outcome.achieved == (False, True)
    assert "place Book to Fridge" in result.outcome.failures[0]


def test_what_the_hand_holds_goes_on_to_the_next_goal(kitchen) -> None:
    fetch = Goal(GoalKind.FETCH, APPLE, text="take the apple")
    model = Wanting("GoToObject(Apple)", "PickupObject(Apple)", "Done()", *PUT_IN[2:])
    result = run(model, kitchen, fetch, IN)
    assert result.success
    assert "Hand: Apple" in opening(model.shown[3])
    assert "PickupObject(Apple)" not in [call.partition("@")[0] for call in kitchen.calls[2:]]


def test_places_to_put_down_are_named_where_the_hand_holds_what_no_goal_is_about(kitchen) -> None:
    kitchen.things["m-mug1"].support_id = ""
    kitchen.held = "m-mug1"
    model = Wanting("GoToObject(CounterTop)", "PutObject(Mug, CounterTop)", *PUT_IN)
    kitchen.things["m-apple"].support_id = "m-sink"
    result = run(model, kitchen, IN)
    assert result.success
    assert kitchen.things["m-mug1"].support_id == "m-table"


@pytest.fixture
def two_apples() -> TinyHome:
    return TinyHome(
        TinyThing("a", "Apple", "m-table"),
        TinyThing("b", "Apple", "m-table"),
        TinyThing("m-table", "CounterTop"),
        TinyThing("m-fridge", "Fridge"),
    )


def test_thing_that_was_handled_comes_before_others_of_its_class(two_apples) -> None:
    second = [text.replace("Apple", "Apple 2") for text in PUT_IN]
    result = run(Wanting(*second, *PUT_OUT), two_apples, IN, OUT)
    assert result.success
    assert {two_apples.things[name].support_id for name in "ab"} == {"m-table"}, "it was taken out again"


BACK = Goal(
    GoalKind.PLACE, replace(APPLE, referring=True), Mention("where it was", original_place=True), text="put it back"
)


def test_where_a_thing_was_is_the_place_that_this_instruction_took_it_from(kitchen) -> None:
    model = Wanting(*PUT_IN, *PUT_OUT)
    result = run(model, kitchen, IN, BACK)
    assert result.success
    assert "Goals: place Apple to CounterTop" in opening(model.shown[len(PUT_IN)])
    assert kitchen.things["m-apple"].support_id == "m-table"


def test_where_a_thing_was_is_remembered_for_the_next_instruction(kitchen) -> None:
    conversation = Conversation()
    assert run(Wanting(*PUT_IN), kitchen, IN, conversation=conversation).success
    assert run(Wanting(*PUT_OUT), kitchen, BACK, conversation=conversation).success
    assert kitchen.things["m-apple"].support_id == "m-table"


def test_another_place_of_the_kind_is_not_where_a_thing_was(kitchen) -> None:
    kitchen.things["m-other"] = TinyThing("m-other", "CounterTop")
    elsewhere = [text.replace("CounterTop", "CounterTop 2") for text in PUT_OUT]
    result = run(Wanting(*PUT_IN, *elsewhere), kitchen, IN, BACK, max_replans=0)
    assert kitchen.things["m-apple"].support_id == "m-other"
    assert result.outcome.achieved == (True, False)


def test_another_is_none_of_those_that_were_handled(two_apples) -> None:
    another = replace(IN, target=replace(APPLE, another=True))
    likes_any = Wanting("GoToObject(Apple 2)", "PickupObject(Apple 2)")
    likes_any.gap = 1.0
    run(likes_any, two_apples, another, conversation=Conversation(handled={"Apple": {"a"}}), max_steps=2)
    assert two_apples.held == "b"


def test_whole_plans_are_for_all_goals_at_once(kitchen, endpoint) -> None:
    plan = 'GoToObject("Apple")\nPickupObject("Apple")\nGoToObject("Fridge")\nOpenObject("Fridge")\n'
    server = endpoint(plan + 'PutObject("Apple", "Fridge")')
    settings = LlmConfig(base_url=server.url, model="m", retries=0, timeout_s=5.0, max_replans=0)
    planner = LlmPlanner(OpenAiModel(settings), settings, load_catalogue(), Understood(IN, IN), False)
    result = InstructionExecutor(kitchen, kitchen, planner).execute(INSTRUCTION)
    assert result.success
    assert len(server.requests) == 1
    assert INSTRUCTION in server.requests[0]["messages"][-1]["content"]


def test_words_of_a_goal_are_the_whole_instruction_where_no_part_of_it_asks_for_it() -> None:
    unsaid = replace(OUT, text="")
    assert parts_of("do it", [IN, unsaid], "before") == [
        Part("put the apple in the fridge", (IN,), 0, "before"),
        Part("do it", (unsaid,), 1, "put the apple in the fridge"),
    ]
    assert parts_of("do it", [IN], "before") == [Part("do it", (IN,), 0, "before")]
