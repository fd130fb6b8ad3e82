"""`bench scene`: the scene graph on a simulated site, with true sensors' noise and things that move."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from benchmarks.process_figures import figures_of
from benchmarks.rows import emit
from benchmarks.scene_home import HomeDrive, LocalisationNoise, NoisyLocalisation, RelationScore, score_relations
from benchmarks.scene_score import KNOWN, Sightings, score_scene, wrongly_removed
from benchmarks.scene_site import CAMERA, ROOM_M, build_site, rearrange, render, room_corner, shoot
from memory_node.app.progress import progress_bar
from memory_node.domain.geometry import OrientedBox, Pose
from memory_node.domain.scene import SceneObject
from memory_node.perception.config import PerceptionConfig
from memory_node.perception.pipeline import PerceptionPipeline
from memory_node.scene_graph.config import SceneGraphConfig
from memory_node.scene_graph.graph import SceneGraph
from memory_node.sim.noise import DetectionNoise

_FRAME_S = 0.2
_FRAMES_A_VISIT = 60
_MOVED, _REMOVED = 0.10, 0.06
BASE_T_CAMERA = Pose.from_matrix(
    # 1.35 m up, pitched down by 25 degrees; optical axes (z forward, x right, y down)
    np.vstack(
        [
            np.column_stack(
                [
                    [0.0, -1.0, 0.0],
                    [-np.sin(np.radians(25.0)), 0.0, -np.cos(np.radians(25.0))],
                    [np.cos(np.radians(25.0)), 0.0, -np.sin(np.radians(25.0))],
                    [0.0, 0.0, 1.35],
                ]
            ),
            [0.0, 0.0, 0.0, 1.0],
        ]
    )
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("--objects", type=int, default=1000, metavar="N", help="objects on the site (default 1000)")
    parser.add_argument("--frames", type=int, default=600, metavar="F", help="frames of the drive (default 600)")
    parser.add_argument(
        "--instances", type=int, default=20, metavar="M", help="objects in view on average (default 20)"
    )
    parser.add_argument(
        "--home",
        default="apartment",
        help="home that relations are measured in, by Open3D's pictures (default apartment; none: not measured)",
    )
    parser.add_argument("--wrong", action="store_true", help="list the relations that are wrong or missed")


def run(args: argparse.Namespace) -> int:
    """Build the site, drive through it twice, things moved and taken away in between, then through a home; one row."""
    drive = Drive(args.objects, args.frames, args.instances, args.seed)
    drive.run()
    row = drive.row()
    if args.home != "none":
        relations = home_relations(args.home, args.seed)
        row |= {"relation_precision": relations.precision, "relation_recall": relations.recall}
        for text in [*relations.wrong, *(f"missed: {one}" for one in relations.missed)] if args.wrong else ():
            print(text, file=sys.stderr)
    emit([row], args.json)
    gone = wrongly_removed(drive.graph, drive.site, drive.rooms, drive.sightings)
    print(f"wrongly removed: {gone:.4f}", file=sys.stderr)
    return 0


def home_relations(home: str, seed: int) -> RelationScore:
    """Return how what memory says of things on and in others, after a drive through a home, compares with it."""
    drive, graph = HomeDrive(home, seed), SceneGraph(SceneGraphConfig())
    with progress_bar() as progress:
        task = progress.add_task(f"driving through {home}", total=drive.length)
        for frame in drive.frames():
            graph.observe(frame)
            progress.advance(task)
    return score_relations(graph.snapshot(), drive.world, drive.seen)


@dataclass(eq=False)
class Drive:
    """One run of the benchmark. Rooms that the frames do not suffice for are known from earlier, so that memory holds
    them all."""

    objects: int
    frames: int
    instances: int
    seed: int
    times_ms: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.noise = DetectionNoise()
        self.generator = np.random.default_rng(self.seed)
        self.localisation = NoisyLocalisation(LocalisationNoise(), self.seed)
        self.pipeline = PerceptionPipeline(PerceptionConfig())
        self.graph = SceneGraph(SceneGraphConfig())
        self.site = build_site(self.objects, self._things_per_room(), self.generator)
        visits = max(1, self.frames // (2 * _FRAMES_A_VISIT))
        self.rooms = list(range(min(self.site.rooms, visits)))
        self.sightings = Sightings(self.noise.min_pixels, self.noise.max_range_m)
        self._stamp_ns = 1_000_000_000
        self._know_the_rest()

    def run(self) -> None:
        """Drive through the rooms, rearrange them, and drive through them again."""
        half = self.frames // 2
        with progress_bar() as progress:
            task = progress.add_task("driving", total=self.frames)
            for base in self.bases(half):
                self._step(*base)
                progress.advance(task)
            self.sightings.before_change(self.site, self.graph, self.rooms)
            moved, removed = rearrange(self.site, self.rooms, self.generator, _MOVED, _REMOVED)
            self.sightings.after_change(moved, removed)
            for base in self.bases(self.frames - half):
                self._step(*base)
                progress.advance(task)

    def row(self) -> dict[str, float]:
        """Return the figures."""
        scored = score_scene(self.graph, self.site, self.rooms, self.sightings)
        return {
            "objects": self.objects,
            "frames": self.frames,
            "p50_ms": float(np.percentile(self.times_ms, 50)),
            "p99_ms": float(np.percentile(self.times_ms, 99)),
            **scored,
            "rss_mb": figures_of(os.getpid()).resident_mb,
        }

    def _step(self, room: int, base: Pose) -> None:
        shot = shoot(self.site, room, base @ BASE_T_CAMERA, self.noise, self.generator)
        believed = self.localisation.believed(base) @ BASE_T_CAMERA
        self._stamp_ns += int(_FRAME_S * 1e9)
        start = time.perf_counter()
        frame = self.pipeline.observe(
            self._stamp_ns, believed, CAMERA, shot.depth_m, shot.detections, shot.labels, shot.color
        )
        self.graph.observe(frame)
        self.times_ms.append((time.perf_counter() - start) * 1e3)
        self.sightings.note(shot.view, self.site, self.graph)

    def bases(self, frames: int) -> Iterator[tuple[int, Pose]]:
        """Yield rooms and base poses: in every room a loop around its middle, looking outwards."""
        for index in range(frames):
            room = self.rooms[min(index * len(self.rooms) // frames, len(self.rooms) - 1)]
            first = -(-room * frames // len(self.rooms))
            angle = 2.0 * np.pi * (index - first) / max(1.0, frames / len(self.rooms)) * 2.0
            x, y = room_corner(room)
            yield (
                room,
                Pose.planar(
                    x + 0.5 * ROOM_M[0] + 0.7 * np.cos(angle - 1.2),
                    y + 0.5 * ROOM_M[1] + 0.4 * np.sin(angle - 1.2),
                    angle + 0.25 * np.sin(3.0 * angle),
                ),
            )

    def _things_per_room(self) -> int:
        """Return how many things a room must hold for `instances` of them to be in view on average."""
        guess = 4 * self.instances
        for _ in range(2):
            trial = build_site(guess, guess, np.random.default_rng(self.seed + 1))
            counts = []
            for angle in np.linspace(0.0, 2.0 * np.pi, 12, endpoint=False):
                base = Pose.planar(0.5 * ROOM_M[0], 0.5 * ROOM_M[1], float(angle))
                view = render(trial.in_room(0), 0, base @ BASE_T_CAMERA)
                counts.append((np.bincount(view.number[view.number >= 0]) >= self.noise.min_pixels).sum())
            guess = max(2, round(guess * self.instances / max(1.0, float(np.mean(counts)))))
        return guess

    def _know_the_rest(self) -> None:
        """Let memory know the rooms that are not driven through, as an earlier life would have left them."""
        for thing in self.site.things.values():
            if thing.room in self.rooms:
                continue
            center = thing.box.center + self.generator.normal(0.0, 0.01, 3)
            box = OrientedBox(center, thing.box.size, thing.box.yaw_rad)
            self.graph.add_object(
                SceneObject(
                    id=f"{KNOWN}{thing.number}",
                    class_probabilities={thing.class_name: 1.0},
                    box=box,
                    covariance=np.eye(3) * 1e-4,
                    existence=0.99,
                    first_seen_ns=0,
                    last_seen_ns=0,
                    times_seen=20,
                )
            )
