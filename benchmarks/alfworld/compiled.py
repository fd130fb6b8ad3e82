"""Memory compiled at each step of a game that a policy plays: M with attempts at other games, and its variants."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from benchmarks.alfworld.judge import GameFacts, Wanted, shortest_commands
from benchmarks.alfworld.play import CompilingAccount, GameClock, memory_of_game, with_unknown_places
from benchmarks.alfworld.policy import Advised, Aid, StepAid, advised, as_one_text, read_transcripts
from benchmarks.alfworld.robot import TEXT_SKILLS, GameEngine, TextRobot
from benchmarks.alfworld.senses import classes_of
from benchmarks.alfworld.sentences import called_skill
from benchmarks.compiler_variants import HISTORY, LATENT, NO_STATE, STATIC, TEXT, compiler_of, m_of, static_lines
from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.context.compilations import Retrieve
from memory_node.context.config import CompilerConfig
from memory_node.context.guidance import CompiledStep, Compiler, Delivery, StepObservation, TakenStep
from memory_node.context.task_memory import Entry, EntryKind, Subgoal, TaskMemory
from memory_node.domain.ports import TextEmbedder
from memory_node.domain.skill import FailureReason, ObjectReference, SkillCall
from memory_node.lessons.plugmem import PLACE, THING
from memory_node.llm.open_model import ModelShelf
from memory_node.planner.goal import Goal, GoalCheck, GoalHistory
from memory_node.planner.offline_planner import home_classes
from memory_node.planner.planner import PlanningContext
from memory_node.planner.reading.understanding import Understander
from memory_node.scene_graph.place_habits import PlaceCensus
from memory_node.world.episode import EpisodeWorld

# So many are retrieved for a task.
MOST_RETRIEVED = 3
# Skills that count; driving and opening doors depend on the other home and are left out.
_HANDLING = frozenset(
    {"PickupObject", "PutObject", "CleanObject", "HeatObject", "CoolObject", "SliceObject", "SwitchOn"}
)


@dataclass(frozen=True)
class Attempt:
    """One game that was won. goals: its subgoals in words; steps: what was done to things, over classes; text: all that
    was sent and printed, in order."""

    task: str
    goals: tuple[str, ...]
    steps: tuple[SkillCall, ...]
    text: str

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of its subgoals."""
        return tuple(Subgoal.parse(goal).kind for goal in self.goals)

    @property
    def classes(self) -> frozenset[str]:
        """The classes that its subgoals name."""
        return frozenset().union(*(Subgoal.parse(goal).classes for goal in self.goals))


@dataclass(frozen=True)
class Attempts:
    """Those of one library."""

    all: tuple[Attempt, ...]

    @classmethod
    def of(
        cls,
        transcripts: Iterable[Mapping[str, Any]],
        kinds: ObjectCatalogue,
        goals_of: Callable[[str], Sequence[str]],
    ) -> Attempts:
        """Return the attempts of transcripts that were won. goals_of: reads a task's subgoals."""
        found = []
        for transcript in transcripts:
            goals = tuple(goals_of(transcript["task"])) if transcript["won"] else ()
            if goals:
                steps = tuple(_handled(transcript["turns"], kinds))
                found.append(Attempt(transcript["task"], goals, steps, as_one_text(transcript)))
        return cls(tuple(found))

    def like(self, goals: Sequence[str]) -> list[Entry]:
        """Return the attempts most like a task as entries: the same kinds of subgoals first, then the same classes."""
        wanted = Attempt("", tuple(goals), (), "")

        def likeness(number: int) -> tuple[bool, int, int]:
            one = self.all[number]
            return one.kinds == wanted.kinds, len(one.classes & wanted.classes), -number

        best = sorted(range(len(self.all)), key=likeness, reverse=True)[:MOST_RETRIEVED]
        # The most alike is the most worth.
        return [replace(self._entry(number), worth=1.0 / (rank + 1)) for rank, number in enumerate(best)]

    def other_goals(self, goals: Sequence[str], chance: random.Random) -> tuple[str, ...]:
        """Return the subgoals of another task, drawn at random; () where there is no other."""
        others = sorted({one.goals for one in self.all} - {tuple(goals)})
        return chance.choice(others) if others else ()

    def _entry(self, number: int) -> Entry:
        one = self.all[number]
        return Entry(
            f"trajectory|{number}",
            EntryKind.WAY,
            one.text,
            goal_kinds=frozenset(one.kinds),
            classes=one.classes,
            steps=_over_roles(one.steps),
        )


def _over_roles(steps: Sequence[SkillCall]) -> tuple[SkillCall, ...]:
    """Return steps over classes as a way: the thing is what was taken first, the place where something was put last."""
    taken = next((call.arguments[0] for call in steps if call.skill == "PickupObject"), "")
    put = next((call.arguments[1] for call in reversed(steps) if call.skill == "PutObject"), "")
    roles = {name: role for name, role in ((put, PLACE), (taken, THING)) if name}
    return tuple(call.renamed(roles) for call in steps)


def _handled(turns: Iterable[tuple[str, str]], kinds: ObjectCatalogue) -> Iterable[SkillCall]:
    for command, _ in turns:
        call = called_skill(command)
        if call is not None and call.skill in _HANDLING:
            yield SkillCall(call.skill, tuple(classes_of(name, kinds)[0] for name in call.arguments))


# Guided skills without a command that are accepted in one step; more would be a loop of the compiler.
_MOST_DONE = 4


@dataclass(frozen=True)
class Told:
    """What memory says of one step. command: the engine's command that guidance comes to, "" for none. compiled: the
    steps of the compiler behind it, at least one. avoid: commands that must not be sent again now."""

    command: str
    compiled: tuple[CompiledStep, ...]
    avoid: tuple[str, ...] = ()

    @property
    def advice(self) -> str:
        """The command in words, "" for none."""
        never = f"Do not {', '.join(self.avoid)} again. " if self.avoid else ""
        return f"{never}{_sentence(self.command)}" if self.command else ""

    @property
    def state_lines(self) -> tuple[str, ...]:
        """The brief state."""
        return self.compiled[-1].state.lines()

    @property
    def latent(self) -> NDArray[np.float32] | None:
        """The guidance behind the command as latent tokens, None where there are none."""
        return self.compiled[-1].compiled.latent if self.command else None


class CompiledGame:
    """A game that is running, its memory, and what a compiler makes of it.

    compiler: compiles. retrieve: makes M from the memory's own way to retrieve it. learnt: of other games.
    """

    def __init__(
        self,
        engine: GameEngine,
        kinds: ObjectCatalogue,
        embedder: TextEmbedder,
        learnt: PlaceCensus,
        compiler: Compiler,
        retrieve: Callable[[Retrieve], Retrieve],
        max_steps: int,
    ) -> None:
        self._kinds = with_unknown_places(engine.text, kinds)
        clock = GameClock()
        self._memory = memory_of_game(self._kinds, clock.now_ns, embedder, learnt)
        self._robot = clock.robot = TextRobot(engine, self._kinds, clock.now_ns, max_steps, self._memory.observe)
        self._memory.set_map(self._robot.site.map(), 1)
        self._memory.remember(self._robot.first_look())
        self._goals = self._read_goals(embedder)
        self._history = GoalHistory(self._goals, self._kinds)
        self._episode_id = self._memory.episodes.start(self._robot.task)
        self._compilations = replace(
            self._memory.guidance, retrieve=retrieve(self._memory.guidance.retrieve), compiler=compiler
        )
        self._references: dict[str, str] = {}
        self._taken: TakenStep | None = None

    @property
    def memory(self) -> TaskMemory:
        """M; nothing before the first step."""
        followed = self._compilations.of(self._episode_id)
        return followed.memory if followed is not None else TaskMemory()

    def close(self) -> None:
        """Let go of the memory."""
        self._memory.close()

    def tell(self) -> Told:
        """Compile memory for the next step."""
        compiled: list[CompiledStep] = []
        for _ in range(_MOST_DONE):
            step = self._compilations.compile(self._episode_id, self._observation())
            self._taken = None
            compiled.append(step)
            if step.guidance is None:
                break
            call = self._with_stops(step.guidance.goal)
            command = self._robot.first_command(call)
            if command or call.skill != "GoToObject":
                return Told(command, tuple(compiled))
            # It is within reach from here: nothing has to be sent for that.
            self._taken = TakenStep(call, True)
        return Told("", tuple(compiled))

    def send(self, command: str) -> str:
        """Send a command, let memory know what came of it, and return what is printed."""
        sent = self._robot.send(command)
        if sent.changes:
            self._memory.remember(sent.changes)
        if sent.call is not None:
            call = SkillCall(sent.call.skill, tuple(map(self._reference, sent.call.arguments)))
            done = sent.reason is FailureReason.NONE
            self._taken = TakenStep(call, done, sent.reason, sent.call.arguments[0] if done else "")
        return sent.reply

    def _observation(self) -> StepObservation:
        things = self._robot.senses.things.by_name
        classes = {self._reference(name): thing.object_class for name, thing in things.items()}
        return StepObservation(
            tuple(map(str, self._goals)),
            self._goal_index(),
            self._taken,
            classes=classes,
            names={self._reference(name): name for name in things},
            worded=lambda call: advised(_sentence(self._robot.first_command(self._with_stops(call)))),
        )

    def _goal_index(self) -> int:
        check = GoalCheck(EpisodeWorld(self._kinds).refresh(self._memory.scene(), self._memory.held_object()))
        # While the game runs the task is not done, whatever memory believes.
        return min(self._history.judge(check).goal_index, max(len(self._goals) - 1, 0))

    def _reference(self, name: str) -> str:
        """Return how the compiler refers to a thing: by class and where it was seen first."""
        thing = self._robot.senses.things.by_name.get(name)
        if thing is not None and name not in self._references:
            self._references[name] = str(ObjectReference.at(thing.object_class, thing.position))
        return self._references.get(name, name)

    def _with_stops(self, call: SkillCall) -> SkillCall:
        """Give Explore its likeliest places, and behind them the others; none that was looked at."""
        if call.skill != "Explore":
            return call
        site, areas = self._robot.site, self._memory.rank_search_areas(call.arguments[0])
        ranked = (site.place_near(*area.position[:2]) for area in areas)
        places = (place for place in (*ranked, *site.places) if place not in self._robot.senses.seen)
        return SkillCall("Explore", (call.arguments[0], *dict.fromkeys(places)))

    def _read_goals(self, embedder: TextEmbedder) -> Sequence[Goal]:
        situation = PlanningContext(self._memory, skills=TEXT_SKILLS)
        home = home_classes(situation, self._kinds)
        reader = Understander(self._kinds, None, embedder, asks=False, open_names=True)
        return reader.understand(self._robot.task, home).goals


def _sentence(command: str) -> str:
    return f"{command}." if command else ""


def goals_reader(kinds: ObjectCatalogue, embedder: TextEmbedder) -> Callable[[str], Sequence[str]]:
    """Return what reads the subgoals of tasks in words."""
    reader = Understander(kinds, None, embedder, asks=False, open_names=True)
    return lambda task: [str(goal) for goal in reader.understand(task).goals]


# Returns the commands that a shortest way begins with now.
Judge = Callable[[], frozenset[str]]

# With a brief state the policy sees so many of the last turns: what it tells is what they led to.
TURNS_WITH_STATE = 2


@dataclass(frozen=True)
class CompiledSetting:
    """How memory is compiled. variant: see compiler_variants. compiler: who compiles. attempts: file of transcripts
    that are a part of M, None for none."""

    variant: str = TEXT
    compiler: str = "rules"
    config: CompilerConfig = field(default_factory=CompilerConfig)
    attempts: Path | None = None
    seed: int = 0


def compiled_aids(
    setting: CompiledSetting, kinds: ObjectCatalogue, embedder: TextEmbedder, max_steps: int
) -> CompiledAids:
    """Return what a setting says, opened.

    Raises:
        NotFoundError: there is no such file of transcripts.
        ModelMissingError: a package or file of the compiler's model is not there.
    """
    compiler = compiler_of(setting.variant, setting.compiler, setting.config, ModelShelf())
    transcripts = read_transcripts(setting.attempts) if setting.attempts is not None else ()
    attempts = Attempts.of(transcripts, kinds, goals_reader(kinds, embedder))
    return CompiledAids(kinds, embedder, compiler, attempts, setting.variant, max_steps, setting.seed)


@dataclass(frozen=True)
class CompiledAids:
    """An `OpenAid`: memory compiled at each step, or in the variant "static" all of the same M at first.

    attempts: at other games, a part of M. seed: of what takes the place of M where it is shuffled.
    """

    kinds: ObjectCatalogue
    embedder: TextEmbedder
    compiler: Compiler
    attempts: Attempts
    variant: str
    max_steps: int
    seed: int = 0

    def __call__(self, engine: GameEngine, learnt: PlaceCensus | None, name: str) -> Aid:
        """Open the aid of a game."""
        retrieve = self._retrieval(random.Random(f"{self.seed} {name}"))
        game = CompiledGame(
            engine, self.kinds, self.embedder, learnt or PlaceCensus(), self.compiler, retrieve, self.max_steps
        )
        return aid_of(game, engine, self.variant, judge_of(engine))

    def _retrieval(self, chance: random.Random) -> Callable[[Retrieve], Retrieve]:
        def changed(own: Retrieve) -> Retrieve:
            def retrieve(episode_id: str, instruction: str, goals: Sequence[str]) -> TaskMemory:
                def remembered(about: Sequence[str]) -> TaskMemory:
                    return TaskMemory.of([*own(episode_id, instruction, about).entries, *self.attempts.like(about)])

                return m_of(self.variant, goals, lambda: self.attempts.other_goals(goals, chance), remembered)

            return retrieve

        return changed


class CompiledRun(Protocol):
    """A game or lesson that is running, and what a compiler makes of memory in it."""

    @property
    def memory(self) -> TaskMemory:
        """M."""

    def tell(self) -> Told:
        """Compile memory for the next step."""

    def send(self, command: str) -> str:
        """Send a command, let memory know what came of it, and return what is printed."""

    def close(self) -> None:
        """Let go of the memory."""


def aid_of(run: CompiledRun, engine: GameEngine, variant: str, judge: Judge | None = None) -> Aid:
    """Return memory compiled at each step of a run, or in the variant "static" all of the same M at first."""
    if variant != STATIC:
        return CompiledAid(run, judge, variant)
    try:
        run.tell()
        return Advised(engine, "\n".join(static_lines(run.memory)))
    finally:
        run.close()


@dataclass
class CompiledAid:
    """Memory compiled at each step of a game. judge: None where nobody judges guidance. variant: see
    compiler_variants."""

    game: CompiledRun
    judge: Judge | None
    variant: str
    experience: str = ""
    _told: list[Told] = field(default_factory=list)
    _precise: list[bool] = field(default_factory=list)

    @property
    def account(self) -> CompilingAccount:
        """What compiling was."""
        steps = [told.compiled for told in self._told]
        return CompilingAccount(
            tuple(sum(step.milliseconds for step in compiled) for compiled in steps),
            tuple(all(step.compiled.delivery is Delivery.NOACTION for step in compiled) for compiled in steps),
            tuple(sum(one.compiled.tokens_in + one.compiled.tokens_out for one in compiled) for compiled in steps),
            tuple(self._precise),
        )

    def tell(self) -> StepAid:
        """Compile memory; see Aid."""
        told = self.game.tell()
        self._told.append(told)
        if told.command and self.judge is not None:
            self._precise.append(told.command in self.judge())
        advice = told.advice if self.variant != LATENT else ""
        if self.variant == NO_STATE:
            return StepAid((), advice, HISTORY)
        return StepAid(told.state_lines, advice, TURNS_WITH_STATE, told.latent)

    def send(self, command: str) -> str:
        """Send a command; memory follows."""
        return self.game.send(command)

    def close(self) -> None:
        """Let go of the game's memory."""
        self.game.close()


def judge_of(engine: GameEngine) -> Judge:
    """Return what judges by the facts of an engine now."""
    wanted = Wanted.of(engine.problem)
    return lambda: shortest_commands(GameFacts.of(engine.facts), wanted)
