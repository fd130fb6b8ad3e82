"""One call at a time: ranked by a model that scores, or written by one that is held to a grammar."""

import math
from collections.abc import Mapping

import pytest
from understood import Understood

from benchmarks.likelihood import Score
from benchmarks.ranking.choosing import RankedChoice, WrittenChoice, read_choice
from benchmarks.ranking.ranked_planner import RankedPlanner
from memory_node.catalogue.label_space import load_catalogue
from memory_node.domain.skill import FailureReason
from memory_node.domain.skill_library import GoalKind
from memory_node.llm.chat import Message, RejectedReplyError, Reply
from memory_node.planner.executor import InstructionExecutor, InstructionResult
from memory_node.planner.goal import Goal, Mention
from memory_node.planner.memory_mode import MapOnlyMemory
from memory_node.planner.planner import PlanningContext, PlanRun
from memory_node.planner.planner_config import LlmConfig

APPLE, FRIDGE = Mention("apple", ("Apple",)), Mention("fridge", ("Fridge",))
INTO_THE_FRIDGE = Goal(GoalKind.PLACE, APPLE, FRIDGE)
PLAN = [
    "GoToObject(Apple)",
    "PickupObject(Apple)",
    "GoToObject(Fridge)",
    "OpenObject(Fridge)",
    "PutObject(Apple, Fridge)",
    "Done()",
]


def best_of(log_likelihoods: Mapping[str, float], values: Mapping[str, float]) -> Score:
    text = max(values, key=lambda one: log_likelihoods[one] + math.log(values[one]))
    return Score(text, log_likelihoods[text], 5)


class Wanting:
    """A model that finds a call the likelier, the sooner it stands in its list; each is wanted once."""

    name = "wanting"

    def __init__(self, *wanted: str) -> None:
        self.wanted = list(wanted)
        self.gap = 29.0  # between the log-likelihoods of what is wanted and of all else
        self.shown: list[list[Message]] = []
        self.offered: list[tuple[str, ...]] = []

    def likeliest(self, messages, values: Mapping[str, float], deadline=None) -> Score:
        self.shown.append(list(messages))
        self.offered.append(tuple(values))
        best = next((one for one in self.wanted if one in values), "")
        if best:
            self.wanted.remove(best)
        return best_of({text: -1.0 if text == best else -1.0 - self.gap for text in values}, values)

    def read(self, messages, deadline=None) -> int:
        return 100

    def count_tokens(self, text: str) -> int:
        return len(text) // 4

    def reply(self, messages, deadline=None, form=None, on_line=None) -> Reply:
        raise AssertionError("nothing is written in this mode")


def ranked(chooser, goal: Goal = INTO_THE_FRIDGE, **config) -> RankedPlanner:
    return RankedPlanner(Understood(goal), load_catalogue(), LlmConfig(**config), chooser)


def run(model, home, goal: Goal = INTO_THE_FRIDGE, memory=None, **config) -> InstructionResult:
    planner = ranked(RankedChoice(model), goal, **config)
    return InstructionExecutor(memory or home, home, planner).execute("put the apple in the fridge")


def test_likeliest_admissible_calls_carry_the_instruction_out(kitchen) -> None:
    model = Wanting(*PLAN)
    result = run(model, kitchen)
    assert result.success
    assert kitchen.things["m-apple"].support_id == "m-fridge"
    assert [call.partition("(")[0] for call in kitchen.calls] == [text.partition("(")[0] for text in PLAN[:-1]]
    assert (result.outcome.cost.replies, result.outcome.valid_replies, result.outcome.replans) == (6, 6, 0)
    assert result.outcome.goals == ("place Apple to Fridge",)
    assert result.outcome.cost.usd == 0.0
    assert {step.step.context_id for step in result.steps} == {"context of put the apple in the fridge"}


def test_only_calls_that_can_be_made_are_offered_and_no_destruction_that_was_not_asked_for(kitchen) -> None:
    kitchen.things["m-table"].object_class = "Knife"
    model = Wanting("GoToObject(Apple)", "PickupObject(Apple)", "GoToObject(Knife)", "Done()")
    run(model, kitchen, max_replans=0)
    offered = {call.partition("(")[0] for calls in model.offered for call in calls}
    assert not offered & {"BreakObject", "ThrowObject", "SliceObject", "EmptyObject", "CleanObject"}
    assert {"GoToObject", "PickupObject"} <= offered
    assert not any("PickupObject(Knife)" in calls for calls in model.offered)


def test_failure_goes_back_with_reason_and_remedy_and_the_call_is_not_offered_at_once(kitchen) -> None:
    kitchen.failing = {"PickupObject": FailureReason.TOO_FAR}
    model = Wanting("GoToObject(Mug)", "PickupObject(Apple)", "GoToObject(Apple)", *PLAN[1:])
    result = run(model, kitchen)
    assert result.success
    assert "Failed: too_far." in model.shown[2][-1].text
    assert "GoToObject(object) first" in model.shown[2][-1].text
    assert "PickupObject(Apple)" not in model.offered[2]


def test_memorys_doubt_decides_between_two_that_the_model_likes_alike(kitchen) -> None:
    class Undecided(Wanting):
        def likeliest(self, messages, values, deadline=None):
            liked = ("GoToObject(Apple)", "Explore(Plate)")
            return best_of({text: -1.0 if text in liked else -30.0 for text in values}, values)

    plate = Goal(GoalKind.PLACE, APPLE, Mention("plate", ("Plate",)))
    run(Undecided(), kitchen, plate, max_steps=1)
    assert kitchen.calls == ["Explore(Plate)"], "memory is 90 % sure of the apple"


CALLS = ("GoToObject(Mug 2)", "Done()")


@pytest.mark.parametrize("text", ["", "GoToObject(Mug)", "GoToObject(Mug 2); Done()", "I cannot.", "\ud800"])
def test_what_is_no_choice_is_rejected_with_the_choices(text: str) -> None:
    with pytest.raises(RejectedReplyError, match=r"GoToObject\(Mug 2\), Done\(\)"):
        read_choice(text, CALLS)


class Writing(Wanting):
    """Writes what it wants, and keeps the grammars that it was held to."""

    def __init__(self, *wanted: str) -> None:
        super().__init__(*wanted)
        self.grammars: list[str] = []

    def reply(self, messages, deadline=None, form=None, on_line=None) -> Reply:
        self.grammars.append(form.grammar)
        return Reply(self.wanted.pop(0), 100, 5)


def write(model: Writing, home) -> InstructionResult:
    chooser = WrittenChoice(model, 3, str)
    return InstructionExecutor(home, home, ranked(chooser)).execute("put the apple in the fridge")


def test_end_that_memory_rules_out_is_not_offered(kitchen) -> None:
    model = Writing("GoToObject(Apple)", "Done()", *PLAN[1:])
    assert write(model, kitchen).success
    offered = ["Done()" in grammar for grammar in model.grammars]
    # Not before anything was done, nor right after memory has objected.
    assert offered == [False, True, False, True, True, True, True]


def test_second_attempt_knows_what_the_first_one_found_and_did(kitchen) -> None:
    model = Wanting("Explore(Apple)", "PickupObject(Apple)", "Explore(Fridge)")
    planner = ranked(RankedChoice(model), max_steps=3)

    class TwoAttempts:
        def run(self, instruction: str, situation: PlanningContext) -> PlanRun:
            first = yield from planner.run(instruction, situation)
            assert not first.success
            model.wanted = ["GoToObject(Fridge)", "OpenObject(Fridge)", "PutObject(Apple, Fridge)"]
            return (yield from planner.run(instruction, situation))

    result = InstructionExecutor(MapOnlyMemory(kitchen), kitchen, TwoAttempts()).execute("put the apple in the fridge")
    assert result.success, result.outcome.failures
    assert [call for call in kitchen.calls if call.startswith("Explore(Fridge")] == kitchen.calls[2:3]
    assert kitchen.things["m-apple"].support_id == "m-fridge"
