"""Replacement policies against plain models, and the order in which they let go."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.cache import FifoPolicy, LfuPolicy
from memory_node.domain.errors import InvalidValueError
from memory_node.domain.memory_unit import MemoryUnit
from memory_node.short_term.config import ShortTermConfig
from memory_node.short_term.lru import LruPolicy
from memory_node.short_term.object_cache import ObjectCache
from memory_node.short_term.policies import TaskAwarePolicy
from memory_node.short_term.replacement import OnEvict, ReplacementPolicy
from memory_node.short_term.w_tinylfu import FrequencySketch, SegmentSizes, WTinyLfuPolicy

CAPACITY = 20
POLICIES: dict[str, Callable[[OnEvict], ReplacementPolicy]] = {
    "fifo": lambda on_evict: FifoPolicy(CAPACITY, on_evict),
    "lfu": lambda on_evict: LfuPolicy(CAPACITY, on_evict),
    "lru": lambda on_evict: LruPolicy(CAPACITY, on_evict),
    "w-tinylfu": lambda on_evict: WTinyLfuPolicy(CAPACITY, SegmentSizes.of_share(CAPACITY, 0.3), on_evict),
    "task-aware": lambda on_evict: TaskAwarePolicy(
        lambda inner: WTinyLfuPolicy(CAPACITY, on_evict=inner),
        lambda key: isinstance(key, int) and key % 11 == 0,
        on_evict,
    ),
}


@pytest.mark.parametrize("name", POLICIES)
def test_first_of_the_order_is_what_a_new_key_evicts(name: str) -> None:
    evicted: list[object] = []
    policy, chance = POLICIES[name](evicted.append), random.Random(1)
    right = asked = 0
    for use in range(3000):
        policy.access(int(chance.expovariate(0.05)))
        if use % 5 or len(policy) < CAPACITY:
            continue
        order = list(policy.leaving())
        assert len(order) == len(set(order)) == len(policy)
        assert all(key in policy and policy.segment(key) for key in order)
        evicted.clear()
        policy.access(f"new {use}")
        asked, right = asked + 1, right + (evicted[:1] == order[:1])
    assert asked > 400
    # A sketch may be halved with the very key that is new.
    assert right >= 0.95 * asked


def test_cache_tells_its_units_in_that_order_with_what_tasks_keep_last() -> None:
    cache = ObjectCache(ShortTermConfig(capacity=4, policy="lru", task_aware=True))
    for stamp, name in enumerate(("mug", "cup", "bowl", "pan")):
        cache.put(MemoryUnit(name, name.title(), (0.0, 0.0, 0.0), [[0.0] * 3] * 3, stamp))
    cache.pin(object_classes=["Mug"])
    told = cache.leaving()
    assert [one.unit.object_id for one in told] == ["cup", "bowl", "pan", "mug"]
    assert [one.pinned for one in told] == [False, False, False, True]
    assert {one.segment for one in told} == {"recency"}


class ListModel:
    """The plainest reading of each policy: lists, linear search, no index."""

    def __init__(self, capacity):
        self.capacity = capacity
        self.keys = []
        self.evicted = []

    def evict(self):
        self.evicted.append(self.keys.pop(0))

    def remove(self, key):
        if key in self.keys:
            self.keys.remove(key)


class FifoModel(ListModel):
    def access(self, key):
        if key in self.keys:
            return True
        if len(self.keys) == self.capacity:
            self.evict()
        self.keys.append(key)
        return False


class LruModel(FifoModel):
    def access(self, key):
        held = super().access(key)
        self.keys.remove(key)
        self.keys.append(key)
        return held


class LfuModel(ListModel):
    def __init__(self, capacity):
        super().__init__(capacity)
        self.counts = {}

    def evict(self):
        victim = min(self.keys, key=lambda key: self.counts[key])  # the first, so the least recent, among equals
        self.keys.remove(victim)
        self.evicted.append(victim)

    def access(self, key):
        held = key in self.keys
        if not held and len(self.keys) == self.capacity:
            self.evict()
        if held:
            self.keys.remove(key)
        self.counts[key] = self.counts[key] + 1 if held else 1
        self.keys.append(key)
        return held


class WTinyLfuModel(ListModel):
    def __init__(self, sizes):
        super().__init__(sizes.window + sizes.main)
        self.sizes = sizes
        self.window, self.probation, self.protected = [], [], []
        self.sketch = FrequencySketch(self.capacity)

    @property
    def keys(self):
        return self.probation + self.protected + self.window

    @keys.setter
    def keys(self, value):
        pass

    def evict(self):
        segment = next(part for part in (self.probation, self.protected, self.window) if part)
        self.evicted.append(segment.pop(0))

    def remove(self, key):
        for part in (self.probation, self.protected, self.window):
            if key in part:
                part.remove(key)

    def access(self, key):
        self.sketch.add(key)
        for part in (self.window, self.protected):
            if key in part:
                part.remove(key)
                part.append(key)
                return True
        if key in self.probation:
            self.probation.remove(key)
            (self.protected if self.sizes.protected else self.probation).append(key)
            if len(self.protected) > self.sizes.protected:
                self.probation.append(self.protected.pop(0))
            return True
        self.window.append(key)
        if len(self.window) > self.sizes.window:
            candidate = self.window.pop(0)
            if len(self.probation + self.protected) < self.sizes.main:
                self.probation.append(candidate)
            elif self.probation and self.wins(candidate, self.probation[0]):
                self.evicted.append(self.probation.pop(0))
                self.probation.append(candidate)
            else:
                self.evicted.append(candidate)
        return False

    def wins(self, candidate, victim):
        return self.sketch.estimate(candidate) > self.sketch.estimate(victim)


def build_pair(name, capacity, share):
    evicted = []
    if name == "w-tinylfu":
        sizes = SegmentSizes.of_share(capacity, share)
        return WTinyLfuPolicy(capacity, sizes, evicted.append), WTinyLfuModel(sizes), evicted
    policy, model = {
        "fifo": (FifoPolicy, FifoModel),
        "lfu": (LfuPolicy, LfuModel),
        "lru": (LruPolicy, LruModel),
    }[name]
    return policy(capacity, evicted.append), model(capacity), evicted


@pytest.mark.parametrize("name", ["fifo", "lru", "lfu", "w-tinylfu"])
@given(
    capacity=st.integers(1, 8),
    share=st.sampled_from([0.01, 0.2, 0.5, 0.9, 1.0]),
    steps=st.lists(st.tuples(st.sampled_from(["access"] * 12 + ["remove", "evict"]), st.integers(0, 15)), max_size=150),
)
def test_policy_does_what_its_plain_model_does(name, capacity, share, steps):
    policy, model, evicted = build_pair(name, capacity, share)
    for action, key in steps:
        if action == "access":
            assert policy.access(key) == model.access(key)
        elif action == "remove":
            assert policy.remove(key) == (key in model.keys)
            model.remove(key)
        elif model.keys:
            assert policy.evict() == evicted[-1]
            model.evict()
        assert evicted == model.evicted
        assert sorted(policy) == sorted(model.keys)
        assert len(policy) == len(model.keys) <= policy.capacity
        assert (key in policy) == (key in model.keys)


def test_karmas_segments_keep_nine_recent_and_one_frequent():
    # Numbers, whose hashes are the same in every run: in a sketch, names may collide.
    cup, plate = 100, 200
    policy = WTinyLfuPolicy(10, SegmentSizes(window=9, main=1, protected=0))
    for key in [cup, cup, *range(9)]:
        policy.access(key)
    assert cup in policy, "the window's victim took main's free place"
    for key in range(9, 14):
        policy.access(key)
    assert cup in policy, "what was seen once does not replace what was seen twice"
    for key in [plate] * 3 + list(range(14, 23)):
        policy.access(key)
    assert cup not in policy
    assert plate in policy


def test_segments_that_do_not_add_up_are_refused():
    with pytest.raises(InvalidValueError, match="do not add up to 10"):
        WTinyLfuPolicy(10, SegmentSizes(5, 4, 2))
    with pytest.raises(InvalidValueError, match="at least 1"):
        LruPolicy(0)


def test_sketch_never_counts_too_low_and_keeps_its_error_bound():
    rng = random.Random(7)
    sketch = FrequencySketch(1000, sample_size=10**9)
    true_counts = {}
    for _ in range(20_000):
        key = rng.randrange(30_000)
        true_counts[key] = true_counts.get(key, 0) + 1
        sketch.add(key)
    epsilon = 2.718281828 / sketch.width
    allowed = epsilon * sketch.additions
    excess = [sketch.estimate(key) - min(count, 15) for key, count in true_counts.items()]
    assert min(excess) >= 0
    beyond = sum(error > allowed for error in excess) / len(excess)
    assert beyond < 2.718281828**-4
    assert max(excess) > 0, "a sketch this full must collide somewhere, else this tests nothing"


def test_sketch_halves_after_its_sample():
    sketch = FrequencySketch(4, sample_size=40)
    for _ in range(12):
        sketch.add("mug")
    assert sketch.estimate("mug") == 12
    for number in range(27):
        sketch.add(("other", number))
    assert sketch.halvings == 0
    assert sketch.age == pytest.approx(39 / 40)
    sketch.add("mug")
    assert sketch.halvings == 1
    assert sketch.additions == 20
    assert sketch.estimate("mug") in (6, 7)


def test_doorkeeper_holds_back_what_comes_once():
    sketch = FrequencySketch(64, doorkeeper=True)
    assert sketch.add("mug") == 1
    assert sketch.estimate("mug") == 1
    assert sketch.add("mug") == 2
    assert sketch.estimate("mug") == 2
    assert sum(sketch._upper) + sum(sketch._lower) > 0


@pytest.mark.parametrize("name", ["fifo", "lfu", "adaptive"])
def test_policies_that_only_serve_comparison_are_no_choice(name):
    with pytest.raises(InvalidValueError, match="policy"):
        ShortTermConfig(policy=name)
