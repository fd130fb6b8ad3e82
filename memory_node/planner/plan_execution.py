"""Acts for one goal: what is known of its things, facts made true by searched plans, and new plans after failures."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.domain.skill import FailureReason, SkillCall, SkillResult
from memory_node.domain.skill_declaration import Fact, Predicate
from memory_node.domain.skill_library import ALL_SKILLS, GOAL_OF_SKILL, SKILLS, GoalKind
from memory_node.domain.states import DOORS, ObjectState
from memory_node.lessons.expectations import ENABLING
from memory_node.lessons.lesson import Preparation
from memory_node.planner.expected_failures import ExpectedFailures
from memory_node.planner.goal import Mention
from memory_node.planner.planner import PlannedStep, PlanningFailedError, because
from memory_node.planner.search import find_plan, refuses_nothing
from memory_node.world.episode import EpisodeWorld
from memory_node.world.skills import broken_rules
from memory_node.world.state import Thing, WorldState

if TYPE_CHECKING:
    from memory_node.planner.locating import Locator

Steps = Generator[PlannedStep, SkillResult, None]


class Setback(Exception):  # noqa: N818 - a goal that fails is an outcome, not an error of the program
    """A goal cannot be achieved; never leaves the planner."""


class Hopeless(Setback):
    """What fails has never worked, so that trying the goal again would bring nothing."""


class NothingFound(Setback):
    """Nothing that a goal speaks of was found anywhere."""


class NothingElse(Hopeless, NothingFound):
    """What fails has never worked, and memory knows nothing else that would do."""


@dataclass
class GoalAttempt:
    """What is known while a goal is pursued.

    world: the instruction's one world. skills: names of those that the robot does. parts: the things that play the
    goal's parts ("target", "destination"), as they were last known. mentions: what the goal says of them. excluded:
    identities of unsuitable instances; avoided: of those that are tried last; taken: of finished ones. memory_ids: see
    PlanningContext. goes_to: where its target is to go, (x, y, z) in map, where that is known. not_sought: why parts
    failed by themselves or are full, by name: others that memory knows will do, and no search. opened: identities of
    what the robot has opened in this instruction, and nobody asked it to; kept_open: classes of what stays open for
    what comes next.
    """

    world: EpisodeWorld
    skills: frozenset[str] = ALL_SKILLS
    parts: dict[str, Thing] = field(default_factory=dict)
    mentions: dict[str, Mention] = field(default_factory=dict)
    excluded: set[str] = field(default_factory=set)
    avoided: set[str] = field(default_factory=set)
    taken: set[str] = field(default_factory=set)
    memory_ids: Mapping[str, str] = field(default_factory=dict)
    goes_to: tuple[float, float, float] | None = None
    not_sought: dict[str, NothingFound] = field(default_factory=dict)
    opened: set[str] = field(default_factory=set)
    kept_open: frozenset[str] = frozenset()

    @property
    def kinds(self) -> ObjectCatalogue:
        """What can be done with classes."""
        return self.world.state.kinds

    @property
    def ruled_out(self) -> set[str]:
        """Identities of excluded, avoided and finished things, found or remembered."""
        return self.excluded | self.avoided | self.taken

    @property
    def held(self) -> Thing | None:
        """What the hand is believed to hold."""
        return self.world.state.things.get(self.world.state.held or "")

    def find(self, name: str) -> Thing | None:
        """Return what plays a part, or the thing that a call names; None for neither. Memory may have come to know a
        thing under another name, and a part stays what it was until it is given up."""
        part = self.parts.get(name)
        if part is None:
            return self.world.state.named(name)
        names = (part.id, part.object_id, part.memory_id)
        found = next(filter(None, map(self.world.state.named, names)), None)
        self.parts[name] = found if found is not None else self.world.keep(part)
        return self.parts[name]

    def part(self, name: str) -> Thing:
        """Return what plays a part.

        Raises:
            KeyError: nothing does.
        """
        found = self.find(name)
        if found is None:
            raise KeyError(name)
        return found

    def roles(self, thing: Thing) -> list[str]:
        """Return the parts that a thing plays."""
        return [name for name in self.parts if self.part(name).id == thing.id]

    def follow(self, result: SkillResult) -> None:
        """Take over how a skill ended. What failed to be found keeps its part until another thing has it."""
        self.world.follow(result, self.memory_ids)
        self.opened |= {one.object_id for one in result.changes if ObjectState.OPENED in one.added}
        if result.success and result.call.skill == "OpenObject":
            self.opened.add(result.call.arguments[0])
        for name, part in self.parts.items():
            found = self.world.state.named(part.id)
            self.parts[name] = found if found is not None else part

    def known(self) -> WorldState:
        """Return the world as far as a plan for the goal goes: its parts, what they are in or on, and the hand. What
        stands fixed is driven to itself, and so is what lies on top of a thing with a lid."""
        keys = [self.part(name).id for name in self.parts]
        state, things = self.world.state, dict[str, Thing]()
        for key in dict.fromkeys([*keys, state.held] if state.held else keys):
            things[key] = state.things[key]
            for thing, outer in state.around(key):
                lies_open = thing.inside is False and state.kinds[outer.object_class].lidded
                if lies_open or not state.kinds[thing.object_class].pickupable:
                    things[thing.id] = replace(thing, container="", inside=None)
                    break
                things[outer.id] = outer
        return replace(state, things=things, at=state.at if state.at in things else "")

    def passed_over(self, name: str) -> frozenset[str]:
        """Return the ids at which a search for a part of the goal must not end. References by place are left out: a
        thing may have been carried away, and another one may lie there."""
        return frozenset(one for one in self.ruled_out | self.in_another_part(name) if "@" not in one)

    def exclude(self, thing: Thing) -> None:
        """Give up on one instance; the next search takes another."""
        self.excluded |= thing.identities
        for name in [key for key, part in self.parts.items() if part.id == thing.id]:
            del self.parts[name]

    def in_another_part(self, name: str) -> set[str]:
        """Return the identities of movable things that the goal needs under other names: nothing is put into itself."""
        others = [self.part(role) for role in self.parts if role in self.mentions and role != name]
        movable = [thing for thing in others if self.kinds[thing.object_class].pickupable]
        return {identity for thing in movable for identity in thing.identities}


_SWITCHED = DOORS | {ObjectState.ON, ObjectState.OFF}
# So often a call is tried that fails by itself before another place is.
_TRIES = 3
_ELSEWHERE = frozenset(
    {
        FailureReason.NOT_FOUND,
        FailureReason.NOT_VISIBLE,
        FailureReason.UNREACHABLE,
        FailureReason.OCCUPIED,
        FailureReason.WRONG_OBJECT,
        FailureReason.PRECONDITION,
        FailureReason.INVALID_CALL,
    }
)


_MAX_STEPS = 60
_DOOR = "door behind"
TOOL = "tool"  # how a plan names what the hand must hold to treat something


class _Replan(Exception):  # noqa: N818
    """The plan no longer fits what is known."""


@dataclass
class PlanExecution:
    """The robot's hands while one goal is pursued.

    max_failures: skills that may fail before the goal is given up. expected: what earlier tries taught; None: nothing.
    """

    kinds: ObjectCatalogue
    locator: Locator
    attempt: GoalAttempt
    max_failures: int
    expected: ExpectedFailures | None = None
    failures: int = 0
    steps: int = 0

    _by_chance: Counter[tuple[str, str]] = field(default_factory=Counter)

    @property
    def state(self) -> WorldState:
        """What is believed now."""
        return self.attempt.world.state

    def need(self, name: str, mention: Mention, sliced: bool = False) -> Steps:
        """Locate a thing under a name. If remembered pieces are gone, another whole one is cut.

        Raises:
            NothingFound: there is none.
        """
        if sliced:
            pieces = (self.kinds[one].slices for one in mention.candidates)
            mention = replace(mention, candidates=tuple(one for one in pieces if one))
        try:
            yield from self.locator.need(self.attempt, name, mention)
        except NothingFound:
            whole = self.kinds.whole(mention.object_class)
            if whole == mention.object_class:
                raise
            yield from self.need(name, Mention(whole, (whole,)))
            yield from self.need_tool()
            yield from self.make(Fact(Predicate.STATE, (name,), state=ObjectState.SLICED))
            self.attempt.mentions[name] = mention

    def need_tool(self, tools: tuple[str, ...] = ()) -> Steps:
        """Have a tool located, by default one of those that things are usually cut with."""
        usual = self.kinds.usual_treatment(GoalKind.SLICE)
        tools = tools or (usual.tools if usual is not None else ())
        held = self.attempt.held
        if held is None or self.kinds[held.object_class].name not in tools:
            yield from self.need(TOOL, Mention(f"a tool such as {tools[0]}" if tools else "a tool", tools))

    def make(self, *wanted: Fact, fixture: str = "", near: bool = False) -> Steps:
        """Execute searched plans until all of `wanted` holds; fixture: what composites are done at. near: the robot
        must stand there first."""
        while True:
            try:
                plan = self._plan(wanted, fixture)
            except PlanningFailedError:
                held = self.attempt.held
                if held is None or "surface" in self.attempt.parts:
                    raise
                surfaces = self.locator.surfaces()
                if self.expected is not None:
                    self.attempt.avoided |= self.expected.refusing(held, surfaces.candidates)
                yield from self.need("surface", surfaces)
                continue
            if not plan:
                return
            if (yield from self._prepare(plan)):
                continue
            there = Fact(Predicate.NEAR, (fixture,))
            if near and self._plan((there,)):
                yield from self.make(there)
                continue
            last = self.state
            try:
                for call in plan:
                    yield from self.do(self._as_known_now(call, last))
            except _Replan:
                for name, mention in list(self.attempt.mentions.items()):
                    yield from self.need(name, mention)

    def doubt(self, name: str, state: ObjectState) -> None:
        """Take a thing not to be in a state that a goal asks for: who asks says that it is not. Of doors and switches
        memory knows better."""
        thing = self.attempt.part(name)
        if state not in _SWITCHED and state in thing.states:
            self.attempt.world.suppose(thing.id, state, False)

    def _plan(self, wanted: Sequence[Fact], fixture: str = "") -> list[SkillCall]:
        """Return the calls that make facts about parts of the goal so."""
        part, skills = self.attempt.part, self.attempt.skills
        about = [replace(one, arguments=tuple(part(name).id for name in one.arguments)) for one in wanted]
        refuses = self.expected.refuses if self.expected is not None else refuses_nothing
        return find_plan(self.attempt.known(), about, part(fixture).id if fixture else "", skills, refuses)

    def _prepare(self, plan: Sequence[SkillCall]) -> Generator[PlannedStep, SkillResult, bool]:
        """Do what made the first call of a plan work that has such a way; return whether there is one. What cannot be
        done any more is left out."""
        if self.expected is None:
            return False
        for call in plan:
            subject, place = self.state.named(call.arguments[0]), self.state.named(call.arguments[-1])
            lesson = self.expected.way(call, subject, place)
            if lesson is None:
                continue
            for number, one in enumerate(lesson.before):
                with contextlib.suppress(NothingFound, PlanningFailedError, _Replan):
                    yield from because(lesson.text, self._do_before(one, f"preparation {number}", subject))
            for name, mention in list(self.attempt.mentions.items()):
                if name not in self.attempt.parts:  # given up for a call that failed
                    yield from self.need(name, mention)
            return True
        return False

    def _do_before(self, one: Preparation, name: str, subject: Thing | None) -> Steps:
        """Do one call that made another one work: with the other's own thing, or with the thing that it was done with.
        What is switched or opened already is left so; all else is done again."""
        if not one.thing_id and subject is not None:
            name = subject.id
        else:
            name = yield from self._known_as(name, one.thing_class, one.thing_id)
        if one.skill in ENABLING:
            yield from self.make(Fact(Predicate.STATE, (name,), state=ENABLING[one.skill]))
            return
        if SKILLS[one.skill].needs(Predicate.HOLDING):
            yield from self.make(Fact(Predicate.HOLDING, (name,)))
        if one.place_id:
            place = yield from self._known_as(f"{name} place", one.place_class, one.place_id)
            yield from self.make(Fact(Predicate.CONTAINED, (name, place)))
            return
        treatment = self.kinds.usual_treatment(GOAL_OF_SKILL[one.skill])
        arguments = [name]
        if treatment is not None and treatment.at:
            arguments.append(f"{name} fixture")
            yield from self.need(arguments[1], Mention(f"where to {treatment.name}", treatment.at))
            if not SKILLS[one.skill].composite:
                yield from self.make(Fact(Predicate.NEAR, (arguments[1],)))
        yield from self.do(SkillCall(one.skill, tuple(map(self.reference, arguments))))

    def _known_as(self, name: str, object_class: str, thing_id: str) -> Generator[PlannedStep, SkillResult, str]:
        """Return the name of one certain thing, located under `name` where it has none."""
        known = next((role for role in self.attempt.parts if self.attempt.part(role).memory_id == thing_id), None)
        if known is None:
            self.attempt.parts.pop(name, None)
            yield from self.need(name, Mention(object_class, (object_class,), thing_id=thing_id))
        return known or name

    def do(self, call: SkillCall) -> Steps:
        """Execute one call and take over what it changed.

        Raises:
            _Replan: it failed in a way that another plan may get round.
            Setback: it failed for good.
        """
        if call.skill not in self.attempt.skills:
            raise Setback(f"{call.skill} is not available on this robot")
        self.steps += 1
        if self.steps > _MAX_STEPS:
            raise Setback(f"not achieved within {_MAX_STEPS} steps")
        things = [self.state.named(argument) for argument in call.arguments]
        known = {text: thing.memory_id for text, thing in zip(call.arguments, things) if thing is not None}
        result = yield PlannedStep(call, memory_ids={name: found for name, found in known.items() if found})
        if result.reason is FailureReason.NOT_VISIBLE and things[0] is not None and self.state.at == things[0].id:
            # It was seen a moment ago, from here: where else would it be looked for?
            result = replace(result, reason=FailureReason.EXECUTION, message=f"not visible {result.message}".strip())
        roles = self.attempt.roles(things[-1]) if things[-1] is not None and not result.success else []
        before = self.state
        self.attempt.follow(result)
        if result.success:
            if call.skill in ("PickupObject", "PutObject") and things[0] is not None:
                around = (outer.id for state in (before, self.state) for _, outer in state.around(things[0].id))
                for key in list(around):
                    yield from self.shut(key)
            return
        self.failures += 1
        if self.expected is not None:
            self.expected.failed.add(call.skill)
        if result.reason is FailureReason.CANCELED or self.failures > self.max_failures:
            raise Setback(self._told(result, things))
        self._give_up_on(result, things, next((one for one in roles if one in self.attempt.mentions), ""))
        raise _Replan

    def shut(self, key: str) -> Steps:
        """Close what the robot has opened, once nothing is taken out of it or put into it any more."""
        door = self.state.things.get(key)
        if door is None or not door.has(ObjectState.OPENED) or door.identities.isdisjoint(self.attempt.opened):
            return
        if self.kinds[door.object_class].name in self.attempt.kept_open or "CloseObject" not in self.attempt.skills:
            return
        self.attempt.opened -= door.identities
        self.attempt.parts[_DOOR] = door
        with contextlib.suppress(Setback, PlanningFailedError, _Replan):  # what was asked for is done all the same
            yield from self.make(Fact(Predicate.STATE, (_DOOR,), state=ObjectState.CLOSED))
        self.attempt.parts.pop(_DOOR, None)

    def _give_up_on(self, result: SkillResult, things: Sequence[Thing | None], role: str) -> None:
        """Take another thing for the last one that a failed call names, where that is the way round it.

        things: that the call names; role: the part that the last of them plays, "" for none.

        Raises:
            Setback: it failed by itself so often that it is no chance, and nothing else can take the thing's part.
        """
        call, last, mention = result.call, things[-1], self.attempt.mentions.get(role)
        told = self._told(result, things)
        if result.reason is FailureReason.FORBIDDEN or result.reason.by_chance:
            is_hopeless = self.expected is not None and self.expected.is_hopeless(call, things[0], last)
            self._by_chance[(call.skill, call.arguments[-1])] += result.times
            tries = 1 if is_hopeless else _TRIES
            has_way = self.expected is not None and self.expected.has_way(call, things[0], last)
            is_chance = self._by_chance[(call.skill, call.arguments[-1])] < tries
            if result.reason.by_chance and (is_chance or has_way):  # what made it work with others is done first
                return
            if mention is None and last is not None:  # what it holds cannot be had
                role = next((name for name in self.attempt.mentions if self._is_part_in(name, last)), "")
                last, mention = (self.attempt.part(role), self.attempt.mentions[role]) if role else (last, None)
            if last is None or mention is None or mention.thing_id:
                raise (Hopeless if is_hopeless else Setback)(told)
            self.attempt.exclude(last)
            kind = NothingElse if is_hopeless else NothingFound
            self.attempt.not_sought[role] = kind(f"{told}; {self._no_other(mention)}")
            return
        is_told = any(
            rule.fact.predicate is Predicate.STATE for rule in broken_rules(SKILLS[call.skill], result.reason)
        )
        if result.reason in _ELSEWHERE and not is_told and last is not None and mention is not None:
            self.attempt.exclude(last)
            if result.reason is FailureReason.OCCUPIED and (self.locator.surveyed or mention.thing_id):
                self.attempt.not_sought[role] = NothingFound(f"{told}; {self._no_other(mention)}")

    def _no_other(self, mention: Mention) -> str:
        return f"I know of no other {self.kinds[mention.object_class].best_name}"

    def _is_part_in(self, name: str, outer: Thing) -> bool:
        return name in self.attempt.parts and self.attempt.part(name).container == outer.id

    def _told(self, result: SkillResult, things: Sequence[Thing | None]) -> str:
        """Return why a call failed, with what people call its things: an id says nothing to them."""
        known = filter(None, things)
        names = ", ".join(dict.fromkeys(self.kinds[one.object_class].best_name for one in known))
        return f"{result.call} failed with the {names}: {result.reason} {result.message}".rstrip()

    def reference(self, name: str) -> str:
        """Return how calls name a thing."""
        return self.attempt.part(name).call_name

    def _as_known_now(self, call: SkillCall, last: WorldState) -> SkillCall:
        """Refer to the things of a planned call as they are known now: a drawer that was opened took along what lies in
        it, and earlier steps told the robot's own ids. last: the state that still knows those that memory has lost."""
        self.locator.refresh(self.attempt)
        things = [self.state.named(key) or last.things[key] for key in call.arguments]
        return SkillCall(call.skill, tuple(thing.call_name for thing in things))
