"""The short-term memory by policy and capacity, as in KARMA's figures 4 to 7."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from benchmarks.cache_runs import COMPARED
from memory_node.short_term.config import POLICY_NAMES, PolicyName, ShortTermConfig
from memory_node.short_term.policies import build_policy
from memory_node.short_term.replacement import OnEvict, ReplacementPolicy

POLICIES = (*COMPARED, *POLICY_NAMES)
_FIGURES = {
    "hit_rate_warm": "hit rate after warm-up",
    "success_rate": "success",
    "reduced_exploration": "reduced exploration",
}


@dataclass(frozen=True)
class CacheSetting:
    """A replacement policy and how many things it keeps."""

    policy: str
    capacity: int

    @property
    def config(self) -> ShortTermConfig:
        """The parameters of such a short-term memory."""
        own = ShortTermConfig(capacity=self.capacity)
        return own.changed(policy=cast("PolicyName", self.policy)) if self.policy in POLICY_NAMES else own

    def build(self, config: ShortTermConfig, on_evict: OnEvict) -> ReplacementPolicy:
        """Return the policy."""
        compared = COMPARED.get(self.policy)
        return build_policy(config, on_evict) if compared is None else compared(config.capacity, on_evict)


def draw_sweep(rows: Sequence[Mapping[str, Any]], path: Path) -> None:
    """Draw hit rate, success and reduced exploration over all days against the capacity, a line a policy."""
    from matplotlib.figure import Figure

    chosen = [row for row in rows if row["category"] == "all" and not row["without"]]
    figure = Figure(figsize=(11, 3.6), layout="constrained")
    for axes, (key, title) in zip(figure.subplots(1, len(_FIGURES)), _FIGURES.items()):
        for policy in dict.fromkeys(row["policy"] for row in chosen):
            known = [row for row in chosen if row["policy"] == policy and row.get(key) is not None]
            points = sorted((row["capacity"], row[key]) for row in known)
            axes.plot([x for x, _ in points], [y for _, y in points], marker="o", label=policy)
        axes.set_title(title)
        axes.set_xlabel("capacity (things)")
    axes.legend()
    figure.savefig(path, dpi=150)
