"""Games and lessons played by chance: what is drawn, and where its rows stand."""

from pathlib import Path

import pytest
from small_game import KITCHEN, SmallGame, mugs_in_drawers
from small_lesson import SmallLesson
from test_alfworld_policy import Corridor

from benchmarks import compiler_text
from benchmarks.alfworld import command
from benchmarks.alfworld.command import Setting, player_by_chance
from benchmarks.alfworld.games import Game
from benchmarks.alfworld.play import PlayedGame
from benchmarks.ranking.ranked_planner import CHANCE, SEEDS, VALUED
from benchmarks.scienceworld import lesson
from benchmarks.scienceworld.lesson import lesson_player
from memory_node.planner.planner_config import LlmConfig

GAME = Game("a/b/game.tw-pddl", "a", b"")


def test_chance_plays_a_game_the_same_whatever_it_played_before() -> None:
    play = player_by_chance(CHANCE, 20, lambda _: Corridor())
    first = play(GAME, "3").transcript
    assert play(Game("another", "a", b""), "3").transcript != first
    assert play(GAME, "4").transcript != first
    assert play(GAME, "3").transcript == first


def test_among_the_valued_skills_chance_does_what_serves_the_task() -> None:
    def kitchen(_: Game) -> SmallGame:
        return SmallGame(KITCHEN, "put a mug in drawer", lambda game: max(mugs_in_drawers(game)) > 0)

    played = {}
    for planner in (CHANCE, VALUED):
        play = player_by_chance(planner, 30, kitchen)
        played[planner] = [play(GAME, str(seed)) for seed in range(6)]
    others = ("apple", "spoon", "cup", "butterknife")
    sent = {key: [text for one in games for text, _ in one.transcript] for key, games in played.items()}
    assert not any(name in text for text in sent[VALUED] for name in others)
    assert any(name in text for text in sent[CHANCE] for name in others)
    assert sum(one.won for one in played[VALUED]) > sum(one.won for one in played[CHANCE])


@pytest.fixture
def recorded(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Setting, int]]:
    """Return the settings that are played, each with its number of passes; every game is won in two commands."""
    found: list[tuple[Setting, int]] = []

    def play_all(orders, setting, jobs, learnt, transcripts, begin=None):
        found.append((setting, len(orders)))
        return [[PlayedGame(game.name, game.task_type, won=True, steps=2) for game in games] for games in orders]

    for place in (command, compiler_text):
        monkeypatch.setattr(place, "play_all", play_all)
        monkeypatch.setattr(place, "require_engine", lambda: None)
        monkeypatch.setattr(place, "load_games", lambda *_: [GAME])
    return found


def test_rows_of_both_chance_planners_stand_beside_those_of_a_model(recorded, rows_of, refusal_of) -> None:
    games = ["alfworld", "--games", "x", "--seed", "7"]
    beside = [("react", 1), (CHANCE, SEEDS), (VALUED, SEEDS)]
    rows = rows_of(*games, "--planner", "react", "--endpoint", "http://127.0.0.1:9", "--model", "m")
    assert [(row["planner"], row["games"]) for row in rows if row["task_type"] == "all"] == beside
    assert [(setting.planner, times) for setting, times in recorded] == beside
    assert all(setting.seed == 7 for setting, _ in recorded)
    for planner in ("offline", CHANCE, VALUED):
        rows = rows_of(*games, "--planner", planner)
        assert {row["planner"] for row in rows} == {planner}
    assert f"--planner {CHANCE} has --memory none" in refusal_of(*games, "--planner", CHANCE, "--memory", "places")


def test_rows_of_a_compiler_have_chance_beside_their_executor(recorded, rows_of, monkeypatch) -> None:
    monkeypatch.setattr(compiler_text, "lessons", lambda *_: [Game("boil/3", "boil", b"")])
    for place in (["alfworld", "--games", "x"], ["scienceworld", "--attempts", str(Path(__file__))]):
        rows = rows_of("compiler", "--on", *place, "--compilers", "rules")
        assert [(row["variant"], row["tasks"]) for row in rows[-2:]] == [(CHANCE, 1), (VALUED, 1)]
        assert [(setting.planner, times) for setting, times in recorded[-2:]] == [(CHANCE, SEEDS), (VALUED, SEEDS)]


TASK = "chill the pot. First, focus on the pot. Then, move it to the fridge."


def test_chance_in_a_lesson_draws_among_what_is_offered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lesson, "Lesson", lambda game, max_steps: SmallLesson(TASK, room="kitchen"))
    sent = {}
    for planner in (CHANCE, VALUED):
        play = lesson_player(Setting(planner, 25, LlmConfig()))
        sent[planner] = [text for seed in "abcd" for text, _ in play((GAME, seed)).transcript]
        assert len(sent[planner]) == 100
    assert "focus on orange" in sent[CHANCE]
    assert "focus on orange" not in sent[VALUED]
