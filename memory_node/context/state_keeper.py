"""Keeps what an episode believes by rules: from results of skills, from what long-term memory knows and from goals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace

from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.context.beliefs import Beliefs, Failed
from memory_node.context.brief_state import FOLD_OVER, MAX_ITEM, BriefState, Create, Delete, Delta, Section, Update
from memory_node.context.guidance import KnownThing, StepObservation, TakenStep
from memory_node.domain.skill_library import SKILLS
from memory_node.world.failures import after_failure
from memory_node.world.skills import after
from memory_node.world.state import Thing, WorldState

# The newest finished subgoals that are not folded.
_KEPT_COMPLETED = 3


def first_beliefs(instruction: str, held: Thing | None, kinds: ObjectCatalogue) -> Beliefs:
    """Return what is believed at first. held: what the hand holds. The robot has not driven to anything yet."""
    things = [held] if held is not None else []
    world = WorldState.of_things(kinds, things, held.id if held is not None else "")
    return Beliefs(world, progress=BriefState(goal=" ".join(instruction.split())[:MAX_ITEM]))


def kept(beliefs: Beliefs, observation: StepObservation, known: Mapping[str, KnownThing]) -> Beliefs:
    """Return what is believed after an observation.

    observation: over names. known: what long-term memory believes, by name; its places are names, too.
    """
    step = observation.taken
    if step is not None:
        beliefs = _followed(beliefs, step, observation)
    beliefs = _with_goals(beliefs, observation, gave_up=step is not None and not step.success)
    return replace(beliefs, world=_recalled(beliefs.world, known))


def _followed(beliefs: Beliefs, step: TakenStep, observation: StepObservation) -> Beliefs:
    call, skill = step.call, SKILLS.get(step.call.skill)
    names = [*call.arguments, *([] if step.success else [step.object_id])]
    world = _with_things(beliefs.world, {name: observation.class_of(name) for name in names if name})
    if step.success:
        others = {one: told for one, told in beliefs.failures.items() if not {*one.arguments} & {*call.arguments}}
        world = after(skill, world, call) if skill is not None else world
        # After Explore the thing is in view, not in reach.
        return replace(beliefs, world=world.standing_at("") if call.skill == "Explore" else world, failures=others)
    told = beliefs.failures.get(call)
    times = told.times + 1 if told is not None and told.reason is step.reason else 1
    world = after_failure(skill, world, call, step.reason, step.object_id) if skill is not None else world
    return replace(beliefs, world=world, failures={**beliefs.failures, call: Failed(step.reason, times)})


def _with_things(world: WorldState, classes: Mapping[str, str]) -> WorldState:
    """Return the state with things behind the others; classes: of those that are new, by name."""
    named = {name: world.things.get(name) or Thing(name, kind) for name, kind in classes.items()}
    return replace(world, things={**{key: one for key, one in world.things.items() if key not in named}, **named})


def _recalled(world: WorldState, known: Mapping[str, KnownThing]) -> WorldState:
    """Return the state with what long-term memory knows."""
    world = _with_things(world, {name: thing.object_class for name, thing in known.items()})
    for name, thing in known.items():
        if thing.place and name not in (world.held, thing.place):
            world = world.put(name, thing.place, thing.inside)
        for state in thing.states:
            world = world.with_state(name, state)
    close = {name for name, thing in known.items() if thing.is_close} - world.apart
    return replace(world, within=world.within - known.keys() | close)


def _with_goals(beliefs: Beliefs, observation: StepObservation, gave_up: bool) -> Beliefs:
    """Bring the progress in line with the goals. gave_up: the last step before a new goal had failed.

    The planner's history of goals says which one is pursued: one that was met and is pursued again was taken back.
    """
    goals, index = _distinct(observation.goals), observation.goal_index
    if not goals:
        return beliefs
    progress, notes = beliefs.progress, beliefs.notes
    current, old, completed = "".join(goals[index : index + 1]), progress.current, progress.completed
    if old and old != current:
        if gave_up:
            notes = _also(notes, f"given up: {old}"[:MAX_ITEM])
        elif old in goals[:index]:
            completed = _also(completed, old)
    if len(completed) > FOLD_OVER:
        notes = _also(notes, f"done before: {'; '.join(completed[:-_KEPT_COMPLETED])}"[:MAX_ITEM])
        completed = completed[-_KEPT_COMPLETED:]
    completed = tuple(goal for goal in completed if goal != current)
    pending = tuple(goal for goal in goals[index + 1 :] if goal not in completed)
    progress = replace(progress, completed=completed, current=current, pending=pending)
    return replace(beliefs, progress=progress, notes=notes)


def _also(texts: tuple[str, ...], text: str) -> tuple[str, ...]:
    return texts if text in texts else (*texts, text)


def _distinct(goals: Iterable[str]) -> list[str]:
    """Return the goals with those that stand there again numbered."""
    seen: Counter[str] = Counter()
    named = []
    for goal in goals:
        seen[goal] += 1
        named.append(goal if seen[goal] == 1 else f"{goal} ({seen[goal]})")
    return named


def difference(before: BriefState, now: BriefState, state: BriefState) -> Delta:
    """Return the operations that a change of what the rules tell calls for on a state that a model may have changed."""
    delta: list[Create | Update | Delete] = []
    for section in Section:
        old, new, there = before.items(section), now.items(section), state.items(section)
        come = [text for text in new if text not in old and text not in there]
        gone = [text for text in there if (text in old or (section.is_single and come)) and text not in new]
        delta += [Update(section=section, old=one, text=text) for one, text in zip(gone, come)]
        delta += [Delete(section=section, text=text) for text in gone[len(come) :]]
        delta += [Create(section=section, text=text) for text in come[len(gone) :]]
    return tuple(delta)
