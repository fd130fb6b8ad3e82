"""A drive through a shipped home with a camera, for what `bench scene` says of relations: closed first, then open."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from benchmarks.scene_localisation import LocalisationNoise, NoisyLocalisation
from memory_node.catalogue.object_kind import Property
from memory_node.domain.geometry import Pose
from memory_node.domain.observation import Frame
from memory_node.perception.config import PerceptionConfig
from memory_node.perception.pipeline import PerceptionPipeline
from memory_node.sim.camera import Camera
from memory_node.sim.home_file import load_home
from memory_node.sim.robot import HomeRobot
from memory_node.sim.simulated_detector import FALSE_NUMBER
from memory_node.sim.world import World

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
