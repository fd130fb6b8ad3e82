"""The parameters of the compiler."""

from __future__ import annotations

from typing import Annotated, Literal, get_args

from memory_node.domain.parameters import Expert, Parameters, Profile, parameter
from memory_node.llm.config import SHARED, ModelConfig

CompilerName = Literal["none", "rules", "model"]
COMPILERS: tuple[str, ...] = get_args(CompilerName)


class CompilerModelConfig(ModelConfig):
    """The language model that compiles by prompt."""

    max_reply_tokens: Expert[int] = parameter(256, "tokens of one reply at most", 1, 32_000)
    timeout_s: float = parameter(
        10.0, "time for one step: waiting, corrections and all, from the request to the last word", 0.1, 3600.0
    )
    max_repairs: Expert[int] = parameter(0, "corrections asked of a reply that cannot be used", 0, 20)
    changes_state: Expert[bool] = parameter(False, "whether the model changes the brief state beside the rules, too")
    soft_memory_path: Expert[str] = parameter(
        "", "file (.npz) of the soft memory that belongs to the adapter; empty: guidance in words alone"
    )


class CompilerConfig(Parameters):
    """How memory is compiled at each step; docs/compiler.md explains it."""

    close_m: Expert[float] = parameter(
        1.0, "distance from the robot within which a call is tried without driving up to the thing first", 0.0, 10.0
    )
    llm: Annotated[CompilerModelConfig, Profile("llm.compiler", SHARED)] = CompilerModelConfig()
