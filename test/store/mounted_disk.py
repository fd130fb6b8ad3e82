"""Run in a mount namespace of its own: a store on a small disk that fills up, and on one that cannot be written.

usage: python mounted_disk.py FOLDER; prints one JSON object of what was seen.
"""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from memory_node.domain.geometry import OrientedBox
from memory_node.domain.ids import new_id
from memory_node.domain.scene import SceneEvent, SceneEventKind, SceneObject
from memory_node.store.config import StoreConfig
from memory_node.store.errors import StoreUnavailableError
from memory_node.store.store import open_store

CONFIG = StoreConfig(journal_mib=1.0)
DEADLINE_S = 60.0


def mount(folder, options, source=("-t", "tmpfs", "tmpfs")):
    subprocess.run(["mount", "-o", options, *source, str(folder)], check=True)


def remember(store, count, crop_bytes):
    box = OrientedBox(np.zeros(3), np.full(3, 0.1), 0.0)
    fields = {"class_probabilities": {"mug": 1.0}, "box": box, "covariance": np.eye(3) * 1e-4, "existence": 0.9}
    fields |= {"first_seen_ns": 1, "last_seen_ns": 1}
    objects = [SceneObject(id=new_id(), crop_jpeg=os.urandom(crop_bytes), **fields) for _ in range(count)]
    return {o.id for o in objects}, store.append([SceneEvent(SceneEventKind.UPDATED, 1, o) for o in objects])


def until(condition):
    deadline = time.monotonic() + DEADLINE_S
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.02)


def await_ok(store):
    until(lambda: store.diagnostics().state == "ok")


def fill_the_disk(folder):
    """A group that finds no room goes to the journal; all is there once the disk grew."""
    with open_store(folder / "memory.db", "r1", "home", CONFIG) as store:
        told, ticket = remember(store, 8, 30_000)
        ticket.wait(DEADLINE_S)
        while store.diagnostics().state == "ok" and len(told) < 200:
            ids, ticket = remember(store, 4, 30_000)
            told |= ids
            ticket.wait(DEADLINE_S)
        state = store.diagnostics().state
        mount(folder, "remount,size=64m")
        await_ok(store)
        missing = told - {o.id for o in store.load_scene().objects}
    return {"state": state, "told": len(told), "missing": len(missing)}


def start_read_only(folder):
    """A start on a disk that is read-only remembers, and what is told arrives when it can be written."""
    mount(folder, "remount,ro")
    with open_store(folder / "memory.db", "r1", "home", CONFIG) as store:
        remembered = len(store.load_scene().objects)
        told, ticket = remember(store, 3, 10)
        error = ""
        until(lambda: "Read-only" in store.diagnostics().state)
        try:
            ticket.wait(0.1)
        except StoreUnavailableError as unavailable:
            error = str(unavailable)
        mount(folder, "remount,rw")
        ticket.wait(DEADLINE_S)
        await_ok(store)
        missing = told - {o.id for o in store.load_scene().objects}
    mount(folder, "remount,ro")
    refused = ""
    try:
        open_store(folder / "new.db", "r1", "home", CONFIG)
    except StoreUnavailableError as unavailable:
        refused = str(unavailable)
    return {"remembered": remembered, "error": error, "missing": len(missing), "refused": refused}


def main():
    folder = Path(sys.argv[1])
    mount(folder, "size=3m")
    print(json.dumps({"full": fill_the_disk(folder), "read_only": start_read_only(folder)}))


if __name__ == "__main__":
    main()
