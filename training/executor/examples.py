"""Transcripts of games as token sequences, with what is learnt of each: the commands, each in its place."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from benchmarks.alfworld.dialogue import opening, turn
from training.adapters.example import Example, Tokenizer

# Shares of the advice that a step is given; the rest has none. An executor has to follow advice that helps and to leave
# alone what has nothing to do with its task.
RIGHT, IRRELEVANT = 0.25, 0.25


def advice_for(command: str, others: Sequence[str], chance: random.Random) -> str:
    """Return the advice for a step whose right command is known: mostly none, else that command, or one of a game that
    this is not."""
    drawn = chance.random()
    if drawn < RIGHT:
        return f"{command}."
    if drawn < RIGHT + IRRELEVANT and others:
        return f"{chance.choice(others)}."
    return ""


def example_of(
    transcript: Mapping[str, Any], tokenizer: Tokenizer, advise: Callable[[str], str], most_tokens: int
) -> Example | None:
    """Return a game as one sequence, cut after its last whole command within `most_tokens`; None where not one fits.

    advise: returns the advice for a step by its command, "" for none.
    """
    commands = [command for command, _ in transcript["turns"]]
    advice = [advise(command) for command in commands]
    if not commands:
        return None
    dialogue = opening(transcript["text"], advice=advice[0])
    tokens: list[int] = []
    learnt: list[bool] = []
    for number, (command, reply) in enumerate(transcript["turns"]):
        prompt, said = tokenizer.prompt(dialogue), tokenizer.reply(command)
        if prompt[: len(tokens)] != tokens:
            raise ValueError("the chat template changes what was said before: its dialogues cannot be learnt as one")
        if len(prompt) + len(said) > most_tokens:
            break
        learnt += [False] * (len(prompt) - len(tokens)) + [True] * len(said)
        tokens = [*prompt, *said]
        following = advice[number + 1] if number + 1 < len(advice) else ""
        dialogue += turn(command, reply, transcript["task"], following)
    return Example(tuple(tokens), tuple(learnt)) if tokens else None


def examples_of(
    transcripts: Sequence[Mapping[str, Any]], tokenizer: Tokenizer, most_tokens: int, seed: int
) -> list[Example]:
    """Return the games that were won, each with advice drawn anew for every step."""
    chance = random.Random(seed)
    won = [transcript for transcript in transcripts if transcript["won"]]
    everywhere = [command for transcript in won for command, _ in transcript["turns"]]
    found = []
    for transcript in won:
        own = {command for command, _ in transcript["turns"]}
        others = [command for command in everywhere if command not in own]

        def advise(command: str, others: Sequence[str] = others) -> str:
            return advice_for(command, others, chance)

        example = example_of(transcript, tokenizer, advise, most_tokens)
        if example is not None:
            found.append(example)
    return found
