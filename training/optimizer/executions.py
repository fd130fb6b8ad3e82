"""Tasks carried out by the frozen executor: side by side, each once for the same memory, dead processes once more."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from benchmarks.alfworld.games import Game
from benchmarks.alfworld.workers import Outcome, Ready, Workers
from benchmarks.stream.alfworld import ExecutorSetting, GameCache, ToldGame, attempt_of, player_of, told_game
from memory_node.lessons.lesson import Lesson
from training.optimizer.reward import Rollout
from training.robot_tasks import RobotTasks


@dataclass(frozen=True)
class Execution:
    """One task to carry out. query: its place among the tasks; shown: the entries that its executor is told."""

    query: int
    shown: tuple[Lesson, ...]

    @property
    def key(self) -> tuple[object, ...]:
        """What decides how it goes: the task and what is told, whatever else the bank holds."""
        return self.query, tuple((entry.situation, entry.text) for entry in self.shown)


# Carries executions out and returns their rollouts in order; one that died has a reason in `lost`.
RunAll = Callable[[Sequence[Execution]], list[Rollout]]


class Executions:
    """Remembers each rollout by its task and what was told. run_all: seeds are of the task alone, so that rollouts with
    and without a candidate are paired."""

    def __init__(self, run_all: RunAll) -> None:
        self._run_all = run_all
        self._known: dict[tuple[object, ...], Rollout] = {}
        self.run = 0
        self.cached = 0
        self.again = 0
        self.lost = 0

    def rollouts(self, executions: Sequence[Execution]) -> list[Rollout]:
        """Return the rollouts of some executions, in their order."""
        unknown = (one for one in executions if one.key not in self._known)
        # The executions of one task together: a process that has just read a game need not read it again.
        missing = {one.key: one for one in sorted(unknown, key=lambda one: one.query)}
        self.cached += len(executions) - len(missing)
        self.run += len(missing)
        found = dict(zip(missing, self._run_all(list(missing.values()))))
        dead = [key for key, rollout in found.items() if rollout.lost]
        if dead:
            self.again += len(dead)
            found |= zip(dead, self._run_all([missing[key] for key in dead]))
            self.lost += sum(bool(found[key].lost) for key in dead)
        self._known |= found
        return [self._known[one.key] for one in executions]

    def figures(self) -> dict[str, int]:
        """Return how many were run, taken from memory, run again, and lost."""
        return {"run": self.run, "cached": self.cached, "again": self.again, "lost": self.lost}


class GameExecutions:
    """A RunAll over ALFWorld's games, in processes. Leaving the context ends them.

    cache: of games that were played before; an interrupted run plays none of them again.
    """

    def __init__(self, games: Sequence[Game], setting: ExecutorSetting, jobs: int, cache: GameCache) -> None:
        self._games = games
        self._cache = cache
        self._workers: Workers[tuple[Game, tuple[Lesson, ...]], ToldGame] = Workers(
            partial(player_of, setting), jobs, setting.longest_game_s
        )

    def __enter__(self) -> GameExecutions:
        self._workers.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self._workers.__exit__(*error)

    def __call__(self, executions: Sequence[Execution]) -> list[Rollout]:
        """Play the games; see RunAll."""

        def piece(number: int) -> tuple[Game, tuple[Lesson, ...]] | Ready[ToldGame]:
            game, shown = self._games[executions[number].query], executions[number].shown
            played = self._cache.find(game, shown)
            return (game, shown) if played is None else Ready(told_game(played, shown))

        rollouts = []
        for outcome in self._workers.run(len(executions), piece):
            execution = executions[outcome.number]
            if outcome.done is not None:
                self._cache.add(self._games[execution.query], execution.shown, outcome.done.played)
            rollouts.append(_rollout(outcome, execution))
        return rollouts


class RobotExecutions:
    """A RunAll over tasks of a robot; a success is a task of which all is right."""

    def __init__(self, tasks: RobotTasks) -> None:
        self._tasks = tasks

    def __call__(self, executions: Sequence[Execution]) -> list[Rollout]:
        """Carry the tasks out one after the other; see RunAll."""
        played = (self._tasks.play(one.query, lessons=one.shown) for one in executions)
        return [Rollout(one.right == 1.0, one.calls, one.attempt) for one in played]


def _rollout(outcome: Outcome[ToldGame], execution: Execution) -> Rollout:
    if outcome.done is None:
        return Rollout(False, 0, lost=outcome.lost)
    played = outcome.done.played
    return Rollout(played.won, played.steps, attempt_of(played, f"q{execution.query}", execution.query))
