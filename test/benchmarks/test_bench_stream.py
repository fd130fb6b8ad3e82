"""The streams of tasks: what is read out of notes, what a novice does with them, and the rows."""

import argparse
import itertools
import json
from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

import pytest
from small_game import Embedder

from benchmarks.alfworld.games import Game, task_of
from benchmarks.alfworld.play import PlayedGame
from benchmarks.alfworld.workers import Outcome, Ready
from benchmarks.stream import alfworld, command
from benchmarks.stream.alfworld import (
    ExecutorSetting,
    GameCache,
    Novice,
    ToldPlayer,
    alfworld_streams,
    progress_of,
)
from benchmarks.stream.outcomes import StreamTask, rows_of
from memory_node.catalogue.label_space import load_catalogue
from memory_node.lessons.bank import LessonBank
from memory_node.lessons.lesson import Wording
from memory_node.lessons.optimizer.curator import Curator
from memory_node.lessons.optimizer.rules import RulesOptimizer
from memory_node.lessons.optimizer.vetting import Vetting
from memory_node.lessons.plugmem import calls_named, way_over_roles
from memory_node.lessons.whereabouts import Whereabouts, written
from memory_node.planner.planner_config import LlmConfig

PLACES = ("bed 1", "drawer 1", "drawer 2", "fridge 1", "shelf 1")
GAME = Game("a/trial/game.tw-pddl", "pick_cool", b"")


class Room:
    """A game of one room: an egg in the second drawer is to be cooled and put on the shelf."""

    def __init__(self, task: str = "put a cool egg in shelf.") -> None:
        listed = ", ".join(f"a {place}" for place in PLACES)
        self.text = f"Looking quickly around you, you see {listed}.\n\nYour task is to: {task}"
        self.here, self.egg, self.cool, self.open = "", "drawer 2", False, set[str]()

    @property
    def won(self) -> bool:
        return self.cool and self.egg == "shelf 1"

    over = won
    score = None

    @property
    def commands(self) -> Sequence[str]:
        able = ["look", "inventory", *(f"go to {place}" for place in PLACES if place != self.here)]
        if self.here.startswith("drawer"):
            able.append(f"open {self.here}" if self.here not in self.open else f"close {self.here}")
        if self.egg == self.here and (not self.here.startswith("drawer") or self.here in self.open):
            able.append(f"take egg 1 from {self.here}")
        if self.egg == "hand":
            able += [f"move egg 1 to {self.here}"] if self.here else []
            able += [f"cool egg 1 with {self.here}"] if self.here.startswith("fridge") else []
        return able

    def send(self, command: str) -> str:
        verb = command.partition(" ")[0]
        if command.startswith("go to "):
            self.here = command.removeprefix("go to ")
        elif verb == "open":
            self.open.add(self.here)
        elif verb == "take":
            self.egg = "hand"
        elif verb == "move":
            self.egg = self.here
        elif verb == "cool":
            self.cool = True
        if self.here.startswith("drawer") and self.here not in self.open:
            return f"The {self.here} is closed."
        return f"On the {self.here}, you see {'a egg 1' if self.egg == self.here else 'nothing'}."

    def close(self) -> None:
        pass


def way(task: str, *calls: str):
    done = calls_named(calls)
    found = way_over_roles(task, load_catalogue().spoken_names, done, [f"e:{n}" for n in range(len(done))], 1)
    assert found is not None
    return found


WHERE = written("m0", Wording("put some egg in bed.", Whereabouts("egg", ("drawer",)).text, "e"), "rules")
COOL = (
    WHERE,
    way("cool some egg and put it in bed.", "PickupObject(egg)", "CoolObject(egg, fridge)", "PutObject(egg, bed)"),
)


def played(told, task: str = "put a cool egg in shelf."):
    return ToldPlayer(Novice(0, 30, lambda _: Room(task))).play(GAME, told)


def test_game_is_played_once_with_the_same_memory(tmp_path) -> None:
    file = tmp_path / "played.jsonl"
    known, told = played(COOL).played, COOL
    cache = GameCache(file, "novice")
    assert cache.find(GAME, told) is None
    cache.add(GAME, told, known)
    cache.add(GAME, told, known)
    with file.open("a") as broken:
        broken.write('{"key": "an interrupted')

    again = GameCache(file, "novice")
    assert len(again) == 1
    assert again.find(GAME, [replace(told[0], id="another id"), *told[1:]]) == replace(known, searched=0)
    assert again.find(GAME, ()) is None
    assert again.find(replace(GAME, content=b"other"), told) is None
    assert GameCache(file, "policy").find(GAME, told) is None

    again.add(GAME, (), replace(known, failure="the model took longer than 60 s"))
    assert again.find(GAME, ()) is None
    again.add(GAME, (), known)
    assert len(GameCache(file, "novice")) == 2


class InThisProcess:
    """Workers without processes: what they were given, and what came of it."""

    given: ClassVar[list[int]] = []

    def __init__(self, begin, jobs, limit_s) -> None:
        self._perform = begin()

    def __enter__(self):
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def run(self, count, piece_of):
        for number in range(count):
            piece = piece_of(number)
            if not isinstance(piece, Ready):
                self.given.append(number)
                piece = Ready(self._perform(piece))
            yield Outcome(number, piece.done)


def test_stream_out_of_the_cache_is_the_one_that_was_played(tmp_path, monkeypatch) -> None:
    def player_of(_):
        return lambda piece: ToldPlayer(Novice(0, 30, lambda game: Room(task_of(game)))).play(*piece)

    monkeypatch.setattr(alfworld, "Workers", InThisProcess)
    monkeypatch.setattr(alfworld, "player_of", player_of)
    monkeypatch.setattr(InThisProcess, "given", [])
    texts = ["Your task is to: put a cool egg in shelf." + " " * n for n in range(6)]
    games = [Game(f"{n}", "pick_cool", json.dumps({"task": text}).encode()) for n, text in enumerate(texts)]

    def curator_of(name: str) -> Curator | None:
        made = Curator(LessonBank(Embedder()), RulesOptimizer(), Vetting(load_catalogue()))
        return made if name == "rules" else None

    def row(name: str, file: str, orders: int = 1):
        cache = GameCache(tmp_path / file, "novice")
        args = argparse.Namespace(orders=orders, epochs=1, jobs=2, seed=0)
        setting = ExecutorSetting("novice", LlmConfig())
        streams = alfworld_streams(args, name, games, setting, curator_of, cache, lambda _: ("cool Egg", "place Egg"))
        return rows_of(name, streams, {}), [len(epochs[0]) for epochs in streams]

    first = row("rules", "played.jsonl")
    assert first[1] == [6]
    assert len(InThisProcess.given) == 6
    assert row("rules", "played.jsonl") == first
    assert len(InThisProcess.given) == 6
    assert row("rules", "another.jsonl") == first
    assert len(InThisProcess.given) == 12

    row("none", "played.jsonl", orders=3)
    assert len(InThisProcess.given) == 12 + 5  # each once for three orders; the first of the rules knew nothing, too


def test_game_that_was_won_without_all_that_was_asked_for_shows_no_way() -> None:
    whole = played(COOL).played
    early = replace(whole, transcript=tuple(turn for turn in whole.transcript if not turn[0].startswith("move ")))
    found = []
    for one in (early, whole):
        bank = LessonBank(Embedder())
        alfworld.add_way(one, alfworld.steps_of(one, "e", 1), "cool+place", "e", bank)
        found.append([way.steps for way in bank])
    assert found == [[], [COOL[1].steps]]


def test_way_that_was_not_gone_was_not_used() -> None:
    heat = way("heat some egg and put it in bed.", "PickupObject(egg)", "HeatObject(egg, microwave)")
    done = alfworld.steps_of(played(COOL).played, "e", 1)
    assert alfworld.used((*COOL, heat), done) == (COOL[0].id, COOL[1].id)


def test_progress_counts_what_the_task_names() -> None:
    whole = played(COOL).played
    assert progress_of(whole) == 1.0

    cut = [replace(whole, won=False, transcript=whole.transcript[:n]) for n in (4, 5, 7)]
    assert [progress_of(one) for one in cut] == [0.0, pytest.approx(1 / 3), pytest.approx(2 / 3)]


def test_rows_tell_each_epoch_with_means_over_orders() -> None:
    numbers = itertools.count(1)

    def task(success: bool, operation: str) -> StreamTask:
        return StreamTask(success, 0.5, 10, 30, 0, next(numbers), operation)

    streams = [
        [[task(True, "ADD"), task(False, "UPDATE")], [task(True, ""), task(True, "ADD")]],
        [[task(False, "ADD"), task(False, "ADD")], [task(True, ""), task(True, "")]],
    ]
    first, second = rows_of("rules", streams, {"on": "test"})
    assert (first["epoch"], second["epoch"]) == (1, 2)
    assert first["cumulative_success"] == [0.5, 0.25]
    assert first["success_rate"] == 0.25
    assert first["std_over_orders"] == pytest.approx(0.3536)
    assert (first["add_share"], first["update_share"]) == (0.75, 0.25)
    assert second["success_rate"] == 1.0


def test_what_is_missing_is_named(refusal_of) -> None:
    assert "--scenes" in refusal_of("stream", "--on", "household")
    assert "--games" in refusal_of("stream", "--on", "alfworld", "--optimizer", "rules")


def test_chance_stands_beside_a_policy_that_learns(monkeypatch, rows_of) -> None:
    played_by: list[tuple[str, int]] = []

    def play_all(orders, setting, *_):
        played_by.append((setting.planner, len(orders)))
        return [[PlayedGame(game.name, "a", won=True, steps=4) for game in games] for games in orders]

    monkeypatch.setattr(command, "require_engine", lambda: None)
    monkeypatch.setattr(command, "load_games", lambda *_: [GAME])
    monkeypatch.setattr(command, "alfworld_streams", lambda *_: [[[StreamTask(False, 0.0, 9)]]])
    monkeypatch.setattr(command, "play_all", play_all)
    arguments = ["stream", "--on", "alfworld", "--games", "x", "--optimizer", "rules"]
    for executor, beside in (("novice", []), ("policy", ["chance", "chance-valued"])):
        rows = rows_of(*arguments, "--executor", executor)
        assert [row["executor"] for row in rows] == [executor, *beside]
    assert [(row["optimizer"], row["success_rate"], row["orders"]) for row in rows[1:]] == [("none", 1.0, 5)] * 2
    assert played_by == [("chance", 5), ("chance-valued", 5)]


DAYS = """
- id: apple
  category: ways
  home: studio
  events:
    - fault: {skill: HeatObject, unless: {skill: SwitchOn, thing: lamp}}
    - do: heat the apple
    - do: turn on the lamp and heat the apple
      want: {state: {apple: heated}}
- id: tomato
  category: ways
  home: studio
  events:
    - fault: {skill: HeatObject, unless: {skill: SwitchOn, thing: lamp}}
    - do: heat the tomato
    - restart: true
    - do: turn on the lamp and heat the tomato
      want: {state: {tomato: heated}}
"""


def test_bank_goes_along_from_day_to_day(tmp_path, rows_of) -> None:
    days = tmp_path / "days.yaml"
    days.write_text(DAYS)
    arguments = ["stream", "--on", "life", "--days", str(days), "--orders", "1", "--epochs", "2"]
    none, _, first, second = rows_of(*arguments, "--optimizer", "none", "rules")
    assert [row["optimizer"] for row in (none, first)] == ["none", "rules"]
    assert (none["bank_size"], none["add_share"], none["tokens_mean"]) == (0.0, 0.0, 0.0)
    assert first["lost"] == none["lost"] == 0
    assert first["bank_size"] > 0
    assert first["add_share"] > 0
    assert first["tokens_mean"] > 0, "the second day is told what the first one taught"
    assert second["bank_size"] >= first["bank_size"]
    assert second["tokens_mean"] > first["tokens_mean"], "nothing is forgotten between passes"


def test_learned_optimizer_needs_its_adapter(tmp_path, refusal_of) -> None:
    days = tmp_path / "days.yaml"
    days.write_text(DAYS)
    assert "--adapter" in refusal_of("stream", "--on", "life", "--days", str(days), "--optimizer", "learned")


def test_options_of_other_places_are_refused_on_days(refusal_of) -> None:
    life = ["stream", "--on", "life"]
    assert "needs --days" in refusal_of(*life)
    assert "has no use for --games, --lessons" in refusal_of(
        *life, "--days", "x.yaml", "--games", "y", "--lessons", "z"
    )
