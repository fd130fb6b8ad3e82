"""What the robot has seen before the first event: a patrol of some rooms, an hour before."""

from __future__ import annotations

from collections.abc import Collection

from benchmarks.household_homes import lay_map
from benchmarks.life.robot_life import RobotLife
from memory_node.catalogue.object_kind import Property
from memory_node.domain.geometry import Pose
from memory_node.sim.searching import stand_off

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
