"""The robot's skills as the agent calls them: names become things, the robot drives there, and what changed is told."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from memory_node.context.recalled import quoted
from memory_node.domain.answer import FindQuery
from memory_node.domain.errors import InputSkippedError
from memory_node.domain.skill import FailureReason, SkillCall, SkillResult
from memory_node.domain.skill_declaration import Predicate, Skill
from memory_node.domain.skill_library import GOAL_OF_SKILL, SKILLS
from memory_node.lessons.expectations import place_of
from memory_node.lessons.lesson import Lesson
from memory_node.planner.agent.home_names import HomeNames, joined
from memory_node.planner.agent.model_goals import refusal
from memory_node.planner.agent.services import shortened
from memory_node.planner.agent.task import Task
from memory_node.planner.goal import Goal
from memory_node.planner.known_world import names_folded
from memory_node.planner.memory_lookup import MemoryLookup
from memory_node.planner.permitted_skills import LoopGuard
from memory_node.planner.planner import PlannedStep, PlanOutcome
from memory_node.planner.visual_verifier import PictureSource
from memory_node.short_term.crop_files import read_crop
from memory_node.world.skills import after, remedy_of, serves, unmet
from memory_node.world.state import Thing

_MOST_NEWS, _MOST_SEEN = 12, 24
# Looks of an instruction that come with pictures: each is some hundred to a thousand tokens.
_MOST_LOOKS = 10
# What failures may come from that lie in the thing, in the place or in chance.
_NO_CAUSE = (
    "no cause is known: chance, this thing or class, the place, the time of day, or something that must be done first"
    " (switch on, open, move)"
)
_OUT_OF_REACH = (
    "base or arm does not get there: something that is open or stands in the way must be closed or moved first, or it"
    " is this thing or place, or the time of day"
)
_MAY_COME_FROM = {one: _NO_CAUSE for one in FailureReason if one.by_chance} | {FailureReason.UNREACHABLE: _OUT_OF_REACH}
# Failures of a call from which it is no chance, and from which trying more is in vain.
_NO_CHANCE, _IN_VAIN = 3, 6
# Other things or places of which it is told how the call went there.
_MOST_ELSEWHERE = 4
# Things of a class that a thing found just now may be.
_MOST_OTHERS = 6


@dataclass(frozen=True)
class CallResult:
    """What came of a tool's call. text: for the model. ok: the next call of the reply may be made. new: it moved the
    robot or told something new. ending: the instruction ends."""

    text: str
    ok: bool = True
    new: bool = True
    ending: PlanOutcome | None = None


CallRun = Generator[PlannedStep, SkillResult, CallResult]


class SkillCalls:
    """The skill calls of one instruction.

    task: what they serve; who takes over other goals puts another one here. lookup: memory, asked as any planner asks
    it. camera, show: whose picture a look shows, and to whom; None shows none. count: of the skills so far;
    reason: why the last one failed, None where it did not. reasoning: why the next ones are called, in the model's
    words.
    """

    def __init__(
        self,
        task: Task,
        names: HomeNames,
        lookup: MemoryLookup,
        context_id: str,
        camera: PictureSource | None,
        show: Callable[[str, tuple[bytes, ...]], None],
    ) -> None:
        self.task = task
        self.lookup = lookup
        self.count = 0
        self.reason: FailureReason | None = None
        self.reasoning = ""
        self._names = names
        self._context_id = context_id
        self._camera = camera
        self._show_pictures = show
        self._loop_guard = LoopGuard()
        self._located: set[str] = set()
        self._failed: Counter[SkillCall] = Counter()  # without a cause that is known
        self._warned: set[SkillCall] = set()  # calls over names that the world speaks against
        self._done: set[SkillCall] = set()  # calls over names that succeeded
        self._undone: tuple[Goal, ...] = ()  # goals that were met and are no longer
        self._full: set[str] = set()  # names of places that proved to have no room
        self._looks = 0  # that were shown

    @property
    def succeeded(self) -> set[str]:
        """The names of the skills that succeeded."""
        return {call.skill for call in self._done}

    def used(self) -> list[str]:
        """Return the names of the things that can be carried among those that calls were done with."""
        kinds, things = self.task.world.kinds, self.task.world.things
        named = {name for call in self._done for name in call.arguments if name in things}
        return sorted(one for one in named if kinds[things[one].object_class].pickupable)

    @property
    def _opened(self) -> set[str]:
        """The names of what was opened, and so seen inside."""
        return {call.arguments[0] for call in self._done if call.skill == "OpenObject"}

    def look_at(self, name: str) -> CallRun:
        """Drive to a thing and tell what memory has there then; a model that sees is shown it."""
        done = yield from self.made(SKILLS["GoToObject"], {"object": name})
        meant = self._names.meant(name)
        if not done.ok or meant.thing is None:
            return done
        state, thing = self.task.world.state, meant.thing
        shown = [one for one in state if thing.id in (one.id, *(outer.id for _, outer in state.around(one.id)))]
        known = self._names.lines(self.task.situation.scene())
        self._show(thing)
        told = shortened(joined({one.id: known[one.id] for one in shown}), _MOST_SEEN, "find tells of one by its name")
        return CallResult("\n".join(told) if told != [thing.id] else f"{thing.id}: nothing in or on it", new=done.new)

    def _show(self, thing: Thing) -> None:
        """Show what the camera sees now, where the model takes pictures; a look without one is told in words alone."""
        known = self.task.situation.known
        if self._camera is None or self._looks >= _MOST_LOOKS:
            return
        try:
            picture = self._camera.newest(known.clock() if known is not None else 0)
        except InputSkippedError as error:
            self.task.situation.note(f"{thing.id} was looked at without a picture: {error}")
            return
        if picture is None:
            return
        self._looks += 1
        crop = self._crop_of(thing)
        alone = f"{thing.id} alone, as it was seen last"
        shown = {"the whole picture": picture.coded, "its middle closer": picture.closer, alone: crop}
        told = ", then ".join(said for said, one in shown.items() if one)
        self._show_pictures(f"What the robot's camera sees: {told}.", tuple(filter(None, shown.values())))

    def _crop_of(self, thing: Thing) -> bytes:
        """Return the newest crop of a thing that the short-term memory has on this machine, b"" for none."""
        found = self.task.situation.memory.recall(FindQuery(object_class=thing.object_class, k=_MOST_SEEN)).answers
        return next((read_crop(one.image_path) or b"" for one in found if one.object_id == thing.memory_id), b"")

    def made(self, skill: Skill, arguments: Mapping[str, Any]) -> CallRun:
        """Have the robot do a skill, after driving to where it is done; tell what changed, or why it is not done."""
        if skill.name == "Explore":
            return (yield from self._explore(str(arguments["target_class"]), arguments.get("areas") or ()))
        things: list[Thing] = []
        for value in itertools.takewhile(bool, (arguments.get(one.name) for one in skill.arguments)):
            thing, why = self._thing(str(value))
            if thing is None:
                return CallResult(why, False)
            things.append(thing)
        if skill.composite and len(things) == len(skill.named_arguments) < len(skill.arguments):
            things += self._usual_place(skill)
        elif len(things) > len(skill.named_arguments):
            things[-1] = self._serving(skill, things[-1])
        named = SkillCall(skill.name, tuple(thing.id for thing in things))
        goals, kinds = self.task.goals, self.task.world.kinds
        is_in_way = skill.name == "PickupObject" and self._is_in_the_way(things[0])
        why = refusal(skill, named, things[0].object_class, goals, kinds, self._lessons, self._done, is_in_way)
        why = why or self._repeated(named) or self._told_of_owner(named, things[0])
        if why and skill.name == "GoToObject" and self.task.world.state.at == things[0].id:
            return CallResult(f"{named}: the robot stands there", new=False)
        if why:
            return CallResult(f"not done: {why}", False, False)
        broken = unmet(skill, self.task.world.state, named)
        far = [one for one in broken if one.fact.predicate is Predicate.NEAR]
        others = [one for one in broken if one.fact.predicate is not Predicate.NEAR]
        if others and named not in self._warned:
            self._warned.add(named)
            state = self.task.world.state.standing_at("")
            is_so = after(skill, state, named).standing_at("").changing == state.changing
            said = "; ".join(f"{one.said} ({one.remedy})" if one.remedy else one.said for one in others)
            told = f"{named}: memory holds that it is so already" if is_so else f"not done: memory holds that {said}"
            return CallResult(f"{told}. Call it again if memory is wrong.", is_so)
        # Where a skill is done at a place that the call names, the robot drives there, too.
        at_place = [] if skill.composite or len(things) <= len(skill.named_arguments) else [things[-1]]
        places = [one.things[0] for one in far] + at_place
        if places:
            gone = yield from self._go(places[0])
            if not gone.ok:
                return gone
        done = yield from self._made(named, things)
        if done.ok or places or "too_far" not in done.text or skill.name == "GoToObject":
            return done
        gone = yield from self._go(things[-1])
        return (yield from self._made(named, things)) if gone.ok else gone

    def _told_of_owner(self, named: SkillCall, thing: Thing) -> str:
        """Return that people told that a thing is somebody else's, so that no goal means it; "" where one may, and
        where this was said already."""
        if named.skill == "GoToObject" or named in self._warned:
            return ""
        limits, classes = (
            self.task.situation.limits,
            {thing.object_class, self.task.world.kinds.whole(thing.object_class)},
        )
        about = [goal for goal in self.task.goals if not classes.isdisjoint(goal.target.candidates)]
        told = [limits.of_others(goal).get(thing.memory_id, "") for goal in about] if limits is not None else []
        if not told or not all(told):
            return ""
        self._warned.add(named)
        return f"told: {quoted(told[0])}; take another, or call it again if it is meant"

    def _is_in_the_way(self, thing: Thing) -> bool:
        """Return whether a thing is where a goal's treatment is done, or on or in a place that proved to be full."""
        kinds = self.task.world.kinds
        treatments = (one for goal in self.task.goals for one in kinds.treatments_of(goal.kind))
        used = {name for one in treatments for name in one.at}
        around = [outer for _, outer in self.task.world.state.around(thing.id)]
        return any(outer.object_class in used or outer.id in self._full for outer in around)

    def _go(self, thing: Thing) -> CallRun:
        return (yield from self._made(SkillCall("GoToObject", (thing.id,)), [thing]))

    def _explore(self, name: str, areas: Sequence[str]) -> CallRun:
        object_class = self._names.class_called(name) or "".join(one for one in name if one.isalnum())[:40]
        if not object_class:
            return CallResult(f"{quoted(name, 60)} is no class", False, False)
        self._names.widen((object_class,))
        named = SkillCall("Explore", (object_class, *map(str, areas)))
        why = self._repeated(named)
        if why:
            return CallResult(f"not done: {why}", False, False)
        self.lookup.locate(object_class)
        scene = self.task.situation.scene()
        asked = {area: self._names.place_called(area, scene) for area in map(str, areas)}
        strange = [area for area, found in asked.items() if not found]
        if strange:
            return CallResult(
                f"not done: no area is called {quoted(strange[0], 60)}; there are {self._names.areas(scene)}", False
            )
        stop_of = {area.id: f"{area.position[0]:.2f},{area.position[1]:.2f}" for area in scene.areas}
        likely = self.lookup.search_stops(object_class)
        # Within a room the likeliest areas come first.
        rank = {stop: number for number, stop in enumerate(likely)}
        ids = [sorted(found, key=lambda one: rank.get(stop_of[one], len(rank))) for found in asked.values()]
        within = list(dict.fromkeys(one for found in ids for one in found)) or list(stop_of)
        stops = tuple(stop_of[one] for one in within) if asked else likely
        done = yield from self._made(named, [], SkillCall("Explore", (object_class, *stops)))
        if not done.ok and self.reason is FailureReason.NOT_FOUND:
            self._names.note_searched(object_class, within, scene)
            shut = self._names.unopened(self.task.situation.scene(), within, self._opened)
            closed = f"\nclosed there, and not looked into: {shut}" if shut else ""
            return replace(done, text=f"{done.text}{closed}")
        return done

    def _thing(self, name: str) -> tuple[Thing | None, str]:
        """Return the thing that a name means, or why there is none."""
        meant = self._names.meant(name)
        if meant.thing is None and not meant.several and meant.object_class:
            self._names.widen((meant.object_class,))
            self.task.refresh()
            meant = self._names.meant(name)
        if meant.thing is not None:
            return meant.thing, ""
        if meant.several:
            there = ", ".join(names_folded(meant.several))
            is_name = name.split()[-1].isdigit()
            gone = f"{quoted(name, 60)} is not known any more" if is_name else "which one?"
            return None, f"not done: {gone}; there are {there}"
        said = f"not done: no {quoted(name, 60)} is known"
        if not meant.object_class:
            return None, f"{said}; find shows what there is"
        likely = self._names.likely(meant.object_class)
        return None, f"{said}; Explore for it{f', {likely}' if likely else ''}"

    def _usual_place(self, skill: Skill) -> list[Thing]:
        """Return where a treatment is usually done, of what memory knows; nothing where no such place is known."""
        goal = GOAL_OF_SKILL.get(skill.name)
        treatment = self.task.world.kinds.usual_treatment(goal) if goal is not None else None
        known = self.task.world.things.values()
        usual = (one for name in (treatment.at if treatment else ()) for one in known if one.object_class == name)
        return list(usual)[:1]

    def _serving(self, skill: Skill, place: Thing) -> Thing:
        """Return where at a place a treatment can be done: of a sink, its basin; else the place itself."""
        state = self.task.world.state
        near = (place, *state.contents(place.id), *(outer for _, outer in state.around(place.id)))
        return next((one for one in near if serves(skill, one, state)), place)

    def _lessons(self) -> tuple[Lesson, ...]:
        """Return what earlier tries taught, as far as it holds now."""
        known = self.task.situation.known
        return known.lessons.lessons(known.clock()) if known is not None and known.lessons is not None else ()

    def _repeated(self, named: SkillCall) -> str:
        if self._loop_guard.holds(named):
            so = "it was made before, and nothing but the robot's place has changed since"
            return f"{named}: {so}; do something else or end"
        return ""

    def _made(self, named: SkillCall, things: Sequence[Thing], call: SkillCall | None = None) -> CallRun:
        """Have the robot do a call over names; tell what changed."""
        for thing in things:
            if thing.id not in self._located and thing.id != self.task.world.held:
                self._located.add(thing.id)
                self.lookup.locate(thing.object_class)
        world = self.task.world
        call = call or SkillCall(named.skill, tuple(thing.call_name for thing in things))
        before, same = self._names.lines(self.task.situation.scene()), dict(world.episode.same)
        held = world.held
        is_guided = self.task.situation.guide is not None
        known = {thing.call_name: thing.memory_id for thing in things if thing.memory_id}
        result = yield PlannedStep(call, self.goal_index, self._context_id, is_guided, known, self.reasoning)
        self.count += 1
        self.reason = None if result.success else result.reason
        bare = SkillCall(call.skill, call.arguments[:1]) if call.skill == "Explore" else call
        result = replace(result, call=bare)
        self.task.follow(result)
        self.lookup.note_step()
        self.task.refresh()
        undone = self.task.watch()
        self._full |= {named.arguments[-1]} if result.reason is FailureReason.OCCUPIED else set()
        self._loop_guard.note(named, world.unmoved)
        self._done |= {named} if result.success else set()
        scene = self.task.situation.scene()
        news = [f"{one} is {other}" for one, other in world.episode.same.items() if one not in same]
        news += self._names.renamed(scene)
        # A thing of which nothing is known but that it is there was told as what was found.
        known_now = self._names.lines(scene).items()
        news += joined({one: line for one, line in known_now if line not in (before.get(one), world.state.at)})
        used = named.arguments if result.success else ()  # what was cut is gone, of course
        lost = [one for one in before if one not in (*world.things, *world.episode.same, *used)]
        news += [f"not known any more: {', '.join(names_folded(lost))}"] if lost else []
        # Of no pieces all are where they are to be.
        news += [f"no longer so: {goal}" for goal in undone if goal not in self._undone and not goal.every]
        self._undone = undone
        return CallResult(self._told(named, things, result, news, held), result.success)

    @property
    def goal_index(self) -> int:
        """The place of the first goal that is not met, of the last one where all are."""
        index = self.task.judged().goal_index if self.task.goals else 0
        return min(index, max(len(self.task.goals) - 1, 0))

    def _told(
        self, named: SkillCall, things: Sequence[Thing], result: SkillResult, news: Sequence[str], held: str
    ) -> str:
        state, now = self.task.world.state, self.task.world.held
        if result.success:
            pieces = sum(bool(one.created_from) for one in result.changes)
            cut = f", {pieces} pieces" if pieces else ""
            said = [f"{named}: done{cut}{self._found(named)}{self._taken_for(named, result)}"]
        else:
            names = {key: one.id for one in (*state, *things) for key in one.identities if not key.isalpha()}
            ids = "|".join(map(re.escape, sorted(names, key=len, reverse=True)))
            message = re.sub(ids, lambda found: names[found[0]], result.message) if names else result.message
            remedy = "" if result.reason is FailureReason.CANCELED else remedy_of(result.call, result.reason)
            said = [f"{named}: failed, {result.reason} {quoted(message) if message else ''}".rstrip()]
            said += [f"usual remedy: {remedy}"] if remedy and remedy not in message else []
            is_unexplained = not remedy and result.reason in _MAY_COME_FROM and things
            said += [self._tried(named, things, result.reason)] if is_unexplained else []
        said += ["the hand is empty"] if held and not now else []
        return "\n".join([*said, *shortened(news, _MOST_NEWS, "find tells of them")])

    def _tried(self, named: SkillCall, things: Sequence[Thing], reason: FailureReason) -> str:
        """Return what a failure that names no cause may come from, what earlier tries tell of that, and when it is
        enough."""
        self._failed[named] += 1
        thing, place, known = things[0], things[-1], self.task.situation.known
        tries = [one for one in known.recalled.tried if one.skill == named.skill] if known is not None else []
        at = f"{thing.object_class} at {{}}" if len(things) > 1 else "{}"
        so, others = at.format(place.id), f"others at {place.id}"
        told: dict[str, list[bool]] = {so: [], others: []}  # whether each try worked
        elsewhere: dict[str, list[bool]] = {}
        for one in reversed(tries):
            of_class, (place_id, place_class) = one.object_class == thing.object_class, place_of(named.skill, one)
            if place.memory_id and place_id == place.memory_id:
                told[so if of_class or thing is place else others].append(not one.reason)
            elif of_class:
                there = self.task.world.state.named(place_id)
                name = at.format(there.id) if there is not None else at.format(f"another {place_class}")
                elsewhere.setdefault(name, []).append(not one.reason)
        told |= dict(itertools.islice(elsewhere.items(), _MOST_ELSEWHERE))
        before = [f"{said} worked {sum(worked)} of {len(worked)} times" for said, worked in told.items() if worked]
        times = self._failed[named]
        instead = "take another thing or place, or end with impossible"
        said = [_MAY_COME_FROM[reason] if times == 1 else f"failed {times} times now"]
        if times >= _IN_VAIN:
            said = [f"{said[0]}, which is enough: {instead}"]
        elif times >= _NO_CHANCE:
            said = [f"{said[0]}, which is no chance: do first what was not done before any of these, {instead}"]
        return "; ".join([*said, *([f"earlier: {', '.join(before)}"] if before else [])])

    def _found(self, named: SkillCall) -> str:
        """Return which thing a search has found: one that memory has not seen yet may be one that it knows."""
        state = self.task.world.state
        found = state.things.get(state.at or "") if named.skill == "Explore" else None
        if found is None:
            return ""
        known = [one.id for one in state.of_class(found.object_class) if one.memory_id and not found.memory_id]
        may_be = f"; it may be what memory knows as {' or '.join(known[:_MOST_OTHERS])}" if known else ""
        return f", found {found.id}{may_be}"

    def _taken_for(self, named: SkillCall, result: SkillResult) -> str:
        """Return with which thing the robot did a call, where memory takes that for another one than was asked for."""
        state = self.task.world.state
        done = state.named(self.task.situation.memory_ids.get(result.object_id, ""))
        asked = state.things.get(named.arguments[0])
        if done is None or asked is None or done.id == asked.id:
            return ""
        return f", but with {done.id}, which the robot takes for {asked.id}; {asked.id} is as it was"
