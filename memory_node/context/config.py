"""The parameters of the compiler."""

from __future__ import annotations

from typing import Annotated, Literal, get_args

from pydantic import Field

from memory_node.domain.parameters import Expert, Parameters, Profile
from memory_node.llm.config import SHARED, ModelConfig

CompilerName = Literal["none", "rules", "model"]
COMPILERS: tuple[str, ...] = get_args(CompilerName)


class CompilerModelConfig(ModelConfig):
    """The language model that compiles by prompt."""

    max_reply_tokens: Expert[int] = Field(default=256, ge=1, le=32_000, description="tokens of one reply at most")
    timeout_s: float = Field(
        default=10.0,
        ge=0.1,
        le=3600.0,
        description="time for one step: waiting, corrections and all, from the request to the last word",
    )
    max_repairs: Expert[int] = Field(
        default=0, ge=0, le=20, description="corrections asked of a reply that cannot be used"
    )
    changes_state: Expert[bool] = Field(
        default=False, description="whether the model changes the brief state beside the rules, too"
    )
    chooses: Expert[bool] = Field(
        default=False,
        description="whether the model chooses by numbers instead of writing JSON, for an adapter that has learnt it",
    )
    soft_memory_path: Expert[str] = Field(
        default="",
        description="file (.npz) of the soft memory that belongs to the adapter; empty: guidance in words alone",
    )
    max_entries: Expert[int] = Field(
        default=12, ge=1, le=1000, description="entries of memory that the prompt shows at most"
    )


class CompilerConfig(Parameters):
    """How memory is compiled at each step; docs/compiler.md explains it."""

    detects_loops: Expert[bool] = Field(
        default=True, description='whether repeated calls get "do not ... again" and an alternative'
    )
    most_tries: Expert[int] = Field(
        default=2, ge=0, le=100, description="how often a call that fails by chance is advised again at most"
    )
    close_m: Expert[float] = Field(
        default=1.0,
        ge=0.0,
        le=10.0,
        description="distance from the robot within which a call is tried without driving up to the thing first",
    )
    places: Expert[int] = Field(
        default=3, ge=0, le=100, description="likely places that are retrieved for each thing of a task at most"
    )
    window: Expert[int] = Field(default=30, ge=1, le=10_000, description="steps that loops are looked for in")
    llm: Annotated[CompilerModelConfig, Profile("llm.compiler", SHARED)] = CompilerModelConfig()
