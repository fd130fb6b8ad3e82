"""The stream of household tasks under faults, with what an optimizer of memory makes of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from benchmarks.averages import shuffled
from benchmarks.household_cases import Case
from benchmarks.household_faults import Faults
from benchmarks.household_homes import Homes
from benchmarks.household_life import Lives, Trial
from benchmarks.stream.outcomes import Stream, StreamTask
from memory_node.app.progress import progress_bar
from memory_node.catalogue.label_space import load_catalogue
from memory_node.domain.clock import system_clock
from memory_node.domain.context import estimate_tokens
from memory_node.domain.ports import TextEmbedder
from memory_node.lessons.config import ExperienceConfig
from memory_node.lessons.experience import Experience
from memory_node.lessons.lesson import NullLog
from memory_node.lessons.optimizer.curator import Curator
from memory_node.planner.planner import Planner


@dataclass(frozen=True)
class HouseholdSetting:
    """What all rows share. curator_of: makes the curator of a fresh bank for the name of a row, None for a row without
    one."""

    homes: Homes
    embedder: TextEmbedder
    planner: Planner
    faults: Faults
    curator_of: Callable[[str], Curator | None]
    orders: int = 5
    epochs: int = 1
    seed: int = 0


def household_streams(name: str, cases: Sequence[Case], setting: HouseholdSetting) -> list[Stream]:
    """Return the streams of one row: each order begins with an empty memory, and nothing is reset in it.

    name: "none": without experience; else all parts of it, and who writes its lessons.
    """
    streams = []
    with progress_bar() as bar:
        task: Any = bar.add_task(name, total=len(cases) * setting.orders * setting.epochs)
        for order in range(setting.orders):
            tasks = shuffled(cases, setting.seed, order)
            streams.append(_stream(name, tasks, setting, lambda: bar.advance(task)))
    return streams


def _stream(name: str, cases: Sequence[Case], setting: HouseholdSetting, advance: Callable[[], object]) -> Stream:
    curator = setting.curator_of(name)
    experience = Experience(ExperienceConfig(), NullLog(), system_clock, kinds=load_catalogue(), curator=curator)
    mode = "full" if name == "none" else "full+experience"
    lives = Lives(mode, setting.homes, setting.embedder, setting.planner, experience, setting.faults, setting.seed)
    epochs = []
    try:
        for _ in range(setting.epochs):
            told = []
            for case in cases:
                shown = curator.bank.retrieve(case.instruction) if curator is not None else ()
                before = experience.figures()
                trial = lives.run(case)
                tokens = sum(estimate_tokens(entry.text) for entry in shown)
                told.append(_task(trial, tokens, before, experience.figures()))
                advance()
            epochs.append(told)
    finally:
        experience.close()
    return epochs


def _task(trial: Trial, tokens: int, before: dict[str, int], after: dict[str, int]) -> StreamTask:
    task = StreamTask(
        trial.success,
        trial.met / max(trial.conditions, 1),
        trial.result.skills,
        told_tokens=tokens,
        bank=after.get("lessons.kept", 0),
    )
    for operation, name in (("ADD", "lessons.added"), ("UPDATE", "lessons.updated")):
        if after.get(name, 0) > before.get(name, 0):
            task = replace(task, operation=operation)
    return task
