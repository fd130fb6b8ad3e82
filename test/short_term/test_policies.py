import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.cache_policies import FifoPolicy, LfuPolicy
from memory_node.domain.errors import InvalidValueError
from memory_node.short_term.adaptive import ChangePrice, FollowingPolicy, ResizingPolicy, adaptive_policy
from memory_node.short_term.aged_counts import AgedCounts
from memory_node.short_term.config import ShortTermConfig
from memory_node.short_term.lirs import LirsPolicy
from memory_node.short_term.lru import LruPolicy
from memory_node.short_term.sketch import FrequencySketch
from memory_node.short_term.w_tinylfu import SegmentSizes, WTinyLfuPolicy


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
    def __init__(self, sizes, sketch=None, margin=0):
        super().__init__(sizes.window + sizes.main)
        self.sizes = sizes
        self.margin = margin
        self.window, self.probation, self.protected = [], [], []
        self.sketch = FrequencySketch(self.capacity) if sketch is None else sketch

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
        return self.use(key)

    def use(self, key):
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
        return self.sketch.estimate(candidate) > self.sketch.estimate(victim) + self.margin


class LirsModel(ListModel):
    """One list of all keys by last use, ghosts among them, and one of the held cold ones."""

    def __init__(self, capacity):
        super().__init__(capacity)
        self.most_hot = max(1, capacity - max(1, round(0.01 * capacity)))
        self.stack, self.hot, self.cold, self.ghosts = [], [], [], []

    @property
    def keys(self):
        return self.cold + self.hot

    @keys.setter
    def keys(self, value):
        pass

    def prune(self):
        while self.hot and self.stack[0] not in self.hot:
            self.drop(self.stack[0], self.stack, self.ghosts)

    @staticmethod
    def drop(key, *lists):
        for keys in lists:
            if key in keys:
                keys.remove(key)

    def to_top(self, key):
        self.drop(key, self.stack)
        self.stack.append(key)

    def evict(self):
        victim = self.cold[0] if self.cold else self.stack[0]
        self.evicted.append(victim)
        if victim in self.cold and victim in self.stack:
            self.ghosts.append(victim)
            if len(self.ghosts) > 5 * self.capacity:
                self.drop(self.ghosts[0], self.stack, self.ghosts)
        if victim in self.hot:
            self.drop(victim, self.stack)
        self.drop(victim, self.hot, self.cold)
        self.prune()

    def remove(self, key):
        self.drop(key, self.stack, self.hot, self.cold, self.ghosts)
        self.prune()

    def access(self, key):
        held, near = key in self.keys, key in self.stack
        if not held and len(self.keys) == self.capacity:
            self.evict()
        near = near and (key in self.stack)
        roomy = not held and not near and len(self.hot) < self.most_hot and not self.cold
        was_cold = key not in self.hot
        self.to_top(key)
        if was_cold and (near or roomy):
            self.drop(key, self.cold, self.ghosts)
            self.hot.append(key)
            if len(self.hot) > self.most_hot:
                oldest = self.stack.pop(0)
                self.hot.remove(oldest)
                self.cold.append(oldest)
        elif was_cold:
            self.drop(key, self.cold)
            self.cold.append(key)
        self.prune()
        return held


class AdaptiveModel(ListModel):
    """Every candidate as a plain model; holds what the leader holds, and strays as long as there is room."""

    def __init__(self, capacity):
        super().__init__(capacity)
        short = AgedCounts(10 * capacity, max(8 * capacity, 64))
        long = AgedCounts(max(60 * capacity, 500), max(8 * capacity, 64))
        self.counts = [short, long]
        self.shadows = [
            LirsModel(capacity),
            LruModel(capacity),
            WTinyLfuModel(SegmentSizes.of_share(capacity, 0.3), long),
            WTinyLfuModel(SegmentSizes.of_share(capacity, 0.01), long, margin=1),
            WTinyLfuModel(SegmentSizes.of_share(capacity, 0.01), short),
        ]
        self.scores = [0.0] * 5
        self.since = [0] * 5
        self.own = 0
        self.price, self.former = 0.1, None
        self.leader = self.accesses = self.without_hit = 0
        self.strays = []

    def evict(self):
        if not self.strays:
            self.let_leader(self.shadows[self.leader].evict)
        self.evicted.append(self.strays.pop(0))
        self.keys.remove(self.evicted[-1])

    def remove(self, key):
        for shadow in self.shadows:
            shadow.remove(key)
        for keys in (self.keys, self.strays):
            if key in keys:
                keys.remove(key)

    def let_leader(self, act, *args):
        leader = self.shadows[self.leader]
        before = len(leader.evicted)
        result = act(*args)
        for key in leader.evicted[before:]:
            if key in self.keys:
                self.strays.insert(0, key)
        return result

    def access(self, key):
        held = key in self.keys
        self.own += held
        if held:
            self.keys.remove(key)
        self.keys.append(key)
        if key in self.strays:
            self.strays.remove(key)
        for counts in self.counts:
            counts.add(key)
        for index, shadow in enumerate(self.shadows):
            use = shadow.use if isinstance(shadow, WTinyLfuModel) else shadow.access
            hit = self.let_leader(use, key) if index == self.leader else use(key)
            self.scores[index] += hit
            self.since[index] += hit
        if len(self.keys) > self.capacity:
            self.evict()
        self.accesses += 1
        interval = max(16, self.capacity // 8)
        if self.accesses % interval == 0:
            self.check(interval)
        return held

    def check(self, interval):
        best = self.scores.index(max(self.scores))
        ahead = 0.997 * self.scores[best] - self.scores[self.leader]
        self.without_hit = 0 if self.scores[best] >= 1.0 else self.without_hit + interval
        self.scores = [score * 0.5 ** (interval / max(10 * self.capacity, 1000)) for score in self.scores]
        missing = len(set(self.shadows[best].keys) - set(self.keys))
        if len(self.keys) < self.capacity:
            return
        if self.without_hit >= 6 * self.capacity:
            if self.leader != 1:
                self.own, self.since, self.former, self.leader = 0, [0] * 5, None, 1
                self.strays = [key for key in self.keys if key not in self.shadows[1].keys]
        elif ahead > 3.0 and ahead > 3.0 + self.price * missing:
            if self.former is not None:
                self.price *= 1.5 if self.own < self.since[self.former] else 0.7
                self.price = min(max(self.price, 0.1), 1.0)
            self.own, self.since = 0, [0] * 5
            self.former, self.leader = self.leader, best
            self.strays = [key for key in self.keys if key not in self.shadows[best].keys]


def build_pair(name, capacity, share):
    evicted = []
    if name == "w-tinylfu":
        sizes = SegmentSizes.of_share(capacity, share)
        return WTinyLfuPolicy(capacity, sizes, evicted.append), WTinyLfuModel(sizes), evicted
    if name == "adaptive":
        return adaptive_policy(capacity, evicted.append), AdaptiveModel(capacity), evicted
    policy, model = {
        "fifo": (FifoPolicy, FifoModel),
        "lfu": (LfuPolicy, LfuModel),
        "lirs": (LirsPolicy, LirsModel),
        "lru": (LruPolicy, LruModel),
    }[name]
    return policy(capacity, evicted.append), model(capacity), evicted


@pytest.mark.parametrize("name", ["fifo", "lru", "lfu", "lirs", "w-tinylfu", "adaptive"])
@settings(max_examples=120, deadline=None)
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
    # Exact counts: in a sketch, names may collide, and which ones do differs from run to run as Python salts hashes.
    policy = WTinyLfuPolicy(10, SegmentSizes(window=9, main=1, protected=0), sketch=AgedCounts(100, 100))
    for key in ["cup", "cup", *"abcdefghi"]:
        policy.access(key)
    assert "cup" in policy, "the window's victim took main's free place"
    for key in "jklmn":
        policy.access(key)
    assert "cup" in policy, "what was seen once does not replace what was seen twice"
    for key in ["plate"] * 3 + list("opqrstuvw"):
        policy.access(key)
    assert "cup" not in policy
    assert "plate" in policy


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


def scan_and_loop(rng, length):
    """Yields a workload that changes: skewed keys among scans, a loop that does not fit, a drifting working set."""
    third = length // 3
    skewed = [int(rng.paretovariate(0.8)) for _ in range(third)]
    scans = [key if position % 3 else 10**6 + position for position, key in enumerate(skewed)]
    loop = [2 * 10**6 + position % 150 for position in range(third)]
    drift = [3 * 10**6 + position // 20 + rng.randrange(60) for position in range(third)]
    unknown = [4 * 10**6 + position for position in range(300)]
    return unknown + scans + loop + drift


def test_change_of_the_leader_grows_dearer_when_it_lost_and_cheaper_when_it_paid():
    price = ChangePrice()
    price.pay(leader=0, own_hits=0, shadow_hits=[9, 9])
    assert price.hits_a_key == pytest.approx(0.1), "nothing is known of the first one yet"
    for own_hits, expected in ((5, 0.15), (5, 0.225), (20, 0.1575), (20, 0.11025), (20, 0.1)):
        price.pay(leader=0, own_hits=own_hits, shadow_hits=[9, 9])
        assert price.hits_a_key == pytest.approx(expected)


def test_adaptive_does_what_its_plain_model_does_when_the_workload_changes():
    evicted = []
    policy, model = adaptive_policy(40, evicted.append), AdaptiveModel(40)
    leaders = set()
    for key in scan_and_loop(random.Random(3), 9000):
        assert policy.access(key) == model.access(key)
        leaders.add(policy.leader)
        assert policy.leader == policy._shadows.names[model.leader]
    assert evicted == model.evicted
    assert sorted(policy) == sorted(model.keys)
    assert len(leaders) >= 3, "this workload must make it change its mind"


@pytest.mark.parametrize(
    ("workload", "length"),
    [
        (lambda rng, n: [int(rng.paretovariate(0.8)) for _ in range(n)], 12_000),
        (lambda rng, n: [position % 150 for position in range(n)], 12_000),
        (lambda rng, n: [position // 20 + rng.randrange(60) for position in range(n)], 12_000),
        (scan_and_loop, 24_000),
    ],
    ids=["skewed", "loop", "drift", "all"],
)
@pytest.mark.parametrize("capacity", [20, 100])
def test_adaptive_reaches_the_best_fixed_policy(workload, length, capacity):
    keys = workload(random.Random(5), length)
    fixed = [FifoPolicy(capacity), LruPolicy(capacity), WTinyLfuPolicy(capacity)]
    best = max(sum(map(policy.access, keys)) for policy in fixed)
    policy = adaptive_policy(capacity)
    assert isinstance(policy, FollowingPolicy)
    assert sum(map(policy.access, keys)) >= 0.99 * best


@pytest.mark.parametrize("workload", [0, 1, 2])
def test_sampled_shadows_find_the_right_window(workload):
    rng = random.Random(9)
    keys = (
        [int(rng.paretovariate(0.6)) % 200_000 for _ in range(60_000)],
        [position % 2500 for position in range(60_000)],
        [position // 2 + int(rng.expovariate(1 / 900.0)) for position in range(60_000)],
    )[workload]
    fixed = [LruPolicy(2000), WTinyLfuPolicy(2000)]
    best = max(sum(map(policy.access, keys)) for policy in fixed)
    policy = ResizingPolicy(2000, shadow_capacity=250)
    hits = 0
    for key in keys:
        hits += policy.access(key)
        assert len(policy) <= 2000
    assert hits >= 0.97 * best


def test_resized_segments_get_to_their_sizes_without_losing_a_key():
    policy = WTinyLfuPolicy(100, SegmentSizes.of_share(100, 1.0))
    for key in range(100):
        policy.access(key)
    for share in (0.01, 0.5, 1.0, 0.2):
        policy.resize(SegmentSizes.of_share(100, share))
        for key in range(50):
            assert policy.access(key), "a hit must not evict anything"
        assert sorted(policy) == list(range(100))
        assert len(policy._window) == policy.sizes.window
        assert len(policy._protected) <= policy.sizes.protected


def test_aged_counts_are_a_sketch_without_collisions():
    rng = random.Random(4)
    counts, sketch = AgedCounts(600, 1000), FrequencySketch(20_000, sample_size=600)
    for step in range(6000):
        key = int(rng.paretovariate(0.5)) % 400 + step // 100
        assert counts.add(key) == sketch.add(key)
        assert counts.estimate(key - 50) == sketch.estimate(key - 50)
    assert (counts.halvings, counts.age) == (sketch.halvings, sketch.age)


def test_aged_counts_forget_the_lowest_when_there_are_too_many():
    counts = AgedCounts(10**9, 100)
    for number in range(20_000):
        counts.add(("once", number))
        counts.add(("often", number % 50))
        assert len(counts) <= 200
    assert all(counts.estimate(("often", number)) == 15 for number in range(50))


def test_lirs_keeps_the_same_part_of_a_loop_that_does_not_fit():
    policy = LirsPolicy(100)
    hits = [policy.access(position % 150) for position in range(6000)]
    assert sum(hits[-1500:]) == 990, "all but the one cold place, in each of the last ten rounds"


def test_lirs_remembers_a_bounded_number_of_keys():
    policy = LirsPolicy(10)
    for number in range(10_000):
        policy.access(number % 7)
        policy.access(("once", number))
        assert len(policy._stack) <= 10 + 50


@pytest.mark.parametrize("name", ["fifo", "lfu"])
def test_policies_that_only_serve_comparison_are_no_choice(name):
    with pytest.raises(InvalidValueError, match="lru, w-tinylfu, adaptive"):
        ShortTermConfig(policy=name)


def test_lirs_finds_hot_keys_again_after_all_were_removed() -> None:
    policy = LirsPolicy(10)
    for key in range(10):
        policy.access(key)
    for key in range(9):
        policy.remove(key)
    for key in (20, 20, *range(30, 60)):
        policy.access(key)
    assert 20 in policy
