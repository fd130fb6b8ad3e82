"""A drive through a home for `bench scene`, closed first, then open, and how right memory's relations are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from benchmarks.scene_score import FAR_M, match
from memory_node.catalogue.object_kind import Property
from memory_node.domain.geometry import FloatArray, Pose
from memory_node.domain.observation import Frame
from memory_node.domain.scene import RelationKind, SceneSnapshot
from memory_node.perception.config import PerceptionConfig
from memory_node.perception.pipeline import PerceptionPipeline
from memory_node.sim.camera import Camera
from memory_node.sim.home_file import load_home
from memory_node.sim.robot import HomeRobot
from memory_node.sim.simulated_detector import FALSE_NUMBER
from memory_node.sim.thing import Thing
from memory_node.sim.world import World


@dataclass(frozen=True)
class LocalisationNoise:
    """Errors of a localised mobile base.

    pose_sigma_m, pose_sigma_rad: white noise of position and heading in each frame. drift_sigma_m_per_m,
    drift_sigma_rad_per_m: random walk of both for each square root of a metre driven. drift_limit_m: the localiser
    keeps the drift within this.
    """

    pose_sigma_m: float = 0.005
    pose_sigma_rad: float = 0.002
    drift_sigma_m_per_m: float = 0.002
    drift_sigma_rad_per_m: float = 0.0005
    drift_limit_m: float = 0.02


class NoisyLocalisation:
    """Where the robot believes that it is: white noise, and drift that grows with the way and stays bounded."""

    def __init__(self, noise: LocalisationNoise, seed: int = 0) -> None:
        self._noise = noise
        self._rng = np.random.default_rng(seed)
        self._drift: FloatArray = np.zeros(3)
        self._last: FloatArray | None = None

    def believed(self, truth: Pose) -> Pose:
        """Return the estimate of a planar pose."""
        noise = self._noise
        way = 0.0 if self._last is None else float(np.linalg.norm(truth.position[:2] - self._last))
        self._last = truth.position[:2].copy()
        spread = np.array([noise.drift_sigma_m_per_m, noise.drift_sigma_m_per_m, noise.drift_sigma_rad_per_m])
        self._drift = self._drift + self._rng.normal(size=3) * spread * np.sqrt(way)
        length = float(np.linalg.norm(self._drift[:2]))
        if length > noise.drift_limit_m:
            self._drift[:2] *= noise.drift_limit_m / length
        white = self._rng.normal(size=3) * np.array([noise.pose_sigma_m, noise.pose_sigma_m, noise.pose_sigma_rad])
        x, y, yaw = np.array([*truth.position[:2], truth.yaw_rad]) + self._drift + white
        return Pose.planar(float(x), float(y), float(yaw), float(truth.position[2]))


_SEEN_FRAMES = 3


@dataclass(frozen=True)
class RelationScore:
    """right, wrong: of what memory tells; missed: of what it should tell. In words, the thing first."""

    right: tuple[str, ...]
    wrong: tuple[str, ...]
    missed: tuple[str, ...]

    @property
    def precision(self) -> float:
        """Share of what memory tells that is so."""
        told = len(self.right) + len(self.wrong)
        return len(self.right) / told if told else 1.0

    @property
    def recall(self) -> float:
        """Share of what is so that memory tells."""
        true = len(self.right) + len(self.missed)
        return len(self.right) / true if true else 1.0


def score_relations(scene: SceneSnapshot, world: World, seen: Mapping[str, int]) -> RelationScore:
    """Compare the on and in edges of what memory believes in with what the home says that things are on and in.

    An edge of a thing that is not there, or to one, is wrong, and so is "on" for "in". The home does not say what its
    furniture is fixed to (a basin to its sink); such edges are not counted, unless it does. Recall is over the things
    that were detected in at least three frames.
    """
    objects = {found.id: found for found in scene.objects if found.existence >= 0.5}
    thing_of = {found.id: thing for thing, found in match(list(world), list(objects.values()), FAR_M)}
    right, wrong, found_ids = [], [], set()
    edges = {edge.source_id: edge for edge in scene.relations if edge.kind in (RelationKind.ON, RelationKind.IN)}
    for edge in edges.values():
        if edge.source_id not in objects or edge.target_id not in objects:
            continue
        thing, support = thing_of.get(edge.source_id), thing_of.get(edge.target_id)
        text = f"{objects[edge.source_id].class_name} {edge.kind} {objects[edge.target_id].class_name}"
        if thing is not None and support is not None and _holds(thing, support, edge.kind):
            right.append(text)
            found_ids.add(thing.id)
        elif not _is_left_open(thing, support):
            wrong.append(text)
    return RelationScore(tuple(right), tuple(wrong), tuple(_missed(world, seen, found_ids)))


def _missed(world: World, seen: Mapping[str, int], found_ids: Collection[str]) -> Iterator[str]:
    """Yield what memory should tell besides: what things stand on or in that were seen often enough."""
    for thing in world:
        if thing.parent_id in world and thing.id not in found_ids and seen.get(thing.id, 0) >= _SEEN_FRAMES:
            yield f"{thing.class_name} {'in' if thing.inside else 'on'} {world[thing.parent_id].class_name}"


def _holds(thing: Thing, support: Thing, kind: RelationKind) -> bool:
    return thing.parent_id == support.id and thing.inside == (kind is RelationKind.IN)


def _is_left_open(thing: Thing | None, support: Thing | None) -> bool:
    """Return whether the home does not say what a piece of furniture is fixed to."""
    return thing is not None and support is not None and thing.fixed and support.fixed and not thing.parent_id


_STOPS_EVERY_M = 1.2
_VIEWS_AT_A_STOP = 8
_FRAME_S = 0.5


@dataclass(eq=False)
class HomeDrive:
    """The robot looks around at stops all over a home, then again with everything open; noise of config/home.yaml.

    seen: how often each thing was detected, by its id.
    """

    home: str
    seed: int

    def __post_init__(self) -> None:
        self.world: World = load_home(self.home)
        self.seen: Counter[str] = Counter()
        self._robot = HomeRobot(self.world)
        self._camera = Camera(self.world, seed=self.seed)
        self._localisation = NoisyLocalisation(LocalisationNoise(), self.seed)
        self._pipeline = PerceptionPipeline(PerceptionConfig())
        self._stamp_ns = 1_000_000_000

    @property
    def length(self) -> int:
        """How many frames there are."""
        return 2 * len(self._stops()) * _VIEWS_AT_A_STOP

    def frames(self) -> Iterator[Frame]:
        """Yield what perception makes of the camera's pictures."""
        for opened in (False, True):
            for thing in self.world if opened else ():
                if thing.can(Property.OPENABLE):
                    self.world.set_open(thing, True)
            for x, y in self._stops():
                for view in range(_VIEWS_AT_A_STOP):
                    yield self._look(Pose.planar(x, y, 2.0 * np.pi * view / _VIEWS_AT_A_STOP))

    def _look(self, base: Pose) -> Frame:
        self._robot.body.move(base)
        base_T_camera = base.inverse() @ self._robot.body.camera
        picture = self._camera.capture(self._robot.body.camera, self._stamp_ns)
        self._note(np.unique(picture.instances).tolist())
        self._stamp_ns += int(_FRAME_S * 1e9)
        return self._pipeline.observe(
            self._stamp_ns,
            self._localisation.believed(base) @ base_T_camera,
            picture.intrinsics,
            picture.depth_m,
            picture.detections,
            picture.instances.astype(np.int32),
            picture.color,
        )

    def _note(self, numbers: list[int]) -> None:
        shown = {number for number in numbers if 0 < number < FALSE_NUMBER}
        self.seen.update(thing.id for thing in self.world if self._camera.number_of(thing.id) in shown)

    def _stops(self) -> list[tuple[float, float]]:
        """Return one free place in each square of the floor, each next to the one before it."""
        points = self.world.grid.points
        _, first = np.unique(np.floor(points / _STOPS_EVERY_M).astype(int), axis=0, return_index=True)
        left = [(float(x), float(y)) for x, y in points[np.sort(first)]]
        tour = [left.pop(0)]
        while left:
            here = tour[-1]
            tour.append(left.pop(int(np.argmin([(x - here[0]) ** 2 + (y - here[1]) ** 2 for x, y in left]))))
        return tour
