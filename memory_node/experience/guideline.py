"""Guidelines: what compatible experiences agree on, with a utility that use and time change (BrainMem)."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, replace
from typing import Any

from memory_node.domain.errors import InvalidValueError
from memory_node.experience.config import ExperienceConfig

# Confidence of a guideline that no planner has been given yet: neither proven nor refuted.
UNTRIED_CONFIDENCE = 0.5


@dataclass(frozen=True)
class Guideline:
    """One piece of advice. `key` is canonical: two guidelines with one key say the same thing.

    task_types and object_classes: where it applies; empty: everywhere. successes and trials: N_success and N_total of
    the episodes in which a planner was given it. helped_ns: stamp of the last such success, or of its birth.
    """

    key: str
    text: str
    task_types: frozenset[str] = frozenset()
    object_classes: frozenset[str] = frozenset()
    successes: int = 0
    trials: int = 0
    helped_ns: int = 0
    episode_ids: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not 0 <= self.successes <= self.trials:
            raise InvalidValueError(f"Guideline {self.key}: {self.successes} successes of {self.trials} trials")

    @property
    def confidence(self) -> float:
        """N_success / N_total, in [0, 1]."""
        return self.successes / self.trials if self.trials else UNTRIED_CONFIDENCE

    def utility(self, now_ns: int, config: ExperienceConfig) -> float:
        """Return 0.7 confidence + 0.3 usage, halved with each half-life since it last helped (BrainMem)."""
        usage = min(self.successes / config.usage_full, 1.0)
        worth = config.confidence_weight * self.confidence + config.usage_weight * usage
        age_s = max(now_ns - self.helped_ns, 0) * 1e-9
        return float(worth * 0.5 ** (age_s / config.half_life_s))

    def protected(self, config: ExperienceConfig) -> bool:
        """Return whether it has proven itself so well that it is never pruned."""
        return self.confidence >= config.protected_confidence and self.successes >= config.protected_successes

    def applies(self, task_type: str, object_class: str) -> bool:
        """Return whether it speaks about this kind of task and object; an empty query part matches everything."""
        fits_task = not self.task_types or not task_type or task_type in self.task_types
        return fits_task and (not self.object_classes or not object_class or object_class in self.object_classes)

    def merged(self, other: Guideline) -> Guideline:
        """Return this guideline supported by the other's episodes as well; a side without restriction wins."""

        def union(mine: frozenset[str], others: frozenset[str]) -> frozenset[str]:
            return mine | others if mine and others else frozenset()

        return replace(
            self,
            task_types=union(self.task_types, other.task_types),
            object_classes=union(self.object_classes, other.object_classes),
            helped_ns=max(self.helped_ns, other.helped_ns),
            episode_ids=tuple(dict.fromkeys((*self.episode_ids, *other.episode_ids))),
        )

    def counted(self, success: bool, stamp_ns: int) -> Guideline:
        """Return it after an episode in which a planner was given it."""
        helped_ns = max(stamp_ns, self.helped_ns) if success else self.helped_ns
        return replace(self, successes=self.successes + success, trials=self.trials + 1, helped_ns=helped_ns)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for the store."""
        values = dataclasses.asdict(self)
        return {key: sorted(value) if isinstance(value, frozenset) else value for key, value in values.items()}

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Guideline:
        """Return the guideline of stored values.

        Raises:
            InvalidValueError: keys are missing or unknown.
        """
        sets = {name: frozenset(values.get(name, ())) for name in ("task_types", "object_classes")}
        try:
            return cls(**{**values, **sets, "episode_ids": tuple(values.get("episode_ids", ()))})
        except TypeError as error:
            raise InvalidValueError(f"Guideline: {error}") from None


class GuidelineBook:
    """All guidelines, pruned by utility; not thread-safe."""

    def __init__(self, config: ExperienceConfig) -> None:
        self._config = config
        self._by_key: dict[str, Guideline] = {}

    def __len__(self) -> int:
        return len(self._by_key)

    def __contains__(self, key: str) -> bool:
        return key in self._by_key

    def __getitem__(self, key: str) -> Guideline:
        return self._by_key[key]

    def load(self, guidelines: list[Guideline]) -> None:
        """Take over stored guidelines as they are."""
        self._by_key.update((guideline.key, guideline) for guideline in guidelines)

    def add(self, guideline: Guideline) -> Guideline:
        """Add advice, or strengthen the guideline that says the same; return it as it now stands."""
        known = self._by_key.get(guideline.key)
        self._by_key[guideline.key] = known.merged(guideline) if known else guideline
        return self._by_key[guideline.key]

    def count(self, keys: frozenset[str], success: bool, stamp_ns: int) -> list[Guideline]:
        """Move the counts of the guidelines that a planner was given in an episode; return them."""
        changed = [self._by_key[key].counted(success, stamp_ns) for key in sorted(keys) if key in self._by_key]
        self._by_key.update((guideline.key, guideline) for guideline in changed)
        return changed

    def active(self, task_type: str, object_class: str, now_ns: int) -> list[Guideline]:
        """Return the at most M guidelines that apply, most useful first."""
        fitting = [g for g in self._by_key.values() if g.applies(task_type, object_class)]
        return self._ranked(fitting, now_ns)[: self._config.active_guidelines]

    def prune(self, task_type: str, now_ns: int) -> list[Guideline]:
        """Drop the least useful unprotected guidelines of a task type beyond 1.5 M; return what was dropped."""
        speaking = [g for g in self._by_key.values() if task_type in g.task_types or not g.task_types]
        excess = len(speaking) - int(self._config.prune_factor * self._config.active_guidelines)
        if excess <= 0:
            return []
        candidates = [g for g in speaking if not g.protected(self._config)]
        dropped = self._ranked(candidates, now_ns)[::-1][:excess]
        for guideline in dropped:
            del self._by_key[guideline.key]
        return dropped

    def forget(self, episode_id: str) -> tuple[list[Guideline], list[Guideline]]:
        """Withdraw an episode's support; return the guidelines that changed and those that only it supported."""
        supported = [g for g in self._by_key.values() if episode_id in g.episode_ids]
        changed, gone = [], []
        for guideline in supported:
            left = replace(guideline, episode_ids=tuple(i for i in guideline.episode_ids if i != episode_id))
            if left.episode_ids:
                self._by_key[left.key] = left
                changed.append(left)
            else:
                del self._by_key[left.key]
                gone.append(guideline)
        return changed, gone

    def _ranked(self, guidelines: list[Guideline], now_ns: int) -> list[Guideline]:
        return sorted(guidelines, key=lambda g: (-g.utility(now_ns, self._config), g.key))
