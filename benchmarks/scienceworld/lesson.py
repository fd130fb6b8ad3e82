"""Lessons: their engine (extra `scienceworld`), memory compiled at each step, and how they are played or solved."""

from __future__ import annotations

import functools
import random
import shutil
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import takewhile
from pathlib import Path
from typing import Any, Literal

import networkx as nx

from benchmarks.alfworld.command import Setting, chooser_of
from benchmarks.alfworld.compiled import CompiledSetting, Told, aid_of
from benchmarks.alfworld.games import Game
from benchmarks.alfworld.play import GameEngine, PlayedGame
from benchmarks.alfworld.policy import (
    Advised,
    Aid,
    OpenAid,
    PolicyPlayer,
    TranscriptFile,
    choices,
    random_policy,
    read_transcripts,
    without_games,
)
from benchmarks.alfworld.sentences import read_task
from benchmarks.compiler_variants import NO_LOOPS, NO_STATE, WithoutBriefState, m_of
from benchmarks.ranking.ranked_planner import BY_CHANCE, VALUED
from benchmarks.scienceworld.command_rules import CommandRules, LessonAttempts, LessonObservation
from benchmarks.scienceworld.commands import CommandForms, NameLikeness, words_alike
from benchmarks.scienceworld.lesson_state import first_lesson_state, followed
from benchmarks.scienceworld.sentences import Outcome, place_of_robot
from memory_node.app.progress import progress_bar
from memory_node.context.brief_state import Delta, InvalidDeltaError, apply
from memory_node.context.episode_guidance import WINDOW
from memory_node.context.guidance import Compiled, CompiledStep, Compiler, TakenStep
from memory_node.context.task_memory import TaskMemory
from memory_node.domain.errors import ResourceMissingError
from memory_node.domain.ports import TextEmbedder
from memory_node.domain.skill import FailureReason, SkillCall
from memory_node.scene_graph.place_habits import PlaceCensus
from memory_node.search.embedders import CachingEmbedder
from memory_node.search.minilm import MiniLmEmbedder

_NEEDED = "ScienceWorld's lessons need their engine: pip install 'robot_memory[scienceworld]'"
_FULL_SCORE = 100
_REPEATS_TASK = "task"  # a command that prints what the first text says
_SAID_TASK = "your task is to"
# Ten kinds of lessons: states of matter, what lives, measuring, circuits, spans of life.
TASKS: tuple[str, ...] = ("boil", "melt", "freeze", "use-thermometer", "power-component", "lifespan-longest-lived")
TASKS += ("find-animal", "find-living-thing", "find-non-living-thing", "find-plant")


class Lesson:
    """One variation of a task.

    game: its name is "task/number". max_steps: the engine ends the lesson after so many commands. lists_commands:
    whether it tells which commands are possible, which takes the engine most of its time. solves: whether the engine
    works out a solution of its own.

    Attributes:
        solution: the commands of the engine's own solution, () where it was not asked for one.

    Raises:
        ResourceMissingError: the engine or Java is not installed.
    """

    def __init__(self, game: Game, max_steps: int, lists_commands: bool = True, solves: bool = False) -> None:
        self._env = _engine()
        # The engine lists them with each reply.
        self._env.get_valid_action_object_combinations = self._env.possible if lists_commands else list
        self._env.envStepLimit = max_steps
        task, _, number = game.name.rpartition("/")
        self._env.load(task, int(number), "", solves)
        seen, told = self._env.reset()
        self.text = _first_text(told["taskDesc"], seen, told["inv"], self._env.get_possible_actions())
        self.commands = _useful(told["valid"])
        self.solution: Sequence[str] = tuple(self._env.get_gold_action_sequence()) if solves else ()
        self.over = False
        self._points = 0

    @property
    def won(self) -> bool:
        """Whether all of it is done."""
        return self._points >= _FULL_SCORE

    @property
    def score(self) -> float:
        """The share of the task that is done, in [0, 1]; a lesson that was spoilt has 0."""
        return max(self._points, 0) / _FULL_SCORE

    def send(self, command: str) -> str:
        """Carry out a command and return what is printed."""
        seen, _, self.over, told = self._env.step(command)
        self.text = str(seen)
        self.commands = _useful(told["valid"])
        self._points = int(told["score"])
        return self.text

    def close(self) -> None:
        """Keep the engine for the next lesson: it takes seconds to begin, and ends with its process."""


def lessons(tasks: Sequence[str], split: Literal["train", "dev"], each: int) -> list[Game]:
    """Return the first variations of a split, `each` of every task at most. The authors keep `test` for the last
    judgement.

    Raises:
        ResourceMissingError: the engine or Java is not installed.
    """
    env = _engine()
    found = []
    for task in tasks:
        env.load(task, 0, "")
        numbers = env.get_variations_train() if split == "train" else env.get_variations_dev()
        found += [Game(f"{task}/{number}", task, b"") for number in list(numbers)[:each]]
    return found


@functools.cache
def _engine() -> Any:
    """Return this process's engine, a Java program that is spoken to over loopback."""
    try:
        from scienceworld import ScienceWorldEnv
    except ImportError as error:
        raise ResourceMissingError(f"{_NEEDED} ({error})") from error
    if shutil.which("java") is None:
        raise ResourceMissingError("ScienceWorld's lessons need Java 17 or later: install a `java` command")
    env = ScienceWorldEnv("")
    env.possible = env.get_valid_action_object_combinations
    return env


def _useful(commands: Sequence[str]) -> Sequence[str]:
    return tuple(command for command in commands if command != _REPEATS_TASK)


def _first_text(task: str, seen: str, held: str, forms: Sequence[str]) -> str:
    words = " ".join(task.partition(":")[2].split() or task.split())
    if words.lower().startswith(_SAID_TASK):
        words = words[len(_SAID_TASK) :].lstrip(" :")
    commands = f"Commands have these forms: {'; '.join(forms)}. OBJ and LOC stand for names."
    return f"{seen.strip()}\n{held.strip()}\n\n{commands}\n\nYour task is to: {words}"


class CompiledLesson:
    """A lesson that is running, its brief state, and what a compiler makes of M.

    memory: M. window: steps that the compiler sees.
    """

    def __init__(self, engine: GameEngine, compiler: Compiler, memory: TaskMemory, window: int) -> None:
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
        return aid_of(CompiledLesson(engine, compiler, memory, WINDOW), engine, setting.variant)

    return opened


def valued(engine: GameEngine) -> Aid:
    """Return an aid that offers what is possible as a home's world model offers calls: nothing that was refused since
    something was done last, and of the rest what may serve the task, where there is any. A command may if it has a name
    with a word of the task, or leads on: through a door, or without any name."""
    task, forms = read_task(engine.text), CommandForms(engine.text)

    def may_serve(command: str) -> bool:
        parsed = forms.parse(command)
        names = parsed.arguments if parsed is not None and not parsed.is_about_a_door else ()
        return not names or any(words_alike(name, task) > 0.0 for name in names)

    def offer(said: Sequence[tuple[str, str]], possible: Sequence[str]) -> Sequence[str]:
        last = takewhile(lambda turn: Outcome.read(turn[1]).reason is not FailureReason.NONE, reversed(said))
        refused = {command for command, _ in last}
        left = [command for command in possible if command not in refused]
        return list(filter(may_serve, left)) or left or possible

    return Advised(engine, offer=offer)


# The engine's limit: its longest solution has some hundred commands.
_MOST_COMMANDS = 1000
# Of each task: what M is drawn from.
_SOLVED_VARIATIONS = 8


def write_solutions(path: Path) -> None:
    """Write the engine's own solutions of `train` variations, on which nothing is judged, as transcripts.

    Raises:
        ResourceMissingError: the engine or Java is not installed.
    """
    games = lessons(TASKS, "train", _SOLVED_VARIATIONS)
    unfinished = path.with_name(f"{path.name}.part")
    with progress_bar() as bar, TranscriptFile(unfinished) as transcripts:
        for game in bar.track(games, description="solutions"):
            transcripts.add(_solved(game))
    unfinished.replace(path)


def _solved(game: Game) -> PlayedGame:
    lesson: Any = Lesson(game, _MOST_COMMANDS, lists_commands=False, solves=True)
    text, said = lesson.text, []
    for command in lesson.solution:
        if lesson.over:
            break
        said.append((command, lesson.send(command)))
    return PlayedGame.of(game, lesson, text, said)


def lesson_player(setting: Setting) -> Callable[[tuple[Game, Any]], PlayedGame]:
    """Return what plays a lesson in a process of its own."""

    def begun(game: Game) -> Any:  # without facts for a judge
        return Lesson(game, setting.max_steps)

    aid_of: OpenAid = without_games
    if setting.planner in BY_CHANCE:
        if setting.planner == VALUED:
            aid_of = lambda engine, *_: valued(engine)  # noqa: E731
        drawn = random_policy(setting.max_steps, begun, aid_of)
        return lambda piece: drawn(*piece)
    if setting.compiled is not None:
        aid_of = lesson_aids(setting.compiled, CachingEmbedder(MiniLmEmbedder()))
    policy = PolicyPlayer(chooser_of(setting), setting.max_steps, setting.model.timeout_s, aid_of, begun)
    return lambda piece: policy.play(*piece)
