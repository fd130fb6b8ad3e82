"""Practice games: an expert plays, and some of its commands are replaced by wrong ones. A policy trained on perfect
games does not know how to continue after its own first mistake (Ross et al. 2011, DAgger; noise in the expert's
commands as in Laskey et al. 2017, DART)."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchmarks.alfworld.compiled import TURNS_WITH_STATE
from benchmarks.alfworld.engine import PddlEngine
from benchmarks.alfworld.games import Game
from benchmarks.alfworld.play import GameEngine
from benchmarks.alfworld.policy import Aid, OpenAid, choices, last_turns, opening, turn, with_memory
from benchmarks.alfworld.sentences import read_task
from benchmarks.rows import read_rows
from memory_node.llm.chat import Message
from memory_node.scene_graph.place_habits import PlaceCensus
from training.adapters.example import Example, Tokenizer, answered, grown

MAX_STEPS = 40
# Share of wrong moves that return to a visited place, because loops begin that way.
_BACK = 0.5


@dataclass(frozen=True)
class PractisedStep:
    """One command of a game. sent: the command; right: the expert's; reply: what was printed. state: the brief state
    before it."""

    sent: str
    right: str
    reply: str
    state: tuple[str, ...] = ()


@dataclass(frozen=True)
class PractisedGame:
    """A game that was won. text: what was printed at first."""

    task: str
    text: str
    steps: tuple[PractisedStep, ...]

    def to_row(self) -> dict[str, Any]:
        """Return plain values, as JSON takes them."""
        return asdict(self)

    @staticmethod
    def without_mistakes(transcript: Mapping[str, Any]) -> PractisedGame:
        """Return a transcript of `bench alfworld` as a game in which every command was right."""
        steps = (PractisedStep(command, command, reply) for command, reply in transcript["turns"])
        return PractisedGame(transcript["task"], transcript["text"], tuple(steps))

    @staticmethod
    def from_row(row: dict[str, Any]) -> PractisedGame:
        """Return what `to_row` told.

        Raises:
            KeyError, TypeError: it is no such row.
        """
        steps = (PractisedStep(**{**step, "state": tuple(step["state"])}) for step in row["steps"])
        return PractisedGame(str(row["task"]), str(row["text"]), tuple(steps))


def read_games(path: Path) -> Iterator[PractisedGame]:
    """Yield the games of a file, one JSON object a line.

    Raises:
        NotFoundError: there is no such file.
        InvalidValueError: a line is no game; the message names it.
    """
    return read_rows(path, "practice game", PractisedGame.from_row)


@dataclass(frozen=True)
class Practice:
    """Plays games by an expert's advice. wrong: the share of commands that are drawn at random instead."""

    expert: OpenAid
    wrong: float
    seed: int = 0
    engine_of: Callable[[Game], GameEngine] = PddlEngine

    def play(self, game: Game, learnt: PlaceCensus) -> PractisedGame | None:
        """Return a game that was won, None where it was not. learnt: where things were in other games.

        Raises:
            BrokenGameError: the file is no game.
        """
        with (
            closing(self.engine_of(game)) as engine,
            closing(self.expert(engine, learnt, game.name)) as aid,
        ):
            return self._played(engine, aid, random.Random(f"{self.seed} {game.name}"))

    def _played(self, engine: GameEngine, aid: Aid, chance: random.Random) -> PractisedGame | None:
        text, steps = engine.text, list[PractisedStep]()
        while not engine.over and len(steps) < MAX_STEPS:
            told = aid.tell()
            right = told.advice.removesuffix(".")
            if not right:
                break
            slips = chance.random() < self.wrong
            sent = (
                wrong_command(choices(engine.commands), right, [step.sent for step in steps], chance)
                if slips
                else right
            )
            steps.append(PractisedStep(sent, right, aid.send(sent), tuple(told.state)))
        return PractisedGame(read_task(text), text, tuple(steps)) if engine.won else None


def wrong_command(commands: Sequence[str], right: str, sent: Sequence[str], chance: random.Random) -> str:
    """Return a command that is not the right one: each verb is as likely, and half of what goes somewhere goes back.

    sent: the commands so far.
    """
    by_verb: dict[str, list[str]] = {}
    for command in commands:
        if command != right:
            by_verb.setdefault(command.split(" ", 1)[0], []).append(command)
    if not by_verb:
        return right
    verb = chance.choice(sorted(by_verb))
    back = [command for command in by_verb[verb] if command in sent]
    return chance.choice(back if verb == "go" and back and chance.random() < _BACK else by_verb[verb])


# Shares of steps with right and with unrelated advice; the rest has none. The executor must learn to follow advice that
# helps and to ignore unrelated advice.
RIGHT, IRRELEVANT = 0.25, 0.25
# With compiled memory a step is advised more often, and the dialogue is short: so many steps of a game are learnt so.
_RIGHT_COMPILED, _IRRELEVANT_COMPILED, _COMPILED_STEPS = 0.5, 0.2, 2

# Returns the advice for a step by its right command, "" for none.
Advise = Callable[[str], str]


def advice_for(
    command: str,
    others: Sequence[str],
    chance: random.Random,
    right: float = RIGHT,
    irrelevant: float = IRRELEVANT,
) -> str:
    """Return the advice for a step whose right command is known: that command, one of a game that this is not, or
    none.

    right, irrelevant: how often.
    """
    drawn = chance.random()
    if drawn < right:
        return f"{command}."
    if drawn < right + irrelevant and others:
        return f"{chance.choice(others)}."
    return ""


def example_of(game: PractisedGame, tokenizer: Tokenizer, advise: Advise, most_tokens: int) -> Example | None:
    """Return a game as one sequence, cut after its last whole command within `most_tokens`; None where not one fits.

    A wrong command stands there and is not learnt.
    """
    if not game.steps:
        return None
    return grown(_turns(game, advise), tokenizer, most_tokens)


def _turns(game: PractisedGame, advise: Advise) -> Iterator[tuple[list[Message], str, bool]]:
    advice = [advise(step.right) for step in game.steps]
    dialogue = opening(game.text, advice=advice[0])
    for step, following in zip(game.steps, [*advice[1:], ""]):
        yield dialogue, step.sent, step.sent == step.right
        dialogue = [*dialogue, *turn(step.sent, step.reply, game.task, following)]


def compiled_example_of(
    game: PractisedGame, number: int, tokenizer: Tokenizer, advise: Advise, most_tokens: int
) -> Example | None:
    """Return one step as an executor with compiled memory sees it: the first text, the last turns, and the brief
    state. None where it is longer than `most_tokens`."""
    step = game.steps[number]
    turns = [turn(before.sent, before.reply, game.task) for before in game.steps[:number]]
    shown = [message for pair in last_turns(turns, TURNS_WITH_STATE) for message in pair]
    dialogue = with_memory([*opening(game.text), *shown], step.state, advise(step.right))
    return answered(dialogue, step.right, tokenizer, most_tokens)


def examples_of(games: Sequence[PractisedGame], tokenizer: Tokenizer, most_tokens: int, seed: int) -> Iterator[Example]:
    """Yield what is learnt of each game, with advice drawn anew for every step."""
    chance = random.Random(seed)
    everywhere = [step.right for game in games for step in game.steps]
    for game in games:
        own = {step.right for step in game.steps}
        others = [command for command in everywhere if command not in own]

        def advise(command: str, others: Sequence[str] = others) -> str:
            return advice_for(command, others, chance)

        def advise_compiled(command: str, others: Sequence[str] = others) -> str:
            return advice_for(command, others, chance, _RIGHT_COMPILED, _IRRELEVANT_COMPILED)

        whole = example_of(game, tokenizer, advise, most_tokens)
        with_state = [number for number, step in enumerate(game.steps) if step.state]
        chosen = chance.sample(with_state, min(_COMPILED_STEPS, len(with_state)))
        steps = (compiled_example_of(game, number, tokenizer, advise_compiled, most_tokens) for number in chosen)
        yield from (example for example in (whole, *steps) if example is not None)
