"""What the household executor learns from: the offline planner's calls under the prompts of the model's planner."""

import random
from collections.abc import Sequence
from pathlib import Path

import pytest
from tiny_home import TinyHome, TinyThing

from benchmarks.household_split import is_in
from memory_node.catalogue.label_space import load_catalogue
from memory_node.domain.errors import InvalidValueError
from memory_node.domain.goal_labels import GoalKind
from memory_node.domain.skill import FailureReason
from memory_node.llm.chat import Message
from memory_node.planner.executor import InstructionExecutor, InstructionResult
from memory_node.planner.goal import Goal, Mention
from memory_node.planner.language.understanding import Understanding
from memory_node.planner.offline_planner import OfflinePlanner
from memory_node.planner.planner import PlanningContext
from memory_node.planner.planner_config import LlmConfig
from training.executor.run_files import TaughtDialogue, append_dialogues, dialogues_of, read_dialogues
from training.executor.taught_examples import example_of
from training.executor.teacher import Lesson, TaughtStep, TeachingPlanner

COOL = Goal(GoalKind.COOL, Mention("apple", ("Apple",)), Mention("counter", ("CounterTop",)))
CALLS = [
    "Explore(Apple)",
    "Explore(Fridge)",
    "GoToObject(Apple)",
    "PickupObject(Apple)",
    "CoolObject(Apple, Fridge)",
    "Explore(CounterTop)",
    "PutObject(Apple, CounterTop)",
    "Done()",
]


class ReadAlready(OfflinePlanner):
    """The offline planner with goals that are read already."""

    def read(self, instruction: str, situation: PlanningContext) -> Understanding:
        return Understanding((COOL,))

    def objection(self, instruction: str, goals: Sequence[Goal], situation: PlanningContext) -> str:
        return ""


def kitchen(**failing: FailureReason) -> TinyHome:
    things = (
        TinyThing("m-counter", "CounterTop", seen=False),
        TinyThing("m-fridge", "Fridge", seen=False),
        TinyThing("m-apple", "Apple", seen=False),
    )
    return TinyHome(*things, failing=failing)


def taught(home: TinyHome, stray_share: float = 0.0) -> tuple[Lesson, InstructionResult]:
    kinds = load_catalogue()
    offline = ReadAlready(None, kinds, 3)  # type: ignore[arg-type]  # it reads nothing
    config = LlmConfig(mode="rank", brief=True)
    planner = TeachingPlanner(offline, kinds, config, random.Random(0), stray_share)
    result = InstructionExecutor(home, home, planner).execute("cool the apple")
    return planner.lesson, result


def test_lesson_holds_the_offline_planners_calls_under_the_models_names() -> None:
    lesson, result = taught(kitchen())
    assert result.success
    assert lesson.complete
    assert [step.call for step in lesson.steps] == CALLS


def test_prompts_of_a_lesson_grow_as_those_of_the_model_do() -> None:
    lesson, _ = taught(kitchen())
    (dialogue,) = dialogues_of("task", lesson)
    assert [dialogue.messages[index].text for index in dialogue.learnt] == CALLS
    told = dialogue.messages[1].text
    assert told.startswith("MEMORY OF cool the apple\n\nNothing is known.\nNot seen yet: Apple, CounterTop, Fridge\n")
    assert told.endswith("Hand: empty\nInstruction: cool the apple\nGoals: cool Apple to CounterTop")
    assert dialogue.messages[9].text == "Apple: in the hand\nHand: Apple\nGoals: cool Apple to CounterTop"


def test_calls_at_random_are_done_and_not_learnt() -> None:
    home = kitchen()
    home.things["m-fridge"].seen = True
    lesson, _ = taught(home, stray_share=1.0)
    strays = [step for step in lesson.steps if not step.learnt]
    assert strays
    assert [step.call for step in strays] == ["GoToObject(Fridge)"]
    (dialogue,) = dialogues_of("task", lesson)
    assert len(dialogue.learnt) == len(lesson.steps) - len(strays)


def test_lesson_of_a_teacher_who_gives_up_is_not_complete() -> None:
    home = kitchen()
    del home.things["m-apple"]
    lesson, result = taught(home)
    assert not result.success
    assert not lesson.complete


def test_prompts_that_are_made_anew_are_dialogues_of_their_own() -> None:
    first, second = (Message("user", "one"),), (Message("user", "two"),)
    lesson = Lesson([TaughtStep(first, "GoToObject(Mug)"), TaughtStep(second, "Done()", learnt=False)])
    (dialogue,) = dialogues_of("task", lesson)
    assert [message.text for message in dialogue.messages] == ["one", "GoToObject(Mug)"]


def test_dialogues_are_read_as_they_were_written(tmp_path: Path) -> None:
    dialogue = TaughtDialogue("task", (Message("user", "Café"), Message("assistant", "Done()")), (1,))
    append_dialogues(tmp_path / "runs.jsonl", [dialogue])
    append_dialogues(tmp_path / "runs.jsonl", [dialogue])
    assert list(read_dialogues(tmp_path / "runs.jsonl")) == [dialogue, dialogue]


@pytest.mark.parametrize("line", ["{", "{}", '{"task": "t", "messages": [["user", "x"]], "learnt": [0]}'])
def test_line_that_is_no_dialogue_is_named(tmp_path: Path, line: str) -> None:
    (tmp_path / "runs.jsonl").write_text(line)
    with pytest.raises(InvalidValueError, match="line 1"):
        list(read_dialogues(tmp_path / "runs.jsonl"))


class Letters:
    """Tokens are letters; a turn ends with 0."""

    def prompt(self, messages: Sequence[Message]) -> list[int]:
        return [token for message in messages for token in self.reply(message.text)]

    def reply(self, text: str) -> list[int]:
        return [*map(ord, text), 0]


def test_what_is_learnt_are_the_teachers_calls() -> None:
    lesson, _ = taught(kitchen(), stray_share=1.0)
    (dialogue,) = dialogues_of("task", lesson)
    example = example_of(dialogue, Letters(), 10_000)
    assert example is not None
    said = "".join(chr(token) for token, learnt in zip(example.tokens, example.learnt) if learnt)
    assert said.split("\0")[:-1] == [step.call for step in lesson.steps if step.learnt]
    cut = example_of(dialogue, Letters(), len(example.tokens) - 1)
    assert cut is not None
    assert sum(cut.learnt) == sum(example.learnt) - len("Done()") - 1
    assert example_of(dialogue, Letters(), 5) is None


def test_trials_of_one_task_are_on_the_same_side_of_the_split() -> None:
    tasks = [f"pick_and_place_simple-Mug-None-Desk-{number}" for number in range(400)]
    held_out = [task for task in tasks if is_in("held-out", f"{task}/trial_1")]
    assert 20 <= len(held_out) <= 60
    for task in tasks:
        assert is_in("held-out", f"{task}/trial_2") == (task in held_out) != is_in("train", f"{task}/trial_3")
        assert is_in("all", task)
