"""Before its judged steps, one memory of a robot holds what it held in another scenario of the same category."""

from __future__ import annotations

import itertools
import json
import shutil
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from benchmarks.life.contents import Contents, read_contents, tries_in, with_memory_of, write_contents
from benchmarks.life.day_file import Day
from benchmarks.life.day_run import DayReport, DayRun
from benchmarks.life.lives import Lives
from benchmarks.life.player import Player, RobotPlayer
from benchmarks.life.robot_life import RobotLife
from benchmarks.life.runs import play_day
from benchmarks.life.switches import COMPILER, EPISODES, LESSONS, WORKING
from memory_node.context.compilations import Retrieve
from memory_node.domain.step import EpisodeSummary


class StoppedError(Exception):
    """The scenario is not played any further."""


class Shuffling:
    """Finds out what scenarios hold before their last judged step, each once.

    days: in the order of their files; make_player: of the robot in a scenario.
    """

    def __init__(
        self, days: Sequence[Day], lives: Lives, make_player: Callable[[RobotLife, Day], Player], goals: bool
    ) -> None:
        self._days = days
        self._lives = lives
        self._make_player = make_player
        self._goals = goals
        self._held: dict[str, tuple[Contents, Path]] = {}

    def play(self, day: Day, memory: str) -> DayReport:
        """Return what came of a scenario with one memory shuffled."""
        return play_day(day, self._lives, "", lambda life, folder: self._run(day, memory, life, folder))

    def _run(self, day: Day, memory: str, life: RobotLife, folder: Path) -> DayRun:
        other, others_folder = self._held_in(self._next(day))
        player = self._make_player(life, day)
        numbers = itertools.count(1)

        def swap(_: int) -> None:
            own = _contents_of(life, player)
            _take_over(life, player, own, other, memory, folder / f"shuffled{next(numbers)}", others_folder)

        return DayRun(day, life, player, self._goals, folder, before_judged=swap)

    def _next(self, day: Day) -> Day:
        alike = [one for one in self._days if one.scenario.category == day.scenario.category]
        return alike[(alike.index(day) + 1) % len(alike)]

    def _held_in(self, day: Day) -> tuple[Contents, Path]:
        if day.scenario.id not in self._held:
            self._held[day.scenario.id] = self._found_out(day)
        return self._held[day.scenario.id]

    def _found_out(self, day: Day) -> tuple[Contents, Path]:
        life, folder = self._lives.begin(day.scenario)
        player = self._make_player(life, day)
        found: list[Contents] = []

        def stop(index: int) -> None:
            if index == day.scenario.judged[-1]:
                found.append(_contents_of(life, player))
                raise StoppedError

        DayRun(day, life, player, self._goals, folder, before_judged=stop).play()
        if not found:  # it is broken or crashed before that
            found.append(_contents_of(life, player))
        kept = folder / "kept"
        kept.mkdir()
        write_contents(found[0], kept)
        return found[0], kept


def _contents_of(life: RobotLife, player: Player) -> Contents:
    """Return what a running robot holds; its memory is closed."""
    units, unfinished = life.memory.cache.units(), life.memory.recall_past().unfinished
    life.memory.close()
    session = player.session_text() if isinstance(player, RobotPlayer) else ""
    return replace(read_contents(life.folder, units, session, life.now_ns()), unfinished=unfinished)


def _take_over(
    life: RobotLife, player: Player, own: Contents, other: Contents, memory: str, folder: Path, others_folder: Path
) -> None:
    folder.mkdir()
    mixed = with_memory_of(own, other, memory)
    write_contents(mixed, folder)
    life.move_to(folder)
    life.memory.cache.clear()
    for unit in mixed.units:
        life.memory.cache.put(unit)
    if not isinstance(player, RobotPlayer):
        return
    # Lessons are drawn from tries, which are kept with the episodes: each is shuffled without the other.
    if memory in (EPISODES, LESSONS):
        player.tries = tries_in(own, own if memory == EPISODES else other)
    if memory == LESSONS:
        taught = folder.with_name(f"{folder.name}_taught")
        taught.mkdir()
        write_contents(with_memory_of(mixed, other, EPISODES), taught)
        player.guidance = replace(life.memory.guidance, retrieve=_retrieval_in(life, taught))
    if memory == WORKING:
        later_ns = own.now_ns - other.now_ns
        player.set_session(_as_if_now(other.session, later_ns))
        player.unfinished = tuple(_begun_later(episode, later_ns) for episode in other.unfinished)
    if memory == COMPILER:
        theirs = folder.with_name(f"{folder.name}_theirs")
        shutil.copytree(others_folder, theirs)
        player.guidance = replace(life.memory.guidance, retrieve=_retrieval_in(life, theirs))


def _retrieval_in(life: RobotLife, folder: Path) -> Retrieve:
    """Return what retrieves for the compiler from another memory."""
    return life.also_open(folder).guidance.retrieve


def _as_if_now(session: str, later_ns: int) -> str:
    """Return a conversation that ended later by so much."""
    if not session:
        return ""
    kept = json.loads(session)
    kept["ended_ns"] += later_ns
    return json.dumps(kept)


def _begun_later(episode: EpisodeSummary, later_ns: int) -> EpisodeSummary:
    return replace(episode, started_ns=episode.started_ns + later_ns, ended_ns=episode.ended_ns + later_ns)
