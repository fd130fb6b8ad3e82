"""ALFRED-L's instructions part by part."""

import pytest

from benchmarks.household_conditions import ConditionReader
from benchmarks.household_goals import ConditionJudge
from benchmarks.household_subtasks import Subtasks
from memory_node.catalogue.label_space import load_catalogue
from memory_node.planner.executor import InstructionResult
from memory_node.planner.planner import PlanOutcome
from memory_node.sim.home_file import load_home

KINDS = load_catalogue()
TWICE = "put the apple in the fridge, then wash it and put it on the table"


@pytest.mark.parametrize(
    ("instruction", "parts"),
    [
        (TWICE, ("put the apple in the fridge", "wash it", "put it on the table")),
        ("put the mug away", ("put the mug away",)),
        ("slice the apple, cook a potato and put in fridge", ("slice the apple", "cook a potato and put in fridge")),
        ("the thing that everybody wants", ("the thing that everybody wants",)),
    ],
)
def test_instruction_is_split_at_its_commands(instruction: str, parts: tuple[str, ...]) -> None:
    assert tuple(part.words for part in Subtasks(KINDS).of(instruction)) == parts


class Doing:
    """An executor in whose hands a condition comes true at each part that has a number in `good`."""

    def __init__(self, judge: ConditionJudge, good: dict[str, int]) -> None:
        self.told: list[str] = []
        self._judge = judge
        self._good = good

    def execute(self, instruction: str) -> InstructionResult:
        self.told.append(instruction)
        if instruction in self._good:
            self._judge.met[self._good[instruction]] = True
        done = instruction in self._good
        outcome = PlanOutcome((instruction,), (done,), planner="llm", tokens_in=10, replies=3, valid_replies=3)
        return InstructionResult(instruction, outcome, (), (), planning_s=0.5)


def test_each_part_is_scored_by_the_conditions_that_its_words_are_about() -> None:
    world = load_home("apartment")
    goal = "INSIDE(apple, fridge): 1, STATE(apple, clean): 1, ON(apple, table): 1"
    judge = ConditionJudge(ConditionReader(KINDS).read(goal, world))
    # What was to be washed in the second part is clean only at the end of the third.
    doing = Doing(judge, {"put the apple in the fridge": 0, "put it on the table": 2})
    result, score = Subtasks(KINDS).give(doing, TWICE, judge)
    assert doing.told == ["put the apple in the fridge", "wash it", "put it on the table"]
    assert (result.instruction, result.outcome.achieved) == (TWICE, (True, False, True))
    assert (result.outcome.replies, result.outcome.tokens_in, result.planning_s) == (9, 30, 1.5)
    assert (score.judged, score.done) == (3, 2)
