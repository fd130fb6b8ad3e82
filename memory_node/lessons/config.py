"""The parameters of experience; defaults are BrainMem's where it names one."""

from __future__ import annotations

from typing import Literal, get_args

from pydantic import Field

from memory_node.domain.parameters import Expert, Live, Parameters

Part = Literal["working", "episodic", "semantic"]
PARTS: frozenset[Part] = frozenset(get_args(Part))
Graph = Literal["rooms", "actions", "relations", "trajectories"]
GRAPHS: frozenset[Graph] = frozenset(get_args(Graph))


class ExperienceConfig(Parameters):
    """How experience is kept and shown: working, episodic and semantic memory; docs/experience.md explains it."""

    window: Expert[int] = Field(
        default=5, ge=1, le=1000, description="steps in working memory; 5 is the best of BrainMem's ablation"
    )
    active_guidelines: Live[Expert[int]] = Field(
        default=20, ge=1, le=1000, description="guidelines in a prompt at most (BrainMem's M)"
    )
    prune_factor: Expert[float] = Field(
        default=1.5,
        ge=1.0,
        le=100.0,
        description="guidelines of one task type beyond this times active_guidelines are pruned by utility",
    )
    protected_confidence: Expert[float] = Field(
        default=0.8,
        ge=0.0,
        le=1.0,
        description="a guideline of at least this confidence and protected_successes is never pruned",
    )
    protected_successes: Expert[int] = Field(
        default=5, ge=0, le=1_000_000, description="see experience.protected_confidence"
    )
    confidence_weight: Expert[float] = Field(
        default=0.7, ge=0.0, le=100.0, description="weight of N_success / N_total in a guideline's utility"
    )
    usage_weight: Expert[float] = Field(
        default=0.3,
        ge=0.0,
        le=100.0,
        description="weight of min(N_success / usage_full, 1) in a guideline's utility",
    )
    usage_full: Expert[int] = Field(
        default=10,
        ge=1,
        le=1_000_000,
        description="successes from which usage counts in full in a guideline's utility",
    )
    half_life_s: Expert[float] = Field(
        default=2_592_000.0,
        ge=1.0,
        le=1e10,
        description="time since a guideline last helped in which its utility halves; 30 days",
    )
    top_k: Live[Expert[int]] = Field(default=2, ge=1, le=100, description="experiences in an answer at most")
    max_attempts: Live[Expert[int]] = Field(
        default=3, ge=1, le=100, description="how often one task is tried, the first time counted in"
    )
    graph_steps: Expert[int] = Field(
        default=1_000_000,
        ge=1,
        le=1_000_000_000,
        description="steps whose episodes are kept in memory; the oldest go first",
    )
    parts: Expert[frozenset[Part]] = Field(
        default=PARTS, strict=False, description="which memories of experience answer"
    )
    graphs: Expert[frozenset[Graph]] = Field(
        default=GRAPHS,
        strict=False,
        description="which graphs of episodic memory answer: what worked in rooms, what came of actions, relations "
        "that steps met, trajectories of similar episodes",
    )
