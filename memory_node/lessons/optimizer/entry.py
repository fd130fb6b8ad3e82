"""An entry of the bank: the task that it came from, its text, and its utility for later tasks."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, replace
from typing import Any

from memory_node.domain.errors import InvalidValueError

# Later wordings that can be taken back; of older ones only the episodes are named.
_VERSIONS_KEPT = 8
_EPISODES_KEPT = 64
# Outcomes at the mean of all tasks that are added to each side of a comparison, so that one lucky task proves little.
_PRIOR_TRIALS = 2.0


@dataclass(frozen=True)
class Tally:
    """Outcomes of tasks, each in [0, 1]: their sum and how many they are."""

    total: float = 0.0
    trials: int = 0

    def __post_init__(self) -> None:
        if not 0.0 <= self.total <= self.trials:
            raise InvalidValueError(f"Tally: outcomes of {self.total} in {self.trials} trials")

    def plus(self, outcome: float) -> Tally:
        """Return it with one more outcome."""
        return Tally(self.total + outcome, self.trials + 1)

    def halved(self) -> Tally:
        """Return half of it: an outcome counts less after the entry was reworded."""
        left = self.trials // 2
        return Tally(self.total * left / self.trials, left) if left else Tally()

    def mean(self, prior: float) -> float:
        """Return the mean outcome, drawn towards `prior` while there are few."""
        return (self.total + _PRIOR_TRIALS * prior) / (self.trials + _PRIOR_TRIALS)


@dataclass(frozen=True)
class Version:
    """One wording. query: the task text that it came from, its key; task_type: what kind of task that was, "" where
    nobody said; episode_id: of the attempt that it was drawn from."""

    query: str
    value: str
    episode_id: str
    stamp_ns: int = 0
    task_type: str = ""

    def __post_init__(self) -> None:
        if not self.query.strip() or not self.value.strip():
            raise InvalidValueError(f"Version {self.value!r:.60} of {self.query!r:.60}: expected words in both")


@dataclass(frozen=True)
class MemoryEntry:
    """One memory. versions: its wordings, the one that holds last. given, withheld: the outcomes of related tasks for
    which it was shown, and of those for which it was not. episode_ids: the newest attempts that it was drawn from.
    made_by: which optimizer wrote the last version."""

    id: str
    versions: tuple[Version, ...]
    given: Tally = Tally()
    withheld: Tally = Tally()
    episode_ids: tuple[str, ...] = ()
    made_by: str = ""

    def __post_init__(self) -> None:
        if not self.id or not self.versions:
            raise InvalidValueError(f"MemoryEntry {self.id!r}: expected an id and at least one version")

    @property
    def query(self) -> str:
        """The task text that it is found by."""
        return self.versions[-1].query

    @property
    def value(self) -> str:
        """What it says."""
        return self.versions[-1].value

    def utility(self, prior: float) -> float:
        """Return the mean outcome of tasks with the entry less that of related tasks without it, in [-1, 1].

        prior: the mean outcome of all tasks. An entry that nobody has tried has a utility of about 0.
        """
        return self.given.mean(prior) - self.withheld.mean(prior)

    def reworded(self, version: Version, made_by: str) -> MemoryEntry:
        """Return it with another wording; what was found out about the last one counts half."""
        return replace(
            self,
            versions=(*self.versions, version)[-_VERSIONS_KEPT:],
            given=self.given.halved(),
            withheld=self.withheld.halved(),
            episode_ids=_with(self.episode_ids, version.episode_id),
            made_by=made_by,
        )

    def taken_back(self) -> MemoryEntry | None:
        """Return it with the wording before the last; None when there is none left."""
        *earlier, last = self.versions
        if not earlier:
            return None
        left = tuple(i for i in self.episode_ids if i != last.episode_id)
        return replace(self, versions=tuple(earlier), episode_ids=left)

    def without(self, episode_id: str) -> MemoryEntry | None:
        """Return the entry as it was before an attempt contributed to it; None when nothing is left. A later wording
        may contain what the attempt taught, so all wordings from the attempt's first one on are dropped.
        """
        if episode_id not in self.episode_ids and all(one.episode_id != episode_id for one in self.versions):
            return self
        written = next((n for n, one in enumerate(self.versions) if one.episode_id == episode_id), 0)
        if not written:
            return None  # it wrote the first that is kept, or an older one
        gone = {one.episode_id for one in self.versions[written:]}
        left = tuple(i for i in self.episode_ids if i not in gone)
        return replace(self, versions=self.versions[:written], episode_ids=left)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for the store."""
        return dataclasses.asdict(self)

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> MemoryEntry:
        """Return the entry of stored values.

        Raises:
            InvalidValueError: keys are missing or unknown, or a value is none.
        """
        try:
            versions = tuple(Version(**one) for one in values["versions"])
            tallies: dict[str, Any] = {n: Tally(**values[n]) for n in ("given", "withheld") if n in values}
            episodes = tuple(map(str, values.get("episode_ids", ())))
            known: dict[str, Any] = {**values, **tallies, "versions": versions, "episode_ids": episodes}
            return cls(**known)
        except (KeyError, TypeError, AttributeError) as error:
            raise InvalidValueError(f"MemoryEntry: {error!r}") from None


def entry_of(entry_id: str, version: Version, made_by: str) -> MemoryEntry:
    """Return a new entry of its first wording."""
    return MemoryEntry(entry_id, (version,), episode_ids=(version.episode_id,), made_by=made_by)


def _with(episode_ids: tuple[str, ...], episode_id: str) -> tuple[str, ...]:
    others = tuple(i for i in episode_ids if i != episode_id)
    return (*others, episode_id)[-_EPISODES_KEPT:]
