"""The processes that `bench store` runs, and kills: writers under load, and a start that reads everything."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterator

import numpy as np

from benchmarks.process_figures import end_with
from memory_node.app.progress import shown
from memory_node.domain.geometry import OrientedBox
from memory_node.domain.scene import SceneEvent, SceneEventKind, SceneObject
from memory_node.domain.skill import FailureReason, SkillCall
from memory_node.domain.step import StepRecord
from memory_node.store.config import StoreConfig
from memory_node.store.store import Store, open_store

GROUP = 100
_CLASSES = ("mug", "bowl", "apple", "book", "lamp", "knife", "towel", "bottle")


def object_id(number: int) -> str:
    """Return the id of the load's n-th object."""
    return f"019aa000-0000-7000-8000-{number:012d}"


def make_object(rng: np.random.Generator, number: int, embedding_size: int = 0) -> SceneObject:
    """Return a plausible object of the load."""
    embedding = rng.normal(size=embedding_size).astype(np.float32) if embedding_size else None
    name = _CLASSES[number % len(_CLASSES)]
    return SceneObject(
        id=object_id(number),
        class_probabilities={name: 0.8, "object": 0.2},
        box=OrientedBox(rng.uniform(-20, 20, 3), rng.uniform(0.05, 0.4, 3), float(rng.uniform(-3, 3))),
        covariance=np.diag(rng.uniform(1e-4, 1e-2, 3)),
        existence=0.9,
        first_seen_ns=1,
        last_seen_ns=1,
        area_id=f"area{number % 50}",
        embedding=embedding,
    )


def make_step(episode: int, index: int) -> StepRecord:
    """Return a plausible step of the load."""
    call = SkillCall("PickUp", (_CLASSES[index % len(_CLASSES)], object_id(index % 1000)))
    return StepRecord(
        episode_id=f"019aa000-0000-7000-9000-{episode:012d}",
        index=index,
        action=call,
        success=True,
        reason=FailureReason.NONE,
        stamp_ns=1_000_000_000 * index,
        room="kitchen",
        area=f"area{index % 50}",
        position=(1.0, 2.0, 0.0),
        visible=_CLASSES[: index % 5],
        relations=("apple on table",),
        duration_s=1.5,
    )


def _say(**line: object) -> None:
    os.write(1, json.dumps(line).encode() + b"\n")


def rounds_of_updates(objects: list[SceneObject], first: int) -> Iterator[tuple[int, int, list[SceneEvent]]]:
    """Yield (first object's number, counter, events) for ever; the counter only grows."""
    counter, start = first, 0
    while True:
        group = objects[start : start + GROUP]
        stamped = (o.changed(times_seen=counter, last_seen_ns=counter) for o in group)
        yield start, counter, [SceneEvent(SceneEventKind.UPDATED, counter, o) for o in stamped]
        start += GROUP
        if start >= len(objects):
            start, counter = 0, counter + 1


def write_until_killed(path: str, seed: int, count: int) -> None:
    """Restart, say when ready, then write and report what was acknowledged, for ever."""
    rng = np.random.default_rng(seed)
    store = open_store(path, "bench", "bench", StoreConfig(busy_timeout_s=0.05))
    known = store.load_scene().objects
    episode = 1 + max((int(step_.episode_id[-12:]) for step_ in store.steps()), default=0)
    objects = [make_object(rng, number) for number in range(count)]
    first = 1 + max((o.times_seen for o in known), default=0)
    for index, (start, counter, events) in enumerate(rounds_of_updates(objects, first)):
        ticket = store.append([*events, make_step(episode, index)])
        ticket.wait(30.0)
        if index == 0:
            _say(ready=True)
        _say(start=start, count=len(events), counter=counter, episode=episode, index=index)


def write_at_full_rate(path: str, seed: int, count: int, seconds: float) -> None:
    """Write object updates as fast as they are committed and report the rate that was sustained."""
    rng = np.random.default_rng(seed)
    objects = [make_object(rng, number, embedding_size=384) for number in range(count)]
    store = open_store(path, "bench", "bench")
    store.append(SceneEvent(SceneEventKind.APPEARED, 1, o) for o in objects).wait(120.0)
    started, written = time.monotonic(), 0
    for _, _, events in rounds_of_updates(objects, 2):
        store.append(events)
        written += len(events)
        # No object comes twice into one commit: 100 ms hold less than all of them.
        while store.diagnostics().pending > count // 2:
            time.sleep(0.002)
        if time.monotonic() - started > seconds:
            break
    store.flush(60.0)
    elapsed_s = time.monotonic() - started
    diagnostics = store.diagnostics()
    _say(updates_per_s=written / elapsed_s, commit_p50_ms=diagnostics.commit_p50_ms, commits=diagnostics.commits)
    store.close()


def read_everything(path: str) -> None:
    """Start as a memory node does: open, load the scene, read all steps; report what and how long."""
    started = time.monotonic()
    store = open_store(path, "bench", "bench")
    objects = len(store.load_scene().objects)
    steps = store.steps()
    elapsed_s = time.monotonic() - started
    _say(objects=objects, steps=len(steps), start_s=elapsed_s)
    store.close()


def fill(store: Store, objects: int, steps: int, seed: int) -> None:
    """Write a large memory: `steps` in episodes of 100."""
    rng = np.random.default_rng(seed)
    for start in shown(range(0, objects, 5_000), "objects"):
        made = (make_object(rng, number, 384) for number in range(start, min(start + 5_000, objects)))
        store.append(SceneEvent(SceneEventKind.APPEARED, 1, o) for o in made).wait(60.0)
    for start in shown(range(0, steps, 10_000), "steps"):
        store.append(make_step(n // 100, n % 100) for n in range(start, min(start + 10_000, steps))).wait(60.0)


if __name__ == "__main__":
    parent, work, path_, *rest = sys.argv[1:]
    end_with(int(parent))
    if work == "write":
        write_until_killed(path_, int(rest[0]), int(rest[1]))
    elif work == "rate":
        write_at_full_rate(path_, int(rest[0]), int(rest[1]), float(rest[2]))
    elif work == "read":
        read_everything(path_)
