"""A lesson that is running: its text, what can be done, and how much of it is done; the extra `scienceworld` brings
the engine."""

from __future__ import annotations

import functools
import shutil
from collections.abc import Sequence
from typing import Any, Literal

from benchmarks.alfworld.games import Game
from memory_node.domain.errors import ResourceMissingError

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
