"""Memory compiled at each step of a text game: what is advised, what the controls leave of it, and who judges it."""

from pathlib import Path

import pytest
from small_game import KITCHEN, Embedder, SmallGame
from test_alfworld_policy import Scripted

from benchmarks.alfworld.compiled import Attempts, CompiledAids, goals_reader
from benchmarks.alfworld.games import Game
from benchmarks.alfworld.judge import GameFacts, Wanted, shortest_commands
from benchmarks.alfworld.play import CompilingAccount, PlayedGame, for_text_games
from benchmarks.alfworld.policy import Aid, PolicyPlayer
from benchmarks.compiler_text import Row, text_rows
from benchmarks.compiler_variants import (
    EMPTY_M,
    FULL,
    LATENT,
    NO_STATE,
    NONE,
    SHUFFLED_M,
    STATIC,
    TEXT,
    WithoutBriefState,
    row_of,
)
from benchmarks.ranking.choosing import Choice
from memory_node.catalogue.label_space import load_catalogue
from memory_node.context.guidance import Compiler
from memory_node.context.rules_compiler import RulesCompiler
from memory_node.domain.errors import InvalidValueError
from memory_node.scene_graph.place_habits import PlaceCensus

KINDS = for_text_games(load_catalogue())
HEATED = {
    "task": "put a hot cup in cabinet.",
    "text": "",
    "turns": [
        ("go to desk 1", "On the desk 1, you see a cup 1."),
        ("take cup 1 from desk 1", "You pick up the cup 1 from the desk 1."),
        ("go to microwave 2", "The microwave 2 is closed."),
        ("heat cup 1 with microwave 2", "You heat the cup 1 using the microwave 2."),
        ("go to cabinet 3", "The cabinet 3 is open. In it, you see nothing."),
        ("move cup 1 to cabinet 3", "You move the cup 1 to the cabinet 3."),
    ],
    "won": True,
}
PLACED = {**HEATED, "task": "put a pen in drawer.", "turns": [("take pen 1 from desk 1", "You pick up the pen 1.")]}
LEARNT = PlaceCensus({("sidetable", ""): 4, ("fridge", ""): 4, ("cabinet", ""): 4}, {("Mug", "sidetable", ""): 4})


def won(game: SmallGame) -> bool:
    return game.states.get("mug 1") == "clean" and "mug 1" in game.layout["cabinet 1"]


def game_of() -> SmallGame:
    return SmallGame(KITCHEN | {"cabinet 1": []}, "put a hot mug in cabinet", won)


def aids(variant: str, compiler: Compiler | None = None, *transcripts: dict) -> CompiledAids:
    attempts = Attempts.of(transcripts or (PLACED, HEATED), KINDS, goals_reader(KINDS, Embedder()))
    return CompiledAids(KINDS, Embedder(), compiler or RulesCompiler(), attempts, variant, 50)


def opened(variant: str, compiler: Compiler | None = None, *transcripts: dict) -> Aid:
    return aids(variant, compiler, *transcripts)(game_of(), LEARNT, "a/b")


class Obedient(Scripted):
    """Does what the advice says, and nothing sensible without it."""

    def choose(self, messages, values, account, deadline) -> Choice:
        self.seen.append(list(messages))
        _, advised, command = messages[-1].text.rpartition("Advice: ")
        chosen = command.strip(" .\n") if advised else next(iter(values))
        assert chosen in values
        return Choice(chosen, chosen)


def played(variant: str, compiler: Compiler | None = None) -> tuple[PlayedGame, Obedient]:
    executor = Obedient()
    player = PolicyPlayer(executor, 20, 5.0, aids(variant, compiler), lambda _: game_of())
    return player.play(Game("a/b/game.tw-pddl", "a", b""), LEARNT), executor


def test_with_a_brief_state_the_prompt_does_not_grow() -> None:
    _, executor = played(TEXT)
    assert max(map(len, executor.seen)) == 2 + 2 * 2  # the first text, and two turns
    _, executor = played(NO_STATE, WithoutBriefState(RulesCompiler()))
    assert max(map(len, executor.seen)) > 2 + 2 * 2
    assert not any("Robot:" in messages[-1].text for messages in executor.seen)


def test_without_memory_the_compiler_knows_no_way() -> None:
    aid = opened(EMPTY_M)
    assert aid.tell().advice == ""
    assert aid.account == CompilingAccount(aid.account.milliseconds, (False,), (0,), ())  # b_t was changed
    aid.close()


def test_memory_of_another_task_leads_elsewhere() -> None:
    # The only other attempt is about a pen: where pens are, and no way for what is to be heated.
    aid = opened(SHUFFLED_M)
    assert aid.tell().advice == ""
    assert "Pen" not in aid.experience
    aid.close()


def test_static_memory_is_all_of_it_at_first() -> None:
    aid = opened(STATIC)
    assert "> heat cup 1 with microwave 2: You heat the cup 1" in aid.experience
    assert "Mug is likely in" in aid.experience
    assert (aid.tell().advice, aid.account) == ("", None)


def test_judge_finds_every_shortest_beginning() -> None:
    game = game_of()
    wanted = Wanted.of(game.problem)
    assert wanted == Wanted("Mug", 1, "isHot", "Cabinet")
    for number in range(6):  # go, take, go, heat, go, open: then only the mug has to be put down
        commands = shortest_commands(GameFacts.of(game.facts), wanted)
        assert len(commands) == 1, number
        game.send(*commands)
    assert shortest_commands(GameFacts.of(game.facts), wanted) == {"move mug 1 to cabinet 1"}
    game.send("move mug 1 to cabinet 1")
    assert game.won
    assert shortest_commands(GameFacts.of(game.facts), wanted) == frozenset()


def test_judge_knows_lamps_pairs_and_a_hand_that_is_full() -> None:
    facts = [
        ("atlocation", "agent", "here"),
        ("receptacleatlocation", "desk 1", "here"),
        ("receptacleatlocation", "bed 1", "there"),
        ("receptacletype", "bed 1", "bedtype"),
        ("inreceptacle", "lamp 1", "desk 1"),
        ("inreceptacle", "pen 1", "desk 1"),
        ("inreceptacle", "pen 2", "bed 1"),
        ("objecttype", "pen 1", "pentype"),
        ("objecttype", "pen 2", "pentype"),
        ("objecttype", "lamp 1", "lamptype"),
    ]
    light = Wanted.of("(:goal (objectType ?ot LampType) (isToggled ?ot) (objectType ?o PenType) (holds ?a ?o))")
    assert shortest_commands(GameFacts.of(facts), light) == {"take pen 1 from desk 1", "use lamp 1"}
    pair = Wanted("Pen", 2, "", "Bed")
    assert shortest_commands(GameFacts.of(facts), pair) == {"take pen 1 from desk 1"}
    full = [*facts, ("holds", "agent", "cup 1"), ("objecttype", "cup 1", "cuptype")]
    assert shortest_commands(GameFacts.of(full), pair) == {"move cup 1 to desk 1"}
    with pytest.raises(InvalidValueError, match="no goal"):
        Wanted.of("(:goal (and))")


def test_row_counts_every_step_once() -> None:
    account = CompilingAccount((1.0, 3.0, 5.0), (True, False, False), (0, 10, 20), (True, False))
    games = [
        PlayedGame("a", "t", won=True, steps=3, prompt_tokens=100, reply_tokens=4.0, compiling=account, step_ms=(9.0,)),
        PlayedGame("b", "t", steps=1, prompt_tokens=200, reply_tokens=8.0),
        PlayedGame("c", "t", lost="died"),
    ]
    row = row_of("text", "rules", games)
    assert (row["tasks"], row["success_rate"], row["steps_mean"]) == (3, 0.3333, 2.0)
    assert (row["executor_input_tokens"], row["executor_output_tokens"]) == (125.0, 5.0)
    assert (row["compiler_tokens"], row["compiler_ms"], row["executor_ms"]) == (10.0, 3.0, 9.0)
    assert (row["guidance_precision"], row["noaction_share"]) == (0.5, 0.3333)
    assert row_of("none", "none", [])["guidance_precision"] is None


def test_rows_are_one_for_each_compiler_and_each_soft_memory() -> None:
    files = (Path("a/full.npz"), Path("a/soft-4.npz"))
    rows = list(text_rows((NONE, TEXT, FULL, LATENT), ("rules", "learned"), files))
    assert [(row.name, row.compiler) for row in rows] == [
        (NONE, "none"),
        (TEXT, "rules"),
        (TEXT, "learned"),
        ("full", "learned"),
        ("soft-4", "learned"),
        (LATENT, "learned"),
        (LATENT, "learned"),
    ]
    assert rows[3] == Row(FULL, "learned", files[0])
