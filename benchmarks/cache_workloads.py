"""Access traces that are made from a seed, of many kinds; for `bench cache --workload`."""

from __future__ import annotations

import itertools
import random
from bisect import bisect
from collections.abc import Callable, Iterator

# Kinds of accesses that a program mixes; each yields keys of its own for ever.
Source = Iterator[int]
_FAR = 1_000_000


def zipf(rng: random.Random, keys: int, skew: float) -> Source:
    """Independent accesses; the r-th most wanted key comes with a probability of 1 / r^skew."""
    weights = list(itertools.accumulate(rank**-skew for rank in range(1, keys + 1)))
    order = rng.sample(range(keys), keys)
    while True:
        yield order[bisect(weights, rng.random() * weights[-1])]


def drifting_zipf(rng: random.Random, keys: int, skew: float, accesses_a_swap: int) -> Source:
    """As `zipf`, but every so many accesses a wanted key changes places with any other one."""
    weights = list(itertools.accumulate(rank**-skew for rank in range(1, keys + 1)))
    order = rng.sample(range(keys), keys)
    for number in itertools.count(1):
        if number % accesses_a_swap == 0:
            one, other = int(rng.random() ** 3 * keys), rng.randrange(keys)
            order[one], order[other] = order[other], order[one]
        yield order[bisect(weights, rng.random() * weights[-1])]


def loop(rng: random.Random, keys: int, jitter: float = 0.0) -> Source:
    """The same keys in the same order, over and over; jitter: the share of accesses that go elsewhere in it."""
    for position in itertools.cycle(range(keys)):
        yield rng.randrange(keys) if jitter and rng.random() < jitter else position


def changing_loop(rng: random.Random, shortest: int, longest: int, rounds: int) -> Source:
    """A loop whose length is drawn anew every few rounds."""
    while True:
        length = rng.randint(shortest, longest)
        for _ in range(rounds):
            yield from range(length)


def scan(rng: random.Random) -> Source:
    """Keys that come once."""
    return itertools.count(rng.randrange(_FAR))


def working_set(rng: random.Random, keys: int, accesses_a_step: int) -> Source:
    """Any of so many neighbouring keys, a neighbourhood that moves on by one key every so many accesses."""
    for number in itertools.count():
        yield number // accesses_a_step + rng.randrange(keys)


def stack(rng: random.Random, keys: int, exponent: float) -> Source:
    """The d-th last used key comes again with a probability of 1 / d^exponent (LRU stack model)."""
    recent = list(range(keys))
    weights = list(itertools.accumulate(depth**-exponent for depth in range(1, keys + 1)))
    while True:
        key = recent.pop(-1 - bisect(weights, rng.random() * weights[-1]))
        recent.append(key)
        yield key


def join(rng: random.Random, inner: int, outer_repeats: int) -> Source:
    """A nested loop: for each key of an endless table, the same inner table, as a database joins."""
    for outer in itertools.count():
        for _ in range(outer_repeats):
            yield _FAR + outer
        yield from range(inner)


def tree(rng: random.Random, leaves: int, skew: float) -> Source:
    """Look-ups in a tree of sixteen branches a node: root, nodes, leaf; inner nodes are wanted far more often."""
    for leaf in zipf(rng, leaves, skew):
        level, node = 0, 0
        width = leaves
        path = [leaf]
        while width > 1:
            node, level, width = path[-1] // 16, level + 1, (width + 15) // 16
            path.append(node)
        yield from (level * _FAR + node for level, node in reversed(list(enumerate(path))))


def tasks(rng: random.Random, things: int, rooms: int) -> Source:
    """A robot's household tasks: some things of a room, each used several times, some fixtures time and again."""
    fixtures = zipf(rng, max(4, things // 6), 0.9)
    homes = [rng.sample(range(things), max(4, things // rooms)) for _ in range(rooms)]
    room = 0
    while True:
        if rng.random() < 0.3:
            room = rng.randrange(rooms)
        used = rng.sample(homes[room], min(len(homes[room]), rng.randint(1, 4)))
        for thing in used:
            for _ in range(rng.randint(1, 3)):
                yield thing
                yield _FAR + next(fixtures)


def interleaved(rng: random.Random, sources: list[Source], burst: float) -> Source:
    """Several programs at once, on keys of their own; each runs for bursts of this mean length."""
    weights = [rng.uniform(0.2, 1.0) for _ in sources]
    while True:
        number = rng.choices(range(len(sources)), weights)[0]
        for _ in range(1 + int(rng.expovariate(1.0 / burst))):
            yield number * 10 * _FAR + next(sources[number])


def _some_program(rng: random.Random) -> Source:
    makers: list[Callable[[], Source]] = [
        lambda: zipf(rng, rng.randint(300, 3000), rng.uniform(0.6, 1.2)),
        lambda: loop(rng, rng.randint(100, 1500), rng.choice([0.0, 0.02, 0.1])),
        lambda: changing_loop(rng, 20, rng.randint(200, 1500), rng.randint(1, 6)),
        lambda: working_set(rng, rng.randint(50, 500), rng.randint(2, 20)),
        lambda: stack(rng, rng.randint(300, 2000), rng.uniform(1.0, 1.6)),
        lambda: scan(rng),
        lambda: join(rng, rng.randint(50, 500), rng.randint(1, 3)),
        lambda: tree(rng, rng.randint(500, 3000), rng.uniform(0.4, 1.0)),
    ]
    return rng.choice(makers)()


def _programs(rng: random.Random) -> Source:
    count = rng.randint(2, 4)
    return interleaved(rng, [_some_program(rng) for _ in range(count)], rng.choice([1.0, 20.0, 200.0]))


def _phases(rng: random.Random) -> Source:
    """Yield one program after the other, some of which come back."""
    known = [_some_program(rng) for _ in range(rng.randint(2, 4))]
    while True:
        number = rng.randrange(len(known))
        for _ in range(rng.randint(1500, 8000)):
            yield number * 10 * _FAR + next(known[number])


def _scanned(rng: random.Random) -> Source:
    wanted = zipf(rng, rng.randint(400, 3000), rng.uniform(0.7, 1.1))
    passing = scan(rng)
    while True:
        for _ in range(rng.randint(200, 3000)):
            yield next(wanted)
        for _ in range(rng.randint(50, 2000)):
            yield 10 * _FAR + next(passing)


WORKLOADS: dict[str, Callable[[random.Random], Source]] = {
    "zipf": lambda rng: zipf(rng, rng.randint(1000, 5000), rng.uniform(0.6, 1.2)),
    "drift": lambda rng: drifting_zipf(rng, rng.randint(500, 3000), rng.uniform(0.8, 1.2), rng.randint(5, 100)),
    "scans": _scanned,
    "loops": lambda rng: interleaved(rng, [loop(rng, rng.randint(100, 1200), 0.02) for _ in range(2)], 50.0),
    "changing-loop": lambda rng: changing_loop(rng, 50, rng.randint(300, 2000), rng.randint(2, 8)),
    "working-set": lambda rng: working_set(rng, rng.randint(100, 1000), rng.randint(2, 30)),
    "stack": lambda rng: stack(rng, rng.randint(500, 3000), rng.uniform(0.9, 1.6)),
    "join": lambda rng: interleaved(
        rng, [join(rng, rng.randint(50, 800), 1), zipf(rng, 1000, rng.uniform(0.7, 1.1))], 100.0
    ),
    "tree": lambda rng: tree(rng, rng.randint(1000, 5000), rng.uniform(0.4, 1.0)),
    "household": lambda rng: tasks(rng, rng.randint(40, 400), rng.randint(3, 10)),
    "programs": _programs,
    "phases": _phases,
}


def make_trace(kind: str, seed: int, length: int) -> list[int]:
    """Return so many accesses of a workload; keys are numbers from 0 in the order of their first use."""
    source = WORKLOADS[kind](random.Random(f"{kind}/{seed}"))
    numbers: dict[int, int] = {}
    return [numbers.setdefault(key, len(numbers)) for key in itertools.islice(source, length)]
