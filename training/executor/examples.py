"""Games as token sequences, with what is learnt of each: the right commands, each in its place."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence

from benchmarks.alfworld.compiled import TURNS_WITH_STATE
from benchmarks.alfworld.policy import last_turns, opening, turn, with_memory
from memory_node.llm.chat import Message
from training.adapters.example import Example, Tokenizer, answered, grown
from training.executor.practice import PractisedGame

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
