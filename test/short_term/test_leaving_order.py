"""What a policy says would go next goes next."""

import random
from collections.abc import Callable

import pytest

from benchmarks.cache_runs import FifoPolicy, LfuPolicy
from memory_node.domain.memory_unit import MemoryUnit
from memory_node.short_term.config import ShortTermConfig
from memory_node.short_term.lru import LruPolicy
from memory_node.short_term.object_cache import ObjectCache
from memory_node.short_term.policies import TaskAwarePolicy
from memory_node.short_term.replacement import OnEvict, ReplacementPolicy
from memory_node.short_term.w_tinylfu import SegmentSizes, WTinyLfuPolicy

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
