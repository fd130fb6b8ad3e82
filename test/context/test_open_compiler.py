import pytest

from memory_node.catalogue.label_space import load_catalogue
from memory_node.context.beliefs import Beliefs
from memory_node.context.brief_state import BriefState
from memory_node.context.compilations import WithRules, open_compiler
from memory_node.context.config import CompilerConfig, CompilerModelConfig
from memory_node.context.guidance import Compiled, Delivery, StepObservation
from memory_node.context.rules_compiler import RulesCompiler
from memory_node.context.task_memory import Entry, EntryKind, TaskMemory
from memory_node.domain.errors import InvalidValueError, NotFoundError
from memory_node.domain.skill import SkillCall
from memory_node.domain.states import ObjectState
from memory_node.llm.open_model import ModelShelf
from memory_node.world.state import Thing, WorldState


def test_rules_need_nothing() -> None:
    assert isinstance(open_compiler("rules", CompilerConfig(), ModelShelf()), RulesCompiler)


def test_soft_memory_that_is_not_there_is_named() -> None:
    config = CompilerConfig(llm=CompilerModelConfig(adapter_path="a.gguf", soft_memory_path="nowhere.npz"))
    with pytest.raises(NotFoundError, match=r"nowhere\.npz"):
        open_compiler("model", config, ModelShelf())


def test_model_that_is_not_there_delivers_nothing_and_says_why() -> None:
    config = CompilerConfig(llm=CompilerModelConfig(model_path="nowhere.gguf", adapter_path="nowhere-either.gguf"))
    compiled = open_compiler("model", config, ModelShelf()).compile(StepObservation(), BriefState(), TaskMemory())
    assert compiled.delivery is Delivery.NOACTION
    assert "nowhere" in compiled.problem


@pytest.mark.parametrize("name", ["none", "oracle", ""])
def test_what_is_no_compiler_is_refused(name: str) -> None:
    with pytest.raises(InvalidValueError, match="compiler"):
        open_compiler(name, CompilerConfig(), ModelShelf())


class Fails:
    """A compiler whose model could not be used; problem "": it chose to deliver nothing."""

    def __init__(self, problem: str) -> None:
        self._problem = problem

    def compile(self, observation: StepObservation, state: BriefState, memory: TaskMemory) -> Compiled:
        return Compiled(problem=self._problem, tokens_in=7)


def test_rules_stand_in_for_a_model_that_failed_but_not_for_one_that_chose_nothing() -> None:
    put = SkillCall("PutObject", ("Mug", "Fridge"))
    fridge = Thing("Fridge", "Fridge", states=frozenset({ObjectState.CLOSED}))
    world = WorldState.of_things(load_catalogue(), [fridge, Thing("Mug", "Mug")], "Mug").standing_at("Fridge")
    beliefs = Beliefs(world)
    observation = StepObservation(proposed=put, classes={"Mug": "Mug", "Fridge": "Fridge"}, beliefs=beliefs)
    shut = beliefs.brief()
    late = WithRules(Fails("too late"), RulesCompiler()).compile(observation, shut, TaskMemory())
    assert late.guidance.goal == SkillCall("OpenObject", ("Fridge",))
    assert (late.problem, late.tokens_in) == ("too late", 7)
    chosen = WithRules(Fails(""), RulesCompiler()).compile(observation, shut, TaskMemory())
    assert chosen.delivery is Delivery.NOACTION


def test_at_most_two_lessons_that_hold_are_told_where_no_call_is_known() -> None:
    mugs = [Entry(f"m{n}", EntryKind.ADVICE, f"Mind mug {n}.", classes=frozenset({"Mug"})) for n in range(3)]
    others = [
        Entry("e", EntryKind.ADVICE, "Mind the egg.", classes=frozenset({"Egg"})),
        Entry("h", EntryKind.ADVICE, "Mind the heat.", goal_kinds=frozenset({"heat"}), classes=frozenset({"Mug"})),
    ]
    observation = StepObservation(goals=("place Mug to Shelf",))
    found = WithRules(Fails("refused"), RulesCompiler()).compile(
        observation, BriefState(), TaskMemory.of([*others, *mugs])
    )
    assert found.lessons == ("Mind mug 0.", "Mind mug 1.")
    assert found.delivery is Delivery.EXPERIENCE
