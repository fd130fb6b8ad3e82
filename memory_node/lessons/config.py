"""The parameters of experience, BrainMem's where it names one, and of the optimizer of memory."""

from __future__ import annotations

from typing import Annotated, Literal, get_args

from pydantic import Field

from memory_node.domain.parameters import Expert, Live, Parameters, Profile, parameter
from memory_node.llm.config import SHARED, ModelConfig

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


OptimizerKind = Literal["none", "rules", "model"]
OPTIMIZERS: tuple[OptimizerKind, ...] = get_args(OptimizerKind)


class OptimizerModelConfig(ModelConfig):
    """The language model that decides what an attempt leaves in memory."""

    max_reply_tokens: Expert[int] = parameter(400, "tokens of one reply at most", 1, 32_000)
    timeout_s: Expert[float] = parameter(
        120.0, "time for one attempt, corrections and all; nothing waits for it", 0.1, 3600.0
    )
    max_repairs: Expert[int] = parameter(1, "corrections asked of a faulty reply", 0, 20)


class BankLimits(Parameters):
    """How much a bank holds and shows."""

    capacity: Expert[int] = parameter(300, "entries of the bank at most", 1, 100_000)
    shown: Expert[int] = parameter(3, "entries that a task retrieves (UMEM's K)", 1, 100)
    related: Expert[float] = parameter(0.5, "least cosine of two task texts that count as related", -1.0, 1.0)
    same: Expert[float] = parameter(0.8, "from this cosine on, an addition to a full bank becomes an update", -1.0, 1.0)
    least_trials: Expert[int] = parameter(
        6, "tasks that an entry must have been shown for before it may be withdrawn", 1, 1_000_000
    )
    least_utility: Expert[float] = parameter(
        -0.15, "an entry of a lower utility is withdrawn, see least_trials", -1.0, 1.0
    )


class OptimizerConfig(BankLimits):
    """What attempts leave in memory, and who decides it; docs/optimizer.md explains it."""

    kind: OptimizerKind = parameter(
        "rules", "who decides what an ended episode leaves in memory; model: the language model `llm.optimizer`"
    )
    llm: Annotated[OptimizerModelConfig, Profile("llm.optimizer", SHARED)] = OptimizerModelConfig()
