"""Lessons of a second text world: what is told, and what is counted."""

from pathlib import Path

import pytest

from benchmarks.alfworld.games import Game
from benchmarks.alfworld.policy import read_transcripts
from benchmarks.scienceworld import lesson
from benchmarks.scienceworld.lesson import Lesson


class Engine:
    """ScienceWorld's interface: water boils after `heat water`, half of the points come with `focus on water`."""

    envStepLimit = 0

    def possible(self) -> list[str]:
        return []

    def load(self, task: str, number: int, simplifications: str, generateGoldPath: bool = False) -> None:
        self.loaded = task, number

    def told(self, score: int) -> dict[str, object]:
        task = "Task Description:\nYour task is to boil water."
        commands = ["focus on water", "heat water", "task"]
        return {"taskDesc": task, "inv": "You hold nothing.", "valid": commands, "score": score}

    def reset(self) -> tuple[str, dict[str, object]]:
        return "You see water.", self.told(0)

    def step(self, command: str) -> tuple[str, int, bool, dict[str, object]]:
        score = {"focus on water": 50, "heat water": 100, "focus on air": -100}[command]
        return f"You {command}.", 0, abs(score) == 100, self.told(score)

    def get_possible_actions(self) -> list[str]:
        return ["focus on OBJ", "heat OBJ"]

    def get_gold_action_sequence(self) -> list[str]:
        return ["focus on water", "heat water", "focus on air"]

    def get_variations_train(self) -> list[int]:
        return [0, 1, 2]

    def get_variations_dev(self) -> list[int]:
        return [3, 4]


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> Engine:
    engine = Engine()
    monkeypatch.setattr(lesson, "_engine", lambda: engine)
    return engine


def test_lesson_tells_its_task_and_the_share_that_is_done(engine: Engine) -> None:
    running = Lesson(Game("boil/3", "boil", b""), 30)
    assert engine.loaded == ("boil", 3)
    assert "focus on OBJ; heat OBJ" in running.text
    assert running.text.endswith("Your task is to: boil water.")
    assert running.commands == ("focus on water", "heat water")
    assert running.send("focus on water") == "You focus on water."
    assert (running.won, running.score) == (False, 0.5)
    running.send("heat water")
    assert (running.won, running.over, running.score) == (True, True, 1.0)


def test_spoilt_lesson_scores_nothing(engine: Engine) -> None:
    running = Lesson(Game("boil/0", "boil", b""), 30)
    running.send("focus on air")
    assert (running.won, running.over, running.score) == (False, True, 0.0)


def test_lessons_are_the_first_variations_of_each_task(engine: Engine) -> None:
    assert [game.name for game in lesson.lessons(["boil", "melt"], "dev", 1)] == ["boil/3", "melt/3"]
    assert len(lesson.lessons(["boil"], "train", 9)) == 3


def test_solutions_of_train_are_written_as_transcripts(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(lesson, "TASKS", ("boil",))
    lesson.write_solutions(tmp_path / "train.jsonl")
    rows = list(read_transcripts(tmp_path / "train.jsonl"))
    assert len(rows) == 3
    assert rows[0]["turns"] == [("focus on water", "You focus on water."), ("heat water", "You heat water.")]
    assert (rows[0]["task"], rows[0]["won"]) == ("boil water.", True)


def test_without_the_engine_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch, refusal_of) -> None:
    lesson._engine.cache_clear()
    monkeypatch.setitem(__import__("sys").modules, "scienceworld", None)
    assert "robot_memory[scienceworld]" in refusal_of("compiler", "--on", "scienceworld", "--variants", "none")
