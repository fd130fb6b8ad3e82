"""A robot that lives in a home with its memory, as on a robot: the same memory, executor and planner, and a clock."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import numpy as np

from benchmarks.alfred_home import ALFRED_REACH_M
from benchmarks.life.calls import HomeFaults, MeantCall, meant_by, things_of
from benchmarks.life.home import room_called
from benchmarks.life.sightings import named
from benchmarks.life.switches import KARMA, SCENE, CacheSetting, Forgetting, unread
from memory_node.context.config import CompilerConfig
from memory_node.domain.errors import InvalidValueError
from memory_node.domain.geometry import FloatArray
from memory_node.domain.observation import Frame
from memory_node.domain.ports import TextEmbedder
from memory_node.domain.skill import FailureReason, SkillCall, SkillResult, StateChange
from memory_node.lessons.config import OptimizerConfig
from memory_node.memory import RobotMemory
from memory_node.memory_config import MemoryConfig
from memory_node.opening import open_memory
from memory_node.scene_graph.config import SceneGraphConfig
from memory_node.short_term.config import ShortTermConfig
from memory_node.short_term.policies import build_policy
from memory_node.sim.execution import Progress, RobotConfig
from memory_node.sim.placement import Spot
from memory_node.sim.robot import HomeRobot
from memory_node.sim.world import World
from memory_node.store.config import StoreConfig

# The oracle sees 1.5 m far: areas this far apart leave no furniture unseen.
AREA_SPACING_M = 0.6
# Days that are counted in UTC are wrong ones there.
TIME_ZONE = "Pacific/Auckland"
_ZONE = ZoneInfo(TIME_ZONE)
# A Monday; in UTC it is still Sunday.
_BEGIN = datetime(2026, 6, 15, 8, 0, tzinfo=_ZONE)
_LOOK_S = 4.0
_LOAD_S = 60.0
_DATABASE = "memory.db"


def memory_config(folder: Path, short_term: ShortTermConfig | None = None) -> MemoryConfig:
    """Return the configuration of a robot's memory in a folder; all but what the home asks for is the default."""
    return MemoryConfig(
        database=str(folder / _DATABASE),
        site="home",
        robot_id="robot",
        scene_graph=SceneGraphConfig(area_spacing_m=AREA_SPACING_M),
        compiler=CompilerConfig(close_m=ALFRED_REACH_M),
        short_term=short_term or ShortTermConfig(),
        # The day does not wait for other facts of the same commit.
        store=StoreConfig(commit_interval_s=0.001),
        time_zone=TIME_ZONE,
    )


@dataclass(frozen=True)
class Standing:
    """Where a thing is: its support's id, its centre (3,) and yaw in the map frame."""

    parent_id: str
    center: FloatArray
    yaw_rad: float


def standing_of(world: World) -> dict[str, Standing]:
    """Return where each thing of a home is now."""
    return {one.id: Standing(one.parent_id, one.box.center.copy(), one.box.yaw_rad) for one in world}


@dataclass
class Tried:
    """A call that was tried, alone or inside Explore."""

    meant: MeantCall
    success: bool


@dataclass
class Trace:
    """What a robot did while it was watched. held: ids of what was ever in the hand."""

    results: list[SkillResult] = field(default_factory=list)
    tried: list[Tried] = field(default_factory=list)
    held: set[str] = field(default_factory=set)


class RobotLife:
    """One robot, its home and its memory.

    folder: where memory is kept. embedder: shared by all lives. cache: of the short-term
    memory, None for the shipped one. without: the memory that is off (switches.MEMORIES). optimizer: who writes
    lessons, None for the shipped one.

    Attributes:
        trace: what it did since somebody began to watch. taken_from: where the thing in the hand was before.
        is_blind: memory is told nothing of what the camera sees, for a robot that would not use it.
    """

    def __init__(
        self,
        world: World,
        folder: Path,
        embedder: TextEmbedder,
        cache: CacheSetting | None = None,
        without: str = "",
        optimizer: OptimizerConfig | None = None,
    ) -> None:
        self.world = world
        self.faults = HomeFaults(self.local_time)
        self.trace = Trace()
        self.without = without
        self.is_blind = False
        self.folder = folder
        self._others: list[RobotMemory] = []
        self._embedder = embedder
        self._cache = cache
        self._optimizer = optimizer
        self._offset_s = 0.0
        self.taken_from: Standing | None = None
        self._is_exploring = False
        self._held_id = ""
        self.memory = self._watched(self._open(folder))
        self.robot = HomeRobot(
            world, RobotConfig(reach_m=ALFRED_REACH_M), self._area_position, clock=self.now_ns, hindrance=self._hindered
        )

    # --- time

    def now_ns(self) -> int:
        """Return the time, in nanoseconds (UTC)."""
        return round((_BEGIN.timestamp() + self._offset_s + self.world.now_ns * 1e-9) * 1e9)

    def shift_clock(self, seconds: float) -> None:
        """Set the clock on or back, while nothing happens in the home."""
        self._offset_s += seconds

    def wait(self, seconds: float) -> None:
        """Let time pass; nobody watches."""
        self.world.advance(seconds)
        self.world.take_changes()

    def local_time(self) -> datetime:
        """Return the time that a clock in the home shows."""
        return datetime.fromtimestamp(self.now_ns() * 1e-9, _ZONE)

    def wait_until(self, minute: int, days: int = 0) -> None:
        """Let time pass until a minute of the day so many days later, of the day after that if it is over."""
        now = self.local_time()
        then = (now + timedelta(days=days)).replace(hour=minute // 60, minute=minute % 60, second=0, microsecond=0)
        if then <= now:
            then += timedelta(days=1)
        self.wait(then.timestamp() - now.timestamp())

    # --- memory

    def _open(self, folder: Path) -> RobotMemory:
        cache = self._cache
        config = memory_config(folder, cache.config if cache is not None else None)
        if self._optimizer is not None:
            config = config.changed(optimizer=self._optimizer)
        make_policy = cache.build if cache is not None else build_policy
        off = unread(self.without)
        memory = open_memory(config, self.now_ns, self._embedder, unread=off, make_policy=make_policy)
        memory.experience.wait_settled(_LOAD_S)
        # The simulated robot is never lost: the map frame is the one of before.
        memory.confirm_relocalization()
        return memory

    def _watched(self, memory: RobotMemory) -> RobotMemory:
        self._forgetting = Forgetting(memory, self.without) if self.without in (SCENE, KARMA) else None
        return memory

    def restart(self) -> None:
        """Close memory and open it again on the same store."""
        self.memory.close()
        self.move_to(self.folder)

    def move_to(self, folder: Path) -> None:
        """Go on with the memory that is kept in a folder; the one of before is closed."""
        self.folder = folder
        self.memory = self._watched(self._open(folder))

    def also_open(self, folder: Path) -> RobotMemory:
        """Return another robot's memory; it is closed with this one."""
        self._others.append(self._open(folder))
        return self._others[-1]

    def close(self) -> None:
        """Close memory."""
        for memory in (self.memory, *self._others):
            memory.close()

    # --- what the robot sees and does

    def execute(self, call: SkillCall) -> SkillResult:
        """Run one skill to its end while memory watches; what was tried goes into the trace."""
        meant = meant_by(self.robot, call)
        before = standing_of(self.world)
        inner = len(self.trace.tried)
        self._is_exploring = call.skill == "Explore"
        result = self.robot.run(call, on_progress=self._follow)
        self.look()
        self._note_held(before)
        for tried in self.trace.tried[inner:]:
            tried.success = tried.meant.first != result.object_id or result.success
            self._note_success(tried)
        self.trace.results.append(result)
        self.trace.tried.append(Tried(replace(meant, things=things_of(meant, result)), result.success))
        self._note_success(self.trace.tried[-1])
        return result

    def look(self, all_around: bool = False) -> None:
        """Let memory see what is in view, or all around."""
        held = self.world.held
        if held is not None:
            self.trace.held.add(held.id)
        if self.is_blind:
            return
        frame = self._named(self.robot.observe(all_around))
        self.memory.observe(self._forgetting.seen(frame) if self._forgetting is not None else frame)
        self.forget()

    def forget(self) -> None:
        """Let a memory that lacks a part forget what only that part would hold."""
        if self._forgetting is not None:
            self._forgetting.forget()

    def remember(self, changes: Sequence[StateChange]) -> None:
        """Tell memory what somebody was seen to do."""
        if self.without != SCENE:
            self.memory.remember(changes)
            self.forget()

    def see(self, room: str) -> None:
        """Stand in each area of a room and look around; stay in the last one.

        Raises:
            InvalidValueError: there is no such room.
        """
        plan = room_called(self.world, room)
        if plan is None:
            raise InvalidValueError(f"there is no room {room!r} in {self.world.layout.name}")
        left = [area for area in self.memory.scene().areas if plan.contains(*area.position)]
        while left:
            here = self.robot.body.pose.position[:2]
            area = min(left, key=lambda one: self.world.grid.distance(here, np.array(one.position)))
            left.remove(area)
            x, y = area.position
            self.robot.run(SkillCall("GoToObject", (f"{x:.3f},{y:.3f}",)), on_progress=self._follow)
            self.world.advance(_LOOK_S)
            self.look(all_around=True)

    def put_back(self) -> None:
        """Put what the hand holds where it was taken from."""
        held, before = self.world.held, self.taken_from
        if held is None or before is None:
            return
        support = [one for one in self.world if one.id == before.parent_id]
        self.world.relocate(held, Spot(before.center, before.yaw_rad), support[0] if support else None)
        self._held_id = ""

    # --- inside

    def _area_position(self, area_id: str) -> tuple[float, float]:
        return {area.id: area.position for area in self.memory.scene().areas}[area_id]

    def _follow(self, _: Progress) -> None:
        self.look()

    def _hindered(self, call: SkillCall) -> FailureReason | None:
        meant = meant_by(self.robot, call)
        if self._is_exploring and call.skill == "OpenObject":
            self.trace.tried.append(Tried(meant, False))
        return self.faults.hinders(meant)

    def _note_success(self, tried: Tried) -> None:
        if tried.success:
            self.faults.note_success(tried.meant)

    def _note_held(self, before: Mapping[str, Standing]) -> None:
        held_id = self.world.held_id
        if held_id != self._held_id:
            self._held_id, self.taken_from = held_id, before.get(held_id)

    def _named(self, frame: Frame) -> Frame:
        """Return a frame with the names of the persons in it."""
        at = {tuple(thing.box.center.tolist()): thing for thing in self.world if thing.kind.name == "User"}
        seen = tuple(
            named(one, at[key]) if (key := tuple(one.box.center.tolist())) in at else one for one in frame.observations
        )
        return replace(frame, observations=seen)
