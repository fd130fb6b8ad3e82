"""One episode's brief state, names and memory M, followed step by step."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Mapping
from dataclasses import replace

from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.context.guidance import Compiled, CompiledStep, Compiler, Guidance
from memory_node.context.state_keeper import difference, first_beliefs, kept
from memory_node.context.state_operations import InvalidDeltaError, apply
from memory_node.context.step_observation import KnownThing, LookUp, StepObservation, TakenStep
from memory_node.context.subgoal import Subgoal
from memory_node.context.task_memory import TaskMemory
from memory_node.context.thing_names import ThingNames
from memory_node.domain.skill import SkillCall
from memory_node.world.state import Thing

# Steps of one episode whose guidance is kept to be looked at.
_MOST_DELIVERED = 200
# These change nothing but where the robot is.
_LOOKS = frozenset({"GoToObject", "Explore"})


class EpisodeGuidance:
    """Not thread-safe. held: the class of what the hand held when the episode began, "" for nothing.

    kinds: what can be done with things. memory: M. look_up: asks long-term memory for one thing. window: steps that the
    compiler sees. delivered: what was delivered at the last steps, for people who look into it.
    """

    def __init__(
        self,
        instruction: str,
        held: str,
        kinds: ObjectCatalogue,
        memory: TaskMemory,
        compiler: Compiler,
        look_up: LookUp,
        window: int,
    ) -> None:
        self.memory = memory
        self._compiler = compiler
        self._look_up = look_up
        self._names = ThingNames()
        self._recent: deque[TakenStep] = deque(maxlen=window)
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
        before, self._beliefs = self._beliefs, kept(self._beliefs, named, self._known(named))
        delta = difference(before.brief(), self._beliefs.brief(), self._state)
        self._state = apply(delta, self._state)
        said = self._compiler.compile(replace(named, beliefs=self._beliefs), self._state, self.memory)
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
        """Return the names of what the next step is about: of the proposed call, else of the subgoal."""
        if named.proposed is not None:
            return [name for name in named.proposed.arguments if self._names.remembered(name)]
        classes = Subgoal.parse(named.subgoal).classes
        return [name for name, kind in named.classes.items() if kind in classes]

    def _referred(self, guidance: Guidance, raw: StepObservation, named: StepObservation) -> Guidance:
        def referred(call: SkillCall) -> SkillCall:
            if call == named.proposed and raw.proposed is not None:
                return raw.proposed
            return self._names.referred(call)

        return replace(guidance, goal=referred(guidance.goal), avoid=tuple(map(referred, guidance.avoid)))
