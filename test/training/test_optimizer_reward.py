"""What the optimizer of memory is trained by: neighbourhoods, rewards and rollouts."""

import json
from collections.abc import Sequence

import pytest
from tiny_world import WordEmbedder

from benchmarks.alfworld.games import Game
from benchmarks.alfworld.play import PlayedGame
from benchmarks.alfworld.workers import Outcome, Ready
from benchmarks.stream.alfworld import ExecutorSetting, GameCache, told_game
from memory_node.lessons.lesson import Wording
from memory_node.lessons.whereabouts import written
from memory_node.planner.planner_config import LlmConfig
from training.optimizer import executions as executions_module
from training.optimizer.executions import (
    Execution,
    Executions,
    GameExecutions,
    Rollout,
    advantages,
    gain,
    judges,
    neighbourhoods,
    read_attempts,
)


def test_neighbours_are_the_nearest_other_texts_each_once() -> None:
    queries = ["cool a mug", "cool a mug", "cool a cup", "wash the red car", "cool a big mug"]
    found = neighbourhoods(queries, WordEmbedder(), 2)
    assert found[0] == found[1] == (4, 2)
    assert 0 in found[4]
    assert 1 not in found[4]
    assert all(queries[place] != queries[one] for one, row in enumerate(found) for place in row)


@pytest.mark.parametrize("size", [0, 1, 2])
def test_held_out_tasks_have_the_same_judges_in_every_training(size: int) -> None:
    queries = ["cool a mug", "cool a cup", "wash the red car", "cool a big mug", "cool a mug now", "wash a car"]
    found = judges(queries, WordEmbedder(), size, trained=4)
    assert found[4:] == neighbourhoods(queries, WordEmbedder(), 3, among=4)[4:]
    assert all(len(row) == 3 for row in found[4:])
    if size:
        assert all(len(row) == size and place not in row for place, row in enumerate(found[:4]))
    else:
        assert found[:4] == [(0,), (1,), (2,), (3,)]


@pytest.mark.parametrize(
    ("ref", "mem", "expected"),
    [
        ((False, 30), (True, 10), 1.0),
        ((True, 10), (False, 30), -1.0),
        ((True, 20), (True, 10), 0.5),
        ((True, 10), (True, 20), -1.0),
        ((False, 30), (False, 30), 0.0),
    ],
)
def test_gain_is_the_papers(ref, mem, expected: float) -> None:
    assert gain([Rollout(*ref)], [Rollout(*mem)]) == pytest.approx(expected)


def test_gain_is_the_mean_over_neighbours() -> None:
    ref = [Rollout(False, 30), Rollout(True, 20), Rollout(True, 5)]
    mem = [Rollout(True, 3), Rollout(True, 10), Rollout(False, 30)]
    assert gain(ref, mem) == pytest.approx((1.0 + 0.5 - 1.0) / 3)
    with pytest.raises(ValueError, match="rollouts"):
        gain(ref, mem[:1])


def test_advantage_is_not_divided_by_the_deviation() -> None:
    assert advantages([1.0, 1.0, 1.0, 3.0]) == [-0.5, -0.5, -0.5, 1.5]
    assert advantages([0.0, 1e-6])[1] == pytest.approx(5e-7)


def entry(value: str):
    return written(value, Wording("a task", value, "e"), "test")


def test_same_task_with_the_same_memory_is_carried_out_once() -> None:
    asked: list[Execution] = []

    def run_all(executions: Sequence[Execution]) -> list[Rollout]:
        asked.extend(executions)
        return [Rollout(True, 1) for _ in executions]

    executions = Executions(run_all)
    same, other = Execution(0, (entry("a"),)), Execution(0, (entry("b"),))
    executions.rollouts([same, same, other])
    executions.rollouts([other, Execution(1, ())])
    assert [one.key for one in asked] == [same.key, other.key, Execution(1, ()).key]
    assert executions.figures() == {"run": 3, "cached": 2, "again": 0, "lost": 0}


def test_rollout_whose_process_died_is_run_again_once_and_then_counted() -> None:
    tries = {0: 0, 1: 0, 2: 0}

    def run_all(executions: Sequence[Execution]) -> list[Rollout]:
        for one in executions:
            tries[one.query] += 1
        # The first never dies, the second once, the third always.
        dead = [one.query > 0 and tries[one.query] <= one.query * 2 - 1 for one in executions]
        return [Rollout(not one, 1, lost="it died" if one else "") for one in dead]

    executions = Executions(run_all)
    found = executions.rollouts([Execution(place, ()) for place in range(3)])
    assert tries == {0: 1, 1: 2, 2: 2}
    assert [one.lost for one in found] == ["", "", "it died"]
    assert executions.figures() == {"run": 3, "cached": 0, "again": 2, "lost": 1}


TURNS = (("go to bed 1", "You arrive at bed 1. On the bed 1, you see a mug 1."),)


class Wins:
    """Workers without processes, in which every game is won."""

    def __init__(self, begin, jobs: int, limit_s: float) -> None:
        self.played: list[str] = []

    def __enter__(self):
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def run(self, count: int, piece_of):
        for number in range(count):
            piece = piece_of(number)
            if not isinstance(piece, Ready):
                game, shown = piece
                self.played.append(game.name)
                piece = Ready(told_game(PlayedGame(game.name, "x", "get a mug.", True, 1, transcript=TURNS), shown))
            yield Outcome(number, piece.done)


def test_run_that_goes_on_plays_no_game_again(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(executions_module, "Workers", Wins)
    games = [Game(name, "x", name.encode()) for name in ("a", "b")]
    setting = ExecutorSetting("novice", LlmConfig())
    wanted = [Execution(1, ()), Execution(0, (entry("a"),))]

    def played() -> list[str]:
        with GameExecutions(games, setting, 1, GameCache(tmp_path / "played.jsonl", setting.mark)) as play:
            assert [one.success for one in play(wanted)] == [True, True]
            return play._workers.played  # type: ignore[attr-defined]

    assert played() == ["b", "a"]
    assert played() == []
    (first, second) = read_attempts([tmp_path / "played.jsonl"], 0)
    assert first.query == second.query == "get a mug."
    assert first.deeds[0].seen == ("mug",)


def test_warm_start_reads_transcripts_of_several_files_mixed(tmp_path) -> None:
    files = [tmp_path / name for name in ("won.jsonl", "lost.jsonl")]
    for file in files:
        row = {"text": "", "turns": TURNS, "won": file.stem == "won"}
        file.write_text("".join(json.dumps(row | {"task": f"{file.stem} {n}"}) + "\n" for n in range(10)))
    found = read_attempts(files, 0)
    assert len({attempt.query for attempt in found}) == 20
    assert {attempt.success for attempt in found[:6]} == {True, False}
    assert found == read_attempts(files, 0)
