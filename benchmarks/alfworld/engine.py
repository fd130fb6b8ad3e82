"""ALFWorld's text engine, TextWorld over PDDL; the extra `alfworld` brings it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks.alfworld.games import Game
from benchmarks.alfworld.quick_engine import quick_environment
from memory_node.domain.errors import ResourceMissingError, RobotMemoryError

_NEEDED = "memory-node bench alfworld needs ALFWorld's engine: pip install 'robot_memory[alfworld]'"
_FIELDS = ("pddl_domain", "grammar", "pddl_problem")


class BrokenGameError(RobotMemoryError):
    """A game file that the engine cannot play."""


def require_engine() -> None:
    """Raise ResourceMissingError where the engine is not installed; the message says what to install."""
    try:
        import alfworld.agents.utils.misc  # noqa: F401
        import fast_downward  # noqa: F401
        import textworld.envs.pddl  # noqa: F401
    except ImportError as error:
        raise ResourceMissingError(f"{_NEEDED} ({error})") from error


class PddlEngine:
    """A running game: its text, the admissible commands and whether it has ended. Nothing else of it is shown.

    Raises:
        BrokenGameError: the file is no game.
        ResourceMissingError: the engine is not installed.
    """

    def __init__(self, game: Game) -> None:
        require_engine()
        try:
            data = _checked(json.loads(game.content), game.name)
            self._problem = data["pddl_problem"]
            self._env = quick_environment()
            self._env.load(data)
            self._state = self._env.reset()
        except RobotMemoryError:
            raise
        except Exception as error:  # the engine raises whatever its parsers do
            why = " ".join(str(error).split())  # a parser's message draws where in the file it stands
            raise BrokenGameError(f"{game.name}: {type(error).__name__}: {why}") from error

    @property
    def text(self) -> str:
        """What it printed last."""
        return str(self._state.feedback)

    @property
    def commands(self) -> Sequence[str]:
        """The commands that it admits now."""
        return tuple(self._state["admissible_commands"])

    @property
    def over(self) -> bool:
        """Whether the game has ended, which it does when the task is done."""
        return bool(self._state["won"] or self._state["lost"])

    @property
    def won(self) -> bool:
        """Whether the task is done: for the judge."""
        return bool(self._state["won"])

    @property
    def facts(self) -> Sequence[tuple[str, ...]]:
        """What is so, as predicates and printed names: for the judge of guidance, after the fact."""
        names = {key: info.name or key for key, info in self._env.entities.items()}
        return [(fact.name, *(names.get(one.name, one.name) for one in fact.arguments)) for fact in self._env.facts]

    @property
    def problem(self) -> str:
        """The problem in PDDL: for the judge of guidance."""
        return self._problem

    def send(self, command: str) -> str:
        """Carry out a command and return what is printed."""
        self._env.note_change()
        self._state, _, _ = self._env.step(command)
        return self.text

    def close(self) -> None:
        """Let go of the engine."""
        self._env.close()


def _checked(data: Any, name: str) -> dict[str, str]:
    """Return what the engine plays from; the solution that the file holds beside it is left out.

    Raises:
        BrokenGameError: something is missing.
    """
    if not isinstance(data, Mapping):
        raise BrokenGameError(f"{name}: expected an object, got {type(data).__name__}")
    missing = [key for key in _FIELDS if not isinstance(data.get(key), str)]
    if missing:
        raise BrokenGameError(f"{name}: no text under {', '.join(missing)}")
    return {key: data[key] for key in _FIELDS}
