"""The short-term memory: a fixed number of memory units, one for each object, kept by a replacement policy."""

from __future__ import annotations

import threading
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from memory_node.domain.memory_unit import MemoryUnit
from memory_node.domain.skill import StateChange
from memory_node.domain.states import StateBelief
from memory_node.search.config import RetrievalConfig
from memory_node.short_term.config import ShortTermConfig
from memory_node.short_term.crop_files import CropFiles
from memory_node.short_term.policies import MakePolicy, TaskAwarePolicy, build_policy
from memory_node.short_term.replacement import Key, ReplacementPolicy
from memory_node.short_term.units import (
    BY_THE_ROBOT,
    StateClaim,
    after_change,
    merged,
    weigh_claims,
)

WARM_OCCUPANCY = 0.95  # KARMA: a cache is warm from here on


@dataclass(frozen=True)
class CacheStatistics:
    """Counts since start-up. warm: occupancy has been over 95 %, so that KARMA's warm-up is over.

    sketch_age in [0, 1): share of the sample since the counters were last halved, 0 without a sketch. lookups counts
    needs (one question is one lookup, whatever it touches), hits those that the cache could answer.
    """

    policy: str
    capacity: int
    size: int
    lookups: int
    hits: int
    insertions: int
    merges: int
    evictions: int
    removals: int
    pinned: int
    sketch_age: float
    sketch_halvings: int
    crop_bytes: int
    state_conflicts: int
    warm: bool

    @property
    def hit_ratio(self) -> float | None:
        """Hits over lookups, or None before the first lookup."""
        return self.hits / self.lookups if self.lookups else None

    @property
    def occupancy(self) -> float:
        """Share of the capacity in use."""
        return self.size / self.capacity

    def figures(self) -> dict[str, float]:
        """Return what tells most of it, by name; no hit ratio before the first lookup."""
        figures = {"occupancy": self.occupancy, "warm": float(self.warm), "lookups": self.lookups, "hits": self.hits}
        figures.update({"evictions": self.evictions, "sketch_age": self.sketch_age, "pinned": self.pinned})
        return figures if self.hit_ratio is None else {**figures, "hit_ratio": self.hit_ratio}


# Told of each unit that is new or changed, and with None of each that has left; under the writers' lock, in order.
OnChange = Callable[[str, MemoryUnit | None], object]

_REMEMBERED_DEPARTED = 16
_COUNTED = ("lookups", "hits", "insertions", "merges", "evictions", "removals", "state_conflicts")
# What the robot used stays as long as its use counts at least half in the ranking.
USED_STAYS_NS = int(RetrievalConfig.use_half_life_s * 1e9)


@dataclass(frozen=True)
class CachedUnit:
    """A unit as the policy holds it. segment: the policy's part that it is in. pinned: a pending subgoal names it, or
    the robot used it lately."""

    unit: MemoryUnit
    segment: str
    pinned: bool


class ObjectCache:
    """Units by object id; a unit with the same id merges into the held one in place.

    Safe to share between threads. Readers never take the writers' lock, so no reader waits for a writer: a read of a
    dict is atomic, and a reader's counts go into a queue that the next holder of the lock empties. on_change: lets
    another index, such as recall's, follow the units. make_policy: by default makes the policy of the config.
    """

    def __init__(
        self,
        config: ShortTermConfig | None = None,
        on_change: OnChange | None = None,
        make_policy: MakePolicy = build_policy,
    ) -> None:
        self._config = config or ShortTermConfig()
        self._make_policy = make_policy
        self._on_change: OnChange = on_change or (lambda object_id, unit: None)
        self._lock = threading.Lock()
        self._units: dict[str, MemoryUnit] = {}
        self._departed: OrderedDict[str, MemoryUnit] = (
            OrderedDict()
        )  # the last ones: a slice may be cut from one of them
        self._last_use_ns: dict[str, int] = {}
        self._newest_ns = 0  # the latest stamp of a unit: the time by which a use is long ago
        self._pinned_ids: frozenset[str] = frozenset()
        self._pinned_classes: frozenset[str] = frozenset()
        self._noted: deque[str] = deque()  # the look-ups to be worked off
        self._counts = dict.fromkeys(_COUNTED, 0)
        self._warm = False
        self._crops = CropFiles(self._config.crop_folder, int(self._config.crop_budget_mb * 1e6))
        self._policy = self._build_policy()

    @property
    def config(self) -> ShortTermConfig:
        """The parameters."""
        return self._config

    def __len__(self) -> int:
        return len(self._units)

    def __contains__(self, object_id: str) -> bool:
        return object_id in self._units

    # Readers

    def units(self) -> tuple[MemoryUnit, ...]:
        """Return all units as they are now, in no particular order."""
        return tuple(self._units.copy().values())

    def leaving(self) -> tuple[CachedUnit, ...]:
        """Return all units in the order in which they would go if none of them were used again."""
        with self._lock:
            self._work_off_lookups()
            order = [str(key) for key in self._policy.leaving()]
            return tuple(CachedUnit(self._units[key], self._policy.segment(key), self._is_pinned(key)) for key in order)

    def get(self, object_id: str) -> MemoryUnit | None:
        """Return the unit of an object, or None when it is not remembered; no need is counted."""
        return self._units.get(object_id)

    def count_lookup(self, answered_by: str) -> None:
        """Count one lookup need; answered_by: the object id that answered it, or "" when the cache could not."""
        self._noted.append(answered_by)
        self._work_off_lookups_if_free()

    def statistics(self) -> CacheStatistics:
        """Return the counts since start-up; beside a writer they may lack the lookups of this moment."""
        self._work_off_lookups_if_free()
        sketch = getattr(getattr(self._policy, "inner", self._policy), "sketch", None)
        return CacheStatistics(
            policy=self._config.policy,
            capacity=self._config.capacity,
            size=len(self._units),
            pinned=sum(self._is_named(unit) for unit in self.units()),
            sketch_age=sketch.age if sketch else 0.0,
            sketch_halvings=sketch.halvings if sketch else 0,
            crop_bytes=self._crops.used_bytes,
            warm=self._warm,
            **self._counts,
        )

    # Writers

    def put(self, unit: MemoryUnit, crop_jpeg: bytes = b"") -> MemoryUnit:
        """Remember a unit, merged with what is held of the same object; return it as it is now held.

        Sightings that follow each other faster than `use_interval_s` count as one use.
        """
        with self._lock:
            self._work_off_lookups()
            if crop_jpeg:
                unit = self._with_crop(unit, crop_jpeg)
            held = self._units.get(unit.object_id)
            if held is not None:
                unit = merged(held, unit)
                self._counts["merges"] += 1
            self._hold(unit, held)
        return unit

    def apply(self, change: StateChange) -> MemoryUnit | None:
        """Take over what a skill did; return the unit after it, or None for one that is destroyed or not locatable."""
        with self._lock:
            self._work_off_lookups()
            held = self._units.get(change.object_id)
            if change.destroyed:
                if held is not None:
                    self._drop(held)
                    self._policy.remove(change.object_id)
                    self._counts["removals"] += 1
                unit = None
            else:
                origin = self._units.get(change.created_from) or self._departed.get(change.created_from)
                unit = after_change(held, change, origin)
                if unit is not None:
                    self._hold(unit, held, is_used=change.source == BY_THE_ROBOT)
        return unit

    def claim_states(
        self, object_id: str, believed: tuple[StateBelief, ...], claims: Iterable[StateClaim], now_ns: int
    ) -> tuple[StateBelief, ...]:
        """Weigh what another source says of an object's states against what is believed; return the states after it.

        Conflicts are counted. The object's unit takes the states over, where it is held.
        """
        states, conflicts = weigh_claims(believed, claims, now_ns, self._config.state_half_life_s)
        with self._lock:
            self._counts["state_conflicts"] += conflicts
            unit = self._units.get(object_id)
            if unit is not None:
                self._set(replace(unit, states=states))
        return states

    def forget(self, object_id: str) -> bool:
        """Remove an object; return whether it was held."""
        with self._lock:
            unit = self._units.get(object_id)
            if unit is not None:
                self._drop(unit)
                self._policy.remove(object_id)
                self._counts["removals"] += 1
        return unit is not None

    def pin(self, object_ids: Iterable[str] = (), object_classes: Iterable[str] = ()) -> None:
        """Keep the objects that pending subgoals name, by id or class, in place of those named before."""
        with self._lock:
            self._pinned_ids = frozenset(object_ids)
            self._pinned_classes = frozenset(object_classes)
            if isinstance(self._policy, TaskAwarePolicy):
                self._policy.pins_changed()

    def clear(self) -> None:
        """Forget every unit and start the policy afresh; the counts go on."""
        with self._lock:
            self._work_off_lookups()
            for unit in self.units():
                self._drop(unit)
            self._departed.clear()
            self._newest_ns = 0
            self._policy = self._build_policy()

    # Under the lock

    def _build_policy(self) -> ReplacementPolicy:
        if not self._config.task_aware:
            return self._make_policy(self._config, self._on_evict)
        return TaskAwarePolicy(
            lambda on_evict: self._make_policy(self._config, on_evict), self._is_pinned, self._on_evict
        )

    def _is_pinned(self, key: Key) -> bool:
        """Return whether a pending subgoal names an object, or the robot used it lately: a look round must not flush
        that."""
        unit = self._units.get(str(key))
        if unit is None:
            return key in self._pinned_ids
        is_used = unit.used_ns > 0 and self._newest_ns - unit.used_ns <= USED_STAYS_NS
        return is_used or self._is_named(unit)

    def _is_named(self, unit: MemoryUnit) -> bool:
        return unit.object_id in self._pinned_ids or unit.object_class in self._pinned_classes

    def _set(self, unit: MemoryUnit) -> None:
        self._units[unit.object_id] = unit
        self._departed.pop(unit.object_id, None)
        self._newest_ns = max(self._newest_ns, unit.stamp_ns)
        self._on_change(unit.object_id, unit)

    def _hold(self, unit: MemoryUnit, held: MemoryUnit | None, is_used: bool = False) -> None:
        """Hold a unit. is_used: the robot did something with it, which is a use however soon it was seen before."""
        object_id = unit.object_id
        self._set(unit)
        since_use_ns = unit.stamp_ns - self._last_use_ns.get(object_id, unit.stamp_ns)
        if held is None or is_used or since_use_ns >= self._config.use_interval_s * 1e9:
            self._last_use_ns[object_id] = unit.stamp_ns
            self._policy.access(object_id)
        if held is None:
            self._counts["insertions"] += 1
            self._warm = self._warm or len(self._units) > WARM_OCCUPANCY * self._config.capacity

    def _work_off_lookups(self) -> None:
        """Count the look-ups that were noted, and tell the policy of the units that were used."""
        while self._noted:
            answered_by = self._noted.popleft()
            self._counts["lookups"] += 1
            self._counts["hits"] += bool(answered_by)
            # It may have been evicted between the answer and now; then there is nothing to use.
            if answered_by in self._policy:
                self._policy.access(answered_by)

    def _work_off_lookups_if_free(self) -> None:
        if self._lock.acquire(blocking=False):
            try:
                self._work_off_lookups()
            finally:
                self._lock.release()

    def _on_evict(self, key: Key) -> None:
        self._counts["evictions"] += 1
        self._drop(self._units[str(key)])

    def _drop(self, unit: MemoryUnit) -> None:
        del self._units[unit.object_id]
        self._departed[unit.object_id] = unit
        if len(self._departed) > _REMEMBERED_DEPARTED:
            self._departed.popitem(last=False)
        self._last_use_ns.pop(unit.object_id, None)
        self._crops.remove(unit.object_id)
        self._on_change(unit.object_id, None)

    def _with_crop(self, unit: MemoryUnit, crop_jpeg: bytes) -> MemoryUnit:
        path, dropped = self._crops.write(unit.object_id, crop_jpeg)
        for object_id in dropped:
            self._set(replace(self._units[object_id], image_path=""))
        return replace(unit, image_path=path)
