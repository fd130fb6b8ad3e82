"""The stream of days of life: the robot takes the bank of its lessons along from day to day, and nothing else."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from benchmarks.life.day_file import Day
from benchmarks.life.lives import Lives
from benchmarks.life.player import RobotPlayer
from benchmarks.life.players import OFFLINE, Players
from benchmarks.life.robot_life import RobotLife
from benchmarks.life.switches import LESSONS
from benchmarks.stream.outcomes import StreamTask
from memory_node.domain.context import estimate_tokens
from memory_node.domain.ports import TextEmbedder
from memory_node.lessons.bank import LessonBank
from memory_node.lessons.config import OptimizerConfig


@contextmanager
def life_robot(
    lives: Lives, players: Players, embedder: TextEmbedder, optimizer: OptimizerConfig
) -> Iterator[Callable[[Day], StreamTask]]:
    """Return how days are lived in one home after another, by the offline planner. A day that is broken or crashes is
    lost and teaches nothing.

    optimizer: who writes lessons; kind "none": nobody does, and none are read.
    """
    bank = LessonBank(embedder, optimizer)
    is_off = optimizer.kind == "none"

    def lived(day: Day) -> StreamTask:
        known = {lesson.id: lesson for lesson in bank}
        begun: list[RobotLife] = []

        def teach(player: RobotPlayer, life: RobotLife) -> None:
            begun.append(life)
            player.lessons = tuple(known.values())

        lives.optimizer = optimizer
        report = lives.play(day, LESSONS if is_off else "", players.run(OFFLINE, day, 0, prepare=teach))
        told = [entry for step in report.judged for entry in bank.retrieve(step.words)]
        print(report.trouble, end="", file=sys.stderr)
        is_taught = not (report.trouble or is_off)
        after = {one.id: one for one in begun[-1].memory.experience.lessons()} if is_taught else known
        for gone in known.keys() - after.keys():
            bank.remove(gone)
        bank.load(after.values())
        is_updated = any(one.text != after[key].text for key, one in known.items() if key in after)
        return StreamTask(
            report.right,
            report.right_steps / len(day.scenario.judged),
            sum(len(step.calls) for step in report.steps),
            told_tokens=sum(estimate_tokens(entry.text) for entry in told),
            bank=len(bank),
            operation="ADD" if after.keys() - known.keys() else "UPDATE" if is_updated else "",
            lost=report.trouble,
        )

    yield lived
