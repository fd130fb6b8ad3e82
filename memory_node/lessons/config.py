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

    learning: Expert[bool] = parameter(
        True, "false: memory is read alone; what the robot does now is neither kept nor learnt from"
    )
    window: Expert[int] = parameter(5, "steps in working memory; 5 is the best of BrainMem's ablation", 1, 1000)
    active_guidelines: Live[Expert[int]] = parameter(20, "guidelines in a prompt at most (BrainMem's M)", 1, 1000)
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
