"""Makes the robot of each scenario: what a patrol has shown is found out once for all scenarios that share it."""

from __future__ import annotations

import gc
import shutil
import tempfile
import traceback
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from benchmarks.household_homes import lay_map
from benchmarks.life.day_check import check_days
from benchmarks.life.day_file import Day, read_days
from benchmarks.life.day_form import Scenario
from benchmarks.life.day_run import DayReport, DayRun
from benchmarks.life.home import LifeHomes, NoRoomError
from benchmarks.life.robot_life import RobotLife
from benchmarks.life.switches import KARMA, SCENE, CacheSetting
from benchmarks.rows import sample
from memory_node.catalogue.object_kind import Property
from memory_node.domain.errors import InvalidValueError
from memory_node.domain.geometry import Pose
from memory_node.domain.ports import TextEmbedder
from memory_node.lessons.config import OptimizerConfig
from memory_node.sim.searching import stand_off

MakeRun = Callable[[RobotLife, Path], DayRun]
BEFORE_S = 3600.0
_LOOK_S = 1.0  # from one look to the next


def take_in_map(life: RobotLife) -> None:
    """Tell memory the map, and what its rooms are called."""
    world, memory = life.world, life.memory
    lay_map(memory, world, life.now_ns())
    for room in memory.scene().rooms:
        plan = world.layout.room_at(*room.center)
        if plan is not None:
            memory.edit("name_room", room.id, new_class=plan.name)


def patrol(life: RobotLife, rooms: Collection[str] | None) -> None:
    """Stand in every area of some rooms (None: of all) and before every fixture, and look into all that opens.

    Then the short-term memory is empty.
    """
    world, robot = life.world, life.robot
    start, began_ns = robot.body.pose, life.now_ns()
    life.shift_clock(-BEFORE_S)

    def is_meant(x_m: float, y_m: float) -> bool:
        room = world.layout.room_at(x_m, y_m)
        return rooms is None or (room is not None and room.id in rooms)

    for area in life.memory.scene().areas:
        if is_meant(*area.position):
            robot.body.move(Pose.planar(*area.position, 0.0))
            life.look(all_around=True)
    for fixture in [thing for thing in world if thing.fixed]:
        pose = stand_off(world, fixture, robot.body.pose, robot.config.reach_m)
        if pose is None or not is_meant(float(fixture.box.center[0]), float(fixture.box.center[1])):
            continue
        robot.body.move(pose)
        life.look(all_around=True)
        if fixture.can(Property.OPENABLE) and not fixture.is_open:
            for is_open in (True, False):
                life.shift_clock(_LOOK_S)
                world.take_changes()
                world.set_open(fixture, is_open)
                life.remember(world.take_changes())  # as a robot tells it: what is in a drawer slides along
                life.look(all_around=True)
    robot.body.move(start)
    world.take_changes()
    life.shift_clock((began_ns - life.now_ns()) * 1e-9)
    life.memory.cache.clear()


@contextmanager
def opened_days(
    files: Sequence[Path] | None, scenes: Path | None, embedder: TextEmbedder, limit: int, seed: int
) -> Iterator[tuple[Sequence[Day], Lives]]:
    """Open days for `--on life`, or a sample of so many of them, with what makes their robots.

    Raises:
        InvalidValueError: no file is named, or something is wrong with one.
        NotFoundError: there is no such file.
    """
    if files is None:
        raise InvalidValueError("--on life needs --days (docs/life.md says how days are written)")
    homes, (days, faults) = LifeHomes(scenes, seed), read_days(files)
    check_days(days, homes, faults)
    with tempfile.TemporaryDirectory(prefix="days") as folder:
        yield sample(days, limit, seed), Lives(homes, embedder, Path(folder))


class Lives:
    """folder: for the memories; what is in it is thrown away when the benchmark ends. optimizer: who writes lessons."""

    def __init__(self, homes: LifeHomes, embedder: TextEmbedder, folder: Path) -> None:
        self._homes = homes
        self._embedder = embedder
        self.optimizer: OptimizerConfig | None = None
        self._folder = folder
        self._patrolled: dict[tuple[object, ...], Path] = {}
        self._count = 0

    def begin(self, scenario: Scenario, without: str = "", cache: CacheSetting | None = None) -> tuple[RobotLife, Path]:
        """Return a robot that knows what a scenario says it knows, at 08:00, and a folder of its own.

        without: the memory that is off; cache: see RobotLife.

        Raises:
            InvalidValueError, NoRoomError: see LifeHomes.world.
        """
        # A closed memory is a cycle of few objects with large arrays: left to itself, the collector comes too rarely.
        gc.collect()
        self._count += 1
        folder = self._folder / f"day{self._count}"
        shutil.copytree(self._after_patrol(scenario, without), folder)
        world = self._homes.world(scenario)
        return RobotLife(world, folder, self._embedder, cache, without, self.optimizer), folder

    def play(self, day: Day, without: str, make_run: MakeRun, cache: CacheSetting | None = None) -> DayReport:
        """Return what came of one scenario; whatever raises on the way is in the report."""
        report = DayReport(day.scenario.id, day.scenario.category)
        try:
            life, folder = self.begin(day.scenario, without, cache)
        except NoRoomError as error:
            report.broken = day.fault((), str(error))
            return report
        except Exception:
            report.crash = traceback.format_exc()
            return report
        try:
            return make_run(life, folder).play()
        finally:
            life.close()
            shutil.rmtree(folder, ignore_errors=True)  # a benchmark plays thousands

    def _after_patrol(self, scenario: Scenario, without: str) -> Path:
        extra, people = tuple(scenario.extra.items()), tuple(scenario.people.items())
        # What a patrol shows stays in the scene graph alone: without that there is nothing to show.
        known = "nothing" if without == SCENE else scenario.known
        key = (scenario.home, known, extra, people, without == KARMA)
        if key not in self._patrolled:
            folder = Path(tempfile.mkdtemp(prefix="patrol", dir=self._folder))
            life = RobotLife(self._homes.world(scenario), folder, self._embedder, without=without)
            try:
                take_in_map(life)
                if known != "nothing":
                    patrol(life, None if known == "all" else known)
            finally:
                life.close()
            self._patrolled[key] = folder
        return self._patrolled[key]
