"""Carries out one call of the skill library: own ways of base and arm, the user's actions, composites."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.catalogue.object_kind import Property
from memory_node.domain.geometry import FloatArray
from memory_node.domain.skill import Exploration, FailureReason, SkillCall, SkillFailure, SkillResult, StateChange
from memory_node.domain.skill_declaration import Appliance, ArgumentKind, Skill
from memory_node.domain.skill_library import GOAL_OF_SKILL, SKILLS, check_call, declaration, outcome_of
from memory_node.nodes.skill_bridge.base import Driving
from memory_node.nodes.skill_bridge.forwarding import ForwardedSkills
from memory_node.nodes.skill_bridge.manipulation import Manipulation
from memory_node.nodes.skill_bridge.outcome import EarlierPoses, SkillRun
from memory_node.nodes.skill_bridge.plugins import PluginCall, RobotParts, SkillPlugins
from memory_node.nodes.skill_bridge.target import Target, TargetLookup
from memory_node.world.skills import declared_changes, failure_of
from memory_node.world.state import Thing, WorldState

_LEAVES_ARM_OUT = frozenset({FailureReason.EXECUTION, FailureReason.UNREACHABLE})
# Steps of every composite; doors and switches are told before the robot moves.
_BARE_STEPS = frozenset({"GoToObject", "PickupObject", "PutObject"})
# The effect of this step holds already, so it counts as done.
_DONE_ALREADY = frozenset({FailureReason.ALREADY_OPEN, FailureReason.ALREADY_CLOSED})


@dataclass(eq=False)
class SkillPerformer:
    """Runs skills one at a time: the user's actions first, then plug-ins, then the bridge's own ways.

    parts: hand, arm and gripper, and the node's parameters. actions: the skills that are handed on. driving: None where
    the robot does not drive.

    Raises:
        InvalidValueError: a plug-in that the parameters name cannot be had.
    """

    parts: RobotParts
    lookup: TargetLookup
    actions: ForwardedSkills
    catalogue: ObjectCatalogue
    now_ns: Callable[[], int]
    driving: Driving | None = None
    earlier: EarlierPoses = field(default_factory=EarlierPoses)

    def __post_init__(self) -> None:
        self.hand = self.parts.hand
        self.plugins = SkillPlugins(self.parts.config.plugins.split(), self.parts)
        self.manipulation: Manipulation | None = None
        if self.parts.arm is not None and self.parts.gripper is not None:
            self.manipulation = Manipulation(self.parts, self.lookup, self.catalogue, self.now_ns, self.earlier)

    def available(self) -> frozenset[str]:
        """Return the skills of the library that the robot can do; a composite needs its bare steps, at least."""
        simple = {name for name, skill in SKILLS.items() if not skill.composite and self._does(name)}
        whole = {name for name, skill in SKILLS.items() if skill.composite}
        if not simple >= _BARE_STEPS:
            whole = {name for name in whole if name in self.actions or name in self.plugins}
        return frozenset(simple | whole)

    def execute(self, call: SkillCall, run: SkillRun) -> SkillResult:
        """Run one skill to its end; a skill that fails half-way reports what it changed until then."""
        started_ns = self.now_ns()
        self.lookup.start()
        result = outcome_of(call, lambda: self._perform(call, run))
        if run.manipulated and result.reason in _LEAVES_ARM_OUT and self.manipulation is not None:
            self.manipulation.fold(run)
        return replace(
            result,
            duration_s=(self.now_ns() - started_ns) * 1e-9,
            distance_m=run.distance_m,
            explored_areas=run.explored_areas,
            changes=tuple(run.changes),
            tried=tuple(run.tried),
        )

    def _perform(self, call: SkillCall, run: SkillRun) -> str:
        """Run a skill, or a step of one; return the id of the object that it was about."""
        skill = check_call(call)
        run.check()
        if not self._can(call):
            raise SkillFailure(FailureReason.INVALID_CALL, self._missing(call.skill))
        if skill.name == "Explore":
            return self._explore(call, run)
        bound = self._bind(skill, call)
        self._require(skill, bound)
        if skill.name in self.actions:
            self._forward(skill, call, bound, run)
        elif skill.composite and skill.name not in self.plugins:
            self._compose(skill, call, bound, run)
        elif skill.name == "GoToObject" and skill.name not in self.plugins:
            self._go_to(bound["object"], run)
        else:
            self._use_arm(skill, bound, run)
        return bound["object"].object_id

    def _use_arm(self, skill: Skill, bound: Mapping[str, Target], run: SkillRun) -> None:
        """Run a skill of the arm; begin it anew with things as memory has them then, while the hand holds what it held:
        from another place after the arm found no way, from the same after it was stopped or closed on nothing."""
        held = self.hand.held
        for left in range(self.parts.config.base.repositions, -1, -1):
            target = list(bound.values())[-1]
            try:
                self._work(skill, bound, run)
                return self._stood(target, run, True)
            except SkillFailure as failure:
                if failure.reason is FailureReason.UNREACHABLE:
                    self._stood(target, run, False)
                if not left or self.hand.held is not held or not self._begins_anew(skill, failure):
                    raise
                if run.manipulated and self.manipulation is not None:
                    self.manipulation.fold(run)
                bound = {name: self.lookup.renewed(target) for name, target in bound.items()}
                is_elsewhere = failure.reason is FailureReason.UNREACHABLE
                if is_elsewhere and not self._stands_elsewhere(list(bound.values())[-1], run):
                    raise

    def _stood(self, target: Target, run: SkillRun, worked: bool) -> None:
        """Note whether the arm found a way from where the base stands."""
        if self.driving is not None:
            self.driving.stood(target, run, worked)

    def _begins_anew(self, skill: Skill, failure: SkillFailure) -> bool:
        """Return whether another attempt may do; the plug-ins see for themselves what a motion that was stopped did."""
        if failure.reason is FailureReason.UNREACHABLE:
            return self.driving is not None and skill.name != "GoToObject"
        return failure.reason is FailureReason.EXECUTION and skill.name not in self.plugins

    def _stands_elsewhere(self, target: Target, run: SkillRun) -> bool:
        """Drive to another place before a thing; return whether there is one."""
        assert self.driving is not None
        try:
            self.driving.go_to(target, run, elsewhere=True)
        except SkillFailure as failure:
            if failure.reason is not FailureReason.UNREACHABLE:
                raise
            return False
        return True

    def _work(self, skill: Skill, bound: Mapping[str, Target], run: SkillRun) -> None:
        """Run a skill of the arm from where the robot stands."""
        if skill.name in self.plugins:
            changes = self.plugins.run(PluginCall(skill, bound), run)
            self._take_over(tuple(changes) if changes else self._declared(skill, bound), bound, run)
        elif self.manipulation is not None and skill.name == "PickupObject":
            self.manipulation.pick(bound["object"], run)
        elif self.manipulation is not None and skill.name == "PutObject":
            self.manipulation.put(bound["object"], bound["receptacle"], run)
        else:
            raise SkillFailure(FailureReason.INVALID_CALL, self._missing(skill.name))

    def _can(self, call: SkillCall) -> bool:
        if self._does(call.skill):
            return True
        skill = declaration(call.skill)
        if not skill.composite:
            return False
        for step in skill.steps_at(call.arguments[0], self._appliance(skill, call)):  # before the robot moves
            if not self._can(step):
                raise SkillFailure(FailureReason.INVALID_CALL, f"{self._missing(step.skill)}; {call.skill} needs it")
        return True

    def _does(self, skill: str) -> bool:
        """Return whether there is a way to do a skill as a whole."""
        if skill in self.actions or skill in self.plugins:
            return True
        if skill in ("GoToObject", "Explore"):
            return self.driving is not None
        return skill in ("PickupObject", "PutObject") and self.manipulation is not None

    def _appliance(self, skill: Skill, call: SkillCall) -> Appliance:
        """Return what a composite is done at: what the call names, else the first usual place that memory knows."""
        if len(call.arguments) > 1:
            found = self.lookup.resolve(call.arguments[1])
            return self.catalogue.appliance(found.object_class, found.object_id)
        usual = self.catalogue.usual_treatment(GOAL_OF_SKILL[skill.name])
        failure = SkillFailure(FailureReason.INVALID_CALL, f"no class of this label space serves for {skill.name}")
        for name in usual.at if usual is not None else ():
            try:
                found = self.lookup.resolve(name)
                return self.catalogue.appliance(found.object_class, found.object_id)
            except SkillFailure as error:
                failure = error
        raise failure

    def _missing(self, skill: str) -> str:
        own = {"GoToObject": "base.action", "Explore": "base.action"}
        own |= {"PickupObject": "arm.action", "PutObject": "arm.action"}
        keys = " or ".join([f"actions.{skill}", *([own[skill]] if skill in own else []), "plugins"])
        return f"{skill} is not available on this robot: name an action or a plug-in in the parameter {keys}"

    def _bind(self, skill: Skill, call: SkillCall) -> dict[str, Target]:
        pairs = zip(skill.arguments, call.arguments)
        return {a.name: self.lookup.resolve(text) for a, text in pairs if a.kind is ArgumentKind.OBJECT}

    def _require(self, skill: Skill, bound: Mapping[str, Target]) -> None:
        """Raise SkillFailure with the declared reason of the first precondition that does not hold.

        bound: the skill's object arguments by name; rules about arguments that were left out do not apply. A class that
        the catalogue does not declare is not judged.
        """
        position, reach_m = self.parts.robot_pose().position[:2], self.parts.config.base.reach_m
        held = [self.hand.held] if self.hand.held is not None else []
        supports = {one.object_id: self.lookup.support_of(one) for one in bound.values()}
        around = [one for one in supports.values() if one is not None]
        targets = {one.object_id: one for one in (*around, *held, *bound.values())}
        near = frozenset(key for key, one in targets.items() if one.box.distance_m(position) <= reach_m)
        state = WorldState(
            self.catalogue,
            {key: _thing(one, supports.get(key)) for key, one in targets.items()},
            self.hand.held.object_id if self.hand.held is not None else "",
            apart=frozenset(targets.keys() - near),
            within=near,
        )
        arguments = [bound[one.name].object_id if one.name in bound else "" for one in skill.arguments]
        failure = failure_of(skill, state, SkillCall(skill.name, tuple(arguments)))
        if failure is not None:
            raise failure

    def _go_to(self, target: Target, run: SkillRun) -> None:
        held = self.hand.held
        if self.driving is not None and (held is None or held.object_id != target.object_id):
            self.driving.go_to(target, run)

    def _explore(self, call: SkillCall, run: SkillRun) -> str:
        if "Explore" in self.actions:
            return self.actions.run(call, run).object_id
        assert self.driving is not None
        asked = Exploration.of(call)
        stops = [self._stop(text) for text in asked.stops or self.lookup.search_places(asked.target_class)]
        return self.driving.explore(asked, stops, self, run).object_id

    def _stop(self, text: str) -> FloatArray | Target:
        """Return a place, or a container that can be opened; what cannot counts as the place where it is."""
        place = self.lookup.place(text)
        if place is not None:
            return place
        target = self.lookup.resolve(text)
        kind = self.catalogue.find(target.object_class)
        opens = kind is not None and kind.can(Property.OPENABLE) and self._does("OpenObject")
        return target if opens else target.box.center[:2]

    def open(self, container: Target, run: SkillRun) -> bool:
        """Open a container that a search looks into; return whether it had to be opened."""
        try:
            self._perform(SkillCall("OpenObject", (container.object_id,)), run)
        except SkillFailure as failure:
            if failure.reason is FailureReason.ALREADY_OPEN:
                return False
            raise
        return True

    def close(self, container: Target, run: SkillRun) -> None:
        """Close a container that a search opened in vain, if the robot can."""
        if self._does("CloseObject"):
            self._perform(SkillCall("CloseObject", (container.object_id,)), run)

    def _forward(self, skill: Skill, call: SkillCall, bound: Mapping[str, Target], run: SkillRun) -> None:
        # By class and position, because the user's server does not know memory's ids.
        references = [bound[argument.name].reference for argument, _ in zip(skill.arguments, call.arguments)]
        result = self.actions.run(SkillCall(skill.name, tuple(references)), run, bound)
        self._take_over(result.changes or self._declared(skill, bound), bound, run)

    def _declared(self, skill: Skill, bound: Mapping[str, Target]) -> tuple[StateChange, ...]:
        receptacle = bound.get("receptacle")
        kind = self.catalogue.find(receptacle.object_class) if receptacle is not None else None
        inside = kind is not None and kind.holds == "in"
        position = None
        if receptacle is not None:
            x, y, top = *receptacle.box.center[:2], receptacle.box.top_m
            position = (float(x), float(y), float(receptacle.box.center[2]) if inside else float(top))
        return declared_changes(skill, bound, self.now_ns(), inside, position)

    def _take_over(self, changes: tuple[StateChange, ...], bound: Mapping[str, Target], run: SkillRun) -> None:
        run.changed(changes)
        targets = {target.object_id: target for target in bound.values()}
        for change in changes:
            target = targets.get(change.object_id)
            if target is None:  # a server with its own ids; its changes of other objects go to memory only
                target = next((one for one in targets.values() if one.object_class == change.object_class), None)
            if target is None:
                continue
            if change.held is True:
                self.hand.take(target)
            elif change.held is False:
                self.hand.release()
            self.lookup.note(target, change)

    def _compose(self, skill: Skill, call: SkillCall, bound: Mapping[str, Target], run: SkillRun) -> None:
        target = bound["object"]
        for step in skill.steps_at(target.object_id, self._appliance(skill, call)):
            self._step(step, run)
        changes = declared_changes(skill, {"object": target}, self.now_ns())
        self._take_over(changes, {"object": target}, run)

    def _step(self, step: SkillCall, run: SkillRun) -> None:
        """Run a step of a composite, driving closer where it says that it is too far."""
        try:
            self._perform(step, run)
        except SkillFailure as failure:
            if failure.reason in _DONE_ALREADY:
                return
            if failure.reason is not FailureReason.TOO_FAR:
                raise
            self._perform(SkillCall("GoToObject", (step.arguments[-1],)), run)
            self._perform(step, run)


def _thing(target: Target, support: Target | None) -> Thing:
    container = support.object_id if support is not None else ""
    known = target.object_id
    return Thing(
        known, target.object_class, known, known, container=container, inside=target.inside, states=target.states
    )
