"""A robot asks where a person is before it fetches something for one whose place memory does not know, and looks for
one who has gone elsewhere."""

from dataclasses import replace

import pytest
from tiny_home import TinyHome, TinyThing

from memory_node.catalogue.label_space import load_catalogue
from memory_node.context.recalled import Recalled
from memory_node.domain.answer import RankedArea
from memory_node.domain.scene import SceneSnapshot
from memory_node.domain.skill import SkillCall, SkillResult
from memory_node.planner.executor import InstructionExecutor, InstructionResult
from memory_node.planner.offline_planner import OfflinePlanner
from memory_node.planner.reading.conversation import Conversation
from memory_node.planner.reading.plain_reader import Known
from memory_node.planner.reading.understanding import Understander

KINDS = load_catalogue()
FURNITURE = (("apple", "Apple", "table"), ("table", "DiningTable"), ("fridge", "Fridge"))


class Robot:
    """A robot of a home, with a person to talk to."""

    def __init__(self, *things: tuple[str, ...]) -> None:
        self.home = TinyHome(*(TinyThing(*thing) for thing in things))
        self._planner = OfflinePlanner(Understander(KINDS, None, None), KINDS)
        self._conversation = Conversation()

    def told(self, instruction: str, waiting: str = "") -> InstructionResult:
        """Give an instruction. waiting: what memory knows to have been asked back about."""
        executor = InstructionExecutor(
            self.home,
            self.home,
            self._planner,
            conversation=self._conversation,
            asks_for_person=True,
            known=Known(Recalled(waiting=waiting), lambda: 1, lambda text: text),
        )
        return executor.execute(instruction)


@pytest.mark.parametrize("instruction", ["bring me the apple", "wash the apple and bring it to me", "come here"])
def test_unknown_place_of_a_person_is_asked_for_first(instruction: str) -> None:
    result = Robot(*FURNITURE).told(instruction)
    assert "where you are" in result.outcome.question
    assert result.steps == ()


def test_answer_takes_the_person_s_part() -> None:
    robot = Robot(*FURNITURE, ("counter", "CounterTop"))
    assert "counter" in " ".join(robot.told("bring me the apple").outcome.choices)
    result = robot.told("on the counter")
    assert result.outcome.goals == ("place Apple to CounterTop",)
    assert result.success


def test_known_person_is_not_asked_for() -> None:
    result = Robot(*FURNITURE, ("anna", "User")).told("bring me the apple")
    assert result.outcome.question == ""
    assert result.outcome.goals == ("place Apple to User",)


@pytest.mark.parametrize("instruction", ["put the apple in the fridge", "where is the apple?"])
def test_what_needs_no_person_is_done(instruction: str) -> None:
    result = Robot(*FURNITURE).told(instruction)
    assert result.outcome.question == ""
    assert result.success


@pytest.mark.parametrize("instruction", ["bring me the apple", "put the apple where it belongs"])
def test_answer_belongs_to_what_was_asked_before_a_restart(instruction: str) -> None:
    assert Robot(*FURNITURE, ("counter", "CounterTop")).told(instruction).outcome.question
    restarted = Robot(*FURNITURE, ("counter", "CounterTop"))
    assert restarted.told("on the counter").outcome.question
    assert restarted.told("on the counter", waiting=instruction).outcome.goals == ("place Apple to CounterTop",)
    assert restarted.told("open the fridge", waiting=instruction).outcome.goals == ("open Fridge",)


def test_question_of_where_a_thing_belongs_takes_an_answer() -> None:
    robot = Robot(*FURNITURE, ("counter", "CounterTop"))
    assert robot.told("put the apple where it belongs").outcome.question
    assert robot.told("on the counter").outcome.goals == ("place Apple to CounterTop",)


@pytest.mark.parametrize("answer", ["the apple on the table", "the apple"])
def test_answer_takes_the_place_of_the_words_that_were_asked_about(answer: str) -> None:
    robot = Robot(*FURNITURE, ("anna", "User"))
    assert "Which one" in robot.told("bring me Kim's apple").outcome.question
    assert robot.told(answer).outcome.goals == ("place Apple to User",)


def test_new_command_is_no_answer() -> None:
    robot = Robot(*FURNITURE, ("anna", "User"))
    assert robot.told("bring me Kim's apple").outcome.question
    assert robot.told("open the fridge").outcome.goals == ("open Fridge",)


class WalkedOff(TinyHome):
    """A home in which Kim is seen from the second place that is gone to, and not where memory holds her to be."""

    at = ""

    def rank_search_areas(self, object_class: str, k: int = 0) -> tuple[RankedArea, ...]:
        return tuple(RankedArea(f"a{n}", f"area {n}", (float(n), 0.0), 0.5, "") for n in (1, 2))

    def execute(self, call: SkillCall) -> SkillResult:
        if call.arguments[0][0].isdigit():
            self.calls.append(str(call))
            self.at = call.arguments[0]
            return SkillResult(call, True)
        return super().execute(call)

    def scene(self) -> SceneSnapshot:
        scene, is_met = super().scene(), self.at == "2.00,0.00"
        seen = tuple(replace(one, last_seen_ns=5) if one.id == "kim" and is_met else one for one in scene.objects)
        return replace(scene, stamp_ns=5 if is_met else 1, objects=seen)


def test_person_who_walked_off_is_looked_for_and_nobody_else_is_served() -> None:
    people = (TinyThing("me", "User"), TinyThing("kim", "User", name="Kim"))
    robot = Robot()
    robot.home = WalkedOff(*(TinyThing(*thing) for thing in FURNITURE), *people)
    result = robot.told("take the apple to Kim")
    assert result.success, result.failure or result.outcome.failures
    assert robot.home.things["apple"].support_id == "kim"
    assert robot.home.at == "2.00,0.00"
