"""All guidelines: indexed by task type and by skill, ranked and pruned by utility (BrainMem)."""

from __future__ import annotations

import heapq
import math
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from itertools import islice

from memory_node.domain.skill import SkillCall
from memory_node.experience.config import ExperienceConfig
from memory_node.experience.guideline import Guideline
from memory_node.experience.lifting import lifted_call

# The posting list of guidelines that hold for every task.
_ANY = ""


class GuidelineBook:
    """Guidelines by key; not thread-safe.

    Utilities decay all alike, so their order does not change with time: log2 of a guideline's worth plus the half-lives
    until it last helped ranks it once and for all, until its counts move.
    """

    def __init__(self, config: ExperienceConfig) -> None:
        self._config = config
        self._by_key: dict[str, Guideline] = {}
        self._rank: dict[str, float] = {}
        self._by_task: defaultdict[str, dict[str, None]] = defaultdict(dict)
        self._by_skill: defaultdict[str, dict[str, None]] = defaultdict(dict)
        # Ranked once after a change, not at every question; an episode's end changes them, a step does not.
        self._ranked: dict[tuple[str, ...], list[str]] = {}

    def __len__(self) -> int:
        return len(self._by_key)

    def __contains__(self, key: str) -> bool:
        return key in self._by_key

    def __getitem__(self, key: str) -> Guideline:
        return self._by_key[key]

    def load(self, guidelines: Iterable[Guideline]) -> None:
        """Take over stored guidelines as they are."""
        for guideline in guidelines:
            self._set(guideline)

    def add(self, guideline: Guideline) -> Guideline:
        """Add advice, or strengthen the guideline that says the same; return it as it now stands."""
        known = self._by_key.get(guideline.key)
        return self._set(known.merged(guideline, self._config.supports_kept) if known else guideline)

    def count(self, keys: Collection[str], success: bool, stamp_ns: int) -> list[Guideline]:
        """Move the counts of the guidelines that a planner was given in an episode; return them."""
        known = [self._by_key[key] for key in sorted(keys) if key in self._by_key]
        return [self._set(guideline.counted(success, stamp_ns)) for guideline in known]

    def active(self, task_type: str, objects: Collection[str]) -> list[Guideline]:
        """Return the at most M guidelines that apply, most useful first."""
        fitting = (g for g in self._of_task(task_type) if g.applies(task_type, objects))
        return list(islice(fitting, self._config.active_guidelines))

    def repairs(self, task_type: str, action: SkillCall) -> list[Guideline]:
        """Return the at most M repairs that apply to an action, most useful first."""
        objects = lifted_call(action).arguments
        listed = (self._by_key[key] for key in self._by_skill.get(action.skill, ()))
        return self._best(g for g in listed if g.applies(task_type, objects))

    def prune(self, task_type: str) -> list[Guideline]:
        """Drop the least useful unprotected guidelines of a task type beyond 1.5 M; return what was dropped.

        Those that hold for every task are pruned only to stay within max_guidelines.
        """
        limit = int(self._config.prune_factor * self._config.active_guidelines)
        dropped = self._drop_worst(self._by_task.get(task_type, {}), limit) if task_type else []
        return dropped + self._drop_worst(self._by_key, self._config.max_guidelines)

    def forget(self, episode_id: str) -> tuple[list[Guideline], list[Guideline]]:
        """Withdraw an episode's support; return the guidelines that changed and those that only it supported."""
        changed, gone = [], []
        for guideline in [g for g in self._by_key.values() if episode_id in g.episode_ids]:
            left = guideline.without(episode_id)
            if left is not None:
                changed.append(self._set(left))
            else:
                self._remove(guideline.key)
                gone.append(guideline)
        return changed, gone

    def _of_task(self, task_type: str) -> Iterator[Guideline]:
        """Yield the guidelines that may speak of a task type, most useful first."""
        postings = (task_type, _ANY) if task_type else tuple(self._by_task)
        if postings not in self._ranked:
            keys = {key for posting in postings for key in self._by_task.get(posting, ())}
            self._ranked[postings] = sorted(keys, key=lambda key: (-self._rank[key], key))
        return (self._by_key[key] for key in self._ranked[postings])

    def _drop_worst(self, keys: Collection[str], limit: int) -> list[Guideline]:
        excess = len(keys) - limit
        if excess <= 0:
            return []
        candidates = (self._by_key[key] for key in keys if not self._by_key[key].protected(self._config))
        worst = heapq.nsmallest(excess, candidates, key=lambda g: (self._rank[g.key], g.key))
        for guideline in worst:
            self._remove(guideline.key)
        return worst

    def _best(self, guidelines: Iterable[Guideline]) -> list[Guideline]:
        rank = self._rank
        return heapq.nsmallest(self._config.active_guidelines, guidelines, key=lambda g: (-rank[g.key], g.key))

    def _set(self, guideline: Guideline) -> Guideline:
        self._remove(guideline.key)
        self._by_key[guideline.key] = guideline
        worth = guideline.utility(guideline.helped_ns, self._config)
        half_lives = guideline.helped_ns * 1e-9 / self._config.half_life_s
        self._rank[guideline.key] = math.log2(worth) + half_lives if worth > 0.0 else -math.inf
        for task_type in guideline.task_types or (_ANY,):
            self._by_task[task_type][guideline.key] = None
        if guideline.remedy:
            self._by_skill[guideline.skill][guideline.key] = None
        return guideline

    def _remove(self, key: str) -> None:
        self._ranked.clear()
        guideline = self._by_key.pop(key, None)
        if guideline is None:
            return
        del self._rank[key]
        for task_type in guideline.task_types or (_ANY,):
            self._by_task[task_type].pop(key, None)
        self._by_skill[guideline.skill].pop(key, None)
