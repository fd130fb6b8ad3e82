"""Keeps the brief state by rules: turns results of skills and facts of long-term memory into a delta."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from memory_node.context.beliefs import binding_of
from memory_node.context.brief_state import MAX_ITEM, BriefState, EnvironmentBelief, Section, TaskProgress
from memory_node.context.state_draft import StateDraft
from memory_node.context.state_operations import FOLD_OVER, Delta
from memory_node.context.statements import (
    AT_NOTHING,
    HAND_EMPTY,
    all_close_by,
    close_by,
    failed,
    failure_items,
    failures_of,
    held_by,
    holds,
    is_in_state,
    location_item,
    out_of_reach,
    place_of,
    place_of_robot,
    rests,
    stands_at,
)
from memory_node.context.step_observation import KnownThing, StepObservation, TakenStep
from memory_node.domain.skill import FailureReason
from memory_node.domain.skill_declaration import Fact, Predicate
from memory_node.domain.skill_library import SKILLS
from memory_node.domain.states import ObjectState

# The newest finished subgoals that are not folded.
_KEPT_COMPLETED = 3
_MOVES = frozenset({"GoToObject", "Explore"})
_FACTS = Section.FACTS


def first_state(instruction: str, held: str) -> BriefState:
    """Return b_0. held: the name of what the hand holds, "" for nothing. The robot has not driven to anything yet."""
    goal = " ".join(instruction.split())[:MAX_ITEM]
    return BriefState(TaskProgress(goal=goal), EnvironmentBelief(agent=(holds(held), AT_NOTHING)))


def kept(observation: StepObservation, state: BriefState, known: Mapping[str, KnownThing]) -> Delta:
    """Return the operations that an observation calls for.

    observation: over names. known: what long-term memory believes, by name; its places are names, too.
    """
    draft = StateDraft(state)
    step = observation.taken
    if step is not None:
        _follow(draft, step)
    _set_subgoals(draft, observation, gave_up=step is not None and not step.success)
    for name, thing in known.items():
        _take_over(draft, name, thing)
    _keep_short(draft)
    return draft.delta


def _follow(draft: StateDraft, step: TakenStep) -> None:
    call, binding = step.call, binding_of(step.call)
    told = failures_of(call, draft.state)
    if not step.success:
        times = told[2] + 1 if told is not None and told[1] is step.reason else 1
        draft.put(_FACTS, told[0] if told is not None else "", failed(call, step.reason, times))
        _learn_from_failure(draft, step, binding)
        return
    for name in call.arguments:
        for item in failure_items(name, draft.state):
            draft.take_out(_FACTS, item)
    if call.skill in SKILLS:
        for effect in SKILLS[call.skill].effects:
            _take_effect(draft, effect, binding)
    if call.skill == "Explore":
        # After Explore the thing is in view, not in reach.
        _be_at(draft, "")


def _take_effect(draft: StateDraft, effect: Fact, binding: Mapping[str, str]) -> None:
    names = [binding.get(argument, "") for argument in effect.arguments]
    subject = names[0] if names else ""
    if effect.predicate is Predicate.HOLDING:
        _hold(draft, subject if effect.value else "")
    elif effect.predicate is Predicate.NEAR:
        # A composite drives to an appliance, to one that it chooses where the call names none.
        _be_at(draft, subject)
    elif effect.predicate is Predicate.CONTAINED and subject:
        place = place_of(subject, draft.state)
        if effect.value:
            draft.put(Section.LOCATIONS, location_item(subject, draft.state), rests(subject, names[1]))
            _be_at(draft, names[1])
        else:
            draft.take_out(Section.LOCATIONS, location_item(subject, draft.state))
            if place and place_of_robot(draft.state) == subject:
                # The robot holds the thing at which it stood; the thing's support is still within reach.
                _be_at(draft, place)
    elif effect.predicate is Predicate.STATE and effect.state is not None and subject and effect.value:
        _be_in_state(draft, subject, effect.state)


def _learn_from_failure(draft: StateDraft, step: TakenStep, binding: Mapping[str, str]) -> None:
    reason, call = step.reason, step.call
    skill = SKILLS.get(call.skill)
    subject = call.arguments[0] if call.arguments else ""
    for rule in skill.preconditions if skill is not None else ():
        if rule.reason is reason:
            _learn_unmet(draft, step, rule.fact, binding)
    if reason is FailureReason.ALREADY_OPEN:
        _be_in_state(draft, subject, ObjectState.OPENED)
    elif reason is FailureReason.ALREADY_CLOSED:
        _be_in_state(draft, subject, ObjectState.CLOSED)
    elif reason in (FailureReason.HAND_EMPTY, FailureReason.NOT_HOLDING):
        _hold(draft, "" if reason is FailureReason.HAND_EMPTY or held_by(draft.state) == subject else None)
    if call.skill in _MOVES:
        _be_at(draft, "")


def _learn_unmet(draft: StateDraft, step: TakenStep, fact: Fact, binding: Mapping[str, str]) -> None:
    """Note that a precondition of a failed step does not hold."""
    name = binding.get(fact.arguments[0], "") if fact.arguments else ""
    if fact.predicate is Predicate.HAND_EMPTY and step.object_id:
        _hold(draft, step.object_id)
    elif not name:
        return
    elif fact.predicate is Predicate.NEAR:
        draft.put(_FACTS, close_by(name), out_of_reach(name))
    elif fact.predicate is Predicate.OPEN_OR_UNLIDDED:
        _be_in_state(draft, name, ObjectState.CLOSED)
    elif fact.predicate is Predicate.ACCESSIBLE and step.call.skill != "PutObject":
        _be_shut_in(draft, name, step.object_id)


def _be_shut_in(draft: StateDraft, name: str, container: str) -> None:
    """Note that a thing is in something closed; container: what, "" where nobody says."""
    place = container or place_of(name, draft.state)
    if place and place != name:
        draft.put(Section.LOCATIONS, location_item(name, draft.state), rests(name, place, inside=True))
        _be_in_state(draft, place, ObjectState.CLOSED)


def _hold(draft: StateDraft, name: str | None) -> None:
    """Note what the hand holds, "" for nothing; None: it is not known any more."""
    old = held_by(draft.state)
    before = "" if old is None else holds(old)
    draft.put(Section.AGENT, before, "" if name is None else holds(name) if name else HAND_EMPTY)


def _be_at(draft: StateDraft, name: str) -> None:
    """Note where the robot has driven to, "" for a place at nothing known: what was out of reach may be in reach."""
    old = place_of_robot(draft.state)
    draft.put(Section.AGENT, "" if old is None else stands_at(old), stands_at(name))
    if name:
        draft.take_out(_FACTS, out_of_reach(name))
    for text in all_close_by(draft.state):
        draft.take_out(_FACTS, text)


def _be_in_state(draft: StateDraft, name: str, state: ObjectState) -> None:
    denied = (is_in_state(name, other) for other in sorted(state.opposites))
    there = [text for text in denied if text in draft.state.items(_FACTS)]
    draft.put(_FACTS, there[0] if there else "", is_in_state(name, state))
    for text in there[1:]:
        draft.take_out(_FACTS, text)


def _take_over(draft: StateDraft, name: str, thing: KnownThing) -> None:
    if thing.place and held_by(draft.state) != name and thing.place != name:
        draft.put(Section.LOCATIONS, location_item(name, draft.state), rests(name, thing.place, thing.inside))
    for state in thing.states:
        _be_in_state(draft, name, state)
    facts = draft.state.items(_FACTS)
    near = thing.is_close and out_of_reach(name) not in facts
    draft.put(_FACTS, close_by(name), close_by(name) if near else "")


def _set_subgoals(draft: StateDraft, observation: StepObservation, gave_up: bool) -> None:
    """Bring the sections of progress in line with the goals. gave_up: the last step before a new goal had failed."""
    goals = _distinct(observation.goals)
    if not goals:
        return
    current = goals[observation.goal_index] if observation.goal_index < len(goals) else ""
    old = next(iter(draft.state.items(Section.CURRENT)), "")
    if old and old != current:
        draft.take_out(Section.CURRENT, old)
        if old in goals[: observation.goal_index] and not gave_up:
            draft.add(Section.COMPLETED, old)
        elif gave_up:
            draft.add(_FACTS, f"given up: {old}")
    if current:
        draft.put(Section.CURRENT, "", current)
    pending = goals[observation.goal_index + 1 :]
    for text in draft.state.items(Section.PENDING):
        if text not in pending:
            draft.take_out(Section.PENDING, text)
    for text in pending:
        draft.add(Section.PENDING, text)


def _distinct(goals: Iterable[str]) -> list[str]:
    """Return the goals with those that stand there again numbered."""
    seen: Counter[str] = Counter()
    named = []
    for goal in goals:
        seen[goal] += 1
        named.append(goal if seen[goal] == 1 else f"{goal} ({seen[goal]})")
    return named


def _keep_short(draft: StateDraft) -> None:
    """Fold old finished subgoals and drop the oldest beliefs; long-term memory still has them."""
    completed = draft.state.items(Section.COMPLETED)
    if len(completed) > FOLD_OVER:
        old = completed[:-_KEPT_COMPLETED]
        draft.fold(Section.COMPLETED, old, f"done before: {'; '.join(old)}")
    for section in (Section.LOCATIONS, Section.FACTS):
        items = draft.state.items(section)
        for text in items[: max(len(items) - FOLD_OVER, 0)]:
            draft.take_out(section, text)
