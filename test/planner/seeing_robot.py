"""A simulated robot whose detections go to memory from each pose, and a planner that drives it."""

from pathlib import Path

from memory_node.catalogue.label_space import load_catalogue
from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.domain.geometry import Pose
from memory_node.domain.ports import TextEmbedder
from memory_node.domain.skill import FailureReason, SkillCall, SkillResult
from memory_node.domain.skill_library import ALL_SKILLS
from memory_node.memory_config import MemoryConfig
from memory_node.opening import open_memory
from memory_node.planner.executor import InstructionExecutor
from memory_node.planner.memory_mode import memory_in
from memory_node.planner.offline_planner import OfflinePlanner
from memory_node.planner.reading.understanding import Understander
from memory_node.scene_graph.free_space import OccupancyMap
from memory_node.sim.execution import Progress
from memory_node.sim.home_file import load_home
from memory_node.sim.robot import HomeRobot
from memory_node.sim.thing import load_types


class SeeingRobot:
    """A simulated robot whose oracle detections go to memory from each pose; `faults` fail once each.

    home: a shipped one's name or a file. database: of its memory, "" for none.
    """

    def __init__(
        self, home: str | Path, embedder: TextEmbedder, label_space: str = "household", database: str = ""
    ) -> None:
        self.kinds: ObjectCatalogue = load_catalogue(label_space)
        self.world = load_home(home, load_types(self.kinds))
        config = MemoryConfig(label_space=label_space, database=database)
        self.memory = open_memory(config, lambda: self.world.now_ns, embedder)
        self._robot = HomeRobot(self.world, area_position=self._area, clock=lambda: self.world.now_ns)
        grid = self.world.grid
        laid = OccupancyMap(grid.occupancy, grid.resolution_m, Pose.planar(*grid.origin, 0.0))
        self.memory.set_map(laid, self.world.now_ns)
        self.faults: list[str] = []
        self._looked_from: Pose | None = None
        self.look()

    def execute(self, call: SkillCall) -> SkillResult:
        if call.skill in self.faults:
            self.faults.remove(call.skill)
            return SkillResult(call, False, FailureReason.EXECUTION, "the gripper slipped")
        result = self._robot.run(call, on_progress=self._look_from_a_new_pose)
        self.look()
        return result

    def _look_from_a_new_pose(self, progress: Progress) -> None:
        if progress.pose is not self._looked_from:
            self.look()
        self._looked_from = progress.pose

    def look(self) -> None:
        self.memory.observe(self._robot.observe())

    def _area(self, area_id: str) -> tuple[float, float]:
        return {area.id: area.position for area in self.memory.scene().areas}[area_id]


def executor(
    robot: SeeingRobot, embedder: TextEmbedder, mode: str = "full", skills: frozenset[str] = ALL_SKILLS
) -> InstructionExecutor:
    planner = OfflinePlanner(Understander(robot.kinds, None, embedder), robot.kinds)
    return InstructionExecutor(memory_in(mode, robot.memory), robot, planner, skills=skills)
