"""The robot in its home: what a driver of base, arm, gripper and camera offers, in simulated time."""

from __future__ import annotations

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage
from scipy.spatial import ConvexHull

from memory_node.domain.errors import InvalidValueError
from memory_node.domain.geometry import FloatArray, Pose, wrap_angle
from memory_node.scene_graph.free_space import OccupancyMap
from memory_node.sim.camera import CameraFrame
from memory_node.sim.layout import FreeGrid
from memory_node.sim.noise import BodyNoise, LocalizationNoise, noisy_depth
from memory_node.sim.physics.arm_planner import ArmKinematics, ArmPlanner
from memory_node.sim.physics.collisions import PlanningScene
from memory_node.sim.physics.home import HomePlan
from memory_node.sim.physics.model import ARM_JOINTS
from memory_node.sim.physics.motions import ArmMotion, DriveMotion, Ended, GripperMotion, Motion
from memory_node.sim.physics.rgbd_camera import ROBOT, HeadCamera, Image
from memory_node.sim.physics.simulation import Simulation, Switches
from memory_node.sim.simulated_detector import InView, SimulatedDetector

CELL_M = 0.05
_RIM_M = 0.3
# Things higher than the robot, and things that it can drive over, are no obstacles (m).
_LOW_M, _HIGH_M = 0.03, 1.2
# From this height on the folded arm, or the held thing, may touch it (m).
_ARM_M = 1.0
# Paths closer than this to things (m) cost this much more for each metre.
_ROOMY_M, _TIGHT_COST = 0.55, 20.0


def occupancy(simulation: Simulation, room_m: float = 0.0) -> OccupancyMap:
    """Return the grid of fixed things as they are now: open drawers and doors are obstacles, small things are not.
    room_m: margin around things as high as the folded arm that also counts as occupied.
    """
    x0, y0, x1, y1 = simulation.plan.floor
    shape = (round((y1 - y0 + 2 * _RIM_M) / CELL_M), round((x1 - x0 + 2 * _RIM_M) / CELL_M))
    cells = np.full(shape, -1, np.int8)
    rim = round(_RIM_M / CELL_M)
    cells[rim:-rim, rim:-rim] = 0
    tall = np.zeros(shape, np.int8)
    origin = (x0 - _RIM_M, y0 - _RIM_M)
    model, data = simulation.model, simulation.data
    with simulation.lock:
        for geom in range(model.ngeom):
            item_id = simulation.item_of_body.get(int(model.geom_bodyid[geom]))
            if item_id is None or not simulation.items[item_id].fixed:
                continue
            local = model.geom_aabb[geom]
            signs = np.array(np.meshgrid([-1, 1], [-1, 1], [-1, 1])).reshape(3, -1).T
            corners = (local[:3] + signs * local[3:]) @ data.geom_xmat[geom].reshape(3, 3).T + data.geom_xpos[geom]
            if corners[:, 2].max() > _LOW_M and corners[:, 2].min() < _HIGH_M:
                _fill(cells, corners[:, :2], origin)
                if room_m and corners[:, 2].max() > _ARM_M:
                    _fill(tall, corners[:, :2], origin)
    if tall.any():
        away = ndimage.distance_transform_edt(tall == 0) * CELL_M
        cells[(away < room_m) & (cells == 0)] = 100
    return OccupancyMap(cells, CELL_M, Pose.planar(*origin, 0.0))


def _fill(cells: NDArray[np.int8], corners: FloatArray, origin: tuple[float, float]) -> None:
    """Mark the cells under the hull of points (n, 2)."""
    low = np.maximum(np.floor((corners.min(axis=0) - origin) / CELL_M).astype(int), 0)
    high = np.minimum(np.ceil((corners.max(axis=0) - origin) / CELL_M).astype(int), cells.shape[::-1])
    if (high <= low).any():
        return
    middles = np.stack(np.meshgrid(*(np.arange(a, b) for a, b in zip(low, high))), axis=-1) + 0.5
    edges = ConvexHull(corners).equations  # outward normals and offsets
    inside = (middles * CELL_M + origin) @ edges[:, :2].T + edges[:, 2] <= 0.5 * CELL_M
    cells[low[1] : high[1], low[0] : high[0]][inside.all(axis=-1)] = 100


def find_way(grid: OccupancyMap, start: FloatArray, goal: FloatArray, radius_m: float) -> FloatArray | None:
    """Return points (n, 2) from start to goal that keep the radius from what is occupied, short and roomy; None: none.

    A start that is too close to something is left by the nearest free cell.
    """
    x, y, _ = grid.map_T_origin.position
    try:
        free = FreeGrid(grid.cells, grid.resolution_m, (float(x), float(y)), radius_m, _ROOMY_M, _TIGHT_COST)
    except InvalidValueError:  # the robot fits nowhere
        return None
    (row,), (column,) = grid.to_cell(np.array([goal[:2]]))
    inside = 0 <= row < grid.cells.shape[0] and 0 <= column < grid.cells.shape[1]
    way = free.path(start, goal) if inside and free.navigable[row, column] else None
    return None if way is None else np.vstack([way[:-1], goal[:2]])


class Localization:
    """Integrates the base's true motion with errors; its poses are the robot's beliefs.

    Args:
        start: home_T_base at the start, where odometry begins; map and home are one frame.
        noise: the errors.
        rng: draws them.
    """

    def __init__(self, start: Pose, noise: LocalizationNoise, rng: np.random.Generator) -> None:
        self._noise = noise
        self._rng = rng
        # (x, y, yaw) each: followed many times a second, so without the algebra of poses.
        self._true = self._odometry = _planar(start)
        self._map_T_odom = np.zeros(3)
        self._way_m = self._turn_rad = np.inf

    def follow(self, home_T_base: Pose) -> None:
        """Take in where the base truly is now."""
        now = _planar(home_T_base)
        step = _compose(_inverse(self._true), now)
        self._true = now
        way_m, turn_rad = float(np.hypot(step[0], step[1])), abs(wrap_angle(step[2]))
        noise = self._noise
        # A random walk: the variance grows with the way.
        along = 1.0 + self._rng.normal() * noise.drift_share / np.sqrt(max(way_m, 1e-4))
        turned = step[2] + self._rng.normal() * noise.turn_drift_share * np.sqrt(turn_rad)
        self._odometry = _compose(self._odometry, np.array([step[0] * along, step[1] * along, turned]))
        self._way_m += way_m
        self._turn_rad += turn_rad
        if self._way_m >= noise.correct_every_m or self._turn_rad >= noise.correct_every_rad:
            self._correct()

    @property
    def odom_T_base(self) -> Pose:  # noqa: N802 - how transforms are written
        """Where odometry alone says that the base is."""
        return Pose.planar(*self._odometry.tolist())

    @property
    def map_T_odom(self) -> Pose:  # noqa: N802 - how transforms are written
        """The map's correction of odometry."""
        return Pose.planar(*self._map_T_odom.tolist())

    @property
    def map_T_base(self) -> Pose:  # noqa: N802 - how transforms are written
        """Where the robot believes that its base is."""
        return Pose.planar(*_compose(self._map_T_odom, self._odometry).tolist())

    def _correct(self) -> None:
        """Correct the pose by the map, with a new error that stays until the next correction."""
        self._way_m = self._turn_rad = 0.0
        noise = self._noise
        error = self._rng.normal(size=3) * [noise.map_sigma_m, noise.map_sigma_m, noise.map_sigma_rad]
        self._map_T_odom = _compose(self._true + error, _inverse(self._odometry))


def _planar(pose: Pose) -> FloatArray:
    return np.array([*pose.position[:2], pose.yaw_rad])


def _compose(one: FloatArray, other: FloatArray) -> FloatArray:
    cos, sin = np.cos(one[2]), np.sin(one[2])
    x, y = one[0] + cos * other[0] - sin * other[1], one[1] + sin * other[0] + cos * other[1]
    return np.array([x, y, one[2] + other[2]])


def _inverse(one: FloatArray) -> FloatArray:
    cos, sin = np.cos(one[2]), np.sin(one[2])
    return np.array([-cos * one[0] - sin * one[1], sin * one[0] - cos * one[1], -one[2]])


TICK_S = 0.02
RADIUS_M = 0.3
# How far the folded arm extends beyond the base.
ARM_ROOM_M = 0.2

_M = TypeVar("_M", bound=Motion)


class BodyRobot:
    """Everything runs in `tick`; motions are started, and go on until they have ended.

    Args:
        plan: the home.
        noise: of its sensors.
        seed: of their faults and of the planners' random choices.
        start_ns: the stamp at simulated time 0.
    """

    def __init__(self, plan: HomePlan, noise: BodyNoise | None = None, seed: int = 0, start_ns: int = 0) -> None:
        self._noise = noise or BodyNoise()
        self.simulation = Simulation(plan)
        self.switches = Switches(self.simulation)
        self._start_ns = start_ns
        seeds = np.random.SeedSequence(seed).spawn(3)
        self._rng, planner_rng, map_rng = (np.random.default_rng(one) for one in seeds)
        self.localization = Localization(self.simulation.base_pose(), self._noise.localization, map_rng)
        self._planner = ArmPlanner(ArmKinematics(), PlanningScene(self.simulation), planner_rng)
        self._motions: list[Motion] = []
        self._camera: HeadCamera | None = None
        items = self.simulation.items.values()
        alike = {one: (other,) for pair in plan.alike for one, other in (pair, pair[::-1])}
        movable = sorted({item.class_name for item in items if not item.fixed})
        self._detector = SimulatedDetector(self._noise.camera, self._rng, alike, movable)

    @property
    def stamp_ns(self) -> int:
        """Simulated time."""
        return self._start_ns + int(self.simulation.time_s * 1e9)

    def tick(self) -> None:
        """Let TICK_S seconds pass."""
        with self.simulation.lock:
            for motion in self._motions:
                motion.advance(TICK_S)
            self._motions = [motion for motion in self._motions if motion.ended is None]
            self.simulation.step(TICK_S)
            self.localization.follow(self.simulation.base_pose())
            self.switches.follow()

    def finish(self, motion: Motion, limit_s: float = 120.0) -> Ended:
        """Tick until a motion has ended; one that takes longer than `limit_s` is cancelled."""
        end_s = self.simulation.time_s + limit_s
        while motion.ended is None:
            self.tick()
            if self.simulation.time_s > end_s:
                motion.cancel()
        assert motion.ended is not None
        return motion.ended

    # --- what drivers offer ------------------------------------------------------------------------

    def floor(self) -> OccupancyMap:
        """Return the occupancy grid of the floor as it is now."""
        return occupancy(self.simulation)

    def costmap(self) -> OccupancyMap:
        """Return the same grid with room for the folded arm about what is high."""
        return occupancy(self.simulation, ARM_ROOM_M)

    def drive(self, goal: Pose) -> DriveMotion | None:
        """Start to drive to map_T_base; None: no way leads there."""
        way = self._way(goal)
        if way is None:
            return None
        return self._begin(
            DriveMotion(self.simulation, way, goal, lambda: self.localization.map_T_base, lambda: self._way(goal))
        )

    def _way(self, goal: Pose) -> FloatArray | None:
        start = self.localization.map_T_base.position[:2]
        return find_way(self.costmap(), start, goal.position[:2], RADIUS_M)

    def move_tool(self, base_T_tool: Pose, speed: float) -> ArmMotion | None:
        """Start to bring the tool to a pose; None: no posture, or no way that touches nothing."""
        way = self._planner.to_pose(base_T_tool, self.simulation.positions(ARM_JOINTS))
        return None if way is None else self._begin(ArmMotion(self.simulation, way, speed))

    def move_joints(self, joints: FloatArray, speed: float) -> ArmMotion | None:
        """Start to bring torso and arm to positions (8,), in the order of ARM_JOINTS; None: no way."""
        way = self._planner.to_joints(joints, self.simulation.positions(ARM_JOINTS))
        return None if way is None else self._begin(ArmMotion(self.simulation, way, speed))

    def move_gripper(self, gap_m: float, force_n: float) -> GripperMotion:
        """Start to open or close the fingers."""
        return self._begin(GripperMotion(self.simulation, gap_m, force_n))

    def look(self) -> CameraFrame | None:
        """Take a picture from where the robot believes its camera; without itself and what it holds in the depth.

        None: this one got lost. Always called by the same thread.
        """
        if self._camera is None:
            self._camera = HeadCamera(self.simulation)
        with self.simulation.lock:
            stamp_ns = self.stamp_ns
            base_T_camera = self.simulation.base_pose().inverse() @ self._camera.pose()
            map_T_camera = self.localization.map_T_base @ base_T_camera
            color, depth_m, numbers_seen = self._camera.render()
            held = self.simulation.in_hand()
            things = [
                InView(number, self.simulation.items[item].class_name, self.switches.states(item))
                for item, number in self._camera.numbers.items()
                if self.simulation.items[item].class_name and item != held
            ]
        if self._rng.random() < self._noise.camera_dropout:
            return None
        labels, detections = self._detector.detect(numbers_seen, depth_m, things, stamp_ns)
        depth_m = noisy_depth(depth_m, self._noise.camera, self._rng)
        own = numbers_seen == ROBOT
        if held:
            own |= numbers_seen == self._camera.numbers[held]
        depth_m[own] = np.nan
        return CameraFrame(stamp_ns, map_T_camera, self._camera.intrinsics, color, depth_m, labels, detections)

    def onlooker(self) -> Image | None:
        """Return a film's picture of the robot in its home, once it has looked; by the same thread."""
        return None if self._camera is None else self._camera.onlooker()

    def close(self) -> None:
        """Let go of the camera's OpenGL; by the thread that looked."""
        if self._camera is not None:
            self._camera.close()
            self._camera = None

    def _begin(self, motion: _M) -> _M:
        with self.simulation.lock:
            self._motions.append(motion)
        return motion
