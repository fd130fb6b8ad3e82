"""The engine's own solutions, played as they are: successful attempts that memory may hold."""

from __future__ import annotations

from benchmarks.alfworld.games import Game
from benchmarks.alfworld.play import PlayedGame
from benchmarks.alfworld.sentences import read_task
from benchmarks.scienceworld.done_lesson import DoneLesson
from benchmarks.scienceworld.lesson import Lesson
from memory_node.domain.errors import InvalidValueError

SOLUTION = "solution"
# The engine's limit: its longest solution has some hundred commands.
_MOST_COMMANDS = 1000


def require_train(split: str) -> None:
    """Check that solutions are shown of a split that nothing is judged on.

    Raises:
        InvalidValueError: it is another split than `train`.
    """
    if split != "train":
        raise InvalidValueError(
            f"--planner {SOLUTION} shows the engine's own solutions: expected --split train, got {split}"
        )


def play_solution(game: Game) -> DoneLesson:
    """Play the engine's solution of a variation to its end.

    Raises:
        ResourceMissingError: the engine or Java is not installed.
    """
    lesson = Lesson(game, _MOST_COMMANDS, lists_commands=False, solves=True)
    text, said = lesson.text, []
    for command in lesson.solution:
        if lesson.over:
            break
        said.append((command, lesson.send(command)))
    played = PlayedGame(
        game.name, game.task_type, read_task(text), lesson.won, len(said), text=text, transcript=tuple(said)
    )
    return DoneLesson(played, lesson.score)
