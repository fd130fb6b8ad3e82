"""One robot of the fleet test, a process of its own: sees, remembers, hears of the others. Commands come by stdin.

Output, JSON lines: {"ready"}, then after "stop" {"seen", "outages"}, then after each "show" the merged view.
"""

import json
import select
import sys
import time

import numpy as np

from memory_node.domain.geometry import OrientedBox
from memory_node.domain.scene import SceneEvent, SceneEventKind, SceneObject
from memory_node.store.config import StoreConfig
from memory_node.store.store import open_store


def say(**line):
    print(json.dumps(line), flush=True)


def told(timeout_s):
    ready, _, _ = select.select([sys.stdin], [], [], timeout_s)
    return sys.stdin.readline().strip() if ready else ""


class Robot:
    def __init__(self, url, robot_id, folder):
        config = StoreConfig(journal_path=f"{folder}/{robot_id}.pending", journal_mib=1.0, retry_interval_s=0.1)
        self.store = open_store(url, robot_id, "home", config)
        self.robot_id = robot_id
        self.view = {o.id: o for o in self.store.load_scene().objects}
        self.rng = np.random.default_rng(abs(hash(robot_id)) % 2**32)
        self.seen = 0

    def hear(self):
        change = self.store.poll_changes()
        if change is None:
            return
        for scene_object in change.objects:
            self.view[scene_object.id] = scene_object
        for object_id in change.gone:
            self.view.pop(object_id, None)

    def see(self, object_id):
        now_ns = time.time_ns()
        old = self.view[object_id]
        box = OrientedBox(old.box.center + self.rng.normal(0.0, 0.001, 3), old.box.size, old.box.yaw_rad)
        new = old.changed(box=box, times_seen=old.times_seen + 1, last_seen_ns=now_ns, attributes={"by": self.robot_id})
        self.view[object_id] = new
        self.store.append([SceneEvent(SceneEventKind.UPDATED, now_ns, new)])
        self.seen += 1

    def discover(self, object_id):
        box = OrientedBox(self.rng.uniform(-5.0, 5.0, 3), [0.1, 0.1, 0.1])
        now_ns = time.time_ns()
        values = {"class_probabilities": {"book": 1.0}, "box": box, "covariance": np.eye(3) * 1e-4, "existence": 0.8}
        stamps = {"first_seen_ns": now_ns, "last_seen_ns": now_ns, "attributes": {"by": self.robot_id}}
        self.view[object_id] = SceneObject(id=object_id, **values, **stamps)
        self.store.append([SceneEvent(SceneEventKind.APPEARED, now_ns, self.view[object_id])])


def main(url, robot_id, folder, shared_id):
    robot = Robot(url, robot_id, folder)
    say(ready=True)
    number = 0
    word = ""
    while word != "stop":
        robot.hear()
        robot.see(shared_id)
        if number % 20 == 0:
            robot.discover(f"{robot_id}-{number}")
        number += 1
        word = told(0.01)
    deadline = time.monotonic() + 60.0
    while robot.store.diagnostics().state != "ok" and time.monotonic() < deadline:
        time.sleep(0.02)
    robot.store.flush(60.0)
    say(seen=robot.seen, outages=robot.store.diagnostics().outages)
    while (command := told(120.0)) == "show":  # the other robots may take long to write what they have seen
        robot.hear()
        shared = robot.view[shared_id]
        say(
            times_seen=shared.times_seen,
            position=shared.box.center.tolist(),
            covariance=shared.covariance.tolist(),
            objects=sorted(robot.view),
        )
    assert command == "end", command
    robot.store.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
