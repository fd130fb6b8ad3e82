"""Memory compiled at each step of a lesson that a policy plays with the engine's own commands."""

from __future__ import annotations

import random
import time
from collections import deque
from dataclasses import replace

import networkx as nx

from benchmarks.alfworld.aid import Aid, OpenAid
from benchmarks.alfworld.compiled import Told
from benchmarks.alfworld.compiled_aid import CompiledSetting, aid_of
from benchmarks.alfworld.dialogue import choices
from benchmarks.alfworld.play import GameEngine, TextEngine
from benchmarks.alfworld.sentences import read_task
from benchmarks.alfworld.transcripts import read_transcripts
from benchmarks.compiler_variants import NO_LOOPS, NO_STATE, WithoutBriefState, m_of
from benchmarks.scienceworld.command_forms import CommandForms
from benchmarks.scienceworld.command_rules import CommandRules, LessonObservation
from benchmarks.scienceworld.lesson_attempts import LessonAttempts
from benchmarks.scienceworld.lesson_state import first_lesson_state, followed
from benchmarks.scienceworld.name_likeness import NameLikeness
from benchmarks.scienceworld.sentences import Outcome
from benchmarks.scienceworld.statements import place_of_robot
from memory_node.context.brief_state import Delta, InvalidDeltaError, apply
from memory_node.context.guidance import Compiled, CompiledStep, Compiler, TakenStep
from memory_node.context.task_memory import TaskMemory
from memory_node.domain.ports import TextEmbedder
from memory_node.domain.skill import FailureReason, SkillCall
from memory_node.scene_graph.place_habits import PlaceCensus


class CompiledLesson:
    """A lesson that is running, its brief state, and what a compiler makes of M.

    memory: M. window: steps that the compiler sees.
    """

    def __init__(self, engine: TextEngine, compiler: Compiler, memory: TaskMemory, window: int) -> None:
        self.memory = memory
        self._engine = engine
        self._compiler = compiler
        self._forms = CommandForms(engine.text)
        self._task = read_task(engine.text)
        self._state = first_lesson_state(self._task, engine.text)
        self._recent: deque[TakenStep] = deque(maxlen=window)
        self._kept: Delta = ()
        self._rooms = nx.Graph()
        if (first := Outcome.read(engine.text).sight) is not None:
            first.draw_on(self._rooms)

    def close(self) -> None:
        """Hold nothing."""

    def tell(self) -> Told:
        """Compile memory for the next step."""
        started = time.perf_counter()
        said = self._compiler.compile(self._observation(), self._state, self.memory)
        compiled = self._applied(said)
        step = CompiledStep(compiled, self._state, 1e3 * (time.perf_counter() - started))
        guidance = compiled.guidance
        if guidance is None:
            return Told("", (step,))
        return Told(guidance.goal.skill, (step,), tuple(call.skill for call in guidance.avoid))

    def send(self, command: str) -> str:
        """Send a command, bring the brief state up to its reply, and return what is printed."""
        before = place_of_robot(self._state) or ""
        reply = self._engine.send(command)
        outcome, parsed = Outcome.read(reply), self._forms.parse(command)
        delta = followed(self._state, command, parsed.arguments if parsed is not None else (), reply)
        self._state, self._kept = apply(delta, self._state), delta
        if before and outcome.room:
            self._rooms.add_edge(before, outcome.room)
        if outcome.sight is not None:
            outcome.sight.draw_on(self._rooms)
        done = outcome.reason is FailureReason.NONE
        self._recent.append(TakenStep(SkillCall(command), done, outcome.reason))
        return reply

    def _observation(self) -> LessonObservation:
        possible = map(self._forms.parse, choices(self._engine.commands))
        return LessonObservation(
            (self._task,),
            taken=self._recent[-1] if self._recent else None,
            recent=tuple(self._recent),
            forms=self._forms,
            possible=tuple(command for command in possible if command is not None),
            rooms=self._rooms,
        )

    def _applied(self, said: Compiled) -> Compiled:
        """Apply a compiler's own changes of the brief state. One that is not told the state may say what is there
        already: this changes nothing."""
        kept, self._kept = self._kept, ()
        try:
            self._state = apply(said.delta, self._state)
        except InvalidDeltaError:
            return replace(said, delta=kept)
        return replace(said, delta=(*kept, *said.delta))


def lesson_aids(setting: CompiledSetting, embedder: TextEmbedder) -> OpenAid:
    """Return what opens the aid of a lesson.

    Raises:
        NotFoundError: there is no such file of transcripts.
        InvalidValueError: a line of it is no transcript.
    """
    transcripts = read_transcripts(setting.attempts) if setting.attempts is not None else ()
    attempts = LessonAttempts.of(transcripts, embedder)
    compiler: Compiler = CommandRules(NameLikeness(embedder), setting.variant != NO_LOOPS)
    if setting.variant == NO_STATE:
        compiler = WithoutBriefState(compiler)

    def opened(engine: GameEngine, learnt: PlaceCensus | None, name: str) -> Aid:
        task, chance = read_task(engine.text), random.Random(f"{setting.seed} {name}")
        memory = m_of(setting.variant, task, lambda: attempts.other_task(task, chance), attempts.like)
        return aid_of(CompiledLesson(engine, compiler, memory, setting.config.window), engine, setting.variant)

    return opened
