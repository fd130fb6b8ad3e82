"""Memory compiled at each step of a lesson: which attempt is followed, how it is adapted, what the controls leave."""

import argparse
from pathlib import Path
from zlib import crc32

import pytest
from small_game import Embedder
from small_lesson import SmallLesson
from test_alfworld_compiled import Obedient

from benchmarks.alfworld.compiled import CompiledSetting
from benchmarks.alfworld.games import Game
from benchmarks.alfworld.play import CompilingAccount, PlayedGame
from benchmarks.alfworld.policy import Aid, PolicyPlayer, TranscriptFile
from benchmarks.compiler_text import rows_of_scienceworld
from benchmarks.compiler_variants import EMPTY_M, NO_LOOPS, NO_STATE, NONE, SHUFFLED_M, STATIC, TEXT
from benchmarks.scienceworld.command_rules import CommandRules, LessonAttempts
from benchmarks.scienceworld.commands import NameLikeness
from benchmarks.scienceworld.lesson import CompiledLesson, lesson_aids
from memory_node.context.config import CompilerConfig
from memory_node.domain.errors import InvalidValueError

TASK = "chill the pot. First, focus on the pot. Then, move it to the fridge."
OTHER = "warm a cake in some oven"
SOLUTION = (
    *("open door to kitchen", "go to kitchen", "look around", "focus on metal pot", "pick up metal pot"),
    *("open fridge", "move metal pot to fridge", "wait", "wait"),
)


def transcript(task: str = TASK, commands: tuple[str, ...] = SOLUTION, **lesson: object) -> dict:
    """Return what is said in a lesson that is played so."""
    small = SmallLesson(task, **lesson)
    text = small.text
    return {"task": task, "text": text, "turns": [(one, small.send(one)) for one in commands], "won": True}


def attempts(*transcripts: dict) -> LessonAttempts:
    return LessonAttempts.of(transcripts or (transcript(),), Embedder())


class Meanings(Embedder):
    """Pots and cups are alike, and nothing else."""

    def embed(self, texts):
        return super().embed(
            ["x" if text.split()[-1] in ("pot", "cup") else f"q{i}" * i for i, text in enumerate(texts)]
        )


class Letters(Embedder):
    """What is not the same is not alike."""

    def embed(self, texts):
        return super().embed([chr(97 + crc32(text.encode()) % 26) * 99 for text in texts])


def running(
    lesson: SmallLesson, *transcripts: dict, loops: bool = True, embedder: Embedder | None = None
) -> CompiledLesson:
    compiler = CommandRules(NameLikeness(embedder or Letters()), loops)
    memory = attempts(*transcripts).like(lesson.text.rpartition("Your task is to: ")[2])
    return CompiledLesson(lesson, compiler, memory, 30)


def obeyed(run: CompiledLesson, most: int = 20) -> list[str]:
    """Do what is advised until nothing is; return that."""
    sent = []
    while (told := run.tell()).command and len(sent) < most:
        sent.append(told.command)
        run.send(told.command)
    return sent


def test_thing_that_the_task_names_instead_is_used() -> None:
    lesson = SmallLesson(TASK.replace("the fridge", "the cupboard"), layout={"cupboard": []}, room="kitchen")
    assert obeyed(running(lesson))[2:4] == ["open cupboard", "move metal pot to cupboard"]


def test_thing_that_is_like_the_one_of_the_attempt_takes_its_place_and_keeps_it() -> None:
    lesson = SmallLesson(TASK, layout={"table": ["glass cup", "cake"]}, room="kitchen")
    run = running(lesson, embedder=Meanings())
    assert obeyed(run)[:4] == ["focus on glass cup", "pick up glass cup", "open fridge", "move glass cup to fridge"]
    assert "glass cup takes the place of metal pot" in "\n".join(run.tell().state_lines)


def aid(variant: str, tmp_path: Path, *transcripts: dict) -> Aid:
    path = tmp_path / "train.jsonl"
    with TranscriptFile(path) as file:
        for one in transcripts or (transcript(),):
            file.add(PlayedGame("a", "a", one["task"], True, text=one["text"], transcript=tuple(one["turns"])))
    return lesson_aids(CompiledSetting(variant, attempts=path), Letters())(SmallLesson(TASK), None, "a/1")


def test_lesson_is_won_by_an_executor_that_follows_advice(tmp_path: Path) -> None:
    aid(TEXT, tmp_path)
    opened = lesson_aids(CompiledSetting(TEXT, attempts=tmp_path / "train.jsonl"), Letters())
    executor = Obedient()
    lesson = SmallLesson(TASK, lambda small: "metal pot" in small.layout["fridge"])
    done = PolicyPlayer(executor, 20, 5.0, opened, lambda _: lesson).play(Game("a/1", "a", b""))
    assert (done.won, done.steps, done.score) == (True, 6, 1.0)
    account = done.compiling
    assert account == CompilingAccount(account.milliseconds, (False,) * 6, (0,) * 6, ())
    assert "Robot: the robot stands at hallway" in executor.seen[0][-1].text


def test_controls_lack_what_they_are_named_for(tmp_path: Path) -> None:
    static = aid(STATIC, tmp_path)
    assert "> open fridge: The fridge is now open." in static.experience
    assert (static.tell().advice, static.account) == ("", None)
    assert aid(EMPTY_M, tmp_path).tell().advice == ""
    raw = aid(NO_STATE, tmp_path)
    assert (raw.tell().state, raw.tell().advice) == ((), "")  # without a place it knows no way
    others = (transcript(), transcript(OTHER, ("open door to kitchen", "go to kitchen", "activate stove")))
    shuffled = aid(SHUFFLED_M, tmp_path, *others)
    for command in ("open door to kitchen", "go to kitchen"):
        assert shuffled.tell().advice == f"{command}."
        shuffled.send(command)
    assert shuffled.tell().advice == "activate stove."
    for variant in (TEXT, NO_LOOPS):
        assert aid(variant, tmp_path, *others).tell().advice == "open door to kitchen."


def test_rows_with_memory_need_attempts_and_one_compiler_is_there() -> None:
    args = argparse.Namespace(compilers=["rules"], attempts=None)
    with pytest.raises(InvalidValueError, match="rows static, text need --attempts FILE"):
        list(rows_of_scienceworld(args, (NONE, STATIC, TEXT, EMPTY_M), CompilerConfig()))
    args.compilers = ["model", "learned"]
    with pytest.raises(InvalidValueError, match="has the compilers rules, got learned, model"):
        list(rows_of_scienceworld(args, (TEXT,), CompilerConfig()))
