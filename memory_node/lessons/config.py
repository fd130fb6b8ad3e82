"""The parameters of experience; defaults are BrainMem's where it names one."""

from __future__ import annotations

from typing import Literal, get_args

from pydantic import Field

from memory_node.domain.parameters import Expert, Live, Parameters, parameter

Part = Literal["working", "episodic", "semantic"]
PARTS: frozenset[Part] = frozenset(get_args(Part))
Graph = Literal["rooms", "actions", "relations", "trajectories"]
GRAPHS: frozenset[Graph] = frozenset(get_args(Graph))


class ExperienceConfig(Parameters):
    """How experience is kept and shown: working, episodic and semantic memory; docs/experience.md explains it."""

    window: Expert[int] = parameter(5, "steps in working memory; 5 is the best of BrainMem's ablation", 1, 1000)
    active_guidelines: Live[Expert[int]] = parameter(20, "guidelines in a prompt at most (BrainMem's M)", 1, 1000)
    prune_factor: Expert[float] = parameter(
        1.5, "guidelines of one task type beyond this times active_guidelines are pruned by utility", 1.0, 100.0
    )
    protected_confidence: Expert[float] = parameter(
        0.8, "a guideline of at least this confidence and protected_successes is never pruned", 0.0, 1.0
    )
    protected_successes: Expert[int] = parameter(5, "see experience.protected_confidence", 0, 1_000_000)
    confidence_weight: Expert[float] = parameter(
        0.7, "weight of N_success / N_total in a guideline's utility", 0.0, 100.0
    )
    usage_weight: Expert[float] = parameter(
        0.3, "weight of min(N_success / usage_full, 1) in a guideline's utility", 0.0, 100.0
    )
    usage_full: Expert[int] = parameter(
        10, "successes from which usage counts in full in a guideline's utility", 1, 1_000_000
    )
    half_life_s: Expert[float] = parameter(
        2_592_000.0, "time since a guideline last helped in which its utility halves; 30 days", 1.0, 1e10
    )
    top_k: Live[Expert[int]] = parameter(2, "experiences in an answer at most", 1, 100)
    max_attempts: Live[Expert[int]] = parameter(3, "how often one task is tried, the first time counted in", 1, 100)
    graph_steps: Expert[int] = parameter(
        1_000_000, "steps whose episodes are kept in memory; the oldest go first", 1, 1_000_000_000
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
