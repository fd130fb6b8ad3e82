"""Lessons of a second text world: what is told, and what is counted."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from benchmarks.alfworld.command import Setting
from benchmarks.alfworld.games import Game
from benchmarks.alfworld.play import PlayedGame
from benchmarks.alfworld.transcripts import TranscriptFile, read_transcripts
from benchmarks.scienceworld import lesson
from benchmarks.scienceworld.command import LessonPlayer, rows_of
from benchmarks.scienceworld.done_lesson import DoneLesson
from benchmarks.scienceworld.solutions import play_solution
from memory_node.cli import main
from memory_node.domain.errors import InvalidValueError
from memory_node.llm.chat import Message
from memory_node.llm.deadline import Deadline
from memory_node.planner.model_account import ModelAccount
from memory_node.planner.planner_config import LlmConfig
from memory_node.planner.step_chooser import Choice


class Engine:
    """ScienceWorld's interface: water boils after `heat water`, half of the points come with `focus on water`."""

    envStepLimit = 0
    task_names = ("boil", "melt")
    loaded: tuple[str, int] = ("", -1)
    solves = False

    def possible(self) -> list[str]:
        return []

    def load(self, task: str, number: int, simplifications: str, generateGoldPath: bool = False) -> None:
        self.loaded = task, number
        self.solves = generateGoldPath

    def told(self, score: int) -> dict[str, object]:
        task = "Task Description:\nYour task is to boil water."
        return {
            "taskDesc": task,
            "inv": "You hold nothing.",
            "valid": ["focus on water", "heat water", "task"],
            "score": score,
        }

    def reset(self) -> tuple[str, dict[str, object]]:
        return "You see water.", self.told(0)

    def step(self, command: str) -> tuple[str, int, bool, dict[str, object]]:
        score = {"focus on water": 50, "heat water": 100, "focus on air": -100}[command]
        return f"You {command}.", 0, abs(score) == 100, self.told(score)

    def get_possible_actions(self) -> list[str]:
        return ["focus on OBJ", "heat OBJ"]

    def get_gold_action_sequence(self) -> list[str]:
        return ["focus on water", "heat water", "focus on air"] if self.solves else ["ERROR"]

    def get_variations_train(self) -> list[int]:
        return [0, 1, 2]

    def get_variations_dev(self) -> list[int]:
        return [3, 4]


class Scripted:
    """Says its commands one after the other; heard, offered: what it was told at first, and what it could say."""

    thinks = True

    def __init__(self, *commands: str) -> None:
        self.commands = list(commands)
        self.heard = ""
        self.offered: set[str] = set()

    def choose(
        self, messages: Sequence[Message], values: Mapping[str, float], account: ModelAccount, deadline: Deadline
    ) -> Choice:
        self.offered = set(values)
        self.heard = str(messages[1].text)
        command = self.commands.pop(0)
        return Choice(command, command)


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> Engine:
    engine = Engine()
    monkeypatch.setattr(lesson, "_engine", lambda: engine)
    return engine


def test_lesson_is_done_with_all_points_and_tells_its_task(engine: Engine) -> None:
    chooser = Scripted("focus on water", "heat water")
    done = LessonPlayer(chooser, Setting("react", 30, LlmConfig())).play(Game("boil/3", "boil", b""))
    assert chooser.offered == {"focus on water", "heat water"}
    assert engine.loaded == ("boil", 3)
    assert (done.game.won, done.game.steps, done.score, done.game.task) == (True, 2, 1.0, "boil water.")
    assert "focus on OBJ; heat OBJ" in chooser.heard


@pytest.mark.parametrize(("commands", "score"), [(("focus on water",), 0.5), (("focus on air",), 0.0)])
def test_score_is_the_share_that_is_done_and_never_negative(
    engine: Engine, commands: tuple[str, ...], score: float
) -> None:
    done = LessonPlayer(Scripted(*commands), Setting("react", 1, LlmConfig())).play(Game("boil/0", "boil", b""))
    assert (done.game.won, done.score) == (False, score)


def test_lessons_are_of_train_and_dev_alone(engine: Engine) -> None:
    assert [game.name for game in lesson.lessons(["boil", "melt"], "dev", 1)] == ["boil/3", "melt/3"]
    assert len(lesson.lessons(["boil"], "train", 9)) == 3
    with pytest.raises(InvalidValueError, match="train, dev"):
        lesson.lessons(["boil"], "test", 1)
    with pytest.raises(InvalidValueError, match="no task fly"):
        lesson.lessons(["fly"], "dev", 1)


def test_solution_is_played_to_its_end_and_written_as_a_transcript(engine: Engine, tmp_path: Path) -> None:
    done = play_solution(Game("boil/1", "boil", b""))
    assert (done.game.won, done.score, engine.loaded) == (True, 1.0, ("boil", 1))
    with TranscriptFile(tmp_path / "train.jsonl") as file:
        file.add(done.game)
    [row] = read_transcripts(tmp_path / "train.jsonl")
    assert row["turns"] == [("focus on water", "You focus on water."), ("heat water", "You heat water.")]
    assert (row["task"], row["won"]) == ("boil water.", True)
    assert "focus on OBJ; heat OBJ" in row["text"]


def test_solutions_of_what_is_judged_are_not_shown(engine: Engine, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "scienceworld", "--planner", "solution", "--tasks", "boil"]) == 1
    assert "expected --split train, got dev" in capsys.readouterr().err
    assert engine.loaded == ("", -1)


def test_rows_are_by_task_and_all_and_a_lost_lesson_scores_nothing() -> None:
    done = [
        DoneLesson(PlayedGame("boil/0", "boil", won=True, steps=4, step_ms=(10.0,)), 1.0),
        DoneLesson(PlayedGame("melt/0", "melt", lost="it died")),
    ]
    rows = {row["task"]: row for row in rows_of(done)}
    assert list(rows) == ["boil", "melt", "all"]
    assert (rows["all"]["success_rate"], rows["all"]["score_mean"], rows["all"]["lost"]) == (0.5, 0.5, 1)
    assert rows["melt"]["steps_mean"] == 0


def test_without_the_engine_it_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lesson._engine.cache_clear()
    monkeypatch.setitem(__import__("sys").modules, "scienceworld", None)
    assert main(["bench", "scienceworld"]) == 1
    assert "robot_memory[scienceworld]" in capsys.readouterr().err
