"""Guidelines: what compatible experiences agree on, with a utility that use and time change (BrainMem)."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any

from memory_node.domain.errors import InvalidValueError
from memory_node.domain.skill import SkillCall
from memory_node.domain.skill_declaration import Precondition
from memory_node.episodes.remedy import described, remedy_of_rule, rules_of_one_cause, template_from_text
from memory_node.lessons.config import ExperienceConfig

KINDS = ("repair", "order", "procedure", "advice")

# Confidence of a guideline that no planner has been given yet: neither proven nor refuted.
UNTRIED_CONFIDENCE = 0.5


def repair_key(skill: str, reason: str, what: str) -> str:
    """Return the key of a repair; what: what is to be done before the skill."""
    return f"repair|{skill}|{reason}|{what}"


def lifted_key(key: str) -> str:
    """Return the key of a repair that holds for every skill that the same cause stops, by the key of the plain one."""
    return f"lifted|{key}"


def repair_text(skill: str, reason: str, what: str) -> str:
    """Return a repair in words."""
    return f"Before {skill}, {what}: otherwise it fails with {reason}."


@dataclass(frozen=True)
class Guideline:
    """One piece of advice. `key` is canonical: two guidelines with one key say the same thing.

    task_types and object_classes: where it applies; empty: everywhere. successes and trials: N_success and N_total of
    the episodes in which a planner was given it. helped_ns: stamp of the last such success, or of its birth.
    kind: "repair", "order", "procedure" or "advice". A repair is structured too: before `skill`, do the calls of
    `remedy` (templates, see domain.advice), or it fails for `reason`; object_classes are then those of the remedy's
    objects. lifted: the repair holds for every skill that the same cause stops. support: how many episodes taught it;
    episode_ids: the newest of them.
    """

    key: str
    text: str
    task_types: frozenset[str] = frozenset()
    object_classes: frozenset[str] = frozenset()
    successes: int = 0
    trials: int = 0
    helped_ns: int = 0
    episode_ids: tuple[str, ...] = ()
    support: int = 0
    kind: str = "advice"
    skill: str = ""
    reason: str = ""
    remedy: tuple[SkillCall, ...] = ()
    lifted: bool = False

    def __post_init__(self) -> None:
        if not 0 <= self.successes <= self.trials:
            raise InvalidValueError(f"Guideline {self.key}: {self.successes} successes of {self.trials} trials")
        if self.kind not in KINDS:
            raise InvalidValueError(f"Guideline {self.key}: expected a kind of {', '.join(KINDS)}, got {self.kind!r}")
        object.__setattr__(self, "support", max(self.support, len(self.episode_ids)))

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

    def applies(self, task_type: str, objects: Collection[str]) -> bool:
        """Return whether it speaks about this kind of task and objects; an empty query part matches everything."""
        fits_task = not self.task_types or not task_type or task_type in self.task_types
        return fits_task and (not self.object_classes or not objects or not self.object_classes.isdisjoint(objects))

    def skills(self) -> frozenset[str]:
        """Return the skills before which it is to be heeded; none where it is no structured repair."""
        if not self.remedy:
            return frozenset()
        return frozenset({self.skill, *self._causes()})

    def for_skill(self, skill: str) -> Guideline:
        """Return a lifted repair in the words of another skill that the same cause stops."""
        rule = self._causes().get(skill)
        if rule is None or skill == self.skill:
            return self
        remedy, reason = remedy_of_rule(rule), str(rule.reason)
        text = repair_text(skill, reason, f"do {described(remedy)}")
        return replace(self, text=text, skill=skill, reason=reason, remedy=remedy)

    def _causes(self) -> Mapping[str, Precondition]:
        return rules_of_one_cause(self.skill, self.reason, self.remedy) if self.lifted else {}

    def merged(self, other: Guideline, supports_kept: int) -> Guideline:
        """Return this guideline with the other's newer wording, supported by its episodes as well.

        A side without restriction wins.
        """

        def union(mine: frozenset[str], others: frozenset[str]) -> frozenset[str]:
            return mine | others if mine and others else frozenset()

        new = [i for i in other.episode_ids if i not in self.episode_ids]
        return replace(
            self,
            text=other.text,
            task_types=union(self.task_types, other.task_types),
            object_classes=union(self.object_classes, other.object_classes),
            helped_ns=max(self.helped_ns, other.helped_ns),
            episode_ids=(*self.episode_ids, *new)[-supports_kept:],
            support=self.support + len(new),
        )

    def without(self, episode_id: str) -> Guideline | None:
        """Return it without one episode's support; None when that was all it had."""
        if self.support <= 1:
            return None
        left = tuple(i for i in self.episode_ids if i != episode_id)
        return replace(self, episode_ids=left, support=self.support - 1)

    def counted(self, success: bool, stamp_ns: int) -> Guideline:
        """Return it after an episode in which a planner was given it."""
        helped_ns = max(stamp_ns, self.helped_ns) if success else self.helped_ns
        return replace(self, successes=self.successes + success, trials=self.trials + 1, helped_ns=helped_ns)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for the store."""
        values = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        values |= {name: sorted(values[name]) for name in ("task_types", "object_classes")}
        return values | {"episode_ids": list(self.episode_ids), "remedy": [str(call) for call in self.remedy]}

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Guideline:
        """Return the guideline of stored values.

        Raises:
            InvalidValueError: keys are missing or unknown, or the remedy is none.
        """
        sets = {name: frozenset(values.get(name, ())) for name in ("task_types", "object_classes")}
        remedy = tuple(template_from_text(text) for text in values.get("remedy", ()))
        try:
            return cls(**{**values, **sets, "episode_ids": tuple(values.get("episode_ids", ())), "remedy": remedy})
        except TypeError as error:
            raise InvalidValueError(f"Guideline: {error}") from None
