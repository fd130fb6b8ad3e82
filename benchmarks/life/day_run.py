"""Lets a robot live through one scenario and judges its steps."""

from __future__ import annotations

import re
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.life import day_form as form
from benchmarks.life.day_file import Day
from benchmarks.life.home import NoRoomError
from benchmarks.life.home_events import HomeEvents
from benchmarks.life.judge import HomeRecord, StepOutcome, Verdict, judge, searches_of
from benchmarks.life.player import Player
from benchmarks.life.robot_life import RobotLife, Trace
from benchmarks.life.switches import FACTS
from memory_node.knowledge.documents import ReadCounts, read_document
from memory_node.planner.executor import InstructionResult
from memory_node.planner.planner import PlanProgress, ProgressKind

_MORNING_MINUTE = 8 * 60
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n")


@dataclass(frozen=True)
class StepReport:
    """One step that was judged or carried out. index: of its event; words: that were said to the robot.

    verdict: None for a step that is not judged. calls: what was tried, each with how it ended. tokens_new: of
    tokens_in, those that the model's endpoint had not read before. needless_question: it ended in a question that
    neither the scenario expects nor a told fact explains.
    """

    index: int
    words: str
    verdict: Verdict | None
    success: bool = False
    asked: bool = False
    said: str = ""
    calls: tuple[str, ...] = ()
    metres: float = 0.0
    searches: int = 0
    tokens_in: int = 0
    tokens_new: int = 0
    needless_question: bool = False
    wrong_things: bool = False


@dataclass
class DayReport:
    """What came of a scenario. broken: why it says nothing, "" where it does; crash: a traceback, "" for none.

    lookups, hits: of the short-term memory in judged steps; warm_lookups, warm_hits: of those that
    began with a warm one. results: of all steps, as their player told them.
    """

    id: str
    category: str
    steps: list[StepReport] = field(default_factory=list)
    broken: str = ""
    crash: str = ""
    failed: str = ""
    lookups: int = 0
    hits: int = 0
    warm_lookups: int = 0
    warm_hits: int = 0
    results: list[InstructionResult] = field(default_factory=list)

    @property
    def trouble(self) -> str:
        """Why it is broken, or how it crashed, as lines; "" where it did neither."""
        said = self.broken or (self.crash and f"{self.id} crashed:\n{self.crash.rstrip()}")
        return said and f"{said}\n"

    @property
    def judged(self) -> list[StepReport]:
        """The steps that were judged."""
        return [step for step in self.steps if step.verdict is not None]

    @property
    def right_steps(self) -> int:
        """How many of them are right."""
        return sum(step.verdict is not None and step.verdict.right for step in self.steps)

    @property
    def right(self) -> bool:
        """Whether every judged step is right."""
        ended = not (self.broken or self.crash or self.failed)
        return ended and self.right_steps == len(self.judged)


def _pass_over(_: int) -> None:
    return None


class DayRun:
    """Plays the events of one scenario in order.

    life: the robot after its patrol. player: carries out what is said to it. goals: whether instructions are given as
    typed goals. folder: for documents. before_judged: is called before each judged step with the number of its event.
    """

    def __init__(
        self,
        day: Day,
        life: RobotLife,
        player: Player,
        goals: bool,
        folder: Path,
        before_judged: Callable[[int], None] = _pass_over,
    ) -> None:
        self._before_judged = before_judged
        self._day = day
        self._life = life
        self._player = player
        self._goals = goals
        self._folder = folder
        self._report = DayReport(day.scenario.id, day.scenario.category)
        self._is_asked = False
        self._documents = 0
        self._home = HomeEvents(life)

    def play(self) -> DayReport:
        """Return what came of the scenario; never raises for what a planner or memory does."""
        try:
            for index, event in enumerate(self._day.scenario.events):
                self._play(index, event)
        except NoRoomError as error:
            self._report.broken = self._day.fault(("events", index), str(error))
        except Exception:
            self._report.crash = traceback.format_exc()
        return self._report

    def _play(self, index: int, event: form.Event) -> None:
        life = self._life
        if isinstance(event, form.Step):
            self._step(index, event)
            return
        life.faults.begin_event()
        match event:
            case form.Tell() | form.Document():
                self._inform(event)
            case form.BeginFault():
                life.faults.begin(event.fault)
            case form.Mend():
                life.faults.mend(event.mend)
            case form.See():
                life.see(event.see)
            case form.Wait():
                life.wait(event.wait)
            case form.Time():
                life.wait_until(event.time)
            case form.NextDay():
                self._next_day()
            case form.Restart():
                life.restart()
                self._player.restart()
            case _:
                self._home.change(event)
        life.world.take_changes()

    def _inform(self, event: form.Tell | form.Document) -> None:
        memory = self._life.memory
        if self._life.without == FACTS:
            return
        if isinstance(event, form.Tell):
            memory.tell_fact(event.tell, event.by)
            return
        self._documents += 1
        name = "".join(letter if letter.isalnum() else "_" for letter in event.title) or f"document_{self._documents}"
        path = self._folder / f"{name}.md"
        title = f"# {event.title}\n\n" if event.title else ""
        path.write_text(f"{title}{event.document}\n", encoding="utf-8")
        memory.read(list(read_document(path, ReadCounts(), self._life.now_ns())))
        memory.commit()
        memory.knowledge.embed_statements()

    def _next_day(self) -> None:
        """Let the night pass: the robot drives to where it starts, and what it holds goes back (seen)."""
        self._life.wait_until(_MORNING_MINUTE, days=1)
        self._home.put_back()
        self._life.robot.body.move(self._life.world.layout.start)

    # --- steps

    def _step(self, index: int, event: form.Step) -> None:
        life = self._life
        if isinstance(event, form.Answer) and not self._is_asked:
            self._report.failed = f"{event.words!r}: the robot had asked nothing"
            if event.want is not None:
                self._report.steps.append(StepReport(index, event.words, Verdict({"answer": "nothing was asked"})))
            return
        if event.want is not None:
            self._before_judged(index)
        life.faults.begin_instruction()
        life.trace = Trace()
        before = HomeRecord.of(life.world)
        counted = life.memory.statistics()
        notes: list[str] = []

        def note(progress: PlanProgress) -> None:
            if progress.kind is ProgressKind.NOTE:
                notes.append(progress.text)

        limit = event.interrupt_after if isinstance(event, form.Do) else None
        typed = event.goals if self._goals and isinstance(event, form.Do) else ()
        result = self._player.execute(event.words, typed, note, limit)
        self._report.results.append(result)
        said = _said(result, notes)
        outcome = StepOutcome(
            life.trace, result.success, bool(result.outcome.question), said, before, isinstance(event, form.Ask)
        )
        self._is_asked = outcome.asked
        verdict = judge(event.want, outcome, life.world, life.robot.body.pose) if event.want is not None else None
        if verdict is not None:
            now = life.memory.statistics()
            self._report.lookups += now.lookups - counted.lookups
            self._report.hits += now.hits - counted.hits
            if counted.warm:
                self._report.warm_lookups += now.lookups - counted.lookups
                self._report.warm_hits += now.hits - counted.hits
        needless = verdict is not None and outcome.asked and not self._is_due(index, event, result.outcome.question)
        self._report.steps.append(
            StepReport(
                index,
                event.words,
                verdict,
                outcome.success,
                outcome.asked,
                outcome.said,
                tuple(f"{one.call}" + ("" if one.success else f": {one.reason}") for one in life.trace.results),
                sum((one.distance_m for one in life.trace.results), 0.0),
                searches_of(life.trace.results),
                result.outcome.cost.tokens_in,
                result.outcome.cost.tokens_new,
                needless,
                verdict is not None and bool({"only", "no_calls"} & verdict.problems.keys()),
            )
        )

    def _is_due(self, index: int, event: form.Step, question: str) -> bool:
        """Return whether a question is wanted or answered by the scenario, or names a fact that was told before."""
        events = self._day.scenario.events
        if (event.want is not None and event.want.asks) or any(
            isinstance(one, form.Answer) for one in events[index + 1 : index + 2]
        ):
            return True
        texts = [getattr(one, "tell", "") or getattr(one, "document", "") for one in events[:index]]
        sentences = {one.strip(" .!?").lower() for text in texts for one in _SENTENCE_END.split(text)} - {""}
        return any(one in question.lower() for one in sentences)


def _said(result: InstructionResult, notes: list[str]) -> str:
    outcome = result.outcome
    parts = [outcome.question, outcome.answer, *notes, result.failure, *outcome.failures]
    return "\n".join(part for part in parts if part)
