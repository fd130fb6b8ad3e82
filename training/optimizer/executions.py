"""Tasks carried out by the frozen executor, which of them judge a memory, and the reward that comes of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.alfworld.games import Game
from benchmarks.alfworld.policy import read_transcripts
from benchmarks.alfworld.sentences import attempt_of_game
from benchmarks.alfworld.workers import Outcome, Ready, Workers
from benchmarks.rows import shuffled
from benchmarks.stream.alfworld import ExecutorSetting, GameCache, ToldGame, attempt_of, player_of, told_game
from memory_node.domain.ports import TextEmbedder
from memory_node.lessons.lesson import Lesson
from memory_node.lessons.optimizer.attempt import Attempt
from training.robot_tasks import RobotTasks


@dataclass(frozen=True)
class Rollout:
    """One task carried out by the frozen executor. length: of its trajectory, in steps. attempt: as the optimizer reads
    it. lost: why it could not be carried out, even a second time; it counts as a failure."""

    success: bool
    length: int
    attempt: Attempt | None = None
    lost: str = ""


def gain(reference: Sequence[Rollout], with_memory: Sequence[Rollout]) -> float:
    """Return r_g, the mean over the neighbours of

        c_mem - c_ref + c_mem c_ref (1 - l_mem / l_ref)

    where c is the success and l the length, `ref` with the bank as it is, `mem` with the candidate in it (UMEM).
    """
    if len(reference) != len(with_memory) or not reference:
        raise ValueError(f"gain: {len(reference)} rollouts without the candidate, {len(with_memory)} with it")
    total = 0.0
    for ref, mem in zip(reference, with_memory):
        c_ref, c_mem = float(ref.success), float(mem.success)
        # Two successes took steps each: a length of 0 is a task that was done before it began.
        faster = 1.0 - mem.length / ref.length if ref.length else 0.0
        total += c_mem - c_ref + c_mem * c_ref * faster
    return total / len(reference)


def advantages(rewards: Sequence[float]) -> list[float]:
    """Return r - mean(r) of a group: not divided by the deviation, which would blow up groups that hardly differ."""
    mean = sum(rewards) / len(rewards)
    return [reward - mean for reward in rewards]


HELD_OUT_JUDGES = 3
"""Judges of a held-out task, whatever a training has, so that trainings compare."""


def judges(queries: Sequence[str], embedder: TextEmbedder, size: int, trained: int) -> list[tuple[int, ...]]:
    """Return for each query the places of the tasks by which its memories are judged.

    trained: so many queries come first and can be judges; the others are held out. size: judges of the first ones; 0:
    each is its own, an ablation.
    """
    near = neighbourhoods(queries, embedder, max(size, HELD_OUT_JUDGES), trained)
    learning = [row[:size] if size else (place,) for place, row in enumerate(near[:trained])]
    return learning + [row[:HELD_OUT_JUDGES] for row in near[trained:]]


def neighbourhoods(
    queries: Sequence[str], embedder: TextEmbedder, size: int, among: int | None = None
) -> list[tuple[int, ...]]:
    """Return for each query the places of the `size` nearest others, the nearest first.

    Queries of one text are one neighbour, the first of them: 3,553 train games of ALFWorld have only 988 texts. The
    paper found 3 best: with 1 a memory serves one task, with 5 none. among: the first so many queries can be
    neighbours, the train tasks; all by default.
    """
    known = queries[:among]
    first = {query: place for place, query in reversed(list(enumerate(known)))}
    texts = list(first)
    vectors = dict(zip(texts, embedder.embed(texts)))
    candidates = np.stack([vectors[text] for text in texts])
    found: dict[str, tuple[int, ...]] = {}
    for query in dict.fromkeys(queries):
        vector = vectors[query] if query in vectors else embedder.embed([query])[0]
        order = np.argsort(-(candidates @ vector), kind="stable")
        found[query] = tuple(first[texts[one]] for one in order if texts[one] != query)[:size]
    return [found[query] for query in queries]


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


def read_attempts(files: Sequence[Path], seed: int) -> list[Attempt]:
    """Return the attempts of transcripts and files of played games, shuffled, so that a part of them is of all kinds.

    Raises:
        InvalidValueError: a line is no transcript; the message names it.
    """
    rows = shuffled([row for path in files for row in read_transcripts(path)], seed, 0)
    return [
        attempt_of_game(f"t{number}", row["task"], row["text"], row["turns"], row["won"], number)
        for number, row in enumerate(rows)
    ]
