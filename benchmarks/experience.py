"""`memory-node bench experience`: retrieval and learning of experience after many steps and lessons."""

from __future__ import annotations

import argparse
import random
import resource
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from benchmarks.rows import emit
from memory_node.app.progress import shown
from memory_node.domain.skill import FailureReason, SkillCall
from memory_node.domain.step import EpisodeSummary, StepRecord
from memory_node.episodes.past_attempt import attempt_of_episode
from memory_node.lessons.experience_answer import ExperienceQuery
from memory_node.lessons.lesson import Lesson, LessonKind, Tally, Wording
from memory_node.lessons.optimizer.config import OptimizerConfig, OptimizerKind
from memory_node.memory import RobotMemory
from memory_node.memory_config import MemoryConfig
from memory_node.opening import open_memory

HELP = "retrieval and learning of experience after many steps and lessons"
_EPISODE_STEPS = 20
_CONTEXT_TOKENS = 2000
_ROOMS, _CLASSES, _TASKS = 8, 100, 50
_SKILLS = ("GoToObject", "PickupObject", "OpenObject", "CloseObject", "ToggleOn", "ToggleOff")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the benchmark's options."""
    parser.add_argument("--steps", type=int, default=1_000_000, help="recorded steps")
    parser.add_argument("--lessons", type=int, default=300, help="lessons of all task types together")
    parser.add_argument("--queries", type=int, default=1000, help="timed retrievals")
    parser.add_argument("--ends", type=int, default=500, help="episodes that end while another one goes on")
    parser.add_argument(
        "--optimizer", nargs="+", choices=("none", "rules"), default=["rules"], help="of memory; a row for each"
    )


def run(args: argparse.Namespace) -> int:
    """Run the benchmark; return the exit status."""
    emit([_row(args, kind) for kind in args.optimizer], args.json)
    return 0


def _row(args: argparse.Namespace, optimizer: OptimizerKind) -> dict[str, Any]:
    generator = random.Random(args.seed)
    with tempfile.TemporaryDirectory() as folder:
        config = MemoryConfig(database=f"{folder}/memory.db", optimizer=OptimizerConfig(kind=optimizer))
        memory = open_memory(config, clock=lambda: args.steps * 10**9)
        experience = memory.experience
        count = args.steps // _EPISODE_STEPS
        attempts = shown(_records(count, args.seed), "attempts", count)
        experience.load(attempts, _lessons(args.lessons, generator))
        experience.load_episodes(shown(_episodes(count, args.seed), "episodes", count)).result()
        figures = experience.figures()
        queries = [_query(generator) for _ in range(args.queries)]
        asked = [_timed_ms(partial(experience.ask, query)) for query in queries]
        computed = [_timed_ms(partial(experience.ask, query), time.thread_time) for query in queries]
        row = {
            "optimizer": optimizer,
            "steps": figures["experience.steps"],
            "lessons": figures["experience.lessons"],
            "p50_ms": _percentile(asked, 50),
            "p99_ms": _percentile(asked, 99),
            "p99_cpu_ms": _percentile(computed, 99),
            **_while_learning(memory, args.ends, generator),
            # Of the whole process: no less than that of the rows before.
            "rss_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, 1),
        }
        memory.close()
    return row


def _while_learning(memory: RobotMemory, ends: int, generator: random.Random) -> dict[str, float | int]:
    """Return how long ends of episodes, and steps and contexts of another one, take: while nothing and while something
    is being learnt.

    The end of an episode returns with its lesson; meanwhile the other episode goes on from another thread.
    """
    other = _OtherEpisode(memory, generator)
    idle = [other.step() for _ in range(ends)]
    ended, busy = [], []
    with ThreadPoolExecutor(1, "ender") as ender:
        for number in shown(range(ends), "ends of episodes"):
            episode_id = f"z{number:08d}"
            task = f"task{generator.randrange(_TASKS)}"
            memory.episodes.start(task, task, episode_id)
            context = memory.context(task, _CONTEXT_TOKENS, episode_id)
            for step in _steps(episode_id, 10**6 + number, generator):
                memory.episodes.record(step, context.id)
            end = ender.submit(_timed_ms, partial(memory.episodes.end, episode_id, True))
            busy.append(other.step())
            while not end.done():
                busy.append(other.step())
            ended.append(end.result())
    return {
        "ends": ends,
        "end_episode_p50_ms": _percentile(ended, 50),
        "end_episode_p99_ms": _percentile(ended, 99),
        "record_step_p99_ms": _percentile([step for step, _ in idle], 99),
        "get_context_p99_ms": _percentile([context for _, context in idle], 99),
        "samples_while_learning": len(busy),
        "record_step_while_learning_p99_ms": _percentile([step for step, _ in busy], 99),
        "get_context_while_learning_p99_ms": _percentile([context for _, context in busy], 99),
        "record_step_while_learning_max_ms": round(max(step for step, _ in busy), 3),
    }


class _OtherEpisode:
    """An episode that goes on while others end."""

    def __init__(self, memory: RobotMemory, generator: random.Random) -> None:
        self._memory = memory
        self._generator = generator
        self._index = 0
        memory.episodes.start("goes on", "task0", "going-on")

    def step(self) -> tuple[float, float]:
        """Record a step and ask for a context; return how long each took, in milliseconds."""
        step = replace(_steps("going-on", 10**6, self._generator)[0], index=self._index)
        self._index += 1
        recorded = _timed_ms(partial(self._memory.episodes.record, step))
        return recorded, _timed_ms(partial(self._memory.context, "goes on", _CONTEXT_TOKENS, "going-on"))


def _timed_ms(call: Callable[[], object], now_s: Callable[[], float] = time.perf_counter) -> float:
    started = now_s()
    call()
    return (now_s() - started) * 1e3


def _percentile(values: Sequence[float], percent: float) -> float:
    return round(float(np.percentile(values, percent)), 3)


def _episodes(count: int, seed: int) -> Iterator[tuple[str, list[StepRecord]]]:
    generator = random.Random(seed)
    for number in range(count):
        yield f"e{number:08d}", _steps(f"e{number:08d}", number, generator)


def _steps(episode_id: str, number: int, generator: random.Random) -> list[StepRecord]:
    room = f"room{generator.randrange(_ROOMS)}"
    steps = []
    for index in range(_EPISODE_STEPS):
        name = _thing(generator)
        action = SkillCall(generator.choice(_SKILLS), (name,))
        reason = FailureReason.TOO_FAR if generator.random() < 0.1 else FailureReason.NONE
        stamp_ns = (number * _EPISODE_STEPS + index) * 10**9
        success = reason is FailureReason.NONE
        visible = (_thing(generator),)
        step = StepRecord(episode_id, index, action, success, reason, stamp_ns, room=room, visible=visible)
        steps.append(step)
    return steps


def _records(count: int, seed: int) -> Iterator[dict[str, Any]]:
    for number, (episode_id, steps) in enumerate(_episodes(count, seed)):
        task = f"task{number % _TASKS}"
        summary = EpisodeSummary(episode_id, task, task, steps[0].stamp_ns, steps[-1].stamp_ns, number % 3 > 0)
        yield attempt_of_episode(summary, steps).to_dict()


def _lessons(count: int, generator: random.Random) -> Iterator[Lesson]:
    for number in range(count):
        trials = generator.randrange(1, 30)
        yield Lesson(
            f"g{number}",
            LessonKind.PREFER,
            (Wording("", f"Before action {number}, do another one."),),
            task_types=frozenset({f"task{number % _TASKS}"}) if number % 4 else frozenset(),
            object_classes=frozenset({_thing(generator)}) if number % 2 else frozenset(),
            given=Tally(generator.randrange(trials + 1), trials),
            helped_ns=number * 10**9,
        )


def _query(generator: random.Random) -> ExperienceQuery:
    # Every third query knows no task type: all lessons are candidates then.
    task = f"task{generator.randrange(_TASKS)}" if generator.randrange(3) else ""
    objects = (_thing(generator), _thing(generator))
    return ExperienceQuery(room=f"room{generator.randrange(_ROOMS)}", task_type=task, objects=objects)


def _thing(generator: random.Random) -> str:
    return f"Thing{generator.randrange(_CLASSES)}"
