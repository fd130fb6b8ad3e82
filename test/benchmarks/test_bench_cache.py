import gzip
import random
from pathlib import Path

import pytest

from benchmarks.adaptive import FollowingPolicy
from benchmarks.cache import FifoPolicy
from memory_node.short_term.lru import LruPolicy
from memory_node.short_term.w_tinylfu import WTinyLfuPolicy


@pytest.fixture
def trace(tmp_path: Path) -> str:
    path = tmp_path / "small.trace.gz"
    with gzip.open(path, "wt") as file:
        file.write("\n".join(["cup", "plate", "fork", "cup", "cup", "plate", "knife", "cup"]) + "\n")
    return str(path)


@pytest.fixture
def by_policy(rows_of):
    return lambda *words: {row["policy"]: row for row in rows_of("cache", *words)}


def test_rows_count_hits_by_hand(by_policy, trace):
    rows = by_policy("--trace", trace, "--capacity", "2", "--policy", "fifo", "lru", "adaptive", "--belady")
    assert rows["lru"]["hits"] == 1
    assert rows["fifo"]["hits"] == 1
    assert rows["belady"]["hits"] == 3
    assert rows["lru"]["accesses"] == 8
    assert rows["lru"]["hit_ratio"] == 1 / 8
    assert rows["lru"]["trace"] == "small"
    assert all(row["hits"] <= 3 and row["ops_per_s"] > 0 for row in rows.values())


def test_task_aware_rows_are_no_worse_than_the_optimum_and_better_than_blind(by_policy, trace):
    rows = by_policy("--trace", trace, "--capacity", "2", "--policy", "lru", "--task-aware", "--belady")
    assert rows["lru"]["hits"] < rows["lru+task"]["hits"] <= rows["belady"]["hits"]


def test_theine_is_run_beside_ours(by_policy, trace):
    pytest.importorskip("theine")
    rows = by_policy("--trace", trace, "--capacity", "3", "--policy", "w-tinylfu", "--compare", "theine")
    assert set(rows) == {"w-tinylfu", "theine"}


def test_bad_capacity_is_refused(refusal_of, trace):
    assert "at least 1" in refusal_of("cache", "--trace", trace, "--capacity", "0")


def test_trace_that_is_not_there_is_named(tmp_path, refusal_of):
    missing = tmp_path / "none.trace"
    assert f"there is no file {missing}" in refusal_of("cache", "--trace", str(missing), "--capacity", "5")


@pytest.mark.parametrize(
    "workload",
    [
        lambda rng, n: [int(rng.paretovariate(0.8)) for _ in range(n)],
        lambda rng, n: [position % 150 for position in range(n)],
        lambda rng, n: [position // 20 + rng.randrange(60) for position in range(n)],
    ],
    ids=["skewed", "loop", "drift"],
)
def test_adaptive_reaches_the_best_fixed_policy(workload):
    keys, evicted = workload(random.Random(5), 12_000), []
    best = max(sum(map(policy.access, keys)) for policy in (FifoPolicy(100), LruPolicy(100), WTinyLfuPolicy(100)))
    policy = FollowingPolicy(100, evicted.append)
    hits = sum(map(policy.access, keys))
    assert hits >= 0.99 * best
    assert len(policy) == 100
    assert len(evicted) == 12_000 - hits - 100
