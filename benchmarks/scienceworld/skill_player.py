"""A planner of skills in a lesson: a robot with a memory of its own."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.alfworld.games import Game
from benchmarks.alfworld.life import GameClock, memory_of_game
from benchmarks.alfworld.play import PlayedGame
from benchmarks.alfworld.sentences import read_task
from benchmarks.alfworld.site import Site
from benchmarks.scienceworld.kinds import LessonKinds
from benchmarks.scienceworld.lesson import Lesson
from benchmarks.scienceworld.robot import LessonRobot
from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.domain.ports import TextEmbedder
from memory_node.planner.executor import InstructionExecutor, InstructionResult
from memory_node.planner.planner import Planner
from memory_node.scene_graph.place_habits import PlaceCensus


def silent_lesson(game: Game, max_steps: int) -> Lesson:
    """Return a lesson that does not list what is possible: nobody here chooses from that."""
    return Lesson(game, max_steps, lists_commands=False)


@dataclass(frozen=True)
class SkillPlayer:
    """Plays lessons. planner_of: makes the planner for the kinds of a lesson. max_steps: commands in a lesson.
    lesson_of: begins one."""

    planner_of: Callable[[ObjectCatalogue], Planner]
    kinds: ObjectCatalogue
    embedder: TextEmbedder
    max_steps: int
    lesson_of: Callable[[Game, int], Any] = silent_lesson

    def play(self, game: Game) -> tuple[PlayedGame, float]:
        """Play one lesson; return how it went, and the share of it that was done.

        Raises:
            NonsenseError: the engine prints what no lesson does.
        """
        lesson = self.lesson_of(game, self.max_steps)
        clock, kinds = GameClock(), LessonKinds.of(self.kinds, read_task(lesson.text))
        memory = memory_of_game(kinds, clock.now_ns, self.embedder, PlaceCensus())
        try:

            def take_in_plan(site: Site) -> None:
                memory.set_map(site.map(), clock.now_ns())

            robot = LessonRobot(lesson, kinds, clock.now_ns, self.max_steps, take_in_plan, memory.observe)
            clock.robot = robot
            memory.remember(robot.first_look())
            planner = self.planner_of(kinds)
            executor = InstructionExecutor(memory, robot, planner, skills=robot.skills, look_cost_m=math.inf)
            began = time.monotonic()
            result = executor.execute(robot.task)
            spent_ms = 1000.0 * (time.monotonic() - began)
        finally:
            memory.close()
        return _played(game, robot, result, lesson.won, spent_ms), lesson.score


def _played(game: Game, robot: LessonRobot, result: InstructionResult, won: bool, spent_ms: float) -> PlayedGame:
    outcome = result.outcome
    failures: Sequence[str] = (*outcome.failures, result.failure, outcome.question)
    return PlayedGame(
        game.name,
        game.task_type,
        robot.task,
        won,
        robot.steps,
        robot.searched,
        round(outcome.tokens_in / max(outcome.replies, 1)),
        step_ms=(spent_ms / max(robot.steps, 1),),
        goals=outcome.goals,
        failure="" if won else "; ".join(filter(None, failures)),
        trail=tuple(f"{step.step.call} {step.result.reason} {step.result.message}".rstrip() for step in result.steps),
        transcript=tuple(robot.transcript),
    )
