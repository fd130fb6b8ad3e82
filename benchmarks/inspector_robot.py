"""The robot of `bench inspector`: a memory node that maps at a fixed rate, and tells of each frame what it took."""

from __future__ import annotations

import json
import os
import sys
import threading
import time

from benchmarks.scene import BASE_T_CAMERA, Drive
from benchmarks.scene_site import CAMERA, Shot, shoot
from memory_node.domain.scene import SceneEvent, SceneEventKind
from memory_node.memory import RobotMemory
from memory_node.nodes.run import activate_ros
from memory_node.perception.config import PerceptionConfig
from memory_node.perception.pipeline import PerceptionPipeline
from memory_node.store.store import open_store

_VIEWS = 40
_INSTANCES = 12


def map_for_ever(memory: RobotMemory, seen: list[Shot], rate_hz: float) -> None:
    """Take a frame at each tick; print what it took, and how late it began."""
    pipeline = PerceptionPipeline(PerceptionConfig())
    due, count = time.monotonic(), 0
    while True:
        due += 1.0 / rate_hz
        time.sleep(max(0.0, due - time.monotonic()))
        late_s, shot = time.monotonic() - due, seen[count % len(seen)]
        began, began_cpu = time.perf_counter(), time.thread_time()
        frame = pipeline.observe(
            time.time_ns(), shot.view.map_T_camera, CAMERA, shot.depth_m, shot.detections, shot.labels, shot.color
        )
        memory.observe(frame)
        row = {
            "wall_ms": 1e3 * (time.perf_counter() - began),
            "cpu_ms": 1e3 * (time.thread_time() - began_cpu),
            "late_ms": 1e3 * late_s,
            "version": memory.version,
        }
        os.write(1, json.dumps(row).encode() + b"\n")
        count += 1


def main(database: str, objects: int, rate_hz: float, seed: int) -> None:
    """Write a memory of so many objects, start the node on it, and map until standard input ends."""
    drive = Drive(objects, 2 * _VIEWS, _INSTANCES, seed)
    with open_store(database) as store:
        known = (SceneEvent(SceneEventKind.APPEARED, 1, one) for one in drive.graph.objects())
        store.append(known).wait(120.0)
    # What the camera sees on its loop through one room.
    bases = drive.bases(_VIEWS)
    seen = [shoot(drive.site, room, base @ BASE_T_CAMERA, drive.noise, drive.generator) for room, base in bases]
    activate_ros()
    import rclpy
    from rclpy.executors import MultiThreadedExecutor

    from memory_node.nodes.memory import MemoryNode

    rclpy.init(args=["robot", "--ros-args", "-p", f"memory:database:={database}", "-p", "memory:lifecycle:=false"])
    node = MemoryNode()
    executor = MultiThreadedExecutor(num_threads=6)
    executor.add_node(node)
    threading.Thread(target=executor.spin, daemon=True).start()
    threading.Thread(target=map_for_ever, args=(node.memory, seen, rate_hz), daemon=True).start()
    sys.stdin.read()
    os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), int(sys.argv[4]))
