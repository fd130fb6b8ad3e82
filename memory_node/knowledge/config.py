"""The parameters of knowledge."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from memory_node.domain.parameters import Expert, Live, Parameters, Profile
from memory_node.llm.config import SHARED, ModelConfig


class KnowledgeModelConfig(ModelConfig):
    """The language model that reads what is told and answers from statements."""

    max_reply_tokens: Expert[int] = Field(default=600, ge=1, le=32_000, description="tokens of one reply at most")
    timeout_s: Expert[float] = Field(
        default=30.0,
        ge=0.1,
        le=3600.0,
        description="time for one sentence or question: waiting, corrections and all, to the last word",
    )
    max_repairs: Expert[int] = Field(
        default=1, ge=0, le=20, description="corrections asked of a reply that cannot be used"
    )


class KnowledgeConfig(Parameters):
    """How knowledge is ranked; docs/knowledge.md explains it."""

    reader: Literal["rules", "model"] = Field(
        default="rules",
        description="what reads told sentences that no plain form reads, and answers questions from statements; model: "
        "the language model `llm.knowledge`, and the rules where it fails",
    )
    llm: Annotated[KnowledgeModelConfig, Profile("llm.knowledge", SHARED)] = KnowledgeModelConfig()
    channel: Expert[int] = Field(
        default=64, ge=1, le=10_000, description="propositions that each search channel proposes"
    )
    fan_out: Expert[int] = Field(default=16, ge=1, le=10_000, description="nodes that one concept may lead to")
    paired: Expert[int] = Field(default=64, ge=2, le=1000, description="steps that are judged two at a time")
    own_word_weight: ClassVar[float] = 0.35  # weight of words in a proposition
    own_likeness_weight: ClassVar[float] = 0.5  # weight of a proposition's meaning
    context_word_weight: ClassVar[float] = 0.35  # weight of words around it
    context_likeness_weight: ClassVar[float] = 0.5  # weight of the meaning around it
    subject_weight: ClassVar[float] = 0.2  # weight of a question that names who or what it is about
    coverage_weight: ClassVar[float] = 0.7  # weight of the share of the question that two steps cover together
    joint_likeness_weight: ClassVar[float] = 0.5  # weight of the meaning of two steps together
    link_weight: ClassVar[float] = 0.3  # weight of one step naming the other's subject
    concept_weight: Expert[float] = Field(
        default=0.1, ge=0.0, le=100.0, description="weight of a rare concept that two steps share"
    )
    importance_weight: Expert[float] = Field(
        default=0.0, ge=0.0, le=100.0, description="weight of the number of steps that support a proposition"
    )
    recency_weight: Expert[float] = Field(
        default=0.0,
        ge=0.0,
        le=100.0,
        description="weight of how new a proposition is, beside the newest that was found",
    )
    recency_half_life_s: ClassVar[float] = 2_592_000.0  # age at which a proposition's recency is half (s)
    top_k: Live[Expert[int]] = Field(default=10, ge=1, le=1000, description="propositions in an answer")
    guidance_k: Live[Expert[int]] = Field(default=2, ge=1, le=100, description="propositions in guidance while acting")
    hops: Live[Expert[int]] = Field(
        default=2, ge=1, le=8, description="searches for one question at most (PlugMem's T_max)"
    )
