"""The homes of the household benchmark: ALFRED's floor plans, furnished where a suite says nothing of the objects."""

from __future__ import annotations

import random
import re
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path

import numpy as np

from benchmarks.alfred_home import AlfredScenes
from benchmarks.household_cases import Case
from benchmarks.household_goals import ConditionReader
from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.catalogue.object_kind import Property
from memory_node.domain.geometry import FloatArray, OrientedBox, Pose
from memory_node.memory import RobotMemory
from memory_node.scene_graph.free_space import OccupancyMap
from memory_node.sim.placement import fits, free_spot
from memory_node.sim.thing import ObjectType, Thing, initial_states
from memory_node.sim.visibility import horizontal_distance
from memory_node.sim.world import World, chill

# Where people keep things, for floor plans that come without objects: class -> receptacles, all alike likely.
_FOOD_PLACES = ("CounterTop", "DiningTable", "Fridge", "SideTable")
_DISH_PLACES = ("CounterTop", "DiningTable", "Cabinet", "Shelf", "SideTable")
_CUTLERY_PLACES = ("CounterTop", "DiningTable", "Drawer", "SideTable")
_BATH_PLACES = ("CounterTop", "Toilet", "Cabinet", "Shelf", "BathtubBasin")
_OTHER_PLACES: tuple[str, ...] = (
    "Desk",
    "SideTable",
    "Dresser",
    "CoffeeTable",
    "DiningTable",
    "Shelf",
    "Sofa",
    "TVStand",
    "Bed",
)
_OTHER_PLACES += ("CounterTop", "Drawer", "ArmChair")
_PLACES = {
    **dict.fromkeys(("Apple", "Bread", "Egg", "Lettuce", "Potato", "Tomato", "WineBottle"), _FOOD_PLACES),
    **dict.fromkeys(("Bowl", "Plate", "Cup", "Mug", "Pan", "Pot", "Kettle"), _DISH_PLACES),
    **dict.fromkeys(("Fork", "Spoon", "Knife", "ButterKnife", "Spatula", "Ladle"), _CUTLERY_PLACES),
    **dict.fromkeys(("SoapBar", "Cloth", "ToiletPaper", "HandTowel", "SprayBottle", "Plunger"), _BATH_PLACES),
}
_STANDING = ("GarbageCan", "FloorLamp", "LaundryHamper", "HousePlant")
_LAMP_PLACES = ("Desk", "SideTable", "Dresser", "CoffeeTable")
_ON_TABLES = {
    **dict.fromkeys(("DeskLamp", "Lamp"), _LAMP_PLACES),
    **dict.fromkeys(("Toaster", "CoffeeMachine"), ("CounterTop", "DiningTable")),
    "Television": ("TVStand", "Dresser", "Shelf", "SideTable", "Desk", "CoffeeTable"),
}
_ON_WALLS = {"LightSwitch": 1.2}  # class -> height in metres
_TRIES = 40
_IN_REACH_M = 1.2
_SEVERAL = re.compile(r"\b(?:two|both|2)\b", re.IGNORECASE)


def lay_map(memory: RobotMemory, world: World, stamp_ns: int) -> None:
    """Tell a memory the map of a home, and where in it the robot starts."""
    grid = world.grid
    laid = OccupancyMap(grid.occupancy, grid.resolution_m, Pose.planar(*grid.origin, 0.0))
    memory.set_map(laid, stamp_ns, tuple(world.layout.start.position[:2]))


def area_position(memory: RobotMemory, area_id: str) -> tuple[float, float]:
    """Return where a robot stands in one of the areas that a memory knows, (x, y) in map."""
    return {area.id: area.position for area in memory.scene().areas}[area_id]


class Homes:
    """Builds the world of each case; seed: of the furnishing, the same for all cases on one floor plan."""

    def __init__(self, scenes: Path, kinds: ObjectCatalogue, seed: int) -> None:
        self._scenes = AlfredScenes(scenes)
        self._kinds = kinds
        self._seed = seed

    def world(self, case: Case) -> World:
        """Return the case's home as the instruction finds it."""
        if case.task:
            return self._scenes.world(case.floor_plan, case.task)
        world = self._scenes.world(case.floor_plan)
        listed = self._scenes.object_types(case.floor_plan)
        wanted = [*listed, *ConditionReader(self._kinds).mentioned(case.conditions)]
        generator = random.Random(f"{self._seed} {case.floor_plan}")
        _furnish(world, dict.fromkeys([*sorted(set(listed)), *wanted]), generator)
        if _SEVERAL.search(case.instruction):
            for name in ConditionReader(self._kinds).mentioned(case.conditions)[:1]:
                _add(world, world.types[name], _PLACES.get(name, _OTHER_PLACES), generator)
        for condition in ConditionReader(self._kinds).read(case.conditions, world):
            if condition.point is not None:
                _put_where_it_belongs(world, condition.classes, np.array(condition.point))
        chill(world)
        return world


def _furnish(world: World, names: Iterable[str], generator: random.Random) -> None:
    """Add one thing of each class that the world lacks and that has a place in it."""
    for name in names:
        thing_type = world.types.get(name)
        if thing_type is None or world.of_class(name):
            continue
        if thing_type.can(Property.PICKUPABLE):
            _add(world, thing_type, _PLACES.get(name, _OTHER_PLACES), generator)
        elif name in _ON_TABLES:
            _add(world, thing_type, _ON_TABLES[name], generator, fixed=True)
        elif name in _STANDING:
            _stand(world, thing_type, 0.5 * thing_type.size_m[2], generator)
        elif name in _ON_WALLS:
            _stand(world, thing_type, _ON_WALLS[name], generator)


def _add(
    world: World, thing_type: ObjectType, places: Sequence[str], generator: random.Random, fixed: bool = False
) -> None:
    receptacles = [thing for name in places for thing in world.of_class(name)]
    receptacles = receptacles or [thing for thing in world if thing.kind.is_receptacle and thing.fixed]
    number = len(world.of_class(thing_type.name)) + 1
    box = OrientedBox(np.zeros(3), np.array(thing_type.size_m))
    thing = Thing(f"{thing_type.name}|{number}", thing_type, box, fixed=fixed, states=initial_states(thing_type))
    for _ in range(_TRIES):
        if not receptacles:
            return
        receptacle = generator.choice(receptacles)
        spot = free_spot(thing, receptacle, world.contents(receptacle.id), None) if fits(thing, receptacle) else None
        if spot is not None and float(np.linalg.norm(world.grid.points - spot.center[:2], axis=1).min()) <= _IN_REACH_M:
            thing.box = OrientedBox(spot.center, box.size, spot.yaw_rad)
            thing.parent_id, thing.inside = receptacle.id, receptacle.kind.holds == "in"
            world.add(thing)
            return


def _put_where_it_belongs(world: World, classes: Collection[str], place: FloatArray) -> None:
    """Lay the first thing of some classes at a place (3,): a condition that names one tells where it was at first."""
    thing = next((one for one in world if one.class_name in classes and not one.fixed), None)
    if thing is None:
        return
    furniture = [one for one in world if one.kind.is_receptacle and one.fixed and fits(thing, one)]
    for receptacle in sorted(furniture, key=lambda one: _distance(one.box, place)):
        others = [one for one in world.contents(receptacle.id) if one is not thing]
        spot = free_spot(thing, receptacle, others, place)
        if spot is not None:
            world.grasp(thing)
            world.release(thing, spot, receptacle)
            world.take_changes()
            return


def _distance(box: OrientedBox, place: FloatArray) -> float:
    below = max(box.bottom_m - float(place[2]), float(place[2]) - box.top_m, 0.0)
    return float(np.hypot(horizontal_distance(box, place), below))


def _stand(world: World, thing_type: ObjectType, height_m: float, generator: random.Random) -> None:
    """Stand or hang something beside the free floor, where it blocks no way, with its middle at a height."""
    spots = world.grid.points
    middle = spots.mean(axis=0)
    edge = sorted(spots.tolist(), key=lambda spot: -float(np.linalg.norm(np.array(spot) - middle)))
    x, y = generator.choice(edge[: max(len(edge) // 5, 1)])
    outward = np.array([x, y]) - middle
    outward /= max(float(np.linalg.norm(outward)), 1e-6)
    center = np.array([*(np.array([x, y]) + 0.4 * outward), height_m])
    box = OrientedBox(center, np.array(thing_type.size_m), float(np.arctan2(-outward[1], -outward[0])))
    world.add(Thing(f"{thing_type.name}|1", thing_type, box, fixed=True, states=initial_states(thing_type)))


def some_classes(world: World, share: float, seed: str) -> frozenset[str]:
    """Return a share of the classes that a home holds, chosen at random."""
    names = sorted({thing.class_name for thing in world})
    return frozenset(random.Random(seed).sample(names, round(share * len(names))))
