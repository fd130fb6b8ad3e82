from hypothesis import given
from hypothesis import strategies as st

from memory_node.short_term.lru import LruPolicy
from memory_node.short_term.policies import TaskAwarePolicy


class TaskAwareModel:
    """LRU that passes pinned keys over, as long as they are at most half; what lost its pin goes first."""

    def __init__(self, capacity):
        self.capacity, self.order, self.parked, self.released, self.pins = capacity, [], [], [], set()
        self.evicted = []

    @property
    def keys(self):
        return [*self.order, *self.parked, *self.released]

    def access(self, key):
        held = key in self.keys
        for part in (self.parked, self.released):
            if key in part:
                part.remove(key)
        if key not in self.order and len(self.order) == self.capacity:
            self.leave(self.order[0])
        if key in self.order:
            self.order.remove(key)
        self.order.append(key)
        while len(self.keys) > self.capacity:
            self.evict()
        return held

    def leave(self, key):
        self.order.remove(key)
        if key not in self.pins:
            self.evicted.append(key)
            return
        self.parked.append(key)
        if len(self.parked) > max(1, self.capacity // 2):
            self.released.append(self.parked.pop(0))

    def evict(self):
        while not self.released:
            if not self.order:
                self.released.append(self.parked.pop(0))
                break
            before = len(self.evicted)
            self.leave(self.order[0])
            if len(self.evicted) > before:
                return
        self.evicted.append(self.released.pop(0))

    def remove(self, key):
        for part in (self.order, self.parked, self.released):
            if key in part:
                part.remove(key)

    def pin(self, keys):
        self.pins = set(keys)
        self.released += [key for key in self.parked if key not in self.pins]
        self.parked = [key for key in self.parked if key in self.pins]


@given(
    capacity=st.integers(1, 8),
    steps=st.lists(
        st.one_of(
            st.tuples(st.sampled_from(["access"] * 6 + ["remove", "evict"]), st.integers(0, 15)),
            st.tuples(st.just("pin"), st.frozensets(st.integers(0, 15), max_size=6)),
        ),
        max_size=150,
    ),
)
def test_task_aware_policy_does_what_its_plain_model_does(capacity, steps):
    evicted, pins, model = [], set(), TaskAwareModel(capacity)
    policy = TaskAwarePolicy(lambda on_evict: LruPolicy(capacity, on_evict), pins.__contains__, evicted.append)
    for action, value in steps:
        if action == "pin":
            pins.clear()
            pins.update(value)
            policy.pins_changed()
            model.pin(value)
        elif action == "access":
            assert policy.access(value) == model.access(value)
        elif action == "remove":
            assert policy.remove(value) == (value in model.keys)
            model.remove(value)
        elif model.keys:
            assert policy.evict() == evicted[-1]
            model.evict()
        assert evicted == model.evicted
        assert sorted(policy) == sorted(model.keys)
        assert len(policy) <= capacity
