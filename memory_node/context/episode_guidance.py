"""One episode's brief state, names and memory M, followed step by step. Rules keep what is believed: by results of
skills, by what long-term memory knows and by goals."""

from __future__ import annotations

import itertools
import math
import time
from collections import Counter, deque
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cache, partial

from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.context.beliefs import Beliefs, Failed
from memory_node.context.brief_state import (
    FOLD_OVER,
    MAX_ITEM,
    BriefState,
    Create,
    Delete,
    Delta,
    InvalidDeltaError,
    Section,
    Update,
    apply,
)
from memory_node.context.guidance import (
    Compiled,
    CompiledStep,
    Compiler,
    Guidance,
    KnownThing,
    LookUp,
    StepObservation,
    TakenStep,
)
from memory_node.context.task_memory import Entry, Subgoal, TaskMemory
from memory_node.domain.errors import InvalidValueError
from memory_node.domain.skill import ObjectReference, SkillCall
from memory_node.domain.skill_library import SKILLS
from memory_node.lessons.expectations import Named
from memory_node.world.skills import after, after_failure
from memory_node.world.state import Thing, WorldState

# A remembered position moves a little with each look.
_SAME_PLACE_M = 0.1


class ThingNames:
    """Names by reference. A reference is what a call may hold: the robot's id, a class, or "Class@x,y,z"."""

    def __init__(self) -> None:
        self._name_of: dict[str, str] = {}
        self._reference_of: dict[str, str] = {}
        self._class_of: dict[str, str] = {}
        self._remembered: dict[str, str] = {}

    def name(self, reference: str, classes: Mapping[str, str]) -> str:
        """Return the name of what a reference means. A bare class means the thing of that class named last, if any."""
        known = self._name_of.get(reference) or self._named_near(reference)
        if known:
            return known
        object_class = classes.get(reference, reference.partition("@")[0]).strip() or reference
        same = [name for name, kind in self._class_of.items() if kind == object_class]
        if reference == object_class and same:
            return same[-1]
        name = self._new_name(object_class)
        self._name_of[reference], self._reference_of[name] = name, reference
        self._class_of[name], self._remembered[name] = object_class, reference
        return name

    def call(self, reference: str, name: str, object_class: str) -> None:
        """Take over what an executor calls a thing, unless that name is another thing's or the thing has one."""
        if reference not in self._name_of and name and name not in self._class_of:
            self._name_of[reference], self._reference_of[name] = name, reference
            self._class_of[name], self._remembered[name] = object_class, reference

    def remembered(self, name: str) -> str:
        """Return how a thing was referred to first, which is how memory knows it; "" for no name."""
        return self._remembered.get(name, "")

    def named(self, call: SkillCall, classes: Mapping[str, str]) -> SkillCall:
        """Return a call over names. Of Explore only the class that it looks for stays."""
        arguments = call.arguments[:1] if call.skill == "Explore" else call.arguments
        if call.skill == "Explore" or any("," in text.partition("@")[0] for text in arguments):
            return SkillCall(call.skill, arguments)
        return SkillCall(call.skill, tuple(self.name(text, classes) for text in arguments))

    def identify(self, reference: str, robot_id: str) -> None:
        """Note that the robot calls a thing by an id of its own from now on."""
        name = self._name_of.get(reference)
        if name is None or not robot_id or robot_id in self._name_of:
            return
        self._name_of[robot_id] = name
        self._reference_of[name] = robot_id

    def referred(self, call: SkillCall) -> SkillCall:
        """Return a call over names as the robot takes it; what is no name, such as a class, stays."""
        return call.renamed(self._reference_of)

    @property
    def classes(self) -> dict[str, str]:
        """The class of each name, in the order in which the things were named first."""
        return dict(self._class_of)

    def _named_near(self, reference: str) -> str:
        """Return the name of a thing of the same class that was referred to at nearly the same place, "" for none."""
        place = _place(reference)
        if place is None:
            return ""
        for other, name in self._name_of.items():
            there = _place(other)
            is_alike = other.partition("@")[0] == reference.partition("@")[0]
            if is_alike and there is not None and math.dist(place, there) <= _SAME_PLACE_M:
                return name
        return ""

    def _new_name(self, object_class: str) -> str:
        numbered = (object_class if n == 1 else f"{object_class} {n}" for n in itertools.count(1))
        return next(name for name in numbered if name not in self._class_of)


def _place(reference: str) -> tuple[float, float, float] | None:
    """Return where a reference says that its thing is; None where it says nothing of that."""
    try:
        return ObjectReference.parse(reference).position
    except InvalidValueError:
        return None


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


# Steps that a compiler sees.
WINDOW = 30
# Steps of one episode whose guidance is kept to be looked at.
_MOST_DELIVERED = 200
# These change nothing but where the robot is.
_LOOKS = frozenset({"GoToObject", "Explore"})


class EpisodeGuidance:
    """Not thread-safe. held: the class of what the hand held when the episode began, "" for nothing.

    kinds: what can be done with things. memory: M. look_up: asks long-term memory for one thing. delivered: what was
    delivered at the last steps, for people who look into it.
    """

    def __init__(
        self,
        instruction: str,
        held: str,
        kinds: ObjectCatalogue,
        memory: TaskMemory,
        compiler: Compiler,
        look_up: LookUp,
    ) -> None:
        self.memory = memory
        self._compiler = compiler
        self._look_up = look_up
        self._names = ThingNames()
        self._recent: deque[TakenStep] = deque(maxlen=WINDOW)
        self._handled: set[str] = set()
        self._told: set[str] = set()  # each lesson in words is told once an episode
        in_hand = self._names.name(held, {}) if held else ""
        self._handled |= {in_hand} - {""}
        self._beliefs = first_beliefs(instruction, Thing(in_hand, held) if held else None, kinds)
        self._state = self._beliefs.brief()
        self.delivered: deque[CompiledStep] = deque(maxlen=_MOST_DELIVERED)

    def step(self, observation: StepObservation) -> CompiledStep:
        """Bring the brief state up to what was observed, then compile; see GuidancePort."""
        started = time.perf_counter()
        named = self._named(observation)
        named = replace(named, needed=cache(partial(self._needed, named)))
        known = self._known(named)
        before, self._beliefs = self._beliefs, kept(self._beliefs, named, known)
        delta = difference(before.brief(), self._beliefs.brief(), self._state)
        self._state = apply(delta, self._state)
        said = self._compiler.compile(replace(named, beliefs=self._beliefs, known=known), self._state, self.memory)
        compiled = replace(said, delta=delta)
        if said.delta:
            compiled = self._also_applied(compiled, said)
        new = tuple(text for text in compiled.lessons if text not in self._told)
        self._told |= set(new)
        compiled = replace(compiled, lessons=new)
        if compiled.guidance is not None:
            compiled = replace(compiled, guidance=self._referred(compiled.guidance, observation, named))
        step = CompiledStep(compiled, self._state, 1e3 * (time.perf_counter() - started))
        self.delivered.append(step)
        return step

    def _also_applied(self, compiled: Compiled, said: Compiled) -> Compiled:
        """Apply the compiler's own changes of the state and return the output; without guidance if they do not fit."""
        try:
            self._state = apply(said.delta, self._state)
        except InvalidDeltaError as error:
            return replace(compiled, guidance=None, problem=str(error))
        return replace(compiled, delta=(*compiled.delta, *said.delta))

    def _named(self, observation: StepObservation) -> StepObservation:
        classes, taken = observation.classes, observation.taken
        for reference, name in observation.names.items():
            self._names.call(reference, name, observation.class_of(reference))
        if taken is not None:
            call = self._names.named(taken.call, classes)
            object_id = taken.object_id
            if taken.success:
                if taken.call.arguments:
                    self._names.identify(taken.call.arguments[0], object_id)
                self._handled |= set(call.arguments) if call.skill not in _LOOKS else set()
            elif object_id:
                # The reason of the failure names the obstructing thing, which no call has named before.
                object_id = self._names.name(object_id, classes)
            taken = replace(taken, call=call, object_id=object_id)
            self._recent.append(taken)
        proposed = self._names.named(observation.proposed, classes) if observation.proposed is not None else None
        worded = observation.worded
        return replace(
            observation,
            taken=taken,
            proposed=proposed,
            classes=self._names.classes,
            recent=tuple(self._recent),
            worded=(lambda call: worded(self._names.referred(call))) if worded is not None else None,
        )

    def _needed(self, observation: StepObservation, call: SkillCall) -> Entry | None:
        """Return what tries teach to do before a call over names, with the names of remembered things, so that beliefs
        tell of what it is prepared with."""
        kinds, classes = self._beliefs.world.kinds, {one: observation.class_of(one) for one in call.arguments}
        # What was carried may be where its old reference means another thing.
        carried = {one for one in self._handled & classes.keys() if kinds[classes[one]].pickupable}
        known = {
            one: None if one in carried else self._look_up(self._names.remembered(one), kind)
            for one, kind in classes.items()
        }
        things = [(thing.id if thing is not None else "", classes[one]) for one, thing in known.items()]
        last, supports = next(reversed(known.values()), None), list[Named]()
        while last is not None and last.place_id and (last.place_id, last.place_class) not in supports:
            supports.append((last.place_id, last.place_class))
            last = self._look_up(last.place, last.place_class)
        has_failed = any(one.call.skill == call.skill and not one.success for one in observation.recent)
        entry = self.memory.needed(call.skill, things, supports, has_failed) if things else None
        return None if entry is None else replace(entry, steps=tuple(map(self._over_name, entry.steps)))

    def _over_name(self, step: SkillCall) -> SkillCall:
        return step.renamed({text: self._names.name(text, {}) for text in step.arguments if _place(text)})

    def _known(self, named: StepObservation) -> Mapping[str, KnownThing]:
        """Return what long-term memory believes of the things of the next step, except those that were handled. The
        steps' effects on these are newer, and their old references may now mean other things.
        """
        known: dict[str, KnownThing] = {}
        for name in self._looked_up(named):
            thing = None if name in self._handled else self._look_up(self._names.remembered(name), named.class_of(name))
            if thing is None:
                continue
            place = self._names.name(thing.place, {thing.place: thing.place_class}) if thing.place else ""
            known[name] = replace(thing, place=place)
            if place:
                around = self._look_up(thing.place, thing.place_class) or KnownThing(thing.place_class)
                known.setdefault(place, replace(around, place=""))
        return known

    def _looked_up(self, named: StepObservation) -> list[str]:
        """Return the names of what the next step is about: of the proposed call and what prepares it, else of the
        subgoal."""
        if named.proposed is not None:
            needed = named.needed(named.proposed)
            names = [name for step in (needed.steps if needed is not None else ()) for name in step.arguments]
            return [name for name in (*names, *named.proposed.arguments) if self._names.remembered(name)]
        classes = Subgoal.parse(named.subgoal).classes
        return [name for name, kind in named.classes.items() if kind in classes]

    def _referred(self, guidance: Guidance, raw: StepObservation, named: StepObservation) -> Guidance:
        def referred(call: SkillCall) -> SkillCall:
            if call == named.proposed and raw.proposed is not None:
                return raw.proposed
            return self._names.referred(call)

        return replace(guidance, goal=referred(guidance.goal), avoid=tuple(map(referred, guidance.avoid)))
