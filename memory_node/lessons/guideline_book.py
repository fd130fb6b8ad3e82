"""All guidelines: indexed by task type and by skill, ranked and pruned by utility (BrainMem)."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from itertools import islice

from memory_node.domain.skill import SkillCall
from memory_node.episodes.class_actions import class_call
from memory_node.lessons.config import ExperienceConfig
from memory_node.lessons.guideline import Guideline, lifted_key
from memory_node.lessons.ranking import Ranking

# The ranking of guidelines that hold for every task.
_ANY = ""


class GuidelineBook:
    """Guidelines by key; not thread-safe.

    All utilities decay at one rate, so their order does not change with time. A guideline's rank is log2 of its worth
    plus the time of its last help in half-lives; it only changes when its counts do.
    """

    def __init__(self, config: ExperienceConfig) -> None:
        self._config = config
        self._by_key: dict[str, Guideline] = {}
        self._rank: dict[str, float] = {}
        self._all = Ranking()
        self._by_task: defaultdict[str, Ranking] = defaultdict(Ranking)
        self._by_skill: defaultdict[str, Ranking] = defaultdict(Ranking)

    def __len__(self) -> int:
        return len(self._by_key)

    def __contains__(self, key: str) -> bool:
        return key in self._by_key

    def __iter__(self) -> Iterator[str]:
        """Yield the keys."""
        return iter(self._by_key)

    def __getitem__(self, key: str) -> Guideline:
        return self._by_key[key]

    def load(self, guidelines: Iterable[Guideline]) -> None:
        """Take over stored guidelines as they are."""
        for guideline in guidelines:
            self._set(guideline)

    def drop(self, keys: Iterable[str]) -> None:
        """Give guidelines up."""
        for key in keys:
            self._remove(key)

    def add(self, guideline: Guideline) -> Guideline:
        """Add advice, or strengthen the guideline that says the same; return it as it now stands."""
        known = self._by_key.get(guideline.key)
        return self._set(known.merged(guideline, self._config.supports_kept) if known else guideline)

    def count(self, keys: Collection[str], success: bool, stamp_ns: int) -> list[Guideline]:
        """Move the counts of the guidelines that a planner was given in an episode; return them."""
        known = [self._by_key[key] for key in sorted(keys) if key in self._by_key]
        return [self._set(guideline.counted(success, stamp_ns)) for guideline in known]

    def active(self, task_type: str, objects: Collection[str]) -> list[Guideline]:
        """Return the at most M guidelines that apply, most useful first, nothing twice."""
        fitting = (g for g in self._of_task(task_type) if g.applies(task_type, objects) and not self._is_lifted(g.key))
        return list(islice(fitting, self._config.active_guidelines))

    def repairs(self, task_type: str, action: SkillCall) -> list[Guideline]:
        """Return the at most M repairs that apply to an action, most useful first, in the words of its skill."""
        objects = class_call(action).arguments
        keys = (key for key in self._by_skill.get(action.skill, ()) if not self._is_lifted(key))
        listed = (self._by_key[key].for_skill(action.skill) for key in keys)
        return list(islice((g for g in listed if g.applies(task_type, objects)), self._config.active_guidelines))

    def prune(self, task_type: str) -> list[Guideline]:
        """Drop the least useful unprotected guidelines of a task type beyond prune_factor x active_guidelines; return
        them.

        Those that hold for every task are pruned only to stay within max_guidelines.
        """
        limit = int(self._config.prune_factor * self._config.active_guidelines)
        dropped = self._drop_worst(self._by_task[task_type], limit) if task_type in self._by_task else []
        return dropped + self._drop_worst(self._all, self._config.max_guidelines)

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
        postings = [self._by_task[name] for name in (task_type, _ANY) if name in self._by_task]
        return (self._by_key[key] for key in (Ranking.merged(postings) if task_type else self._all))

    def _drop_worst(self, ranking: Ranking, limit: int) -> list[Guideline]:
        excess = max(len(ranking) - limit, 0)
        unproven = (self._by_key[key] for key in reversed(ranking) if not self._by_key[key].protected(self._config))
        worst = list(islice(unproven, excess))
        for guideline in worst:
            self._remove(guideline.key)
        return worst

    def _set(self, guideline: Guideline) -> Guideline:
        self._remove(guideline.key)
        worth = guideline.utility(guideline.helped_ns, self._config)
        half_lives = guideline.helped_ns * 1e-9 / self._config.half_life_s
        rank = math.log2(worth) + half_lives if worth > 0.0 else -math.inf
        self._by_key[guideline.key], self._rank[guideline.key] = guideline, rank
        for ranking in self._rankings(guideline):
            ranking.add(rank, guideline.key)
        return guideline

    def _remove(self, key: str) -> None:
        guideline = self._by_key.pop(key, None)
        if guideline is None:
            return
        rank = self._rank.pop(key)
        for ranking in self._rankings(guideline):
            ranking.remove(rank, key)

    def _rankings(self, guideline: Guideline) -> list[Ranking]:
        """Return where a guideline is listed."""
        of_tasks = [self._by_task[task_type] for task_type in guideline.task_types or (_ANY,)]
        of_skills = [self._by_skill[skill] for skill in guideline.skills()]
        return [self._all, *of_tasks, *of_skills]

    def _is_lifted(self, key: str) -> bool:
        """Return whether the book also holds this repair for every skill that the same cause stops."""
        return lifted_key(key) in self._by_key
