"""The simulated mobile manipulator: a SkillPort over the simulated home."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from memory_node.domain.clock import Clock
from memory_node.domain.errors import NotFoundError
from memory_node.domain.geometry import FloatArray
from memory_node.domain.observation import Frame
from memory_node.domain.skill import (
    Exploration,
    FailureReason,
    ObjectReference,
    SkillCall,
    SkillFailure,
    SkillResult,
    StateChange,
)
from memory_node.domain.skill_library import outcome_of
from memory_node.sim import composites, manipulation, searching
from memory_node.sim.execution import Body, Execution, ExecutionFaults, Pacing, Progress, RobotConfig
from memory_node.sim.thing import Thing
from memory_node.sim.visibility import (
    REMEMBERED_WITHIN_M,
    horizontal_distance,
    oracle_frame,
    parse_place,
    parse_remembered,
    resolve,
    thing_at,
    visible_things,
)
from memory_node.sim.world import World

AreaPosition = Callable[[str], tuple[float, float]]
# Returns why a call fails although its conditions hold, None where nothing hinders it.
Hindrance = Callable[[SkillCall], FailureReason | None]
_IN_VAIN_S = 2.0
# What happens further away from the robot than this goes unnoticed (a fridge in another room cools its contents).
NOTICED_WITHIN_M = 2.5


def _explore(robot: HomeRobot, run: Execution, *arguments: str) -> Thing:
    return searching.explore(robot, run, Exploration.of(SkillCall("Explore", arguments)))


PERFORM: Mapping[str, Callable[..., Thing | None]] = {
    "Explore": _explore,
    "GoToObject": searching.go_to,
    "PickupObject": manipulation.pick_up,
    "PutObject": manipulation.put,
    "OpenObject": manipulation.open_,
    "CloseObject": manipulation.close,
    "ToggleOn": manipulation.toggle_on,
    "ToggleOff": manipulation.toggle_off,
    "SwitchOn": manipulation.toggle_on,
    "SwitchOff": manipulation.toggle_off,
    "SliceObject": manipulation.slice_,
    "ThrowObject": manipulation.throw,
    "FillObject": manipulation.fill,
    "CleanObject": composites.clean,
    "HeatObject": composites.treat_at,
    "CoolObject": composites.treat_at,
}


class HomeRobot:
    """A robot in a simulated home that executes the skill library.

    area_position: where an area's id lies, for Explore and GoToObject; places may also be literal "x,y" (metres, map).
    clock: stamps of the reported changes; by default the world's simulated time. pacing: real time, or none.
    hindrance: what in this home makes calls fail, those included that Explore makes inside.
    """

    def __init__(
        self,
        world: World,
        config: RobotConfig | None = None,
        area_position: AreaPosition | None = None,
        pacing: Pacing | None = None,
        faults: ExecutionFaults | None = None,
        clock: Clock | None = None,
        hindrance: Hindrance | None = None,
    ) -> None:
        self.world = world
        self.config = config or RobotConfig()
        self.body = Body(world, self.config)
        self._area_position = area_position
        self.pacing = pacing or Pacing()
        self.faults = faults or ExecutionFaults()
        self.rng = np.random.default_rng(self.faults.seed)
        self._clock = clock
        self._hindrance = hindrance

    def execute(self, call: SkillCall) -> SkillResult:
        """Run one skill to its end; never raises for a skill that fails."""
        return self.run(call)

    def run(
        self,
        call: SkillCall,
        on_progress: Callable[[Progress], None] | None = None,
        cancelled: Callable[[], bool] | None = None,
    ) -> SkillResult:
        """Run one skill; report progress on the way and stop with CANCELED soon after `cancelled` returns True.

        A skill that fails half-way reports the changes that it made until then.
        """
        run = Execution(self, call, on_progress, cancelled)
        self.world.take_changes()
        return replace(
            outcome_of(call, lambda: self._perform(run, call)),
            duration_s=run.elapsed_s,
            distance_m=run.distance_m,
            explored_areas=run.explored_areas,
            changes=self._noticed(self.world.take_changes()),
        )

    def visible_objects(self, all_around: bool = False) -> list[Thing]:
        """Return what the oracle detector sees from here, nearest first; `all_around` as if the robot looked round."""
        angle = 2.0 * np.pi if all_around else self.config.field_of_view_rad
        return visible_things(self.world, self.body.pose, self.config.view_range_m, angle)

    def observe(self, all_around: bool = False) -> Frame:
        """Return what the oracle detector sees from here as a frame without depth."""
        angle = 2.0 * np.pi if all_around else self.config.field_of_view_rad
        stamp_ns = self._clock() if self._clock else None
        return oracle_frame(self.world, self.body.pose, self.config.view_range_m, angle, stamp_ns)

    def resolve(self, text: str) -> Thing:
        """Return the thing that a skill's argument means: the held one where it fits, else see references.resolve."""
        if self.world.held is not None and self.is_held(text):
            return self.world.held
        return self.resolve_other(text)

    def resolve_other(self, text: str) -> Thing:
        """Return the thing that an argument means, where what the hand holds cannot be meant."""
        return resolve(self.world, self.body.pose, text, self.config.view_range_m)

    def place(self, text: str) -> FloatArray | None:
        """Return (x, y) of a literal place or an area's id, or None when the text is neither."""
        literal = parse_place(text)
        if literal is not None or text in self.world or parse_remembered(text) or self._area_position is None:
            return literal
        if self.world.types.called(text):
            return None
        try:
            return np.array(self._area_position(text), dtype=np.float64)
        except (KeyError, NotFoundError):
            return None

    def is_held(self, text: str) -> bool:
        """Return whether an argument names what the hand holds, by id, class, or class and (old) place."""
        held = self.world.held
        if held is None:
            return False
        remembered = parse_remembered(text)
        if text in self.world or remembered is None:
            return text == held.id or held.type in self.world.types.called(text)
        # Memory may still have the place where the thing was taken from.
        way = self.world.held_from - np.array(remembered.position)
        taken_there = float(np.linalg.norm(way[:2])) <= REMEMBERED_WITHIN_M
        at_place = thing_at(self.world, remembered)
        is_class = held.type in self.world.types.called(remembered.object_class)
        return is_class and (taken_there or at_place in (None, held))

    def _perform(self, run: Execution, call: SkillCall) -> str:
        self.hinder(run, call)
        thing = PERFORM.get(call.skill, manipulation.treat)(self, run, *call.arguments)
        return thing.id if thing is not None else ""

    def hinder(self, run: Execution, call: SkillCall) -> None:
        """Fail where something in the home hinders a call."""
        reason = self._hindrance(call) if self._hindrance is not None else None
        if reason is not None:
            run.wait(_IN_VAIN_S, f"{call.skill} in vain")
            raise SkillFailure(
                reason, f"{call.skill} failed", call.arguments[0] if call.arguments[0] in self.world else ""
            )

    def _noticed(self, changes: Sequence[StateChange]) -> tuple[StateChange, ...]:
        here = self.body.pose.position
        # Changes are stamped in the world's time, when they happened; listeners live in the clock's.
        clock_offset_ns = self._clock() - self.world.now_ns if self._clock else 0
        noticed = []
        for change in changes:
            own = change.held is not None or change.object_id not in self.world
            if own or horizontal_distance(self.world[change.object_id].box, here) <= NOTICED_WITHIN_M:
                support = self._reference(change.support_id)
                noticed.append(replace(change, stamp_ns=change.stamp_ns + clock_offset_ns, support_id=support))
        return tuple(noticed)

    def _reference(self, thing_id: str) -> str:
        """Return a thing as class and position: the home's ids mean nothing to memory."""
        if thing_id not in self.world:
            return ""
        thing = self.world[thing_id]
        return str(ObjectReference.at(thing.class_name, thing.box.center))
