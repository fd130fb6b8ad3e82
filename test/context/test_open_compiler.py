import pytest

from memory_node.context.brief_state import BriefState
from memory_node.context.config import CompilerConfig, CompilerModelConfig
from memory_node.context.guidance import Delivery
from memory_node.context.open_compiler import open_compiler
from memory_node.context.rules_compiler import RulesCompiler
from memory_node.context.step_observation import StepObservation
from memory_node.context.task_memory import TaskMemory
from memory_node.domain.errors import InvalidValueError, NotFoundError, ResourceMissingError
from memory_node.llm.open_model import ModelShelf


def test_rules_need_nothing() -> None:
    assert isinstance(open_compiler("rules", CompilerConfig(), ModelShelf()), RulesCompiler)


def test_learned_says_what_it_needs() -> None:
    with pytest.raises(ResourceMissingError, match=r"llm\.compiler\.adapter_path"):
        open_compiler("learned", CompilerConfig(), ModelShelf())


def test_soft_memory_that_is_not_there_is_named() -> None:
    config = CompilerConfig(llm=CompilerModelConfig(adapter_path="a.gguf", soft_memory_path="nowhere.npz"))
    with pytest.raises(NotFoundError, match=r"nowhere\.npz"):
        open_compiler("learned", config, ModelShelf())


def test_model_that_is_not_there_delivers_nothing_and_says_why() -> None:
    config = CompilerConfig(llm=CompilerModelConfig(model_path="nowhere.gguf", adapter_path="nowhere-either.gguf"))
    for name in ("model", "learned"):
        compiled = open_compiler(name, config, ModelShelf()).compile(StepObservation(), BriefState(), TaskMemory())
        assert compiled.delivery is Delivery.NOACTION
        assert "nowhere" in compiled.problem


@pytest.mark.parametrize("name", ["none", "oracle", ""])
def test_what_is_no_compiler_is_refused(name: str) -> None:
    with pytest.raises(InvalidValueError, match="compiler"):
        open_compiler(name, CompilerConfig(), ModelShelf())
