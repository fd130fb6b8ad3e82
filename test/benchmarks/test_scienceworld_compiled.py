"""Memory compiled at each step of a lesson: which attempt is followed, how it is adapted, what the controls leave."""

import argparse
import random
from pathlib import Path
from zlib import crc32

import pytest
from small_game import Embedder
from small_lesson import SmallLesson
from test_alfworld_compiled import Obedient

from benchmarks import compiler_scienceworld
from benchmarks.alfworld.aid import Aid
from benchmarks.alfworld.command import Setting
from benchmarks.alfworld.compiled_aid import CompiledSetting
from benchmarks.alfworld.games import Game
from benchmarks.alfworld.play import CompilingAccount, PlayedGame
from benchmarks.alfworld.transcripts import TranscriptFile
from benchmarks.compiler_rows import row_of
from benchmarks.compiler_scienceworld import judged_lessons, rows_of_scienceworld
from benchmarks.compiler_variants import EMPTY_M, NO_LOOPS, NO_STATE, NONE, SHUFFLED_M, STATIC, TEXT
from benchmarks.scienceworld.command import LessonPlayer
from benchmarks.scienceworld.command_forms import Command, CommandForms
from benchmarks.scienceworld.command_rules import CommandRules
from benchmarks.scienceworld.compiled_lesson import CompiledLesson, lesson_aids
from benchmarks.scienceworld.done_lesson import DoneLesson
from benchmarks.scienceworld.lesson_attempts import LessonAttempts
from benchmarks.scienceworld.lesson_state import done_commands, first_lesson_state, followed
from benchmarks.scienceworld.name_likeness import ALIKE, SAME, NameLikeness, words_alike
from benchmarks.scienceworld.task_words import swapped_words
from memory_node.cli import main
from memory_node.context.config import CompilerConfig
from memory_node.context.state_operations import apply
from memory_node.domain.errors import InvalidValueError, NotFoundError
from memory_node.planner.planner_config import LlmConfig

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


# --- what is remembered


def test_most_similar_task_is_retrieved_first() -> None:
    library = attempts(transcript(OTHER), transcript(), {**transcript(), "won": False})
    assert [entry.task for entry in library.like(TASK).entries] == [TASK, OTHER]
    assert library.other_task(TASK, random.Random(0)) == OTHER
    assert attempts().other_task(TASK, random.Random(0)) == ""
    assert library.like("").entries == ()


def test_attempt_is_what_was_done_in_which_room_without_ways_looks_and_refusals() -> None:
    refused = transcript(commands=("open table", *SOLUTION))
    [entry] = attempts(refused).all
    assert [(deed.command.text, deed.room) for deed in entry.deeds] == [
        ("focus on metal pot", "kitchen"),
        ("pick up metal pot", "kitchen"),
        ("open fridge", "kitchen"),
        ("move metal pot to fridge", "kitchen"),
        ("wait", "kitchen"),
        ("wait", "kitchen"),
    ]
    assert entry.rooms.next_room("hallway", "kitchen") == "kitchen"
    assert entry.rooms.next_room("hallway", "attic") == ""
    assert "> open fridge: The fridge is now open." in entry.text


def test_commands_are_taken_apart_by_the_forms_that_are_printed() -> None:
    forms = CommandForms(
        "Commands have these forms: wait; look OBJ; look at OBJ; move OBJ to OBJ. OBJ stands for names."
    )
    assert forms.parse("move red cup to door to hall") == Command("move OBJ to OBJ", ("red cup", "door to hall"))
    assert forms.parse("look at pot") == Command("look at OBJ", ("pot",))
    assert forms.parse("move red cup to door to hall").text == "move red cup to door to hall"
    assert (forms.parse("wait"), forms.parse("fly")) == (Command("wait"), None)


# --- what is advised


def test_guidance_is_the_next_command_that_is_not_done() -> None:
    lesson = SmallLesson(TASK)
    run = running(lesson)
    assert obeyed(run) == [one for one in SOLUTION if one != "look around"]
    assert "metal pot" in lesson.layout["fridge"]
    assert run.tell().command == ""  # all of it is done


def test_what_is_so_already_is_not_done_again() -> None:
    lesson = SmallLesson(TASK, room="kitchen")
    lesson.opened.add("fridge")
    run = running(lesson)
    run.send("look around")
    run.send("pick up metal pot")
    assert obeyed(run) == ["focus on metal pot", "move metal pot to fridge", "wait", "wait"]


def test_what_was_changed_again_since_counts_as_done() -> None:
    lesson = SmallLesson(TASK, room="kitchen")
    lesson.opened.add("fridge")
    run = running(lesson)
    run.send("focus on metal pot")
    run.send("move metal pot to fridge")  # without taking it
    assert run.tell().command == "wait"  # it stands open: opening it is not possible


def test_thing_that_the_task_names_instead_is_used() -> None:
    lesson = SmallLesson(TASK.replace("the fridge", "the cupboard"), layout={"cupboard": []}, room="kitchen")
    assert swapped_words(TASK, TASK.replace("the fridge", "the cupboard")) == {"fridge": "cupboard"}
    assert obeyed(running(lesson))[2:4] == ["open cupboard", "move metal pot to cupboard"]
    assert swapped_words(TASK, "grow a plant") == {}


def test_thing_that_is_like_the_one_of_the_attempt_takes_its_place_and_keeps_it() -> None:
    lesson = SmallLesson(TASK, layout={"table": ["glass cup", "cake"]}, room="kitchen")
    run = running(lesson, embedder=Meanings())
    assert obeyed(run)[:4] == ["focus on glass cup", "pick up glass cup", "open fridge", "move glass cup to fridge"]
    assert "glass cup takes the place of metal pot" in "\n".join(run.tell().state_lines)


def test_nothing_takes_the_place_of_a_thing_that_is_here() -> None:
    names = NameLikeness(Meanings())
    wanted = Command("pick up OBJ", ("metal pot",))
    cup = Command("pick up OBJ", ("glass cup",))
    assert names.best(wanted, [cup])[1] >= ALIKE
    assert names.best(wanted, [cup, Command("move OBJ to OBJ", ("metal pot in inventory", "stove"))])[1] == 0.0
    assert names.best(wanted, []) == (None, 0.0)
    assert words_alike("thermometer in inventory", "thermometer") >= SAME
    assert words_alike("door to hall", "hall door") >= SAME
    assert words_alike("flower pot 1", "flower pot 10") < SAME


def test_nothing_is_advised_where_nothing_fits() -> None:
    run = running(SmallLesson(TASK, layout={"table": ["cake"]}, room="kitchen"))
    told = run.tell()
    assert told.command == ""
    assert "there is no metal pot in kitchen" in "\n".join(told.state_lines)
    account = running(SmallLesson("go")).tell().compiled[0]
    assert running(SmallLesson(TASK), {**transcript(), "won": False}).tell().command == ""
    assert account.compiled.problem == ""


def test_next_attempt_is_followed_where_the_best_one_cannot_be() -> None:
    with_cup = tuple(one.replace("metal pot", "glass cup") for one in SOLUTION)
    other = transcript(TASK, with_cup, layout={"table": ["glass cup"]})
    run = running(SmallLesson(TASK, layout={"table": ["glass cup"]}, room="kitchen"), transcript(), other)
    assert obeyed(run)[:2] == ["focus on glass cup", "pick up glass cup"]


# --- loops


class Stuck(SmallLesson):
    """Its fridge does not open."""

    def _open(self, rest: str) -> str:
        return "The fridge can't be opened." if rest == "fridge" else super()._open(rest)


@pytest.mark.parametrize(("loops", "after"), [(True, "move metal pot to fridge"), (False, "open fridge")])
def test_command_that_is_refused_three_times_is_given_up(loops: bool, after: str) -> None:
    run = running(Stuck(TASK, room="kitchen"), loops=loops)
    run.send("focus on metal pot")
    run.send("pick up metal pot")
    for _ in range(3):
        assert run.tell().command == "open fridge"
        run.send("open fridge")
    told = run.tell()
    assert told.command == after
    assert told.advice == ("Do not open fridge again. move metal pot to fridge." if loops else "open fridge.")
    assert "open fridge() failed 3 times: execution" in "\n".join(told.state_lines)


# --- the brief state


def test_brief_state_is_kept_from_replies() -> None:
    lesson = SmallLesson(TASK)
    run = running(lesson)
    for command in ("open door to kitchen", "go to kitchen", "look around", "pick up metal pot", "activate stove"):
        run.send(command)
    lines = dict(line.split(": ", 1) for line in run.tell().state_lines)
    assert lines["Goal"] == TASK
    assert lines["Done"].endswith("look around; pick up metal pot; activate stove")
    assert lines["Now"] == "focus on metal pot"
    assert lines["Robot"] == "the robot stands at kitchen; the hand holds orange; the hand holds metal pot"
    assert "metal pot is in or on table" not in lines["Places"]
    assert "stove is on" in lines["Known"]
    assert "stove is off" not in lines["Known"]
    run.send("move metal pot to stove")
    assert "metal pot is in or on stove" in "\n".join(run.tell().state_lines)
    assert "the hand holds metal pot" not in "\n".join(run.tell().state_lines)


def test_done_commands_are_counted_and_folded() -> None:
    state = first_lesson_state(TASK, SmallLesson(TASK).text)
    sent = [f"focus on thing {number} containing {'soil and ' * 5}water" for number in range(20)] + ["wait", "wait"]
    for command in sent:
        state = apply(followed(state, command, (), f"You do {command}."), state)
    assert done_commands(state) == {**dict.fromkeys(sent[:20], 1), "wait": 2}
    assert len(state.progress.completed) <= 11


# --- rows


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
    player = LessonPlayer(
        executor,
        Setting("executor", 20, LlmConfig()),
        lambda *_: SmallLesson(TASK, lambda small: "metal pot" in small.layout["fridge"]),
        opened,
    )
    done = player.play(Game("a/1", "a", b""))
    assert (done.game.won, done.game.steps, done.score) == (True, 6, 1.0)
    account = done.game.compiling
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


def arguments(**changed: object) -> argparse.Namespace:
    given = {
        "compilers": ["rules"],
        "attempts": Path("a"),
        "limit": 3,
        "max_steps": 9,
        "jobs": 1,
        "seed": 0,
        "trials": False,
    }
    return argparse.Namespace(**{**given, **changed})


def test_rows_have_the_columns_of_the_other_places(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = []

    def played(games, setting, jobs, transcripts):
        settings.append(setting.compiled and setting.compiled.variant)
        account = CompilingAccount((2.0,), (True,), (0,)) if setting.compiled else None
        return [
            DoneLesson(PlayedGame("boil/1", "boil", won=True, steps=4, compiling=account), 1.0),
            DoneLesson(PlayedGame("boil/2", "boil", lost="it died")),
        ]

    monkeypatch.setattr(compiler_scienceworld, "play_lessons", played)
    monkeypatch.setattr(compiler_scienceworld, "judged_lessons", lambda limit: [])
    monkeypatch.setattr(compiler_scienceworld, "llm_config", lambda args: LlmConfig())
    rows = list(rows_of_scienceworld(arguments(), (NONE, STATIC, TEXT), CompilerConfig()))
    assert [(row["variant"], row["compiler"]) for row in rows] == [
        ("none", "none"),
        ("static", "none"),
        ("text", "rules"),
    ]
    assert settings == [None, STATIC, TEXT]
    assert rows[2] == {
        "variant": "text",
        "compiler": "rules",
        "tasks": 2,
        "success_rate": 0.5,
        "progress": 0.5,
        "steps_mean": 4.0,
        "executor_input_tokens": 0.0,
        "compiler_tokens": 0.0,
        "executor_output_tokens": 0.0,
        "executor_ms": 0.0,
        "compiler_ms": 2.0,
        "guidance_precision": None,
        "noaction_share": 1.0,
    }


def test_row_without_a_command_has_no_steps() -> None:
    row = row_of("static", "none", [PlayedGame("boil/1", "boil", failure="too late")], [0.0])
    assert (row["steps_mean"], row["progress"], row["executor_input_tokens"]) == (0.0, 0.0, 0.0)


def test_rows_with_memory_need_attempts_and_one_compiler_is_there() -> None:
    with pytest.raises(InvalidValueError, match="rows static, text need --attempts FILE"):
        list(rows_of_scienceworld(arguments(attempts=None), (NONE, STATIC, TEXT, EMPTY_M), CompilerConfig()))
    with pytest.raises(InvalidValueError, match="has the compilers rules, got learned, model"):
        list(rows_of_scienceworld(arguments(compilers=["model", "learned"]), (TEXT,), CompilerConfig()))
    with pytest.raises(NotFoundError):
        lesson_aids(CompiledSetting(TEXT, attempts=Path("nowhere.jsonl")), Letters())


def test_command_line_knows_the_place(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "compiler", "--on", "scienceworld", "--json"]) == 1
    assert "need --attempts FILE" in capsys.readouterr().err
    assert main(["bench", "compiler", "--on", "scienceworld", "--variants", "advice"]) == 1
    assert "--on scienceworld has no rows advice" in capsys.readouterr().err


def test_judged_lessons_are_the_first_of_each_task(monkeypatch: pytest.MonkeyPatch) -> None:
    def listed(tasks, split, each):
        assert split == "dev"
        return [Game(f"{task}/{number}", task, b"") for task in tasks for number in range(each)]

    monkeypatch.setattr(compiler_scienceworld, "TASKS", ("boil", "melt"))
    monkeypatch.setattr(compiler_scienceworld, "lessons", listed)
    assert [game.name for game in judged_lessons(3)] == ["boil/0", "melt/0", "boil/1"]
