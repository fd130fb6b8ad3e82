"""Builds the compiler that the configuration names."""

from __future__ import annotations

from memory_node.context.config import COMPILERS, CompilerConfig
from memory_node.context.guidance import Compiler
from memory_node.context.prompt_compiler import PromptCompiler
from memory_node.context.rules_compiler import RulesCompiler
from memory_node.domain.errors import InvalidValueError, ResourceMissingError
from memory_node.llm.open_model import ModelShelf

LEARNED_NEEDS = (
    "compiler: learned needs an adapter, a file that training makes from tasks that a teacher walked, and there is none"
    " yet; use rules or model"
)


def check_compiler(name: str) -> None:
    """Check a compiler's name before anything runs.

    Raises:
        InvalidValueError: there is none of this name.
        ResourceMissingError: what it needs is not there.
    """
    if name not in COMPILERS:
        raise InvalidValueError(f"compiler: expected one of {', '.join(COMPILERS)}, got {name!r}")
    if name == "learned":
        raise ResourceMissingError(LEARNED_NEEDS)


def open_compiler(name: str, config: CompilerConfig, models: ModelShelf) -> Compiler:
    """Return a compiler by name. A model that is missing delivers nothing, and says why at each step.

    Raises:
        InvalidValueError: there is none of this name, or it is "none".
        ResourceMissingError: what it needs is not there.
    """
    check_compiler(name)
    if name == "none":
        raise InvalidValueError("compiler: none compiles nothing; do not ask it")
    if name == "model":
        return PromptCompiler(models.open_or_excuse(config.llm), config.llm, config.detects_loops)
    return RulesCompiler(config.detects_loops, config.most_tries)
