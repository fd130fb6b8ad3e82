"""The parameters of knowledge."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from memory_node.domain.parameters import Expert, Live, Parameters, Profile, parameter
from memory_node.llm.config import SHARED, ModelConfig


class KnowledgeModelConfig(ModelConfig):
    """The language model that reads what is told and answers from statements."""

    max_reply_tokens: Expert[int] = parameter(600, "tokens of one reply at most", 1, 32_000)
    timeout_s: Expert[float] = parameter(
        30.0, "time for one sentence or question: waiting, corrections and all, to the last word", 0.1, 3600.0
    )
    max_repairs: Expert[int] = parameter(1, "corrections asked of a reply that cannot be used", 0, 20)


class KnowledgeConfig(Parameters):
    """How knowledge is ranked; docs/knowledge.md explains it."""

    reader: Literal["rules", "model"] = parameter(
        "rules",
        "what reads told sentences that no plain form reads, and ended episodes, and answers questions from "
        "statements; model: the language model `llm.knowledge`, and the rules where it fails",
    )
    llm: Annotated[KnowledgeModelConfig, Profile("llm.knowledge", SHARED)] = KnowledgeModelConfig()
    channel: Expert[int] = parameter(64, "propositions that each search channel proposes", 1, 10_000)
    fan_out: Expert[int] = parameter(16, "nodes that one concept may lead to", 1, 10_000)
    paired: Expert[int] = parameter(64, "steps that are judged two at a time", 2, 1000)
    own_word_weight: ClassVar[float] = 0.35  # weight of words in a proposition
    own_likeness_weight: ClassVar[float] = 0.5  # weight of a proposition's meaning
    context_word_weight: ClassVar[float] = 0.35  # weight of words around it
    context_likeness_weight: ClassVar[float] = 0.5  # weight of the meaning around it
    subject_weight: ClassVar[float] = 0.2  # weight of a question that names who or what it is about
    coverage_weight: ClassVar[float] = 0.7  # weight of the share of the question that two steps cover together
    joint_likeness_weight: ClassVar[float] = 0.5  # weight of the meaning of two steps together
    link_weight: ClassVar[float] = 0.3  # weight of one step naming the other's subject
    concept_weight: Expert[float] = parameter(0.1, "weight of a rare concept that two steps share", 0.0, 100.0)
    top_k: Live[Expert[int]] = parameter(10, "propositions in an answer", 1, 1000)
    guidance_k: Live[Expert[int]] = parameter(2, "propositions in guidance while acting", 1, 100)
    hops: Live[Expert[int]] = parameter(2, "searches for one question at most (PlugMem's T_max)", 1, 8)
