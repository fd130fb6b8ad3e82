import random
import threading
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from memory_node.domain.memory_unit import MemoryUnit
from memory_node.domain.skill import StateChange
from memory_node.domain.states import ObjectState, StateBelief
from memory_node.short_term.config import POLICY_NAMES, ShortTermConfig
from memory_node.short_term.object_cache import ObjectCache
from memory_node.short_term.units import StateClaim

S = 1_000_000_000


def unit(object_id, object_class="Mug", stamp_s=1.0, **fields):
    fields.setdefault("position", np.array([1.0, 2.0, 0.8]))
    return MemoryUnit(
        object_id=object_id,
        object_class=object_class,
        covariance=np.eye(3) * 0.01,
        stamp_ns=int(stamp_s * S),
        **fields,
    )


def cache_of(capacity=4, **fields):
    fields.setdefault("policy", "lru")
    return ObjectCache(ShortTermConfig(capacity=capacity, **fields))


def test_same_object_merges_in_place():
    cache = cache_of()
    cleaned = StateBelief(ObjectState.CLEANED, 0.9, 1 * S)
    cache.put(unit("a", states=(cleaned,), area_id="area_1"))
    cache.put(unit("a", stamp_s=5.0, position=np.array([3.0, 0.0, 0.0])))
    assert len(cache) == 1
    held = cache.get("a")
    assert held.position[0] == 3.0
    assert held.states == (cleaned,)
    assert held.area_id == "area_1"
    cache.put(unit("a", stamp_s=2.0))
    assert cache.get("a").position[0] == 3.0, "what arrives late does not undo what is newer"
    statistics = cache.statistics()
    assert (statistics.insertions, statistics.merges, statistics.evictions) == (1, 2, 0)


def test_lookup_counts_one_need_each_and_feeds_the_policy():
    cache = cache_of(2)
    cache.put(unit("a", "Mug", 1.0))
    cache.put(unit("b", "Plate", 2.0))
    for answered_by in ("a", "", ""):
        cache.count_lookup(answered_by)
    cache.put(unit("c", "Fork", 3.0))
    assert "a" in cache, "the lookup made it the more recent one"
    assert "b" not in cache
    statistics = cache.statistics()
    assert (statistics.lookups, statistics.hits, statistics.evictions) == (3, 1, 1)
    assert statistics.hit_ratio == pytest.approx(1 / 3)


def test_sightings_in_quick_succession_are_one_use():
    # Uses are estimated by hashes, which differ in every process: names that collide with others seem used more often.
    evicted = sum(is_evicted_after_one_use(str(number)) for number in range(20))
    assert evicted >= 15, "it was used once, what came late twice"


def is_evicted_after_one_use(name):
    cache = cache_of(10, policy="w-tinylfu", window_share=0.1, use_interval_s=2.0)
    for number in range(10):
        cache.put(unit(f"seen{name}", stamp_s=1.0 + 0.1 * number))
    for number in range(9):
        cache.put(unit(f"other{name}{number}", stamp_s=3.0))
        cache.count_lookup(f"other{name}{number}")
    for number in range(2):
        cache.put(unit(f"late{name}", stamp_s=4.0 + 3.0 * number))
    cache.put(unit(f"later{name}", stamp_s=9.0))
    return f"seen{name}" not in cache


def test_warm_only_above_95_percent():
    cache = cache_of(20)
    for number in range(19):
        cache.put(unit(str(number)))
    assert not cache.statistics().warm
    cache.put(unit("last"))
    assert cache.statistics().warm
    cache.forget("last")
    cache.forget("3")
    assert cache.statistics().warm, "once warmed up"
    assert cache.statistics().figures()["occupancy"] == 0.9
    assert cache_of().statistics().hit_ratio is None


def test_skill_effects_change_destroy_and_create():
    cache = cache_of()
    cache.put(unit("apple", "Apple", states=(StateBelief(ObjectState.DIRTY, 0.9, S),)))
    cache.apply(StateChange("apple", "Apple", 2 * S, added=(ObjectState.CLEANED,)))
    assert [belief.state for belief in cache.get("apple").states] == [ObjectState.CLEANED]
    cache.apply(StateChange("apple", "Apple", 3 * S, support_id="bowl", inside=True, position=(5.0, 0.0, 1.0)))
    assert cache.get("apple").support_id == "bowl"
    assert cache.apply(StateChange("apple", "Apple", 4 * S, destroyed=True)) is None
    born = cache.apply(StateChange("slice1", "AppleSliced", 4 * S, added=(ObjectState.SLICED,), created_from="apple"))
    assert born.position[0] == 5.0, "a slice is where the whole was, though that is gone already"
    assert born.has_state(ObjectState.CLEANED)
    assert born.has_state(ObjectState.SLICED)
    assert "apple" not in cache
    assert cache.apply(StateChange("ghost", "Cup", 5 * S, added=(ObjectState.ON,))) is None, "nobody knows where"
    held = cache.apply(StateChange("slice1", "AppleSliced", 6 * S, held=True))
    assert held.support_id == ""


def test_a_slice_may_be_of_one_of_the_last_sixteen_things_that_left():
    cache = cache_of(30)

    def cut(whole):
        return cache.apply(StateChange("slice", "AppleSliced", 4 * S, created_from=whole))

    for number in range(17):
        cache.put(unit(f"o{number}"))
        cache.forget(f"o{number}")
    assert (cut("o0") is None, cut("o1") is None) == (True, False)
    cache.clear()
    assert cut("o2") is None, "what was forgotten with all others is not known"


@pytest.mark.parametrize("policy", POLICY_NAMES)
def test_what_pending_subgoals_name_stays(policy):
    cache = cache_of(6, policy=policy)
    cache.put(unit("knife", "Knife"))
    cache.put(unit("bread", "Bread"))
    cache.pin(["knife"], ["Bread"])
    for number in range(100):
        cache.put(unit(f"x{number}", "Thing", 2.0 + number))
        assert len(cache) <= 6
    assert "knife" in cache
    assert "bread" in cache
    assert cache.statistics().pinned == 2
    cache.pin()
    for number in range(100, 200):
        cache.put(unit(f"x{number}", "Thing", 2.0 + number))
    assert "knife" not in cache
    assert "bread" not in cache


@pytest.mark.parametrize("policy", POLICY_NAMES)
def test_what_the_robot_used_stays_when_it_looks_round_for_long(policy):
    cache = cache_of(6, policy=policy, use_interval_s=1.0)
    cache.put(unit("a"))
    cache.apply(StateChange("a", "Mug", 2 * S, held=True))
    for number in range(100):
        for again in range(5):
            cache.put(unit(f"x{number}", "Mug", 10.0 * number + 2.0 * again + 3.0))
    assert "a" in cache
    for number in range(10):
        cache.apply(StateChange(f"y{number}", "Mug", (2000 + number) * S, held=True, position=np.zeros(3)))
    assert "a" not in cache, "of what it used the latest stay"


@pytest.mark.parametrize("policy", POLICY_NAMES)
def test_what_was_used_hours_ago_goes_like_all_else(policy):
    cache = cache_of(6, policy=policy)
    for number in range(3):
        cache.apply(StateChange(f"a{number}", "Mug", (number + 1) * S, held=True, position=np.zeros(3)))
    for number in range(50):
        cache.put(unit(f"x{number}", "Mug", 60.0 + number))
    assert cache.statistics().size == 6
    assert all(f"a{number}" in cache for number in range(3))
    for number in range(50):
        cache.put(unit(f"y{number}", "Mug", 5 * 3600.0 + number))
    assert not any(f"a{number}" in cache for number in range(3))
    assert not any(one.pinned for one in cache.leaving())


@pytest.mark.parametrize("policy", POLICY_NAMES)
def test_what_the_robot_uses_stays_after_a_clear_where_stamps_begin_anew(policy):
    cache = cache_of(6, policy=policy)
    cache.put(unit("x", "Mug", 9 * 3600.0))
    cache.clear()
    cache.apply(StateChange("a", "Mug", S, held=True, position=np.zeros(3)))
    assert [one.pinned for one in cache.leaving()] == [True]


def test_more_pins_than_room_still_lets_new_objects_in():
    cache = cache_of(4, policy="w-tinylfu")
    cache.pin(object_classes=["Mug"])
    for number in range(50):
        cache.put(unit(f"mug{number}", "Mug", number))
        assert f"mug{number}" in cache
        assert len(cache) <= 4


def test_disk_that_takes_no_crop_costs_only_the_picture(tmp_path):
    (tmp_path / "file").write_text("in the way of the folder")
    cache = cache_of(3, crop_folder=str(tmp_path / "file" / "crops"))
    cache.put(unit("a"), crop_jpeg=b"jpeg")
    assert cache.get("a").image_path == ""


def test_crops_keep_to_their_budget_and_leave_with_their_unit(tmp_path):
    stale = tmp_path / "old.jpg"
    stale.write_bytes(b"x")
    cache = cache_of(3, crop_folder=str(tmp_path), crop_budget_mb=2.5e-4)
    assert not stale.exists(), "the memory is volatile, and so are its crops"
    for name in "abc":
        cache.put(unit(name), crop_jpeg=name.encode() * 100)
    assert cache.get("a").image_path == "", "250 bytes hold two crops"
    assert {path.stat().st_mode & 0o777 for path in tmp_path.iterdir()} == {0o600}
    assert [Path(cache.get(name).image_path).read_bytes() for name in "bc"] == [b"b" * 100, b"c" * 100]
    cache.forget("b")
    assert len(list(tmp_path.iterdir())) == 1
    cache.put(unit("c"), crop_jpeg=b"n" * 120)
    assert cache.statistics().crop_bytes == 120
    cache.put(unit("big"), crop_jpeg=b"n" * 1000)
    assert cache.get("big").image_path == ""
    cache.clear()
    assert list(tmp_path.iterdir()) == []
    assert cache.statistics().crop_bytes == 0


def test_what_the_robot_used_is_known_and_stays_when_others_are_only_seen():
    cache = cache_of(4, policy="lru", use_interval_s=10.0)
    for name in "abcd":
        cache.put(unit(name))
    cache.apply(StateChange("a", "Cup", 2 * S, held=True))
    cache.put(unit("a", stamp_s=3.0))
    cache.apply(StateChange("b", "Cup", 3 * S, added=(ObjectState.DIRTY,), source="camera"))
    assert (cache.get("a").used_ns, cache.get("b").used_ns) == (2 * S, 0)
    cache.put(unit("e", stamp_s=4.0))
    assert "a" in cache, "the skill's effect was a use, though it was seen a moment before"


def test_pictures_of_an_earlier_life_go(tmp_path):
    settings = {"crop_folder": str(tmp_path / "c")}
    cache_of(3, **settings).put(unit("a"), crop_jpeg=b"jpeg")
    assert len(list((tmp_path / "c").iterdir())) == 1
    cache_of(3, **settings)
    assert list((tmp_path / "c").iterdir()) == []


def test_conflicting_states_are_settled_by_age_and_confidence_and_counted():
    cache = cache_of(state_half_life_s=100.0)
    cache.put(unit("cup", states=(StateBelief(ObjectState.CLEANED, 0.9, 10 * S),)))

    def claim(state, probability, stamp_ns):
        claims = [StateClaim(state, probability, stamp_ns)]
        return cache.claim_states("cup", cache.get("cup").states, claims, stamp_ns)

    claim(ObjectState.DIRTY, 0.8, 20 * S)
    assert cache.get("cup").has_state(ObjectState.CLEANED)
    claim(ObjectState.DIRTY, 0.8, 300 * S)
    assert cache.get("cup").states == (StateBelief(ObjectState.DIRTY, 0.8, 300 * S, "vlm"),)
    claim(ObjectState.FILLED, 0.7, 300 * S)
    assert cache.get("cup").has_state(ObjectState.FILLED)
    claim(ObjectState.FILLED, 0.1, 310 * S)
    assert not cache.get("cup").has_state(ObjectState.FILLED)
    assert cache.statistics().state_conflicts == 3


def test_states_of_an_object_that_is_not_held_are_settled_all_the_same():
    cache = cache_of()
    states = cache.claim_states("nobody", (), [StateClaim(ObjectState.ON, 0.9, S)], S)
    assert states == (StateBelief(ObjectState.ON, 0.9, S, "vlm"),)
    assert "nobody" not in cache


@pytest.mark.parametrize("policy", POLICY_NAMES)
def test_invariants_hold_over_random_operations(policy, tmp_path):
    rng = random.Random(11)
    cache = cache_of(12, policy=policy, crop_folder=str(tmp_path), crop_budget_mb=1e-3)
    base = unit("base")
    puts = 0
    for step in range(20_000):
        object_id, action = f"o{int(rng.paretovariate(0.7)) % 60}", rng.random()
        if action < 0.5:
            crop = b"j" * rng.randrange(1, 300) if action < 0.005 else b""
            cache.put(replace(base, object_id=object_id, object_class=object_id[:2], stamp_ns=step * S), crop)
            puts += 1
        elif action < 0.9:
            cache.count_lookup(object_id if cache.get(object_id) else "")
        elif action < 0.95:
            cache.apply(StateChange(object_id, object_id[:2], step * S, destroyed=action < 0.91, position=(0, 0, 0)))
        elif action < 0.97:
            cache.forget(object_id)
        elif action < 0.98:
            cache.pin([f"o{rng.randrange(60)}" for _ in range(rng.randrange(10))], ["o1"] * rng.randrange(2))
        if step % 50:
            continue
        units = cache.units()
        ids = {held.object_id for held in units}
        assert len(ids) == len(units) == len(cache) <= 12
        assert set(cache._policy) == ids
        assert set(cache._last_use_ns) == ids
        crops = {path.name: path.stat().st_size for path in tmp_path.iterdir()}
        assert sum(crops.values()) == cache.statistics().crop_bytes <= 1000
        assert len(crops) == sum(bool(held.image_path) for held in units)
        counted = cache.statistics()
        assert counted.insertions - counted.evictions - counted.removals == len(units)


def test_readers_do_not_wait_for_writers():
    cache = cache_of(50)
    for number in range(50):
        cache.put(unit(f"o{number}"))
    found = []

    def read():
        for _ in range(100):
            cache.count_lookup("o3")
            found.append((cache.get("o4"), len(cache.units())))

    with cache._lock:  # a writer in the middle of its work
        reader = threading.Thread(target=read, daemon=True)
        reader.start()
        reader.join(30.0)
        assert len(found) == 100
    assert all(unit and count == 50 for unit, count in found)
    assert cache.statistics().lookups == 100


def test_threads_leave_a_consistent_cache():
    cache = cache_of(20, policy="w-tinylfu")
    failures = []

    def work(seed):
        rng = random.Random(seed)
        try:
            for step in range(800):
                object_id = f"o{rng.randrange(40)}"
                if rng.random() < 0.5:
                    cache.put(unit(object_id, stamp_s=step))
                else:
                    cache.count_lookup(object_id)
                    cache.units()
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert failures == []
    statistics = cache.statistics()
    assert statistics.insertions - statistics.evictions == len(cache) <= 20
    assert {held.object_id for held in cache.units()} == set(cache._policy)
