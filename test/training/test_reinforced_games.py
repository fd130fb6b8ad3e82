"""Which games reinforcement learns from, and which are held out."""

import pytest

pytest.importorskip("torch", reason="needs the extra learning")
pytest.importorskip("transformers", reason="needs the extra learning")

from benchmarks.alfworld.games import Game, task_of
from memory_node.domain.errors import InvalidValueError
from training.grpo.train import split_games

GAMES = [
    Game(f"{number}/game.tw-pddl", "", f"...Your task is to: put a thing {number % 5} away.\\n...".encode())
    for number in range(20)
]


def test_games_of_remembered_tasks_are_not_held_out() -> None:
    remembered = {"put a thing 1 away.", "put a thing 2 away."}
    held, taught = split_games(GAMES, remembered, 4, seed=0)
    tasks = {task_of(game) for game in held}
    assert len(held) == 4
    assert tasks
    assert not tasks & remembered
    assert not tasks & {task_of(game) for game in taught}
    assert remembered <= {task_of(game) for game in taught}


@pytest.mark.parametrize("held_out", [13, 21])
def test_too_few_games_are_told(held_out: int) -> None:
    with pytest.raises(InvalidValueError, match="needs more games, or fewer attempts"):
        split_games(GAMES, {"put a thing 1 away.", "put a thing 2 away."}, held_out, seed=0)
