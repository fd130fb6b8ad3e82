"""Practice games: mistakes that are marked as such, games that are won in spite of them, and their file."""

import json
from pathlib import Path

import pytest
from small_game import Embedder
from test_alfworld_compiled import HEATED, LEARNT, game_of

from benchmarks.alfworld.compiled import CompiledAids, CompiledSetting, compiled_aids
from benchmarks.alfworld.games import Game
from benchmarks.alfworld.play import for_text_games
from memory_node.catalogue.label_space import load_catalogue
from memory_node.domain.errors import InvalidValueError
from training.executor.practice import Practice, PractisedGame, PractisedStep, read_games

GAME = Game("a/b/game.tw-pddl", "a", b"")


@pytest.fixture
def expert(tmp_path: Path) -> CompiledAids:
    attempts = tmp_path / "attempts.jsonl"
    attempts.write_text(json.dumps(HEATED) + "\n")
    return compiled_aids(CompiledSetting(attempts=attempts), for_text_games(load_catalogue()), Embedder(), 50)


def played(expert: CompiledAids, wrong: float, seed: int = 0) -> PractisedGame | None:
    return Practice(expert, wrong, seed, lambda _: game_of()).play(GAME, LEARNT)


def test_expert_alone_makes_no_mistake(expert: CompiledAids) -> None:
    game = played(expert, 0.0)
    assert all(step.sent == step.right for step in game.steps)
    assert game.steps[0].state


def test_game_is_won_in_spite_of_mistakes(expert: CompiledAids) -> None:
    games = [played(expert, 0.3, seed) for seed in range(6)]
    won = [game for game in games if game is not None]
    astray = [step for game in won for step in game.steps if step.sent != step.right]
    assert len(won) > 3
    assert astray
    flawless = played(expert, 0.0)
    assert max(len(game.steps) for game in won) > len(flawless.steps)
    assert played(expert, 0.3, 0) == games[0]  # the same seed makes the same mistakes


def test_game_that_is_lost_teaches_nothing(expert: CompiledAids) -> None:
    assert played(expert, 1.0) is None


def test_games_come_back_from_their_file(tmp_path: Path) -> None:
    game = PractisedGame("put a pen in box.", "You see a box 1.", (PractisedStep("look", "go to box 1", "-", ("a",)),))
    path = tmp_path / "games.jsonl"
    path.write_text(json.dumps(game.to_row()) + "\n")
    assert list(read_games(path)) == [game]
    path.write_text('{"task": "a"}\n')
    with pytest.raises(InvalidValueError, match="line 1: no practice game"):
        list(read_games(path))
