"""The benchmark around the games: files, processes, what is learnt, rows."""

import importlib
import io
import json
import os
import signal
import subprocess
import sys
import tarfile
import time
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from benchmarks.alfworld.command import rows_of
from benchmarks.alfworld.games import load_games
from benchmarks.alfworld.learnt import Learnt
from benchmarks.alfworld.play import PlayedGame
from benchmarks.alfworld.policy import TranscriptFile, read_transcripts
from benchmarks.alfworld.workers import Workers
from memory_node.cli import main
from memory_node.domain.errors import InvalidValueError, NotFoundError
from memory_node.scene_graph.place_habits import PlaceCensus

ROOT = Path(__file__).parents[2]
CENSUS = PlaceCensus({("desk", "office"): 2}, {("pen", "desk", "office"): 3})


# --- work that goes to other processes: they import it by its module's name

WORK = """
import os, signal, time

def double(number):
    return 2 * number

def misbehave(number):
    if number == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    if number == 2:
        time.sleep(600.0)
    if number == 3:
        raise ValueError("game.tw-pddl: no game")
    return number

def doubling():
    return double

def own_process(number):
    return os.getpid()

def naming():
    return own_process

def misbehaving():
    return misbehave
"""


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModuleType]:
    folder = tmp_path_factory.mktemp("work")
    (folder / "work_of_others.py").write_text(WORK)
    sys.path.insert(0, str(folder))
    yield importlib.import_module("work_of_others")
    sys.path.remove(str(folder))
    del sys.modules["work_of_others"]


def test_outcomes_come_in_order_whatever_the_number_of_processes(work: ModuleType) -> None:
    with Workers(work.doubling, 3, 30.0) as workers:
        assert [one.done for one in workers.run(7, lambda number: number)] == [0, 2, 4, 6, 8, 10, 12]


def test_process_that_dies_hangs_or_fails_costs_one_piece(work: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    with Workers(work.misbehaving, 2, 60.0) as workers:
        give = workers._give

        def give_little_time_to_the_one_that_hangs(number: int, piece: int) -> None:
            workers._limit_s = 2.0 if number == 2 else 60.0
            give(number, piece)

        monkeypatch.setattr(workers, "_give", give_little_time_to_the_one_that_hangs)
        outcomes = list(workers.run(6, lambda number: number))
    assert [one.done for one in outcomes] == [0, None, None, None, 4, 5]
    assert "ended with -9" in outcomes[1].lost
    assert "not done within" in outcomes[2].lost
    assert "game.tw-pddl: no game" in outcomes[3].lost


def test_process_is_fresh_after_some_pieces(work: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchmarks.alfworld.workers._PIECES_PER_PROCESS", 3)
    with Workers(work.naming, 1, 30.0) as workers:
        processes = [one.done for one in workers.run(7, lambda number: number)]
    assert [processes.count(process) for process in dict.fromkeys(processes)] == [3, 3, 1]


def is_running(process: int) -> bool:
    """Return whether a process is at work: who has ended and waits for somebody to take note is not."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.timeout(300)
@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGKILL])
def test_run_that_is_ended_leaves_no_process(work: ModuleType, ending: signal.Signals) -> None:
    code = (
        "from benchmarks.alfworld.workers import Workers; import work_of_others as work\n"
        "with Workers(work.misbehaving, 2, 600.0) as workers:\n"
        "    outcomes = workers.run(2, lambda number: 2)\n"  # both hang
        "    workers._give(0, 2)\n"
        "    print(workers._workers[0].process.pid, flush=True)\n"
        "    next(outcomes)\n"
    )
    path = os.pathsep.join([str(ROOT), str(Path(work.__file__ or "").parent)])
    run = subprocess.Popen(
        [sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": path}, stdout=subprocess.PIPE, text=True
    )
    worker = int(run.stdout.readline())
    run.send_signal(ending)
    try:
        run.wait(100.0)  # far less than the work would hang: it does not wait for that
    finally:
        run.kill()
        run.stdout.close()
    give_up = time.monotonic() + 100.0
    while is_running(worker) and time.monotonic() < give_up:
        time.sleep(0.1)
    assert not is_running(worker)


# --- files


def packed(tmp_path: Path, names: list[str]) -> Path:
    path = tmp_path / "games.tar.xz"
    with tarfile.open(path, "w:xz") as archive:
        for name in names:
            member = tarfile.TarInfo(name)
            member.size = 2
            archive.addfile(member, io.BytesIO(b"{}"))
    return path


NAMES = ["s/look_at_obj_in_light-CD-None-DeskLamp-3/trial_1/game.tw-pddl", "s/pick-Mug-None-Shelf-1/t/game.tw-pddl"]


def test_games_of_an_archive_and_of_a_folder_are_the_same(tmp_path: Path) -> None:
    archive = packed(tmp_path, [*NAMES, "s/readme.txt"])
    for name in NAMES:
        game = tmp_path / "folder" / name
        game.parent.mkdir(parents=True)
        game.write_text("{}")
    games = load_games(archive)
    assert [(game.name, game.task_type) for game in games] == [(NAMES[0], "look_at_obj_in_light"), (NAMES[1], "pick")]
    assert load_games(tmp_path / "folder") == games


def test_damaged_archive_and_missing_games_are_said(tmp_path: Path) -> None:
    broken = tmp_path / "broken.tar.xz"
    broken.write_bytes(packed(tmp_path, NAMES).read_bytes()[:60])
    with pytest.raises(InvalidValueError, match=r"broken\.tar\.xz"):
        load_games(broken)
    with pytest.raises(NotFoundError, match=r"no game\.tw-pddl"):
        load_games(packed(tmp_path, ["readme.txt"]))
    with pytest.raises(NotFoundError, match="there is no file"):
        load_games(tmp_path / "nowhere")


# --- what is learnt


def test_what_a_game_taught_is_there_in_the_next_run(tmp_path: Path) -> None:
    with Learnt(tmp_path / "learnt.db", learns=True) as learnt:
        learnt.add(CENSUS)
        learnt.add(CENSUS)
    with Learnt(tmp_path / "learnt.db", learns=False) as again:
        again.add(CENSUS)
        assert again.census == PlaceCensus({("desk", "office"): 4}, {("pen", "desk", "office"): 6})


def test_memory_that_is_not_there_is_only_made_to_learn(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="--learn"):
        Learnt(tmp_path / "learnt.db", learns=False)
    assert not list(tmp_path.iterdir())


# --- rows


def game(won: bool, steps: int, kind: str = "pick", lost: str = "") -> PlayedGame:
    return PlayedGame("n", kind, "t", won, steps, 1, 0, (10.0,), lost=lost)


def test_rows_are_by_task_type_and_all_and_a_lost_game_is_a_failure() -> None:
    rows = rows_of([[game(True, 10), game(False, 50, "look"), game(False, 0, lost="it hung")]])
    assert [row["task_type"] for row in rows] == ["look", "pick", "all"]
    everything = rows[-1]
    assert (everything["games"], everything["lost"], everything["success_rate"]) == (3, 1, 0.3333)
    assert everything["steps_mean"] == 30.0
    assert everything["cumulative_success"] == [1.0, 0.5, 0.3333]


def test_transcripts_are_read_as_written_and_a_bad_line_is_named(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    said = PlayedGame("n", "pick", "put a pen in drawer.", True, text="You see", transcript=(("look", "A pen."),))
    with TranscriptFile(path) as transcripts:
        transcripts.add(said)
        transcripts.add(game(False, 0, lost="it hung"))
        assert len(list(read_transcripts(path))) == 1  # before the run has ended
    assert list(read_transcripts(path)) == [
        {"task": said.task, "text": "You see", "turns": [("look", "A pen.")], "won": True}
    ]
    path.write_text(path.read_text() + json.dumps({"task": "x"}) + "\n")
    with pytest.raises(InvalidValueError, match="line 2"):
        list(read_transcripts(path))


# --- the command


def test_learning_needs_memory(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("textworld", reason="needs the extra alfworld")
    arguments = ["bench", "alfworld", "--games", str(packed(tmp_path, NAMES)), "--memory", "none", "--learn"]
    assert main(arguments) == 1
    assert "--memory full" in capsys.readouterr().err


def test_broken_game_names_itself_and_is_counted(tmp_path: Path) -> None:
    pytest.importorskip("textworld", reason="needs the extra alfworld")
    command = [sys.executable, "-m", "memory_node.cli", "bench", "alfworld", "--json", "--games"]
    done = subprocess.run(
        [*command, str(packed(tmp_path, NAMES))], cwd=ROOT, capture_output=True, text=True, timeout=90
    )
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert (done.returncode, rows[-1]["games"], rows[-1]["lost"]) == (0, 2, 2)
    assert all(name in done.stderr for name in NAMES)
