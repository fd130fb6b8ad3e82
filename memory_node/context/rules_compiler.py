"""The compiler that needs no model: before the current step comes what memory and the skill library say it needs."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from memory_node.context.beliefs import Beliefs
from memory_node.context.brief_state import BriefState
from memory_node.context.guidance import Compiled, Guidance, StepObservation, said
from memory_node.context.task_memory import EntryKind, Subgoal, TaskMemory, fitted, left_of
from memory_node.domain.skill import SkillCall
from memory_node.domain.skill_declaration import Predicate
from memory_node.domain.skill_library import SKILLS, bind
from memory_node.domain.states import ObjectState
from memory_node.episodes.class_actions import repeated
from memory_node.world.facts import closed_around
from memory_node.world.skills import establishing, unmet

# Levels of preparations: a preparation may need one itself.
_DEPTH = 3
# Lessons in words at one step: more of them than help were worse than none.
_MOST_LESSONS = 2
# So often a call that fails by chance is advised again.
_MOST_TRIES = 2
# Subgoals that only change a thing's place.
_PLACES = frozenset({"place", "place_two"})


@dataclass(frozen=True)
class _Step:
    """A step to do, the beliefs that call for it, the entries that say so; around: it opens what a thing lies in."""

    call: SkillCall
    because: str
    entries: tuple[str, ...] = ()
    around: bool = False


class RulesCompiler:
    """Deterministic. What the skill library declares counts as known; it is no part of M.

    detects_loops: False leaves out "do not ... again" and the alternative. warns: False leaves out all that working
    memory warns of: what the skill library declares, loops, and failures by chance.
    """

    def __init__(self, detects_loops: bool = True, warns: bool = True) -> None:
        self._detects_loops = detects_loops and warns
        self._most_tries = _MOST_TRIES if warns else 0
        self._warns = warns

    def compile(self, observation: StepObservation, state: BriefState, memory: TaskMemory) -> Compiled:
        """Return the guidance for the proposed step or, where none was chosen yet, for the current subgoal."""
        proposed = observation.proposed
        if proposed is None:
            guidance = self._towards_subgoal(observation, memory)
        else:
            guidance = self._before(proposed, observation, memory)
        return Compiled(guidance, lessons=() if guidance is not None else lessons_that_hold(observation, memory))

    # --- the next step is chosen: what has to come before it

    def _before(self, proposed: SkillCall, observation: StepObservation, memory: TaskMemory) -> Guidance | None:
        beliefs = observation.beliefs
        told = beliefs.failures.get(proposed)
        looping = self._detects_loops and (
            repeated(observation.calls) or (proposed,) * (told is not None and told.times > self._most_tries)
        )
        step = self._prepared(proposed, observation, memory, _DEPTH)
        if step is None and told is not None and self._warns and told.reason.by_chance and not looping:
            step = _Step(proposed, beliefs.failure(proposed))
        if step is None and looping and told is not None:
            step = self._way_out(proposed, beliefs)
        if step is None:
            return None
        avoid = (proposed,) if looping and step.call != proposed else ()
        return Guidance(step.call, said(step.call, step.because, avoid), step.because, step.entries, avoid)

    def _prepared(self, call: SkillCall, observation: StepObservation, memory: TaskMemory, depth: int) -> _Step | None:
        """Return the first step of the preparation of a call, None when it needs none."""
        for one in itertools.chain(_remembered(call, observation, memory), self._declared(call, observation.beliefs)):
            step = _bound(one.call, call, observation)
            if step is None or step == call or _holds_already(step, observation.beliefs) or depth < one.around:
                continue
            # What is opened is driven up to first, also at the last level.
            inner = self._prepared(step, observation, memory, depth - 1) if depth + one.around > 1 else None
            if inner is not None:
                return _Step(inner.call, inner.because, (*inner.entries, *one.entries))
            if not self._is_hopeless(step, observation.beliefs):
                return _Step(step, one.because, one.entries)
        return None

    def _declared(self, call: SkillCall, beliefs: Beliefs) -> Iterator[_Step]:
        """Yield what brings about the declared preconditions of a call that are believed to be missing, or for want of
        which it has failed, over its argument names; then what opens that in which a needed thing lies."""
        skill, told = SKILLS.get(call.skill), beliefs.failures.get(call)
        is_caused = told is not None and not told.reason.by_chance and told.times <= self._most_tries
        if skill is None or not self._warns:
            return
        for rule in skill.preconditions:
            because = beliefs.evidence(rule.fact, call) if beliefs.truth(rule.fact, call) is False else ""
            if told is not None and is_caused and told.reason is rule.reason:
                because = beliefs.failure(call)
            if because:
                yield from (_Step(step, because) for step in establishing(rule.fact))
        for one in unmet(skill, beliefs.world, call):
            around = closed_around(one.things[0], beliefs.world) if one.fact.predicate is Predicate.ACCESSIBLE else None
            if around is not None:
                place = beliefs.place(one.things[0].id)
                yield _Step(
                    SkillCall("OpenObject", (around.id,)), f"{place}; {around.id} is {ObjectState.CLOSED}", around=True
                )

    def _is_hopeless(self, call: SkillCall, beliefs: Beliefs) -> bool:
        """Return whether a preparation has failed for a cause, although no missing precondition of it is known."""
        told = beliefs.failures.get(call)
        return told is not None and (not told.reason.by_chance or told.times > self._most_tries)

    def _way_out(self, call: SkillCall, beliefs: Beliefs) -> _Step | None:
        """Return another way to what a call was to do: drive up to its thing anew."""
        rules = SKILLS[call.skill].preconditions if call.skill in SKILLS else ()
        near = (step for rule in rules if rule.fact.predicate is Predicate.NEAR for step in establishing(rule.fact))
        calls = filter(None, (bind(step, call) for step in near))
        return next((_Step(one, beliefs.failure(call)) for one in calls if not self._is_hopeless(one, beliefs)), None)

    # --- nothing is chosen yet: the next step towards the subgoal

    def _towards_subgoal(self, observation: StepObservation, memory: TaskMemory) -> Guidance | None:
        avoid = repeated(observation.calls) if self._detects_loops else ()
        for step in self._candidates(observation, memory):
            first = self._prepared(step.call, observation, memory, _DEPTH)
            if first is not None:
                step = _Step(first.call, first.because, (*first.entries, *step.entries))
            if step.call not in avoid and not self._is_hopeless(step.call, observation.beliefs):
                return Guidance(step.call, said(step.call, step.because, avoid), step.because, step.entries, avoid)
        return None

    def _candidates(self, observation: StepObservation, memory: TaskMemory) -> Iterator[_Step]:
        subgoal = Subgoal.parse(observation.subgoal)
        if not subgoal.target:
            return
        held = observation.beliefs.world.held or ""
        is_held = observation.class_of(held) == subgoal.target
        # A thing without a known place must be found before any sequence that handles it can begin.
        wanted = subgoal.light if is_held else subgoal.target
        if wanted and not _is_found(wanted, subgoal, observation):
            yield from _searches(wanted, memory)
        meant = [held] if is_held else _left_to_take(subgoal, observation)
        target = {subgoal.target: meant[-1]} if meant else {}
        now = observation.beliefs.progress.current or observation.subgoal
        done = _done(observation)
        for entry in memory.of_kind(EntryKind.WAY):
            if entry.goal_kinds and subgoal.kind not in entry.goal_kinds:
                continue
            left = left_of(fitted(entry, subgoal, observation.beliefs.world.kinds), done)
            if left:
                yield _Step(_with_names(left[0], observation, target), now, (entry.id,))


def _remembered(call: SkillCall, observation: StepObservation, memory: TaskMemory) -> Iterator[_Step]:
    """Yield what memory says to do before a call in this subgoal, over its argument names."""
    classes, kind = {observation.class_of(name) for name in call.arguments}, observation.subgoal.partition(" ")[0]
    for entry in (observation.needed(call), *(one for one in memory.entries if one.skill == call.skill)):
        if entry is None or (entry.classes and entry.classes.isdisjoint(classes)):
            continue
        if not entry.goal_kinds or not kind or kind in entry.goal_kinds:
            yield from (_Step(step, entry.text, (entry.id,)) for step in entry.steps)


def lessons_that_hold(observation: StepObservation, memory: TaskMemory) -> tuple[str, ...]:
    """Return at most two lessons about the things of the next step, or of the current subgoal, that its kind fits."""
    subgoal = Subgoal.parse(observation.subgoal)
    proposed = observation.proposed
    about = subgoal.classes if proposed is None else {observation.class_of(name) for name in proposed.arguments}
    fitting = (
        entry.text
        for entry in memory.of_kind(EntryKind.ADVICE)
        if entry.classes & about and (not entry.goal_kinds or subgoal.kind in entry.goal_kinds)
    )
    return tuple(itertools.islice(fitting, _MOST_LESSONS))


def _searches(object_class: str, memory: TaskMemory) -> Iterator[_Step]:
    """Yield a search for each entry that tells where things of a class are."""
    for entry in memory.of_kind(EntryKind.PLACE):
        if object_class in entry.classes:
            yield _Step(SkillCall("Explore", (object_class,)), f"no place of {object_class} is known", (entry.id,))


def _done(observation: StepObservation) -> list[SkillCall]:
    """Return the calls that succeeded lately, over classes."""
    return [
        SkillCall(step.call.skill, tuple(map(observation.class_of, step.call.arguments)))
        for step in observation.recent
        if step.success
    ]


def _bound(template: SkillCall, call: SkillCall, observation: StepObservation) -> SkillCall | None:
    """Return a template with the call's own arguments, and classes replaced by the names of such things."""
    bound = bind(template, call)
    return _with_names(bound, observation) if bound is not None else None


def _with_names(
    call: SkillCall, observation: StepObservation, meant: Mapping[str, str] = MappingProxyType({})
) -> SkillCall:
    """Return a call over classes as one over names: of the things of a class the one that was named last.

    meant: the one that is meant, by class.
    """

    def name(text: str) -> str:
        if text in meant:
            return meant[text]
        if text in observation.classes:
            return text
        same = [one for one, kind in observation.classes.items() if kind == text]
        return same[-1] if same else text

    return SkillCall(call.skill, tuple(map(name, call.arguments)))


def _holds_already(call: SkillCall, beliefs: Beliefs) -> bool:
    """Return whether the effect of a call is believed already."""
    skill = SKILLS.get(call.skill)
    believed = {beliefs.truth(fact, call) for fact in skill.effects} if skill is not None else set()
    return True in believed and False not in believed


def _is_found(object_class: str, subgoal: Subgoal, observation: StepObservation) -> bool:
    """Return whether a thing of a class can be handled: one to take has to lie somewhere, a lamp to be named."""
    if object_class == subgoal.target:
        return bool(_left_to_take(subgoal, observation))
    return object_class in observation.classes.values()


def _left_to_take(subgoal: Subgoal, observation: StepObservation) -> list[str]:
    """Return the names of the target's things whose place is known; what is to be placed must not lie there already."""
    found = []
    for name, kind in observation.classes.items():
        place = observation.beliefs.world.container_of(name) if kind == subgoal.target else ""
        is_there = subgoal.kind in _PLACES and observation.class_of(place) == subgoal.destination
        if place and not is_there:
            found.append(name)
    return found
